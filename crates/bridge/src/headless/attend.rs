//! Attending reports until they are where a person or a script wants them.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use client::Authority as _;
use engine::{ConnectionState, EngineError, JournalRefusal};
use exchange::Endpoint;
use journal::{Filter, Lease, Row};
use report::{State, StateCode, SubmissionId};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::arrivals::{Arrivals, Attended, More};
use super::{Headless, numbered};
use crate::problem::Problem;

/// How far reports are attended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// Until each has been handed over once, whatever became of it.
    Sent,
    /// Until none moves by itself any more.
    Settled,
}

/// How attending ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The goal was reached.
    Reached,
    /// Another program holds the queue.
    Elsewhere,
    /// No authority that is waited for can be reached, one problem for each; what is queued stays
    /// queued.
    Unreachable(Vec<EndpointProblem>),
    /// The patience is over; what is open stays open.
    TimedOut,
    /// Told to stop.
    Stopped,
    /// A person has paused sending, and nothing else is left to be done.
    Paused,
}

/// Why the authority of an endpoint cannot be reached or refuses us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointProblem {
    /// Name of the endpoint.
    pub endpoint: String,
    /// What is wrong there.
    pub problem: Problem,
}

/// A submission that has moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// Number of the submission.
    pub id: i64,
    /// Its state code now.
    pub state: StateCode,
    /// It has reached the goal, and is not looked at any more.
    pub is_there: bool,
    /// Of those attended: how many have reached the goal.
    pub done: usize,
    /// How many are attended.
    pub of: usize,
}

/// Pause between two looks at the journal; another process may have moved it, so it is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// A worker in another program looks every 5 s at what was added: it gets a little longer than
/// that.
const ELSEWHERE_MAX: Duration = Duration::from_secs(8);

impl Headless {
    /// Works the queue (or watches another program do so) until the submissions are where `goal`
    /// says. An interruption of the way to the authority is waited out if it was reached before.
    pub async fn attend(
        &self,
        ids: &[i64],
        goal: Goal,
        patience: Option<Duration>,
        stop: &CancellationToken,
        each: impl FnMut(Moved),
    ) -> Result<Outcome, Problem> {
        let arrivals = Arrivals::default();
        ids.iter().for_each(|id| arrivals.add(*id));
        arrivals.end();
        self.attend_arriving(&arrivals, goal, patience, stop, each).await
    }

    /// The same while others still arrive: patience begins when all are there.
    pub async fn attend_arriving(
        &self,
        arrivals: &Arrivals,
        goal: Goal,
        patience: Option<Duration>,
        stop: &CancellationToken,
        each: impl FnMut(Moved),
    ) -> Result<Outcome, Problem> {
        let attended = Attended::new(More::Arriving(arrivals), goal);
        let outcome = self.work(attended, goal, patience, stop, each).await;
        arrivals.is_attended.send_replace(None);
        outcome
    }

    /// Works the queue until nothing is open any more.
    pub async fn follow(
        &self,
        stop: &CancellationToken,
        each: impl FnMut(Moved),
    ) -> Result<(Vec<i64>, Outcome), Problem> {
        // What waits to be compared is open after that. Whether the authority is there shows below.
        let _ = self.engine.reconcile().await;
        let ids = self.open_ids()?.into_iter().map(|id| id.0).collect();
        let attended = Attended::new(More::Open(HashSet::new()), Goal::Settled);
        let outcome = self.work(attended, Goal::Settled, None, stop, each).await?;
        Ok((ids, outcome))
    }

