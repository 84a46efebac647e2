//! Comparisons with a former certificate or a wrong clock, and corrections that are asked for long
//! after a restore.

use engine::Clock as _;
use exchange::Processing;
use journal::{Journal, NewSubmission, Step};
use report::{Event, Person, SubmissionId};

use crate::laboratory::{Laboratory, MINUTE, Stored, key};
use crate::restored::{begun, now, of_the_other, released, stored, word, work};
use crate::version;

fn put(lab: &Laboratory, receipt: &str, identifier: &str, outcome: Processing) {
    let at = lab.clock.now();
    let certificate = lab.authority.certificate;
    lab.authority.service.lock().unwrap().stored.push(Stored {
        receipt: receipt.to_owned(),
        certificate,
        identifier: identifier.to_owned(),
        accepted: at,
        visible: at,
        finished: at,
        outcome,
    });
}

/// In the backup it has failed.
fn fail(lab: &Laboratory, journal: &Journal, id: SubmissionId) {
    let at = lab.clock.now();
    let step = |event| Step::new(id, event, Person("test".to_owned()), at);
    journal.record(step(Event::SendingStarted { since: at })).unwrap();
    journal.record(step(Event::Failed { receipt: "r-failed".to_owned() })).unwrap();
    put(lab, "r-failed", &journal.row(id).unwrap().identifier, Processing::Failed);
}

/// A backup is made, a newer version of the document is completed, and the disk dies. What the
/// authority shows was compared days ago.
async fn restored_without_a_newer_one(
    lab: &mut Laboratory,
    journal: Journal,
    days: u32,
) -> Journal {
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    lab.pass(MINUTE);
    of_the_other(lab, "urn:uuid:of-before");
    lab.pass(MINUTE);
    let journal = lab.on_a_new_disk(journal);
    journal.set_paused(false).unwrap();
    work(lab, &journal, 20).await;
    assert!(journal.unreconciled().unwrap().is_none(), "it was compared");
    for _ in 0..days {
        lab.pass(24 * 60 * MINUTE);
        journal.count_guarded_time(lab.clock.now()).unwrap();
    }
    journal
}

/// A report has failed in the backup, and its correction was completed since. Nobody looks at it
/// for days, or weeks; then it is corrected, also under another document identifier.
#[tokio::test]
async fn what_failed_in_a_backup_is_not_corrected_in_silence_beside_a_forgotten_correction() {
    let mut ends = Vec::new();
    for (days, other) in [(3, false), (33, false), (3, true), (33, true)] {
        let (mut lab, journal) = begun().await;
        let first = now(&lab);
        let first = version(&mut lab, &journal, 7, first);
        fail(&lab, &journal, first);
        let journal = restored_without_a_newer_one(&mut lab, journal, days).await;
        let event = now(&lab);
        let mut new = lab.version(8, "urn:uuid:version-8", event);
        if other {
            new.summary.identifier = Some("document-9".to_owned());
            let documents = &mut lab.authority.service.lock().unwrap().documents;
            documents.insert(new.identifier.clone(), "document-9".to_owned());
        }
        let id = journal.import(NewSubmission { corrects: Some(first), ..new }).unwrap();
        work(&mut lab, &journal, 40).await;
        let state = journal.state(id).unwrap().code();
        ends.push((days, other, stored(&lab).len(), state));
    }
    assert!(ends.iter().all(|(_, _, sent, _)| *sent == 3), "corrected once: {ends:?}");
}

