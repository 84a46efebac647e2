//! What waits after a restore until the authority was asked for its document: let go where the
//! authority does not have it, held where it does.

use std::collections::BTreeSet;

use client::{Authority, Fault};
use exchange::SearchSupport;
use journal::JournalError;
use report::{Action, SubmissionId};

use super::pace::{
    Kind, asks_for_patience, at_once, has_no_answer, may_be_alone, patiently, was_answered,
    was_put_off, was_silent,
};
use super::{AT_ONCE_MAX, ReconcileDeps, UNANSWERED_MAX, concerns_the_question, is_answered};
use crate::courier::verdict::may_be;
use crate::{EngineError, person};

/// Setting of each endpoint, by its id: the number before which the next look goes on, where a slow
/// authority left no time for all that waits.
const DECIDED_UNTIL: &str = "decided-until:";

/// Setting of each endpoint, by its id: the reports whose question had no answer once.
const NO_ANSWER: &str = "no-answer:";

/// Reports that are asked for between two looks whether the authority shows anything of ours, at
/// most.
const DECIDED_AT_ONCE: usize = 16;

/// Asks for the document of every report that waits for it: one that the authority shows, and that
/// is none of the reports that the journal knows with their content, may be the same report. What
/// cannot be asked goes on waiting. Nor what is not shown to a certificate that is shown nothing of
/// what the authority has accepted from us. Says whether there was time for all of them.
pub async fn decide_guarded<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
) -> Result<bool, EngineError> {
    patiently(tools, decide_once(tools)).await
}

async fn decide_once<A: Authority>(tools: &ReconcileDeps<'_, A>) -> Result<bool, EngineError> {
    if tools.journal.guarded(tools.endpoint.id())?.is_empty() {
        if was_silent(tools)? {
            sees(tools).await?;
        }
        return Ok(true);
    }
    if sees(tools).await? {
        return decide(tools).await;
    }
    tools.journal.asked_in_vain(tools.endpoint.id())?;
    Ok(true)
}

/// Whether this certificate is shown something that the authority has accepted from us, where there
/// is something: to one that has lost its access everything is empty. Patience may be asked for
/// at one witness alone, so the others are asked too; where none is shown then, nothing is known.
pub(super) async fn sees<A: Authority>(tools: &ReconcileDeps<'_, A>) -> Result<bool, EngineError> {
    let accepted = tools.journal.witnesses(tools.endpoint.id(), "")?;
    let (mut put_off, mut in_the_way, mut answered) = (None, None, false);
    let mut unanswered = 0;
    for identifier in &accepted {
        match tools.authority.find(identifier).await.map_err(Into::into) {
            // No witness; another may be.
            Err(fault) if concerns_the_question(&fault) => answered = true,
            Err(fault) if is_answered(&fault) => in_the_way = in_the_way.or(Some(fault)),
            Err(fault) if asks_for_patience(&fault) => put_off = put_off.or(Some(fault)),
            // It may be this witness alone that has no answer.
            Err(fault) if has_no_answer(&fault) && unanswered + 1 < UNANSWERED_MAX => {
                unanswered += 1;
                put_off = put_off.or(Some(fault));
            }
            found => {
                answered = true;
                if !found?.answers.is_empty() {
                    return Ok(true);
                }
            }
        }
    }
    // Nothing gets through: that says nothing of the questions.
    if let Some(fault) = put_off.or(in_the_way.filter(|_| !answered)) {
        return Err(fault);
    }
    // What is accepted and not found is no witness, and says all the less that there is nothing.
    Ok(!tools.journal.has_accepted(tools.endpoint.id())?)
}

