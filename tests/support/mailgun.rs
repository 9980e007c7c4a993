//! A stand-in for Mailgun's API, at the socket.
//!
//! It takes mails as `POST /v3/{domain}/messages` does, and tells of them as `GET /v3/{domain}/events` does: by Basic
//! authentication, with filters, in pages, and with the refusals of the original. Every accepted mail and every request
//! is recorded. Any request can be made to go wrong, in the ways in which a sender can lose track of its mail.

mod answers;
mod events;
mod fault;
mod form;
mod wire;

use std::net::TcpListener;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::{oneshot, watch};

pub use fault::{Answer, Cut, Fault};

/// The domain of a stand-in, unless it is told another.
pub const DOMAIN: &str = "mail.example.org";
/// Its key for everything.
pub const KEY: &str = "key-5f1a9c0d2b7e";
/// Its key that may only send.
pub const SENDING_KEY: &str = "key-send-83b1d6";

/// The stand-in; it stops when this is dropped.
pub struct Mailgun {
    url: String,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// A mail that was accepted.
#[derive(Debug, Clone, PartialEq)]
pub struct Mail {
    /// The Message-Id that was asked for, without angle brackets.
    pub mid: Option<String>,
    /// The Message-Id that it got, without angle brackets.
    pub id: String,
    /// The variable `capi-token`.
    pub token: Option<String>,
    /// The fields of the form.
    pub fields: Vec<(String, String)>,
    /// It was rejected after it had been accepted, with this reason.
    rejected: Option<String>,
    accepted_at: Instant,
    /// The time of its events, as seconds since 1970.
    timestamp: f64,
}

impl Mail {
    /// Returns a field of the form, empty if it is not there.
    pub fn field(&self, name: &str) -> &str {
        value_of(&self.fields, name).unwrap_or_default()
    }
}

/// A request as it arrived. The fields of the form are there once it is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// GET or POST.
    pub method: String,
    /// Path with query.
    pub path: String,
    /// The key of the Basic authentication, if the user was `api`.
    pub key: Option<String>,
    /// What the client calls itself.
    pub user_agent: String,
    /// The fields of the form.
    pub fields: Vec<(String, String)>,
}

impl Request {
    /// It wants to send a mail.
    pub fn is_send(&self) -> bool {
        self.method == "POST"
    }

    /// Returns a field of the form.
    pub fn field(&self, name: &str) -> Option<&str> {
        value_of(&self.fields, name)
    }

    fn contains(&self, part: &str) -> bool {
        let line = format!("{} {}", self.method, self.path);
        line.contains(part) || self.fields.iter().any(|(_, value)| value.contains(part))
    }
}

type Script = Box<dyn FnMut(&Request) -> Option<Fault> + Send>;
type OnAccept = Box<dyn Fn(&Mail) + Send>;

struct Shared {
    url: String,
    domain: String,
    state: Mutex<State>,
    accepted: watch::Sender<usize>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

#[derive(Default)]
struct State {
    /// Keys, and whether they may read events.
    keys: Vec<(String, bool)>,
    mails: Vec<Mail>,
    requests: Vec<Request>,
    rules: Vec<(String, Fault, usize)>,
    script: Option<Script>,
    on_accept: Option<OnAccept>,
    latency: Duration,
    hidden_for: Duration,
    page_size: Option<usize>,
    authorized: Option<Vec<String>>,
    cursors: Vec<events::Query>,
}

impl State {
    /// Returns what goes wrong with a request; a rule is used up by it.
    fn fault(&mut self, request: &Request, fits: impl Fn(&Fault) -> bool) -> Option<Fault> {
        let rule = self
            .rules
            .iter_mut()
            .find(|(part, fault, left)| *left > 0 && fits(fault) && request.contains(part))?;
        rule.2 -= 1;
        Some(rule.1.clone())
    }
}

impl Mailgun {
    /// Starts it on a free port, for [`DOMAIN`] and [`KEY`].
    pub fn start() -> Self {
        Self::start_for("127.0.0.1:0", DOMAIN, KEY).unwrap()
    }

    /// Starts it at an address, for a domain and a key.
    pub fn start_for(address: &str, domain: &str, key: &str) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let url = format!("http://{}", listener.local_addr()?);
        let keys = vec![(key.to_owned(), true), (SENDING_KEY.to_owned(), false)];
        let shared = Arc::new(Shared {
            url: url.clone(),
            domain: domain.to_owned(),
            state: Mutex::new(State {
                keys,
                ..State::default()
            }),
            accepted: watch::Sender::new(0),
        });
        let (stop, stopped) = oneshot::channel();
        let served = shared.clone();
        let thread = std::thread::spawn(move || wire::run(listener, served, stopped));
        Ok(Self {
            url,
            shared,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Returns its address, for `MAILGUN_API_BASE`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Lets the next requests go wrong that contain a text in method and path (`POST /v3/`), or in a field of the form
    /// (a Message-Id, a token, a recipient). Rules are tried in the order of their making.
    pub fn fail(&self, part: &str, fault: Fault, times: usize) {
        self.shared
            .state()
            .rules
            .push((part.to_owned(), fault, times));
    }

    /// Lets a function decide what goes wrong with the requests that no rule is for.
    pub fn script(&self, script: impl FnMut(&Request) -> Option<Fault> + Send + 'static) {
        self.shared.state().script = Some(Box::new(script));
    }

    /// Forgets all rules, and the script.
    pub fn behave(&self) {
        let mut state = self.shared.state();
        state.rules.clear();
        state.script = None;
    }

    /// Calls a function with every mail that is accepted from now on, those that were lost track of too.
    pub fn on_accept(&self, act: impl Fn(&Mail) + Send + 'static) {
        self.shared.state().on_accept = Some(Box::new(act));
    }

    /// Answers all requests so much later.
    pub fn answer_after(&self, latency: Duration) {
        self.shared.state().latency = latency;
    }

    /// Lets events show only when their mail was accepted so long ago; `Duration::MAX` hides them, zero shows them.
    pub fn hide_events_for(&self, time: Duration) {
        self.shared.state().hidden_for = time;
    }

    /// Gives at most so many events on a page.
    pub fn set_page_size(&self, size: usize) {
        self.shared.state().page_size = Some(size);
    }

    /// Takes mails for these recipients only, as a sandbox domain does.
    pub fn authorize_only(&self, recipients: &[&str]) {
        let recipients = recipients.iter().map(ToString::to_string);
        self.shared.state().authorized = Some(recipients.collect());
    }

    /// Returns the accepted mails, in the order of their acceptance.
    pub fn mails(&self) -> Vec<Mail> {
        self.shared.state().mails.clone()
    }

    /// Returns how many mails were accepted for an object.
    pub fn accepted(&self, token: &str) -> usize {
        let state = self.shared.state();
        let mails = state.mails.iter();
        mails
            .filter(|mail| mail.token.as_deref() == Some(token))
            .count()
    }

    /// Waits until so many mails were accepted. Panics after a minute.
    pub async fn until_accepted(&self, count: usize) {
        let mut accepted = self.shared.accepted.subscribe();
        let wait = accepted.wait_for(|accepted| *accepted >= count);
        if tokio::time::timeout(Duration::from_secs(60), wait)
            .await
            .is_err()
        {
            panic!("waited for {count} mails; there are {:#?}", self.mails());
        }
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.state().requests.clone()
    }
}

impl Drop for Mailgun {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

fn value_of<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a str> {
    fields
        .iter()
        .find(|(field, _)| field == name)
        .map(|(_, value)| value.as_str())
}
