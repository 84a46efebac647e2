//! The worker's queue on a real journal: what belongs to others hides nothing, and a clock that is
//! set holds nothing up.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod house;
mod stored;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use client::{Evidence, Fault, Why};
use engine::Clock as _;
use exchange::{Processing, Release};
use house::{Hands, House};
use journal::LeaseAnswer;
use report::{Action, Group, State};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

const DAY: i64 = 86_400;

/// Reports of an endpoint that is not in use stay owed; however many they are, ours are found
/// behind them.
#[tokio::test]
async fn what_is_owed_elsewhere_hides_nothing() {
    let house = House::new();
    let others: Vec<_> = (0..300).map(|number| house.import("elsewhere", number)).collect();
    house.clock.pass(1);
    let ours = house.import("ours", 300);
    let round = house.worker("one").turn(&mut None, &CancellationToken::new()).await.unwrap();
    assert!(round.next.is_some());
    assert_ne!(house.journal.state(ours).unwrap().code(), "queued");
    assert!(others.iter().all(|id| house.journal.state(*id).unwrap().code() == "queued"));
}

#[tokio::test]
async fn a_clock_set_back_by_a_day_holds_no_report_up() {
    let house = House::new();
    house.import("ours", 1);
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    house.clock.set(-DAY);
    worker.turn(&mut held, &cancel).await.unwrap();
    assert_eq!(house.sent(), 1, "owed in a day by the clock, and now in truth");
    // Searches go on as if nothing had been set, and hardly faster: a report that a clock has put
    // off is read.
    worker.turn(&mut held, &cancel).await.unwrap();
    let calm = House::new();
    calm.import("ours", 1);
    calm.live(722, 5, |_| {}).await;
    let usual = calm.authority.questions.load(Ordering::SeqCst);
    let before = house.authority.questions.load(Ordering::SeqCst);
    house.clock.set(-DAY);
    for _ in 0..720 {
        house.clock.pass(5);
        worker.turn(&mut held, &cancel).await.unwrap();
    }
    let questions = house.authority.questions.load(Ordering::SeqCst) - before;
    assert!(questions >= usual / 2, "{questions} searches in an hour, {usual} without");
    assert!(questions <= usual + usual / 2, "{questions} searches in an hour, {usual} without");
}

/// Half an hour is less than an authority may ask for: the pause alone does not show that the clock
/// was set.
#[tokio::test]
async fn a_clock_set_back_by_half_an_hour_holds_no_report_up() {
    let house = House::new();
    house.import("ours", 1);
    house.clock.set(-1800);
    house.live(30, 5, |_| {}).await;
    assert_eq!(house.sent(), 1);
    // In doubt, it is asked for as if nothing had been set.
    house.authority.doubt.store(true, Ordering::SeqCst);
    let doubted = house.import("ours", 2);
    house.live(2, 1, |_| {}).await;
    house.clock.set(-1800);
    house.live(60, 5, |_| {}).await;
    let State::Unknown { asked, .. } = house.journal.state(doubted).unwrap() else { panic!() };
    assert!(asked >= 3, "asked {asked} times in five minutes");
}

/// Forty minutes of patience are forty minutes, although the clock is set back by thirty in the
/// middle of them.
#[tokio::test]
async fn patience_is_not_longer_by_a_clock_set_back() {
    let house = House::new();
    house.import("ours", 1);
    house.authority.busy.store(40 * 60, Ordering::SeqCst);
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    let mut live = async |minutes: i64| {
        for _ in 0..minutes * 6 {
            house.clock.pass(10);
            worker.turn(&mut held, &cancel).await.unwrap();
        }
    };
    live(30).await;
    assert_eq!(house.sent(), 1, "asked for patience, and got it");
    house.clock.set(-30 * 60);
    live(9).await;
    assert_eq!(house.sent(), 1, "still");
    live(3).await;
    assert_eq!(house.sent(), 2, "after forty minutes");
    // Asked for again, it is given again: what was set back once is over.
    live(35).await;
    assert_eq!(house.sent(), 2);
    live(10).await;
    assert_eq!(house.sent(), 3);
}

#[tokio::test]
async fn a_clock_set_forward_makes_no_storm() {
    let house = House::new();
    house.import("ours", 1);
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    worker.turn(&mut held, &cancel).await.unwrap();
    let before = house.authority.questions.load(Ordering::SeqCst);
    house.clock.set(30 * DAY);
    for _ in 0..60 {
        worker.turn(&mut held, &cancel).await.unwrap();
    }
    assert!(house.authority.questions.load(Ordering::SeqCst) <= before + 1);
    assert_eq!(house.sent(), 1);
}

