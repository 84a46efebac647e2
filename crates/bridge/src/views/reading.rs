//! A report for reading.

use serde::Serialize;
use ts_rs::TS;

use crate::codes;

/// A part of the report for reading: a resource of the Bundle.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct SectionView {
    /// FHIR resource type, the catalogue has its title.
    pub resource: String,
    /// FHIRPath of the resource.
    pub expression: String,
    /// Fields in reading order.
    pub fields: Vec<FieldView>,
}

/// One field of a section.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct FieldView {
    /// Stable key, e.g. `patient.name`; the catalogue has its label. `other` where there is none.
    #[ts(as = "codes::FieldKey")]
    pub key: String,
    /// Path in the resource, for `other`.
    pub label: Option<String>,
    /// Serves machines and support: shown on request.
    pub technical: bool,
    /// Value in words.
    pub value: String,
    /// What of the value is a code's, in its order.
    pub coded: Vec<CodedView>,
    /// Code or raw value behind it.
    pub detail: Option<String>,
    /// Where the field stands, as FHIRPath.
    pub expression: String,
    /// Line in the source.
    pub line: u32,
}

/// What a report calls a code, and how a reader of another language finds words for it.
#[derive(Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct CodedView {
    /// What stands in the value.
    pub own: String,
    /// The report has no words for the code: these are ours, or the code itself.
    pub is_ours: bool,
    /// Id of the catalogue, e.g. `snomed.119339001`: the reader's word, where it has one.
    pub id: String,
}
