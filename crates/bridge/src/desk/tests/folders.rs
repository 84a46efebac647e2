//! The watched folder: what is sent of it, what stays, and what is told when something is wrong
//! with it.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn files_in_the_watched_folder_are_sent() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open(&folder.path().join("desk")).await.unwrap();
    desk.start().await.unwrap();
    let watched = folder.path().join("out");
    std::fs::create_dir(&watched).unwrap();
    desk.set_watched_folder(Some(watched.display().to_string())).await.unwrap();
    let file = watched.join("report.json");
    std::fs::copy(sample(&desk).await, &file).unwrap();
    completed(&desk, 1).await;
    assert!(file.exists(), "files stay where they are");
    desk.set_watched_folder(None).await.unwrap();
    desk.stop().await;
}

/// What lay there when a person was asked stays, can be looked at, and goes where a person hands it
/// over.
#[tokio::test(flavor = "multi_thread")]
async fn what_lay_in_the_watched_folder_is_sent_where_a_person_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open(&folder.path().join("desk")).await.unwrap();
    desk.start().await.unwrap();
    let watched = folder.path().join("out");
    std::fs::create_dir(&watched).unwrap();
    let put = |number: u64| {
        let text = testkit::DocumentBuilder::new(number).json();
        std::fs::write(watched.join(format!("{number}.json")), text).unwrap();
    };
    let path = watched.display().to_string();
    assert_eq!(desk.look_at_folder(path.clone()).await.unwrap().count, 0);
    put(1);
    put(2);
    let there = desk.look_at_folder(path.clone()).await.unwrap();
    assert_eq!((there.count, there.newest.is_some()), (2, true));
    put(3);
    desk.watch_what_comes(path.clone()).await.unwrap();
    completed(&desk, 1).await;
    let left = desk.left_lying().await.unwrap();
    assert_eq!(left.paths, ["1.json", "2.json"].map(|it| watched.join(it).display().to_string()));
    let preferences = desk.preferences().await.unwrap();
    desk.set_preferences(crate::views::PreferencesView { undo_seconds: 0, ..preferences })
        .await
        .unwrap();
    desk.send_files(left.paths, engine::KnownContent::Show).await.unwrap();
    completed(&desk, 3).await;
    while desk.left_lying().await.unwrap().count > 0 {
        tokio::task::yield_now().await;
    }
    // Chosen again with all that lies in it, it has nothing that stays.
    put(4);
    desk.set_watched_folder(Some(path)).await.unwrap();
    completed(&desk, 4).await;
    desk.stop().await;
}

