//! The window as a whole: what is under way when it closes, its passphrase, its threads.

use super::*;

/// Whoever closes the window while files are taken in is asked, and the program ends once they are.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_being_taken_in_is_under_way_and_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    assert_eq!(desk.under_way(), 0);
    let taking = desk.takes(3);
    assert_eq!(desk.under_way(), 3);
    let ended = tokio::spawn({
        let desk = desk.clone();
        async move { desk.stop().await }
    });
    tokio::task::yield_now().await;
    assert!(!ended.is_finished());
    drop(taking);
    tokio::time::timeout(PATIENCE, ended).await.expect("in time").unwrap();
    assert_eq!(desk.under_way(), 0);
}

/// Without the window nobody asks for it any more: whoever closes it is asked first.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_doubt_for_long_is_under_way() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    let engine = desk.engine();
    let file = folder.path().join("1.json");
    std::fs::write(&file, testkit::DocumentBuilder::new(1).json()).unwrap();
    let looked = engine.inspect(vec![file]).await.unwrap();
    engine.take(&looked, engine::ImportOptions::default()).await.unwrap();
    assert_eq!(desk.under_way(), 1);
    let (since, due) = (engine.now().plus_seconds(-7_200), engine.now());
    let why = "cut".to_owned();
    for event in
        [report::Event::SendingStarted { since }, report::Event::Doubted { since, due, why }]
    {
        let by = report::Person("test".to_owned());
        let step = journal::Step::new(report::SubmissionId(1), event, by, since);
        engine.journal().record(step).unwrap();
    }
    assert_eq!(desk.status().await.unwrap().counts.needs_attention, 1);
    assert_eq!(desk.under_way(), 1);
}

/// Whoever guesses many passphrases at once gets no further than one after the other.
#[tokio::test(flavor = "multi_thread")]
async fn passphrases_are_tried_one_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    desk.set_unlock_passphrase(String::new(), "long enough".to_owned()).await.unwrap();
    desk.lock().await.unwrap();
    let tries: Vec<_> = (0..8)
        .map(|n| {
            let desk = desk.clone();
            tokio::spawn(async move { desk.unlock(format!("guess {n}")).await.unwrap_err().code })
        })
        .collect();
    let mut refused = 0;
    for guess in tries {
        refused += u32::from(guess.await.unwrap() == "unlock-refused");
    }
    assert!(refused <= 3, "{refused} were looked at");
    assert!(desk.is_locked());
}

/// The window awaits its commands on any thread: this need only compile.
#[test]
fn commands_move_between_threads() {
    fn moves<F: Future + Send>(_: F) {}
    let _ = |desk: &'static Desk, root: &'static Path| {
        moves(Desk::open(root));
        moves(desk.start());
        moves(desk.stop());
        moves(desk.changed(0));
        moves(desk.status());
        moves(desk.list(ListQuery::default(), Names::Masked));
        moves(desk.detail(1));
        moves(desk.inspect_files(Vec::new()));
        moves(desk.send_files(Vec::new(), KnownContent::Show));
        moves(desk.send_text(String::new(), String::new()));
        moves(desk.hold_back(Vec::new()));
        moves(desk.release(1, String::new()));
        moves(desk.withdraw(1, String::new()));
        moves(desk.say_received(1, String::new()));
        moves(desk.say_not_received(1, String::new()));
        moves(desk.resubmit(1));
        moves(desk.correct_with_file(1, String::new(), Vec::new()));
        moves(desk.correct_with_text(1, String::new()));
        moves(desk.practice_samples());
        moves(desk.certificate_inspect(Vec::new(), String::new()));
        moves(desk.certificate_import(Vec::new(), String::new(), None));
        moves(desk.endpoints());
        moves(desk.use_endpoint(String::new()));
        moves(desk.test_endpoint(String::new()));
        moves(desk.set_paused(true));
        moves(desk.set_watched_folder(None));
        moves(desk.preferences());
        moves(desk.statistics(1));
        moves(desk.statement(String::new()));
    };
}
