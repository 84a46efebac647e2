//! A made-up second schema, and who meets it.
#![allow(clippy::unwrap_used)] // A test that cannot go on panics.

use rusqlite::Connection;
use zeroize::Zeroizing;

use super::*;
use crate::store::open::{self, Access};
use crate::{Journal, JournalError};

fn place(folder: &Path) -> Place {
    Place::new(&folder.join("journal.db"), &Key::new(Zeroizing::new([7; 32]))).unwrap()
}

/// The schema of a release to come.
fn with_next(next: &'static str) -> Vec<&'static str> {
    schema::MIGRATIONS.iter().copied().chain([next]).collect()
}

const NEXT: &str = "ALTER TABLE submission ADD COLUMN made_up TEXT;";

fn version(place: &Place) -> u32 {
    let connection = open::connect(place, Access::Read).unwrap();
    connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

#[test]
fn a_journal_that_is_open_is_not_brought_on() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    let journal = Journal::create(&place.path, &place.key).unwrap();
    let backups = folder.path().join("backups");
    let next = with_next(NEXT);
    let refused = migrate_by(&place, &backups, Instant(0), &next);
    assert!(matches!(refused, Err(OpenProblem::Busy)), "{refused:?}");
    assert_eq!(version(&place), schema::KNOWN);
    assert!(!backups.exists(), "nothing was begun");
    drop(journal);
    migrate_by(&place, &backups, Instant(0), &next).unwrap().unwrap();
    assert_eq!(version(&place), schema::KNOWN + 1);
}

#[test]
fn what_was_there_before_is_in_the_backup() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    drop(Journal::create(&place.path, &place.key).unwrap());
    let backups = folder.path().join("backups");
    let made = migrate_by(&place, &backups, Instant(0), &with_next(NEXT)).unwrap().unwrap();
    let backup = Place { path: made.file, key: place.key.clone() };
    assert_eq!((version(&backup), version(&place)), (schema::KNOWN, schema::KNOWN + 1));
    let again = migrate_by(&place, &backups, Instant(1), &with_next(NEXT));
    // This program does not know what it has just made.
    assert!(matches!(again, Err(OpenProblem::NewerSchema { .. })));
}

#[test]
fn without_a_backup_nothing_is_changed() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    drop(Journal::create(&place.path, &place.key).unwrap());
    let backups = folder.path().join("backups");
    std::fs::write(&backups, "no folder").unwrap();
    assert!(migrate_by(&place, &backups, Instant(0), &with_next(NEXT)).is_err());
    assert_eq!(version(&place), schema::KNOWN);
}

#[test]
fn a_migration_that_fails_leaves_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    drop(Journal::create(&place.path, &place.key).unwrap());
    let backups = folder.path().join("backups");
    let broken = with_next("ALTER TABLE submission ADD COLUMN made_up TEXT; SELECT nonsense;");
    assert!(migrate_by(&place, &backups, Instant(0), &broken).is_err());
    assert_eq!(version(&place), schema::KNOWN);
    Journal::open(&place.path, &place.key).unwrap();
}

/// As it may happen where the locks of the place do not hold.
#[test]
fn a_program_that_runs_notices_the_newer_schema_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    let journal = Journal::create(&place.path, &place.key).unwrap();
    journal.set_setting("a", 1.into()).unwrap();
    let newer: Connection = open::connect(&place, Access::Write).unwrap();
    schema::migrate_by(&newer, &with_next(NEXT)).unwrap();
    let refused = journal.set_setting("a", 2.into());
    assert!(matches!(refused, Err(JournalError::NewerSchema { .. })), "{refused:?}");
    assert!(matches!(journal.setting("a"), Err(JournalError::NewerSchema { .. })));
    let kept: String = newer
        .query_row("SELECT value FROM setting WHERE name = 'a'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(kept, "1");
    drop(journal);
    let opened = Journal::open(&place.path, &place.key);
    assert!(matches!(opened, Err(OpenProblem::NewerSchema { .. })));
}
