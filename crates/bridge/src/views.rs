//! What a person sees: plain data, exported to TypeScript. Rules are applied before it gets here.

mod figures;
mod handing;
mod keeping;
mod lists;
mod reading;
mod rules;
mod setup;
mod watched;
mod work;

use std::collections::BTreeMap;

use exchange::Environment;
use fhir::Severity;
use journal::Source;
use report::{Action, Group, StateCode};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::codes;
use crate::taken_back::TakenBack;

pub use crate::problem::{Blame, Problem};
pub use figures::*;
pub use handing::*;
pub use keeping::*;
pub use lists::*;
pub use reading::*;
pub use rules::*;
pub use setup::*;
pub use watched::*;
pub use work::*;

/// Environment and endpoint in force, connection and certificate: the frame of the window.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct StatusView {
    /// What its authority is for.
    #[ts(as = "codes::Environment")]
    pub environment: Environment,
    /// Name of the endpoint in force.
    pub endpoint: String,
    /// Its id, which outlives its name: what is sent names it. Empty where there is none.
    pub endpoint_id: String,
    /// Its base address.
    pub base_url: String,
    /// Release of the interface.
    pub release: String,
    /// How far the connection goes.
    pub connection: Connection,
    /// The problem behind [`Connection::Unreachable`] or [`Connection::Locked`].
    pub problem: Option<Problem>,
    /// Last successful exchange, ISO instant.
    pub last_contact: Option<String>,
    /// When every layer of a connection test passed last, with the address and the certificate of
    /// now, ISO instant.
    pub tested: Option<String>,
    /// Certificate in use.
    pub certificate: Option<CertificateView>,
    /// The laboratory's own certificate while practice is in use.
    pub waiting_certificate: Option<CertificateView>,
    /// Live counts.
    pub counts: CountsView,
    /// Grows with every change of the journal; the window refetches when it moves.
    #[ts(type = "number")]
    pub revision: u64,
    /// Another number after each move between practice and laboratory; calls about reports name it.
    pub room: u32,
    /// Other endpoints than the one in use that have open reports: they are followed beside it.
    pub elsewhere: Vec<ElsewhereView>,
    /// The laboratory, while practice is in use.
    pub laboratory: Option<LaboratoryView>,
    /// Another process (window or headless) works the queue.
    pub worked_elsewhere: bool,
    /// A fault holds the reports until the next try, which a person can have now.
    pub tries_again: bool,
    /// Sending is paused by the person.
    pub paused: bool,
    /// Days in progress after which a report needs attention.
    pub attention_days: u16,
    /// Watched folder, if any.
    pub watched_folder: Option<String>,
    /// The window is locked: nothing with a name is answered until it is unlocked.
    pub locked: bool,
    /// A passphrase unlocks it.
    pub has_unlock_passphrase: bool,
    /// A passphrase stands before what only administrators change.
    pub has_administration_passphrase: bool,
    /// It has to be entered first.
    pub administration_closed: bool,
    /// What a person has to be told until they have read it.
    pub notices: Vec<NoticeView>,
    /// Version of the program.
    pub version: String,
}

/// How far the connection to an authority goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "kebab-case")]
#[ts(export)]
pub enum Connection {
    /// Nothing was sent yet.
    Unchecked,
    /// The last request was answered.
    Connected,
    /// Not reachable, or busy.
    Unreachable,
    /// Certificate, permission or address: a person must act.
    Locked,
}

/// Another endpoint than the one in use, with open reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct ElsewhereView {
    /// Name of the endpoint.
    pub endpoint: String,
    /// Reports that wait, are on their way or in progress there.
    pub count: u32,
    /// What its authority is for.
    #[ts(as = "codes::Environment")]
    pub environment: Environment,
    /// How far the connection goes.
    pub connection: Connection,
    /// What is behind [`Connection::Unreachable`] or [`Connection::Locked`].
    pub problem: Option<Problem>,
    /// A person can have the next try now.
    pub tries_again: bool,
}

