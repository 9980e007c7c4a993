//! HTTP/1.1 by hand, one request per connection: a framework would not let a connection end within a status line.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use k8s_openapi::jiff::{Timestamp, fmt::rfc2822::DateTimePrinter};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use super::{Answer, Cut, Fault, Request, Shared, answers, form};

const HEAD_LIMIT: usize = 64 * 1024;
/// What Mailgun takes at most.
const BODY_LIMIT: usize = 52 * 1024 * 1024;

/// Serves until `stopped`.
pub fn run(listener: TcpListener, shared: Arc<Shared>, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let serve = async {
        listener.set_nonblocking(true).unwrap();
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        while let Ok((stream, _)) = listener.accept().await {
            let shared = shared.clone();
            // A client that goes away is its own affair.
            tokio::spawn(async move { serve(stream, &shared).await.ok() });
        }
    };
    runtime.block_on(async {
        tokio::select! {
            () = serve => {}
            _ = stopped => {}
        }
    });
}

async fn serve(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let Some((head, rest)) = read_head(&mut stream).await? else {
        return Ok(());
    };
    let Some(head) = Head::parse(&head) else {
        return write(&mut stream, &Answer::plain(400, "this is not HTTP"), None).await;
    };
    let mut request = head.request();
    let early = {
        let mut state = shared.state();
        state.requests.push(request.clone());
        state.fault(&request, |fault| *fault == Fault::CutBeforeBody)
    };
    if early.is_some() {
        return Ok(());
    }
    let body = read_body(&mut stream, &head, rest).await?;
    if request.method == "POST" {
        let form = body.and_then(|body| form::parse(head.header("content-type"), &body));
        match form {
            Ok(fields) => request.fields = fields,
            Err(message) => return write(&mut stream, &Answer::message(400, &message), None).await,
        }
    }
    answer(&mut stream, shared, &request).await
}

async fn answer(stream: &mut TcpStream, shared: &Shared, request: &Request) -> io::Result<()> {
    let (fault, latency) = {
        let mut state = shared.state();
        let by_rule = state.fault(request, |_| true);
        let fault = by_rule.or_else(|| state.script.as_mut().and_then(|script| script(request)));
        (fault, state.latency)
    };
    if !latency.is_zero() {
        tokio::time::sleep(latency).await;
    }
    match fault {
        Some(Fault::CutBeforeBody | Fault::CutBeforeDoing) => Ok(()),
        Some(Fault::Refuse(refusal)) => write(stream, &refusal, None).await,
        Some(Fault::DoAndAnswer(other)) => {
            answers::answer(shared, request, None);
            write(stream, &other, None).await
        }
        Some(Fault::DoAndCut(cut)) => {
            let answer = answers::answer(shared, request, None);
            write(stream, &answer, Some(cut)).await
        }
        Some(Fault::DoAndDelay(time)) => {
            let answer = answers::answer(shared, request, None);
            tokio::time::sleep(time).await;
            write(stream, &answer, None).await
        }
        fault @ (None | Some(Fault::DropMessageId | Fault::RejectLater(_))) => {
            let answer = answers::answer(shared, request, fault.as_ref());
            write(stream, &answer, None).await
        }
    }
}

struct Head {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
}

impl Head {
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, path) = (words.next()?, words.next()?);
        words
            .next()
            .filter(|version| version.starts_with("HTTP/1."))?;
        // A proxy is asked for whole URLs.
        let path = path
            .split_once("://")
            .and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..]))
            .unwrap_or(path);
        let headers = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
            .collect();
        Some(Self {
            method: method.to_owned(),
            path: path.to_owned(),
            headers,
        })
    }

    fn header(&self, name: &str) -> &str {
        super::value_of(&self.headers, name).unwrap_or_default()
    }

    fn request(&self) -> Request {
        let credentials = self
            .header("authorization")
            .strip_prefix("Basic ")
            .and_then(|text| BASE64_STANDARD.decode(text).ok())
            .and_then(|bytes| String::from_utf8(bytes).ok());
        Request {
            method: self.method.clone(),
            path: self.path.clone(),
            key: credentials.and_then(|text| Some(text.strip_prefix("api:")?.to_owned())),
            user_agent: self.header("user-agent").to_owned(),
            fields: Vec::new(),
        }
    }
}

/// Returns the head, and what was read of the body with it.
async fn read_head(stream: &mut TcpStream) -> io::Result<Option<(String, Vec<u8>)>> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = bytes.split_off(end + 4);
            bytes.truncate(end);
            return Ok(Some((String::from_utf8_lossy(&bytes).into_owned(), rest)));
        }
        // Somebody speaks TLS.
        if bytes
            .first()
            .is_some_and(|byte| !byte.is_ascii_alphabetic())
        {
            return Ok(Some(Default::default()));
        }
        if bytes.len() > HEAD_LIMIT || stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    }
}

/// Returns the body, or why it is not read.
async fn read_body(
    stream: &mut TcpStream,
    head: &Head,
    mut body: Vec<u8>,
) -> io::Result<Result<Vec<u8>, String>> {
    if !head.header("transfer-encoding").is_empty() {
        return Ok(Err("a form needs a Content-Length".into()));
    }
    let length: usize = head.header("content-length").parse().unwrap_or(0);
    if length > BODY_LIMIT {
        return Ok(Err("the form is too large".into()));
    }
    if head.header("expect").eq_ignore_ascii_case("100-continue") {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    while body.len() < length {
        if stream.read_buf(&mut body).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(Ok(body))
}

async fn write(stream: &mut TcpStream, answer: &Answer, cut: Option<Cut>) -> io::Result<()> {
    let Answer {
        status,
        headers,
        content_type,
        body,
    } = answer;
    let phrase = http::StatusCode::from_u16(*status)
        .ok()
        .and_then(|status| status.canonical_reason())
        .unwrap_or("Other");
    let date = DateTimePrinter::new()
        .timestamp_to_rfc9110_string(&Timestamp::now())
        .unwrap();
    let mut head = format!("HTTP/1.1 {status} {phrase}\r\nDate: {date}\r\nConnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let length = body.len();
    head.push_str(&format!(
        "Content-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n"
    ));
    let end = match cut {
        None => head.len() + length,
        Some(Cut::Silence) => 0,
        Some(Cut::StatusLine) => "HTTP/1.1 2".len(),
        Some(Cut::Headers) => head.len() - "-Length: 0\r\n\r\n".len(),
        Some(Cut::Body) => head.len() + length / 2,
    };
    stream
        .write_all(&[head.as_bytes(), body.as_bytes()].concat()[..end])
        .await?;
    stream.shutdown().await
}
