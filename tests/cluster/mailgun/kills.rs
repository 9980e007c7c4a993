//! A provider that is killed again and again loses no mail without a word, and sends none twice.
//!
//! A run of the whole suite kills a few times; `tests/sweep.sh` has a hundred objects and sixty kills.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Result;
use capictl::controllers::mailgun::api::MailgunCluster;
use capictl::controllers::mailgun::record::{ANNOTATION, Record, State};
use capictl::controllers::manager::election::LEASE;
use k8s_openapi::api::coordination::v1::Lease;
use kube::ResourceExt as _;
use kube::api::{Api, DeleteParams, ListParams};

use super::bed::{Bed, ensure_discreet};
use super::process::{Process, signal};
use crate::support::proxy::{Fault, FaultProxy, Rule};
use crate::support::random::Random;
use crate::support::wait::{until, until_within};

/// A claim of a killed process is void after 75 seconds, the first look-up comes 15 seconds later; the rest is for
/// machines that are busy with other things.
const PATIENCE: Duration = Duration::from_secs(300);
/// A round is over at one of so many writes: of records, statuses, events, and of the Lease.
const WRITES: usize = 20;

/// Where a process is killed.
#[derive(Debug, Clone, Copy)]
enum Moment {
    /// Before this write has reached the API server.
    BeforeWrite(usize),
    /// When this write is stored, before the answer is there.
    AfterWrite(usize),
    /// When Mailgun has accepted so many mails more, before it answers the last one.
    OnMail(usize),
}

impl Moment {
    fn choose(random: &mut Random) -> Self {
        match random.below(3) {
            0 => Self::BeforeWrite(random.below(WRITES)),
            1 => Self::AfterWrite(random.below(WRITES)),
            _ => Self::OnMail(1 + random.below(3)),
        }
    }
}

struct Killing {
    bed: Bed,
    proxy: FaultProxy,
    /// Objects that were claimed when a process was killed.
    claimed: BTreeSet<String>,
}

impl Killing {
    fn start_process(&self) -> Result<Process> {
        let arguments = ["--allow-orphan", "--concurrency=4"];
        Process::start(&self.bed, &self.proxy.kubeconfig(), &arguments)
    }

    async fn list(&self) -> Result<Vec<(String, Option<Record>)>> {
        let list = self.bed.objects().list(&ListParams::default()).await?;
        let read = |object: MailgunCluster| {
            let text = object.annotations().get(ANNOTATION);
            let record = text.map(|text| serde_json::from_str(text).expect("nobody breaks it"));
            (object.uid().expect("it was read"), record)
        };
        Ok(list.items.into_iter().map(read).collect())
    }

    async fn note_claims(&mut self) -> Result<()> {
        let claimed = self.list().await?.into_iter().filter_map(|(uid, record)| {
            let is_claimed = record.is_some_and(|record| record.state == State::Claimed);
            is_claimed.then_some(uid)
        });
        self.claimed.extend(claimed);
        Ok(())
    }

