//! The audit log of a profile, as the headless program shows it and adds to it.

use std::path::Path;

use engine::{Clock as _, Profile, SystemClock};

use crate::audit;
use crate::problem::Problem;

pub use crate::audit::{AuditEntry, Change};

/// Writes to the audit log of a profile what was changed. In practice that is play, and not noted;
/// nor are rules that lie in a folder without a profile.
///
/// # Errors
/// `audit-not-written`: the change itself was made.
pub fn note_change(folder: &Path, change: &Change) -> Result<(), Problem> {
    match Profile::open(folder) {
        Ok(profile) if !profile.is_practice() => audit::note(folder, change, SystemClock.now()),
        _ => Ok(()),
    }
}

/// Who has changed what of the settings, the newest change first; at most 1,000.
///
/// # Errors
/// `profile-missing`, `profile-io`.
pub fn audit_log(folder: &Path) -> Result<Vec<AuditEntry>, Problem> {
    Profile::open(folder)?;
    audit::entries(&[folder])
}
