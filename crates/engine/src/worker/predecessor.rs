//! What a correction is to take the place of may be at the authority all the same: a request for it
//! was refused on the way back, or it was found after the correction was taken in. Then both would
//! count, and a person decides.

use client::Authority;
use fhir::Instant;
use journal::{Due, Entry, JournalError, Message, OtherVersions, Step, Token};
use report::{Event, State, SubmissionId};

use super::Worker;
use super::arrival::{Arrival, asked_in_vain};
use crate::person;

/// Code of the warning on a correction whose predecessor the authority has; parameter: `receipt`.
const DELIVERED: &str = "corrected-report-delivered";
/// Code of the warning on a correction where the authority does not answer for its predecessor.
const NOT_ASKED: &str = "corrected-report-not-asked";
/// The same of one that was withdrawn, and is handed over again: it is this very report.
const SAME_DELIVERED: &str = "same-report-delivered";
const SAME_NOT_ASKED: &str = "same-report-not-asked";
/// The same of another version of its document, about the same case, that was withdrawn after a
/// request.
const OTHER_DELIVERED: &str = "other-version-delivered";
const OTHER_NOT_ASKED: &str = "other-version-not-asked";
/// So often in vain another one is asked for before a person decides: more often than where its
/// empty answers are believed in the end, which takes 79 minutes where the authority tells no time.
const NOT_SHOWN_MAX: u32 = 15;
/// Between receipts in one warning.
const BETWEEN: &str = ", ";
/// Codes of these warnings with their parameters.
pub const CODES: &[(&str, &[&str])] = &[
    (DELIVERED, &["receipt"]),
    (NOT_ASKED, &[]),
    (SAME_DELIVERED, &["receipt"]),
    (SAME_NOT_ASKED, &[]),
    (OTHER_DELIVERED, &["receipt"]),
    (OTHER_NOT_ASKED, &[]),
];

impl<A: Authority> Worker<A> {
    /// Before each request: whether the authority has a newer version of the report, or what it
    /// must not have beside it ([`Self::awaits_one_of`]). Says whether nothing is to be sent now. A
    /// person who releases it afterwards has decided that it has to go.
    pub(super) async fn awaits_a_decision(
        &self,
        due: &Due,
        token: Token,
    ) -> Result<bool, JournalError> {
        if !matches!(due.state, State::Queued { .. }) {
            return Ok(false);
        }
        let others = self.journal.other_versions_of(due.id)?;
        if !self.undecided(due.id, &others.newer, is_arrival)?.is_empty() {
            // The journal says of each that waits for a person which newer ones there are.
            return self.hold(due.id, None, token).await.map(|()| true);
        }
        let in_doubt = self.undecided(due.id, &others.newer_in_doubt, is_request)?;
        if !in_doubt.is_empty() {
            let in_doubt: Vec<_> = in_doubt.into_iter().map(|newer| (newer, None)).collect();
            let timeline = self.journal.detail(due.id)?.timeline;
            return self.put_off(due.id, &timeline, &in_doubt, token).await.map(|()| true);
        }
        if others.is_beside_lost {
            let warning = Some(Message::warning(journal::OTHER_LOST, &[]));
            return self.hold(due.id, warning, token).await.map(|()| true);
        }
        if others.is_unasked {
            let mut step = self.held_back(due.id);
            step.until_asked = true;
            return self.record(step, token).await.map(|()| true);
        }
        self.awaits_one_of(due, others, token).await
    }

