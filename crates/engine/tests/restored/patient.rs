//! After a restore, at an authority that asks for patience: what waits goes, or a person may
//! release it, and the comparison comes to an end.

use engine::{Clock as _, ReconcileDeps, Timing, compare};
use exchange::{Processing, Release};
use journal::{Journal, restore};

use super::begun;
use super::limited::for_hours;
use crate::laboratory::disk::remove;
use crate::laboratory::{Laboratory, MINUTE, Stored, endpoint, key, nowhere};

/// How many of those that wait nothing lets go: neither the comparison nor a person's release.
pub(super) fn stuck(journal: &Journal) -> usize {
    let guarded = journal.guarded("simulated").unwrap();
    guarded.iter().filter(|id| journal.release_waits(**id).unwrap()).count()
}

/// Six reports are accepted, then the disk dies with the register.
pub(super) async fn with_six_accepted() -> (Laboratory, Journal) {
    let mut lab = Laboratory::new(1);
    let journal = Journal::create(&lab.path(), &key()).unwrap();
    for number in 1..=6 {
        lab.hand_over(&journal, number);
    }
    lab.settle(&journal).await;
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    let journal = lab.on_a_new_disk(journal);
    journal.set_paused(false).unwrap();
    (lab, journal)
}

/// `lost` reports were taken in since the backup and had not left. The register is at hand.
pub(super) async fn with_lost(lost: u64, stored: bool) -> (Laboratory, Journal) {
    let (mut lab, journal) = begun().await;
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    journal.set_paused(true).unwrap();
    for number in 100..100 + lost {
        lab.hand_over_as(&journal, number, format!("urn:uuid:lost-{number}"));
        if stored {
            let at = lab.clock.now();
            lab.authority.service.lock().unwrap().stored.push(Stored {
                receipt: format!("r-lost-{number}"),
                certificate: 0,
                identifier: format!("urn:uuid:lost-{number}"),
                accepted: at,
                visible: at,
                finished: at,
                outcome: Processing::Failed,
            });
        }
    }
    journal.close();
    remove(&lab.path());
    let backup = &journal::list_backups(&lab.backups()).unwrap()[0].file;
    restore(backup, &key(), &lab.path(), &nowhere, lab.clock.now()).unwrap();
    let journal = Journal::open(&lab.path(), &key()).unwrap();
    journal.set_paused(false).unwrap();
    (lab, journal)
}

/// Sixty questions a minute are answered. All of what is lost is answered for, and the look after
/// it, or the first question for a document, is one too many: each time, because what is asked for
/// at once grows as long as all of it is answered.
#[tokio::test]
async fn new_reports_go_whatever_number_is_lost_at_an_authority_with_a_limit() {
    let mut ends = Vec::new();
    for lost in 50..=60 {
        let (mut lab, journal) = with_lost(lost, false).await;
        lab.authority.service.lock().unwrap().limit.per_minute = Some(60);
        for number in 500..505 {
            lab.hand_over(&journal, number);
        }
        let complete = for_hours(&mut lab, &journal, 48).await;
        let sent = lab.authority.service.lock().unwrap().stored.len();
        ends.push((lost, complete, sent, stuck(&journal)));
    }
    assert!(
        ends.iter().all(|(_, _, sent, stuck)| (*sent, *stuck) == (6, 0)),
        "lost, complete, sent of 6, stuck: {ends:?}"
    );
}

/// The question for one report that was completed long ago is put off each time, with 503 and
/// `Retry-After`; all else is answered. It is the newest witness.
#[tokio::test]
async fn one_witness_that_is_always_put_off_stops_no_report() {
    let mut ends = Vec::new();
    for patience in [false, true] {
        let (mut lab, journal) = with_six_accepted().await;
        let witness = journal.witnesses("simulated", "").unwrap().remove(0);
        {
            let mut service = lab.authority.service.lock().unwrap();
            (service.chokes_on_delivery, service.chokes_with_patience) = (Some(witness), patience);
        }
        for number in 95..100 {
            lab.hand_over(&journal, number);
        }
        let complete = for_hours(&mut lab, &journal, 48).await;
        let sent = lab.authority.service.lock().unwrap().stored.len();
        ends.push((patience, complete, sent, stuck(&journal)));
    }
    assert!(
        ends.iter().all(|(_, _, sent, stuck)| (*sent, *stuck) == (11, 0)),
        "patience, complete, sent of 11, stuck: {ends:?}"
    );
}

/// The same of the question for its document, which is asked where something may be forgotten.
#[tokio::test]
async fn one_witness_whose_document_is_always_put_off_stops_no_report() {
    let mut ends = Vec::new();
    for patience in [false, true] {
        let (mut lab, journal) = with_six_accepted().await;
        let id = report::SubmissionId(99);
        let witness = journal.witnesses_by_document("simulated", id).unwrap().remove(0).0;
        {
            let mut service = lab.authority.service.lock().unwrap();
            (service.chokes_on, service.chokes_with_patience) = (Some(witness), patience);
        }
        for number in 95..100 {
            lab.hand_over(&journal, number);
        }
        let complete = for_hours(&mut lab, &journal, 48).await;
        let sent = lab.authority.service.lock().unwrap().stored.len();
        ends.push((patience, complete, sent, stuck(&journal)));
    }
    assert!(
        ends.iter().all(|(_, _, sent, stuck)| (*sent, *stuck) == (11, 0)),
        "patience, complete, sent of 11, stuck: {ends:?}"
    );
}

