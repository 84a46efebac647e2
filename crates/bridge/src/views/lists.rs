//! Lists: counts at their filters, what may be done with chosen reports, and views that a
//! laboratory keeps.

use std::collections::BTreeMap;

use exchange::Processing;
use report::{Action, Group, StateCode};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{DiseaseCountView, MessageView, Problem, RowView};
use crate::codes;

/// What each filter of a list would leave, beside the search and the period that are in force.
#[derive(Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct ListCountsView {
    /// By group, of the states that are asked for, whatever group is.
    #[ts(as = "BTreeMap<codes::Group, u32>")]
    pub groups: BTreeMap<Group, u32>,
    /// By state within the group that is asked for.
    #[ts(as = "BTreeMap<codes::State, u32>")]
    pub states: BTreeMap<StateCode, u32>,
    /// Laboratories of the group and states that are asked for, the one with most reports first.
    pub laboratories: Vec<LaboratoryCountView>,
    /// What these are about, the most first.
    pub diseases: Vec<DiseaseCountView>,
    /// How they stand to their deadlines, those of them that have one.
    #[ts(as = "BTreeMap<codes::Timeliness, u32>")]
    pub timeliness: BTreeMap<&'static str, u32>,
    /// Only the newest reports were counted by group: there are at least so many.
    pub at_least: bool,
    /// So many, the newest, were counted by everything else, where there are more: the journal
    /// counts all by group alone.
    pub choices_counted: Option<u32>,
}

/// By when reports have to be with the authority.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct DeadlinesView {
    /// The table of this room.
    pub deadlines: Vec<DeadlineView>,
    /// Keys of all diseases that can be in it.
    #[ts(as = "Vec<codes::Disease>")]
    pub diseases: Vec<String>,
    /// It is the made-up one of practice.
    pub is_example: bool,
}

/// One row of the table: a disease and its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(export)]
pub struct DeadlineView {
    /// Key of the disease.
    #[ts(as = "codes::Disease")]
    pub disease: String,
    /// Hours from the date of the report.
    pub hours: u32,
}

/// What reports are about: a known disease, else what they say themselves, else nothing.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(export)]
pub struct AboutView {
    /// Key of the disease; the catalogue has its name.
    #[ts(as = "Option<codes::Disease>")]
    pub disease: Option<String>,
    /// The words of the reports, where the disease is not known.
    pub subject: Option<String>,
}

/// A laboratory and how many reports it has in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct LaboratoryCountView {
    /// Its name, as the reports have it.
    pub name: String,
    /// Number of reports of this laboratory.
    pub count: u32,
}

/// What may be done with chosen reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct ChosenView {
    /// Reports that are there.
    pub count: u32,
    /// For how many of them an action is possible now.
    #[ts(as = "BTreeMap<codes::Action, u32>")]
    pub actions: BTreeMap<Action, u32>,
    /// Which of those have a correction that somebody has begun: it would be lost by the action.
    #[ts(as = "BTreeMap<codes::Action, Vec<u32>>")]
    pub drafts: BTreeMap<Action, Vec<i64>>,
    /// Those that were taken back before they left and only have to be let go: they are sent after
    /// all without a reason.
    #[ts(type = "number[]")]
    pub taken_back: Vec<i64>,
}

/// What became of one decision for many reports: each of them is in one of the two lists.
#[derive(Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct DecidedView {
    /// Reports for which it was done.
    #[ts(type = "number[]")]
    pub done: Vec<i64>,
    /// What is on its way because of it: these reports, or those that take their place.
    #[ts(type = "number[]")]
    pub sent: Vec<i64>,
    /// Reports for which it was not done, by why; the most frequent reason first.
    pub refused: Vec<RefusedView>,
}

/// Reports for which something could not be done, and why.
#[derive(Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct RefusedView {
    /// Why. What differs from report to report is left out.
    pub problem: Problem,
    /// Identifiers of the reports that were refused.
    #[ts(type = "number[]")]
    pub ids: Vec<i64>,
}

/// A view that a laboratory keeps: the filters of the list of reports under a name. A search may be
/// the name of a patient, so it stands in the encrypted journal and nowhere else.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(export)]
pub struct SavedView {
    /// Name; there is one view of a name.
    pub name: String,
    /// Group code, or all.
    #[ts(as = "Option<codes::Group>")]
    pub group: Option<String>,
    /// State codes, or all.
    #[ts(as = "Vec<codes::State>")]
    pub states: Vec<String>,
    /// The words that are searched for.
    pub search: String,
    /// The time that it covers.
    #[ts(as = "codes::Period")]
    pub period: String,
    /// Laboratory, or all.
    pub laboratory: Option<String>,
    /// What the reports are about, or all.
    pub about: Option<AboutView>,
    /// How they stand to their deadline, or all.
    #[ts(as = "Option<codes::Timeliness>")]
    pub timeliness: Option<String>,
    /// Column that it is sorted by; `None`: the newest first.
    #[ts(as = "Option<codes::SortColumn>")]
    pub sort: Option<String>,
    /// The smallest first.
    pub ascending: bool,
}

/// What the authority is asked for.
#[derive(Clone, Default, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(export)]
pub struct AskQuery {
    /// An identifier of the report or of its document, or the authority's number; `None` for all.
    pub identifier: Option<String>,
    /// Processing status, or all.
    #[ts(as = "Option<codes::Processing>")]
    pub status: Option<String>,
    /// First day, `2026-11-22`.
    pub from: Option<String>,
    /// Last day.
    pub until: Option<String>,
    /// The report of ours that it is about: asked is the authority that it went to, and as it was
    /// sent there.
    #[ts(type = "number | null")]
    pub report: Option<i64>,
}

fhir::shows_only!(AskQuery { status, from, until, report });

/// What the authority shows to our certificate: one page.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct AskedView {
    /// Name of the endpoint that was asked.
    pub endpoint: String,
    /// How many there are in all, where it says so.
    pub total: Option<u32>,
    /// In the order given.
    pub hits: Vec<HitView>,
    /// What it says of the question itself.
    pub messages: Vec<MessageView>,
    /// Entries that could not be read.
    pub unreadable: u32,
    /// Names the next page, where there is one.
    pub further: Option<u32>,
}

fhir::shows_only!(AskedView { endpoint, total, unreadable, further });

/// A report at the authority.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct HitView {
    /// The authority's number.
    pub id: Option<String>,
    /// Processing status.
    #[ts(as = "Option<codes::Processing>")]
    pub status: Option<Processing>,
    /// All identifiers.
    pub identifiers: Vec<String>,
    /// Created, ISO instant.
    pub date: Option<String>,
    /// Changed last, ISO instant.
    pub last_updated: Option<String>,
    /// The authority's messages.
    pub messages: Vec<MessageView>,
    /// The report of ours that it is; nothing where it was sent from elsewhere.
    pub row: Option<RowView>,
}

fhir::shows_only!(HitView { id, status, date, last_updated });
