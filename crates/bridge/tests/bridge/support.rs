//! The support bundle: what it says, and what it never says.

use std::path::Path;

use bridge::headless::{EndpointTerms, Headless, SupportFile, Vault, save_support, support_files};
use bridge::{Desk, KnownContent, Password, SUPPORT_FILES, Wording};
use serde_json::Value;
use testkit::{DocumentBuilder, Figures};

const FAMILY: &str = "Zwinglicanary";

/// Words that are the id and its parameters.
fn words() -> Wording {
    Wording::new("en", |id, params| format!("{id} {params:?}"))
}

/// The first file names every other, and says that no patient is in them.
fn summary(files: &[SupportFile]) -> &str {
    assert_eq!(files[0].name, "summary.txt");
    for file in &files[1..] {
        let name = file.name.strip_suffix(".json").unwrap();
        assert!(SUPPORT_FILES.contains(&name), "{name}");
        assert!(files[0].text.contains(&format!("- {}: support-file.{name}", file.name)), "{name}");
    }
    assert!(files[0].text.contains("support-summary.without"));
    &files[0].text
}

fn json(files: &[SupportFile], name: &str) -> Value {
    let file = files.iter().find(|file| file.name == name).unwrap_or_else(|| panic!("{name}"));
    serde_json::from_str(&file.text).unwrap()
}

fn without(files: &[SupportFile], canaries: &[&str], figures: &mut Figures) {
    for file in files {
        for canary in canaries {
            figures.cases(1);
            assert!(!file.text.contains(canary), "a canary in {}", file.name);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_window_shows_it_first_and_it_names_nobody() {
    let mut figures = Figures::start("canaries", "the_window_shows_it_first_and_it_names_nobody");
    let root = tempfile::tempdir().unwrap();
    let desk = Desk::open(&root.path().join("desk")).await.unwrap();
    desk.start().await.unwrap();
    // A name in the file's name too, and a report that is held with the name in its findings.
    let good = root.path().join(format!("{FAMILY}.json"));
    std::fs::write(&good, DocumentBuilder::new(1).family(FAMILY).json()).unwrap();
    let bad = root.path().join(format!("{FAMILY}-2.json"));
    let wrong = DocumentBuilder::new(2)
        .family(FAMILY)
        .json()
        .replace("\"gender\"", &format!("\"{FAMILY}\""));
    std::fs::write(&bad, wrong).unwrap();
    let paths = [good, bad].map(|path| path.to_str().unwrap().to_owned()).to_vec();
    let taken = desk.send_files(paths, KnownContent::Show).await.unwrap();
    let held = taken.submissions[1].unwrap();
    desk.withdraw(held, format!("{FAMILY} came in person")).await.unwrap();

    let files = desk.support_preview(Some(words())).await.unwrap();
    assert_eq!(files.len(), SUPPORT_FILES.len());
    assert!(summary(&files).contains(env!("CARGO_PKG_VERSION")));
    let user = std::env::var("USER").unwrap_or_else(|_| "nobody-of-this-name".to_owned());
    let folder = root.path().to_str().unwrap().to_owned();
    without(&files, &[FAMILY, &folder, &user, "practice-laboratory", "BEGIN"], &mut figures);
    assert_eq!(json(&files, "program.json")["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(json(&files, "counts.json")["byState"]["withdrawn"], 1);
    let messages = json(&files, "counts.json")["messages"].clone();
    assert!(
        messages.as_array().unwrap().iter().any(|m| m["code"] == "unknown-element"),
        "{messages}"
    );
    let events = json(&files, "events.json");
    assert!(
        events.as_array().unwrap().iter().any(|event| event["code"] == "withdrawn"),
        "{events}"
    );
    assert_eq!(json(&files, "verification.json")["flaws"], serde_json::json!([]));
    assert_eq!(json(&files, "certificate.json")["certificate"]["clientAuth"], true);
    assert_eq!(json(&files, "settings.json")["endpoints"][0]["environment"], "practice");

    // What is saved is what was shown, to the byte.
    let target = root.path().join("support.zip");
    desk.save_support(&target).await.unwrap();
    let mut archive = zip::ZipArchive::new(std::fs::File::open(&target).unwrap()).unwrap();
    assert_eq!(archive.len(), files.len());
    for file in &files {
        let text = std::io::read_to_string(archive.by_name(&file.name).unwrap()).unwrap();
        assert_eq!(text, file.text);
    }
    let gone = desk.save_support(Path::new("/nonexistent/support.zip")).await.unwrap_err();
    assert_eq!(gone.code, "support-not-saved");
    desk.stop().await;
    figures.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_that_does_not_open_says_why_and_keeps_its_secrets() {
    let mut figures =
        Figures::start("canaries", "a_profile_that_does_not_open_says_why_and_keeps_its_secrets");
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("profile");
    let passphrase = |text: &str| Some(Password::from(text.to_owned()));
    let terms = EndpointTerms {
        name: FAMILY.to_owned(),
        url: "https://authority.example/v1/fhir".to_owned(),
        environment: "integration".to_owned(),
        release: "1.13.1".to_owned(),
        language: "de-CH".to_owned(),
        identifier: "attempt".to_owned(),
        ca_pem: None,
        also_system_roots: false,
        server_key: None,
        proxy: Some(format!("http://{FAMILY}:{FAMILY}@proxy.example:3128")),
        proxy_password: None,
    };
    let made =
        Headless::create(&folder, Vault::Passphrase, passphrase(FAMILY), terms).await.unwrap();
    made.close().await;
    let files = support_files(&folder, passphrase("wrong"), &words()).await;
    assert!(summary(&files).contains("wrong-passphrase"), "that it says too");
    without(&files, &[FAMILY], &mut figures);
    assert_eq!(json(&files, "program.json")["problem"]["code"], "wrong-passphrase");
    assert_eq!(json(&files, "settings.json")["endpoints"][0]["proxy"], "proxy.example:3128");
    assert_eq!(files.len(), 3, "nothing of the journal, which is closed");
    let files = support_files(&folder, passphrase(FAMILY), &words()).await;
    without(&files, &[FAMILY], &mut figures);
    assert_eq!(json(&files, "program.json")["problem"], Value::Null);
    let none = support_files(&root.path().join("none"), None, &words()).await;
    assert_eq!(json(&none, "program.json")["problem"]["code"], "profile-missing");

    let target = root.path().join("support.zip");
    save_support(&files, &target).unwrap();
    assert_eq!(
        save_support(&files, &target).unwrap_err().code,
        "support-not-saved",
        "never replaced"
    );
    figures.finish();
}
