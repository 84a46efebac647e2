//! For how long the journal keeps the content of settled reports, whoever says so: what a rule
//! would erase, and keeping the rule.

use engine::Engine;
use fhir::Instant;

use crate::problem::Problem;

/// The longest rule, in days; the shortest is one, because none would erase what was sent a moment
/// ago.
pub(crate) const DAYS_MAX: u32 = 36_500;

const DAY_SECONDS: i64 = 86_400;

/// Before when a report must have been settled for its content to leave the journal now.
pub(crate) fn before(now: Instant, days: u32) -> Instant {
    now.plus_seconds(-i64::from(days) * DAY_SECONDS)
}

/// Keeps the rule, or none, and applies it at once; gives how many reports have lost their content.
pub(crate) async fn set(engine: &Engine, days: Option<u32>) -> Result<usize, Problem> {
    engine.change_settings(|settings| {
        settings.retention_days = days;
        Ok(())
    })?;
    Ok(engine.apply_retention().await?)
}
