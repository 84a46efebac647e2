//! What a person has chosen for the window, and the endpoints: kept, and checked before.

use bridge::views::{EndpointInput, PreferencesView};
use bridge::{Desk, Environment};

use crate::desk::assert_known;

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_kept_and_checked() {
    let root = tempfile::tempdir().unwrap();
    let desk = Desk::open(root.path()).await.unwrap();
    assert_eq!(desk.preferences().await.unwrap(), PreferencesView::default());
    let chosen = PreferencesView {
        language: Some("de".to_owned()),
        theme: "dark".to_owned(),
        first_run_done: true,
        lock_after_minutes: 5,
        undo_seconds: 0,
        text_percent: 130,
        density: "compact".to_owned(),
        single_keys: false,
        on_close: "quit".to_owned(),
        checklist_hidden: true,
        notifications: false,
        start_at_login: true,
    };
    desk.set_preferences(chosen.clone()).await.unwrap();
    let wrong = PreferencesView { theme: "pink".to_owned(), ..chosen.clone() };
    assert_known(desk.set_preferences(wrong).await, "argument-invalid");
    for minutes in [0, 61, u32::MAX] {
        let wrong = PreferencesView { lock_after_minutes: minutes, ..chosen.clone() };
        assert_known(desk.set_preferences(wrong).await, "argument-invalid");
    }
    let wrong = [
        PreferencesView { undo_seconds: 31, ..chosen.clone() },
        PreferencesView { text_percent: 201, ..chosen.clone() },
        PreferencesView { density: "none".to_owned(), ..chosen.clone() },
        PreferencesView { on_close: "explode".to_owned(), ..chosen.clone() },
    ];
    for wrong in wrong {
        assert_known(desk.set_preferences(wrong).await, "argument-invalid");
    }
    assert_eq!(desk.preferences().await.unwrap(), chosen);
    assert_known(
        desk.set_watched_folder(Some("/nowhere/at/all".to_owned())).await,
        "argument-invalid",
    );
    let folder = tempfile::tempdir().unwrap().keep();
    desk.set_watched_folder(Some(folder.display().to_string())).await.unwrap();
    assert_eq!(desk.status().await.unwrap().watched_folder, Some(folder.display().to_string()));
    desk.stop().await;
    drop(desk);
    let again = Desk::open(root.path()).await.unwrap();
    assert_eq!(again.preferences().await.unwrap(), chosen);
    again.stop().await;
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_endpoint_of_practice_stays_and_others_are_checked() {
    let root = tempfile::tempdir().unwrap();
    let desk = Desk::open(root.path()).await.unwrap();
    let endpoints = desk.endpoints().await.unwrap();
    assert_eq!(endpoints.len(), 1);
    assert!(
        endpoints[0].in_use
            && endpoints[0].own_ca
            && endpoints[0].environment == Environment::Practice
    );
    assert_known(desk.use_endpoint("elsewhere".to_owned()).await, "unknown-endpoint");
    assert_known(desk.test_endpoint("elsewhere".to_owned()).await, "unknown-endpoint");
    assert_known(desk.try_now("elsewhere".to_owned()).await, "unknown-endpoint");
    let input = |url: &str| EndpointInput {
        name: "real".to_owned(),
        base_url: url.to_owned(),
        environment: "integration".to_owned(),
        release: None,
        language: None,
        ca_pem: None,
        proxy: None,
    };
    for url in ["http://a.example/v1/fhir", "https://u:p@a.example/", "nonsense", ""] {
        assert_known(desk.add_endpoint(input(url)).await, "argument-invalid");
    }
    // As practice is called, in whichever language the window is: nobody could tell them apart.
    for name in ["practice", "Practice", "Übung", " ÜBUNG ", "Exercice", "Esercitazione"] {
        let input = EndpointInput { name: name.to_owned(), ..input("https://a.example/v1/fhir") };
        assert_known(desk.add_endpoint(input).await, "practice-name-taken");
        let renamed = desk.rename_endpoint("elsewhere".to_owned(), name.to_owned()).await;
        assert_known(renamed, "practice-name-taken");
    }
    desk.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn release_and_language_of_an_endpoint_are_changed_afterwards() {
    let root = tempfile::tempdir().unwrap();
    let desk = Desk::open(root.path()).await.unwrap();
    let set = async |name: &str, release: &str, language: &str| {
        let (release, language) = (release.to_owned(), language.to_owned());
        desk.set_endpoint_terms(name.to_owned(), release, language).await
    };
    assert_known(set("practice", "1.13.1", "de-CH").await, "practice-endpoint-fixed");
    assert_known(set("elsewhere", "1.13.1", "de-CH").await, "unknown-endpoint");
    desk.stop().await;
}
