//! Looking at what the journal has: the list, and one submission with its timeline.

use std::ops::ControlFlow;

use engine::Profile;
use fhir::{Instant, Period};
use journal::{Detail, Filter, Row};
use report::{Action, Event, StateCode};
use serde::Serialize;

use super::{Headless, numbered};
use crate::desk::statement::statement_of;
use crate::problem::Problem;
use crate::record::Record;
use crate::rows::event_told;
use crate::views::StatementView;

/// What to list.
#[derive(Clone, Default)]
pub struct ListTerms {
    /// State codes; empty for all.
    pub states: Vec<String>,
    /// Words in identifier, name, file, disease or message.
    pub search: Option<String>,
    /// From this date or time on (any precision; without a zone UTC).
    pub since: Option<String>,
}

/// A submission as listed.
#[derive(Clone, PartialEq, Serialize)]
pub struct Entry {
    /// Its record.
    #[serde(flatten)]
    pub record: Record,
    /// Identifier of the document.
    pub document: Option<String>,
    /// Disease or leading code in the report's own words.
    pub subject: Option<String>,
    /// Key of the disease where it is known, e.g. `hepatitis-b` ([`Headless::disease_named`]).
    pub disease: Option<&'static str>,
    /// Name of the laboratory.
    pub laboratory: Option<String>,
    /// The submission that took its place.
    pub corrected_by: Option<i64>,
    /// Patient's name. Patient data: shown only where asked for.
    pub patient: Option<String>,
    /// Patient's birth date as written. Patient data.
    pub birth_date: Option<String>,
}

/// One submission with all that is known of it.
#[derive(Clone, PartialEq)]
pub struct Shown {
    /// Its entry.
    pub entry: Entry,
    /// Oldest first.
    pub timeline: Vec<Moment>,
    /// Size of the document, bytes; `None` once retention has removed it.
    pub size: Option<u64>,
    /// Codes of what a person may do now.
    pub actions: Vec<Action>,
}

/// One line of a timeline.
#[derive(Clone, PartialEq, Eq)]
pub struct Moment {
    /// ISO instant.
    pub at: String,
    /// Event code.
    pub event: &'static str,
    /// Parameters of its text.
    pub params: Vec<(String, String)>,
    /// Who acted.
    pub by: String,
}

fhir::shows_only!(ListTerms { states, since });
fhir::shows_only!(Entry { record });
fhir::shows_only!(Shown { entry, size, actions });
fhir::shows_only!(Moment { at, event });

/// Rows read at a time.
const PAGE: usize = 500;

