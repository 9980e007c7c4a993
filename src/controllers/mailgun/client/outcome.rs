//! From what came back of a POST, if anything, to what is known of the mail. Pure.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::reason;
use super::redact::Redaction;
use super::wait::Hints;
use crate::http::once::{Answer, Unanswered};
use crate::http::{Error, Reason};

/// What is known of a mail after the attempt to send it. It has no key, no address and nothing of the mail in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Mailgun has it.
    Sent {
        /// The message id that Mailgun gave, in angle brackets.
        id: String,
    },
    /// Mailgun has it, but the answer could not be read as far as the id.
    SentUnread,
    /// Nothing was written: Mailgun has seen nothing of it.
    NotSent {
        /// One word, see [`super::reason`].
        reason: &'static str,
        /// What happened.
        message: String,
    },
    /// Mailgun did not take it, because there were too many.
    RateLimited {
        /// HTTP status.
        code: u16,
        /// How long Mailgun asks to wait, if it says so.
        wait: Option<Duration>,
        /// What Mailgun says.
        message: String,
    },
    /// Mailgun did not take it, and will not until something changes.
    Refused {
        /// HTTP status.
        code: u16,
        /// One word, see [`super::reason`].
        reason: &'static str,
        /// What Mailgun says.
        message: String,
    },
    /// Mailgun may have it, or not.
    Unknown {
        /// HTTP status, 0 without an answer.
        code: u16,
        /// One word, see [`super::reason`].
        reason: &'static str,
        /// What happened.
        message: String,
    },
}

/// Returns what an answer tells.
pub(super) fn of_answer(answer: &Answer, redaction: &Redaction, now: Timestamp) -> Outcome {
    let code = answer.code;
    if (200..300).contains(&code) {
        return of_success(answer);
    }
    let said = said_by(answer);
    let message = describe(code, &redaction.apply(&said.text));
    match refusal(code, &said) {
        Some(reason::RATE_LIMITED) => Outcome::RateLimited {
            code,
            wait: wait_of(answer, &said.text, now),
            message,
        },
        Some(reason) => Outcome::Refused {
            code,
            reason,
            message,
        },
        None => Outcome::Unknown {
            code,
            reason: match code {
                408 | 500.. => reason::SERVER_ERROR,
                _ => reason::UNEXPECTED_ANSWER,
            },
            message,
        },
    }
}

/// Returns what the lack of an answer tells.
pub(super) fn of_silence(unanswered: &Unanswered) -> Outcome {
    let (reason, message) = explain(unanswered);
    if unanswered.maybe_written {
        Outcome::Unknown {
            code: 0,
            reason,
            message,
        }
    } else {
        Outcome::NotSent { reason, message }
    }
}

/// Returns the reason and the text of a failure without an answer.
pub(super) fn explain(unanswered: &Unanswered) -> (&'static str, String) {
    let Unanswered {
        maybe_written,
        error,
    } = unanswered;
    let reason = match error {
        Error::Transport { reason, .. } => match (reason, maybe_written) {
            (Reason::Timeout, false) => reason::CONNECT_TIMEOUT,
            (Reason::Timeout, true) => reason::NO_ANSWER,
            (Reason::Proxy | Reason::ProxyLogin, false) => reason::PROXY_REFUSED,
            (Reason::Certificate, false) => reason::CERTIFICATE_NOT_TRUSTED,
            (Reason::Connect | Reason::Interrupted | Reason::Redirect, false) => {
                reason::UNREACHABLE
            }
            (_, true) => reason::INTERRUPTED,
        },
        _ => reason::CLIENT_SETUP,
    };
    let message = match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    };
    (reason, message)
}

/// A success whose body has no id, or breaks off, is a success all the same. But a whole page of something else, with
/// status 200, comes from a proxy or a wrong address, and says nothing about the mail.
fn of_success(answer: &Answer) -> Outcome {
    let Ok(body) = &answer.body else {
        return Outcome::SentUnread;
    };
    match serde_json::from_slice::<serde_json::Value>(body) {
        Ok(serde_json::Value::Object(fields)) => {
            match fields.get("id").and_then(|id| id.as_str()) {
                Some(id) if is_message_id(id) => Outcome::Sent { id: bracketed(id) },
                _ => Outcome::SentUnread,
            }
        }
        _ if body.trim_ascii().is_empty() => Outcome::SentUnread,
        _ => Outcome::Unknown {
            code: answer.code,
            reason: reason::UNEXPECTED_ANSWER,
            message: format!(
                "the server answered {}, but not as Mailgun does",
                answer.code
            ),
        },
    }
}

fn is_message_id(text: &str) -> bool {
    (1..=998).contains(&text.len()) && text.chars().all(|c| !c.is_control() && !c.is_whitespace())
}

