//! The authority's rules: imported packages, and any resource against them. None of this opens the
//! journal or asks the authority.

mod plan;

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use engine::{Clock as _, SystemClock};
use fhir::{Finding, Format, Limits, Severity, Tree};
use rules::{
    Asked, Fault, Imported, Manifest, Mode, Package, PackageLimits, RuleSet, Store, StoreFault,
};
use serde::Serialize;
use ts_rs::TS;

use crate::leading_codes;
use crate::problem::Problem;
use crate::record::{IssueRecord, IssueSource};

pub(crate) use plan::{Plan, Reason};

/// Whose policy decides where FHIR and the authority differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RulesMode {
    /// As the authority's validator decides.
    #[default]
    Authority,
    /// As FHIR says.
    Strict,
}

/// How files are to be validated.
#[derive(Debug, Clone, Default)]
pub struct RulesTerms {
    /// Canonicals of profiles that every resource must conform to.
    pub profiles: Vec<String>,
    /// Packages and definitions for this call only.
    pub packages: Vec<PathBuf>,
    /// Whose policy decides.
    pub mode: RulesMode,
}

/// A file that was validated.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct Validated {
    /// As it was named.
    pub file: String,
    /// What was found, in the order of the document.
    pub issues: Vec<IssueRecord>,
}

fhir::shows_only!(Validated { file });

/// A package of the profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct RulesEntry {
    /// Name, e.g. `hl7.fhir.r4.core`.
    pub name: String,
    /// Version of the package.
    pub version: String,
    /// Number of definitions that validation can use.
    pub definitions: usize,
    /// Imported at, ISO instant.
    pub imported: String,
    /// SHA-256 of the file that was imported, hex.
    pub digest: String,
    /// Whether it is the one in use, as it was when it was put to use.
    pub in_use: bool,
    /// Whether it is in use, and putting it to use again would take in what was imported or removed
    /// since.
    pub outdated: bool,
    /// Dependencies that are not there in the version that is wanted.
    pub missing: Vec<MissingPackage>,
}

/// A dependency that is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct MissingPackage {
    /// Name of the package.
    pub name: String,
    /// Version or range.
    pub wanted: String,
    /// The version that stands in for it, if any.
    pub instead: Option<String>,
}

/// Imports a package into the profile of a folder; nothing changes where it cannot be used, and
/// nothing of what is in use.
pub fn import_rules(folder: &Path, file: &Path) -> Result<RulesEntry, Problem> {
    let package = read_package(file)?;
    let store = store(folder);
    let imported = store.import(&package, SystemClock.now().to_fhir()).map_err(of_store)?;
    Ok(entry(&imported, &store.list().map_err(of_store)?, &Used::of(&store)?))
}

/// Every imported package.
pub fn list_rules(folder: &Path) -> Result<Vec<RulesEntry>, Problem> {
    let store = store(folder);
    let all = store.list().map_err(of_store)?;
    let used = Used::of(&store)?;
    Ok(all.iter().map(|imported| entry(imported, &all, &used)).collect())
}

/// Forgets a package.
pub fn remove_rules(folder: &Path, label: &str) -> Result<(), Problem> {
    store(folder).remove(label).map_err(of_store)
}

/// Whether a package is the one in use, also where what is in use cannot be read any more.
pub fn is_rules_in_use(folder: &Path, label: &str) -> Result<bool, Problem> {
    Ok(store(folder).in_use().map_err(of_store)?.is_some_and(|used| used == label))
}

/// Makes a package, with what it depends on, the rules in use.
pub fn use_rules(folder: &Path, label: &str) -> Result<RulesEntry, Problem> {
    let store = store(folder);
    let imported = store.make_used(label).map_err(of_store)?;
    if let Some(rules) = store.load_used().map_err(of_store)? {
        leading_codes::take_from(folder, &rules);
    }
    Ok(entry(&imported, &store.list().map_err(of_store)?, &Used::of(&store)?))
}

/// The rules in use: the package itself, then what it depends on, as they were put to use. Empty
/// where none is in use.
pub fn rules_in_use(folder: &Path) -> Result<Vec<RulesEntry>, Problem> {
    let store = store(folder);
    let Some((label, held)) = store.used().map_err(of_store)? else { return Ok(Vec::new()) };
    let (all, used) = (held.list().map_err(of_store)?, Used::of(&store)?);
    let set = held.load(Some(&label)).map_err(of_store)?;
    let named = set.packages().filter_map(|manifest| {
        let imported = all.iter().find(|imported| imported.manifest == *manifest)?;
        Some(entry(imported, &all, &used))
    });
    Ok(named.collect())
}

/// What is in use, to tell it among others.
struct Used {
    /// Its manifest, as it was put to use.
    manifest: Option<Manifest>,
    is_outdated: bool,
}

impl Used {
    fn of(store: &Store) -> Result<Self, Problem> {
        let Some((label, held)) = store.used().map_err(of_store)? else {
            return Ok(Self { manifest: None, is_outdated: false });
        };
        let all = held.list().map_err(of_store)?.into_iter();
        let manifest = all.map(|of| of.manifest).find(|of| of.label() == label);
        Ok(Self { manifest, is_outdated: store.is_outdated().map_err(of_store)? })
    }
}

/// Validates files against the rules in use, else against everything that was imported, and `each`
/// gets what was found of each file as soon as it is known.
///
/// `flaw` gets what cannot be used of the packages that are for this call only.
pub fn validate_files(
    folder: &Path,
    files: &[PathBuf],
    terms: &RulesTerms,
    flaw: impl FnMut(PackageFlaw),
    mut each: impl FnMut(Validated),
) -> Result<(), Problem> {
    let set = rule_set(folder, &terms.packages, flaw)?;
    let mode = match terms.mode {
        RulesMode::Authority => Mode::Authority,
        RulesMode::Strict => Mode::Strict,
    };
    let asked = Asked { profiles: &terms.profiles, mode, now: SystemClock.now() };
    for file in files {
        let issues = validate_file(&set, file, &asked);
        each(Validated { file: file.display().to_string(), issues });
    }
    Ok(())
}

