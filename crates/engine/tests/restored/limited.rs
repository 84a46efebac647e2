//! After a restore, at an authority that limits how often it is asked.

use engine::Clock as _;
use journal::{Journal, restore};

use super::{begun, work};
use crate::laboratory::disk::remove;
use crate::laboratory::{Laboratory, MINUTE, key, nowhere};

/// The program looks again after ten minutes, and the worker works meanwhile. Gives whether the
/// comparison was ever complete.
pub(super) async fn for_hours(lab: &mut Laboratory, journal: &Journal, hours: i64) -> bool {
    let until = lab.clock.now().plus_micros(hours * 60 * MINUTE);
    let mut complete = false;
    while lab.clock.now() < until {
        work(lab, journal, 1).await;
        complete |= journal.unreconciled_at("simulated", lab.clock.now()).unwrap().is_none();
        lab.pass(8 * MINUTE);
    }
    complete
}

/// Forty reports were taken in since the backup, and none had left when the journal became
/// unreadable. Thirty questions a minute are answered. The folder's files are handed over again.
#[tokio::test]
async fn a_comparison_at_an_authority_with_a_limit_comes_to_an_end() {
    let mut ends = Vec::new();
    for (reports, per_minute) in [(10, 30), (40, 30)] {
        let (mut lab, journal) = begun().await;
        journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
        journal.set_paused(true).unwrap();
        for number in 100..100 + reports {
            lab.hand_over(&journal, number);
        }
        journal.close();
        remove(&lab.path());
        let backup = &journal::list_backups(&lab.backups()).unwrap()[0].file;
        restore(backup, &key(), &lab.path(), &nowhere, lab.clock.now()).unwrap();
        let journal = Journal::open(&lab.path(), &key()).unwrap();
        journal.set_paused(false).unwrap();
        lab.authority.service.lock().unwrap().limit.per_minute = Some(per_minute);
        work(&mut lab, &journal, 2).await;
        for number in 100..100 + reports {
            lab.hand_over(&journal, number);
        }
        // And a new one.
        lab.hand_over(&journal, 500);
        let complete = for_hours(&mut lab, &journal, 12).await;
        let stored = lab.authority.service.lock().unwrap().stored.len();
        let lost = journal.lost_reports().unwrap().len();
        let guarded = journal.guarded("simulated").unwrap().len();
        ends.push((reports, complete, stored, lost, guarded));
    }
    assert!(
        ends.iter()
            .all(|(reports, complete, stored, ..)| { *complete && *stored as u64 == *reports + 2 }),
        "reports, complete, stored, lost, guarded: {ends:?}"
    );
}

/// The disk dies with the register, and forty files come. The authority answers so many questions a
/// minute: where that is fewer than one batch takes, smaller ones follow.
#[tokio::test]
async fn what_waits_at_an_authority_with_a_limit_goes() {
    let mut ends = Vec::new();
    for per_minute in [10, 20, 30, 40, 60, 100] {
        let (mut lab, journal) = begun().await;
        journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
        let journal = lab.on_a_new_disk(journal);
        journal.set_paused(false).unwrap();
        lab.authority.service.lock().unwrap().limit.per_minute = Some(per_minute);
        for number in 100..140 {
            lab.hand_over(&journal, number);
        }
        let complete = for_hours(&mut lab, &journal, 24).await;
        let stored = lab.authority.service.lock().unwrap().stored.len();
        let guarded = journal.guarded("simulated").unwrap();
        let stuck = guarded.iter().filter(|id| journal.release_waits(**id).unwrap()).count();
        let notices: Vec<_> = journal.notices().unwrap().into_iter().map(|it| it.code).collect();
        ends.push((per_minute, complete, stored, guarded.len(), stuck, notices));
    }
    assert!(ends.iter().all(|it| (it.1, it.2, it.3) == (true, 41, 0)), "{ends:?}");
}

