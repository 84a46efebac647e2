//! A version goes on where the one in whose place it comes ended: the documents, the cases and the
//! decisions of that one count for it too, and nothing that was undone.

use engine::{Differing, ImportOptions, KnownContent, Taken};
use report::Event;

use super::corrected::{LATER, OLDER};
use super::{HOUR, Laboratory, dated, made};

/// A version of the report under this document identifier.
fn named(identifier: &str, day: u32, family: &str) -> String {
    let made = format!("2026-11-{day}T10:00:00Z");
    testkit::DocumentBuilder::new(1).identifier(identifier).timestamp(&made).family(family).json()
}

const OTHER: &str = "urn:uuid:00000000-0000-4000-8000-0000000000aa";

/// The same document, about another disease.
fn of_another_disease(made: &str) -> String {
    let builder = testkit::DocumentBuilder::new(1).disease(testkit::Disease::ALL[1]);
    builder.timestamp(made).family("Muster20").json()
}

/// The laboratory's system gives each correction a document identifier of its own.
#[tokio::test]
async fn the_correction_of_an_older_version_under_another_identifier_is_on_hold_too() {
    let lab = Laboratory::new().await;
    let newer = lab.hand_over(20).await;
    lab.complete(newer);
    let older = lab.hand_over(19).await;
    assert!(lab.is_told(older, OLDER));
    let correction = lab.correct(older, named(OTHER, 19, "Mended")).await;
    assert!(lab.is_told(correction, OLDER), "{:?}", lab.warnings(correction));
}

/// The older version was in progress when the newer one came, and failed after that was completed.
#[tokio::test]
async fn the_correction_under_another_identifier_of_what_failed_beside_a_newer_one_is_on_hold() {
    let lab = Laboratory::new().await;
    let older = lab.hand_over(19).await;
    let (since, receipt) = (lab.engine.now(), "r".to_owned());
    lab.record(older, Event::SendingStarted { since });
    lab.record(older, Event::Accepted { receipt: receipt.clone(), since, due: since });
    let newer = lab.hand_over(20).await;
    lab.complete(newer);
    lab.record(older, Event::Failed { receipt });
    let correction = lab.correct(older, named(OTHER, 19, "Mended")).await;
    assert!(lab.is_told(correction, OLDER), "{:?}", lab.warnings(correction));
}

/// A correction under another identifier fails after a newer version of what it corrects has
/// arrived, and is sent again.
#[tokio::test]
async fn a_correction_under_another_identifier_that_goes_again_is_on_hold_beside_a_newer_one() {
    let mut told = Vec::new();
    for by_file in [true, false] {
        let lab = Laboratory::new().await;
        let first = lab.hand_over(18).await;
        lab.fail(first);
        let correction = lab.correct(first, named(OTHER, 19, "Mended")).await;
        let (since, receipt) = (lab.engine.now(), "r".to_owned());
        lab.record(correction, Event::SendingStarted { since });
        lab.record(correction, Event::Accepted { receipt: receipt.clone(), since, due: since });
        let newer = lab.hand_over(20).await;
        lab.complete(newer);
        lab.record(correction, Event::Failed { receipt });
        let known = KnownContent::SendAgain;
        let again = match by_file {
            true => {
                let terms = ImportOptions { known, ..ImportOptions::default() };
                lab.take_in(named(OTHER, 19, "Mended"), terms).await
            }
            false => lab.engine.resubmit_after(correction, HOUR).await.unwrap(),
        };
        told.push((lab.code(again), lab.warnings(again)));
    }
    assert!(told.iter().all(|(code, _)| *code == "held"), "{told:?}");
}

/// What is wrong with an older version on hold is the disease that it names: its correction names
/// another one, and would follow the newer version of the same document all the same.
#[tokio::test]
async fn the_correction_of_an_older_version_that_names_another_disease_is_on_hold_too() {
    let lab = Laboratory::new().await;
    let newer = lab.hand_over(20).await;
    lab.complete(newer);
    let older = lab.hand_over(19).await;
    assert!(lab.is_told(older, OLDER));
    let correction = lab.correct(older, of_another_disease("2026-11-19T10:00:00Z")).await;
    assert!(lab.is_told(correction, OLDER), "{:?}", lab.warnings(correction));
}

