//! What a correction takes the place of may be at the authority after all.

use std::sync::atomic::Ordering;

use client::{Fault, Why};
use engine::Clock as _;
use exchange::Processing;
use journal::{Evidence, EvidenceKind, NewSubmission, Step};
use report::{Event, Group, Person, State, SubmissionId};
use tokio_util::sync::CancellationToken;

use super::lagging::{HOUR, pass};
use super::{refused, word};
use crate::house::{House, news};

async fn refused_and_held(house: &House) -> SubmissionId {
    let (id, _) = refused(house).await;
    word(house, id, Event::HeldBack);
    id
}

fn correct(house: &House, id: SubmissionId) -> SubmissionId {
    let new = NewSubmission { corrects: Some(id), ..house.submission("ours", 2) };
    house.journal.import(new).unwrap()
}

fn codes(house: &House, id: SubmissionId) -> Vec<String> {
    house.journal.detail(id).unwrap().messages.into_iter().map(|it| it.code).collect()
}

/// A gateway refused what the authority stored, a person held it back and corrected it: the
/// authority is asked for the first version, and a person decides whether the second one goes too.
#[tokio::test]
async fn a_correction_of_what_the_authority_has_after_all_waits_for_a_person() {
    for is_stored in [true, false] {
        let house = House::new();
        let id = refused_and_held(&house).await;
        let newer = correct(&house, id);
        if is_stored {
            house.authority.finds.lock().unwrap().push("r-9".to_owned());
        }
        house.clock.pass(3_600);
        let worker = house.worker("one");
        worker.once().await.unwrap();
        let asked = house.authority.asked_for.lock().unwrap().clone();
        assert_eq!(asked, [house.journal.row(id).unwrap().identifier]);
        if !is_stored {
            pass(&house, &worker, HOUR + 600).await;
            assert_eq!(house.sent(), 2);
            assert_eq!(house.journal.state(id).unwrap(), State::Superseded { by: newer });
            continue;
        }
        assert_eq!(house.sent(), 1, "the correction waits");
        assert_eq!(house.journal.state(id).unwrap().receipt(), Some("r-9"));
        assert_eq!(house.journal.state(newer).unwrap(), State::Held { attempt: 0 });
        assert_eq!(codes(&house, newer), ["corrected-report-delivered"]);
        let released = Event::Released { reason: "both".to_owned(), due: house.clock.now() };
        word(&house, newer, released);
        worker.once().await.unwrap();
        assert_eq!(house.sent(), 2, "who releases it has decided");
        assert_eq!(house.journal.state(newer).unwrap().code(), "in-progress");
    }
}

/// While nobody answers, the correction is not sent; where the question alone is refused, a person
/// is told.
#[tokio::test]
async fn a_correction_is_not_sent_before_its_predecessor_was_asked_for() {
    let house = House::new();
    let id = refused_and_held(&house).await;
    let newer = correct(&house, id);
    house.clock.pass(3_600);
    let cut = Fault::Transient { why: Why::Cut, retry_after: None, evidence: None };
    *house.authority.lost_find.lock().unwrap() = Some(cut);
    let worker = house.worker("one");
    worker.once().await.unwrap();
    assert_eq!(house.journal.state(newer).unwrap().code(), "queued");
    let answer = Box::new(exchange::Answer::default());
    let evidence = Box::new(client::Evidence { status: 400, ..client::Evidence::default() });
    *house.authority.lost_find.lock().unwrap() = Some(Fault::Refused { answer, evidence });
    house.clock.pass(3_600);
    worker.once().await.unwrap();
    assert_eq!(house.sent(), 1);
    assert_eq!(house.journal.state(newer).unwrap(), State::Held { attempt: 0 });
    assert_eq!(codes(&house, newer), ["corrected-report-not-asked"]);
}