/// As `of_two_deliveries_that_a_restore_has_forgotten_the_completed_one_counts`, but sent with
/// a certificate that one of another laboratory has replaced since.
#[tokio::test]
async fn of_two_deliveries_with_a_former_certificate_the_completed_one_counts() {
    let mut ends = Vec::new();
    for after in [false, true] {
        for (one, two) in [
            (Processing::Completed, Processing::Failed),
            (Processing::Failed, Processing::Completed),
        ] {
            let (mut lab, journal) = begun().await;
            journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
            lab.pass(MINUTE);
            put(&lab, "r-one", "urn:uuid:twice", one);
            put(&lab, "r-two", "urn:uuid:twice", two);
            lab.pass(30 * MINUTE);
            if !after {
                lab.change_certificate();
            }
            lab.pass(30 * MINUTE);
            let journal = lab.on_a_new_disk(journal);
            journal.set_paused(false).unwrap();
            if after {
                // The control: replaced only after the first comparison.
                work(&mut lab, &journal, 1).await;
                lab.change_certificate();
            }
            work(&mut lab, &journal, 40).await;
            let id = journal.find_by_attempt_identifier("urn:uuid:twice").unwrap().unwrap();
            ends.push((after, one, journal.state(id).unwrap().code()));
        }
    }
    assert!(ends.iter().all(|it| it.2 == "completed"), "the authority has it: {ends:?}");
}

/// The clock is ahead by weeks at the restore and is set right. The comparison with what there
/// is ends (as `Engine::reconcile` does); then an endpoint is added.
#[tokio::test]
async fn a_clock_that_was_ahead_at_a_restore_keeps_no_comparison_going_for_weeks() {
    let (mut lab, journal) = begun().await;
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    lab.pass(60 * 24 * 60 * MINUTE);
    let journal = lab.on_a_new_disk(journal);
    lab.pass(-60 * 24 * 60 * MINUTE + MINUTE);
    journal.set_paused(false).unwrap();
    journal.set_unreconciled_from(lab.clock.now()).unwrap();
    lab.pass(70 * MINUTE);
    // All endpoints that there were.
    journal.set_reconciled().unwrap();
    let mut compared = 0;
    for _ in 0..(14 * 24) {
        // Each hour one of the six looks.
        compared +=
            u32::from(journal.unreconciled_at("simulated", lab.clock.now()).unwrap().is_some());
        work(&mut lab, &journal, 1).await;
        lab.pass(50 * MINUTE);
    }
    assert!(compared < 10, "compared still, after two weeks: {compared}");
}

/// A report failed, or is on hold, in the backup; a newer version was sent since, and the
/// disk died. Weeks later a person corrects it: that waits with a warning that the authority may
/// have it, so they withdraw it. Then what it was to correct is released, or corrected once more.
async fn withdrawn_correction(has_failed: bool, days: u32, is_same: bool) -> (usize, String) {
    let (mut lab, journal) = begun().await;
    let event = if has_failed { now(&lab) } else { Event::Held };
    let first = version(&mut lab, &journal, 7, event);
    if has_failed {
        fail(&lab, &journal, first);
    }
    let journal = restored_without_a_newer_one(&mut lab, journal, days).await;
    let before = stored(&lab).len();
    let mut told = String::new();
    if is_same {
        let event = now(&lab);
        let new = lab.version(8, "urn:uuid:version-8", event);
        let id = journal.import(NewSubmission { corrects: Some(first), ..new }).unwrap();
        work(&mut lab, &journal, 20).await;
        let codes: Vec<_> =
            journal.detail(id).unwrap().messages.into_iter().map(|it| it.code).collect();
        told = format!("{} {codes:?}", journal.state(id).unwrap().code());
        assert_eq!(stored(&lab).len(), before, "on hold: {told}");
        assert!(word(&lab, &journal, id, Event::Withdrawn { reason: "wrong".to_owned() }));
    }
    let last = if has_failed {
        let event = now(&lab);
        let new = lab.version(9, "urn:uuid:version-9", event);
        journal.import(NewSubmission { corrects: Some(first), ..new }).unwrap()
    } else {
        let event = released(&lab);
        assert!(word(&lab, &journal, first, event));
        first
    };
    work(&mut lab, &journal, 40).await;
    let codes: Vec<_> =
        journal.detail(last).unwrap().messages.into_iter().map(|it| it.code).collect();
    let state = journal.state(last).unwrap().code();
    (stored(&lab).len() - before, format!("{told}; then {state} {codes:?}"))
}