/// Whether the authority can be asked for a document: it may match the identifier of a delivery
/// alone, under which the same report has gone out elsewhere, and answers every such question with
/// nothing. Only where it shows one of ours by that, or has none of ours at all, do its empty
/// answers say something.
async fn sees_documents<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    id: SubmissionId,
) -> Result<bool, EngineError> {
    let endpoint = tools.endpoint.id();
    let (mut put_off, mut unanswered) = (None, 0);
    for (document, receipt) in tools.journal.witnesses_by_document(endpoint, id)? {
        match tools.authority.find_document(&document).await.map_err(Into::into) {
            Err(fault) if is_answered(&fault) => {}
            Err(fault) if asks_for_patience(&fault) => put_off = put_off.or(Some(fault)),
            // It may be this witness alone that has no answer.
            Err(fault) if has_no_answer(&fault) && unanswered + 1 < UNANSWERED_MAX => {
                unanswered += 1;
                put_off = put_off.or(Some(fault));
            }
            shown => {
                let mut shown = shown?.answers.into_iter();
                if shown.any(|answer| answer.receipt.as_ref() == Some(&receipt)) {
                    return Ok(true);
                }
            }
        }
    }
    if let Some(fault) = put_off {
        return Err(fault);
    }
    // That the authority has none of ours says its list alone, once it was given as a whole.
    let lists = tools.endpoint.release.facts().search == SearchSupport::Full;
    let is_listed = lists && tools.journal.unreconciled_at(endpoint, tools.clock.now())?.is_none();
    Ok(is_listed && !tools.journal.has_accepted(endpoint)?)
}

/// Decides about what waits; says whether there was time for all of it.
pub(super) async fn decide<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
) -> Result<bool, EngineError> {
    let mut waiting = tools.journal.guarded(tools.endpoint.id())?;
    let name = format!("{DECIDED_UNTIL}{}", tools.endpoint.id());
    let kept = tools.journal.setting(&name)?.and_then(|kept| kept.as_i64());
    if let Some(until) = kept {
        waiting.retain(|id| id.0 < until);
    }
    let began = tools.clock.steady();
    let mut left = waiting.as_slice();
    let ended = loop {
        let Some(first) = left.first() else { break Ok(None) };
        if tools.clock.steady().saturating_sub(began) > AT_ONCE_MAX {
            break Ok(Some(first.0.saturating_add(1)));
        }
        match decide_some(tools, left).await {
            Ok(asked) => left = left.get(asked..).unwrap_or_default(),
            Err(fault) => break Err(fault),
        }
    };
    // What is in the way keeps no newer one waiting.
    let until = *ended.as_ref().unwrap_or(&None);
    if until != kept {
        tools.journal.set_setting(&name, serde_json::json!(until))?;
    }
    ended.map(|until| until.is_none() && kept.is_none())
}

/// Decides as many as fit between two looks, and are witnessed for alike, at least one; gives how
/// many.
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
    let most = at_once(tools, Kind::Documents, DECIDED_AT_ONCE)?;
    for id in waiting.iter().take(most) {
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
                in_the_way = Some((*id, fault));
                break;
            }
        }
        asked_for += 1;
        // A slow authority: the look after it takes its time too.
        if passed() > tools.timing.sight_max / 3 {
            break;
        }
    }
    // Access that was lost in between makes everything empty: looked at before and after, and not
    // long after.
    let is_put_off = in_the_way.as_ref().is_some_and(|(_, fault)| may_be_alone(fault));
    let sees = match not_shown.is_empty() && !is_put_off {
        true => true,
        false => look_after(tools, *first, asked_for).await?,
    };
    let is_late = passed() > tools.timing.sight_max;
    for id in not_shown.into_iter().filter(|_| sees) {
        // Whatever is shown was sent before, mostly: an index that stands still shows it too.
        let (now, lag) = (tools.clock.now(), tools.timing.doubt_min_unseen);
        if is_late {
            tools.journal.one_asked_in_vain(id)?;
        } else if !tools.journal.may_be_shown_late(id, now, lag)? {
            settle(tools, id, None)?;
        }
    }
    match in_the_way {
        // The way is free after it too: it is this question alone that has no answer now.
        Some((id, fault)) if is_put_off && is_free => {
            if asks_for_patience(&fault) || had_no_answer_before(tools, id)? {
                tools.journal.one_asked_in_vain(id)?;
            }
        }
        Some((_, fault)) => return Err(fault),
        None => return Ok(asked_for),
    }
    Ok(asked_for + 1)
}

