//! From the schema of an older program to the present one: alone, and only after a backup.

use std::path::Path;

use fhir::Instant;

use crate::copies::backup::{of_journal, write_into};
use crate::recovery::sound;
use crate::store::open::Place;
use crate::store::{hold, schema};
use crate::{BackedUp, Key, OpenProblem};

/// Brings a journal of an older program up to date, after a backup of it as it is. No other process
/// has it open meanwhile ([`OpenProblem::Busy`] where one does), and a backup that cannot be made
/// leaves it as it was. `None` where nothing is to be done, because another process was faster.
///
/// Programs of the older release that are started later refuse the journal
/// ([`OpenProblem::NewerSchema`]); one that runs on, where the locks of the place do not hold,
/// notices at its next look ([`crate::JournalError::NewerSchema`]).
pub fn migrate(
    path: &Path,
    key: &Key,
    backups: &Path,
    now: Instant,
) -> Result<Option<BackedUp>, OpenProblem> {
    migrate_by(&Place::new(path, key)?, backups, now, &schema::MIGRATIONS)
}

fn migrate_by(
    place: &Place,
    backups: &Path,
    now: Instant,
    migrations: &[&str],
) -> Result<Option<BackedUp>, OpenProblem> {
    let _held = hold::alone(&place.path)?;
    let (connection, _) = sound::sound_of_any_schema(place)?;
    if schema::check_readable(&connection)? as usize >= migrations.len() {
        return Ok(None);
    }
    let backed_up = write_into(&connection, place, backups, now).map_err(of_journal)?;
    schema::migrate_by(&connection, migrations)?;
    Ok(Some(backed_up))
}

#[cfg(test)]
mod tests;
