//! Restores of backups of any age, followed by the real worker against an authority that remembers:
//! whatever the journal has forgotten, nothing is sent a second time, and nothing stays unseen.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod laboratory;
mod restored;

use engine::{Clock as _, compare, decide_guarded};
use journal::{Journal, NewSubmission, Step, recover, restore};
use laboratory::disk::remove;
use laboratory::{Laboratory, MINUTE, key, nowhere};
use report::{Event, Person, State, SubmissionId};
use testkit::Figures;

/// A day of a laboratory: files come, the worker works, backups are made; then one of the backups,
/// of any age, takes the journal's place.
async fn run(seed: u64) -> [u64; 3] {
    let mut lab = Laboratory::new(seed);
    let journal = Journal::create(&lab.path(), &key()).unwrap();
    let worker = lab.worker(&journal);
    let steps = 10 + lab.dice.below(30);
    for _ in 0..steps {
        match lab.dice.below(4) {
            0 | 1 => {
                lab.files += 1;
                lab.hand_over(&journal, lab.files);
            }
            2 => lab.turn(&worker).await,
            _ => {
                journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
                lab.pass(2_000_000);
            }
        }
    }
    drop(worker);
    journal.close();
    let backups = journal::list_backups(&lab.backups()).unwrap();
    let now = lab.clock.now();
    let kind = lab.dice.below(4);
    if kind > 0 {
        // Nothing can be read of the journal any more.
        remove(&lab.path());
    }
    match backups.get(usize::try_from(lab.dice.below(backups.len().max(1) as u64)).unwrap()) {
        Some(backup) if kind < 3 => {
            restore(&backup.file, &key(), &lab.path(), &nowhere, now).unwrap();
        }
        _ if kind > 0 => {
            recover(&lab.path(), &key(), &lab.backups(), &nowhere, now).unwrap().unwrap();
        }
        _ => {}
    }
    let journal = Journal::open(&lab.path(), &key()).unwrap();
    lab.compare(&journal).await;
    // The watched folder shows all its files again.
    for number in 1..=lab.files {
        if lab.dice.below(3) > 0 {
            lab.hand_over(&journal, number);
        }
    }
    lab.settle(&journal).await;
    lab.pass(70 * MINUTE);
    lab.compare(&journal).await;
    for number in 1..=lab.files {
        lab.hand_over(&journal, number);
    }
    lab.settle(&journal).await;
    assert_eq!(journal.verify().unwrap().problems, [], "seed {seed}");
    let counts = lab.count(&journal);
    assert_eq!(counts, [0, 0, 0], "seed {seed}: losses, duplicates, false completed");
    let everything = lab.authority.service.lock().unwrap().stored.len() as u64;
    assert_eq!(everything, lab.files, "seed {seed}: every content is at the authority, once");
    counts
}

/// To a certificate that has lost its access everything is empty: nothing is let go for that, and
/// the comparison is not taken for complete.
#[tokio::test]
async fn nothing_is_let_go_while_nothing_of_ours_is_shown() {
    let (lab, journal, second) = Laboratory::after_a_dead_disk().await;
    let waits = [second];
    let see = |blind| lab.authority.service.lock().unwrap().blind = blind;
    let tools = lab.tools(&journal);
    see(true);
    let found = compare(&tools, journal.unreconciled().unwrap().unwrap()).await.unwrap();
    assert!(!found.complete);
    decide_guarded(&tools).await.unwrap();
    assert_eq!(journal.guarded("simulated").unwrap(), waits, "it goes on waiting");
    assert_eq!(journal.state(waits[0]).unwrap().code(), "held");
    see(false);
    let found = compare(&tools, journal.unreconciled().unwrap().unwrap()).await.unwrap();
    assert!(found.complete);
    assert_eq!(found.added, 1, "what was sent since the backup");
    assert_eq!(journal.guarded("simulated").unwrap(), []);
    assert_eq!(journal.state(waits[0]).unwrap().code(), "held", "the authority has it");
    assert_eq!(lab.authority.service.lock().unwrap().stored.len(), 2);
}