/// While the correction waits, the authority turns out to have completed what it corrects.
#[tokio::test]
async fn a_correction_of_what_was_completed_meanwhile_waits_for_a_person() {
    let house = House::new();
    let id = refused_and_held(&house).await;
    let newer = correct(&house, id);
    let completed = Event::Completed { receipt: "r-7".to_owned() };
    let mut step = Step::new(id, completed, Person("test".to_owned()), house.clock.now());
    step.evidence = Some(Evidence {
        kind: EvidenceKind::Search,
        at: house.clock.now(),
        http_status: Some(200),
        content_type: None,
        body: b"{}".to_vec(),
        fault: None,
    });
    house.journal.record(step).unwrap();
    house.clock.pass(3_600);
    house.worker("one").once().await.unwrap();
    assert_eq!(house.sent(), 1);
    assert_eq!(house.journal.state(newer).unwrap(), State::Held { attempt: 0 });
}

/// A gateway refused what the authority stored, and the authority shows it only after the
/// correction has left: both count there. People are told once, and of the next one too.
#[tokio::test]
async fn what_the_authority_completes_after_its_correction_has_left_is_told() {
    let house = House::new();
    let id = refused_and_held(&house).await;
    let newer = correct(&house, id);
    house.clock.pass(3_600);
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    pass(&house, &worker, HOUR + 600).await;
    assert_eq!(house.journal.state(id).unwrap(), State::Superseded { by: newer });
    let withdrawn = house.submission("ours", 3);
    let withdrawn = house.journal.import(withdrawn).unwrap();
    word(&house, withdrawn, Event::HeldBack);
    word(&house, withdrawn, Event::Withdrawn { reason: "sent by fax".to_owned() });
    let told = || {
        let notices = house.journal.notices().unwrap().into_iter();
        let of_it = notices.filter(|notice| notice.code == "completed-afterwards");
        of_it.map(|it| (it.params["count"].clone(), it.params["reports"].clone())).collect()
    };
    let expect = |told: Vec<(String, String)>, expected: &[(&str, String)]| {
        let expected: Vec<_> =
            expected.iter().map(|(count, of)| ((*count).to_owned(), of.clone())).collect();
        assert_eq!(told, expected);
    };
    let shows = |id: SubmissionId, receipt: &str, processing| {
        let mut changes = news(receipt, processing, Vec::new());
        changes.answers[0].identifiers.push(house.journal.row(id).unwrap().identifier);
        *house.authority.changes.lock().unwrap() = changes;
        house.clock.pass(3_600);
    };
    shows(id, "r-9", Processing::Failed);
    worker.turn(&mut held, &cancel).await.unwrap();
    expect(told(), &[]);
    shows(id, "r-9", Processing::Completed);
    worker.turn(&mut held, &cancel).await.unwrap();
    expect(told(), &[("1", id.0.to_string())]);
    assert_eq!(house.journal.state(id).unwrap(), State::Superseded { by: newer });
    shows(withdrawn, "r-10", Processing::Completed);
    worker.turn(&mut held, &cancel).await.unwrap();
    let both = format!("{}, {}", id.0, withdrawn.0);
    expect(told(), &[("2", both)]);
    house.journal.remove_notice("completed-afterwards").unwrap();
    house.clock.pass(3_600);
    worker.turn(&mut held, &cancel).await.unwrap();
    expect(told(), &[]);
}

/// What the authority has of it has failed: the correction goes.
#[tokio::test]
async fn a_correction_of_what_turns_out_to_have_failed_is_sent() {
    let house = House::new();
    let id = refused_and_held(&house).await;
    let newer = correct(&house, id);
    house.authority.finds.lock().unwrap().push("r-9".to_owned());
    *house.authority.processed.lock().unwrap() = Some(Processing::Failed);
    house.clock.pass(3_600);
    house.worker("one").once().await.unwrap();
    assert_eq!(house.sent(), 2);
    assert_eq!(house.journal.state(id).unwrap(), State::Superseded { by: newer });
}

