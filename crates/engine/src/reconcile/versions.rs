//! Several versions that a restore has lost went out under one identifier, as at an endpoint that
//! wants the document's: nobody can tell which of them a delivery is. By when each was received a
//! repetition by a gateway, or a clock that was wrong, would tell one of another's outcome. So
//! nothing is entered: they stay lost, and each is asked for when it is handed over again.

use std::collections::BTreeMap;

use client::Authority;
use exchange::Answer;

use super::{ReconcileDeps, known_or_first};
use crate::EngineError;

/// What of this may be entered: what several lost versions have in common is left out.
pub(super) fn unshared<'a, A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    answers: &'a [Answer],
) -> Result<Vec<&'a Answer>, EngineError> {
    if answers.is_empty() {
        return Ok(Vec::new());
    }
    let mut versions: BTreeMap<String, usize> = BTreeMap::new();
    for lost in tools.journal.lost_reports()? {
        if lost.endpoint == tools.endpoint.id() {
            *versions.entry(lost.identifier.to_lowercase()).or_default() += 1;
        }
    }
    versions.retain(|_, count| *count > 1);
    if versions.is_empty() {
        return Ok(answers.iter().collect());
    }
    let mut unshared = Vec::new();
    for answer in answers {
        let identifier = known_or_first(tools.journal, answer)?;
        if identifier.is_none_or(|it| !versions.contains_key(&it.to_lowercase())) {
            unshared.push(answer);
        }
    }
    Ok(unshared)
}
