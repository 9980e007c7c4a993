//! Makes a cluster a management cluster: cert-manager, providers, inventory.
//!
//! Everything is fetched, rendered and checked before the first write, so that what is wrong with the input changes
//! nothing. The writes can be repeated: an interrupted run is finished by the next one.

mod mailgun;
mod plan;

use std::time::Duration;

use futures::future::{join_all, try_join3};

use self::plan::{Planned, Queue};
use super::releases::Release;
use super::{ClusterOptions, ProviderSelection, Session, all_or_failures};
use crate::cluster::cert_manager as cert_manager_state;
use crate::cluster::inventory::Installed;
use crate::cluster::wait::DeploymentName;
use crate::cluster::{self, Cluster, Existing, Resource};
use crate::components;
use crate::config::CertManager;
use crate::error::{Context, Failure, Result};
use crate::model::object;
use crate::repository::{ProviderRepository, Settings};

/// What to install, and how careful to be.
#[derive(Debug, Clone)]
pub struct InitOptions {
    /// The management cluster.
    pub cluster: ClusterOptions,
    /// The providers; `-` opts out of a default.
    pub providers: ProviderSelection,
    /// Namespace to install all of them into; default: what each one's components name.
    pub target_namespace: Option<String>,
    /// Wait until the providers' Deployments are available.
    pub wait_providers: bool,
    /// How long to wait for the Deployments.
    pub wait_provider_timeout: Duration,
    /// Refuse what would not work; otherwise only warn of it.
    pub validate: bool,
}

/// Installs the providers. A rerun converges: what is there is left, what is missing is added.
///
/// # Errors
/// The first thing that does not work; what was installed before it stays.
pub async fn init(session: &Session, options: InitOptions) -> Result<()> {
    let cert_manager = session.config.cert_manager()?;
    let cluster = session.connect(&options.cluster).await?;
    let settings = session.repository_settings()?;

    let inventory = inspect(session, &cluster).await?;
    let installed = inventory.as_deref().unwrap_or_default();
    let queue = Queue::choose(&options.providers, installed)?;
    let first_run = queue.first_run;
    session.ui.status("Fetching providers");
    let wanted = build(session, &settings, queue, &options).await?;
    let deployments: Vec<DeploymentName> = wanted.iter().flat_map(Planned::deployments).collect();
    let mailgun_image = mailgun::image(&wanted);
    let planned = leave_out_installed(session, wanted, installed);
    validate(session, &options, &settings, installed, &planned).await?;
    ensure_kinds(&cluster, &planned).await?;

    // From here on the cluster is changed.
    if inventory.is_none() {
        cluster.ensure_inventory().await?;
    }
    ensure_cert_manager(session, &cluster, &settings, &cert_manager).await?;
    install_all(session, &cluster, &planned).await?;
    mailgun::say_unpublished(session, &planned);
    if options.wait_providers {
        session
            .ui
            .status("Waiting for providers to be available...");
        cluster
            .wait_for_deployments(&deployments, options.wait_provider_timeout)
            .await
            .map_err(|error| mailgun::explain(error, mailgun_image.as_deref()))?;
        // What the user types next makes objects of these kinds.
        cluster
            .wait_until_served(
                planned
                    .iter()
                    .flat_map(|provider| &provider.components.objects),
            )
            .await?;
    }
    say_what_is_next(session, &planned, first_run);
    Ok(())
}

/// Returns the images that [`init`] would need, sorted, each once.
///
/// # Errors
/// The cluster cannot be reached, or the release lacks a file.
pub async fn list_images(session: &Session, options: InitOptions) -> Result<Vec<String>> {
    let cert_manager = session.config.cert_manager()?;
    let cluster = session.connect(&options.cluster).await?;
    let settings = session.repository_settings()?;
    let namespaces = Resource::known("", "v1", "namespaces", false);
    let (_, inventory, there) = try_join3(
        cluster.ensure_contract(),
        cluster.list_inventory(),
        cluster.get(&namespaces, None, cert_manager_state::NAMESPACE),
    )
    .await?;
    let queue = Queue::choose(&options.providers, &inventory.unwrap_or_default())?;
    let releases = fetch(session, &settings, &queue).await?;
    let built = releases
        .iter()
        .map(|release| release.build_raw(session, None));
    let mut images: Vec<String> = all_or_failures(built)?
        .into_iter()
        .flat_map(|built| built.images)
        .collect();
    if there.is_none() {
        images.extend(
            fetch_cert_manager(session, &settings, &cert_manager)
                .await?
                .images,
        );
    }
    images.sort();
    images.dedup();
    Ok(images)
}

/// Looks at the cluster, all at once: is the server new enough, is Cluster API of our contract, what is installed?
async fn inspect(session: &Session, cluster: &Cluster) -> Result<Option<Vec<Installed>>> {
    let topology = session.config.environment().cluster_topology();
    let checks = try_join3(
        cluster.ensure_server_version(topology),
        cluster.ensure_contract(),
        cluster.list_inventory(),
    );
    let (_, _, inventory) = checks.await?;
    Ok(inventory)
}

async fn fetch(session: &Session, settings: &Settings, queue: &Queue) -> Result<Vec<Release>> {
    let fetches = queue.entries.iter().map(|(provider_type, argument)| {
        Release::fetch(session, settings, *provider_type, argument)
    });
    all_or_failures(join_all(fetches).await)
}