/// Two reports under the identifier of one document. The first was refused on the way back and
/// given up; the second one too was refused: what the authority then shows may be the first, and is
/// not told as the fate of the second.
#[tokio::test]
async fn what_may_be_of_a_report_that_was_given_up_is_not_told_of_another() {
    let mut house = House::new();
    house.identifier = exchange::IdentifierChoice::Document;
    let identifier = "urn:uuid:00000000-0000-4000-8000-000000000077";
    house.authority.refuses.store(true, Ordering::SeqCst);
    let worker = house.worker("one");
    let given_up = house.import_as("ours", 1, identifier.to_owned());
    worker.once().await.unwrap();
    word(&house, given_up, Event::Withdrawn { reason: "wrong".to_owned() });
    house.clock.pass(3_600);
    let newer = house.import_as("ours", 2, identifier.to_owned());
    worker.once().await.unwrap();
    assert_eq!(house.sent(), 2);
    house.authority.refuses.store(false, Ordering::SeqCst);
    house.authority.finds.lock().unwrap().push("r-9".to_owned());
    *house.authority.processed.lock().unwrap() = Some(Processing::Completed);
    let (mut held, cancel) = (None, tokio_util::sync::CancellationToken::new());
    for _ in 0..120 {
        house.clock.pass(60);
        worker.turn(&mut held, &cancel).await.unwrap();
    }
    assert_eq!(house.journal.state(newer).unwrap().code(), "unknown");
    assert_eq!(house.journal.state(newer).unwrap().group(house.clock.now()), Group::NeedsAttention);
}

/// No question by identifier is ever answered, everything else is: a person's word that a report
/// was not received sends it all the same, and is not taken back.
#[tokio::test]
async fn a_word_counts_where_no_question_is_ever_answered() {
    let house = House::new();
    let worker = house.worker("one");
    house.authority.doubt.store(true, Ordering::SeqCst);
    let id = house.import("ours", 1);
    worker.once().await.unwrap();
    house.authority.doubt.store(false, Ordering::SeqCst);
    let cut = Fault::Transient { why: Why::Cut, retry_after: None, evidence: None };
    *house.authority.lost_find.lock().unwrap() = Some(cut);
    word(
        &house,
        id,
        Event::SaidNotReceived { reason: "hotline".to_owned(), due: house.clock.now() },
    );
    for other in 2..14 {
        house.clock.pass(1_900);
        house.import("ours", other);
        worker.once().await.unwrap();
    }
    let identifier = house.journal.row(id).unwrap().identifier;
    let sent = house.authority.sent.lock().unwrap().clone();
    assert_eq!(sent.iter().filter(|sent| **sent == identifier).count(), 2, "{sent:?}");
    assert_eq!(house.journal.state(id).unwrap().code(), "in-progress");
}

/// A person has released the correction when nothing was known of what it corrects. Now it is known
/// that the authority has it: that was not decided.
#[tokio::test]
async fn who_was_told_that_nothing_is_known_has_not_decided_about_what_is_known() {
    let house = House::new();
    let id = refused_and_held(&house).await;
    let newer = correct(&house, id);
    let answer = Box::new(exchange::Answer::default());
    let evidence = Box::new(client::Evidence { status: 400, ..client::Evidence::default() });
    *house.authority.lost_find.lock().unwrap() = Some(Fault::Refused { answer, evidence });
    house.clock.pass(3_600);
    let worker = house.worker("one");
    worker.once().await.unwrap();
    assert_eq!(codes(&house, newer), ["corrected-report-not-asked"]);
    *house.authority.lost_find.lock().unwrap() = None;
    house.authority.finds.lock().unwrap().push("r-9".to_owned());
    let released = || Event::Released { reason: "hotline".to_owned(), due: house.clock.now() };
    word(&house, newer, released());
    worker.once().await.unwrap();
    assert_eq!(house.sent(), 1);
    let told = codes(&house, newer);
    assert!(told.contains(&"corrected-report-delivered".to_owned()), "{told:?}");
    word(&house, newer, released());
    worker.once().await.unwrap();
    assert_eq!(house.sent(), 2);
}

