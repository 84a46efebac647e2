//! The handle: one per process, cheap to clone. Everything that is asked of a journal is asked
//! here; what is done about it stands in the folders below.

pub(crate) mod account;
pub(crate) mod changes;
mod edited;
mod endpoints;
mod look;
mod pause;
mod questions;
mod upkeep;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use fhir::Instant;
use report::{Person, State, SubmissionId};
use rusqlite::Connection;

use crate::copies::backup;
use crate::events::{append, attach, known, lease, retain};
use crate::queries::{read, verify};
use crate::recovery::register::{Agreement, Look, Register};
use crate::recovery::{register, sound};
use crate::store::simulation::{Inline, Memory, Seam};
use crate::store::words::Purge;
use crate::store::writer::{Effect, Writer};
use crate::store::{hold, open, rows, settings, sql, words};
use crate::{
    BackupFacts, Discrepancy, DiscrepancyKind, Evidence, Imported, JournalError, Key, Lease,
    LeaseAnswer, NewSubmission, OpenProblem, Pending, RecordError, Retention, Step, Token, Unless,
    Verification,
};

/// An open journal. Clones share the writing thread and the reading connections; the last one
/// dropped finishes what was asked and closes the file.
#[derive(Clone)]
pub struct Journal(pub(crate) Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) place: open::Place,
    // Before the writer, so that the writing connection is the last one closed: only that one can
    // bring the log into the file and remove it.
    pub(crate) readers: Mutex<Vec<Connection>>,
    pub(crate) writer: Writer,
    /// No restore renames the files while this is held. `None` in simulations.
    _held: Option<std::fs::File>,
    /// What a person has to know about the opening itself.
    pub(crate) unregistered: bool,
}

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal").finish_non_exhaustive()
    }
}

impl Journal {
    /// Makes a new, empty journal. The file appears complete or not at all; an existing one is
    /// never touched ([`OpenProblem::Exists`]).
    pub fn create(path: &Path, key: &Key) -> Result<Self, OpenProblem> {
        open::create(path, key)?;
        Self::open(path, key)
    }

    /// Opens an existing journal. One of an older program is left alone
    /// ([`OpenProblem::OlderSchema`]): [`crate::migrate`] brings it up to date.
    pub fn open(path: &Path, key: &Key) -> Result<Self, OpenProblem> {
        let place = open::Place::new(path, key)?;
        open::present(&place.path)?;
        let held = hold::shared(&place.path)?;
        let (connection, agreement) = sound::sound(&place)?;
        let mut register = Register::open(&place, &connection, agreement);
        let note = move |connection: &Connection| {
            if let Some(register) = &mut register {
                register.note(connection);
            }
        };
        words::gather(&connection).map_err(OpenProblem::sql("open"))?;
        let writer = Writer::start(connection, note).map_err(OpenProblem::io("start thread"))?;
        let readers = Mutex::new(Vec::new());
        let unregistered = agreement == Agreement::Lost;
        Ok(Self(Arc::new(Shared { place, writer, readers, _held: Some(held), unregistered })))
    }

    /// A process of a simulation.
    #[doc(hidden)]
    pub fn simulated(memory: &Memory, seam: Arc<dyn Seam>) -> Self {
        let key = Key::new(zeroize::Zeroizing::new([0; 32]));
        let place = open::Place { path: std::path::PathBuf::new(), key };
        let writer = Writer::inline(Inline { memory: memory.clone(), seam });
        let (readers, unregistered) = (Mutex::new(Vec::new()), false);
        Self(Arc::new(Shared { place, writer, readers, _held: None, unregistered }))
    }

    /// Takes a report in, on disk when this returns. A predecessor ([`NewSubmission::corrects`]) is
    /// superseded in the same transaction; if it cannot be, nothing is taken in.
    pub fn import(&self, new: NewSubmission) -> Result<SubmissionId, RecordError> {
        self.import_async(new).wait()
    }

    /// [`Self::import`], to be awaited. Order of calls is order of commits.
    pub fn import_async(&self, new: NewSubmission) -> Pending<SubmissionId, RecordError> {
        match append::Prepared::new(new) {
            Ok(prepared) => self.write(Effect::Seen, move |c| append::import(c, &prepared)),
            Err(error) => Pending::ready(Err(error)),
        }
    }

    /// [`Self::import_async`] of what takes the place of another, unless a third one of the same
    /// content to the same destination is there, on its way or on hold.
    pub fn replace_async(&self, new: NewSubmission) -> Pending<Imported, RecordError> {
        match append::Prepared::new(new) {
            Ok(prepared) => self.write(Effect::Seen, move |c| known::replace(c, &prepared)),
            Err(error) => Pending::ready(Err(error)),
        }
    }

