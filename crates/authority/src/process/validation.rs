//! Validation by the rules of FHIR packages, where an operator put some into use: the same that a
//! laboratory can put into use on its side, so that both judge alike.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use fhir::{Finding, Tree};
use rules::{Asked, Imported, InUse, Mode, Package, PackageLimits, RuleSet, Store, StoreFault};

use crate::{AuthorityError, clock};

/// The packages of a data folder.
pub(crate) struct Validation {
    /// `None`: nothing is validated, whatever the folder holds.
    store: Option<Store>,
    in_use: InUse,
}

/// An imported package, for lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulesPackage {
    /// Name and version of the package, `NAME@VERSION`.
    pub label: String,
    /// Number of its definitions.
    pub definitions: usize,
    /// Whether documents are validated by it.
    pub in_use: bool,
}

impl Validation {
    /// Validates by the rules that are in use in a data folder. Where they cannot be read, the
    /// service does not start: it would accept what its operator wants refused.
    pub(crate) fn open(data: &Path) -> Result<Self, AuthorityError> {
        let validation = Self { store: Some(store_of(data)), in_use: InUse::default() };
        validation.current().map_err(fault)?;
        Ok(validation)
    }

    /// Validates nothing.
    #[cfg(test)]
    pub(crate) fn none() -> Self {
        Self { store: None, in_use: InUse::default() }
    }

    fn current(&self) -> Result<Option<Arc<RuleSet>>, StoreFault> {
        self.store.as_ref().map_or(Ok(None), |store| self.in_use.current(store))
    }

    /// What the rules find in a document. Findings of the base check are left out, because the
    /// caller makes that check for every document, also where no rules are in use.
    ///
    /// # Errors
    /// The rules have become unreadable while the service runs. The caller must then accept
    /// nothing, because the rules might refuse it.
    pub(crate) fn findings(&self, tree: &Tree) -> Result<Vec<Finding>, StoreFault> {
        let Some(set) = self.current()? else { return Ok(Vec::new()) };
        let profiles = set.entry_profiles(tree.root().resource_type().unwrap_or_default());
        let asked = Asked { profiles: &profiles, mode: Mode::Authority, now: clock::now() };
        let mut found = set.validate(tree, &asked);
        // Only codes of rules are kept: `validate` makes the base check too.
        found.retain(|of| rules::codes::CODES.iter().any(|(code, _)| *code == of.code));
        Ok(found)
    }
}

/// Imports a package (`.tgz`) into a data folder. Nothing changes where it cannot be read.
pub fn import_rules(data: &Path, file: &Path) -> Result<RulesPackage, AuthorityError> {
    let limits = PackageLimits::default();
    let mut bytes = Vec::new();
    // One byte more than the limit is read and no more. This is enough to see that a file is too
    // large, and a device that never ends does not fill the memory.
    File::open(file)
        .and_then(|file| file.take(limits.archive_max + 1).read_to_end(&mut bytes))
        .map_err(|source| AuthorityError::File { path: file.to_owned(), source })?;
    let package = Package::read(&bytes, &limits)
        .map_err(|reason| AuthorityError::Package { path: file.to_owned(), reason })?;
    let imported = store_of(data).import(&package, clock::now().to_fhir()).map_err(fault)?;
    Ok(shown(&imported, None))
}

/// The packages of a data folder.
pub fn rules_packages(data: &Path) -> Result<Vec<RulesPackage>, AuthorityError> {
    let store = store_of(data);
    let in_use = store.in_use().map_err(fault)?;
    let all = store.list().map_err(fault)?;
    Ok(all.iter().map(|of| shown(of, in_use.as_deref())).collect())
}

/// Validates by a package, and what it depends on, from the next document on; a running service
/// needs no restart.
pub fn use_rules(data: &Path, label: &str) -> Result<RulesPackage, AuthorityError> {
    let used = store_of(data).make_used(label).map_err(fault)?;
    Ok(shown(&used, Some(&used.manifest.label())))
}

/// Removes a package.
pub fn remove_rules(data: &Path, label: &str) -> Result<(), AuthorityError> {
    store_of(data).remove(label).map_err(fault)
}

fn shown(of: &Imported, in_use: Option<&str>) -> RulesPackage {
    let label = of.manifest.label();
    RulesPackage { in_use: in_use == Some(&label), label, definitions: of.definitions }
}

fn store_of(data: &Path) -> Store {
    Store::at(data.join("rules"))
}

fn fault(source: StoreFault) -> AuthorityError {
    AuthorityError::RulesPackages(source)
}
