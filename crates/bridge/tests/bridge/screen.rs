//! The locked window, through the one door that the window has: no name, no report, and sending
//! goes on.

use std::path::Path;

use bridge::{Call, Desk, Problem};
use serde_json::{Value, json};
use testkit::{DocumentBuilder, Figures};

const FAMILY: &str = "Zwinglicanary";

async fn ask(desk: &Desk, command: &str, arguments: Value) -> Result<Value, Problem> {
    let call = Call::read(command, arguments).expect("a command");
    let call = call.unwrap_or_else(|problem| panic!("sound arguments of {command}: {problem:?}"));
    let status = Call::read("status", json!({})).expect("a command").expect("sound");
    let status: Value = serde_json::from_str(&desk.answer(status, None).await?).expect("JSON");
    let room = status["room"].as_u64().and_then(|room| u32::try_from(room).ok());
    let answer = desk.answer(call, room).await?;
    Ok(serde_json::from_str(&answer).expect("JSON"))
}

pub(crate) async fn must(desk: &Desk, command: &str, arguments: Value) -> Value {
    ask(desk, command, arguments).await.unwrap_or_else(|problem| panic!("{command}: {problem:?}"))
}

pub(crate) async fn refusal(desk: &Desk, command: &str, arguments: Value) -> String {
    ask(desk, command, arguments).await.unwrap_err().code
}

fn file(folder: &Path) -> String {
    let file = folder.join("one.json");
    std::fs::write(&file, DocumentBuilder::new(1).family(FAMILY).json()).unwrap();
    file.to_str().unwrap().to_owned()
}

fn everything() -> Value {
    json!({ "query": { "group": null, "states": [], "search": null }, "reveal": true })
}

