//! A real authority on loopback, real clients with real certificates, and documents of our own.

mod folder;
#[cfg(postgres_is_installed)]
pub(crate) mod postgres;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) use self::folder::Folder;
use crate::setting::Setting;
use authority::{ServeOptions, Serving, init, serve};
use exchange::{Answer, Page, Processing, wrap};
use fhir::{Format, Limits, Tree};
use p12_keystore::{KeyStore, Pkcs12ImportPolicy};
use reqwest::{Client, Response, StatusCode};
use rustls::RootCertStore;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_util::sync::CancellationToken;

pub(crate) struct House {
    pub(crate) folder: Folder,
    pub(crate) serving: Option<Serving>,
    pub(crate) base: String,
    shutdown: CancellationToken,
}

impl House {
    pub(crate) async fn open(change: impl FnOnce(&mut ServeOptions)) -> Self {
        let folder = Folder::new();
        init(folder.path(), &["alpha".to_owned(), "beta".to_owned()]).unwrap();
        Self::open_in(folder, change).await
    }

    pub(crate) async fn open_in(folder: Folder, change: impl FnOnce(&mut ServeOptions)) -> Self {
        let mut options = ServeOptions::new(folder.path());
        options.release = Setting::current().release;
        change(&mut options);
        let shutdown = CancellationToken::new();
        let serving = serve(options, shutdown.clone()).await.unwrap();
        let base = serving.base_url.clone();
        Self { folder, serving: Some(serving), base, shutdown }
    }

    /// Ends the service; the folder stays.
    pub(crate) async fn close(mut self) -> Folder {
        self.shutdown.cancel();
        self.serving.take().unwrap().finished().await;
        self.folder
    }

    pub(crate) fn faults(&self) -> authority::FaultPlan {
        self.serving.as_ref().unwrap().faults.clone()
    }

    pub(crate) fn client(&self, laboratory: &str) -> Lab {
        Lab { client: client(tls(self.folder.path(), Some(laboratory))), base: self.base.clone() }
    }
}

/// One laboratory's client.
#[derive(Clone)]
pub(crate) struct Lab {
    pub(crate) client: Client,
    pub(crate) base: String,
}

impl Lab {
    pub(crate) async fn post(&self, body: Vec<u8>, kind: &str) -> Response {
        let url = format!("{}/DocumentReference", self.base);
        self.client.post(url).header("content-type", kind).body(body).send().await.unwrap()
    }

    /// Delivers a document and expects it to be accepted.
    pub(crate) async fn deliver(&self, document: &str, identifier: &str) -> Answer {
        let (body, format) = wrapped(document, identifier);
        let response = self.post(body, format.media_type()).await;
        assert_eq!(response.status(), StatusCode::CREATED);
        let tree = resource(response).await;
        Answer::read(tree.root()).unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.client.get(format!("{}{path}", self.base)).send().await.unwrap()
    }

    pub(crate) async fn read(&self, receipt: &str) -> Answer {
        let response = self.get(&format!("/DocumentReference/{receipt}")).await;
        assert_eq!(response.status(), StatusCode::OK);
        Answer::read(resource(response).await.root()).unwrap()
    }

    pub(crate) async fn search(&self, query: &str) -> Page {
        self.follow(&format!("{}/DocumentReference?{query}", self.base)).await
    }

    pub(crate) async fn follow(&self, url: &str) -> Page {
        let response = self.client.get(url).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{url}");
        Page::read(resource(response).await.root()).unwrap()
    }

