//! `capictl generate provider`

use clap::Args;

use crate::cli::args::ValueArgs;
use crate::cli::output::Destination;
use crate::cli::values::{given, parse_bool};
use crate::error::{Failure, Result};
use crate::ops::generate_provider::{
    GenerateProviderOptions, ProviderDescription, describe_provider, generate_provider,
};
use crate::ops::{ProviderSelection, Session};

/// Render the components of a provider, as `init` would install them
///
/// The values of variables come from `--set`, `--values`, the environment and the configuration file
/// (`$XDG_CONFIG_HOME/cluster-api/clusterctl.yaml`), in this order. No cluster is asked. On a terminal the command offers
/// to ask for those that are missing, unless `CI` is set.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # Render the components of the newest release
  capictl generate provider --infrastructure aws

  # Show which variables and images a release has
  capictl generate provider --infrastructure aws:v2.9.0 --describe

  # Take the values from a file, and see where each comes from
  capictl generate provider --infrastructure aws:v2.9.0 --values aws.yaml --explain

  # Leave the variables as they are
  capictl generate provider --infrastructure aws:v2.9.0 --raw")]
pub struct ProviderArgs {
    /// Core provider
    #[arg(long, value_name = "NAME[:VERSION]")]
    pub core: Option<String>,

    /// Bootstrap provider
    #[arg(short, long, value_name = "NAME[:VERSION]")]
    pub bootstrap: Option<String>,

    /// Control plane provider
    #[arg(short, long, value_name = "NAME[:VERSION]")]
    pub control_plane: Option<String>,

    /// Infrastructure provider
    #[arg(short, long, value_name = "NAME[:VERSION]")]
    pub infrastructure: Option<String>,

    /// IPAM provider
    #[arg(long, value_name = "NAME[:VERSION]")]
    pub ipam: Option<String>,

    /// Runtime extension provider
    #[arg(long, value_name = "NAME[:VERSION]")]
    pub runtime_extension: Option<String>,

    /// Add-on provider
    #[arg(long, value_name = "NAME[:VERSION]")]
    pub addon: Option<String>,

    /// Namespace to install into [default: the one that the components name]
    #[arg(short = 'n', long, value_name = "NAMESPACE")]
    pub target_namespace: Option<String>,

    /// Describe the components: version, namespace, variables, images
    #[arg(
        long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_value = "false",
        default_missing_value = "true", hide_default_value = true, value_parser = parse_bool
    )]
    pub describe: bool,

    /// Leave the variables as they are
    #[arg(
        long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_value = "false",
        default_missing_value = "true", hide_default_value = true, value_parser = parse_bool
    )]
    pub raw: bool,

    /// Fail where a warning says that a value is lost or misread
    ///
    /// That is: a variable without a value inside of a default or with an operator (`${A:=${B}}`, `${A#x}`), the text of `${A:?text}`
    /// in place of a value, `${A:+text}`, a default that the next place lacks, `${1}` of a shell, `{A}` without its `$`, and a value
    /// that YAML reads in part as its own (docs/templates.md tells what to write instead).
    #[arg(
        long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_value = "false",
        default_missing_value = "true", hide_default_value = true, value_parser = parse_bool, conflicts_with_all = ["raw", "describe"]
    )]
    pub strict: bool,

    #[command(flatten)]
    pub values: ValueArgs,

    /// File to write to instead of standard output, readable for its owner only
    #[arg(long, value_name = "FILE")]
    pub write_to: Option<String>,
}

impl ProviderArgs {
    /// Returns the components or their description.
    ///
    /// # Errors
    /// Not exactly one provider is named, or the operation fails.
    pub async fn run(self, session: &mut Session) -> Result<String> {
        let Self {
            core,
            bootstrap,
            control_plane,
            infrastructure,
            ipam,
            runtime_extension,
            addon,
            ..
        } = self;
        let one = |provider| given(provider).into_iter().collect();
        let provider = ProviderSelection {
            core: given(core),
            bootstrap: one(bootstrap),
            control_plane: one(control_plane),
            infrastructure: one(infrastructure),
            ipam: one(ipam),
            runtime_extension: one(runtime_extension),
            addon: one(addon),
        };
        ensure_one(&provider)?;
        let destination = Destination::from_flag(self.write_to.as_deref())?;
        ensure_values_count(&self.values, self.raw, self.describe)?;
        let options = GenerateProviderOptions {
            values: self.values.into_options()?,
            provider,
            target_namespace: given(self.target_namespace),
            raw: self.raw,
            strict: self.strict,
        };
        if self.describe {
            // As with clusterctl, the description goes to standard output always.
            return Ok(describe(&describe_provider(session, options).await?));
        }
        destination.deliver(generate_provider(session, options).await? + "\n")
    }
}