/// What was on hold in the backup was released and completed since, and the comparison has shown
/// nothing of it: before its correction leaves the authority is asked for it, and a person decides.
#[tokio::test]
async fn a_correction_of_what_may_have_left_before_a_restore_asks_for_it() {
    let mut lab = Laboratory::new(1);
    let journal = Journal::create(&lab.path(), &key()).unwrap();
    lab.hand_over(&journal, 1);
    lab.settle(&journal).await;
    lab.hand_over(&journal, 2);
    let second = SubmissionId(2);
    let record = |id, event, at| {
        journal.record(Step::new(id, event, Person("test".to_owned()), at)).unwrap()
    };
    record(second, Event::HeldBack, lab.clock.now());
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    let due = lab.clock.now();
    record(second, Event::Released { reason: "ok".to_owned(), due }, due);
    lab.settle(&journal).await;
    let journal = lab.on_a_new_disk(journal);
    assert_eq!(journal.state(second).unwrap().code(), "held");
    // The list is never given, and the guard of what is taken in lets the correction go.
    journal.set_reconciled().unwrap();
    let newer = lab.submission(3, "urn:uuid:newer".to_owned());
    let newer = journal.import(NewSubmission { corrects: Some(second), ..newer }).unwrap();
    let by = Person("test".to_owned());
    journal.decide_guarded(newer, None, &by, lab.clock.now()).unwrap();
    journal.set_paused(false).unwrap();
    let worker = lab.worker(&journal);
    for _ in 0..4 {
        lab.turn(&worker).await;
    }
    assert_eq!(lab.authority.service.lock().unwrap().stored.len(), 2, "it waits");
    assert_eq!(journal.state(newer).unwrap().code(), "held");
    assert!(matches!(journal.state(second).unwrap().code(), "in-progress" | "completed"));
}

/// What was queued in the backup had been sent since; a person says that it was not received, and
/// the authority shows it after all: it is not sent again, and it ends.
#[tokio::test]
async fn what_is_shown_after_a_word_that_it_was_not_received_ends() {
    let mut lab = Laboratory::new(1);
    let journal = Journal::create(&lab.path(), &key()).unwrap();
    lab.hand_over(&journal, 1);
    let id = SubmissionId(1);
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    lab.settle(&journal).await;
    let journal = lab.on_a_new_disk(journal);
    let word = Event::SaidNotReceived { reason: "hotline".to_owned(), due: lab.clock.now() };
    journal.record(Step::new(id, word, Person("test".to_owned()), lab.clock.now())).unwrap();
    assert!(matches!(journal.state(id).unwrap(), State::Queued { attempt: 0, .. }));
    journal.set_paused(false).unwrap();
    lab.settle(&journal).await;
    assert_eq!(lab.authority.service.lock().unwrap().stored.len(), 1);
    assert!(matches!(journal.state(id).unwrap().code(), "completed" | "failed"));
}

/// The specification lets an authority match the identifier of the delivery alone. It answers every
/// question for a document with nothing, and what it has was sent under another identifier than the
/// one that is made now.
#[tokio::test]
async fn nothing_is_let_go_where_documents_cannot_be_asked_for() {
    let (mut lab, journal, second) = Laboratory::after_a_dead_disk().await;
    let by_delivery = |by| lab.authority.service.lock().unwrap().by_delivery = by;
    by_delivery(true);
    for _ in 0..4 {
        lab.compare(&journal).await;
        lab.pass(61 * MINUTE);
    }
    assert_eq!(journal.guarded("simulated").unwrap(), [second]);
    assert_eq!(journal.state(second).unwrap().code(), "held");
    assert!(!journal.release_waits(second).unwrap(), "a person may decide");
    by_delivery(false);
    lab.compare(&journal).await;
    assert_eq!(journal.guarded("simulated").unwrap(), []);
    assert_eq!(journal.state(second).unwrap().code(), "held", "the authority has it");
    lab.settle(&journal).await;
    assert_eq!(lab.authority.service.lock().unwrap().stored.len(), 2);
}

