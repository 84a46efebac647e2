//! Practice and the laboratory: which of them is in use, and what is heard of the other.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn from_practice_to_the_real_thing_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let integration = Integration::start(&folder.path().join("integration")).await;
    let root = folder.path().join("desk");
    let desk = Desk::open_with(&root, SecretsKind::Practice).await.unwrap();
    desk.start().await.unwrap();
    let before = desk.status().await.unwrap();
    assert_eq!(before.environment, Environment::Practice);

    // Setting up the laboratory leaves practice in use until the person moves over.
    desk.add_endpoint(integration.endpoint()).await.unwrap();
    let again = desk.add_endpoint(integration.endpoint()).await.unwrap_err();
    assert_eq!(again.code, "endpoint-exists");
    let paths = vec![integration.p12.clone()];
    let view = desk.certificate_import(paths, integration.password.clone(), None).await.unwrap();
    assert!(view.subject.contains("labor-muster"), "{}", view.subject);
    let still = desk.status().await.unwrap();
    assert_eq!(still.environment, Environment::Practice);
    assert_ne!(still.certificate.unwrap().fingerprint, view.fingerprint);

    desk.use_endpoint("Integration".to_owned()).await.unwrap();
    let status = desk.status().await.unwrap();
    assert_eq!((status.environment, status.release.as_str()), (Environment::Integration, "1.13.1"));
    assert_eq!(status.certificate.unwrap().fingerprint, view.fingerprint);
    assert!(status.revision > before.revision, "the window looks again");
    let used: Vec<_> = desk.endpoints().await.unwrap().into_iter().filter(|e| e.in_use).collect();
    assert_eq!(used.len(), 1);
    assert_eq!((used[0].name.as_str(), used[0].language.as_str()), ("Integration", "fr-CH"));
    assert_eq!((status.connection, &status.tested), (Connection::Unchecked, &None));
    let layers = desk.test_endpoint("Integration".to_owned()).await.unwrap();
    assert!(layers.iter().all(|layer| layer.outcome == ProbeOutcome::Passed), "{layers:?}");
    // The test has shown the way, under whatever name it goes.
    let tested = desk.status().await.unwrap();
    assert_eq!(tested.connection, Connection::Connected);
    assert!(tested.tested.is_some() && tested.last_contact >= tested.tested);

    // A report goes to the authority of the room in use, and is in its journal only.
    let report = sample(&desk).await;
    desk.send_files(vec![report.clone()], KnownContent::Show).await.unwrap();
    completed(&desk, 1).await;
    let rows = desk.list(ListQuery::default(), Names::Masked).await.unwrap().rows;
    assert_eq!((rows.len(), rows[0].environment), (1, Environment::Integration));
    assert_another_endpoint_is_followed(&desk, &integration, &report).await;
    desk.stop().await;
    drop(desk);

    // The room is remembered.
    let desk = Desk::open_with(&root, SecretsKind::Practice).await.unwrap();
    assert_eq!(desk.status().await.unwrap().environment, Environment::Integration);
    desk.use_endpoint(PRACTICE_ENDPOINT.to_owned()).await.unwrap();
    let status = desk.status().await.unwrap();
    assert_eq!((status.environment, status.counts.completed), (Environment::Practice, 0));
    desk.stop().await;
    integration.shutdown.cancel();
    integration.serving.finished().await;
}

