//! Candidates become submissions: what is new is taken in, what is known is told.

mod listed;
mod terms;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use exchange::Endpoint;
use futures::{StreamExt as _, stream};
use journal::{Imported, JournalError, NewSubmission, Unless};
use report::{Action, StateCode, SubmissionId};

use crate::candidate::{Candidate, Parsed, Taken};
use crate::use_cases::intake::relation::Purpose;
use crate::{Engine, EngineError, SameIdentifier};

pub use listed::Listed;
pub use terms::{Differing, ImportOptions, KnownContent};

/// What became of a hand-over.
#[derive(Debug)]
pub struct HandOver {
    /// What became of each candidate, in their order.
    pub taken: Vec<Taken>,
    /// The fault for which some could not be taken in.
    pub fault: Option<EngineError>,
}

/// Imports under way together, so that their commits are grouped.
const IMPORTS_AT_ONCE: usize = 64;
/// What stands in the way changes between two looks only where somebody works on the same report at
/// that moment.
const COMPARED_AT_MOST: u32 = 5;

impl Engine {
    /// Takes candidates into the journal: queued, or held where errors were found. In the given
    /// order; content that occurs twice among them is taken once. A fault of one keeps no other
    /// from being taken in, unless every other would meet it too; what came before it in this order
    /// is taken in all the same. They are a part of a `list`: what shares an identifier with an
    /// earlier part of it is compared with that, or fails as that has, and nothing goes to another
    /// endpoint than the list.
    ///
    /// # Errors
    /// Only where nothing was taken in, and nothing can be; [`EngineError::EndpointChanged`].
    pub async fn submit(
        &self,
        candidates: &[Candidate],
        terms: ImportOptions,
        list: &mut Listed,
    ) -> Result<HandOver, EngineError> {
        self.refresh()?;
        list.see(candidates);
        let anew = self.compare_first().await?;
        let endpoint = self.endpoint().ok();
        list.check(endpoint.as_ref())?;
        let candidates = &*self.compared(candidates, endpoint.as_ref(), anew)?;
        let steps = self.steps(candidates, terms.known, list)?;
        let (faults, mut taken) = (Faults::default(), Vec::with_capacity(steps.len()));
        for part in steps.split_inclusive(|step| matches!(step, Step::Later(_))) {
            self.take_part(candidates, part, terms, list, &faults, &mut taken).await;
        }
        let taken = told(&steps, &taken);
        list.settle(candidates, &taken);
        self.inner.compare.notify_one();
        self.wake();
        faults.hand_over(taken)
    }

    /// As [`Engine::submit`], of a list that has no other part.
    ///
    /// # Errors
    /// As those of [`Engine::submit`].
    pub async fn take(
        &self,
        candidates: &[Candidate],
        terms: ImportOptions,
    ) -> Result<HandOver, EngineError> {
        self.submit(candidates, terms, &mut Listed::default()).await
    }

    /// How each candidate is taken in: what is known already, what is to be imported, and what
    /// waits for an earlier one of this order.
    fn steps(
        &self,
        candidates: &[Candidate],
        known: KnownContent,
        list: &mut Listed,
    ) -> Result<Vec<Step>, EngineError> {
        let mut contents = HashMap::new();
        let mut steps = Vec::with_capacity(candidates.len());
        for (index, candidate) in candidates.iter().enumerate() {
            let Some(parsed) = candidate.parsed() else {
                steps.push(Step::Done(Taken::Refused));
                continue;
            };
            let stands = match list.taken_before(parsed) {
                Some(id) => Some(id),
                None => self.in_place_of(parsed, list.known(parsed, known))?,
            };
            if let Some(id) = stands {
                steps.push(Step::Done(Taken::Known(id)));
                continue;
            }
            // Of those that are to go: one that is known and not to go again stands for no other
            // encoding that is.
            let first = *contents.entry(parsed.canonical.as_str()).or_insert(index);
            steps.push(match first == index {
                false => Step::Same(first),
                true if list.is_first(parsed) && !list.follows_failed(candidate) => {
                    Step::Import(index)
                }
                true => Step::Later(index),
            });
        }
        Ok(steps)
    }