/// Few questions at once are answered, as with a bucket of tokens: what waits goes all the same, or
/// a person may release it.
#[tokio::test]
async fn what_waits_goes_or_may_be_released_at_a_very_small_limit() {
    let mut ends = Vec::new();
    for per_minute in 1..=9 {
        let (mut lab, journal) = begun().await;
        journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
        let journal = lab.on_a_new_disk(journal);
        journal.set_paused(false).unwrap();
        lab.authority.service.lock().unwrap().limit.per_minute = Some(per_minute);
        for number in 100..105 {
            lab.hand_over(&journal, number);
        }
        let complete = for_hours(&mut lab, &journal, 48).await;
        let sent = lab.authority.service.lock().unwrap().stored.len();
        ends.push((per_minute, complete, sent, stuck(&journal)));
    }
    assert!(
        ends.iter().all(|(_, _, _, stuck)| *stuck == 0),
        "per minute, complete, sent of 6, stuck: {ends:?}"
    );
}

/// The first three of what is lost are put off each time, and the list is never given. All are at
/// the authority, which has failed them: that is told of the others.
#[tokio::test]
async fn three_questions_that_are_always_put_off_hide_no_other() {
    let (mut lab, journal) = with_lost(6, true).await;
    let first: Vec<_> =
        journal.lost_reports().unwrap().iter().take(3).map(|it| it.identifier.clone()).collect();
    {
        let mut service = lab.authority.service.lock().unwrap();
        service.lists_nothing = true;
        service.chokes_with_patience = true;
        // Of these three no question is answered.
        service.chokes_on_these = first.into_iter().collect();
    }
    for_hours(&mut lab, &journal, 48).await;
    assert_eq!(journal.lost_reports().unwrap().len(), 3, "what is lost still");
}

/// A release without a list of changes, a hundred lost, and sixty questions a minute.
#[tokio::test]
async fn a_comparison_without_a_list_ends_at_an_authority_with_a_limit() {
    let mut ends = Vec::new();
    for (lost, per_minute) in [(20, 60), (100, 60), (100, 200)] {
        let (lab, journal) = with_lost(lost, false).await;
        lab.authority.service.lock().unwrap().limit.per_minute = Some(per_minute);
        let mut endpoint = endpoint();
        endpoint.release = Release::R1_0_0Trialuse;
        let timing = Timing::default();
        let mut complete = false;
        for _ in 0..48 * 6 {
            let tools = ReconcileDeps {
                journal: &journal,
                authority: &lab.authority,
                former: &[],
                endpoint: &endpoint,
                clock: &*lab.clock,
                timing: &timing,
            };
            let open = journal.unreconciled().unwrap().unwrap();
            complete |= compare(&tools, open).await.is_ok_and(|found| found.complete);
            lab.pass(10 * MINUTE);
        }
        ends.push((lost, per_minute, complete));
    }
    assert!(ends.iter().all(|(.., complete)| *complete), "lost, per minute, complete: {ends:?}");
}

/// The same once the comparison has ended, in the thirty days without a register in which what is
/// taken in is asked for first.
#[tokio::test]
async fn one_witness_that_is_put_off_after_the_comparison_stops_no_report() {
    let mut ends = Vec::new();
    for (of_document, patience) in [(false, true), (true, false), (true, true)] {
        let (mut lab, journal) = with_six_accepted().await;
        let complete = for_hours(&mut lab, &journal, 12).await;
        let id = report::SubmissionId(99);
        let document = journal.witnesses_by_document("simulated", id).unwrap().remove(0).0;
        let delivery = journal.witnesses("simulated", "").unwrap().remove(0);
        {
            let mut service = lab.authority.service.lock().unwrap();
            service.chokes_with_patience = patience;
            match of_document {
                true => service.chokes_on = Some(document),
                false => service.chokes_on_delivery = Some(delivery),
            }
        }
        for number in 95..100 {
            lab.hand_over(&journal, number);
        }
        for_hours(&mut lab, &journal, 48).await;
        let sent = lab.authority.service.lock().unwrap().stored.len();
        ends.push((of_document, patience, complete, sent, stuck(&journal)));
    }
    assert!(
        ends.iter().all(|(.., sent, stuck)| (*sent, *stuck) == (11, 0)),
        "of document, patience, complete, sent of 11, stuck: {ends:?}"
    );
}

/// The program is ended in the middle of each comparison, as where a slow authority takes longer
/// for all of what is lost than the program runs a day: a new report goes all the same.
#[tokio::test]
async fn comparisons_that_are_cut_each_time_come_to_an_end() {
    let (mut lab, journal) = with_lost(12, false).await;
    lab.hand_over(&journal, 500);
    for _ in 0..60 {
        // Eight questions in each life, of at most fifteen that one comparison takes.
        lab.authority.service.lock().unwrap().hangs_after = Some(8);
        let open = journal.unreconciled().unwrap().unwrap();
        let hangs = lab.authority.service.lock().unwrap().hangs.clone();
        let tools = lab.tools(&journal);
        tokio::select! {
            _ = compare(&tools, open) => {}
            () = hangs.notified() => {}
        }
        lab.authority.service.lock().unwrap().hangs_after = None;
        let worker = lab.worker(&journal);
        lab.turn(&worker).await;
        lab.pass(10 * MINUTE);
    }
    let sent = lab.authority.service.lock().unwrap().stored.len();
    assert_eq!((sent, stuck(&journal)), (2, 0), "sent, stuck");
}
