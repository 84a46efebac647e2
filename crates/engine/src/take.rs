//! Candidates become submissions: what is new is taken in, what is known is told.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use exchange::Endpoint;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use journal::{Imported, JournalError, NewSubmission, Unless};
use report::{Action, Event, SubmissionId};

use crate::intake::{Candidate, Parsed};
use crate::relation::SameIdentifier;
use crate::{Engine, EngineError};

/// How reports are taken in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// What to do with content that was taken in before.
    pub known: KnownContent,
    /// Who decides about another content under a document identifier that is on its way or was completed.
    pub differing: Differing,
    /// Microseconds before the first request may go out (undo).
    pub delay_micros: i64,
}

/// Who decides about another content under a document identifier that is on its way or was completed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Differing {
    /// Nobody can be asked: the profile's rule.
    #[default]
    ByRule,
    /// A person who was shown it.
    ByPerson,
    /// A person who was shown it and says that each is a report of its own: it corrects nothing either.
    Apart,
}

/// What to do with content that was taken in before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KnownContent {
    /// Show the known submission of the endpoint in use: what went to another endpoint, perhaps a test system, went
    /// nowhere else.
    #[default]
    Show,
    /// Show the known submission of whatever endpoint. For a watched folder: nobody has said that what it held
    /// before another endpoint came into use is to be sent there too.
    ShowAnywhere,
    /// Send it again, as a person asked for; but not while a submission of it is still on its way: that one will
    /// reach the authority, and nobody means the same report twice at once.
    SendAgain,
}

/// What became of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// A new submission.
    New(SubmissionId),
    /// The same content is known; nothing was sent.
    Known(SubmissionId),
    /// Not a report.
    Refused,
}

/// Imports under way together, so that their commits are grouped.
const IMPORTS_AT_ONCE: usize = 64;

impl Engine {
    /// Takes candidates into the journal: queued, or held where errors were found. In the given order;
    /// content that occurs twice among them is taken once.
    pub async fn take(
        &self,
        candidates: &[Candidate],
        terms: ImportOptions,
    ) -> Result<Vec<Taken>, EngineError> {
        self.refresh()?;
        let anew = self.compare_first().await?;
        let candidates = &*self.compared(candidates, self.endpoint().ok().as_ref(), anew)?;
        let mut contents = HashMap::new();
        let (mut identifiers, mut later, mut same) = (HashSet::new(), Vec::new(), Vec::new());
        let mut plan = Vec::with_capacity(candidates.len());
        for (index, candidate) in candidates.iter().enumerate() {
            let Some(parsed) = candidate.parsed() else {
                plan.push(Planned::Done(Taken::Refused));
                continue;
            };
            let first = *contents.entry(parsed.canonical.as_str()).or_insert(index);
            plan.push(match self.in_place_of(parsed, terms.known)? {
                Some(id) => Planned::Done(Taken::Known(id)),
                None if first != index => {
                    same.push((index, first));
                    Planned::Done(Taken::Refused)
                }
                None if !is_first(parsed, &mut identifiers) => {
                    later.push(index);
                    Planned::Done(Taken::Refused)
                }
                None => Planned::Import(index),
            });
        }
        let mut results: Vec<Taken> = stream::iter(plan)
            .map(|planned| async move {
                match planned {
                    Planned::Done(taken) => Ok(taken),
                    // Made here, so that only what is under way is held in memory twice.
                    Planned::Import(index) => match candidates.get(index) {
                        Some(one) => self.take_one(one, terms).await,
                        None => Ok(Taken::Refused),
                    },
                }
            })
            .buffered(IMPORTS_AT_ONCE)
            .try_collect()
            .await?;
        // What shares its document identifier with an earlier one of this order is compared once that one is in.
        for index in later {
            let Some(candidate) = candidates.get(index) else { continue };
            let mut candidate = candidate.clone();
            self.compare(&mut candidate)?;
            let taken = self.take_one(&candidate, terms).await?;
            if let Some(result) = results.get_mut(index) {
                *result = taken;
            }
        }
        for (index, first) in same {
            let stands = results.get(first).copied();
            if let (Some(Taken::New(id) | Taken::Known(id)), Some(result)) =
                (stands, results.get_mut(index))
            {
                *result = Taken::Known(id);
            }
        }
        self.inner.compare.notify_one();
        self.wake();
        Ok(results)
    }

