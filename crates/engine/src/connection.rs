//! What people are told of the connection to an endpoint: data.

use fhir::Instant;
use journal::JournalError;

/// What is known about the connection to an endpoint, for people.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Connection {
    /// Where it stands.
    pub state: ConnectionState,
    /// Last answer of the authority, whatever it said.
    pub last_contact: Option<Instant>,
    /// When the next try is made, while it is not connected.
    pub next_try: Option<Instant>,
}

/// Where a connection stands.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum ConnectionState {
    /// Nothing was sent yet.
    #[default]
    Unchecked,
    /// The last exchange was answered.
    Connected,
    /// Not reachable or busy.
    Unreachable(Obstacle),
    /// Certificate, permission or address: a person must act.
    Locked(Obstacle),
    /// Another process works the queue.
    Elsewhere,
    /// The journal refuses: the queue rests until it answers again.
    JournalUnavailable(JournalRefusal),
}

/// Why the journal refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalRefusal {
    /// The disk is full.
    Full,
    /// Another process holds it locked: it passes.
    Busy,
    /// What is stored cannot be read.
    Damaged,
    /// A newer program has brought it on: this one must end.
    Newer,
    /// The file system or the database.
    Unavailable,
}

impl JournalRefusal {
    /// `None` where another process works the queue: that is no fault of the journal.
    pub(crate) fn of(problem: &JournalError) -> Option<Self> {
        match problem {
            JournalError::StaleLease => None,
            JournalError::Full => Some(Self::Full),
            JournalError::Busy => Some(Self::Busy),
            JournalError::Damaged => Some(Self::Damaged),
            JournalError::NewerSchema { .. } => Some(Self::Newer),
            _ => Some(Self::Unavailable),
        }
    }
}

/// What stands between us and the authority: a stable code with parameters. Those of the exchange
/// are [`client::Why`]'s; ours are [`Obstacle::CODES`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// Stable code in kebab-case.
    pub code: String,
    /// Parameters of the message, by name.
    pub params: Vec<(String, String)>,
}

impl Obstacle {
    /// Codes that arise before any exchange, with the names of their parameters.
    pub const CODES: &[(&str, &[&str])] = &[
        ("no-endpoint", &[]),
        ("client-certificate-missing", &[]),
        ("client-certificate-unavailable", &["reason"]),
        ("endpoint-unusable", &["reason"]),
    ];

    pub(crate) fn new(code: &str, params: &[(&str, &str)]) -> Self {
        let params = params.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        Self { code: code.to_owned(), params }
    }
}

impl From<&client::Why> for Obstacle {
    fn from(why: &client::Why) -> Self {
        Self { code: why.code().to_owned(), params: why.params() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_that_refuses_says_why() {
        let refusal = |problem| JournalRefusal::of(&problem);
        assert_eq!(refusal(JournalError::Full), Some(JournalRefusal::Full));
        assert_eq!(refusal(JournalError::Busy), Some(JournalRefusal::Busy));
        assert_eq!(refusal(JournalError::Damaged), Some(JournalRefusal::Damaged));
        assert_eq!(refusal(JournalError::Closed), Some(JournalRefusal::Unavailable));
        assert_eq!(refusal(JournalError::StaleLease), None);
    }
}
