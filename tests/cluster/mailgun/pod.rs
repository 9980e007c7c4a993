//! The manager of the release, as its Deployment runs it: by the name `manager`, with the rights of its ServiceAccount.

use anyhow::{Context, Result};
use capictl::controllers::mailgun::api::{MailgunCluster, MailgunMachine, MailgunMachineSpec};
use k8s_openapi::api::rbac::v1::{ClusterRole, PolicyRule};
use kube::Client;
use kube::api::{Api, Patch, PatchParams, PostParams};
use serde_json::json;

use super::bed::{self, RECIPIENT, ensure_discreet, until_condition};
use super::process::signal;
use crate::support::control_plane::ControlPlane;
use crate::support::environment::Environment;
use crate::support::kubelet::Manager;
use crate::support::mailgun::{DOMAIN, KEY, Mailgun};
use crate::support::wait;

const NAMESPACE: &str = "cluster-api-provider-mailgun-system";
const DEPLOYMENT: &str = "cluster-api-provider-mailgun-controller-manager";
const ROLE: &str = "cluster-api-provider-mailgun-manager-role";

/// Cluster API with the provider, all of it installed by `init`.
struct Installed {
    control_plane: ControlPlane,
    client: Client,
    mailgun: Mailgun,
}

impl Installed {
    async fn new() -> Result<Self> {
        capictl::http::install_tls_provider();
        let managers = [Manager::Core, Manager::Mailgun];
        let control_plane = ControlPlane::start_with_managers(&managers).await?;
        let mailgun = Mailgun::start();
        let mut environment = Environment::with_kubeconfig(control_plane.kubeconfig())?;
        environment
            .set("MAILGUN_DOMAIN", DOMAIN)
            .set("MAILGUN_API_KEY", KEY)
            .set("MAIL_RECIPIENT", RECIPIENT)
            .set("MAILGUN_API_BASE", mailgun.url());
        let flags = ["--bootstrap=-", "--control-plane=-", "--wait-providers"];
        let init = [&["init", "--infrastructure=mailgun"], &flags[..]].concat();
        environment.capictl(&init).await?.success();
        Ok(Self {
            client: control_plane.client().await?,
            control_plane,
            mailgun,
        })
    }

    fn objects(&self) -> Api<MailgunCluster> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    fn machines(&self) -> Api<MailgunMachine> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    async fn create(&self, name: &str) -> Result<()> {
        bed::create(&bed::clusters(&self.client, NAMESPACE), &bed::cluster(name)).await?;
        let object = bed::object(name);
        self.objects()
            .create(&PostParams::default(), &object)
            .await?;
        Ok(())
    }

    async fn create_machine(&self, name: &str) -> Result<()> {
        let machine = MailgunMachine::new(name, MailgunMachineSpec::default());
        self.machines()
            .create(&PostParams::default(), &machine)
            .await?;
        Ok(())
    }

    async fn until_sent(&self, name: &str) {
        until_condition(&self.objects(), name, "MessageSent", "True", None).await;
    }

    /// Waits until a machine says that nobody makes it.
    async fn until_told(&self, machine: &str) {
        let told = |machine: Option<&MailgunMachine>| {
            let status = machine.and_then(|machine| machine.status.as_ref());
            status.is_some_and(|status| status.conditions.iter().any(|it| it.type_ == "Ready"))
        };
        wait::for_object(&self.machines(), machine, "has a condition", told).await;
    }

    fn log(&self) -> Result<String> {
        let folder = format!("pods/{NAMESPACE}-{DEPLOYMENT}");
        let path = self.control_plane.folder().join(folder).join("log");
        std::fs::read_to_string(&path).with_context(|| path.display().to_string())
    }

    /// Waits until the log has a line after its first `from` bytes with both texts in it.
    async fn until_logged(&self, from: usize, first: &str, second: &str) {
        wait::until(
            &format!("`{first}` and `{second}` in the log"),
            async || {
                let log = self.log().map_err(|error| error.to_string())?;
                let mut lines = log[from..].lines();
                match lines.any(|line| line.contains(first) && line.contains(second)) {
                    true => Ok(()),
                    false => Err(log[from..].to_owned()),
                }
            },
        )
        .await;
    }

    /// Ends the manager's process; the kubelet starts the next one.
    async fn restart(&self) -> Result<()> {
        let kubelet = self.control_plane.kubelet();
        let process = kubelet.process_id(NAMESPACE, DEPLOYMENT).await;
        signal("TERM", process.context("it runs")?);
        Ok(())
    }

    fn roles(&self) -> Api<ClusterRole> {
        Api::all(self.client.clone())
    }

    async fn set_rules(&self, rules: &[PolicyRule]) -> Result<()> {
        let patch = Patch::Merge(json!({"rules": rules}));
        self.roles()
            .patch(ROLE, &PatchParams::default(), &patch)
            .await?;
        Ok(())
    }
}

#[tokio::test]
async fn the_manager_works_with_the_rights_of_its_service_account_and_needs_them() -> Result<()> {
    let installed = Installed::new().await?;
    installed.create("hello-mailgun").await?;
    installed.create_machine("machine").await?;
    installed.until_sent("hello-mailgun").await;
    installed.until_told("machine").await;
    installed
        .until_logged(0, "Message ID", "hello-mailgun")
        .await;
    let log = installed.log()?;
    assert!(!log.contains("forbidden"), "{log}");
    assert!(log.contains("successfully acquired lease"), "{log}");
    assert_eq!(installed.mailgun.mails().len(), 1);

    let rules = installed.roles().get(ROLE).await?.rules.unwrap_or_default();
    // What the tutorial's manager has not: what is done without each of these, and what is missing then.
    let added = [
        ("events.k8s.io", "events"),
        ("infrastructure.cluster.x-k8s.io", "mailgunmachines/status"),
        ("infrastructure.cluster.x-k8s.io", "mailgunmachines"),
        ("apiextensions.k8s.io", "customresourcedefinitions"),
    ];
    for (number, (group, resource)) in added.into_iter().enumerate() {
        let is_it = |rule: &PolicyRule| {
            let has = |list: &Option<Vec<String>>, name: &str| {
                list.iter().flatten().any(|entry| entry == name)
            };
            has(&rule.api_groups, group) && has(&rule.resources, resource)
        };
        let others: Vec<_> = rules.iter().filter(|rule| !is_it(rule)).cloned().collect();
        assert_eq!(others.len() + 1, rules.len(), "{group} {resource}");
        installed.set_rules(&others).await?;
        let from = installed.log()?.len();
        // Watches and what is asked at the start come with the next process.
        installed.restart().await?;
        let plain = resource.split('/').next().unwrap_or(resource);
        match plain {
            "events" => installed.create(&format!("without-{number}")).await?,
            "mailgunmachines" => {
                installed
                    .create_machine(&format!("without-{number}"))
                    .await?
            }
            _ => {}
        }
        installed.until_logged(from, "forbidden", plain).await;
        installed.set_rules(&rules).await?;
    }
    // With all of them again, it goes on where it was.
    installed.create("another").await?;
    installed.until_sent("another").await;
    installed.until_told("without-1").await;
    installed.until_told("without-2").await;
    ensure_discreet(&installed.log()?);
    Ok(())
}
