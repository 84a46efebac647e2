//! The way of one process to an authority: requests that are lost, late, cut, refused, and answers
//! likewise.

use std::sync::Arc;
use std::time::Duration;

use client::{Authority, Capability, Changes, Evidence, Fault, Found, Received, Why};
use exchange::{Answer, Envelope, Page, Processing, Query};
use fhir::Instant;

use crate::authority::{Nature, Stored, issue};
use crate::computer::{Computer, SECOND, micros};
use crate::delivery::{accept, accept_at_gateway, short};
use crate::fate::{FATES, Fate};
use crate::process::Process;
use crate::world::World;

/// One process's connection to one authority.
pub(crate) struct Link {
    pub(crate) world: Arc<World>,
    pub(crate) process: Arc<Process>,
    pub(crate) endpoint: usize,
    /// The certificate that it shows, by its place.
    pub(crate) certificate: usize,
    /// It compares a restored journal: what it is told teaches no courier.
    pub(crate) compares: bool,
}

/// A POST is given up after so long.
const POST_MAX: i64 = 180 * SECOND;
/// Questions are given up after so long.
const QUESTION_MAX: i64 = 60 * SECOND;

impl Link {
    /// Whose reports the authority shows to its certificate; `None`: all of the laboratory.
    fn sight(&self) -> Option<usize> {
        self.world.plan.renewals.own_sight.then_some(self.certificate)
    }

    fn evidence(&self, body: Vec<u8>) -> Evidence {
        let server_date = Some(Computer::authority_at(self.world.truth() / SECOND * SECOND));
        Evidence { status: 200, body, server_date, ..Evidence::default() }
    }

    fn note(&self, what: impl FnOnce() -> String) {
        self.world.note(&self.process.name, what);
    }

    fn transient(&self, why: Why, retry_after: Option<Duration>) -> Fault {
        let evidence = retry_after.map(|_| Box::new(self.evidence(b"{}".to_vec())));
        Fault::Transient { why, retry_after, evidence }
    }

    fn busy(&self) -> Fault {
        // The client cuts longer wishes to an hour.
        let wish = self.world.dice(|dice| dice.below(5400)).min(3600);
        self.transient(Why::Unavailable { status: 429 }, Some(Duration::from_secs(wish)))
    }

    fn locked(&self) -> Fault {
        let evidence = Some(Box::new(self.evidence(b"{}".to_vec())));
        Fault::Locked { why: Why::Forbidden { status: 403 }, evidence }
    }

    fn unexplained(&self) -> Fault {
        let status = if self.world.late(|dice| dice.percent(50)) { 400 } else { 422 };
        let evidence = Evidence { status, ..self.evidence(Vec::new()) };
        Fault::Locked { why: Why::Unexplained { status }, evidence: Some(Box::new(evidence)) }
    }

    fn uncertain(&self, why: Why) -> Fault {
        Fault::Uncertain { why, evidence: None }
    }

    /// The process dies here.
    async fn end(&self) -> ! {
        std::future::pending().await
    }

    fn has_lapsed(&self) -> bool {
        self.world.plan.renewals.has_lapsed(self.certificate, self.world.truth())
    }

    fn fate(&self, nature: Nature) -> Fate {
        if self.has_lapsed() {
            return Fate::Locked;
        }
        if nature == Nature::Choking {
            return Fate::TimeOut;
        }
        if nature == Nature::Barred {
            return Fate::Locked;
        }
        let blind =
            crate::lock(&self.world.authorities[self.endpoint]).is_blind(self.world.truth());
        if blind {
            return Fate::Locked;
        }
        if self.world.is_wild() && self.world.more(|dice| dice.percent(self.world.plan.doubtful)) {
            let stored = self.world.more(|dice| dice.percent(50));
            return if stored { Fate::Stored503 } else { Fate::Conflict };
        }
        let gateways = self.world.plan.gateways;
        if gateways > 0 && self.world.is_wild() && self.world.late(|dice| dice.percent(gateways)) {
            return Fate::Gateway;
        }
        let overtakes = self.world.plan.edges.overtakes;
        if overtakes > 0 && self.world.is_wild() && self.world.echo(|dice| dice.percent(overtakes))
        {
            return Fate::StoredRefused;
        }
        let echoes = self.world.plan.echoes;
        if echoes > 0 && self.world.is_wild() && self.world.echo(|dice| dice.percent(echoes)) {
            let repeated = self.world.echo(|dice| dice.percent(60));
            return if repeated { Fate::Repeated } else { Fate::StoredRefused };
        }
        if !self.world.faulty() {
            return Fate::Answered;
        }
        let index = self.world.dice(|dice| dice.below(FATES.len() as u64));
        FATES[usize::try_from(index).unwrap_or(0)]
    }