    /// Of a correction: whether the authority has what it takes the place of; of one that is open
    /// again, whether it has what was withdrawn in its place; of any, whether it has the same
    /// report or another version of it, which was withdrawn after a request, or a newer one whose
    /// request was refused.
    async fn awaits_one_of(
        &self,
        due: &Due,
        others: OtherVersions,
        token: Token,
    ) -> Result<bool, JournalError> {
        let same = self.journal.withdrawn_of_the_content_of(due.id)?;
        let instead = self.instead(due)?;
        let mut versions = [&*others.withdrawn, &others.newer_refused].concat();
        versions.retain(|id| !instead.contains(id) && !same.contains(id));
        let all: Vec<_> = instead.iter().chain(&same).chain(&versions).copied().collect();
        // Mostly there is none, and no more is read.
        if all.is_empty() {
            return Ok(false);
        }
        let waiting = self.journal.detail(due.id)?.timeline;
        let (mut asked, mut not_shown) = (false, Vec::new());
        for id in all {
            let (delivered, not_asked) = match (same.contains(&id), versions.contains(&id)) {
                (true, _) => (SAME_DELIVERED, SAME_NOT_ASKED),
                (false, true) => (OTHER_DELIVERED, OTHER_NOT_ASKED),
                (false, false) => (DELIVERED, NOT_ASKED),
            };
            let row = self.journal.row(id)?;
            // Who hands over once more what the authority has by a person's word means it.
            if same.contains(&id) && row.state == (State::Withdrawn { received: true }) {
                continue;
            }
            let warning = match self.arrival(&row, &waiting, token, &mut asked).await? {
                Arrival::Not => None,
                Arrival::Delivered(_) if self.is_newer_delivered(due.id, id)? => {
                    return self.hold(due.id, None, token).await.map(|()| true);
                }
                Arrival::Delivered(receipt) => {
                    let known = receipt.unwrap_or_else(|| row.identifier.clone());
                    self.delivered(due, delivered, &known)?
                }
                Arrival::Unanswerable if self.was_decided(due, not_asked)? => None,
                Arrival::Unanswerable => Some(Message::warning(not_asked, &[])),
                Arrival::NotShown(_) if self.was_decided(due, not_asked)? => None,
                // Whatever keeps its empty answers from being believed.
                Arrival::NotShown(_) if asked_in_vain(&waiting, id).0 >= NOT_SHOWN_MAX => {
                    Some(Message::warning(not_asked, &[]))
                }
                Arrival::NotShown(answered) => {
                    not_shown.push((id, answered));
                    None
                }
                Arrival::NotNow(fault) => {
                    return self.cannot_ask(due.id, None, fault, token).await.map(|()| true);
                }
            };
            if warning.is_some() {
                return self.hold(due.id, warning, token).await.map(|()| true);
            }
        }
        if !not_shown.is_empty() {
            return self.put_off(due.id, &waiting, &not_shown, token).await.map(|()| true);
        }
        // Much may have happened during the questions.
        Ok(asked && (self.is_stopped()? || self.journal.other_versions_of(due.id)? != others))
    }

    /// Whether the journal says by now that another one is newer, and with the authority.
    fn is_newer_delivered(
        &self,
        id: SubmissionId,
        other: SubmissionId,
    ) -> Result<bool, JournalError> {
        Ok(self.journal.other_versions_of(id)?.newer.contains(&other))
    }

    /// Others that it must not stand beside are not shown, and may be with the authority: it waits,
    /// and asks as seldom as for a report in doubt. With each what the authority's clock said.
    async fn put_off(
        &self,
        id: SubmissionId,
        waiting: &[Entry],
        others: &[(SubmissionId, Option<Instant>)],
        token: Token,
    ) -> Result<(), JournalError> {
        let pause = |(of, _): &(SubmissionId, _)| {
            self.timing.ask(asked_in_vain(waiting, *of).0.saturating_add(1))
        };
        let due = self.context(1).after(others.iter().map(pause).min().unwrap_or_default());
        for &(of, answered) in others {
            let event = Event::OtherNotShown { of, due, answered };
            self.record(Step::new(id, event, person::worker(), self.clock.now()), token).await?;
        }
        Ok(())
    }

    /// Puts what waits on hold, with what people are told of it in one transaction: a release is
    /// taken for a decision about what stands there.
    async fn hold(
        &self,
        id: SubmissionId,
        warning: Option<Message>,
        token: Token,
    ) -> Result<(), JournalError> {
        let mut step = self.held_back(id);
        step.warning = warning;
        self.record(step, token).await
    }

    fn held_back(&self, id: SubmissionId) -> Step {
        let mut step = Step::new(id, Event::HeldBack, person::worker(), self.clock.now());
        step.expected = Some("queued");
        step
    }

    /// Those of the newer versions beside which nobody has released it
    /// ([`Self::was_released_since`]).
    fn undecided(
        &self,
        id: SubmissionId,
        newer: &[SubmissionId],
        began: fn(&Event) -> bool,
    ) -> Result<Vec<SubmissionId>, JournalError> {
        let mut undecided = Vec::new();
        for &newer in newer {
            if !self.was_released_since(id, newer, began)? {
                undecided.push(newer);
            }
        }
        Ok(undecided)
    }