impl House {
    /// So many turns of a worker with so many seconds in between; `each` sets the clock as it
    /// likes.
    async fn live(&self, turns: u32, seconds: i64, each: impl Fn(&Hands)) {
        let (worker, mut held, cancel) = (self.worker("one"), None, CancellationToken::new());
        for _ in 0..turns {
            self.clock.pass(seconds);
            each(&self.clock);
            worker.turn(&mut held, &cancel).await.unwrap();
        }
    }
}

/// An hour of doubt is the authority's hour, however often our clock is set forward.
#[tokio::test]
async fn a_clock_set_forward_makes_no_doubt_shorter() {
    let house = House::new();
    house.import("ours", 1);
    house.live(1, 5, |_| {}).await;
    house.authority.doubt.store(true, Ordering::SeqCst);
    house.authority.shown.store(5, Ordering::SeqCst);
    house.import("ours", 2);
    house.live(718, 5, |clock| clock.set(3600)).await;
    assert_eq!(house.sent(), 2, "asked every time, and not believed");
    house.live(120, 5, |clock| clock.set(3600)).await;
    assert_eq!(house.sent(), 3, "not received: the same report again");
}

/// An hour of doubt is ours as well, however far the authority's clock leaps: what its gateway
/// dates may be wrong.
#[tokio::test]
async fn the_clock_of_the_authority_makes_no_doubt_shorter() {
    let house = House::new();
    house.import("ours", 1);
    house.live(1, 5, |_| {}).await;
    house.authority.doubt.store(true, Ordering::SeqCst);
    house.authority.shown.store(5, Ordering::SeqCst);
    house.import("ours", 2);
    house.live(40, 5, |_| {}).await;
    house.authority.leaps.store(86_400, Ordering::SeqCst);
    house.live(660, 5, |_| {}).await;
    assert_eq!(house.sent(), 2, "asked for 58 minutes");
    house.live(360, 5, |_| {}).await;
    assert_eq!(house.sent(), 3);
}

/// The authority shows reports, but none that is known to be ours: that this one is not among them
/// proves little.
#[tokio::test]
async fn reports_of_others_prove_little_about_ours() {
    let house = House::new();
    house.authority.doubt.store(true, Ordering::SeqCst);
    house.authority.shown.store(5, Ordering::SeqCst);
    house.import("ours", 1);
    house.live(330, 10, |_| {}).await;
    assert_eq!(house.sent(), 1, "fifty-five minutes");
    house.live(120, 10, |_| {}).await;
    assert_eq!(house.sent(), 2, "the long way");
}

/// The first request was received although nobody could tell, or it was not; the second is refused.
/// Only the search says which.
#[tokio::test]
async fn a_refusal_of_the_second_try_is_no_rejection_until_the_search_says_so() {
    for received in [true, false] {
        let house = House::new();
        house.import("ours", 1);
        house.live(1, 5, |_| {}).await;
        house.authority.doubt.store(true, Ordering::SeqCst);
        house.authority.shown.store(5, Ordering::SeqCst);
        let id = house.import("ours", 2);
        house.live(8, 5, |_| {}).await;
        assert_eq!(house.sent(), 2);
        house.authority.rejects.store(true, Ordering::SeqCst);
        house.live(480, 10, |_| {}).await;
        assert_eq!(house.sent(), 3, "believed not to be received, and sent again");
        let state = house.journal.state(id).unwrap();
        assert!(matches!(state, State::Unknown { refused: true, .. }), "{state:?}");
        if received {
            *house.authority.finds.lock().unwrap() = vec!["r-7".to_owned()];
        }
        house.live(480, 10, |_| {}).await;
        let detail = house.journal.detail(id).unwrap();
        assert_eq!(house.sent(), 3);
        if received {
            assert_eq!(detail.row.state.receipt(), Some("r-7"));
        } else {
            assert_eq!(detail.row.state.code(), "rejected");
            let words: Vec<_> = detail.messages.iter().map(|m| m.text.as_deref()).collect();
            assert_eq!(words, [Some("Unknown code")], "with the words of the refusal");
        }
    }
}

