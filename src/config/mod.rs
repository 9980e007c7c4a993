//! (being written)
/// The configuration.
#[derive(Debug)]
pub struct Config {}
