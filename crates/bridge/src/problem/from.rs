//! Errors of the rooms behind, as problems for a person.

use client::{Fault, Why};
use engine::{EngineError, JournalRefusal, Obstacle, OpenError, ProfileProblem};
use identity::{ImportError, SecretsError};
use journal::{EndpointNote, JournalError, Notice, OpenProblem};

use super::Problem;

impl From<&Why> for Problem {
    fn from(why: &Why) -> Self {
        Self::with(why.code(), why.params(), "exchange")
    }
}

impl From<&Obstacle> for Problem {
    fn from(obstacle: &Obstacle) -> Self {
        Self::with(&obstacle.code, obstacle.params.clone(), "exchange")
    }
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        match (&fault, fault.why()) {
            (_, Some(why)) => Self::from(why),
            (Fault::Refused { answer, .. }, None) => {
                // The authority's own words are the parameter: shown as text.
                let text = answer.issues.first().map(|issue| issue.text.clone());
                let text: String = text.unwrap_or_default().chars().take(500).collect();
                Self::new("refused-by-authority", &[("text", &text)], "exchange")
            }
            (_, None) => Self::new("cut", &[], "exchange"),
        }
    }
}

impl From<ImportError> for Problem {
    fn from(error: ImportError) -> Self {
        Self::with(&format!("certificate-{}", error.code()), error.params(), "certificate")
    }
}

impl From<SecretsError> for Problem {
    fn from(error: SecretsError) -> Self {
        Self::with(error.code(), error.params(), "secrets")
    }
}

impl From<ProfileProblem> for Problem {
    fn from(problem: ProfileProblem) -> Self {
        let trace = "profile";
        let shown = |path: &std::path::Path| path.display().to_string();
        match problem {
            ProfileProblem::Missing { folder } => {
                Self::new("profile-missing", &[("folder", &shown(&folder))], trace)
            }
            ProfileProblem::Exists { folder } => {
                Self::new("profile-exists", &[("folder", &shown(&folder))], trace)
            }
            ProfileProblem::Damaged { file, line } => Self::new(
                "settings-damaged",
                &[("file", &shown(&file)), ("line", &line.to_string())],
                trace,
            ),
            ProfileProblem::Newer { found } => {
                Self::new("settings-newer", &[("found", &found.to_string())], trace)
            }
            ProfileProblem::Io { file, source } => Self::new(
                "profile-io",
                &[("file", &shown(&file)), ("reason", &source.kind().to_string())],
                trace,
            ),
        }
    }
}

impl From<OpenProblem> for Problem {
    fn from(problem: OpenProblem) -> Self {
        let trace = "open journal";
        match problem {
            OpenProblem::Missing => Self::new("journal-missing", &[], trace),
            OpenProblem::Exists => Self::new("journal-exists", &[], trace),
            OpenProblem::WrongKeyOrDamaged => Self::new("journal-wrong-key-or-damaged", &[], trace),
            OpenProblem::NewerSchema { found, known } => Self::new(
                "journal-newer",
                &[("found", &found.to_string()), ("known", &known.to_string())],
                trace,
            ),
            OpenProblem::OlderSchema { found, known } => Self::new(
                "journal-older",
                &[("found", &found.to_string()), ("known", &known.to_string())],
                trace,
            ),
            OpenProblem::Network => Self::new("journal-network", &[], trace),
            OpenProblem::Outdated { found, confirmed } => Self::new(
                "journal-outdated",
                &[("confirmed", &confirmed.to_string()), ("found", &found.to_string())],
                trace,
            ),
            OpenProblem::Incomplete { lacks } => {
                Self::new("backup-incomplete", &[("lacks", &lacks)], trace)
            }
            OpenProblem::Busy => Self::new("journal-busy", &[], trace),
            OpenProblem::Full => Self::new("disk-full", &[], trace),
            OpenProblem::Io { operation, source } => {
                let params = [("operation", operation), ("reason", &source.to_string())];
                Self::new("journal-io", &params, trace)
            }
        }
    }
}

impl From<&Notice> for Problem {
    fn from(notice: &Notice) -> Self {
        // A journal may have been written by a newer program: its code stands for itself.
        Self { params: notice.params.clone(), ..Self::new_or_unknown(&notice.code, "notice") }
    }
}

impl From<JournalError> for Problem {
    fn from(error: JournalError) -> Self {
        let trace = "journal";
        match error {
            JournalError::NotFound(id) => {
                Self::new("no-such-submission", &[("id", &id.0.to_string())], trace)
            }
            JournalError::Busy => Self::new("journal-busy", &[], trace),
            JournalError::Full => Self::new("disk-full", &[], trace),
            JournalError::Damaged => Self::new("journal-damaged", &[], trace),
            JournalError::StaleLease => Self::new("journal-stale-lease", &[], trace),
            JournalError::Closed => Self::new("journal-closed", &[], trace),
            JournalError::NewerSchema { found, known } => Self::new(
                "journal-newer",
                &[("found", &found.to_string()), ("known", &known.to_string())],
                trace,
            ),
            JournalError::Exists => Self::new("backup-exists", &[], trace),
            JournalError::Io { operation, source } => {
                let params = [("operation", operation), ("reason", &source.to_string())];
                Self::new("journal-io", &params, trace)
            }
        }
    }
}