/// The authority has accepted a report and does not show it any more: that is what the timeline
/// says, and after a day a person is asked.
#[tokio::test]
async fn what_is_not_found_for_a_day_needs_a_person() {
    let house = House::new();
    let id = house.import("ours", 1);
    house.live(1, 1, |_| {}).await;
    house.authority.forgot.store(true, Ordering::SeqCst);
    house.live(22 * 60, 60, |_| {}).await;
    let detail = house.journal.detail(id).unwrap();
    let told = |code: &str| detail.timeline.iter().filter(|e| e.event.code() == code).count();
    assert!((3..=12).contains(&told("not-found")), "{} times", told("not-found"));
    assert_eq!(told("still-in-progress"), 0, "nobody said so");
    assert!(detail.row.state.actions(house.clock.now()).is_empty());
    house.live(9 * 60, 60, |_| {}).await;
    let state = house.journal.state(id).unwrap();
    assert_eq!(state.group(house.clock.now()), Group::NeedsAttention);
    assert!(state.actions(house.clock.now()).contains(&Action::SayNotReceived));
    // Shown again, it moves on as if nothing had been.
    house.authority.forgot.store(false, Ordering::SeqCst);
    *house.authority.processed.lock().unwrap() = Some(exchange::Processing::Completed);
    house.live(7 * 60, 60, |_| {}).await;
    assert_eq!(house.journal.state(id).unwrap().code(), "completed");
}

/// What cannot be read by its id is asked for by its identifier.
#[tokio::test]
async fn the_search_by_identifier_is_the_second_way() {
    let house = House::new();
    let id = house.import("ours", 1);
    house.live(1, 1, |_| {}).await;
    house.authority.forgot.store(true, Ordering::SeqCst);
    house.authority.shown.store(5, Ordering::SeqCst);
    house.live(11, 60, |_| {}).await;
    let detail = house.journal.detail(id).unwrap();
    let codes: Vec<_> = detail.timeline.iter().map(|entry| entry.event.code()).collect();
    assert!(codes.contains(&"still-in-progress") && !codes.contains(&"not-found"), "{codes:?}");
}

/// The same where reads by id are refused, with reasons or without: the release that cannot search
/// for changes has no other way.
#[tokio::test]
async fn a_read_that_is_refused_goes_the_second_way() {
    let evidence = || Box::new(Evidence { status: 400, ..Evidence::default() });
    let why = Why::Unexplained { status: 400 };
    for refused in [
        Fault::Refused { answer: Box::default(), evidence: evidence() },
        Fault::Locked { why, evidence: Some(evidence()) },
    ] {
        let mut house = House::new();
        house.release = Release::R1_0_0Trialuse;
        let id = house.import("ours", 1);
        let worker = house.worker("one");
        worker.once().await.unwrap();
        *house.authority.lost_read.lock().unwrap() = Some(refused);
        house.authority.shown.store(1, Ordering::SeqCst);
        *house.authority.processed.lock().unwrap() = Some(Processing::Completed);
        worker.once().await.unwrap();
        assert_eq!(house.journal.state(id).unwrap().code(), "completed");
    }
}

/// A gateway turns one report away as it turns away a certificate that it does not know, and lets
/// all others in: it rests longer each time, and in the end a person is told, with that answer.
#[tokio::test]
async fn a_report_that_alone_is_always_refused_is_put_on_hold() {
    let house = House::new();
    let poisoned = house.import("ours", 1);
    let identifier = house.journal.row(poisoned).unwrap().identifier;
    *house.authority.refuses_one.lock().unwrap() = Some(identifier.clone());
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    let tries = || {
        let sent = house.authority.sent.lock().unwrap();
        sent.iter().filter(|sent| **sent == identifier).count()
    };
    for step in 0..96 {
        if step % 2 == 0 {
            house.import("ours", 2 + step);
        }
        worker.turn(&mut held, &cancel).await.unwrap();
        house.clock.pass(5);
    }
    assert!((3..=7).contains(&tries()), "{} requests in eight minutes", tries());
    for step in 96..192 {
        house.import("ours", 2 + step);
        worker.turn(&mut held, &cancel).await.unwrap();
        house.clock.pass(5);
    }
    let detail = house.journal.detail(poisoned).unwrap();
    assert_eq!(detail.row.state.code(), "held");
    assert!(!detail.messages.is_empty(), "why stands with it");
    let last = detail.timeline.last().unwrap();
    assert_eq!(last.event.code(), "held-after-refusals");
    assert!(last.evidence.is_some(), "with the answer");
    let before = tries();
    house.live(20, 60, |_| {}).await;
    assert_eq!(tries(), before, "it rests until a person releases it");
    assert!(matches!(detail.row.state, State::Held { attempt } if attempt > 0));
}

