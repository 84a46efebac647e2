//! What can be asked of an authority: the seam at which simulations take its place.

use std::future::Future;

use exchange::{Answer, Envelope, Page, Query};
use fhir::{Instant, Issue};

use crate::capability::Capability;
use crate::evidence::Evidence;
use crate::fault::{Fault, Why};

/// An authority. Faults of questions (everything but `submit`) are never [`Fault::Uncertain`].
pub trait Authority: Send + Sync + 'static {
    /// Delivers one report. Sends once; never repeats by itself.
    fn submit(&self, wrapped: &Envelope) -> impl Future<Output = Result<Received, Fault>> + Send;

    /// Looks a report up by `DocumentReference.identifier` (`urn:uuid:…`), bare first, then as
    /// `system|value`. An empty result is no proof that the report was not received.
    fn find(&self, identifier: &str) -> impl Future<Output = Result<Found, Fault>> + Send;

    /// Reads by the authority's id.
    fn status(&self, receipt: &str) -> impl Future<Output = Result<Received, Fault>> + Send;

    /// Everything that changed at or after a point in (the server's) time, all pages, oldest first
    /// where the server can: one that refuses the order is asked without it. Only for releases
    /// whose search is `Full`.
    fn changed_since(
        &self,
        since: Option<Instant>,
    ) -> impl Future<Output = Result<Changes, Fault>> + Send;

    /// The authority's search as such: one page.
    fn search(&self, query: &Query)
    -> impl Future<Output = Result<(Page, Evidence), Fault>> + Send;

    /// Everything that it shows under the identifier of a document. It need not know this question,
    /// and may answer it with nothing whatever it has: an empty result says something only where
    /// the same question shows others of ours.
    fn find_document(&self, identifier: &str) -> impl Future<Output = Result<Shown, Fault>> + Send {
        async move {
            let identifier = vec![exchange::escape(identifier)];
            let (page, _) = self.search(&Query { identifier, ..Query::default() }).await?;
            Ok(Shown { answers: page.answers, unreadable: page.unreadable })
        }
    }

    /// What the server says it can do.
    fn capability(&self) -> impl Future<Output = Result<(Capability, Evidence), Fault>> + Send;
}

/// An answer about one report, with its proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// What the authority says.
    pub answer: Answer,
    /// How it said so.
    pub evidence: Evidence,
}

/// Result of looking up an identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Those that carry exactly this identifier; more than one means duplicates at the authority.
    pub answers: Vec<Answer>,
    /// The deciding answer.
    pub evidence: Evidence,
}

/// All that was shown to a question.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shown {
    /// Of all pages, in the order given.
    pub answers: Vec<Answer>,
    /// Entries that could not be read.
    pub unreadable: usize,
}

impl Shown {
    /// Not one entry.
    pub const fn is_empty(&self) -> bool {
        self.answers.is_empty() && self.unreadable == 0
    }
}

/// What changed at the authority.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// In the order given.
    pub answers: Vec<Answer>,
    /// Entries that could not be read.
    pub unreadable: usize,
    /// Messages of the search itself.
    pub issues: Vec<Issue>,
    /// The server's time when it answered the first page.
    pub server_time: Option<Instant>,
    /// Why this may not be everything, or not only what was asked; `None`: it is complete.
    pub incomplete: Option<Why>,
    /// One for each page.
    pub evidence: Vec<Evidence>,
}