    /// The authority takes it: now or later, whatever becomes of the process that sent it.
    fn deliver(&self, identifier: &str, after: i64) -> Option<Stored> {
        let (world, endpoint, certificate) = (self.world.clone(), self.endpoint, self.certificate);
        let identifier = identifier.to_owned();
        if after == 0 {
            return accept(&world, endpoint, &identifier, certificate);
        }
        crate::lock(&world.authorities[endpoint]).coming.push(identifier.clone());
        tokio::spawn(async move {
            tokio::time::sleep(micros(after)).await;
            let mut authority = crate::lock(&world.authorities[endpoint]);
            authority.coming.retain(|coming| *coming != identifier);
            drop(authority);
            accept(&world, endpoint, &identifier, certificate);
        });
        None
    }

    async fn posted(&self, wrapped: &Envelope) -> Result<Received, Fault> {
        let nature =
            crate::lock(&self.world.authorities[self.endpoint]).nature(&wrapped.identifier);
        let fate = self.fate(nature);
        self.note(|| format!("POST {} {fate:?}", short(&wrapped.identifier)));
        let known_not_to =
            matches!(fate, Fate::Unreachable | Fate::Busy | Fate::Locked | Fate::Gateway);
        if fate != Fate::Answered && !known_not_to {
            self.world.count(|tally| tally.answers_lost += 1);
        }
        let reaches = nature == Nature::Fine && !known_not_to && fate != Fate::CutBefore;
        if reaches && fate == Fate::Conflict {
            let mut authority = crate::lock(&self.world.authorities[self.endpoint]);
            authority.duplicates.insert(wrapped.identifier.clone());
        }
        let late = fate == Fate::LateDelivery;
        let after = if late { self.world.dice(|dice| dice.between(1, 240)) } else { 0 };
        let after = i64::try_from(after).unwrap_or(0) * SECOND;
        let stored = match fate {
            _ if !reaches => None,
            Fate::Repeated | Fate::StoredRefused => {
                let is_repeated = fate == Fate::Repeated;
                let identifier = &wrapped.identifier;
                let certificate = self.certificate;
                accept_at_gateway(&self.world, self.endpoint, identifier, certificate, is_repeated)
            }
            _ => self.deliver(&wrapped.identifier, after),
        };
        if !self.process.lives_on() {
            self.end().await;
        }
        let result = self.answered(fate, nature, stored).await;
        if !self.process.lives_on() {
            self.end().await;
        }
        result
    }

    async fn answered(
        &self,
        fate: Fate,
        nature: Nature,
        stored: Option<Stored>,
    ) -> Result<Received, Fault> {
        let world = &self.world;
        match fate {
            Fate::Unreachable => {
                world.pause(0, 10 * SECOND).await;
                return Err(self.transient(Why::ConnectRefused, None));
            }
            Fate::Busy => {
                world.pause(0, SECOND).await;
                return Err(self.busy());
            }
            Fate::Locked | Fate::StoredRefused => {
                world.pause(0, SECOND).await;
                return Err(self.locked());
            }
            Fate::Gateway => {
                world.pause(0, SECOND).await;
                return Err(self.unexplained());
            }
            Fate::CutBefore | Fate::CutAfter => {
                world.pause(0, 30 * SECOND).await;
                return Err(self.uncertain(Why::Cut));
            }
            Fate::TimeOut | Fate::LateDelivery => {
                let soon = fate == Fate::LateDelivery && world.dice(|dice| dice.percent(50));
                let time = if soon { 2 * SECOND } else { POST_MAX };
                tokio::time::sleep(micros(time)).await;
                return Err(self.uncertain(Why::Timeout));
            }
            Fate::Garbled => {
                world.pause(0, 2 * SECOND).await;
                return Err(self.uncertain(Why::Html { status: 200 }));
            }
            Fate::Stored503 => {
                world.pause(0, SECOND).await;
                return Err(self.uncertain(Why::Unavailable { status: 503 }));
            }
            Fate::LateAnswer => world.pause(SECOND, 170 * SECOND).await,
            Fate::Answered | Fate::Bare | Fate::Conflict | Fate::Repeated => {
                world.pause(SECOND / 100, SECOND).await
            }
        }
        let evidence = self.evidence(b"{}".to_vec());
        let Some(stored) = stored.filter(|_| fate != Fate::Conflict) else {
            debug_assert!(nature == Nature::Refused || fate == Fate::Conflict);
            let mut issue = issue();
            if fate == Fate::Conflict {
                "duplicate".clone_into(&mut issue.code);
            }
            let answer = Answer { issues: vec![issue], ..Answer::default() };
            return Err(Fault::Refused { answer: Box::new(answer), evidence: Box::new(evidence) });
        };
        let mut answer = stored.read(stored.accepted);
        if fate == Fate::Bare {
            answer.processing = None;
        }
        Ok(Received { answer, evidence })
    }

