//! How much is asked for at once where the authority asks for patience before a comparison is
//! through: half as much the next time, so that what follows has its turn, and twice as much after
//! each time that all of it was answered.

use client::Authority;
use fhir::Instant;
use journal::JournalError;

use super::{ReconcileDeps, is_answered};
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
/// The same, whatever was in the way: access that is lost, or a way that is broken, may be mended
/// within hours, and what a person has released by then would go unasked.
const SILENCE_SECONDS: i64 = 24 * 3_600;
/// Where more lies between two looks that met it, it begins anew: a computer that was off has seen
/// nothing.
const PATIENCE_GAP_SECONDS: i64 = 2 * 3_600;
const SILENCE_GAP_SECONDS: i64 = 36 * 3_600;
/// Settings of each endpoint, by its id: since when that is so.
const PUT_OFF_SINCE: &str = "put-off-since:";
const SILENT_SINCE: &str = "silent-since:";

/// Does what ends by deciding what waits. Where so few questions are answered that it never gets
/// there, what waits would wait for ever: then a person may release it.
pub(super) async fn patiently<A: Authority, T>(
    tools: &ReconcileDeps<'_, A>,
    deciding: impl Future<Output = Result<T, EngineError>>,
) -> Result<T, EngineError> {
    let endpoint = tools.endpoint.id();
    let waiting = tools.journal.guarded(endpoint)?.len();
    let decided = deciding.await;
    let left = tools.journal.guarded(endpoint)?.len();
    if left < waiting || decided.is_ok() {
        ends(tools, PUT_OFF_SINCE)?;
        ends(tools, SILENT_SINCE)?;
    } else if let Err(fault @ EngineError::Exchange(_)) = &decided {
        let is_silent = lasts(tools, SILENT_SINCE, SILENCE_SECONDS, SILENCE_GAP_SECONDS)?;
        let is_put_off = asks_for_patience(fault)
            && lasts(tools, PUT_OFF_SINCE, PATIENCE_SECONDS, PATIENCE_GAP_SECONDS)?;
        if is_silent || is_put_off {
            tools.journal.asked_in_vain(endpoint)?;
        }
    }
    decided
}

/// Whether something has been so for so long, seen again and again without such a gap; it begins
/// now where it was not so before.
fn lasts<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    since: &str,
    seconds: i64,
    gap_seconds: i64,
) -> Result<bool, JournalError> {
    let name = format!("{since}{}", tools.endpoint.id());
    let now = tools.clock.now();
    // A clock that was set back begins anew, and so does a restore, unless that was ahead.
    let restored = tools.journal.forgotten()?.map(|forgotten| forgotten.restored);
    let from = restored.filter(|restored| *restored <= now).map_or(i64::MIN, |it| it.0);
    let kept = tools.journal.setting(&name)?.unwrap_or_default();
    let known = |field: &str| {
        let known = kept[field].as_i64().filter(|known| (from..=now.0).contains(known));
        known.map(Instant)
    };
    let since = match (known("since"), known("seen")) {
        (Some(since), Some(seen)) if seen.plus_seconds(gap_seconds) >= now => since,
        _ => now,
    };
    tools.journal.set_setting(&name, serde_json::json!({ "since": since.0, "seen": now.0 }))?;
    Ok(since.plus_seconds(seconds) <= now)
}

/// Whether nothing was answered at the last look. Then it is asked again also where nothing waits:
/// else what comes next would wait for as long again, or not at all where it is answered by now.
pub(super) fn was_silent<A: Authority>(tools: &ReconcileDeps<'_, A>) -> Result<bool, JournalError> {
    let kept = tools.journal.setting(&format!("{SILENT_SINCE}{}", tools.endpoint.id()))?;
    Ok(kept.is_some_and(|kept| !kept.is_null()))
}

/// It is so no longer.
fn ends<A: Authority>(tools: &ReconcileDeps<'_, A>, since: &str) -> Result<(), JournalError> {
    let name = format!("{since}{}", tools.endpoint.id());
    match tools.journal.setting(&name)? {
        Some(known) if !known.is_null() => {
            tools.journal.set_setting(&name, serde_json::Value::Null)
        }
        _ => Ok(()),
    }
}

/// Whether a question ended without any answer.
pub(super) fn has_no_answer(fault: &EngineError) -> bool {
    matches!(fault, EngineError::Exchange(fault) if fault.evidence().is_none())
        && !is_answered(fault)
}

/// Whether a fault may be that of one question alone, as a look whether the way is free shows.
pub(super) fn may_be_alone(fault: &EngineError) -> bool {
    asks_for_patience(fault) || has_no_answer(fault)
}

/// Whether somebody answered that it is to be asked again later.
pub(super) fn asks_for_patience(fault: &EngineError) -> bool {
    let EngineError::Exchange(answered) = fault else { return false };
    answered.evidence().is_some() && answered.asks_for_patience()
}
