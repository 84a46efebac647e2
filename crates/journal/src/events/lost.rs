//! Reports that were taken in once and that a restored journal does not have: what is known of them
//! is kept, so that the same report, when it comes again, is asked for before it is sent.

use std::collections::BTreeSet;

use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use crate::events::taken::Taken;
use crate::events::versions;
use crate::queries::endpoints;
use crate::store::settings;
use crate::{JournalError, NewSubmission, Row};

/// Every one of them, by identifier of the attempt.
const BY_IDENTIFIER: &str = "lost-identifier:";
/// By the digest of its bytes.
const BY_DIGEST: &str = "lost-content:";
/// By the digest of what it says.
const BY_CANONICAL: &str = "lost-canonical:";
/// Between what a report is found by and what tells it from others in the name of a setting.
const END: char = '\u{1f}';

/// A report whose content is not in the journal any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostReport {
    /// Its file as shown to people; empty where unknown.
    pub file: String,
    /// SHA-256 of its content, lower-case hex.
    pub digest: String,
    /// Digest of what it says, whatever its bytes; `None` where a program of before took it in.
    #[serde(default)]
    pub canonical: Option<String>,
    /// Identifier of its document, where that is known.
    #[serde(default)]
    pub document: Option<String>,
    /// Identifier of the attempt to deliver.
    pub identifier: String,
    /// Id of the endpoint that it went or was to go to.
    pub endpoint: String,
    /// Code of that endpoint's environment, where that is known.
    #[serde(default)]
    pub environment: Option<String>,
    /// When it was taken in.
    pub at: fhir::Instant,
}

impl From<Taken> for LostReport {
    fn from(taken: Taken) -> Self {
        Self {
            file: taken.file,
            digest: taken.digest,
            canonical: taken.canonical,
            document: taken.document,
            identifier: taken.identifier,
            endpoint: taken.endpoint,
            environment: taken.environment,
            at: fhir::Instant(taken.at),
        }
    }
}

impl LostReport {
    /// Whether what goes there may go where this one went; an environment that was not kept fits
    /// any.
    pub(crate) fn went_to(&self, endpoint: &str, environment: Option<&str>) -> bool {
        self.endpoint == endpoint && self.is_in(environment)
    }

    fn is_in(&self, environment: Option<&str>) -> bool {
        self.environment.as_deref().zip(environment).is_none_or(|(a, b)| a == b)
    }

    /// Whether it went to the authority to which what goes there goes, by whichever endpoint.
    pub(crate) fn is_beside(
        &self,
        connection: &Connection,
        endpoint: &str,
        environment: Option<&str>,
    ) -> Result<bool, JournalError> {
        let is_one = endpoints::lead_to_one(connection, &self.endpoint, endpoint)?;
        Ok(is_one && self.is_in(environment))
    }

    /// The settings that it is kept under. One content may have gone to several places, and one
    /// identifier may stand for several contents where an endpoint wants the document's.
    fn names(&self) -> Vec<String> {
        let environment = self.environment.as_deref().unwrap_or_default();
        let rest = [&self.identifier, &self.digest, &self.endpoint, environment];
        let rest = rest.join(&END.to_string());
        let mut names = vec![
            format!("{BY_IDENTIFIER}{}{END}{rest}", self.identifier),
            format!("{BY_DIGEST}{}{END}{rest}", self.digest),
        ];
        names.extend(self.canonical.iter().map(|says| format!("{BY_CANONICAL}{says}{END}{rest}")));
        names
    }
}

pub(crate) fn keep(connection: &Connection, lost: &LostReport) -> Result<(), JournalError> {
    let value = serde_json::to_value(lost).map_err(|_| JournalError::Damaged)?;
    lost.names().iter().try_for_each(|name| settings::set(connection, name, &value))
}

pub(crate) fn all(connection: &Connection) -> Result<Vec<LostReport>, JournalError> {
    beginning(connection, BY_IDENTIFIER)
}

/// The lost report that a new one is: the same bytes, or what says the same, to the same place. Of
/// several attempts the last one counts: it took the others' place.
pub(crate) fn same_as(
    connection: &Connection,
    new: &NewSubmission,
) -> Result<Option<LostReport>, JournalError> {
    let mut found = of_content(connection, new)?;
    let environment = new.environment.as_deref();
    found.retain(|lost| lost.went_to(&new.endpoint, environment));
    Ok(found.into_iter().max_by_key(|lost| lost.at))
}