    /// One pass: sends and asks what is owed, learns what changed. Gives the submissions that were
    /// open before.
    pub async fn follow_once(&self) -> Result<(Vec<i64>, Outcome), Problem> {
        let rows = self.open_rows()?;
        let open: Vec<i64> = rows.iter().map(|row| row.id.0).collect();
        let obstructed = match self.engine.follow_once().await {
            Ok(None) => return Ok((open, Outcome::Elsewhere)),
            Ok(Some(_)) => None,
            Err(error @ EngineError::Obstructed(_)) => Some(error),
            Err(error) => return Err(error.into()),
        };
        let mut problems = Vec::new();
        if !open.is_empty() {
            let ways: BTreeSet<String> = rows.into_iter().map(|row| row.endpoint).collect();
            problems = self.not_there(ways).await;
            problems.extend(self.unreachable());
        }
        match obstructed {
            Some(error) if problems.is_empty() => Err(error.into()),
            _ if !problems.is_empty() => Ok((open, Outcome::Unreachable(problems))),
            _ if self.holds_what_waits(&open)? => Ok((open, Outcome::Paused)),
            _ => Ok((open, Outcome::Reached)),
        }
    }

    /// Where nothing was due nothing was asked: the pass still tells whether each authority is
    /// there.
    async fn not_there(&self, ways: BTreeSet<String>) -> Vec<EndpointProblem> {
        let mut problems = Vec::new();
        for way in ways {
            let state = self.engine.connection_to(&way).state;
            if matches!(state, ConnectionState::Unchecked)
                && let Some(endpoint) = self.engine.profile().endpoint_of(&way).cloned()
                && let Err(problem) = self.ask_whether_there(&endpoint).await
            {
                problems.push(EndpointProblem { endpoint: endpoint.name, problem });
            }
        }
        problems
    }

    async fn ask_whether_there(&self, endpoint: &Endpoint) -> Result<(), Problem> {
        let authority = self.engine.authority(endpoint);
        let authority = authority.map_err(|obstacle| Problem::from(&obstacle))?;
        Ok(authority.capability().await.map(|_| ())?)
    }

    /// Starts working the queue in the background (for a watched folder); [`Headless::close`] ends
    /// it.
    pub async fn start(&self) {
        self.engine.start().await;
    }

    /// Submissions that move by themselves, whatever their endpoint, oldest first, each with its
    /// state code.
    pub fn open_reports(&self) -> Result<Vec<(i64, StateCode)>, Problem> {
        Ok(self.open_rows()?.into_iter().map(|row| (row.id.0, row.state.shown())).collect())
    }

    /// Tells from now on whether anything has become of the reports, by whichever program.
    pub fn changes(&self) -> journal::Changes {
        self.engine.journal().changes()
    }

    fn open_ids(&self) -> Result<Vec<SubmissionId>, Problem> {
        Ok(self.open_reports()?.into_iter().map(|(id, _)| numbered(id)).collect())
    }

    fn open_rows(&self) -> Result<Vec<Row>, Problem> {
        let journal = self.engine.journal();
        let states = StateCode::KEPT.into_iter().filter(|state| state.is_open()).collect();
        let mut filter = Filter { states, limit: 1_000, ..Filter::default() };
        filter.now = self.engine.now();
        let mut open = Vec::new();
        loop {
            let rows = journal.list(&filter)?;
            let Some(last) = rows.last() else { break };
            filter.before = Some(last.id);
            open.extend(rows);
        }
        open.reverse();
        Ok(open)
    }

    async fn work(
        &self,
        mut attended: Attended<'_>,
        goal: Goal,
        patience: Option<Duration>,
        stop: &CancellationToken,
        mut each: impl FnMut(Moved),
    ) -> Result<Outcome, Problem> {
        self.engine.start().await;
        let began = Instant::now();
        let mut deadline = None;
        let (mut changes, mut holder) = (self.changes(), None);
        let outcome = loop {
            let looked = Instant::now();
            // Asked first: what arrives after that is seen by the next look.
            let may_grow = attended.may_grow();
            if changes.are_there()? || attended.has_more() {
                self.look_at(&mut attended, &mut each)?;
            }
            if attended.open.is_empty() && !may_grow {
                break Outcome::Reached;
            }
            if !attended.open.is_empty() && self.waits_for_a_person(&attended)? {
                break Outcome::Paused;
            }
            let ways = attended.ways();
            if let Some(outcome) = self.hindrance(&ways, goal, began, &mut holder)? {
                break outcome;
            }
            if !may_grow && deadline.is_none() {
                deadline = patience.map(|patience| looked + patience);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                // Only where these reports go: what is wrong elsewhere is not what they waited for.
                let problems = self.problems_of(ways.into_iter());
                let none = problems.is_empty();
                break if none { Outcome::TimedOut } else { Outcome::Unreachable(problems) };
            }
            // Many open reports take longer to look at: the worker gets most of the time.
            let pause = LOOK_EVERY.max(looked.elapsed() * 4);
            tokio::select! {
                () = stop.cancelled() => break Outcome::Stopped,
                () = sleep(pause) => {}
            }
        };
        self.engine.stop().await;
        Ok(outcome)
    }

