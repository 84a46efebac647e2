//! TLS handshakes, and how they are refused: with the alert that TLS has for the reason, heard by
//! the client.

use std::sync::Arc;
use std::time::Duration;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    AlertDescription, CertificateError, DigitallySignedStruct, DistinguishedName, Error,
    SignatureScheme,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::faults::{FaultKind, FaultPlan, Interaction, TlsAlert};
use crate::tls::trust::{Terms, Trust};

/// Time for a handshake, from its first byte.
pub(crate) const HANDSHAKE_MAX: Duration = Duration::from_secs(5);
/// Time for a refused client to hear why.
const LINGER_MAX: Duration = Duration::from_secs(2);
/// Most that a refused client may still say meanwhile.
const LINGER_BYTES_MAX: u64 = 1 << 20;

/// Lets a client in, unless its certificate or the fault plan is against it.
pub(crate) async fn shake(
    stream: TcpStream,
    trust: &Trust,
    terms: &Terms,
    faults: &FaultPlan,
) -> Option<TlsStream<TcpStream>> {
    let refusing;
    let acceptor = match faults.meet(Interaction::Handshake).kind {
        None => &terms.acceptor,
        Some(FaultKind::Delay(time)) => {
            tokio::time::sleep(time).await;
            &terms.acceptor
        }
        Some(FaultKind::TlsAlert(alert)) => match of_certificate(alert) {
            Err(description) => {
                refuse_at_once(stream, description).await;
                return None;
            }
            Ok(error) => {
                refusing = trust.refusing(error).ok()?;
                &refusing
            }
        },
        Some(_) => return None,
    };
    accept(acceptor, stream).await
}

async fn accept(acceptor: &TlsAcceptor, stream: TcpStream) -> Option<TlsStream<TcpStream>> {
    let shaken = acceptor.accept(stream).into_fallible();
    match tokio::time::timeout(HANDSHAKE_MAX, shaken).await.ok()? {
        Ok(stream) => Some(stream),
        Err((error, stream)) => {
            tracing::info!(%error, "handshake refused");
            linger(stream).await;
            None
        }
    }
}

/// Ends our side and hears the other one out: were the connection closed over unread bytes, TCP
/// would reset it, and the alert could be lost on its way.
async fn linger(mut stream: TcpStream) {
    let farewell = async {
        stream.shutdown().await?;
        let mut rest = stream.take(LINGER_BYTES_MAX);
        tokio::io::copy(&mut rest, &mut tokio::io::sink()).await
    };
    // The client may be gone already, or say more than is listened to.
    let _ = tokio::time::timeout(LINGER_MAX, farewell).await;
}

/// An alert in the clear, as a server sends it that cannot even begin.
async fn refuse_at_once(mut stream: TcpStream, description: AlertDescription) {
    // RFC 8446 section 5.1: record type alert, version, length; section 6: fatal, description.
    let record = [21, 3, 3, 0, 2, 2, u8::from(description)];
    let mut hello = [0; 16_384];
    let told = async {
        match stream.read(&mut hello).await? {
            0 => Ok(()),
            _ => stream.write_all(&record).await,
        }
    };
    if matches!(tokio::time::timeout(HANDSHAKE_MAX, told).await, Ok(Ok(()))) {
        linger(stream).await;
    }
}

/// What is said to be wrong with the certificate; `Err`: an alert that comes before any
/// certificate.
const fn of_certificate(alert: TlsAlert) -> Result<CertificateError, AlertDescription> {
    match alert {
        TlsAlert::CertificateRevoked => Ok(CertificateError::Revoked),
        TlsAlert::CertificateExpired => Ok(CertificateError::Expired),
        TlsAlert::UnknownCa => Ok(CertificateError::UnknownIssuer),
        TlsAlert::BadCertificate => Ok(CertificateError::BadEncoding),
        TlsAlert::UnsupportedCertificate => Ok(CertificateError::InvalidPurpose),
        TlsAlert::AccessDenied => Ok(CertificateError::ApplicationVerificationFailure),
        TlsAlert::HandshakeFailure => Err(AlertDescription::HandshakeFailure),
        TlsAlert::ProtocolVersion => Err(AlertDescription::ProtocolVersion),
        TlsAlert::InternalError => Err(AlertDescription::InternalError),
    }
}

/// Refuses every certificate, whatever it is.
#[derive(Debug)]
pub(crate) struct Refusing {
    pub(crate) verifier: Arc<dyn ClientCertVerifier>,
    pub(crate) error: CertificateError,
}

impl ClientCertVerifier for Refusing {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.verifier.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Err(Error::InvalidCertificate(self.error.clone()))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}
