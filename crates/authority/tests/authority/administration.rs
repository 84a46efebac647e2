//! What an operator does beside a running service, and what each laboratory may do.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::{Folder, House, Lab, client, document, tls, urn, wrapped};
use authority::{Fault, FaultKind, ForeignDocument, Interaction};
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, IsCa, Issuer,
    KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber,
};
use reqwest::StatusCode;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// What goes over the wire of each release.
mod of_all_releases {
    use super::what_another_laboratory_has_is_told_by_policy;

    in_every_release![what_another_laboratory_has_is_told_by_policy];
}

on_every_store![
    an_expired_certificate_loses_its_access_at_once_and_cannot_resume,
    certificates_are_renewed_and_revoked_while_the_service_runs,
    it_is_reached_by_the_names_it_was_given,
    a_configured_ca_is_trusted_less_its_revocation_list_of_now,
    a_laboratory_keeps_its_limits_and_others_do_not_feel_it,
    open_requests_are_limited_over_all_connections,
];

/// Runs the program and takes its output.
pub(crate) fn told(data: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_labcourier-authority"));
    let output = command.args(arguments).arg("--data").arg(data).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

async fn certificates_are_renewed_and_revoked_while_the_service_runs() {
    let house = House::open(|_| {}).await;
    let data = house.folder.path();
    let old = house.client("alpha");
    let receipt = old.deliver(&document(&urn(), "A", "1"), &urn()).await.receipt.unwrap();
    let issued = told(data, &["certificate", "issue", "alpha"]);
    let (fingerprint, p12) = issued.trim_end().split_once(' ').unwrap();
    let stem = Path::new(p12).file_stem().unwrap().to_str().unwrap();
    let new = Lab { client: client(tls(data, Some(stem))), base: house.base.clone() };
    assert_eq!(
        new.read(&receipt).await.receipt.as_deref(),
        Some(receipt.as_str()),
        "both are alpha"
    );
    assert_eq!(old.read(&receipt).await.receipt.as_deref(), Some(receipt.as_str()));
    let listed = told(data, &["certificate", "list", "--laboratory", "alpha"]);
    assert_eq!(listed.matches("\tvalid\n").count(), 2, "{listed}");
    let first = listed.lines().find(|line| !line.starts_with(fingerprint)).unwrap();
    told(data, &["certificate", "revoke", &first[..12]]);
    // On the connection that is open, at the next request.
    let refused = old.get(&format!("/DocumentReference/{receipt}")).await;
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    assert_eq!(crate::common::resource(refused).await.root().text("issue.code"), Some("forbidden"));
    assert_eq!(new.get("/metadata").await.status(), StatusCode::OK);
    let listed = told(data, &["certificate", "list"]);
    assert_eq!(listed.matches("\trevoked\n").count(), 1, "{listed}");
    assert_eq!(told(data, &["laboratory", "add", "gamma"]), "gamma added\n");
    assert_eq!(told(data, &["laboratory", "list"]), "alpha\t1\nbeta\t1\ngamma\t0\n");
    for wrong in [
        &["certificate", "issue", "nobody"][..],
        &["certificate", "revoke", "1234567"],
        &["certificate", "revoke", "zzzzzzzzzzzz"],
        &["laboratory", "add", "../x"],
        &["audit", "list", "--laboratory", "nobody"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_labcourier-authority"));
        let output = command.args(wrong).arg("--data").arg(data).output().unwrap();
        assert!(!output.status.success() && !output.stderr.is_empty(), "{wrong:?}");
    }
}

async fn it_is_reached_by_the_names_it_was_given() {
    let folder = Folder::new();
    told(folder.path(), &["init", "--laboratory", "alpha", "--host", "authority.example"]);
    told(folder.path(), &["init", "--host", "10.1.2.3"]);
    let house = House::open_in(folder, |_| {}).await;
    let address = house.serving.as_ref().unwrap().addr;
    for (host, fits) in [("authority.example", true), ("other.example", false)] {
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls(house.folder.path(), Some("alpha")))
            .no_proxy()
            .resolve(host, address)
            .build()
            .unwrap();
        let url = format!("https://{host}:{}/v1/fhir/metadata", address.port());
        let answer = client.get(url).send().await;
        assert_eq!(answer.is_ok_and(|answer| answer.status() == StatusCode::OK), fits, "{host}");
    }
    assert!(authority::add_hosts(house.folder.path(), &["a b".to_owned()]).is_err());
}

/// Another CA, its revocation list, and a client of it.
struct Abroad {
    issuer: Issuer<'static, KeyPair>,
    ca: String,
    certificate: String,
    key: KeyPair,
}

impl Abroad {
    fn new() -> Self {
        Self::with_end(rcgen::date_time_ymd(2100, 1, 1))
    }

    /// A client's certificate that ends then.
    fn with_end(end: time::OffsetDateTime) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let ca = params.self_signed(&key).unwrap().pem();
        let issuer = Issuer::new(params, key);
        let key = KeyPair::generate().unwrap();
        let mut made = Self { issuer, ca, certificate: String::new(), key };
        made.issue(end);
        made
    }

    /// Another certificate for the same key.
    fn issue(&mut self, end: time::OffsetDateTime) {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.serial_number = Some(SerialNumber::from(77u64));
        params.not_after = end;
        self.certificate = params.signed_by(&self.key, &self.issuer).unwrap().pem();
    }

    fn list(&self, serials: &[u64]) -> String {
        let start = rcgen::date_time_ymd(2025, 1, 1);
        let revoked = |serial: &u64| RevokedCertParams {
            serial_number: SerialNumber::from(*serial),
            revocation_time: start,
            reason_code: None,
            invalidity_date: None,
        };
        let params = CertificateRevocationListParams {
            this_update: start,
            next_update: rcgen::date_time_ymd(2100, 1, 1),
            crl_number: SerialNumber::from(1u64),
            issuing_distribution_point: None,
            revoked_certs: serials.iter().map(revoked).collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        params.signed_by(&self.issuer).unwrap().pem().unwrap()
    }

    fn lab(&self, data: &Path, base: &str) -> Lab {
        Lab { client: client(self.tls(data)), base: base.to_owned() }
    }

    fn tls(&self, data: &Path) -> rustls::ClientConfig {
        self.tls_of(data, rustls::DEFAULT_VERSIONS)
    }

    fn tls_of(
        &self,
        data: &Path,
        versions: &[&'static rustls::SupportedProtocolVersion],
    ) -> rustls::ClientConfig {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(data.join("ca.pem")).unwrap()).unwrap();
        let own = CertificateDer::from_pem_slice(self.certificate.as_bytes()).unwrap();
        let key = PrivateKeyDer::try_from(self.key.serialize_der()).unwrap();
        let provider = rustls::crypto::ring::default_provider();
        rustls::ClientConfig::builder_with_provider(std::sync::Arc::new(provider))
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots)
            .with_client_auth_cert(vec![own], key)
            .unwrap()
    }
}

