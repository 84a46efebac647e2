//! The laboratory's certificates: looked at, kept, used for endpoints, removed.

use std::path::PathBuf;

use fhir::Instant;
use identity::{AuthorityCa, Identity, Inspection, Password, SecretsKind};

use super::{Desk, on_pool};
use crate::certificate_files::{self, Which};
use crate::codes::purpose;
use crate::connection;
use crate::limits;
use crate::problem::Problem;
use crate::views::{CaView, CertificateView, ProbeView, StoredCertificateView};

/// Files of one import: a certificate, a key, and some of a chain.
const CERTIFICATE_FILES_MAX: usize = 8;

/// Where only open reports need it, no authority is named: a list that is empty reads like a
/// mistake.
fn needed_by(error: engine::EngineError) -> Problem {
    let mut problem = Problem::from(error);
    if let Some(endpoints) = problem.params.get_mut("endpoints")
        && endpoints.is_empty()
    {
        "–".clone_into(endpoints);
    }
    problem
}

impl Desk {
    /// Looks at certificate files without keeping anything.
    pub async fn certificate_inspect(
        &self,
        paths: Vec<String>,
        password: String,
    ) -> Result<CertificateView, Problem> {
        let identity = read_identity(paths, password).await?;
        let now = self.engine().now();
        Ok(certificate_view(&identity.inspect(), SecretsKind::Keychain, now))
    }

    /// Tests the connection with a certificate before it takes the place of the one in use: at the
    /// endpoint that is named, else at the one in use. Nothing is kept, and empty is what nothing
    /// would be replaced by.
    pub async fn certificate_try(
        &self,
        paths: Vec<String>,
        password: String,
        endpoint: Option<String>,
    ) -> Result<Vec<ProbeView>, Problem> {
        let Some(engine) = self.laboratory_engine().await? else { return Ok(Vec::new()) };
        let used = engine.profile().endpoint().map(|used| used.name.clone());
        let Some(name) = endpoint.or(used) else { return Ok(Vec::new()) };
        let identity = read_identity(paths, password).await?;
        Ok(engine
            .probe_with(&name, &identity)
            .await?
            .into_iter()
            .map(connection::probe_view)
            .collect())
    }

    /// Keeps a certificate in the keychain. The endpoint that is named uses it from now on; where
    /// none is named, the one in use and those that have none. The practice room keeps its own:
    /// what guards nothing real must not hold a real key.
    pub async fn certificate_import(
        &self,
        paths: Vec<String>,
        password: String,
        endpoint: Option<String>,
    ) -> Result<CertificateView, Problem> {
        if let Some(name) = &endpoint {
            self.refuse_practice(name)?;
        }
        let identity = read_identity(paths, password).await?;
        let engine = self.laboratory_or_new().await?;
        let endpoints: Vec<String> = endpoint.into_iter().collect();
        let inspection = engine.import_certificate(&identity, &endpoints).await?;
        self.read_certificate().await?;
        let kind = engine.profile().settings.secrets;
        Ok(certificate_view(&inspection, kind, engine.now()))
    }

    /// Reads the authority's own CA from a file, for a new endpoint.
    pub async fn read_ca(&self, path: String) -> Result<CaView, Problem> {
        let path = limits::path(path)?;
        let now = self.engine().now();
        let read = move || -> Result<AuthorityCa, Problem> {
            let bytes = certificate_files::read(&path, Which::Regular)?;
            Ok(AuthorityCa::read(&bytes)?)
        };
        let AuthorityCa { pem, first, fingerprints } = on_pool(read).await??;
        limits::ca(&pem)?;
        Ok(CaView {
            pem,
            subject: first.subject.clone(),
            not_after: first.not_after.to_fhir(),
            days_left: i32::try_from(first.days_left(now)).unwrap_or(i32::MAX),
            count: u32::try_from(fingerprints.len()).unwrap_or(u32::MAX),
        })
    }

