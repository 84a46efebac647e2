//! What a journal can be asked: every view and every look of the worker. Nothing here writes.

use std::collections::BTreeMap;

use fhir::Instant;
use report::{Group, State, StateCode, SubmissionId};

use crate::events::{doubt, known};
use crate::queries::{figures, list, read};
use crate::{
    Counts, Destination, Detail, Due, Figure, Filter, Journal, JournalError, KeptEvidence,
    KnownReports, Message, Newest, OpenReport, Relative, Row, Sibling,
};

impl Journal {
    /// Where a submission stands.
    pub fn state(&self, id: SubmissionId) -> Result<State, JournalError> {
        self.read(|c| read::state(c, id))
    }

    /// What is owed by now, the longest owed first.
    pub fn due(&self, now: Instant, limit: usize) -> Result<Vec<Due>, JournalError> {
        self.read(|c| read::due(c, now, limit))
    }

    /// What is owed to one endpoint by now, the longest owed first.
    pub fn due_at(
        &self,
        endpoint: &str,
        now: Instant,
        limit: usize,
    ) -> Result<Vec<Due>, JournalError> {
        self.read(|c| read::due_at(c, endpoint, now, limit))
    }

    /// When something is owed to one endpoint next; may be in the past.
    pub fn next_due_at(&self, endpoint: &str) -> Result<Option<Instant>, JournalError> {
        self.read(|c| read::next_due_at(c, endpoint))
    }

    /// When something is owed next; may be in the past.
    pub fn next_due(&self) -> Result<Option<Instant>, JournalError> {
        self.read(read::next_due)
    }

    /// What is owed only after `at`, or was recorded after `recorded`, of one state, the longest
    /// owed first: where a clock was set back, that is later than anything was ever put off, or
    /// ahead of now.
    pub fn due_beyond(
        &self,
        at: Instant,
        recorded: Instant,
        state: StateCode,
        limit: usize,
    ) -> Result<Vec<Due>, JournalError> {
        self.read(|c| read::due_beyond(c, at, recorded, state, limit))
    }

    /// Everything that the authority has or may have and that is not final: sending, unknown, in
    /// progress. Oldest first.
    pub fn open_reports(&self) -> Result<Vec<OpenReport>, JournalError> {
        self.read(read::open_reports)
    }

    /// When the oldest and the newest report to an endpoint were taken in that are on hold, and may
    /// have arrived before; `None` where there is none.
    pub fn held_after_request(
        &self,
        endpoint: &str,
    ) -> Result<Option<(Instant, Instant)>, JournalError> {
        self.read(|c| doubt::held_after_request(c, endpoint))
    }

    /// The newest submission with this identifier of its attempt.
    pub fn find_by_attempt_identifier(
        &self,
        identifier: &str,
    ) -> Result<Option<SubmissionId>, JournalError> {
        self.read(|c| read::by_attempt_identifier(c, identifier))
    }

    /// Other submissions to the same authority with the same identifier of their attempt: ready
    /// envelopes bring their own, and an endpoint may want the document's.
    pub fn siblings(&self, id: SubmissionId) -> Result<Vec<Sibling>, JournalError> {
        self.read(|c| doubt::siblings(c, id))
    }

    /// The newest submission that the authority knows by this id.
    pub fn by_receipt(&self, receipt: &str) -> Result<Option<SubmissionId>, JournalError> {
        self.read(|c| read::by_receipt(c, receipt))
    }

    /// The submissions to an endpoint that its authority has known by this id, the newest first,
    /// each with the identifier under which it went out. Other authorities count too; and one that
    /// was set up again, or restored from a backup, may have given its numbers anew, so that only
    /// the identifier says whose a number is.
    pub fn by_receipt_at(
        &self,
        endpoint: &str,
        receipt: &str,
    ) -> Result<Vec<(SubmissionId, String)>, JournalError> {
        self.read(|c| read::by_receipt_at(c, endpoint, receipt))
    }

    /// Whether the authority of an endpoint has ever accepted a report.
    pub fn was_accepted_at(&self, endpoint: &str) -> Result<bool, JournalError> {
        self.read(|c| read::was_accepted_at(c, endpoint))
    }

    /// Identifiers of some reports, other than the one with `identifier`, that the authority of an
    /// endpoint has accepted and should show to whoever may see ours: at most four, the likeliest
    /// first.
    pub fn witnesses(&self, endpoint: &str, identifier: &str) -> Result<Vec<String>, JournalError> {
        self.read(|c| read::witnesses(c, endpoint, identifier))
    }

    /// Of these the three that were sent last, the last one first. They were sent in a time, or
    /// before the report with `identifier`, whatever our clock said then, and not after `last`.
    pub fn newest_accepted(
        &self,
        endpoint: &str,
        identifier: &str,
        within: (Instant, Instant),
        last: Instant,
    ) -> Result<Vec<Newest>, JournalError> {
        self.read(|c| read::newest_accepted(c, endpoint, identifier, within, last))
    }

    /// The same of reports that failed, or were replaced or withdrawn after that: it need not show
    /// them, and whoever is shown one may see ours.
    pub fn ended(&self, endpoint: &str, identifier: &str) -> Result<Vec<String>, JournalError> {
        self.read(|c| read::ended(c, endpoint, identifier))
    }

