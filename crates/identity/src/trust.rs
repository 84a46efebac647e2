//! Whom we trust, and the TLS configuration that follows. There is no way to switch verification off.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore,
    SignatureScheme,
};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use thiserror::Error;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::identity::Identity;

/// Why no TLS configuration can be made. Each is a matter of configuration: a person is needed.
#[derive(Debug, Error)]
pub enum TrustProblem {
    /// The configured CA is no PEM certificate.
    #[error("the configured CA cannot be read")]
    CaUnreadable,
    /// Neither the operating system nor the configuration trusts anyone.
    #[error("no trusted authority at all")]
    NobodyTrusted,
    /// The TLS stack refuses the client certificate or its key.
    #[error("the client certificate cannot be used")]
    IdentityUnusable(#[source] rustls::Error),
}

impl TrustProblem {
    /// Stable code in kebab-case.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::CaUnreadable => "ca-unreadable",
            Self::NobodyTrusted => "nobody-trusted",
            Self::IdentityUnusable(_) => "identity-unusable",
        }
    }
}

/// The operating system's trust store and the authority's own CA (one or more PEM certificates).
/// Roots of the system that cannot be read are left out: the handshake then names what is missing.
///
/// # Errors
/// [`TrustProblem::CaUnreadable`] where `ca_pem` holds no certificate or a damaged one.
pub fn server_trust(ca_pem: Option<&str>) -> Result<RootCertStore, TrustProblem> {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(pem) = ca_pem {
        let mut count = 0;
        for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
            let certificate = certificate.map_err(|_| TrustProblem::CaUnreadable)?;
            store.add(certificate).map_err(|_| TrustProblem::CaUnreadable)?;
            count += 1;
        }
        if count == 0 {
            return Err(TrustProblem::CaUnreadable);
        }
    }
    Ok(store)
}

/// TLS 1.2 and 1.3 with this identity; offers HTTP/2 and HTTP/1.1.
///
/// # Errors
/// [`TrustProblem`].
pub fn tls_client_config(
    identity: Option<&Identity>,
    ca_pem: Option<&str>,
) -> Result<ClientConfig, TrustProblem> {
    let provider = Arc::new(ring::default_provider());
    let roots = Arc::new(server_trust(ca_pem)?);
    let strict = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider))
        .build()
        .map_err(|_| TrustProblem::NobodyTrusted)?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
        .map_err(TrustProblem::IdentityUnusable)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(NamingVerifier { strict }));
    let mut config = match identity {
        Some(identity) => builder.with_client_cert_resolver(Arc::new(presented(identity)?)),
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// What is presented to the server. The TLS stack keeps its own form of the key; no further copy of the
/// file's is made, which nobody would wipe.
fn presented(identity: &Identity) -> Result<SingleCertAndKey, TrustProblem> {
    let key =
        ring::sign::any_supported_type(identity.key()).map_err(TrustProblem::IdentityUnusable)?;
    Ok(CertifiedKey::new(identity.chain().to_vec(), key).into())
}

/// Carried by [`CertificateError::Other`] where the server's certificate vouches for itself.
#[derive(Debug, Error)]
#[error("the server's certificate is signed by itself")]
pub struct SelfSigned;

/// The usual verification; only its refusal is named better, because a self-signed certificate and one
/// of an unknown authority ask different things of a person. It can refuse what the strict verifier
/// refuses, and accept what that accepts, and nothing else.
#[derive(Debug)]
struct NamingVerifier {
    strict: Arc<WebPkiServerVerifier>,
}

impl ServerCertVerifier for NamingVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verified = self.strict.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        verified.map_err(|error| match error {
            rustls::Error::InvalidCertificate(problem)
                if nobody_vouches(&problem) && vouches_for_itself(end_entity) =>
            {
                let named = OtherError(Arc::new(SelfSigned));
                rustls::Error::InvalidCertificate(CertificateError::Other(named))
            }
            other => other,
        })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.strict.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.strict.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.strict.supported_verify_schemes()
    }
}

/// No trusted authority of the issuer's name, or one of the same name with another key.
const fn nobody_vouches(problem: &CertificateError) -> bool {
    matches!(
        problem,
        CertificateError::UnknownIssuer
            | CertificateError::BadSignature
            | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. }
    )
}

fn vouches_for_itself(certificate: &CertificateDer<'_>) -> bool {
    X509Certificate::from_der(certificate)
        .is_ok_and(|(_, parsed)| parsed.subject() == parsed.issuer())
}
