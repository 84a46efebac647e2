//! `labcourier endpoint test` names the layer that fails, in the words of each language: the real
//! program against a server that fails at one layer after the other.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;

use journeys::{Authority, Laboratory, objects, program};
use serde_json::Value;
use testkit::{
    CertificateDer, Figures, Reaction, ScriptedServer, ScriptedTls, TestCa, TlsVersions, Validity,
    certificate_of_pem,
};

const STATEMENT: &str = r#"{"resourceType":"CapabilityStatement","fhirVersion":"4.0.1"}"#;

/// A laboratory, and what stands at its endpoint.
struct Ground {
    runtime: tokio::runtime::Runtime,
    laboratory: Laboratory,
    ca: TestCa,
    ca_file: PathBuf,
    /// Issuer of the laboratory's certificate.
    client_ca: CertificateDer<'static>,
    servers: Vec<ScriptedServer>,
    figures: Figures,
    said: [BTreeSet<String>; 4],
    cases: usize,
}

impl Ground {
    fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        Authority::init(data.path());
        let laboratory = Laboratory::at("https://localhost:9/v1/fhir", data.path());
        let client_ca = certificate_of_pem(&data.path().join("ca.pem"));
        let ca = TestCa::new("Behörde");
        let ca_file = laboratory.folder().join("ca.pem");
        std::fs::write(&ca_file, ca.pem()).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let figures = Figures::start("redirect-proxy", "endpoint_test_names_the_layer");
        let (servers, said) = (Vec::new(), Default::default());
        Self { runtime, laboratory, ca, ca_file, client_ca, servers, figures, said, cases: 0 }
    }

    /// A server with this TLS that answers everything like this.
    fn server(&mut self, tls: ScriptedTls, reaction: Reaction) -> SocketAddr {
        let plan = move |_: &testkit::Seen| reaction.clone();
        let server = self.runtime.block_on(ScriptedServer::start(tls, plan));
        let address = server.address();
        self.servers.push(server);
        address
    }

    /// A server whose TLS is sound.
    fn sound(&mut self, reaction: Reaction) -> SocketAddr {
        let server = self.ca.loopback_server();
        self.server(ScriptedTls::mutual(server, &self.client_ca), reaction)
    }

    /// A proxy that answers everything like this.
    fn proxy(&mut self, status: u16) -> String {
        let plan =
            move |_: &testkit::Seen| Reaction::answer(status, "text/html", "<html>proxy</html>");
        let server = self.runtime.block_on(ScriptedServer::start_plain(plan));
        let url = format!("http://{}", server.address());
        self.servers.push(server);
        url
    }

    fn command(&self, language: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program("labcourier"));
        command
            .arg("--profile")
            .arg(self.laboratory.profile())
            .arg("--passphrase-file")
            .arg(self.laboratory.folder().join("passphrase"))
            .args(arguments)
            .envs([("LC_ALL", language), ("LANG", language), ("LANGUAGE", language)]);
        command
    }

    /// The layer that fails at this address, by its code; the same in the words of both languages.
    fn fails(&mut self, layer: &str, code: &str, url: &str, proxy: Option<&str>) {
        self.cases += 1;
        let name = format!("case-{}", self.cases);
        let ca = self.ca_file.to_str().unwrap().to_owned();
        let mut add = vec!["endpoint", "add", &name, url, "--ca", &ca];
        add.extend(proxy.iter().flat_map(|proxy| ["--proxy", proxy]));
        self.laboratory.must(&add);
        let output = self.laboratory.run(&["endpoint", "test", &name]);
        let layers = objects(&output);
        let what = format!("{layer} {code}: {layers:?}");
        assert_eq!(output.status.code(), Some(3), "{what}");
        assert_eq!(layers.len(), 7, "{what}");
        let place = layers.iter().position(|row| row["layer"] == layer).expect(&what);
        for (index, row) in layers.iter().enumerate() {
            // Without an answer nothing shows what became of the certificate.
            let is_unknown =
                ["cut", "timeout"].contains(&code) && row["layer"] == "client-certificate";
            let expected = match index.cmp(&place) {
                std::cmp::Ordering::Less if is_unknown => "not-reached",
                std::cmp::Ordering::Less => "passed",
                std::cmp::Ordering::Equal => "failed",
                std::cmp::Ordering::Greater => "not-reached",
            };
            assert_eq!(row["outcome"], expected, "{what}");
        }
        assert_eq!(layers[place]["problem"]["code"], code, "{what}");
        let languages = ["en_GB.UTF-8", "de_CH.UTF-8", "fr_CH.UTF-8", "it_CH.UTF-8"];
        for (said, language) in languages.into_iter().enumerate() {
            let output = self.command(language, &["endpoint", "test", &name]).output().unwrap();
            assert_eq!(output.status.code(), Some(3), "{what}");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let line = text.lines().nth(place).expect(&what).trim().to_owned();
            assert!(!text.contains(['{', '}']), "a gap in a sentence: {text}");
            let bare = code.contains('-') && text.contains(code);
            assert!(!bare, "a code instead of words: {text}");
            let hint = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!hint.contains(['{', '}']), "{hint}");
            println!("{line}\n    {}", hint.trim());
            assert!(self.said[said].insert(line), "said of another fault too: {text}");
        }
        self.figures.cases(1);
    }

    fn url(address: SocketAddr) -> String {
        format!("https://localhost:{}/v1/fhir", address.port())
    }
}

