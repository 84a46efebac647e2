//! After a restore, at an authority that refuses questions for good, or has no answer to them: what
//! waits goes, or a person may release it in the end.

use super::begun;
use super::limited::for_hours;
use super::patient::{stuck, with_six_accepted};
use client::{Evidence, Fault, Why};
use engine::Clock as _;

/// No answer, or one that says nothing of patience.
fn transient(why: Why, evidence: Option<Box<Evidence>>) -> Fault {
    Fault::Transient { why, retry_after: None, evidence }
}

/// The question for one report that was accepted long ago has no answer at all each time; all else
/// is answered. It is the newest witness, of six, by its delivery or by its document.
#[tokio::test]
async fn one_witness_without_an_answer_stops_no_report() {
    let mut ends = Vec::new();
    for why in [Why::Timeout, Why::Cut, Why::EmptyAnswer { status: 200 }] {
        for (later, of_document) in [(false, false), (true, false), (false, true), (true, true)] {
            let (mut lab, journal) = with_six_accepted().await;
            let id = report::SubmissionId(99);
            let witness = match of_document {
                true => journal.witnesses_by_document("simulated", id).unwrap().remove(0).0,
                false => journal.witnesses("simulated", "").unwrap().remove(0),
            };
            let complete = later && for_hours(&mut lab, &journal, 12).await;
            let fault = transient(why.clone(), None);
            lab.authority.service.lock().unwrap().ends_for = Some((witness, fault));
            for number in 95..100 {
                lab.hand_over(&journal, number);
            }
            for_hours(&mut lab, &journal, 48).await;
            let sent = lab.authority.service.lock().unwrap().stored.len();
            ends.push((why.code(), later, of_document, complete, sent, stuck(&journal)));
        }
    }
    assert!(
        ends.iter().all(|(.., sent, stuck)| (*sent, *stuck) == (11, 0)),
        "fault, after the comparison, of document, complete, sent of 11, stuck: {ends:?}"
    );
}

/// The search for deliveries is refused for good, or never answered, perhaps with the list and the
/// search for documents, while reports are let in. What waits stays on hold, and a person may
/// release it after a day; not before, because the way may open again.
#[tokio::test]
async fn questions_that_are_always_refused_keep_nothing_for_ever() {
    let evidence = || Some(Box::new(Evidence::default()));
    let forbidden = || Fault::Locked { why: Why::Forbidden { status: 403 }, evidence: evidence() };
    let faults = [
        ("500", transient(Why::Unavailable { status: 500 }, evidence())),
        ("403", forbidden()),
        ("404", transient(Why::NotFound { status: 404 }, evidence())),
        ("no answer", transient(Why::Cut, None)),
    ];
    let mut ends = Vec::new();
    for (name, fault) in faults {
        for (later, all) in [(false, false), (true, false), (false, true), (true, true)] {
            let (mut lab, journal) = begun().await;
            journal.back_up_into(&lab.backups(), lab.clock.now()).unwrap();
            let journal = lab.on_a_new_disk(journal);
            journal.set_paused(false).unwrap();
            if later {
                for_hours(&mut lab, &journal, 12).await;
            }
            {
                let mut service = lab.authority.service.lock().unwrap();
                (service.finds_end, service.all_end) = (Some(fault.clone()), all);
            }
            for number in 95..100 {
                lab.hand_over(&journal, number);
            }
            for_hours(&mut lab, &journal, 22).await;
            let early = stuck(&journal);
            for_hours(&mut lab, &journal, 4).await;
            let sent = lab.authority.service.lock().unwrap().stored.len();
            ends.push((name, (later, all), early, sent, stuck(&journal)));
        }
    }
    assert!(
        ends.iter().all(|(.., early, sent, stuck)| (*early, *sent, *stuck) == (5, 1, 0)),
        "fault, (after the comparison, all), stuck for a day, sent of 6, stuck: {ends:?}"
    );
}
