//! Known content in a watched folder. What a person withdrew, what was refused, and what went to
//! another authority is known and is not sent again by itself; whoever exported it again has to
//! hear of that.

use std::collections::HashMap;

use journal::{Destination, Row};
use report::{StateCode, SubmissionId};

use super::memory::Memory;
use crate::{Candidate, Engine, EngineError, Taken};

/// Contents judged again at one look: each is two questions to the journal.
const JUDGED_AT_ONCE: usize = 200;

/// What a report says, by its digests.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Content {
    digest: String,
    canonical: String,
}

/// The submission for which a content was not taken in, and that does not bring it to the authority
/// in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stopped {
    pub(super) submission: SubmissionId,
    /// Its state, as people read it.
    pub(super) state: StateCode,
    pub(super) endpoint: String,
}

impl Engine {
    /// Those of the reports of a file that nothing brings to the authority in use.
    pub(super) fn stopped_of(
        &self,
        pieces: &[(&Candidate, Taken)],
    ) -> Result<Vec<(String, Content, Stopped)>, EngineError> {
        let mut found = Vec::new();
        for (candidate, taken) in pieces {
            let (Taken::Known(_), Some(parsed)) = (taken, candidate.parsed()) else { continue };
            let content =
                Content { digest: parsed.digest.clone(), canonical: parsed.canonical.clone() };
            if let Some(stopped) = self.stopped(&content)? {
                found.push((candidate.name.clone(), content, stopped));
            }
        }
        Ok(found)
    }

    /// Judges again what the journal may have learned about. A journal that cannot be read is asked
    /// at the next look.
    pub(super) async fn judge_known(&self, memory: &mut Memory) {
        let Ok(revision) = self.known_at() else { return };
        let due = memory.to_judge(revision, JUDGED_AT_ONCE);
        if due.is_empty() {
            return;
        }
        let engine = self.clone();
        let judged = tokio::task::spawn_blocking(move || {
            let judge = |content: Content| Ok((content.clone(), engine.stopped(&content)?));
            due.into_iter().map(judge).collect::<Result<HashMap<_, _>, EngineError>>()
        });
        if let Ok(Ok(judged)) = judged.await {
            memory.judge(revision, &judged);
        }
    }

    /// Nothing where a submission of this content has reached the authority in use, or will by
    /// itself.
    fn stopped(
        &self,
        Content { digest, canonical }: &Content,
    ) -> Result<Option<Stopped>, EngineError> {
        let endpoint = self.endpoint()?;
        let here =
            Destination { endpoint: endpoint.id(), environment: Some(endpoint.environment.code()) };
        let of_content = |place| self.journal().of_content(digest, Some(canonical), place);
        let mut ids = of_content(Some(here))?;
        if ids.is_empty() {
            // What went elsewhere reaches nobody here, whatever became of it.
            let last = of_content(None)?.pop();
            return last.map(|id| Ok(self.stopped_by(self.last_of(id)?))).transpose();
        }
        let mut newest = None;
        while let Some(id) = ids.pop() {
            let row = self.last_of(id)?;
            match row.state.shown() {
                // A person's word that the authority has it counts as its own.
                StateCode::Completed | StateCode::SaidReceived => return Ok(None),
                state if state.is_open() => return Ok(None),
                _ => _ = newest.get_or_insert(row),
            }
        }
        Ok(newest.map(|row| self.stopped_by(row)))
    }

    /// The submission that stands for this one now: itself, or the last that took its place.
    fn last_of(&self, id: SubmissionId) -> Result<Row, EngineError> {
        let mut row = self.journal().row(id)?;
        while let Some(next) = row.corrected_by {
            row = self.journal().row(next)?;
        }
        Ok(row)
    }

    fn stopped_by(&self, row: Row) -> Stopped {
        Stopped {
            submission: row.id,
            state: row.state.shown(),
            endpoint: self.profile().name_of(&row.endpoint),
        }
    }

    /// Moves with the journal and with the endpoint in use: what was judged before that is judged
    /// again.
    pub(super) fn known_at(&self) -> Result<u64, EngineError> {
        let generation = self.settings_generation() << 40;
        Ok(generation.wrapping_add(self.journal().revision()?))
    }
}
