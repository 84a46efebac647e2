//! How much is asked for at once where the authority asks for patience before a comparison is
//! through: half as much the next time, so that what follows has its turn, and twice as much after
//! each time that all of it was answered.

use client::Authority;
use fhir::Instant;
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

/// Patience was asked for after so many: half of that may be asked for at once from now on. After
/// none it was not for their number.
pub(super) fn was_put_off<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    kind: Kind,
    questions: usize,
) -> Result<(), JournalError> {
    if questions == 0 {
        return Ok(());
    }
    let half = (questions / 2).max(1);
    tools.journal.set_setting(&setting(kind, tools.endpoint.id()), half.into())
}

/// After so long in which nothing that waits was decided, because patience was asked for each time,
/// a person may decide.
const PATIENCE_SECONDS: i64 = 3_600;
/// Setting of each endpoint, by its id: since when that is so.
const PUT_OFF_SINCE: &str = "put-off-since:";

/// Does what ends by deciding what waits. Where so few questions are answered that it never gets
/// there, what waits would wait for ever: then a person may release it.
pub(super) async fn patiently<A: Authority, T>(
    tools: &ReconcileDeps<'_, A>,
    deciding: impl Future<Output = Result<T, EngineError>>,
) -> Result<T, EngineError> {
    let endpoint = tools.endpoint.id();
    let waiting = tools.journal.guarded(endpoint)?.len();
    let decided = deciding.await;
    let name = format!("{PUT_OFF_SINCE}{endpoint}");
    let since = tools.journal.setting(&name)?.and_then(|since| since.as_i64());
    let left = tools.journal.guarded(endpoint)?.len();
    if decided.is_ok() || left < waiting || left == 0 {
        if since.is_some() {
            tools.journal.set_setting(&name, serde_json::Value::Null)?;
        }
    } else if decided.as_ref().is_err_and(asks_for_patience) {
        let now = tools.clock.now();
        // A clock that was set back begins anew, and so does a restore.
        let from = tools.journal.forgotten()?.map_or(i64::MIN, |forgotten| forgotten.restored.0);
        match since.filter(|since| (from..=now.0).contains(since)).map(Instant) {
            None => tools.journal.set_setting(&name, now.0.into())?,
            Some(since) if since.plus_seconds(PATIENCE_SECONDS) > now => {}
            Some(_) => tools.journal.asked_in_vain(endpoint)?,
        }
    }
    decided
}

/// Whether somebody answered that it is to be asked again later.
pub(super) fn asks_for_patience(fault: &EngineError) -> bool {
    let EngineError::Exchange(answered) = fault else { return false };
    answered.evidence().is_some() && answered.asks_for_patience()
}