    /// Looks where each of the open reports is by now.
    fn look_at(
        &self,
        attended: &mut Attended<'_>,
        each: &mut impl FnMut(Moved),
    ) -> Result<(), Problem> {
        let journal = self.engine.journal();
        let more = match &mut attended.more {
            More::Arriving(arrivals) => arrivals.take(),
            More::Open(known) => {
                self.open_ids()?.into_iter().filter(|id| known.insert(*id)).collect()
            }
        };
        for id in more {
            let way = journal.row(id)?.endpoint;
            attended.add(id, way);
        }
        let open = std::mem::take(&mut attended.open);
        let ids: Vec<_> = open.iter().map(|open| open.id).collect();
        let mut still = Vec::with_capacity(open.len());
        // All of them from one snapshot: each look of its own reads its pages from the disk again.
        for (mut open, state) in open.into_iter().zip(journal.states(&ids)?) {
            let has_moved = open.seen.replace(state.shown()) != Some(state.shown());
            let (id, is_there) = (open.id.0, attended.goal.is_reached(&state));
            attended.done += usize::from(is_there);
            if !is_there {
                still.push(open);
            }
            if has_moved || is_there {
                let (state, done, of) = (state.shown(), attended.done, attended.of);
                each(Moved { id, state, is_there, done, of });
            }
        }
        attended.open = still;
        if let More::Arriving(arrivals) = &attended.more {
            arrivals.is_attended.send_replace(Some(attended.open.len()));
        }
        Ok(())
    }

