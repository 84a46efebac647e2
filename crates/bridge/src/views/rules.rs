//! The authority's rules: what another version would change.

use serde::Serialize;
use ts_rs::TS;

use super::{MessageView, RowView};

/// What a package of rules would say of the last reports, beside the rules in use.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct RulesPlanView {
    /// `NAME@VERSION` of what would be used.
    pub package: String,
    /// `NAME@VERSION` of what is in use, if anything is.
    pub in_use: Option<String>,
    /// Reports that both were asked about: the last 1,000 at most, of those whose content is kept.
    pub looked: u32,
    /// Of these, those that would be held for the first time.
    pub refused: u32,
    /// Those that would be held no more.
    pub accepted: u32,
    /// Those that are held by both.
    pub still: u32,
    /// Why those of `refused` would be held, the most frequent first; 20 at most.
    pub reasons: Vec<RulesReasonView>,
    /// The last ones of `refused`, names masked; 20 at most.
    pub reports: Vec<RowView>,
}

/// Why reports would be held.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct RulesReasonView {
    /// As it is found in the first of them.
    pub message: MessageView,
    /// In how many.
    pub reports: u32,
}
