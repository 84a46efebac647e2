//! After a restore: everything that the authority shows of this laboratory since the restored state
//! is compared with the journal.

mod guarded;
mod pace;
mod versions;
mod wanted;

use std::borrow::Cow;
use std::time::Duration;

use client::{Authority, Evidence, Why};
use exchange::{Answer, Endpoint, SearchSupport};
use fhir::Instant;
use journal::{Journal, Reconciled, RecordError, Unreconciled};
use report::{Action, Event};

pub use guarded::decide_guarded;
use guarded::{decide, sees};
use pace::{Kind, asks_for_patience, may_be_alone, patiently, was_answered, was_put_off};
use versions::unshared;
use wanted::{ASKED_MAX, NOTED_EVERY, Wanted};

use crate::courier::verdict::{Context, status_event};
use crate::worker::Formerly;
use crate::worker::found::{entry, found_report};
use crate::{Clock, EngineError, Timing};

/// How far the search reaches back before the end of the restored state: clocks differ.
pub(crate) const REACH_SECONDS: i64 = 24 * 3600;
/// The authority is compared with until the restore is so old: its search may lag.
pub(crate) const COMPARED_SECONDS: i64 = 3_600;
/// Searches in a row, each some thousand reports; what is left is found by the next comparison.
const SEARCHES_MAX: u32 = 50;
/// Questions in a row that are answered with an error before the rest is left for the next
/// comparison.
const UNANSWERED_MAX: u32 = 3;
/// An authority may take minutes for each question. For so long deliveries are asked for in one
/// comparison, at most, and for so long documents; the next one goes on behind them. So neither
/// what comes meanwhile nor another endpoint waits for the end, and a person is told in time.
const AT_ONCE_MAX: Duration = Duration::from_secs(10 * 60);

/// What a comparison works with.
pub struct ReconcileDeps<'a, A> {
    /// The restored journal.
    pub journal: &'a Journal,
    /// The authority, as it is asked with the certificate in use.
    pub authority: &'a A,
    /// The same, as it was asked with certificates that were in use in the time that the journal
    /// has forgotten: what was sent then may be shown to those alone.
    pub former: &'a [Formerly<A>],
    /// Its endpoint.
    pub endpoint: &'a Endpoint,
    /// Time and randomness.
    pub clock: &'a dyn Clock,
    /// How long to wait for what.
    pub timing: &'a Timing,
}

/// What a comparison found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Reports that the journal did not know: they are in it now, with their status.
    pub added: usize,
    /// Reports that the journal believed not to have been sent: they are asked for now.
    pub doubted: usize,
    /// Whether the authority showed everything.
    pub complete: bool,
}

impl Comparison {
    /// Adds what the authority of another endpoint showed.
    pub(crate) fn add(&mut self, other: Self) {
        self.added += other.added;
        self.doubted += other.doubted;
        self.complete &= other.complete;
    }
}

/// A certificate that is asked with.
struct Way<'a, A> {
    authority: &'a A,
    /// A time at which it was in use: what it shows was sent with it, perhaps.
    used: Instant,
}

impl<'a, A: Authority> ReconcileDeps<'a, A> {
    /// The certificate in use.
    fn in_use(&self) -> Way<'a, A> {
        Way { authority: self.authority, used: self.clock.now() }
    }

    /// The former certificates that can be used. What they show counts; what they do not show, or
    /// one of them that has expired, keeps nothing waiting: most are former ones because they are
    /// of no use any more.
    fn formers(&self) -> Vec<Way<'a, A>> {
        let now = self.clock.now();
        let way = move |it: &'a Formerly<A>| {
            let used = Instant(it.until.0.saturating_sub(1)).min(now);
            it.authority.as_ref().map(|authority| Way { authority, used })
        };
        self.former.iter().filter_map(way).collect()
    }
}

/// Compares. What is found is recorded at once, so that a fault in between loses nothing.
pub async fn compare<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    open: Unreconciled,
) -> Result<Comparison, EngineError> {
    patiently(tools, compare_once(tools, open)).await
}

