//! One submission as a line for scripts: the contract of `labcourier --json`. Fields are only ever
//! added.

use engine::Profile;
use exchange::Environment;
use fhir::{Finding, Instant, Severity, Tree};
use journal::{Message, Row, Source};
use report::StateCode;
use rules::{Cure, Suggestion};
use serde::Serialize;

use crate::declaration::declaration;
use crate::removal::removal;
use crate::writing::replacement;

/// One submission, or one file that became none.
#[derive(Clone, PartialEq, Eq, Default, Serialize)]
pub struct Record {
    /// Number of the submission; `null` for a file that is none.
    pub id: Option<i64>,
    /// File name as handed over.
    pub file: String,
    /// SHA-256 of the received bytes, hex.
    pub digest: Option<String>,
    /// `DocumentReference.identifier` of the attempt.
    pub identifier: Option<String>,
    /// Where it stands; `null` for a file that is no submission.
    pub state: Option<StateCode>,
    /// The authority's id.
    pub receipt: Option<String>,
    /// Messages, ours first, errors first in each.
    pub issues: Vec<IssueRecord>,
    /// Requests made.
    pub attempts: u32,
    /// The submission that this one takes the place of.
    pub corrects: Option<i64>,
    /// Name of the endpoint that it goes to; `null` for a file that is no submission.
    pub endpoint: Option<String>,
    /// `practice`, `integration` or `production`; `null` for a file that is no submission.
    pub environment: Option<Environment>,
    /// Imported at, ISO instant.
    pub created: Option<String>,
    /// Last event, ISO instant.
    pub updated: Option<String>,
    /// What a validator of the laboratory's choosing says, where one was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validator: Option<Opinion>,
}

/// One message.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct IssueRecord {
    /// How much it weighs.
    pub severity: Severity,
    /// Our code, or FHIR's issue type for the authority's.
    pub code: String,
    /// The authority's rule code.
    pub rule: Option<String>,
    /// The authority's own words; for ours the program's catalogue fills it in.
    pub text: Option<String>,
    /// FHIRPath in the document.
    pub expression: Option<String>,
    /// Line in the document, from 1.
    pub line: Option<u32>,
    /// Column, from 1.
    pub column: Option<u32>,
    /// Whose it is.
    pub source: IssueSource,
    /// The value that would cure it, where that needs no judgement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<SuggestionRecord>,
    /// Parameters of our message, for the catalogue; not part of the contract.
    #[serde(skip)]
    pub params: std::collections::BTreeMap<String, String>,
}

/// Whose message it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IssueSource {
    /// Our own rules.
    Local,
    /// The base check of FHIR.
    Base,
    /// The rules of a package, where a file was validated by them and is no report.
    Rules,
    /// The authority.
    Authority,
    /// A validator of the laboratory's choosing.
    Validator,
}

impl From<Source> for IssueSource {
    fn from(source: Source) -> Self {
        match source {
            Source::Local => Self::Local,
            Source::Base => Self::Base,
            Source::Authority => Self::Authority,
        }
    }
}

/// What a validator says, held against what is found here. Only errors: what else validators say is
/// of taste.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Opinion {
    /// Its address.
    pub address: String,
    /// Code of why it says nothing; `null` where it has answered.
    pub fault: Option<&'static str>,
    /// Errors that both find.
    pub both: usize,
    /// Errors that it alone finds, in its own words.
    pub only_there: Vec<IssueRecord>,
    /// Errors that are found here alone.
    pub only_here: Vec<IssueRecord>,
}

fhir::shows_only!(Opinion { fault, both });

impl Opinion {
    /// Whether it has answered and finds what is found here.
    pub fn agrees(&self) -> bool {
        self.fault.is_none() && self.only_there.is_empty() && self.only_here.is_empty()
    }
}

/// A change at one place of the document.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct SuggestionRecord {
    /// `replace`: an element gets another value; `insert`: an element that was not there; `remove`:
    /// an element goes.
    pub kind: String,
    /// FHIRPath of the element; of one that is inserted, where it will stand.
    pub expression: String,
    /// The value that it should have; empty where it goes.
    pub value: String,
    /// First byte of the file that gives way.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
    /// What is written there, as JSON or XML have it.
    pub text: String,
}

