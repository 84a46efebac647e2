//! Use cases for scripts: one function per command of the headless program, plain records out.
//!
//! No prose: what goes wrong is a [`Problem`], what was found is a code with parameters. The
//! records are a contract: [`Record`] keeps its fields.

mod arrivals;
mod attend;
mod audit;
mod certificates;
mod codes;
mod intake;
mod keep;
mod look;
mod rules_change;
mod search;
mod setup;
mod support;
mod validator;

use std::path::{Path, PathBuf};

use engine::{Engine, EngineDeps, Profile, ProfileProblem};
use identity::{Password, SecretsKind};
use report::SubmissionId;

use crate::laboratory;
use crate::leading_codes;
use crate::practice::Practice;
use crate::problem::Problem;

pub use crate::candidates::MESSAGE_CODES;
pub use crate::record::{IssueRecord, Record};
pub use crate::views::SupportFile;
pub use fhir::is_language_region;

pub use crate::backups::RestoreFacts;
pub use crate::codes::{CHANGES, DOCUMENT_CODES, EVENTS, RULE_CODES};
pub use crate::packages::{
    MissingPackage, PackageFlaw, RulesEntry, RulesMode, RulesTerms, Validated, import_rules,
    is_rules_in_use, list_rules, remove_rules, rules_in_use, use_rules, validate_files,
};
pub use arrivals::{Arrivals, Arrived, Arriving, Part};
pub use attend::{EndpointProblem, Goal, Moved, Outcome};
pub use audit::{AuditEntry, Change, audit_log, note_change};
pub use codes::{Family, REFUSAL_REASONS};
pub use intake::{Arrival, Fate, Intake, Looked, Standing};
pub use keep::{
    BackupEntry, BackupFacts, Flaw, LostFacts, RotationFacts, SetAsideFacts, Soundness,
};
pub use look::{Entry, ListTerms, Moment, Shown};
pub use rules_change::{RulesChange, RulesReason};
pub use search::{Hit, HitPage, SearchTerms};
pub use setup::{Elsewhere, EndpointFacts, EndpointTerms, MoveFacts};
pub use support::{save_support, support_files};
pub use validator::{ValidatorFacts, choose_validator, forget_validator, validator};

/// An open profile, as the headless program works with it.
pub struct Headless {
    engine: Engine,
    practice: Option<Practice>,
}

/// Where the secrets of a new profile rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vault {
    /// The operating system's keychain.
    Keychain,
    /// A file sealed by a passphrase.
    Passphrase,
}

/// The folder of the profile where none is named: the laboratory's, where the window keeps it too;
/// as long as there is none, and none has ever been there, the practice profile beside it.
pub fn default_folder() -> PathBuf {
    let (laboratory, practice) = (laboratory_folder(), practice_folder());
    let holds_profile = |folder: &Path| folder.join("profile.json").exists();
    let has_laboratory = holds_profile(&laboratory) || is_missed(&laboratory);
    if !has_laboratory && holds_profile(&practice) { practice } else { laboratory }
}

/// Whether a laboratory without settings was one: it has left something, or the window has opened
/// it once, and all of its folder is gone with the disk that it is on.
fn is_missed(laboratory: &Path) -> bool {
    let is_known = || {
        let practice = Profile::open(&practice_folder());
        practice.is_ok_and(|practice| laboratory::knows_laboratory(&practice))
    };
    laboratory::was_laboratory(laboratory) || (laboratory == laboratory_folder() && is_known())
}

/// Where a new profile goes where no folder is named.
pub fn laboratory_folder() -> PathBuf {
    laboratory::rooms_folder().join("laboratory")
}

/// Where a new practice profile goes where no folder is named.
pub fn practice_folder() -> PathBuf {
    laboratory::rooms_folder().join("practice")
}

impl Headless {
    /// Opens the profile of a folder.
    pub async fn open(folder: &Path, passphrase: Option<Password>) -> Result<Self, Problem> {
        let profile = match Profile::open(folder) {
            Err(ProfileProblem::Missing { .. }) if is_missed(folder) => {
                return Err(laboratory::settings_missing(folder));
            }
            opened => opened?,
        };
        if profile.is_practice() {
            return Self::practice(folder).await;
        }
        leading_codes::learn(folder);
        let engine = Engine::open(profile, passphrase.as_ref(), EngineDeps::default())?;
        Ok(Self { engine, practice: None })
    }

    /// Opens the practice profile of a folder; makes it where there is none.
    pub async fn practice(folder: &Path) -> Result<Self, Problem> {
        let practice = Practice::prepare(folder).await?;
        Ok(Self { engine: practice.engine().clone(), practice: Some(practice) })
    }

    /// Makes a profile with one endpoint. Where it fails nothing is left behind.
    pub async fn create(
        folder: &Path,
        vault: Vault,
        passphrase: Option<Password>,
        endpoint: EndpointTerms,
    ) -> Result<Self, Problem> {
        let endpoint = endpoint.into_endpoint()?;
        setup::check_endpoint(&endpoint)?;
        let secrets = match vault {
            Vault::Keychain => SecretsKind::Keychain,
            Vault::Passphrase => SecretsKind::Passphrase,
        };
        let profile = Profile::create(folder, secrets, vec![endpoint])?;
        let engine = laboratory::new_engine(profile, passphrase.as_ref())?;
        Ok(Self { engine, practice: None })
    }

    /// Makes the authority reachable: starts the practice authority where this is the practice
    /// profile.
    pub async fn reach(&mut self) -> Result<(), Problem> {
        match &mut self.practice {
            Some(practice) => practice.start().await,
            None => Ok(()),
        }
    }

    /// Finishes what is under way and closes.
    pub async fn close(mut self) {
        self.engine.stop().await;
        if let Some(practice) = &mut self.practice {
            practice.stop().await;
        }
    }

    /// The practice side of the profile, if it is one.
    pub fn as_practice(&self) -> Option<&Practice> {
        self.practice.as_ref()
    }

    /// The profile's folder.
    pub fn folder(&self) -> PathBuf {
        self.engine.profile().folder().to_owned()
    }

    /// Where secrets rest: `keychain`, `passphrase` or `practice`.
    pub fn vault_code(&self) -> &'static str {
        self.engine.profile().settings.secrets.code()
    }
}

fn numbered(id: i64) -> SubmissionId {
    SubmissionId(id)
}
