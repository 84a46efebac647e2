//! One decision for many reports. Each is decided by itself: what cannot be done for one keeps no
//! other back, and all of them are told.

use std::sync::atomic::{AtomicUsize, Ordering};

use engine::{Engine, EngineError};
use futures::{StreamExt as _, stream};
use report::{Action, StateCode, SubmissionId};
use serde::Deserialize;
use ts_rs::TS;

use super::Desk;
use super::pace::Pace;
use crate::limits;
use crate::problem::Problem;
use crate::views::{DecidedView, RefusedView};

/// Reports decided side by side: reading them is the work, and the journal writes them together.
const AT_ONCE: usize = 8;
/// Reports held back side by side. That is one small step each, and while the last ones wait for
/// theirs they may leave.
const HELD_BACK_AT_ONCE: usize = 64;

/// What is decided for many reports at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
#[ts(export)]
#[allow(missing_docs, reason = "the names are those of the actions")]
pub enum Decision {
    Resubmit,
    Release,
    HoldBack,
    Withdraw,
    NotReportable,
}

impl Desk {
    /// Does the same for many reports; says for which it was done, and for which not and why. What
    /// is sent by it leaves after the time for undoing it: `hold_back` undoes it. `reason` is kept
    /// where reports are sent although something was found, or are not sent at all. What is not
    /// reportable is not reportable in any version: what a report corrects is withdrawn with it.
    pub async fn decide(
        &self,
        ids: Vec<i64>,
        decision: Decision,
        reason: String,
    ) -> Result<DecidedView, Problem> {
        limits::ids(&ids)?;
        let reason = match decision {
            Decision::Release | Decision::Withdraw | Decision::NotReportable => {
                limits::reason(&reason)?
            }
            Decision::Resubmit | Decision::HoldBack => String::new(),
        };
        let engine = self.engine();
        let pace = Pace::new(self.undo_micros().await?);
        let (total, done) = (ids.len(), AtomicUsize::new(0));
        let decide = async |id: i64| {
            let (submission, reason) = (SubmissionId(id), reason.clone());
            let ordered = done.load(Ordering::Relaxed);
            let delay = pace.delay(ordered, total - ordered);
            let sent = match decision {
                Decision::Resubmit => Some(engine.resubmit_after(submission, delay).await?.0),
                Decision::Release => {
                    engine.release_after(submission, reason, delay).await?;
                    Some(id)
                }
                Decision::HoldBack => {
                    engine.hold_back(submission).await?;
                    None
                }
                Decision::Withdraw => {
                    engine.withdraw(submission, reason).await?;
                    None
                }
                Decision::NotReportable => {
                    withdraw_with_earlier(&engine, submission, &reason).await?;
                    None
                }
            };
            Ok::<_, EngineError>(sent)
        };
        let decide = async |id: i64| {
            let decided = decide(id).await;
            done.fetch_add(1, Ordering::Relaxed);
            decided
        };
        let decided = stream::iter(ids).map(|id| async move { (id, decide(id).await) });
        // One version after the other: what was withdrawn with another is done.
        let at_once = match decision {
            Decision::NotReportable => 1,
            Decision::HoldBack => HELD_BACK_AT_ONCE,
            Decision::Resubmit | Decision::Release | Decision::Withdraw => AT_ONCE,
        };
        let decided: Vec<_> = decided.buffered(at_once).collect().await;
        let mut view = DecidedView { done: Vec::new(), sent: Vec::new(), refused: Vec::new() };
        for (id, outcome) in decided {
            match outcome {
                Ok(sent) => {
                    view.done.push(id);
                    view.sent.extend(sent);
                }
                Err(error) => refuse(&mut view.refused, id, error.into()),
            }
        }
        view.refused.sort_by_key(|refused| std::cmp::Reverse(refused.ids.len()));
        Ok(view)
    }
}

/// Stops what waits to be sent. Says of which reports that could be done, and what was in the way
/// of the first other one.
pub(super) async fn held_back(engine: &Engine, ids: Vec<i64>) -> (Vec<i64>, Option<EngineError>) {
    let (mut held, mut first) = (Vec::with_capacity(ids.len()), None);
    let stopped = stream::iter(ids)
        .map(|id| async move { (id, engine.hold_back(SubmissionId(id)).await) })
        .buffered(HELD_BACK_AT_ONCE);
    let mut stopped = std::pin::pin!(stopped);
    while let Some((id, outcome)) = stopped.next().await {
        // One that has left already does not keep the others from being held back.
        match outcome {
            Ok(()) => held.push(id),
            Err(error) => {
                first.get_or_insert(error);
            }
        }
    }
    (held, first)
}

/// Withdraws a report, and each in whose place it came that would wait for a person again. What is
/// withdrawn already stays so.
async fn withdraw_with_earlier(
    engine: &Engine,
    id: SubmissionId,
    reason: &str,
) -> Result<(), EngineError> {
    let row = engine.journal().row(id)?;
    if row.state.shown() != StateCode::Withdrawn {
        engine.withdraw(id, reason.to_owned()).await?;
    }
    let mut earlier = row.corrects;
    while let Some(id) = earlier {
        let row = engine.journal().row(id)?;
        if row.actions(engine.now()).contains(&Action::Withdraw) {
            engine.withdraw(id, reason.to_owned()).await?;
        } else if row.state.shown() != StateCode::Withdrawn {
            break;
        }
        earlier = row.corrects;
    }
    Ok(())
}

/// The number of the report is what differs between problems that are the same.
fn refuse(all: &mut Vec<RefusedView>, id: i64, mut problem: Problem) {
    let own = id.to_string();
    problem.params.retain(|name, value| name != "id" || *value != own);
    match all.iter_mut().find(|known| known.problem == problem) {
        Some(known) => known.ids.push(id),
        None => all.push(RefusedView { problem, ids: vec![id] }),
    }
}
