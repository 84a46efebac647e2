//! Numbers per day.

use std::collections::BTreeMap;

use engine::Engine;
use fhir::Instant;
use journal::{Figure, Filter};
use report::{Group, StateCode};
use time::{Date, OffsetDateTime};

use super::deadlines::Deadlines;
use super::narrowing::{About, most};
use super::{Desk, on_pool};
use crate::causes::key_of;
use crate::limits::{self, DAYS_MAX};
use crate::messages::{leading, message_view};
use crate::problem::Problem;
use crate::rows::{Names, row_view, small};
use crate::taken_back::{said, stands_as};
use crate::timeliness::Timeliness;
use crate::views::{CauseCountView, ComplianceView, DayView, PaceView, StatisticsView};
use crate::zone::zone;

/// Rows read at a time.
const ROWS: usize = 1_000;
/// Diseases and causes told at most.
const DISEASES_MAX: usize = 12;
const CAUSES_MAX: usize = 5;

impl Desk {
    /// Submissions of the last so many days, today included, by the state that they are in now.
    pub async fn statistics(&self, days: u32) -> Result<StatisticsView, Problem> {
        if days == 0 || days > DAYS_MAX {
            return Err(limits::invalid("days"));
        }
        let engine = self.engine();
        on_pool(move || count(&engine, days)).await?
    }
}

fn count(engine: &Engine, days: u32) -> Result<StatisticsView, Problem> {
    let now = engine.now();
    let today = date_of(now);
    let length = time::Duration::days(i64::from(days));
    let first = today.saturating_sub(length - time::Duration::DAY);
    let mut period = Period::new(first, today, Deadlines::of(engine)?, now);
    let since = begin_of(first);
    engine.journal().figures(since, Instant(i64::MAX), |figure| period.see(figure))?;
    let before = engine.journal().tally(begin_of(first.saturating_sub(length)), since)?;
    let Period { days, about, seconds, deadlines, .. } = period;
    let mut diseases = most(about);
    diseases.truncate(DISEASES_MAX);
    let days =
        days.into_iter().map(|Day { date, by_state, .. }| DayView { date: shown(date), by_state });
    Ok(StatisticsView {
        days: days.collect(),
        before: before.into_iter().map(|(state, count)| (state, small(count))).collect(),
        pace: pace_of(seconds),
        deadlines,
        diseases,
        causes: causes(engine, now)?,
        oldest_open: engine
            .journal()
            .oldest(&[Group::InProgress], now)?
            .map(|row| row_view(&row, &engine.profile(), Names::Masked, now)),
        last_received: engine
            .journal()
            .list(&Filter { limit: 1, now, ..Filter::default() })?
            .first()
            .map(|row| row.created.to_fhir()),
    })
}

/// One day of the period.
struct Day {
    date: Date,
    begin: Instant,
    by_state: BTreeMap<StateCode, u32>,
}

/// What is counted of the reports of some days.
struct Period {
    /// The first one first.
    days: Vec<Day>,
    /// Reports by what they are about.
    about: BTreeMap<About, u32>,
    /// How long each completed report took.
    seconds: Vec<u64>,
    table: Deadlines,
    deadlines: Option<ComplianceView>,
    now: Instant,
}

impl Period {
    fn new(first: Date, last: Date, table: Deadlines, now: Instant) -> Self {
        let dates = std::iter::successors(Some(first), |date| date.next_day());
        let days = dates.take_while(|date| *date <= last).map(|date| Day {
            date,
            begin: begin_of(date),
            by_state: BTreeMap::new(),
        });
        Self {
            days: days.collect(),
            about: BTreeMap::new(),
            seconds: Vec::new(),
            table,
            deadlines: None,
            now,
        }
    }