    /// Whether the authority of an endpoint has accepted anything of ours, also where it does not
    /// show it at present.
    pub fn has_accepted(&self, endpoint: &str) -> Result<bool, JournalError> {
        self.read(|c| read::has_accepted(c, endpoint))
    }

    /// Whether something that it has accepted was not shown when it was asked for: forgotten, or
    /// hidden from this certificate.
    pub fn has_hidden(&self, endpoint: &str) -> Result<bool, JournalError> {
        self.read(|c| read::has_hidden(c, endpoint))
    }

    /// The same by their documents, for the question for the document of a report that waits:
    /// identifier of the document, and the receipt that the authority gave.
    pub fn witnesses_by_document(
        &self,
        endpoint: &str,
        id: SubmissionId,
    ) -> Result<Vec<(String, String)>, JournalError> {
        self.read(|c| read::witnesses_by_document(c, endpoint, id))
    }

    /// Whether a report goes out under the identifier of its document.
    pub fn is_named_as_document(&self, id: SubmissionId) -> Result<bool, JournalError> {
        self.read(|c| read::is_named_as_document(c, id))
    }

    /// Reports that move by themselves only while another endpoint is in use: their endpoints, and
    /// how many.
    pub fn open_elsewhere(&self, in_use: &str) -> Result<Vec<(String, u32)>, JournalError> {
        self.read(|c| read::open_elsewhere(c, in_use))
    }

    /// All submissions of this content, oldest first: of the same bytes, or of what says the same.
    /// To one destination, or to any.
    pub fn of_content(
        &self,
        digest: &str,
        canonical: Option<&str>,
        destination: Option<Destination<'_>>,
    ) -> Result<Vec<SubmissionId>, JournalError> {
        self.read(|c| known::of_content(c, digest, canonical, destination))
    }

    /// All submissions of documents with this identifier to a destination, oldest first.
    pub fn of_document(
        &self,
        identifier: &str,
        destination: Destination<'_>,
    ) -> Result<Vec<Relative>, JournalError> {
        self.read(|c| known::of_document(c, identifier, destination))
    }

    /// What a report that may be taken in is compared with: `content` is its digest and the
    /// canonical one, `document` its document's identifier, `destination` where it goes. All of one
    /// moment, because a look after each commit of the writer reads and decrypts its pages anew.
    pub fn known_reports(
        &self,
        content: (&str, &str),
        document: Option<&str>,
        destination: Option<Destination<'_>>,
    ) -> Result<KnownReports, JournalError> {
        self.read(|c| known::known_reports(c, content, document, destination))
    }

    /// The state that replaying the events gives.
    pub fn replay(&self, id: SubmissionId) -> Result<State, JournalError> {
        self.read(|c| read::replay(c, id))
    }

    /// A page of the list, newest first.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Row>, JournalError> {
        self.read(|c| list::list(c, filter))
    }

    /// The report that came first of those in these groups.
    pub fn oldest(&self, groups: &[Group], now: Instant) -> Result<Option<Row>, JournalError> {
        self.read(|c| list::oldest(c, groups, now))
    }

    /// Shows to `see` what is counted of each report that came from `since` on and before `until`,
    /// newest first.
    pub fn figures(
        &self,
        since: Instant,
        until: Instant,
        see: impl FnMut(Figure),
    ) -> Result<(), JournalError> {
        self.read(|c| figures::each(c, since, until, see))
    }

    /// How many reports came from `since` on and before `until`, by where they stand now.
    pub fn tally(
        &self,
        since: Instant,
        until: Instant,
    ) -> Result<BTreeMap<StateCode, u64>, JournalError> {
        self.read(|c| figures::tally(c, since, until))
    }

    /// How many rows the filter lets through in all, whatever its page. Exact where it has neither
    /// words nor a period; otherwise counted up to `at_most`.
    pub fn count(&self, filter: &Filter, at_most: usize) -> Result<u64, JournalError> {
        self.read(|c| list::count(c, filter, at_most))
    }

    /// Live counts.
    pub fn counts(&self, now: Instant) -> Result<Counts, JournalError> {
        self.read(|c| list::counts(c, now))
    }

    /// Everything about one submission but its document and the bodies of its evidence.
    pub fn detail(&self, id: SubmissionId) -> Result<Detail, JournalError> {
        self.read(|c| read::detail(c, id))
    }

    /// Only what it was told of: findings and the authority's messages, as [`Detail::messages`].
    /// Empty where there is none, also of an id that the journal does not have.
    pub fn messages(&self, id: SubmissionId) -> Result<Vec<Message>, JournalError> {
        self.read(|c| read::messages(c, id))
    }

    /// States of several, in one look.
    pub fn states(&self, ids: &[SubmissionId]) -> Result<Vec<State>, JournalError> {
        self.read(|c| ids.iter().map(|id| read::state(c, *id)).collect())
    }

    /// Only its row.
    pub fn row(&self, id: SubmissionId) -> Result<Row, JournalError> {
        self.read(|c| read::row(c, id))
    }

    /// The bytes as they were received. [`JournalError::NotFound`] also after retention.
    pub fn document(&self, id: SubmissionId) -> Result<Vec<u8>, JournalError> {
        self.read(|c| read::document(c, id))
    }

    /// All answers of the authority about it, oldest first.
    pub fn evidence(&self, id: SubmissionId) -> Result<Vec<KeptEvidence>, JournalError> {
        self.read(|c| read::evidence(c, id))
    }
}