/// Fetches and renders the queue; everything that is wrong with it is told at once.
async fn build(
    session: &Session,
    settings: &Settings,
    queue: Queue,
    options: &InitOptions,
) -> Result<Vec<Planned>> {
    let releases = fetch(session, settings, &queue).await?;
    let namespace = options
        .target_namespace
        .as_deref()
        .filter(|namespace| !namespace.is_empty());
    let built = releases.into_iter().map(|release| {
        let label = release.provider.label();
        let components = release.build(session, namespace, false).with_context(|| {
            format!("failed to get provider components for the \"{label}\" provider")
        })?;
        Ok(Planned {
            release,
            components,
        })
    });
    let mut wanted = all_or_failures(built)?;
    wanted.sort_by_key(|provider| provider.release.provider.provider_type);
    Ok(wanted)
}

/// What is installed at that very version and place drops out.
fn leave_out_installed(
    session: &Session,
    wanted: Vec<Planned>,
    installed: &[Installed],
) -> Vec<Planned> {
    let (there, planned): (Vec<Planned>, Vec<Planned>) = wanted
        .into_iter()
        .partition(|provider| provider.is_among(installed));
    for provider in there {
        session
            .ui
            .status(format!("Skipping {provider} as it is already installed"));
    }
    planned
}

/// Makes sure that the API server knows the kinds of all objects, or will: by their own CRDs, or cert-manager's.
async fn ensure_kinds(cluster: &Cluster, planned: &[Planned]) -> Result<()> {
    let objects = planned
        .iter()
        .flat_map(|provider| &provider.components.objects);
    let objects = objects.filter(|object| object.group() != cert_manager_state::GROUP);
    let known = cluster.ensure_kinds(objects).await;
    known.context("the API server cannot take all objects of the providers; nothing was changed")
}

async fn validate(
    session: &Session,
    options: &InitOptions,
    settings: &Settings,
    installed: &[Installed],
    planned: &[Planned],
) -> Result<()> {
    match plan::ensure_valid(session, settings, installed, planned).await {
        Err(failure) if !options.validate => {
            let reasons: Vec<String> = failure.chain().collect();
            session.ui.warn(format!(
                "Ignoring validation errors: {}",
                reasons.join(": ")
            ));
            Ok(())
        }
        result => result,
    }
}

/// Installs cert-manager unless some cert-manager works, whoever installed it.
async fn ensure_cert_manager(
    session: &Session,
    cluster: &Cluster,
    settings: &Settings,
    config: &CertManager,
) -> Result<()> {
    if config.externally_provisioned {
        return Ok(cluster.wait_for_cert_manager(config.timeout).await?);
    }
    let state = async {
        tokio::try_join!(
            cluster.cert_manager_problem(),
            cluster.is_cert_manager_cut_short()
        )
    };
    let (problem, cut_short) = state
        .await
        .context("cannot tell whether cert-manager works")?;
    if problem.is_none() && !cut_short {
        session
            .ui
            .status("Skipping installing cert-manager as it is already installed");
        return Ok(());
    }
    let components = fetch_cert_manager(session, settings, config).await?;
    session
        .ui
        .status(format!("Installing cert-manager {}", config.version));
    cluster
        .apply_all(&components.objects, Existing::Replace)
        .await
        .context("failed to install cert-manager")?;
    Ok(cluster.wait_for_cert_manager(config.timeout).await?)
}

async fn fetch_cert_manager(
    session: &Session,
    settings: &Settings,
    config: &CertManager,
) -> Result<components::CertManager> {
    let fetched = async {
        let repository = ProviderRepository::open_as(
            cert_manager_state::NAMESPACE,
            &config.url,
            config.repository_type,
            settings,
        )?;
        let file = repository
            .fetch(&config.version, repository.components_file())
            .await?;
        let objects = object::parse_objects(&file.text)
            .with_context(|| format!("cannot read `{}`", file.origin))?;
        Ok::<_, Failure>(components::cert_manager(
            objects,
            &config.version,
            &session.config.image_overrides()?,
        )?)
    };
    fetched
        .await
        .context("failed to get the components of cert-manager")
}

/// Installs one provider after the other, in the order of their types.
///
/// The inventory names what is complete, so a provider is recorded after its objects. The core provider is recorded
/// last: until then a run counts as the first one, which brings the defaults, also when the one before was interrupted.
async fn install_all(session: &Session, cluster: &Cluster, planned: &[Planned]) -> Result<()> {
    for provider in planned {
        session.ui.status(format!("Installing {provider}"));
        explain(
            provider,
            cluster
                .apply_all(&provider.components.objects, Existing::Merge)
                .await,
        )?;
        if !provider.is_core() {
            explain(
                provider,
                cluster
                    .apply(&provider.inventory_object(), Existing::Merge)
                    .await
                    .map(drop),
            )?;
        }
    }
    for core in planned.iter().filter(|provider| provider.is_core()) {
        explain(
            core,
            cluster
                .apply(&core.inventory_object(), Existing::Merge)
                .await
                .map(drop),
        )?;
    }
    Ok(())
}

fn explain(provider: &Planned, result: Result<(), cluster::Error>) -> Result<()> {
    result.map_err(|error| {
        Failure::from(error)
            .context(format!("failed to install {provider}"))
            .hint("run the same command again: it goes on where this one stopped")
    })
}

fn say_what_is_next(session: &Session, planned: &[Planned], first_run: bool) {
    if first_run {
        session.ui.status(
            "\nYour management cluster has been initialized successfully!\n\n\
             You can now create your first workload cluster by running the following:\n\n  \
             capictl generate cluster [name] --kubernetes-version [version] | kubectl apply -f -\n",
        );
    } else if planned.is_empty() {
        session
            .ui
            .status("Nothing to install: every provider is there already");
    } else {
        let names: Vec<String> = planned
            .iter()
            .map(|planned| planned.release.provider.label())
            .collect();
        session.ui.status(format!("Installed {}", names.join(", ")));
    }
}
