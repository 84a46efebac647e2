//! What the authority completes after a person has given it up here: a report that was withdrawn,
//! or whose correction has left. Nothing can be taken back there, but people have to know of it.

use std::collections::BTreeSet;

use client::Authority;
use journal::{JournalError, Notice};
use report::{Event, State, SubmissionId};

use super::Worker;

/// Told to people once for each report, until they have read it.
pub(super) const COMPLETED_AFTERWARDS: &str = "completed-afterwards";

/// Reports that one notice names. All are counted.
const NAMED_MAX: usize = 20;

/// Whether this says that the authority counts a report that does not count here any more.
pub(super) fn is_afterwards(state: &State, event: &Event) -> bool {
    matches!(state, State::Superseded { .. } | State::Withdrawn { received: false })
        && matches!(event, Event::Completed { .. })
}

impl<A: Authority> Worker<A> {
    /// Tells people that the authority has completed these, beside those that they have not read of
    /// yet.
    pub(super) fn tell_afterwards(&self, found: &[SubmissionId]) -> Result<(), JournalError> {
        if found.is_empty() {
            return Ok(());
        }
        let standing = self.journal.notices()?.into_iter().find(|notice| {
            notice.code == COMPLETED_AFTERWARDS
                && notice.about.as_deref() == Some(self.endpoint.id())
        });
        let param = |name| standing.as_ref().and_then(|notice| notice.params.get(name));
        let told = param("reports").map_or("", String::as_str);
        let mut reports: BTreeSet<u64> =
            told.split(", ").filter_map(|number| number.parse().ok()).collect();
        let before = reports.len();
        reports.extend(found.iter().map(|id| id.0.unsigned_abs()));
        let counted: usize = param("count").and_then(|count| count.parse().ok()).unwrap_or(0);
        let count = (counted + reports.len() - before).to_string();
        let named: Vec<String> =
            reports.iter().take(NAMED_MAX).map(std::string::ToString::to_string).collect();
        let named = named.join(", ");
        let params = [("count", &*count), ("endpoint", &*self.endpoint.name), ("reports", &*named)];
        let notice = Notice::new(COMPLETED_AFTERWARDS, &params, self.clock.now());
        self.journal.put_notice(notice.about(self.endpoint.id()))
    }
}