    /// Starts the next process. While the Lease of the dead one keeps it waiting, nobody writes, and claims are noted.
    async fn follow(&mut self) -> Result<Process> {
        let process = self.start_process()?;
        process.says("attempting to acquire leader lease").await;
        self.note_claims().await?;
        let client = self.bed.client.clone();
        let leases: Api<Lease> = Api::namespaced(client, &self.bed.namespace);
        match leases.delete(LEASE, &DeleteParams::default()).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => {} // the first one waits for nobody
            deleted => drop(deleted?),
        }
        process.says("successfully acquired lease").await;
        Ok(process)
    }

    async fn kill(&mut self, moment: Moment) -> Result<()> {
        let mut process = self.follow().await?;
        match moment {
            Moment::BeforeWrite(write) => self.kill_at(&mut process, Fault::Hold, write).await?,
            Moment::AfterWrite(write) => {
                self.kill_at(&mut process, Fault::HoldAnswer, write).await?;
            }
            Moment::OnMail(count) => self.kill_on_mail(&mut process, count).await?,
        }
        ensure_discreet(&process.log());
        Ok(())
    }

    async fn kill_at(&self, process: &mut Process, fault: Fault, write: usize) -> Result<()> {
        // The Lease is written again and again, so that every number is reached.
        let rule = Rule::new(fault).writes().skip(write).once();
        let held = self.proxy.inject(rule);
        held.reached(1).await;
        process.child.kill().await?;
        held.withdraw();
        Ok(())
    }

    /// Kills from within the acceptance of a mail, or as soon as there is none left to be sent.
    async fn kill_on_mail(&self, process: &mut Process, count: usize) -> Result<()> {
        let (id, left) = (process.id(), Arc::new(AtomicUsize::new(count)));
        self.bed.mailgun.on_accept(move |_| {
            if left.fetch_sub(1, Ordering::SeqCst) == 1 {
                signal("KILL", id);
            }
        });
        until("a mail, or the last one", async || {
            if let Ok(Some(_)) = process.child.try_wait() {
                return Ok(());
            }
            let all = self.list().await.map_err(|error| error.to_string())?;
            let is_open = |record: &Option<Record>| {
                record
                    .as_ref()
                    .is_none_or(|record| record.state == State::Pending)
            };
            match all.iter().filter(|(_, record)| is_open(record)).count() {
                0 => Ok(()),
                open => Err(format!("{open} to be sent")),
            }
        })
        .await;
        self.bed.mailgun.on_accept(|_| ());
        if process.child.try_wait()?.is_none() {
            process.child.kill().await?;
        }
        Ok(())
    }

    /// Waits until every object is known to be sent, or looked for in vain.
    async fn until_all_is_known(&self) {
        until_within(PATIENCE, "an end of all objects", async || {
            let requests = self.bed.mailgun.requests();
            let was_looked_up = |uid: &str| {
                let mut reads = requests.iter().filter(|request| !request.is_send());
                reads.any(|request| request.path.contains(uid))
            };
            let all = self.list().await.map_err(|error| error.to_string())?;
            let open = all.iter().filter(|(uid, record)| {
                let accepted = self.bed.mailgun.accepted(uid);
                match record.as_ref().map(|record| record.state) {
                    Some(State::Sent) => false,
                    Some(State::Uncertain) => accepted > 0 || !was_looked_up(uid),
                    _ => true,
                }
            });
            match open.count() {
                0 => Ok(()),
                open => Err(format!("{open} open")),
            }
        })
        .await;
    }
}

#[tokio::test]
async fn a_provider_that_is_killed_at_random_sends_no_mail_twice_and_hides_no_doubt() -> Result<()>
{
    let (objects, kills) = match std::env::var_os("CAPICTL_SWEEP") {
        Some(_) => (100, 60),
        None => (20, 8),
    };
    let mut random = Random::for_test("kills of the Mailgun provider");
    let bed = Bed::new().await?;
    let proxy = FaultProxy::start(bed.control_plane).await?;
    bed.mailgun.answer_after(Duration::from_millis(100));
    for number in 0..objects {
        bed.create_object(&format!("object-{number}")).await?;
    }
    let mut killing = Killing {
        bed,
        proxy,
        claimed: BTreeSet::new(),
    };
    for _ in 0..kills {
        let moment = Moment::choose(&mut random);
        println!("killed: {moment:?}");
        killing.kill(moment).await?;
    }
    let mut last = killing.follow().await?;
    killing.until_all_is_known().await;
    signal("TERM", last.id());
    assert!(last.child.wait().await?.success(), "{}", last.log());
    ensure_discreet(&last.log());
    killing.bed.ensure_discreet(&[]).await?;
    report(&killing, objects, kills).await
}

/// Holds what is there in the end against what the stand-in has accepted, and prints the figures.
async fn report(killing: &Killing, objects: usize, kills: usize) -> Result<()> {
    let Killing { bed, claimed, .. } = killing;
    let (mut sent, mut doubts) = (0, 0);
    for object in bed.objects().list(&ListParams::default()).await? {
        let uid = object.uid().unwrap_or_default();
        let condition = super::bed::condition(&object, "MessageSent");
        let state = condition.map(|it| (it.status.as_str(), it.reason.as_str()));
        let response = object
            .status
            .as_ref()
            .and_then(|status| status.response.as_ref());
        match (bed.mailgun.accepted(&uid), state) {
            (1, Some(("True", _))) => {
                assert!(response.is_some(), "{object:#?}");
                sent += 1;
            }
            (0, Some(("Unknown", "OutcomeUncertain"))) => {
                assert_eq!(response, None);
                assert!(claimed.contains(&uid), "no kill explains {object:#?}");
                doubts += 1;
            }
            (accepted, _) => panic!("{accepted} mails for {object:#?}"),
        }
    }
    println!(
        "{objects} objects, {kills} kills: {sent} sent once, {} claims met by a kill, of which {doubts} stay in doubt",
        claimed.len()
    );
    assert_eq!(sent + doubts, objects);
    assert_eq!(bed.mailgun.mails().len(), sent);
    assert!(!claimed.is_empty(), "no kill has hit a mail under way");
    Ok(())
}
