//! From a kubeconfig to a client.
//!
//! The rules are those of client-go: a path that is given; else the files of `KUBECONFIG`, merged, or `~/.kube/config`;
//! else the credentials of the Pod that the program runs in.

use std::path::{Path, PathBuf};
use std::time::Duration;

use http::HeaderValue;
use http::header::{USER_AGENT, WARNING};
use kube::config::{ExecInteractiveMode, KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config, client::ClientBuilder};
use tower::util::MapResponseLayer;

use super::{Cause, Error, Result, resource::Resources};
use crate::http::install_tls_provider;

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Where the kubeconfig is and which part of it counts.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// A path given on the command line; it must exist.
    pub kubeconfig: Option<PathBuf>,
    /// The files to merge when no path is given; those that do not exist are passed over.
    pub search: Vec<PathBuf>,
    /// The context; default: the current one.
    pub context: Option<String>,
    /// The value of `NO_PROXY`.
    pub no_proxy: Option<String>,
}

impl Access {
    /// Tells whether only the credentials of the Pod are left, since there is no kubeconfig.
    pub fn is_in_cluster(&self) -> bool {
        self.kubeconfig.is_none() && !self.search.iter().any(|path| path.exists())
    }
}

/// A connected management cluster.
///
/// Making one sends no request: whether the server is there shows at the first one.
#[derive(Clone)]
pub struct Cluster {
    pub(super) client: Client,
    pub(super) server: String,
    pub(super) resources: std::sync::Arc<Resources>,
    namespace: String,
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Cluster")
            .field("server", &self.server)
            .field("namespace", &self.namespace)
            .finish()
    }
}

impl Cluster {
    /// Makes a client for the cluster that `access` leads to.
    ///
    /// # Errors
    /// No kubeconfig, one that cannot be read, or a context that is missing or incomplete.
    pub async fn connect(access: &Access) -> Result<Self> {
        let config = load_config(access).await?;
        let (server, namespace) = (
            config.cluster_url.to_string(),
            config.default_namespace.clone(),
        );
        let failed = |error| Error::Request {
            action: "connect to the management cluster".to_owned(),
            server: server.clone(),
            tried: Duration::ZERO,
            cause: Cause::of(error, &server),
        };
        // An exec plugin is run by blocking calls.
        let client = tokio::task::spawn_blocking(move || build_client(config))
            .await
            .expect("building a client does not panic")
            .map_err(failed)?;
        Ok(Self {
            client,
            server,
            namespace,
            resources: std::sync::Arc::default(),
        })
    }

    /// Returns the namespace of the context, `default` when it names none.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }
}

/// Returns the namespace of the context without making a client, `default` when it names none.
///
/// # Errors
/// As [`Cluster::connect`].
pub async fn current_namespace(access: &Access) -> Result<String> {
    Ok(load_config(access).await?.default_namespace)
}

/// Returns the names of the kubeconfig's contexts, in its order; none when there is no kubeconfig.
///
/// # Errors
/// The kubeconfig cannot be read.
pub fn list_contexts(access: &Access) -> Result<Vec<String>> {
    let contexts = read_kubeconfig(access)?.map(|(kubeconfig, _)| kubeconfig.contexts);
    let names = contexts.into_iter().flatten().map(|context| context.name);
    Ok(names.collect())
}

/// Returns the context that counts: the given one, else the current one of the kubeconfig; none when there is neither.
///
/// # Errors
/// The kubeconfig cannot be read.
pub fn context_in_use(access: &Access) -> Result<Option<String>> {
    if access.context.is_some() {
        return Ok(access.context.clone());
    }
    let current = read_kubeconfig(access)?.and_then(|(kubeconfig, _)| kubeconfig.current_context);
    Ok(current.filter(|name| !name.is_empty()))
}

/// Tells whether the credentials come from a program that needs a user to talk to.
pub fn asks_its_user(access: &Access) -> bool {
    let kubeconfig = read_kubeconfig(access).ok().flatten();
    let is_interactive = |(kubeconfig, _): (Kubeconfig, String)| {
        let context = access.context.clone().or(kubeconfig.current_context)?;
        let named = kubeconfig.contexts.into_iter().find(|c| c.name == context);
        let user = named?.context?.user?;
        let found = kubeconfig.auth_infos.into_iter().find(|i| i.name == user);
        let mode = found?.auth_info?.exec?.interactive_mode?;
        Some(mode == ExecInteractiveMode::Always)
    };
    kubeconfig.and_then(is_interactive).unwrap_or_default()
}

fn build_client(mut config: Config) -> kube::Result<Client> {
    install_tls_provider();
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    config.default_retry = false; // `request` repeats, because it knows what for and can say so
    let agent = format!(
        "capictl/{} ({}/{})",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    );
    config.headers.push((
        USER_AGENT,
        HeaderValue::from_str(&agent).expect("it is printable ASCII"),
    ));
    Ok(ClientBuilder::try_from(config)?
        .with_layer(&MapResponseLayer::new(log_warnings))
        .build())
}

