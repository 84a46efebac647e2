//! After a restore: everything that the authority shows of this laboratory since the restored state is compared
//! with the journal.

use client::{Authority, Evidence, Why};
use exchange::{Answer, Endpoint, SearchSupport};
use fhir::{Format, Instant, Limits, Tree};
use journal::{EvidenceKind, FoundReport, Journal, Message, Reconciled, RecordError, Unreconciled};
use report::{Action, Event, SubmissionId};

use crate::worker::kept;
use crate::worker::verdict::{Context, status_event};
use crate::{Clock, EngineError, Timing, person};

/// How far the search reaches back before the end of the restored state: clocks differ.
const REACH_SECONDS: i64 = 24 * 3600;
/// Searches in a row, each some thousand reports; what is left is found by the next comparison.
const SEARCHES_MAX: u32 = 50;
/// Reports that are asked for one by one in one comparison.
const ASKED_MAX: usize = 1_000;
/// Reports that are asked for between two looks whether the authority shows anything of ours, at most.
const DECIDED_AT_ONCE: usize = 16;
/// Questions in a row that are answered with an error before the rest is left for the next comparison.
const UNANSWERED_MAX: u32 = 3;

/// What a comparison works with.
pub struct ReconcileDeps<'a, A> {
    /// The restored journal.
    pub journal: &'a Journal,
    /// The authority.
    pub authority: &'a A,
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

/// Compares. What is found is recorded at once, so that a fault in between loses nothing.
pub async fn compare<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    open: Unreconciled,
) -> Result<Comparison, EngineError> {
    let mut found = Comparison::default();
    // Before the list too: what shows nothing for hours may show everything again just after it has given an empty one. What
    // is in the way now is met once more below.
    let saw = matches!(sees(tools).await, Ok(true));
    if tools.endpoint.release.facts().search == SearchSupport::Full {
        found.complete = match search(tools, open, &mut found).await {
            // Each report is asked for by itself all the same.
            Err(fault) if is_answered(&fault) => false,
            searched => searched?,
        };
    }
    // By identifier too: not every release lists, and a list may lag behind.
    let lost = tools.journal.lost_reports()?;
    let ours = lost.into_iter().filter(|lost| lost.endpoint == tools.endpoint.id());
    let (mut left, mut unanswered) = (false, 0);
    for (index, lost) in ours.enumerate() {
        if index >= ASKED_MAX || unanswered >= UNANSWERED_MAX {
            left = true;
            break;
        }
        let mut shown = match tools.authority.find(&lost.identifier).await.map_err(Into::into) {
            Err(fault) if is_answered(&fault) => {
                unanswered += u32::from(!concerns_the_question(&fault));
                left = true;
                continue;
            }
            shown => shown?,
        };
        unanswered = 0;
        left |= exchange::leave_out_contradictions(&mut shown.answers) > 0;
        for answer in &shown.answers {
            learn(tools, answer, &shown.evidence, &mut found).await?;
        }
    }
    if tools.endpoint.release.facts().search != SearchSupport::Full {
        found.complete = !left;
    }
    if sees(tools).await? {
        decide(tools).await?;
    } else {
        tools.journal.asked_in_vain(tools.endpoint.id())?;
        found.complete = false;
    }
    found.complete &= saw;
    Ok(found)
}

/// Whether a fault says something about the one question that met it, and nothing about others: it is not taken, or is
/// never answered as a whole.
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

/// Asks for the document of every report that waits for it: one that the authority shows, and that is none of the
/// reports that the journal knows with their content, may be the same report. What cannot be asked goes on waiting.
/// Nor what is not shown to a certificate that is shown nothing of what the authority has accepted from us.
pub async fn decide_guarded<A: Authority>(tools: &ReconcileDeps<'_, A>) -> Result<(), EngineError> {
    if tools.journal.guarded(tools.endpoint.id())?.is_empty() {
        return Ok(());
    }
    if sees(tools).await? {
        decide(tools).await
    } else {
        Ok(tools.journal.asked_in_vain(tools.endpoint.id())?)
    }
}

/// Whether this certificate is shown something that the authority has accepted from us, where there is something: to
/// one that has lost its access everything is empty.
async fn sees<A: Authority>(tools: &ReconcileDeps<'_, A>) -> Result<bool, EngineError> {
    let accepted = tools.journal.witnesses(tools.endpoint.id(), "")?;
    let (mut in_the_way, mut answered) = (None, false);
    for identifier in &accepted {
        match tools.authority.find(identifier).await.map_err(Into::into) {
            // No witness; another may be.
            Err(fault) if concerns_the_question(&fault) => answered = true,
            Err(fault) if is_answered(&fault) => in_the_way = in_the_way.or(Some(fault)),
            found => {
                answered = true;
                if !found?.answers.is_empty() {
                    return Ok(true);
                }
            }
        }
    }
    // Nothing gets through: that says nothing of the questions.
    if let Some(fault) = in_the_way.filter(|_| !answered) {
        return Err(fault);
    }
    // What is accepted and not found is no witness, and says all the less that there is nothing.
    Ok(!tools.journal.has_accepted(tools.endpoint.id())?)
}