    /// [`Self::import_async`], unless this content stands in the journal already: the same bytes,
    /// or the same canonical digest. Other processes cannot come in between. A predecessor is
    /// linked, and superseded only when the report is sent, in the transaction that says so; one
    /// that meanwhile cannot be corrected any more is left alone.
    pub fn import_unless_async(
        &self,
        new: NewSubmission,
        unless: Unless,
    ) -> Pending<Imported, RecordError> {
        match append::Prepared::new(new) {
            Ok(prepared) => {
                self.write(Effect::Seen, move |c| known::import_unless(c, &prepared, unless))
            }
            Err(error) => Pending::ready(Err(error)),
        }
    }

    /// The same of what was compared with everything up to the submission of this number, unless a
    /// version of its document was taken in since.
    pub fn import_compared_async(
        &self,
        new: NewSubmission,
        unless: Unless,
        through: SubmissionId,
    ) -> Pending<Imported, RecordError> {
        match append::Prepared::new(new) {
            Ok(prepared) => self.write(Effect::Seen, move |c| {
                known::import_compared(c, &prepared, unless, through)
            }),
            Err(error) => Pending::ready(Err(error)),
        }
    }

    /// Records an event with its evidence and messages and gives the state after it.
    pub fn record(&self, step: Step) -> Result<State, RecordError> {
        self.record_async(step).wait()
    }

    /// [`Self::record`], to be awaited.
    pub fn record_async(&self, step: Step) -> Pending<State, RecordError> {
        match append::PreparedStep::new(step) {
            Ok(prepared) => {
                self.0.writer.submit(Effect::Seen, true, move |c| append::record(c, &prepared))
            }
            Err(error) => Pending::ready(Err(error)),
        }
    }

    /// Keeps an answer that changes nothing, e.g. one that came too late for its event to be legal.
    pub fn keep_evidence(&self, id: SubmissionId, kept: Evidence) -> Result<i64, JournalError> {
        let packed = attach::PackedEvidence::new(kept)?;
        self.write(Effect::Seen, move |c| append::keep_evidence(c, id, &packed)).wait()
    }

    /// After a start: every `Sending` becomes `Unknown` (why: `process-ended`), due at once. With
    /// the lease, so that the requests of a living process are left alone.
    pub fn recover(
        &self,
        now: Instant,
        by: &Person,
        lease: Option<Token>,
    ) -> Result<Vec<SubmissionId>, RecordError> {
        let by = by.clone();
        self.write(Effect::Seen, move |c| append::recover(c, now, &by, lease, None)).wait()
    }

    /// The same for the reports of one endpoint: those to others may be on their way.
    pub fn recover_at(
        &self,
        endpoint: &str,
        now: Instant,
        by: &Person,
        lease: Token,
    ) -> Result<Vec<SubmissionId>, RecordError> {
        let (by, at) = (by.clone(), endpoint.to_owned());
        self.write(Effect::Seen, move |c| append::recover(c, now, &by, Some(lease), Some(&at)))
            .wait()
    }

    /// Checks the whole journal: pages, replay, digests, the chain of events, proof of every
    /// `Completed`. Takes seconds to minutes; others can work meanwhile.
    pub fn verify(&self) -> Result<Verification, JournalError> {
        // A disk that is full or damaged does not let the log in: then the check goes without that
        // part.
        let pages = match self.0.writer.memory() {
            Some(_) => open::Pages::InLog,
            None => open::settle(&self.0.place).unwrap_or(open::Pages::InLog),
        };
        // The register first: the journal may move on meanwhile.
        let look = match self.0.writer.memory() {
            Some(_) => Look::Absent,
            None => register::look(&self.0.place).unwrap_or(Look::Unreadable),
        };
        let mut found = self.read_anew(|c| verify::verify(c, pages))?;
        if let Look::Present(head) = &look
            && !self.read(|c| register::holds(c, head)).unwrap_or(false)
        {
            let kind = DiscrepancyKind::Anchor;
            found.problems.push(Discrepancy { kind, id: None, event: None });
        }
        if !found.problems.is_empty() && self.0.writer.memory().is_none() {
            register::suspect(&self.0.place, true);
        }
        Ok(found)
    }

    /// A setting, as JSON.
    pub fn setting(&self, name: &str) -> Result<Option<serde_json::Value>, JournalError> {
        self.read(|c| settings::get(c, name))
    }

    /// Sets it.
    pub fn set_setting(&self, name: &str, value: serde_json::Value) -> Result<(), JournalError> {
        let name = name.to_owned();
        self.write(Effect::Seen, move |c| settings::set(c, &name, &value)).wait()
    }

    /// The server's time up to which everything that changed at this endpoint was seen.
    pub fn watermark(&self, endpoint: &str) -> Result<Option<Instant>, JournalError> {
        self.read(|c| settings::watermark(c, endpoint))
    }

