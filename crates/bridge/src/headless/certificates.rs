//! The laboratory's certificates: kept, listed, used for endpoints, removed.

use std::path::PathBuf;

use identity::{Identity, Inspection, Password};

use super::Headless;
use crate::certificate_files::{self, Which};
use crate::connection;
use crate::problem::Problem;
use crate::views::{CertificateView, StoredCertificateView};

impl Headless {
    /// Stores a certificate with its key, from one file or several. The endpoints that are named
    /// use it from now on; where none is named, the one in use and those that have none.
    ///
    /// # Errors
    /// One that has expired: no authority takes it, and it would be in the place of one that works.
    pub async fn import_certificate(
        &self,
        files: &[PathBuf],
        password: Option<Password>,
        endpoints: &[String],
    ) -> Result<CertificateView, Problem> {
        self.refuse_practice()?;
        let read = |path: &PathBuf| certificate_files::read(path, Which::Any);
        let files = files.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let files: Vec<&[u8]> = files.iter().map(|file| file.as_slice()).collect();
        let identity = Identity::import(&files, password.as_ref())?;
        let ends = identity.inspect().not_after;
        if ends < self.engine.now() {
            let date: String = ends.to_fhir().chars().take(10).collect();
            return Err(Problem::new("imported-certificate-expired", &[("date", &date)], "import"));
        }
        let inspection = self.engine.import_certificate(&identity, endpoints).await?;
        Ok(self.certificate_facts(&inspection))
    }

    /// All certificates, and what each is used for.
    pub fn certificates(&self) -> Result<Vec<StoredCertificateView>, Problem> {
        let facts = |it| connection::stored_view(it, |it| self.certificate_facts(it));
        Ok(self.engine.certificates()?.into_iter().map(facts).collect())
    }

    /// The certificate that a person names: by its fingerprint or the beginning of it, or by the
    /// endpoint that uses it. Without a name it is the one of the endpoint in use.
    pub fn certificate_named(&self, name: Option<&str>) -> Result<StoredCertificateView, Problem> {
        let missing = || Problem::new("client-certificate-missing", &[], "certificate");
        let profile = self.engine.profile();
        let all = self.certificates()?;
        let of = |endpoint: &str| {
            let wanted = profile.settings.certificate_of(endpoint);
            all.iter().find(|it| Some(&*it.fingerprint) == wanted).cloned().ok_or_else(missing)
        };
        let Some(name) = name else {
            return match (&profile.settings.in_use, all.as_slice()) {
                (None, [only]) => Ok(only.clone()),
                (Some(endpoint), _) => of(endpoint),
                (None, _) => Err(missing()),
            };
        };
        if let Some(endpoint) = profile.endpoint_named(name) {
            return of(endpoint.id());
        }
        let digits = |text: &str| text.replace(':', "").to_lowercase();
        let wanted = digits(name);
        let mut found = all.iter().filter(|it| digits(&it.fingerprint).starts_with(&wanted));
        match (found.next(), found.next()) {
            (Some(found), None) if !wanted.is_empty() => Ok(found.clone()),
            _ => {
                let params = [("fingerprint", name)];
                Err(Problem::new("unknown-certificate", &params, "certificate"))
            }
        }
    }

    /// Lets an endpoint use a certificate that is stored already.
    pub async fn use_certificate(&self, name: &str, endpoint: &str) -> Result<(), Problem> {
        self.refuse_practice()?;
        let fingerprint = self.certificate_named(Some(name))?.fingerprint;
        Ok(self.engine.use_certificate(&fingerprint, endpoint).await?)
    }

    /// Removes a certificate with its key; one that is needed still, only where the person knows
    /// that.
    pub async fn remove_certificate(
        &self,
        name: &str,
        although_needed: bool,
    ) -> Result<StoredCertificateView, Problem> {
        self.refuse_practice()?;
        let found = self.certificate_named(Some(name))?;
        self.engine.remove_certificate(&found.fingerprint, although_needed).await?;
        Ok(found)
    }

    /// Seals the vault with another passphrase from now on.
    pub fn change_passphrase(&self, passphrase: &Password) -> Result<(), Problem> {
        Ok(self.engine.secrets().change_passphrase(passphrase)?)
    }

    fn refuse_practice(&self) -> Result<(), Problem> {
        if self.practice.is_some() {
            return Err(Problem::new("practice-certificate-fixed", &[], "certificate"));
        }
        Ok(())
    }

    fn certificate_facts(&self, inspection: &Inspection) -> CertificateView {
        let kind = self.engine.profile().settings.secrets;
        connection::certificate_view(inspection, kind, self.engine.now())
    }
}