/// Whether the authority can be asked for a document: it may match the identifier of a delivery alone, under which the
/// same report has gone out elsewhere, and answers every such question with nothing. Only where it shows one of ours by
/// that, or has none of ours at all, do its empty answers say something.
async fn sees_documents<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    id: SubmissionId,
) -> Result<bool, EngineError> {
    let endpoint = tools.endpoint.id();
    for (document, receipt) in tools.journal.witnesses_by_document(endpoint, id)? {
        match tools.authority.find_document(&document).await.map_err(Into::into) {
            Err(fault) if is_answered(&fault) => {}
            shown => {
                let mut shown = shown?.answers.into_iter();
                if shown.any(|answer| answer.receipt.as_ref() == Some(&receipt)) {
                    return Ok(true);
                }
            }
        }
    }
    // That the authority has none of ours says its list alone, once it was given as a whole.
    let lists = tools.endpoint.release.facts().search == SearchSupport::Full;
    let is_listed = lists && tools.journal.unreconciled_at(endpoint)?.is_none();
    Ok(is_listed && !tools.journal.has_accepted(endpoint)?)
}

async fn decide<A: Authority>(tools: &ReconcileDeps<'_, A>) -> Result<(), EngineError> {
    let waiting = tools.journal.guarded(tools.endpoint.id())?;
    let mut left = waiting.as_slice();
    while !left.is_empty() {
        let asked = decide_some(tools, left).await?;
        left = left.get(asked..).unwrap_or_default();
    }
    Ok(())
}

/// Decides as many as fit between two looks, and are witnessed for alike, at least one; gives how many.
async fn decide_some<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    waiting: &[SubmissionId],
) -> Result<usize, EngineError> {
    let Some(first) = waiting.first() else { return Ok(0) };
    let before = tools.clock.steady();
    let passed = || tools.clock.steady().saturating_sub(before);
    let named = tools.journal.is_named_as_document(*first)?;
    let believes = believes(tools, *first).await?;
    // Where anything was accepted, whoever decides has just been shown one of ours.
    let is_free = believes || tools.journal.has_accepted(tools.endpoint.id())?;
    let (mut asked_for, mut not_shown, mut in_the_way) = (0, Vec::new(), None);
    for id in waiting.iter().take(DECIDED_AT_ONCE) {
        if tools.journal.is_named_as_document(*id)? != named {
            break;
        }
        match asked(tools, *id).await {
            Ok(Asked::Shown(receipt)) => settle(tools, *id, Some(&receipt))?,
            Ok(Asked::NotShown) if believes => not_shown.push(*id),
            Ok(Asked::NotShown | Asked::InVain) => tools.journal.one_asked_in_vain(*id)?,
            // The way was free a moment ago: it may be this question alone.
            Err(fault) if is_free && is_answered(&fault) => tools.journal.one_asked_in_vain(*id)?,
            // What was asked for until then is decided first.
            Err(fault) => {
                in_the_way = Some(fault);
                break;
            }
        }
        asked_for += 1;
        // A slow authority: the look after it takes its time too.
        if passed() > tools.timing.sight_max / 3 {
            break;
        }
    }
    // Access that was lost in between makes everything empty: looked at before and after, and not long after.
    let sees = not_shown.is_empty() || self::believes(tools, *first).await?;
    let is_late = passed() > tools.timing.sight_max;
    for id in not_shown.into_iter().filter(|_| sees) {
        let (now, lag) = (tools.clock.now(), tools.timing.doubt_min);
        if is_late {
            tools.journal.one_asked_in_vain(id)?;
        } else if !tools.journal.may_be_shown_late(id, now, lag)? {
            settle(tools, id, None)?;
        }
    }
    in_the_way.map_or(Ok(asked_for), Err)
}

/// Whether an empty answer to the question for the document of a report says something now.
async fn believes<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    id: SubmissionId,
) -> Result<bool, EngineError> {
    match tools.journal.may_have_forgotten()? {
        true => sees_documents(tools, id).await,
        false => sees(tools).await,
    }
}

/// What the authority said of a report that waits.
enum Asked {
    /// It has it, or may have it: under this receipt.
    Shown(String),
    NotShown,
    /// The question is not taken, or never answered as a whole.
    InVain,
}