/// What was handed over for another endpoint is followed there, and the window says how that goes.
async fn assert_another_endpoint_is_followed(desk: &Desk, integration: &Integration, report: &str) {
    assert_eq!(desk.status().await.unwrap().elsewhere, []);
    let other = EndpointInput {
        name: "Other".to_owned(),
        base_url: "https://127.0.0.1:1/v1/fhir".to_owned(),
        ..integration.endpoint()
    };
    desk.add_endpoint(other).await.unwrap();
    desk.use_endpoint("Other".to_owned()).await.unwrap();
    let mut samples = desk.practice_samples().await.unwrap().into_iter();
    let another = samples.find(|path| path != report).unwrap();
    desk.send_files(vec![another], KnownContent::Show).await.unwrap();
    assert_eq!(desk.status().await.unwrap().elsewhere, []);
    desk.use_endpoint("Integration".to_owned()).await.unwrap();
    loop {
        let elsewhere = desk.status().await.unwrap().elsewhere;
        let [other] = &elsewhere[..] else { panic!("{elsewhere:?}") };
        assert_eq!((other.endpoint.as_str(), other.count), ("Other", 1));
        assert_eq!(other.environment, Environment::Integration);
        // Nobody is there: that is said of this endpoint, and the one in use is none the worse.
        if other.connection == Connection::Unreachable {
            assert!(other.problem.is_some() && other.tries_again);
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    // To try now is about the one that is named.
    assert!(!desk.try_now("Other".to_owned()).await.unwrap());
}

/// Files are handed over in the laboratory, and somebody changes to practice while they are read:
/// they are reports of the laboratory all the same, and nothing of them reaches the practice
/// journal.
#[tokio::test(flavor = "multi_thread")]
async fn files_are_taken_in_by_the_room_in_which_they_were_handed_over() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("desk");
    let desk = Desk::open_with(&root, SecretsKind::Practice).await.unwrap();
    desk.add_endpoint(nowhere()).await.unwrap();
    let laboratory = desk.opened_laboratory().unwrap();
    let reports = |engine: &Engine| engine.journal().count(&Filter::default(), 100).unwrap();
    let file = |number: u64| {
        let file = folder.path().join(format!("{number}.json"));
        std::fs::write(&file, testkit::DocumentBuilder::new(number).json()).unwrap();
        file.display().to_string()
    };
    for (separate, number) in [(false, 1), (true, 2)] {
        desk.move_to(false).await.unwrap();
        let paths = vec![file(number)];
        let mut sending: std::pin::Pin<Box<dyn Future<Output = _> + Send>> = if separate {
            Box::pin(desk.send_files_separately(paths, KnownContent::Show))
        } else {
            Box::pin(desk.send_files(paths, KnownContent::Show))
        };
        let begun = std::future::poll_fn(|cx| Poll::Ready(sending.as_mut().poll(cx))).await;
        assert!(begun.is_pending(), "they are being read");
        desk.move_to(true).await.unwrap();
        let taken = sending.await.unwrap();
        assert!(taken.submissions.iter().all(Option::is_some));
        assert_eq!((reports(&laboratory), reports(&desk.inner.practice_engine)), (number, 0));
    }
    desk.stop().await;
}

/// Practice stays in use across restarts; what waits for a person in the laboratory must not be
/// forgotten meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_a_person_in_the_laboratory_is_told_in_practice() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    assert_eq!(desk.status().await.unwrap().laboratory, None, "there is none");
    desk.add_endpoint(nowhere()).await.unwrap();
    let before = desk.status().await.unwrap();
    let nothing = LaboratoryView::default();
    assert_eq!((before.laboratory, before.environment), (Some(nothing), Environment::Practice));

    let laboratory = desk.opened_laboratory().unwrap();
    let file = folder.path().join("held.json");
    let wrong = testkit::DocumentBuilder::new(1).json().replace("\"final\"", "\"finished\"");
    std::fs::write(&file, wrong).unwrap();
    let looked = laboratory.inspect(vec![file]).await.unwrap();
    laboratory.take(&looked, engine::ImportOptions::default()).await.unwrap();
    laboratory.set_paused(true).unwrap();
    let after = desk.status().await.unwrap();
    let waits = LaboratoryView { needs_attention: 1, paused: true, ..nothing };
    assert_eq!(after.laboratory, Some(waits));
    assert!(after.revision > before.revision, "the window looks again");
    assert_eq!((after.counts.needs_attention, after.paused), (0, false), "that is practice");

    desk.move_to(false).await.unwrap();
    let there = desk.status().await.unwrap();
    assert_eq!((there.laboratory, there.counts.needs_attention, there.paused), (None, 1, true));
    // Practice that was asked for at a start is not where the next one begins.
    desk.practise().await.unwrap();
    assert_eq!(desk.status().await.unwrap().environment, Environment::Practice);
    desk.stop().await;
    drop(desk);
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    assert_eq!(desk.status().await.unwrap().environment, Environment::Integration);
    desk.stop().await;
}

