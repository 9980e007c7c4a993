//! What can go wrong between capictl and an API server, in the words of the one who has to mend it.

use std::error::Error as _;
use std::time::Duration;

use crate::error::Explain;

/// Why something could not be done with the management cluster.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A kubeconfig that cannot be read.
    #[error("cannot read the kubeconfig `{path}`")]
    Kubeconfig {
        /// Path of the file.
        path: String,
        /// What is wrong with it.
        #[source]
        problem: Cause,
    },
    /// No kubeconfig, and this is no Pod.
    #[error(
        "clusterctl requires either a valid kubeconfig or in cluster config to connect to the management cluster: there \
         is neither `{searched}`, nor is this a Pod with a ServiceAccount"
    )]
    NoCluster {
        /// The kubeconfig files that were looked for.
        searched: String,
    },
    /// Neither the kubeconfig nor the command line names a context.
    #[error("the kubeconfig `{paths}` names no current context")]
    NoContext {
        /// The files that were merged.
        paths: String,
        /// The contexts that it has.
        known: Vec<String>,
    },
    /// The context is not in the kubeconfig.
    #[error("the kubeconfig `{paths}` has no context `{name}`")]
    UnknownContext {
        /// The files that were merged.
        paths: String,
        /// The context that was asked for.
        name: String,
        /// The contexts that it has.
        known: Vec<String>,
    },
    /// A context that leads nowhere.
    #[error("the context `{name}` of the kubeconfig `{paths}` cannot be used")]
    Context {
        /// The files that were merged.
        paths: String,
        /// The context.
        name: String,
        /// What is wrong with it.
        #[source]
        problem: Cause,
    },
    /// A request that failed, after the repetitions that made sense.
    #[error("cannot {action}{}", tried_for(*.tried))]
    Request {
        /// What was to be done, e.g. `create Deployment capi-system/capi-controller-manager`.
        action: String,
        /// URL of the API server.
        server: String,
        /// How long it was tried.
        tried: Duration,
        /// Why it failed.
        #[source]
        cause: Cause,
    },
    /// The API server is too old.
    #[error(
        "unsupported management cluster server version: {found} - minimum required version is {minimum}"
    )]
    ServerVersion {
        /// What the server says it is.
        found: String,
        /// The oldest version that is supported.
        minimum: &'static str,
    },
    /// Cluster API is there in a version that this tool does not work with.
    #[error(
        "this version of capictl could be used only with \"{expected}\" management clusters, \"{found}\" detected"
    )]
    Contract {
        /// The contract of this tool.
        expected: String,
        /// The storage version of the Cluster kind.
        found: String,
    },
    /// The inventory's CRD belongs to another age.
    #[error(
        "clusterctl inventory CRD does not defines the v1alpha3 version: see `{}`",
        super::inventory::CRD_NAME
    )]
    InventoryVersion,
    /// A kind that the API server does not serve.
    #[error("the API server serves no kind `{kind}` in `{api_version}`")]
    UnknownKind {
        /// The kind.
        kind: String,
        /// Its group and version.
        api_version: String,
    },
    /// An object that is there, but not for long.
    #[error("{object} is being deleted")]
    BeingDeleted {
        /// The object.
        object: String,
    },
    /// Something did not come about in time.
    #[error("{what} after {after:?}: {state}")]
    NotReady {
        /// What is not as it should be, e.g. ``deployment "x" is not ready``.
        what: String,
        /// How long was waited.
        after: Duration,
        /// What was seen last.
        state: String,
        /// Images that cannot be pulled.
        unpullable: Vec<String>,
        /// What may help.
        hints: Vec<String>,
    },
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// Nobody answered at the address.
    #[error("the API server `{server}` cannot be reached: {detail}")]
    Unreachable {
        /// URL of the API server.
        server: String,
        /// The innermost reason.
        detail: String,
    },
    /// The server's certificate is not accepted.
    #[error("the certificate of the API server `{server}` is not trusted: {detail}")]
    Certificate {
        /// URL of the API server.
        server: String,
        /// The innermost reason.
        detail: String,
    },
    /// No answer in time.
    #[error("the API server `{server}` did not answer within {after:?}")]
    Timeout {
        /// URL of the API server.
        server: String,
        /// How long was waited.
        after: Duration,
    },
    /// An answer that no API server gives.
    #[error("what answers at `{server}` is no Kubernetes API server (HTTP status {code})")]
    Stranger {
        /// URL that was asked.
        server: String,
        /// HTTP status.
        code: u16,
    },
    /// The credentials were refused (HTTP 401).
    #[error("the API server `{server}` does not accept the credentials (401)")]
    Unauthorized {
        /// URL of the API server.
        server: String,
    },
    /// The user may not do this (HTTP 403).
    #[error("{0}")]
    Forbidden(String),
    /// Any other answer that is a failure.
    #[error("{message} ({code} {reason})")]
    Api {
        /// HTTP status.
        code: u16,
        /// The reason in one word, e.g. `Invalid`.
        reason: String,
        /// The server's sentence.
        message: String,
    },
    /// Credentials could not be had: an exec plugin or a token file failed.
    #[error("no credentials: {0}")]
    Credentials(String),
    /// Whatever else.
    #[error("{0}")]
    Other(String),
}

