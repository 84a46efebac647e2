//! What people do with reports: release, resubmit, correct, withdraw.

use exchange::{Endpoint, IdentifierChoice};
use journal::{Destination, Imported, JournalError, Message, NewSubmission, Source, Step};
use report::{Action, Event, State, StateCode, SubmissionId};
use uuid::Uuid;

use crate::candidate::{Candidate, Origin, Parsed};
use crate::use_cases::intake::inspect::on_pool;
use crate::worker::wrapped;
use crate::{Engine, EngineError, ImportOptions};

impl Engine {
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
    /// too. Corrections of it that were withdrawn before they left may be given once more.
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
        for other in all.into_iter().rev() {
            let row = self.journal().row(other)?;
            let is_undone = row.state.shown() == StateCode::Withdrawn && row.attempts == 0;
            if !(is_undone && row.corrects == Some(id)) {
                return Ok(Some(other));
            }
        }
        Ok(None)
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

/// A `urn:uuid:` for one attempt to deliver one content. Version 7 (RFC 9562) grows with time, so
/// that those that are taken in together stand together in the journal's index.
fn attempt_identifier() -> String {
    format!("urn:uuid:{}", Uuid::now_v7())
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