    /// Whether the question for an identifier had no answer.
    fn count_in_vain(&self, identifier: &str, is_in_vain: bool) {
        let mut authority = crate::lock(&self.world.authorities[self.endpoint]);
        let times = authority.asked_in_vain.entry(identifier.to_owned()).or_default();
        *times = if is_in_vain { *times + 1 } else { 0 };
    }

    /// Asks: an answer is of the moment at which it leaves the authority, and may come late.
    async fn asked<T>(
        &self,
        what: &str,
        look: impl FnOnce(&crate::authority::Authority, i64) -> T,
    ) -> Result<T, Fault> {
        if !self.process.lives_on() {
            self.end().await;
        }
        self.world.pause(SECOND / 100, SECOND / 5).await;
        if self.has_lapsed() {
            self.note(|| format!("{what} with an expired certificate"));
            return Err(self.locked());
        }
        if self.world.faulty() {
            let kind = self.world.dice(|dice| dice.below(5));
            self.note(|| format!("{what} fails"));
            self.world.pause(0, if kind == 0 { QUESTION_MAX } else { SECOND }).await;
            return Err(match kind {
                0 | 1 => self.transient(Why::Timeout, None),
                2 => self.busy(),
                3 => self.locked(),
                _ => self.transient(Why::Cut, None),
            });
        }
        let now = self.world.truth();
        let seen = look(&crate::lock(&self.world.authorities[self.endpoint]), now);
        let late = self.world.is_wild() && self.world.dice(|dice| dice.percent(10));
        self.world.pause(SECOND / 100, if late { QUESTION_MAX - SECOND } else { SECOND }).await;
        if !self.process.lives_on() {
            self.end().await;
        }
        Ok(seen)
    }
}

impl Authority for Link {
    async fn submit(&self, wrapped: &Envelope) -> Result<Received, Fault> {
        if !self.process.lives_on() {
            self.end().await;
        }
        self.world.count(|tally| tally.requests += 1);
        self.world.laws(|laws| laws.leaving(&self.world, self.endpoint, wrapped));
        self.posted(wrapped).await
    }

    async fn find(&self, identifier: &str) -> Result<Found, Fault> {
        let sight = self.sight();
        let answers =
            self.asked("search by identifier", |authority, now| authority.found(now, sight));
        let answers = answers.await;
        self.count_in_vain(identifier, answers.is_err());
        let mut answers = answers?;
        answers.retain(|answer| answer.identifiers.iter().any(|known| known == identifier));
        self.note(|| format!("finds {} of {}", answers.len(), short(identifier)));
        let mut evidence = self.evidence(b"{}".to_vec());
        let leap = self.world.leap();
        evidence.server_date = evidence.server_date.map(|date| date.plus_micros(leap));
        Ok(Found { answers, evidence })
    }

    async fn status(&self, receipt: &str) -> Result<Received, Fault> {
        let sight = self.sight();
        let found = self.asked("read", |authority, now| {
            let mut stored = authority.stored.iter().filter(|_| !authority.is_blind(now));
            let is_it = |it: &&Stored| {
                it.receipt == receipt && !it.is_forgotten(now) && it.is_shown_to(sight)
            };
            stored.find(is_it).map(|stored| stored.read(now))
        });
        match found.await? {
            Some(answer) => {
                self.note(|| format!("reads {receipt}"));
                Ok(Received { answer, evidence: self.evidence(b"{}".to_vec()) })
            }
            None => Err(self.transient(Why::NotFound { status: 404 }, None)),
        }
    }

