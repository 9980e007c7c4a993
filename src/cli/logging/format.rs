//! How log lines look: as a command's remarks, or as a manager's log in one of three formats.
//!
//! Events carry two fields that are no data: `logger`, the logger's name in formats that show one, and `klog`, which
//! marks the lines that client-go writes past controller-runtime's logger. A field whose text is a JSON object or list
//! is shown as such, so that objects can be nested.

use std::fmt::{self, Debug};
use std::sync::{Arc, OnceLock};

use k8s_openapi::jiff::Timestamp;
use k8s_openapi::jiff::tz::TimeZone;
use serde::de::IgnoredAny;
use tracing::field::{Field, Visit};
use tracing::span::Record;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::format::{self, DefaultFields, FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

/// How a manager's log looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For a person at a terminal: time of day, level, message, fields.
    Person {
        /// Whether levels are coloured.
        color: bool,
    },
    /// One JSON object a line, with the keys of zap's production encoder.
    Json,
    /// The lines of kubebuilder's `--zap-devel`: fields separated by TABs.
    Zap,
}

/// The format that all log lines have from the moment that one is chosen; before, they look like a command's remarks.
#[derive(Debug, Clone, Default)]
pub(super) struct Chosen(Arc<OnceLock<Format>>);

impl Chosen {
    /// Chooses; the first choice stays.
    pub(super) fn set(&self, format: Format) {
        self.0.set(format).ok();
    }
}

/// Writes events.
pub(super) struct Lines {
    chosen: Chosen,
    remarks: format::Format<format::Full, ()>,
    now: fn() -> Timestamp,
    zone: TimeZone,
    process: u32,
}

impl Lines {
    pub(super) fn new(chosen: Chosen) -> Self {
        Self {
            chosen,
            remarks: format::format().without_time().with_ansi(false),
            now: Timestamp::now,
            zone: TimeZone::try_system().unwrap_or(TimeZone::UTC),
            process: std::process::id(),
        }
    }
}

/// Writes the fields of spans.
pub(super) struct Fields(pub(super) Chosen);

impl<'writer> FormatFields<'writer> for Fields {
    fn format_fields<R: RecordFields>(
        &self,
        mut writer: Writer<'writer>,
        fields: R,
    ) -> fmt::Result {
        let Some(format) = self.0.0.get() else {
            return DefaultFields::new().format_fields(writer, fields);
        };
        let mut read = Read::default();
        fields.record(&mut read);
        writer.write_str(&render(*format, &read.fields))
    }

    /// What is recorded later follows the other fields as if it had been there at once.
    fn add_fields(
        &self,
        current: &'writer mut FormattedFields<Self>,
        fields: &Record<'_>,
    ) -> fmt::Result {
        let mut added = String::new();
        self.format_fields(Writer::new(&mut added), fields)?;
        if !current.fields.is_empty() && !added.is_empty() {
            current.fields.push_str(self.separator());
        }
        current.fields.push_str(&added);
        Ok(())
    }
}

impl Fields {
    fn separator(&self) -> &'static str {
        self.0.0.get().map_or(" ", |format| separator(*format))
    }
}

/// What stands between two fields.
fn separator(format: Format) -> &'static str {
    match format {
        Format::Person { .. } => " ",
        Format::Json => ",",
        Format::Zap => ", ",
    }
}

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'lookup> LookupSpan<'lookup>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let Some(format) = self.chosen.0.get() else {
            return self.remarks.format_event(context, writer, event);
        };
        let mut read = Read::default();
        event.record(&mut read);
        let own = render(*format, &read.fields);
        let mut parts: Vec<String> = Vec::new();
        context.visit_spans(|span| {
            // The client library's spans say again which object it is, and why it came up.
            if !is_own(span.metadata()) {
                return fmt::Result::Ok(());
            }
            let extensions = span.extensions();
            parts.extend(
                extensions
                    .get::<FormattedFields<N>>()
                    .map(|fields| fields.fields.clone()),
            );
            fmt::Result::Ok(())
        })?;
        parts.push(own);
        parts.retain(|part| !part.is_empty());
        let metadata = event.metadata();
        let fields = parts.join(separator(*format));
        let line = match format {
            Format::Person { color } => self.person(*color, metadata, &read, &fields),
            Format::Json => self.json(metadata, &read, &fields),
            Format::Zap if read.klog => self.klog(metadata, &read),
            Format::Zap => self.zap(metadata, &read, &fields),
        };
        writeln!(writer, "{line}")
    }
}

