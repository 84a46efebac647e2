//! What goes into the journal and what comes out: plain data.

use fhir::{Finding, Format, Instant, Severity};
use report::{Action, Duty, Event, Group, Person, State, StateCode, SubmissionId, Summary};
use serde::{Deserialize, Serialize};

use crate::codes;

/// A report to be taken into the journal.
#[derive(Clone)]
pub struct NewSubmission {
    /// File name or path, as shown to people.
    pub file: String,
    /// Encoding of `document`.
    pub format: Format,
    /// The bytes as they were received; kept compressed, returned unchanged.
    pub document: Vec<u8>,
    /// SHA-256 of `document`, lower-case hex. Checked again here.
    pub digest: String,
    /// Digest of what it says (`fhir::Tree::canonical_digest_of`), where known.
    pub canonical: Option<String>,
    /// What people recognise the report by.
    pub summary: Summary,
    /// Identifier of the attempt to deliver (`urn:uuid:…`), fixed from here on.
    pub identifier: String,
    /// Id of the endpoint it goes to.
    pub endpoint: String,
    /// Code of that endpoint's environment now: another endpoint may get the same name later.
    pub environment: Option<String>,
    /// [`Event::Queued`] or [`Event::Held`].
    pub first: Event,
    /// What our own check found.
    pub findings: Vec<Message>,
    /// The submission that this one takes the place of: superseded in the same transaction.
    pub corrects: Option<SubmissionId>,
    /// Who brought it in.
    pub by: Person,
    /// When the report was taken in.
    pub at: Instant,
}

/// One event to be recorded, with what proves it.
#[derive(Clone)]
pub struct Step {
    /// Whose life it belongs to.
    pub id: SubmissionId,
    /// What happened; [`State::apply`] decides whether it may follow.
    pub event: Event,
    /// Who acted.
    pub by: Person,
    /// When it happened.
    pub at: Instant,
    /// The answer behind it. [`Event::Completed`] is refused without one.
    pub evidence: Option<Evidence>,
    /// Replaces the authority's messages, where given.
    pub issues: Option<Vec<Message>>,
    /// A message of ours; an earlier one of its code goes.
    pub warning: Option<Message>,
    /// For [`Event::HeldBack`]: until the authority was asked for its document.
    pub until_asked: bool,
    /// Refuse unless the state has this code now.
    pub expected: Option<&'static str>,
    /// Fencing token of the worker's lease; `None` for what a person does.
    pub lease: Option<Token>,
}

impl Step {
    /// A step without evidence, messages or conditions.
    pub fn new(id: SubmissionId, event: Event, by: Person, at: Instant) -> Self {
        let (evidence, issues, warning, expected, lease) = (None, None, None, None, None);
        Self { id, event, by, at, evidence, issues, warning, until_asked: false, expected, lease }
    }
}

/// Where a message comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Our own rules.
    Local,
    /// The base check of FHIR.
    Base,
    /// The authority.
    Authority,
}

impl Source {
    /// Every source there is.
    pub const ALL: [Self; 3] = [Self::Local, Self::Base, Self::Authority];

    /// Stable code in kebab-case.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Base => "base",
            Self::Authority => "authority",
        }
    }
}

/// One finding of ours or one issue of the authority. May hold patient data.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Where it comes from.
    pub source: Source,
    /// How much it weighs.
    pub severity: Severity,
    /// Our code in kebab-case, or the authority's issue code.
    pub code: String,
    /// Rule or detail code of the authority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The authority's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Parameters of our message, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<(String, String)>,
    /// FHIRPath of the element.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    /// Line in the document, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in the document, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

impl Message {
    /// An issue of the authority's as the journal keeps it.
    pub fn from_issue(issue: fhir::Issue) -> Self {
        Self {
            source: Source::Authority,
            severity: issue.severity,
            code: issue.code,
            rule: issue.rule,
            text: Some(issue.text).filter(|text| !text.is_empty()),
            params: Vec::new(),
            expression: issue.expression,
            line: issue.line,
            column: issue.column,
        }
    }

    /// A finding of ours (`Source::Local` or `Source::Base`) as a message.
    pub fn from_finding(source: Source, finding: &Finding) -> Self {
        Self {
            source,
            severity: finding.severity,
            code: finding.code.clone(),
            rule: finding
                .params
                .iter()
                .find(|(name, _)| name == "rule")
                .map(|(_, key)| key.clone()),
            text: None,
            params: finding.params.clone(),
            expression: Some(finding.expression.clone()).filter(|e| !e.is_empty()),
            line: finding.position.map(|p| p.line),
            column: finding.position.map(|p| p.column),
        }
    }

    /// A warning of ours, about the report as a whole.
    pub fn warning(code: &str, params: &[(&str, &str)]) -> Self {
        let params = params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Self {
            source: Source::Local,
            severity: Severity::Warning,
            code: code.to_owned(),
            rule: None,
            text: None,
            params: params.collect(),
            expression: None,
            line: None,
            column: None,
        }
    }
}

/// Which exchange an answer belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EvidenceKind {
    /// Answer to the POST.
    Create,
    /// Answer to a search.
    Search,
    /// Answer to a read by id.
    Read,
}

