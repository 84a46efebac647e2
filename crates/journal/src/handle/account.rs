//! What the journal can tell a helper without telling of a patient: counts, codes and times.

use fhir::{Instant, Severity};
use report::SubmissionId;

use crate::store::{cells, rows, sql};
use crate::{Journal, JournalError, Source, chain};

/// An event without what people wrote: number, code, and the code of its cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Happening {
    /// Number of the event in the journal.
    pub number: i64,
    /// Whose life it belongs to.
    pub id: SubmissionId,
    /// When it happened.
    pub at: Instant,
    /// Its code.
    pub code: String,
    /// Code of the fault behind it, where it has one.
    pub why: Option<String>,
}

/// An answer that was none, or a refusal, without its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// When it arrived.
    pub at: Instant,
    /// `create`, `search` or `read`.
    pub exchange: String,
    /// HTTP status, if there was one.
    pub http_status: Option<u16>,
    /// Code of the fault, if it was one.
    pub fault: Option<String>,
}

/// How often a message was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageTally {
    /// Where it comes from.
    pub source: Source,
    /// How much it weighs.
    pub severity: Severity,
    /// Its code; the authority's are its own words, and to be shown only where they look like a
    /// code.
    pub code: String,
    /// The authority's rule, likewise.
    pub rule: Option<String>,
    /// In so many lists.
    pub count: u64,
}

/// Where the chain of events ends: whoever notes it can show later that nothing before it was
/// changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainHead {
    /// Number of the newest event.
    pub event: i64,
    /// Its hash, lower-case hex.
    pub hash: String,
}

/// The newest events, without the words in them.
const HAPPENINGS: &str = "SELECT id, submission, at, code, json_extract(event, '$.why') FROM event \
     ORDER BY id DESC LIMIT ?1";
/// The newest answers that were none or a refusal.
const TROUBLES: &str = "SELECT at, kind, http_status, fault FROM evidence \
     WHERE fault IS NOT NULL OR http_status >= 400 ORDER BY id DESC LIMIT ?1";
/// Messages by what they say, the most frequent first.
const TALLIES: &str = "SELECT json_extract(m.value, '$.source'), json_extract(m.value, \
     '$.severity'), json_extract(m.value, '$.code') AS code, json_extract(m.value, '$.rule') AS \
     rule, count(*) AS times FROM message, json_each(message.list) m GROUP BY 1, 2, 3, 4 ORDER BY \
     times DESC, code, rule LIMIT ?1";

impl Journal {
    /// Where the chain of events ends now; `None` in a journal without events.
    pub fn chain_head(&self) -> Result<Option<ChainHead>, JournalError> {
        self.read(|connection| {
            rows::one(connection, sql::LAST_EVENT, [], |row| {
                let hash = chain::stored(row.get(1)?)?;
                Ok(ChainHead { event: row.get(0)?, hash: cells::hex(&hash) })
            })
        })
    }

    /// The newest events, newest first, without the words in them.
    pub fn happenings(&self, limit: u32) -> Result<Vec<Happening>, JournalError> {
        self.read(|connection| {
            rows::all(connection, HAPPENINGS, [limit], |row| {
                Ok(Happening {
                    number: row.get(0)?,
                    id: SubmissionId(row.get(1)?),
                    at: Instant(row.get(2)?),
                    code: row.get(3)?,
                    why: row.get(4)?,
                })
            })
        })
    }

    /// The newest answers that were none or a refusal, newest first, without their bodies.
    pub fn troubles(&self, limit: u32) -> Result<Vec<Trouble>, JournalError> {
        self.read(|connection| {
            rows::all(connection, TROUBLES, [limit], |row| {
                Ok(Trouble {
                    at: Instant(row.get(0)?),
                    exchange: row.get(1)?,
                    http_status: row.get(2)?,
                    fault: row.get(3)?,
                })
            })
        })
    }

    /// How often each message was given, the most frequent first.
    pub fn message_tallies(&self, limit: u32) -> Result<Vec<MessageTally>, JournalError> {
        self.read(|connection| {
            rows::all(connection, TALLIES, [limit], |row| {
                let quoted = |at| row.get::<_, String>(at).map(|code| format!("\"{code}\""));
                Ok(MessageTally {
                    source: cells::from_json(0, &quoted(0)?)?,
                    severity: cells::from_json(1, &quoted(1)?)?,
                    code: row.get(2)?,
                    rule: row.get(3)?,
                    count: u64::try_from(row.get::<_, i64>(4)?).unwrap_or_default(),
                })
            })
        })
    }

    /// Version of the schema that this program writes.
    pub const fn schema_version() -> u32 {
        crate::store::schema::KNOWN
    }
}