    /// Sending is paused, and one of these waits for it.
    fn holds_what_waits(&self, open: &[i64]) -> Result<bool, Problem> {
        if !self.is_paused()? {
            return Ok(false);
        }
        for id in open {
            if matches!(self.engine.journal().state(numbered(*id))?, State::Queued { .. }) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// All that is open waits to be sent, and sending is paused.
    fn waits_for_a_person(&self, attended: &Attended<'_>) -> Result<bool, Problem> {
        if !self.is_paused()? {
            return Ok(false);
        }
        for open in &attended.open {
            if !matches!(self.engine.journal().state(open.id)?, State::Queued { .. }) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a person has paused sending.
    pub fn is_paused(&self) -> Result<bool, Problem> {
        Ok(self.engine.is_paused()?)
    }

    /// Pauses or resumes sending, for every program that works with this profile.
    pub fn set_paused(&self, paused: bool) -> Result<(), Problem> {
        Ok(self.engine.set_paused(paused)?)
    }

    /// What keeps the reports from moving, if waiting helps none of them: each goes its own way.
    fn hindrance(
        &self,
        ways: &BTreeSet<String>,
        goal: Goal,
        began: Instant,
        holder: &mut Option<Lease>,
    ) -> Result<Option<Outcome>, Problem> {
        let (mut problems, mut elsewhere) = (Vec::new(), None);
        for way in ways {
            match self.hindrance_of(way, goal, began, holder)? {
                None => return Ok(None),
                Some(Outcome::Unreachable(some)) => problems.extend(some),
                other => elsewhere = other,
            }
        }
        let unreachable = (!problems.is_empty()).then_some(Outcome::Unreachable(problems));
        Ok(unreachable.or(elsewhere))
    }

    /// What keeps the reports to one endpoint from moving. That another program works the queue is
    /// believed once it has shown life: the lease of a dead one runs out, and then the queue is
    /// ours.
    fn hindrance_of(
        &self,
        way: &str,
        goal: Goal,
        began: Instant,
        holder: &mut Option<Lease>,
    ) -> Result<Option<Outcome>, Problem> {
        let connection = self.engine.connection_to(way);
        let unreachable = || Some(Outcome::Unreachable(self.problem_of(way).into_iter().collect()));
        Ok(match &connection.state {
            _ if self.engine.profile().endpoint_of(way).is_none() => unreachable(),
            ConnectionState::Locked(_) => unreachable(),
            ConnectionState::Unreachable(_)
                if goal == Goal::Sent || connection.last_contact.is_none() =>
            {
                unreachable()
            }
            ConnectionState::Elsewhere if goal == Goal::Sent => {
                let lives = shows_life(holder, self.engine.journal().lease()?);
                (lives && began.elapsed() >= ELSEWHERE_MAX).then_some(Outcome::Elsewhere)
            }
            // What another process holds locked is free again in a moment.
            ConnectionState::JournalUnavailable(JournalRefusal::Busy) => None,
            ConnectionState::JournalUnavailable(refusal) => return Err((*refusal).into()),
            _ => None,
        })
    }

    /// Why authorities that have open reports, or the one in use, cannot be reached or refuse us,
    /// as far as was seen by now.
    pub fn unreachable(&self) -> Vec<EndpointProblem> {
        let in_use = self.engine.profile().settings.in_use.clone();
        let open = self.engine.journal().open_elsewhere("").unwrap_or_default();
        let others = open.into_iter().map(|(way, _)| way);
        let others = others.filter(|way| Some(way) != in_use.as_ref());
        self.problems_of(in_use.clone().into_iter().chain(others))
    }

    fn problems_of(&self, ways: impl Iterator<Item = String>) -> Vec<EndpointProblem> {
        ways.filter_map(|way| self.problem_of(&way)).collect()
    }

    fn problem_of(&self, way: &str) -> Option<EndpointProblem> {
        let profile = self.engine.profile();
        let problem = match self.engine.connection_to(way).state {
            _ if profile.endpoint_of(way).is_none() => Problem::of_gone(&profile.gone(way)),
            ConnectionState::Locked(why) | ConnectionState::Unreachable(why) => (&why).into(),
            _ => return None,
        };
        Some(EndpointProblem { endpoint: profile.name_of(way), problem })
    }
}

/// Whether the holder has renewed its lease since it was first seen.
fn shows_life(seen: &mut Option<Lease>, now: Option<Lease>) -> bool {
    match (&*seen, now) {
        (Some(before), Some(now)) if before.token == now.token => now.until > before.until,
        (_, now) => {
            *seen = now;
            false
        }
    }
}

impl Goal {
    fn is_reached(self, state: &State) -> bool {
        match self {
            Self::Sent => !matches!(state, State::Queued { .. } | State::Sending { .. }),
            Self::Settled => state.is_settled(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fhir::Instant as Time;
    use journal::Token;

    #[test]
    fn a_holder_lives_once_it_renews_its_lease() {
        let lease = |token, until| {
            let holder = "another".to_owned();
            Some(Lease { holder, token: Token(token), until: Time::from_seconds(until) })
        };
        let mut seen = None;
        assert!(!shows_life(&mut seen, lease(1, 30)), "seen for the first time");
        assert!(!shows_life(&mut seen, lease(1, 30)), "dead, as far as can be told");
        assert!(shows_life(&mut seen, lease(1, 40)));
        assert!(!shows_life(&mut seen, lease(1, 0)), "given back");
        assert!(!shows_life(&mut seen, lease(2, 60)), "another one, perhaps we");
        assert!(!shows_life(&mut seen, None));
    }
}
