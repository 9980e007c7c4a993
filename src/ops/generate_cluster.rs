//! Renders a cluster template of a provider, a file, a URL or a ConfigMap.

mod cluster_class;
mod dry_run;
mod source;
mod variables;

use super::rendering::{parse_template, render_objects};
use super::values::{self, ValueOptions};
use super::variables::TemplateVariable;
use super::{ClusterOptions, Session};
use crate::cluster::{self, Cluster};
use crate::components::set_target_namespace;
use crate::config::Origin;
use crate::error::{Context, Result};
use crate::model::{Object, object};
use crate::repository::File;
use source::{Found, Source};

/// What to render, and with which values.
#[derive(Debug, Clone, Default)]
pub struct GenerateClusterOptions {
    /// The management cluster.
    pub cluster: ClusterOptions,
    /// Name of the cluster to be.
    pub name: String,
    /// Namespace of the cluster to be; default: the current one.
    pub target_namespace: Option<String>,
    /// Kubernetes version of the cluster to be.
    pub kubernetes_version: Option<String>,
    /// Machines of the control plane.
    pub control_plane_machine_count: Option<i64>,
    /// Worker machines.
    pub worker_machine_count: Option<i64>,
    /// Provider whose template is taken, `name[:version]`.
    pub infrastructure: Option<String>,
    /// Flavor of the provider's template.
    pub flavor: Option<String>,
    /// A URL, a path, or `-` for standard input, in place of a provider's template.
    pub from: Option<String>,
    /// Name of a ConfigMap that holds the template.
    pub from_config_map: Option<String>,
    /// Namespace of that ConfigMap; default: the current one.
    pub from_config_map_namespace: Option<String>,
    /// Key in that ConfigMap; default: `template`.
    pub from_config_map_key: Option<String>,
    /// Refuse what would be a warning.
    pub strict: bool,
    /// Values of variables.
    pub values: ValueOptions,
    /// Asks the API server whether it would take the objects.
    pub dry_run: bool,
}

/// A file and the objects that it renders to, in its order.
#[derive(Debug)]
struct Part {
    file: File,
    objects: Vec<Object>,
}

/// Returns the rendered objects as YAML, without a final newline.
///
/// ClusterClasses that the template refers to and that the cluster lacks come first.
///
/// # Errors
/// No template is found, variables have no value, values are not valid, or a dry run finds objects that the API server
/// would refuse.
pub async fn generate_cluster(
    session: &mut Session,
    options: GenerateClusterOptions,
) -> Result<String> {
    let rendered = render(session, &options).await;
    // Whatever happened: a name that nothing uses may be the reason.
    values::warn_of_unused(session);
    let parts = rendered?;
    if options.dry_run {
        dry_run::check(session, &options.cluster, &parts).await?;
    }
    let objects: Vec<Object> = parts.into_iter().flat_map(|part| part.objects).collect();
    Ok(object::render_objects(&objects))
}

async fn render(session: &mut Session, options: &GenerateClusterOptions) -> Result<Vec<Part>> {
    let (source, namespace) = prepare(session, options).await?;
    let Found { file, repository } = source.fetch(session, options).await?;
    let template = parse_template(&file)?;
    values::settle(session, &options.values, &template, &file.origin).await?;
    variables::ensure_version(session, &template)?;
    let mut objects = render_objects(session, &file, &template, options.strict)?;
    variables::warn_of_bare_version(session, &template);
    set_target_namespace(&mut objects, &namespace).with_context(|| {
        format!(
            "cannot move the objects of `{}` to `{namespace}`",
            file.origin
        )
    })?;
    let mut parts = match &repository {
        Some(release) => cluster_class::missing(session, options, release, &objects).await?,
        None => Vec::new(),
    };
    parts.push(Part { file, objects });
    Ok(parts)
}

/// Returns the variables of the template, sorted by name.
///
/// # Errors
/// As [`generate_cluster`], less the missing values.
pub async fn list_variables(
    session: &mut Session,
    options: GenerateClusterOptions,
) -> Result<Vec<TemplateVariable>> {
    let (source, _) = prepare(session, &options).await?;
    let found = source.fetch(session, &options).await?;
    let template = parse_template(&found.file)?;
    values::tell(session, &options.values, &template, &found.file.origin);
    values::warn_of_unused(session);
    Ok(variables::list(session, &options, &template))
}

/// Checks the options, cheapest first, and sets the variables that they stand for.
async fn prepare(
    session: &mut Session,
    options: &GenerateClusterOptions,
) -> Result<(Source, String)> {
    let source = Source::choose(options)?;
    values::load(session, &options.values, options.from.as_deref()).await?;
    variables::set(session, options)?;
    let (namespace, origin) = match variables::namespace(session, options)? {
        Some(named) => named,
        None => {
            let current = session.current_namespace(&options.cluster).await;
            let namespace = current.map_err(|failure| {
                let message = "management cluster not available. Cannot auto-discover target namespace. Please specify a target namespace";
                failure.context(message).hint("name it with `--target-namespace`")
            })?;
            (namespace, Origin::Kubeconfig)
        }
    };
    variables::set_namespace(session, &namespace, origin)?;
    Ok((source, namespace))
}

/// Connects to the management cluster when there is one to connect to. A kubeconfig that leads nowhere is none, unless
/// the command line names it; one that cannot be read, or whose credentials fail, is an error.
async fn connect_if_any(session: &Session, options: &ClusterOptions) -> Result<Option<Cluster>> {
    let named = options.kubeconfig.is_some() || options.context.is_some();
    match session.connect(options).await {
        Ok(cluster) => Ok(Some(cluster)),
        Err(failure) if !named && failure.is::<cluster::Error>(cluster::Error::leads_nowhere) => {
            Ok(None)
        }
        Err(failure) => Err(failure.context("failed to check if the cluster is initialized")),
    }
}