#[tokio::test]
async fn after_a_withdrawn_correction_what_it_corrected_is_asked_for() {
    let mut ends = Vec::new();
    for days in [3, 33] {
        for has_failed in [false, true] {
            for withdrawn in [false, true] {
                let end = withdrawn_correction(has_failed, days, withdrawn).await;
                ends.push((days, has_failed, withdrawn, end));
            }
        }
    }
    assert!(ends.iter().all(|it| it.3.0 == 0), "sent in silence: {ends:#?}");
}

/// A report has failed since the backup, which was sent with a certificate that one of another
/// laboratory has replaced since. The authority answers 403 for the numbers of others.
#[tokio::test]
async fn what_has_failed_with_a_former_certificate_is_told() {
    let mut ends = Vec::new();
    for forbids in [false, true] {
        let (mut lab, journal) = begun().await;
        lab.authority.service.lock().unwrap().forbids_others = forbids;
        journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
        lab.pass(MINUTE);
        put(&lab, "r-one", "urn:uuid:once", Processing::Failed);
        lab.pass(30 * MINUTE);
        lab.change_certificate();
        lab.pass(30 * MINUTE);
        let journal = lab.on_a_new_disk(journal);
        journal.set_paused(false).unwrap();
        work(&mut lab, &journal, 12).await;
        lab.hand_over(&journal, 5);
        let came = lab.clock.now();
        let mut sent_after = None;
        for _ in 0..10 {
            work(&mut lab, &journal, 12).await;
            if sent_after.is_none() && stored(&lab).len() > 2 {
                sent_after = Some((lab.clock.now().0 - came.0) / MINUTE);
            }
        }
        let id = journal.find_by_attempt_identifier("urn:uuid:once").unwrap().unwrap();
        let hours = (lab.clock.now().0 - 1_800_000_000_000_000) / MINUTE / 60;
        let detail = journal.detail(id).unwrap();
        let timeline: Vec<_> = detail.timeline.iter().map(|it| it.event.code()).collect();
        ends.push((forbids, hours, journal.state(id).unwrap().code(), timeline, sent_after));
    }
    assert!(ends.iter().all(|it| it.2 == "failed"), "a person is told: {ends:#?}");
}

/// As `what_went_by_an_endpoint_that_is_added_long_after_a_restore_does_not_go_twice`, with the
/// clock of the new computer far behind at the restore, and set right at once.
#[tokio::test]
async fn a_clock_that_was_behind_at_a_restore_passes_over_no_endpoint() {
    let mut ends = Vec::new();
    for behind in [0, 100 * 24 * 60 * MINUTE] {
        let mut lab = Laboratory::new(1);
        let journal = Journal::create(&lab.path(), &key()).unwrap();
        journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
        lab.hand_over(&journal, 1);
        lab.settle(&journal).await;
        lab.authority.service.lock().unwrap().by_delivery = true;
        lab.pass(-behind);
        let journal = lab.on_a_new_disk(journal);
        journal.set_paused(false).unwrap();
        lab.pass(behind + MINUTE);
        // As `Engine::reconcile` does where it sees that the clock was set.
        let ahead = std::time::Duration::from_micros(behind.unsigned_abs());
        journal.clock_set_ahead(ahead).unwrap();
        journal.set_unreconciled_from(lab.clock.now()).unwrap();
        lab.pass(70 * MINUTE);
        journal.set_reconciled().unwrap();
        lab.hand_over(&journal, 1);
        work(&mut lab, &journal, 40).await;
        ends.push((behind > 0, stored(&lab).len()));
    }
    assert!(ends.iter().all(|it| it.1 == 1), "sent once: {ends:?}");
}