impl From<JournalRefusal> for Problem {
    fn from(refusal: JournalRefusal) -> Self {
        match refusal {
            JournalRefusal::Full => Self::new("disk-full", &[], "worker"),
            JournalRefusal::Busy => Self::new("journal-busy", &[], "worker"),
            JournalRefusal::Newer => Self::new("journal-brought-on", &[], "worker"),
            JournalRefusal::Damaged => Self::new("journal-damaged", &[], "worker"),
            JournalRefusal::Unavailable => Self::journal_fails(),
        }
    }
}

impl From<OpenError> for Problem {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Profile(problem) => problem.into(),
            OpenError::Secrets(error) => error.into(),
            OpenError::Journal(problem) => problem.into(),
        }
    }
}

impl Problem {
    /// An endpoint that has reports and is configured no longer.
    pub(crate) fn of_gone(note: &EndpointNote) -> Self {
        let known = |text: &str| if text.is_empty() { "?" } else { text }.to_owned();
        let (address, environment) = (known(&note.base), known(&note.environment));
        let params = [("address", &*address), ("environment", &*environment), ("name", &note.name)];
        Self::new("endpoint-gone", &params, "engine")
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        let trace = "engine";
        let id = |id: report::SubmissionId| id.0.to_string();
        match error {
            EngineError::NotFound(of) => Self::new("no-such-submission", &[("id", &id(of))], trace),
            EngineError::NotPermitted { action, state } => Self::new(
                "action-not-possible",
                &[("action", action.code()), ("state", state)],
                trace,
            ),
            EngineError::NoEndpoint => Self::new("no-endpoint", &[], trace),
            EngineError::EndpointChanged => Self::new("endpoint-changed", &[], "intake"),
            EngineError::UnknownEndpoint(name) => {
                Self::new("unknown-endpoint", &[("name", &name)], trace)
            }
            EngineError::EndpointExists(name) => {
                Self::new("endpoint-exists", &[("name", &name)], trace)
            }
            EngineError::EndpointUnusable { reason } => {
                Self::new("endpoint-unusable", &[("reason", &reason)], trace)
            }
            EngineError::EndpointNeeded { name, open } => {
                let open = open.to_string();
                Self::new("endpoint-needed", &[("name", &name), ("open", &open)], trace)
            }
            EngineError::EndpointInUse(name) => {
                Self::new("endpoint-in-use", &[("name", &name)], trace)
            }
            EngineError::EndpointHasReports { name, all, open } => {
                let (all, open) = (all.to_string(), open.to_string());
                let params = [("all", &*all), ("name", &*name), ("open", &*open)];
                Self::new("endpoint-has-reports", &params, trace)
            }
            EngineError::EndpointGone(note) => Self::of_gone(&note),
            EngineError::UnknownCertificate(fingerprint) => {
                Self::new("unknown-certificate", &[("fingerprint", &fingerprint)], trace)
            }
            EngineError::CertificateNeeded { endpoints, open } => {
                let (endpoints, open) = (endpoints.join(", "), open.to_string());
                let params = [("endpoints", &*endpoints), ("open", &*open)];
                Self::new("certificate-needed", &params, trace)
            }
            EngineError::Erased(of) => Self::new("content-erased", &[("id", &id(of))], trace),
            EngineError::NotAReport(candidate) => {
                let kind = crate::codes::kind_code(&candidate);
                let params = [("file", candidate.name.as_str()), ("kind", kind)];
                Self::new("not-a-report", &params, trace)
            }
            EngineError::NotADocument(of) => Self::new("not-a-document", &[("id", &id(of))], trace),
            EngineError::NoIdentifier(of) => Self::new("no-identifier", &[("id", &id(of))], trace),
            EngineError::Known(of) => Self::new("known-content", &[("id", &id(of))], trace),
            EngineError::Import(error) => error.into(),
            EngineError::Secrets(error) => error.into(),
            EngineError::Profile(problem) => problem.into(),
            EngineError::Journal(error) => error.into(),
            EngineError::Exchange(fault) => (*fault).into(),
            EngineError::Obstructed(obstacle) => Self::from(&obstacle),
            EngineError::File { file, reason } => Self::new(
                "file-unreadable",
                &[("file", &file.display().to_string()), ("reason", &reason)],
                trace,
            ),
        }
    }
}
