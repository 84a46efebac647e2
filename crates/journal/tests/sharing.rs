//! Several threads and several handles on one journal.
#![allow(clippy::unwrap_used)] // A test that cannot go on panics.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Instant as Clock;

use common::{House, accepted, at, key, report, step};
use journal::simulation::{Memory, Seam};
use journal::{Imported, Journal, JournalError, LeaseAnswer, RecordError, Unless};
use report::{Event, SubmissionId};

#[test]
fn steps_of_many_threads_share_commits() {
    const THREADS: i64 = 64;
    const EACH: i64 = 16;
    let house = House::new();
    let before = house.journal.commits();
    let barrier = Barrier::new(64);
    let begin = Clock::now();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (journal, barrier) = (house.journal.clone(), &barrier);
            scope.spawn(move || {
                barrier.wait();
                for n in 0..EACH {
                    let id = journal.import(report(thread * EACH + n)).unwrap();
                    journal.record(step(id, Event::SendingStarted { since: at(1) })).unwrap();
                    journal.record(step(id, accepted(&format!("r-{thread}-{n}")))).unwrap();
                }
            });
        }
    });
    let steps = u64::try_from(THREADS * EACH * 3).unwrap();
    let commits = house.journal.commits() - before;
    let seconds = begin.elapsed().as_secs_f64();
    println!("{steps} steps in {commits} commits, {:.0} steps/s", steps as f64 / seconds);
    assert!(commits * 4 < steps, "{steps} steps took {commits} commits");
    let verification = house.journal.verify().unwrap();
    assert_eq!(verification.problems, []);
    assert_eq!(verification.events, steps);
}

#[test]
fn a_failing_step_does_not_touch_its_group() {
    let house = House::new();
    let ids: Vec<_> = (0..8).map(|n| house.import(n)).collect();
    let pending: Vec<_> = (0..64)
        .map(|n| {
            let event =
                if n < 8 { Event::SendingStarted { since: at(1) } } else { Event::Rejected };
            let id = if n < 16 { ids[n % 8] } else { SubmissionId(1_000) };
            house.journal.record_async(step(id, event))
        })
        .collect();
    let outcomes: Vec<_> = pending.into_iter().map(journal::Pending::wait).collect();
    assert!(outcomes[..16].iter().all(Result::is_ok));
    assert!(
        outcomes[16..]
            .iter()
            .all(|o| { matches!(o, Err(RecordError::Journal(JournalError::NotFound(_)))) })
    );
    assert!(house.journal.verify().unwrap().problems.is_empty());
}

#[test]
fn two_handles_write_one_chain() {
    let house = House::new();
    let other = Journal::open(&house.path(), &key()).unwrap();
    let revision = other.revision().unwrap();
    std::thread::scope(|scope| {
        for (journal, base) in [(&house.journal, 0), (&other, 1_000)] {
            scope.spawn(move || {
                for n in 0..40 {
                    let id = journal.import(report(base + n)).unwrap();
                    journal.record(step(id, Event::SendingStarted { since: at(1) })).unwrap();
                }
            });
        }
    });
    assert!(other.revision().unwrap() > revision);
    assert_eq!(house.journal.counts(at(0)).unwrap().total(), 80);
    let verification = other.verify().unwrap();
    assert_eq!((verification.events, verification.problems.len()), (160, 0));
}

#[test]
fn the_lease_changes_hands_and_fences_the_old_holder() {
    let house = House::new();
    let other = Journal::open(&house.path(), &key()).unwrap();
    let id = house.import(1);
    let held = |answer| match answer {
        LeaseAnswer::Held(lease) => lease,
        LeaseAnswer::Elsewhere(lease) => panic!("elsewhere: {lease:?}"),
    };
    let first = held(house.journal.acquire_lease("one", at(0), at(30)).unwrap());
    let refused = other.acquire_lease("two", at(29), at(60)).unwrap();
    assert_eq!(refused, LeaseAnswer::Elsewhere(first.clone()));
    assert_eq!(other.lease().unwrap(), Some(first.clone()));
    // A name proves nothing: another worker of the same process, or one that took its name.
    let refused = house.journal.acquire_lease("one", at(20), at(50)).unwrap();
    assert_eq!(refused, LeaseAnswer::Elsewhere(first.clone()));
    let renewed = house.journal.renew_lease(&first, at(60)).unwrap();
    assert_eq!((renewed.token, renewed.until), (first.token, at(60)));

    let second = held(other.acquire_lease("two", at(60), at(90)).unwrap());
    assert!(second.token > first.token);
    let mut stale = step(id, Event::SendingStarted { since: at(1) });
    stale.lease = Some(first.token);
    let mut current = stale.clone();
    current.lease = Some(second.token);
    let refused = house.journal.record(stale);
    assert!(matches!(refused, Err(RecordError::Journal(JournalError::StaleLease))));
    assert!(matches!(house.journal.renew_lease(&renewed, at(99)), Err(JournalError::StaleLease)));
    house.journal.release_lease(&renewed).unwrap();
    other.record(current.clone()).unwrap();

    other.release_lease(&second).unwrap();
    current.event = accepted("r");
    let refused = other.record(current);
    assert!(matches!(refused, Err(RecordError::Journal(JournalError::StaleLease))));
    // Free at once, also for a clock that was set back.
    let third = held(house.journal.acquire_lease("one", at(-500), at(-400)).unwrap());
    assert!(third.token > second.token);
}

