//! Whose certificates are let in: those of the own CA or of configured ones, less the revocation
//! list, which is read again when its file changes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{CertificateError, RootCertStore, ServerConfig};
use rustls_pki_types::pem::{self, PemObject as _};
use rustls_pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::AuthorityError;
use crate::tls::handshake::Refusing;
use crate::tls::pki::ensure_server;

/// Where trust comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustFiles {
    /// Certificates (PEM) of further CAs whose clients are let in, beside the own one.
    pub client_cas: Option<PathBuf>,
    /// Revocation lists (PEM) of these CAs; read again when the file changes.
    pub revocations: Option<PathBuf>,
}

/// TLS as it is at the moment.
#[derive(Clone)]
pub(crate) struct Terms {
    pub(crate) acceptor: TlsAcceptor,
    /// Cancelled when other terms hold: connections made under these end after their open requests.
    pub(crate) over: CancellationToken,
}

pub(crate) struct Trust {
    data: PathBuf,
    files: TrustFiles,
    current: Mutex<(Stamp, Terms)>,
}

/// When the revocation list was changed last, and its length.
type Stamp = Option<(SystemTime, u64)>;

impl Trust {
    pub(crate) fn open(data: &Path, files: TrustFiles) -> Result<Self, AuthorityError> {
        ensure_server(data)?;
        let stamp = stamp(&files);
        let terms = Terms::new(data, &files)?;
        Ok(Self { data: data.to_owned(), files, current: Mutex::new((stamp, terms)) })
    }

    /// The terms of now. A list that cannot be read leaves the last ones in force.
    pub(crate) fn terms(&self) -> Terms {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = stamp(&self.files);
        if stamp != current.0 {
            current.0 = stamp;
            match Terms::new(&self.data, &self.files) {
                Ok(terms) => {
                    tracing::info!("revocation list read again");
                    std::mem::replace(&mut current.1, terms).over.cancel();
                }
                Err(error) => {
                    let cause = std::error::Error::source(&error).map(ToString::to_string);
                    tracing::error!(%error, cause, "the last revocation list stays in force");
                }
            }
        }
        current.1.clone()
    }

    /// TLS that refuses every client for this reason.
    pub(crate) fn refusing(&self, error: CertificateError) -> Result<TlsAcceptor, AuthorityError> {
        let verifier = verifier(&self.data, &self.files)?;
        let config = tls_config(&self.data, Arc::new(Refusing { verifier, error }))?;
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

impl Terms {
    fn new(data: &Path, files: &TrustFiles) -> Result<Self, AuthorityError> {
        let config = tls_config(data, verifier(data, files)?)?;
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)), over: CancellationToken::new() })
    }
}

fn stamp(files: &TrustFiles) -> Stamp {
    let facts = std::fs::metadata(files.revocations.as_ref()?).ok()?;
    Some((facts.modified().ok()?, facts.len()))
}

/// Who is let in.
fn verifier(
    data: &Path,
    files: &TrustFiles,
) -> Result<Arc<dyn ClientCertVerifier>, AuthorityError> {
    let mut roots = RootCertStore::empty();
    let mut trusted = certificates(&data.join("ca.pem"))?;
    if let Some(path) = &files.client_cas {
        trusted.extend(certificates(path)?);
    }
    for authority in trusted {
        roots.add(authority).map_err(unusable("trust the CA"))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
    if let Some(path) = &files.revocations {
        let lists = CertificateRevocationListDer::pem_file_iter(path)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let lists = some(lists, "read the revocation list", path)?;
        // A CA without a list here (the own one has the registry) revokes nothing by list.
        verifier = verifier
            .with_crls(lists)
            .only_check_end_entity_revocation()
            .allow_unknown_revocation_status();
    }
    let verifier = verifier.build().map_err(unusable("verify clients by the CA"))?;
    Ok(verifier)
}

fn tls_config(
    data: &Path,
    verifier: Arc<dyn ClientCertVerifier>,
) -> Result<ServerConfig, AuthorityError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivateKeyDer::from_pem_file(data.join("server.key"))
        .map_err(unusable("read the server's key"))?;
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(unusable("offer TLS 1.2 and 1.3"))?
        .with_client_cert_verifier(verifier)
        .with_single_cert(certificates(&data.join("server.pem"))?, key)
        .map_err(unusable("use the server's certificate"))?;
    // A resumed session would be let in by the certificate of its first handshake, however long ago
    // that was, and whatever became of it since. Connections stay open, so that few handshakes are
    // saved by it.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, AuthorityError> {
    let all = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    some(all, "read a certificate", path)
}

/// What a file holds; a file that holds none is wrong too.
fn some<T>(
    read: Result<Vec<T>, pem::Error>,
    operation: &'static str,
    path: &Path,
) -> Result<Vec<T>, AuthorityError> {
    let some =
        read.and_then(|all| if all.is_empty() { Err(pem::Error::NoItemsFound) } else { Ok(all) });
    some.map_err(|error| unusable(operation)(error).in_file(path))
}

fn unusable<E>(operation: &'static str) -> impl Fn(E) -> AuthorityError
where
    E: std::error::Error + Send + Sync + 'static,
{
    move |source| AuthorityError::Certificate { operation, source: Box::new(source) }
}
