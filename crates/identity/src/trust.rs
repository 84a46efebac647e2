//! Whom we trust, and the TLS configuration that follows. There is no way to switch verification
//! off.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ResolvesClientCert, Resumption, WebPkiServerVerifier};
use rustls::crypto::ring;
use rustls::sign::CertifiedKey;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore,
    SignatureScheme,
};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use thiserror::Error;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::identity::Identity;
use crate::pin::KeyPin;

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

/// Whom to trust as the authority.
#[derive(Debug, Clone, Copy, Default)]
pub struct Trust<'a> {
    /// The authority's own CA, one or more PEM certificates. It alone is trusted then.
    pub ca_pem: Option<&'a str>,
    /// The computer's roots count beside an own CA too. Without an own CA they always count.
    pub also_system_roots: bool,
    /// The only key that the server may have: SHA-256 of its `SubjectPublicKeyInfo`, see
    /// [`KeyPin::read`].
    pub server_key: Option<KeyPin>,
}

/// The roots of the operating system. Those that cannot be read are left out: the handshake then
/// names what is missing.
pub fn system_roots() -> Vec<CertificateDer<'static>> {
    rustls_native_certs::load_native_certs().certs
}

/// The authority's own CA alone, or the roots of the computer where none is named or both are asked
/// for.
///
/// # Errors
/// [`TrustProblem::CaUnreadable`] where the own CA holds no certificate or a damaged one.
pub fn server_trust(
    trust: &Trust<'_>,
    system: impl FnOnce() -> Vec<CertificateDer<'static>>,
) -> Result<RootCertStore, TrustProblem> {
    let mut store = RootCertStore::empty();
    if trust.ca_pem.is_none() || trust.also_system_roots {
        store.add_parsable_certificates(system());
    }
    if let Some(pem) = trust.ca_pem {
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

/// TLS 1.2 and 1.3 with this identity, as for every connection of an endpoint with this CA; offers
/// HTTP/2 and HTTP/1.1.
///
/// # Errors
/// [`TrustProblem`].
pub fn tls_client_config(
    identity: Option<&Identity>,
    ca_pem: Option<&str>,
) -> Result<ClientConfig, TrustProblem> {
    let trust = Trust { ca_pem, ..Trust::default() };
    Ok(MutualTls::new(identity, &trust, system_roots)?.connection().0)
}

/// The TLS of one endpoint, from which each connection gets a configuration of its own, so that
/// what happened in its handshake is known of it and of no other.
#[derive(Debug, Clone)]
pub struct MutualTls {
    config: ClientConfig,
    identity: Option<Arc<CertifiedKey>>,
}

impl MutualTls {
    /// With the roots of the computer as `system` gives them.
    ///
    /// # Errors
    /// [`TrustProblem`].
    pub fn new(
        identity: Option<&Identity>,
        trust: &Trust<'_>,
        system: impl FnOnce() -> Vec<CertificateDer<'static>>,
    ) -> Result<Self, TrustProblem> {
        let provider = Arc::new(ring::default_provider());
        let roots = Arc::new(server_trust(trust, system)?);
        let strict = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider))
            .build()
            .map_err(|_| TrustProblem::NobodyTrusted)?;
        let verifier = NamingVerifier { strict, pin: trust.server_key };
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
            .map_err(TrustProblem::IdentityUnusable)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        // A resumed session shows no certificate. Connections are few, and a full handshake costs
        // milliseconds.
        config.resumption = Resumption::disabled();
        let identity = identity.map(presented).transpose()?.map(Arc::new);
        Ok(Self { config, identity })
    }

    /// The configuration of one new connection, and what its handshake will have shown.
    pub fn connection(&self) -> (ClientConfig, Arc<Presentation>) {
        let identity = self.identity.clone();
        let shown = Arc::new(Presentation { identity, ..Presentation::default() });
        let mut config = self.config.clone();
        config.client_auth_cert_resolver = Arc::clone(&shown) as Arc<dyn ResolvesClientCert>;
        (config, shown)
    }
}

/// What happened to our certificate in one handshake.
#[derive(Default)]
pub struct Presentation {
    identity: Option<Arc<CertifiedKey>>,
    asked: AtomicBool,
    given: AtomicBool,
}

impl Presentation {
    /// Whether the server asked for a certificate.
    pub fn asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// Whether it asked and was given ours, with the proof that we hold its key.
    pub fn given(&self) -> bool {
        self.given.load(Ordering::SeqCst)
    }
}

impl fmt::Debug for Presentation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (asked, given) = (self.asked(), self.given());
        f.debug_struct("Presentation").field("asked", &asked).field("given", &given).finish()
    }
}

impl ResolvesClientCert for Presentation {
    /// Called by the TLS stack when the server asks, and only then. What it gives is shown where
    /// the key can sign in a way that the server takes.
    fn resolve(&self, _: &[&[u8]], schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.asked.store(true, Ordering::SeqCst);
        let usable = self.identity.clone().filter(|own| own.key.choose_scheme(schemes).is_some());
        self.given.store(usable.is_some(), Ordering::SeqCst);
        usable
    }

    fn has_certs(&self) -> bool {
        self.identity.is_some()
    }
}

/// What is presented to the server. The TLS stack keeps its own form of the key; no further copy of
/// the file's is made, which nobody would wipe.
fn presented(identity: &Identity) -> Result<CertifiedKey, TrustProblem> {
    let key =
        ring::sign::any_supported_type(identity.key()).map_err(TrustProblem::IdentityUnusable)?;
    Ok(CertifiedKey::new(identity.chain().to_vec(), key))
}

/// Carried by [`CertificateError::Other`] where the server's certificate vouches for itself.
#[derive(Debug, Error)]
#[error("the server's certificate is signed by itself")]
pub struct SelfSigned;

/// Carried by [`CertificateError::Other`] where the server's key is not the one that was written
/// down.
#[derive(Debug, Error)]
#[error("the server's key is not the pinned one")]
pub struct AnotherKey;

fn named(reason: impl std::error::Error + Send + Sync + 'static) -> rustls::Error {
    rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(reason))))
}

/// The usual verification; only its refusal is named better, because a self-signed certificate and
/// one of an unknown authority ask different things of a person. It can refuse what the strict
/// verifier refuses, accept what that accepts, and refuse every key but the pinned one.
#[derive(Debug)]
struct NamingVerifier {
    strict: Arc<WebPkiServerVerifier>,
    pin: Option<KeyPin>,
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
        let verified = verified.map_err(|error| match error {
            rustls::Error::InvalidCertificate(problem)
                if nobody_vouches(&problem) && vouches_for_itself(end_entity) =>
            {
                named(SelfSigned)
            }
            other => other,
        })?;
        match self.pin {
            Some(pin) if KeyPin::of(end_entity) != Some(pin) => Err(named(AnotherKey)),
            _ => Ok(verified),
        }
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