#[test]
fn endpoint_test_names_the_layer_that_fails() {
    let mut ground = Ground::new();
    name_and_way(&mut ground);
    certificates(&mut ground);
    service(&mut ground);
    let sound = ground.sound(Reaction::answer(200, "application/fhir+json", STATEMENT));
    let ca = ground.ca_file.to_str().unwrap().to_owned();
    ground.laboratory.must(&["endpoint", "add", "sound", &Ground::url(sound), "--ca", &ca]);
    let layers = ground.laboratory.must(&["endpoint", "test", "sound"]);
    let passed = |row: &Value| row["outcome"] == "passed";
    assert!(layers.len() == 7 && layers.iter().all(passed), "{layers:?}");
    let lines: usize = ground.said.iter().map(BTreeSet::len).sum();
    let different: BTreeSet<_> = ground.said.iter().flatten().collect();
    assert_eq!(different.len(), lines, "every line is translated");
    let bytes: usize = ground.servers.iter().map(ScriptedServer::body_bytes).sum();
    ground.figures.measure("body bytes", bytes as f64);
    ground.figures.finish();
}

fn name_and_way(ground: &mut Ground) {
    ground.fails("name", "dns", "https://nowhere.invalid/v1/fhir", None);
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    ground.fails("tcp", "connect-refused", &Ground::url(free), None);
    let authority = ground.sound(Reaction::answer(200, "application/fhir+json", STATEMENT));
    let url = Ground::url(authority);
    ground.fails("tcp", "proxy-unreachable", &url, Some(&format!("http://{free}")));
    let asking = ground.proxy(407);
    ground.fails("tls", "proxy-authentication", &url, Some(&asking));
    let refusing = ground.proxy(403);
    ground.fails("tls", "proxy-refused", &url, Some(&refusing));
    // A web server without TLS: its answer to the greeting is no TLS.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let plain = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            // The probe also opens a connection without a word.
            let mut hello = [0_u8; 4096];
            if stream.read(&mut hello).is_ok_and(|read| read > 0) {
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
            }
        }
    });
    ground.fails("tls", "tls-version", &Ground::url(plain), None);
}

fn certificates(ground: &mut Ground) {
    let stranger = TestCa::new("Fremde Behörde");
    let answer = || Reaction::answer(200, "application/fhir+json", STATEMENT);
    for server in [
        ground.ca.server(&["localhost"], Validity::Expired),
        ground.ca.server(&["localhost"], Validity::NotYet),
        ground.ca.server(&["other.example"], Validity::Current),
        stranger.loopback_server(),
        TestCa::self_signed_server(),
    ] {
        let tls = ScriptedTls { server, client_ca: None, versions: TlsVersions::Both };
        let address = ground.server(tls, answer());
        ground.fails("server-certificate", "tls-server-untrusted", &Ground::url(address), None);
    }
    let tls = ScriptedTls::mutual(ground.ca.loopback_server(), stranger.der());
    let address = ground.server(tls, answer());
    ground.fails("client-certificate", "tls-client-refused", &Ground::url(address), None);
    for status in [401, 403] {
        let address = ground.sound(Reaction::answer(status, "text/plain", ""));
        ground.fails("client-certificate", "forbidden", &Ground::url(address), None);
    }
}

fn service(ground: &mut Ground) {
    let fhir = |status, body: &str| Reaction::answer(status, "application/fhir+json", body);
    let page = "<!DOCTYPE html><html><body>Bitte anmelden</body></html>";
    let elsewhere = fhir(302, "").header("Location", "https://elsewhere.invalid/");
    for (code, reaction) in [
        ("not-found", fhir(404, "")),
        ("unavailable", fhir(503, "")),
        ("redirect", elsewhere),
        ("html", Reaction::answer(200, "text/html", page)),
        ("not-fhir", fhir(200, r#"{"resourceType":"Patient"}"#)),
        ("empty-answer", fhir(200, "")),
        ("cut", Reaction::CutBeforeAnswer),
        ("content-encoded", fhir(200, "x").header("Content-Encoding", "br")),
        ("status", fhir(418, "")),
    ] {
        let address = ground.sound(reaction);
        ground.fails("capability", code, &Ground::url(address), None);
    }
}
