//! What a call needs before it is answered: a window that is not locked, paths that a person has
//! handed over, and a yes to the address that it names.

use super::Call;
use crate::desk::{Desk, EndpointQuestion, Wanted};
use crate::problem::Problem;
use crate::views::HandedItem;

impl Call {
    /// What of it a person has to say yes to.
    fn wanted(&self) -> Result<Option<Wanted>, Problem> {
        Ok(match self {
            Self::AddEndpoint { input } => Some(Wanted::new(input.clone())?),
            Self::SetEndpointAddress { name, base_url, same_authority } => {
                Some(Wanted::address(name, base_url, *same_authority)?)
            }
            Self::SetEndpointWay { name, ca_pem, proxy } => {
                Some(Wanted::way(name, ca_pem.as_ref(), proxy.as_ref()))
            }
            _ => None,
        })
    }

    /// Whether only administrators may ask it: it changes where reports go, by which rules they
    /// are checked, what is kept of them, or who may do so.
    pub(super) fn is_administration(&self) -> bool {
        matches!(
            self,
            Self::AddEndpoint { .. }
                | Self::SetEndpointAddress { .. }
                | Self::SetEndpointWay { .. }
                | Self::SetEndpointTerms { .. }
                | Self::RenameEndpoint { .. }
                | Self::RemoveEndpoint { .. }
                | Self::UseEndpoint { .. }
                | Self::CertificateImport { .. }
                | Self::UseCertificate { .. }
                | Self::RemoveCertificate { .. }
                | Self::ProtectWithPassphrase { .. }
                | Self::ChangeVaultPassphrase { .. }
                | Self::RotateJournalKey {}
                | Self::SetDeadlines { .. }
                | Self::SetAttentionDays { .. }
                | Self::SetWatchedFolder { .. }
                | Self::WatchWhatComes { .. }
                | Self::ImportRules { .. }
                | Self::UseRules { .. }
                | Self::RemoveRules { .. }
                | Self::SetBackupPlace { .. }
                | Self::RemoveSetAside { .. }
                | Self::SetRetention { .. }
                | Self::RestoreBackup { .. }
                | Self::SetUnlockPassphrase { .. }
                | Self::SetUpdates { .. }
                | Self::InstallUpdate {}
        )
    }

    /// The paths that it names and that a person must have handed over.
    fn paths(&self, desk: &Desk) -> Vec<&str> {
        match self {
            Self::InspectFiles { paths, .. }
            | Self::CertificateInspect { paths, .. }
            | Self::CertificateTry { paths, .. }
            | Self::CertificateImport { paths, .. } => paths.iter().map(String::as_str).collect(),
            Self::HandOver { items, .. } => items.iter().filter_map(path_of).collect(),
            Self::CorrectWithFile { path, .. }
            | Self::ReadCa { path }
            | Self::ImportRules { path } => vec![path],
            Self::SetBackupPlace { path: Some(path) } => vec![path],
            // The folder that is watched already was chosen once.
            Self::SetWatchedFolder { path: Some(path) }
            | Self::LookAtFolder { path }
            | Self::WatchWhatComes { path }
                if !desk.watches(path) =>
            {
                vec![path]
            }
            _ => Vec::new(),
        }
    }
}

fn path_of(item: &HandedItem) -> Option<&str> {
    match item {
        HandedItem::File { path } => Some(path),
        HandedItem::Text { .. } => None,
    }
}

impl Desk {
    /// Refuses what a locked window must not ask, what is for administrators alone, and paths that
    /// no person has handed to the window. The dialogs of the shell are asked for here too.
    pub fn permits(&self, call: &Call) -> Result<(), Problem> {
        if !call.is_for_the_locked() && self.is_locked() {
            return Err(Problem::new("window-locked", &[], "lock"));
        }
        if call.is_administration() && self.is_administration_closed() {
            return Err(Problem::new("administration-closed", &[], "permission"));
        }
        if let Some(wanted) = call.wanted()? {
            self.permits_address(&wanted)?;
        }
        self.permits_paths(&call.paths(self))
    }

    /// What a person has to be asked before this call is answered; `None` where nobody is.
    ///
    /// # Errors
    /// What is no endpoint is refused, and nobody is asked about it.
    pub async fn question(&self, call: &Call) -> Result<Option<EndpointQuestion>, Problem> {
        match call.wanted()? {
            Some(wanted) => self.question_about(wanted).await.map(Some),
            None => Ok(None),
        }
    }

    /// A person has said yes to what this call wants: it may be done once.
    pub fn allow(&self, call: &Call) {
        if let Ok(Some(wanted)) = call.wanted() {
            self.allow_once(wanted);
        }
    }

    /// Uses up the yes to this call, where it needs one.
    pub(super) fn spend_yes_to(&self, call: &Call) -> Result<(), Problem> {
        call.wanted()?.map_or(Ok(()), |wanted| self.spend_yes(&wanted))
    }
}
