//! What a search shows of reports that have not left, as far as the journal knows.

use client::{Authority, Evidence};
use exchange::{Answer, IdentifierChoice};
use journal::{JournalError, MAY_BE_KNOWN, Message, Reconciled, RecordError};
use report::{Event, State, SubmissionId};

use super::Worker;
use super::learn::News;
use crate::worker::found::{entry, found_report};

impl<A: Authority> Worker<A> {
    /// Another copy of this journal has sent them, or an answer said wrongly that nothing had
    /// arrived: they are in doubt at once, as a comparison after a restore puts them, so that none
    /// is sent again. Says whether there is one.
    ///
    /// Where an endpoint wants the document's identifier, what is shown may be another version of
    /// the document.
    pub(super) async fn doubt_unsent(
        &self,
        unsent: &[News<'_>],
        pages: &[Evidence],
    ) -> Result<bool, JournalError> {
        if self.endpoint.identifier == IdentifierChoice::Document {
            return Ok(false);
        }
        let mut doubted = false;
        for News { id, state, event, answer } in unsent {
            let is_told = |message: &Message| message.code == MAY_BE_KNOWN;
            if matches!(state, State::Held { .. })
                && self.journal.restored_since(*id)?.is_none()
                && self.journal.detail(*id)?.messages.iter().any(is_told)
            {
                // Whoever holds it decides.
                continue;
            }
            let Some(proof) = entry(pages, answer) else { continue };
            doubted |= self.doubt_found(*id, event, answer, proof).await?;
        }
        Ok(doubted)
    }

    /// Puts a report in doubt that the authority shows and that the journal believes not to have
    /// left; says whether it did.
    pub(super) async fn doubt_found(
        &self,
        id: SubmissionId,
        event: &Event,
        answer: &Answer,
        proof: Evidence,
    ) -> Result<bool, JournalError> {
        let identifier = self.journal.row(id)?.identifier;
        let (endpoint, now) = (self.endpoint.id(), self.clock.now());
        let whose = (identifier, Some(id));
        let report = found_report(endpoint, whose, event.clone(), answer, proof, now);
        match self.journal.reconcile_async(report).await {
            Ok(found) => Ok(matches!(found, Reconciled::Doubted(_))),
            Err(RecordError::Journal(error)) => Err(error),
            // It has moved on meanwhile.
            Err(_) => Ok(false),
        }
    }
}