/// Without a certificate every report would only wait there; but nobody is kept from reports that
/// are there already.
#[tokio::test(flavor = "multi_thread")]
async fn a_new_production_system_is_used_only_with_a_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    let input = EndpointInput { environment: "production".to_owned(), ..nowhere() };
    desk.add_endpoint(input).await.unwrap();
    let plan = async || desk.plan_endpoint("real".to_owned()).await.unwrap();
    assert_eq!(plan().await.needs, Some(ProductionNeeds::Certificate));
    let refused = desk.use_endpoint("real".to_owned()).await.unwrap_err();
    assert_eq!(refused.code, "production-without-certificate");
    assert_eq!(desk.status().await.unwrap().environment, Environment::Practice);
    // A test that nothing has answered does not count.
    desk.test_endpoint("real".to_owned()).await.unwrap();
    assert_eq!(plan().await.needs, Some(ProductionNeeds::Certificate));

    let laboratory = desk.opened_laboratory().unwrap();
    let file = folder.path().join("a.json");
    std::fs::write(&file, testkit::DocumentBuilder::new(1).json()).unwrap();
    let looked = laboratory.inspect(vec![file]).await.unwrap();
    laboratory.take(&looked, engine::ImportOptions::default()).await.unwrap();
    assert_eq!(plan().await.needs, None);
    desk.use_endpoint("real".to_owned()).await.unwrap();
    assert_eq!(desk.status().await.unwrap().environment, Environment::Production);
    desk.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_production_system_is_used_only_after_a_test_of_it_as_it_is_now() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open_with(&folder.path().join("desk"), SecretsKind::Practice).await.unwrap();
    let real = Integration::start(&folder.path().join("authority")).await;
    let input = EndpointInput { environment: "production".to_owned(), ..real.endpoint() };
    desk.add_endpoint(input).await.unwrap();
    let paths = vec![real.p12.clone()];
    let imported = desk.certificate_import(paths, real.password.clone(), None).await.unwrap();
    let name = || "Integration".to_owned();
    let needs = async || desk.plan_endpoint(name()).await.unwrap().needs;
    assert_eq!(needs().await, Some(ProductionNeeds::Test));
    assert_eq!(desk.use_endpoint(name()).await.unwrap_err().code, "production-untested");
    desk.test_endpoint(name()).await.unwrap();
    assert_eq!(needs().await, None);
    // What is set otherwise since has not been tested.
    let terms = async |release: &str, language: &str| {
        desk.set_endpoint_terms(name(), release.to_owned(), language.to_owned()).await
    };
    terms("1.8.0", "it-CH").await.unwrap();
    assert_eq!(needs().await, Some(ProductionNeeds::Test));
    desk.test_endpoint(name()).await.unwrap();
    desk.use_endpoint(name()).await.unwrap();

    // It keeps its certificate, its address and all else.
    let all = desk.endpoints().await.unwrap();
    let told = all.iter().find(|one| one.name == name()).unwrap();
    assert_eq!((told.release.as_str(), told.language.as_str()), ("1.8.0", "it-CH"));
    assert!(told.in_use && told.own_ca && told.environment == Environment::Production);
    let certificates = desk.certificates().await.unwrap();
    assert_eq!(certificates[0].fingerprint, imported.fingerprint);
    assert_eq!(certificates[0].endpoints, [name()]);
    assert_eq!(terms("9.9", "de-CH").await.unwrap_err().code, "argument-invalid");
    assert_eq!(terms("1.8.0", "Deutsch").await.unwrap_err().code, "argument-invalid");
    desk.stop().await;
    real.shutdown.cancel();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_laboratory_that_does_not_open_leaves_practice_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let laboratory = folder.path().join("laboratory");
    std::fs::create_dir(&laboratory).unwrap();
    std::fs::write(laboratory.join("profile.json"), "{").unwrap();
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    let status = desk.status().await.unwrap();
    assert_eq!(status.environment, Environment::Practice);
    assert_eq!(status.problem.unwrap().code, "settings-damaged");
    // Nothing is overwritten by what would have made a new one.
    let problem = desk.certificate_import(vec!["/dev/null".to_owned()], String::new(), None).await;
    assert_eq!(problem.unwrap_err().code, "file-unreadable");
    let input = EndpointInput {
        name: "real".to_owned(),
        base_url: "https://authority.example/v1/fhir".to_owned(),
        environment: "production".to_owned(),
        release: None,
        language: None,
        ca_pem: None,
        proxy: None,
    };
    assert_eq!(desk.add_endpoint(input.clone()).await.unwrap_err().code, "settings-damaged");
    assert_eq!(std::fs::read(laboratory.join("profile.json")).unwrap(), b"{");
    // Once that is mended it goes on without a restart.
    std::fs::remove_file(laboratory.join("profile.json")).unwrap();
    desk.add_endpoint(input).await.unwrap();
    assert_eq!(desk.status().await.unwrap().problem, None);
    assert_eq!(desk.endpoints().await.unwrap().len(), 2);
    desk.stop().await;
}