/// The question for one report in doubt is put off for an hour, each time; everything else is
/// answered. The authority is not asked again before the hour is over, and nobody else waits.
#[tokio::test]
async fn a_question_that_is_put_off_for_an_hour_is_not_asked_each_minute() {
    let house = House::new();
    let worker = house.worker("one");
    let (mut held, cancel) = (None, tokio_util::sync::CancellationToken::new());
    house.authority.doubt.store(true, Ordering::SeqCst);
    let id = house.import("ours", 1);
    worker.turn(&mut held, &cancel).await.unwrap();
    house.authority.doubt.store(false, Ordering::SeqCst);
    let evidence = Some(Box::new(client::Evidence { status: 503, ..client::Evidence::default() }));
    let hour = Some(std::time::Duration::from_secs(3_600));
    let why = Why::Unavailable { status: 503 };
    let busy = Fault::Transient { why, retry_after: hour, evidence };
    *house.authority.lost_find.lock().unwrap() = Some(busy);
    let asked = || house.authority.asked_for.lock().unwrap().len();
    // Others are answered in between, so that it shows that this question alone is put off.
    for other in 2..6 {
        house.clock.pass(3_700);
        house.import("ours", other);
        worker.turn(&mut held, &cancel).await.unwrap();
    }
    let before = asked();
    for _ in 0..50 {
        house.clock.pass(60);
        worker.turn(&mut held, &cancel).await.unwrap();
    }
    assert!(asked() <= before + 1, "{} questions within an hour", asked() - before);
    assert_eq!(house.journal.state(id).unwrap().code(), "unknown");
}

/// A gateway refused a correction that the authority stored, and a person withdrew it: what it
/// corrected is open again, and neither that nor another correction of it is sent before the
/// authority was asked for the one that was withdrawn.
#[tokio::test]
async fn what_is_open_again_is_not_sent_beside_the_correction_that_was_withdrawn() {
    for anew in [true, false] {
        let house = House::new();
        let first = house.import("ours", 1);
        word(&house, first, Event::HeldBack);
        let wrong = correct(&house, first);
        house.authority.refuses.store(true, Ordering::SeqCst);
        let worker = house.worker("one");
        worker.once().await.unwrap();
        house.authority.refuses.store(false, Ordering::SeqCst);
        word(&house, wrong, Event::HeldBack);
        word(&house, wrong, Event::Withdrawn { reason: "wrong file".to_owned() });
        assert_eq!(house.journal.state(first).unwrap(), State::Held { attempt: 1 });
        let next = if anew {
            let new = NewSubmission { corrects: Some(first), ..house.submission("ours", 3) };
            house.journal.import(new).unwrap()
        } else {
            let now = house.clock.now();
            word(&house, first, Event::Released { reason: "ok".to_owned(), due: now });
            first
        };
        house.authority.finds.lock().unwrap().push("r-9".to_owned());
        house.clock.pass(3_600);
        worker.once().await.unwrap();
        assert_eq!(house.sent(), 1, "the one that was refused on the way back");
        assert_eq!(house.journal.state(next).unwrap().code(), "held");
        assert!(codes(&house, next).contains(&"corrected-report-delivered".to_owned()));
    }
}

/// A correction that never left is corrected by a wrong file, which is withdrawn: it is open again,
/// and what it corrects is asked for before its first request all the same.
#[tokio::test]
async fn a_correction_that_is_open_again_asks_for_what_it_corrects() {
    let house = House::new();
    let id = refused_and_held(&house).await;
    let newer = NewSubmission { corrects: Some(id), ..house.submission("ours", 2) };
    let newer = house.journal.import(NewSubmission { first: Event::Held, ..newer }).unwrap();
    let wrong = NewSubmission { corrects: Some(newer), ..house.submission("ours", 3) };
    let wrong = house.journal.import(NewSubmission { first: Event::Held, ..wrong }).unwrap();
    word(&house, wrong, Event::Withdrawn { reason: "wrong file".to_owned() });
    assert_eq!(house.journal.state(newer).unwrap().code(), "held", "it is open again");
    house.authority.finds.lock().unwrap().push("r-9".to_owned());
    house.clock.pass(3_600);
    let released = Event::Released { reason: "ok".to_owned(), due: house.clock.now() };
    word(&house, newer, released);
    house.worker("one").once().await.unwrap();
    assert_eq!(house.sent(), 1, "the correction waits");
    assert_eq!(house.journal.state(id).unwrap().receipt(), Some("r-9"));
    assert_eq!(house.journal.state(newer).unwrap().code(), "held");
    assert!(codes(&house, newer).contains(&"corrected-report-delivered".to_owned()));
}

