//! What the program asks the authority for beside the worker, after a restore.

use engine::{ReconcileDeps, compare, decide_guarded};
use journal::Journal;

use super::{Laboratory, Simulated};

impl Laboratory {
    /// Asks for what waits for that, as the program does again and again.
    pub(crate) async fn decide(&self, journal: &Journal) {
        let _ = decide_guarded(&self.tools(journal)).await.unwrap();
    }

    pub(crate) async fn compare(&self, journal: &Journal) {
        let Some(open) = journal.unreconciled().unwrap() else { return };
        if compare(&self.tools(journal), open).await.unwrap().complete {
            journal.set_reconciled_at("simulated").unwrap();
        }
    }

    pub(crate) fn tools<'a>(&'a self, journal: &'a Journal) -> ReconcileDeps<'a, Simulated> {
        let (endpoint, timing) = (&self.endpoint, &self.timing);
        let (authority, former, clock) = (&self.authority, &self.former[..], &*self.clock);
        ReconcileDeps { journal, authority, former, endpoint, clock, timing }
    }
}