/// A row of the list.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct RowView {
    /// Number of the submission.
    #[ts(type = "number")]
    pub id: i64,
    /// File name as dropped, masked unless asked for: it may name the patient.
    pub file: String,
    /// Where it stands.
    #[ts(as = "codes::State")]
    pub state: StateCode,
    /// The group that people see it in.
    #[ts(as = "codes::Group")]
    pub group: Group,
    /// What a person may do with it now.
    #[ts(as = "Vec<codes::Action>")]
    pub actions: Vec<Action>,
    /// Patient, masked unless asked for.
    pub patient: Option<String>,
    /// Disease or leading code in words.
    pub subject: Option<String>,
    /// Code behind it.
    pub code: Option<String>,
    /// Key of the disease, e.g. `hepatitis-b`; the catalogue has its name.
    #[ts(as = "Option<codes::Disease>")]
    pub disease: Option<String>,
    /// How it was tested, e.g. `pcr`.
    #[ts(as = "Option<codes::TestKind>")]
    pub test: Option<String>,
    /// In what, e.g. `blood`.
    #[ts(as = "Option<codes::Specimen>")]
    pub specimen: Option<String>,
    /// Name of the laboratory that made the report.
    pub laboratory: Option<String>,
    /// Document identifier.
    pub document_identifier: Option<String>,
    /// Errors and warnings, ours and the authority's.
    pub errors: u32,
    /// See above.
    pub warnings: u32,
    /// First message in short, if a person must act.
    pub message: Option<MessageView>,
    /// What the authority of its endpoint is for.
    #[ts(as = "codes::Environment")]
    pub environment: Environment,
    /// Name of its endpoint.
    pub endpoint: String,
    /// Submission that this one corrects.
    #[ts(type = "number | null")]
    pub corrects: Option<i64>,
    /// Submission that took its place.
    #[ts(type = "number | null")]
    pub corrected_by: Option<i64>,
    /// Imported at, ISO instant.
    pub created: String,
    /// Last event, ISO instant.
    pub updated: String,
    /// Until when the authority must have it, ISO instant: where a deadline is set and it has not
    /// taken it yet.
    pub due: Option<String>,
    /// Somebody has begun to correct it, and has not sent that: told in the list, and of the one
    /// report that is shown.
    pub draft: bool,
    /// A person took it back before it left: new, or to take the place of a refused one.
    pub taken_back: Option<TakenBack>,
}

/// A page of the list, newest first, by keyset.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct PageView {
    /// The rows of this page.
    pub rows: Vec<RowView>,
    /// Pass as `before` for the next page; `None` at the end.
    #[ts(type = "number | null")]
    pub next: Option<i64>,
    /// Matching rows in all.
    pub total: u32,
}

/// What to list.
#[derive(Clone, Default, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[ts(export)]
pub struct ListQuery {
    /// Group code, or all.
    #[ts(as = "Option<codes::Group>")]
    pub group: Option<String>,
    /// State codes, or all.
    #[ts(as = "Vec<codes::State>")]
    pub states: Vec<String>,
    /// Text in identifier, name, file, disease, message.
    pub search: Option<String>,
    /// From this ISO instant or date on.
    pub since: Option<String>,
    /// Before this ISO instant or date.
    pub until: Option<String>,
    /// Keyset: rows older than this id.
    #[ts(type = "number | null")]
    pub before: Option<i64>,
    /// Rows at most (bounded to 500).
    pub limit: Option<u32>,
    /// Only these, or all.
    #[ts(type = "number[] | null")]
    pub ids: Option<Vec<i64>>,
    /// Only those of this laboratory, or all.
    pub laboratory: Option<String>,
    /// Only those about this, or all.
    pub about: Option<AboutView>,
    /// Only those that stand so to their deadline, or all.
    #[ts(as = "Option<codes::Timeliness>")]
    pub timeliness: Option<String>,
    /// Column to sort by; else the newest first.
    #[ts(as = "Option<codes::SortColumn>")]
    pub sort: Option<String>,
    /// The smallest first.
    pub ascending: bool,
    /// Language of the names of diseases that are sorted.
    pub language: Option<String>,
}

