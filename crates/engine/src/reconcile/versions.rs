//! Several versions that a restore has lost went out under one identifier, as at an endpoint that
//! wants the document's: what the authority shows under it is entered where it can be told which
//! version each delivery is. What cannot be told stays lost, and is asked for when it is handed
//! over again.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use client::Authority;
use exchange::Answer;
use fhir::Instant;

use super::{ReconcileDeps, known_or_first};
use crate::EngineError;
use crate::courier::verdict::may_be;
use crate::courier::whose::are_told_apart;

/// What of this is entered, in the order in which that is done: of several lost versions the newest
/// first, because the journal takes each for the newest that is still lost.
pub(super) fn told_apart<'a, A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    answers: &'a [Answer],
) -> Result<Vec<&'a Answer>, EngineError> {
    if answers.is_empty() {
        return Ok(Vec::new());
    }
    let mut taken: BTreeMap<String, Vec<Instant>> = BTreeMap::new();
    let lost = tools.journal.lost_reports()?.into_iter();
    for lost in lost.filter(|lost| lost.endpoint == tools.endpoint.id()) {
        taken.entry(lost.identifier.to_lowercase()).or_default().push(lost.at);
    }
    taken.retain(|_, versions| versions.len() > 1);
    if taken.is_empty() {
        return Ok(answers.iter().collect());
    }
    let (mut entered, mut shared) = (Vec::new(), BTreeMap::<_, Vec<&Answer>>::new());
    for answer in answers {
        let identifier = known_or_first(tools.journal, answer)?.map(|it| it.to_lowercase());
        let identifier = identifier.filter(|it| taken.contains_key(it));
        let Some(identifier) = identifier.filter(|_| answer.receipt.is_some()) else {
            entered.push(answer);
            continue;
        };
        if is_known(tools, answer)? {
            continue;
        }
        let deliveries = shared.entry(identifier).or_default();
        // A list may show one twice, as it was and as it is.
        deliveries.retain(|it| it.receipt != answer.receipt);
        deliveries.push(answer);
    }
    for (identifier, mut deliveries) in shared {
        let received: Option<Vec<Instant>> = deliveries.iter().map(|it| it.date).collect();
        let versions = taken.remove(&identifier).unwrap_or_default();
        if received.is_some_and(|received| are_told_apart(&received, &versions)) {
            deliveries.sort_by_key(|it| Reverse(it.date));
            entered.append(&mut deliveries);
        }
    }
    Ok(entered)
}

/// Whether the journal has it under its number.
fn is_known<A: Authority>(
    tools: &ReconcileDeps<'_, A>,
    answer: &Answer,
) -> Result<bool, EngineError> {
    let receipt = answer.receipt.as_deref().unwrap_or_default();
    let owners = tools.journal.by_receipt_at(tools.endpoint.id(), receipt)?;
    Ok(owners.iter().any(|(_, identifier)| may_be(answer, identifier)))
}
