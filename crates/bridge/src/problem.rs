//! The only error that crosses to a person: a code with parameters, who can mend it, and what to do
//! next.

mod from;
mod list;

use std::collections::BTreeMap;

use serde::Serialize;
use ts_rs::TS;

pub use list::{PROBLEMS, ProblemRow, REMEDIES};

crate::codes::unions! {
    /// What to do next about a problem.
    Remedy = REMEDIES.iter().copied();
    /// Every problem that the core can tell of.
    ProblemCode = PROBLEMS.iter().map(|row| row.code);
}

/// The only error that crosses to a person. `Debug` leaves out the parameters: a file name or the
/// authority's words may name a patient.
#[derive(Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct Problem {
    /// Stable code; the catalogue has title, explanation and remedy for it. One of a newer program,
    /// read from the journal, may be unknown.
    #[ts(as = "ProblemCode")]
    pub code: String,
    /// Parameters by name.
    #[ts(type = "Record<string, string>")]
    pub params: BTreeMap<String, String>,
    /// Who can mend it.
    pub blame: Blame,
    /// What to do next.
    #[ts(as = "Remedy")]
    pub remedy: String,
    /// Short trace for support, without patient data.
    pub trace: String,
}

fhir::shows_only!(Problem { code, blame, remedy, trace });

/// Who can mend a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "lowercase")]
#[ts(export)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Blame {
    You,
    Network,
    Authority,
    Us,
}

/// What a script may do about a problem; the exit codes of the headless program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemClass {
    /// A person must look.
    Person,
    /// Asked for wrongly.
    Usage,
    /// The authority cannot be reached or refuses the certificate.
    Authority,
    /// Journal, keychain or vault cannot be opened.
    Locked,
}

impl Problem {
    /// A problem of the list. `trace` names the operation, never content.
    pub fn new(code: &str, params: &[(&str, &str)], trace: &str) -> Self {
        let row = ProblemRow::of(code);
        debug_assert!(row.is_some(), "{code} is not in the list");
        let (blame, remedy) = row.map_or((Blame::Us, "call-it"), |row| (row.blame, row.remedy));
        let params = params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Self {
            code: code.to_owned(),
            params: params.collect(),
            blame,
            remedy: remedy.to_owned(),
            trace: trace.to_owned(),
        }
    }

    /// The disk fails under the worker, which knows no more than that.
    pub(crate) fn journal_fails() -> Self {
        let params = [("operation", "write"), ("reason", "disk I/O error")];
        Self::new("journal-io", &params, "worker")
    }

    /// As [`Problem::new`], for codes that come from a file.
    fn new_or_unknown(code: &str, trace: &str) -> Self {
        let known = ProblemRow::of(code).is_some();
        let problem = Self::new(if known { code } else { "journal-io" }, &[], trace);
        Self { code: code.to_owned(), ..problem }
    }

    fn with(code: &str, params: Vec<(String, String)>, trace: &str) -> Self {
        Self { params: params.into_iter().collect(), ..Self::new(code, &[], trace) }
    }

    /// What a script may do about it. One that this program does not know comes from a newer one,
    /// in what that left for a person to read.
    pub fn class(&self) -> ProblemClass {
        ProblemRow::of(&self.code).map_or(ProblemClass::Person, |row| row.class)
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.code)
    }
}

impl std::error::Error for Problem {}
