//! A slip in a date, a correction that was undone, and what comes after them.

use engine::{ImportOptions, KnownContent};

use super::corrected::{LATER, OLDER};
use super::{HOUR, Laboratory, dated, made};

/// The year has a slip, so that it is on hold for an error and never left.
fn ahead() -> String {
    let builder = testkit::DocumentBuilder::new(1).timestamp("2027-11-20T10:00:00Z");
    builder.family("Muster").json()
}

/// The laboratory mends the date in its system, which writes the report anew.
#[tokio::test]
async fn a_file_that_mends_the_date_of_one_on_hold_takes_its_place() {
    let lab = Laboratory::new().await;
    let first = lab.take_in(ahead(), ImportOptions::default()).await;
    assert_eq!(lab.code(first), "held", "{:?}", lab.warnings(first));
    let mended = lab.take_in(dated(20, "Muster"), ImportOptions::default()).await;
    let told = (lab.code(mended), lab.warnings(mended), lab.corrects(mended));
    assert_eq!(told, ("queued", vec![], Some(first)));
}

/// What has changed in more than the date may be another version: people are told of the two, and
/// decide about the one on hold.
#[tokio::test]
async fn a_file_that_mends_more_than_the_date_of_one_on_hold_goes_beside_it() {
    let lab = Laboratory::new().await;
    let first = lab.take_in(ahead(), ImportOptions::default()).await;
    let mended = lab.hand_over(20).await;
    let told = (lab.code(mended), lab.warnings(mended), lab.corrects(mended));
    assert_eq!(told, ("queued", vec!["same-identifier-other-content".to_owned()], None));
    assert_eq!(lab.code(first), "held");
}

/// The same, and a person releases what the laboratory's system has written anew: the next version
/// is newer than that.
#[tokio::test]
async fn a_date_that_was_mended_by_a_file_holds_up_no_later_version() {
    let lab = Laboratory::new().await;
    let first = lab.take_in(ahead(), ImportOptions::default()).await;
    assert_eq!(lab.code(first), "held", "{:?}", lab.warnings(first));
    let mended = lab.hand_over(20).await;
    if lab.code(mended) == "held" {
        lab.release(mended);
    }
    lab.complete(mended);
    let next = lab.hand_over(21).await;
    assert_eq!(lab.code(next), "queued", "{:?}", lab.warnings(next));
}

/// A correction of the date is undone, and sent after all: it corrects what it had corrected.
#[tokio::test]
async fn a_correction_of_a_date_that_was_undone_and_goes_again_still_corrects() {
    let lab = Laboratory::new().await;
    let first = lab.take_in(ahead(), ImportOptions::default()).await;
    let correction = lab.correct(first, dated(20, "Muster")).await;
    lab.engine.withdraw(correction, "undone".to_owned()).await.unwrap();
    let terms = ImportOptions { known: KnownContent::SendAgain, ..ImportOptions::default() };
    let again = lab.take_in(dated(20, "Muster"), terms).await;
    let told = (lab.code(again), lab.warnings(again), lab.corrects(again));
    assert_eq!(told, ("queued", vec![], Some(first)));
}

/// A correction is undone, and the same file is given once more as the correction.
#[tokio::test]
async fn a_correction_that_was_undone_can_be_given_once_more() {
    let lab = Laboratory::new().await;
    let first = lab.hand_over(19).await;
    lab.fail(first);
    let correction = lab.correct(first, made(20)).await;
    lab.engine.withdraw(correction, "undone".to_owned()).await.unwrap();
    let looked = lab.look(made(20)).await;
    let again = lab.engine.correct_after(first, looked, HOUR).await;
    assert!(again.is_ok(), "{again:?}");
}

/// A correction to another disease is undone and sent after all: what it corrected has failed, and
/// whoever sends it is told of that or it takes its place.
#[tokio::test]
async fn a_correction_of_the_disease_that_was_undone_and_goes_again_names_what_it_corrected() {
    let lab = Laboratory::new().await;
    let first = lab.hand_over(19).await;
    lab.fail(first);
    let text = || {
        let builder = testkit::DocumentBuilder::new(1).disease(testkit::Disease::ALL[1]);
        builder.timestamp("2026-11-20T10:00:00Z").family("Muster19").json()
    };
    let correction = lab.correct(first, text()).await;
    lab.engine.withdraw(correction, "undone".to_owned()).await.unwrap();
    let terms = ImportOptions { known: KnownContent::SendAgain, ..ImportOptions::default() };
    let again = lab.take_in(text(), terms).await;
    let told = (lab.warnings(again), lab.corrects(again));
    assert!(!told.0.is_empty() || told.1 == Some(first), "{told:?} {}", lab.code(again));
}

