//! The desk behind the window, opened when it is first asked for, so that the window is there at
//! once and a folder that does not open is a problem that the window can show.

use bridge::{Desk, Problem};
use tokio::sync::Mutex;

/// Holds the desk.
pub(crate) struct House {
    desk: Mutex<Option<Desk>>,
    practice: bool,
}

impl House {
    /// Nothing is opened yet. `practice` asks for the practice room, whatever was in use the last
    /// time.
    pub(crate) fn new(practice: bool) -> Self {
        Self { desk: Mutex::new(None), practice }
    }

    /// The desk, opened and working.
    pub(crate) async fn desk(&self) -> Result<Desk, Problem> {
        let mut slot = self.desk.lock().await;
        if let Some(desk) = &*slot {
            return Ok(desk.clone());
        }
        let desk = Desk::open(&Desk::default_folder()).await?;
        if self.practice {
            desk.practise().await?;
        }
        // Fails where the practice authority cannot be started; the laboratory's queue is worked
        // all the same, and the status shows practice as unreachable.
        let _ = desk.start().await;
        *slot = Some(desk.clone());
        Ok(desk)
    }

    /// The window shows a page from its beginning: nobody hears what the one before has asked the
    /// desk for.
    pub(crate) async fn page_begins(&self) {
        if let Some(desk) = &*self.desk.lock().await {
            desk.page_begins();
        }
    }

    /// Finishes what is under way.
    pub(crate) async fn close(&self) {
        if let Some(desk) = self.desk.lock().await.take() {
            desk.stop().await;
        }
    }
}
