//! What a person has to be told until they say that they have read it: kept in the journal that it
//! concerns.

use std::collections::BTreeMap;

use fhir::Instant;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use crate::JournalError;
use crate::store::settings;

const PREFIX: &str = "notice:";

/// A code with parameters; the texts are the catalogues'. A parameter may name a file, and with it
/// a patient: `Debug` shows none.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Stable code in kebab-case; there is one notice of a code at a time, and of what it is about.
    pub code: String,
    /// What it is about, where there may be several: the id of an endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Parameters by name.
    pub params: BTreeMap<String, String>,
    /// Since when.
    pub at: Instant,
}

fhir::shows_only!(Notice { code, about, at });

impl Notice {
    /// A notice with its parameters.
    pub fn new(code: &str, params: &[(&str, &str)], at: Instant) -> Self {
        let params = params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Self { code: code.to_owned(), about: None, params: params.collect(), at }
    }

    /// The same about one of several.
    #[must_use]
    pub fn about(self, about: &str) -> Self {
        Self { about: Some(about.to_owned()), ..self }
    }
}

pub(crate) fn all(connection: &Connection) -> Result<Vec<Notice>, JournalError> {
    let kept = settings::beginning(connection, PREFIX)?;
    let read = |value| serde_json::from_value(value).map_err(|_| JournalError::Damaged);
    kept.into_iter().map(|(_, value)| read(value)).collect()
}

/// Whether a notice of this code stands, which nobody has read.
pub(crate) fn stands(connection: &Connection, code: &str) -> Result<bool, JournalError> {
    Ok(settings::get(connection, &name_of(code, None))?.is_some())
}

pub(crate) fn put(connection: &Connection, notice: &Notice) -> Result<(), JournalError> {
    let value = serde_json::to_value(notice).map_err(|_| JournalError::Damaged)?;
    settings::set(connection, &name_of(&notice.code, notice.about.as_deref()), &value)
}

/// All notices of a code.
pub(crate) fn remove(connection: &Connection, code: &str) -> Result<(), JournalError> {
    settings::remove(connection, &name_of(code, None))?;
    for (name, _) in settings::beginning(connection, &name_of(code, Some("")))? {
        settings::remove(connection, &name)?;
    }
    Ok(())
}

/// The one about this alone.
pub(crate) fn remove_about(
    connection: &Connection,
    code: &str,
    about: &str,
) -> Result<(), JournalError> {
    settings::remove(connection, &name_of(code, Some(about)))
}

fn name_of(code: &str, about: Option<&str>) -> String {
    match about {
        Some(about) => format!("{PREFIX}{code}:{about}"),
        None => format!("{PREFIX}{code}"),
    }
}
