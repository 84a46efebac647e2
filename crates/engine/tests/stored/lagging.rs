//! A gateway refused what the authority stored, and the search shows that only later: an empty
//! answer lets nothing take its place before it would end a doubt.

use std::sync::atomic::Ordering;

use engine::Worker;
use exchange::Processing;
use fhir::Issue;
use journal::NewSubmission;
use report::{Event, State, SubmissionId};
use tokio_util::sync::CancellationToken;

use super::{refused, word};
use crate::house::{House, Willing, reason};

/// So long an empty answer says nothing where nothing of ours is shown.
pub(super) const HOUR: i64 = 3_600;

pub(super) async fn pass(house: &House, worker: &Worker<Willing>, seconds: i64) {
    for _ in 0..seconds / 10 {
        house.clock.pass(10);
        worker.turn(&mut None, &CancellationToken::new()).await.unwrap();
    }
}

/// What takes the place of a report.
fn correct(house: &House, id: SubmissionId) -> SubmissionId {
    let new = NewSubmission { corrects: Some(id), ..house.submission("ours", 2) };
    house.journal.import(new).unwrap()
}

/// What takes the place of a report whose request was refused on the way: a correction of it while
/// it is on hold, or the same report once more after it was withdrawn.
async fn replaced(house: &House, withdrawn: bool) -> (SubmissionId, SubmissionId) {
    let (id, _) = refused(house).await;
    if withdrawn {
        word(house, id, Event::Withdrawn { reason: "sent by fax".to_owned() });
        let mut again = house.submission("ours", 1);
        again.identifier = "urn:uuid:00000000-0000-4000-8000-000000000002".to_owned();
        return (id, house.journal.import(again).unwrap());
    }
    word(house, id, Event::HeldBack);
    (id, correct(house, id))
}

fn told(house: &House, id: SubmissionId) -> Vec<&'static str> {
    house.journal.detail(id).unwrap().timeline.iter().map(|entry| entry.event.code()).collect()
}

/// Shown after five minutes: a person decides about the second one, which has not left.
#[tokio::test]
async fn a_search_that_lags_lets_nothing_take_the_place_of_what_was_stored() {
    for withdrawn in [false, true] {
        let house = House::new();
        let (id, newer) = replaced(&house, withdrawn).await;
        let worker = house.worker("one");
        pass(&house, &worker, 300).await;
        assert_eq!(house.sent(), 1, "withdrawn: {withdrawn}");
        assert_eq!(house.journal.state(newer).unwrap().code(), "queued");
        assert!(told(&house, newer).contains(&"other-not-shown"));
        house.authority.finds.lock().unwrap().push("r-9".to_owned());
        pass(&house, &worker, 600).await;
        assert_eq!(house.sent(), 1, "withdrawn: {withdrawn}");
        assert_eq!(house.journal.state(newer).unwrap(), State::Held { attempt: 0 });
        assert_eq!(house.journal.state(id).unwrap().receipt().is_some(), !withdrawn);
    }
}

/// Nothing else of ours is shown: it goes an hour after the request. Something that was sent after
/// it is shown: it goes after ten minutes. It is asked as seldom as for a doubt.
#[tokio::test]
async fn what_is_not_shown_for_as_long_as_a_doubt_lasts_is_replaced() {
    for (beside, minutes) in [(false, 60), (true, 10)] {
        let house = House::new();
        let (id, newer) = replaced(&house, false).await;
        let worker = house.worker("one");
        if beside {
            house.authority.shown.store(1, Ordering::SeqCst);
            house.clock.pass(60);
            house.import("ours", 3);
            worker.turn(&mut None, &CancellationToken::new()).await.unwrap();
            *house.authority.processed.lock().unwrap() = Some(Processing::InProgress);
        }
        let sent = house.sent();
        pass(&house, &worker, minutes * 60 - 120).await;
        assert_eq!(house.sent(), sent, "beside: {beside}");
        pass(&house, &worker, 1_200).await;
        assert_eq!(house.sent(), sent + 1, "beside: {beside}");
        assert_eq!(house.journal.state(id).unwrap(), State::Superseded { by: newer });
        let asked = told(&house, newer);
        let asked = asked.iter().filter(|code| **code == "other-not-shown").count();
        assert!((5..=12).contains(&asked), "beside: {beside}, asked {asked} times");
    }
}

/// Nothing of ours is shown any more: a person decides.
#[tokio::test]
async fn where_access_is_lost_a_person_decides_what_takes_the_place_of_another() {
    let house = House::new();
    house.authority.shown.store(1, Ordering::SeqCst);
    let before = house.worker("one");
    house.import("ours", 7);
    before.turn(&mut None, &CancellationToken::new()).await.unwrap();
    // Until its lease is over.
    house.clock.pass(60);
    let (_, newer) = replaced(&house, false).await;
    house.authority.shown.store(0, Ordering::SeqCst);
    let sent = house.sent();
    pass(&house, &house.worker("one"), 5_400).await;
    assert_eq!(house.sent(), sent);
    assert_eq!(house.journal.state(newer).unwrap(), State::Held { attempt: 0 });
    let messages = house.journal.detail(newer).unwrap().messages;
    assert_eq!(messages[0].code, "corrected-report-not-asked");
}

/// A verdict on the content is the same for every delivery of it, so that none of them counts. Any
/// other refusal may be that of a repetition, of which the first delivery was stored.
#[tokio::test]
async fn a_refusal_that_is_no_verdict_on_the_content_may_be_that_of_a_repetition() {
    let of = |code: &str| Issue { code: code.to_owned(), ..reason() };
    let at = |place: &str, code: &str| Issue { expression: Some(place.to_owned()), ..of(code) };
    let cases = [
        (vec![of("invalid")], true),
        (vec![of("required"), of("code-invalid")], true),
        (vec![of("business-rule")], false),
        (vec![of("processing")], false),
        (vec![of("invalid"), of("conflict")], false),
        (vec![Issue { rule: Some("FOPH-012".to_owned()), ..of("business-rule") }], true),
        (vec![at("Bundle.entry[0]", "processing")], true),
        (vec![Issue { line: Some(3), ..of("processing") }], true),
        (vec![at("Bundle.entry[0]", "conflict")], false),
        (vec![at("Bundle.identifier", "business-rule")], false),
        (vec![at("Bundle.entry[1].resource.identifier", "processing")], true),
        (vec![Issue { rule: Some("E-17".to_owned()), ..of("lock-error") }], false),
        (vec![Issue { rule: Some("E-17".to_owned()), ..of("exception") }], false),
    ];
    for (reasons, is_verdict) in cases {
        let codes: Vec<_> = reasons.iter().map(|it| it.code.clone()).collect();
        let house = House::new();
        *house.authority.reasons.lock().unwrap() = reasons;
        house.authority.rejects.store(true, Ordering::SeqCst);
        let id = house.import("ours", 1);
        let worker = house.worker("one");
        worker.once().await.unwrap();
        assert_eq!(house.journal.state(id).unwrap(), State::Rejected, "{codes:?}");
        house.authority.rejects.store(false, Ordering::SeqCst);
        let newer = correct(&house, id);
        pass(&house, &worker, 60).await;
        assert_eq!(house.sent(), if is_verdict { 2 } else { 1 }, "{codes:?}");
        if is_verdict {
            continue;
        }
        house.authority.finds.lock().unwrap().push("r-9".to_owned());
        pass(&house, &worker, 600).await;
        assert_eq!(house.journal.state(newer).unwrap(), State::Held { attempt: 0 }, "{codes:?}");
    }
}