impl Explain for Error {
    fn hints(&self) -> Vec<String> {
        match self {
            Self::NoContext { known, .. } => vec![choose_context(known)],
            Self::UnknownContext { name, known, .. } => {
                let similar = crate::error::suggest(name, known.iter().map(String::as_str));
                similar
                    .map(|similar| format!("did you mean `{similar}`?"))
                    .into_iter()
                    .chain([choose_context(known)])
                    .collect()
            }
            Self::NoCluster { .. } => {
                vec![
                    "name a kubeconfig with `--kubeconfig` or the variable `KUBECONFIG`".to_owned(),
                ]
            }
            Self::Request { cause, .. } => cause.hints(),
            Self::InventoryVersion => {
                vec![
                    "the CRD is of a tool that is older or newer than clusterctl v1: use that one"
                        .to_owned(),
                ]
            }
            Self::ServerVersion { .. } => {
                vec!["upgrade Kubernetes, or use an older release of Cluster API with its clusterctl".to_owned()]
            }
            Self::UnknownKind { .. } => {
                vec!["install what brings the kind, then run the command again".to_owned()]
            }
            Self::Contract { found, expected } if found < expected => {
                vec!["upgrade its providers first, with `clusterctl upgrade apply`".to_owned()]
            }
            Self::Contract { .. } => {
                vec!["it is newer than this tool: use a newer capictl or clusterctl".to_owned()]
            }
            Self::BeingDeleted { .. } => {
                vec!["wait until it is gone, then run the command again".to_owned()]
            }
            Self::NotReady { hints, .. } => hints.clone(),
            Self::Kubeconfig { .. } | Self::Context { .. } => Vec::new(),
        }
    }
}

impl Error {
    /// Tells whether there is no kubeconfig, or none that names a context to use.
    pub fn leads_nowhere(&self) -> bool {
        matches!(
            self,
            Self::NoCluster { .. } | Self::NoContext { .. } | Self::UnknownContext { .. }
        )
    }

    /// Tells whether an object of that name is there already.
    pub(super) fn is_already_exists(&self) -> bool {
        matches!(self, Self::Request { cause: Cause::Api { reason, .. }, .. } if reason == "AlreadyExists")
    }

    /// Tells whether somebody has changed the object meanwhile.
    pub(super) fn is_conflict(&self) -> bool {
        matches!(self, Self::Request { cause, .. } if cause.is_conflict())
    }
}

/// Says how long something was tried, if it was for long.
fn tried_for(tried: Duration) -> String {
    match tried.as_secs() {
        0..3 => String::new(),
        seconds => format!(", tried for {seconds} s"),
    }
}

fn choose_context(known: &[String]) -> String {
    match known {
        [] => "the file holds no context at all; is it the right one?".to_owned(),
        known => format!(
            "choose one with `--kubeconfig-context`: {}",
            known.join(", ")
        ),
    }
}

