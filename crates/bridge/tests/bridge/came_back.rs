//! Causes that come back after they were corrected, and corrections that were broken off.

use bridge::views::UnfinishedFix;
use bridge::{Desk, KnownContent};
use testkit::DocumentBuilder;

/// A report that our own check finds wrong.
fn wrong(number: u64) -> String {
    DocumentBuilder::new(number).json().replacen("\"final\"", "\"finnal\"", 1)
}

async fn taken_in(desk: &Desk, root: &std::path::Path, number: u64) -> i64 {
    let file = root.join(format!("{number}.json"));
    std::fs::write(&file, wrong(number)).unwrap();
    let intake = desk.send_files(vec![file.display().to_string()], KnownContent::Show).await;
    intake.unwrap().submissions[0].expect("taken in")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cause_has_come_back_where_its_reports_came_in_after_the_last_correction() {
    let root = tempfile::tempdir().unwrap();
    let desk = Desk::open(&root.path().join("home")).await.unwrap();
    desk.set_paused(true).await.unwrap();
    let first = taken_in(&desk, root.path(), 1).await;
    let other = taken_in(&desk, root.path(), 2).await;
    let text = wrong(1).replacen("\"finnal\"", "\"final\"", 1);
    let intake = desk.correct_with_text(first, text).await.unwrap();
    let successor = intake.submissions[0].expect("taken in");
    let corrected = desk.detail(first).await.unwrap().row;
    assert_eq!(corrected.state, bridge::StateCode::Superseded);
    let later = taken_in(&desk, root.path(), 3).await;

    // The other one was there when the first was corrected: it is still the same error.
    let told = desk.came_back(vec![other, later, successor, 9_999]).await.unwrap();
    let told: Vec<_> = told.into_iter().map(|one| (one.id, one.corrected)).collect();
    assert_eq!(told, [(later, corrected.updated)]);

    // Whoever takes the correction back has corrected nothing.
    desk.withdraw(successor, "looked at".to_owned()).await.unwrap();
    assert_eq!(desk.detail(first).await.unwrap().row.state, bridge::StateCode::Held);
    assert_eq!(desk.came_back(vec![later]).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_was_broken_off_is_kept_beyond_the_end_until_nothing_of_it_is_left() {
    let root = tempfile::tempdir().unwrap();
    let home = root.path().join("home");
    let desk = Desk::open(&home).await.unwrap();
    desk.set_paused(true).await.unwrap();
    let ids = [taken_in(&desk, root.path(), 1).await, taken_in(&desk, root.path(), 2).await];
    let fix = |replace: &str, sent, rest: &[i64]| UnfinishedFix {
        path: "Observation.status".to_owned(),
        find: "finnalcanary".to_owned(),
        replace: replace.to_owned(),
        sent,
        rest: rest.to_vec(),
    };
    desk.keep_fix(fix("other", 1, &ids)).await.unwrap();
    desk.keep_fix(fix("final", 1, &[ids[0], ids[1], 9_999])).await.unwrap();
    desk.keep_fix(fix("other", 1, &[])).await.unwrap();
    let too_long = desk.keep_fix(fix(&"x".repeat(2_000), 1, &ids)).await.unwrap_err();
    assert_eq!(too_long.code, "argument-too-large");
    desk.stop().await;
    drop(desk);

    let desk = Desk::open(&home).await.unwrap();
    // What is no report any more, or is corrected, is not left.
    assert!(desk.unfinished_fixes().await.unwrap() == [fix("final", 2, &ids)]);
    for (id, number) in ids.into_iter().zip(1..) {
        let text = wrong(number).replacen("\"finnal\"", "\"final\"", 1);
        desk.correct_with_text(id, text).await.unwrap();
    }
    assert!(desk.unfinished_fixes().await.unwrap().is_empty());
    desk.stop().await;
}