async fn a_configured_ca_is_trusted_less_its_revocation_list_of_now() {
    let abroad = Abroad::new();
    let files = TempDir::new().unwrap();
    let path = |name: &str| files.path().join(name);
    std::fs::write(path("ca.pem"), &abroad.ca).unwrap();
    std::fs::write(path("lab.pem"), &abroad.certificate).unwrap();
    std::fs::write(path("crl.pem"), abroad.list(&[1])).unwrap();
    let house = House::open(|options| {
        options.trust.client_cas = Some(path("ca.pem"));
        options.trust.revocations = Some(path("crl.pem"));
    })
    .await;
    let data = house.folder.path();
    let lab = abroad.lab(data, &house.base);
    assert_eq!(lab.get("/metadata").await.status(), StatusCode::FORBIDDEN, "not registered");
    let file = path("lab.pem");
    told(data, &["certificate", "register", "beta", file.to_str().unwrap()]);
    assert_eq!(lab.get("/metadata").await.status(), StatusCode::OK);
    // A list that cannot be read leaves the last one in force.
    std::fs::write(path("crl.pem"), "-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n")
        .unwrap();
    assert_eq!(
        abroad.lab(data, &house.base).get("/metadata").await.status(),
        StatusCode::OK,
        "a broken list"
    );
    std::fs::write(path("crl.pem"), abroad.list(&[1, 77])).unwrap();
    let url = format!("{}/metadata", house.base);
    assert!(abroad.lab(data, &house.base).client.get(&url).send().await.is_err(), "revoked");
    // That handshake made the new list known: the open connection ends too.
    let end = Instant::now() + Duration::from_secs(20);
    while lab.client.get(&url).send().await.is_ok() {
        assert!(Instant::now() < end, "an open connection outlives the revocation");
        tokio::task::yield_now().await;
    }
    assert_eq!(house.client("alpha").get("/metadata").await.status(), StatusCode::OK);
}