    /// What can be taken in together, and what shares an identifier with an earlier one, if that
    /// follows.
    async fn take_part(
        &self,
        candidates: &[Candidate],
        part: &[Step],
        terms: ImportOptions,
        list: &mut Listed,
        faults: &Faults,
        taken: &mut Vec<Taken>,
    ) {
        let (together, later) = match part.split_last() {
            Some((Step::Later(index), together)) => (together, candidates.get(*index)),
            _ => (part, None),
        };
        let (among, first) = (&*list, taken.len());
        let mut steps = stream::iter(together.to_vec())
            .map(|step| async move {
                match step {
                    Step::Done(taken) => taken,
                    // Told by `told`, once that one is in.
                    Step::Same(_) => Taken::Refused,
                    // Made here, so that only what is under way is held in memory twice.
                    Step::Import(index) | Step::Later(index) => match candidates.get(index) {
                        Some(candidate) => self.take_one(candidate, terms, among, faults).await,
                        None => Taken::Refused,
                    },
                }
            })
            .buffered(IMPORTS_AT_ONCE);
        while let Some(result) = steps.next().await {
            taken.push(result);
        }
        drop(steps);
        for (candidate, taken) in candidates.iter().zip(&*taken).skip(first) {
            list.fail(*taken == Taken::Failed, candidate);
        }
        if let Some(candidate) = later {
            let result = self.take_later(candidate, terms, list, faults).await;
            list.fail(result == Taken::Failed, candidate);
            taken.push(result);
        }
    }

    /// What shares an identifier with an earlier one of this order is compared once that one is in.
    /// Where that one has failed it fails too: taken in first, it would be taken for the earlier
    /// one.
    async fn take_later(
        &self,
        candidate: &Candidate,
        terms: ImportOptions,
        list: &Listed,
        faults: &Faults,
    ) -> Taken {
        // When they were looked at, neither was in the journal.
        let terms = terms.unseen();
        if list.follows_failed(candidate) {
            return Taken::Failed;
        }
        let mut candidate = candidate.clone();
        match self.compare(&mut candidate) {
            Ok(()) => self.take_one(&candidate, terms, list, faults).await,
            Err(fault) => faults.note(fault),
        }
    }

    /// Compared for this endpoint: another program may have brought it into use since they were
    /// looked at. `anew`: the journal knows more than then.
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

    /// Takes in one candidate that is new as far as is known, unless a fault stands in the way of
    /// all.
    async fn take_one(
        &self,
        candidate: &Candidate,
        terms: ImportOptions,
        list: &Listed,
        faults: &Faults,
    ) -> Taken {
        if faults.stop_all() {
            return Taken::Failed;
        }
        match self.try_one(candidate, terms, list).await {
            Ok(taken) => taken,
            Err(fault) => faults.note(fault),
        }
    }

    async fn try_one(
        &self,
        candidate: &Candidate,
        terms: ImportOptions,
        list: &Listed,
    ) -> Result<Taken, EngineError> {
        let mut anew = false;
        for _ in 0..COMPARED_AT_MOST {
            let endpoint = self.endpoint()?;
            list.check(Some(&endpoint))?;
            let one = std::slice::from_ref(candidate);
            let mut compared = self.compared(one, Some(&endpoint), anew)?.into_owned();
            let Some(mut candidate) = compared.pop() else { return Ok(Taken::Refused) };
            let Some(parsed) = candidate.parsed() else { return Ok(Taken::Refused) };
            let known = list.known(parsed, terms.known);
            if let Some(id) = self.in_place_of(parsed, known)? {
                return Ok(Taken::Known(id));
            }
            let failed = self.compare_again(&mut candidate, &endpoint)?;
            let Some(parsed) = candidate.parsed() else { return Ok(Taken::Refused) };
            let relation = parsed.relation.as_ref();
            let corrects = relation.filter(|it| it.corrects && terms.differing != Differing::Apart);
            let corrects = failed.or(corrects.map(|it| it.submission));
            // Who is shown that it is known is not shown what came after it, and who says that each
            // is a report of its own does not speak of that.
            let terms = match anew || !parsed.known.is_empty() {
                true => ImportOptions { differing: Differing::ByRule, ..terms },
                false if !list.may_be_seen(parsed) => terms.unseen(),
                false => terms,
            };
            let new = self.submission(&candidate, parsed, endpoint, terms, corrects)?;
            if let Some(taken) = self.import(new, known, parsed.compared_through).await? {
                self.inner.wrappings.learn(taken, parsed);
                return Ok(taken);
            }
            // Another process, or a person, was faster: what it corrects is corrected already, or
            // goes itself, or another version of it has come.
            anew = true;
        }
        Err(JournalError::Busy.into())
    }