/// Without substitution there is no use for values.
fn ensure_values_count(values: &ValueArgs, raw: bool, describe: bool) -> Result<()> {
    let mode = match (raw, describe) {
        (_, true) => "--describe",
        (true, false) => "--raw",
        (false, false) => return Ok(()),
    };
    match values.first_flag() {
        None => Ok(()),
        Some(flag) => Err(Failure::new(format!(
            "`{flag}` has no effect with `{mode}`, which substitutes nothing"
        ))
        .hint("leave one of them out")),
    }
}

fn ensure_one(provider: &ProviderSelection) -> Result<()> {
    const FLAGS: &str = "--core, --bootstrap, --control-plane, --infrastructure, --ipam, --runtime-extension, --addon";
    let ProviderSelection {
        core,
        bootstrap,
        control_plane,
        infrastructure,
        ipam,
        runtime_extension,
        addon,
    } = provider;
    let lists = [
        bootstrap,
        control_plane,
        infrastructure,
        ipam,
        runtime_extension,
        addon,
    ];
    match core.iter().len() + lists.iter().map(|list| list.len()).sum::<usize>() {
        0 => Err(
            Failure::new(format!("at least one of {FLAGS} should be set"))
                .hint("name the provider, e.g. `--infrastructure docker`")
                .hint("`capictl config repositories` lists the known ones"),
        ),
        1 => Ok(()),
        _ => Err(Failure::new(format!("only one of {FLAGS} should be set"))
            .hint("run the command once for each provider")),
    }
}

/// Returns the description in clusterctl's layout; a blank line ends it.
fn describe(description: &ProviderDescription) -> String {
    let ProviderDescription {
        name,
        provider_type,
        url,
        version,
        file,
        target_namespace,
        variables,
        images,
    } = description;
    let list = |title: &str, items: &[String]| match items {
        [] => String::new(),
        items => format!(
            "{title}:\n{}",
            items
                .iter()
                .map(|item| format!("  - {item}\n"))
                .collect::<String>()
        ),
    };
    format!(
        "Name:               {name}\n\
         Type:               {provider_type}\n\
         URL:                {url}\n\
         Version:            {version}\n\
         File:               {file}\n\
         TargetNamespace:    {target_namespace}\n\
         {}{}\n",
        list("Variables", variables),
        list("Images", images),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_has_the_layout_of_clusterctl() {
        let mut description = ProviderDescription {
            name: "aws".into(),
            provider_type: "InfrastructureProvider".into(),
            url: "https://github.com/kubernetes-sigs/cluster-api-provider-aws/releases/".into(),
            version: "v2.1.0".into(),
            file: "infrastructure-components.yaml".into(),
            target_namespace: "capa-system".into(),
            variables: vec!["X".into(), "Y".into()],
            images: vec!["example.com/a:v1".into()],
        };
        assert_eq!(
            describe(&description),
            "\
Name:               aws
Type:               InfrastructureProvider
URL:                https://github.com/kubernetes-sigs/cluster-api-provider-aws/releases/
Version:            v2.1.0
File:               infrastructure-components.yaml
TargetNamespace:    capa-system
Variables:
  - X
  - Y
Images:
  - example.com/a:v1

"
        );
        description.variables.clear();
        description.images.clear();
        assert!(describe(&description).ends_with("TargetNamespace:    capa-system\n\n"));
    }

    #[test]
    fn exactly_one_provider_is_needed() {
        let none = ProviderSelection::default();
        let one = ProviderSelection {
            ipam: vec!["in-cluster".into()],
            ..none.clone()
        };
        let two = ProviderSelection {
            core: Some("cluster-api".into()),
            ..one.clone()
        };
        assert!(ensure_one(&one).is_ok());
        assert!(
            ensure_one(&none)
                .unwrap_err()
                .to_string()
                .starts_with("error: at least one of --core,")
        );
        assert!(
            ensure_one(&two)
                .unwrap_err()
                .to_string()
                .starts_with("error: only one of --core,")
        );
    }
}
