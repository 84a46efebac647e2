//! What a search for changes teaches: what is new in it, and the proof of each report.

use std::collections::{HashMap, HashSet};

use client::{Authority, Changes, Evidence};
use exchange::{Answer, Processing};
use fhir::{Format, Limits, Tree};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use journal::{EvidenceKind, JournalError, OpenReport, Token};
use report::{Event, State, SubmissionId};

use super::Worker;
use super::afterwards::is_afterwards;
use crate::courier::verdict::{Health, Verdict, may_be, status_event};

/// Steps on their way to the journal together, so that their commits are grouped.
const STEPS_AT_ONCE: usize = 64;

/// What an answer of a search means for one report.
pub(super) struct News<'a> {
    pub(super) id: SubmissionId,
    /// Before it.
    pub(super) state: State,
    pub(super) event: Event,
    pub(super) answer: &'a Answer,
}

/// What a result says.
#[derive(Default)]
struct Heard<'a> {
    /// What moves reports forward.
    news: Vec<News<'a>>,
    /// Of reports that have not left, as far as the journal knows.
    unsent: Vec<News<'a>>,
    /// Reports in progress of which another delivery has failed: it was waited for, perhaps, since
    /// their own had.
    other_deliveries: Vec<SubmissionId>,
    /// Reports that it has completed although they were given up here.
    afterwards: Vec<SubmissionId>,
}

impl<A: Authority> Worker<A> {
    /// Records what moves reports forward; gives how many.
    pub(super) async fn learn(
        &self,
        changes: &Changes,
        token: Token,
    ) -> Result<usize, JournalError> {
        let mut heard = self.heard(&changes.answers)?;
        if self.doubt_unsent(&heard.unsent, &changes.evidence).await? {
            heard = self.heard(&changes.answers)?;
        }
        let Heard { news, other_deliveries, afterwards, .. } = heard;
        self.tell_afterwards(&afterwards)?;
        let proofs = proofs(&changes.evidence, &news);
        let steps: Vec<_> = news
            .into_iter()
            .map(|news| {
                let receipt = news.answer.receipt.as_deref().unwrap_or_default();
                let verdict = Verdict {
                    event: Some(news.event),
                    issues: Some(news.answer.issues.clone()),
                    evidence: proofs.get(receipt).cloned(),
                    // What the search itself shows of the way was told of already.
                    health: Health::OfOne,
                };
                (news.id, news.state, verdict)
            })
            .collect();
        let moved = stream::iter(steps)
            .map(|(id, state, verdict)| async move {
                let verdict = match &verdict.event {
                    Some(Event::Failed { .. }) if self.rests_unasked(id) => return Ok(false),
                    Some(Event::Failed { .. }) => {
                        let identifier = self.journal.row(id)?.identifier;
                        let told =
                            self.unless_another_counts(id, &identifier, &state, verdict).await?;
                        let is_told = matches!(told.health, Health::Answered);
                        Verdict {
                            health: if is_told { Health::OfOne } else { told.health },
                            ..told
                        }
                    }
                    _ => verdict,
                };
                self.conclude(id, EvidenceKind::Search, verdict, token).await
            })
            .buffered(STEPS_AT_ONCE)
            .try_fold(0, |moved, recorded| async move { Ok(moved + usize::from(recorded)) })
            .await?;
        self.read_now(other_deliveries, token).await?;
        Ok(moved)
    }