/// An authority that matches deliveries alone shows an envelope that has its document's identifier.
/// That says nothing of documents that went out under another one.
#[tokio::test]
async fn an_envelope_named_as_its_document_is_no_witness_for_documents() {
    let (mut lab, journal, second) = Laboratory::after_a_dead_disk().await;
    lab.authority.service.lock().unwrap().by_delivery = true;
    lab.hand_over_as(&journal, 7, "document-7".to_owned());
    let seventh = journal.find_by_attempt_identifier("document-7").unwrap().unwrap();
    lab.compare(&journal).await;
    assert!(!journal.release_waits(seventh).unwrap(), "a person may decide");
    let event = Event::Released { reason: "asked elsewhere".to_owned(), due: lab.clock.now() };
    let by = Person("test".to_owned());
    journal.record(Step::new(seventh, event, by, lab.clock.now())).unwrap();
    lab.settle(&journal).await;
    assert_eq!(journal.state(seventh).unwrap().code(), "completed");
    for _ in 0..4 {
        lab.compare(&journal).await;
        lab.pass(61 * MINUTE);
    }
    assert_eq!(journal.guarded("simulated").unwrap(), [second]);
    assert_eq!(journal.state(second).unwrap().code(), "held");
}

/// Where all of a laboratory goes out under the identifiers of its documents, it can be asked for
/// by them.
#[tokio::test]
async fn where_everything_is_named_as_its_document_it_is_asked_for_by_that() {
    let mut lab = Laboratory::new(1);
    let name = |number: u64| format!("document-{number}");
    let journal = Journal::create(&lab.path(), &key()).unwrap();
    lab.hand_over_as(&journal, 1, name(1));
    lab.settle(&journal).await;
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    lab.hand_over_as(&journal, 2, name(2));
    lab.settle(&journal).await;
    let journal = lab.on_a_new_disk(journal);
    lab.authority.service.lock().unwrap().by_delivery = true;
    for number in [2, 3] {
        lab.hand_over_as(&journal, number, name(number));
    }
    for _ in 0..2 {
        lab.compare(&journal).await;
        lab.pass(61 * MINUTE);
    }
    assert_eq!(journal.guarded("simulated").unwrap(), []);
    lab.settle(&journal).await;
    assert_eq!(lab.authority.service.lock().unwrap().stored.len(), 3, "the third, and no other");
}

/// It takes no question for a delivery: nothing says then whether it shows anything of ours, and a
/// person decides.
#[tokio::test]
async fn a_report_may_be_released_where_every_question_is_refused() {
    let (lab, journal, second) = Laboratory::after_a_dead_disk().await;
    assert!(journal.release_waits(second).unwrap());
    lab.authority.service.lock().unwrap().finds_end = Some(laboratory::limit::refused());
    lab.compare(&journal).await;
    assert_eq!(journal.guarded("simulated").unwrap(), [second]);
    assert!(!journal.release_waits(second).unwrap(), "a person may decide");
}

/// Its list of changes is never given, and one question always ends with an error: the others are
/// decided all the same.
#[tokio::test]
async fn what_can_be_asked_for_is_decided_where_other_questions_fail() {
    let (mut lab, journal, second) = Laboratory::after_a_dead_disk().await;
    lab.hand_over(&journal, 3);
    lab.hand_over(&journal, 4);
    let [fourth, third, _] = journal.guarded("simulated").unwrap()[..] else { panic!("three") };
    {
        let mut service = lab.authority.service.lock().unwrap();
        (service.lists_nothing, service.chokes_on) = (true, Some("document-4".to_owned()));
    }
    for _ in 0..2 {
        lab.compare(&journal).await;
        lab.pass(61 * MINUTE);
    }
    assert_eq!(journal.guarded("simulated").unwrap(), [fourth]);
    assert_eq!(journal.state(second).unwrap().code(), "held", "the authority has it");
    assert_eq!(journal.state(third).unwrap().code(), "queued");
    assert!(!journal.release_waits(fourth).unwrap(), "a person may decide");
}