/// A folder of all versions is sent once more, and no date says which is the newer one: the newest
/// content is not told to be older than the older one, which is on hold beside it.
#[tokio::test]
async fn of_versions_of_one_date_that_all_go_again_the_newest_goes() {
    let lab = Laboratory::new().await;
    let older = lab.hand_over(20).await;
    lab.complete(older);
    let newer = lab.another("Neu", Differing::ByRule).await;
    lab.complete(newer);
    let list = [lab.look(made(20)).await, lab.look(dated(20, "Neu")).await];
    let known = KnownContent::SendAgain;
    let terms = ImportOptions { known, delay_micros: HOUR, ..ImportOptions::default() };
    let taken = lab.engine.take(&list, terms).await.unwrap().taken;
    let [Taken::New(first), Taken::New(second)] = taken[..] else { panic!("{taken:?}") };
    assert!(lab.is_told(first, LATER));
    assert_eq!(lab.code(second), "queued", "{:?}", lab.warnings(second));
}

/// A correction under another identifier has failed and goes again; a version of what it corrects,
/// which came in between, arrives only then.
#[tokio::test]
async fn what_arrives_after_a_correction_under_another_identifier_was_sent_again_counts() {
    let lab = Laboratory::new().await;
    let first = lab.hand_over(18).await;
    lab.fail(first);
    let correction = lab.correct(first, named(OTHER, 19, "Mended")).await;
    let (since, receipt) = (lab.engine.now(), "r".to_owned());
    lab.record(correction, Event::SendingStarted { since });
    lab.record(correction, Event::Accepted { receipt: receipt.clone(), since, due: since });
    let newer = lab.hand_over(20).await;
    lab.record(correction, Event::Failed { receipt });
    let again = lab.engine.resubmit_after(correction, HOUR).await.unwrap();
    lab.complete(newer);
    let others = lab.engine.journal().other_versions_of(again).unwrap();
    assert_eq!(others.newer, [newer]);
}

/// An older content that goes again is on hold beside the newer one, which has failed; the file
/// that corrects that one comes.
#[tokio::test]
async fn a_correction_takes_the_place_of_the_failed_version_and_not_of_an_older_one_on_hold() {
    let lab = Laboratory::new().await;
    let older = lab.hand_over(20).await;
    lab.complete(older);
    let newer = lab.another("Neu", Differing::ByRule).await;
    lab.fail(newer);
    let again = lab.hand_over_as(20, KnownContent::SendAgain).await;
    assert!(lab.is_told(again, LATER));
    let mended = lab.another("Mended", Differing::ByRule).await;
    assert_eq!(lab.corrects(mended), Some(newer));
}

/// A newer file corrects what failed; a person takes it back in time, and sends it after all.
#[tokio::test]
async fn a_correction_that_was_undone_and_goes_again_still_corrects() {
    for is_held in [false, true] {
        let lab = Laboratory::new().await;
        let older = lab.hand_over(19).await;
        match is_held {
            true => {
                lab.record(older, Event::SendingStarted { since: lab.engine.now() });
                lab.record(older, Event::HeldAfterRefusals { why: "forbidden".to_owned() });
            }
            false => lab.fail(older),
        }
        let newer = lab.hand_over(20).await;
        assert_eq!(lab.corrects(newer), Some(older));
        lab.engine.withdraw(newer, "undone".to_owned()).await.unwrap();
        let again = lab.hand_over_as(20, KnownContent::SendAgain).await;
        assert_eq!(lab.corrects(again), Some(older), "{is_held}");
    }
}

/// A third version of the same date hides the one beside which the older one was on hold.
#[tokio::test]
async fn a_third_version_hides_none_beside_which_a_correction_is_on_hold() {
    let lab = Laboratory::new().await;
    let newer = lab.hand_over(20).await;
    lab.complete(newer);
    let older = lab.hand_over(19).await;
    assert!(lab.is_told(older, OLDER));
    let third = lab.another("Drei", Differing::Apart).await;
    lab.complete(third);
    let correction = lab.correct(older, dated(20, "Mended")).await;
    assert!(lab.is_told(correction, LATER), "{:?}", lab.warnings(correction));
}

