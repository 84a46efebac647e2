//! When to search for changes, where a search begins, and what follows where it is refused. Pure.

use std::collections::HashMap;
use std::time::Duration;

use client::{Changes, Fault};
use exchange::Answer;
use fhir::Instant;

use super::Courier;
use super::cursor::{SearchCursor, minus};
use super::verdict::{Health, may_be};
use crate::ClockReading;
use crate::clock::elapsed;

/// A search rests for so many times as long as it took.
const REST_FACTOR: u32 = 8;
/// So late a search for changes goes before reports that wait.
const POLL_LATE: Duration = Duration::from_secs(5);
/// How far the first search reaches back before the oldest open report: clocks differ.
const FIRST_REACH_SECONDS: i64 = 24 * 3600;
/// Receipts that are remembered, each with whose it is: some 8 MB.
const SETTLED_MAX: usize = 50_000;

/// What is remembered about searches for changes.
#[derive(Debug, Default)]
pub(super) struct Searches {
    /// When the last one ended, and how long it took.
    last: Option<(ClockReading, Duration)>,
    /// The report that was accepted last, by the revision of the journal that says so.
    youngest: Option<(u64, Option<Youngest>)>,
    /// Receipts of reports that are final here, with their identifiers: searches overlap, so most
    /// of what they return is known.
    settled: HashMap<String, String>,
    /// The last search was cut off after this time: the next one goes on there, at once.
    cut_at: Option<Instant>,
    /// The last searches were refused: how often in a row, and how long the next one rests.
    refused: Option<(u32, Duration)>,
    /// One was answered in the life of this courier.
    answered: bool,
    /// The last one was answered with what is no answer, and so many other requests had been
    /// answered until then.
    lost_at: Option<u64>,
}

impl Searches {
    pub(super) fn are_refused(&self) -> bool {
        self.refused.is_some()
    }
}

/// The youngest report that is searched for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Youngest {
    /// Accepted at, or taken in at where it was not.
    accepted: Instant,
    /// Seen first at.
    seen: ClockReading,
}

impl Youngest {
    /// How long it has been in progress; where its time lies ahead, because the clock was set back,
    /// since it was seen.
    fn age(&self, now: ClockReading) -> Duration {
        elapsed(self.accepted, now.wall).max(now.steady.saturating_sub(self.seen.steady))
    }
}

/// Who learns from a search how the way is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tells {
    /// The breaker, for whatever follows.
    TheBreaker,
    /// Nobody: reports are refused just now, and that questions are answered changes nothing about
    /// it. That they are not either clears the one report that was refused.
    Nobody,
}

/// Where a search begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SearchStart {
    /// What has changed since then is asked for.
    pub(crate) since: Instant,
    /// It goes on where the last one was cut off.
    goes_on: bool,
}

/// What a search that brought nothing means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NoSearch {
    /// The authority refuses to be searched: searches rest, and people are told.
    Refused,
    /// It shows how the way is.
    OfTheWay(Health),
    /// It changes nothing.
    Nothing,
}

impl Courier {
    /// The report that was accepted last, where it is known by this revision of the journal.
    pub(crate) fn youngest_by(&self, revision: u64) -> Option<Option<Youngest>> {
        self.searches.youngest.filter(|(known, _)| *known == revision).map(|(_, it)| it)
    }

    /// When the report that was accepted last was so, by this revision of the journal.
    pub(crate) fn youngest_is(
        &mut self,
        now: ClockReading,
        revision: u64,
        accepted: Option<Instant>,
    ) -> Option<Youngest> {
        let known = self.searches.youngest.and_then(|(_, youngest)| youngest);
        let youngest = accepted.map(|accepted| match known {
            Some(known) if known.accepted == accepted => known,
            _ => Youngest { accepted, seen: now },
        });
        self.searches.youngest = Some((revision, youngest));
        youngest
    }

    /// How long searches rest at least, after one that took so long.
    fn rest_of_searches(&self, took: Duration) -> Duration {
        let rest = took.saturating_mul(REST_FACTOR).min(self.timing.poll_max);
        rest.max(self.searches.refused.map_or(Duration::ZERO, |(_, pause)| pause))
    }

    /// When the next search for changes is due, for the sake of the youngest report.
    pub(crate) fn next_search(&self, now: ClockReading, youngest: Youngest) -> Instant {
        let last = self.searches.last.filter(|_| self.searches.cut_at.is_none());
        let Some((last, took)) = last else { return now.wall };
        let pause = self.timing.poll(youngest.age(now)).max(self.rest_of_searches(took));
        now.after(pause.saturating_sub(now.since(last)))
    }

    /// Whether a search for changes may have been due for a while, whichever report is open: the
    /// journal is only asked where it can be so.
    pub(crate) fn search_may_be_late(&self, now: ClockReading) -> bool {
        let Some((last, took)) = self.searches.last else { return true };
        let rest = self.rest_of_searches(took).max(self.timing.poll_min);
        now.since(last) >= rest.saturating_add(POLL_LATE)
    }

