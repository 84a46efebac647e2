//! A newer version of a report's document, where the older one is corrected or goes again: whatever
//! takes its place, and whoever released it once.

use engine::{Differing, ImportOptions, KnownContent, Taken};
use report::{Event, SubmissionId};

use super::{HOUR, Laboratory, dated, made};

pub(super) const OLDER: &str = "older-version";
pub(super) const LATER: &str = "later-version";

impl Laboratory {
    pub(super) fn release(&self, id: SubmissionId) {
        let due = self.engine.now().plus_micros(HOUR);
        self.record(id, Event::Released { reason: "it is meant".to_owned(), due });
    }

    pub(super) async fn correct(&self, id: SubmissionId, text: String) -> SubmissionId {
        self.engine.correct_after(id, self.look(text).await, HOUR).await.unwrap()
    }

    /// Another content of this day.
    pub(super) async fn another(&self, family: &str, differing: Differing) -> SubmissionId {
        self.take_in(dated(20, family), ImportOptions { differing, ..ImportOptions::default() })
            .await
    }

    pub(super) fn is_told(&self, id: SubmissionId, code: &str) -> bool {
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