/// Whether the question for a report had no answer at an earlier look either. Once may be chance,
/// and a person who released it by then would send what nobody has asked for.
fn had_no_answer_before<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    id: SubmissionId,
) -> Result<bool, JournalError> {
    let name = format!("{NO_ANSWER}{}", tools.endpoint.id());
    let kept = tools.journal.setting(&name)?;
    let mut before: Vec<i64> =
        kept.and_then(|kept| serde_json::from_value(kept).ok()).unwrap_or_default();
    if before.contains(&id.0) {
        return Ok(true);
    }
    let waiting = tools.journal.guarded(tools.endpoint.id())?;
    before.retain(|known| waiting.iter().any(|it| it.0 == *known));
    before.push(id.0);
    tools.journal.set_setting(&name, before.into())?;
    Ok(false)
}

/// Whether an empty answer still says something after so many questions. Where patience is asked
/// for instead, the next ones are fewer.
async fn look_after<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    first: SubmissionId,
    questions: usize,
) -> Result<bool, EngineError> {
    let sees = believes(tools, first).await;
    if sees.as_ref().is_err_and(asks_for_patience) {
        was_put_off(tools, Kind::Documents, questions)?;
    } else if sees.is_ok() {
        was_answered(tools, Kind::Documents, DECIDED_AT_ONCE)?;
    }
    sees
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
    // What it is to take the place of may have been corrected under its own identifier.
    let mut identifiers = BTreeSet::from([identifier]);
    let mut corrects = tools.journal.row(id)?.corrects;
    while let Some(earlier) = corrects {
        let row = tools.journal.row(earlier)?;
        identifiers.extend(row.summary.identifier);
        corrects = row.corrects;
    }
    for identifier in &identifiers {
        match shown_already(tools, tools.authority, identifier).await {
            Ok(Some(receipt)) => return Ok(Asked::Shown(receipt)),
            Ok(None) => {}
            Err(fault) if concerns_the_question(&fault) => return Ok(Asked::InVain),
            Err(fault) => return Err(fault),
        }
    }
    let formers = tools.formers();
    let each = formers.iter().flat_map(|way| identifiers.iter().map(move |it| (way.authority, it)));
    for (former, identifier) in each.collect::<Vec<_>>() {
        match shown_already(tools, former, identifier).await {
            Ok(Some(receipt)) => return Ok(Asked::Shown(receipt)),
            // It has expired or lost its access, perhaps, as most former ones have.
            Ok(None) => {}
            Err(EngineError::Exchange(fault)) if matches!(*fault, Fault::Locked { .. }) => {}
            // That may pass: the next look asks again, and until then a person may decide.
            Err(EngineError::Exchange(_)) => return Ok(Asked::InVain),
            Err(other) => return Err(other),
        }
    }
    Ok(Asked::NotShown)
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

/// The receipt of a report with this document that the journal does not know, or knows without its
/// content.
async fn shown_already<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    authority: &A,
    identifier: &str,
) -> Result<Option<String>, EngineError> {
    let shown = authority.find_document(identifier).await?;
    if shown.unreadable > 0 {
        return Ok(Some(String::new()));
    }
    for answer in shown.answers {
        let Some(receipt) = answer.receipt.as_deref() else { continue };
        let mut known = tools.journal.by_receipt_at(tools.endpoint.id(), receipt)?;
        // The number of another one, which the authority has given anew.
        known.retain(|(_, identifier)| may_be(&answer, identifier));
        let is_stranger = match known.first() {
            Some((id, _)) => !tools.journal.knows_content(*id)?,
            None => true,
        };
        if is_stranger {
            return Ok(answer.receipt);
        }
    }
    Ok(None)
}
