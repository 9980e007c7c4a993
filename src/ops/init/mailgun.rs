//! What is to be said about the Mailgun provider: nobody publishes its image.

use super::plan::Planned;
use crate::cluster;
use crate::controllers::mailgun::release::{self, LABEL, ways_to_run};
use crate::error::Failure;
use crate::ops::Session;

/// Returns the image of the provider's manager, if the provider is among these.
pub(super) fn image(providers: &[Planned]) -> Option<String> {
    let mailgun = providers
        .iter()
        .find(|provider| provider.release.provider.label() == LABEL)?;
    mailgun.components.images.first().cloned()
}

/// Says after the installation that the image has to come from somewhere, unless the user has named another one.
pub(super) fn say_unpublished(session: &Session, installed: &[Planned]) {
    if let Some(image) = image(installed).filter(|image| *image == release::image()) {
        let ways = ways_to_run(&image).map(|way| format!("\n  - {way}"));
        session.ui.status(format!(
            "The image `{image}` is published nowhere. Unless the nodes have it, its Pod waits until you\n{}",
            ways.concat().trim_start_matches('\n')
        ));
    }
}

/// Adds the ways out when the wait ended because the image cannot be pulled.
pub(super) fn explain(error: cluster::Error, image: Option<&str>) -> Failure {
    let unpullable = match &error {
        cluster::Error::NotReady { unpullable, .. } => unpullable.as_slice(),
        _ => &[],
    };
    let found = image.filter(|image| unpullable.iter().any(|one| one == image));
    let ways = found.map(ways_to_run);
    let failure = Failure::from(error);
    ways.into_iter()
        .flatten()
        .fold(failure, |failure, way| failure.hint(way))
}