/// A request on a connection that stays open; the status, or `None` where the connection has ended.
async fn asked_on(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> Option<u16> {
    let request = b"HEAD /v1/fhir/metadata HTTP/1.1\r\nhost: localhost\r\n\r\n";
    stream.write_all(request).await.ok()?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    std::str::from_utf8(&head).unwrap().split(' ').nth(1)?.parse().ok()
}

async fn an_expired_certificate_loses_its_access_at_once_and_cannot_resume() {
    for version in [&rustls::version::TLS13, &rustls::version::TLS12] {
        let mut abroad = Abroad::with_end(rcgen::date_time_ymd(2100, 1, 1));
        let files = TempDir::new().unwrap();
        let path = |name: &str| files.path().join(name);
        std::fs::write(path("ca.pem"), &abroad.ca).unwrap();
        let house = House::open(|options| options.trust.client_cas = Some(path("ca.pem"))).await;
        let data = house.folder.path();
        // Once the service has started, which takes as long as a busy computer needs.
        #[expect(clippy::disallowed_methods, reason = "the end of a certificate made now")]
        abroad.issue(time::OffsetDateTime::now_utc() + Duration::from_secs(3));
        std::fs::write(path("lab.pem"), &abroad.certificate).unwrap();
        authority::register_certificate(data, "beta", &path("lab.pem")).unwrap();
        let mut config = abroad.tls_of(data, &[version]);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let connector = TlsConnector::from(Arc::new(config));
        let connect = async || {
            let stream = TcpStream::connect(house.serving.as_ref().unwrap().addr).await.unwrap();
            connector.connect(ServerName::try_from("localhost").unwrap(), stream).await
        };
        let mut open = connect().await.unwrap();
        assert_eq!(asked_on(&mut open).await, Some(200), "{version:?}");
        let deadline = Instant::now() + Duration::from_secs(20);
        let refused = loop {
            match asked_on(&mut open).await {
                // Or not now: it is asked faster than a busy disk takes the lines of the audit log.
                Some(200 | 503) => {
                    assert!(Instant::now() < deadline, "it outlives its certificate");
                }
                other => break other,
            }
        };
        assert!(matches!(refused, None | Some(403)), "{refused:?}");
        let ended = async { while asked_on(&mut open).await.is_some() {} };
        tokio::time::timeout(Duration::from_secs(5), ended).await.expect("the connection ends");
        // Neither does a session that was kept let it in again. A certificate is valid to the end
        // of its last second: the handshake may succeed so long, and nothing is answered.
        loop {
            let again = match connect().await {
                Ok(mut again) => asked_on(&mut again).await,
                Err(_) => None,
            };
            match again {
                None => break,
                Some(403 | 503) => assert!(Instant::now() < deadline, "{version:?}"),
                let_in => panic!("{version:?}: {let_in:?}"),
            }
        }
        let others = async || house.client("alpha").get("/metadata").await.status();
        while others().await != StatusCode::OK {
            assert!(Instant::now() < deadline, "others are served");
        }
    }
}

async fn what_another_laboratory_has_is_told_by_policy() {
    for (policy, foreign, unknown) in [
        (ForeignDocument::NotFound, 404, 404),
        (ForeignDocument::Forbidden, 403, 404),
        (ForeignDocument::Empty, 200, 200),
    ] {
        let house = House::open(|options| options.foreign_document = policy).await;
        let receipt =
            house.client("alpha").deliver(&document(&urn(), "A", "1"), &urn()).await.receipt;
        let beta = house.client("beta");
        for (id, status) in [(receipt.unwrap(), foreign), ("no-such-id".to_owned(), unknown)] {
            let answer = beta.get(&format!("/DocumentReference/{id}")).await;
            assert_eq!(answer.status().as_u16(), status, "{policy:?}");
            let tree = crate::common::resource(answer).await;
            if status == 200 {
                assert_eq!(tree.root().text("total"), Some("0"));
            }
            assert_eq!(beta.search(&format!("_id={id}")).await.total, Some(0));
        }
    }
}

async fn a_laboratory_keeps_its_limits_and_others_do_not_feel_it() {
    let house = House::open(|options| {
        options.limits.requests_per_second = 1;
        options.limits.body_max = 50_000;
    })
    .await;
    let (alpha, beta) = (house.client("alpha"), house.client("beta"));
    let large = alpha.post(vec![b' '; 50_001], "application/fhir+json").await;
    assert_eq!(large.status(), StatusCode::PAYLOAD_TOO_LARGE);
    crate::common::resource(large).await;
    let end = Instant::now() + Duration::from_secs(20);
    let busy = loop {
        let answer = alpha.get("/DocumentReference?_count=0").await;
        if answer.status() != StatusCode::OK {
            break answer;
        }
        assert!(Instant::now() < end, "no limit");
    };
    assert_eq!(busy.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(busy.headers()["retry-after"], "1");
    assert_eq!(crate::common::resource(busy).await.root().text("issue.code"), Some("throttled"));
    // A report that is refused so is answered too, not cut.
    let (body, format) = wrapped(&document(&urn(), "A", "1"), &urn());
    let mut refused = alpha.post(body.clone(), format.media_type()).await.status();
    while refused == StatusCode::CREATED {
        refused = alpha.post(body.clone(), format.media_type()).await.status();
    }
    assert_eq!(refused, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(beta.get("/DocumentReference").await.status(), StatusCode::OK);
}

async fn open_requests_are_limited_over_all_connections() {
    let house = House::open(|options| options.limits.open_requests = 1).await;
    let slow = FaultKind::Delay(Duration::from_secs(60));
    house.faults().add(Fault::once(Interaction::Search, 1, slow));
    let waiting = house.client("alpha");
    let asked = tokio::spawn(async move { waiting.get("/DocumentReference").await.status() });
    let alpha = house.client("alpha");
    let end = Instant::now() + Duration::from_secs(20);
    while alpha.get("/metadata").await.status() != StatusCode::TOO_MANY_REQUESTS {
        assert!(Instant::now() < end, "no limit");
    }
    assert_eq!(house.client("beta").get("/metadata").await.status(), StatusCode::OK);
    // Whoever leaves gives the place back.
    asked.abort();
    while alpha.get("/metadata").await.status() != StatusCode::OK {
        assert!(Instant::now() < end, "the place is not given back");
    }
}
