//! After a restore, at an authority that takes long for each question, never answers one of them,
//! or refuses them for good.

use client::{Evidence, Fault, Why};
use engine::Clock as _;
use journal::{Journal, restore};

use super::limited::for_hours;
use super::patient::{stuck, with_lost};
use super::{begun, look, released, word};
use crate::laboratory::disk::remove;
use crate::laboratory::limit::too_many;
use crate::laboratory::{Laboratory, MINUTE, key, nowhere};

const HOUR: i64 = 60 * MINUTE;

fn forbidden() -> Fault {
    Fault::Locked {
        why: Why::Forbidden { status: 403 },
        evidence: Some(Box::new(Evidence::default())),
    }
}

async fn on_a_new_disk() -> (Laboratory, Journal) {
    let (lab, journal) = begun().await;
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    let journal = lab.on_a_new_disk(journal);
    journal.set_paused(false).unwrap();
    (lab, journal)
}

/// The program looks every ten minutes. Gives how long the longest look took.
async fn looks(lab: &mut Laboratory, journal: &Journal, hours: i64) -> i64 {
    let worker = lab.worker(journal);
    let until = lab.clock.now().plus_micros(hours * HOUR);
    let mut longest = 0;
    while lab.clock.now() < until {
        let began = lab.clock.now();
        look(lab, journal).await;
        longest = longest.max(lab.clock.now().0 - began.0);
        for _ in 0..6 {
            lab.turn(&worker).await;
        }
        lab.pass(8 * MINUTE);
    }
    longest
}

/// Each question is answered after a hundred seconds, well within the limit of three minutes, and
/// a day's reports are lost. What is taken in meanwhile, at this endpoint or another, would wait
/// for the end of one comparison, and only then a person would be told.
#[tokio::test]
async fn one_comparison_takes_no_day_at_a_slow_authority() {
    let mut ends = Vec::new();
    for listed in [true, false] {
        let (mut lab, journal) = with_lost(1_000, false).await;
        {
            let mut service = lab.authority.service.lock().unwrap();
            (service.slow, service.lists_nothing) = (100_000_000, !listed);
        }
        lab.hand_over(&journal, 5_000);
        let longest = looks(&mut lab, &journal, 12).await / MINUTE;
        let sent = lab.authority.service.lock().unwrap().stored.len();
        ends.push((listed, longest, sent, stuck(&journal)));
    }
    assert!(
        ends.iter().all(|it| it.1 < 60 && it.3 == 0),
        "listed, minutes of the longest look, sent of 2, stuck: {ends:?}"
    );
}

/// The same of what waits, after a dead disk: other endpoints would wait for the end of it.
#[tokio::test]
async fn one_decision_takes_no_day_at_a_slow_authority() {
    let mut ends = Vec::new();
    for slow in [50, 100] {
        let (mut lab, journal) = on_a_new_disk().await;
        lab.authority.service.lock().unwrap().slow = slow * 1_000_000;
        for number in 5_000..5_100 {
            lab.hand_over(&journal, number);
        }
        let longest = looks(&mut lab, &journal, 60).await / MINUTE;
        ends.push((slow, longest, journal.guarded("simulated").unwrap().len(), stuck(&journal)));
    }
    assert!(
        ends.iter().all(|it| it.1 < 60 && it.3 == 0),
        "slow, minutes of the longest look, guarded, stuck: {ends:?}"
    );
}

/// The question for one lost report has no answer at all each time; all else is answered.
#[tokio::test]
async fn one_lost_report_without_an_answer_stops_no_new_report() {
    let mut ends = Vec::new();
    for place in [0, 2] {
        let (mut lab, journal) = with_lost(6, false).await;
        let mut lost: Vec<_> =
            journal.lost_reports().unwrap().into_iter().map(|it| it.identifier).collect();
        lost.sort();
        let fault = Fault::Transient { why: Why::Timeout, retry_after: None, evidence: None };
        lab.authority.service.lock().unwrap().ends_for = Some((lost.remove(place), fault));
        for number in 500..505 {
            lab.hand_over(&journal, number);
        }
        looks(&mut lab, &journal, 6).await;
        let sent = lab.authority.service.lock().unwrap().stored.len();
        let complete = journal.unreconciled_at("simulated", lab.clock.now()).unwrap().is_none();
        ends.push((place, complete, sent, stuck(&journal)));
    }
    assert!(
        ends.iter().all(|it| it.2 == 6 && it.3 == 0),
        "place, complete, sent of 6, stuck, after six hours: {ends:?}"
    );
}

/// The same of the list of what has changed.
#[tokio::test]
async fn a_list_without_an_answer_stops_no_report() {
    let (mut lab, journal) = on_a_new_disk().await;
    let fault = Fault::Transient { why: Why::Timeout, retry_after: None, evidence: None };
    lab.authority.service.lock().unwrap().list_ends = Some(fault);
    for number in 500..505 {
        lab.hand_over(&journal, number);
    }
    looks(&mut lab, &journal, 6).await;
    let sent = lab.authority.service.lock().unwrap().stored.len();
    assert_eq!((sent, stuck(&journal)), (6, 0), "sent, stuck");
}

