//! Lists: counts at each filter, orders, one decision for many reports, and views that are kept.

use std::path::Path;

use bridge::views::{AboutView, DeadlineView, ListQuery, SavedView};
use bridge::{Action, Decision, Desk, Group, KnownContent, Names, StateCode};
use testkit::{Disease, DocumentBuilder};

const LAKE: &str = "Zentrallabor Seestadt";

/// A desk on which these reports of two laboratories wait: nothing works the queue.
async fn desk_with(root: &Path, families: &[&str]) -> (Desk, Vec<i64>) {
    let desk = Desk::open(&root.join("home")).await.unwrap();
    desk.set_paused(true).await.unwrap();
    let mut files = Vec::new();
    for (at, family) in families.iter().enumerate() {
        let disease = Disease::ALL[at % Disease::ALL.len()];
        let text = DocumentBuilder::new(at as u64 + 1).family(family).disease(disease).json();
        // Every second one is of another laboratory.
        let text = if at % 2 == 0 { text } else { text.replace("Labor Beispiel & Söhne", LAKE) };
        let file = root.join(format!("{at}.json"));
        std::fs::write(&file, text).unwrap();
        files.push(file.display().to_string());
    }
    let intake = desk.send_files(files, KnownContent::Show).await.unwrap();
    (desk, intake.submissions.into_iter().map(|id| id.expect("taken in")).collect())
}

async fn families(desk: &Desk, query: ListQuery) -> Vec<String> {
    let page = desk.list(query, Names::Shown).await.unwrap();
    let family = |patient: &str| patient.split([',', ' ']).next().unwrap_or_default().to_owned();
    page.rows.iter().map(|row| family(row.patient.as_deref().unwrap())).collect()
}

fn sorted(column: &str, ascending: bool) -> ListQuery {
    ListQuery { sort: Some(column.to_owned()), ascending, ..ListQuery::default() }
}

