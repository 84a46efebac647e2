//! Content that the journal has already, judged for each destination by itself: what was sent to
//! the test system was not sent to production.

use std::collections::BTreeSet;

use fhir::Instant;
use report::{Event, State, StateCode, SubmissionId};
use rusqlite::{Connection, params};

use crate::events::append::Prepared;
use crate::events::{append, guard, lost, succession};
use crate::queries::{endpoints, read};
use crate::store::{cells, rows, sql};
use crate::{JournalError, Message, RecordError};

/// Code of the warning on a report that went elsewhere before the journal was restored; parameter:
/// `endpoint`.
const WENT_ELSEWHERE: &str = "went-elsewhere";

/// Which submissions of the same content stand in the way of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unless {
    /// Any to the same authority in the same environment.
    Known,
    /// Any, whichever endpoint it went to.
    KnownAnywhere,
    /// One to the same authority whose end is not known yet: it will reach the authority by itself,
    /// once its endpoint is in use, or waits for a person who decides whether it does. That person
    /// is told whether the authority may have it already; a second report under another identifier
    /// nobody would be told of.
    Open,
}

/// Where a report goes. What was sent to one place says nothing of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Destination<'a> {
    /// Id of the endpoint.
    pub endpoint: &'a str,
    /// Code of its environment; `None` fits any, as a submission fits that was taken in before
    /// environments were kept.
    pub environment: Option<&'a str>,
}

/// A submission of a document with the same identifier, or of a correction of such a one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relative {
    /// The other report.
    pub id: SubmissionId,
    /// Its state as people see it: that the authority has it by a person's word is one of its own.
    pub state: StateCode,
    /// SHA-256 of its bytes, hex.
    pub digest: String,
    /// What it says, where that is known.
    pub canonical: Option<String>,
    /// Its content is in the journal.
    pub has_content: bool,
    /// Its last event.
    pub updated: Instant,
    /// Id of its endpoint: another one may lead to the same authority.
    pub endpoint: String,
}

/// The reports that one which may be taken in is compared with, as of one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownReports {
    /// The newest submission of all then: what comes later was not compared with. 0 where there is
    /// none.
    pub through: SubmissionId,
    /// Submissions of its content, wherever they went, oldest first.
    pub anywhere: Vec<SubmissionId>,
    /// Those of them that went where it goes.
    pub there: Vec<SubmissionId>,
    /// Submissions of its document that went where it goes, oldest first.
    pub relatives: Vec<Relative>,
}

/// What became of a report that was to be taken in unless others of its bytes stand in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Imported {
    /// Taken in.
    New(SubmissionId),
    /// Not taken in: these stand in the way, oldest first.
    Known(Vec<SubmissionId>),
    /// Not taken in: what it was to take the place of cannot be corrected any more, or a version of
    /// it has come that it was not compared with, so it is to be compared anew.
    Overtaken,
}

impl Prepared {
    /// The same once more.
    pub(crate) fn again(&self) -> Self {
        let (new, state) = (self.new.clone(), self.state.clone());
        Self { new, state, size: self.size, packed: self.packed.clone() }
    }

    /// The same, held: a restored journal has lost a report of this content, which went to another
    /// endpoint.
    fn held_for_a_person(&self, endpoint: &str) -> Self {
        let mut held = self.again();
        held.hold();
        held.new.findings.push(Message::warning(WENT_ELSEWHERE, &[("endpoint", endpoint)]));
        held
    }

    /// The same, held.
    pub(crate) fn hold(&mut self) {
        self.new.first = Event::Held;
        self.state = State::Held { attempt: 0 };
    }
}

/// Submissions of the same bytes, or of what says the same, oldest first; with a destination those
/// to the same authority.
pub(crate) fn of_content(
    connection: &Connection,
    digest: &str,
    canonical: Option<&str>,
    destination: Option<Destination<'_>>,
) -> Result<Vec<SubmissionId>, JournalError> {
    let id = |row: &rusqlite::Row<'_>| row.get(0).map(SubmissionId);
    let mut found = match destination {
        None => rows::all(connection, sql::OF_CONTENT, params![digest, canonical], id)?,
        Some(Destination { endpoint, environment }) => {
            let of_content = params![digest, canonical, environment];
            let there = |row: &rusqlite::Row<'_>| Ok((id(row)?, row.get::<_, String>(1)?));
            let all = rows::all(connection, sql::OF_CONTENT_AT, of_content, there)?;
            let mut found = Vec::new();
            for (id, other) in all {
                if endpoints::lead_to_one(connection, endpoint, &other)? {
                    found.push(id);
                }
            }
            found
        }
    };
    found.sort_unstable();
    Ok(found)
}

