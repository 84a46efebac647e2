//! How far reports are that were sent together. Counted from the journal, report by report: a page
//! of the list says nothing of what is not on it.

use std::collections::{BTreeMap, BTreeSet};

use engine::Engine;
use fhir::Instant;
use journal::Row;
use report::{Group, State, StateCode, SubmissionId};

use super::{Desk, on_pool};
use crate::causes::key_of;
use crate::limits;
use crate::messages::leading;
use crate::problem::Problem;
use crate::rows::small;
use crate::taken_back::{said, stands_as};
use crate::views::BatchView;

impl Desk {
    /// How far reports are that were sent together; each stands for its latest correction.
    pub async fn batch(&self, ids: Vec<i64>) -> Result<BatchView, Problem> {
        limits::ids(&ids)?;
        let engine = self.engine();
        on_pool(move || batch(&engine, &ids)).await?
    }
}

fn batch(engine: &Engine, ids: &[i64]) -> Result<BatchView, Problem> {
    let (journal, now) = (engine.journal(), engine.now());
    let mut by_state: BTreeMap<StateCode, u32> = BTreeMap::new();
    let (mut waiting, mut attention, mut causes) = (Vec::new(), Vec::new(), BTreeSet::new());
    let (mut moving, mut completed, mut closed) = (0, 0, 0);
    let mut undo_until: Option<Instant> = None;
    let mut begun: Option<Instant> = None;
    for id in ids {
        let row = latest(engine, SubmissionId(*id))?;
        *by_state.entry(row.state.shown()).or_default() += 1;
        match row.state.group(now) {
            Group::InProgress => moving += 1,
            Group::Completed => completed += 1,
            Group::Closed => closed += 1,
            // Nobody is asked about it: it is sent once the authority turns out not to have it.
            Group::NeedsAttention if journal.goes_by_itself(row.id)? => moving += 1,
            Group::NeedsAttention => {
                attention.push(row.id.0);
                let (messages, taken_back) = said(journal, &row)?;
                let leading = leading(row.state.shown(), &messages);
                causes.insert(key_of(leading, stands_as(row.state.shown(), taken_back)));
            }
        }
        if let State::Queued { attempt: 0, due, .. } = row.state {
            waiting.push(row.id.0);
            undo_until = Some(undo_until.map_or(due, |known| known.min(due)));
        } else {
            begun = Some(begun.map_or(row.created, |known| known.min(row.created)));
        }
    }
    let settled = completed + closed + small(attention.len() as u64);
    // Before the first may leave there is nothing to reckon with, and afterwards the time for
    // undoing it is part of the time that it has taken: that is corrected soon, and never promises
    // too much.
    let seconds_left = match begun {
        Some(begun) if settled > 0 && moving > 0 => {
            let spent = now.0.saturating_sub(begun.0) / 1_000_000;
            Some(small((spent.max(1) as u64) * u64::from(moving) / u64::from(settled)))
        }
        _ => None,
    };
    Ok(BatchView {
        total: small(ids.len() as u64),
        by_state,
        moving,
        completed,
        closed,
        causes: small(causes.len() as u64),
        seconds_left,
        undo_until: undo_until.filter(|until| *until > now).map(Instant::to_fhir),
        waiting,
        attention,
    })
}

/// The submission that stands for this one now: itself, or the last of its corrections.
pub(super) fn latest(engine: &Engine, id: SubmissionId) -> Result<Row, Problem> {
    let mut row = engine.journal().row(id)?;
    while let Some(next) = row.corrected_by {
        row = engine.journal().row(next)?;
    }
    Ok(row)
}
