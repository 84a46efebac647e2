//! A laboratory that does not open is tried again by itself. A keychain may be locked when the
//! window starts with the computer; until it is opened nothing of the laboratory is sent, asked for
//! or watched.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Desk, Inner, Laboratory};
use crate::problem::Problem;

/// Pause before the first try; it doubles, because a keychain may ask a person each time.
pub(super) const TRY_FIRST: Duration = Duration::from_secs(5);
const TRY_MAX: Duration = Duration::from_secs(600);

/// The tries under way; dropped, they end.
pub(super) struct Trying {
    cancel: DropGuard,
    task: tokio::task::JoinHandle<()>,
}

impl Desk {
    /// Tries until the laboratory is open, where it does not open now.
    pub(super) async fn keep_trying(&self, first: Duration) {
        self.stop_trying().await;
        if !self.is_closed() {
            return;
        }
        let cancel = CancellationToken::new();
        let (desk, until) = (Arc::downgrade(&self.inner), cancel.clone());
        let task = tokio::spawn(async move {
            // `None`: cancelled.
            let _ = until.run_until_cancelled(tries(desk, first)).await;
        });
        let trying = Trying { cancel: cancel.drop_guard(), task };
        *self.inner.trying.lock().await = Some(trying);
    }

    pub(super) async fn stop_trying(&self) {
        if let Some(trying) = self.inner.trying.lock().await.take() {
            trying.cancel.disarm().cancel();
            // A panic of the task has been printed by its thread.
            let _ = trying.task.await;
        }
    }

    fn is_closed(&self) -> bool {
        matches!(*self.laboratory(), Laboratory::Closed(_))
    }

    async fn try_once(&self) -> Result<(), Problem> {
        self.laboratory_engine().await?;
        self.read_certificate().await
    }
}

async fn tries(desk: Weak<Inner>, first: Duration) {
    let mut pause = first;
    loop {
        tokio::time::sleep(pause).await;
        let Some(inner) = desk.upgrade() else { return };
        let desk = Desk { inner, stays_in: None };
        // What is wrong the status says.
        let _ = desk.try_once().await;
        if !desk.is_closed() {
            return;
        }
        pause = pause.saturating_mul(2).min(TRY_MAX);
    }
}
