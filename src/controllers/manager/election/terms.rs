//! What a Lease says, and what follows from it. Pure: the clocks are read by the caller.
//!
//! The rules are client-go's: <https://github.com/kubernetes/client-go/blob/master/tools/leaderelection/leaderelection.go>.

use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::LeaseSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;

/// What to do about a Lease.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Move {
    /// Write this: the Lease is ours, or nobody's.
    Write(LeaseSpec),
    /// Wait: this process holds it.
    Wait(String),
}

/// One who watches a Lease and wants it.
#[derive(Debug)]
pub(super) struct Observer {
    pub(super) holder: String,
    pub(super) duration: Duration,
    /// What was seen last, and since when: by the clock of this process, because clocks of others may be wrong.
    seen: Option<(LeaseSpec, Instant)>,
}

impl Observer {
    pub(super) fn new(holder: String, duration: Duration) -> Self {
        Self {
            holder,
            duration,
            seen: None,
        }
    }

    /// Decides from what the Lease says now.
    pub(super) fn decide(&mut self, found: &LeaseSpec, now: Instant, time: Timestamp) -> Move {
        let since = match self.seen.take() {
            Some((seen, since)) if seen == *found => since,
            _ => now,
        };
        self.seen = Some((found.clone(), since));
        let holder = found.holder_identity.as_deref().unwrap_or_default();
        if holder == self.holder {
            return Move::Write(self.renewed(found, time));
        }
        let term = Duration::from_secs(
            found
                .lease_duration_seconds
                .and_then(|seconds| seconds.try_into().ok())
                .unwrap_or_default(),
        );
        if !holder.is_empty() && now.duration_since(since) < term {
            return Move::Wait(holder.to_owned());
        }
        Move::Write(LeaseSpec {
            lease_transitions: Some(found.lease_transitions.unwrap_or_default() + 1),
            ..self.first(time)
        })
    }

    /// Returns the Lease of the first holder ever.
    pub(super) fn first(&self, time: Timestamp) -> LeaseSpec {
        LeaseSpec {
            holder_identity: Some(self.holder.clone()),
            lease_duration_seconds: Some(seconds(self.duration)),
            acquire_time: Some(MicroTime(time)),
            renew_time: Some(MicroTime(time)),
            lease_transitions: Some(0),
            ..LeaseSpec::default()
        }
    }

    /// Returns our Lease with a new renewal.
    pub(super) fn renewed(&self, ours: &LeaseSpec, time: Timestamp) -> LeaseSpec {
        LeaseSpec {
            acquire_time: ours.acquire_time.clone(),
            lease_transitions: ours.lease_transitions,
            ..self.first(time)
        }
    }

    /// Returns our Lease without a holder, so that nobody has to wait until it runs out.
    pub(super) fn released(&self, ours: &LeaseSpec, time: Timestamp) -> LeaseSpec {
        LeaseSpec {
            holder_identity: Some(String::new()),
            lease_duration_seconds: Some(1),
            lease_transitions: ours.lease_transitions,
            ..self.first(time)
        }
    }
}

/// The API knows whole seconds, and at least one.
fn seconds(duration: Duration) -> i32 {
    i32::try_from(duration.as_secs()).unwrap_or(i32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERM: Duration = Duration::from_secs(15);
    const EPOCH: Timestamp = Timestamp::UNIX_EPOCH;

    fn observer(name: &str) -> Observer {
        Observer::new(name.into(), TERM)
    }

    fn later(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn a_lease_that_moves_is_waited_for_and_one_that_stands_still_for_its_term_is_taken() {
        let other = observer("other");
        let mut lease = other.first(EPOCH);
        let mut me = observer("me");
        let mut now = Instant::now();
        let wait = Move::Wait("other".into());
        assert_eq!(
            me.decide(&lease, now, EPOCH),
            wait,
            "its age is not known yet"
        );
        now += TERM - Duration::from_millis(1);
        assert_eq!(me.decide(&lease, now, EPOCH), wait);
        lease = other.renewed(&lease, later(14));
        now += Duration::from_secs(5);
        assert_eq!(me.decide(&lease, now, EPOCH), wait, "it moved");
        now += TERM;
        let Move::Write(taken) = me.decide(&lease, now, later(99)) else {
            panic!("it stood still for a term")
        };
        assert_eq!(taken.holder_identity.as_deref(), Some("me"));
        assert_eq!(taken.lease_transitions, Some(1));
        assert_eq!(taken.acquire_time, Some(MicroTime(later(99))));
        assert_eq!(taken.lease_duration_seconds, Some(15));
    }

    #[test]
    fn clocks_of_others_do_not_count() {
        let old = observer("other").first(later(-1_000_000));
        let mut me = observer("me");
        let decided = me.decide(&old, Instant::now(), later(1_000_000));
        assert_eq!(decided, Move::Wait("other".into()));
    }

    #[test]
    fn a_released_lease_is_taken_at_once() {
        let other = observer("other");
        let released = other.released(&other.first(EPOCH), later(3));
        assert_eq!(released.holder_identity.as_deref(), Some(""));
        assert_eq!(released.lease_duration_seconds, Some(1));
        let decided = observer("me").decide(&released, Instant::now(), later(4));
        let Move::Write(taken) = decided else {
            panic!("nobody holds it")
        };
        assert_eq!(taken.lease_transitions, Some(1));
        let empty = LeaseSpec::default();
        let decided = observer("me").decide(&empty, Instant::now(), later(4));
        assert!(
            matches!(decided, Move::Write(_)),
            "made by hand, without a holder"
        );
    }

    #[test]
    fn the_holder_renews_and_keeps_what_it_has() {
        let mut me = observer("me");
        let mut lease = me.first(EPOCH);
        lease.lease_transitions = Some(7);
        let Move::Write(renewed) = me.decide(&lease, Instant::now(), later(2)) else {
            panic!("it is ours")
        };
        assert_eq!(renewed.lease_transitions, Some(7));
        assert_eq!(renewed.acquire_time, Some(MicroTime(EPOCH)));
        assert_eq!(renewed.renew_time, Some(MicroTime(later(2))));
    }
}