/// Arguments with which every command would be answered, or at least asked.
fn arguments(command: &str, names: &[&str], path: &str) -> Value {
    let value = |name: &str| match (command, name) {
        (_, "id" | "days" | "number") => json!(1),
        (_, "ids") => json!([1]),
        (_, "deadlines") => json!([]),
        (_, "reveal" | "separate" | "paused" | "on" | "although_needed" | "same_authority") => {
            json!(true)
        }
        (_, "elsewhere") => json!(false),
        (_, "items") => json!([{ "path": path }, { "name": "a", "text": "{}" }]),
        ("hand_over", "again") => json!(["0".repeat(64)]),
        (_, "corrections") => json!([{ "id": 1, "digest": "0".repeat(64) }]),
        ("correct_with_file", "shown") => json!(["0".repeat(64)]),
        (_, "shown") => json!(null),
        (_, "left_out" | "beside") => json!([]),
        (_, "code") => json!("backups-failing"),
        (_, "paths") => json!([path]),
        (_, "path") => json!(path),
        ("ask_authority", "query") => json!({}),
        (_, "query") => everything()["query"].clone(),
        (_, "purpose") => json!("reports"),
        (_, "decision") => json!("hold-back"),
        (_, "view") => json!({
            "name": "a", "group": null, "states": [], "search": "", "period": "all",
            "laboratory": null, "sort": null, "ascending": false,
        }),
        (_, "fix") => {
            json!({ "path": "Bundle", "find": "a", "replace": "b", "sent": 1, "rest": [1] })
        }
        ("add_endpoint", "input") => {
            json!({ "name": "a", "baseUrl": "https://a.example", "environment": "integration" })
        }
        (_, "preferences") => json!({ "theme": "dark", "firstRunDone": true }),
        _ => json!("longer"),
    };
    names
        .iter()
        .map(|name| ((*name).to_owned(), value(name)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_window_is_told_nothing_and_sending_goes_on() {
    let mut figures =
        Figures::start("canaries", "a_locked_window_is_told_nothing_and_sending_goes_on");
    let root = tempfile::tempdir().unwrap();
    let desk = Desk::open(&root.path().join("desk")).await.unwrap();
    desk.start().await.unwrap();
    let path = file(root.path());
    desk.grant([root.path().to_owned()]);
    let endpoint = must(&desk, "status", json!({})).await["endpointId"].clone();
    let list = json!({
        "items": [{ "path": path }], "again": [], "corrections": [], "shown": null,
        "left_out": [], "beside": [], "separate": false, "endpoint": endpoint,
    });
    must(&desk, "hand_over", list).await;
    let shown = must(&desk, "list", everything()).await.to_string();
    assert!(shown.contains(FAMILY), "shown because it was asked for");
    let mut masked = everything();
    masked["reveal"] = json!(false);
    assert!(!must(&desk, "list", masked).await.to_string().contains(FAMILY));

    // A file may be named after a patient.
    let out = root.path().join("out");
    std::fs::create_dir(&out).unwrap();
    std::fs::write(out.join(format!("{FAMILY}.pdf")), "%PDF-1.7\n1 0 obj").unwrap();
    must(&desk, "set_watched_folder", json!({ "path": out })).await;
    let told = |status: &Value| status["notices"][0]["problem"]["params"].clone();
    let mut status = must(&desk, "status", json!({})).await;
    while status["notices"].as_array().unwrap().is_empty() {
        desk.changed(status["revision"].as_u64().unwrap()).await;
        status = must(&desk, "status", json!({})).await;
    }
    assert_eq!(told(&status)["file"], "Z….p…");

    must(&desk, "lock", json!({})).await;
    assert_eq!(told(&must(&desk, "status", json!({})).await), json!({ "count": "1" }));
    for (command, names) in Call::COMMANDS {
        figures.cases(1);
        let answer = ask(&desk, command, arguments(command, names, &path)).await;
        match *command {
            "status" | "preferences" | "lock" => {
                let said = answer.unwrap().to_string();
                assert!(!said.contains(FAMILY), "{command}: {said}");
            }
            // Without a passphrase it opens; locked again for the next one.
            "unlock" => must(&desk, "lock", json!({})).await.as_null().unwrap(),
            _ => assert_eq!(answer.unwrap_err().code, "window-locked", "{command}"),
        }
    }
    // The worker goes on behind it.
    let done = async {
        loop {
            let status = must(&desk, "status", json!({})).await;
            assert_eq!(status["locked"], true);
            if status["counts"]["completed"] == 1 {
                return;
            }
            desk.changed(status["revision"].as_u64().unwrap()).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(120), done).await.expect("in time");
    must(&desk, "unlock", json!({ "passphrase": "" })).await;
    assert!(must(&desk, "list", everything()).await.to_string().contains(FAMILY));
    desk.stop().await;
    figures.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passphrase_unlocks_and_closing_the_window_is_no_way_around() {
    let root = tempfile::tempdir().unwrap();
    let desk = Desk::open(root.path()).await.unwrap();
    let set =
        |current: &str, passphrase: &str| json!({ "current": current, "passphrase": passphrase });
    assert_eq!(refusal(&desk, "set_unlock_passphrase", set("", "short")).await, "argument-invalid");
    must(&desk, "set_unlock_passphrase", set("", "zwinglicanary")).await;
    assert_eq!(
        refusal(&desk, "set_unlock_passphrase", set("wrong", "another one")).await,
        "unlock-refused"
    );
    drop(desk);

    let desk = Desk::open(root.path()).await.unwrap();
    let status = must(&desk, "status", json!({})).await;
    assert_eq!((&status["locked"], &status["hasUnlockPassphrase"]), (&json!(true), &json!(true)));
    assert_eq!(refusal(&desk, "list", everything()).await, "window-locked");
    assert_eq!(refusal(&desk, "unlock", json!({ "passphrase": "" })).await, "unlock-refused");
    assert_eq!(
        refusal(&desk, "unlock", json!({ "passphrase": "zwingli" })).await,
        "unlock-refused"
    );
    assert_eq!(
        refusal(&desk, "unlock", json!({ "passphrase": "zwingli" })).await,
        "unlock-refused"
    );
    // The third wrong one makes the next wait, right or wrong.
    let soon = ask(&desk, "unlock", json!({ "passphrase": "zwinglicanary" })).await.unwrap_err();
    assert_eq!(soon.code, "unlock-too-soon");
    assert!(soon.params["seconds"].parse::<u64>().unwrap() <= 60);
    let opened = async {
        while let Err(problem) =
            ask(&desk, "unlock", json!({ "passphrase": "zwinglicanary" })).await
        {
            assert_eq!(problem.code, "unlock-too-soon");
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), opened).await.expect("in time");
    must(&desk, "set_unlock_passphrase", set("zwinglicanary", "")).await;
    assert_eq!(must(&desk, "status", json!({})).await["hasUnlockPassphrase"], false);
    // Nothing of it is kept in the clear.
    for entry in std::fs::read_dir(root.path().join("practice")).unwrap().flatten() {
        let bytes = std::fs::read(entry.path()).unwrap_or_default();
        assert!(!bytes.windows(13).any(|window| window == b"zwinglicanary"), "{entry:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_laboratory_without_its_secrets_stays_locked() {
    let root = tempfile::tempdir().unwrap();
    let laboratory = root.path().join("laboratory");
    // In a plain file here: the keychain of whoever runs the tests is not theirs to write to.
    let profile =
        engine::Profile::create(&laboratory, identity::SecretsKind::Practice, Vec::new()).unwrap();
    drop(engine::Engine::create(profile, None, engine::EngineDeps::default()).unwrap());
    let desk = Desk::open(root.path()).await.unwrap();
    must(&desk, "lock", json!({})).await;
    let secrets = laboratory.join("practice-secrets");
    std::fs::rename(&secrets, root.path().join("away")).unwrap();
    let open = json!({ "passphrase": "" });
    assert_eq!(refusal(&desk, "unlock", open.clone()).await, "secret-missing");
    assert_eq!(refusal(&desk, "list", everything()).await, "window-locked");
    std::fs::rename(root.path().join("away"), &secrets).unwrap();
    must(&desk, "unlock", open).await;
    must(&desk, "list", everything()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_shared_computer_only_administrators_change_where_reports_go() {
    let root = tempfile::tempdir().unwrap();
    let desk = Desk::open(root.path()).await.unwrap();
    let set =
        |current: &str, passphrase: &str| json!({ "current": current, "passphrase": passphrase });
    let change = json!({ "deadlines": [{ "disease": "malaria", "hours": 24 }] });
    // Without a passphrase everybody is one.
    must(&desk, "set_deadlines", change.clone()).await;
    must(&desk, "set_administration_passphrase", set("", "zwinglicanary")).await;
    // Whoever has chosen it goes on, until the window is locked.
    must(&desk, "set_deadlines", change.clone()).await;
    must(&desk, "lock", json!({})).await;
    must(&desk, "unlock", json!({ "passphrase": "" })).await;
    assert_eq!(refusal(&desk, "set_deadlines", change.clone()).await, "administration-closed");
    let set_lock = refusal(&desk, "set_unlock_passphrase", set("", "another one")).await;
    assert_eq!(set_lock, "administration-closed");
    // Reports are everybody's work.
    let path = file(root.path());
    let looked = json!({ "paths": [path], "reveal": false });
    desk.grant([Path::new(&path).to_path_buf()]);
    must(&desk, "inspect_files", looked).await;
    let wrong = json!({ "passphrase": "zwingli" });
    assert_eq!(refusal(&desk, "open_administration", wrong).await, "unlock-refused");
    drop(desk);

    // Nor is closing the window a way around.
    let desk = Desk::open(root.path()).await.unwrap();
    let status = must(&desk, "status", json!({})).await;
    assert_eq!(status["locked"], false, "the window itself is open");
    assert_eq!(status["administrationClosed"], true);
    assert_eq!(refusal(&desk, "set_deadlines", change.clone()).await, "administration-closed");
    must(&desk, "open_administration", json!({ "passphrase": "zwinglicanary" })).await;
    must(&desk, "set_deadlines", change.clone()).await;
    must(&desk, "close_administration", json!({})).await;
    assert_eq!(refusal(&desk, "set_deadlines", change.clone()).await, "administration-closed");
    assert_eq!(
        refusal(&desk, "set_administration_passphrase", set("wrong", "")).await,
        "unlock-refused"
    );
    must(&desk, "set_administration_passphrase", set("zwinglicanary", "")).await;
    must(&desk, "set_deadlines", change).await;
    let status = must(&desk, "status", json!({})).await;
    assert_eq!(status["hasAdministrationPassphrase"], false);
    desk.stop().await;
}