/// Everything about one submission.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct DetailView {
    /// Its row, patient unmasked.
    pub row: RowView,
    /// Patient's birth date as written.
    pub birth_date: Option<String>,
    /// Date of the document, ISO instant.
    pub document_date: Option<String>,
    /// SHA-256 of the received bytes, hex.
    pub digest: String,
    /// `DocumentReference.identifier` of the attempt.
    pub identifier: String,
    /// The authority's id.
    pub receipt: Option<String>,
    /// Requests made.
    pub attempts: u32,
    /// Encoding of the received text.
    #[ts(as = "codes::Format")]
    pub format: &'static str,
    /// Size of the received text, bytes.
    pub size: u32,
    /// It is on hold only until the authority was asked whether it has it: if it has not, it is
    /// sent by itself.
    pub goes_by_itself: bool,
    /// Other versions of the same document that wait: what is decided about this one does not
    /// concern them. Told where a person may leave it unsent.
    #[ts(type = "number[]")]
    pub waiting_versions: Vec<i64>,
    /// Errors first.
    pub messages: Vec<MessageView>,
    /// Oldest first.
    pub timeline: Vec<TimelineView>,
    /// What was found, as a laboratory prints it.
    pub results: Vec<ResultView>,
    /// The report as sections with fields.
    pub sections: Vec<SectionView>,
    /// The received text (for the source view).
    pub source: String,
    /// What the authority would see of the patient, where the rules in use say it.
    pub privacy: Option<PrivacyView>,
}

/// One message, ours (code + params, text from the catalogue) or the authority's (its own words
/// too).
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct MessageView {
    /// Whose it is.
    #[ts(as = "codes::Source")]
    pub source: Source,
    /// How much it weighs.
    #[ts(as = "codes::Severity")]
    pub severity: Severity,
    /// Our code, or FHIR issue type for the authority's.
    pub code: String,
    /// The authority's rule code, e.g. `FOPH-012`.
    pub rule: Option<String>,
    /// The authority's own words, verbatim; text, never HTML.
    pub text: Option<String>,
    /// Parameters by name.
    #[ts(type = "Record<string, string>")]
    pub params: BTreeMap<String, String>,
    /// FHIRPath in the document.
    pub expression: Option<String>,
    /// Line in the source, from 1.
    pub line: Option<u32>,
    /// Column, from 1.
    pub column: Option<u32>,
    /// Index into `sections` that it concerns.
    pub section: Option<u32>,
    /// Key of the field in that section.
    #[ts(as = "Option<codes::FieldKey>")]
    pub field: Option<String>,
    /// The element that it is about without numbers, e.g. `Patient.address.country`.
    pub path: Option<String>,
    /// The value that stands there, shortened where it is long.
    pub found: Option<String>,
    /// The cure, where it needs no judgement.
    pub suggestion: Option<SuggestionView>,
}

/// One step of the timeline.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct TimelineView {
    /// What happened (`report::Event::code`).
    #[ts(as = "codes::EventCode")]
    pub event: &'static str,
    /// Parameters: `reason`, `why`, `receipt`, `due`, `by` where the event has them.
    #[ts(type = "Record<string, string>")]
    pub params: BTreeMap<String, String>,
    /// Person or part of the program.
    pub person: String,
    /// ISO instant.
    pub at: String,
    /// Raw evidence: the authority's answer as text, if kept.
    pub evidence: Option<EvidenceView>,
}

/// An answer of the authority, as received.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct EvidenceView {
    /// HTTP status.
    pub http_status: Option<u16>,
    /// Media type.
    pub content_type: Option<String>,
    /// Body as text (bounded to 64 KiB; `truncated` says so).
    pub body: String,
    /// Whether it was cut for display.
    pub truncated: bool,
}

/// Shows nothing of what may name a patient: a view may stand in a value that is printed by
/// accident.
macro_rules! print_no_content {
    ($($view:ident),* $(,)?) => { $(
        impl std::fmt::Debug for $view {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($view)).finish_non_exhaustive()
            }
        }
    )* };
}

print_no_content!(
    RowView,
    PageView,
    ListQuery,
    DetailView,
    MessageView,
    TimelineView,
    EvidenceView,
    SectionView,
    FieldView,
    CodedView,
    CandidateView,
    IntakeView,
    HandedItem,
    NamedCorrection,
    HandedView,
);

print_no_content!(
    ResultView,
    ChangeView,
    CorrectsView,
    DraftView,
    SuggestionView,
    SuggestedView,
    PrivacyView,
    PrivacyRowView,
    FormFieldView,
    CauseFieldView,
    ValueView,
    FixView,
    UnfinishedFix,
    ListCountsView,
    DecidedView,
    RefusedView,
    RulesPlanView,
    RulesReasonView,
    AboutView,
    SavedView,
);