/// The question for one document is always answered with 503 and `Retry-After`: what was taken in
/// after it goes, or a person may release it.
#[tokio::test]
async fn one_question_that_is_always_put_off_stops_no_other() {
    for patience in [false, true] {
        let (mut lab, journal) = begun().await;
        journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
        let journal = lab.on_a_new_disk(journal);
        journal.set_paused(false).unwrap();
        {
            let mut service = lab.authority.service.lock().unwrap();
            (service.chokes_on, service.chokes_with_patience) =
                (Some("document-100".to_owned()), patience);
        }
        for number in 95..110 {
            lab.hand_over(&journal, number);
        }
        for_hours(&mut lab, &journal, 24).await;
        let stored = lab.authority.service.lock().unwrap().stored.len();
        let guarded = journal.guarded("simulated").unwrap();
        let waits: Vec<_> = guarded.iter().map(|id| journal.release_waits(*id).unwrap()).collect();
        assert!(stored >= 15, "patience {patience}: {stored}, release waits: {waits:?}");
    }
}

/// The list of changes is always answered with 503, with and without `Retry-After`; all else is
/// answered. What is taken in goes, or a person may release it.
#[tokio::test]
async fn a_list_that_is_always_put_off_stops_no_report() {
    let mut ends = Vec::new();
    for patience in [false, true] {
        let (mut lab, journal) = begun().await;
        journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
        let journal = lab.on_a_new_disk(journal);
        journal.set_paused(false).unwrap();
        {
            let mut service = lab.authority.service.lock().unwrap();
            (service.lists_nothing, service.chokes_with_patience) = (true, patience);
        }
        for number in 95..100 {
            lab.hand_over(&journal, number);
        }
        // The comparison alone, which stays open: what waits is decided in it.
        for _ in 0..12 {
            let open = journal.unreconciled().unwrap().unwrap();
            let _ = engine::compare(&lab.tools(&journal), open).await;
            lab.pass(10 * MINUTE);
        }
        let guarded = journal.guarded("simulated").unwrap();
        let stuck = guarded.iter().filter(|id| journal.release_waits(**id).unwrap()).count();
        ends.push((patience, stuck));
    }
    assert_eq!(ends, [(false, 0), (true, 0)], "patience, reports that nothing lets go");
}

/// With the register at hand: `lost` reports were taken in since the backup, none had left, and
/// nobody hands them over again. New ones come.
async fn with_lost_ones(lost: u64, per_minute: Option<u32>, chokes: bool) -> (bool, usize, usize) {
    let (mut lab, journal) = begun().await;
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    journal.set_paused(true).unwrap();
    for number in 100..100 + lost {
        lab.hand_over_as(&journal, number, format!("urn:uuid:lost-{number}"));
    }
    journal.close();
    remove(&lab.path());
    let backup = &journal::list_backups(&lab.backups()).unwrap()[0].file;
    restore(backup, &key(), &lab.path(), &nowhere, lab.clock.now()).unwrap();
    let journal = Journal::open(&lab.path(), &key()).unwrap();
    journal.set_paused(false).unwrap();
    {
        let mut service = lab.authority.service.lock().unwrap();
        service.limit.per_minute = per_minute;
        if chokes {
            service.chokes_on_delivery = Some("urn:uuid:lost-100".to_owned());
            service.chokes_with_patience = true;
        }
    }
    for number in 500..505 {
        lab.hand_over(&journal, number);
    }
    // One of the lost ones comes back.
    lab.hand_over(&journal, 101);
    let complete = for_hours(&mut lab, &journal, 24).await;
    let stored = lab.authority.service.lock().unwrap().stored.len();
    (complete, stored, journal.guarded("simulated").unwrap().len())
}

#[tokio::test]
async fn lost_ones_end_the_comparison() {
    assert_eq!(with_lost_ones(100, None, false).await, (true, 7, 0));
}

#[tokio::test]
async fn lost_ones_end_the_comparison_at_an_authority_with_a_limit() {
    assert_eq!(with_lost_ones(100, Some(60), false).await, (true, 7, 0));
}

#[tokio::test]
async fn lost_ones_end_the_comparison_where_one_question_is_always_put_off() {
    for lost in [1, 5] {
        assert_eq!(with_lost_ones(lost, None, true).await, (true, 7, 0), "{lost} lost");
    }
}
