//! Finds out which report of an old journal is which report of the new journal that takes its
//! place, for example after a restore from a backup. In this file `ours` are reports of the new
//! journal, and `theirs` are reports of the old one.
//!
//! An attempt is known by its identifier, its endpoint and the digest of its content; the three
//! together are its name. Where an endpoint wants the document's identifier, several attempts can
//! have the same name. Then their numbers tell them apart: both journals began as one, so the same
//! name under the same number is the same report on both sides. What is left after that is paired
//! in the order of the numbers.

use std::collections::{BTreeSet, HashMap};

use report::{State, SubmissionId};
use rusqlite::Connection;

use crate::events::succession;
use crate::queries::read;
use crate::recovery::carried::seen;
use crate::store::open::Place;
use crate::store::rows;
use crate::{JournalError, LostReport};

/// The name of an attempt: its identifier, its endpoint and the digest of its content.
pub(crate) type Name = [String; 3];

/// The `+` keeps SQLite from using the index on the digest, so that it looks up the identifier.
const OF_NAME: &str = "SELECT id FROM submission \
     WHERE identifier = ?1 AND endpoint = ?2 AND +digest = ?3 ORDER BY id";

/// A person has decided that the report is not sent. A report that was closed because the authority
/// has it is not given up.
const GIVEN_UP: State = State::Withdrawn { received: false };

/// What is known of the attempts of the old journal.
pub(crate) struct Attempts {
    /// For each name the numbers that the register of the old journal has.
    taken: HashMap<Name, BTreeSet<i64>>,
    /// A copy of the old journal, where one can be read.
    copy: Option<Place>,
    /// The last number of the new journal before anything was read back from the old one. Reports
    /// that are read back get higher numbers.
    through: i64,
}

/// The reports of one name whose number does not occur on the other side. The reports that were
/// withdrawn on both sides come first; apart from that the oldest come first. The first of `ours`
/// is taken to be the first of `theirs`, the second to be the second, and so on.
#[derive(Debug, Default)]
struct Unpaired {
    ours: Vec<i64>,
    theirs: Vec<i64>,
}

/// Which report of the old journal a report of the new journal is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Was {
    /// This one.
    One(i64),
    /// It is one of these or none of them, and nobody can tell.
    OneOf(Vec<i64>),
}

pub(crate) fn name(lost: &LostReport) -> Name {
    [&lost.identifier, &lost.endpoint, &lost.digest].map(Clone::clone)
}

impl Attempts {
    pub(crate) fn new(
        taken: impl Iterator<Item = (i64, Name)>,
        copy: Option<&Place>,
        through: i64,
    ) -> Self {
        let mut numbers: HashMap<Name, BTreeSet<i64>> = HashMap::new();
        for (number, name) in taken {
            numbers.entry(name).or_default().insert(number);
        }
        Self { taken: numbers, copy: copy.cloned(), through }
    }

    /// Whether the new journal has the report that has this number in the old one.
    pub(crate) fn has(
        &self,
        connection: &Connection,
        name: &Name,
        number: i64,
    ) -> Result<bool, JournalError> {
        Ok(self.ours_of(connection, name, number)?.is_some())
    }

    /// The report of the new journal that has this number in the old one.
    pub(crate) fn ours_of(
        &self,
        connection: &Connection,
        name: &Name,
        number: i64,
    ) -> Result<Option<SubmissionId>, JournalError> {
        let ours = self.ours(connection, name)?;
        if ours.contains(&number) {
            return Ok(Some(SubmissionId(number)));
        }
        let unpaired = self.unpaired(connection, ours, name)?;
        let place = unpaired.theirs.iter().position(|it| *it == number);
        Ok(place.and_then(|place| unpaired.ours.get(place)).copied().map(SubmissionId))
    }