fn validate_file(set: &RuleSet, file: &Path, asked: &Asked<'_>) -> Vec<IssueRecord> {
    let limits = Limits::default();
    let bytes = match bounded(file, limits.bytes_max as u64) {
        Ok(bytes) => bytes,
        Err(error) => {
            let code = match error.kind() {
                std::io::ErrorKind::NotFound => "file-not-found",
                _ => "file-not-readable",
            };
            return vec![issue(&Finding {
                code: code.to_owned(),
                severity: Severity::Error,
                expression: String::new(),
                position: None,
                params: vec![("reason".to_owned(), error.kind().to_string())],
            })];
        }
    };
    let format = Format::sniff(&bytes).unwrap_or(Format::Json);
    match Tree::read(&bytes, format, &limits) {
        Ok(tree) => {
            let findings = set.validate(&tree, asked);
            findings.iter().map(|finding| issue(finding).suggesting(&tree, finding)).collect()
        }
        Err(finding) => vec![issue(&finding)],
    }
}

/// A part of a package that cannot be used; the others are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageFlaw {
    /// The file.
    pub file: String,
    /// The definition, and the part of it; empty where it is about the whole file.
    pub name: String,
    /// Code of what is wrong.
    pub reason: &'static str,
}

fn rule_set(
    folder: &Path,
    packages: &[PathBuf],
    mut flaw: impl FnMut(PackageFlaw),
) -> Result<RuleSet, Problem> {
    let store = store(folder);
    let set = match store.load_used().map_err(of_store)? {
        Some(set) => set,
        None => store.load(None).map_err(of_store)?,
    };
    let mut overlay = Vec::with_capacity(packages.len());
    for path in packages {
        let (package, flaws) = read_with(path, Package::read_in_part)?;
        overlay.push(package);
        for fault in flaws {
            let (file, name) = (path.display().to_string(), fault.definition().unwrap_or_default());
            flaw(PackageFlaw { file, name, reason: fault.code() });
        }
    }
    let set = set.with(overlay);
    if set.is_empty() {
        return Err(Problem::new("no-rules", &[], "rules"));
    }
    Ok(set)
}

fn read_package(file: &Path) -> Result<Package, Problem> {
    read_with(file, Package::read)
}

fn read_with<T>(
    file: &Path,
    read: impl FnOnce(&[u8], &PackageLimits) -> Result<T, Fault>,
) -> Result<T, Problem> {
    let name = file.display().to_string();
    let limits = PackageLimits::default();
    let unreadable = |reason: &str| {
        let params = [("file", &*name), ("reason", reason)];
        Problem::new("rules-package-unusable", &params, "rules")
    };
    let bytes =
        bounded(file, limits.archive_max).map_err(|error| unreadable(&error.kind().to_string()))?;
    read(&bytes, &limits).map_err(|fault| match fault.definition() {
        Some(definition) => {
            let params = [("file", &*name), ("name", &*definition), ("reason", fault.code())];
            Problem::new("rules-definition-unusable", &params, "rules")
        }
        None => unreadable(fault.code()),
    })
}

/// A file, and of one that is larger than the bound (or has no end) one byte more than that: enough
/// to see it.
fn bounded(file: &Path, limit: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn store(folder: &Path) -> Store {
    Store::at(folder.join("rules"))
}

fn entry(imported: &Imported, all: &[Imported], used: &Used) -> RulesEntry {
    let manifest = &imported.manifest;
    let is_named = used.manifest.as_ref().is_some_and(|of| of.label() == manifest.label());
    let missing = rules::missing(manifest, all).into_iter();
    RulesEntry {
        name: manifest.name.clone(),
        version: manifest.version.clone(),
        definitions: imported.definitions,
        imported: imported.at.clone(),
        digest: manifest.digest.clone(),
        in_use: is_named && used.manifest.as_ref().is_some_and(|of| of.digest == manifest.digest),
        outdated: is_named && used.is_outdated,
        missing: missing
            .map(|(name, wanted, instead)| MissingPackage { name, wanted, instead })
            .collect(),
    }
}

fn of_store(fault: StoreFault) -> Problem {
    let trace = "rules";
    match fault {
        StoreFault::Io { path, source } => {
            let (file, reason) = (path.display().to_string(), source.kind().to_string());
            Problem::new("profile-io", &[("file", &file), ("reason", &reason)], trace)
        }
        StoreFault::Damaged { path } => {
            Problem::new("rules-damaged", &[("file", &path.display().to_string())], trace)
        }
        StoreFault::NotImported { label } => {
            Problem::new("rules-not-imported", &[("name", &label)], trace)
        }
    }
}

fn issue(finding: &Finding) -> IssueRecord {
    let params: std::collections::BTreeMap<String, String> =
        finding.params.iter().cloned().collect();
    let is_rule = rules::codes::CODES.iter().any(|(code, _)| *code == finding.code);
    IssueRecord {
        severity: finding.severity,
        code: finding.code.clone(),
        rule: params.get("rule").cloned(),
        text: None,
        expression: Some(finding.expression.clone()).filter(|text| !text.is_empty()),
        line: finding.position.map(|place| place.line),
        column: finding.position.map(|place| place.column),
        source: if is_rule { IssueSource::Rules } else { IssueSource::Base },
        suggestion: None,
        params,
    }
}
