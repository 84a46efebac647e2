//! A newer version of a report's document, where the older one is corrected or goes again: whatever
//! takes its place, and whoever released it once.

use engine::{Differing, ImportOptions, KnownContent, Taken};
use report::{Event, SubmissionId};

use super::{HOUR, Laboratory, dated, made};

const OLDER: &str = "older-version";
const LATER: &str = "later-version";

impl Laboratory {
    fn release(&self, id: SubmissionId) {
        let due = self.engine.now().plus_micros(HOUR);
        self.record(id, Event::Released { reason: "it is meant".to_owned(), due });
    }

    async fn correct(&self, id: SubmissionId, text: String) -> SubmissionId {
        self.engine.correct_after(id, self.look(text).await, HOUR).await.unwrap()
    }

    /// Another content of this day.
    async fn another(&self, family: &str, differing: Differing) -> SubmissionId {
        self.take_in(dated(20, family), ImportOptions { differing, ..ImportOptions::default() })
            .await
    }

    fn is_told(&self, id: SubmissionId, code: &str) -> bool {
        self.code(id) == "held" && self.warnings(id).iter().any(|told| told == code)
    }
}

/// An older version that is on hold has an error, and is corrected with all that have it.
#[tokio::test]
async fn the_correction_of_an_older_version_on_hold_is_on_hold_too() {
    let lab = Laboratory::new().await;
    let newer = lab.hand_over(20).await;
    lab.complete(newer);
    let older = lab.hand_over(19).await;
    assert!(lab.is_told(older, OLDER));
    let correction = lab.correct(older, dated(19, "Mended")).await;
    assert!(lab.is_told(correction, OLDER), "{:?}", lab.warnings(correction));
    // Somebody finds a slip in it, and corrects that.
    let again = lab.correct(correction, dated(19, "Mended twice")).await;
    assert!(lab.is_told(again, OLDER), "{:?}", lab.warnings(again));
    // Its author dates it anew: now it is the newest.
    let anew = lab.correct(again, dated(21, "Dated anew")).await;
    assert_eq!(lab.code(anew), "queued");
}

#[tokio::test]
async fn the_correction_of_an_older_version_waits_beside_a_newer_one_in_doubt() {
    let lab = Laboratory::new().await;
    let newer = lab.hand_over(20).await;
    let now = lab.engine.now();
    lab.record(newer, Event::SendingStarted { since: now });
    lab.record(newer, Event::Doubted { since: now, due: now, why: "cut".to_owned() });
    let older = lab.hand_over(19).await;
    let correction = lab.correct(older, dated(19, "Mended")).await;
    assert!(lab.is_told(correction, OLDER), "{:?}", lab.warnings(correction));
}

/// A slip of the hand gives the oldest file as the correction of the newest version, which failed
/// beside one that was completed.
#[tokio::test]
async fn an_older_file_does_not_take_the_place_of_a_failed_one_beside_a_completed_one() {
    let lab = Laboratory::new().await;
    let completed = lab.hand_over(20).await;
    lab.complete(completed);
    let failed = lab.hand_over(21).await;
    lab.fail(failed);
    let correction = lab.correct(failed, made(19)).await;
    assert!(lab.is_told(correction, OLDER), "{:?}", lab.warnings(correction));
}

/// Who released it once did not speak of all that comes later.
#[tokio::test]
async fn an_older_version_that_was_released_and_failed_is_asked_for_again() {
    for by_file in [true, false] {
        let lab = Laboratory::new().await;
        let newer = lab.hand_over(20).await;
        lab.complete(newer);
        let older = lab.hand_over(19).await;
        lab.release(older);
        lab.fail(older);
        let again = match by_file {
            true => lab.hand_over_as(19, KnownContent::SendAgain).await,
            false => lab.engine.resubmit_after(older, HOUR).await.unwrap(),
        };
        assert!(lab.is_told(again, OLDER), "{by_file}: {:?}", lab.warnings(again));
    }
}

/// The newest version was taken in first, and left last.
#[tokio::test]
async fn an_older_content_does_not_go_again_after_a_newer_one_that_was_taken_in_before_it() {
    let lab = Laboratory::new().await;
    let newer = lab.hand_over(20).await;
    lab.engine.hold_back(newer).await.unwrap();
    let older = lab.hand_over(19).await;
    lab.release(older);
    lab.complete(older);
    lab.release(newer);
    lab.complete(newer);
    let again = lab.hand_over_as(19, KnownContent::SendAgain).await;
    assert!(lab.is_told(again, OLDER), "{:?}", lab.warnings(again));
}

/// An export keeps the time of the order: no date says which version is the newer one.
#[tokio::test]
async fn an_older_content_of_the_same_date_does_not_go_again_after_what_came_later() {
    for differing in [Differing::ByRule, Differing::ByPerson, Differing::Apart] {
        let lab = Laboratory::new().await;
        let older = lab.hand_over(20).await;
        lab.complete(older);
        let newer = lab.another("Neu", Differing::ByRule).await;
        lab.complete(newer);
        let known = KnownContent::SendAgain;
        let terms = ImportOptions { known, differing, ..ImportOptions::default() };
        let again = lab.take_in(made(20), terms).await;
        assert!(lab.is_told(again, LATER), "{differing:?}: {:?}", lab.warnings(again));
    }
}

