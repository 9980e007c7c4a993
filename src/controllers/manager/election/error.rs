//! Why a process does not lead, or no longer.

use std::time::Duration;

use crate::error::Explain;

/// Why the election failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Times that exclude each other.
    #[error(
        "the times of the election do not fit: lease {lease:?}, renew deadline {renew:?}, retry {retry:?}"
    )]
    Times {
        /// How long a Lease is good for.
        lease: Duration,
        /// After how long without renewal the leader gives up.
        renew: Duration,
        /// How often it is tried.
        retry: Duration,
    },
    /// The namespace of the Lease does not exist.
    #[error("cannot create the lease `{lease}`: there is no namespace `{namespace}`")]
    NoNamespace {
        /// Namespace and name of the Lease.
        lease: String,
        /// The namespace.
        namespace: String,
    },
    /// The namespace of the Lease is going away.
    #[error("cannot create the lease `{lease}`: its namespace is being deleted")]
    Terminating {
        /// Namespace and name of the Lease.
        lease: String,
    },
    /// The user may not read or write the Lease (HTTP 403), or is not known (401).
    #[error("no permission for the lease `{lease}`: {message}")]
    Forbidden {
        /// Namespace and name of the Lease.
        lease: String,
        /// Its namespace.
        namespace: String,
        /// What the API server says.
        message: String,
    },
    /// Another process may lead now.
    #[error("leader election lost")]
    Lost(#[source] Loss),
}

/// How the Lease was lost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Loss {
    /// Somebody else has it.
    #[error("`{holder}` holds the lease `{lease}` now")]
    Taken {
        /// Namespace and name of the Lease.
        lease: String,
        /// Who has it.
        holder: String,
    },
    /// It could not be renewed in time.
    #[error("the lease `{lease}` could not be renewed for {after:?}: {problem}")]
    NotRenewed {
        /// Namespace and name of the Lease.
        lease: String,
        /// How long it was tried.
        after: Duration,
        /// What went wrong last.
        problem: String,
    },
}

impl Explain for Error {
    fn hints(&self) -> Vec<String> {
        let hints: &[String] = match self {
            Self::Times { .. } => &["the lease must be longer than the renew deadline, and that longer than 1.2 times the retry period, e.g. 15s, 10s and 2s".to_owned()],
            Self::NoNamespace { namespace, .. } => &[
                format!("create it: `kubectl create namespace {namespace}`"),
                "or name another one with `--leader-election-namespace`; managers that work on the same objects need the same one".to_owned(),
            ],
            Self::Terminating { .. } => &["wait until it is gone, and create it again; or name another one with `--leader-election-namespace`".to_owned()],
            Self::Forbidden { namespace, .. } => &[
                format!("ask for a Role in the namespace `{namespace}` with the verbs get, create and update of `leases.coordination.k8s.io`"),
                "or name a namespace where you have it with `--leader-election-namespace`; managers that work on the same objects need the same one".to_owned(),
            ],
            Self::Lost(_) => &["work that had begun was brought to its end; start again, and whoever leads goes on from what is recorded".to_owned()],
        };
        hints.to_vec()
    }
}