/// A correction under another identifier has failed and is resubmitted twice; an older file comes.
#[tokio::test]
async fn an_older_file_beside_a_correction_that_was_undone_and_another_one_is_on_hold() {
    let lab = Laboratory::new().await;
    let newer = lab.hand_over(20).await;
    lab.fail(newer);
    let undone = lab.correct(newer, dated(21, "Falsch")).await;
    lab.engine.withdraw(undone, "undone".to_owned()).await.unwrap();
    let right = lab.correct(newer, dated(21, "Richtig")).await;
    lab.complete(right);
    let terms = ImportOptions { known: KnownContent::SendAgain, ..ImportOptions::default() };
    let again = lab.take_in(dated(21, "Falsch"), terms).await;
    assert_eq!(lab.code(again), "held", "{:?}", lab.warnings(again));
    assert!(lab.warnings(again).contains(&LATER.to_owned()), "{OLDER}");
}

/// The newest version has a slip in its year.
fn newest() -> String {
    let builder = testkit::DocumentBuilder::new(1).timestamp("2027-11-21T10:00:00Z");
    builder.family("Muster").json()
}

/// The newest version corrects the postal code (Genève 1200 to Biel 2500) and has a slip in its
/// year; the older file comes after it. A postal code of Switzerland is no year.
#[tokio::test]
async fn an_older_file_with_another_postal_code_does_not_replace_a_slip() {
    let code = |text: String, code: &str| text.replace("\"3999\"", code);
    let lab = Laboratory::new().await;
    let newest = lab.take_in(code(newest(), "\"2500\""), ImportOptions::default()).await;
    assert_eq!(lab.code(newest), "held");
    let older = code(dated(19, "Muster"), "\"1200\"");
    let older = lab.take_in(older, ImportOptions::default()).await;
    let links = (lab.corrects(older), lab.warnings(older));
    lab.complete(older);
    assert_eq!(
        (links, lab.code(newest)),
        ((None, vec!["same-identifier-other-content".to_owned()]), "held")
    );
}

/// The same, and it corrects the day of the sample, written with the same wrong year as all that
/// the system of the laboratory wrote then.
#[tokio::test]
async fn an_older_file_with_another_day_of_the_sample_does_not_replace_a_slip() {
    let sampled = "\"collectedDateTime\": \"2027-11-21\"";
    let corrected = newest().replacen(sampled, "\"collectedDateTime\": \"2027-11-12\"", 1);
    assert_ne!(corrected, newest());
    let lab = Laboratory::new().await;
    let newest = lab.take_in(corrected, ImportOptions::default()).await;
    assert_eq!(lab.code(newest), "held");
    let older = lab.take_in(dated(19, "Muster"), ImportOptions::default()).await;
    let links = (lab.corrects(older), lab.warnings(older));
    lab.complete(older);
    assert_eq!(
        (links, lab.code(newest)),
        ((None, vec!["same-identifier-other-content".to_owned()]), "held")
    );
}

/// The slip is in the time of the export alone, and the export that mends it writes
/// `Composition.date` anew too, as it does each time.
#[tokio::test]
async fn a_file_that_mends_the_time_of_the_export_takes_the_place_of_the_slip() {
    let right = dated(20, "Muster");
    let slip = right
        .replacen(
            "\"timestamp\": \"2026-11-20T10:00:00Z\"",
            "\"timestamp\": \"2027-11-20T10:00:00Z\"",
            1,
        )
        .replacen("\"date\": \"2026-11-20T10:00:00Z\"", "\"date\": \"2026-11-20T09:30:00Z\"", 1);
    assert_eq!(slip.len(), right.len());
    assert!(slip.contains("2027-11-20T10:00:00Z") && slip.contains("2026-11-20T09:30:00Z"));
    let lab = Laboratory::new().await;
    let first = lab.take_in(slip, ImportOptions::default()).await;
    assert_eq!(lab.code(first), "held");
    let mended = lab.take_in(right, ImportOptions::default()).await;
    assert_eq!((lab.corrects(mended), lab.warnings(mended)), (Some(first), vec![]));
}