/// An outage has put a version off, another one of the same date has arrived meanwhile, and the
/// first one is on hold beside it: so is its correction.
#[tokio::test]
async fn the_correction_of_what_an_outage_has_put_off_is_on_hold_beside_the_one_that_arrived() {
    let lab = Laboratory::new().await;
    let older = lab.hand_over(20).await;
    let newer = lab.another("Neu", Differing::ByRule).await;
    assert_eq!(lab.corrects(newer), None);
    lab.complete(newer);
    lab.engine.hold_back(older).await.unwrap();
    assert!(lab.is_told(older, "newer-version-delivered"));
    let correction = lab.correct(older, dated(20, "Mended")).await;
    assert!(lab.is_told(correction, LATER), "{:?}", lab.warnings(correction));
}

/// An older content that goes again is on hold beside the completed one: a third version is told of
/// the completed one all the same, and is on hold where the rule of the profile says so.
#[tokio::test]
async fn an_older_content_on_hold_hides_the_completed_one_from_no_third_version() {
    let lab = Laboratory::new().await;
    let older = lab.hand_over(20).await;
    lab.complete(older);
    let newer = lab.another("Neu", Differing::ByRule).await;
    lab.complete(newer);
    let again = lab.hand_over_as(20, KnownContent::SendAgain).await;
    assert!(lab.is_told(again, LATER));
    let next = lab.another("Drei", Differing::ByRule).await;
    assert_eq!(lab.warnings(next), ["same-identifier-other-content"], "{:?}", lab.corrects(next));
}

/// A report is on hold for a date that lies ahead, never leaves, and a person has corrected the
/// date: the next version of the report is newer than the correction, and goes.
#[tokio::test]
async fn a_date_that_was_corrected_holds_up_no_later_version() {
    let lab = Laboratory::new().await;
    let first = lab.take_in(ahead(), ImportOptions::default()).await;
    assert_eq!(lab.code(first), "held", "{:?}", lab.warnings(first));
    let correction = lab.correct(first, dated(20, "Muster")).await;
    lab.complete(correction);
    let next = lab.hand_over(21).await;
    let told = (lab.code(next), lab.warnings(next));
    if told.0 == "held" {
        lab.release(next);
    }
    lab.complete(next);
    let after = lab.hand_over(22).await;
    let last = (lab.code(after), lab.warnings(after));
    assert_eq!([told.0, last.0], ["queued", "queued"], "{told:?} {last:?}");
}

/// The year has a slip.
fn ahead() -> String {
    let builder = testkit::DocumentBuilder::new(1).timestamp("2027-11-20T10:00:00Z");
    builder.family("Muster").json()
}

/// A slip of the hand gives an old file as the correction of the newest version, which was on hold
/// or failed; it is undone at once. The folder is sent once more.
#[tokio::test]
async fn an_older_file_whose_correction_was_undone_does_not_take_the_place_of_the_newer_version() {
    let mut told = Vec::new();
    for is_failed in [true, false] {
        let lab = Laboratory::new().await;
        let newer = lab.hand_over(20).await;
        match is_failed {
            true => lab.fail(newer),
            false => lab.engine.hold_back(newer).await.unwrap(),
        }
        let slip = lab.correct(newer, made(19)).await;
        lab.engine.withdraw(slip, "undone".to_owned()).await.unwrap();
        let again = lab.hand_over_as(19, KnownContent::SendAgain).await;
        told.push((lab.code(again), lab.warnings(again), lab.corrects(again), lab.code(newer)));
    }
    assert!(told.iter().all(|it| it.0 == "held"), "{told:?}");
}

/// The same, and the newer version was released and is completed.
#[tokio::test]
async fn an_older_file_whose_correction_was_undone_does_not_follow_the_newer_version() {
    let lab = Laboratory::new().await;
    let newer = lab.hand_over(20).await;
    lab.engine.hold_back(newer).await.unwrap();
    let slip = lab.correct(newer, made(19)).await;
    lab.engine.withdraw(slip, "undone".to_owned()).await.unwrap();
    lab.release(newer);
    lab.complete(newer);
    let again = lab.hand_over_as(19, KnownContent::SendAgain).await;
    assert!(lab.is_told(again, OLDER), "{} {:?}", lab.code(again), lab.warnings(again));
}

