//! Runs the manager of the Mailgun provider in this process, against any cluster.
//!
//! [`prepare`] checks all that can be checked and takes the addresses; [`Prepared::run`] works until it is told to stop.

mod variables;

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use kube::Client;

use super::{ClusterOptions, Session};
use crate::cluster::access;
use crate::controllers::mailgun::{
    self, client::Mailgun, decide::OnUncertain, message::SubjectStyle,
};
use crate::controllers::manager::client::{connect, describe};
use crate::controllers::manager::{self, Manager, election};
use crate::error::{Explain, Result};
pub use variables::missing_variables;

/// What the manager calls itself to Mailgun.
const USER_AGENT: &str = concat!("capictl/", env!("CARGO_PKG_VERSION"), " (mailgun)");

/// How the manager is to run.
#[derive(Debug, Clone)]
pub struct RunLocalOptions {
    /// The cluster with the MailgunClusters.
    pub cluster: ClusterOptions,
    /// The namespaces that count; all when empty.
    pub namespaces: Vec<String>,
    /// Only objects whose label `cluster.x-k8s.io/watch-filter` has this value.
    pub watch_filter: Option<String>,
    /// MailgunClusters that are worked on at a time.
    pub concurrency: usize,
    /// The election; `None` for a process that is certainly alone.
    pub election: Option<ElectionOptions>,
    /// Where metrics are served; `0` for nowhere.
    pub metrics_address: String,
    /// Where probes are served; `0` for nowhere.
    pub probe_address: String,
    /// What is done once nothing can be found out about a mail any more.
    pub on_uncertain: OnUncertain,
    /// How long Mailgun keeps its events.
    pub event_retention: Duration,
    /// Send for a MailgunCluster that no Cluster owns.
    pub allow_orphan: bool,
    /// How subjects read.
    pub subject_style: SubjectStyle,
}

/// How one of several managers is chosen.
#[derive(Debug, Clone)]
pub struct ElectionOptions {
    /// Name of the Lease.
    pub name: String,
    /// Its namespace; by default the Pod's own, or outside of Pods the one that the provider is installed in.
    pub namespace: Option<String>,
    /// How long a Lease that is not renewed is respected.
    pub lease_duration: Duration,
    /// After how long without renewal the leader gives up.
    pub renew_deadline: Duration,
    /// How often the Lease is renewed.
    pub retry_period: Duration,
}

impl ElectionOptions {
    /// `pods_namespace` is where this process runs, if that is a Pod.
    fn settings(self, pods_namespace: Option<&str>) -> election::Settings {
        let Self {
            name,
            namespace,
            lease_duration,
            renew_deadline,
            retry_period,
        } = self;
        let namespace = namespace.as_deref().or(pods_namespace);
        election::Settings {
            name,
            namespace: namespace.unwrap_or(election::NAMESPACE).to_owned(),
            holder: election::holder(),
            lease_duration,
            renew_deadline,
            retry_period,
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("cannot connect to `{server}`: {problem}")]
    Connect { server: String, problem: String },
}

impl Explain for Error {
    fn hints(&self) -> Vec<String> {
        vec!["`kubectl version` with the same kubeconfig tells whether it is to blame".to_owned()]
    }
}

/// A manager that has found everything in order and does nothing yet.
pub struct Prepared {
    manager: Manager,
    client: Client,
    settings: mailgun::Settings,
    server: String,
}

/// Checks variables, kubeconfig and installation, and takes the addresses. Nothing is written.
///
/// # Errors
/// Variables are missing or wrong, the cluster cannot be reached or lacks the provider's kinds, or an address is taken.
pub async fn prepare(session: &Session, options: RunLocalOptions) -> Result<Prepared> {
    let (account, recipient) = variables::read(&session.config)?;
    let mailgun = Mailgun::new(account, USER_AGENT)?;
    let access = session.access(&options.cluster);
    let config = access::client_config(&access).await?;
    let pods_namespace = access
        .is_in_cluster()
        .then(|| config.default_namespace.clone());
    let server = config.cluster_url.to_string();

    let manager_settings = manager_settings(&options, pods_namespace.as_deref());
    if let Some(election) = &manager_settings.election {
        election.ensure_valid()?;
    }
    let metrics = manager_settings.metrics();
    let connected = connect(config, &metrics.requests).await;
    let client = connected.map_err(|error| Error::Connect {
        server: server.clone(),
        problem: describe(&error),
    })?;
    mailgun::ensure_installed(&client).await?;
    let manager = Manager::start(client.clone(), manager_settings, metrics).await?;
    Ok(Prepared {
        manager,
        client,
        settings: provider_settings(options, mailgun, recipient),
        server,
    })
}

fn manager_settings(options: &RunLocalOptions, pods_namespace: Option<&str>) -> manager::Settings {
    let election = options.election.clone();
    manager::Settings {
        election: election.map(|election| election.settings(pods_namespace)),
        metrics_address: options.metrics_address.clone(),
        probe_address: options.probe_address.clone(),
        ..manager::Settings::new(mailgun::controllers(options.concurrency))
    }
}

fn provider_settings(
    options: RunLocalOptions,
    mailgun: Mailgun,
    recipient: String,
) -> mailgun::Settings {
    mailgun::Settings {
        mailgun,
        recipient,
        subject_style: options.subject_style,
        on_uncertain: options.on_uncertain,
        retention: options.event_retention,
        allow_orphan: options.allow_orphan,
        watch_filter: options.watch_filter,
        namespaces: options.namespaces,
        concurrency: options.concurrency,
    }
}

impl Prepared {
    /// Says for a person what is about to run, and where; the recipient is nobody else's business.
    pub fn describe(&self) -> Vec<String> {
        let mailgun::Settings {
            mailgun,
            namespaces,
            watch_filter,
            ..
        } = &self.settings;
        let place = match namespaces.as_slice() {
            [] => "in all namespaces".to_owned(),
            [one] => format!("in the namespace `{one}`"),
            several => format!("in the namespaces `{}`", several.join("`, `")),
        };
        let filter = watch_filter.as_ref();
        let filter = filter.map(|filter| format!(", only what has the watch filter `{filter}`"));
        let (domain, base) = (mailgun.domain(), mailgun.api_base());
        vec![
            format!(
                "Running the Mailgun provider against {}, {place}{}",
                self.server,
                filter.unwrap_or_default()
            ),
            format!(
                "Each MailgunCluster makes one mail, which goes out by way of {domain} at {base}{}",
                self.served()
            ),
        ]
    }

    fn served(&self) -> String {
        let [metrics, probes] = self.manager.addresses();
        let url = |what: &str, address: Option<SocketAddr>, path: &str| {
            address.map(|address| format!("; {what} at http://{}{path}", reachable(address)))
        };
        let urls = [
            url("metrics", metrics, "/metrics"),
            url("probes", probes, "/readyz"),
        ];
        urls.into_iter().flatten().collect()
    }

    /// Works until `shutdown`, and ends mails that are on their way.
    ///
    /// # Errors
    /// The election fails or is lost, or the work does not end in time.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<()> {
        let Self {
            manager,
            client,
            settings,
            ..
        } = self;
        let workers = |work| mailgun::run(client, settings, work);
        manager.run(shutdown, workers).await
    }
}

/// Who listens at all addresses of this host is found at the local one.
fn reachable(address: SocketAddr) -> String {
    match address.ip().is_unspecified() {
        true => format!("localhost:{}", address.port()),
        false => address.to_string(),
    }
}
