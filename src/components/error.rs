//! What can be wrong with a manifest.

use crate::error::Explain;
use crate::model::image::InvalidImage;

use super::InvalidCrdName;

/// Why a manifest cannot be adapted to its management cluster.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An image cannot be read, or an override makes one that cannot.
    #[error("cannot use the image of container `{container}` of `{object}`")]
    Image {
        /// The Deployment or DaemonSet.
        object: String,
        /// Name of the container.
        container: String,
        /// What is wrong with the image.
        source: InvalidImage,
    },
    /// Several Namespace objects, so that there is no default target namespace.
    #[error(
        "failed to detect default target namespace: there should be no more than one resource with Kind Namespace \
         in the provider components yaml, found {}", list(.0)
    )]
    SeveralNamespaces(Vec<String>),
    /// Neither the user nor the manifest names a namespace.
    #[error(
        "target namespace can't be defaulted: the provider components have no Namespace object"
    )]
    NoTargetNamespace,
    /// The target namespace is no name that a Namespace can have.
    #[error("invalid target-namespace: `{name}`: {problem}")]
    NamespaceName {
        /// The name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Objects that the target namespace cannot be set on; all of them.
    #[error("failed to set the target namespace: {}", join(.0))]
    TargetNamespace(Vec<Problem>),
    /// CRDs whose name the core provider will not find; all of them.
    #[error("{}", join(.0))]
    CrdNames(Vec<InvalidCrdName>),
}

/// An object that cannot be moved to another namespace, because it does not have the form that is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A built-in kind of an API version that management clusters no longer serve, or do not serve yet.
    #[error("failed to patch `{object}`: its apiVersion is `{found}`, supported is {}", list(.supported))]
    ApiVersion {
        /// The object.
        object: String,
        /// Its `apiVersion`.
        found: String,
        /// The ones that can be adapted.
        supported: &'static [&'static str],
    },
    /// The annotation that names a Certificate.
    #[error(
        "`{object}` does not have a correct value for cert-manager.io/inject-ca-from: \
         `{value}` is not `namespace/name`"
    )]
    InjectCaFrom {
        /// The object.
        object: String,
        /// Value of the annotation.
        value: String,
    },
    /// A Certificate's DNS names.
    #[error("failed to get .spec.dnsNames from `{object}`: it is no list of strings")]
    DnsNames {
        /// The Certificate.
        object: String,
    },
}

impl Explain for Error {
    fn hints(&self) -> Vec<String> {
        match self {
            Self::Image { source, .. } => source.hints(),
            Self::SeveralNamespaces(_) => {
                vec!["clusterctl's contract allows one: use another version of the provider".into()]
            }
            Self::NamespaceName { .. } => vec!["name another one with `--target-namespace`".into()],
            Self::NoTargetNamespace => {
                vec!["please specify a target namespace with `--target-namespace`".into()]
            }
            Self::TargetNamespace(_) => {
                vec!["correct the manifest, or use another version of it".into()]
            }
            Self::CrdNames(_) => vec![
                "Cluster API derives a CRD's name from its kind, objects of this kind would not be found: rename the CRD"
                    .into(),
                format!(
                    "if no core Cluster API object refers to it, annotate it with `{}`; `--validate=false` turns all checks off",
                    crate::model::labels::SKIP_CRD_NAME_CHECK
                ),
            ],
        }
    }
}

fn list<T: AsRef<str>>(names: &[T]) -> String {
    let names: Vec<String> = names
        .iter()
        .map(|name| format!("`{}`", name.as_ref()))
        .collect();
    names.join(", ")
}

fn join<T: ToString>(problems: &[T]) -> String {
    let problems: Vec<String> = problems.iter().map(T::to_string).collect();
    problems.join("; ")
}
