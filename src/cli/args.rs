//! Groups of flags that several commands share.

use std::convert::Infallible;

use clap::Args;

use super::values::{given, given_list, parse_bool, parse_integer};
use crate::config::is_variable_name;
use crate::error::{Failure, Result};
use crate::model::Secret;
use crate::ops::values::ValueOptions;
use crate::ops::{ClusterOptions, ProviderSelection};

/// Flags of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalArgs {
    /// Log to standard error: 1 to 3 for steps, 4 and 5 for details, from 6 on for everything
    ///
    /// Without it, or with 0, `CLUSTERCTL_LOG_LEVEL` of the environment or of the configuration file counts
    #[arg(
        short = 'v', long = "v", value_name = "LEVEL", global = true, default_value = "0",
        hide_default_value = true, value_parser = parse_integer, allow_negative_numbers = true
    )]
    pub verbosity: i64,

    /// Path or URL of the configuration file [default: $XDG_CONFIG_HOME/cluster-api/clusterctl.yaml]
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<String>,

    /// Take releases and templates from the download cache alone, without any request for them
    #[arg(
        long, value_name = "true|false", global = true, num_args = 0..=1, require_equals = true, default_value = "false",
        default_missing_value = "true", hide_default_value = true, value_parser = parse_bool
    )]
    pub offline: bool,

    /// PEM file of CA certificates to trust for downloads, besides those of the system
    #[arg(long, value_name = "FILE", global = true)]
    pub ca_file: Option<String>,

    /// Print help
    #[arg(short, long, global = true, action = clap::ArgAction::Help)]
    help: Option<bool>,
}

/// Values of template variables.
#[derive(Debug, Clone, Args)]
pub struct ValueArgs {
    /// YAML file with values of variables, a map of names and scalars; `-` is standard input (can be repeated, the last one wins)
    #[arg(long, value_name = "FILE")]
    pub values: Vec<String>,

    /// Value of a variable, over all files; it may have `=` in it and may be empty (can be repeated, the last one wins)
    #[arg(long, value_name = "NAME=VALUE", value_parser = hidden)]
    pub set: Vec<Secret>,

    /// Show on standard error which value each variable has and where it comes from; what may be a secret is masked
    #[arg(
        long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_value = "false",
        default_missing_value = "true", hide_default_value = true, value_parser = parse_bool
    )]
    pub explain: bool,
}

impl ValueArgs {
    /// Returns the typed options.
    ///
    /// # Errors
    /// A `--values` is empty, or a `--set` is no assignment. The message does not show it, for it may be a secret.
    pub fn into_options(self) -> Result<ValueOptions> {
        let Self {
            values,
            set,
            explain,
        } = self;
        ensure_named(&values)?;
        let set: Result<Vec<(String, Secret)>> = set.iter().map(assignment).collect();
        Ok(ValueOptions {
            files: values,
            set: set?,
            explain,
        })
    }

    /// Returns a flag that is given, if any is.
    pub fn first_flag(&self) -> Option<&'static str> {
        match self {
            Self { set, .. } if !set.is_empty() => Some("--set"),
            Self { values, .. } if !values.is_empty() => Some("--values"),
            Self { explain: true, .. } => Some("--explain"),
            _ => None,
        }
    }
}

/// What is left out in silence here would render other values: unlike other flags, this one is not empty by intent.
fn ensure_named(files: &[String]) -> Result<()> {
    if files.iter().all(|file| !file.is_empty()) {
        return Ok(());
    }
    Err(Failure::new("`--values` needs a file, but its value is empty")
        .hint("a variable of the shell in it may not be set; name the file, or `-` for standard input"))
}

fn hidden(text: &str) -> Result<Secret, Infallible> {
    Ok(Secret::new(text))
}

fn assignment(text: &Secret) -> Result<(String, Secret)> {
    let example = "write `--set NAME=VALUE`, for nothing `--set NAME=`";
    let Some((name, value)) = text.expose().split_once('=') else {
        return Err(Failure::new("a value of `--set` has no `=`").hint(example));
    };
    if !is_variable_name(name) {
        let name = name.escape_debug();
        return Err(
            Failure::new(format!("`{name}` of `--set` can be no name of a variable"))
                .hint("names consist of letters, digits and `_`")
                .hint(example),
        );
    }
    Ok((name.to_owned(), Secret::new(value)))
}

/// Which management cluster is meant.
#[derive(Debug, Clone, Args)]
pub struct ClusterArgs {
    /// Path of the management cluster's kubeconfig [default: KUBECONFIG, ~/.kube/config, in-cluster]
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<String>,

    /// Context within the kubeconfig [default: the current one]
    #[arg(long, value_name = "CONTEXT")]
    pub kubeconfig_context: Option<String>,
}

impl From<ClusterArgs> for ClusterOptions {
    fn from(args: ClusterArgs) -> Self {
        let ClusterArgs {
            kubeconfig,
            kubeconfig_context,
        } = args;
        Self {
            kubeconfig: given(kubeconfig),
            context: given(kubeconfig_context),
        }
    }
}

/// The providers of a management cluster, any number of each type.
#[derive(Debug, Clone, Args)]
pub struct ProviderListArgs {
    /// Core provider [default on the first run: cluster-api]
    #[arg(long, value_name = "NAME[:VERSION]")]
    pub core: Option<String>,

    /// Bootstrap providers [default on the first run: kubeadm] (comma list, can be repeated)
    #[arg(short, long, value_name = "NAME[:VERSION]", value_delimiter = ',')]
    pub bootstrap: Vec<String>,

    /// Control plane providers [default on the first run: kubeadm] (comma list, can be repeated)
    #[arg(short, long, value_name = "NAME[:VERSION]", value_delimiter = ',')]
    pub control_plane: Vec<String>,

    /// Infrastructure providers (comma list, can be repeated)
    #[arg(short, long, value_name = "NAME[:VERSION]", value_delimiter = ',')]
    pub infrastructure: Vec<String>,

    /// IPAM providers (comma list, can be repeated)
    #[arg(long, value_name = "NAME[:VERSION]", value_delimiter = ',')]
    pub ipam: Vec<String>,

    /// Runtime extension providers; all of them come from the configuration file (comma list, can be repeated)
    #[arg(long, value_name = "NAME[:VERSION]", value_delimiter = ',')]
    pub runtime_extension: Vec<String>,

    /// Add-on providers (comma list, can be repeated)
    #[arg(long, value_name = "NAME[:VERSION]", value_delimiter = ',')]
    pub addon: Vec<String>,
}

impl From<ProviderListArgs> for ProviderSelection {
    fn from(args: ProviderListArgs) -> Self {
        let ProviderListArgs {
            core,
            bootstrap,
            control_plane,
            infrastructure,
            ipam,
            runtime_extension,
            addon,
        } = args;
        Self {
            core: given(core),
            bootstrap: given_list(bootstrap),
            control_plane: given_list(control_plane),
            infrastructure: given_list(infrastructure),
            ipam: given_list(ipam),
            runtime_extension: given_list(runtime_extension),
            addon: given_list(addon),
        }
    }
}
