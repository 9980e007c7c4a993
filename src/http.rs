//! (being written)
/// The HTTP client.
#[derive(Debug)]
pub struct Http {}
