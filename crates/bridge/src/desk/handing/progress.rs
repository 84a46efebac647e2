//! How far a hand-over is, and whether somebody takes it back before it has ended.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::views::TakingView;

/// Counted by the hand-over, looked at and stopped by the window.
#[derive(Default)]
pub(in crate::desk) struct Progress {
    total: AtomicU32,
    done: AtomicU32,
    stage: Mutex<Stage>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    Going,
    Stopped,
    /// Also where none has begun.
    #[default]
    Ended,
}

impl Progress {
    /// A hand-over that begins.
    pub(in crate::desk) fn begins() -> Self {
        Self { stage: Mutex::new(Stage::Going), ..Self::default() }
    }

    /// No further report is taken in, and those that were are held back. `false` where the
    /// hand-over has ended before.
    pub(in crate::desk) fn stop(&self) -> bool {
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        if *stage == Stage::Going {
            *stage = Stage::Stopped;
        }
        *stage == Stage::Stopped
    }

    pub(super) fn is_stopped(&self) -> bool {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) == Stage::Stopped
    }

    /// So many of so many reports are done.
    pub(super) fn at(&self, done: usize, total: usize) {
        let small = |count| u32::try_from(count).unwrap_or(u32::MAX);
        self.total.store(small(total), Ordering::Relaxed);
        self.done.store(small(done), Ordering::Relaxed);
    }

    /// From here on it cannot be stopped. Says whether it was.
    pub(super) fn ends(&self) -> bool {
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *stage, Stage::Ended) == Stage::Stopped
    }

    pub(in crate::desk) fn view(&self) -> TakingView {
        let stage = *self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        TakingView {
            done: self.done.load(Ordering::Relaxed),
            total: self.total.load(Ordering::Relaxed),
            under_way: stage != Stage::Ended,
        }
    }
}
