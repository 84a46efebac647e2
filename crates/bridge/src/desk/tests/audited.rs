//! What is changed of the settings is noted, with who has changed it.

use serde_json::{Value, json};

use super::*;
use crate::Call;
use crate::problem::Problem;

async fn ask(desk: &Desk, command: &str, arguments: Value) -> Result<Value, Problem> {
    let read = || Call::read(command, arguments.clone()).unwrap().unwrap();
    desk.allow(&read());
    let answer = desk.answer(read(), Some(desk.status().await?.room)).await?;
    Ok(serde_json::from_str(&answer).unwrap())
}

async fn noted(desk: &Desk) -> Vec<String> {
    let all = desk.audit_log().await.unwrap();
    assert!(all.iter().all(|entry| entry.by == engine::system_user().0));
    all.into_iter().map(|entry| entry.change).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_done_is_noted_and_what_is_refused_or_play_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    let deadlines = json!({ "deadlines": [{ "disease": "malaria", "hours": 24 }] });
    ask(&desk, "set_deadlines", deadlines.clone()).await.unwrap();
    ask(&desk, "set_updates", json!({ "on": true })).await.unwrap();
    ask(&desk, "use_endpoint", json!({ "name": "nowhere" })).await.unwrap_err();
    let added = json!({ "input": {
        "name": "real", "baseUrl": "https://a.example/v1/fhir", "environment": "integration",
        "release": null, "language": null, "caPem": null, "proxy": "http://u:secret@proxy:3128"
    } });
    ask(&desk, "add_endpoint", added).await.unwrap();
    ask(&desk, "use_endpoint", json!({ "name": "real" })).await.unwrap();
    ask(&desk, "set_deadlines", deadlines).await.unwrap();
    for (current, passphrase) in
        [("", "zwinglicanary"), ("zwinglicanary", "canaryzwingli"), ("canaryzwingli", "")]
    {
        let passphrase = json!({ "current": current, "passphrase": passphrase });
        ask(&desk, "set_unlock_passphrase", passphrase).await.unwrap();
    }
    let changes = [
        "unlock-passphrase-removed",
        "unlock-passphrase-set",
        "unlock-passphrase-chosen",
        "deadlines-set",
        "endpoint-used",
        "endpoint-added",
        "updates-switched-on",
    ];
    assert_eq!(noted(&desk).await, changes);
    let all = serde_json::to_string(&desk.audit_log().await.unwrap()).unwrap();
    assert!(all.contains("https://a.example/v1/fhir"), "{all}");
    assert!(!all.contains("secret") && !all.contains("canary"), "{all}");
    drop(desk);

    let again = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    assert_eq!(noted(&again).await, changes);
}

/// Practice that takes the laboratory's place decides where reports go, as an authority does.
#[tokio::test(flavor = "multi_thread")]
async fn who_goes_to_practice_is_noted_whichever_way() {
    let folder = tempfile::tempdir().unwrap();
    let opened = || Desk::open_with(folder.path(), SecretsKind::Practice);
    let desk = opened().await.unwrap();
    // There is nothing else yet.
    desk.practise().await.unwrap();
    assert_eq!(noted(&desk).await, Vec::<String>::new());
    let added = json!({ "input": {
        "name": "real", "baseUrl": "https://a.example/v1/fhir", "environment": "integration",
        "release": null, "language": null, "caPem": null, "proxy": null
    } });
    ask(&desk, "add_endpoint", added).await.unwrap();
    ask(&desk, "use_endpoint", json!({ "name": "real" })).await.unwrap();
    ask(&desk, "use_endpoint", json!({ "name": "practice" })).await.unwrap();
    assert_eq!(noted(&desk).await[..2], ["practice-used", "endpoint-used"]);
    ask(&desk, "use_endpoint", json!({ "name": "real" })).await.unwrap();
    drop(desk);
    // As it is asked for at a start.
    let again = opened().await.unwrap();
    let before = noted(&again).await.len();
    again.practise().await.unwrap();
    let all = noted(&again).await;
    assert_eq!((&*all[0], all.len()), ("practice-used", before + 1));
}

/// What is given up is asked about too, and a yes is for the endpoint that had the name.
#[tokio::test(flavor = "multi_thread")]
async fn the_question_says_what_is_given_up_and_its_yes_is_for_no_other_endpoint() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open_with(folder.path(), SecretsKind::Practice).await.unwrap();
    let ca = testkit::TestCa::new("An authority's own").pem();
    let read = |command: &str, arguments: Value| Call::read(command, arguments).unwrap().unwrap();
    for (name, host) in [("test", "a"), ("prod", "b")] {
        let input = json!({ "input": {
            "name": name, "baseUrl": format!("https://{host}.example/v1/fhir"),
            "environment": "integration", "release": null, "language": null,
            "caPem": ca, "proxy": "http://proxy.example:3128",
        }});
        ask(&desk, "add_endpoint", input).await.unwrap();
    }
    let way = || read("set_endpoint_way", json!({ "name": "test", "ca_pem": "", "proxy": "" }));
    let asked = desk.question(&way()).await.unwrap().unwrap();
    assert!(asked.gives_up_ca && asked.ca.is_empty() && asked.proxy.is_none());
    assert_eq!(asked.gives_up_proxy.as_deref(), Some("http://proxy.example:3128"));
    // Another endpoint gets the name between the yes and what it was said to.
    let renames = desk.renames();
    desk.allow(&way());
    for (from, to) in [("test", "other"), ("prod", "test")] {
        let rename = read("rename_endpoint", json!({ "name": from, "new_name": to }));
        desk.answer(rename, None).await.unwrap();
    }
    assert_ne!(desk.renames(), renames, "nor does a yes to a question that still stood");
    assert_eq!(desk.answer(way(), None).await.unwrap_err().code, "endpoint-not-allowed");
}
