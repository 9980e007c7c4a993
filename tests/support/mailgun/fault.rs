//! What can go wrong with a request.

use std::str::FromStr;
use std::time::Duration;

/// What happens to a request. Where it says "does it": a mail is accepted, events are read.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// Ends the connection before the body is read.
    CutBeforeBody,
    /// Reads the request to its end, does nothing and ends the connection.
    CutBeforeDoing,
    /// Does it, and ends the connection in the middle of the answer.
    DoAndCut(Cut),
    /// Does it, and answers something else.
    DoAndAnswer(Answer),
    /// Does it, and answers so much later.
    DoAndDelay(Duration),
    /// Does nothing, and answers this.
    Refuse(Answer),
    /// Accepts a mail under a Message-Id of Mailgun's own.
    DropMessageId,
    /// Accepts a mail, and rejects it afterwards, with this reason.
    RejectLater(String),
}

/// How much of an answer gets through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Nothing.
    Silence,
    /// A part of the status line.
    StatusLine,
    /// The status line and a part of the headers.
    Headers,
    /// Status, headers and a part of the body.
    Body,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// Headers besides those that every answer has.
    pub headers: Vec<(String, String)>,
    /// The media type of the body.
    pub content_type: &'static str,
    /// The body.
    pub body: String,
}

impl Answer {
    /// Returns `{"message": ...}`, as Mailgun has most refusals.
    pub fn message(status: u16, message: &str) -> Self {
        Self::json(status, &serde_json::json!({ "message": message }))
    }

    /// Returns an answer with a JSON body.
    pub fn json(status: u16, value: &serde_json::Value) -> Self {
        Self {
            content_type: "application/json",
            ..Self::plain(status, &value.to_string())
        }
    }

    /// Returns an answer in plain text.
    pub fn plain(status: u16, body: &str) -> Self {
        Self {
            status,
            headers: Vec::new(),
            content_type: "text/plain; charset=utf-8",
            body: body.to_owned(),
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl ToString) -> Self {
        self.headers.push((name.to_owned(), value.to_string()));
        self
    }
}

/// The faults by name, for the command line and for standard input.
impl FromStr for Fault {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let failure = |status| Answer::message(status, "Internal Server Error");
        let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is no number"));
        Ok(match name {
            "cut-before-body" => Self::CutBeforeBody,
            "cut-before-doing" => Self::CutBeforeDoing,
            "lost-answer" => Self::DoAndCut(Cut::Silence),
            "cut-status-line" => Self::DoAndCut(Cut::StatusLine),
            "cut-headers" => Self::DoAndCut(Cut::Headers),
            "cut-body" => Self::DoAndCut(Cut::Body),
            "drop-message-id" => Self::DropMessageId,
            _ => match name.rsplit_once('-') {
                Some(("accept", status)) => Self::DoAndAnswer(failure(number(status)?)),
                Some(("refuse", status)) => Self::Refuse(Answer::message(
                    number(status)?,
                    "refused, as it was asked for",
                )),
                Some(("delay", seconds)) => {
                    Self::DoAndDelay(Duration::from_secs(number(seconds)?.into()))
                }
                _ => return Err(format!("no fault is named `{name}`")),
            },
        })
    }
}