    fn see(&mut self, figure: Figure) {
        // What a clock that was ahead has dated beyond the last day counts there.
        let after = self.days.partition_point(|day| day.begin <= figure.created);
        if let Some(day) = self.days[..after].last_mut() {
            *day.by_state.entry(figure.state).or_default() += 1;
        }
        if figure.state == StateCode::Completed {
            let micros = figure.updated.0.saturating_sub(figure.created.0);
            self.seconds.push(micros.max(0) as u64 / 1_000_000);
        }
        let about = About::of(figure.code.as_deref(), figure.subject.as_deref());
        if let Some(timeliness) = self.table.timeliness(&about, &figure, self.now) {
            *figure_of(self.deadlines.get_or_insert_default(), timeliness) += 1;
        }
        // Its correction is counted in its place.
        if figure.state != StateCode::Superseded {
            *self.about.entry(about).or_default() += 1;
        }
    }
}

fn figure_of(of: &mut ComplianceView, timeliness: Timeliness) -> &mut u32 {
    match timeliness {
        Timeliness::Kept => &mut of.kept,
        Timeliness::Late => &mut of.late,
        Timeliness::Overdue => &mut of.overdue,
        Timeliness::Running => &mut of.running,
    }
}

/// Nearest rank: each is a time that a report really took.
fn pace_of(mut seconds: Vec<u64>) -> Option<PaceView> {
    seconds.sort_unstable();
    let rank = |of_100: usize| (seconds.len() * of_100).div_ceil(100).saturating_sub(1);
    Some(PaceView {
        median: small(*seconds.get(rank(50))?),
        p95: small(*seconds.get(rank(95))?),
        reports: small(seconds.len() as u64),
    })
}

fn causes(engine: &Engine, now: Instant) -> Result<Vec<CauseCountView>, Problem> {
    let groups = vec![Group::NeedsAttention];
    // The newest so many: each needs a second look at the journal.
    let filter = Filter { groups, limit: ROWS, now, ..Filter::default() };
    let mut causes: BTreeMap<String, CauseCountView> = BTreeMap::new();
    for row in engine.journal().list(&filter)? {
        let (messages, taken_back) = said(engine.journal(), &row)?;
        let state = row.state.shown();
        let message = leading(state, &messages);
        let key = key_of(message, stands_as(state, taken_back));
        let cause = causes.entry(key).or_insert_with(|| CauseCountView {
            message: message.map(message_view),
            state,
            taken_back,
            count: 0,
        });
        cause.count += 1;
    }
    let mut causes: Vec<_> = causes.into_values().collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.count));
    causes.truncate(CAUSES_MAX);
    Ok(causes)
}

/// The day of an instant where the computer stands.
pub(super) fn date_of(at: Instant) -> Date {
    let seconds = at.0.div_euclid(1_000_000);
    let utc = OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    utc.to_offset(zone()).date()
}

/// When a day begins there.
pub(super) fn begin_of(date: Date) -> Instant {
    Instant::from_seconds(date.midnight().assume_offset(zone()).unix_timestamp())
}

pub(super) fn shown(date: Date) -> String {
    format!("{:04}-{:02}-{:02}", date.year(), u8::from(date.month()), date.day())
}

/// A date as [`shown`] writes it.
pub(super) fn date_named(text: &str) -> Option<Date> {
    let mut parts = text.splitn(3, '-');
    let mut part = |digits: usize| {
        parts.next().filter(|part| part.len() == digits && part.bytes().all(|b| b.is_ascii_digit()))
    };
    let (year, month, day) = (part(4)?, part(2)?, part(2)?);
    let month = time::Month::try_from(month.parse::<u8>().ok()?).ok()?;
    Date::from_calendar_date(year.parse().ok()?, month, day.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_and_95_of_100_are_times_that_reports_took() {
        assert!(pace_of(Vec::new()).is_none());
        let pace = |seconds: Vec<u64>| pace_of(seconds).map(|pace| (pace.median, pace.p95));
        assert_eq!(pace(vec![7]), Some((7, 7)));
        assert_eq!(pace(vec![30, 10, 20]), Some((20, 30)));
        assert_eq!(pace((1..=100).rev().collect()), Some((50, 95)));
    }

    #[test]
    fn a_date_is_read_as_it_is_shown() {
        assert_eq!(date_named("2026-02-28").map(shown).as_deref(), Some("2026-02-28"));
        for wrong in ["2026-02-29", "2026-2-28", "2026-02", "+026-02-28", "2026-02-28T00", ""] {
            assert!(date_named(wrong).is_none(), "{wrong}");
        }
    }
}
