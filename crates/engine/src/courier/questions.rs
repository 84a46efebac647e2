//! Questions for single reports that are refused, or answered in vain: what is remembered of them.
//! Pure.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use client::{Fault, Why};
use fhir::Instant;
use report::{Event, State, SubmissionId};

use super::Courier;
use super::breaker::RequestKind;
use super::verdict::{Context, Health, Verdict};
use crate::ClockReading;
use crate::clock::elapsed;

/// What is remembered of questions for single reports.
#[derive(Debug, Default)]
pub(super) struct Questions {
    /// When each report in doubt was first asked for in vain by this process, by the steady clock,
    /// and since when the doubt is.
    doubts: HashMap<SubmissionId, (Instant, Duration)>,
    /// How often the question for each report was refused in an answer, while others were answered.
    refused_alone: HashMap<SubmissionId, Refusals>,
    /// Reports whose questions have opened the breaker: others try the way first.
    not_asked: HashSet<SubmissionId>,
    /// A question has opened the breaker last: a delivery tries the way next, for it may be that
    /// questions alone are not answered.
    opened_by_one: bool,
}

/// Why the question for a report was not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// It is refused; or it is put off, or has no answer, again and again while others are
    /// answered.
    Never,
    /// It alone is put off, as far as is known: others are answered, and do not wait for it.
    Alone,
    /// Perhaps nobody is answered.
    ByNobody,
}

/// Refusals of the question for one report.
#[derive(Debug, Clone, Default)]
struct Refusals {
    times: u32,
    /// The identifier that was asked for, in the case below.
    identifier: Option<String>,
    /// Where it was asked whether another delivery of the report counts: when to ask next.
    next: Option<Instant>,
}

impl Questions {
    /// Others try the way before this one does so again.
    pub(super) fn let_others_try(&mut self, id: SubmissionId) {
        self.not_asked.insert(id);
    }

    /// Others try the way before this one.
    pub(super) fn others_try_first(&self, id: SubmissionId) -> bool {
        self.not_asked.contains(&id)
    }

    /// The authority answers: nobody has to try the way for others.
    pub(super) fn others_may_be_asked(&mut self) {
        self.not_asked.clear();
        self.opened_by_one = false;
    }

    /// This has opened the breaker.
    pub(super) fn opened_by(&mut self, about: RequestKind) {
        self.opened_by_one = about == RequestKind::Question;
    }

    /// Deliveries try the way before questions: a question has opened the breaker last.
    pub(super) fn deliveries_try_first(&self) -> bool {
        self.opened_by_one
    }

    /// How often the question for this report was refused by now.
    fn refused_once_more(&mut self, id: SubmissionId) -> u32 {
        let refusals = self.refused_alone.entry(id).or_default();
        refusals.times = refusals.times.saturating_add(1);
        refusals.times
    }
}

impl Courier {
    /// How long a report has been in doubt by our clocks: by the computer's since it began; by the
    /// steady one since this process first asked in vain, so that a clock that was set back holds
    /// nothing up.
    pub(crate) fn in_doubt_for(
        &mut self,
        now: ClockReading,
        id: SubmissionId,
        since: Instant,
    ) -> Duration {
        let known = self.questions.doubts.entry(id).or_insert((since, now.steady));
        // Of an earlier request, about which there was a doubt of its own.
        if known.0 != since {
            *known = (since, now.steady);
        }
        let first = known.1;
        elapsed(since, now.wall).max(now.steady.saturating_sub(first))
    }

    /// The question for a report in doubt was answered with this: unless it was in vain, nothing of
    /// what was asked before is remembered.
    pub(crate) fn asked(&mut self, id: SubmissionId, event: Option<&Event>) {
        if !matches!(event, Some(Event::AskedInVain { .. } | Event::NotAnswered { .. })) {
            self.questions.doubts.remove(&id);
            self.questions.refused_alone.remove(&id);
        }
    }

    /// Whether another delivery of a report counts was answered.
    pub(crate) fn deliveries_are_known(&mut self, id: SubmissionId) {
        self.questions.refused_alone.remove(&id);
    }

    /// A question for this identifier, asked for another report's sake, was answered: what kept the
    /// report's own from that was not what it is about.
    pub(crate) fn question_was_answered(&mut self, identifier: &str) {
        for refusals in self.questions.refused_alone.values_mut() {
            if refusals.identifier.as_deref() == Some(identifier) {
                refusals.times = 0;
            }
        }
    }

    /// The question for this report met nobody: others try the way before it does so again.
    pub(crate) fn let_others_try(&mut self, id: SubmissionId) {
        self.questions.let_others_try(id);
    }

    /// The question for a report was refused in an answer, or its answer is never whole, while
    /// others are answered: how often that happened. Who asks for patience asks it of everybody.
    fn refused_alone(&mut self, id: SubmissionId, fault: &Fault) -> Option<u32> {
        if fault.evidence().is_none() || fault.asks_for_patience() {
            return None;
        }
        let is_never_whole = matches!(fault.why(), Some(Why::TooManyPages | Why::PagesMoved));
        let others_are_answered = self.breaker.own().refuses_only_question(id);
        (is_never_whole || others_are_answered).then(|| self.questions.refused_once_more(id))
    }