    /// Compared for this endpoint: another program may have brought it into use since they were looked at. `anew`: the
    /// journal knows more than then.
    fn compared<'a>(
        &self,
        candidates: &'a [Candidate],
        endpoint: Option<&Endpoint>,
        anew: bool,
    ) -> Result<Cow<'a, [Candidate]>, EngineError> {
        let here = endpoint.map(Endpoint::id);
        let fits = |candidate: &Candidate| {
            candidate.parsed().is_none_or(|parsed| parsed.compared_for.as_deref() == here)
        };
        if !anew && candidates.iter().all(fits) {
            return Ok(Cow::Borrowed(candidates));
        }
        let mut all = candidates.to_vec();
        for candidate in &mut all {
            self.compare_for(candidate, endpoint)?;
        }
        Ok(Cow::Owned(all))
    }

    /// Takes in one candidate that is new as far as is known.
    async fn take_one(
        &self,
        candidate: &Candidate,
        terms: ImportOptions,
    ) -> Result<Taken, EngineError> {
        let endpoint = self.endpoint()?;
        let compared = self.compared(std::slice::from_ref(candidate), Some(&endpoint), false)?;
        let Some(candidate) = compared.first() else { return Ok(Taken::Refused) };
        let Some(parsed) = candidate.parsed() else { return Ok(Taken::Refused) };
        if let Some(id) = self.in_place_of(parsed, terms.known)? {
            return Ok(Taken::Known(id));
        }
        let relation = parsed.relation.as_ref();
        let corrects = relation
            .filter(|it| it.corrects && terms.differing != Differing::Apart)
            .map(|it| it.submission);
        let mut new = self.submission(candidate, parsed, endpoint, terms, corrects)?;
        let differs = relation.is_some_and(|relation| !relation.corrects);
        let hold = self.profile().settings.same_identifier == SameIdentifier::Hold;
        if differs && hold && terms.differing == Differing::ByRule {
            new.first = Event::Held;
        }
        self.import(new, terms.known).await
    }

    /// The known submission that stands for this content, so that none is added.
    fn in_place_of(
        &self,
        parsed: &Parsed,
        known: KnownContent,
    ) -> Result<Option<SubmissionId>, EngineError> {
        match known {
            KnownContent::Show => return Ok(parsed.known.first().copied()),
            KnownContent::ShowAnywhere => {
                return Ok(parsed.known.first().copied().or(parsed.elsewhere));
            }
            KnownContent::SendAgain => {}
        }
        for id in &parsed.known {
            if !self.journal().state(*id)?.is_settled() {
                return Ok(Some(*id));
            }
        }
        Ok(None)
    }

    /// Known content is looked for once more while it is written: another process may have been faster.
    async fn import(&self, new: NewSubmission, known: KnownContent) -> Result<Taken, EngineError> {
        let unless = match known {
            KnownContent::Show => Unless::Known,
            KnownContent::ShowAnywhere => Unless::KnownAnywhere,
            KnownContent::SendAgain => Unless::Open,
        };
        let imported = self.journal().import_unless_async(new, unless).await;
        match imported.map_err(|error| EngineError::refused(Action::Resubmit, error))? {
            Imported::New(id) => Ok(Taken::New(id)),
            // Newest first is what people are shown; there is always one.
            Imported::Known(ids) => {
                ids.last().map(|id| Taken::Known(*id)).ok_or(JournalError::Damaged.into())
            }
        }
    }
}

enum Planned {
    Done(Taken),
    Import(usize),
}

/// Whether no earlier one has the same document identifier; those without are all first.
fn is_first<'a>(parsed: &'a Parsed, identifiers: &mut HashSet<&'a str>) -> bool {
    parsed.summary.identifier.as_deref().is_none_or(|identifier| identifiers.insert(identifier))
}