/// The certificate loses its access between the look whether it has one and the question.
#[tokio::test]
async fn nothing_is_let_go_where_sight_is_lost_while_it_is_asked_for() {
    let (lab, journal, second) = Laboratory::after_a_dead_disk().await;
    let set = |after| {
        let mut service = lab.authority.service.lock().unwrap();
        (service.blind, service.blind_after) = (false, after);
    };
    for _ in 0..2 {
        set(Some(1));
        lab.compare(&journal).await;
        assert!(lab.authority.service.lock().unwrap().blind, "lost on the way");
        assert_eq!(journal.guarded("simulated").unwrap(), [second], "it goes on waiting");
        assert_eq!(journal.state(second).unwrap().code(), "held");
        lab.pass(61 * MINUTE);
    }
    set(None);
    lab.compare(&journal).await;
    assert_eq!(journal.guarded("simulated").unwrap(), []);
    assert_eq!(journal.state(second).unwrap().code(), "held", "the authority has it");
}

/// What was sent just before the disk died is not shown yet: one empty answer lets nothing go.
#[tokio::test]
async fn nothing_is_let_go_while_the_authority_may_show_it_late() {
    let (mut lab, journal, second) = Laboratory::after_a_dead_disk().await;
    let visible = lab.clock.now().plus_micros(5 * MINUTE);
    lab.authority.service.lock().unwrap().stored[1].visible = visible;
    lab.compare(&journal).await;
    assert_eq!(journal.guarded("simulated").unwrap(), [second]);
    lab.pass(6 * MINUTE);
    lab.compare(&journal).await;
    assert_eq!(journal.guarded("simulated").unwrap(), []);
    assert_eq!(journal.state(second).unwrap().code(), "held", "the authority has it");
    // What it does not have is sent once that time is over.
    lab.hand_over(&journal, 3);
    let [third] = journal.guarded("simulated").unwrap()[..] else { panic!("it waits") };
    lab.compare(&journal).await;
    assert_eq!(journal.guarded("simulated").unwrap(), [third]);
    lab.pass(61 * MINUTE);
    lab.compare(&journal).await;
    assert_eq!(journal.guarded("simulated").unwrap(), []);
    lab.settle(&journal).await;
    assert_eq!(journal.state(third).unwrap().code(), "completed");
    assert_eq!(lab.authority.service.lock().unwrap().stored.len(), 3);
}

/// Each question takes so long that many of them do not fit between two looks whether anything of
/// ours is shown.
#[tokio::test]
async fn what_waits_is_decided_at_a_slow_authority_too() {
    let (mut lab, journal, _) = Laboratory::after_a_dead_disk().await;
    for number in 3..=22 {
        lab.hand_over(&journal, number);
    }
    lab.authority.service.lock().unwrap().slow = 12_000_000;
    for _ in 0..2 {
        lab.compare(&journal).await;
        lab.pass(61 * MINUTE);
    }
    assert_eq!(journal.guarded("simulated").unwrap(), []);
    lab.authority.service.lock().unwrap().slow = 0;
    lab.settle(&journal).await;
    assert_eq!(lab.authority.service.lock().unwrap().stored.len(), 22);
}

/// One question alone takes longer than an empty answer may be believed: a person decides.
#[tokio::test]
async fn a_report_may_be_released_where_every_question_takes_too_long() {
    let (lab, journal, second) = Laboratory::after_a_dead_disk().await;
    lab.authority.service.lock().unwrap().stored.truncate(1);
    lab.authority.service.lock().unwrap().slow = 2 * MINUTE;
    lab.compare(&journal).await;
    assert_eq!(journal.guarded("simulated").unwrap(), [second]);
    assert!(!journal.release_waits(second).unwrap(), "a person may decide");
}

/// A version of one document, which is taken in.
pub(crate) fn version(
    lab: &mut Laboratory,
    journal: &Journal,
    number: u64,
    first: Event,
) -> SubmissionId {
    journal.import(lab.version(number, &format!("urn:uuid:version-{number}"), first)).unwrap()
}