    /// As [`Self::refused_alone`], also where patience is asked for it alone, or it alone has no
    /// answer again and again.
    pub(crate) fn in_vain_alone(
        &mut self,
        now: ClockReading,
        id: SubmissionId,
        fault: &Fault,
    ) -> Option<u32> {
        if let Some(times) = self.refused_alone(id, fault) {
            return Some(times);
        }
        let alone = self.is_alone(now, id, fault);
        let times = alone.then(|| self.questions.refused_once_more(id))?;
        let is_heard = fault.evidence().is_some();
        (is_heard || times >= self.timing.refusals_max).then_some(times)
    }

    /// Whether others are answered where this question is not: since it was not answered last, or,
    /// where long patience is asked for, since that was first asked for at any question.
    fn is_alone(&mut self, now: ClockReading, id: SubmissionId, fault: &Fault) -> bool {
        let patience = fault.evidence().and(fault.retry_after());
        let long = patience.filter(|patience| *patience >= self.timing.doubt_min);
        let own = self.breaker.own();
        let is_of_one = own.refuses_only_question(id);
        long.is_some_and(|long| own.puts_off_only_questions(now.steady, long)) || is_of_one
    }

    /// A read met this: the patience that is asked for at it alone, which keeps no others waiting.
    pub(crate) fn put_off_alone(
        &mut self,
        now: ClockReading,
        id: SubmissionId,
        fault: &Fault,
    ) -> Option<Duration> {
        let patience = fault.evidence().and(fault.retry_after())?;
        self.is_alone(now, id, fault).then_some(patience)
    }

    /// The question for this report met this: whether others wait for it.
    pub(crate) fn unanswered(
        &mut self,
        now: ClockReading,
        id: SubmissionId,
        fault: &Fault,
    ) -> Unanswered {
        if fault.refuses_the_question() || self.refused_alone(id, fault).is_some() {
            return Unanswered::Never;
        }
        if !self.is_alone(now, id, fault) {
            return Unanswered::ByNobody;
        }
        let times = self.questions.refused_once_more(id);
        match fault.evidence() {
            _ if times >= self.timing.refusals_max => Unanswered::Never,
            Some(_) => Unanswered::Alone,
            None => Unanswered::ByNobody,
        }
    }

    /// Whether a report that has failed could not be asked for, and is read again later: searches
    /// show it meanwhile, again and again.
    pub(crate) fn rests_unasked(&self, id: SubmissionId, now: Instant) -> bool {
        let refusals = self.questions.refused_alone.get(&id);
        refusals.and_then(|it| it.next).is_some_and(|next| now < next)
    }

    /// Whether all that is known of a report is a delivery that has failed, because it could not be
    /// asked whether there is another one.
    pub(crate) fn is_failed_unasked(&self, id: SubmissionId) -> bool {
        self.questions.refused_alone.get(&id).is_some_and(|it| it.next.is_some())
    }

    /// A delivery has failed, and whether there is another one could not be asked: it is read
    /// again, more and more seldom. Where the question has no answer again and again, while the
    /// delivery itself is told of each time, the authority's word about that counts.
    pub(crate) fn failed_unasked(
        &mut self,
        (id, identifier): (SubmissionId, &str),
        state: &State,
        fault: Fault,
        failed: Verdict,
        context: &Context<'_>,
    ) -> Verdict {
        let Some(Event::Failed { receipt }) = &failed.event else { return failed };
        // What was refused before is another question for it, as that of a doubt which is over.
        if !self.is_failed_unasked(id) {
            self.deliveries_are_known(id);
        }
        let times = self.questions.refused_once_more(id);
        let is_never_told = matches!(fault.why(), Some(Why::SearchUnsupported))
            || times >= self.timing.refusals_max.saturating_mul(2);
        if is_never_told {
            self.deliveries_are_known(id);
            return failed;
        }
        let pause = context.timing.ask(times).max(context.timing.backoff_min);
        let due = context.after(pause.max(fault.retry_after().unwrap_or_default()));
        let (identifier, next) = (Some(identifier.to_owned()), Some(due));
        self.questions.refused_alone.insert(id, Refusals { times, identifier, next });
        let event = match state {
            State::InProgress { since, .. } => {
                // As for what is not found: what no search tells of is read as often as others
                // search.
                let latest = context.after(context.timing.poll_max);
                let due = if self.is_unsearched(state) { due.min(latest) } else { due };
                let why = fault.why().map_or(Event::WHY_REFUSED, Why::code).to_owned();
                let late = elapsed(*since, context.now) >= context.timing.in_progress_max;
                Event::NotAnswered { due, why, in_vain: false, late }
            }
            // Of what waits or is on hold after a request too: the authority has it, and which
            // delivery counts is asked again.
            State::Sending { .. }
            | State::Unknown { .. }
            | State::Queued { .. }
            | State::Held { .. } => {
                Event::Accepted { receipt: receipt.clone(), since: context.now, due }
            }
            _ => return failed,
        };
        let evidence = failed.evidence.filter(|_| matches!(event, Event::Accepted { .. }));
        // What was answered says nothing of the way: the delivery itself was told of just before.
        let heard = fault.evidence().is_some();
        let health = if heard { Health::OfOne } else { Health::of_question(fault) };
        Verdict { event: Some(event), issues: None, evidence, health }
    }
}
