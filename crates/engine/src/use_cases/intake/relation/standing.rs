//! Which of the other versions of a report counts, and whether that is newer.

use std::collections::BTreeSet;

use fhir::Instant;
use journal::{JournalError, Message, NEWER_DELIVERED, Relative, Row};
use report::{State, StateCode, SubmissionId, Summary, lies_ahead};

use super::purpose::Purpose;
use super::{LATER, OLDER};
use crate::candidate::{Age, Parsed};
use crate::courier::deliveries::open_request;
use crate::{Engine, EngineError};

/// The reports of the same content as this one, or in whose place it comes, and all in whose place
/// those came, unless they were withdrawn. They are no other versions: this one goes on where they
/// ended.
#[derive(Default)]
pub(super) struct Line {
    rows: Vec<Row>,
    /// Their document identifiers, and those of what they had corrected.
    identifiers: BTreeSet<String>,
    /// Others beside which people were told that one of these is older, or was overtaken: a
    /// decision about that is none about what comes after it.
    told: Vec<SubmissionId>,
}

impl Line {
    pub(super) fn has(&self, id: SubmissionId) -> bool {
        self.rows.iter().any(|row| row.id == id)
    }

    /// Document identifiers of these other than that of the report itself.
    pub(super) fn other_identifiers(&self, own: Option<&str>) -> Vec<&str> {
        self.identifiers.iter().map(String::as_str).filter(|it| Some(*it) != own).collect()
    }

    /// Whether a report may be about the case of one of these. What is erased does not say.
    fn is_case_of(&self, summary: &Summary) -> bool {
        let mut told = self.rows.iter().filter(|row| row.erased.is_none());
        told.any(|row| summary.may_be_case_of(&row.summary))
    }
}

/// Another version that is on its way, with the authority, or waits for a person.
pub(super) struct Standing<'a> {
    pub(super) relative: &'a Relative,
    /// Its document identifier.
    pub(super) identifier: Option<String>,
    /// It may be about the same case.
    pub(super) says_same: bool,
    /// The same, or it may be about the case of one in whose place this one comes.
    is_same: bool,
    /// When it was made; nothing where that is a slip.
    date: Option<Instant>,
    /// What it says, where that is taken for a slip.
    pub(super) slip: Option<Slip>,
    /// People were told that it is older than this one: it is on hold beside it, and never left.
    older_than: Option<SubmissionId>,
}

/// A date that lay ahead when the report was taken in, which is on hold and never left; the report
/// that is compared says no such date.
#[derive(Clone, Copy)]
pub(super) struct Slip {
    pub(super) date: Instant,
    pub(super) taken_in: Instant,
}

impl Engine {
    /// What a report goes on from.
    pub(super) fn line(
        &self,
        purpose: Purpose,
        known: &[SubmissionId],
    ) -> Result<Line, EngineError> {
        let mut line = Line::default();
        for id in purpose.earlier_ones(known) {
            let mut rows = self.in_place_of_which(*id)?;
            let identifiers = rows.iter().filter_map(|row| row.summary.identifier.clone());
            line.identifiers.extend(identifiers);
            let state = rows.first().map(|row| row.state.shown());
            // What it had corrected stands by itself again.
            if state == Some(StateCode::Withdrawn) {
                rows.truncate(1);
            }
            // Where it is not on hold, a person was told before they decided to go on from it.
            let is_held = state == Some(StateCode::Held);
            let codes = &[OLDER, LATER, NEWER_DELIVERED][..if is_held { 3 } else { 2 }];
            line.told.extend(self.told_beside(*id, codes)?);
            rows.retain(|row| !line.has(row.id));
            line.rows.append(&mut rows);
        }
        Ok(line)
    }