    /// Whether a person has released a report since a newer version of it is, or may be, with the
    /// authority, which `began` tells; or has sent its content again since then, and was told. What
    /// goes out last is what the authority goes by, so that without that word the older version
    /// would take the place of the newer one.
    fn was_released_since(
        &self,
        id: SubmissionId,
        newer: SubmissionId,
        began: fn(&Event) -> bool,
    ) -> Result<bool, JournalError> {
        let is_word = |entry: &&Entry| entry.by != person::worker();
        let timeline = self.journal.detail(id)?.timeline;
        let mut words = timeline.iter().filter(is_word);
        let released = words.rfind(|entry| matches!(entry.event, Event::Released { .. }));
        let sent_again = timeline.first().filter(|_| newer < id);
        let released = released.or(sent_again).map(|entry| entry.number);
        let Some(released) = released else { return Ok(false) };
        let timeline = self.journal.detail(newer)?.timeline;
        let ended = timeline.iter().rposition(|entry| has_ended(&entry.event));
        let since = timeline.get(ended.map_or(0, |at| at + 1)..).unwrap_or_default();
        let arrived = since.iter().find(|entry| began(&entry.event));
        Ok(arrived.is_none_or(|entry| entry.number < released))
    }

    /// What may be at the authority in place of a report: what it corrects, and the other
    /// corrections of those, and of itself, that were withdrawn.
    fn instead(&self, due: &Due) -> Result<Vec<SubmissionId>, JournalError> {
        let mut all = self.journal.withdrawn_in_place_of(due.id)?;
        let mut next = due.corrects;
        while let Some(id) = next {
            all.push(id);
            all.extend(self.journal.withdrawn_in_place_of(id)?);
            next = self.journal.row(id)?.corrects;
        }
        Ok(all)
    }

    /// The warning that the authority has another one under this receipt, beside those of which
    /// people were told; `None` where they were told of it, and have decided.
    fn delivered(
        &self,
        due: &Due,
        code: &str,
        known: &str,
    ) -> Result<Option<Message>, JournalError> {
        let detail = self.journal.detail(due.id)?;
        let told = detail.messages.iter().find(|it| it.code == code);
        let told = told.and_then(|it| it.params.iter().find(|(name, _)| name == "receipt"));
        let Some((_, told)) = told else {
            return Ok(Some(Message::warning(code, &[("receipt", known)])));
        };
        if told.split(BETWEEN).any(|receipt| receipt == known) {
            let again = Message::warning(code, &[("receipt", told)]);
            return Ok((!self.was_decided(due, code)?).then_some(again));
        }
        let both = [told, known].join(BETWEEN);
        Ok(Some(Message::warning(code, &[("receipt", &both)])))
    }

    /// Whether a person has released the correction after it was held with this warning. Who was
    /// told that nothing is known has not decided about what is known by now.
    fn was_decided(&self, due: &Due, code: &str) -> Result<bool, JournalError> {
        let detail = self.journal.detail(due.id)?;
        let by_now = match code {
            NOT_ASKED => DELIVERED,
            SAME_NOT_ASKED => SAME_DELIVERED,
            OTHER_NOT_ASKED => OTHER_DELIVERED,
            code => code,
        };
        let is_told = |it: &Message| it.code == code || it.code == by_now;
        let mut before = detail.timeline.iter().rev();
        let mut by_person = false;
        Ok(detail.messages.iter().any(is_told)
            && before.any(|entry| {
                let is_ours = entry.by == person::worker();
                by_person |= matches!(entry.event, Event::Released { .. }) && !is_ours;
                by_person && is_ours && entry.event == Event::HeldBack
            }))
    }
}

/// From here on a report is with the authority.
fn is_arrival(event: &Event) -> bool {
    use Event::{Accepted, Completed, SaidReceived};
    matches!(event, Accepted { .. } | Completed { .. } | SaidReceived { .. })
}

/// From here on it may be.
fn is_request(event: &Event) -> bool {
    matches!(event, Event::SendingStarted { .. } | Event::Doubted { .. })
}

/// After this it is there no more, or was never.
fn has_ended(event: &Event) -> bool {
    use Event::{
        Deferred, Failed, HeldAfterRefusals, NotReceived, Rejected, SaidNotReceived, TurnedAway,
    };
    matches!(
        event,
        Deferred { .. }
            | Failed { .. }
            | HeldAfterRefusals { .. }
            | NotReceived { .. }
            | Rejected
            | SaidNotReceived { .. }
            | TurnedAway { .. }
    )
}