/// Returns a message id in angle brackets.
pub(super) fn bracketed(id: &str) -> String {
    format!("<{}>", unbracketed(id))
}

/// Returns a message id without angle brackets.
pub(super) fn unbracketed(id: &str) -> &str {
    let id = id.trim();
    id.strip_prefix('<')
        .and_then(|id| id.strip_suffix('>'))
        .unwrap_or(id)
}

/// What a refusal says.
pub(super) struct Said {
    /// The text, empty if there is none for people.
    pub(super) text: String,
    /// It came as JSON, as Mailgun's own words do.
    is_json: bool,
}

/// Mailgun says `{"message": ...}`, or a plain word. What looks like a page comes from something before Mailgun.
pub(super) fn said_by(answer: &Answer) -> Said {
    let body = answer.body.as_deref().unwrap_or_default();
    let json = serde_json::from_slice::<serde_json::Value>(body).ok();
    let plain = || {
        let text = String::from_utf8_lossy(body);
        if text.contains('<') {
            String::new()
        } else {
            text.into_owned()
        }
    };
    let text = match &json {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(value) => ["message", "Error", "error"]
            .iter()
            .find_map(|name| value.get(name)?.as_str())
            .unwrap_or_default()
            .to_owned(),
        None => plain(),
    };
    Said {
        text,
        is_json: json.is_some(),
    }
}

/// Returns why Mailgun certainly did nothing, `None` where that is not certain.
///
/// 420 is what some accounts get in place of 429. 403 in place of 400 is what sandbox domains get.
pub(super) fn refusal(code: u16, said: &Said) -> Option<&'static str> {
    let text = said.text.to_lowercase();
    let says = |words: &str| text.contains(words);
    Some(match code {
        420 | 429 => reason::RATE_LIMITED,
        400 | 403 if says("authorized recipient") => reason::RECIPIENT_NOT_AUTHORIZED,
        400 | 403 if says("not allowed to send") => reason::DOMAIN_NOT_ALLOWED,
        400 if says("from parameter") || says("'from'") => reason::INVALID_SENDER,
        400 if says("to parameter") || says("'to'") => reason::INVALID_RECIPIENT,
        400 => reason::INVALID_MESSAGE,
        401 => reason::UNAUTHORIZED,
        402 => reason::REQUEST_FAILED,
        403 => reason::FORBIDDEN,
        404 if said.is_json => reason::DOMAIN_NOT_FOUND,
        404 | 405 => reason::WRONG_API_BASE,
        407 => reason::PROXY_REFUSED,
        413 => reason::MESSAGE_TOO_LARGE,
        300..400 => reason::REDIRECTED,
        406 | 410 | 411 | 414 | 415 | 417 | 421 | 422 | 426 | 428 | 431 | 451 => reason::REFUSED,
        _ => return None,
    })
}

/// Returns how long the server asks to wait.
pub(super) fn wait_of(answer: &Answer, text: &str, now: Timestamp) -> Option<Duration> {
    let hints = Hints {
        date: answer.header("date"),
        reset: answer.header("x-ratelimit-reset"),
        retry_after: answer.header("retry-after"),
        text,
    };
    hints.wait(now)
}

