//! `init` when the way to the API server is bad, and when it is killed: what it leaves in the end is the same.
//!
//! A run of the whole suite tries a sample; `tests/sweep.sh` tries every write.

use std::time::Duration;

use anyhow::Result;
use tokio::sync::OnceCell;

use crate::example;
use crate::support::control_plane::ControlPlane;
use crate::support::environment::{self, Environment};
use crate::support::objects::{self, Objects};
use crate::support::proxy::{Fault, FaultProxy, Rule};
use crate::support::random::Random;
use crate::support::wait;

const INIT: [&str; 3] = ["init", "--infrastructure", "docker,example"];

/// A control plane of its own behind a proxy.
struct Bed {
    control_plane: ControlPlane,
    proxy: FaultProxy,
    environment: Environment,
}

impl Bed {
    async fn start() -> Result<Self> {
        let control_plane = ControlPlane::start().await?;
        let proxy = FaultProxy::start(&control_plane).await?;
        let mut environment = Environment::with_kubeconfig(&proxy.kubeconfig())?;
        example::add(&mut environment)?;
        Ok(Self {
            control_plane,
            proxy,
            environment,
        })
    }

    /// Waits until the objects are those of an undisturbed run; controllers may have to do something yet.
    async fn ensure_as_undisturbed(&self, case: &str) -> Result<()> {
        let expected = undisturbed().await;
        let client = self.control_plane.client().await?;
        wait::until(
            &format!("{case}: the objects of an undisturbed run"),
            async || {
                let found = objects::list_objects(&client)
                    .await
                    .map_err(|error| format!("{error:#}"))?;
                match objects::compare(&found, &expected.objects).as_slice() {
                    [] => Ok(()),
                    differences => Err(differences.join("\n")),
                }
            },
        )
        .await;
        Ok(())
    }
}

/// What a run leaves that nothing disturbs, and how many writes it makes.
struct Undisturbed {
    objects: Objects,
    writes: usize,
}

async fn undisturbed() -> &'static Undisturbed {
    static UNDISTURBED: OnceCell<Undisturbed> = OnceCell::const_new();
    let run = async || -> Result<Undisturbed> {
        let bed = Bed::start().await?;
        bed.environment.capictl(&INIT).await?.success();
        let writes = bed.proxy.count(|request| request.is_write());
        let client = bed.control_plane.client().await?;
        let mut last = Objects::new();
        // The stand-in kubelet and the control plane go on for a moment.
        let objects = wait::until("nothing to change any more", async || {
            let now = objects::list_objects(&client)
                .await
                .map_err(|error| format!("{error:#}"))?;
            let differences = objects::compare(&now, &last);
            last = now.clone();
            if differences.is_empty() {
                Ok(now)
            } else {
                Err(differences.join("\n"))
            }
        })
        .await;
        Ok(Undisturbed { objects, writes })
    };
    UNDISTURBED
        .get_or_try_init(run)
        .await
        .unwrap_or_else(|error| panic!("{error:#}"))
}

#[tokio::test]
async fn a_rerun_writes_nothing() -> Result<()> {
    let bed = Bed::start().await?;
    bed.environment.capictl(&INIT).await?.success();
    let before = bed.proxy.count(|request| request.is_write());
    let again = bed.environment.capictl(&INIT).await?;
    assert!(again.status.success(), "{again}");
    assert!(again.stderr.contains("already installed"), "{again}");
    let writes: Vec<String> = bed
        .proxy
        .requests()
        .into_iter()
        .filter(|r| r.is_write())
        .map(|r| format!("{} {}", r.method, r.path))
        .collect();
    assert_eq!(writes.len(), before, "{:#?}", &writes[before..]);
    Ok(())
}

#[tokio::test]
async fn a_run_that_is_killed_at_any_write_is_finished_by_the_next_one() -> Result<()> {
    let mut random = Random::for_test("kill at a write");
    for write in random.sample(undisturbed().await.writes, 2) {
        // Half of the time the write has reached the server when the process is killed, half of the time it has not.
        let fault = if random.below(2) == 0 {
            Fault::Hold
        } else {
            Fault::HoldAnswer
        };
        ensure_finished_after_kill(write, fault).await?;
    }
    Ok(())
}

/// The kinds of cert-manager were there and its webhooks were not, so that the API server took every Certificate. A sample
/// of the test above found it with the seed 1796063012.
#[tokio::test]
async fn cert_manager_is_installed_whole_after_a_kill_behind_its_kinds() -> Result<()> {
    ensure_finished_after_kill(13, Fault::Hold).await
}

/// The answer to its creation was lost, and while it was put in place once more its controller wrote too: the version that
/// was read stayed out of date for ever. The sweep of `faults_on_the_way` found it with the seed 1796067500.
#[tokio::test]
async fn an_object_that_changes_while_it_is_replaced_is_read_again() -> Result<()> {
    const PATH: &str = "/apis/apps/v1/namespaces/cert-manager/deployments";
    let bed = Bed::start().await?;
    let creation = Rule::new(Fault::ResetAfter).method("POST").path(PATH);
    bed.proxy.inject(creation.times(3));
    let replacement = Rule::new(Fault::Hold).method("PUT");
    let webhook = format!("{PATH}/cert-manager-webhook");
    let held = bed.proxy.inject(replacement.path(webhook).once());
    let child = bed.environment.spawn(&environment::capictl()?, &INIT)?;
    held.reached(1).await;
    let change = "annotate -n cert-manager deployment/cert-manager-webhook changed=meanwhile";
    let change: Vec<&str> = change.split(' ').collect();
    let somebody = Environment::with_kubeconfig(bed.control_plane.kubeconfig())?;
    somebody.kubectl(&change).await?.success();
    held.release();
    environment::finish(child).await?.success();
    bed.ensure_as_undisturbed("changed while it was replaced")
        .await
}

async fn ensure_finished_after_kill(write: usize, fault: Fault) -> Result<()> {
    let bed = Bed::start().await?;
    let case = format!("killed at write {write}, {fault:?}");
    let held = bed
        .proxy
        .inject(Rule::new(fault).writes().skip(write).once());
    let mut child = bed.environment.spawn(&environment::capictl()?, &INIT)?;
    held.reached(1).await;
    child.kill().await?;
    held.withdraw();
    let again = bed.environment.capictl(&INIT).await?;
    assert!(again.status.success(), "{case}: {again}");
    bed.ensure_as_undisturbed(&case).await
}

#[tokio::test]
async fn faults_on_the_way_do_not_show_in_the_result() -> Result<()> {
    let mut random = Random::for_test("faults on the way");
    for first in random.sample(undisturbed().await.writes, 2) {
        let bed = Bed::start().await?;
        let faults = [
            Fault::too_many_requests(1),
            Fault::internal_error(),
            Fault::unavailable(),
            Fault::ResetBefore,
            Fault::ResetAfter,
            Fault::CutAnswer,
            Fault::Refuse(Duration::from_millis(500)),
            Fault::Delay(Duration::from_millis(300)),
        ];
        let mut case = format!("from write {first}:");
        for step in 0..3 {
            let fault = faults[random.below(faults.len())].clone();
            case.push_str(&format!(" {fault:?}"));
            bed.proxy
                .inject(Rule::new(fault).writes().skip(first + 5 * step).once());
        }
        let reads = faults[random.below(faults.len())].clone();
        bed.proxy
            .inject(Rule::new(reads).method("GET").skip(random.below(6)).once());
        let done = bed.environment.capictl(&INIT).await?;
        assert!(done.status.success(), "{case}: {done}");
        bed.ensure_as_undisturbed(&case).await?;
    }
    Ok(())
}
