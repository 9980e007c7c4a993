//! How long Mailgun asks to wait. Nothing of it is documented: a header that its Go client reads, a standard header,
//! and words such as `try again after Mon, 25 Aug 2025 07:00:31 UTC`.

use std::time::Duration;

use k8s_openapi::jiff::{SignedDuration, Timestamp, fmt::rfc2822::DateTimeParser};

/// A wait is at least this long, so that nobody hammers on a limit that is just over.
const SHORTEST: Duration = Duration::from_secs(1);
/// Daily limits are the longest there are; what is more is a mistake.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// Most words of a date.
const DATE_WORDS: usize = 6;

/// Where an answer may say how long to wait.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Hints<'a> {
    /// `Date`: the server's clock, which its other times go by.
    pub(super) date: Option<&'a str>,
    /// `X-RateLimit-Reset`.
    pub(super) reset: Option<&'a str>,
    /// `Retry-After`.
    pub(super) retry_after: Option<&'a str>,
    /// What the body says.
    pub(super) text: &'a str,
}

impl Hints<'_> {
    /// Returns how long to wait; `now` is our clock, for a server that does not tell its own.
    pub(super) fn wait(&self, now: Timestamp) -> Option<Duration> {
        let now = self.date.and_then(parse_date).unwrap_or(now);
        let header = self.reset.and_then(|text| parse_reset(text, now));
        header
            .or_else(|| {
                self.retry_after
                    .and_then(|text| parse_seconds_or_date(text, now))
            })
            .or_else(|| parse_words(self.text, now))
            .map(|wait| wait.clamp(SHORTEST, LONGEST))
    }
}

/// Unix seconds, perhaps with a fraction. Other APIs give milliseconds there, or the seconds that are left.
fn parse_reset(text: &str, now: Timestamp) -> Option<Duration> {
    let number: f64 = text.trim().parse().ok()?;
    let now = now.as_millisecond() as f64 / 1000.0;
    let left = match number {
        ..1e8 => number,
        ..1e11 => number - now,
        _ => number / 1000.0 - now,
    };
    Duration::try_from_secs_f64(left.max(0.0)).ok()
}

fn parse_seconds_or_date(text: &str, now: Timestamp) -> Option<Duration> {
    match text.trim().parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => parse_date(text).map(|date| left(date, now)),
    }
}

/// Looks behind `after` and `in` for a time or a span, and takes the longest text that is one.
fn parse_words(text: &str, now: Timestamp) -> Option<Duration> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let begins = words
        .iter()
        .enumerate()
        .filter(|(_, word)| matches!(word.to_lowercase().as_str(), "after" | "in"))
        .map(|(at, _)| at + 1);
    begins
        .flat_map(|begin| {
            let most = DATE_WORDS.min(words.len() - begin);
            (1..=most).rev().map(move |count| begin..begin + count)
        })
        .find_map(|range| {
            let phrase = words[range].join(" ");
            parse_time_or_span(
                phrase.trim_end_matches(['.', ',', ';', ')', '"', '\'']),
                now,
            )
        })
}

fn parse_time_or_span(phrase: &str, now: Timestamp) -> Option<Duration> {
    if let Some(date) = parse_date(phrase) {
        return Some(left(date, now));
    }
    let span: SignedDuration = phrase.parse().ok()?;
    Some(Duration::try_from(span).unwrap_or(Duration::ZERO))
}

/// Reads a date as mails and HTTP have it, as RFC 3339 has it, or as Go prints it.
fn parse_date(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let mail = text
        .strip_suffix("UTC")
        .map_or_else(|| text.to_owned(), |rest| format!("{rest}GMT"));
    if let Ok(time) = DateTimeParser::new().parse_timestamp(&mail) {
        return Some(time);
    }
    // Go: `2025-08-25 07:00:31.5 +0000 UTC`.
    let zoned = text.strip_suffix(" UTC").unwrap_or(text);
    let utc = format!("{zoned}Z");
    let go = zoned.replacen(" +", "+", 1).replacen(" -", "-", 1);
    [text, &go, &utc]
        .into_iter()
        .find_map(|text| text.parse().ok())
}

fn left(date: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(date.duration_since(now)).unwrap_or(Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2025-08-25T07:00:00Z".parse().unwrap()
    }

    fn of_text(text: &str) -> Option<u64> {
        let hints = Hints {
            text,
            ..Hints::default()
        };
        hints.wait(now()).map(|wait| wait.as_secs())
    }

    #[test]
    fn words_give_a_date_or_a_span() {
        let table = [
            (
                "recipient limit exceeded, try again after Mon, 25 Aug 2025 07:00:31 UTC",
                Some(31),
            ),
            ("try again after Mon, 25 Aug 2025 07:00:31 GMT.", Some(31)),
            ("try again after Mon, 25 Aug 2025 09:00:31 +0200", Some(31)),
            ("try again after 2025-08-25T07:00:31Z", Some(31)),
            ("try again after 2025-08-25 07:00:31 +0000 UTC", Some(31)),
            ("try again after 2025-08-25 07:00:31 UTC, please", Some(31)),
            (
                "message rate limit reached, try again after 45 seconds",
                Some(45),
            ),
            ("try again in 2 minutes.", Some(120)),
            ("Try again in 1m30s", Some(90)),
            ("try again after Mon, 25 Aug 2025 06:00:00 UTC", Some(1)),
            ("try again after 30 hours", Some(24 * 3600)),
            ("try again after a while", None),
            ("try again after", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(of_text(text), expected, "{text}");
        }
    }

    #[test]
    fn the_reset_header_counts_first_then_the_standard_one() {
        let hints = Hints {
            reset: Some("1756105210.5"),
            retry_after: Some("20"),
            text: "try again after 30 seconds",
            ..Hints::default()
        };
        assert_eq!(hints.wait(now()), Some(Duration::from_millis(10_500)));
        let no_reset = Hints {
            reset: Some("soon"),
            ..hints
        };
        assert_eq!(no_reset.wait(now()), Some(Duration::from_secs(20)));
        let words = Hints {
            reset: None,
            retry_after: Some("later"),
            ..hints
        };
        assert_eq!(words.wait(now()), Some(Duration::from_secs(30)));
    }

    #[test]
    fn headers_of_other_forms_are_understood() {
        let reset = |reset| {
            Hints {
                reset: Some(reset),
                ..Hints::default()
            }
            .wait(now())
        };
        assert_eq!(reset("12"), Some(Duration::from_secs(12)));
        assert_eq!(reset("1756105215000"), Some(Duration::from_secs(15)));
        assert_eq!(reset("-5"), Some(SHORTEST));
        assert_eq!(reset("1e300"), None);
        assert_eq!(reset("NaN"), Some(SHORTEST));
        let hints = Hints {
            retry_after: Some("Mon, 25 Aug 2025 07:01:00 GMT"),
            ..Hints::default()
        };
        assert_eq!(hints.wait(now()), Some(Duration::from_secs(60)));
    }

    #[test]
    fn times_go_by_the_clock_of_the_server() {
        let hints = Hints {
            date: Some("Mon, 25 Aug 2025 08:00:00 GMT"),
            text: "try again after Mon, 25 Aug 2025 08:00:40 UTC",
            ..Hints::default()
        };
        assert_eq!(hints.wait(now()), Some(Duration::from_secs(40)));
    }
}