/// Its reports are still there, and somebody has to hear that nobody follows them.
#[tokio::test(flavor = "multi_thread")]
async fn a_laboratory_whose_settings_are_gone_is_not_taken_for_one_that_never_was() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    desk.add_endpoint(nowhere()).await.unwrap();
    desk.stop().await;
    drop(desk);
    let (settings, away) =
        (folder.path().join("laboratory/profile.json"), folder.path().join("profile.json"));
    std::fs::rename(&settings, &away).unwrap();
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    let problem = desk.status().await.unwrap().problem.unwrap();
    assert_eq!(problem.code, "settings-missing");
    assert!(problem.params["folder"].ends_with("laboratory"));
    assert_eq!(desk.add_endpoint(nowhere()).await.unwrap_err().code, "settings-missing");
    assert!(!settings.exists(), "no other settings take their place");
    std::fs::rename(&away, &settings).unwrap();
    assert_eq!(desk.add_endpoint(nowhere()).await.unwrap_err().code, "endpoint-exists");
    assert_eq!(desk.status().await.unwrap().problem, None);
    desk.stop().await;
}

/// As where the keychain is locked when the window starts with the computer: nobody has to look at
/// the window.
#[tokio::test(flavor = "multi_thread")]
async fn a_laboratory_that_did_not_open_is_tried_again_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("desk");
    let desk = Desk::open_with(&root, SecretsKind::Practice).await.unwrap();
    desk.add_endpoint(nowhere()).await.unwrap();
    desk.move_to(false).await.unwrap();
    let watched = folder.path().join("out");
    std::fs::create_dir(&watched).unwrap();
    desk.set_watched_folder(Some(watched.display().to_string())).await.unwrap();
    desk.stop().await;
    drop(desk);
    let (settings, away) =
        (root.join("laboratory/profile.json"), folder.path().join("profile.json"));
    std::fs::rename(&settings, &away).unwrap();
    let desk = Desk::open_with(&root, SecretsKind::Practice).await.unwrap();
    desk.start().await.unwrap();
    assert!(desk.status().await.unwrap().problem.is_some());
    assert!(desk.inner.trying.lock().await.is_some(), "it is tried again");
    desk.keep_trying(Duration::from_millis(10)).await;
    std::fs::rename(&away, &settings).unwrap();
    let open = async {
        while desk.watched().await != [None, Some(watched.clone())] || desk.room().1 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, open).await.expect("in time");
    let problem = desk.status().await.unwrap().problem;
    assert!(problem.is_none_or(|problem| problem.code != "settings-missing"));
    desk.stop().await;
}

