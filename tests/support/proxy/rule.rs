//! What goes wrong, and with which requests.

use std::fmt::{self, Debug};
use std::time::Duration;

use hyper::body::Bytes;
use serde_json::{Value, json};

/// A request that reached the proxy, as its log keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub method: String,
    pub path: String,
    /// Without the question mark; empty if there is none.
    pub query: String,
    pub body: Bytes,
    /// The fault that was applied to it.
    pub fault: Option<Fault>,
    /// The status of the answer, once there is one: the API server's or an injected one.
    pub status: Option<u16>,
}

impl Request {
    /// Tells whether it may change something: neither a read nor a dry run.
    pub fn is_write(&self) -> bool {
        let changes = matches!(self.method.as_str(), "POST" | "PUT" | "PATCH" | "DELETE");
        changes && !self.query.contains("dryRun=All")
    }

    pub fn is_watch(&self) -> bool {
        self.query
            .split('&')
            .any(|pair| matches!(pair, "watch=true" | "watch=1"))
    }
}

/// What goes wrong with a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// The request is answered with this status, and not passed on.
    Answer(Answer),
    /// The connection is reset, and the request not passed on.
    ResetBefore,
    /// The request is passed on; when the API server has answered, the connection is reset instead.
    ResetAfter,
    /// The request is passed on, but the answer never comes; the connection stays open.
    LoseAnswer,
    /// The request is passed on, but the connection is closed in the middle of the answer's body.
    CutAnswer,
    /// The request is passed on so much later.
    Delay(Duration),
    /// The request is passed on when the test says so, see `Injected::release`.
    Hold,
    /// The request is passed on; the answer follows when the test says so.
    HoldAnswer,
    /// The connection is reset, and for so long the port refuses connections and all others are reset: the API server
    /// is away.
    Refuse(Duration),
    /// The answer to a watch ends properly after so many events, as servers end watches every few minutes.
    EndWatch { after: usize },
    /// The connection of a watch is closed after so many events.
    CutWatch { after: usize },
    /// After so many events a watch is told that its version is too old (an event of type ERROR, code 410), and ends.
    ExpireWatch { after: usize },
}

/// A refusal in the API server's form.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub code: u16,
    pub reason: &'static str,
    pub message: &'static str,
    /// In seconds, as the header has it.
    pub retry_after: Option<u64>,
}

impl Answer {
    /// Renders the `Status` object.
    pub fn render(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "reason": self.reason, "code": self.code,
        });
        if let Some(seconds) = self.retry_after {
            status["details"] = json!({"retryAfterSeconds": seconds});
        }
        status
    }
}

impl Fault {
    pub fn answer(code: u16, reason: &'static str, message: &'static str) -> Self {
        Self::Answer(Answer {
            code,
            reason,
            message,
            retry_after: None,
        })
    }

    /// 409, as for an object that somebody else has changed meanwhile.
    pub fn conflict() -> Self {
        let message = "Operation cannot be fulfilled: the object has been modified; \
                       please apply your changes to the latest version and try again";
        Self::answer(409, "Conflict", message)
    }

    /// 410, as for the next page of a list that has expired.
    pub fn expired() -> Self {
        let message = "The provided continue parameter is too old";
        Self::answer(410, "Expired", message)
    }

    /// 429 with Retry-After, as from a server that sheds load.
    pub fn too_many_requests(retry_after: u64) -> Self {
        Self::Answer(Answer {
            code: 429,
            reason: "TooManyRequests",
            message: "Too many requests, please try again later.",
            retry_after: Some(retry_after),
        })
    }

    /// 500.
    pub fn internal_error() -> Self {
        let message = "Internal error occurred: etcdserver: request timed out";
        Self::answer(500, "InternalError", message)
    }

    /// 503.
    pub fn unavailable() -> Self {
        let message = "the server is currently unable to handle the request";
        Self::answer(503, "ServiceUnavailable", message)
    }
}

type Predicate = Box<dyn Fn(&Request) -> bool + Send + Sync>;

/// A fault and the requests it is for; a new rule is for all of them.
pub struct Rule {
    pub(super) fault: Fault,
    conditions: Vec<Predicate>,
    pub(super) skip: usize,
    pub(super) times: usize,
}

impl Rule {
    pub fn new(fault: Fault) -> Self {
        Self {
            fault,
            conditions: Vec::new(),
            skip: 0,
            times: usize::MAX,
        }
    }

    /// Only requests with this method.
    pub fn method(self, method: &'static str) -> Self {
        self.matching(move |request| request.method == method)
    }

    /// Only requests that may change something.
    pub fn writes(self) -> Self {
        self.matching(Request::is_write)
    }

    /// Only watches.
    pub fn watches(self) -> Self {
        self.matching(Request::is_watch)
    }

    /// Only requests whose whole path matches; `*` stands for any characters, slashes too.
    pub fn path(self, pattern: impl Into<String>) -> Self {
        let pattern = pattern.into();
        self.matching(move |request| matches_pattern(&pattern, &request.path))
    }

    /// Only requests of which this is true.
    pub fn matching(
        mut self,
        predicate: impl Fn(&Request) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.conditions.push(Box::new(predicate));
        self
    }

    /// Lets the first `count` of them pass.
    pub fn skip(mut self, count: usize) -> Self {
        self.skip = count;
        self
    }

    /// Applies it `count` times only.
    pub fn times(mut self, count: usize) -> Self {
        self.times = count;
        self
    }

    /// Applies it once only.
    pub fn once(self) -> Self {
        self.times(1)
    }

    pub(super) fn matches(&self, request: &Request) -> bool {
        self.conditions.iter().all(|condition| condition(request))
    }
}

impl Debug for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            fault,
            conditions,
            skip,
            times,
        } = self;
        let conditions = conditions.len();
        write!(
            formatter,
            "{fault:?} on {conditions} conditions, skip {skip}, times {times}"
        )
    }
}

fn matches_pattern(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(text) = text.strip_prefix(start) else {
        return false;
    };
    let mut ends = text
        .char_indices()
        .map(|(index, _)| index)
        .chain([text.len()]);
    ends.any(|index| matches_pattern(rest, &text[index..]))
}
