//! When a server's limit of requests ends.
//!
//! GitHub's answer of 403 or 429 with `x-ratelimit-remaining: 0` says so by `x-ratelimit-reset`; one to requests that came
//! too fast (the secondary limit) by `Retry-After`. GitLab has the same headers without the `x-`. See
//! <https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api> and
//! <https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/>.

use std::time::{Duration, SystemTime};

use k8s_openapi::jiff::Timestamp;

use super::Status;

const MINUTE: u64 = 60;
const DAY: Duration = Duration::from_secs(24 * 60 * MINUTE);

/// The end of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Requests are possible again at this time.
    At(SystemTime),
    /// The server does not say.
    Unknown,
}

/// Returns when the limit ends that a request has met; `None` when that is not why it was refused.
pub fn end_of(status: &Status) -> Option<End> {
    if !matches!(status.code, 403 | 429) {
        return None;
    }
    let after = |wait| SystemTime::now().checked_add(wait);
    let by_header = status.retry_after.and_then(after);
    match (status.rate_limited, by_header) {
        (true, by_header) => Some(status.reset.or(by_header).map_or(End::Unknown, End::At)),
        (false, Some(end)) => Some(End::At(end)),
        (false, None) => None,
    }
}

/// Returns the rest of a sentence: `, until 14:05 UTC, in 17 minutes`. A day is named where it is not the next.
pub fn describe(end: End, now: SystemTime) -> String {
    let End::At(end) = end else {
        return String::new();
    };
    let (Ok(time), Ok(wait)) = (Timestamp::try_from(end), end.duration_since(now)) else {
        return ", but that is over now: try again".into();
    };
    if wait >= DAY {
        return format!(", until {}", time.strftime("%Y-%m-%d %H:%M UTC"));
    }
    let time = time.strftime("%H:%M UTC");
    let wait = match wait.as_secs().div_ceil(MINUTE) {
        0 | 1 => "in a minute".to_owned(),
        minutes @ 2..120 => format!("in {minutes} minutes"),
        minutes => format!("in {} hours", minutes.div_ceil(60)),
    };
    format!(", until {time}, {wait}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(code: u16, rate_limited: bool) -> Status {
        Status {
            url: "https://api.github.com/".into(),
            code,
            phrase: "",
            message: None,
            retry_after: None,
            rate_limited,
            reset: None,
        }
    }

    #[test]
    fn the_end_is_a_time_of_day_and_a_wait() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000); // 08:00:00 UTC
        let after = |seconds| describe(End::At(now + Duration::from_secs(seconds)), now);
        assert_eq!(after(17 * 60), ", until 08:17 UTC, in 17 minutes");
        assert_eq!(after(16 * 60 + 1), ", until 08:16 UTC, in 17 minutes");
        assert_eq!(after(59), ", until 08:00 UTC, in a minute");
        assert_eq!(after(3 * 3600), ", until 11:00 UTC, in 3 hours");
        assert_eq!(after(48 * 3600), ", until 2027-01-17 08:00 UTC");
        assert_eq!(describe(End::Unknown, now), "");
        let past = describe(End::At(now - Duration::from_secs(1)), now);
        assert_eq!(past, ", but that is over now: try again");
    }

    #[test]
    fn only_refusals_for_too_many_requests_have_an_end() {
        assert_eq!(end_of(&status(403, false)), None);
        assert_eq!(end_of(&status(429, false)), None);
        assert_eq!(end_of(&status(503, true)), None);
        assert_eq!(end_of(&status(403, true)), Some(End::Unknown));
        let reset = SystemTime::UNIX_EPOCH + Duration::from_secs(60);
        let primary = Status {
            reset: Some(reset),
            retry_after: Some(Duration::from_secs(1)),
            ..status(429, true)
        };
        assert_eq!(end_of(&primary), Some(End::At(reset)));
        let secondary = Status {
            retry_after: Some(Duration::from_secs(60)),
            reset: Some(reset),
            ..status(403, false)
        };
        assert!(matches!(end_of(&secondary), Some(End::At(end)) if end > reset));
    }
}
