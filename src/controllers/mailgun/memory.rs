//! What the process remembers of objects between two reconciles. All of it may be lost: the records are in the objects.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use k8s_openapi::jiff::Timestamp;

use super::decide::{CLAIM_TTL, POST_TIMEOUT};
use super::record::{Record, State};

/// Identifies an object: its namespace and name.
pub type Key = (String, String);

/// A claim of this process.
#[derive(Debug, Clone)]
pub struct OwnClaim {
    /// The nonce in the record.
    pub nonce: String,
    /// When the request that writes the claim began.
    pub since: Instant,
    /// What came of it; `None` until the mail is sent.
    pub outcome: Option<Record>,
    /// The POST has begun, so this claim sends nothing any more.
    pub posted: bool,
}

impl OwnClaim {
    /// Tells whether a POST that begins now ends before the claim is void.
    pub fn may_post(&self) -> bool {
        !self.posted && self.since.elapsed() + POST_TIMEOUT < CLAIM_TTL
    }
}

#[derive(Debug, Default)]
struct Memory {
    claim: Option<OwnClaim>,
    /// The nonce of the claim that the record has, and since when it has been seen there.
    seen: Option<(String, Instant)>,
    /// The attempt that look-ups were made for, the last of them, and how many.
    lookups: Option<((u32, u32), Timestamp, u32)>,
    state: Option<State>,
    seen_before: bool,
}

/// What the process remembers of all objects.
#[derive(Debug, Default)]
pub struct Memories(Mutex<HashMap<Key, Memory>>);

impl Memories {
    fn with<T>(&self, key: &Key, change: impl FnOnce(&mut Memory) -> T) -> T {
        let mut memories = self.0.lock().expect("no holder of the lock panics");
        change(memories.entry(key.clone()).or_default())
    }

    /// Forgets an object that is gone.
    pub fn forget(&self, key: &Key) {
        self.0
            .lock()
            .expect("no holder of the lock panics")
            .remove(key);
    }

    /// Tells whether an object is seen for the first time; once.
    pub fn is_first_sight(&self, key: &Key) -> bool {
        self.with(key, |memory| {
            !std::mem::replace(&mut memory.seen_before, true)
        })
    }

    /// Remembers a claim before it is written.
    pub fn claim(&self, key: &Key, nonce: &str) {
        let claim = OwnClaim {
            nonce: nonce.to_owned(),
            since: Instant::now(),
            outcome: None,
            posted: false,
        };
        self.with(key, |memory| memory.claim = Some(claim));
    }

    /// Returns the claim of this process, if it is the one that the record has.
    pub fn own_claim(&self, key: &Key, record: &Record) -> Option<OwnClaim> {
        let nonce = &record.claim.as_ref()?.nonce;
        self.with(key, |memory| memory.claim.clone())
            .filter(|claim| claim.nonce == *nonce)
    }

    /// Remembers that the POST begins.
    pub fn posting(&self, key: &Key) {
        self.with(key, |memory| {
            memory
                .claim
                .iter_mut()
                .for_each(|claim| claim.posted = true)
        });
    }

    /// Remembers what came of the POST, until it is written down.
    pub fn posted(&self, key: &Key, outcome: &Record) {
        self.with(key, |memory| {
            memory
                .claim
                .iter_mut()
                .for_each(|claim| claim.outcome = Some(outcome.clone()))
        });
    }

    /// Returns how long the claim in a record has been seen unchanged.
    pub fn unchanged(&self, key: &Key, record: &Record) -> Duration {
        let nonce = record
            .claim
            .as_ref()
            .map_or(String::new(), |claim| claim.nonce.clone());
        self.with(key, |memory| match &memory.seen {
            Some((seen, since)) if *seen == nonce => since.elapsed(),
            _ => {
                memory.seen = Some((nonce, Instant::now()));
                Duration::ZERO
            }
        })
    }

    /// Returns the last look-up for the attempt of a record, and how many there were.
    pub fn lookups(&self, key: &Key, record: &Record) -> (Option<Timestamp>, u32) {
        let attempt = (record.epoch, record.attempt);
        self.with(key, |memory| match memory.lookups {
            Some((known, last, count)) if known == attempt => (Some(last), count),
            _ => (None, 0),
        })
    }

    /// Counts a look-up.
    pub fn looked_up(&self, key: &Key, record: &Record, now: Timestamp) {
        let (_, count) = self.lookups(key, record);
        self.with(key, |memory| {
            memory.lookups = Some(((record.epoch, record.attempt), now, count + 1))
        });
    }

    /// Remembers the state of an object and returns how many objects are in each.
    pub fn count(&self, key: &Key, state: State) -> HashMap<State, usize> {
        self.with(key, |memory| memory.state = Some(state));
        let memories = self.0.lock().expect("no holder of the lock panics");
        let mut counts = HashMap::new();
        memories
            .values()
            .filter_map(|memory| memory.state)
            .for_each(|state| *counts.entry(state).or_default() += 1);
        counts
    }
}
