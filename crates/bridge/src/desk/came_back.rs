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

/// Corrected reports that are looked at, the newest: what is asked at each look at the causes must
/// not cost more with every year. Older corrections of a laboratory that corrected this many since
/// say nothing about how reports are written today.
const CORRECTED_MAX: usize = 10_000;

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
        on_pool(move || came_back(&engine, ids, &desk.inner.causes, CORRECTED_MAX)).await?
    }
}

fn came_back(
    engine: &Engine,
    ids: Vec<i64>,
    known: &Causes,
    most: usize,
) -> Result<Vec<CameBackView>, Problem> {
    let mut asked = Vec::with_capacity(ids.len());
    for id in ids {
        match engine.journal().row(SubmissionId(id)) {
            Ok(row) => asked.push((cause_of(engine, &row)?, row)),
            Err(JournalError::NotFound(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let corrected = last_corrected(engine, known, most)?;
    let view = |(cause, row): (Option<Cause>, Row)| {
        let last = corrected.get(&cause?).filter(|last| **last < row.created)?;
        Some(CameBackView { id: row.id.0, corrected: last.to_fhir() })
    };
    Ok(asked.into_iter().filter_map(view).collect())
}

/// When a report with each cause was corrected last, of the newest that a correction has replaced,
/// so many at most.
fn last_corrected(
    engine: &Engine,
    known: &Causes,
    most: usize,
) -> Result<HashMap<Cause, Instant>, Problem> {
    let filter =
        Filter { states: vec![StateCode::Superseded], now: engine.now(), ..Filter::default() };
    let (mut last, mut before, mut left) = (HashMap::new(), None, most);
    while left > 0 {
        let limit = PART.min(left);
        let rows = engine.journal().list(&Filter { before, limit, ..filter.clone() })?;
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
        left -= rows.len();
        if rows.len() < limit {
            break;
        }
    }
    Ok(last)
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

#[cfg(test)]
mod tests {
    use testkit::DocumentBuilder;

    use super::*;
    use crate::KnownContent;

    /// Takes in a report with the same error, and corrects it.
    async fn corrected(desk: &Desk, root: &std::path::Path, number: u64) -> i64 {
        let text = DocumentBuilder::new(number).json();
        let file = root.join(format!("{number}.json"));
        std::fs::write(&file, text.replacen("\"final\"", "\"finnal\"", 1)).unwrap();
        let intake = desk.send_files(vec![file.display().to_string()], KnownContent::Show).await;
        let id = intake.unwrap().submissions[0].unwrap();
        desk.correct_with_text(id, text).await.unwrap();
        id
    }

    /// However many were corrected, so many are read, and these are the newest.
    #[tokio::test(flavor = "multi_thread")]
    async fn only_the_newest_corrected_reports_are_looked_at() {
        let root = tempfile::tempdir().unwrap();
        let desk = Desk::open(&root.path().join("home")).await.unwrap();
        desk.set_paused(true).await.unwrap();
        let mut ids = Vec::new();
        for number in 1..=3 {
            ids.push(corrected(&desk, root.path(), number).await);
        }
        for (most, read) in [(0, 0), (2, 2), (3, 3), (4, 3)] {
            let known = Causes::default();
            let last = last_corrected(&desk.engine(), &known, most).unwrap();
            assert_eq!(last.len(), read.min(1), "they have one cause");
            let mut seen: Vec<i64> = known.lock().keys().map(|id| id.0).collect();
            seen.sort_unstable();
            assert_eq!(seen, ids[ids.len() - read..], "{most}");
        }
    }
}
