use super::*;
use crate::controllers::mailgun::api::MailgunClusterSpec;
use crate::controllers::mailgun::message::SubjectStyle;
use crate::controllers::mailgun::record::{Claim, Problem};

const DOMAIN: &str = "mail.example.org";
const BASE: &str = "https://api.example.org";
const STATES: [State; 6] = [
    State::Pending,
    State::Claimed,
    State::Rejected,
    State::Uncertain,
    State::Held,
    State::Sent,
];
const HOUR: i64 = 3600;

fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap()
}

fn ago(seconds: i64) -> Timestamp {
    now() - SignedDuration::from_secs(seconds)
}

fn origin(uid: &str, name: &str) -> Origin {
    Origin {
        uid: uid.into(),
        namespace: "n".into(),
        name: name.into(),
    }
}

fn message(request: &str) -> Message {
    let spec = MailgunClusterSpec {
        priority: "Urgent".into(),
        request: request.into(),
        requester: "me@example.org".into(),
        control_plane_endpoint: None,
    };
    Message::of(&spec, "o", "you@example.org", SubjectStyle::Seed).unwrap()
}

/// A record as an attempt leaves it behind: the claim only while it is claimed, all times a minute ago.
fn record(state: State) -> Record {
    let attempt = u32::from(state != State::Pending);
    let record = Record {
        attempt,
        digest: (attempt > 0).then(|| message("r").digest()),
        last_at: (attempt > 0).then(|| ago(60)),
        ..Record::new(origin("u", "o"), DOMAIN, BASE)
    };
    match state {
        State::Claimed => Record {
            claim: Some(claim("theirs")),
            last_at: None,
            ..record.with_state(state)
        },
        State::Sent => record.sent("<id@mail.example.org>".into(), Via::Response),
        State::Pending => record,
        state => record.with_problem(state, 503, "ServerError"),
    }
}

fn claim(nonce: &str) -> Claim {
    Claim {
        holder: "somebody".into(),
        nonce: nonce.into(),
        at: ago(1),
        ttl_seconds: 60,
    }
}

fn of_ledger(ledger: Ledger) -> Observed {
    Observed {
        origin: origin("u", "o"),
        externally_managed: false,
        has_owner: true,
        paused: false,
        deleting: false,
        moved_away: false,
        has_finalizer: true,
        ledger,
        mirrored: true,
        resolution: None,
        created: ago(120),
        message: Ok(message("r")),
    }
}

fn of(record: Record) -> Observed {
    of_ledger(Ledger::Current(record))
}

fn situation() -> Situation {
    Situation {
        now: now(),
        own_nonce: None,
        claim_unchanged: Duration::ZERO,
        first_sight: false,
        lookups: (None, 0),
        can_look_up: true,
        domain: DOMAIN.into(),
        api_base: BASE.into(),
        on_uncertain: OnUncertain::Hold,
        retention: Duration::from_secs(24 * 3600),
    }
}

/// A claim that is ours, as it stands right before the mail is sent.
fn ours() -> (Observed, Situation) {
    let record = Record {
        claim: Some(claim("ours")),
        ..record(State::Claimed)
    };
    let situation = Situation {
        own_nonce: Some("ours".into()),
        ..situation()
    };
    (of(record), situation)
}

fn written(step: Step) -> Record {
    match step {
        Step::Write(record) => record,
        step => panic!("{step:?}"),
    }
}

fn begun(step: Step) -> Record {
    match step {
        Step::Begin(record) => record,
        step => panic!("{step:?}"),
    }
}

fn reason(record: &Record) -> &str {
    let Problem { reason, .. } = record.error.as_ref().expect("it says what went wrong");
    reason
}

