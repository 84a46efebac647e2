//! A newer version of the program, with a key of its own and a server on this computer.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bridge::{Call, Desk};
use serde_json::json;
use testkit::{FileSigner, Reaction, ScriptedServer, ScriptedTls, TestCa, TlsVersions};

use crate::desk::assert_known;

const FILE: &[u8] = b"a package of a newer version";

/// A server that has version 9.0.0 for whatever computer asks, and another file once it is told so.
struct House {
    server: ScriptedServer,
    setting: serde_json::Value,
    is_tampered: Arc<AtomicBool>,
}

impl House {
    async fn open() -> Self {
        let (signer, ca) = (FileSigner::default(), TestCa::new("updates"));
        let is_tampered = Arc::new(AtomicBool::new(false));
        let tampered = is_tampered.clone();
        let signature = signer.signed(FILE, "file:a.deb\tversion:9.0.0");
        let tls = ScriptedTls {
            server: ca.loopback_server(),
            client_ca: None,
            versions: TlsVersions::Both,
        };
        let server = ScriptedServer::start(tls, move |seen| {
            if seen.target != "/latest.json" {
                let other: &[u8] = b"a package of somebody else's";
                let file = if tampered.load(Ordering::SeqCst) { other } else { FILE };
                return Reaction::answer(200, "application/octet-stream", file);
            }
            let url = format!("https://{}/a.deb", seen.header("host").unwrap());
            let of = json!({ "url": url, "signature": signature });
            let all: serde_json::Map<_, _> =
                ::updates::platforms().into_iter().map(|name| (name, of.clone())).collect();
            let body = json!({ "version": "9.0.0", "platforms": all }).to_string();
            Reaction::answer(200, "application/json", body)
        })
        .await;
        let address = format!("https://localhost:{}/latest.json", server.address().port());
        let setting = json!({ "address": address, "key": signer.public_key(), "caPem": ca.pem() });
        Self { server, setting, is_tampered }
    }
}

async fn state(desk: &Desk) -> (&'static str, Option<&'static str>, Option<String>) {
    let view = desk.updates().await.unwrap();
    (view.state, view.reason, view.version)
}

async fn asked(desk: &Desk) -> (&'static str, Option<&'static str>, Option<String>) {
    desk.look_for_updates().await.unwrap();
    state(desk).await
}

async fn opened(root: &Path) -> Desk {
    let desk = Desk::open(root).await.unwrap();
    desk.read_updates_from(&root.join("updates.json"));
    desk
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_version_is_offered_by_its_signature_and_nobody_is_asked_unless_somebody_said_whom()
{
    let (root, house) = (tempfile::tempdir().unwrap(), House::open().await);
    let file = root.path().join("updates.json");
    let desk = opened(root.path()).await;
    assert_eq!(asked(&desk).await, ("nobody", None, None));

    std::fs::write(&file, house.setting.to_string()).unwrap();
    assert_eq!(state(&desk).await, ("unasked", None, None));
    assert_eq!(asked(&desk).await, ("ready", None, Some("9.0.0".to_owned())));
    let lies = desk.update_to_install().await.unwrap().unwrap();
    assert_eq!(std::fs::read(&lies).unwrap(), FILE);
    // It lies here: a second question does not fetch it again.
    let before = house.server.seen().len();
    assert_eq!(asked(&desk).await.0, "ready");
    assert_eq!(house.server.seen().len(), before + 1);

    // Changed where it lies, it is not installed, and fetched again at the next question.
    std::fs::write(&lies, b"something else").unwrap();
    assert_eq!(desk.update_to_install().await.unwrap(), None);
    assert_eq!(state(&desk).await, ("failed", Some("signature-wrong"), None));
    assert!(!lies.exists());
    assert_eq!(asked(&desk).await.0, "ready");

    // What is promised and is not what was signed is not offered.
    std::fs::remove_file(&lies).unwrap();
    house.is_tampered.store(true, Ordering::SeqCst);
    assert_eq!(asked(&desk).await, ("failed", Some("signature-wrong"), None));
    assert!(!lies.exists());
    assert_eq!(desk.update_to_install().await.unwrap(), None);
    desk.stop().await;
}

/// Nobody installs what nobody can be asked about later, and the words say that nothing was done.
#[tokio::test(flavor = "multi_thread")]
async fn an_installer_that_cannot_be_noted_is_not_opened_and_nothing_is_said_to_be_changed() {
    let (root, house) = (tempfile::tempdir().unwrap(), House::open().await);
    std::fs::write(root.path().join("updates.json"), house.setting.to_string()).unwrap();
    let desk = opened(root.path()).await;
    assert_eq!(asked(&desk).await.0, "ready");
    let log = root.path().join("practice").join("audit.jsonl");
    std::fs::create_dir(&log).unwrap();
    assert_known(desk.update_to_install().await, "update-not-noted");
    assert_eq!(state(&desk).await.0, "ready", "it is still there");
    std::fs::remove_dir(&log).unwrap();
    assert!(desk.update_to_install().await.unwrap().is_some());
    desk.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn administrators_switch_it_off_for_the_computer_and_in_the_settings() {
    let (root, house) = (tempfile::tempdir().unwrap(), House::open().await);
    let file = root.path().join("updates.json");
    let desk = opened(root.path()).await;
    let mut setting = house.setting.clone();
    setting["look"] = json!(false);
    std::fs::write(&file, setting.to_string()).unwrap();
    assert_eq!(asked(&desk).await, ("off", None, None));
    std::fs::write(&file, "{").unwrap();
    assert_eq!(asked(&desk).await, ("unusable", Some("unreadable"), None));

    std::fs::write(&file, house.setting.to_string()).unwrap();
    desk.set_updates(false).await.unwrap();
    assert_eq!(asked(&desk).await, ("switched-off", None, None));
    assert_eq!(house.server.connections(), 0, "nobody was asked");
    desk.stop().await;
    drop(desk);
    let desk = opened(root.path()).await;
    assert_eq!(asked(&desk).await, ("switched-off", None, None), "it is kept");
    desk.set_updates(true).await.unwrap();
    assert_eq!(asked(&desk).await.0, "ready");

    // Where administrators have a passphrase, nobody else changes or installs anything.
    let passphrase = "for administrators".to_owned();
    desk.set_administration_passphrase(String::new(), passphrase.clone()).await.unwrap();
    desk.close_administration().await.unwrap();
    for call in [Call::SetUpdates { on: false }, Call::InstallUpdate {}] {
        assert_known(desk.answer(call, None).await, "administration-closed");
    }
    desk.open_administration(passphrase).await.unwrap();
    assert_eq!(desk.answer(Call::InstallUpdate {}, None).await.unwrap(), "true");
    desk.stop().await;
}