    /// All certificates of the laboratory, and what each is used for.
    pub async fn certificates(&self) -> Result<Vec<StoredCertificateView>, Problem> {
        let Some(engine) = self.laboratory_engine().await? else { return Ok(Vec::new()) };
        let (kind, now) = (engine.profile().settings.secrets, engine.now());
        let all = on_pool(move || engine.certificates()).await??;
        let view = |it| connection::stored_view(it, |it| certificate_view(it, kind, now));
        Ok(all.into_iter().map(view).collect())
    }

    /// Lets an endpoint use a certificate that is stored already.
    pub async fn use_certificate(
        &self,
        fingerprint: String,
        endpoint: String,
    ) -> Result<(), Problem> {
        self.refuse_practice(&endpoint)?;
        let engine = self.with_certificate(&fingerprint).await?;
        engine.use_certificate(&fingerprint, &endpoint).await?;
        self.read_certificate().await
    }

    /// Removes a certificate with its key; one that is needed still, only where the person knows
    /// that.
    pub async fn remove_certificate(
        &self,
        fingerprint: String,
        although_needed: bool,
    ) -> Result<(), Problem> {
        let engine = self.with_certificate(&fingerprint).await?;
        engine.remove_certificate(&fingerprint, although_needed).await.map_err(needed_by)?;
        self.read_certificate().await
    }

    /// Draws a new key for the laboratory's journal. The journal and its backups are sealed with it
    /// at the next start, when no program has them open.
    pub async fn rotate_journal_key(&self) -> Result<(), Problem> {
        let Some(engine) = self.laboratory_engine().await? else {
            return Err(Problem::new("no-endpoint", &[], "key"));
        };
        Ok(on_pool(move || engine.secrets().draw_next_journal_key()).await??)
    }

    /// The laboratory's engine, where certificates are; a fingerprint is short, whoever asks.
    async fn with_certificate(&self, fingerprint: &str) -> Result<engine::Engine, Problem> {
        limits::line("fingerprint", fingerprint)?;
        let unknown =
            || Problem::new("unknown-certificate", &[("fingerprint", fingerprint)], "certificate");
        self.laboratory_engine().await?.ok_or_else(unknown)
    }

    fn refuse_practice(&self, endpoint: &str) -> Result<(), Problem> {
        limits::line("endpoint", endpoint)?;
        if self.is_practice_endpoint(endpoint) {
            return Err(Problem::new("practice-certificate-fixed", &[], "certificate"));
        }
        Ok(())
    }
}

async fn read_identity(paths: Vec<String>, password: String) -> Result<Identity, Problem> {
    limits::line("password", &password)?;
    let paths = limits::paths(paths)?;
    if paths.is_empty() || paths.len() > CERTIFICATE_FILES_MAX {
        return Err(limits::invalid("paths"));
    }
    let password = Password::from(password);
    on_pool(move || {
        let read = |path: PathBuf| certificate_files::read(&path, Which::Regular);
        let files = paths.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let files: Vec<&[u8]> = files.iter().map(|file| file.as_slice()).collect();
        // Nothing typed may be "no password" or the empty one: a `.p12` can be sealed with that.
        let password = Some(&password).filter(|password| !password.is_empty());
        match Identity::import(&files, password) {
            Err(identity::ImportError::PasswordNeeded) if password.is_none() => {
                let empty = Password::from(String::new());
                let opened = Identity::import(&files, Some(&empty));
                Ok(opened.map_err(|_| identity::ImportError::PasswordNeeded)?)
            }
            other => Ok(other?),
        }
    })
    .await?
}

pub(super) fn certificate_view(
    inspection: &Inspection,
    kind: SecretsKind,
    now: Instant,
) -> CertificateView {
    let mut view = connection::certificate_view(inspection, kind, now);
    view.purposes = view.purposes.iter().map(|code| purpose(code).to_owned()).collect();
    view
}