/// A certificate to which nothing is shown, although reports of ours were accepted, has lost its
/// access: what it is told proves nothing.
#[tokio::test]
async fn an_empty_answer_without_access_is_never_believed() {
    let house = House::new();
    house.import("ours", 1);
    house.live(2, 1, |_| {}).await;
    house.authority.doubt.store(true, Ordering::SeqCst);
    house.import("ours", 2);
    house.live(3 * 360, 10, |_| {}).await;
    assert_eq!(house.sent(), 2);
    house.authority.shown.store(1, Ordering::SeqCst);
    house.live(360, 10, |_| {}).await;
    assert!(house.sent() > 2, "with access again it was believed");
}

/// Nothing was shown, the report among it; then access came back, and others are shown again: the
/// empty answer was of the time before.
#[tokio::test]
async fn access_that_comes_back_after_an_empty_answer_proves_nothing_about_it() {
    let house = House::new();
    house.import("ours", 1);
    house.live(2, 1, |_| {}).await;
    house.authority.doubt.store(true, Ordering::SeqCst);
    house.import("ours", 2);
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    let mut live = async |turns: u32| {
        for _ in 0..turns {
            house.clock.pass(10);
            worker.turn(&mut held, &cancel).await.unwrap();
            // Lost again until the next search.
            if house.authority.regains.load(Ordering::SeqCst) > 0 {
                house.authority.shown.store(0, Ordering::SeqCst);
            }
        }
    };
    house.authority.regains.store(5, Ordering::SeqCst);
    live(3 * 360).await;
    assert_eq!(house.sent(), 2, "asked for three hours, and never believed");
    house.authority.regains.store(0, Ordering::SeqCst);
    house.authority.shown.store(5, Ordering::SeqCst);
    // Shown before and after, but ten minutes lie in between.
    house.authority.flickers.store(true, Ordering::SeqCst);
    live(360).await;
    assert_eq!(house.sent(), 2, "access may have been lost in between");
    house.authority.flickers.store(false, Ordering::SeqCst);
    live(360).await;
    assert!(house.sent() > 2, "with access all the time it was believed");
}

/// A dead holder's lease is valid for a day by a clock that was set back: whoever watches it for as
/// long as a lease lives takes it, and a holder that lives keeps it.
#[tokio::test]
async fn a_lease_that_nobody_renews_is_taken_whatever_the_clock_says() {
    let house = House::new();
    house.import("ours", 1);
    let (dead, heir, cancel) =
        (house.worker("dead"), house.worker("heir"), CancellationToken::new());
    let (mut its, mut ours) = (None, None);
    dead.turn(&mut its, &cancel).await.unwrap();
    house.clock.set(-DAY);
    for _ in 0..60 {
        house.clock.pass(1);
        dead.turn(&mut its, &cancel).await.unwrap();
        heir.turn(&mut ours, &cancel).await.unwrap();
    }
    assert!(its.is_some() && ours.is_none(), "it lives");
    house.clock.set(-DAY);
    // It was renewed a quarter of its life ago at most.
    for _ in 0..22 {
        house.clock.pass(1);
        heir.turn(&mut ours, &cancel).await.unwrap();
    }
    assert!(ours.is_none(), "perhaps it lives");
    for _ in 0..10 {
        house.clock.pass(1);
        heir.turn(&mut ours, &cancel).await.unwrap();
    }
    assert!(ours.is_some());
    dead.turn(&mut its, &cancel).await.unwrap();
    assert!(its.is_none(), "the token is the heir's now");
}

/// A name is no right: two workers of one process do not share a lease.
#[tokio::test]
async fn a_worker_of_the_same_name_is_another() {
    let house = House::new();
    let until = house.clock.now().plus_seconds(30);
    let taken = house.journal.acquire_lease("one", house.clock.now(), until).unwrap();
    assert!(matches!(taken, LeaseAnswer::Held(_)));
    house.import("ours", 1);
    let mut held = None;
    house.worker("one").turn(&mut held, &CancellationToken::new()).await.unwrap();
    assert!(held.is_none());
    assert_eq!(house.sent(), 0);
}

