//! The window's commands, from a folder that is empty to reports that are completed.

use std::path::Path;
use std::time::Duration;

use bridge::views::{
    Connection, DetailView, IntakeView, ListQuery, PreferencesView, ProbeOutcome, Verdict,
};
use bridge::{
    Action, Desk, Environment, Group, KnownContent, Names, Problem, ProblemRow, Severity, StateCode,
};
use journal::Source;

/// Longest wait for anything, many times what it takes.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) async fn opened(root: &Path) -> Desk {
    let desk = Desk::open(root).await.unwrap();
    desk.start().await.unwrap();
    desk
}

/// Waits until a submission is in one of these states.
pub(crate) async fn until(desk: &Desk, id: i64, states: &[&str]) -> DetailView {
    let wait = async {
        loop {
            let seen = desk.revision().unwrap();
            let detail = desk.detail(id).await.unwrap();
            if states.contains(&detail.row.state.code()) {
                return detail;
            }
            desk.changed(seen).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("in time")
}

/// What is sent leaves at once.
async fn without_undo(desk: &Desk) {
    let preferences = desk.preferences().await.unwrap();
    let preferences = PreferencesView { undo_seconds: 0, ..preferences };
    desk.set_preferences(preferences).await.unwrap();
}

fn only(intake: &IntakeView) -> i64 {
    assert_eq!(intake.submissions.len(), 1);
    intake.submissions[0].expect("taken in")
}

#[track_caller]
pub(crate) fn assert_known<T: std::fmt::Debug>(result: Result<T, Problem>, code: &str) {
    let problem = result.unwrap_err();
    assert_eq!(problem.code, code);
    assert!(ProblemRow::of(code).is_some());
}

pub(crate) async fn sample(desk: &Desk, part: &str) -> String {
    let samples = desk.practice_samples().await.unwrap();
    samples.into_iter().find(|path| path.contains(part)).expect("a sample of this name")
}

#[tokio::test(flavor = "multi_thread")]
async fn from_a_file_to_completed_and_from_failed_to_corrected() {
    let root = tempfile::tempdir().unwrap();
    let desk = opened(root.path()).await;
    let samples = desk.practice_samples().await.unwrap();
    assert!(samples.len() >= 4);

    let looked = desk.inspect_files(samples.clone()).await.unwrap();
    assert!(looked.iter().all(|file| matches!(file.verdict, Verdict::Ready | Verdict::Warnings)));
    // Names are masked: initials and a year.
    assert!(looked.iter().all(|file| file.patient.as_ref().is_some_and(|p| p.len() <= 12)));

    let intake = desk.send_files(samples.clone(), KnownContent::Show).await.unwrap();
    let verdicts: Vec<_> = intake.files.iter().map(|file| file.verdict).collect();
    assert!(intake.submissions.iter().all(Option::is_some), "{verdicts:?}");
    let mut failed = None;
    for id in intake.submissions.iter().flatten() {
        let detail = until(&desk, *id, &["completed", "failed"]).await;
        if detail.row.state == StateCode::Failed {
            failed = Some(detail);
        } else {
            assert!(detail.receipt.is_some());
            assert!(detail.timeline.iter().any(|step| step.evidence.is_some()));
        }
    }
    let failed = failed.expect("one sample fails on purpose");
    assert_eq!(failed.row.group, Group::NeedsAttention);
    assert_eq!(failed.row.actions, [Action::Correct, Action::Resubmit, Action::Withdraw]);
    let message = &failed.messages[0];
    assert_eq!((message.source, message.severity), (Source::Authority, Severity::Error));
    assert!(message.rule.is_some() && message.text.is_some());

    let list = desk.list(ListQuery::default(), Names::Masked).await.unwrap();
    assert_eq!((list.rows.len(), list.total as usize), (samples.len(), samples.len()));
    // A file may be named after its patient: a letter of each word stands.
    assert!(list.rows.iter().all(|row| row.file.contains('…')));
    let query = ListQuery { group: Some("needs-attention".to_owned()), ..ListQuery::default() };
    let attention = desk.list(query, Names::Shown).await.unwrap();
    assert_eq!((attention.rows.len(), attention.total), (1, 1));
    assert_eq!(attention.rows[0].message.as_ref().unwrap().rule, message.rule);
    assert!(attention.rows[0].patient.as_ref().unwrap().contains("Muster-Fehler"));
    assert!(!attention.rows[0].file.contains('…'));

    // The same again is known; a correction takes the failed one's place.
    let again = desk.send_files(vec![samples[0].clone()], KnownContent::Show).await.unwrap();
    assert_eq!((again.files[0].verdict, again.submissions[0]), (Verdict::Known, None));
    let corrected = failed.source.replace("Muster-Fehler", "Muster");
    let correction = desk.correct_with_text(failed.row.id, corrected).await.unwrap();
    let successor = until(&desk, only(&correction), &["completed"]).await;
    assert_eq!(successor.row.corrects, Some(failed.row.id));
    // What is printed by accident names nobody.
    let printed = format!("{successor:?} {:?} {:?}", failed.row, intake);
    assert!(!printed.contains("Muster") && !printed.contains("urn:uuid"), "{printed}");
    let before = desk.detail(failed.row.id).await.unwrap();
    assert_eq!(before.row.state, StateCode::Superseded);
    assert_eq!(before.row.corrected_by, Some(successor.row.id));

    let status = desk.status().await.unwrap();
    assert_eq!(
        (status.environment, status.connection),
        (Environment::Practice, Connection::Connected)
    );
    assert_eq!(status.counts.needs_attention, 0);
    assert_eq!(status.counts.completed as usize, samples.len());
    assert_eq!(status.counts.closed, 1);
    assert_eq!(status.certificate.unwrap().stored_in, identity::SecretsKind::Practice);

    assert_days_are_counted(&desk, samples.len()).await;
    assert_day_is_stated(&desk, &successor).await;
    desk.stop().await;
}

/// The statistics of a week have all samples and the correction of one.
/// Also after the person has chosen another one: the sample itself names no language.
#[tokio::test(flavor = "multi_thread")]
async fn the_practice_authority_answers_in_the_language_of_the_window() {
    let root = tempfile::tempdir().unwrap();
    let desk = opened(root.path()).await;
    without_undo(&desk).await;
    let failing = sample(&desk, "fehler").await;
    let text = std::fs::read_to_string(failing).unwrap();
    for (number, (language, begins)) in
        [("fr", "Exercice\u{a0}: cette"), ("en", "Practice: this"), ("de", "Übung: Diese")]
            .into_iter()
            .enumerate()
    {
        let language = Some(language.to_owned());
        let preferences = PreferencesView { language, ..desk.preferences().await.unwrap() };
        desk.set_preferences(preferences).await.unwrap();
        let file = root.path().join(format!("{number}.json"));
        std::fs::write(&file, text.replace("7c1f7a10", &format!("7c1f7a1{}", number + 1))).unwrap();
        let file = file.display().to_string();
        let sent = desk.send_files(vec![file], KnownContent::Show).await.unwrap();
        let failed = until(&desk, only(&sent), &["failed", "held"]).await;
        let said = failed.messages[0].text.clone().unwrap_or_default();
        assert!(said.starts_with(begins), "{begins} {:?} {said}", failed.row.state);
    }
    desk.stop().await;
}

async fn assert_days_are_counted(desk: &Desk, samples: usize) {
    let statistics = desk.statistics(7).await.unwrap();
    assert_eq!(statistics.days.len(), 7);
    let counted: u32 = statistics.days.iter().flat_map(|day| day.by_state.values()).sum();
    assert_eq!(counted as usize, samples + 1);
    let pace = statistics.pace.expect("some are completed");
    assert_eq!(pace.reports as usize, samples);
    assert!(pace.median <= pace.p95);
    // Practice has an example of deadlines, and the authority has everything.
    let deadlines = statistics.deadlines.expect("practice has an example");
    assert_eq!((deadlines.overdue, deadlines.running), (0, 0));
    assert!(deadlines.kept + deadlines.late > 0);
    // What was corrected is one case with its correction.
    let by_disease: u32 = statistics.diseases.iter().map(|one| one.count).sum();
    assert_eq!(by_disease as usize, samples);
    assert!(statistics.oldest_open.is_none() && statistics.causes.is_empty());
    assert!(statistics.last_received.is_some());
}

/// The statement of today has every report with its digest and the answer behind it, and names
/// nobody.
async fn assert_day_is_stated(desk: &Desk, one: &DetailView) {
    let today = desk.statistics(1).await.unwrap().days[0].date.clone();
    let query = ListQuery { since: Some(today.clone()), ..ListQuery::default() };
    let listed = desk.list(query, Names::Masked).await.unwrap().rows;
    let statement = desk.statement(today.clone()).await.unwrap();
    assert_eq!((statement.date.as_str(), statement.entries.len()), (today.as_str(), listed.len()));
    assert!(!statement.is_cut && statement.chain_event > 0 && statement.chain_hash.len() == 64);
    let entry = statement.entries.iter().find(|entry| entry.id == one.row.id).expect("stated");
    assert_eq!((&entry.digest, &entry.receipt), (&one.digest, &one.receipt));
    assert_eq!((entry.answer_status, entry.corrects), (Some(200), one.row.corrects));
    assert!(entry.sent.is_some() && entry.answered.is_some());
    let written = serde_json::to_string(&statement).unwrap();
    assert!(!written.contains("Muster"), "no name");
    let query = ListQuery { until: Some(today), ..ListQuery::default() };
    assert!(desk.list(query, Names::Masked).await.unwrap().rows.is_empty(), "before today");
    assert_known(desk.statement("22.11.2026".to_owned()).await, "argument-invalid");
}

/// Two versions of one correction in one hand-over: one goes, the other is named with it, and none
/// is swallowed.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_corrections_of_one_report_one_is_sent_and_the_other_named() {
    let folder = tempfile::tempdir().unwrap();
    let desk = opened(folder.path()).await;
    let wrong = testkit::DocumentBuilder::new(77).family("Muster-Fehler").json();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let first = write("1.json", &wrong);
    let sent = desk.send_files(vec![first], KnownContent::Show).await.unwrap();
    let failed = until(&desk, only(&sent), &["failed"]).await;
    desk.keep_draft(failed.row.id, "{}".to_owned()).await.unwrap();
    let second = wrong.replace("Muster-Fehler", "Muster");
    let third = second.replace("Musterdorf", "Andersdorf");
    assert_ne!(second, third);
    let files = [("2.json", &second), ("3.json", &third), ("4.json", &second)];
    let files = files.map(|(name, text)| write(name, text)).to_vec();
    let view = desk.send_files(files, KnownContent::Show).await.unwrap();
    let [Some(successor), None, None] = view.submissions[..] else { panic!("{view:?}") };
    let verdicts: Vec<_> = view.files.iter().map(|file| file.verdict).collect();
    assert_eq!(verdicts[1..], [Verdict::Refused, Verdict::Known]);
    let message = &view.files[1].messages[0];
    assert_eq!(message.code, "corrected-by-other-file");
    assert_eq!((&*view.files[1].file, &*message.params["file"]), ("3.json", "2.json"));
    assert_eq!(view.files[2].known, Some(successor));
    assert_eq!(desk.draft(failed.row.id).await.unwrap(), None, "gone with the correction");
    desk.stop().await;
}

/// What has taken the place of a notice since it was shown has not been read by anybody.
#[tokio::test(flavor = "multi_thread")]
async fn a_notice_is_read_as_it_was_shown() {
    let root = tempfile::tempdir().unwrap();
    let desk = Desk::open(root.path()).await.unwrap();
    let engine = desk.engine();
    let say = |seconds| {
        let at = fhir::Instant::from_seconds(seconds);
        let code = "backups-failing".to_owned();
        let notice = journal::Notice { code, about: None, params: Default::default(), at };
        engine.journal().put_notice(notice).unwrap();
    };
    say(1_000);
    let at = desk.status().await.unwrap().notices.remove(0).at;
    say(2_000);
    desk.acknowledge_notice("backups-failing".to_owned(), at).await.unwrap();
    let left = desk.status().await.unwrap().notices;
    assert_eq!(left.len(), 1, "it was another one");
    desk.acknowledge_notice("backups-failing".to_owned(), left[0].at.clone()).await.unwrap();
    assert!(desk.status().await.unwrap().notices.is_empty());
}

/// Whoever has paused sending for the night finds it paused in the morning.
#[tokio::test(flavor = "multi_thread")]
async fn a_pause_outlives_the_program() {
    let root = tempfile::tempdir().unwrap();
    let desk = opened(root.path()).await;
    without_undo(&desk).await;
    desk.set_paused(true).await.unwrap();
    let text = std::fs::read_to_string(sample(&desk, "covid").await).unwrap();
    let id = only(&desk.send_text(text, "pasted".to_owned()).await.unwrap());
    desk.stop().await;
    drop(desk);
    let desk = opened(root.path()).await;
    assert!(desk.status().await.unwrap().paused, "nobody has resumed it");
    desk.set_paused(false).await.unwrap();
    let done = until(&desk, id, &["completed"]).await;
    assert_eq!(done.attempts, 1);
    desk.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_release_withdraw() {
    let root = tempfile::tempdir().unwrap();
    let desk = opened(root.path()).await;
    without_undo(&desk).await;
    desk.set_paused(true).await.unwrap();
    let text = std::fs::read_to_string(sample(&desk, "covid").await).unwrap();

    // Undone before it left, then released with a reason.
    let intake = desk.send_text(text.clone(), "pasted".to_owned()).await.unwrap();
    let id = only(&intake);
    desk.hold_back(vec![id]).await.unwrap();
    assert_eq!(desk.detail(id).await.unwrap().row.state, StateCode::Held);
    assert_known(desk.hold_back(vec![id]).await, "action-not-possible");
    assert_known(desk.release(id, "  ".to_owned()).await, "argument-invalid");
    desk.release(id, "looked at".to_owned()).await.unwrap();
    desk.set_paused(false).await.unwrap();
    let done = until(&desk, id, &["completed"]).await;
    let released = done.timeline.iter().find(|step| step.event == "released").unwrap();
    assert_eq!(released.params["reason"], "looked at");
    assert!(!released.person.is_empty());

    // An error holds a report; it is shown in the section that it concerns.
    let wrong = text.replacen("\"birthDate\":\"", "\"birthDate\":\"2999-01-01\",\"_was\":\"", 1);
    let wrong = if wrong == text {
        text.replacen("\"birthDate\": \"", "\"birthDate\": \"2999-01-01\", \"_was\": \"", 1)
    } else {
        wrong
    };
    assert_ne!(wrong, text);
    let held = only(&desk.send_text(wrong, "wrong".to_owned()).await.unwrap());
    let detail = desk.detail(held).await.unwrap();
    assert_eq!((detail.row.state, detail.row.group), (StateCode::Held, Group::NeedsAttention));
    let message = detail.messages.iter().find(|m| m.code == "date-in-future").unwrap();
    let section = &detail.sections[message.section.unwrap() as usize];
    assert_eq!(section.resource, "Patient");
    assert_eq!(message.field.as_deref(), Some("patient.birth-date"));
    assert_known(desk.resubmit(held).await, "action-not-possible");

    // Around what is no document nothing can be sent, whatever the reason: it is said at once.
    let message = text.replacen("\"document\"", "\"message\"", 1);
    assert_ne!(message, text);
    let other = only(&desk.send_text(message, "message".to_owned()).await.unwrap());
    assert_known(desk.release(other, "all the same".to_owned()).await, "not-a-document");
    let detail = desk.detail(other).await.unwrap();
    assert_eq!((detail.row.state, detail.timeline.len()), (StateCode::Held, 1));
    // A ready envelope that nobody could ask for.
    let envelope = format!(
        "{{\"resourceType\":\"DocumentReference\",\"status\":\"current\",\"contained\":[{}],\
         \"content\":[{{\"attachment\":{{\"contentType\":\"application/fhir+json\",\"url\":\"#d\"}}}}]}}",
        text.replacen("{", "{\"id\":\"d\",", 1)
    );
    let nameless = only(&desk.send_text(envelope, "envelope".to_owned()).await.unwrap());
    assert_known(desk.release(nameless, "all the same".to_owned()).await, "no-identifier");
    assert_eq!(desk.detail(nameless).await.unwrap().row.state, StateCode::Held);
    desk.withdraw(held, "not reportable".to_owned()).await.unwrap();
    assert_eq!(desk.detail(held).await.unwrap().row.group, Group::Closed);
    assert_known(desk.detail(9_999).await, "no-such-submission");
    desk.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_report_is_named() {
    let root = tempfile::tempdir().unwrap();
    let desk = Desk::open(root.path()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.display().to_string()
    };
    let paths = vec![
        file("a.pdf", b"%PDF-1.7"),
        file("b.json", b"{\"resourceType\":\"Patient\"}"),
        file("c.json", b"{\"resourceType\":\"Bundle\",\"type\":\"document\","),
        file("d.json", b""),
        folder.path().join("missing.json").display().to_string(),
    ];
    let files = desk.inspect_files(paths.clone()).await.unwrap();
    let told: Vec<_> = files.iter().map(|f| (f.kind, f.messages[0].code.as_str())).collect();
    assert!(files.iter().all(|f| f.verdict == Verdict::Refused && f.known.is_none()), "{told:?}");
    assert_eq!(told[0], ("pdf", "not-a-report"));
    assert_eq!(told[1], ("fhir-other", "not-a-report"));
    assert_eq!(files[1].messages[0].params["resource-type"], "Patient");
    assert_eq!(told[2].1, "json-syntax");
    assert!(files[2].messages[0].line.is_some());
    assert_eq!(told[3].1, "file-empty");
    assert_eq!(told[4].1, "file-not-found");
    let known = || bridge::MESSAGE_CODES.iter().copied().flatten();
    for file in &files {
        let message = &file.messages[0];
        let params: Vec<_> = message.params.keys().map(String::as_str).collect();
        let mut listed =
            known().find(|(code, _)| *code == message.code).map_or(Vec::new(), |of| of.1.to_vec());
        listed.sort_unstable();
        assert_eq!(params, listed, "{}", message.code);
    }
    let intake = desk.send_files(paths, KnownContent::Show).await.unwrap();
    assert!(intake.submissions.iter().all(Option::is_none));
    desk.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_are_inspected_and_wrong_ones_named() {
    let root = tempfile::tempdir().unwrap();
    let desk = Desk::open(root.path()).await.unwrap();
    let pilot = root.path().join("practice/authority/pilot");
    let mut files = std::fs::read_dir(pilot).unwrap().map(|entry| entry.unwrap().path());
    let p12 = files.find(|path| path.extension().is_some_and(|e| e == "p12")).unwrap();
    let password = std::fs::read_to_string(p12.with_extension("password")).unwrap();
    let paths = || vec![p12.display().to_string()];
    let view = desk.certificate_inspect(paths(), password).await.unwrap();
    assert!(
        view.client_auth
            && view.days_left > 300
            && view.days_ahead == 0
            && view.subject.contains("practice")
    );
    assert_eq!(view.purposes, ["clientAuth"]);
    let wrong = desk.certificate_inspect(paths(), "wrong".to_owned()).await;
    assert_known(wrong, "certificate-wrong-password");
    let none = desk.certificate_inspect(paths(), String::new()).await;
    assert_known(none, "certificate-password-needed");
    let folder = desk.certificate_inspect(vec![root.path().display().to_string()], String::new());
    assert_known(folder.await, "file-unreadable");
    assert_known(desk.certificate_inspect(Vec::new(), String::new()).await, "argument-invalid");
    desk.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_connection_is_tested_layer_by_layer() {
    let root = tempfile::tempdir().unwrap();
    let desk = opened(root.path()).await;
    let layers = desk.test_endpoint("practice".to_owned()).await.unwrap();
    assert!(layers.len() >= 6);
    assert!(layers.iter().all(|layer| layer.outcome == ProbeOutcome::Passed), "{layers:?}");
    desk.stop().await;
}

/// The shell asks before it stops what nobody looks at.
#[tokio::test(flavor = "multi_thread")]
async fn it_is_known_whether_a_folder_is_watched() {
    let (root, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let desk = Desk::open(root.path()).await.unwrap();
    desk.start().await.unwrap();
    assert!(!desk.watches_a_folder().await);
    desk.set_watched_folder(Some(folder.path().display().to_string())).await.unwrap();
    assert!(desk.watches_a_folder().await);
    desk.set_watched_folder(None).await.unwrap();
    assert!(!desk.watches_a_folder().await);
    desk.stop().await;
}