/// A lost report of this content, where it went elsewhere, as far as is known, and not where this
/// one is to go.
pub(crate) fn went_elsewhere(
    connection: &Connection,
    new: &NewSubmission,
) -> Result<Option<LostReport>, JournalError> {
    if same_as(connection, new)?.is_some() {
        return Ok(None);
    }
    Ok(of_content(connection, new)?.into_iter().max_by_key(|lost| lost.at))
}

/// A lost report of this content that went to the same authority by another endpoint, where none
/// went by this one.
pub(crate) fn went_beside(
    connection: &Connection,
    new: &NewSubmission,
) -> Result<Option<LostReport>, JournalError> {
    let (all, environment) = (of_content(connection, new)?, new.environment.as_deref());
    if all.iter().any(|lost| lost.went_to(&new.endpoint, environment)) {
        return Ok(None);
    }
    for lost in all {
        if lost.is_beside(connection, &new.endpoint, environment)? {
            return Ok(Some(lost));
        }
    }
    Ok(None)
}

/// Lost reports of the same bytes, or of what says the same.
fn of_content(
    connection: &Connection,
    new: &NewSubmission,
) -> Result<Vec<LostReport>, JournalError> {
    let mut found = beginning(connection, &format!("{BY_DIGEST}{}", new.digest))?;
    if let Some(says) = &new.canonical {
        found.extend(beginning(connection, &format!("{BY_CANONICAL}{says}"))?);
    }
    Ok(found)
}

/// The lost report with this identifier of its attempt to an endpoint, also with its letters all
/// small or all large: the authority may give it back so.
pub(crate) fn by_identifier(
    connection: &Connection,
    endpoint: &str,
    identifier: &str,
) -> Result<Option<LostReport>, JournalError> {
    let found = of_identifier(connection, identifier)?.into_iter();
    Ok(found.filter(|lost| lost.endpoint == endpoint).max_by_key(|lost| lost.at))
}

fn of_identifier(
    connection: &Connection,
    identifier: &str,
) -> Result<Vec<LostReport>, JournalError> {
    let mut found = Vec::new();
    let forms = forms(identifier);
    // Programs of before kept nothing behind the identifier.
    for form in &forms {
        found.extend(beginning(connection, &format!("{BY_IDENTIFIER}{form}"))?);
    }
    found.retain(|lost| forms.contains(&lost.identifier));
    Ok(found)
}

/// As ready envelopes bring an identifier: in any letters.
fn forms(identifier: &str) -> BTreeSet<String> {
    let uuid = identifier.get(..9).filter(|scheme| scheme.eq_ignore_ascii_case("urn:uuid:"));
    let large = uuid.and_then(|_| identifier.get(9..));
    let mut forms = BTreeSet::from([identifier.to_owned(), identifier.to_lowercase()]);
    forms.extend(large.map(|uuid| format!("urn:uuid:{}", uuid.to_uppercase())));
    forms
}

/// Whether something that is lost went out under the identifier of this report, to the same
/// authority by whichever endpoint, also with the same content: where that is sent once more, an
/// endpoint may want the document's identifier again.
pub(crate) fn shares_identifier(connection: &Connection, row: &Row) -> Result<bool, JournalError> {
    for lost in of_identifier(connection, &row.identifier)? {
        if endpoints::lead_to_one(connection, &lost.endpoint, &row.endpoint)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// It is in the journal again.
pub(crate) fn found(connection: &Connection, lost: &LostReport) -> Result<(), JournalError> {
    for name in lost.names() {
        settings::remove(connection, &name)?;
    }
    // As programs of before kept it: one of each content, one of each identifier.
    for name in
        [format!("{BY_IDENTIFIER}{}", lost.identifier), format!("{BY_DIGEST}{}", lost.digest)]
    {
        let kept = settings::get(connection, &name)?.map(read).transpose()?;
        if kept.is_some_and(|kept| kept == *lost) {
            settings::remove(connection, &name)?;
        }
    }
    versions::no_longer_lost(connection, lost)
}

fn beginning(connection: &Connection, prefix: &str) -> Result<Vec<LostReport>, JournalError> {
    let kept = settings::beginning(connection, prefix)?;
    kept.into_iter().map(|(_, value)| read(value)).collect()
}

fn read(value: serde_json::Value) -> Result<LostReport, JournalError> {
    serde_json::from_value(value).map_err(|_| JournalError::Damaged)
}