/// In the morning the vault is closed: what is handed over then is meant for the laboratory.
#[tokio::test(flavor = "multi_thread")]
async fn practice_takes_nothing_that_is_meant_for_a_laboratory_that_does_not_open() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    let passphrase = "correct horse battery".to_owned();
    desk.protect_with_passphrase(passphrase.clone()).await.unwrap();
    desk.add_endpoint(nowhere()).await.unwrap();
    desk.use_endpoint("real".to_owned()).await.unwrap();
    desk.stop().await;
    drop(desk);
    let file = folder.path().join("a.json");
    std::fs::write(&file, testkit::DocumentBuilder::new(1).json()).unwrap();
    let files = || vec![file.display().to_string()];

    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    let sent = desk.send_files(files(), KnownContent::Show).await;
    assert_eq!(sent.unwrap_err().code, "passphrase-needed");
    let pasted = testkit::DocumentBuilder::new(2).json();
    let name = || "pasted".to_owned();
    let sent = desk.send_text(pasted, name()).await;
    assert_eq!(sent.unwrap_err().code, "passphrase-needed");
    let sent = desk.send_files_separately(files(), KnownContent::Show).await;
    assert_eq!(sent.unwrap_err().code, "passphrase-needed");
    let all = |desk: &Desk| desk.engine().journal().count(&Filter::default(), 9).unwrap();
    assert_eq!(all(&desk), 0, "nothing is in the journal of practice");
    // Nor is it practice whose sending is to be paused, or whose folder is to be watched.
    assert_eq!(desk.set_paused(true).await.unwrap_err().code, "passphrase-needed");
    let out = || folder.path().display().to_string();
    let watch = desk.set_watched_folder(Some(out())).await;
    assert_eq!(watch.unwrap_err().code, "passphrase-needed");
    let watch = desk.watch_what_comes(out()).await;
    assert_eq!(watch.unwrap_err().code, "passphrase-needed");
    assert!(!desk.status().await.unwrap().paused);
    // Its own samples, and whatever a person practises with who has chosen practice.
    let samples = desk.practice_samples().await.unwrap();
    desk.send_files(samples, KnownContent::Show).await.unwrap();
    desk.use_endpoint(PRACTICE_ENDPOINT.to_owned()).await.unwrap();
    desk.send_files(files(), KnownContent::Show).await.unwrap();
    desk.stop().await;
    drop(desk);

    // All of its folder is gone with its disk: it is not taken for one that never was.
    std::fs::rename(folder.path().join("laboratory"), folder.path().join("away")).unwrap();
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    // Practice was chosen, so it takes what it is given; that the laboratory is missed stands above
    // every screen.
    let status = desk.status().await.unwrap();
    assert_eq!(status.problem.unwrap().code, "settings-missing");
    desk.send_files(files(), KnownContent::SendAgain).await.unwrap();
    assert_eq!(desk.add_endpoint(nowhere()).await.unwrap_err().code, "settings-missing");
    desk.inner
        .practice_engine
        .change_settings(|settings| {
            settings.preferences.insert(crate::desk::PLACE.to_owned(), "laboratory".into());
            Ok(())
        })
        .unwrap();
    drop(desk);
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    assert_eq!(desk.status().await.unwrap().problem.unwrap().code, "settings-missing");
    assert_eq!(desk.add_endpoint(nowhere()).await.unwrap_err().code, "settings-missing");
    desk.stop().await;
}

/// A passed test counts for the address, the CA and the certificate that it was made with.
#[tokio::test(flavor = "multi_thread")]
async fn a_passed_test_is_forgotten_with_the_address_and_the_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let integration = Integration::start(&folder.path().join("integration")).await;
    let root = folder.path().join("desk");
    let desk = Desk::open_with(&root, SecretsKind::Practice).await.unwrap();
    desk.add_endpoint(integration.endpoint()).await.unwrap();
    let import = || {
        desk.certificate_import(
            vec![integration.p12.clone()],
            integration.password.clone(),
            Some("Integration".to_owned()),
        )
    };
    let certificate = import().await.unwrap();
    desk.use_endpoint("Integration".to_owned()).await.unwrap();
    let test = async |name: &str| desk.test_endpoint(name.to_owned()).await.unwrap();
    let is_tested = async || desk.status().await.unwrap().tested.is_some();
    test("Integration").await;
    assert!(is_tested().await);
    desk.rename_endpoint("Integration".to_owned(), "Pilot".to_owned()).await.unwrap();
    assert!(is_tested().await, "its name makes no difference");
    let elsewhere = integration.serving.base_url.replace("127.0.0.1", "localhost");
    desk.set_endpoint_address("Pilot".to_owned(), elsewhere, true).await.unwrap();
    assert!(!is_tested().await, "another address was not tested");
    test("Pilot").await;
    assert!(is_tested().await);
    desk.remove_certificate(certificate.fingerprint, true).await.unwrap();
    assert!(!is_tested().await, "nor was it without this certificate");
    // A test that does not pass says so, whatever an earlier one has shown.
    test("Pilot").await;
    assert!(!is_tested().await);
    desk.stop().await;
    integration.shutdown.cancel();
    integration.serving.finished().await;
}
