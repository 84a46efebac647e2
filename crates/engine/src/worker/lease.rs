//! The right to work the queue, held once for all couriers of a process. No single clock is
//! believed: a lease that is watched for the whole of its life without a change is nobody's, and
//! one that has not been renewed for so long is not ours any more.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use journal::{Journal, JournalError, Lease, LeaseAnswer, RecordError, Token};

use crate::{Clock, ClockReading, person};

/// Holds the lease of one process; its couriers share it.
pub struct LeaseKeeper {
    journal: Journal,
    clock: Arc<dyn Clock>,
    life: Duration,
    holder: String,
    keeping: Mutex<Keeping>,
}

/// What is known of the lease; may be lost at any moment.
#[derive(Debug, Default)]
struct Keeping {
    /// The lease that this process holds.
    lease: Option<Lease>,
    /// When it was last renewed.
    renewed: Option<ClockReading>,
    /// What a dead process left in "sending" is in doubt by now.
    recovered: bool,
    /// Another's, as it was first seen, and when by the steady clock.
    watched: Option<(Lease, Duration)>,
    /// Couriers that work under it.
    members: usize,
}

impl LeaseKeeper {
    /// Nothing is held yet. `holder` names this process, `life` is how long a lease lives without
    /// being renewed.
    pub fn new(journal: Journal, clock: Arc<dyn Clock>, life: Duration, holder: String) -> Self {
        Self { journal, clock, life, holder, keeping: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Keeping> {
        self.keeping.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A courier begins to work under it.
    pub(crate) fn join(&self) {
        self.lock().members += 1;
    }

    /// A courier has ended; the last one gives the lease back.
    pub(crate) fn leave(&self) {
        let mut keeping = self.lock();
        keeping.members = keeping.members.saturating_sub(1);
        if keeping.members == 0
            && let Some(lease) = keeping.lease.take()
        {
            // Failing to release only makes the next process wait for the lease to run out.
            let _ = self.journal.release_lease(&lease);
        }
    }

    /// Takes the lease, or renews it unless it is young; `None` when another process works the
    /// queue. What a dead process left in "sending" may have been delivered: it is put in doubt
    /// once for each lease.
    pub(crate) fn hold(&self) -> Result<Option<Lease>, JournalError> {
        let mut keeping = self.lock();
        let Some(lease) = self.renew_or_take(&mut keeping)? else { return Ok(None) };
        if !keeping.recovered {
            // Until it has succeeded: a recovery that the journal refused is owed at the next turn.
            let recovered =
                self.journal.recover(self.clock.now(), &person::worker(), Some(lease.token));
            recovered.map_err(trouble)?;
            keeping.recovered = true;
        }
        Ok(Some(lease))
    }

    fn renew_or_take(&self, keeping: &mut Keeping) -> Result<Option<Lease>, JournalError> {
        let now = ClockReading::now(&*self.clock);
        if let Some(held) = keeping.lease.clone() {
            // Every record is fenced by the token, so a lease that was renewed just now needs no
            // further commit.
            if keeping.held_for(now) < self.life / 4 {
                return Ok(Some(held));
            }
            match self.journal.renew_lease(&held, now.after(self.life)) {
                Ok(lease) => {
                    (keeping.lease, keeping.renewed) = (Some(lease.clone()), Some(now));
                    return Ok(Some(lease));
                }
                // Lost while it stood still; perhaps it is free again.
                Err(JournalError::StaleLease) => keeping.lease = None,
                Err(problem) => return Err(problem),
            }
        }
        let until = now.after(self.life);
        let mut answer = self.journal.acquire_lease(&self.holder, now.wall, until)?;
        if let LeaseAnswer::Elsewhere(seen) = &answer
            && keeping.is_abandoned(seen, now, self.life)
        {
            answer = self.journal.take_over_lease(&self.holder, seen, until)?;
        }
        Ok(match answer {
            LeaseAnswer::Held(lease) => {
                let (members, renewed) = (keeping.members, Some(now));
                *keeping =
                    Keeping { lease: Some(lease.clone()), renewed, members, ..Keeping::default() };
                Some(lease)
            }
            LeaseAnswer::Elsewhere(_) => None,
        })
    }

    /// The journal refused something: the next turn asks whether the lease is still ours, however
    /// young it is.
    pub(crate) fn distrust(&self) {
        self.lock().renewed = None;
    }

    /// Keeps it for longer where it is no longer young.
    pub(crate) fn keep(&self) -> Result<(), JournalError> {
        let mut keeping = self.lock();
        let now = ClockReading::now(&*self.clock);
        if keeping.held_for(now) < self.life / 2 {
            return Ok(());
        }
        let Some(held) = keeping.lease.clone() else { return Err(JournalError::StaleLease) };
        let lease = self.journal.renew_lease(&held, now.after(self.life))?;
        (keeping.lease, keeping.renewed) = (Some(lease), Some(now));
        Ok(())
    }

    /// Nobody else can have taken the lease with this token.
    pub(crate) fn holds_surely(&self, token: Token) -> bool {
        let keeping = self.lock();
        let same = keeping.lease.as_ref().is_some_and(|lease| lease.token == token);
        same && keeping.held_for(ClockReading::now(&*self.clock)) < self.life
    }

    /// A lease that the clock calls valid for longer than any is given out: the clock was set back,
    /// and its holder may be dead.
    pub(crate) fn watches_a_strange_one(&self) -> bool {
        let now = ClockReading::now(&*self.clock);
        let keeping = self.lock();
        keeping.watched.as_ref().is_some_and(|(lease, _)| lease.until > now.after(self.life))
    }
}

impl Keeping {
    /// Since when the lease has not been renewed, by whichever clock says more.
    fn held_for(&self, now: ClockReading) -> Duration {
        self.renewed.map_or(Duration::MAX, |renewed| now.since(renewed))
    }

    /// Whether another's lease has stood unchanged for the whole of its life.
    fn is_abandoned(&mut self, seen: &Lease, now: ClockReading, life: Duration) -> bool {
        match &self.watched {
            Some((lease, since)) if lease == seen => now.steady.saturating_sub(*since) >= life,
            _ => {
                self.watched = Some((seen.clone(), now.steady));
                false
            }
        }
    }
}

/// The journal itself made these events: that one cannot follow means damage.
pub(crate) fn trouble(problem: RecordError) -> JournalError {
    match problem {
        RecordError::Journal(problem) => problem,
        _ => JournalError::Damaged,
    }
}
