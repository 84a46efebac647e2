//! How a handshake is refused: with the alert that TLS has for the reason, and so that the client
//! hears it.

use std::sync::Arc;

use crate::common::{House, tls_of};
use authority::{Fault, FaultKind, FaultScript, Interaction, TlsAlert, init};
use reqwest::StatusCode;
use rustls::{AlertDescription, ClientConfig, SupportedProtocolVersion};
use rustls_pki_types::ServerName;
use tempfile::TempDir;
use testkit::Figures;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

on_every_store![
    a_plan_can_refuse_with_each_alert,
    whoever_is_refused_hears_why_whatever_was_on_its_way,
];

const VERSIONS: [&[&SupportedProtocolVersion]; 2] =
    [&[&rustls::version::TLS13], &[&rustls::version::TLS12]];
/// A whole request, sent before the client can know that it is refused.
const REQUEST: &[u8] = b"GET /v1/fhir/metadata HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// The alert that a client hears.
async fn alert(house: &House, mut config: ClientConfig) -> Option<AlertDescription> {
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let stream = TcpStream::connect(house.serving.as_ref().unwrap().addr).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let heard = async {
        let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
        stream.write_all(REQUEST).await?;
        stream.read_to_end(&mut Vec::new()).await
    };
    let error = heard.await.err()?;
    match error.get_ref()?.downcast_ref::<rustls::Error>()? {
        rustls::Error::AlertReceived(description) => Some(*description),
        _ => None,
    }
}

async fn a_plan_can_refuse_with_each_alert() {
    let mut figures = Figures::start("refused-certificate", "a_plan_can_refuse_with_each_alert");
    let house = House::open(|_| {}).await;
    let own = house.folder.path();
    for (name, description) in [
        ("certificate-revoked", AlertDescription::CertificateRevoked),
        ("certificate-expired", AlertDescription::CertificateExpired),
        ("unknown-ca", AlertDescription::UnknownCA),
        ("bad-certificate", AlertDescription::BadCertificate),
        ("unsupported-certificate", AlertDescription::UnsupportedCertificate),
        ("access-denied", AlertDescription::AccessDenied),
        ("handshake-failure", AlertDescription::HandshakeFailure),
        ("protocol-version", AlertDescription::ProtocolVersion),
        ("internal-error", AlertDescription::InternalError),
    ] {
        let plan = format!(
            "[[fault]]\non = \"handshake\"\ntimes = \"always\"\nkind = {{ tls-alert = \"{name}\" \
             }}\n"
        );
        let script = FaultScript::parse(&plan).unwrap();
        assert_eq!(FaultScript::parse(&script.to_toml().unwrap()).unwrap(), script);
        house.faults().replace(script);
        for version in VERSIONS {
            let config = tls_of(own, Some("alpha"), own, version);
            assert_eq!(alert(&house, config).await, Some(description), "{name} {version:?}");
            figures.cases(1);
        }
    }
    // Once: the next handshake succeeds.
    let once = FaultKind::TlsAlert(TlsAlert::CertificateRevoked);
    house.faults().clear();
    house.faults().add(Fault::once(Interaction::Handshake, 1, once));
    let config = tls_of(own, Some("alpha"), own, VERSIONS[0]);
    assert_eq!(alert(&house, config).await, Some(AlertDescription::CertificateRevoked));
    assert_eq!(house.client("alpha").get("/metadata").await.status(), StatusCode::OK);
    figures.finish();
}

async fn whoever_is_refused_hears_why_whatever_was_on_its_way() {
    let mut figures = Figures::start(
        "refused-certificate",
        "whoever_is_refused_hears_why_whatever_was_on_its_way",
    );
    let house = House::open(|_| {}).await;
    let own = house.folder.path();
    let foreign = TempDir::new().unwrap();
    init(foreign.path(), &["alpha".to_owned()]).unwrap();
    for _ in 0..20 {
        for version in VERSIONS {
            let none = alert(&house, tls_of(own, None, own, version)).await;
            assert!(none.is_some(), "no certificate, {version:?}");
            let other = alert(&house, tls_of(own, Some("alpha"), foreign.path(), version)).await;
            assert!(other.is_some(), "another CA's certificate, {version:?}");
            figures.cases(2);
        }
    }
    figures.finish();
}