/// Every state, of our own uid, of a moved object, and of one that was copied under another name; and no record.
fn ledgers() -> Vec<Ledger> {
    let mut all = vec![
        Ledger::Blank,
        Ledger::Repaired(record(State::Uncertain)),
        Ledger::Repaired(record(State::Pending)),
        Ledger::Unreadable(record(State::Held)),
    ];
    for state in STATES {
        for (uid, name) in [("u", "o"), ("elsewhere", "o"), ("elsewhere", "other")] {
            all.push(Ledger::Current(Record {
                origin: origin(uid, name),
                ..record(state)
            }));
        }
    }
    all
}

/// It leads to a mail, now or by the next steps.
fn is_towards_a_mail(step: &Step) -> bool {
    match step {
        Step::Send(_) | Step::Claim(_) | Step::Mirror => true,
        Step::Begin(record) | Step::Write(record) => record.state == State::Pending,
        _ => false,
    }
}

#[test]
fn each_state_has_its_step_while_nothing_stands_in_the_way() {
    let (ours_observed, ours_situation) = ours();
    let settle = |seconds| Step::Settle(Some(Duration::from_secs(seconds)));
    for (state, expected) in [
        (State::Claimed, settle(75)),
        (State::Rejected, settle(540)),
        (State::Uncertain, Step::LookUp),
        (State::Held, Step::Settle(None)),
        (State::Sent, Step::Settle(None)),
    ] {
        let step = next_step(&of(record(state)), &situation());
        assert_eq!(step, expected, "{state:?}");
    }
    let Step::Claim(claimed) = next_step(&of(record(State::Pending)), &situation()) else {
        panic!()
    };
    assert_eq!((claimed.state, claimed.attempt), (State::Claimed, 1));
    assert_eq!(claimed.digest, Some(message("r").digest()));
    let step = next_step(&ours_observed, &ours_situation);
    assert_eq!(step, Step::Send(message("r")));
}

#[test]
fn the_first_sight_of_an_object_is_written_down_before_anything_else() {
    let observed = Observed {
        has_finalizer: false,
        ..of_ledger(Ledger::Blank)
    };
    let first = begun(next_step(&observed, &situation()));
    assert_eq!((first.state, first.attempt), (State::Pending, 0));
    assert_eq!(first.mid, "capi-mailgun.u.0@mail.example.org");
    let repaired = of_ledger(Ledger::Repaired(record(State::Uncertain)));
    let step = next_step(&repaired, &situation());
    assert_eq!(step, Step::Begin(record(State::Uncertain)));
}

