//! How much is asked for at once where the authority asks for patience before a comparison is
//! through: half as much the next time, so that what follows has its turn, and twice as much after
//! each time that all of it was answered.

use client::Authority;
use journal::JournalError;

use super::ReconcileDeps;
use crate::EngineError;

/// What is asked for in numbers.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// Deliveries, one by one.
    Deliveries,
    /// Documents, between two looks whether the authority shows anything of ours.
    Documents,
}

/// Setting of each endpoint, by its id: how much was asked for at most.
fn setting(kind: Kind, endpoint: &str) -> String {
    match kind {
        Kind::Deliveries => format!("deliveries-at-once:{endpoint}"),
        Kind::Documents => format!("documents-at-once:{endpoint}"),
    }
}

/// So many may be asked for at once, of `most`; one at least.
pub(super) fn at_once<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    kind: Kind,
    most: usize,
) -> Result<usize, JournalError> {
    let known = tools.journal.setting(&setting(kind, tools.endpoint.id()))?;
    let known = known.and_then(|known| known.as_u64()).and_then(|it| usize::try_from(it).ok());
    Ok(known.map_or(most, |known| known.clamp(1, most)))
}

/// All that was asked for at once, of `most`, was answered: it may be twice as much from now on.
pub(super) fn was_answered<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    kind: Kind,
    most: usize,
) -> Result<(), JournalError> {
    match at_once(tools, kind, most)? {
        known if known < most => {
            let name = setting(kind, tools.endpoint.id());
            tools.journal.set_setting(&name, known.saturating_mul(2).min(most).into())
        }
        _ => Ok(()),
    }
}

/// Patience was asked for after so many: half of that may be asked for at once from now on.
pub(super) fn was_put_off<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    kind: Kind,
    questions: usize,
) -> Result<(), JournalError> {
    let half = (questions / 2).max(1);
    tools.journal.set_setting(&setting(kind, tools.endpoint.id()), half.into())
}

/// Whether somebody answered that it is to be asked again later.
pub(super) fn asks_for_patience(fault: &EngineError) -> bool {
    let EngineError::Exchange(answered) = fault else { return false };
    answered.evidence().is_some() && answered.asks_for_patience()
}
