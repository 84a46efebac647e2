//! Holding the right to work the queue. No single clock is believed: a lease that is watched for the whole of
//! its life without a change is nobody's, and one that has not been renewed for so long is not ours any more.

use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use client::Authority;
use journal::{JournalError, Lease, LeaseAnswer};

use super::{ConnectionState, Worker};
use crate::Moment;

/// What a worker knows of the lease; may be lost at any moment.
#[derive(Debug, Default)]
pub(super) struct Hold {
    /// When ours was last renewed.
    renewed: Option<Moment>,
    /// Another's, as it was first seen, and when by the steady clock.
    watched: Option<(Lease, Duration)>,
}

/// Pause between two looks at another's lease.
const WATCH_EVERY: Duration = Duration::from_secs(1);

impl<A: Authority> Worker<A> {
    /// Takes the lease, or renews it unless it is young; `None` when another process works the queue.
    pub(super) fn hold_lease(&self, held: Option<&Lease>) -> Result<Option<Lease>, JournalError> {
        if let Some(held) = held {
            // Every record is fenced by the token, so a lease that was renewed just now needs no further commit.
            if self.held_for() < self.pace.lease / 4 && !self.broken_off.load(Ordering::Relaxed) {
                return Ok(Some(held.clone()));
            }
            match self.renew_lease(held) {
                Ok(lease) => return Ok(Some(lease)),
                // Lost while it stood still; perhaps it is free again.
                Err(JournalError::StaleLease) => {}
                Err(problem) => return Err(problem),
            }
        }
        let now = self.moment();
        let until = now.after(self.pace.lease);
        let mut answer = self.journal.acquire_lease(&self.holder, now.wall, until)?;
        if let LeaseAnswer::Elsewhere(seen) = &answer
            && self.is_abandoned(seen, now)
        {
            answer = self.journal.take_over_lease(&self.holder, seen, until)?;
        }
        match answer {
            LeaseAnswer::Held(lease) => {
                *self.lock_hold() = Hold { renewed: Some(now), watched: None };
                Ok(Some(lease))
            }
            LeaseAnswer::Elsewhere(_) => {
                self.connection.send_if_modified(|connection| {
                    let changed = connection.state != ConnectionState::Elsewhere;
                    connection.state = ConnectionState::Elsewhere;
                    changed
                });
                Ok(None)
            }
        }
    }

    /// Keeps the lease for longer.
    pub(super) fn renew_lease(&self, held: &Lease) -> Result<Lease, JournalError> {
        let now = self.moment();
        let lease = self.journal.renew_lease(held, now.after(self.pace.lease))?;
        self.lock_hold().renewed = Some(now);
        Ok(lease)
    }

    /// The same, for one pass: a lease that the clock calls valid for longer than any is given out is watched
    /// first, because the clock was set back, and its holder may be dead.
    pub(super) async fn wait_for_lease(&self) -> Result<Option<Lease>, JournalError> {
        loop {
            if let Some(lease) = self.hold_lease(None)? {
                return Ok(Some(lease));
            }
            let now = self.moment();
            let strange = match &self.lock_hold().watched {
                Some((lease, _)) => lease.until > now.after(self.pace.lease),
                None => false,
            };
            if !strange {
                return Ok(None);
            }
            tokio::time::sleep(WATCH_EVERY).await;
        }
    }

    /// Whether another's lease has stood unchanged for the whole of its life.
    fn is_abandoned(&self, seen: &Lease, now: Moment) -> bool {
        let mut hold = self.lock_hold();
        match &hold.watched {
            Some((lease, since)) if lease == seen => {
                now.steady.saturating_sub(*since) >= self.pace.lease
            }
            _ => {
                hold.watched = Some((seen.clone(), now.steady));
                false
            }
        }
    }

    /// Since when the lease has not been renewed, by whichever clock says more.
    pub(super) fn held_for(&self) -> Duration {
        let renewed = self.lock_hold().renewed;
        renewed.map_or(Duration::MAX, |renewed| self.moment().since(renewed))
    }

    /// Nobody else can have taken it.
    pub(super) fn holds_surely(&self) -> bool {
        self.held_for() < self.pace.lease
    }

    fn lock_hold(&self) -> MutexGuard<'_, Hold> {
        self.hold.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
