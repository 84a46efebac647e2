//! The rules of practice hold reports in a practice profile as the authority's do elsewhere.

use std::path::Path;

use fhir::Instant;
use rules::{Package, Store, StoreFault};

use super::{failed, file};
use crate::problem::Problem;

/// Imports the rules of practice and puts them into use, once: whoever removes them afterwards, or
/// uses others, is left alone.
pub(super) fn bring(profile: &Path, now: Instant) -> Result<(), Problem> {
    let folder = profile.join("rules");
    if folder.exists() {
        return Ok(());
    }
    let store = Store::at(&folder);
    let package = Package::practice().map_err(|fault| failed(&fault))?;
    let imported = store.import(&package, now.to_fhir()).map_err(of_store)?;
    store.make_used(&imported.manifest.label()).map_err(of_store)?;
    Ok(())
}

fn of_store(fault: StoreFault) -> Problem {
    match fault {
        StoreFault::Io { path, source } => file(&path, &source),
        other => failed(&other),
    }
}