    /// The report of the old journal that this report of the new one is; `None` where the old
    /// journal did not have it.
    pub(crate) fn theirs_of(
        &self,
        connection: &Connection,
        name: &Name,
        id: SubmissionId,
    ) -> Result<Option<Was>, JournalError> {
        // The register is asked first, because it is in memory and the copy has to be opened.
        if self.taken.get(name).is_some_and(|taken| taken.contains(&id.0)) {
            return Ok(Some(Was::One(id.0)));
        }
        let theirs = self.theirs(name);
        if theirs.contains(&id.0) {
            return Ok(Some(Was::One(id.0)));
        }
        let Unpaired { ours, theirs } = pair(self.ours(connection, name)?, theirs);
        Ok(match theirs[..] {
            [] => None,
            [one] if ours.len() == 1 => Some(Was::One(one)),
            _ => Some(Was::OneOf(theirs)),
        })
    }

    /// The last state in the old journal of the report of this name and number, as far as it can be
    /// read. The name is compared too: a register that belongs to another journal may give the
    /// number of another report.
    pub(crate) fn last_state(&self, name: &Name, number: i64) -> Option<State> {
        let state = self.seen(|copy| match of_name(copy, name)?.contains(&number) {
            true => read::state(copy, SubmissionId(number)).map(Some),
            false => Ok(None),
        });
        state.flatten()
    }

    /// Whether the new journal has a report of this name that the old journal did not have. Only
    /// the copy of the old journal says what it had: its register may be that of the journal which
    /// the old one had replaced.
    pub(crate) fn leaves_one(
        &self,
        connection: &Connection,
        name: &Name,
    ) -> Result<bool, JournalError> {
        let ours = self.ours(connection, name)?;
        if ours.is_empty() {
            return Ok(false);
        }
        let left = self.told_apart(connection, pair(ours, self.read(name)), name)?;
        Ok(left.ours.len() > left.theirs.len())
    }

    /// The last number of the new journal before anything was read back.
    pub(crate) fn through(&self) -> i64 {
        self.through
    }

    /// Whether the report was in the new journal before anything was read back.
    pub(crate) fn is_restored(&self, id: SubmissionId) -> bool {
        id.0 <= self.through
    }

    /// Asks the copy of the old journal; `None` where there is none or it cannot be read.
    pub(crate) fn seen<T>(
        &self,
        view: impl FnOnce(&Connection) -> Result<T, JournalError>,
    ) -> Option<T> {
        seen(self.copy.as_ref(), view)
    }

    /// The numbers of this name in the new journal, without what was read back.
    fn ours(&self, connection: &Connection, name: &Name) -> Result<Vec<i64>, JournalError> {
        let mut ours: Vec<i64> = of_name(connection, name)?;
        ours.retain(|number| *number <= self.through);
        Ok(ours)
    }

    /// The numbers of this name in the old journal, by its register and by its copy.
    fn theirs(&self, name: &Name) -> BTreeSet<i64> {
        let mut theirs = self.taken.get(name).cloned().unwrap_or_default();
        theirs.extend(self.read(name));
        theirs
    }

    /// The numbers of this name in the copy of the old journal.
    fn read(&self, name: &Name) -> BTreeSet<i64> {
        self.seen(|copy| of_name(copy, name)).unwrap_or_default().into_iter().collect()
    }

    fn unpaired(
        &self,
        connection: &Connection,
        ours: Vec<i64>,
        name: &Name,
    ) -> Result<Unpaired, JournalError> {
        let taken = self.taken.get(name);
        // To look into the old journal its copy has to be opened. Mostly there is no need: the
        // register has every one of our numbers, so none of them is unpaired.
        if ours.iter().all(|number| taken.is_some_and(|taken| taken.contains(number))) {
            return Ok(Unpaired::default());
        }
        self.told_apart(connection, pair(ours, self.theirs(name)), name)
    }

    /// Pairs a report that is withdrawn in the new journal only with one that was withdrawn in the
    /// old journal too. Otherwise it would be taken for the same content that was queued again in
    /// the old journal, and what was queued again would be missing.
    fn told_apart(
        &self,
        connection: &Connection,
        Unpaired { ours, theirs }: Unpaired,
        name: &Name,
    ) -> Result<Unpaired, JournalError> {
        let (mut given_up, mut open) = (Vec::new(), Vec::new());
        for number in ours {
            match succession::is_given_up(connection, SubmissionId(number))? {
                true => given_up.push(number),
                false => open.push(number),
            }
        }
        if given_up.is_empty() {
            return Ok(Unpaired { ours: open, theirs });
        }
        let is_given_up = |number: &i64| self.last_state(name, *number) == Some(GIVEN_UP);
        let (mut first, rest): (Vec<i64>, Vec<i64>) = theirs.into_iter().partition(is_given_up);
        let both = given_up.len().min(first.len());
        given_up.truncate(both);
        let mut others = first.split_off(both);
        others.extend(rest);
        others.sort_unstable();
        Ok(Unpaired { ours: [given_up, open].concat(), theirs: [first, others].concat() })
    }
}

