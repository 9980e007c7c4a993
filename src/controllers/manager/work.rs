//! What the workers are handed: when to stop, whether they may begin, and where to say that they run.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::watch;

use super::Controller;
use super::election::Leadership;
use super::metrics::Metrics;
use super::server::Readiness;

/// A flag that is raised once.
#[derive(Debug, Clone)]
pub struct Stop(watch::Sender<bool>);

impl Default for Stop {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Stop {
    /// Raises it.
    pub fn request(&self) {
        self.0.send_replace(true);
    }

    /// Tells whether it is raised.
    pub fn is_requested(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is raised.
    pub fn requested(&self) -> impl Future<Output = ()> + Send + Sync + 'static {
        let mut receiver = self.0.subscribe();
        // The sender is kept alive, or the end of the last one would look like the flag.
        let sender = self.0.clone();
        async move {
            receiver
                .wait_for(|stop| *stop)
                .await
                .map(drop)
                .expect("a sender lives");
            drop(sender);
        }
    }
}

/// The leave to work, from the moment that this process leads.
#[derive(Debug, Clone)]
pub struct Work {
    pub(super) stop: Stop,
    pub(super) leadership: Option<Leadership>,
    pub(super) readiness: Readiness,
    pub(super) controllers: Arc<[Controller]>,
    /// Where the workers count what they do.
    pub metrics: Arc<Metrics>,
}

impl Work {
    /// Waits until no new work is to be taken; work that has begun is to be finished.
    pub fn stopped(&self) -> impl Future<Output = ()> + Send + Sync + 'static {
        self.stop.requested()
    }

    /// Tells whether new work may begin now: nobody asked to stop, and nobody else can lead. To be asked before each
    /// step that cannot be taken back.
    pub fn may_begin(&self) -> bool {
        !self.stop.is_requested() && self.leadership.as_ref().is_none_or(Leadership::holds)
    }

    /// Says that the first list of all objects is there: the process is ready, and its workers start.
    pub fn synced(&self) {
        if !self.readiness.sync() {
            return;
        }
        for controller in self.controllers.iter().rev() {
            controller.log_workers();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stop_is_seen_by_those_who_wait_and_by_those_who_come_later() {
        let stop = Stop::default();
        assert!(!stop.is_requested());
        let waiting = tokio::spawn(stop.requested());
        stop.request();
        waiting.await.unwrap();
        stop.requested().await;
        assert!(stop.is_requested());
    }
}