/// A worker works until it is told to stop, finishes what is under way, and gives the lease back.
#[tokio::test]
async fn a_worker_works_until_it_is_told_to_stop() {
    let house = House::new();
    let (wake, cancel) = (Arc::new(Notify::new()), CancellationToken::new());
    let working = tokio::spawn(house.worker("one").run(wake.clone(), cancel.clone()));
    let id = house.import("ours", 1);
    wake.notify_one();
    while house.journal.state(id).unwrap().code() != "in-progress" {
        tokio::task::yield_now().await;
    }
    cancel.cancel();
    working.await.unwrap();
    assert_eq!(house.sent(), 1);
    let until = house.clock.now().plus_seconds(30);
    let next = house.journal.acquire_lease("two", house.clock.now(), until).unwrap();
    assert!(matches!(next, LeaseAnswer::Held(_)), "free at once");
}

/// While sending is paused, what was sent is asked for and followed; also after the clock was set
/// back.
#[tokio::test]
async fn a_pause_is_for_sending_and_for_nothing_else() {
    for set in [0, -DAY] {
        let house = House::new();
        house.authority.doubt.store(true, Ordering::SeqCst);
        let doubted = house.import("ours", 1);
        house.live(1, 1, |_| {}).await;
        house.journal.set_paused(true).unwrap();
        let waiting = house.import("ours", 2);
        house.clock.set(set);
        *house.authority.finds.lock().unwrap() = vec!["r-1".to_owned()];
        house.live(12, 10, |_| {}).await;
        assert_eq!(house.journal.state(doubted).unwrap().code(), "in-progress");
        assert_eq!(house.journal.state(waiting).unwrap().code(), "queued");
        assert_eq!(house.sent(), 1);
        house.journal.set_paused(false).unwrap();
        house.live(12, 10, |_| {}).await;
        assert_eq!(house.sent(), 2);
    }
}

/// Another process put a report off for a day by a clock that was wrong at that moment; this worker
/// never saw it.
#[tokio::test]
async fn what_another_process_put_off_by_a_wrong_clock_is_found_within_a_minute() {
    let house = House::new();
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    let mut live = async |turns: u32| {
        for _ in 0..turns {
            house.clock.pass(5);
            worker.turn(&mut held, &cancel).await.unwrap();
        }
    };
    live(60).await;
    house.clock.set(DAY);
    house.import("ours", 1);
    house.clock.set(-DAY);
    live(13).await;
    assert_eq!(house.sent(), 1);
}

/// A ready envelope says its own identifier. Where the journal has another one (the file's stood
/// for an earlier delivery), that goes out in its place; where an envelope has none to replace, it
/// could never be asked for, and waits for a person.
#[tokio::test]
async fn nothing_is_sent_under_another_identifier_than_the_journal_has() {
    let house = House::new();
    let document = testkit::DocumentBuilder::new(1).json();
    let envelope = |identifier: &str| {
        format!(
            "{{\"resourceType\":\"DocumentReference\",\"status\":\"current\",\"identifier\":\
             [{{\"system\":\"urn:ietf:rfc:3986\",\"value\":\"{identifier}\"}}],\"contained\":[{}],\
             \"content\":[{{\"attachment\":{{\"contentType\":\"application/fhir+json\",\"url\":\"#d\"}}}}]}}",
            document.replacen('{', "{\"id\":\"d\",", 1)
        )
    };
    let own = "urn:uuid:00000000-0000-4000-8000-000000000001";
    let other = "urn:uuid:00000000-0000-4000-8000-000000000002";
    let used = house.import_document(envelope(other).into_bytes(), "ours", 1, own.to_owned());
    let right = house.import_document(envelope(other).into_bytes(), "ours", 2, other.to_owned());
    let third = "urn:uuid:00000000-0000-4000-8000-000000000003";
    let none = envelope(other).replace("\"value\":\"urn:uuid", "\"id\":\"urn:uuid");
    let none = house.import_document(none.into_bytes(), "ours", 3, third.to_owned());
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    worker.turn(&mut held, &cancel).await.unwrap();
    assert_eq!(house.journal.state(used).unwrap().code(), "in-progress", "under the journal's");
    assert_eq!(house.journal.state(right).unwrap().code(), "in-progress", "the envelope is fine");
    assert_eq!(house.journal.state(none).unwrap().code(), "held", "nothing to replace");
    let mut sent = house.authority.sent.lock().unwrap().clone();
    sent.sort();
    assert_eq!(sent, [own, other]);
}

