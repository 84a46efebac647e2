//! Numbers of now and over days, and what was sent on one.

use std::collections::BTreeMap;

use exchange::Environment;
use report::StateCode;
use serde::Serialize;
use ts_rs::TS;

use crate::codes;
use crate::taken_back::TakenBack;

use super::{MessageView, RowView};

/// Live counts by group and state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct CountsView {
    /// A person must act.
    pub needs_attention: u32,
    /// Moves by itself.
    pub in_progress: u32,
    /// Processed by the authority.
    pub completed: u32,
    /// Withdrawn or replaced.
    pub closed: u32,
    /// By state code.
    #[ts(as = "BTreeMap<codes::State, u32>")]
    pub by_state: BTreeMap<StateCode, u32>,
}

/// What waits for a person in the laboratory while practice is in use: codes and counts, nobody's
/// name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct LaboratoryView {
    /// Reports that need a person.
    pub needs_attention: u32,
    /// Notices that nobody has read.
    pub notices: u32,
    /// Sending is paused there.
    pub paused: bool,
    /// It was in use, and does not open: nobody has chosen practice, and nothing of that is told.
    pub closed: bool,
}

/// Numbers of the last days.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct StatisticsView {
    /// Oldest first, one for every day asked for, empty days included.
    pub days: Vec<DayView>,
    /// Of as many days before, by state code.
    #[ts(as = "BTreeMap<codes::State, u32>")]
    pub before: BTreeMap<StateCode, u32>,
    /// From being taken in to completed, of those that are.
    pub pace: Option<PaceView>,
    /// Of these days, those that have a deadline; `None` where none has.
    pub deadlines: Option<ComplianceView>,
    /// Of these days by disease, the most frequent first.
    pub diseases: Vec<DiseaseCountView>,
    /// Why reports need a person now, the most frequent first.
    pub causes: Vec<CauseCountView>,
    /// The report that has been on its way for the longest time.
    pub oldest_open: Option<RowView>,
    /// When the newest report was taken in, ISO instant.
    pub last_received: Option<String>,
}

/// Submissions imported on one day, by the state that they are in now.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct DayView {
    /// Local date, `YYYY-MM-DD`.
    pub date: String,
    /// By state code.
    #[ts(as = "BTreeMap<codes::State, u32>")]
    pub by_state: BTreeMap<StateCode, u32>,
}

/// How reports stand to their deadlines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct ComplianceView {
    /// The authority had them in time.
    pub kept: u32,
    /// The authority had them later. What is completed counts with the time of its end.
    pub late: u32,
    /// The authority does not have them, and the time is over.
    pub overdue: u32,
    /// The authority does not have them, and there is time left.
    pub running: u32,
}

/// How long reports took, in whole seconds.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct PaceView {
    /// Half of them took at most this long.
    pub median: u32,
    /// 95 of 100 took at most this long.
    pub p95: u32,
    /// How many were measured.
    pub reports: u32,
}

/// How often a disease was reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct DiseaseCountView {
    /// Key of the disease; the catalogue has its name.
    pub disease: Option<String>,
    /// What the report itself says, where the disease is not known.
    pub subject: Option<String>,
    /// So many reports.
    pub count: u32,
}

/// How many reports need a person for the same cause.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct CauseCountView {
    /// The leading message of the newest of them.
    pub message: Option<MessageView>,
    /// Where it stands.
    #[ts(as = "codes::State")]
    pub state: StateCode,
    /// As in a row of the list.
    pub taken_back: Option<TakenBack>,
    /// So many reports.
    pub count: u32,
}

/// What was taken in on one day and what became of it, for the file. It names no patient.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct StatementView {
    /// Local date, `YYYY-MM-DD`.
    pub date: String,
    /// When the statement was made, ISO instant.
    pub made: String,
    /// Oldest first.
    pub entries: Vec<StatementEntryView>,
    /// There were more than fit; these are the newest.
    pub is_cut: bool,
    /// Number of the newest event in the journal.
    #[ts(type = "number")]
    pub chain_event: i64,
    /// Its hash, which depends on all events before it; hex.
    pub chain_hash: String,
    /// Version of the program.
    pub version: String,
}

/// One report of a statement.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct StatementEntryView {
    /// Number of the submission.
    #[ts(type = "number")]
    pub id: i64,
    /// Taken in at, ISO instant.
    pub created: String,
    /// First sent at, ISO instant.
    pub sent: Option<String>,
    /// The newest answer kept arrived at, ISO instant.
    pub answered: Option<String>,
    /// Where it stands now.
    #[ts(as = "codes::State")]
    pub state: StateCode,
    /// Key of the disease.
    pub disease: Option<String>,
    /// Leading code.
    pub code: Option<String>,
    /// What the authority of its endpoint is for.
    #[ts(as = "codes::Environment")]
    pub environment: Environment,
    /// Name of its endpoint.
    pub endpoint: String,
    /// Identifier of the document.
    pub document_identifier: Option<String>,
    /// Identifier of the delivery.
    pub identifier: String,
    /// SHA-256 of the document as received, hex.
    pub digest: String,
    /// The authority's id.
    pub receipt: Option<String>,
    /// HTTP status of the newest answer kept.
    pub answer_status: Option<u16>,
    /// SHA-256 of that answer's body, hex.
    pub answer_digest: Option<String>,
    /// The submission that it corrects.
    #[ts(type = "number | null")]
    pub corrects: Option<i64>,
}

// Without the identifiers: they are those of a patient's report.
fhir::shows_only!(StatementEntryView { id, state, endpoint });
