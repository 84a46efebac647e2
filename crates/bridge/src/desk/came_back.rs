//! Causes that come back: reports with one were corrected, and later another came in with it. The
//! error is then made anew where reports are written, which people want to know.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

use engine::Engine;
use fhir::Instant;
use journal::{Filter, JournalError, Row};
use report::{StateCode, SubmissionId};

use super::{Desk, on_pool};
use crate::causes::key_of;
use crate::limits;
use crate::messages::leading;
use crate::problem::Problem;
use crate::views::CameBackView;

/// Rows read at a time: the most that the journal gives.
const PART: usize = 1_000;

/// The cause of each corrected report that was looked at before, with the time of its last event:
/// where that is the same, its messages are too, and need not be read again. A report of another
/// room with the same number has another time.
#[derive(Default)]
pub(super) struct Causes(Mutex<HashMap<SubmissionId, (Instant, Cause)>>);

/// Reports with the same cause have the same number.
type Cause = u64;

impl Causes {
    fn lock(&self) -> MutexGuard<'_, HashMap<SubmissionId, (Instant, Cause)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Desk {
    /// For each of these reports whose cause has come back: when a report with that cause was
    /// corrected last. It was before this one came in.
    pub async fn came_back(&self, ids: Vec<i64>) -> Result<Vec<CameBackView>, Problem> {
        limits::ids(&ids)?;
        let (engine, desk) = (self.engine(), self.clone());
        on_pool(move || came_back(&engine, ids, &desk.inner.causes)).await?
    }
}

fn came_back(engine: &Engine, ids: Vec<i64>, known: &Causes) -> Result<Vec<CameBackView>, Problem> {
    let mut asked = Vec::with_capacity(ids.len());
    for id in ids {
        match engine.journal().row(SubmissionId(id)) {
            Ok(row) => asked.push((cause_of(engine, &row)?, row)),
            Err(JournalError::NotFound(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let corrected = last_corrected(engine, known)?;
    let view = |(cause, row): (Option<Cause>, Row)| {
        let last = corrected.get(&cause?).filter(|last| **last < row.created)?;
        Some(CameBackView { id: row.id.0, corrected: last.to_fhir() })
    };
    Ok(asked.into_iter().filter_map(view).collect())
}

/// When a report with each cause was corrected last, of all that a correction has replaced.
fn last_corrected(engine: &Engine, known: &Causes) -> Result<HashMap<Cause, Instant>, Problem> {
    let states = vec![StateCode::Superseded];
    let filter = Filter { states, limit: PART, now: engine.now(), ..Filter::default() };
    let (mut last, mut before) = (HashMap::new(), None);
    loop {
        let rows = engine.journal().list(&Filter { before, ..filter.clone() })?;
        for row in &rows {
            let told = known.lock().get(&row.id).filter(|(at, _)| *at == row.updated).copied();
            let cause = match told {
                Some((_, cause)) => Some(cause),
                None => cause_of(engine, row)?,
            };
            let Some(cause) = cause else { continue };
            known.lock().insert(row.id, (row.updated, cause));
            let latest = last.entry(cause).or_insert(row.updated);
            *latest = row.updated.max(*latest);
        }
        before = rows.last().map(|row| row.id);
        if rows.len() < PART {
            return Ok(last);
        }
    }
}

/// A report of which nothing is said has no cause that others could share.
fn cause_of(engine: &Engine, row: &Row) -> Result<Option<Cause>, JournalError> {
    let messages = engine.journal().messages(row.id)?;
    let state = row.state.shown();
    let cause = leading(state, &messages).map(|message| {
        let mut hasher = DefaultHasher::new();
        key_of(Some(message), state.code()).hash(&mut hasher);
        hasher.finish()
    });
    Ok(cause)
}