async fn asked<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    id: SubmissionId,
) -> Result<Asked, EngineError> {
    let Some(identifier) = tools.journal.row(id)?.summary.identifier else {
        // Nothing to ask by: a person decides.
        return Ok(Asked::Shown(String::new()));
    };
    match shown_already(tools, &identifier).await {
        Ok(Some(receipt)) => Ok(Asked::Shown(receipt)),
        Ok(None) => Ok(Asked::NotShown),
        Err(fault) if concerns_the_question(&fault) => Ok(Asked::InVain),
        Err(fault) => Err(fault),
    }
}

fn settle<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    id: SubmissionId,
    receipt: Option<&str>,
) -> Result<(), EngineError> {
    let now = tools.clock.now();
    let decided = tools.journal.decide_guarded(id, receipt, &person::worker(), now);
    decided.map_err(|error| EngineError::refused(Action::Release, error))
}

/// The receipt of a report with this document that the journal does not know, or knows without its content.
async fn shown_already<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    identifier: &str,
) -> Result<Option<String>, EngineError> {
    let shown = tools.authority.find_document(identifier).await?;
    if shown.unreadable > 0 {
        return Ok(Some(String::new()));
    }
    for receipt in shown.answers.into_iter().filter_map(|answer| answer.receipt) {
        let known = tools.journal.by_receipt_at(tools.endpoint.id(), &receipt)?;
        let is_stranger = match known {
            Some(id) => !tools.journal.knows_content(id)?,
            None => true,
        };
        if is_stranger {
            return Ok(Some(receipt));
        }
    }
    Ok(None)
}

/// Everything that changed since the restored state; says whether that was everything.
async fn search<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    open: Unreconciled,
    found: &mut Comparison,
) -> Result<bool, EngineError> {
    let mut since = open.since.map(|since| since.plus_seconds(-REACH_SECONDS));
    for _ in 0..SEARCHES_MAX {
        let mut changes = tools.authority.changed_since(since).await?;
        changes.unreadable += exchange::leave_out_contradictions(&mut changes.answers);
        for answer in &changes.answers {
            let proof = answer.receipt.as_deref().and_then(|id| entry(&changes.evidence, id));
            if let Some(proof) = proof {
                learn(tools, answer, &proof, found).await?;
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
    let Some(event) = status_event(answer, &context) else { return Ok(()) };
    let Some(identifier) = known_or_first(tools.journal, answer)? else { return Ok(()) };
    let endpoint = tools.endpoint.id();
    let report = found_report(endpoint, (identifier, None), event, answer, proof.clone(), now);
    match tools.journal.reconcile_async(report).await {
        Ok(Reconciled::Added(_)) => found.added += 1,
        Ok(Reconciled::Doubted(_)) => found.doubted += 1,
        Ok(Reconciled::Known) => {}
        Err(RecordError::Journal(error)) => return Err(error.into()),
        Err(error) => return Err(EngineError::refused(Action::Resubmit, error)),
    }
    Ok(())
}

/// A report that the authority shows, for the journal to say whether it knew.
pub(crate) fn found_report(
    endpoint: &str,
    (identifier, known_as): (String, Option<SubmissionId>),
    event: Event,
    answer: &Answer,
    proof: Evidence,
    now: Instant,
) -> FoundReport {
    FoundReport {
        identifier,
        known_as,
        endpoint: endpoint.to_owned(),
        event,
        issues: answer.issues.iter().cloned().map(Message::from_issue).collect(),
        evidence: kept(proof, EvidenceKind::Search, now),
        by: person::worker(),
        at: now,
    }
}

/// The identifier under which the journal knows a report, which the authority may give back in other letters; else its
/// first one.
fn known_or_first(journal: &Journal, answer: &Answer) -> Result<Option<String>, EngineError> {
    for identifier in &answer.identifiers {
        if let Some(id) = journal.find_by_attempt_identifier(identifier)? {
            return Ok(Some(journal.row(id)?.identifier));
        }
    }
    let attempt = answer.identifiers.iter().find(|identifier| identifier.starts_with("urn:uuid:"));
    Ok(attempt.or(answer.identifiers.first()).cloned())
}

/// The entry of one report in the pages of a search: proof without the others' data.
pub(crate) fn entry(pages: &[Evidence], receipt: &str) -> Option<Evidence> {
    pages.iter().find_map(|page| {
        let tree = Tree::read(&page.body, Format::sniff(&page.body)?, &Limits::default()).ok()?;
        let root = tree.root();
        let mut entries = root.all("entry").filter_map(|entry| entry.child("resource"));
        let entry = entries.find(|entry| entry.text("id") == Some(receipt))?;
        Some(Evidence { body: entry.source().to_vec(), ..page.clone() })
    })
}
