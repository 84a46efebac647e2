//! What another package of rules would change, before it is used.

use serde::Serialize;

use super::Headless;
use crate::packages::{Plan, Reason};
use crate::problem::Problem;
use crate::record::IssueRecord;
use crate::rows::small;

/// What a package says of the last reports, beside the rules in use.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RulesChange {
    /// `NAME@VERSION` of what is in use so far, if anything is.
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
    pub reasons: Vec<RulesReason>,
    /// Numbers of the last ones of `refused`; 20 at most.
    pub reports: Vec<i64>,
}

/// Why reports would be held.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct RulesReason {
    /// As it is found in the first of them.
    pub issue: IssueRecord,
    /// In how many.
    pub reports: u32,
}

fhir::shows_only!(RulesChange { in_use, looked, refused, accepted, still, reports });
fhir::shows_only!(RulesReason { reports });

impl Headless {
    /// What a package (`NAME@VERSION`) would change over the last reports.
    pub fn change_of_rules(&self, package: &str) -> Result<RulesChange, Problem> {
        let plan = Plan::of(&self.engine, package.to_owned())?;
        let reports = plan.told().map(|row| row.id.0).collect();
        let seen = plan.seen;
        let reason = |of: Reason| RulesReason { issue: of.issue, reports: of.reports };
        Ok(RulesChange {
            in_use: plan.in_use,
            looked: small(seen.looked as u64),
            refused: small(seen.refused.len() as u64),
            accepted: small(seen.accepted as u64),
            still: small(seen.still as u64),
            reasons: seen.reasons.into_iter().map(reason).collect(),
            reports,
        })
    }
}