    async fn changed_since(&self, since: Option<Instant>) -> Result<Changes, Fault> {
        let sight = self.sight();
        let seen = self.asked("search for changes", |authority, now| {
            let told = authority
                .stored
                .iter()
                .filter(|stored| stored.is_told(now) && !stored.is_told_very_late())
                // *Failed* is told once it is sure that no other delivery counts, which takes a
                // question of its own.
                .filter(|stored| stored.outcome == Processing::Completed)
                .filter(|stored| !authority.is_blind(now) && !stored.is_forgotten(now))
                .filter(|stored| stored.is_shown_to(sight))
                .map(|stored| stored.identifier.clone());
            (authority.changed(since, now, sight), told.collect(), Computer::authority_at(now))
        });
        let (mut answers, told, server_time): (Vec<Answer>, Vec<String>, Instant) = seen.await?;
        if self.world.refuses_searches() {
            self.note(|| "search for changes refused".to_owned());
            return Err(self.unexplained());
        }
        self.note(|| format!("changes since {}: {}", since.map_or(0, |at| at.0), answers.len()));
        let mut changes = Changes { server_time: Some(server_time), ..Changes::default() };
        // What was shown late meanwhile may lie before: the next search from the watermark must
        // learn it.
        let goes_on = !self.compares && self.process.goes_on_at(self.endpoint, since);
        if self.world.is_wild() && self.world.dice(|dice| dice.percent(10)) {
            // Pages that are lost.
            let kept = self.world.dice(|dice| dice.below(answers.len() as u64 + 1));
            answers.truncate(usize::try_from(kept).unwrap_or(0));
            changes.incomplete = Some(Why::TooManyPages);
            let newest = answers.iter().filter_map(|answer| answer.last_updated).max();
            if !self.compares {
                self.process.was_cut_at(self.endpoint, newest);
            }
        } else {
            if !goes_on && !self.compares {
                self.process.was_told(self.endpoint, told);
            }
            // Repeated and reordered: the same entries twice, newest first.
            let mut repeated = answers.clone();
            repeated.reverse();
            answers.extend(repeated);
        }
        // The entries by which the engine proves what it learned.
        let entries: Vec<String> = answers.iter().map(entry).collect();
        let body = format!(r#"{{"resourceType":"Bundle","entry":[{}]}}"#, entries.join(","));
        changes.evidence = vec![self.evidence(body.into_bytes())];
        changes.answers = answers;
        Ok(changes)
    }

    async fn search(&self, query: &Query) -> Result<(Page, Evidence), Fault> {
        let sight = self.sight();
        let mut answers =
            self.asked("search", |authority, now| authority.found(now, sight)).await?;
        if !query.identifier.is_empty() {
            // As the authority does: the identifier of the delivery or of the document within.
            answers.retain(|answer| {
                let delivery = answer.identifiers.first().map_or("", String::as_str);
                let document = self.world.papers(|papers| papers.content_of(delivery));
                let document = document.map(crate::papers::Content::identifier);
                query
                    .identifier
                    .iter()
                    .any(|asked| asked == delivery || Some(asked) == document.as_ref())
            });
            self.note(|| format!("finds {} of {:?}", answers.len(), query.identifier));
            let page = Page { total: Some(answers.len() as u64), answers, ..Page::default() };
            return Ok((page, self.evidence(b"{}".to_vec())));
        }
        self.note(|| format!("sees {} of its own", answers.len()));
        if self.world.plan.strangers {
            answers.push(Answer { receipt: Some("stranger".to_owned()), ..Answer::default() });
        }
        let page = Page { total: Some(answers.len() as u64), answers, ..Page::default() };
        Ok((page, self.evidence(b"{}".to_vec())))
    }

    async fn capability(&self) -> Result<(Capability, Evidence), Fault> {
        self.asked("knock", |_, _| ()).await?;
        Ok((Capability::default(), self.evidence(b"{}".to_vec())))
    }
}

fn entry(answer: &Answer) -> String {
    let receipt = answer.receipt.as_deref().unwrap_or_default();
    format!(r#"{{"resource":{{"resourceType":"DocumentReference","id":"{receipt}"}}}}"#)
}
