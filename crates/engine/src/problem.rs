//! Errors of the use cases, by what the caller may do next.

use identity::{ImportError, SecretsError};
use journal::{JournalError, RecordError};
use report::{Action, SubmissionId};

use crate::{Obstacle, ProfileProblem};

/// Why a use case did not happen. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// There is no such submission.
    #[error("no submission {}", .0.0)]
    NotFound(SubmissionId),
    /// The state does not permit it (any more).
    #[error("{action:?} is not possible in state {state}")]
    NotPermitted {
        /// What was asked.
        action: Action,
        /// Code of the state.
        state: &'static str,
    },
    /// No endpoint is configured or in use.
    #[error("no endpoint in use")]
    NoEndpoint,
    /// Another endpoint is in use than the one that a person saw.
    #[error("another endpoint in use")]
    EndpointChanged,
    /// There is no endpoint of this name.
    #[error("no such endpoint")]
    UnknownEndpoint(String),
    /// There is one of this name already.
    #[error("endpoint exists")]
    EndpointExists(String),
    /// The endpoint's settings cannot work.
    #[error("endpoint unusable: {reason}")]
    EndpointUnusable {
        /// Stable reason.
        reason: String,
    },
    /// Reports wait for something at this endpoint.
    #[error("endpoint needed")]
    EndpointNeeded {
        /// Its name.
        name: String,
        /// Reports on hold, waiting, on their way, in doubt or in progress there.
        open: u32,
    },
    /// It is in use, and another could be.
    #[error("endpoint in use")]
    EndpointInUse(String),
    /// It has reports, and nobody says that its new address leads to the same authority.
    #[error("endpoint has reports")]
    EndpointHasReports {
        /// Its name.
        name: String,
        /// All its reports.
        all: u32,
        /// Those that wait for something there.
        open: u32,
    },
    /// The endpoint of these reports is configured no longer.
    #[error("endpoint gone")]
    EndpointGone(journal::EndpointNote),
    /// No certificate with this fingerprint is stored.
    #[error("no such certificate")]
    UnknownCertificate(String),
    /// The certificate is needed still.
    #[error("certificate in use")]
    CertificateNeeded {
        /// Endpoints that use it.
        endpoints: Vec<String>,
        /// Reports that were sent with it and are open.
        open: u32,
    },
    /// The content of this submission has left the journal (retention).
    #[error("content erased")]
    Erased(SubmissionId),
    /// The file handed over as a correction is no report.
    #[error("not a report")]
    NotAReport(Box<crate::Candidate>),
    /// It is no document, so that it cannot be sent as it is.
    #[error("not a document: {}", .0.0)]
    NotADocument(SubmissionId),
    /// It is a DocumentReference without an identifier: nobody could ask what became of it.
    #[error("no identifier: {}", .0.0)]
    NoIdentifier(SubmissionId),
    /// The same content is known already.
    #[error("known as {}", .0.0)]
    Known(SubmissionId),
    /// The certificate cannot be imported.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// Keychain or vault.
    #[error(transparent)]
    Secrets(#[from] SecretsError),
    /// The settings.
    #[error(transparent)]
    Profile(#[from] ProfileProblem),
    /// The journal.
    #[error(transparent)]
    Journal(JournalError),
    /// The exchange.
    #[error(transparent)]
    Exchange(Box<client::Fault>),
    /// There can be no exchange.
    #[error("no exchange: {}", .0.code)]
    Obstructed(Obstacle),
    /// A file cannot be read or written.
    #[error("file: {reason}")]
    File {
        /// The file.
        file: std::path::PathBuf,
        /// The operating system's reason.
        reason: String,
    },
}

impl From<JournalError> for EngineError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::NotFound(id) => Self::NotFound(id),
            other => Self::Journal(other),
        }
    }
}

impl EngineError {
    /// A step that a person asked for and the journal refused.
    pub(crate) fn refused(action: Action, error: RecordError) -> Self {
        match error {
            RecordError::Illegal(illegal) => Self::NotPermitted { action, state: illegal.state },
            RecordError::Unexpected { found } => Self::NotPermitted { action, state: found },
            RecordError::BeingReplaced { .. } => Self::NotPermitted { action, state: "superseded" },
            RecordError::Journal(error) => error.into(),
            RecordError::NoEvidence | RecordError::DigestMismatch => {
                Self::Journal(JournalError::Damaged)
            }
        }
    }
}

impl From<client::Fault> for EngineError {
    fn from(fault: client::Fault) -> Self {
        Self::Exchange(Box::new(fault))
    }
}