/// Waits until exactly these notices stand in the window.
async fn told(desk: &Desk, codes: &[&str]) -> Vec<crate::Problem> {
    let wait = async {
        loop {
            let status = desk.status().await.unwrap();
            let problems: Vec<_> = status.notices.into_iter().map(|n| n.problem).collect();
            if problems.iter().map(|problem| problem.code.as_str()).eq(codes.iter().copied()) {
                return problems;
            }
            desk.changed(status.revision).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("in time")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_the_watched_folder_stands_in_the_window_as_long_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open(&folder.path().join("desk")).await.unwrap();
    desk.start().await.unwrap();
    let (watched, away) = (folder.path().join("out"), folder.path().join("away"));
    std::fs::create_dir(&watched).unwrap();
    desk.set_watched_folder(Some(watched.display().to_string())).await.unwrap();
    let file = watched.join("Befund.pdf");
    std::fs::write(&file, "%PDF-1.7\n1 0 obj").unwrap();
    let problems = told(&desk, &["watched-files-refused"]).await;
    // A file may be named after a patient.
    assert_eq!((&*problems[0].params["file"], &*problems[0].params["kind"]), ("B….p…", "pdf"));
    assert_eq!(problems[0].remedy, "mend-file");
    // A report takes the place of what was none.
    std::fs::copy(sample(&desk).await, &file).unwrap();
    told(&desk, &[]).await;
    completed(&desk, 1).await;
    std::fs::rename(&watched, &away).unwrap();
    let problems = told(&desk, &["watched-folder-away"]).await;
    assert_eq!(problems[0].params["folder"], watched.display().to_string());
    assert_eq!(problems[0].remedy, "reconnect-folder");
    std::fs::rename(&away, &watched).unwrap();
    told(&desk, &[]).await;
    // Nothing is left of a folder that is watched no longer.
    std::fs::rename(&watched, &away).unwrap();
    told(&desk, &["watched-folder-away"]).await;
    desk.set_watched_folder(None).await.unwrap();
    assert!(desk.status().await.unwrap().notices.is_empty());
    desk.stop().await;
}

/// The settings were written by hand while the window runs, and a comma was left out. What is
/// exported meanwhile waits, and the window says so.
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_cannot_be_taken_from_stands_in_the_window() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open(&folder.path().join("desk")).await.unwrap();
    desk.start().await.unwrap();
    let watched = folder.path().join("out");
    std::fs::create_dir(&watched).unwrap();
    desk.set_watched_folder(Some(watched.display().to_string())).await.unwrap();
    let settings = desk.inner.practice_engine.profile().folder().join("profile.json");
    std::fs::write(settings, "{").unwrap();
    std::fs::copy(sample(&desk).await, watched.join("report.json")).unwrap();
    let problems = told(&desk, &["watched-folder-stopped"]).await;
    assert_eq!(problems[0].params["folder"], watched.display().to_string());
    assert_eq!(problems[0].params["reason"], "settings-damaged");
    desk.stop().await;
}

/// Whoever practises must not stop what the laboratory's own system exports meanwhile; nor must a
/// restart.
#[tokio::test(flavor = "multi_thread")]
async fn the_laboratorys_folder_is_watched_while_practice_is_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let integration = Integration::start(&folder.path().join("integration")).await;
    let root = folder.path().join("desk");
    let desk = Desk::open_with(&root, SecretsKind::Practice).await.unwrap();
    desk.start().await.unwrap();
    desk.add_endpoint(integration.endpoint()).await.unwrap();
    let paths = vec![integration.p12.clone()];
    desk.certificate_import(paths, integration.password.clone(), None).await.unwrap();
    desk.use_endpoint("Integration".to_owned()).await.unwrap();
    let watched = folder.path().join("out");
    std::fs::create_dir(&watched).unwrap();
    desk.set_watched_folder(Some(watched.display().to_string())).await.unwrap();
    // Numbers that the page has in hand are those of another room now.
    let room = desk.status().await.unwrap().room;
    desk.in_room(Some(room)).unwrap();
    desk.use_endpoint(PRACTICE_ENDPOINT.to_owned()).await.unwrap();
    assert_eq!(desk.in_room(Some(room)).err().unwrap().code, "room-changed");
    desk.in_room(Some(desk.status().await.unwrap().room)).unwrap();
    assert_eq!(desk.watched().await, [None, Some(watched.clone())]);
    std::fs::write(watched.join("1.json"), testkit::DocumentBuilder::new(1).json()).unwrap();
    let laboratory = desk.opened_laboratory().unwrap();
    let sent = |count| {
        let laboratory = laboratory.clone();
        let wait = async move {
            while laboratory.journal().counts(laboratory.now()).unwrap().by_state["completed"]
                < count
            {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        async move { tokio::time::timeout(PATIENCE, wait).await.expect("in time") }
    };
    sent(1).await;
    desk.stop().await;
    assert_eq!(desk.watched().await, [None, None]);
    drop(desk);

    let desk = Desk::open_with(&root, SecretsKind::Practice).await.unwrap();
    desk.start().await.unwrap();
    assert_eq!(desk.status().await.unwrap().environment, Environment::Practice);
    assert_eq!(desk.watched().await, [None, Some(watched)]);
    desk.stop().await;
    integration.shutdown.cancel();
    integration.serving.finished().await;
}

/// Whoever tries the program with the folder of the laboratory's system, and then goes on to the
/// real authority, must not have every real report sent to practice as well, behind the
/// laboratory's screens.
#[tokio::test(flavor = "multi_thread")]
async fn practice_watches_no_folder_behind_the_laboratory() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("desk");
    let desk = Desk::open_with(&root, SecretsKind::Practice).await.unwrap();
    desk.start().await.unwrap();
    let out = folder.path().join("out");
    std::fs::create_dir(&out).unwrap();
    desk.set_watched_folder(Some(out.display().to_string())).await.unwrap();
    assert_eq!(desk.watched().await, [Some(out.clone()), None]);
    desk.add_endpoint(nowhere()).await.unwrap();
    desk.use_endpoint("real".to_owned()).await.unwrap();
    assert_eq!(desk.watched().await, [None, None]);
    desk.set_watched_folder(Some(out.display().to_string())).await.unwrap();
    assert_eq!(desk.watched().await, [None, Some(out.clone())]);
    // Back in practice, it is chosen anew: what is exported by now is real.
    desk.use_endpoint(PRACTICE_ENDPOINT.to_owned()).await.unwrap();
    assert_eq!(desk.watched().await, [None, Some(out.clone())]);
    assert_eq!(desk.status().await.unwrap().watched_folder, None);
    desk.use_endpoint("real".to_owned()).await.unwrap();
    desk.stop().await;
    drop(desk);

    // One of a program of before, which watched there all the time; it is watched only where
    // practice is in use.
    let practice = crate::practice::Practice::prepare(&root.join("practice")).await.unwrap();
    practice.engine().set_watched_folder(Some(out.clone())).unwrap();
    drop(practice);
    let desk = Desk::open_with(&root, SecretsKind::Practice).await.unwrap();
    desk.start().await.unwrap();
    assert_eq!(desk.watched().await, [None, Some(out)]);
    desk.stop().await;
}

/// Two presses in a row: what is watched is what the settings say, and nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn of_many_changes_of_the_watched_folder_one_watch_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open(&folder.path().join("desk")).await.unwrap();
    desk.start().await.unwrap();
    let folders: Vec<_> = ["a", "b", "c"].map(|name| folder.path().join(name)).into();
    for path in &folders {
        std::fs::create_dir(path).unwrap();
    }
    let changes: Vec<_> = (0..12)
        .map(|number| {
            let (desk, path) = (desk.clone(), folders[number % 3].display().to_string());
            tokio::spawn(async move { desk.set_watched_folder(Some(path)).await.unwrap() })
        })
        .collect();
    for change in changes {
        change.await.unwrap();
    }
    let settings = desk.engine().profile().settings;
    assert_eq!(desk.watched().await, [settings.watched_folder, None]);
    desk.set_watched_folder(None).await.unwrap();
    assert_eq!(desk.watched().await, [None, None]);
    desk.stop().await;
}