/// All that a report of this content and document identifier is compared with. `destination`: where
/// it goes, if that is known.
pub(crate) fn known_reports(
    connection: &Connection,
    (digest, canonical): (&str, &str),
    document: Option<&str>,
    destination: Option<Destination<'_>>,
) -> Result<KnownReports, JournalError> {
    let through = rows::one(connection, sql::NEWEST_ID, [], |row| row.get(0))?;
    let canonical = Some(canonical);
    let anywhere = of_content(connection, digest, canonical, None)?;
    let there = match destination {
        // Most reports are new, and have come nowhere before.
        Some(_) if anywhere.is_empty() => Vec::new(),
        Some(_) => of_content(connection, digest, canonical, destination)?,
        None => anywhere.clone(),
    };
    let relatives = match document.zip(destination) {
        Some((identifier, destination)) => of_document(connection, identifier, destination)?,
        None => Vec::new(),
    };
    let through = SubmissionId(through.unwrap_or_default());
    Ok(KnownReports { through, anywhere, there, relatives })
}

/// Other submissions of the content of one, to the same authority, that were withdrawn, oldest
/// first.
pub(crate) fn withdrawn_of_content(
    connection: &Connection,
    id: SubmissionId,
) -> Result<Vec<SubmissionId>, JournalError> {
    let all = rows::all(connection, sql::WITHDRAWN_OF_CONTENT, [id.0], |row| {
        Ok((SubmissionId(row.get(0)?), row.get::<_, String>(1)?, row.get::<_, String>(2)?))
    })?;
    let mut found = Vec::new();
    for (other, theirs, ours) in all {
        if endpoints::lead_to_one(connection, &ours, &theirs)? {
            found.push(other);
        }
    }
    Ok(found)
}

/// Submissions of documents with this identifier to the same authority, and what has taken or is to
/// take their place, also under another identifier; oldest first.
pub(crate) fn of_document(
    connection: &Connection,
    identifier: &str,
    Destination { endpoint, environment }: Destination<'_>,
) -> Result<Vec<Relative>, JournalError> {
    let there = params![identifier, environment];
    let named = rows::all(connection, sql::OF_DOCUMENT, there, |row| {
        Ok((SubmissionId(row.get(0)?), row.get::<_, String>(1)?))
    })?;
    let mut all = BTreeSet::new();
    for (id, other) in named {
        if endpoints::lead_to_one(connection, endpoint, &other)? {
            all.insert(id);
            all.extend(succession::successors(connection, id)?);
        }
    }
    all.into_iter().map(|id| relative(connection, id)).collect()
}

pub(crate) fn relative(
    connection: &Connection,
    id: SubmissionId,
) -> Result<Relative, JournalError> {
    let found = rows::one(connection, sql::RELATIVE, [id.0], |row| {
        Ok(Relative {
            id,
            state: cells::from_json::<State>(0, row.get_ref(0)?.as_str()?)?.shown(),
            digest: row.get(1)?,
            canonical: row.get(2)?,
            has_content: row.get(3)?,
            updated: Instant(row.get(4)?),
            endpoint: row.get(5)?,
        })
    })?;
    found.ok_or(JournalError::NotFound(id))
}

/// Notes what a submission says, where that was not known yet.
pub(crate) fn set_canonical(
    connection: &Connection,
    id: SubmissionId,
    canonical: &str,
) -> Result<(), JournalError> {
    connection
        .prepare_cached(sql::SET_CANONICAL)
        .and_then(|mut statement| statement.execute(params![id.0, canonical]))
        .map(drop)
        .map_err(JournalError::sql("record"))
}