impl Lines {
    fn person(&self, color: bool, metadata: &Metadata<'_>, read: &Read, fields: &str) -> String {
        let time = (self.now)()
            .to_zoned(self.zone.clone())
            .strftime("%H:%M:%S");
        let level = format!("{:5}", metadata.level().as_str());
        let level = match color_of(*metadata.level()).filter(|_| color) {
            Some(code) => format!("\x1b[{code}m{level}\x1b[0m"),
            None => level,
        };
        let mut line = format!("{time} {level} {}", one_line(&read.message));
        if !fields.is_empty() {
            line.push_str("  ");
            line.push_str(fields);
        }
        line
    }

    fn json(&self, metadata: &Metadata<'_>, read: &Read, fields: &str) -> String {
        let level = metadata.level().as_str().to_lowercase();
        let mut line = format!(r#"{{"level":{},"ts":"{:.6}""#, quoted(&level), (self.now)());
        if let Some(logger) = logger(metadata, read) {
            line.push_str(&format!(r#","logger":{}"#, quoted(logger)));
        }
        line.push_str(&format!(r#","msg":{}"#, quoted(&read.message)));
        if !fields.is_empty() {
            line.push(',');
            line.push_str(fields);
        }
        line.push('}');
        line
    }

    fn zap(&self, metadata: &Metadata<'_>, read: &Read, fields: &str) -> String {
        // zap knows no finer level than debug.
        let level = match *metadata.level() {
            Level::TRACE => "DEBUG",
            level => level.as_str(),
        };
        let mut line = format!("{:.0}\t{level}", (self.now)());
        if let Some(logger) = logger(metadata, read) {
            line.push('\t');
            line.push_str(logger);
        }
        line.push('\t');
        line.push_str(&one_line(&read.message));
        if !fields.is_empty() {
            line.push_str(&format!("\t{{{fields}}}"));
        }
        line
    }

    /// `I0524 06:40:58.123456       1 leaderelection.go:248] message`, as klog has it.
    fn klog(&self, metadata: &Metadata<'_>, read: &Read) -> String {
        let level = match *metadata.level() {
            Level::ERROR => 'E',
            Level::WARN => 'W',
            _ => 'I',
        };
        let time = (self.now)().strftime("%m%d %H:%M:%S.%6f");
        let path = metadata.file().unwrap_or_default();
        let file = path.rsplit(['/', '\\']).next().unwrap_or_default();
        let line = metadata.line().unwrap_or_default();
        let message = one_line(&read.message);
        format!("{level}{time} {:7} {file}:{line}] {message}", self.process)
    }
}

fn color_of(level: Level) -> Option<&'static str> {
    match level {
        Level::ERROR => Some("31"),
        Level::WARN => Some("33"),
        Level::INFO => None,
        _ => Some("2"),
    }
}

/// The name that the event gives its logger; for other crates' events, where they come from.
fn logger<'a>(metadata: &'a Metadata<'_>, read: &'a Read) -> Option<&'a str> {
    let target = (!is_own(metadata)).then(|| metadata.target());
    read.logger.as_deref().or(target)
}

fn is_own(metadata: &Metadata<'_>) -> bool {
    metadata.target().split("::").next() == Some(env!("CARGO_CRATE_NAME"))
}

/// What a field holds.
enum Value {
    Text(String),
    /// A number, a boolean, or JSON.
    Raw(String),
}

/// An event or a span, taken apart.
#[derive(Default)]
struct Read {
    message: String,
    logger: Option<String>,
    klog: bool,
    fields: Vec<(&'static str, Value)>,
}

impl Read {
    fn raw(&mut self, field: &Field, value: String) {
        self.fields.push((field.name(), Value::Raw(value)));
    }
}

impl Visit for Read {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => value.clone_into(&mut self.message),
            "logger" => self.logger = Some(value.to_owned()),
            name => self.fields.push((name, Value::Text(value.to_owned()))),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let text = format!("{value:?}");
        let is_json =
            text.starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(&text).is_ok();
        match is_json {
            true => self.raw(field, text),
            false => self.record_str(field, &text),
        }
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        match field.name() {
            "klog" => self.klog = value,
            _ => self.raw(field, value.to_string()),
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.raw(field, value.to_string());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.raw(field, value.to_string());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.raw(field, serde_json::json!(value).to_string());
    }
}

/// Writes fields, without what surrounds them.
fn render(format: Format, fields: &[(&'static str, Value)]) -> String {
    let pairs = fields.iter().map(|(name, value)| match (format, value) {
        (Format::Person { .. }, value) => format!("{name}={}", readable(value)),
        (Format::Json, Value::Raw(raw)) => format!("{}:{raw}", quoted(name)),
        (Format::Json, Value::Text(text)) => format!("{}:{}", quoted(name), quoted(text)),
        (Format::Zap, Value::Raw(raw)) => format!("{}: {raw}", quoted(name)),
        (Format::Zap, Value::Text(text)) => format!("{}: {}", quoted(name), quoted(text)),
    });
    match format {
        Format::Person { .. } => {
            let shown = fields
                .iter()
                .zip(pairs)
                .filter(|((name, _), _)| is_for_persons(name, fields));
            shown
                .map(|(_, pair)| pair)
                .collect::<Vec<_>>()
                .join(separator(format))
        }
        _ => pairs.collect::<Vec<_>>().join(separator(format)),
    }
}

/// Keys that machines go by say nothing more to a person who reads `MailgunCluster=default/hello`.
fn is_for_persons(name: &str, fields: &[(&'static str, Value)]) -> bool {
    let has_object = || fields.iter().any(|(_, value)| object_name(value).is_some());
    match name {
        "controllerGroup" | "controllerKind" | "reconcileID" => false,
        "namespace" | "name" => !has_object(),
        _ => true,
    }
}

fn readable(value: &Value) -> String {
    if let Some(name) = object_name(value) {
        return name;
    }
    match value {
        Value::Raw(raw) => raw.clone(),
        Value::Text(text) if text.is_empty() || text.contains([' ', '"', '=']) => quoted(text),
        Value::Text(text) => one_line(text),
    }
}

/// Returns `namespace/name` for `{"name": …, "namespace": …}`.
fn object_name(value: &Value) -> Option<String> {
    let Value::Raw(raw) = value else { return None };
    let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(raw).ok()?;
    match (
        object.len(),
        object.get("namespace")?.as_str()?,
        object.get("name")?.as_str()?,
    ) {
        (2, namespace, name) => Some(format!("{namespace}/{name}")),
        _ => None,
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Makes control characters visible: a text from outside is to start no line and no colour.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match character.is_control() {
            true => line.extend(character.escape_default()),
            false => line.push(character),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::sync::Mutex;
    use tracing::{debug, error, info, info_span, warn};
    use tracing_subscriber::fmt::MakeWriter;
    use tracing_subscriber::layer::SubscriberExt;

    #[derive(Clone, Default)]
    struct Buffer(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Buffer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl<'a> MakeWriter<'a> for Buffer {
        type Writer = Self;
        fn make_writer(&'a self) -> Self {
            self.clone()
        }
    }

    /// Returns the lines that `events` logs, at a second past 06:40:57 on 24 May 2023.
    fn lines(format: Option<Format>, events: impl FnOnce()) -> Vec<String> {
        let chosen = Chosen::default();
        if let Some(format) = format {
            chosen.set(format);
        }
        let lines = Lines {
            now: || "2023-05-24T06:40:58.123456Z".parse().unwrap(),
            zone: TimeZone::UTC,
            process: 1,
            ..Lines::new(chosen.clone())
        };
        let buffer = Buffer::default();
        let layer = tracing_subscriber::fmt::layer()
            .with_writer(buffer.clone())
            .with_ansi(false)
            .fmt_fields(Fields(chosen))
            .event_format(lines);
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::with_default(subscriber, events);
        let text = String::from_utf8(buffer.0.lock().unwrap().clone()).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    const PERSON: Option<Format> = Some(Format::Person { color: false });

    fn start() {
        info!(
            logger = "controller-runtime.metrics",
            addr = "127.0.0.1:8080",
            "Metrics server is starting to listen"
        );
        info!(logger = "setup", "starting manager");
        info!(
            klog = true,
            "attempting to acquire leader lease {}...", "ns/872ab3b9.cluster.x-k8s.io"
        );
        info!(
            path = "/metrics",
            kind = "metrics",
            addr = "127.0.0.1:8080",
            "Starting server"
        );
        let object = r#"{"kind":"Lease","namespace":"ns","name":"l"}"#;
        debug!(logger = "events", "type" = "Normal", %object, reason = "LeaderElection", "pod_1 became leader");
        info!(
            controller = "mailguncluster",
            "worker count" = 1_usize,
            "Starting workers"
        );
    }

    fn reconcile() {
        let object = r#"{"name":"hello","namespace":"ns"}"#;
        let span = info_span!(
            "reconcile",
            controller = "mailguncluster",
            controllerGroup = "infrastructure.cluster.x-k8s.io",
            MailgunCluster = %object,
            namespace = "ns",
            name = "hello",
            reconcileID = "1-2",
        );
        span.in_scope(|| {
            info!("Message ID <1.2@example.org>");
            error!(error = "no \"such\" domain", "couldn't send message \"\"");
        });
    }

    #[test]
    fn zap_lines_are_those_of_the_scaffold() {
        let expected = [
            "2023-05-24T06:40:58Z\tINFO\tcontroller-runtime.metrics\tMetrics server is starting to listen\t{\"addr\": \"127.0.0.1:8080\"}",
            "2023-05-24T06:40:58Z\tINFO\tsetup\tstarting manager",
            "I0524 06:40:58.123456       1 format.rs:LINE] attempting to acquire leader lease ns/872ab3b9.cluster.x-k8s.io...",
            "2023-05-24T06:40:58Z\tINFO\tStarting server\t{\"path\": \"/metrics\", \"kind\": \"metrics\", \"addr\": \"127.0.0.1:8080\"}",
            "2023-05-24T06:40:58Z\tDEBUG\tevents\tpod_1 became leader\t{\"type\": \"Normal\", \"object\": {\"kind\":\"Lease\",\"namespace\":\"ns\",\"name\":\"l\"}, \"reason\": \"LeaderElection\"}",
            "2023-05-24T06:40:58Z\tINFO\tStarting workers\t{\"controller\": \"mailguncluster\", \"worker count\": 1}",
        ];
        let without_line_number = |line: String| match line.split_once("format.rs:") {
            Some((start, rest)) => {
                format!("{start}format.rs:LINE{}", &rest[rest.find(']').unwrap()..])
            }
            None => line,
        };
        let found: Vec<String> = lines(Some(Format::Zap), start)
            .into_iter()
            .map(without_line_number)
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn zap_lines_have_the_keys_of_the_reconcile_first() {
        let keys = "\"controller\": \"mailguncluster\", \"controllerGroup\": \"infrastructure.cluster.x-k8s.io\", \
            \"MailgunCluster\": {\"name\":\"hello\",\"namespace\":\"ns\"}, \"namespace\": \"ns\", \"name\": \"hello\", \"reconcileID\": \"1-2\"";
        let expected = [
            format!("2023-05-24T06:40:58Z\tINFO\tMessage ID <1.2@example.org>\t{{{keys}}}"),
            format!(
                "2023-05-24T06:40:58Z\tERROR\tcouldn't send message \"\"\t{{{keys}, \"error\": \"no \\\"such\\\" domain\"}}"
            ),
        ];
        assert_eq!(lines(Some(Format::Zap), reconcile), expected);
    }

    #[test]
    fn json_lines_are_objects_with_nested_ones() {
        let mut found = lines(Some(Format::Json), start);
        found.extend(lines(Some(Format::Json), reconcile));
        let parsed: Vec<serde_json::Value> = found
            .iter()
            .map(|line| serde_json::from_str(line).expect(line))
            .collect();
        assert_eq!(
            found[1],
            r#"{"level":"info","ts":"2023-05-24T06:40:58.123456Z","logger":"setup","msg":"starting manager"}"#
        );
        assert_eq!(parsed[4]["object"]["kind"], "Lease");
        assert_eq!(parsed[5]["worker count"], 1);
        assert_eq!(parsed[6]["MailgunCluster"]["name"], "hello");
        assert_eq!(parsed[7]["error"], "no \"such\" domain");
        assert!(
            parsed.iter().all(|line| line.get("klog").is_none()),
            "{found:?}"
        );
    }

    #[test]
    fn a_person_reads_what_a_person_needs() {
        let found = lines(PERSON, reconcile);
        let keys = "controller=mailguncluster MailgunCluster=ns/hello";
        let expected = [
            format!("06:40:58 INFO  Message ID <1.2@example.org>  {keys}"),
            format!(
                r#"06:40:58 ERROR couldn't send message ""  {keys} error="no \"such\" domain""#
            ),
        ];
        assert_eq!(found, expected);
        assert_eq!(lines(PERSON, start)[1], "06:40:58 INFO  starting manager");
        let colored = lines(Some(Format::Person { color: true }), || warn!("careful"));
        assert_eq!(colored, ["06:40:58 \x1b[33mWARN \x1b[0m careful"]);
    }

    #[test]
    fn what_a_span_records_later_is_a_field_like_others_and_foreign_spans_are_left_out() {
        let events = || {
            let foreign = info_span!(target: "kube_runtime", "reconciling", object.reason = "new");
            let own = info_span!(parent: &foreign, "own", a = 1, b = tracing::field::Empty);
            own.record("b", 2);
            own.in_scope(|| info!(c = 3, "hello"));
        };
        let zap = lines(Some(Format::Zap), events).remove(0);
        assert!(
            zap.ends_with("\thello\t{\"a\": 1, \"b\": 2, \"c\": 3}"),
            "{zap}"
        );
        let json = lines(Some(Format::Json), events).remove(0);
        assert!(
            json.ends_with(r#","msg":"hello","a":1,"b":2,"c":3}"#),
            "{json}"
        );
        let person = lines(PERSON, events).remove(0);
        assert!(person.ends_with("hello  a=1 b=2 c=3"), "{person}");
    }

    #[test]
    fn a_text_from_outside_starts_no_line_and_no_color() {
        let bad = "a\nERROR b\t\x1b[31m";
        for format in [PERSON, Some(Format::Json), Some(Format::Zap)] {
            let found = lines(format, || info!(name = bad, other = %bad, "{bad}"));
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(!found[0].contains('\x1b'), "{found:?}");
        }
    }

    #[test]
    fn others_are_named_by_their_target() {
        let found = lines(
            Some(Format::Zap),
            || info!(target: "kube_runtime::watcher", "hello"),
        );
        assert_eq!(
            found,
            ["2023-05-24T06:40:58Z\tINFO\tkube_runtime::watcher\thello"]
        );
    }

    #[test]
    fn before_a_choice_lines_are_remarks() {
        let found = lines(None, || info!(a = 1, "hello"));
        assert_eq!(
            found,
            [" INFO capictl::cli::logging::format::tests: hello a=1"]
        );
    }
}
