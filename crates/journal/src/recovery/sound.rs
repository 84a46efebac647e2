//! Opens the writing connection of a journal, where what was confirmed is all there.

use rusqlite::Connection;

use crate::OpenProblem;
use crate::queries::verify;
use crate::recovery::register::{self, Agreement, Look};
use crate::store::{open, schema};

/// Opens the writing connection of a journal that has everything that was confirmed, and that is
/// whole where damage was met before.
pub(crate) fn sound(place: &open::Place) -> Result<(Connection, Agreement), OpenProblem> {
    sound_by(place, schema::check)
}

/// The same of a journal that an older program may have written.
pub(crate) fn sound_of_any_schema(
    place: &open::Place,
) -> Result<(Connection, Agreement), OpenProblem> {
    sound_by(place, |connection| schema::check_readable(connection).map(drop))
}

fn sound_by(
    place: &open::Place,
    check: impl Fn(&Connection) -> Result<(), OpenProblem>,
) -> Result<(Connection, Agreement), OpenProblem> {
    open::present(&place.path)?;
    // The register first: other processes may move the journal on meanwhile.
    let look = register::look(place)?;
    let connection = open::writable(place, check)?;
    let agreement = register::agree(&connection, &look)?;
    if matches!(&look, Look::Present(head) if head.suspect) {
        let found = verify::verify(&connection, open::Pages::InLog);
        if found.map_or(true, |found| !found.problems.is_empty()) {
            return Err(OpenProblem::WrongKeyOrDamaged);
        }
        register::suspect(place, false);
    }
    Ok((connection, agreement))
}