    /// What in a result is new: its overlap with the last one makes most of it known.
    fn heard<'a>(&self, answers: &'a [Answer]) -> Result<Heard<'a>, JournalError> {
        let reports = self.journal.open_reports()?;
        // Numbers of another authority mean other reports; and one number may be of several, of
        // which this authority has forgotten all but one.
        let mut open: HashMap<&str, Vec<&OpenReport>> = HashMap::new();
        for report in reports.iter().filter(|report| report.endpoint == self.endpoint.id()) {
            if let Some(receipt) = report.state.receipt() {
                open.entry(receipt).or_default().push(report);
            }
        }
        let mut heard = Heard::default();
        let mut told = HashSet::new();
        for answer in answers {
            let Some(event) = status_event(answer, &self.context(1)) else { continue };
            let receipt = answer.receipt.as_deref().unwrap_or_default();
            let mut holders = open.get(receipt).into_iter().flatten().rev();
            let (id, state) = match holders.find(|report| may_be(answer, &report.identifier)) {
                Some(report) => (report.id, report.state.clone()),
                None if self.courier().is_settled(answer, receipt) => continue,
                None => match self.owner_of(answer)? {
                    Some(id) => (id, self.journal.state(id)?),
                    None => continue,
                },
            };
            if matches!(state, State::Completed { .. } | State::Failed { .. })
                && state.receipt() == Some(receipt)
            {
                self.settled(receipt, id)?;
            }
            // Whoever stands twice in a result (pages shift while they are read) is told once a
            // time.
            if state.apply(&event).is_ok() {
                if told.insert((id, event.code())) {
                    heard.news.push(News { id, state, event, answer });
                }
            } else if matches!(state, State::Queued { .. } | State::Held { .. }) {
                heard.unsent.push(News { id, state, event, answer });
            } else if let (State::InProgress { .. }, Event::Failed { .. }) = (&state, &event) {
                self.settled(receipt, id)?;
                heard.other_deliveries.push(id);
            } else if is_afterwards(&state, &event) {
                // A search shows it again and again for a while.
                self.settled(receipt, id)?;
                heard.afterwards.push(id);
            }
        }
        Ok(heard)
    }

    fn settled(&self, receipt: &str, id: SubmissionId) -> Result<(), JournalError> {
        let identifier = self.journal.row(id)?.identifier;
        self.courier().settled(receipt, identifier);
        Ok(())
    }

    /// The submission that an answer speaks of: by the authority's id, else by our identifier. A
    /// number alone proves nothing: an authority that was restored from a backup gives it anew.
    fn owner_of(&self, answer: &Answer) -> Result<Option<SubmissionId>, JournalError> {
        if let Some(receipt) = answer.receipt.as_deref() {
            let mut owners = self.journal.by_receipt_at(self.endpoint.id(), receipt)?;
            owners.retain(|(_, identifier)| may_be(answer, identifier));
            // Of several, as where no identifier is named, the one that has this number still.
            for (id, _) in owners.iter().filter(|_| owners.len() > 1) {
                if self.journal.state(*id)?.receipt() == Some(receipt) {
                    return Ok(Some(*id));
                }
            }
            if let Some((id, _)) = owners.first() {
                return Ok(Some(*id));
            }
        }
        for identifier in &answer.identifiers {
            if let Some(id) = self.journal.find_by_attempt_identifier(identifier)?
                && self.journal.row(id)?.endpoint == self.endpoint.id()
            {
                // Where several have it, only asking for each tells whose this is.
                return Ok(self.journal.siblings(id)?.is_empty().then_some(id));
            }
        }
        Ok(None)
    }
}

/// For each report its entry of the search result, as received: proof without the others' data.
fn proofs(pages: &[Evidence], news: &[News<'_>]) -> HashMap<String, Evidence> {
    // By the state that it says, too: an entry may stand twice, as it was and as it is.
    let mut wanted: HashMap<&str, Option<Processing>> = news
        .iter()
        .filter_map(|news| Some((news.answer.receipt.as_deref()?, news.answer.processing)))
        .collect();
    let mut found = HashMap::new();
    for page in pages {
        if wanted.is_empty() {
            break;
        }
        let Some(format) = Format::sniff(&page.body) else { continue };
        let Ok(tree) = Tree::read(&page.body, format, &Limits::default()) else { continue };
        for entry in tree.root().all("entry").filter_map(|entry| entry.child("resource")) {
            let Some(receipt) = entry.text("id") else { continue };
            let Some(processing) = wanted.get(receipt) else { continue };
            let says_so = Answer::read(entry).is_ok_and(|it| it.processing == *processing);
            if says_so || !found.contains_key(receipt) {
                found.insert(receipt.to_owned(), part(page, entry.source()));
            }
            if says_so {
                wanted.remove(receipt);
            }
        }
    }
    found
}

/// The evidence of a page, with one entry in place of all.
fn part(page: &Evidence, entry: &[u8]) -> Evidence {
    Evidence {
        method: page.method.clone(),
        url_path: page.url_path.clone(),
        status: page.status,
        content_type: page.content_type.clone(),
        body: entry.to_vec(),
        elapsed_ms: page.elapsed_ms,
        server_date: page.server_date,
        location: None,
    }
}
