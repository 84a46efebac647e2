//! What a restored journal has forgotten, where the authority shows it in one way only: no list of
//! changes, or to a certificate that is in use no more.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod laboratory;

use engine::Clock as _;
use journal::{Journal, MAY_BE_KNOWN, Step};
use laboratory::{Laboratory, MINUTE, key};
use report::{Event, Person, SubmissionId};

/// What was on hold in the backup was released and completed since. The list of changes is never
/// given: it is asked for by its identifier, and nobody has to release it for that.
#[tokio::test]
async fn what_is_on_hold_is_looked_for_where_no_list_is_given() {
    let mut lab = Laboratory::new(1);
    let journal = Journal::create(&lab.path(), &key()).unwrap();
    lab.hand_over(&journal, 1);
    lab.settle(&journal).await;
    for number in [2, 3] {
        lab.hand_over(&journal, number);
    }
    let record = |journal: &Journal, id, event, at| {
        journal.record(Step::new(id, event, Person("test".to_owned()), at)).unwrap()
    };
    let (sent, waits) = (SubmissionId(2), SubmissionId(3));
    for id in [sent, waits] {
        record(&journal, id, Event::HeldBack, lab.clock.now());
    }
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    let due = lab.clock.now();
    record(&journal, sent, Event::Released { reason: "ok".to_owned(), due }, due);
    lab.settle(&journal).await;
    let journal = lab.on_a_new_disk(journal);
    assert_eq!(journal.state(sent).unwrap().code(), "held");
    lab.authority.service.lock().unwrap().lists_nothing = true;
    for _ in 0..2 {
        lab.compare(&journal).await;
        lab.pass(61 * MINUTE);
    }
    journal.set_paused(false).unwrap();
    lab.settle(&journal).await;
    assert!(matches!(journal.state(sent).unwrap().code(), "completed" | "failed"));
    assert_eq!(journal.state(waits).unwrap().code(), "held", "it was never sent");
    assert_eq!(lab.authority.service.lock().unwrap().stored.len(), 2);
}

/// More than are asked for in one comparison are on hold since before the restore, and no list is
/// given: the next comparison goes on with the others, whichever come first.
#[tokio::test]
async fn of_very_many_that_are_on_hold_all_are_looked_for() {
    let mut lab = Laboratory::new(1);
    let journal = Journal::create(&lab.path(), &key()).unwrap();
    let record = |journal: &Journal, id, event, at| {
        journal.record(Step::new(id, event, Person("test".to_owned()), at)).unwrap()
    };
    for number in 1..=1_050 {
        lab.hand_over_as(&journal, number, format!("urn:uuid:{number:032x}"));
    }
    let all: Vec<_> = (1..=1_050).map(SubmissionId).collect();
    for id in &all {
        record(&journal, *id, Event::HeldBack, lab.clock.now());
    }
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    let ends = [SubmissionId(1), SubmissionId(1_050)];
    let due = lab.clock.now();
    for id in ends {
        record(&journal, id, Event::Released { reason: "ok".to_owned(), due }, due);
    }
    lab.settle(&journal).await;
    let journal = lab.on_a_new_disk(journal);
    lab.authority.service.lock().unwrap().lists_nothing = true;
    for _ in 0..2 {
        lab.compare(&journal).await;
        lab.pass(61 * MINUTE);
    }
    let codes = ends.map(|id| journal.state(id).unwrap().code());
    assert_eq!(codes, ["unknown"; 2], "both are asked for");
    // Those that were shown nothing of are asked for again, and stay as they are.
    for _ in 0..2 {
        lab.compare(&journal).await;
    }
    assert_eq!(journal.state(SubmissionId(2)).unwrap().code(), "held");
}

/// The laboratory's certificate was replaced by another laboratory's since the backup. What the
/// former one had sent in between is shown to that one alone: it is found with it, and what is
/// handed over again is not sent again.
#[tokio::test]
async fn what_was_sent_with_a_former_certificate_is_found_with_it() {
    let mut lab = Laboratory::new(1);
    let journal = Journal::create(&lab.path(), &key()).unwrap();
    lab.hand_over(&journal, 1);
    lab.settle(&journal).await;
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    lab.hand_over(&journal, 2);
    lab.settle(&journal).await;
    lab.change_certificate();
    lab.hand_over(&journal, 3);
    lab.settle(&journal).await;
    let journal = lab.on_a_new_disk(journal);
    for number in [2, 3] {
        lab.hand_over(&journal, number);
    }
    for _ in 0..4 {
        lab.compare(&journal).await;
        lab.pass(61 * MINUTE);
    }
    // Nobody has to decide without knowing: both were found, and both are said to be there already.
    assert_eq!(journal.guarded("simulated").unwrap(), []);
    let is_known = |id: SubmissionId| {
        let detail = journal.detail(id).unwrap();
        detail.messages.iter().any(|message| message.code == MAY_BE_KNOWN)
    };
    let all = (1..).map(SubmissionId).map_while(|id| journal.row(id).ok());
    let of = |file: &str| all.clone().filter(|row| row.file == file).map(|row| row.id).last();
    assert!(["2.json", "3.json"].iter().all(|file| of(file).is_some_and(is_known)));
    lab.settle(&journal).await;
    assert_eq!(lab.authority.service.lock().unwrap().stored.len(), 3);
}

