//! What people do with reports: look at files, release, resubmit, correct, withdraw.

use std::path::PathBuf;
use std::sync::Arc;

use exchange::{Endpoint, IdentifierChoice};
use futures::{StreamExt as _, stream};
use journal::{Destination, Imported, JournalError, Message, NewSubmission, Source, Step};
use report::{Action, Event, State, SubmissionId};
use uuid::Uuid;

use crate::intake::source::{
    Piece, Room, SourceLimits, files_below, files_below_each, may_hold_several, pieces_of,
    pieces_of_bytes,
};
use crate::intake::{Candidate, Origin, Parsed, look_at};
use crate::worker::wrapped;
use crate::{Engine, EngineError, ImportOptions};

/// Files looked at together: reading and checking is CPU work, so a few at a time.
const LOOKS_AT_ONCE: usize = 4;
impl Engine {
    /// The files that paths lead to: folders give what is below them.
    async fn files(&self, paths: Vec<PathBuf>) -> Result<Vec<PathBuf>, EngineError> {
        let limits = self.source_limits();
        on_pool(move || files_below(&paths, &limits)).await
    }

    /// Looks at files, folders, archives; nothing is taken in yet. The result holds the bytes of
    /// all.
    pub async fn inspect(&self, paths: Vec<PathBuf>) -> Result<Vec<Candidate>, EngineError> {
        self.inspect_and(paths, |candidates| candidates).await
    }

    /// The same of files that were found already: a folder among them is refused.
    pub(crate) async fn inspect_files(
        &self,
        files: Vec<PathBuf>,
    ) -> Result<Vec<Candidate>, EngineError> {
        self.look_and(files, self.source_limits(), |candidates| candidates).await
    }

    /// Looks at what each of these paths leads to, within the bounds of one hand-over. What cannot
    /// be looked at, because the journal cannot be compared with it, keeps no other from it.
    ///
    /// # Errors
    /// Of all only at the end of the program.
    pub async fn inspect_each(
        &self,
        paths: Vec<PathBuf>,
    ) -> Result<Vec<Result<Vec<Candidate>, EngineError>>, EngineError> {
        let limits = self.source_limits();
        let below = on_pool(move || files_below_each(&paths, &limits)).await?;
        let counts: Vec<usize> = below.iter().map(Vec::len).collect();
        let (files, several) = self.with_several(below.into_iter().flatten().collect()).await?;
        let _turn = self.turn(&several).await;
        let mut looked = self.looked_at(files, limits).await.into_iter();
        let joined = |count: usize| {
            let of_path: Result<Vec<_>, _> = looked.by_ref().take(count).collect();
            of_path.map(|groups| groups.into_iter().flatten().collect())
        };
        Ok(counts.into_iter().map(joined).collect())
    }