/// Nobody can say what lies in a folder that cannot be looked at: it is not watched, for all of it
/// would be sent once it can.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_cannot_be_looked_at_is_not_watched() {
    let folder = tempfile::tempdir().unwrap();
    let away = crate::desk::watches::seen(folder.path().join("away")).await.err().unwrap();
    assert_eq!(
        (away.code.as_str(), &*away.params["reason"]),
        ("folder-not-seen", "folder-missing")
    );
    let desk = Desk::open_with(&folder.path().join("desk"), SecretsKind::Practice).await.unwrap();
    let inner = folder.path().join("out/2024");
    std::fs::create_dir_all(&inner).unwrap();
    let path = || folder.path().join("out").display().to_string();
    let may = |mode| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(&inner, mode).unwrap();
    };
    may(0o300);
    // Who may read everything meets no such folder.
    if std::fs::read_dir(&inner).is_err() {
        let code = |problem: crate::Problem| (problem.code, problem.params["folder"].clone());
        let told = Some(("folder-not-seen".to_owned(), inner.display().to_string()));
        assert_eq!(desk.look_at_folder(path()).await.err().map(code), told);
        assert_eq!(desk.set_watched_folder(Some(path())).await.err().map(code), told);
        assert_eq!(desk.watch_what_comes(path()).await.err().map(code), told);
        assert_eq!(desk.engine().profile().settings.watched_folder, None);
    }
    may(0o700);
    assert_eq!(desk.look_at_folder(path()).await.unwrap().count, 0);
    desk.set_watched_folder(Some(path())).await.unwrap();
    desk.stop().await;
}

/// Waits until so many files are refused and so many reports have come from the folder.
async fn named(desk: &Desk, refused: u32, taken: usize) -> crate::views::WatchedFilesView {
    let wait = async {
        loop {
            let files = desk.watched_files(Names::Shown).await.unwrap();
            if (files.refused_count, files.taken.len()) == (refused, taken) {
                return files;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("in time")
}

/// Which files cannot be sent, each with why, and which reports came from the folder: named also
/// after a start, and no name longer than its file lies there.
#[tokio::test(flavor = "multi_thread")]
async fn the_files_of_the_watched_folder_are_named_with_what_became_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let (root, watched) = (folder.path().join("desk"), folder.path().join("out"));
    std::fs::create_dir(&watched).unwrap();
    let mut desk = Desk::open(&root).await.unwrap();
    desk.start().await.unwrap();
    assert!(named(&desk, 0, 0).await.refused.is_empty());
    std::fs::write(watched.join("Muster.pdf"), "%PDF-1.7\n1 0 obj").unwrap();
    std::fs::write(watched.join("broken.json"), "{ \"resourceType\": ").unwrap();
    let pdf = std::fs::File::options().write(true).open(watched.join("Muster.pdf")).unwrap();
    pdf.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
    std::fs::copy(sample(&desk).await, watched.join("Befund.json")).unwrap();
    desk.set_watched_folder(Some(watched.display().to_string())).await.unwrap();
    completed(&desk, 1).await;
    for start in 0..2 {
        let files = named(&desk, 2, 1).await;
        let refused: Vec<_> = files.refused.iter().map(|it| &*it.file).collect();
        assert_eq!(refused, ["broken.json", "Muster.pdf"], "the newest first, start {start}");
        assert_eq!(files.refused[1].message.code, "not-a-report");
        assert!(files.refused[1].changed < files.refused[0].changed);
        let [taken] = &files.taken[..] else { panic!("{files:?}") };
        assert_eq!((&*taken.file, taken.state.code()), ("Befund.json", "completed"));
        assert_eq!(desk.detail(taken.id).await.unwrap().row.created, taken.at);
        let masked = desk.watched_files(Names::Masked).await.unwrap();
        assert_eq!(masked.refused.len(), 2);
        assert!(!masked.refused[1].file.contains("Muster"), "a file is named after a patient");
        assert!(!masked.taken[0].file.contains("Befund"));
        if start == 0 {
            desk.stop().await;
            drop(desk);
            desk = Desk::open(&root).await.unwrap();
            desk.start().await.unwrap();
        }
    }
    // It is mended, and the other one is taken away.
    std::fs::remove_file(watched.join("Muster.pdf")).unwrap();
    std::fs::write(watched.join("broken.json"), "no report").unwrap();
    named(&desk, 1, 1).await;
    std::fs::remove_file(watched.join("broken.json")).unwrap();
    named(&desk, 0, 1).await;
    desk.set_watched_folder(None).await.unwrap();
    named(&desk, 0, 0).await;
    desk.stop().await;
}