/// A version of no other date was undone as a correction, and what it corrected is completed: who
/// sends it all the same is told of that.
#[tokio::test]
async fn a_correction_that_was_undone_goes_beside_what_it_corrected_with_a_warning() {
    let lab = Laboratory::new().await;
    let first = lab.hand_over(20).await;
    lab.engine.hold_back(first).await.unwrap();
    let undone = lab.correct(first, dated(20, "Mended")).await;
    lab.engine.withdraw(undone, "it was right".to_owned()).await.unwrap();
    lab.release(first);
    lab.complete(first);
    let terms = ImportOptions { known: KnownContent::SendAgain, ..ImportOptions::default() };
    let again = lab.take_in(dated(20, "Mended"), terms).await;
    assert_eq!(lab.warnings(again), ["same-identifier-other-content"], "{}", lab.code(again));
}

/// A document identifier stands for several patients, and retention has erased a report of one of
/// them that was replaced: it says nothing of the others.
#[tokio::test]
async fn what_is_erased_is_no_version_of_another_patient() {
    let mut told = Vec::new();
    for is_erased in [false, true] {
        let lab = Laboratory::new().await;
        let first = lab.hand_over(20).await;
        lab.fail(first);
        let correction = lab.correct(first, dated(21, "Muster20")).await;
        let (since, receipt) = (lab.engine.now(), "r".to_owned());
        lab.record(correction, Event::SendingStarted { since });
        lab.record(correction, Event::Accepted { receipt, since, due: since });
        if is_erased {
            let rule = journal::Retention { completed_days: Some(1), closed_days: Some(1) };
            let then = lab.engine.now().plus_seconds(5 * 86_400);
            assert_eq!(lab.engine.journal().retain(rule, then).unwrap(), 1);
        }
        let other = lab.take_in(of_another_patient(20, "Anders"), ImportOptions::default()).await;
        let one = (lab.code(other), lab.warnings(other));
        if lab.code(other) == "held" {
            lab.release(other);
        }
        lab.fail(other);
        let mended = lab.take_in(of_another_patient(21, "Anders"), ImportOptions::default()).await;
        let corrects = lab.corrects(mended) == Some(other);
        told.push((one, lab.code(mended), lab.warnings(mended), corrects));
    }
    assert_eq!(told[0], told[1]);
}

fn of_another_patient(day: u32, family: &str) -> String {
    let made = format!("2026-11-{day}T08:00:00Z");
    let identifier = testkit::DocumentBuilder::new(1).identifier_value().to_owned();
    let builder = testkit::DocumentBuilder::new(2).identifier(&identifier).timestamp(&made);
    builder.disease(testkit::Disease::ALL[1]).family(family).json()
}

/// A document identifier stands for two diseases, and a report named the wrong one of them until a
/// person corrected it. The other report is no older version of that, and its correction takes its
/// place.
#[tokio::test]
async fn a_disease_that_was_corrected_takes_no_correction_from_the_other_report() {
    let mut told = Vec::new();
    for is_slip in [false, true] {
        let lab = Laboratory::new().await;
        let first = match is_slip {
            true => of_another_disease("2026-11-20T10:00:00Z"),
            false => dated(20, "Muster20"),
        };
        let first = lab.take_in(first, ImportOptions::default()).await;
        lab.fail(first);
        let correction = lab.correct(first, dated(22, "Muster20")).await;
        lab.complete(correction);
        let text = of_another_disease("2026-11-21T10:00:00Z");
        let other = lab.take_in(text, ImportOptions::default()).await;
        let warnings = lab.warnings(other);
        if lab.code(other) == "held" {
            lab.release(other);
        }
        lab.fail(other);
        let text = of_another_disease("2026-11-24T10:00:00Z");
        let mended = lab.take_in(text, ImportOptions::default()).await;
        told.push((warnings, lab.corrects(mended) == Some(other)));
    }
    assert_eq!(told[0], told[1]);
}
