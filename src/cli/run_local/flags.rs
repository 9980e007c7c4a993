//! Flags of a manager: those of controller-runtime's scaffold, Cluster API's, and our own.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::process::{LogChoice, LogFormat};
use crate::cli::values::{given, given_list, parse_bool, parse_count, parse_duration};
use crate::controllers::mailgun::decide;
use crate::controllers::mailgun::message;
use crate::controllers::manager::election::LEASE;
use crate::controllers::manager::server::{METRICS_ADDRESS, PROBE_ADDRESS};
use crate::ops::ClusterOptions;
use crate::ops::run_local::{ElectionOptions, RunLocalOptions};

/// How a manager works, wherever it runs.
#[derive(Debug, Args)]
pub struct ManagerArgs {
    /// Namespace to work in [default: all of them] (comma list, can be repeated)
    #[arg(short, long, value_name = "NAMESPACE", value_delimiter = ',')]
    pub namespace: Vec<String>,

    /// Work on what has this value of the label `cluster.x-k8s.io/watch-filter` only [default: on everything]
    #[arg(long, value_name = "VALUE")]
    pub watch_filter: Option<String>,

    /// MailgunClusters to work on at a time
    #[arg(long, value_name = "COUNT", default_value = "1", value_parser = parse_count)]
    pub concurrency: usize,

    /// A mail that Mailgun's events do not tell of: `hold` it for a person, or `resend` it, though it may be out
    #[arg(
        long,
        value_name = "hold|resend",
        default_value = "hold",
        hide_possible_values = true
    )]
    pub on_uncertain: OnUncertain,

    /// How long Mailgun keeps its events; what is older is held, whatever `--on-uncertain` says
    #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = parse_duration)]
    pub event_retention: Duration,

    /// Send for a MailgunCluster that no Cluster owns, too
    #[arg(
        long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_value = "false",
        default_missing_value = "true", hide_default_value = true, value_parser = parse_bool
    )]
    pub allow_orphan: bool,

    /// Subject of mails: `[Urgent] New Cluster requested`, or with the cluster's name in it, as the book has it
    #[arg(
        long,
        value_name = "seed|book",
        default_value = "seed",
        hide_possible_values = true
    )]
    pub subject_style: SubjectStyle,

    #[command(flatten)]
    pub election: ElectionArgs,

    #[command(flatten)]
    pub serving: ServingArgs,
}

/// Who of several managers works.
#[derive(Debug, Args)]
#[command(next_help_heading = "Leader election")]
pub struct ElectionArgs {
    /// Work only while holding the Lease; `--leader-elect=false` is for who is certainly alone
    #[arg(
        long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_value = "true",
        default_missing_value = "true", value_parser = parse_bool
    )]
    pub leader_elect: bool,

    /// Name of the Lease; managers that work on the same objects need the same one
    #[arg(long, value_name = "NAME", default_value = LEASE)]
    pub leader_election_id: String,

    /// Namespace of the Lease [default: cluster-api-provider-mailgun-system; in a Pod, the Pod's own]
    #[arg(long, value_name = "NAMESPACE")]
    pub leader_election_namespace: Option<String>,

    /// How long the others respect a Lease that is not renewed
    #[arg(long, value_name = "DURATION", default_value = "15s", value_parser = parse_duration)]
    pub leader_elect_lease_duration: Duration,

    /// After how long without renewal the leader gives up
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = parse_duration)]
    pub leader_elect_renew_deadline: Duration,

    /// How often the Lease is renewed, or looked at
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = parse_duration)]
    pub leader_elect_retry_period: Duration,
}

/// What can be seen from outside.
#[derive(Debug, Args)]
#[command(next_help_heading = "Metrics, probes, logs")]
pub struct ServingArgs {
    /// Where to serve /metrics; `0` for nowhere
    #[arg(long, value_name = "HOST:PORT", default_value = METRICS_ADDRESS)]
    pub metrics_bind_address: String,

    /// Where to serve /healthz and /readyz; `0` for nowhere
    #[arg(long, value_name = "HOST:PORT", default_value = PROBE_ADDRESS)]
    pub health_probe_bind_address: String,

    /// Form of the log: for a person, or an object a line [default: text; in the provider's Deployment, json]
    #[arg(long, value_name = "text|json", hide_possible_values = true)]
    pub log_format: Option<LogFormat>,

    /// Log as kubebuilder's scaffold does with this flag: its lines, fields separated by TABs, down to debug
    #[arg(
        long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_value = "false",
        default_missing_value = "true", hide_default_value = true, value_parser = parse_bool,
        conflicts_with = "log_format"
    )]
    pub zap_devel: bool,
}

/// What is done about a doubt.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum OnUncertain {
    /// Leave it to a person.
    Hold,
    /// Send again, once Mailgun's events have nothing of it for long enough.
    Resend,
}

/// How subjects read.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SubjectStyle {
    /// Without the cluster's name.
    Seed,
    /// With it.
    Book,
}

impl ManagerArgs {
    /// Takes the flags apart: the operation's options, and what is said of logs.
    pub fn split(self, cluster: ClusterOptions) -> (RunLocalOptions, LogChoice) {
        let Self {
            namespace,
            watch_filter,
            concurrency,
            on_uncertain,
            event_retention,
            allow_orphan,
            subject_style,
            election,
            serving,
        } = self;
        let ServingArgs {
            metrics_bind_address,
            health_probe_bind_address,
            log_format,
            zap_devel,
        } = serving;
        let options = RunLocalOptions {
            cluster,
            namespaces: given_list(namespace),
            watch_filter: given(watch_filter),
            concurrency,
            election: election.into(),
            metrics_address: metrics_bind_address,
            probe_address: health_probe_bind_address,
            on_uncertain: match on_uncertain {
                OnUncertain::Hold => decide::OnUncertain::Hold,
                OnUncertain::Resend => decide::OnUncertain::Resend,
            },
            event_retention,
            allow_orphan,
            subject_style: match subject_style {
                SubjectStyle::Seed => message::SubjectStyle::Seed,
                SubjectStyle::Book => message::SubjectStyle::Book,
            },
        };
        (options, LogChoice::new(log_format, zap_devel))
    }
}

impl From<ElectionArgs> for Option<ElectionOptions> {
    fn from(args: ElectionArgs) -> Self {
        let ElectionArgs {
            leader_elect,
            leader_election_id,
            leader_election_namespace,
            leader_elect_lease_duration,
            leader_elect_renew_deadline,
            leader_elect_retry_period,
        } = args;
        leader_elect.then(|| ElectionOptions {
            name: given(Some(leader_election_id)).unwrap_or_else(|| LEASE.to_owned()),
            namespace: given(leader_election_namespace),
            lease_duration: leader_elect_lease_duration,
            renew_deadline: leader_elect_renew_deadline,
            retry_period: leader_elect_retry_period,
        })
    }
}
