//! Numbers per day.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use engine::Engine;
use fhir::Instant;
use journal::Filter;
use time::{Date, OffsetDateTime, UtcOffset};

use super::{Desk, on_pool};
use crate::limits::{self, DAYS_MAX};
use crate::problem::Problem;
use crate::views::{DayView, StatisticsView};

static ZONE: OnceLock<UtcOffset> = OnceLock::new();

/// Notes the computer's offset from UTC. To be called first in `main`: with several threads running the
/// operating system cannot be asked safely. Without it days are those of UTC.
pub fn remember_zone() {
    if let Ok(offset) = UtcOffset::current_local_offset() {
        let _ = ZONE.set(offset);
    }
}

/// Rows read at a time.
const ROWS: usize = 1_000;

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
    let zone = ZONE.get().copied().unwrap_or(UtcOffset::UTC);
    let now = engine.now();
    let today = date_of(now, zone);
    let first = today.saturating_sub(time::Duration::days(i64::from(days) - 1));
    let mut by_day: BTreeMap<Date, BTreeMap<String, u32>> = BTreeMap::new();
    let mut day = first;
    while day <= today {
        by_day.insert(day, BTreeMap::new());
        let Some(next) = day.next_day() else { break };
        day = next;
    }
    let since = first.midnight().assume_offset(zone).unix_timestamp();
    let mut filter =
        Filter { since: Some(Instant::from_seconds(since)), limit: ROWS, now, ..Filter::default() };
    loop {
        let rows = engine.journal().list(&filter)?;
        for row in &rows {
            let day = by_day.entry(date_of(row.created, zone)).or_default();
            *day.entry(row.state.code().to_owned()).or_default() += 1;
        }
        match rows.last() {
            Some(last) if rows.len() == ROWS => filter.before = Some(last.id),
            _ => break,
        }
    }
    let days = by_day.into_iter().map(|(date, by_state)| DayView { date: shown(date), by_state });
    Ok(StatisticsView { days: days.collect() })
}

fn date_of(at: Instant, zone: UtcOffset) -> Date {
    let seconds = at.0.div_euclid(1_000_000);
    let utc = OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    utc.to_offset(zone).date()
}

fn shown(date: Date) -> String {
    format!("{:04}-{:02}-{:02}", date.year(), u8::from(date.month()), date.day())
}
