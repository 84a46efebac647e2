//! By when a report has to be with the authority. The law says it, and differs from place to place:
//! a laboratory enters its own table, which begins empty. Practice has an example.

use std::collections::BTreeMap;

use engine::Engine;
use fhir::Instant;
use journal::{Figure, JournalError, Row};
use report::diseases;
use report::{State, StateCode};

use super::narrowing::About;
use super::{Desk, on_pool};
use crate::limits;
use crate::problem::Problem;
use crate::timeliness::Timeliness;
use crate::views::{DeadlineView, DeadlinesView};

/// Setting of the journal under which the table stands.
const DEADLINES: &str = "deadlines";
/// The longest deadline: a year, in hours.
const HOURS_MAX: u32 = 366 * 24;
/// Shown in practice until another table is entered. The numbers are made up.
const EXAMPLE: [(&str, u32); 6] = [
    ("covid-19", 24),
    ("gonorrhoea", 168),
    ("legionellosis", 168),
    ("malaria", 168),
    ("measles", 24),
    ("meningococcal", 24),
];
/// States in which the authority has not taken the report: the clock runs.
pub(super) const RUNNING: [StateCode; 6] = [
    StateCode::Held,
    StateCode::Queued,
    StateCode::Sending,
    StateCode::Unknown,
    StateCode::Rejected,
    StateCode::Failed,
];

/// Hours by the key of a disease.
#[derive(Default)]
pub(super) struct Deadlines(BTreeMap<String, u32>);

impl Deadlines {
    /// The table of the room that this engine serves. What cannot be read counts as none.
    pub(super) fn of(engine: &Engine) -> Result<Self, JournalError> {
        let kept = engine.journal().setting(DEADLINES)?;
        let kept = kept.and_then(|kept| serde_json::from_value::<BTreeMap<String, u32>>(kept).ok());
        let example = || {
            let rows = EXAMPLE.iter().filter(|_| engine.profile().is_practice());
            rows.map(|(disease, hours)| ((*disease).to_owned(), *hours)).collect()
        };
        Ok(Self(kept.unwrap_or_else(example)))
    }

    /// Until when the authority must have a report that it has not taken yet.
    pub(super) fn due(&self, row: &Row) -> Option<Instant> {
        if self.is_empty() || !RUNNING.contains(&row.state.shown()) {
            return None;
        }
        let disease = row.summary.tested()?.disease;
        self.of_disease(disease.key, row.summary.date, row.created)
    }

    /// How a report about this stands to its deadline; `None` where it has none, or will
    /// never be with the authority.
    pub(super) fn timeliness(
        &self,
        about: &About,
        figure: &Figure,
        now: Instant,
    ) -> Option<Timeliness> {
        let About::Disease(key) = about else { return None };
        let due = self.of_disease(key, figure.date, figure.created)?;
        timeliness(figure.state, figure.accepted, figure.updated, due, now)
    }

    /// The same of a row of the list.
    pub(super) fn timeliness_of(&self, row: &Row, now: Instant) -> Option<Timeliness> {
        if self.is_empty() {
            return None;
        }
        let disease = row.summary.tested()?.disease;
        let due = self.of_disease(disease.key, row.summary.date, row.created)?;
        let accepted = match &row.state {
            State::InProgress { since, .. } => Some(*since),
            _ => None,
        };
        timeliness(row.state.shown(), accepted, row.updated, due, now)
    }

    /// Whether no disease has a deadline.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The time runs from the date of the document, when the laboratory knew the result; where that
    /// is missing or to come, from when it was taken in. Takes the key of the disease.
    fn of_disease(
        &self,
        disease: &str,
        date: Option<Instant>,
        created: Instant,
    ) -> Option<Instant> {
        let hours = *self.0.get(disease)?;
        let begun = date.filter(|date| *date <= created).unwrap_or(created);
        Some(begun.plus_seconds(i64::from(hours) * 3_600))
    }
}

fn timeliness(
    state: StateCode,
    accepted: Option<Instant>,
    updated: Instant,
    due: Instant,
    now: Instant,
) -> Option<Timeliness> {
    let arrived = match state {
        StateCode::InProgress => accepted?,
        // When it was accepted is not kept beside its end, which comes later.
        StateCode::Completed => updated,
        state if RUNNING.contains(&state) => {
            return Some(if due < now { Timeliness::Overdue } else { Timeliness::Running });
        }
        _ => return None,
    };
    Some(if arrived <= due { Timeliness::Kept } else { Timeliness::Late })
}

impl Desk {
    /// The deadlines that are kept, by the key of the disease.
    pub async fn deadlines(&self) -> Result<DeadlinesView, Problem> {
        let engine = self.engine();
        on_pool(move || {
            let is_example =
                engine.profile().is_practice() && engine.journal().setting(DEADLINES)?.is_none();
            let Deadlines(rows) = Deadlines::of(&engine)?;
            let rows = rows.into_iter().map(|(disease, hours)| DeadlineView { disease, hours });
            let diseases = diseases::all().iter().map(|disease| disease.key.to_owned()).collect();
            Ok(DeadlinesView { deadlines: rows.collect(), diseases, is_example })
        })
        .await?
    }

    /// Puts another table in the place of the one that is kept.
    pub async fn set_deadlines(&self, deadlines: Vec<DeadlineView>) -> Result<(), Problem> {
        let count = deadlines.len();
        let is_known = |key: &str| diseases::all().iter().any(|disease| disease.key == key);
        let is_sound =
            |row: &DeadlineView| is_known(&row.disease) && (1..=HOURS_MAX).contains(&row.hours);
        if !deadlines.iter().all(is_sound) {
            return Err(limits::invalid("deadlines"));
        }
        let table: BTreeMap<String, u32> =
            deadlines.into_iter().map(|row| (row.disease, row.hours)).collect();
        if table.len() != count {
            return Err(limits::invalid("deadlines"));
        }
        let desk = self.here();
        desk.refuse_standing_in(&[]).await?;
        let engine = desk.engine();
        let kept = serde_json::to_value(table).map_err(|_| limits::invalid("deadlines"))?;
        Ok(on_pool(move || engine.journal().set_setting(DEADLINES, kept)).await??)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_authority_has_counts_by_when_it_came_and_the_rest_by_the_time_left() {
        let at = Instant::from_seconds;
        let now = at(150);
        for (state, accepted, updated, due, expected) in [
            (StateCode::InProgress, Some(100), 140, 100, Some(Timeliness::Kept)),
            (StateCode::InProgress, Some(101), 140, 100, Some(Timeliness::Late)),
            (StateCode::Completed, None, 90, 100, Some(Timeliness::Kept)),
            (StateCode::Completed, None, 110, 100, Some(Timeliness::Late)),
            (StateCode::Queued, None, 90, 100, Some(Timeliness::Overdue)),
            (StateCode::Queued, None, 90, 151, Some(Timeliness::Running)),
            (StateCode::Withdrawn, None, 90, 100, None),
        ] {
            let found = timeliness(state, accepted.map(at), at(updated), at(due), now);
            assert_eq!(found, expected, "{state:?} {updated}");
        }
    }
}
