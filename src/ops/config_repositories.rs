//! Lists the providers that are known, with their repositories.

use super::Session;
use crate::error::Result;
use crate::model::Provider;

/// Returns every provider of the catalogue and of the configuration file, by type and name.
///
/// # Errors
/// The `providers` section of the configuration is wrong.
pub fn config_repositories(session: &Session) -> Result<Vec<Provider>> {
    Ok(session.config.providers()?)
}