async fn compare_once<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    open: Unreconciled,
) -> Result<Comparison, EngineError> {
    let mut found = Comparison::default();
    // Before the list too: what shows nothing for hours may show everything again just after it has
    // given an empty one. What is in the way now is met once more below.
    let saw = matches!(sees(tools).await, Ok(true));
    let lists = tools.endpoint.release.facts().search == SearchSupport::Full;
    if lists {
        found.complete = match search(tools, tools.in_use(), open, &mut found).await {
            // Each report is asked for by itself all the same. The way was free a moment ago: where
            // patience is asked for, or nothing is answered, it may be at the list alone.
            Err(fault) if is_answered(&fault) || (saw && may_be_alone(&fault)) => false,
            searched => searched?,
        };
        for former in tools.formers() {
            exchanged(search(tools, former, open, &mut found).await)?;
        }
    }
    // By identifier too: not every release lists, and a list may lag behind.
    let wanted = Wanted::of(tools, open, found.complete)?;
    let mut asked = ask_for(tools, tools.in_use(), &wanted, ASKED_MAX, &mut found).await?;
    let sees = match asked.put_off.take() {
        Some(fault) => Err(fault),
        None => ask_the_rest(tools, &wanted, &mut asked, &mut found).await,
    };
    if sees.as_ref().is_err_and(asks_for_patience) {
        // The next comparison asks for fewer, so that what waits has its turn.
        was_put_off(tools, Kind::Deliveries, asked.questions)?;
        wanted.again(tools)?;
    }
    let sees = sees?;
    was_answered(tools, Kind::Deliveries, ASKED_MAX)?;
    let all_answered = wanted.go_on(tools, &asked, saw && sees)?;
    found.complete = saw && sees && if lists { found.complete } else { all_answered };
    Ok(found)
}

/// What follows the questions for deliveries: the same with former certificates, and what waits.
/// Says whether anything of ours was shown after them.
async fn ask_the_rest<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    wanted: &Wanted,
    asked: &mut AskedFor,
    found: &mut Comparison,
) -> Result<bool, EngineError> {
    for former in tools.formers() {
        let by_former = exchanged(ask_for(tools, former, wanted, asked.questions, found).await)?;
        // The next comparison goes on behind what all had time for.
        if let Some(AskedFor { questions, is_late: true, .. }) = by_former {
            asked.questions = questions;
        }
    }
    let sees = sees(tools).await?;
    if sees {
        decide(tools).await?;
    } else {
        tools.journal.asked_in_vain(tools.endpoint.id())?;
    }
    Ok(sees)
}

/// How far the questions for deliveries got.
struct AskedFor {
    questions: usize,
    /// Some are left for the next comparison.
    left: bool,
    /// There was no time for more.
    is_late: bool,
    /// Patience was asked for at the last of them.
    put_off: Option<EngineError>,
}

/// Asks for the first `most` deliveries by their identifiers, or for as many as there is time for.
async fn ask_for<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    way: Way<'_, A>,
    wanted: &Wanted,
    most: usize,
    found: &mut Comparison,
) -> Result<AskedFor, EngineError> {
    let (mut left, mut unanswered) = (false, 0);
    let began = tools.clock.steady();
    for (questions, identifier) in wanted.identifiers.iter().take(most).enumerate() {
        if questions > 0 && tools.clock.steady().saturating_sub(began) > AT_ONCE_MAX {
            return Ok(AskedFor { questions, left, is_late: true, put_off: None });
        }
        if questions > 0 && questions % NOTED_EVERY == 0 {
            wanted.note(tools, questions)?;
        }
        if unanswered >= UNANSWERED_MAX {
            // They are asked for again first, unless nothing else was answered: then others have
            // their turn.
            let answered = questions.saturating_sub(UNANSWERED_MAX as usize);
            let questions = if answered == 0 { questions } else { answered };
            return Ok(AskedFor { questions, left: true, is_late: false, put_off: None });
        }
        let mut shown = match way.authority.find(identifier).await.map_err(Into::into) {
            Err(fault) if is_answered(&fault) => {
                unanswered += u32::from(!concerns_the_question(&fault));
                left = true;
                continue;
            }
            Err(fault) if may_be_alone(&fault) => {
                if exchanged(sees(tools).await)?.is_none() {
                    let put_off = Some(fault);
                    let questions = questions + 1;
                    return Ok(AskedFor { questions, left: true, is_late: false, put_off });
                }
                // The way is free: it is this question alone that has no answer now.
                unanswered += 1;
                left = true;
                continue;
            }
            shown => shown?,
        };
        unanswered = 0;
        left |= exchange::leave_out_contradictions(&mut shown.answers) > 0;
        for answer in unshared(tools, &shown.answers)? {
            learn(tools, way.used, answer, &shown.evidence, found).await?;
        }
    }
    let questions = wanted.identifiers.len().min(most);
    Ok(AskedFor { questions, left, is_late: false, put_off: None })
}

