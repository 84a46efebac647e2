//! What is handed over is what was shown, and what of it fails is told.

use super::*;

/// What stood on the list and is gone when it is sent is told, report by report; what is known was
/// not to go again.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_shown_and_is_gone_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open_with(&folder.path().join("desk"), SecretsKind::Practice).await.unwrap();
    let out = folder.path().join("out");
    std::fs::create_dir(&out).unwrap();
    let file = |number: u64| out.join(format!("{number}.json"));
    for number in 1..=4 {
        std::fs::write(file(number), testkit::DocumentBuilder::new(number).json()).unwrap();
    }
    let paths = || vec![out.display().to_string()];
    desk.send_files(vec![file(4).display().to_string()], KnownContent::Show).await.unwrap();
    let shown: Vec<_> = desk.inspect_files(paths()).await.unwrap();
    let shown: Vec<String> = shown.into_iter().map(|view| view.digest).collect();
    for number in [2, 3, 4] {
        std::fs::remove_file(file(number)).unwrap();
    }
    let list = crate::desk::HandedList {
        items: vec![HandedItem::File { path: out.display().to_string() }],
        again: Vec::new(),
        corrections: Vec::new(),
        shown: Some(shown.clone()),
        left_out: Vec::new(),
        beside: Vec::new(),
        separate: false,
        endpoint: desk.status().await.unwrap().endpoint_id,
    };
    let view = desk.hand_over(list).await.unwrap();
    assert_eq!(view.items[0].submissions.iter().flatten().count(), 1);
    assert_eq!((view.items[0].failed.len(), &*view.gone.failed), (0, &[0, 1][..]));
    let gone: Vec<&String> = view.gone.files.iter().map(|file| &file.digest).collect();
    assert!(gone.iter().all(|digest| shown[1..3].contains(digest)), "{gone:?}");
    let problem = view.gone.problem.unwrap();
    assert_eq!((problem.code.as_str(), problem.params["count"].as_str()), ("files-gone", "2"));
    desk.stop().await;
}

/// A file that takes a report's place is the one that was shown, whatever lies there by then.
#[tokio::test(flavor = "multi_thread")]
async fn a_correction_is_the_file_that_was_shown() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open_with(&folder.path().join("desk"), SecretsKind::Practice).await.unwrap();
    let file = folder.path().join("a.json");
    let write = |number: u64| {
        std::fs::write(&file, testkit::DocumentBuilder::new(number).json()).unwrap();
    };
    let path = || file.display().to_string();
    write(1);
    desk.send_files(vec![path()], KnownContent::Show).await.unwrap();
    desk.hold_back(vec![1]).await.unwrap();
    write(2);
    let shown = desk.inspect_files(vec![path()]).await.unwrap().remove(0).digest;
    write(3);
    let refused = desk.correct_with_file(1, path(), vec![shown.clone()]).await;
    assert_eq!(refused.unwrap_err().code, "correction-changed");
    let row = |id| desk.engine().journal().row(report::SubmissionId(id));
    assert_eq!((row(1).unwrap().state.code(), row(2).is_err()), ("held", true));
    write(2);
    let view = desk.correct_with_file(1, path(), vec![shown]).await.unwrap();
    assert_eq!(view.submissions, [Some(2)]);
    desk.stop().await;
}

/// One of three files cannot be written to the journal: the other two are told with their
/// submissions, so that they can be taken back and are not handed over again; and once it can be
/// written, the one that was left is taken in.
#[tokio::test(flavor = "multi_thread")]
async fn a_hand_over_of_which_a_part_fails_tells_which() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open(&folder.path().join("desk")).await.unwrap();
    let paths: Vec<String> = (1..=3)
        .map(|number| {
            let file = folder.path().join(format!("{number}.json"));
            std::fs::write(&file, testkit::DocumentBuilder::new(number).json()).unwrap();
            file.display().to_string()
        })
        .collect();
    let engine = desk.engine();
    let key = engine.secrets().journal_key().unwrap();
    let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    let raw = rusqlite::Connection::open(engine.profile().journal_file()).unwrap();
    raw.execute_batch(&format!("PRAGMA key = \"x'{hex}'\"")).unwrap();
    let fails = "CREATE TRIGGER fails BEFORE INSERT ON submission WHEN NEW.file = '3.json' \
                 BEGIN SELECT RAISE(ABORT, 'cannot be written'); END";
    raw.execute_batch(fails).unwrap();
    let view = desk.send_files(paths.clone(), KnownContent::SendAgain).await.unwrap();
    let [Some(_), Some(_), None] = view.submissions[..] else { panic!("{:?}", view.submissions) };
    assert_eq!((&*view.failed, view.files[2].file.as_str()), (&[2_u32][..], "3.json"));
    assert_eq!(view.problem.unwrap().code, "journal-io");
    // Where nothing of it is taken in it is a problem, and nothing else.
    let failed = desk.send_files(vec![paths[2].clone()], KnownContent::Show).await;
    assert_eq!(failed.err().unwrap().code, "journal-io");
    raw.execute_batch("DROP TRIGGER fails").unwrap();
    let view = desk.send_files(paths, KnownContent::Show).await.unwrap();
    assert!(matches!(view.submissions[..], [None, None, Some(_)]) && view.failed.is_empty());
    desk.stop().await;
}