impl Headless {
    /// The name of a disease in one of the languages (`en`, `de`, `fr`, `it`).
    pub fn disease_named(key: &str, language: &str) -> Option<&'static str> {
        let at = report::diseases::LANGUAGES.iter().position(|known| *known == language)?;
        Some(report::diseases::of_key(key)?.names[at])
    }

    /// Submissions that are on hold, whatever their endpoint.
    pub fn on_hold(&self) -> Result<u64, Problem> {
        let counts = self.engine.journal().counts(self.engine.now())?;
        Ok(counts.of(StateCode::Held, None))
    }

    /// What was taken in on a day (`YYYY-MM-DD`) and what became of it.
    pub fn statement(&self, day: &str) -> Result<StatementView, Problem> {
        statement_of(&self.engine, day)
    }

    /// Lists, newest first, until `each` has enough.
    pub fn list(
        &self,
        terms: &ListTerms,
        mut each: impl FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<(), Problem> {
        let state = |code: &String| {
            let unknown = || Problem::new("argument-invalid", &[("argument", code)], "list");
            StateCode::of(code).ok_or_else(unknown)
        };
        let states = terms.states.iter().map(state).collect::<Result<Vec<_>, _>>()?;
        let since = terms.since.as_deref().map(read_since).transpose()?;
        let mut filter = Filter {
            states,
            search: terms.search.clone(),
            since,
            limit: PAGE,
            now: self.engine.now(),
            ..Filter::default()
        };
        let profile = self.engine.profile();
        loop {
            let rows = self.engine.journal().list(&filter)?;
            let Some(last) = rows.last() else { return Ok(()) };
            filter.before = Some(last.id);
            for row in rows {
                let detail = self.engine.journal().detail(row.id)?;
                if each(entry(&detail, &profile, self.engine.now())).is_break() {
                    return Ok(());
                }
            }
        }
    }

    /// One submission.
    pub fn show(&self, id: i64) -> Result<Shown, Problem> {
        let detail = self.engine.journal().detail(numbered(id))?;
        let moment = |line: &journal::Entry| Moment {
            at: line.at.to_fhir(),
            event: event_told(&line.event),
            params: params_of(&line.event),
            by: line.by.0.clone(),
        };
        Ok(Shown {
            entry: entry(&detail, &self.engine.profile(), self.engine.now()),
            timeline: detail.timeline.iter().map(moment).collect(),
            size: detail.document_size,
            actions: self.actions(id)?,
        })
    }

    /// Codes of what a person may do with a submission now. Releasing what cannot be sent as it is
    /// would only be refused, and changes nothing of what goes by itself, so it is not among them.
    pub fn actions(&self, id: i64) -> Result<Vec<Action>, Problem> {
        let (journal, id) = (self.engine.journal(), numbered(id));
        let waits = journal.goes_by_itself(id)? && journal.release_waits(id)?;
        let useful = |action: &Action| {
            *action != Action::Release || (!waits && self.engine.sendable(id).is_ok())
        };
        let all = journal.detail(id)?.actions(self.engine.now()).into_iter();
        Ok(all.filter(useful).collect())
    }

    /// The record of the submission that stands for this one now: itself, or the last that took its
    /// place.
    pub fn latest(&self, id: i64) -> Result<Record, Problem> {
        let journal = self.engine.journal();
        let mut last = numbered(id);
        while let Some(next) = journal.row(last)?.corrected_by {
            last = next;
        }
        self.record(last.0)
    }

    /// Where each of these submissions stands.
    pub fn states(&self, ids: &[i64]) -> Result<Vec<StateCode>, Problem> {
        let ids: Vec<_> = ids.iter().map(|id| numbered(*id)).collect();
        Ok(self.engine.journal().states(&ids)?.iter().map(|state| state.shown()).collect())
    }

    /// The record of one submission.
    pub fn record(&self, id: i64) -> Result<Record, Problem> {
        Ok(self.record_of(&self.engine.journal().detail(numbered(id))?))
    }

    pub(super) fn record_of(&self, detail: &Detail) -> Record {
        let (profile, now) = (self.engine.profile(), self.engine.now());
        Record::of(&detail.row, &detail.messages, &profile, now)
    }
}

fn entry(detail: &Detail, profile: &Profile, now: Instant) -> Entry {
    let Row { summary, corrected_by, .. } = &detail.row;
    Entry {
        record: Record::of(&detail.row, &detail.messages, profile, now),
        document: summary.identifier.clone(),
        subject: summary.subject.clone(),
        disease: summary.tested().map(|tested| tested.disease.key),
        laboratory: summary.laboratory.clone(),
        corrected_by: corrected_by.map(|id| id.0),
        patient: summary.patient.clone(),
        birth_date: summary.birth_date.clone(),
    }
}

fn read_since(text: &str) -> Result<Instant, Problem> {
    let period = Period::parse(text.trim());
    period
        .map(|period| period.start)
        .ok_or_else(|| Problem::new("argument-invalid", &[("argument", text)], "since"))
}

fn params_of(event: &Event) -> Vec<(String, String)> {
    let one = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    match event {
        Event::Released { reason, .. }
        | Event::SaidReceived { reason }
        | Event::StillExpected { reason, .. }
        | Event::SaidNotReceived { reason, .. }
        | Event::Withdrawn { reason } => one("reason", reason),
        Event::Deferred { why, .. }
        | Event::Doubted { why, .. }
        | Event::NotAnswered { why, .. }
        | Event::TurnedAway { why, .. }
        | Event::HeldAfterRefusals { why } => one("why", why),
        Event::Accepted { receipt, .. }
        | Event::Completed { receipt }
        | Event::Failed { receipt } => one("receipt", receipt),
        Event::Superseded { by } => one("by", &by.0.to_string()),
        Event::OtherNotShown { of, .. } => one("of", &of.0.to_string()),
        _ => Vec::new(),
    }
}