    /// Looks, and makes something of it at once. Until that is done no other archive is unpacked,
    /// so that those who ask for many one by one have one of them in memory.
    pub async fn inspect_and<T: Send + 'static>(
        &self,
        paths: Vec<PathBuf>,
        make: impl FnOnce(Vec<Candidate>) -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        self.look_and(self.files(paths).await?, self.source_limits(), make).await
    }

    pub(crate) async fn look_and<T: Send + 'static>(
        &self,
        files: Vec<PathBuf>,
        limits: SourceLimits,
        make: impl FnOnce(Vec<Candidate>) -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        let (files, several) = self.with_several(files).await?;
        let turn = self.turn(&several).await;
        let groups: Result<Vec<_>, _> = self.looked_at(files, limits).await.into_iter().collect();
        let candidates = groups?.into_iter().flatten().collect();
        let made = on_pool(move || make(candidates)).await;
        drop(turn);
        made
    }

    /// Waits until no other archive is in memory, where these files may be some.
    async fn turn(&self, several: &[bool]) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        match several.contains(&true) {
            true => Some(self.inner.unpacking.lock().await),
            false => None,
        }
    }

    /// Which of the files may hold several reports.
    pub(crate) async fn with_several(
        &self,
        files: Vec<PathBuf>,
    ) -> Result<(Vec<PathBuf>, Vec<bool>), EngineError> {
        let limits = self.source_limits();
        on_pool(move || {
            let several = files.iter().map(|file| may_hold_several(file, &limits)).collect();
            (files, several)
        })
        .await
    }

    /// What is in each of the files.
    async fn looked_at(
        &self,
        files: Vec<PathBuf>,
        limits: SourceLimits,
    ) -> Vec<Result<Vec<Candidate>, EngineError>> {
        let room = Arc::new(Room::new(&limits));
        stream::iter(files)
            .map(|file| {
                let (engine, room) = (self.clone(), room.clone());
                on_pool(move || engine.look(pieces_of(&file, &limits, &room)))
            })
            .buffered(LOOKS_AT_ONCE)
            .map(|result| result.and_then(|inner| inner))
            .collect()
            .await
    }

    /// Looks at a text that did not come from a file.
    pub async fn inspect_text(
        &self,
        name: String,
        text: Vec<u8>,
    ) -> Result<Vec<Candidate>, EngineError> {
        let (engine, limits) = (self.clone(), self.source_limits());
        on_pool(move || engine.look(pieces_of_bytes(name, text, &limits))).await?
    }

    fn look(&self, pieces: Vec<Piece>) -> Result<Vec<Candidate>, EngineError> {
        let now = self.now();
        pieces
            .into_iter()
            .map(|piece| {
                let mut candidate = look_at(piece, now);
                self.apply_rules(&mut candidate);
                self.compare(&mut candidate)?;
                Ok(candidate)
            })
            .collect()
    }

    pub(crate) fn submission(
        &self,
        candidate: &Candidate,
        parsed: &Parsed,
        endpoint: Endpoint,
        terms: ImportOptions,
        corrects: Option<SubmissionId>,
    ) -> Result<NewSubmission, EngineError> {
        let now = self.now();
        let identifier = match (&parsed.envelope_identifier, endpoint.identifier) {
            // One that was used before stands for another delivery already, perhaps of another
            // content.
            (Some(own), _) => match self.journal().find_by_attempt_identifier(own)? {
                None => own.clone(),
                Some(_) => attempt_identifier(),
            },
            (None, IdentifierChoice::Document) => {
                parsed.summary.identifier.clone().unwrap_or_else(attempt_identifier)
            }
            (None, IdentifierChoice::Attempt) => attempt_identifier(),
        };
        let first = if candidate.has_errors() || self.holds(parsed, terms) {
            Event::Held
        } else {
            Event::Queued { due: now.plus_micros(terms.delay_micros) }
        };
        Ok(NewSubmission {
            file: candidate.name.clone(),
            format: parsed.format,
            document: parsed.bytes.clone(),
            digest: parsed.digest.clone(),
            canonical: Some(parsed.canonical.clone()),
            summary: parsed.summary.clone(),
            identifier,
            environment: Some(endpoint.environment.code().to_owned()),
            endpoint: endpoint.id().to_owned(),
            first,
            findings: messages(candidate).into_iter().chain(self.rules_applied()).collect(),
            corrects,
            by: self.person().clone(),
            at: now,
        })
    }

    /// Sends the same content as a new submission in place of a rejected or failed one.
    pub async fn resubmit(&self, id: SubmissionId) -> Result<SubmissionId, EngineError> {
        self.resubmit_after(id, 0).await
    }

    /// As [`Engine::resubmit`], with some microseconds before the first request may go out (undo).
    pub async fn resubmit_after(
        &self,
        id: SubmissionId,
        delay_micros: i64,
    ) -> Result<SubmissionId, EngineError> {
        let state = self.journal().state(id)?;
        if !state.actions(self.now()).contains(&Action::Resubmit) {
            return Err(EngineError::NotPermitted {
                action: Action::Resubmit,
                state: state.shown().code(),
            });
        }
        let name = self.journal().row(id)?.file;
        let bytes = self.content(id)?;
        let mut candidates = self.inspect_text(name, bytes).await?;
        let candidate = single(&mut candidates)?;
        self.replace(id, candidate, Action::Resubmit, delay_micros).await
    }

    /// Sends a corrected file in place of a held, rejected or failed submission.
    pub async fn correct(
        &self,
        id: SubmissionId,
        candidate: Candidate,
    ) -> Result<SubmissionId, EngineError> {
        self.correct_after(id, candidate, 0).await
    }

    /// As [`Engine::correct`], with some microseconds before the first request may go out (undo).
    pub async fn correct_after(
        &self,
        id: SubmissionId,
        candidate: Candidate,
        delay_micros: i64,
    ) -> Result<SubmissionId, EngineError> {
        let state = self.journal().state(id)?;
        if !state.actions(self.now()).contains(&Action::Correct) {
            return Err(EngineError::NotPermitted {
                action: Action::Correct,
                state: state.shown().code(),
            });
        }
        let known = match candidate.parsed() {
            Some(parsed) => self.known_where_it_goes(id, parsed)?,
            None => None,
        };
        match known {
            // The unchanged file in place of itself is a resubmission; anything else known is a
            // mistake.
            Some(other) if other != id => Err(EngineError::Known(other)),
            _ => self.replace(id, candidate, Action::Correct, delay_micros).await,
        }
    }

    /// The newest submission of this content where a submission went: its correction goes there
    /// too.
    fn known_where_it_goes(
        &self,
        id: SubmissionId,
        parsed: &Parsed,
    ) -> Result<Option<SubmissionId>, EngineError> {
        let row = self.journal().row(id)?;
        let environment = row.environment.as_deref();
        let there = Destination { endpoint: &row.endpoint, environment };
        let all =
            self.journal().of_content(&parsed.digest, Some(&parsed.canonical), Some(there))?;
        Ok(all.last().copied())
    }

    async fn replace(
        &self,
        id: SubmissionId,
        mut candidate: Candidate,
        action: Action,
        delay_micros: i64,
    ) -> Result<SubmissionId, EngineError> {
        self.compare_in_place_of(id, &mut candidate)?;
        let Some(parsed) = candidate.parsed() else {
            return Err(EngineError::NotAReport(Box::new(candidate)));
        };
        let endpoint = self.endpoint_of_report(id)?;
        let terms = ImportOptions { delay_micros, ..ImportOptions::default() };
        let new = self.submission(&candidate, parsed, endpoint, terms, Some(id))?;
        let replaced = self.journal().replace_async(new).await;
        match replaced.map_err(|error| EngineError::refused(action, error))? {
            Imported::New(successor) => {
                self.wake();
                Ok(successor)
            }
            // Newest first is what people are shown; there is always one.
            Imported::Known(ids) => match ids.last() {
                Some(known) => Err(EngineError::Known(*known)),
                None => Err(JournalError::Damaged.into()),
            },
            // The journal refuses this with a reason of its own; if it did not, another look helps.
            Imported::Overtaken => Err(JournalError::Busy.into()),
        }
    }

    /// Where a report went: what takes its place goes there too, and nowhere else. Nobody has said
    /// that what went to a test system may go to whatever endpoint is in use.
    pub(crate) fn endpoint_of_report(&self, id: SubmissionId) -> Result<Endpoint, EngineError> {
        let (row, profile) = (self.journal().row(id)?, self.profile());
        let same =
            |it: &&Endpoint| row.environment.as_deref().is_none_or(|e| e == it.environment.code());
        let there = profile.endpoint_of(&row.endpoint).filter(same).cloned();
        there.ok_or_else(|| {
            let mut gone = profile.gone(&row.endpoint);
            gone.environment = row.environment.unwrap_or(gone.environment);
            EngineError::EndpointGone(gone)
        })
    }

    /// Sends a held report although something was found. Around what is no document no envelope can
    /// be written, and an envelope without an identifier could never be asked for: that is said at
    /// once, and the report stays on hold.
    pub async fn release(&self, id: SubmissionId, reason: String) -> Result<(), EngineError> {
        self.release_after(id, reason, 0).await
    }

    /// As [`Engine::release`], with some microseconds before the first request may go out (undo).
    pub async fn release_after(
        &self,
        id: SubmissionId,
        reason: String,
        delay_micros: i64,
    ) -> Result<(), EngineError> {
        let engine = self.clone();
        on_pool(move || engine.sendable(id)).await??;
        let event = Event::Released { reason, due: self.now().plus_micros(delay_micros) };
        self.act(id, event, Action::Release).await
    }

    /// Whether this report could be sent as it is at all.
    pub fn sendable(&self, id: SubmissionId) -> Result<(), EngineError> {
        let bytes = self.content(id)?;
        let identifier = self.journal().row(id)?.identifier;
        match wrapped(&bytes, &identifier, "") {
            None => Err(EngineError::NotADocument(id)),
            Some(wrapped) if wrapped.identifier != identifier => Err(EngineError::NoIdentifier(id)),
            Some(_) => Ok(()),
        }
    }

    /// A person says that the authority has a report that has been in doubt or in progress for
    /// long, or that is on hold and may have arrived. It is settled by that; one in progress is
    /// waited for on, because what becomes of it is not known yet.
    pub async fn say_received(&self, id: SubmissionId, reason: String) -> Result<(), EngineError> {
        self.permit(id, Action::SayReceived)?;
        let event = match self.journal().state(id)? {
            State::InProgress { .. } => Event::StillExpected { reason, at: self.now() },
            _ => Event::SaidReceived { reason },
        };
        self.act(id, event, Action::SayReceived).await
    }

    /// A person says that the authority does not have it: it is sent again, under the same
    /// identifier.
    pub async fn say_not_received(
        &self,
        id: SubmissionId,
        reason: String,
    ) -> Result<(), EngineError> {
        self.permit(id, Action::SayNotReceived)?;
        // What a restore found at the authority, and what retention has erased, has no document to
        // send.
        if matches!(self.journal().document(id), Err(JournalError::NotFound(_))) {
            return Err(EngineError::Erased(id));
        }
        let event = Event::SaidNotReceived { reason, due: self.now() };
        self.act(id, event, Action::SayNotReceived).await
    }

    /// What depends on time, or on what was found, no state can refuse by itself.
    fn permit(&self, id: SubmissionId, action: Action) -> Result<(), EngineError> {
        let detail = self.journal().detail(id)?;
        if detail.actions(self.now()).contains(&action) {
            return Ok(());
        }
        Err(EngineError::NotPermitted { action, state: detail.row.state.shown().code() })
    }

    /// Stops a report that waits to be sent.
    pub async fn hold_back(&self, id: SubmissionId) -> Result<(), EngineError> {
        let mut step = Step::new(id, Event::HeldBack, self.person().clone(), self.now());
        // It may have left a moment ago.
        step.expected = Some("queued");
        self.done(step, Action::HoldBack).await
    }

    /// Decides that a report will not be sent (again).
    pub async fn withdraw(&self, id: SubmissionId, reason: String) -> Result<(), EngineError> {
        self.act(id, Event::Withdrawn { reason }, Action::Withdraw).await
    }

    async fn act(&self, id: SubmissionId, event: Event, action: Action) -> Result<(), EngineError> {
        let step = Step::new(id, event, self.person().clone(), self.now());
        self.done(step, action).await
    }

    async fn done(&self, step: Step, action: Action) -> Result<(), EngineError> {
        let recorded = self.journal().record_async(step).await;
        recorded.map_err(|error| EngineError::refused(action, error))?;
        self.wake();
        Ok(())
    }

    fn content(&self, id: SubmissionId) -> Result<Vec<u8>, EngineError> {
        if self.journal().row(id)?.erased.is_some() {
            return Err(EngineError::Erased(id));
        }
        Ok(self.journal().document(id)?)
    }
}

fn single(candidates: &mut Vec<Candidate>) -> Result<Candidate, EngineError> {
    candidates.pop().ok_or(EngineError::Journal(JournalError::Damaged))
}

/// A `urn:uuid:` for one attempt to deliver one content.
fn attempt_identifier() -> String {
    format!("urn:uuid:{}", Uuid::new_v4())
}

/// The findings of a candidate as the journal keeps them.
pub fn messages(candidate: &Candidate) -> Vec<Message> {
    candidate
        .findings
        .iter()
        .map(|(origin, finding)| {
            let source = match origin {
                Origin::Base => Source::Base,
                Origin::Local => Source::Local,
            };
            Message::from_finding(source, finding)
        })
        .collect()
}

/// Runs CPU and file work off the async threads.
pub(crate) async fn on_pool<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, EngineError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| EngineError::Journal(JournalError::Closed))
}