impl EvidenceKind {
    /// As stored.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Search => "search",
            Self::Read => "read",
        }
    }
}

/// An answer of the authority (or its absence), kept as it came.
#[derive(Clone, PartialEq, Eq)]
pub struct Evidence {
    /// Which exchange.
    pub kind: EvidenceKind,
    /// When the answer (or fault) arrived.
    pub at: Instant,
    /// HTTP status, if there was one.
    pub http_status: Option<u16>,
    /// `Content-Type`, if there was one.
    pub content_type: Option<String>,
    /// The body as it came; empty after retention.
    pub body: Vec<u8>,
    /// Code of the fault, if it was one.
    pub fault: Option<String>,
}

/// An answer as kept, with its number and digest.
#[derive(Clone, PartialEq, Eq)]
pub struct KeptEvidence {
    /// Number in the journal; timeline entries refer to it.
    pub id: i64,
    /// SHA-256 of the body as it came, lower-case hex; outlives the body.
    pub digest: String,
    /// Size of the body as it came, in bytes.
    pub size: u64,
    /// The answer. `body` is empty once retention has removed it.
    pub evidence: Evidence,
}

/// Something owed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The report that has something due.
    pub id: SubmissionId,
    /// Where it stands.
    pub state: State,
    /// What is owed.
    pub duty: Duty,
    /// Since when it is owed.
    pub due: Instant,
    /// Identifier of the attempt.
    pub identifier: String,
    /// Endpoint it goes to.
    pub endpoint: String,
    /// The submission that it takes the place of.
    pub corrects: Option<SubmissionId>,
    /// Its document identifier.
    pub document: Option<String>,
}

/// A submission that the authority has or may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenReport {
    /// The report that is open.
    pub id: SubmissionId,
    /// Where it stands: sending, unknown or in progress.
    pub state: State,
    /// Identifier of the attempt.
    pub identifier: String,
    /// Endpoint it went to.
    pub endpoint: String,
    /// Imported at.
    pub created: Instant,
}

/// A submission that shares its attempt's identifier with another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sibling {
    /// Which; `None`: one that a restore has lost.
    pub id: Option<SubmissionId>,
    /// It is on its way or in doubt: its bytes may be at the authority, without a known receipt.
    pub may_be_delivered: bool,
    /// It is neither, was sent, and has no receipt: its timeline says whether it was received.
    pub was_sent: bool,
    /// When the journal was restored, where that covers it: what it had until then is not known.
    pub restored: Option<Instant>,
}

/// What to list.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// States, as people read them; empty for all.
    pub states: Vec<StateCode>,
    /// Groups; empty for all. Together with `states` both must hold.
    pub groups: Vec<Group>,
    /// Words in identifier, name, file, disease, laboratory or message; all must occur, each as the
    /// beginning of a word. Or the authority's id in full. No text is a syntax error.
    pub search: Option<String>,
    /// Imported at or after.
    pub since: Option<Instant>,
    /// Imported before.
    pub until: Option<Instant>,
    /// Keyset: what follows this submission in the order of the list.
    pub before: Option<SubmissionId>,
    /// Rows at most; bounded to 1,000, and 0 means 100.
    pub limit: usize,
    /// Now: decides which doubts are long.
    pub now: Instant,
}

// Without the words that are searched for: they are often a name.
fhir::shows_only!(Filter { states, groups, since, until, before, limit, now });

/// Messages by severity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MessageCounts {
    /// Number of errors.
    pub errors: u32,
    /// Number of warnings.
    pub warnings: u32,
    /// Number of notices.
    pub notices: u32,
}

/// A row of the list. Holds patient data.
#[derive(Clone, PartialEq, Eq)]
pub struct Row {
    /// Number of the submission.
    pub id: SubmissionId,
    /// File name or path; empty after retention.
    pub file: String,
    /// What people recognise it by; only the identifier remains after retention.
    pub summary: Summary,
    /// SHA-256 of the received bytes, lower-case hex.
    pub digest: String,
    /// Identifier of the attempt.
    pub identifier: String,
    /// Endpoint it goes to.
    pub endpoint: String,
    /// Code of that endpoint's environment when it was taken in, where that was kept.
    pub environment: Option<String>,
    /// Encoding of the document.
    pub format: Format,
    /// Where it stands.
    pub state: State,
    /// The authority's id, once known (also after it was superseded).
    pub receipt: Option<String>,
    /// Messages by severity, ours and the authority's.
    pub messages: MessageCounts,
    /// The submission that this one takes the place of.
    pub corrects: Option<SubmissionId>,
    /// The submission that took its place.
    pub corrected_by: Option<SubmissionId>,
    /// The submission that is to take its place, perhaps by way of others, and has not arrived yet;
    /// while this one is on hold, in doubt or in progress, also one that has.
    pub replacement: Option<SubmissionId>,
    /// That one has arrived, and none waits.
    pub replacement_has_arrived: bool,
    /// Imported at.
    pub created: Instant,
    /// Last event.
    pub updated: Instant,
    /// Requests made.
    pub attempts: u32,
    /// When retention removed the document, if it did.
    pub erased: Option<Instant>,
}

