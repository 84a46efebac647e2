//! Which validator is asked for a second opinion.

use std::path::Path;

use engine::{Clock as _, SystemClock};
use serde::Serialize;
use validator::Validator;

use crate::opinion::{chosen, of_setting};
use crate::problem::Problem;

/// The validator that is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ValidatorFacts {
    /// Its address.
    pub address: String,
    /// When a person chose it, ISO instant.
    pub chosen: String,
}

/// The validator that reports are shown to when they are checked; `None` where nobody is asked.
pub fn validator(folder: &Path) -> Result<Option<ValidatorFacts>, Problem> {
    Ok(chosen(folder)?.as_ref().map(facts))
}

/// Chooses it. Whoever calls this has a person's word that reports with their patients may be shown
/// to it.
pub fn choose_validator(
    folder: &Path,
    address: &str,
    ca: Option<&Path>,
) -> Result<ValidatorFacts, Problem> {
    let ca = ca.map(read_ca).transpose()?;
    let unusable = |fault: validator::NotUsable| {
        Problem::new("validator-unusable", &[("reason", fault.code())], "validator")
    };
    let validator = Validator::new(address, ca, SystemClock.now()).map_err(unusable)?;
    validator.choose(&folder.join("rules")).map_err(of_setting)?;
    Ok(facts(&validator))
}

/// Nobody is asked from now on.
pub fn forget_validator(folder: &Path) -> Result<(), Problem> {
    Validator::forget(&folder.join("rules")).map_err(of_setting)
}

fn facts(validator: &Validator) -> ValidatorFacts {
    ValidatorFacts { address: validator.address().to_owned(), chosen: validator.chosen().to_fhir() }
}

/// A CA takes some thousands of bytes.
const CA_BYTES_MAX: u64 = 1 << 20;

fn read_ca(file: &Path) -> Result<String, Problem> {
    let unreadable = |reason: &str| {
        let params = [("file", &*file.display().to_string()), ("reason", reason)];
        Problem::new("file-unreadable", &params, "validator")
    };
    let metadata =
        std::fs::metadata(file).map_err(|error| unreadable(&error.kind().to_string()))?;
    if metadata.len() > CA_BYTES_MAX {
        return Err(unreadable("too-large"));
    }
    std::fs::read_to_string(file).map_err(|error| unreadable(&error.kind().to_string()))
}
