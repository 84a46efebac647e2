//! What was taken back before it left: new, or to take the place of a refused report.

use bridge::{
    Decision, Desk, KnownContent, Names, StateCode, TakenBack,
    views::{ListQuery, PreferencesView, RowView},
};

use testkit::DocumentBuilder;

use crate::desk::{opened, sample, until};

async fn undo(desk: &Desk, undo_seconds: u32) {
    let preferences = desk.preferences().await.unwrap();
    let preferences = PreferencesView { undo_seconds, ..preferences };
    desk.set_preferences(preferences).await.unwrap();
}

/// Reports that the authority has refused for one reason; from then on there is time for undoing.
async fn failed(desk: &Desk, root: &std::path::Path, count: usize) -> Vec<i64> {
    undo(desk, 0).await;
    let text = std::fs::read_to_string(sample(desk, "fehler").await).unwrap();
    let mut ids = Vec::new();
    for number in 1..=count {
        let file = root.join(format!("{number}.json"));
        std::fs::write(&file, text.replace("7c1f7a10", &format!("7c1f7a1{number}"))).unwrap();
        let files = vec![file.display().to_string()];
        let sent = desk.send_files(files, KnownContent::Show).await.unwrap();
        ids.push(sent.submissions[0].expect("taken in"));
    }
    for id in &ids {
        until(desk, *id, &["failed"]).await;
    }
    undo(desk, 30).await;
    ids
}