impl Row {
    /// What a person may do now. While another report stands in its place, it is neither sent nor
    /// corrected; that it was not received may be said once that one, in its place, has arrived.
    pub fn actions(&self, now: Instant) -> Vec<Action> {
        self.unless_replaced(self.state.actions(now))
    }

    fn unless_replaced(&self, actions: &[Action]) -> Vec<Action> {
        let sends = |action: &Action| {
            use Action::{Correct, Release, Resubmit, SayNotReceived};
            matches!(action, Release | Correct | Resubmit | SayNotReceived)
        };
        let closes = |action: &Action| {
            self.replacement_has_arrived && matches!(action, Action::SayNotReceived)
        };
        let may = |action: &&Action| self.replacement.is_none() || !sends(action) || closes(action);
        actions.iter().filter(may).copied().collect()
    }
}

/// One line of the timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Number of the event in the journal.
    pub number: i64,
    /// What happened.
    pub event: Event,
    /// Who acted.
    pub by: Person,
    /// When it was written.
    pub at: Instant,
    /// The answer behind it ([`KeptEvidence::id`]).
    pub evidence: Option<i64>,
}

/// Everything about one submission but its document and the bodies of its evidence.
#[derive(Clone)]
pub struct Detail {
    /// Its row.
    pub row: Row,
    /// Ours first, then the authority's.
    pub messages: Vec<Message>,
    /// All events, oldest first.
    pub timeline: Vec<Entry>,
    /// Size of the document in bytes; `None` once retention has removed it.
    pub document_size: Option<u64>,
}

impl Detail {
    /// As [`Row::actions`]; the authority may have what is on hold, too, although it was never sent
    /// from here: it was before a restore, or from the other copy of the profile.
    pub fn actions(&self, now: Instant) -> Vec<Action> {
        let warnings = [codes::MAY_BE_KNOWN, codes::NOT_COMPARED, codes::DECIDED];
        let may_be_there = |it: &Message| warnings.contains(&&*it.code);
        match self.row.state {
            State::Held { .. } if self.messages.iter().any(may_be_there) => {
                self.row.unless_replaced(&State::OF_SENT_AND_HELD)
            }
            _ => self.row.actions(now),
        }
    }
}

/// Live counts, from the summary table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Submissions by state code; every code is present.
    pub by_state: std::collections::BTreeMap<&'static str, u64>,
    /// Of those in `unknown`: in doubt so long that a person must look.
    pub doubtful_long: u64,
    /// Of those in `in-progress`: for so long that a person must look.
    pub overdue: u64,
}

impl Counts {
    /// Submissions in a group.
    pub fn group(&self, group: Group) -> u64 {
        // A person's word that the authority has it is counted with what was withdrawn.
        StateCode::KEPT.into_iter().map(|state| self.of(state, Some(group))).sum()
    }

    /// Submissions in a state, or those of them that are in a group.
    pub fn of(&self, state: StateCode, group: Option<Group>) -> u64 {
        let all = self.by_state.get(state.kept_as()).copied().unwrap_or(0);
        let too_long = match state {
            StateCode::Unknown => self.doubtful_long,
            StateCode::InProgress => self.overdue,
            _ => 0,
        };
        match group {
            None => all,
            Some(group) if group == state.group() => all.saturating_sub(too_long),
            Some(Group::NeedsAttention) => too_long,
            Some(_) => 0,
        }
    }

    /// All submissions.
    pub fn total(&self) -> u64 {
        self.by_state.values().sum()
    }
}

/// Fencing token: grows with every change of hands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub i64);

/// The right to work the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Who holds it: unique per process, e.g. a random UUID with the host's name.
    pub holder: String,
    /// Its fencing token; put it on every [`Step`] of the worker.
    pub token: Token,
    /// Others may take it from then on.
    pub until: Instant,
}

/// Answer to a wish for the lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseAnswer {
    /// It is yours.
    Held(Lease),
    /// Another process works the queue.
    Elsewhere(Lease),
}

/// How long patient data is kept. `None`: for ever. Days count from the last event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retention {
    /// For completed submissions.
    pub completed_days: Option<u32>,
    /// For withdrawn and superseded submissions.
    pub closed_days: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_counts_in_one_group() {
        let by_state = [
            ("held", 1),
            ("rejected", 2),
            ("failed", 4),
            ("unknown", 24),
            ("queued", 32),
            ("sending", 64),
            ("in-progress", 128),
            ("completed", 256),
            ("withdrawn", 512),
            ("superseded", 1_024),
        ];
        let by_state = by_state.into_iter().collect();
        let counts = Counts { by_state, doubtful_long: 8, overdue: 100 };
        assert_eq!(counts.group(Group::NeedsAttention), 1 + 2 + 4 + 8 + 100);
        assert_eq!(counts.group(Group::InProgress), 16 + 32 + 64 + 28);
        assert_eq!(counts.group(Group::Completed), 256);
        assert_eq!(counts.group(Group::Closed), 512 + 1_024);
        assert_eq!(counts.total(), 2_047);
    }
}
