//! With a key of its own and a server on this computer: what is offered, what is refused, and what
//! the server is told.
#![allow(clippy::unwrap_used)] // A test that cannot go on panics.

use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use testkit::{FileSigner, Reaction, ScriptedServer, ScriptedTls, TestCa, TlsVersions};
use updates::{Checked, Fault, Limits, Source, Version, fetch, newer};

const FILE: &[u8] = b"a package of a newer version";
const PLATFORM: &str = "linux-x86_64-deb";

/// What a server says, and what it gives.
struct Release {
    version: &'static str,
    signature: String,
    file: Vec<u8>,
    name: &'static str,
}

impl Release {
    fn of(signer: &FileSigner) -> Self {
        let signature = signer.signed(FILE, "timestamp:1\tfile:a.deb\tversion:0.2.0");
        Self { version: "0.2.0", signature, file: FILE.to_vec(), name: "a_0.2.0.deb" }
    }

    async fn served(self, ca: &TestCa) -> ScriptedServer {
        let tls = ScriptedTls {
            server: ca.loopback_server(),
            client_ca: None,
            versions: TlsVersions::Both,
        };
        ScriptedServer::start(tls, move |seen| {
            if seen.target != "/latest.json" {
                return Reaction::answer(200, "application/octet-stream", self.file.clone());
            }
            let host = seen.header("host").unwrap();
            let signature = self.signature.replace('\n', "\\n").replace('\t', "\\t");
            let (version, name) = (self.version, self.name);
            let url = format!("https://{host}/{name}");
            let of = format!(r#"{{"url":"{url}","signature":"{signature}"}}"#);
            let body = format!(r#"{{"version":"{version}","platforms":{{"{PLATFORM}":{of}}}}}"#);
            Reaction::answer(200, "application/json", body)
        })
        .await
    }
}

fn here() -> Version {
    "0.1.0".parse().unwrap()
}

fn address(server: &ScriptedServer) -> String {
    format!("https://localhost:{}/latest.json", server.address().port())
}

/// What becomes of looking and fetching.
async fn looked(
    release: Release,
    signer: &FileSigner,
    folder: &Path,
) -> Result<Option<Checked>, Fault> {
    let ca = TestCa::new("updates");
    let server = release.served(&ca).await;
    let source =
        Source::new(&address(&server), &signer.public_key(), Some(ca.pem().to_owned())).unwrap();
    let platforms = [PLATFORM.to_owned(), "linux-x86_64".to_owned()];
    let Some(offer) = newer(&source, here(), &platforms, Limits::default()).await? else {
        return Ok(None);
    };
    fetch(&source, &offer, folder, Limits::default()).await.map(Some)
}

fn lies_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[tokio::test]
async fn a_newer_version_with_a_right_signature_is_kept_and_may_be_installed() {
    let (signer, folder) = (FileSigner::default(), tempfile::tempdir().unwrap());
    let checked = looked(Release::of(&signer), &signer, folder.path()).await.unwrap().unwrap();
    assert_eq!(checked.version.to_string(), "0.2.0");
    assert_eq!(std::fs::read(checked.path().unwrap()).unwrap(), FILE);
    assert_eq!(lies_in(folder.path()), ["lab-courier-0.2.0.deb"]);
    // As Tauri's command writes it: all of it in base64.
    let plain = Release::of(&signer);
    let wrapped = Release { signature: STANDARD.encode(&plain.signature), ..plain };
    assert!(looked(wrapped, &signer, folder.path()).await.unwrap().is_some());
}

#[tokio::test]
async fn what_is_not_newer_or_not_for_this_computer_is_not_offered() {
    let (signer, folder) = (FileSigner::default(), tempfile::tempdir().unwrap());
    for version in ["0.1.0", "0.0.9"] {
        let release = Release { version, ..Release::of(&signer) };
        assert!(looked(release, &signer, folder.path()).await.unwrap().is_none(), "{version}");
    }
    let ca = TestCa::new("updates");
    let server = Release::of(&signer).served(&ca).await;
    let source = Source::new(&address(&server), &signer.public_key(), Some(ca.pem().to_owned()));
    let elsewhere = ["windows-x86_64".to_owned()];
    let found = newer(&source.unwrap(), here(), &elsewhere, Limits::default()).await.unwrap();
    assert!(found.is_none());
}

#[tokio::test]
async fn what_is_not_rightly_signed_is_refused_and_nothing_is_left_of_it() {
    let (signer, folder) = (FileSigner::default(), tempfile::tempdir().unwrap());
    let right = || Release::of(&signer);
    let comment = "file:a.deb\tversion:0.2.0";
    let changed = |from: &str, to: &str| right().signature.replace(from, to);
    let mut tampered = FILE.to_vec();
    tampered[3] ^= 1;
    let cases = [
        ("another file", Release { file: tampered, ..right() }, Fault::SignatureWrong),
        ("half a file", Release { file: FILE[..9].to_vec(), ..right() }, Fault::SignatureWrong),
        (
            "another key",
            Release { signature: FileSigner::default().signed(FILE, comment), ..right() },
            Fault::SignatureWrong,
        ),
        (
            "a key that says it is the right one",
            Release { signature: signer.impostor().signed(FILE, comment), ..right() },
            Fault::SignatureWrong,
        ),
        (
            "a comment that was not signed",
            Release { version: "0.3.0", signature: changed("0.2.0", "0.3.0"), ..right() },
            Fault::SignatureWrong,
        ),
        (
            "an old file as a new one",
            Release { version: "0.3.0", ..right() },
            Fault::SignedForOther,
        ),
        (
            "no version signed",
            Release { signature: signer.signed(FILE, "file:a_0.2.0.deb"), ..right() },
            Fault::SignedForOther,
        ),
        (
            "the old kind of signature",
            Release { signature: signer.signed_as_of_old(FILE, comment), ..right() },
            Fault::SignatureWrong,
        ),
        ("no signature", Release { signature: String::new(), ..right() }, Fault::NotSigned),
        ("no version", Release { version: "newest", ..right() }, Fault::NoDescription),
        ("no package", Release { name: "a.sh", ..right() }, Fault::NoDescription),
        ("no package but a path", Release { name: "..%2f..%2fa", ..right() }, Fault::NoDescription),
    ];
    for (what, release, fault) in cases {
        let found = looked(release, &signer, folder.path()).await;
        assert_eq!(found.err(), Some(fault), "{what}");
        assert!(lies_in(folder.path()).is_empty(), "{what}: {:?}", lies_in(folder.path()));
    }
}

#[tokio::test]
async fn a_file_that_was_changed_after_it_was_checked_is_not_installed() {
    let (signer, folder) = (FileSigner::default(), tempfile::tempdir().unwrap());
    let checked = looked(Release::of(&signer), &signer, folder.path()).await.unwrap().unwrap();
    std::fs::write(folder.path().join("lab-courier-0.2.0.deb"), b"something else").unwrap();
    assert_eq!(checked.path(), Err(Fault::SignatureWrong));
    assert!(lies_in(folder.path()).is_empty());
    assert_eq!(checked.path(), Err(Fault::NotKept));
}

#[tokio::test]
async fn the_server_is_told_nothing_of_this_computer() {
    let (signer, ca) = (FileSigner::default(), TestCa::new("updates"));
    let server = Release::of(&signer).served(&ca).await;
    let source = Source::new(&address(&server), &signer.public_key(), Some(ca.pem().to_owned()));
    let (source, folder) = (source.unwrap(), tempfile::tempdir().unwrap());
    let platforms = [PLATFORM.to_owned()];
    let offer = newer(&source, here(), &platforms, Limits::default()).await.unwrap().unwrap();
    fetch(&source, &offer, folder.path(), Limits::default()).await.unwrap();
    let seen = server.seen();
    assert_eq!(seen.len(), 2);
    let host = format!("localhost:{}", server.address().port());
    for (one, target) in seen.iter().zip(["/latest.json", "/a_0.2.0.deb"]) {
        assert_eq!((&*one.method, &*one.target, one.body.len()), ("GET", target, 0));
        let headers: Vec<_> = one.headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        let all = [
            ("host", host.as_str()),
            ("user-agent", "lab-courier"),
            ("accept", "*/*"),
            ("accept-encoding", "identity"),
        ];
        assert_eq!(headers, all);
        assert!(one.client.is_none(), "no certificate");
    }
}

#[tokio::test]
async fn what_answers_otherwise_ends_within_bounds_and_is_not_followed() {
    let (signer, folder) = (FileSigner::default(), tempfile::tempdir().unwrap());
    let ca = TestCa::new("updates");
    let large = Release { file: vec![0; 5_000], ..Release::of(&signer) }.served(&ca).await;
    let pem = Some(ca.pem().to_owned());
    let of = |server: &ScriptedServer, pem| {
        Source::new(&address(server), &signer.public_key(), pem).unwrap()
    };
    let platforms = [PLATFORM.to_owned()];
    let source = of(&large, pem.clone());
    let offer = newer(&source, here(), &platforms, Limits::default()).await.unwrap().unwrap();
    let small = Limits { file_bytes_max: 4_999, ..Limits::default() };
    let fault = fetch(&source, &offer, folder.path(), small).await.err().unwrap();
    assert_eq!((fault, lies_in(folder.path()).len()), (Fault::TooLarge, 0));
    let small = Limits { description_bytes_max: 10, ..Limits::default() };
    assert_eq!(newer(&source, here(), &platforms, small).await.err(), Some(Fault::TooLarge));
    // Somebody else's server, one that leads elsewhere, one that is not there.
    let stranger = of(&large, Some(TestCa::new("other").pem().to_owned()));
    let quick = Limits { connect: Duration::from_secs(5), ..Limits::default() };
    let found = newer(&stranger, here(), &platforms, quick).await;
    assert_eq!(found.err(), Some(Fault::NotTrusted));
    let tls =
        ScriptedTls { server: ca.loopback_server(), client_ca: None, versions: TlsVersions::Both };
    let elsewhere = ScriptedServer::start(tls, |_| {
        Reaction::answer(302, "text/plain", "").header("Location", "https://b.example/")
    })
    .await;
    let found = newer(&of(&elsewhere, pem.clone()), here(), &platforms, quick).await;
    assert_eq!(found.err(), Some(Fault::Refused));
    let gone = of(&elsewhere, pem);
    drop(elsewhere);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(newer(&gone, here(), &platforms, quick).await.err(), Some(Fault::NotReached));
}