    /// What is known and goes once more is compared with what came after the newest of it that has
    /// left and was not withdrawn. Gives the newest of the same content that has failed or was
    /// refused: it takes the place of that one.
    fn compare_again(
        &self,
        candidate: &mut Candidate,
        endpoint: &Endpoint,
    ) -> Result<Option<SubmissionId>, EngineError> {
        let known = candidate.parsed().map(|parsed| parsed.known.clone()).unwrap_or_default();
        if known.is_empty() {
            return Ok(None);
        }
        // What was withdrawn, or never left, is as if it had never been there.
        let mut before = SubmissionId(0);
        for id in &known {
            let row = self.journal().row(*id)?;
            let has_left = row.attempts > 0 || row.receipt.is_some();
            if has_left && row.state.shown() != StateCode::Withdrawn {
                before = *id;
                break;
            }
        }
        self.compare_as(candidate, Some(endpoint), Purpose::Again(before))?;
        for id in &known {
            if self.journal().is_correctable(*id)? {
                return Ok(Some(*id));
            }
        }
        Ok(None)
    }

    /// Whether it is held beside another content under its document identifier: where the profile's
    /// rule says so, and always where it is older, because what goes out last is what the authority
    /// goes by.
    pub(crate) fn holds(&self, parsed: &Parsed, terms: ImportOptions) -> bool {
        let rule = self.profile().settings.same_identifier;
        let other = parsed.relation.as_ref().filter(|relation| !relation.corrects);
        let is_held = other.is_some_and(|it| it.age.is_older() || rule == SameIdentifier::Hold);
        is_held && terms.differing == Differing::ByRule
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
            if self.journal().rules_out_another(*id)? {
                return Ok(Some(*id));
            }
        }
        Ok(None)
    }

    /// Known content is looked for once more while it is written, and so are versions that were
    /// taken in after the one of this number: another process may have been faster. `None`: it is
    /// to be compared anew.
    async fn import(
        &self,
        new: NewSubmission,
        known: KnownContent,
        through: SubmissionId,
    ) -> Result<Option<Taken>, EngineError> {
        let unless = match known {
            KnownContent::Show => Unless::Known,
            KnownContent::ShowAnywhere => Unless::KnownAnywhere,
            KnownContent::SendAgain => Unless::Open,
        };
        let imported = self.journal().import_compared_async(new, unless, through).await;
        match imported.map_err(|error| EngineError::refused(Action::Resubmit, error))? {
            Imported::New(id) => Ok(Some(Taken::New(id))),
            Imported::Overtaken => Ok(None),
            // Newest first is what people are shown; there is always one.
            Imported::Known(ids) => {
                let known = ids.last().map(|id| Taken::Known(*id));
                known.map(Some).ok_or(JournalError::Damaged.into())
            }
        }
    }
}

/// How a candidate of a hand-over is taken in.
#[derive(Clone, Copy)]
enum Step {
    Done(Taken),
    /// It has the content of the earlier one at this place.
    Same(usize),
    /// The candidate at this place.
    Import(usize),
    /// The one at this place, which shares an identifier with an earlier one.
    Later(usize),
}

/// What became of each, those too that say what an earlier one says.
fn told(steps: &[Step], taken: &[Taken]) -> Vec<Taken> {
    let told = |(step, own): (&Step, &Taken)| match step {
        Step::Same(first) => match taken.get(*first) {
            Some(Taken::New(id) | Taken::Known(id)) => Taken::Known(*id),
            other => other.copied().unwrap_or(*own),
        },
        _ => *own,
    };
    steps.iter().zip(taken).map(told).collect()
}

/// Faults of one hand-over: the first is told.
#[derive(Default)]
struct Faults(Mutex<Option<EngineError>>);

impl Faults {
    fn note(&self, fault: EngineError) -> Taken {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // One that stops all says more than one of a single report.
        if first.as_ref().is_none_or(|first| !stops_all(first)) {
            *first = Some(fault);
        }
        Taken::Failed
    }

    fn stop_all(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(stops_all)
    }

    /// What became of all; the fault alone where nothing was taken in, and nothing can be.
    fn hand_over(self, taken: Vec<Taken>) -> Result<HandOver, EngineError> {
        let is_any_new = taken.iter().any(|taken| matches!(taken, Taken::New(_)));
        match self.0.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(fault) if stops_all(&fault) && !is_any_new => Err(fault),
            fault => Ok(HandOver { taken, fault }),
        }
    }
}

/// Whether every other report would meet this fault too.
pub(crate) fn stops_all(fault: &EngineError) -> bool {
    match fault {
        EngineError::Journal(error) => !matches!(error, JournalError::Damaged),
        EngineError::NoEndpoint | EngineError::EndpointChanged | EngineError::Profile(_) => true,
        _ => false,
    }
}
