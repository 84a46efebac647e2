//! What a person has sent and is not in the journal yet: files are read and taken in, which takes a
//! while on a share. Who closes the window meanwhile is told that nothing is lost, so the program
//! ends only once all of it is taken in.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::handing::Progress;
use super::{Desk, Inner};
use crate::problem::Problem;
use crate::views::TakingView;

/// A share that never answers must not keep a program alive for ever.
const WAITED_FOR: Duration = Duration::from_secs(600);

/// How many reports are being taken in, as far as that is known before they are read.
#[derive(Default)]
pub(super) struct Taking {
    reports: AtomicU32,
    ended: Notify,
    /// The hand-over of the window that began last.
    progress: Mutex<Arc<Progress>>,
}

/// One hand-over under way; dropped, it is done.
pub(super) struct UnderWay {
    inner: Arc<Inner>,
    reports: u32,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.inner.taking.reports.fetch_sub(self.reports, Ordering::SeqCst);
        self.inner.taking.ended.notify_waiters();
    }
}

impl Desk {
    /// A hand-over of so many reports begins.
    pub(super) fn takes(&self, reports: usize) -> UnderWay {
        let reports = u32::try_from(reports).unwrap_or(u32::MAX / 2).max(1);
        self.inner.taking.reports.fetch_add(reports, Ordering::SeqCst);
        UnderWay { inner: self.inner.clone(), reports }
    }

    /// A hand-over of the window begins, which can be looked at and stopped from here on.
    pub(super) fn progress_begins(&self) -> Arc<Progress> {
        let progress = Arc::new(Progress::begins());
        let mut last = self.inner.taking.progress.lock().unwrap_or_else(PoisonError::into_inner);
        *last = progress.clone();
        progress
    }

    fn progress(&self) -> Arc<Progress> {
        self.inner.taking.progress.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How far the hand-over is that began last.
    pub(crate) async fn taking(&self) -> Result<TakingView, Problem> {
        Ok(self.progress().view())
    }

    /// Takes back the hand-over that began last. `false` where it had ended before: what it has
    /// taken in can be held back.
    pub(crate) async fn stop_taking(&self) -> Result<bool, Problem> {
        Ok(self.progress().stop())
    }

    /// Reports that are being taken in.
    pub(super) fn taken_in_now(&self) -> u32 {
        self.inner.taking.reports.load(Ordering::SeqCst)
    }

    /// Waits until all that was handed over is taken in.
    pub(super) async fn finish_taking(&self) {
        let taking = &self.inner.taking;
        let finished = async {
            loop {
                let ended = taking.ended.notified();
                if taking.reports.load(Ordering::SeqCst) == 0 {
                    return;
                }
                ended.await;
            }
        };
        // What is still being read then is not taken in.
        let _ = tokio::time::timeout(WAITED_FOR, finished).await;
    }
}
