//! An authority that refuses to be searched: searches rest, people are told, and reports are read
//! by their id.

use std::time::Duration;

use client::Authority;
use exchange::SearchSupport;
use journal::{JournalError, Notice};

use super::Worker;
use super::afterwards::COMPLETED_AFTERWARDS;

/// Told to people while searches are refused.
const SEARCH_REFUSED: &str = "search-refused";
/// What couriers tell people, each with its parameters.
pub const COURIER_NOTICES: &[(&str, &[&str])] = &[
    (SEARCH_REFUSED, &["endpoint", "status"]),
    (COMPLETED_AFTERWARDS, &["count", "endpoint", "reports"]),
];

impl<A: Authority> Worker<A> {
    /// Whether this release tells by search what has changed.
    pub(super) fn can_search(&self) -> bool {
        self.endpoint.release.facts().search == SearchSupport::Full
    }

    /// A search was refused with this status: searches rest, and people are told.
    pub(super) fn search_was_refused(
        &self,
        status: u16,
        retry_after: Option<Duration>,
    ) -> Result<(), JournalError> {
        let is_known = self.courier().search_is_refused();
        if !is_known {
            let status = status.to_string();
            let params = [("endpoint", &*self.endpoint.name), ("status", &*status)];
            let notice = Notice::new(SEARCH_REFUSED, &params, self.clock.now());
            self.journal.put_notice(notice.about(self.endpoint.id()))?;
        }
        let fraction = self.clock.fraction();
        self.courier().search_was_refused(retry_after, fraction);
        Ok(())
    }

    /// A search was answered: what an earlier one, also of an earlier process, was told for is
    /// over.
    pub(super) fn search_was_answered(&self) -> Result<(), JournalError> {
        let may_be_told = self.courier().search_may_be_told_refused();
        if !may_be_told {
            return Ok(());
        }
        let id = self.endpoint.id();
        let ours =
            |notice: &Notice| notice.code == SEARCH_REFUSED && notice.about.as_deref() == Some(id);
        if self.journal.notices()?.iter().any(ours) {
            self.journal.remove_notice_about(SEARCH_REFUSED, id)?;
        }
        self.courier().search_is_permitted();
        Ok(())
    }
}