impl Cause {
    fn hints(&self) -> Vec<String> {
        let hint = match self {
            Self::Unreachable { .. } | Self::Timeout { .. } => {
                "check that the cluster runs, and that `--kubeconfig` and `--kubeconfig-context` name the right one"
            }
            Self::Certificate { .. } => {
                "check `certificate-authority-data` of the cluster in the kubeconfig; the cluster may have been made anew"
            }
            Self::Unauthorized { .. } => {
                "the token or certificate in the kubeconfig may have expired; log in again"
            }
            Self::Forbidden(_) => {
                "ask for the missing permission, or use a context whose user has it"
            }
            Self::Stranger { .. } => {
                "check the `server` of the cluster in the kubeconfig, and the proxy settings"
            }
            Self::Api { .. } | Self::Credentials(_) | Self::Other(_) => return Vec::new(),
        };
        vec![hint.to_owned()]
    }

    /// Says what an error of the client library means.
    pub(super) fn of(error: kube::Error, server: &str) -> Self {
        let server = server.to_owned();
        match error {
            kube::Error::Api(status) => match status.code {
                401 => Self::Unauthorized { server },
                403 => Self::Forbidden(one_line(&status.message)),
                // The client library's word for an answer that is no `Status`. The API server gives one itself where it
                // serves no such group; anything else comes from a stranger.
                code if status.reason == "Failed to parse error data"
                    && status.message != "404 page not found" =>
                {
                    Self::Stranger { server, code }
                }
                code => Self::Api {
                    code,
                    reason: status.reason,
                    message: one_line(&status.message),
                },
            },
            kube::Error::Auth(error) => Self::Credentials(credential_problem(&error)),
            error => Self::of_transport(&error, server),
        }
    }

    fn of_transport(error: &kube::Error, server: String) -> Self {
        let mut detail = error.to_string();
        let mut next = error.source();
        while let Some(error) = next {
            if let Some(error) = error.downcast_ref::<kube::client::AuthError>() {
                return Self::Credentials(credential_problem(error));
            }
            detail = error.to_string();
            next = error.source();
        }
        let detail = one_line(&detail);
        match error {
            // rustls wraps its errors into I/O errors, some of them twice; its own words are what stays.
            _ if detail.starts_with("invalid peer certificate") => {
                Self::Certificate { server, detail }
            }
            kube::Error::HyperError(_) | kube::Error::Service(_) | kube::Error::ReadEvents(_) => {
                Self::Unreachable { server, detail }
            }
            error => Self::Other(one_line(&error.to_string())),
        }
    }

    /// Tells whether the same request may well succeed in a moment.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Timeout { .. } => true,
            Self::Stranger { code, .. } => matches!(code, 502..=504),
            Self::Api { code, message, .. } => match code {
                429 | 502 | 503 | 504 => true,
                // A webhook whose Pod is not up yet, etcd between two leaders.
                500 => ["webhook", "etcdserver", "timeout"]
                    .iter()
                    .any(|word| message.contains(word)),
                _ => false,
            },
            _ => false,
        }
    }

    /// Tells whether the same write may well succeed in a moment: somebody else changed something meanwhile, or the
    /// kind of a new CRD has not come round to every API server.
    pub(super) fn is_transient_for_writes(&self) -> bool {
        match self {
            Self::Api { code: 409, .. } => self.is_conflict(),
            Self::Api {
                code: 404, message, ..
            } => {
                message.contains("could not find the requested resource")
                    || message.contains("page not found")
            }
            _ => false,
        }
    }

    /// Tells whether somebody has changed the object meanwhile, or is about to.
    pub(super) fn is_conflict(&self) -> bool {
        matches!(self, Self::Api { code: 409, reason, .. } if reason != "AlreadyExists")
    }
}

/// An exec plugin's error carries its whole output and environment; only its kind may be shown.
fn credential_problem(error: &kube::client::AuthError) -> String {
    use kube::client::AuthError;
    match error {
        AuthError::AuthExecStart(error) => {
            format!("the exec plugin of the kubeconfig cannot be started: {error}")
        }
        AuthError::AuthExecRun { out, .. } => {
            format!(
                "the exec plugin of the kubeconfig failed with {}",
                out.status
            )
        }
        AuthError::AuthExecParse(_) => {
            "the exec plugin of the kubeconfig printed no ExecCredential".to_owned()
        }
        other => one_line(&other.to_string()),
    }
}

/// The text on one line, without the control characters that a server's message might carry.
pub(crate) fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_control())
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