/// An error of the server that a former certificate meets says nothing of what that one would be
/// shown: what is asked for waits until it can be asked, also where the certificate in use is shown
/// enough to be believed.
#[tokio::test]
async fn a_passing_fault_of_a_former_certificate_lets_nothing_go() {
    let mut lab = Laboratory::new(1);
    let journal = Journal::create(&lab.path(), &key()).unwrap();
    lab.hand_over(&journal, 1);
    lab.settle(&journal).await;
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    lab.hand_over(&journal, 2);
    lab.settle(&journal).await;
    lab.change_certificate();
    let journal = lab.on_a_new_disk(journal);
    // One of the certificate in use that was released: by that its answers are believed.
    lab.hand_over(&journal, 4);
    let [fourth] = journal.guarded("simulated").unwrap()[..] else { panic!("it waits") };
    for _ in 0..2 {
        lab.compare(&journal).await;
        lab.pass(61 * MINUTE);
    }
    let due = lab.clock.now();
    let event = Event::Released { reason: "asked elsewhere".to_owned(), due };
    journal.record(Step::new(fourth, event, Person("test".to_owned()), due)).unwrap();
    journal.set_paused(false).unwrap();
    lab.settle(&journal).await;
    assert_eq!(lab.authority.service.lock().unwrap().stored.len(), 3);
    lab.hand_over(&journal, 2);
    let [second] = journal.guarded("simulated").unwrap()[..] else { panic!("it waits") };
    lab.authority.service.lock().unwrap().chokes_for = Some(0);
    for _ in 0..4 {
        lab.compare(&journal).await;
        lab.pass(61 * MINUTE);
    }
    assert_eq!(journal.guarded("simulated").unwrap(), [second], "it waits");
    lab.authority.service.lock().unwrap().chokes_for = None;
    for _ in 0..2 {
        lab.compare(&journal).await;
        lab.pass(61 * MINUTE);
    }
    assert_eq!(journal.guarded("simulated").unwrap(), []);
    assert_eq!(journal.state(second).unwrap().code(), "held", "the authority has it");
    assert_eq!(lab.authority.service.lock().unwrap().stored.len(), 3);
}

/// What was compared may be handed over again for weeks: which time was forgotten is known until
/// then, and of restores that follow each other soon the earliest counts.
#[tokio::test]
async fn which_time_was_forgotten_is_known_after_the_comparison_too() {
    let mut lab = Laboratory::new(1);
    let journal = Journal::create(&lab.path(), &key()).unwrap();
    lab.hand_over(&journal, 1);
    lab.settle(&journal).await;
    assert_eq!(journal.forgotten().unwrap(), None);
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    lab.pass(60 * MINUTE);
    let journal = lab.on_a_new_disk(journal);
    let first = journal.forgotten().unwrap();
    assert_eq!(first, journal.unreconciled().unwrap());
    journal.set_reconciled().unwrap();
    assert_eq!((journal.unreconciled().unwrap(), journal.forgotten().unwrap()), (None, first));
    lab.hand_over(&journal, 2);
    lab.settle(&journal).await;
    journal.set_reconciled().unwrap();
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    lab.pass(60 * MINUTE);
    let journal = lab.on_a_new_disk(journal);
    let second = journal.forgotten().unwrap().unwrap();
    assert_eq!(Some(second.since), first.map(|first| first.since));
    assert!(Some(second.restored) > first.map(|first| first.restored));
}

/// A former certificate that cannot be used any more keeps nothing waiting.
#[tokio::test]
async fn a_former_certificate_that_is_gone_keeps_nothing_waiting() {
    let (mut lab, journal, second) = Laboratory::after_a_dead_disk().await;
    lab.change_certificate();
    lab.former[0].authority = None;
    lab.authority.certificate = 0;
    lab.hand_over(&journal, 3);
    for _ in 0..2 {
        lab.compare(&journal).await;
        lab.pass(61 * MINUTE);
    }
    assert_eq!(journal.guarded("simulated").unwrap(), []);
    assert_eq!(journal.state(second).unwrap().code(), "held", "the authority has it");
    lab.settle(&journal).await;
    assert_eq!(lab.authority.service.lock().unwrap().stored.len(), 3);
}
