//! When an object is looked at again: soon after a failure and ever less often, and now and then without any reason.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Mutex;
use std::time::Duration;

/// Wait after the first failure; it doubles with each one that follows. The numbers are client-go's.
const FIRST: Duration = Duration::from_millis(5);
const LONGEST: Duration = Duration::from_secs(1000);
/// How long after a success an object is looked at again, unless it changes; Cluster API's `--sync-period`.
pub const RESYNC: Duration = Duration::from_secs(600);

/// The failures in a row of each object.
#[derive(Debug)]
pub struct Backoff<K> {
    failures: Mutex<HashMap<K, u32>>,
    spacing: Duration,
}

impl<K> Default for Backoff<K> {
    fn default() -> Self {
        Self::with_spacing(Duration::ZERO)
    }
}

impl<K> Backoff<K> {
    /// Returns one whose waits are never shorter than `spacing`.
    pub fn with_spacing(spacing: Duration) -> Self {
        Self {
            failures: Mutex::default(),
            spacing,
        }
    }
}

impl<K: Eq + Hash> Backoff<K> {
    /// Counts a failure and returns how long to wait: 5 ms, 10 ms, 20 ms and so on up to 1000 s.
    pub fn failed(&self, key: K) -> Duration {
        let mut failures = self.failures.lock().expect("no holder of the lock panics");
        let count = failures.entry(key).or_default();
        let wait = FIRST.saturating_mul(1_u32.checked_shl(*count).unwrap_or(u32::MAX));
        *count = count.saturating_add(1).min(31);
        wait.min(LONGEST).max(self.spacing)
    }

    /// Forgets the failures: after a success, or when the object is gone.
    pub fn forget(&self, key: &K) {
        let mut failures = self.failures.lock().expect("no holder of the lock panics");
        failures.remove(key);
    }
}

/// Returns [`RESYNC`], give or take 10 %, so that objects made together are not looked at together for ever.
pub fn resync() -> Duration {
    RESYNC.mul_f64(0.9 + 0.2 * fastrand::f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest_and_start_anew_after_a_success() {
        let backoff = Backoff::default();
        let waits: Vec<u128> = (0..4).map(|_| backoff.failed("a").as_millis()).collect();
        assert_eq!(waits, [5, 10, 20, 40]);
        assert_eq!(backoff.failed("b"), FIRST, "each object for itself");
        for _ in 0..60 {
            backoff.failed("a");
        }
        assert_eq!(backoff.failed("a"), LONGEST);
        backoff.forget(&"a");
        assert_eq!(backoff.failed("a"), FIRST);
    }

    #[test]
    fn no_wait_is_shorter_than_the_spacing() {
        let backoff = Backoff::with_spacing(Duration::from_secs(1));
        let waits: Vec<u128> = (0..10).map(|_| backoff.failed(()).as_millis()).collect();
        assert_eq!(
            waits,
            [1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1280, 2560]
        );
    }

    #[test]
    fn the_resync_spreads_by_a_tenth() {
        let waits: Vec<f64> = (0..200).map(|_| resync().as_secs_f64()).collect();
        assert!(
            waits.iter().all(|wait| (540.0..=660.0).contains(wait)),
            "{waits:?}"
        );
        let spread = waits.iter().copied().fold(0.0, f64::max)
            - waits.iter().copied().fold(f64::MAX, f64::min);
        assert!(spread > 30.0, "{spread}");
    }
}
