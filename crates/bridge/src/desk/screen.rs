//! The locked window: while it is locked, no answer of the desk carries a name. The workers go on.
//!
//! What unlocks it (docs/decisions/0005): the passphrase for unlocking, where one was chosen;
//! otherwise the laboratory's own secrets must be within reach, so that a keychain that was locked
//! since keeps it locked.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use engine::Engine;
use identity::{Guard, Password};
use tokio::time::Instant;

use super::{Desk, on_pool};
use crate::limits;
use crate::problem::Problem;

/// Wrong passphrases that cost nothing: slips of the hand.
const SLIPS: u32 = 2;
/// Longest pause after a wrong passphrase; it doubles from one second.
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// Shortest passphrase for unlocking, in characters: it is guessed at a keyboard, and slowly.
const LENGTH_MIN: usize = 6;

/// Whether what is behind a passphrase is locked, and how often somebody has tried in vain.
pub(super) struct Lock {
    state: Mutex<State>,
    /// Held while a passphrase is tried: tries at the same time would all be before the first
    /// failure.
    trying: tokio::sync::Mutex<()>,
}

/// The locks of a desk, each with a passphrase of its own.
pub(super) struct Locks {
    /// The window.
    pub(super) window: Lock,
    /// What only administrators change.
    pub(super) administration: Lock,
}

impl Locks {
    pub(super) fn of(engine: &Engine) -> Result<Self, Problem> {
        let lock = |guard| engine.secrets().has_guard(guard).map(Lock::new);
        Ok(Self { window: lock(Guard::Window)?, administration: lock(Guard::Administration)? })
    }
}

struct State {
    locked: bool,
    has_passphrase: bool,
    failures: u32,
    not_before: Option<Instant>,
}

impl Lock {
    /// With a passphrase it starts locked: closing and opening it must be no way around.
    pub(super) fn new(has_passphrase: bool) -> Self {
        let locked = has_passphrase;
        let state = State { locked, has_passphrase, failures: 0, not_before: None };
        Self { state: Mutex::new(state), trying: tokio::sync::Mutex::default() }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whole seconds to wait before the next try.
    fn pause(&self, now: Instant) -> Option<u64> {
        let left = self.state().not_before?.checked_duration_since(now)?;
        Some(left.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX))
            .filter(|left| *left > 0)
    }

    fn failed(&self, now: Instant) {
        let mut state = self.state();
        state.failures = state.failures.saturating_add(1);
        let doublings = state.failures.checked_sub(SLIPS + 1);
        let pause = doublings.map(|n| Duration::from_secs(1 << n.min(6)).min(PAUSE_MAX));
        state.not_before = pause.map(|pause| now + pause);
    }

    pub(super) fn opened(&self) {
        let mut state = self.state();
        (state.locked, state.failures, state.not_before) = (false, 0, None);
    }

    pub(super) fn is_locked(&self) -> bool {
        self.state().locked
    }

    pub(super) fn has_passphrase(&self) -> bool {
        self.state().has_passphrase
    }

    /// Where there is no passphrase nothing can be locked by it.
    pub(super) fn lock_again(&self) {
        let mut state = self.state();
        state.locked = state.has_passphrase;
    }

    /// Another passphrase is chosen, or none.
    pub(super) fn chosen(&self, has_passphrase: bool) {
        let mut state = self.state();
        state.has_passphrase = has_passphrase;
        state.locked &= has_passphrase;
    }
}

impl Desk {
    /// Whether the window is locked.
    pub fn is_locked(&self) -> bool {
        self.inner.locks.window.is_locked()
    }

    /// Whether a passphrase unlocks it.
    pub(super) fn has_unlock_passphrase(&self) -> bool {
        self.inner.locks.window.has_passphrase()
    }

    /// Locks the window, and what only administrators change.
    pub async fn lock(&self) -> Result<(), Problem> {
        self.inner.locks.window.state().locked = true;
        self.inner.locks.administration.lock_again();
        Ok(())
    }

    /// Unlocks the window. The passphrase is ignored where none was chosen.
    pub async fn unlock(&self, passphrase: String) -> Result<(), Problem> {
        let passphrase = Password::from(passphrase);
        if self.has_unlock_passphrase() {
            self.check_passphrase(Guard::Window, passphrase).await?;
        } else if let Some(engine) = self.opened_laboratory() {
            // Asked anew: what was read when the journal was opened says nothing of now.
            on_pool(move || engine.secrets().journal_key().map(drop)).await??;
        }
        self.inner.locks.window.opened();
        Ok(())
    }

    /// Chooses the passphrase for unlocking; an empty one does without from now on.
    pub async fn set_unlock_passphrase(
        &self,
        current: String,
        passphrase: String,
    ) -> Result<(), Problem> {
        self.set_passphrase(Guard::Window, current, passphrase).await
    }

    fn lock_of(&self, guard: Guard) -> &Lock {
        match guard {
            Guard::Window => &self.inner.locks.window,
            Guard::Administration => &self.inner.locks.administration,
        }
    }

    /// Chooses the passphrase of a guard; whoever wants to needs the one of before.
    pub(super) async fn set_passphrase(
        &self,
        guard: Guard,
        current: String,
        passphrase: String,
    ) -> Result<(), Problem> {
        limits::line("passphrase", &passphrase)?;
        let length = passphrase.chars().count();
        if length != 0 && length < LENGTH_MIN {
            return Err(limits::invalid("passphrase"));
        }
        let (current, passphrase) = (Password::from(current), Password::from(passphrase));
        if self.lock_of(guard).has_passphrase() {
            self.check_passphrase(guard, current).await?;
        }
        let engine = self.inner.practice_engine.clone();
        let chosen = !passphrase.is_empty();
        let kept = move || engine.secrets().set_guard(guard, Some(&passphrase).filter(|_| chosen));
        on_pool(kept).await??;
        self.lock_of(guard).chosen(chosen);
        Ok(())
    }

    pub(super) async fn check_passphrase(
        &self,
        guard: Guard,
        passphrase: Password,
    ) -> Result<(), Problem> {
        let lock = self.lock_of(guard);
        let _one_at_a_time = lock.trying.lock().await;
        if let Some(seconds) = lock.pause(Instant::now()) {
            let params = [("seconds", &*seconds.to_string())];
            return Err(Problem::new("unlock-too-soon", &params, "unlock"));
        }
        let engine = self.inner.practice_engine.clone();
        let fits = on_pool(move || engine.secrets().passes(guard, &passphrase)).await??;
        if !fits {
            lock.failed(Instant::now());
            return Err(Problem::new("unlock-refused", &[], "unlock"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_free_and_guessing_is_slow() {
        let (screen, now) = (Lock::new(true), Instant::now());
        let mut waits = Vec::new();
        for _ in 0..12 {
            screen.failed(now);
            waits.push(screen.pause(now).unwrap_or(0));
        }
        assert_eq!(waits, [0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60]);
        assert_eq!(screen.pause(now + Duration::from_millis(59_500)), Some(1));
        assert_eq!(screen.pause(now + Duration::from_millis(60_500)), None);
        screen.opened();
        screen.failed(now);
        assert_eq!(screen.pause(now), None, "counted anew");
    }
}
