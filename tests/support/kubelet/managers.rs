//! Runs the real managers, as plain processes in place of Pods.
//!
//! They get the flags of their Deployment and, behind them, what differs on this machine: the last one counts. The
//! kubeconfig holds a token of the Deployment's ServiceAccount, so that its RBAC is tested too.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{
    ConfigMap, Container, EnvVarSource, PodSpec, PodTemplateSpec, Secret, ServiceAccount,
};
use kube::api::{Api, PostParams};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::deployments::{Key, Record, key_of, wanted_replicas};
use super::pods::{PodSet, PodState};
use super::{Manager, Node, Round, is_passing};
use crate::support::control_plane::find_free_port;
use crate::support::keeper::Process;

/// The shortest time from one start to the next; kubelets begin with ten seconds.
const RESTART_PAUSE: Duration = Duration::from_secs(1);

/// A manager's process.
pub struct Running {
    pub process: Process,
    template: PodTemplateSpec,
    health_port: u16,
    ready: bool,
}

impl Node {
    /// Returns the manager that is to run for a Deployment, if any.
    pub fn manager_of(&self, deployment: &Deployment) -> Option<Manager> {
        self.container_of(deployment).map(|(manager, _)| manager)
    }

    fn container_of<'a>(&self, deployment: &'a Deployment) -> Option<(Manager, &'a Container)> {
        let containers = &deployment.spec.template.spec.as_ref()?.containers;
        containers.iter().find_map(|container| {
            let image = container.image.as_deref()?.rsplit('/').next()?;
            let image = image.split(['@', ':']).next();
            let mut managers = self.managers.iter();
            let manager = managers.find(|manager| Some(manager.image()) == image)?;
            Some((*manager, container))
        })
    }

    /// Returns the port on which a Deployment's process answers webhooks.
    pub fn webhook_port(&self, deployment: &Deployment) -> Option<u16> {
        let ports = self.webhook_ports.lock().unwrap();
        ports.get(&key_of(deployment)).copied()
    }

    /// Brings the process in line with the Deployment: starts, restarts, stops or probes it.
    pub async fn run_manager(
        &self,
        manager: Manager,
        deployment: &Deployment,
        record: &mut Record,
    ) -> Result<(PodState, Round)> {
        let key = key_of(deployment);
        if wanted_replicas(deployment) == 0 {
            self.stop_manager(&key, record).await;
            return Ok((PodState::Ready, Round::Settled));
        }
        self.collect_exit(&key, record);
        let outdated = |running: &Running| running.template != deployment.spec.template;
        if record.running.as_ref().is_some_and(outdated) {
            self.stop_manager(&key, record).await;
            record.restarts = 0;
            record.last_exit = None;
            record.last_start = None;
        }
        let Some(running) = &mut record.running else {
            return self.restart(manager, deployment, record).await;
        };
        if !running.ready && answers_ready(running.health_port).await {
            running.ready = true;
            let seconds = record
                .last_start
                .map_or(0.0, |start| start.elapsed().as_secs_f64());
            self.note(format_args!(
                "{}/{} is ready after {seconds:.1} s",
                key.0, key.1
            ));
        }
        Ok(match running.ready {
            true => (PodState::Ready, Round::Settled),
            false => (PodState::Unready, Round::Pending),
        })
    }

    /// Notes that the process ended by itself, if it did.
    fn collect_exit(&self, key: &Key, record: &mut Record) {
        let status = record
            .running
            .as_ref()
            .and_then(|running| running.process.exit_status());
        let Some(status) = status else { return };
        if let Some(running) = record.running.take() {
            self.webhook_ports.lock().unwrap().remove(key);
            self.keeper.forget(&running.process);
            record.restarts += 1;
            record.last_exit = Some(status.code().unwrap_or(137)); // killed: as shells and kubelets say it
            self.note(format_args!("{}/{} ended: {status}", key.0, key.1));
        }
    }

    /// Starts the process, unless its last start was a moment ago.
    async fn restart(
        &self,
        manager: Manager,
        deployment: &Deployment,
        record: &mut Record,
    ) -> Result<(PodState, Round)> {
        let waiting = match record.last_exit {
            Some(exit_code) => PodState::crash_loop(exit_code, record.restarts),
            None => PodState::creating(),
        };
        if record
            .last_start
            .is_some_and(|start| start.elapsed() < RESTART_PAUSE)
        {
            return Ok((waiting, Round::Pending));
        }
        match self.start_manager(manager, deployment, record).await {
            Ok(()) => Ok((PodState::Unready, Round::Pending)),
            // Its Secret or ServiceAccount is still to come.
            Err(error) if is_passing(&error) => Ok((waiting, Round::Pending)),
            Err(error) => Err(error),
        }
    }

    async fn start_manager(
        &self,
        manager: Manager,
        deployment: &Deployment,
        record: &mut Record,
    ) -> Result<()> {
        let (namespace, name) = key_of(deployment);
        let template = &deployment.spec.template;
        let spec = template.spec.as_ref().context("no Pod spec")?;
        let (_, container) = self.container_of(deployment).context("no container")?;
        let home = self.folder.join("pods").join(format!("{namespace}-{name}"));
        fs::create_dir_all(&home)?;
        self.mount_secrets(&namespace, spec, &home).await?;
        let kubeconfig = self.write_kubeconfig(&namespace, spec, &home).await?;

        let (webhooks, health) = (find_free_port()?, find_free_port()?);
        let mut arguments = container.args.clone().unwrap_or_default();
        arguments.push(format!("--kubeconfig={}", kubeconfig.display()));
        arguments.extend(match manager {
            Manager::Mailgun => flags_of_mailgun(health),
            _ => flags_of_cluster_api(health, webhooks, &home)?,
        });
        let program = place_program(manager, &home)?;
        let environment = self.environment(container, record, &namespace, &home);
        let environment = environment.await?;
        let process = self
            .keeper
            .spawn(&home.join("log"), &program, arguments, environment)?;
        self.note(format_args!(
            "started {namespace}/{name}: process {}, webhooks on port {webhooks}",
            process.id()
        ));
        record.last_start = Some(Instant::now());
        record.running = Some(Running {
            process,
            template: template.clone(),
            health_port: health,
            ready: false,
        });
        self.webhook_ports
            .lock()
            .unwrap()
            .insert((namespace, name), webhooks);
        Ok(())
    }

    async fn mount_secrets(&self, namespace: &str, spec: &PodSpec, home: &Path) -> Result<()> {
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
        for volume in spec.volumes.iter().flatten() {
            let Some(name) = volume
                .secret
                .as_ref()
                .and_then(|it| it.secret_name.as_ref())
            else {
                continue;
            };
            for (file, content) in secrets.get(name).await?.data.unwrap_or_default() {
                fs::write(home.join(file), content.0)?;
            }
        }
        Ok(())
    }

    async fn write_kubeconfig(
        &self,
        namespace: &str,
        spec: &PodSpec,
        home: &Path,
    ) -> Result<PathBuf> {
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client.clone(), namespace);
        let account = spec.service_account_name.as_deref().unwrap_or("default");
        let request = TokenRequest {
            spec: Some(TokenRequestSpec {
                expiration_seconds: Some(24 * 60 * 60),
                ..TokenRequestSpec::default()
            }),
            ..TokenRequest::default()
        };
        let params = PostParams::default();
        let answer = accounts
            .create_token_request(account, &params, &request)
            .await?;
        let token = answer
            .status
            .and_then(|status| status.token)
            .context("no token")?;
        let authority = self.folder.join("ca.crt");
        let cluster = json!({"server": self.server, "certificate-authority": authority});
        let context = json!({"cluster": "pod", "user": "pod", "namespace": namespace});
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "pod",
            "clusters": [{"name": "pod", "cluster": cluster}],
            "users": [{"name": "pod", "user": {"token": token}}],
            "contexts": [{"name": "pod", "context": context}],
        });
        let path = home.join("kubeconfig");
        fs::write(&path, kubeconfig.to_string())?;
        Ok(path)
    }

    /// Returns the variables that the container asks for, and a home.
    async fn environment(
        &self,
        container: &Container,
        record: &Record,
        namespace: &str,
        home: &Path,
    ) -> Result<Vec<(String, String)>> {
        let (pod_name, pod_uid) = record
            .pods
            .as_ref()
            .and_then(PodSet::first)
            .unwrap_or_default();
        let field = |path: &str| match path {
            "metadata.namespace" => namespace.to_owned(),
            "metadata.name" => pod_name.clone(),
            "metadata.uid" => pod_uid.clone(),
            "status.podIP" => "127.0.0.1".to_owned(),
            _ => String::new(),
        };
        let mut variables = vec![("HOME".to_owned(), home.display().to_string())];
        for variable in container.env.iter().flatten() {
            let value = match variable.value_from.as_ref() {
                Some(source) => match &source.field_ref {
                    Some(reference) => field(&reference.field_path),
                    None => self.referred(namespace, source).await?,
                },
                None => variable.value.clone().unwrap_or_default(),
            };
            variables.push((variable.name.clone(), value));
        }
        Ok(variables)
    }

    /// Returns the value of a variable that comes from a Secret or a ConfigMap.
    async fn referred(&self, namespace: &str, source: &EnvVarSource) -> Result<String> {
        if let Some(reference) = &source.secret_key_ref {
            let api: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
            let mut data = api.get(&reference.name).await?.data.unwrap_or_default();
            let value = data.remove(&reference.key).context("no such key")?;
            return Ok(String::from_utf8(value.0)?);
        }
        let reference = source.config_map_key_ref.as_ref();
        let reference = reference.context("a variable from nowhere")?;
        let api: Api<ConfigMap> = Api::namespaced(self.client.clone(), namespace);
        let mut data = api.get(&reference.name).await?.data.unwrap_or_default();
        data.remove(&reference.key).context("no such key")
    }
}