#[test]
fn whatever_the_state_nothing_is_sent_or_written_past_a_gate() {
    type Gate = (&'static str, fn(&mut Observed), Idle);
    let gates: [Gate; 3] = [
        (
            "externally managed",
            |it| it.externally_managed = true,
            Idle::ExternallyManaged,
        ),
        ("no owner", |it| it.has_owner = false, Idle::NoOwner),
        ("moved away", |it| it.moved_away = true, Idle::MovedAway),
    ];
    for (name, close, idle) in gates {
        for ledger in ledgers() {
            for has_finalizer in [false, true] {
                let mut observed = Observed {
                    has_finalizer,
                    ..of_ledger(ledger.clone())
                };
                close(&mut observed);
                let step = next_step(&observed, &situation());
                assert_eq!(step, Step::Idle(idle), "{name}: {ledger:?}");
            }
        }
        let (mut observed, situation) = ours();
        close(&mut observed);
        assert_eq!(next_step(&observed, &situation), Step::Idle(idle), "{name}");
    }
}

#[test]
fn whatever_the_state_a_paused_object_is_not_written_to_unless_to_take_a_claim_back() {
    for ledger in ledgers() {
        for resolution in [None, Some(Resolution::Resend), Some(Resolution::AssumeSent)] {
            for has_finalizer in [false, true] {
                for age in [0, 75, 4000] {
                    let observed = Observed {
                        paused: true,
                        has_finalizer,
                        resolution,
                        ..of_ledger(ledger.clone())
                    };
                    let situation = Situation {
                        claim_unchanged: Duration::from_secs(age),
                        ..situation()
                    };
                    let step = next_step(&observed, &situation);
                    let rests = matches!(step, Step::Idle(Idle::Paused) | Step::Settle(_));
                    assert!(rests, "{ledger:?}, {resolution:?}: {step:?}");
                }
            }
        }
    }
    for mirrored in [false, true] {
        let (observed, situation) = ours();
        let observed = Observed {
            paused: true,
            mirrored,
            ..observed
        };
        let record = written(next_step(&observed, &situation));
        let Record { state, claim, .. } = record;
        assert_eq!((state, claim), (State::Pending, None));
    }
}

#[test]
fn an_object_without_finalizer_gets_it_before_anything_is_done_about_its_mail() {
    for state in STATES {
        let observed = Observed {
            has_finalizer: false,
            ..of(record(state))
        };
        let step = next_step(&observed, &situation());
        assert_eq!(step, Step::Begin(record(state)), "{state:?}");
    }
    let (observed, situation) = ours();
    let observed = Observed {
        has_finalizer: false,
        ..observed
    };
    assert!(matches!(next_step(&observed, &situation), Step::Begin(_)));
}

#[test]
fn a_deletion_never_sends_and_waits_only_for_a_send_under_way() {
    for ledger in ledgers() {
        for resolution in [None, Some(Resolution::Resend)] {
            for has_owner in [false, true] {
                let observed = Observed {
                    deleting: true,
                    has_owner,
                    resolution,
                    ..of_ledger(ledger.clone())
                };
                let claimed =
                    matches!(&ledger, Ledger::Current(record) if record.state == State::Claimed);
                let expected = match claimed && has_owner {
                    true => Step::Settle(Some(TAKEOVER_AFTER)),
                    false => Step::DropFinalizer,
                };
                assert_eq!(next_step(&observed, &situation()), expected, "{ledger:?}");
                let later = Situation {
                    claim_unchanged: TAKEOVER_AFTER,
                    ..situation()
                };
                assert_eq!(next_step(&observed, &later), Step::DropFinalizer);
                let gone = Observed {
                    has_finalizer: false,
                    ..observed.clone()
                };
                assert_eq!(next_step(&gone, &situation()), Step::Settle(None));
                let paused = Observed {
                    paused: true,
                    has_owner: true,
                    ..observed
                };
                let step = next_step(&paused, &later);
                assert_eq!(step, Step::Idle(Idle::Paused), "{ledger:?}");
            }
        }
    }
    let (observed, situation) = ours();
    let observed = Observed {
        deleting: true,
        ..observed
    };
    let step = next_step(&observed, &situation);
    assert_eq!(step, Step::Settle(Some(TAKEOVER_AFTER)));
}

#[test]
fn a_pending_mail_waits_until_its_time() {
    let waits = Record {
        not_before: Some(now() + SignedDuration::from_secs(7)),
        attempt: 1,
        ..record(State::Pending)
    };
    let step = next_step(&of(waits.clone()), &situation());
    assert_eq!(step, Step::Settle(Some(Duration::from_secs(7))));
    let due = Record {
        not_before: Some(now()),
        ..waits
    };
    let Step::Claim(claimed) = next_step(&of(due), &situation()) else {
        panic!()
    };
    assert_eq!((claimed.attempt, claimed.not_before), (2, None));
}

#[test]
fn a_claim_names_the_place_where_the_mail_is_sent_through_and_keeps_its_message_id() {
    let situation = Situation {
        domain: "new.example.org".into(),
        api_base: "https://eu.example.org".into(),
        ..situation()
    };
    let Step::Claim(claimed) = next_step(&of(record(State::Pending)), &situation) else {
        panic!()
    };
    assert_eq!(claimed.domain, "new.example.org");
    assert_eq!(claimed.api_base, "https://eu.example.org");
    assert_eq!(claimed.mid, "capi-mailgun.u.0@mail.example.org");
}

#[test]
fn a_mail_that_cannot_be_is_refused_and_never_claimed_or_sent() {
    let invalid = || Err(InvalidMessage::NoSender);
    let pending = Observed {
        message: invalid(),
        ..of(record(State::Pending))
    };
    let refused = written(next_step(&pending, &situation()));
    assert_eq!(
        (refused.state, reason(&refused)),
        (State::Rejected, "InvalidSender")
    );
    let (observed, ours) = ours();
    let observed = Observed {
        message: invalid(),
        ..observed
    };
    assert_eq!(written(next_step(&observed, &ours)).state, State::Rejected);
    let still = Observed {
        message: invalid(),
        ..of(refused.clone())
    };
    assert_eq!(next_step(&still, &situation()), Step::Settle(None));
    assert_eq!(
        written(next_step(&of(refused), &situation())).state,
        State::Pending
    );
}

#[test]
fn our_claim_is_written_twice_before_the_mail_and_given_up_when_the_mail_changed() {
    let (observed, situation) = ours();
    let unmirrored = Observed {
        mirrored: false,
        ..observed.clone()
    };
    assert_eq!(next_step(&unmirrored, &situation), Step::Mirror);
    for mirrored in [false, true] {
        let changed = Observed {
            message: Ok(message("another")),
            mirrored,
            ..observed.clone()
        };
        let record = written(next_step(&changed, &situation));
        assert_eq!((record.state, record.claim), (State::Pending, None));
    }
}

#[test]
fn a_claim_of_another_is_never_sent_and_void_only_after_it_stood_still() {
    let nonces = [None, Some("ours".to_owned())];
    for own_nonce in nonces {
        for mirrored in [false, true] {
            for (seconds, left) in [(0, Some(75)), (74, Some(1)), (75, None), (9999, None)] {
                let observed = Observed {
                    mirrored,
                    ..of(record(State::Claimed))
                };
                let situation = Situation {
                    own_nonce: own_nonce.clone(),
                    claim_unchanged: Duration::from_secs(seconds),
                    ..situation()
                };
                let step = next_step(&observed, &situation);
                let Some(left) = left else {
                    let doubt = written(step);
                    assert_eq!(
                        (doubt.state, reason(&doubt)),
                        (State::Uncertain, "ClaimExpired")
                    );
                    assert_eq!((doubt.claim, doubt.last_at), (None, Some(now())));
                    continue;
                };
                assert_eq!(step, Step::Settle(Some(Duration::from_secs(left))));
            }
        }
    }
}

#[test]
fn a_claim_without_a_nonce_is_nobodys() {
    let record = Record {
        claim: None,
        ..record(State::Claimed)
    };
    let step = next_step(&of(record), &situation());
    assert_eq!(step, Step::Settle(Some(TAKEOVER_AFTER)));
}

#[test]
fn a_refusal_stands_until_something_changes_or_its_pause_is_over() {
    for (attempt, minutes) in [(0, 10), (1, 10), (2, 20), (3, 40), (4, 60), (99, 60)] {
        let refused = Record {
            attempt,
            last_at: Some(now()),
            ..record(State::Rejected)
        };
        let step = next_step(&of(refused.clone()), &situation());
        let pause = Duration::from_secs(minutes * 60);
        assert_eq!(step, Step::Settle(Some(pause)), "attempt {attempt}");
        let over = Situation {
            now: now() + SignedDuration::try_from(pause).unwrap(),
            ..situation()
        };
        let again = written(next_step(&of(refused), &over));
        assert_eq!((again.state, again.attempt), (State::Pending, attempt));
    }
    let changes: [fn(&mut Observed, &mut Situation); 3] = [
        |observed, _| observed.message = Ok(message("another")),
        |_, situation| situation.domain = "new.example.org".into(),
        |_, situation| situation.api_base = "https://eu.example.org".into(),
    ];
    for change in changes {
        let (mut observed, mut situation) = (of(record(State::Rejected)), situation());
        change(&mut observed, &mut situation);
        assert_eq!(
            written(next_step(&observed, &situation)).state,
            State::Pending
        );
    }
}

#[test]
fn a_mail_in_doubt_is_looked_up_less_and_less_often() {
    let doubt = |last_at| Record {
        last_at: Some(last_at),
        ..record(State::Uncertain)
    };
    let table = [
        // the attempt ended, the last look-up, look-ups, seconds left
        (0, None, 0, 15),
        (14, None, 0, 1),
        (15, None, 0, 0),
        (20, Some(0), 1, 15),
        (30, Some(14), 1, 1),
        (60, Some(0), 2, 30),
        (99, Some(0), 3, 60),
        (300, Some(60), 4, 60),
        (900, Some(0), 5, 300),
        (1799, Some(299), 50, 1),
        (1799, Some(300), 50, 0),
    ];
    for (ended, looked_up, count, left) in table {
        let situation = Situation {
            lookups: (looked_up.map(ago), count),
            ..situation()
        };
        let step = next_step(&of(doubt(ago(ended))), &situation);
        let expected = match left {
            0 => Step::LookUp,
            left => Step::Settle(Some(Duration::from_secs(left))),
        };
        assert_eq!(step, expected, "{ended} {looked_up:?} {count}");
    }
}

#[test]
fn a_mail_in_doubt_that_nothing_can_be_found_out_about_is_held() {
    type Change = fn(&mut Situation);
    let changes: [Change; 4] = [
        |it| it.can_look_up = false,
        |it| it.domain = "new.example.org".into(),
        |it| it.api_base = "https://eu.example.org".into(),
        |it| it.retention = Duration::from_secs(59),
    ];
    for change in changes {
        for on_uncertain in [OnUncertain::Hold, OnUncertain::Resend] {
            let mut situation = Situation {
                on_uncertain,
                ..situation()
            };
            change(&mut situation);
            let held = written(next_step(&of(record(State::Uncertain)), &situation));
            assert_eq!(
                (held.state, reason(&held)),
                (State::Held, "LookupImpossible")
            );
        }
    }
}

#[test]
fn absence_counts_only_after_half_an_hour_and_then_the_policy_decides() {
    let table = [
        // attempt, seconds since, policy, state
        (1, 1799, OnUncertain::Hold, None),
        (1, 1799, OnUncertain::Resend, None),
        (0, 1799, OnUncertain::Hold, None),
        (1, 1800, OnUncertain::Hold, Some(State::Held)),
        (1, 1800, OnUncertain::Resend, Some(State::Pending)),
        (0, 1800, OnUncertain::Hold, Some(State::Pending)),
        (0, 1800, OnUncertain::Resend, Some(State::Pending)),
    ];
    for (attempt, since, on_uncertain, expected) in table {
        let record = Record {
            attempt,
            last_at: Some(ago(since)),
            ..record(State::Uncertain)
        };
        let situation = Situation {
            on_uncertain,
            ..situation()
        };
        let next = after_absence(&record, &situation);
        let mid = next.as_ref().map_or(&record.mid, |next| &next.mid);
        assert_eq!(*mid, record.mid);
        let state = next.map(|next| next.state);
        assert_eq!(state, expected, "{attempt} {since} {on_uncertain:?}");
    }
    let unknown = Record {
        last_at: None,
        ..record(State::Uncertain)
    };
    assert_eq!(after_absence(&unknown, &situation()), None);
}

#[test]
fn a_person_decides_what_is_in_doubt_held_or_refused_and_nothing_else() {
    for state in STATES {
        for resolution in [Resolution::AssumeSent, Resolution::Resend] {
            let observed = Observed {
                resolution: Some(resolution),
                ..of(record(state))
            };
            let without = next_step(&of(record(state)), &situation());
            let step = next_step(&observed, &situation());
            if !matches!(state, State::Uncertain | State::Held | State::Rejected) {
                assert_eq!(step, without, "{state:?}");
                continue;
            }
            let next = written(step);
            match resolution {
                Resolution::AssumeSent => {
                    assert_eq!((next.state, next.via), (State::Sent, Some(Via::Operator)));
                    assert_eq!(next.epoch, 0);
                    let id = next.id.as_deref();
                    assert_eq!(id, Some("<capi-mailgun.u.0@mail.example.org>"));
                }
                Resolution::Resend => {
                    assert_eq!((next.state, next.epoch), (State::Pending, 1));
                    assert_eq!((next.attempt, next.error), (0, None));
                    assert_eq!(next.mid, "capi-mailgun.u.1@mail.example.org");
                    assert_eq!(next.token, "u");
                }
            }
        }
    }
}

#[test]
fn a_record_that_came_with_its_object_from_elsewhere_is_adopted_and_not_sent_at_once() {
    for state in STATES {
        for resolution in [None, Some(Resolution::Resend)] {
            let came = Record {
                origin: origin("elsewhere", "o"),
                token: "elsewhere".into(),
                ..record(state)
            };
            let observed = Observed {
                resolution,
                ..of(came.clone())
            };
            let adopted = written(next_step(&observed, &situation()));
            let expected = match state {
                State::Pending | State::Claimed => State::Uncertain,
                state => state,
            };
            assert_eq!(adopted.state, expected, "{state:?}");
            assert_eq!(adopted.origin, origin("u", "o"));
            assert_eq!(
                (&adopted.token, &adopted.mid, adopted.attempt, adopted.epoch),
                (&came.token, &came.mid, came.attempt, came.epoch)
            );
            assert_eq!(adopted.claim, None);
            if state == State::Sent {
                assert_eq!((adopted.id, adopted.via), (came.id, Some(Via::Adopted)));
            }
        }
    }
}

#[test]
fn an_imported_doubt_begins_when_the_copy_was_made_or_later() {
    let table = [(None, 120, 120), (Some(600), 120, 120), (Some(30), 120, 30)];
    for (last, created, expected) in table {
        let came = Record {
            origin: origin("elsewhere", "o"),
            last_at: last.map(ago),
            ..record(State::Pending)
        };
        let observed = Observed {
            created: ago(created),
            ..of(came)
        };
        let doubt = written(next_step(&observed, &situation()));
        assert_eq!(doubt.last_at, Some(ago(expected)));
        assert_eq!(reason(&doubt), "Imported");
    }
}

#[test]
fn an_object_that_was_copied_under_another_name_has_a_mail_of_its_own() {
    for state in STATES {
        let copied = Record {
            origin: origin("elsewhere", "other"),
            token: "elsewhere".into(),
            epoch: 3,
            ..record(state)
        };
        let own = written(next_step(&of(copied), &situation()));
        assert_eq!(
            own,
            Record::new(origin("u", "o"), DOMAIN, BASE),
            "{state:?}"
        );
    }
}

#[test]
fn an_old_object_without_a_record_is_looked_up_before_its_first_mail() {
    let old = |age| Observed {
        created: ago(age),
        has_finalizer: false,
        ..of_ledger(Ledger::Blank)
    };
    assert_eq!(
        begun(next_step(&old(1800), &situation())).state,
        State::Pending
    );
    let sending_key = Situation {
        can_look_up: false,
        ..situation()
    };
    assert_eq!(
        begun(next_step(&old(HOUR), &sending_key)).state,
        State::Pending
    );
    // Older than Mailgun's events too: it may have waited for its owner for days, and nothing says it was sent.
    for age in [1801, HOUR, 23 * HOUR, 25 * HOUR, 1000 * HOUR] {
        let first = begun(next_step(&old(age), &situation()));
        assert_eq!(
            (first.state, reason(&first), first.attempt),
            (State::Uncertain, "RecordMissing", 0)
        );
        let next = Observed {
            created: ago(age),
            ..of(first.clone())
        };
        assert_eq!(next_step(&next, &situation()), Step::LookUp, "{age} s old");
        let absent = after_absence(&first, &situation()).expect("it is trusted");
        assert_eq!(absent.state, State::Pending, "{age} s old");
        // The key turned out to be one that cannot read.
        let step = next_step(&next, &sending_key);
        assert_eq!(written(step).state, State::Pending, "{age} s old");
    }
}

#[test]
fn what_was_broken_by_hand_is_held_and_never_sent() {
    let broken = record(State::Held);
    let observed = of_ledger(Ledger::Unreadable(broken.clone()));
    assert_eq!(next_step(&observed, &situation()), Step::Begin(broken));
}

/// No state, gate or order of steps leads past a claim that is written twice, and none to a second mail by itself.
#[test]
fn only_pending_and_our_own_claim_lead_to_a_mail() {
    for state in STATES {
        for on_uncertain in [OnUncertain::Hold, OnUncertain::Resend] {
            for seconds in [0, 75, 100_000] {
                for message in [Ok(message("r")), Err(InvalidMessage::NoSender)] {
                    let observed = Observed {
                        message,
                        ..of(Record {
                            last_at: Some(now()),
                            ..record(state)
                        })
                    };
                    let situation = Situation {
                        on_uncertain,
                        claim_unchanged: Duration::from_secs(seconds),
                        ..situation()
                    };
                    let step = next_step(&observed, &situation);
                    let may = state == State::Pending && observed.message.is_ok();
                    assert_eq!(is_towards_a_mail(&step), may, "{state:?}: {step:?}");
                    assert!(!matches!(step, Step::Send(_) | Step::Mirror));
                }
            }
        }
    }
}

#[test]
fn a_void_claim_older_than_mailguns_events_is_held() {
    for (hours, expected) in [(23, State::Uncertain), (25, State::Held)] {
        let claim = Claim {
            at: ago(hours * HOUR),
            ..claim("theirs")
        };
        let record = Record {
            claim: Some(claim),
            ..record(State::Claimed)
        };
        let situation = Situation {
            claim_unchanged: TAKEOVER_AFTER,
            ..situation()
        };
        let next = written(next_step(&of(record), &situation));
        assert_eq!(next.state, expected, "{hours} hours old");
    }
}

#[test]
fn a_mail_is_looked_up_as_far_back_as_mailgun_keeps_events() {
    assert_eq!(look_up_since(&situation()), ago(24 * HOUR));
}

#[test]
fn a_look_up_that_cannot_be_made_holds_what_was_tried_and_nothing_else() {
    for attempt in [1, 2] {
        let doubt = Record {
            attempt,
            ..record(State::Uncertain)
        };
        let held = after_impossible(&doubt, 401, "Unauthorized");
        assert_eq!((held.state, reason(&held)), (State::Held, "Unauthorized"));
    }
    let lost = record(State::Pending).with_problem(State::Uncertain, 0, RECORD_MISSING);
    let next = after_impossible(&lost, 401, "Unauthorized");
    assert_eq!(next.state, State::Pending);
    let imported = record(State::Pending).with_problem(State::Uncertain, 0, "Imported");
    let next = after_impossible(&imported, 401, "Unauthorized");
    assert_eq!(next.state, State::Held);
}

#[test]
fn a_refusal_is_tried_again_at_once_when_the_process_is_new() {
    let mut refused = record(State::Rejected);
    refused.last_at = Some(now());
    let observed = of(refused);
    let digest = observed.message.as_ref().map(Message::digest).ok();
    let Ledger::Current(mut refused) = observed.ledger.clone() else {
        panic!("the record is current")
    };
    refused.digest = digest;
    let observed = of(refused);
    assert!(matches!(
        next_step(&observed, &situation()),
        Step::Settle(Some(_))
    ));
    let new = Situation {
        first_sight: true,
        ..situation()
    };
    assert_eq!(written(next_step(&observed, &new)).state, State::Pending);
}