/// Returns a sentence about a status.
pub(super) fn describe(code: u16, said: &str) -> String {
    if said.is_empty() {
        format!("Mailgun answered {code}")
    } else {
        format!("Mailgun answered {code}: {said}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Cause;

    fn answer(code: u16, body: &str) -> Answer {
        Answer {
            code,
            body: Ok(body.as_bytes().to_vec()),
            headers: ::http::HeaderMap::new(),
        }
    }

    fn outcome(code: u16, body: &str) -> Outcome {
        of_answer(
            &answer(code, body),
            &Redaction::default(),
            Timestamp::UNIX_EPOCH,
        )
    }

    fn refused(code: u16, body: &str) -> &'static str {
        match outcome(code, body) {
            Outcome::Refused { reason, .. } => reason,
            other => panic!("{code} {body}: {other:?}"),
        }
    }

    #[test]
    fn refusals_have_a_word() {
        let table = [
            (302, "", reason::REDIRECTED),
            (
                400,
                r#"{"message":"from parameter is missing"}"#,
                reason::INVALID_SENDER,
            ),
            (
                400,
                r#"{"message":"'from' parameter is not a valid address."}"#,
                reason::INVALID_SENDER,
            ),
            (
                400,
                r#"{"message":"'to' parameter is not a valid address."}"#,
                reason::INVALID_RECIPIENT,
            ),
            (
                400,
                r#"{"message":"to parameter is missing"}"#,
                reason::INVALID_RECIPIENT,
            ),
            (
                400,
                r#"{"message":"Need at least one of text or html"}"#,
                reason::INVALID_MESSAGE,
            ),
            (
                400,
                r#"{"message":"Domain a.b is not allowed to send: add the address to your Authorized Recipients"}"#,
                reason::RECIPIENT_NOT_AUTHORIZED,
            ),
            (
                403,
                r#"{"message":"Domain a.b is not allowed to send: add the address to your authorized recipients"}"#,
                reason::RECIPIENT_NOT_AUTHORIZED,
            ),
            (
                403,
                r#"{"message":"Domain a.b is not allowed to send: account is disabled"}"#,
                reason::DOMAIN_NOT_ALLOWED,
            ),
            (401, "Forbidden", reason::UNAUTHORIZED),
            (401, "\"Forbidden\"", reason::UNAUTHORIZED),
            (402, r#"{"message":"no"}"#, reason::REQUEST_FAILED),
            (403, "Forbidden", reason::FORBIDDEN),
            (
                404,
                r#"{"message":"Domain not found: a.b"}"#,
                reason::DOMAIN_NOT_FOUND,
            ),
            (404, "<html>nothing here</html>", reason::WRONG_API_BASE),
            (405, "", reason::WRONG_API_BASE),
            (407, "", reason::PROXY_REFUSED),
            (413, "", reason::MESSAGE_TOO_LARGE),
            (422, "", reason::REFUSED),
        ];
        for (code, body, expected) in table {
            assert_eq!(refused(code, body), expected, "{code} {body}");
        }
    }

    #[test]
    fn what_is_not_certainly_a_refusal_is_unknown() {
        for code in [408, 409, 425, 499, 500, 502, 503, 504, 599, 600] {
            let Outcome::Unknown { code: told, .. } = outcome(code, r#"{"message":"x"}"#) else {
                panic!("{code}")
            };
            assert_eq!(told, code);
        }
    }

    #[test]
    fn a_success_counts_even_where_the_id_is_missing() {
        let sent = Outcome::Sent { id: "<a@b>".into() };
        assert_eq!(outcome(200, r#"{"id":"<a@b>","message":"Queued."}"#), sent);
        assert_eq!(outcome(202, r#"{"id":"a@b"}"#), sent);
        for body in [
            r#"{"message":"Queued."}"#,
            r#"{"id":"a b"}"#,
            r#"{"id":7}"#,
            "",
            "\n",
        ] {
            assert_eq!(outcome(200, body), Outcome::SentUnread, "{body}");
        }
        assert_eq!(outcome(204, ""), Outcome::SentUnread);
    }

    #[test]
    fn a_page_with_status_200_is_not_mailguns() {
        for body in ["<html>please log in</html>", "[]", r#"{"id":"<a@b"#] {
            let outcome = outcome(200, body);
            assert!(
                matches!(
                    outcome,
                    Outcome::Unknown {
                        code: 200,
                        reason: reason::UNEXPECTED_ANSWER,
                        ..
                    }
                ),
                "{body}: {outcome:?}"
            );
        }
    }

    #[test]
    fn a_limit_says_how_long() {
        for code in [420, 429] {
            let Outcome::RateLimited { wait, message, .. } =
                outcome(code, r#"{"message":"try again after 5 seconds"}"#)
            else {
                panic!("{code}")
            };
            assert_eq!(wait, Some(Duration::from_secs(5)));
            assert_eq!(
                message,
                format!("Mailgun answered {code}: try again after 5 seconds")
            );
        }
    }

    #[test]
    fn silence_is_doubt_only_after_something_was_written() {
        let silence = |reason, maybe_written| {
            let error = Error::Transport {
                url: "https://host/".into(),
                reason,
                source: Cause("cause".into()),
            };
            match of_silence(&Unanswered {
                maybe_written,
                error,
            }) {
                Outcome::NotSent { reason, .. } => (reason, false),
                Outcome::Unknown {
                    code: 0, reason, ..
                } => (reason, true),
                other => panic!("{other:?}"),
            }
        };
        let table = [
            (Reason::Connect, false, reason::UNREACHABLE),
            (Reason::Interrupted, false, reason::UNREACHABLE),
            (Reason::Timeout, false, reason::CONNECT_TIMEOUT),
            (Reason::Proxy, false, reason::PROXY_REFUSED),
            (Reason::ProxyLogin, false, reason::PROXY_REFUSED),
            (Reason::Certificate, false, reason::CERTIFICATE_NOT_TRUSTED),
            (Reason::Timeout, true, reason::NO_ANSWER),
            (Reason::Interrupted, true, reason::INTERRUPTED),
        ];
        for (kind, maybe_written, expected) in table {
            assert_eq!(silence(kind, maybe_written), (expected, maybe_written));
        }
    }
}