    /// Waits until a document is processed.
    pub(crate) async fn processed(&self, receipt: &str) -> Answer {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let answer = self.read(receipt).await;
            if answer.processing != Some(Processing::InProgress) {
                return answer;
            }
            assert!(Instant::now() < end, "not processed");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

pub(crate) fn client(tls: rustls::ClientConfig) -> Client {
    Client::builder()
        .tls_backend_preconfigured(tls)
        .timeout(Duration::from_secs(30))
        .no_proxy()
        .build()
        .unwrap()
}

/// A connection of `alpha`, by which anything can be said.
pub(crate) async fn connect(house: &House) -> TlsStream<TcpStream> {
    let mut config = tls(house.folder.path(), Some("alpha"));
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let addr = house.serving.as_ref().unwrap().addr;
    let stream = TcpStream::connect(addr).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
}

/// A client that speaks plain HTTP by a Unix socket.
pub(crate) fn by_socket(data: &Path, socket: &Path) -> Client {
    Client::builder()
        .tls_backend_preconfigured(tls(data, None))
        .unix_socket(socket.to_owned())
        .no_proxy()
        .build()
        .unwrap()
}

/// A client's TLS: trusts the CA of this folder, shows the laboratory's pilot certificate.
pub(crate) fn tls(data: &Path, laboratory: Option<&str>) -> rustls::ClientConfig {
    tls_of(data, laboratory, data, &[&rustls::version::TLS13, &rustls::version::TLS12])
}

pub(crate) fn tls_of(
    trusted: &Path,
    laboratory: Option<&str>,
    own: &Path,
    versions: &[&'static rustls::SupportedProtocolVersion],
) -> rustls::ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(trusted.join("ca.pem")).unwrap()).unwrap();
    let builder = rustls::ClientConfig::builder_with_provider(Arc::new(
        rustls::crypto::ring::default_provider(),
    ))
    .with_protocol_versions(versions)
    .unwrap()
    .with_root_certificates(roots);
    let mut config = match laboratory {
        None => builder.with_no_client_auth(),
        Some(name) => {
            let (certificate, key) = pilot(own, name);
            builder.with_client_auth_cert(vec![certificate], key).unwrap()
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}

pub(crate) fn pilot(data: &Path, name: &str) -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
    let read = |ending: &str| std::fs::read(data.join(format!("pilot/{name}.{ending}"))).unwrap();
    let password = String::from_utf8(read("password")).unwrap();
    let store = KeyStore::from_pkcs12(&read("p12"), &password, Pkcs12ImportPolicy::Strict).unwrap();
    let (_, chain) = store.private_key_chain().unwrap();
    let certificate = CertificateDer::from(chain.certs()[0].as_der().to_vec());
    (certificate, PrivateKeyDer::try_from(chain.key().as_der().to_vec()).unwrap())
}

/// Body of an answer, which must be FHIR in the encoding that it says, and pass the base check.
pub(crate) async fn resource(response: Response) -> Tree {
    let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
    let format = exchange::parse_media_type(&kind).unwrap_or_else(|| panic!("{kind}"));
    let body = response.bytes().await.unwrap();
    let tree = Tree::read(&body, format, &Limits::default()).unwrap();
    assert_eq!(tree.check(), [], "{}", String::from_utf8_lossy(&body));
    tree
}

/// The OperationOutcome of an answer, contained or alone.
pub(crate) fn outcome_of(root: fhir::Element<'_>) -> Option<fhir::Element<'_>> {
    match root.resource_type() {
        Some("OperationOutcome") => Some(root),
        _ => root.child("contained"),
    }
}

pub(crate) fn urn() -> String {
    format!("urn:uuid:{}", uuid::Uuid::new_v4())
}

/// A document in the envelope, as the engine would send it.
pub(crate) fn wrapped(document: &str, identifier: &str) -> (Vec<u8>, Format) {
    let format = Format::sniff(document.as_bytes()).unwrap();
    let tree = Tree::read(document.as_bytes(), format, &Limits::default()).unwrap();
    assert_eq!(tree.check(), []);
    (wrap(&tree, identifier, "de-CH").unwrap().body, format)
}

/// A small document: identifier of its own, family name of the patient, what was found.
pub(crate) fn document(identifier: &str, family: &str, value: &str) -> String {
    format!(
        r#"{{
  "resourceType": "Bundle",
  "identifier": {{ "system": "urn:ietf:rfc:3986", "value": "{identifier}" }},
  "type": "document",
  "timestamp": "2025-07-10T08:30:00+02:00",
  "entry": [
    {{ "fullUrl": "urn:uuid:00000000-0000-4000-8000-000000000001", "resource": {{
      "resourceType": "Composition", "id": "c", "language": "de-CH", "status": "final",
      "type": {{ "coding": [ {{ "system": "http://loinc.org", "code": "11502-2" }} ] }},
      "subject": {{ "reference": "urn:uuid:00000000-0000-4000-8000-000000000002" }},
      "date": "2025-07-10T08:30:00+02:00",
      "author": [ {{ "display": "Labor" }} ], "title": "Laborbericht" }} }},
    {{ "fullUrl": "urn:uuid:00000000-0000-4000-8000-000000000002", "resource": {{
      "resourceType": "Patient", "id": "p", "name": [ {{ "family": "{family}" }} ] }} }},
    {{ "fullUrl": "urn:uuid:00000000-0000-4000-8000-000000000003", "resource": {{
      "resourceType": "Observation", "id": "o", "status": "final",
      "code": {{ "coding": [ {{ "system": "http://loinc.org", "code": "697-3" }} ] }},
      "valueString": "{value}" }} }}
  ]
}}
"#
    )
}

/// The same in XML.
pub(crate) fn as_xml(document: &str) -> String {
    Tree::read(document.as_bytes(), Format::Json, &Limits::default()).unwrap().to_xml()
}