/// A gateway answers one report as it answers a certificate that it does not know, for hours. The
/// next report does not wait until that one is tried again.
#[tokio::test]
async fn a_report_that_is_always_refused_holds_up_no_other() {
    let house = House::new();
    let poisoned = house.import("ours", 1);
    let identifier = house.journal.row(poisoned).unwrap().identifier;
    *house.authority.refuses_one.lock().unwrap() = Some(identifier);
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    for _ in 0..4 * 60 {
        worker.turn(&mut held, &cancel).await.unwrap();
        house.clock.pass(60);
    }
    let tried = house.sent();
    assert!((10..30).contains(&tried), "{tried} in four hours");
    for number in 2..=20 {
        let next = house.import("ours", number);
        let mut waited = 0;
        while house.journal.state(next).unwrap().code() == "queued" {
            worker.turn(&mut held, &cancel).await.unwrap();
            house.clock.pass(5);
            waited += 5;
        }
        assert!(waited <= 60, "{waited} s");
        assert_eq!(house.journal.state(next).unwrap().code(), "in-progress");
        house.clock.pass(number.cast_signed() * 7);
    }
    let (sent, others) = (house.sent(), 19);
    assert!(sent <= tried + 3 * others, "{} tries more of the one", sent - tried - others);
}

/// All are refused: that new reports come in makes no storm.
#[tokio::test]
async fn an_hour_in_which_every_report_is_refused_costs_at_most_fifteen_requests() {
    let house = House::new();
    house.authority.refuses.store(true, Ordering::SeqCst);
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    for second in 0..720 {
        if second % 9 == 0 {
            house.import("ours", second);
        }
        worker.turn(&mut held, &cancel).await.unwrap();
        house.clock.pass(5);
    }
    assert!(house.sent() <= 15, "{} requests", house.sent());
    house.authority.refuses.store(false, Ordering::SeqCst);
    for _ in 0..400 {
        worker.turn(&mut held, &cancel).await.unwrap();
        house.clock.pass(5);
    }
    let waiting = house.journal.due(house.clock.now(), 200).unwrap();
    assert!(waiting.iter().all(|due| due.state.code() != "queued"), "all are let in");
}

/// One report is refused for ever and so always owed; another was put off, and then the clock was
/// set back by days.
#[tokio::test]
async fn what_a_wrong_clock_put_off_is_found_beside_a_report_that_is_always_refused() {
    let house = House::new();
    let refused = house.import("ours", 1);
    let identifier = house.journal.row(refused).unwrap().identifier;
    *house.authority.refuses_one.lock().unwrap() = Some(identifier);
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    worker.turn(&mut held, &cancel).await.unwrap();
    house.clock.pass(30);
    let put_off = house.import("ours", 2);
    house.authority.busy.store(600, Ordering::SeqCst);
    worker.turn(&mut held, &cancel).await.unwrap();
    house.authority.busy.store(0, Ordering::SeqCst);
    house.clock.set(-2 * DAY);
    for _ in 0..(600 + 90) / 5 {
        house.clock.pass(5);
        worker.turn(&mut held, &cancel).await.unwrap();
    }
    assert_eq!(house.journal.state(refused).unwrap().code(), "queued");
    assert_eq!(house.journal.state(put_off).unwrap().code(), "in-progress");
}

/// Questions are answered and reports are not let in: each answer to a question opens the way for
/// no report.
#[tokio::test]
async fn answered_questions_send_no_report_after_the_other_into_a_refusal() {
    let house = House::new();
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    for number in 0..30 {
        house.import("ours", number);
    }
    worker.turn(&mut held, &cancel).await.unwrap();
    assert_eq!(house.sent(), 30, "in progress, and to be read by id now and then");
    house.authority.refuses.store(true, Ordering::SeqCst);
    for number in 100..103 {
        house.import("ours", number);
    }
    for _ in 0..720 {
        worker.turn(&mut held, &cancel).await.unwrap();
        house.clock.pass(5);
    }
    let refused = house.sent() - 30;
    assert!(refused <= house.timing.in_flight_max + 15, "{refused} reports in an hour");
    let read = house.authority.read.lock().unwrap().len();
    assert!(read > 10, "{read} questions");
    assert!(matches!(house.connection.borrow().state, engine::ConnectionState::Locked(_)));
}