/// A person has released a correction although the authority has what it corrects. Then it was
/// itself corrected by a wrong file, which was withdrawn after a request: that the authority has
/// that one too was not decided.
#[tokio::test]
async fn who_has_decided_about_one_delivery_has_not_decided_about_another() {
    let house = House::new();
    let id = refused_and_held(&house).await;
    let newer = correct(&house, id);
    let (worker, released) = (house.worker("one"), |id| {
        let due = house.clock.now();
        word(&house, id, Event::Released { reason: "hotline".to_owned(), due });
    });
    house.authority.finds.lock().unwrap().push("r-9".to_owned());
    house.clock.pass(3_600);
    worker.once().await.unwrap();
    assert_eq!(codes(&house, newer), ["corrected-report-delivered"]);
    house.authority.finds.lock().unwrap().clear();
    let wrong = NewSubmission { corrects: Some(newer), ..house.submission("ours", 3) };
    let wrong = house.journal.import(wrong).unwrap();
    worker.once().await.unwrap();
    assert_eq!(codes(&house, wrong), ["corrected-report-delivered"]);
    house.authority.refuses.store(true, Ordering::SeqCst);
    released(wrong);
    worker.once().await.unwrap();
    house.authority.refuses.store(false, Ordering::SeqCst);
    word(&house, wrong, Event::HeldBack);
    word(&house, wrong, Event::Withdrawn { reason: "wrong file".to_owned() });
    assert_eq!(house.journal.state(newer).unwrap(), State::Held { attempt: 1 });
    let sent = house.sent();
    house.authority.finds.lock().unwrap().push("r-10".to_owned());
    house.clock.pass(3_600);
    released(newer);
    worker.once().await.unwrap();
    assert_eq!(house.sent(), sent, "nobody was told of the second delivery");
    assert_eq!(house.journal.state(newer).unwrap().code(), "held");
    // Whoever releases it now has decided about both.
    house.clock.pass(3_600);
    released(newer);
    worker.once().await.unwrap();
    assert_eq!(house.sent(), sent + 1);
}

/// A report is withdrawn after a request that was refused on the way back, because a right one
/// comes under the same document identifier: the authority is asked for the first one before that
/// leaves, and a person decides where it has it.
#[tokio::test]
async fn a_newer_version_of_what_was_withdrawn_after_a_request_waits_for_a_person() {
    for (case, is_stored) in [("same", true), ("same", false), ("other", true)] {
        let house = House::new();
        let of = |number: u64| {
            let mut new = house.submission("ours", number);
            new.summary.identifier = Some("urn:uuid:document".to_owned());
            new.summary.patient = Some(if number == 1 { "same" } else { case }.to_owned());
            new
        };
        house.authority.refuses.store(true, Ordering::SeqCst);
        let id = house.journal.import(of(1)).unwrap();
        let worker = house.worker("one");
        worker.once().await.unwrap();
        house.authority.refuses.store(false, Ordering::SeqCst);
        word(&house, id, Event::Withdrawn { reason: "wrong".to_owned() });
        let newer = house.journal.import(of(2)).unwrap();
        if is_stored {
            house.authority.finds.lock().unwrap().push("r-9".to_owned());
        }
        house.clock.pass(3_600);
        worker.once().await.unwrap();
        let asked = house.authority.asked_for.lock().unwrap().clone();
        if case == "other" {
            assert_eq!((asked.len(), house.sent()), (0, 2), "it is another patient's");
            continue;
        }
        assert_eq!(asked, [house.journal.row(id).unwrap().identifier]);
        if !is_stored {
            pass(&house, &worker, HOUR + 600).await;
            assert_eq!((house.sent(), codes(&house, newer).len()), (2, 0));
            continue;
        }
        assert_eq!(house.sent(), 1, "it waits");
        assert_eq!(house.journal.state(newer).unwrap(), State::Held { attempt: 0 });
        assert_eq!(codes(&house, newer), ["other-version-delivered"]);
        let released = Event::Released { reason: "both".to_owned(), due: house.clock.now() };
        word(&house, newer, released);
        worker.once().await.unwrap();
        assert_eq!(house.sent(), 2, "who releases it has decided");
    }
}