/// The same question for the document of one that waits; three others were taken in before it.
#[tokio::test]
async fn one_document_without_an_answer_stops_no_older_report() {
    let mut ends = Vec::new();
    for after in [false, true] {
        let (mut lab, journal) = on_a_new_disk().await;
        if after {
            for_hours(&mut lab, &journal, 12).await;
        }
        let fault = Fault::Transient { why: Why::Timeout, retry_after: None, evidence: None };
        lab.authority.service.lock().unwrap().ends_for = Some(("document-503".to_owned(), fault));
        for number in 500..504 {
            lab.hand_over(&journal, number);
        }
        // A busy laboratory: a new one every six hours.
        for number in 600..610 {
            for_hours(&mut lab, &journal, 6).await;
            lab.hand_over(&journal, number);
        }
        for_hours(&mut lab, &journal, 6).await;
        let sent = lab.authority.service.lock().unwrap().stored.len();
        ends.push((after, sent, stuck(&journal)));
    }
    assert!(ends.iter().all(|it| it.2 == 0), "after the comparison, sent of 15, stuck: {ends:?}");
}

/// One lost answer may be chance: only the second one lets a person release a report that nobody
/// has asked for.
#[tokio::test]
async fn one_lost_answer_lets_nothing_go_unasked() {
    let (mut lab, journal) = on_a_new_disk().await;
    for_hours(&mut lab, &journal, 12).await;
    let fault = Fault::Transient { why: Why::Timeout, retry_after: None, evidence: None };
    lab.authority.service.lock().unwrap().ends_for = Some(("document-503".to_owned(), fault));
    lab.hand_over(&journal, 503);
    lab.decide(&journal).await;
    assert_eq!(stuck(&journal), 1);
    lab.decide(&journal).await;
    assert_eq!(stuck(&journal), 0);
}

/// Questions are refused for good. After a day a person releases what waits; what is taken in after
/// that does not wait for another day.
#[tokio::test]
async fn what_comes_after_a_release_waits_for_no_other_day() {
    let (mut lab, journal) = on_a_new_disk().await;
    lab.authority.service.lock().unwrap().finds_end = Some(forbidden());
    lab.hand_over(&journal, 100);
    for_hours(&mut lab, &journal, 26).await;
    assert_eq!(stuck(&journal), 0);
    for id in journal.guarded("simulated").unwrap() {
        let event = released(&lab);
        assert!(word(&lab, &journal, id, event));
    }
    for_hours(&mut lab, &journal, 1).await;
    lab.hand_over(&journal, 101);
    for_hours(&mut lab, &journal, 12).await;
    assert_eq!(stuck(&journal), 0, "it waits for another day");
}

/// The same, and access came back in between: what comes when it is lost again waits for a day.
#[tokio::test]
async fn access_that_came_back_ends_the_silence() {
    let (mut lab, journal) = on_a_new_disk().await;
    looks(&mut lab, &journal, 3).await;
    lab.authority.service.lock().unwrap().finds_end = Some(forbidden());
    lab.hand_over(&journal, 100);
    looks(&mut lab, &journal, 26).await;
    assert_eq!(stuck(&journal), 0);
    for id in journal.guarded("simulated").unwrap() {
        let event = released(&lab);
        assert!(word(&lab, &journal, id, event));
    }
    looks(&mut lab, &journal, 1).await;
    lab.authority.service.lock().unwrap().finds_end = None;
    looks(&mut lab, &journal, 1).await;
    lab.authority.service.lock().unwrap().finds_end = Some(forbidden());
    lab.hand_over(&journal, 101);
    looks(&mut lab, &journal, 12).await;
    assert_eq!(stuck(&journal), 1, "it may be released unasked");
}

/// Two looks fail, with a weekend between them in which the computer was off.
#[tokio::test]
async fn two_looks_that_fail_are_no_day_of_silence() {
    let (mut lab, journal) = on_a_new_disk().await;
    lab.authority.service.lock().unwrap().finds_end = Some(forbidden());
    lab.hand_over(&journal, 100);
    for_hours(&mut lab, &journal, 0).await;
    let failing = engine::decide_guarded(&lab.tools(&journal)).await.is_err();
    lab.pass(62 * HOUR);
    let fails = engine::decide_guarded(&lab.tools(&journal)).await.is_err();
    assert_eq!((failing, fails, stuck(&journal)), (true, true, 1), "it may be released unasked");
}

/// Patience is asked for twice, hours apart, and access is lost in between.
#[tokio::test]
async fn patience_that_is_asked_for_twice_is_no_hour_of_it() {
    let (mut lab, journal) = on_a_new_disk().await;
    lab.hand_over(&journal, 100);
    for (fault, hours) in [(too_many(429), 0), (forbidden(), 5), (too_many(429), 0)] {
        lab.authority.service.lock().unwrap().finds_end = Some(fault);
        assert!(engine::decide_guarded(&lab.tools(&journal)).await.is_err());
        for_hours(&mut lab, &journal, hours).await;
    }
    assert_eq!(stuck(&journal), 1, "it may be released unasked after five hours");
}

/// The clock was a year ahead when the backup was restored, and is set right. Questions are refused
/// for good.
#[tokio::test]
async fn a_clock_that_was_ahead_at_a_restore_keeps_nothing_for_ever() {
    let (mut lab, journal) = begun().await;
    journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
    journal.close();
    let register = lab.folder.path().join("journal.db-register");
    remove(&lab.path());
    remove(&register);
    let backup = &journal::list_backups(&lab.backups()).unwrap()[0].file;
    let ahead = lab.clock.now().plus_seconds(365 * 86_400);
    restore(backup, &key(), &lab.path(), &nowhere, ahead).unwrap();
    let journal = Journal::open(&lab.path(), &key()).unwrap();
    journal.set_paused(false).unwrap();
    journal.set_unreconciled_from(lab.clock.now()).unwrap();
    lab.authority.service.lock().unwrap().finds_end = Some(forbidden());
    lab.hand_over(&journal, 100);
    for_hours(&mut lab, &journal, 50).await;
    assert_eq!(stuck(&journal), 0);
}
