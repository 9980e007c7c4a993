//! Looks after each Deployment: its Pods, the process that runs for them, and what is reported of both.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::Result;
use k8s_openapi::api::apps::v1::Deployment;
use kube::ResourceExt as _;

use super::managers::Running;
use super::pods::{PodSet, PodState};
use super::{Misbehaviour, Node, Round, is_passing};

/// Namespace and name of a Deployment.
pub type Key = (String, String);

/// What is known of each Deployment; only the task that tends them holds the lock for long.
pub type Records = tokio::sync::Mutex<HashMap<Key, Record>>;

/// What is known of one Deployment.
#[derive(Default)]
pub struct Record {
    /// Another Deployment of the same name is another Deployment.
    uid: String,
    pub pods: Option<PodSet>,
    pub running: Option<Running>,
    /// How often the process ended by itself, and its last exit code.
    pub restarts: i32,
    pub last_exit: Option<i32>,
    pub last_start: Option<Instant>,
    /// Since when the Pods would be ready, were they not told to be late.
    ready_since: Option<Instant>,
}

pub fn key_of(deployment: &Deployment) -> Key {
    (
        deployment.namespace().unwrap_or_default(),
        deployment.name_any(),
    )
}

/// Returns how many Pods a Deployment wants.
pub fn wanted_replicas(deployment: &Deployment) -> i32 {
    deployment.spec.replicas.unwrap_or(1)
}

impl Node {
    pub async fn tend_deployments(&self) -> Result<Round> {
        let mut records = self.deployments.lock().await;
        let deployments = self.stores.deployments.state();
        let known = |key: &Key, record: &Record| {
            let same = |it: &Deployment| key_of(it) == *key && it.uid() == Some(record.uid.clone());
            deployments.iter().any(|deployment| same(deployment))
        };
        let gone: Vec<Key> = records
            .iter()
            .filter(|(key, record)| !known(key, record))
            .map(|(key, _)| key.clone())
            .collect();
        for key in gone {
            if let Some(mut record) = records.remove(&key) {
                self.stop_manager(&key, &mut record).await;
            }
        }
        let mut round = Round::Settled;
        for deployment in &deployments {
            let record = records.entry(key_of(deployment)).or_default();
            record.uid = deployment.uid().unwrap_or_default();
            round = match self.tend(deployment, record).await {
                Ok(next) => round.and(next),
                Err(error) if is_passing(&error) => Round::Pending,
                Err(error) => return Err(error),
            };
        }
        Ok(round)
    }

    async fn tend(&self, deployment: &Deployment, record: &mut Record) -> Result<Round> {
        self.ensure_pods(deployment, record).await?;
        let (state, round) = self.observe(deployment, record).await?;
        if let Some(pods) = &mut record.pods {
            self.report_pods(deployment, pods, &state).await?;
        }
        let replicas = wanted_replicas(deployment);
        let available = if state == PodState::Ready {
            replicas
        } else {
            0
        };
        self.report_deployment(deployment, available).await?;
        Ok(round)
    }

    /// Brings the process in line with the Deployment and says what state that leaves its Pods in.
    async fn observe(
        &self,
        deployment: &Deployment,
        record: &mut Record,
    ) -> Result<(PodState, Round)> {
        let misbehaviour = self.misbehaviour(&deployment.name_any());
        match &misbehaviour {
            Some(Misbehaviour::CrashLoop { exit_code }) => {
                self.stop_manager(&key_of(deployment), record).await;
                return Ok((PodState::crash_loop(*exit_code, 3), Round::Settled));
            }
            Some(Misbehaviour::ImagePullError { message }) => {
                self.stop_manager(&key_of(deployment), record).await;
                return Ok((PodState::image_pull(deployment, message), Round::Settled));
            }
            Some(Misbehaviour::NeverAvailable | Misbehaviour::Late(_)) | None => {}
        }
        let (state, round) = match self.manager_of(deployment) {
            Some(manager) => self.run_manager(manager, deployment, record).await?,
            None => (PodState::Ready, Round::Settled),
        };
        if state != PodState::Ready {
            record.ready_since = None;
            return Ok((state, round));
        }
        let ready_for = record
            .ready_since
            .get_or_insert_with(Instant::now)
            .elapsed();
        Ok(match misbehaviour {
            Some(Misbehaviour::NeverAvailable) => (PodState::Unready, round),
            Some(Misbehaviour::Late(pause)) if ready_for < pause => {
                (PodState::Unready, Round::Pending)
            }
            _ => (state, round),
        })
    }

    pub async fn stop_manager(&self, key: &Key, record: &mut Record) {
        self.webhook_ports.lock().unwrap().remove(key);
        if let Some(running) = record.running.take() {
            let (namespace, name) = key;
            self.note(format_args!("stopping {namespace}/{name}"));
            running.process.stop(Duration::from_secs(2)).await;
            self.keeper.forget(&running.process);
        }
    }
}
