//! The provider's release: what it is called, and its files, which are embedded.
//!
//! Version, contract and image stand here only. `templates/mailgun/` and the `Dockerfile` repeat them, and
//! `tests/mailgun_release.rs` writes the one and checks the other.

use crate::model::EmbeddedRelease;

/// Label of the provider.
pub const LABEL: &str = "infrastructure-mailgun";
/// The version: manager and capictl are one program.
pub const VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"));
/// The release series, oldest first, and the contract that `metadata.yaml` names for each.
///
/// The CRDs follow both contracts. The older one is named because tools of either contract install it, until Cluster
/// API 1.16 drops it; then a new series has to name the newer one.
pub const SERIES: [(u64, u64, &str); 1] = [(0, 1, "v1beta1")];
/// Name of the image.
pub const IMAGE_NAME: &str = "cluster-api-provider-mailgun";
/// Registry that the components name.
///
/// Nothing is published. A registry of the world would be the wrong place-holder, since what somebody else puts there
/// would be run; this one is the user's own, if it is anywhere.
pub const REGISTRY: &str = "localhost:5000";
/// Where the image has the manager.
pub const MANAGER: &str = "/manager";
/// The components file.
pub const COMPONENTS_FILE: &str = "infrastructure-components.yaml";

macro_rules! file {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../../templates/mailgun/", $name)),
        )
    };
}

/// The release, as a repository has it.
pub static RELEASE: EmbeddedRelease = EmbeddedRelease {
    label: LABEL,
    version: VERSION,
    files: &[
        file!("cluster-template-clusterclass.yaml"),
        file!("cluster-template.yaml"),
        file!("clusterclass-mailgun.yaml"),
        file!("infrastructure-components.yaml"),
        file!("metadata.yaml"),
    ],
};

/// Returns the image that the components name.
pub fn image() -> String {
    format!("{REGISTRY}/{IMAGE_NAME}:{VERSION}")
}

/// Returns the three ways to a running manager when `image` cannot be pulled, a line each.
pub fn ways_to_run(image: &str) -> [String; 3] {
    [
        format!(
            "build it from capictl's source and push it: `docker build --tag {image} . && docker push {image}`"
        ),
        format!(
            "or push it elsewhere, name that registry in clusterctl.yaml, `images: {{{LABEL}: {{repository: REGISTRY}}}}`, \
             and apply `capictl generate provider --infrastructure mailgun` again"
        ),
        "or run the manager on this machine, without an image: `capictl run-local`".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_covers_the_version() {
        let version: crate::model::Version = VERSION.parse().unwrap();
        let covered = SERIES.map(|(major, minor, _)| (major, minor));
        assert!(covered.contains(&version.series()), "{VERSION}");
    }
}