/// Shows the `Warning: 299 - "text"` headers of the API server, as kubectl and clusterctl do.
fn log_warnings<B>(response: http::Response<B>) -> http::Response<B> {
    for warning in response.headers().get_all(WARNING) {
        let text = String::from_utf8_lossy(warning.as_bytes());
        let quoted = text
            .split_once('"')
            .and_then(|(_, rest)| rest.rsplit_once('"'))
            .map_or(&*text, |(text, _)| text);
        tracing::warn!(target: "api_server", "{quoted}");
    }
    response
}

/// Returns the configuration of the client library that `access` leads to, for a caller with a client of its own.
///
/// # Errors
/// As [`Cluster::connect`].
pub async fn client_config(access: &Access) -> Result<Config> {
    let mut config = load_config(access).await?;
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    Ok(config)
}

async fn load_config(access: &Access) -> Result<Config> {
    let Some((kubeconfig, paths)) = read_kubeconfig(access)? else {
        let paths: Vec<String> = access
            .search
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        return match &access.context {
            // The Pod's own credentials have no contexts.
            Some(name) => Err(Error::UnknownContext {
                paths: paths.join(":"),
                name: name.clone(),
                known: Vec::new(),
            }),
            None => Config::incluster().map_err(|_| Error::NoCluster {
                searched: paths.join("`, `"),
            }),
        };
    };
    let known: Vec<String> = kubeconfig
        .contexts
        .iter()
        .map(|context| context.name.clone())
        .collect();
    let Some(name) = access
        .context
        .clone()
        .or_else(|| kubeconfig.current_context.clone())
        .filter(|name| !name.is_empty())
    else {
        return Err(Error::NoContext { paths, known });
    };
    if !known.contains(&name) {
        return Err(Error::UnknownContext { paths, name, known });
    }
    let proxy = own_proxy(&kubeconfig, &name);
    let options = KubeConfigOptions {
        context: Some(name.clone()),
        ..Default::default()
    };
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options)
        .await
        .map_err(|error| Error::Context {
            paths,
            name,
            problem: Cause::Other(describe(&error)),
        })?;
    // kube 5.0.0 holds NO_PROXY against the address of the proxy instead of the server's, so it is decided here.
    match proxy {
        Some(proxy) => config.proxy_url = proxy.parse().ok(),
        None if is_exempt(&config.cluster_url, access.no_proxy.as_deref()) => {
            config.proxy_url = None
        }
        None => {}
    }
    Ok(config)
}

/// Reads and merges what there is; `None` when there is no file at all.
fn read_kubeconfig(access: &Access) -> Result<Option<(Kubeconfig, String)>> {
    if let Some(path) = &access.kubeconfig {
        return read_file(path).map(|kubeconfig| Some((kubeconfig, path.display().to_string())));
    }
    let mut merged: Option<Kubeconfig> = None;
    let mut paths = Vec::new();
    for path in access.search.iter().filter(|path| path.exists()) {
        let next = read_file(path)?;
        paths.push(path.display().to_string());
        merged = Some(match merged {
            None => next,
            Some(merged) => merged
                .merge(next)
                .map_err(|error| unreadable(path, describe(&error)))?,
        });
    }
    Ok(merged.map(|kubeconfig| (kubeconfig, paths.join(":"))))
}

fn read_file(path: &Path) -> Result<Kubeconfig> {
    Kubeconfig::read_from(path).map_err(|error| unreadable(path, describe(&error)))
}

fn unreadable(path: &Path, problem: String) -> Error {
    Error::Kubeconfig {
        path: path.display().to_string(),
        problem: Cause::Other(problem),
    }
}

/// The client library's text, less the excerpt of the file that a parse error would show: it may hold a token.
fn describe(error: &KubeconfigError) -> String {
    match error {
        KubeconfigError::ReadConfig(source, _) => source.to_string(),
        KubeconfigError::Parse(error) => match error.location() {
            Some(place) => format!(
                "it is no valid kubeconfig: line {}, column {}",
                place.line(),
                place.column()
            ),
            None => "it is no valid kubeconfig".to_owned(),
        },
        KubeconfigError::LoadClusterOfContext(name) => {
            format!("the cluster `{name}` is not in the file")
        }
        other => other.to_string(),
    }
}

/// The `proxy-url` of the context's cluster.
fn own_proxy(kubeconfig: &Kubeconfig, context: &str) -> Option<String> {
    let context = kubeconfig
        .contexts
        .iter()
        .find(|known| known.name == context)?
        .context
        .as_ref()?;
    let cluster = kubeconfig
        .clusters
        .iter()
        .find(|known| known.name == context.cluster)?
        .cluster
        .as_ref()?;
    cluster.proxy_url.clone().filter(|url| !url.is_empty())
}

fn is_exempt(server: &http::Uri, no_proxy: Option<&str>) -> bool {
    use hyper_util::client::proxy::matcher::Matcher;
    Matcher::builder()
        .all("http://proxy")
        .no(no_proxy.unwrap_or_default())
        .build()
        .intercept(server)
        .is_none()
}