/// The newer version waits for a person, or has failed: the older content that goes again does not
/// take its place.
#[tokio::test]
async fn an_older_content_that_goes_again_does_not_take_the_place_of_a_newer_one() {
    for is_held in [true, false] {
        let lab = Laboratory::new().await;
        let older = lab.hand_over(20).await;
        lab.complete(older);
        let newer = lab.another("Neu", Differing::ByRule).await;
        match is_held {
            true => lab.engine.hold_back(newer).await.unwrap(),
            false => lab.fail(newer),
        }
        let list = [lab.look(made(20)).await, lab.look(dated(20, "Neu")).await];
        let known = KnownContent::SendAgain;
        let terms = ImportOptions { known, delay_micros: HOUR, ..ImportOptions::default() };
        let taken = lab.engine.take(&list, terms).await.unwrap().taken;
        let Taken::New(again) = taken[0] else { panic!("{taken:?}") };
        assert!(lab.is_told(again, LATER), "{:?}", lab.warnings(again));
        assert_eq!(lab.corrects(again), None);
        // On hold it waits for its own word; failed, it goes again itself.
        assert_eq!(matches!(taken[1], Taken::Known(_)), is_held, "{taken:?}");
    }
}

/// A third version, which failed, hides no completed one.
#[tokio::test]
async fn an_older_content_does_not_go_again_beside_a_failed_and_a_completed_one() {
    let lab = Laboratory::new().await;
    let older = lab.hand_over(20).await;
    lab.complete(older);
    let completed = lab.another("Zwei", Differing::Apart).await;
    lab.complete(completed);
    let failed = lab.another("Drei", Differing::Apart).await;
    lab.fail(failed);
    let again = lab.hand_over_as(20, KnownContent::SendAgain).await;
    assert!(lab.is_told(again, LATER), "{:?}", lab.warnings(again));
}

/// A person was told of the newer one, and decides about one report: what takes its place, or goes
/// again after it, asks once more.
#[tokio::test]
async fn what_comes_in_place_of_an_overtaken_content_is_asked_for_too() {
    let lab = Laboratory::new().await;
    let older = lab.hand_over(20).await;
    lab.complete(older);
    let newer = lab.another("Neu", Differing::ByRule).await;
    lab.complete(newer);
    let again = lab.hand_over_as(20, KnownContent::SendAgain).await;
    let correction = lab.correct(again, dated(20, "Mended")).await;
    assert!(lab.is_told(correction, LATER), "{:?}", lab.warnings(correction));
    lab.release(correction);
    lab.fail(correction);
    let resent = lab.engine.resubmit_after(correction, HOUR).await.unwrap();
    assert!(lab.is_told(resent, LATER), "{:?}", lab.warnings(resent));
}

/// The correction of an older version is dated as the newer one, and not after it.
#[tokio::test]
async fn a_correction_that_is_not_dated_after_the_newer_one_is_on_hold() {
    let lab = Laboratory::new().await;
    let newer = lab.hand_over(20).await;
    lab.complete(newer);
    let older = lab.hand_over(19).await;
    let correction = lab.correct(older, dated(20, "Mended")).await;
    assert!(lab.is_told(correction, LATER), "{:?}", lab.warnings(correction));
}

/// Told of the newer one, a person withdraws what never left; somebody sends it again.
#[tokio::test]
async fn an_older_content_that_never_left_is_on_hold_each_time() {
    let lab = Laboratory::new().await;
    let older = lab.hand_over(20).await;
    lab.engine.withdraw(older, "not yet".to_owned()).await.unwrap();
    let newer = lab.another("Neu", Differing::ByRule).await;
    lab.complete(newer);
    for _ in 0..2 {
        let again = lab.hand_over_as(20, KnownContent::SendAgain).await;
        assert!(lab.is_told(again, LATER), "{:?}", lab.warnings(again));
        lab.engine.withdraw(again, "the newer one is there".to_owned()).await.unwrap();
    }
}

/// `labcourier send --again FOLDER` has looked at it, and a watched folder takes it in before its
/// turn comes.
#[tokio::test]
async fn what_was_new_when_it_was_looked_at_does_not_go_again() {
    let lab = Laboratory::new().await;
    let looked = lab.look(made(20)).await;
    let id = lab.hand_over(20).await;
    lab.complete(id);
    let known = KnownContent::SendAgain;
    let terms = ImportOptions { known, delay_micros: HOUR, ..ImportOptions::default() };
    let taken = lab.engine.take(&[looked], terms).await.unwrap().taken;
    assert_eq!(taken, [Taken::Known(id)]);
}

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

/// What took the place of the newer version names another disease, because that was wrong, or is
/// dated before it: an older file that comes late is older than that all the same.
#[tokio::test]
async fn an_older_file_beside_what_took_the_place_of_a_newer_version_is_on_hold() {
    let mut told = Vec::new();
    for is_other in [true, false] {
        let lab = Laboratory::new().await;
        let newer = lab.hand_over(20).await;
        lab.fail(newer);
        let text = match is_other {
            true => of_another_disease("2026-11-20T12:00:00Z"),
            false => dated(18, "Mended"),
        };
        let correction = lab.correct(newer, text).await;
        lab.complete(correction);
        assert_eq!(lab.code(newer), "superseded");
        let older = lab.hand_over(19).await;
        told.push((lab.code(older), lab.warnings(older)));
    }
    assert!(told.iter().all(|(code, _)| *code == "held"), "{told:?}");
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
