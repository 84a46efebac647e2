//! Between stored cells and values. What does not fit is damage, never a panic and never a default.

use std::cell::RefCell;

use fhir::{Format, Instant, Severity};
use report::{StateCode, SubmissionId, Summary};
use rusqlite::types::Type;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use zstd::bulk::{Compressor, Decompressor};

use crate::{EvidenceKind, JournalError, Message, MessageCounts, Row};

/// Biggest text or body that is unpacked: far above what intake lets in (20 MB), far below what
/// hurts.
const UNPACKED_MAX: usize = 256 * 1024 * 1024;

/// zstd's default: a 10 kB document takes about 60 µs.
const LEVEL: i32 = 3;

thread_local! {
    // Making one costs as much as packing a small document.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

pub(crate) fn pack(bytes: &[u8]) -> Result<Vec<u8>, JournalError> {
    COMPRESSOR.with_borrow_mut(|kept| {
        let compressor = match kept {
            Some(compressor) => compressor,
            None => kept.insert(Compressor::new(LEVEL).map_err(JournalError::io("compress"))?),
        };
        compressor.compress(bytes).map_err(JournalError::io("compress"))
    })
}

pub(crate) fn unpack(packed: &[u8], size: i64) -> Result<Vec<u8>, JournalError> {
    let size = usize::try_from(size).map_err(|_| JournalError::Damaged)?;
    if size > UNPACKED_MAX {
        return Err(JournalError::Damaged);
    }
    let bytes = DECOMPRESSOR.with_borrow_mut(|kept| {
        let decompressor = match kept {
            Some(decompressor) => decompressor,
            None => kept.insert(Decompressor::new().map_err(JournalError::io("decompress"))?),
        };
        decompressor.decompress(packed, size).map_err(|_| JournalError::Damaged)
    })?;
    if bytes.len() == size { Ok(bytes) } else { Err(JournalError::Damaged) }
}

/// As a column holds it.
pub(crate) fn length(bytes: &[u8]) -> i64 {
    i64::try_from(bytes.len()).unwrap_or(i64::MAX)
}

/// SHA-256, lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

pub(crate) fn to_json<T: Serialize>(value: &T) -> Result<String, JournalError> {
    serde_json::to_string(value).map_err(|error| JournalError::io("write JSON")(error.into()))
}

pub(crate) fn from_json<T: DeserializeOwned>(column: usize, text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| unfit(column, format!("{:?}", error.classify())))
}

/// A value that the schema should not have let in. The words name no content.
pub(crate) fn unfit(column: usize, words: String) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, words.into())
}

/// A state as the journal keeps it, from a column.
pub(crate) fn state(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<StateCode> {
    let code = row.get_ref(column)?.as_str()?;
    StateCode::of(code).ok_or_else(|| unfit(column, "state".to_owned()))
}

pub(crate) const fn format_code(format: Format) -> &'static str {
    match format {
        Format::Json => "json",
        Format::Xml => "xml",
    }
}

fn format(column: usize, code: &str) -> rusqlite::Result<Format> {
    match code {
        "json" => Ok(Format::Json),
        "xml" => Ok(Format::Xml),
        _ => Err(unfit(column, "format".to_owned())),
    }
}

pub(crate) fn evidence_kind(column: usize, code: &str) -> rusqlite::Result<EvidenceKind> {
    match code {
        "create" => Ok(EvidenceKind::Create),
        "search" => Ok(EvidenceKind::Search),
        "read" => Ok(EvidenceKind::Read),
        _ => Err(unfit(column, "kind of evidence".to_owned())),
    }
}

pub(crate) fn count(messages: &[Message]) -> MessageCounts {
    let mut counts = MessageCounts::default();
    for message in messages {
        match message.severity {
            Severity::Error => counts.errors += 1,
            Severity::Warning => counts.warnings += 1,
            Severity::Information => counts.notices += 1,
        }
    }
    counts
}

/// A row of `row_columns!`.
pub(crate) fn row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    let summary: Option<String> = row.get(2)?;
    let summary = match summary {
        Some(text) => from_json(2, &text)?,
        None => Summary { identifier: row.get(3)?, ..Summary::default() },
    };
    let replacement = row.get::<_, Option<i64>>(20)?;
    Ok(Row {
        id: SubmissionId(row.get(0)?),
        file: row.get(1)?,
        summary,
        digest: row.get(4)?,
        identifier: row.get(5)?,
        endpoint: row.get(6)?,
        format: format(7, row.get_ref(7)?.as_str()?)?,
        state: from_json(8, row.get_ref(8)?.as_str()?)?,
        receipt: row.get(9)?,
        messages: MessageCounts {
            errors: row.get(10)?,
            warnings: row.get(11)?,
            notices: row.get(12)?,
        },
        corrects: row.get::<_, Option<i64>>(13)?.map(SubmissionId),
        corrected_by: row.get::<_, Option<i64>>(14)?.map(SubmissionId),
        created: Instant(row.get(15)?),
        updated: Instant(row.get(16)?),
        attempts: row.get(17)?,
        erased: row.get::<_, Option<i64>>(18)?.map(Instant),
        environment: row.get(19)?,
        // One that has arrived is a negative number.
        replacement: replacement.map(|number| SubmissionId(number.abs())),
        replacement_has_arrived: replacement.is_some_and(|number| number < 0),
    })
}
