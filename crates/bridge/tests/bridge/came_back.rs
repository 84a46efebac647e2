//! Causes that come back after they were corrected.

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