fn of_name(connection: &Connection, name: &Name) -> Result<Vec<i64>, JournalError> {
    rows::all(connection, OF_NAME, name.each_ref().map(String::as_str), |row| row.get(0))
}

/// Leaves out the numbers that occur on both sides: each of them is one report.
fn pair(mut ours: Vec<i64>, theirs: BTreeSet<i64>) -> Unpaired {
    let both: BTreeSet<i64> = ours.iter().copied().filter(|it| theirs.contains(it)).collect();
    ours.retain(|number| !both.contains(number));
    let theirs = theirs.into_iter().filter(|number| !both.contains(number)).collect();
    Unpaired { ours, theirs }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;

    fn journal(numbers: &[i64]) -> (Connection, Name) {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE TABLE submission (id INTEGER, identifier TEXT, endpoint TEXT, digest TEXT, \
                 state_json TEXT, corrects INTEGER)",
            )
            .unwrap();
        let state = serde_json::to_string(&State::Held { attempt: 0 }).unwrap();
        for number in numbers {
            connection
                .execute(
                    "INSERT INTO submission VALUES (?1, 'name', 'there', 'content', ?2, NULL)",
                    rusqlite::params![number, state],
                )
                .unwrap();
        }
        (connection, ["name", "there", "content"].map(str::to_owned))
    }

    fn attempts(taken: &[i64], through: i64) -> Attempts {
        let name = ["name", "there", "content"].map(str::to_owned);
        Attempts::new(taken.iter().map(|number| (*number, name.clone())), None, through)
    }

    #[test]
    fn one_number_is_one_report_and_the_rest_is_told_apart_by_its_order() {
        let (connection, name) = journal(&[3, 5, 99]);
        let ours_of = |taken: &[i64], number| {
            attempts(taken, 10).ours_of(&connection, &name, number).unwrap().map(|id| id.0)
        };
        assert_eq!(ours_of(&[3, 7], 3), Some(3));
        assert_eq!(ours_of(&[3, 7], 7), Some(5), "the only one that is left");
        assert_eq!(ours_of(&[3, 5, 7], 7), None, "taken in since");
        assert_eq!(ours_of(&[7, 8, 9], 9), None, "one more than are left");
        let theirs_of = |taken: &[i64], id| {
            attempts(taken, 10).theirs_of(&connection, &name, SubmissionId(id)).unwrap()
        };
        assert_eq!(theirs_of(&[3, 7], 3), Some(Was::One(3)));
        assert_eq!(theirs_of(&[3, 7], 5), Some(Was::One(7)));
        assert_eq!(theirs_of(&[7], 5), Some(Was::OneOf(vec![7])), "or it was the third");
        assert_eq!(theirs_of(&[7, 8], 5), Some(Was::OneOf(vec![7, 8])));
        assert_eq!(theirs_of(&[3], 5), None);
        assert!(attempts(&[3, 5], 10).leaves_one(&connection, &name).unwrap());
        assert!(!attempts(&[], 2).leaves_one(&connection, &name).unwrap());
    }

    #[test]
    fn what_cannot_be_read_says_nothing() {
        let (connection, name) = journal(&[3]);
        let place = Place {
            path: std::path::PathBuf::from("/nowhere/journal.db"),
            key: Key::new(zeroize::Zeroizing::new([7; 32])),
        };
        let attempts = Attempts::new(std::iter::empty(), Some(&place), 10);
        assert_eq!(attempts.theirs_of(&connection, &name, SubmissionId(3)).unwrap(), None);
        assert!(attempts.has(&connection, &name, 3).unwrap());
    }
}