/// Returns the path to start a manager by: the program under test is the manager by its name alone.
fn place_program(manager: Manager, home: &Path) -> Result<PathBuf> {
    let program = manager.path()?;
    if manager != Manager::Mailgun {
        return Ok(program);
    }
    let link = home.join("manager");
    if !link.exists() {
        std::os::unix::fs::symlink(&program, &link)?;
    }
    Ok(link)
}

fn flags_of_cluster_api(health: u16, webhooks: u16, home: &Path) -> Result<Vec<String>> {
    Ok(vec![
        "--leader-elect=false".into(),
        "--insecure-diagnostics=true".into(),
        format!("--diagnostics-address=127.0.0.1:{}", find_free_port()?),
        format!("--health-addr=127.0.0.1:{health}"),
        format!("--webhook-port={webhooks}"),
        format!("--webhook-cert-dir={}", home.display()),
    ])
}

/// It elects a leader as its Deployment says: its Role is tested too.
fn flags_of_mailgun(health: u16) -> Vec<String> {
    vec![
        format!("--health-probe-bind-address=127.0.0.1:{health}"),
        "--metrics-bind-address=127.0.0.1:0".into(),
    ]
}

/// Asks `/readyz`, as a readiness probe does.
async fn answers_ready(port: u16) -> bool {
    let probe = async {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream
            .write_all(b"GET /readyz HTTP/1.0\r\nHost: localhost\r\n\r\n")
            .await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        std::io::Result::Ok(answer)
    };
    let answer = tokio::time::timeout(Duration::from_secs(1), probe).await;
    answer.is_ok_and(|answer| answer.is_ok_and(|text| text.split(' ').nth(1) == Some("200")))
}