/// The disk dies with the register, and the backup holds a version, waiting or on hold, whose newer
/// one was delivered since: it does not go after that one in silence. A person who is told of it
/// and releases it has decided.
#[tokio::test]
async fn an_older_version_of_a_backup_does_not_follow_a_newer_one_in_silence() {
    for on_hold in [false, true] {
        let mut lab = Laboratory::new(1);
        let journal = Journal::create(&lab.path(), &key()).unwrap();
        lab.hand_over(&journal, 1);
        lab.settle(&journal).await;
        let due = lab.clock.now().plus_seconds(3_600);
        let first = version(&mut lab, &journal, 7, Event::Queued { due });
        let by = Person("test".to_owned());
        let word = |event, at| Step::new(first, event, by.clone(), at);
        if on_hold {
            journal.record(word(Event::HeldBack, lab.clock.now())).unwrap();
        }
        journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
        let now = lab.clock.now();
        version(&mut lab, &journal, 8, Event::Queued { due: now });
        lab.settle(&journal).await;
        let stored = |lab: &Laboratory| lab.authority.service.lock().unwrap().stored.len();
        assert_eq!(stored(&lab), 2, "the newer one is there");
        let journal = lab.on_a_new_disk(journal);
        journal.set_paused(false).unwrap();
        let release = |lab: &Laboratory| {
            let due = lab.clock.now();
            journal.record(word(Event::Released { reason: "ok".to_owned(), due }, due)).unwrap();
        };
        lab.compare(&journal).await;
        lab.pass(61 * MINUTE);
        lab.compare(&journal).await;
        if on_hold {
            release(&lab);
        }
        work(&mut lab, &journal).await;
        assert_eq!(stored(&lab), 2, "on hold in the backup: {on_hold}");
        assert_eq!(journal.state(first).unwrap().code(), "held");
        let told = journal.detail(first).unwrap().messages;
        assert!(told.iter().any(|it| it.code == journal::MAY_BE_KNOWN));
        release(&lab);
        work(&mut lab, &journal).await;
        assert_eq!(stored(&lab), 3, "who releases it has decided: {on_hold}");
    }
}

/// Nothing newer was delivered: what the backup holds goes by itself, after the authority was asked
/// for its document.
#[tokio::test]
async fn what_a_backup_holds_goes_where_no_newer_version_is_shown() {
    let mut lab = Laboratory::new(1);
    let journal = Journal::create(&lab.path(), &key()).unwrap();
    lab.hand_over(&journal, 1);
    lab.settle(&journal).await;
    let due = lab.clock.now().plus_seconds(3_600);
    let first = version(&mut lab, &journal, 7, Event::Queued { due });
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    let journal = lab.on_a_new_disk(journal);
    journal.set_paused(false).unwrap();
    work(&mut lab, &journal).await;
    assert!(matches!(journal.state(first).unwrap().code(), "completed" | "failed"));
    assert_eq!(lab.authority.service.lock().unwrap().stored.len(), 2);
}

/// Hours of the worker, beside a comparison every ten minutes.
async fn work(lab: &mut Laboratory, journal: &Journal) {
    let worker = lab.worker(journal);
    for _ in 0..30 {
        lab.compare(journal).await;
        lab.decide(journal).await;
        for _ in 0..6 {
            lab.turn(&worker).await;
        }
    }
}

/// `LABCOURIER_RESTORES` makes it many more.
#[test]
fn a_backup_of_any_age_sends_nothing_twice() {
    let seeds =
        std::env::var("LABCOURIER_RESTORES").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let mut figures = Figures::start("damage", "a_backup_of_any_age_sends_nothing_twice");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for seed in 1..=seeds {
        let [losses, duplicates, wrong] = runtime.block_on(run(seed));
        figures.cases(1);
        figures.losses(losses);
        figures.duplicates(duplicates);
        figures.false_completed(wrong);
    }
    figures.finish();
}