#[test]
fn an_abandoned_lease_is_taken_only_as_it_was_seen() {
    let house = House::new();
    let held = |answer| match answer {
        LeaseAnswer::Held(lease) => lease,
        LeaseAnswer::Elsewhere(lease) => panic!("elsewhere: {lease:?}"),
    };
    // The clock was a day ahead when it was taken.
    let first = held(house.journal.acquire_lease("one", at(86_400), at(86_430)).unwrap());
    let renewed = house.journal.renew_lease(&first, at(86_440)).unwrap();
    let refused = house.journal.take_over_lease("two", &first, at(30)).unwrap();
    assert_eq!(refused, LeaseAnswer::Elsewhere(renewed.clone()), "its holder lives");
    let second = held(house.journal.take_over_lease("two", &renewed, at(30)).unwrap());
    assert!(second.token > renewed.token);
    assert!(matches!(house.journal.renew_lease(&renewed, at(99)), Err(JournalError::StaleLease)));
}

#[test]
fn a_closed_journal_says_so_and_keeps_what_it_was_given() {
    let house = House::new();
    let clone = house.journal.clone();
    let pending: Vec<_> = (0..100).map(|n| clone.import_async(report(n))).collect();
    clone.clone().close();
    let late = clone.import(report(500));
    assert!(matches!(late, Err(RecordError::Journal(JournalError::Closed))));
    for pending in pending {
        pending.wait().unwrap();
    }
    assert_eq!(clone.counts(at(0)).unwrap().total(), 100, "views go on");
}

/// Of forty who take in the same bytes at once, through two handles, one does and the others hear
/// of that one.
fn one_of_forty(house: &House, unless: Unless, taken: SubmissionId) {
    let other = Journal::open(&house.path(), &key()).unwrap();
    let pending: Vec<_> = (0..40)
        .map(|n| {
            let journal = if n % 2 == 0 { &house.journal } else { &other };
            let mut new = report(1);
            new.identifier = format!("urn:uuid:attempt-{n}");
            journal.import_unless_async(new, unless)
        })
        .collect();
    let outcomes: Vec<_> = pending.into_iter().map(|p| p.wait().unwrap()).collect();
    let new: Vec<_> = outcomes.iter().filter(|o| matches!(o, Imported::New(_))).collect();
    assert_eq!(new, [&Imported::New(taken)]);
    let known = Imported::Known(vec![taken]);
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == known).count(), 39);
}

#[test]
fn of_many_who_find_the_same_file_one_takes_it_in() {
    one_of_forty(&House::new(), Unless::Known, SubmissionId(1));
}

/// Sent again on purpose: its first submission has ended, and the second is on its way.
#[test]
fn of_many_who_send_the_same_again_one_takes_it_in() {
    let house = House::new();
    let first = house.import(1);
    house.complete(first, "r1");
    one_of_forty(&house, Unless::Open, SubmissionId(2));
}

/// A process of a simulation: alive, dead before a write, or dead before it hears of one.
#[derive(Default)]
struct Fate {
    dead: AtomicBool,
    deaf: AtomicBool,
}

impl Seam for Fate {
    fn before(&self) -> bool {
        !self.dead.load(Ordering::Relaxed)
    }

    fn after(&self) -> bool {
        !self.deaf.load(Ordering::Relaxed)
    }

    fn later(&self, hand_over: Box<dyn FnOnce() + Send>) {
        hand_over();
    }
}

/// What the simulation of processes stands on.
#[test]
fn simulated_processes_share_a_memory_and_die_alone() {
    let memory = Memory::new().unwrap();
    let processes = [Arc::new(Fate::default()), Arc::new(Fate::default())];
    let [one, other] = processes.each_ref().map(|fate| Journal::simulated(&memory, fate.clone()));
    let first = one.import(report(1)).unwrap();
    assert_eq!(other.state(first).unwrap().code(), "queued");
    let (newest, moved) = memory.moved_since(0).unwrap();
    assert_eq!((newest, moved), (1, vec![first]));

    processes[0].deaf.store(true, Ordering::Relaxed);
    assert!(one.import(report(2)).is_err(), "nobody hears of the commit");
    processes[0].dead.store(true, Ordering::Relaxed);
    assert!(one.import(report(3)).is_err(), "nothing is written");
    let third = other.import(report(4)).unwrap();
    let (newest, moved) = memory.moved_since(newest).unwrap();
    assert_eq!((newest, moved.len(), moved[1]), (3, 2, third));
    assert_eq!(other.counts(at(0)).unwrap().total(), 3);
    assert!(other.record(step(third, Event::SendingStarted { since: at(1) })).is_ok());
    assert_eq!(memory.moved_since(newest).unwrap(), (4, vec![third]));
    assert_eq!(memory.moved_since(4).unwrap(), (4, vec![]));

    memory.reset().unwrap();
    assert_eq!(memory.moved_since(0).unwrap(), (0, vec![]));
}