async fn to_correct(desk: &Desk) -> Vec<RowView> {
    let query = ListQuery { group: Some("needs-attention".to_owned()), ..ListQuery::default() };
    desk.list(query, Names::Masked).await.unwrap().rows
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_sent_again_unchanged_and_taken_back_is_to_be_corrected_as_before() {
    let root = tempfile::tempdir().unwrap();
    let desk = opened(&root.path().join("home")).await;
    let ids = failed(&desk, root.path(), 3).await;
    let before = desk.detail(ids[0]).await.unwrap();
    let text = before.source.clone();
    let form = desk.look_at_draft(ids[0], text.clone()).await.unwrap().fields.len();
    let values = desk.cause_fields(ids.clone()).await.unwrap();
    let causes = desk.statistics(7).await.unwrap().causes;
    assert_eq!((causes.len(), causes[0].count), (1, 3));
    assert!(!values.is_empty());

    // One by itself, and the others by one decision.
    let one = desk.resubmit(ids[0]).await.unwrap();
    let more =
        desk.decide(ids[1..].to_vec(), Decision::Resubmit, String::new()).await.unwrap().sent;
    let held: Vec<_> = std::iter::once(one).chain(more).collect();
    assert_eq!(desk.detail(one).await.unwrap().row.taken_back, None);
    assert_eq!(desk.hold_back(held.clone()).await.unwrap(), 3);

    let rows = to_correct(&desk).await;
    assert_eq!(rows.len(), 3);
    let said = before.row.message.as_ref().unwrap();
    for row in &rows {
        assert_eq!((row.state, row.taken_back), (StateCode::Held, Some(TakenBack::Repetition)));
        let message = row.message.as_ref().expect("the cause");
        assert_eq!((message.source, &message.code), (said.source, &said.code));
        assert_eq!((row.errors, row.warnings), (before.row.errors, before.row.warnings));
    }
    let after = desk.statistics(7).await.unwrap().causes;
    assert_eq!((after.len(), after[0].count), (1, 3));
    assert_eq!(after[0].message.as_ref().unwrap().code, said.code);
    assert_eq!(desk.batch(held.clone()).await.unwrap().causes, 1);
    let chosen = desk.chosen(ids.iter().chain(&held).copied().collect()).await.unwrap();
    assert_eq!(chosen.taken_back.len(), 3);
    assert!(chosen.taken_back.iter().all(|id| held.contains(id)));

    let detail = desk.detail(one).await.unwrap();
    let places = |view: &bridge::views::DetailView| -> Vec<_> {
        view.messages.iter().map(|it| (it.code.clone(), it.section, it.field.clone())).collect()
    };
    assert_eq!(places(&detail), places(&before));
    assert_eq!(desk.look_at_draft(one, text).await.unwrap().fields.len(), form);
    let again = desk.cause_fields(held.clone()).await.unwrap();
    assert_eq!(again.len(), values.len());
    assert_eq!(again[0].path, values[0].path);

    // Sent after all and taken back once more, it is what it was.
    desk.release(one, "after all".to_owned()).await.unwrap();
    desk.hold_back(vec![one]).await.unwrap();
    let row = desk.detail(one).await.unwrap().row;
    assert_eq!((row.taken_back, row.errors), (Some(TakenBack::Repetition), before.row.errors));
    desk.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn corrections_that_were_taken_back_are_told_from_what_is_not_corrected() {
    let root = tempfile::tempdir().unwrap();
    let desk = opened(&root.path().join("home")).await;
    let ids = failed(&desk, root.path(), 2).await;
    let again = desk.decide(ids.clone(), Decision::Resubmit, String::new()).await.unwrap().sent;
    desk.hold_back(again.clone()).await.unwrap();

    // While sending is paused nothing of a correction of many leaves, and stopping takes it back.
    desk.set_paused(true).await.unwrap();
    let field = &desk.cause_fields(again.clone()).await.unwrap()[0];
    let (path, value) = (field.path.clone(), field.values[0].value.clone());
    let fixed = desk.fix(again[0], path, value.clone(), format!("{value}0")).await.unwrap();
    let correction = fixed.submissions[0].expect("taken in");
    assert_eq!(desk.detail(again[0]).await.unwrap().row.state, StateCode::Superseded);
    desk.hold_back(vec![correction]).await.unwrap();

    let rows = to_correct(&desk).await;
    let told: Vec<_> = rows.iter().map(|row| (row.id, row.taken_back)).collect();
    let both = [TakenBack::Correction, TakenBack::Repetition].map(Some);
    assert_eq!(told, [(correction, both[0]), (again[1], both[1])]);
    let causes = desk.statistics(7).await.unwrap().causes;
    assert_eq!(causes.len(), 2);
    assert_eq!(desk.batch(vec![correction, again[1]]).await.unwrap().causes, 2);
    let detail = desk.detail(correction).await.unwrap();
    assert!(detail.messages.iter().all(|it| it.source != before_source(&rows[1])));
    desk.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_report_that_was_taken_back_is_told_from_what_is_to_be_corrected() {
    let root = tempfile::tempdir().unwrap();
    let desk = opened(&root.path().join("home")).await;
    undo(&desk, 30).await;
    let wrong = DocumentBuilder::new(1).json().replacen("\"final\"", "\"finnal\"", 1);
    let right = DocumentBuilder::new(2).json();
    let mut ids = Vec::new();
    for (name, text) in [("wrong.json", &wrong), ("right.json", &right)] {
        let file = root.path().join(name);
        std::fs::write(&file, text).unwrap();
        let files = vec![file.display().to_string()];
        let sent = desk.send_files(files, KnownContent::Show).await.unwrap();
        ids.push(sent.submissions[0].expect("taken in"));
    }
    let (wrong_id, right_id) = (ids[0], ids[1]);
    assert_eq!(desk.hold_back(vec![right_id]).await.unwrap(), 1);
    let told = |rows: Vec<RowView>| rows.into_iter().map(|row| (row.id, row.taken_back)).collect();
    let rows: Vec<(i64, Option<TakenBack>)> = told(to_correct(&desk).await);
    assert_eq!(rows, [(right_id, Some(TakenBack::New)), (wrong_id, None)]);
    assert_eq!(desk.chosen(ids.clone()).await.unwrap().taken_back, [right_id]);
    assert_eq!(desk.statistics(7).await.unwrap().causes.len(), 2);

    // So is what was corrected before any version of it was sent.
    let text = wrong.replacen("\"finnal\"", "\"final\"", 1);
    let corrected = desk.correct_with_text(wrong_id, text).await.unwrap().submissions[0].unwrap();
    assert_eq!(desk.hold_back(vec![corrected]).await.unwrap(), 1);
    assert_eq!(desk.detail(corrected).await.unwrap().row.taken_back, Some(TakenBack::New));
    desk.stop().await;
}

fn before_source(row: &RowView) -> journal::Source {
    row.message.as_ref().unwrap().source
}