    /// Whether one has been due for a while, for the sake of the youngest report.
    pub(crate) fn search_is_late(&self, now: ClockReading, youngest: Youngest) -> bool {
        let Some((last, took)) = self.searches.last else { return true };
        let pause = self.timing.poll(youngest.age(now)).max(self.rest_of_searches(took));
        now.since(last) >= pause.saturating_add(POLL_LATE)
    }

    /// A search begins now. `oldest`: when the oldest report that is searched for was taken in.
    pub(crate) fn search_begins(
        &mut self,
        watermark: Option<Instant>,
        oldest: Instant,
    ) -> SearchStart {
        let cut_at = self.searches.cut_at.take();
        let since = cut_at.unwrap_or_else(|| match watermark {
            Some(watermark) => minus(watermark, self.timing.poll_overlap),
            None => oldest.plus_seconds(-FIRST_REACH_SECONDS),
        });
        SearchStart { since, goes_on: cut_at.is_some() }
    }

    /// A search has ended that began then, whatever came of it.
    pub(crate) fn search_ended(&mut self, now: ClockReading, began: ClockReading) {
        self.searches.last = Some((now, now.steady.saturating_sub(began.steady)));
    }

    /// A search was answered: what that shows of the way.
    pub(crate) fn search_answered(&mut self, tells: Tells) -> Option<Health> {
        self.searches.lost_at = None;
        (tells == Tells::TheBreaker).then_some(Health::Answered)
    }

    /// Where the next search begins, after this one was learned from; the watermark to keep, if
    /// another.
    pub(crate) fn search_learned(
        &mut self,
        start: SearchStart,
        watermark: Option<Instant>,
        changes: &Changes,
    ) -> Option<Instant> {
        let cursor = SearchCursor::of(changes, start.since, start.goes_on);
        self.searches.cut_at = cursor.cut_at;
        cursor.watermark(watermark, changes, self.timing.poll_overlap)
    }

    /// The last search was cut off, and the next one goes on there.
    pub(crate) fn search_was_cut(&self) -> bool {
        self.searches.cut_at.is_some()
    }

    /// A search brought nothing.
    pub(crate) fn search_failed(&mut self, fault: Fault, tells: Tells) -> NoSearch {
        // Not a fault of the way, as far as is known: the reads by id that follow will show it.
        if fault.refuses_the_question() {
            return NoSearch::Refused;
        }
        let heard = fault.evidence().is_some();
        if heard && self.only_searches_are_lost() {
            return NoSearch::Refused;
        }
        if tells == Tells::TheBreaker {
            return NoSearch::OfTheWay(Health::of_question(fault));
        }
        if heard {
            self.breaker.clear_suspicion();
        }
        NoSearch::Nothing
    }

    /// A search was answered with what is no answer: whether the one before was too, while other
    /// requests between them were answered, so that it is no fault of the way. A gateway may refuse
    /// a question for what stands in it, and an authority may have one report that it cannot show.
    fn only_searches_are_lost(&mut self) -> bool {
        let answers = self.breaker.answers();
        let before = self.searches.lost_at.replace(answers);
        before.is_some_and(|before| before < answers)
    }

    /// A search was refused, with reasons or without: the next one rests, longer each time.
    pub(crate) fn search_was_refused(&mut self, retry_after: Option<Duration>, fraction: f64) {
        if !self.searches.are_refused() {
            self.sweep_at_once();
        }
        let times = self.searches.refused.map_or(0, |(times, _)| times).saturating_add(1);
        let pause = self.timing.backoff(times, retry_after, fraction);
        self.searches.refused = Some((times, pause));
    }

    /// Whether searches are refused just now: what is in progress is read by id meanwhile.
    pub(crate) fn search_is_refused(&self) -> bool {
        self.searches.are_refused()
    }

    /// Whether people may still be told that searches are refused, also by an earlier process.
    pub(crate) fn search_may_be_told_refused(&self) -> bool {
        !self.searches.answered || self.searches.are_refused()
    }

    /// People are not told any more that searches are refused.
    pub(crate) fn search_is_permitted(&mut self) {
        (self.searches.answered, self.searches.refused) = (true, None);
    }

    /// Nothing new is told of this report under this number.
    pub(crate) fn is_settled(&self, answer: &Answer, receipt: &str) -> bool {
        let identifier = self.searches.settled.get(receipt);
        identifier.is_some_and(|identifier| may_be(answer, identifier))
    }

    /// The report with this identifier is final here, under this receipt.
    pub(crate) fn settled(&mut self, receipt: &str, identifier: String) {
        let settled = &mut self.searches.settled;
        if settled.len() >= SETTLED_MAX {
            settled.clear();
        }
        settled.insert(receipt.to_owned(), identifier);
    }
}