    /// A report, and all in whose place it came, the newest first, as far as they can be read.
    fn in_place_of_which(&self, id: SubmissionId) -> Result<Vec<Row>, EngineError> {
        let mut rows = vec![self.journal().row(id)?];
        while let Some(earlier) = rows.last().and_then(|row| row.corrects) {
            match self.journal().row(earlier) {
                Ok(row) => rows.push(row),
                Err(JournalError::Damaged) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(rows)
    }

    /// The reports beside which people were told of this one, in these words.
    fn told_beside(
        &self,
        id: SubmissionId,
        codes: &[&str],
    ) -> Result<Vec<SubmissionId>, EngineError> {
        let messages = self.journal().messages(id)?;
        let told = messages.iter().filter(|it| codes.contains(&it.code.as_str()));
        Ok(told.flat_map(Message::submissions).collect())
    }

    /// The other versions that count, the newest first.
    pub(super) fn standing<'a>(
        &self,
        relatives: &'a [Relative],
        parsed: &Parsed,
        purpose: Purpose,
        line: &Line,
    ) -> Result<Vec<Standing<'a>>, EngineError> {
        let mut standing = Vec::new();
        // Where the clock is behind, every true date lies ahead: those have an order.
        let now = self.now();
        let lies_ahead_too = parsed.summary.date.is_some_and(|date| lies_ahead(date, now));
        for relative in relatives.iter().rev().filter(|relative| counts(relative.state)) {
            let row = self.journal().row(relative.id)?;
            let never_left = matches!(row.state, State::Held { attempt: 0 });
            let beside =
                if never_left { self.told_beside(row.id, &[OLDER, LATER])? } else { Vec::new() };
            // A slip in the date makes no version newer; what has left, or was released, counts by
            // what it says.
            let is_on_hold = row.attempts == 0 && matches!(row.state, State::Held { .. });
            let may_be_slip = is_on_hold && !lies_ahead_too;
            let taken_in = row.created;
            let slip = row.summary.date.filter(|it| may_be_slip && lies_ahead(*it, taken_in));
            let date = row.summary.date.filter(|_| slip.is_none());
            let is_told = line.told.contains(&row.id);
            let is_later = purpose.is_followed_by(row.id) || is_told;
            if !is_later && !is_older(&parsed.summary, date) {
                continue;
            }
            let may_be_same = row.summary.may_be_case_of(&parsed.summary);
            // Where one names nobody, their identifier may be a fault of the export: each stays a
            // report of its own, and in its order.
            let is_named = row.summary.names_somebody() && parsed.summary.names_somebody();
            let says_same = may_be_same && is_named;
            standing.push(Standing {
                relative,
                says_same,
                is_same: may_be_same || is_told || line.is_case_of(&row.summary),
                identifier: row.summary.identifier,
                date,
                slip: slip.map(|date| Slip { date, taken_in }),
                older_than: beside.into_iter().next(),
            });
        }
        let stand: Vec<_> = standing.iter().map(|it| it.relative.id).collect();
        standing.retain(|it| {
            !it.older_than.is_some_and(|newer| stand.contains(&newer) || line.has(newer))
        });
        Ok(standing)
    }

    /// The newest that was withdrawn and is about the same case, where a request for it may have
    /// arrived.
    pub(super) fn may_have_arrived<'a>(
        &self,
        relatives: &'a [Relative],
        parsed: &Parsed,
    ) -> Result<Option<Standing<'a>>, EngineError> {
        let is_withdrawn = |it: &&Relative| it.state == StateCode::Withdrawn;
        for relative in relatives.iter().rev().filter(is_withdrawn) {
            let detail = self.journal().detail(relative.id)?;
            let events = detail.timeline.iter().map(|entry| &entry.event);
            let is_same = detail.row.summary.may_be_case_of(&parsed.summary);
            if is_same && detail.row.erased.is_none() && open_request(events).is_some() {
                return Ok(Some(Standing {
                    relative,
                    identifier: detail.row.summary.identifier,
                    says_same: true,
                    is_same: true,
                    date: None,
                    slip: None,
                    older_than: None,
                }));
            }
        }
        Ok(None)
    }
}

/// The one that counts, and whether that is newer: first what is dated later, then what has
/// overtaken this one, then any other. Of several the one with the latest date decides, and of
/// those with one date, or with none, the newest; of another case only where none is about the same
/// one.
pub(super) fn decisive<'a, 'b>(
    standing: &'b [Standing<'a>],
    parsed: &Parsed,
    purpose: Purpose,
    line: &Line,
) -> Option<(&'b Standing<'a>, Age)> {
    let newest = |which: &dyn Fn(&Standing<'_>) -> bool| {
        let of_case = standing.iter().filter(|it| it.is_same && which(it));
        of_case.max_by_key(|it| (it.date, it.relative.id))
    };
    let summary = &parsed.summary;
    let overtakes = |it: &Standing<'_>| {
        let id = it.relative.id;
        let came_after = line.told.contains(&id) || purpose.is_overtaken_by(id, &parsed.known);
        came_after && !is_newer(summary, it.date)
    };
    let older = newest(&|it| is_older(summary, it.date)).map(|it| (it, Age::Older));
    let older = older.or_else(|| newest(&overtakes).map(|it| (it, Age::Overtaken)));
    older.or_else(|| {
        let any = newest(&|_| true);
        // Of other cases people were told when what this one is to replace was taken in.
        let any = any.or_else(|| standing.first().filter(|_| purpose.is_anew()));
        any.map(|it| (it, Age::NotOlder))
    })
}

/// Whether a document is dated before another one; what says no date is not.
fn is_older(document: &Summary, other: Option<Instant>) -> bool {
    document.date.zip(other).is_some_and(|(date, other)| date < other)
}

/// Whether a document is dated after another one; what says no date is not.
fn is_newer(document: &Summary, other: Option<Instant>) -> bool {
    document.date.zip(other).is_some_and(|(date, other)| date > other)
}

/// Whether one in this state is on its way, at the authority, or waits for a person.
fn counts(state: StateCode) -> bool {
    !state.is_closed() || state == StateCode::SaidReceived
}