/// Each state that a row can show is a filter of the list: a figure of the overview counts by it,
/// and leads there.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_can_be_asked_for_each_state_that_its_rows_can_show() {
    let root = tempfile::tempdir().unwrap();
    let (desk, _) = desk_with(root.path(), &["Zumstein"]).await;
    let mut all = Vec::new();
    for state in bridge::headless::Family::State.bare() {
        let query = ListQuery { states: vec![(*state).to_owned()], ..ListQuery::default() };
        all.extend(families(&desk, query).await);
    }
    assert_eq!(all, ["Zumstein"]);
    let none = ListQuery { states: vec!["nonsense".to_owned()], ..ListQuery::default() };
    assert_eq!(desk.list(none, Names::Shown).await.unwrap_err().code, "argument-invalid");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_is_sorted_by_each_column_page_by_page() {
    let root = tempfile::tempdir().unwrap();
    let (desk, ids) =
        desk_with(root.path(), &["Zumstein", "Ärni", "brunner", "Arnold", "Élie"]).await;
    let upwards = ["Ärni", "Arnold", "brunner", "Élie", "Zumstein"];
    assert_eq!(families(&desk, sorted("patient", true)).await, upwards);
    let mut downwards = upwards;
    downwards.reverse();
    assert_eq!(families(&desk, sorted("patient", false)).await, downwards);
    // Two by two it is the same, each report once.
    let (mut seen, mut before) = (Vec::new(), None);
    loop {
        let query = ListQuery { before, limit: Some(2), ..sorted("patient", true) };
        let page = desk.list(query.clone(), Names::Shown).await.unwrap();
        assert_eq!(page.total, 5);
        seen.extend(families(&desk, query).await);
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(seen, upwards);
    // By the disease as the reader calls it: Covid, Gonorrhö, Legionellose, Malaria; equal ones
    // newest first.
    let query = ListQuery { language: Some("de".to_owned()), ..sorted("disease", true) };
    let page = desk.list(query, Names::Masked).await.unwrap();
    let diseases: Vec<_> = page.rows.iter().map(|row| row.disease.clone().unwrap()).collect();
    assert_eq!(diseases, ["covid-19", "covid-19", "gonorrhoea", "legionellosis", "malaria"]);
    assert_eq!(page.rows[0].id, ids[4]);
    for column in ["state", "laboratory", "created", "updated"] {
        assert_eq!(desk.list(sorted(column, true), Names::Masked).await.unwrap().rows.len(), 5);
    }
    let wrong = desk.list(sorted("weight", true), Names::Masked).await;
    assert_eq!(wrong.unwrap_err().code, "argument-invalid");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_filter_says_what_it_would_leave() {
    let root = tempfile::tempdir().unwrap();
    let (desk, ids) = desk_with(root.path(), &["Eins", "Zwei", "Drei", "Vier"]).await;
    desk.hold_back(vec![ids[0]]).await.unwrap();
    let counts = desk.list_counts(ListQuery::default()).await.unwrap();
    assert_eq!(counts.groups[&Group::NeedsAttention], 1);
    assert_eq!(counts.groups[&Group::InProgress], 3);
    assert_eq!((counts.states[&StateCode::Held], counts.states[&StateCode::Queued]), (1, 3));
    let laboratories: Vec<_> = counts.laboratories.iter().map(|it| it.count).collect();
    assert_eq!(laboratories, [2, 2]);
    assert!(!counts.at_least && counts.choices_counted.is_none());
    // The groups follow the search and the laboratory, whatever group is shown; the states follow
    // the group.
    let of = |group: Option<&str>, search: Option<&str>, laboratory: Option<&str>| ListQuery {
        group: group.map(str::to_owned),
        search: search.map(str::to_owned),
        laboratory: laboratory.map(str::to_owned),
        ..ListQuery::default()
    };
    let counts = desk.list_counts(of(Some("in-progress"), None, Some(LAKE))).await.unwrap();
    assert_eq!(counts.groups.get(&Group::NeedsAttention), None);
    assert_eq!(counts.groups[&Group::InProgress], 2);
    assert_eq!(counts.states.get(&StateCode::Held), None);
    assert_eq!(counts.laboratories.len(), 2, "another laboratory can still be chosen");
    let counts = desk.list_counts(of(None, Some("eins"), None)).await.unwrap();
    assert_eq!(counts.groups, [(Group::NeedsAttention, 1)].into());
    let held = ListQuery { states: vec!["held".to_owned()], ..ListQuery::default() };
    let counts = desk.list_counts(held).await.unwrap();
    assert_eq!(counts.groups, [(Group::NeedsAttention, 1)].into(), "a status stays asked for");
    assert_eq!((counts.states[&StateCode::Held], counts.states[&StateCode::Queued]), (1, 3));
    let query = of(None, None, Some(LAKE));
    assert_eq!(desk.list(query.clone(), Names::Masked).await.unwrap().total, 2);
    assert_eq!(desk.matching(query).await.unwrap(), [ids[3], ids[1]]);
    let some = ListQuery { ids: Some(vec![ids[2], ids[3], 9_999]), ..of(None, None, Some(LAKE)) };
    assert_eq!(desk.matching(some).await.unwrap(), [ids[3]]);
}

/// Else the version before it would wait for a person again, who has said already that none of it
/// is to be reported.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_reportable_is_so_in_every_version() {
    let root = tempfile::tempdir().unwrap();
    let (desk, ids) = desk_with(root.path(), &["Eins", "Zwei"]).await;
    desk.hold_back(ids.clone()).await.unwrap();
    let mut corrections = Vec::new();
    for id in &ids {
        let text = desk.detail(*id).await.unwrap().source;
        let changed = text.replacen("\"final\"", "\"finnal\"", 1);
        assert_ne!(changed, text);
        let corrected = desk.correct_with_text(*id, changed).await.unwrap();
        corrections.push(corrected.submissions[0].unwrap());
    }
    let state = async |id| desk.detail(id).await.unwrap().row.state;
    let reason = || "no notifiable disease".to_owned();
    let decided = desk.decide(vec![corrections[0]], Decision::NotReportable, reason()).await;
    assert_eq!(decided.unwrap().done, [corrections[0]]);
    assert_eq!(state(corrections[0]).await, StateCode::Withdrawn);
    assert_eq!(state(ids[0]).await, StateCode::Withdrawn);
    // Whoever names both of them is told that it is so of both.
    let both = vec![ids[0], corrections[0]];
    let again = desk.decide(both.clone(), Decision::NotReportable, reason()).await.unwrap();
    assert_eq!((again.done, again.refused.len()), (both, 0));
    // A correction that is not sent leaves what it was to correct.
    desk.decide(vec![corrections[1]], Decision::Withdraw, reason()).await.unwrap();
    assert_eq!(state(ids[1]).await, StateCode::Held);
    desk.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_decision_for_many_says_for_which_it_was_not_done_and_why() {
    let root = tempfile::tempdir().unwrap();
    let (desk, ids) = desk_with(root.path(), &["Eins", "Zwei", "Drei"]).await;
    let none = String::new;
    let chosen = desk.chosen(vec![ids[0], ids[1], 9_999]).await.unwrap();
    assert_eq!(
        (chosen.count, chosen.actions[&Action::HoldBack], chosen.actions[&Action::Withdraw]),
        (2, 2, 2)
    );
    assert_eq!(chosen.actions.get(&Action::Resubmit), None);

    let held = desk.decide(vec![ids[0], ids[1]], Decision::HoldBack, none()).await.unwrap();
    assert_eq!((held.done.len(), held.sent.len(), held.refused.len()), (2, 0, 0));
    // Two are on hold already, one is none at all, one can be stopped.
    let asked = vec![ids[0], ids[1], 9_999, ids[2]];
    let again = desk.decide(asked, Decision::HoldBack, none()).await.unwrap();
    assert_eq!(again.done, [ids[2]]);
    let told: Vec<_> =
        again.refused.iter().map(|it| (it.problem.code.as_str(), it.ids.clone())).collect();
    assert_eq!(
        told,
        [("action-not-possible", vec![ids[0], ids[1]]), ("no-such-submission", vec![9_999])]
    );
    assert_eq!(again.refused[0].problem.params["state"], "held");

    // What is sent by a decision waits as long as what was handed over, and is stopped in the same
    // way.
    let without = desk.decide(ids.clone(), Decision::Release, none()).await;
    assert_eq!(without.unwrap_err().code, "argument-invalid");
    let released =
        desk.decide(ids.clone(), Decision::Release, "looked at".to_owned()).await.unwrap();
    assert_eq!(released.sent, ids);
    let batch = desk.batch(released.sent).await.unwrap();
    assert!(batch.undo_until.is_some());
    assert_eq!(desk.hold_back(batch.waiting).await.unwrap(), 3);

    let withdrawn = desk.decide(ids.clone(), Decision::Withdraw, "twice".to_owned()).await.unwrap();
    assert_eq!(withdrawn.done, ids);
    // Nobody has said of one of them that the authority has it.
    let of = |state: StateCode| ListQuery {
        states: vec![state.code().to_owned()],
        limit: Some(1),
        ..ListQuery::default()
    };
    let total = async |query| desk.list(query, Names::Masked).await.unwrap().total as usize;
    assert_eq!(total(of(StateCode::Withdrawn)).await, ids.len());
    assert_eq!(total(of(StateCode::SaidReceived)).await, 0);
    let steps = desk.detail(ids[1]).await.unwrap().timeline;
    assert_eq!(steps.last().unwrap().params["reason"], "twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_failed_is_sent_again_after_the_time_for_undoing_it() {
    let root = tempfile::tempdir().unwrap();
    let (desk, ids) = desk_with(root.path(), &["Muster-Fehler", "Muster-Fehler"]).await;
    desk.start().await.unwrap();
    desk.set_paused(false).await.unwrap();
    let failed = async {
        loop {
            let seen = desk.revision().unwrap();
            let batch = desk.batch(ids.clone()).await.unwrap();
            if batch.attention.len() == ids.len() {
                return;
            }
            desk.changed(seen).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(120), failed).await.expect("in time");
    desk.set_paused(true).await.unwrap();
    let again = desk.decide(ids.clone(), Decision::Resubmit, String::new()).await.unwrap();
    assert_eq!((again.done.clone(), again.sent.len()), (ids.clone(), 2));
    let batch = desk.batch(again.sent.clone()).await.unwrap();
    assert!(batch.undo_until.is_some() && batch.waiting == again.sent);
    let undone = desk.decide(again.sent.clone(), Decision::HoldBack, String::new()).await.unwrap();
    assert_eq!(undone.done, again.sent);
    assert_eq!(desk.detail(again.sent[0]).await.unwrap().row.state, StateCode::Held);
    desk.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn views_are_kept_in_the_encrypted_journal_and_nowhere_else() {
    let root = tempfile::tempdir().unwrap();
    let (desk, _) = desk_with(root.path(), &["Eins"]).await;
    let view = |name: &str, search: &str| SavedView {
        name: name.to_owned(),
        group: Some("needs-attention".to_owned()),
        states: vec!["failed".to_owned()],
        search: search.to_owned(),
        period: "week".to_owned(),
        laboratory: None,
        about: Some(about("malaria")),
        timeliness: Some("overdue".to_owned()),
        sort: Some("disease".to_owned()),
        ascending: true,
    };
    assert!(desk.saved_views().await.unwrap().is_empty());
    desk.keep_view(view("b", "Zwinglicanary")).await.unwrap();
    desk.keep_view(view(" A ", "")).await.unwrap();
    desk.keep_view(view("b", "Zwinglicanaries")).await.unwrap();
    let kept = desk.saved_views().await.unwrap();
    assert_eq!(kept.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["A", "b"]);
    assert_eq!(kept[1].search, "Zwinglicanaries");
    assert!(!format!("{kept:?}").contains("Zwingli"), "printed by accident it names nobody");
    for wrong in [
        view("", ""),
        view(&"n".repeat(61), ""),
        SavedView { period: "year".to_owned(), ..view("c", "") },
        SavedView { states: vec!["lost".to_owned()], ..view("c", "") },
        SavedView { sort: Some("weight".to_owned()), ..view("c", "") },
        SavedView { about: Some(about("lost-keys")), ..view("c", "") },
        SavedView { timeliness: Some("soon".to_owned()), ..view("c", "") },
    ] {
        assert_eq!(desk.keep_view(wrong).await.unwrap_err().code, "argument-invalid");
    }
    desk.forget_view("A".to_owned()).await.unwrap();
    assert_eq!(desk.saved_views().await.unwrap().len(), 1);
    drop(desk);
    // Neither what was searched for nor the name of the view stands in any file in the clear.
    let mut folders = vec![root.path().join("home")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
                continue;
            }
            let bytes = std::fs::read(entry.path()).unwrap();
            let found = bytes.windows(7).any(|part| part == b"Zwingli");
            assert!(!found, "{}", entry.path().display());
        }
    }
    let desk = Desk::open(&root.path().join("home")).await.unwrap();
    assert_eq!(desk.saved_views().await.unwrap()[0].name, "b", "kept beyond the end");
}

fn about(disease: &str) -> AboutView {
    AboutView { disease: Some(disease.to_owned()), subject: None }
}

fn hours(disease: &str, hours: u32) -> DeadlineView {
    DeadlineView { disease: disease.to_owned(), hours }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_that_the_authority_has_not_taken_has_the_deadline_of_its_disease() {
    let root = tempfile::tempdir().unwrap();
    let (desk, ids) = desk_with(root.path(), &["Eins", "Zwei", "Drei", "Vier", "Fünf"]).await;
    let example = desk.deadlines().await.unwrap();
    assert!(example.is_example && example.deadlines.contains(&hours("malaria", 168)));

    let table = vec![hours("covid-19", 48), hours("gonorrhoea", 2), hours("malaria", 24)];
    desk.set_deadlines(table.clone()).await.unwrap();
    let kept = desk.deadlines().await.unwrap();
    assert_eq!((kept.deadlines, kept.is_example), (table, false));
    // The least time left stands first; legionellosis has no deadline and stands last, whichever
    // way it is sorted.
    for ascending in [true, false] {
        let page = desk.list(sorted("deadline", ascending), Names::Masked).await.unwrap();
        let mut due: Vec<_> = page.rows.iter().map(|row| row.due.clone()).collect();
        assert_eq!(page.rows[4].disease.as_deref(), Some("legionellosis"));
        assert_eq!(due.pop(), Some(None));
        assert!(due.is_sorted_by(|a, b| if ascending { a <= b } else { a >= b }), "{due:?}");
    }
    // Whoever withdraws a report has no clock to look at.
    let first = desk.detail(ids[0]).await.unwrap();
    assert!(first.row.due > Some(first.document_date.unwrap()), "{:?}", first.row.due);
    desk.withdraw(ids[0], "a control sample".to_owned()).await.unwrap();
    assert_eq!(desk.detail(ids[0]).await.unwrap().row.due, None);

    for wrong in [
        vec![hours("no-such-disease", 24)],
        vec![hours("malaria", 0)],
        vec![hours("malaria", 9_000)],
        vec![hours("malaria", 24), hours("malaria", 48)],
    ] {
        let refused = desk.set_deadlines(wrong).await.unwrap_err();
        assert_eq!(refused.code, "argument-invalid");
    }
    // An empty table is one that was entered: the example does not come back.
    desk.set_deadlines(Vec::new()).await.unwrap();
    let kept = desk.deadlines().await.unwrap();
    assert!(kept.deadlines.is_empty() && !kept.is_example);
    assert_eq!(desk.detail(ids[1]).await.unwrap().row.due, None);
}

/// A figure of the overview opens the reports that it counts, and a filter says of each choice how
/// many reports it would leave.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_overview_counts_is_what_the_list_then_shows() {
    let root = tempfile::tempdir().unwrap();
    let (desk, ids) = desk_with(root.path(), &["Eins", "Zwei", "Drei", "Vier", "Fünf"]).await;
    desk.set_deadlines(vec![hours("covid-19", 8_000), hours("malaria", 1)]).await.unwrap();
    desk.hold_back(vec![ids[4]]).await.unwrap();
    let total = async |query| desk.list(query, Names::Masked).await.unwrap().total;

    let view = desk.statistics(7).await.unwrap();
    let choices = desk.list_counts(ListQuery::default()).await.unwrap();
    assert_eq!(view.diseases.len(), 4);
    assert_eq!(choices.diseases, view.diseases);
    for counted in view.diseases {
        let about = AboutView { disease: counted.disease, subject: counted.subject };
        let query = ListQuery { about: Some(about), ..ListQuery::default() };
        assert_eq!(total(query).await, counted.count);
    }
    let none = Some(AboutView { disease: None, subject: None });
    assert_eq!(total(ListQuery { about: none, ..ListQuery::default() }).await, 0);

    // The documents are older than an hour and younger than a year.
    let deadlines = view.deadlines.unwrap();
    assert_eq!((deadlines.overdue, deadlines.running), (1, 2));
    let so = |code: &str| ListQuery { timeliness: Some(code.to_owned()), ..ListQuery::default() };
    assert_eq!(total(so("overdue")).await, 1);
    assert_eq!(total(so("running")).await, 2);
    assert_eq!(total(so("kept")).await + total(so("late")).await, 0);
    assert_eq!(choices.timeliness, [("overdue", 1), ("running", 2)].into());
    // What is chosen in one filter counts in the others, and leaves its own choices as they are.
    let choices = desk.list_counts(so("running")).await.unwrap();
    assert_eq!(choices.diseases.len(), 1);
    assert_eq!(choices.timeliness, [("overdue", 1), ("running", 2)].into());
    assert_eq!(choices.states, [(StateCode::Held, 1), (StateCode::Queued, 1)].into());
    assert_eq!(desk.matching(so("running")).await.unwrap(), [ids[4], ids[0]]);
    assert_eq!(desk.list(so("soon"), Names::Masked).await.unwrap_err().code, "argument-invalid");
}

/// Views were kept before these filters were there.
#[test]
fn a_view_of_an_earlier_version_asks_for_every_disease_and_every_deadline() {
    let kept = r#"{"name":"a","group":null,"states":[],"search":"","period":"all",
                   "laboratory":null,"sort":null,"ascending":false}"#;
    let view: SavedView = serde_json::from_str(kept).unwrap();
    assert!(view.about.is_none() && view.timeliness.is_none());
}

/// What somebody has written by hand, and not sent, would be thrown away by the correction.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_for_many_leaves_out_what_somebody_has_edited() {
    let root = tempfile::tempdir().unwrap();
    let (desk, ids) = desk_with(root.path(), &["Eins", "Eins"]).await;
    desk.hold_back(ids.clone()).await.unwrap();
    let source = desk.detail(ids[0]).await.unwrap().source;
    desk.keep_draft(ids[0], source.replace("Eins", "Einser")).await.unwrap();
    // Who has undone what they had written has left nothing.
    desk.keep_draft(ids[1], desk.detail(ids[1]).await.unwrap().source).await.unwrap();
    let change = ("Patient.name.family".to_owned(), "Eins".to_owned(), "Zwei".to_owned());
    let view = desk.fix_preview(ids.clone(), change.0, change.1, change.2).await.unwrap();
    assert_eq!((view.edited, view.ready), (vec![ids[0]], vec![ids[1]]));
    desk.stop().await;
}

/// Whoever decides about a report sees that a colleague has begun to correct it: in its row, and
/// before a decision that would lose the draft.
#[tokio::test(flavor = "multi_thread")]
async fn a_draft_is_seen_in_the_list_and_before_a_decision_that_loses_it() {
    let root = tempfile::tempdir().unwrap();
    let (desk, ids) = desk_with(root.path(), &["Eins", "Zwei", "Drei"]).await;
    desk.hold_back(vec![ids[0], ids[1]]).await.unwrap();
    let source = desk.detail(ids[0]).await.unwrap().source;
    desk.keep_draft(ids[0], source.replace("Eins", "Einser")).await.unwrap();
    // Who has undone what they had written has left nothing.
    desk.keep_draft(ids[1], desk.detail(ids[1]).await.unwrap().source).await.unwrap();
    let marked = async |query: ListQuery| {
        let page = desk.list(query, Names::Masked).await.unwrap();
        page.rows.iter().filter(|row| row.draft).map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(marked(ListQuery::default()).await, [ids[0]]);
    let sorted = ListQuery { sort: Some("patient".to_owned()), ..ListQuery::default() };
    assert_eq!(marked(sorted).await, [ids[0]]);
    assert_eq!(
        marked(ListQuery { ids: Some(ids.clone()), ..ListQuery::default() }).await,
        [ids[0]]
    );
    assert!(desk.detail(ids[0]).await.unwrap().row.draft);
    assert!(!desk.detail(ids[1]).await.unwrap().row.draft);

    let chosen = desk.chosen(ids.clone()).await.unwrap();
    assert_eq!(chosen.actions[&Action::Withdraw], 3);
    assert_eq!(chosen.drafts[&Action::Withdraw], [ids[0]]);
    assert_eq!(chosen.drafts[&Action::Release], [ids[0]]);
    assert_eq!(chosen.drafts.get(&Action::HoldBack), None, "what is held back has none");
    // It is gone with the decision, and nothing speaks of it any more.
    let reason = || "entered twice".to_owned();
    desk.decide(vec![ids[0]], Decision::Withdraw, reason()).await.unwrap();
    assert_eq!(marked(ListQuery::default()).await, Vec::<i64>::new());
    assert!(desk.chosen(ids).await.unwrap().drafts.is_empty());
    desk.stop().await;
}