/// What was asked with a former certificate; `None` where that did not work. What is wrong with the
/// journal is told.
fn exchanged<T>(asked: Result<T, EngineError>) -> Result<Option<T>, EngineError> {
    match asked {
        Ok(told) => Ok(Some(told)),
        Err(EngineError::Exchange(_)) => Ok(None),
        Err(other) => Err(other),
    }
}

/// Whether a fault says something about the one question that met it, and nothing about others: it
/// is not taken, or is never answered as a whole.
fn concerns_the_question(fault: &EngineError) -> bool {
    let EngineError::Exchange(fault) = fault else { return false };
    fault.refuses_the_question()
        || match fault.why() {
            Some(Why::TooManyPages | Why::PagesMoved | Why::ParameterIgnored { .. }) => true,
            Some(Why::NotFhir { found, .. }) => found == "OperationOutcome",
            _ => false,
        }
}

/// Whether somebody answered, and not to have patience: it may concern this question alone.
fn is_answered(fault: &EngineError) -> bool {
    let EngineError::Exchange(answered) = fault else { return false };
    let is_error = answered.evidence().is_some() && !answered.asks_for_patience();
    is_error || concerns_the_question(fault)
}

/// Everything that changed since the restored state; says whether that was everything.
async fn search<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    way: Way<'_, A>,
    open: Unreconciled,
    found: &mut Comparison,
) -> Result<bool, EngineError> {
    let mut since = open.since.map(|since| since.plus_seconds(-REACH_SECONDS));
    for _ in 0..SEARCHES_MAX {
        let mut changes = way.authority.changed_since(since).await?;
        changes.unreadable += exchange::leave_out_contradictions(&mut changes.answers);
        for answer in unshared(tools, &changes.answers)? {
            if let Some(proof) = entry(&changes.evidence, answer) {
                learn(tools, way.used, answer, &proof, found).await?;
            }
        }
        let newest = changes.answers.iter().filter_map(|answer| answer.last_updated).max();
        match changes.incomplete {
            None => return Ok(changes.unreadable == 0),
            // More than one search may give: the next one begins where this one ended.
            Some(Why::TooManyPages) if newest > since => since = newest,
            Some(_) => return Ok(false),
        }
    }
    Ok(false)
}

async fn learn<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    used: Instant,
    answer: &Answer,
    proof: &Evidence,
    found: &mut Comparison,
) -> Result<(), EngineError> {
    let now: Instant = tools.clock.now();
    let context = Context {
        now,
        timing: tools.timing,
        fraction: tools.clock.fraction(),
        attempt: 1,
        searches: tools.endpoint.release.facts().search == SearchSupport::Full,
        turned_away: None,
        alone: None,
    };
    let Some(mut event) = status_event(answer, &context) else { return Ok(()) };
    let mut shown = Cow::Borrowed(answer);
    let Some(identifier) = known_or_first(tools.journal, answer)? else { return Ok(()) };
    if let Event::Failed { receipt } = &event {
        // Perhaps as the duplicate of another delivery: the worker, which reads it at once, asks
        // whether another one counts before anybody is told so.
        event = Event::Accepted { receipt: receipt.clone(), since: now, due: now };
        shown.to_mut().issues.clear();
    }
    if let Event::Accepted { since, .. } = &mut event {
        // It is followed with the certificate that shows it.
        *since = used;
    }
    let endpoint = tools.endpoint.id();
    let report = found_report(endpoint, (identifier, None), event, &shown, proof.clone(), now);
    match tools.journal.reconcile_async(report).await {
        Ok(Reconciled::Added(_)) => found.added += 1,
        Ok(Reconciled::Doubted(_)) => found.doubted += 1,
        Ok(Reconciled::Known) => {}
        Err(RecordError::Journal(error)) => return Err(error.into()),
        Err(error) => return Err(EngineError::refused(Action::Resubmit, error)),
    }
    Ok(())
}

/// The identifier under which the journal knows a report, which the authority may give back in
/// other letters; else its first one.
fn known_or_first(journal: &Journal, answer: &Answer) -> Result<Option<String>, EngineError> {
    for identifier in &answer.identifiers {
        if let Some(id) = journal.find_by_attempt_identifier(identifier)? {
            return Ok(Some(journal.row(id)?.identifier));
        }
    }
    let attempt = answer.identifiers.iter().find(|identifier| identifier.starts_with("urn:uuid:"));
    Ok(attempt.or(answer.identifiers.first()).cloned())
}
