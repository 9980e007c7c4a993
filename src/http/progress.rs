//! How far downloads are, told to whoever wants to show it.

use std::fmt::{self, Debug};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How often the observer hears of a download that gets nothing.
const TICK: Duration = Duration::from_millis(200);

/// Called when a download begins, goes on and ends. Several may be under way.
pub type Observer = Arc<dyn Fn(&Download) + Send + Sync>;

/// A download under way.
pub struct Download {
    /// Tells downloads apart.
    pub id: u64,
    /// What is downloaded: a name, or the URL without its query.
    pub label: String,
    /// Bytes so far.
    pub received: u64,
    /// Bytes in all, where the server says so.
    pub total: Option<u64>,
    /// It is over, well or not.
    pub ended: bool,
    observer: Option<Observer>,
}

impl Download {
    pub(super) fn begin(observer: Option<Observer>, label: &str) -> Self {
        static LAST_ID: AtomicU64 = AtomicU64::new(0);
        Self {
            id: LAST_ID.fetch_add(1, Ordering::Relaxed),
            label: label.to_owned(),
            received: 0,
            total: None,
            ended: false,
            observer,
        }
    }

    /// Waits, and tells from time to time that it goes on: also silence takes its time.
    pub(super) async fn watch<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            match tokio::time::timeout(TICK, work.as_mut()).await {
                Ok(result) => return result,
                Err(_) => self.tell(),
            }
        }
    }

    pub(super) fn received(&mut self, bytes: usize) {
        self.received = bytes as u64;
        self.tell();
    }

    fn tell(&self) {
        if let Some(observer) = &self.observer {
            observer(self);
        }
    }
}

/// Also a download that is given up has ended.
impl Drop for Download {
    fn drop(&mut self) {
        self.ended = true;
        self.tell();
    }
}

impl Debug for Download {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Download")
            .field("label", &self.label)
            .field("received", &self.received)
            .field("total", &self.total)
            .finish_non_exhaustive()
    }
}