    /// Sets it; after the steps that were learned are recorded, so that a crash repeats and never
    /// skips.
    pub fn set_watermark(&self, endpoint: &str, at: Instant) -> Result<(), JournalError> {
        let endpoint = endpoint.to_owned();
        self.write(Effect::Unseen, move |c| settings::set_watermark(c, &endpoint, at)).wait()
    }

    /// Takes the lease if it is free or expired; the token grows. Whoever holds it already keeps it
    /// by [`Self::renew_lease`]: a name proves nothing, only the token does.
    pub fn acquire_lease(
        &self,
        holder: &str,
        now: Instant,
        until: Instant,
    ) -> Result<LeaseAnswer, JournalError> {
        let holder = holder.to_owned();
        self.write(Effect::Unseen, move |c| lease::acquire(c, &holder, now, until)).wait()
    }

    /// Takes the lease if it is still exactly as it was `seen`: whoever watched it for a whole life
    /// of a lease knows that its holder is gone, also where the clock was set back and says
    /// otherwise.
    pub fn take_over_lease(
        &self,
        holder: &str,
        seen: &Lease,
        until: Instant,
    ) -> Result<LeaseAnswer, JournalError> {
        let (holder, seen) = (holder.to_owned(), seen.clone());
        self.write(Effect::Unseen, move |c| lease::take_over(c, &holder, &seen, until)).wait()
    }

    /// Keeps it for longer. [`JournalError::StaleLease`] once another process has taken it.
    pub fn renew_lease(&self, held: &Lease, until: Instant) -> Result<Lease, JournalError> {
        let held = held.clone();
        self.write(Effect::Unseen, move |c| lease::renew(c, &held, until)).wait()
    }

    /// Gives it back; its token is stale from then on. Nothing to do if another process has taken
    /// it.
    pub fn release_lease(&self, held: &Lease) -> Result<(), JournalError> {
        let held = held.clone();
        self.write(Effect::Unseen, move |c| lease::release(c, &held)).wait()
    }

    /// Who works the queue, or last did.
    pub fn lease(&self) -> Result<Option<Lease>, JournalError> {
        self.read(lease::current)
    }

    /// Grows with every commit that changes submissions or settings, whichever process makes it.
    /// Cheap: ask often.
    pub fn revision(&self) -> Result<u64, JournalError> {
        self.read(read::revision)
    }

    /// Commits made through this handle and its clones.
    pub fn commits(&self) -> u64 {
        self.0.writer.commits()
    }

    /// Copies the journal as it is now into one file under the same key, and verifies the copy
    /// before it gets its name. Never overwrites. Others can work meanwhile.
    pub fn backup(&self, target: &Path) -> Result<BackupFacts, JournalError> {
        self.read(|c| backup::write(c, &self.0.place, target))
    }

    /// How many submissions [`Journal::retain`] would change now.
    pub fn erasable(&self, rule: Retention, now: Instant) -> Result<u64, JournalError> {
        self.read(|c| retain::count(c, rule, now))
    }

    /// Removes what may name a patient from settled submissions that are older than the rule says,
    /// and gives their number.
    ///
    /// Removed: document, summary (all but the document's identifier), file name, search words, the
    /// authority's words, parameters and places of all messages, and the bodies of all evidence but
    /// the one behind the last event. Kept: events, digests, sizes, identifiers, receipts, codes of
    /// messages, and that last answer, because it proves what became of the report. An answer that
    /// repeats the document would keep patient data: the engine keeps such an answer without the
    /// contained document. Never touched: what is not settled, and what a person still has to act
    /// on (held, rejected, failed).
    pub fn retain(&self, rule: Retention, now: Instant) -> Result<usize, JournalError> {
        let mut erased = 0;
        // In portions, so that the worker's steps come in between.
        loop {
            let portion =
                self.write(Effect::Seen, move |c| retain::portion(c, rule, now)).wait()?;
            if portion == 0 {
                break;
            }
            erased += portion;
        }
        if rule.completed_days.is_some() || rule.closed_days.is_some() {
            let bare = self.read(|c| rows::all(c, sql::ERASED, [], |row| row.get(0)))?;
            register::forget_files(&self.0.place, &bare);
        }
        if erased > 0 {
            let mut stage = Purge::Begin;
            while self.write(Effect::Unseen, move |c| words::purge(c, stage)).wait()?.is_some() {
                stage = Purge::GoOn;
            }
        }
        Ok(erased)
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.0.place.path
    }

    /// Finishes what was asked and closes the writing connection. Other clones get
    /// [`JournalError::Closed`] for whatever they still want to write.
    pub fn close(self) {
        // The writing connection has to be the last one, see `Shared`.
        self.0.readers.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.0.writer.stop();
    }

    pub(crate) fn write<T, E, F>(&self, effect: Effect, step: F) -> Pending<T, E>
    where
        T: Send + 'static,
        E: crate::store::writer::Failure,
        F: FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    {
        self.0.writer.submit(effect, false, step)
    }
}
