//! A panic in one reconcile is that reconcile's failure, not the end of the process.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures::FutureExt as _;

/// What a panic said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("panicked: {0}")]
pub struct Panicked(pub String);

/// Does the work and returns its value, or what its panic said.
///
/// Nothing of the work may be used after a panic: the caller drops it, and starts again from what the API server has.
///
/// # Errors
/// The work panicked.
pub async fn catch<T>(work: impl Future<Output = T>) -> Result<T, Panicked> {
    let caught = AssertUnwindSafe(work).catch_unwind().await;
    caught.map_err(|payload| Panicked(message(&*payload)))
}

/// Returns the text of a panic; one with another value than a text has none.
pub(super) fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_becomes_an_error_with_its_text() {
        assert_eq!(catch(async { 1 }).await, Ok(1));
        let literal = catch(async { panic!("plain") }).await;
        assert_eq!(literal, Err::<(), _>(Panicked("plain".into())));
        let made = catch(async { panic!("number {}", 2) }).await;
        assert_eq!(made, Err::<(), _>(Panicked("number 2".into())));
        let other = catch(async { std::panic::panic_any(3) }).await;
        assert_eq!(other, Err::<(), _>(Panicked("without a message".into())));
    }
}