// Without file names, identifiers and words: they may name a patient.
fhir::shows_only!(Record { id, state, receipt, issues, attempts, corrects, environment });
fhir::shows_only!(IssueRecord { severity, code, source });
fhir::shows_only!(SuggestionRecord { kind, start, end });

impl SuggestionRecord {
    /// What would cure a finding of this document, as bytes that give way to others.
    pub(crate) fn of(tree: &Tree, finding: &Finding) -> Option<Self> {
        written(tree, rules::suggestion(tree, finding)?)
    }
}

/// Environment of a submission's endpoint: as it was when it was taken in, else as it is now.
pub(crate) fn environment_of(row: &Row, profile: &Profile) -> Environment {
    let then = row.environment.as_deref().and_then(Environment::of);
    then.unwrap_or_else(|| profile.environment_of(&row.endpoint))
}

/// Code of the message that a report has been in doubt or in progress for too long.
pub(crate) const OPEN_TOO_LONG: &str = "open-too-long";

impl Record {
    /// It moves by itself, and has been doing so for too long: a person must look.
    pub fn is_open_too_long(&self) -> bool {
        self.issues.iter().any(|issue| issue.code == OPEN_TOO_LONG)
    }

    pub(crate) fn of(row: &Row, messages: &[Message], profile: &Profile, now: Instant) -> Self {
        let mut issues: Vec<_> = messages.iter().map(IssueRecord::of).collect();
        if row.state.is_overdue(now) {
            issues.push(IssueRecord::open_too_long());
        }
        issues.sort_by_key(|issue| issue.source == IssueSource::Authority);
        Self {
            id: Some(row.id.0),
            file: row.file.clone(),
            digest: Some(row.digest.clone()),
            identifier: Some(row.identifier.clone()),
            state: Some(row.state.shown()),
            receipt: row.receipt.clone(),
            issues,
            attempts: row.attempts,
            corrects: row.corrects.map(|id| id.0),
            endpoint: Some(profile.name_of(&row.endpoint)),
            environment: Some(environment_of(row, profile)),
            created: Some(row.created.to_fhir()),
            updated: Some(row.updated.to_fhir()),
            validator: None,
        }
    }
}

impl IssueRecord {
    /// In doubt or in progress for so long that a person must look.
    fn open_too_long() -> Self {
        Self {
            severity: Severity::Error,
            code: OPEN_TOO_LONG.to_owned(),
            rule: None,
            text: None,
            expression: None,
            line: None,
            column: None,
            source: IssueSource::Local,
            suggestion: None,
            params: std::collections::BTreeMap::new(),
        }
    }

    /// With the change that would cure a finding of this document, if there is one.
    pub(crate) fn suggesting(mut self, tree: &Tree, finding: &Finding) -> Self {
        self.suggestion = SuggestionRecord::of(tree, finding);
        self
    }

    pub(crate) fn of(message: &Message) -> Self {
        Self {
            severity: message.severity,
            code: message.code.clone(),
            rule: message.rule.clone(),
            text: message.text.clone(),
            expression: message.expression.clone(),
            line: message.line,
            column: message.column,
            source: message.source.into(),
            suggestion: None,
            params: message.params.iter().cloned().collect(),
        }
    }
}

/// A suggestion as bytes of the document.
fn written(tree: &Tree, of: Suggestion) -> Option<SuggestionRecord> {
    let at = tree.find(&of.expression)?;
    let (kind, expression, (start, end, text)) = match of.cure {
        Cure::Replace => ("replace", of.expression, replacement(tree, at, &of.value)?),
        Cure::Declare => {
            let (place, text) = declaration(tree, at, &of.value)?;
            let declared = at.child("meta").map_or(0, |meta| meta.all("profile").count());
            let expression = format!("{}.meta.profile[{declared}]", of.expression);
            ("insert", expression, (place.start, place.end, text))
        }
        Cure::Remove => {
            let place = removal(tree, at)?;
            ("remove", of.expression, (place.start, place.end, String::new()))
        }
    };
    let kind = kind.to_owned();
    Some(SuggestionRecord { kind, expression, value: of.value, start, end, text })
}
