//! What a process has fetched already, so that providers which share a GitHub repository share the requests.

use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::OnceCell;

use super::Release;
use super::github::Asset;

/// The answers of servers. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Cache(Arc<Answers>);

#[derive(Default)]
struct Answers {
    releases: OnceMap<Arc<[Release]>>,
    assets: OnceMap<Asset>,
    texts: OnceMap<Arc<str>>,
    token_refused: AtomicBool,
    gitlab_token_refused: AtomicBool,
    go_proxy_failed: AtomicBool,
}

impl Cache {
    /// The releases of a repository, by its URL.
    pub(super) fn releases(&self) -> &OnceMap<Arc<[Release]>> {
        &self.0.releases
    }

    /// The files of releases, by URL.
    pub(super) fn assets(&self) -> &OnceMap<Asset> {
        &self.0.assets
    }

    /// The files of other servers than GitHub, by URL.
    pub(super) fn texts(&self) -> &OnceMap<Arc<str>> {
        &self.0.texts
    }

    /// Tells whether GitLab refuses a token for the first time, so that a user reads it once.
    pub(super) fn is_first_refusal_of_gitlab(&self) -> bool {
        !self.0.gitlab_token_refused.swap(true, Ordering::Relaxed)
    }

    /// Tells whether a Go module proxy fails for the first time, so that a user reads it once.
    pub(super) fn is_first_failure_of_go_proxy(&self) -> bool {
        !self.0.go_proxy_failed.swap(true, Ordering::Relaxed)
    }

    /// Tells whether a token is refused for the first time, so that a user reads it once.
    pub(super) fn is_first_refusal(&self) -> bool {
        !self.0.token_refused.swap(true, Ordering::Relaxed)
    }
}

impl Debug for Cache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Cache")
    }
}

/// Values that are made once per key, also when several tasks ask at the same time. A failure is not kept.
pub(super) struct OnceMap<V>(Mutex<HashMap<String, Arc<OnceCell<V>>>>);

impl<V> Default for OnceMap<V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<V: Clone> OnceMap<V> {
    /// Returns the value of a key, made by `make` unless it is there.
    pub(super) async fn get_or_try_make<E>(
        &self,
        key: &str,
        make: impl Future<Output = Result<V, E>>,
    ) -> Result<V, E> {
        let cell = self.cell(key);
        cell.get_or_try_init(|| make).await.cloned()
    }

    /// Returns the value of a key if it is there.
    pub(super) fn peek(&self, key: &str) -> Option<V> {
        self.cell(key).get().cloned()
    }

    fn cell(&self, key: &str) -> Arc<OnceCell<V>> {
        let mut cells = self.0.lock().expect("no holder of the lock panics");
        cells.entry(key.to_owned()).or_default().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[tokio::test]
    async fn a_value_is_made_once_and_a_failure_is_made_again() {
        let map = OnceMap::default();
        let calls = AtomicU32::new(0);
        let make = |result: Result<u32, &'static str>| {
            let calls = &calls;
            async move {
                tokio::task::yield_now().await;
                calls.fetch_add(1, Ordering::Relaxed);
                result
            }
        };
        assert_eq!(map.get_or_try_make("a", make(Err("no"))).await, Err("no"));
        assert_eq!(map.peek("a"), None);
        let both = tokio::join!(
            map.get_or_try_make("a", make(Ok(1))),
            map.get_or_try_make("a", make(Ok(2)))
        );
        assert_eq!(both, (Ok(1), Ok(1)));
        assert_eq!(map.get_or_try_make("b", make(Ok(3))).await, Ok(3));
        assert_eq!(calls.into_inner(), 3);
        assert_eq!(map.peek("a"), Some(1));
    }
}