/// Takes in what takes the place of another, as [`append::import`] does, unless the authority has
/// this content by a third one, or may get it. Those that were refused, failed or were given up do
/// not stand in the way.
pub(crate) fn replace(
    connection: &Connection,
    prepared: &Prepared,
) -> Result<Imported, RecordError> {
    let new = &prepared.new;
    let here = Destination { endpoint: &new.endpoint, environment: new.environment.as_deref() };
    let all = of_content(connection, &new.digest, new.canonical.as_deref(), Some(here))?;
    let mut standing = Vec::new();
    for id in all.into_iter().filter(|id| Some(*id) != new.corrects) {
        let state = read::state(connection, id)?;
        if !state.is_settled() || matches!(state, State::Completed { .. } | State::Held { .. }) {
            standing.push(id);
        }
    }
    if !standing.is_empty() {
        return Ok(Imported::Known(standing));
    }
    append::import(connection, prepared).map(Imported::New)
}

/// Whether a submission will reach the authority by itself, or a person has yet to decide whether
/// it does. Where another has taken its place, that one counts, also where it has reached the
/// authority.
pub(crate) fn rules_out_another(
    connection: &Connection,
    id: SubmissionId,
) -> Result<bool, JournalError> {
    let (mut state, mut is_replaced) = (read::state(connection, id)?, false);
    while let State::Superseded { by } = state {
        (state, is_replaced) = (read::state(connection, by)?, true);
    }
    let has_arrived =
        matches!(state, State::Completed { .. } | State::Withdrawn { received: true });
    if state.is_undecided() || (is_replaced && has_arrived) {
        return Ok(true);
    }
    // What is linked to it and has not taken its place yet.
    if succession::waits_in_place_of(connection, id)?.is_some() {
        return Ok(true);
    }
    match succession::overtaken(connection, id)? {
        Some(newer) if !has_arrived => Ok(matches!(
            read::state(connection, newer)?,
            State::InProgress { .. }
                | State::Completed { .. }
                | State::Withdrawn { received: true }
        )),
        _ => Ok(false),
    }
}

/// As [`import_unless`], of what was compared with everything up to a number, and with nothing that
/// was taken in since: of two processes that find two versions of one document, the second one has
/// not seen that of the first.
pub(crate) fn import_compared(
    connection: &Connection,
    prepared: &Prepared,
    unless: Unless,
    through: SubmissionId,
) -> Result<Imported, RecordError> {
    let new = &prepared.new;
    let of_document =
        params![new.summary.identifier, new.environment, through.0, new.digest, new.canonical];
    for other in rows::all(connection, sql::VERSIONS_SINCE, of_document, |row| row.get(0))? {
        let other: String = other;
        if endpoints::lead_to_one(connection, &new.endpoint, &other)? {
            return Ok(Imported::Overtaken);
        }
    }
    import_unless(connection, prepared, unless)
}

/// Looks and takes in within one transaction: of two processes that find the same file, one takes
/// it.
pub(crate) fn import_unless(
    connection: &Connection,
    prepared: &Prepared,
    unless: Unless,
) -> Result<Imported, RecordError> {
    let new = &prepared.new;
    let here = Destination { endpoint: &new.endpoint, environment: new.environment.as_deref() };
    let destination = (unless != Unless::KnownAnywhere).then_some(here);
    let canonical = new.canonical.as_deref();
    let mut standing = of_content(connection, &new.digest, canonical, destination)?;
    if unless == Unless::Open {
        let mut open = Vec::new();
        for id in standing {
            if rules_out_another(connection, id)? {
                open.push(id);
            }
        }
        standing = open;
    }
    if !standing.is_empty() {
        return Ok(Imported::Known(standing));
    }
    let elsewhere = match unless {
        Unless::KnownAnywhere => lost::went_elsewhere(connection, new)?,
        // Another certificate is shown nothing of it, so that it cannot be asked for here.
        Unless::Known | Unless::Open => lost::went_beside(connection, new)?,
    };
    let held = elsewhere.map(|lost| prepared.held_for_a_person(&lost.endpoint));
    let prepared = held.as_ref().unwrap_or(prepared);
    // In nobody's place it would go beside what it was to correct, and nobody would be told.
    if let Some(predecessor) = new.corrects
        && !succession::is_correctable(connection, predecessor)?
    {
        return Ok(Imported::Overtaken);
    }
    let id = append::import_linked(connection, prepared)?;
    // Only a watched folder asks for what is known anywhere.
    if unless == Unless::KnownAnywhere {
        guard::is_watched(connection, id)?;
    }
    Ok(Imported::New(id))
}
