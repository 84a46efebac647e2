//! What a certificate is shown of ours: looked at around the question for a report in doubt, whose
//! empty answer counts only where the search shows what was stored at that time.

use client::{Authority, Fault, Found};
use exchange::Query;
use fhir::Instant;
use journal::{JournalError, Newest};

use super::Worker;
use crate::courier::cursor::minus;
use crate::courier::verdict::{is_not_found, may_be};
use crate::courier::visibility::Visibility;

/// A certificate, and the time in which reports were sent with it.
pub(super) struct Sight<'a, A> {
    pub(super) authority: &'a A,
    pub(super) from: Instant,
    pub(super) until: Instant,
}

impl<A: Authority> Worker<A> {
    /// What all of these certificates are shown at least, around a question for the report with
    /// this identifier, in doubt since then.
    pub(super) async fn least_visibility(
        &self,
        sights: &[Sight<'_, A>],
        identifier: &str,
        since: Instant,
    ) -> Result<Visibility, JournalError> {
        let mut least = Visibility::Ours;
        for sight in sights {
            match self.visibility(sight, identifier, since).await? {
                Visibility::Unknown => return Ok(Visibility::Unknown),
                Visibility::Lost => least = Visibility::Lost,
                Visibility::NothingYet if least != Visibility::Lost => {
                    least = Visibility::NothingYet;
                }
                Visibility::Earlier if least == Visibility::Ours => least = Visibility::Earlier,
                Visibility::NothingYet | Visibility::Earlier | Visibility::Ours => {}
            }
        }
        Ok(least)
    }

    /// Whether a certificate is shown what the authority has of ours, other than the report in
    /// doubt.
    async fn visibility(
        &self,
        sight: &Sight<'_, A>,
        identifier: &str,
        since: Instant,
    ) -> Result<Visibility, JournalError> {
        let mut newest = self.newest(sight, identifier, since)?;
        if newest.is_empty() {
            // Nothing was sent with it yet. What went before is to be shown to it as well, where it
            // is shown anything of that: else a search that stands still would hide nothing.
            let sight = Sight { authority: sight.authority, from: Instant(i64::MIN), ..*sight };
            newest = self.newest(&sight, identifier, since)?;
        }
        let (mut hidden, mut shown) = (Vec::new(), Visibility::Earlier);
        for report in &newest {
            match self.witness(sight, &report.identifier).await {
                Ok(found) if shows(&found, &report.receipt) && report.is_later => {
                    shown = Visibility::Ours;
                }
                Ok(found) if shows(&found, &report.receipt) => {}
                Ok(_) => hidden.push(report),
                Err(_) => return Ok(Visibility::Unknown),
            }
        }
        let newest_is_hidden = hidden.first().is_some_and(|&it| Some(it) == newest.first());
        if hidden.len() < newest.len() {
            if shown == Visibility::Earlier && newest_is_hidden {
                return self.unless_old(sight, identifier, &hidden).await;
            }
            return Ok(unless_behind(sight, &hidden, shown).await);
        }
        let endpoint = self.endpoint.id();
        let mut witnesses = self.journal.witnesses(endpoint, identifier)?;
        // What was accepted and cannot be read any more is hidden from this certificate, or
        // forgotten.
        let is_hidden = witnesses.is_empty() && self.journal.has_hidden(endpoint)?;
        if is_hidden {
            witnesses = self.journal.ended(endpoint, identifier)?;
        }
        for witness in &witnesses {
            match self.witness(sight, witness).await {
                Ok(found) if found.answers.is_empty() => {}
                Ok(_) if newest_is_hidden || is_hidden => {
                    return self.unless_old(sight, identifier, &hidden).await;
                }
                Ok(_) => return Ok(Visibility::Earlier),
                Err(_) => return Ok(Visibility::Unknown),
            }
        }
        if is_hidden || !witnesses.is_empty() {
            return Ok(Visibility::Lost);
        }
        let accepted = self.journal.was_accepted_at(endpoint)?;
        if !accepted || !self.can_search() {
            return Ok(Visibility::NothingYet);
        }
        // What was accepted and has failed need not be shown; where nothing at all is, access may
        // be lost.
        let any = Query { count: Some(1), ..Query::default() };
        let Ok((page, _)) = sight.authority.search(&any).await else {
            return Ok(Visibility::Unknown);
        };
        let shown = page.total.unwrap_or(0) > 0 || !page.answers.is_empty();
        Ok(if shown { Visibility::NothingYet } else { Visibility::Lost })
    }

    /// What a certificate is shown of another report than the one in doubt.
    async fn witness(&self, sight: &Sight<'_, A>, identifier: &str) -> Result<Found, Fault> {
        let found = sight.authority.find(identifier).await;
        if found.is_ok() {
            self.courier().question_was_answered(identifier);
        }
        found
    }

    /// What was sent last around a doubt is not shown, and older reports are. Where the authority
    /// says that it does not have these, it has lost them, or it answers from an old copy of what
    /// it stores: only a report that was sent after the doubt began, and is shown, tells that the
    /// doubt is not older than what answers.
    async fn unless_old(
        &self,
        sight: &Sight<'_, A>,
        identifier: &str,
        hidden: &[&Newest],
    ) -> Result<Visibility, JournalError> {
        let endpoint = self.endpoint.id();
        // What was sent in the last moments may be shown late; where a clock was set back, all of
        // it seems to be.
        let settled = minus(self.clock.now(), self.timing.shown_after).min(sight.until);
        for until in [settled, sight.until] {
            let within = (sight.from, until);
            let sent = self.journal.newest_accepted(endpoint, identifier, within, sight.until)?;
            for report in sent.iter().filter(|report| report.is_later) {
                match self.witness(sight, &report.identifier).await {
                    Ok(found) if shows(&found, &report.receipt) => {
                        return Ok(unless_behind(sight, hidden, Visibility::Ours).await);
                    }
                    Ok(_) => {}
                    Err(_) => return Ok(Visibility::Unknown),
                }
            }
        }
        Ok(Visibility::Unknown)
    }

    /// What was sent last with this certificate of what was accepted, and must be shown where the
    /// search shows the time of a doubt. Nothing from the last moments, which a search may show
    /// late, nor from long after the doubt began. What was sent before the report counts also where
    /// a clock that was set back dates it after that.
    fn newest(
        &self,
        sight: &Sight<'_, A>,
        identifier: &str,
        since: Instant,
    ) -> Result<Vec<Newest>, JournalError> {
        let doubt = i64::try_from(self.timing.doubt_min.as_micros()).unwrap_or(i64::MAX);
        let long_after = since.plus_micros(doubt);
        let until =
            minus(self.clock.now(), self.timing.shown_after).min(long_after).min(sight.until);
        let within = (sight.from, until);
        self.journal.newest_accepted(self.endpoint.id(), identifier, within, sight.until)
    }
}

fn shows(found: &Found, receipt: &str) -> bool {
    found.answers.iter().any(|answer| answer.receipt.as_deref() == Some(receipt))
}

/// The search shows something of ours, and perhaps not all of the newest. Where the authority has
/// one of these, its search is behind, and what it does not show proves nothing; what it has
/// forgotten says nothing of its search.
async fn unless_behind<A: Authority>(
    sight: &Sight<'_, A>,
    hidden: &[&Newest],
    shown: Visibility,
) -> Visibility {
    for report in hidden {
        match sight.authority.status(&report.receipt).await {
            // Its number is another report's by now.
            Ok(received) if !may_be(&received.answer, &report.identifier) => {}
            Err(fault) if is_not_found(&fault) => {}
            Ok(_) | Err(_) => return Visibility::Unknown,
        }
    }
    shown
}
