//! The seam to the authority's rules: what is taken in is checked against the rules in use, if
//! there are any.

use std::sync::Arc;

use fhir::{Finding, Limits, Severity, Tree};
use journal::{Message, Source};
use rules::{Asked, Mode, RuleSet, Store, StoreFault};

use crate::Engine;
use crate::candidate::{Candidate, Origin, Verdict};

/// Rules are in use and cannot be read.
const NOT_LOADED: &str = "rules-not-loaded";

/// Which rules a report was checked against when it was taken in.
const APPLIED: &str = "rules-applied";

/// Codes of this room, with the names of their parameters.
pub const RULES_CODES: &[(&str, &[&str])] =
    &[(NOT_LOADED, &["reason"]), (APPLIED, &["package", "digest"])];

impl Engine {
    /// The rules in use, for whoever shows what they say of a report; `None` where there are none,
    /// or where they cannot be read, which every check says.
    pub fn rules(&self) -> Option<Arc<RuleSet>> {
        let store = Store::at(self.profile().folder().join("rules"));
        self.inner.rules.current(&store).ok()?
    }

    /// What is kept with a report that is taken in now: the version of the rules that it was
    /// checked against, and the digest of what was imported.
    pub(crate) fn rules_applied(&self) -> Option<Message> {
        let store = Store::at(self.profile().folder().join("rules"));
        let set = self.inner.rules.current(&store).ok()??;
        let package = set.packages().next()?;
        let params = [("package", package.label()), ("digest", package.digest.clone())];
        let finding = Finding {
            code: APPLIED.to_owned(),
            severity: Severity::Information,
            expression: String::new(),
            position: None,
            params: params.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        };
        Some(Message::from_finding(Source::Local, &finding))
    }

    /// Adds what the rules in use find. Where they cannot be read the report is not checked against
    /// them, and says so.
    pub(crate) fn apply_rules(&self, candidate: &mut Candidate) {
        let Verdict::Report(parsed) = &candidate.verdict else { return };
        let store = Store::at(self.profile().folder().join("rules"));
        let set = match self.inner.rules.current(&store) {
            Ok(None) => return,
            Ok(Some(set)) => set,
            Err(fault) => return candidate.findings.push((Origin::Local, not_loaded(&fault))),
        };
        let Ok(tree) = Tree::read(&parsed.bytes, parsed.format, &Limits::default()) else { return };
        let kind = tree.root().resource_type().unwrap_or_default();
        let profiles = set.entry_profiles(kind);
        let asked = Asked { profiles: &profiles, mode: Mode::Authority, now: self.now() };
        // What the base check says of it is there already.
        let found = set.validate(&tree, &asked).into_iter();
        let found = found
            .filter(|finding| rules::codes::CODES.iter().any(|(code, _)| *code == finding.code));
        candidate.findings.extend(found.map(|finding| (Origin::Local, finding)));
    }
}

fn not_loaded(fault: &StoreFault) -> Finding {
    let reason = match fault {
        StoreFault::Io { source, .. } => source.kind().to_string(),
        StoreFault::Damaged { .. } => "damaged".to_owned(),
        StoreFault::NotImported { label } => label.clone(),
    };
    Finding {
        code: NOT_LOADED.to_owned(),
        severity: Severity::Warning,
        expression: String::new(),
        position: None,
        params: vec![("reason".to_owned(), reason)],
    }
}
