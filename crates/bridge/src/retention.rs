//! For how long the journal keeps the content of settled reports, whoever says so.

use engine::Engine;

use crate::problem::Problem;

/// The longest rule, in days; the shortest is one, because none would erase what was sent a moment
/// ago.
pub(crate) const DAYS_MAX: u32 = 36_500;

/// Keeps the rule, or none, and applies it at once; gives how many reports have lost their content.
pub(crate) async fn set(engine: &Engine, days: Option<u32>) -> Result<usize, Problem> {
    engine.change_settings(|settings| {
        settings.retention_days = days;
        Ok(())
    })?;
    Ok(engine.apply_retention().await?)
}
