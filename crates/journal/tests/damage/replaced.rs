//! A correction that another one had replaced since the backup that takes the journal's place.

use crate::common::{House, accepted, at, key, nowhere, report};
use journal::{Imported, Journal, NewSubmission, Retention, Unless, restore};
use report::{Event, State, SubmissionId};
use tempfile::TempDir;

use super::laboratory::{person, record};

/// A report that failed before the backup, and since then its correction, which failed too, and the
/// correction of that. After what `before` does to it, the journal is restored from the backup.
fn restored(before: impl FnOnce(&Journal)) -> (TempDir, Journal, [SubmissionId; 3]) {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    let first = house.import(1);
    house.record(first, Event::SendingStarted { since: at(40) });
    record(&house.journal, first, Event::Failed { receipt: "r-1".to_owned() });
    let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
    let correcting = |n, id| NewSubmission { corrects: Some(id), ..report(n) };
    let second = house.journal.import(correcting(2, first)).unwrap();
    house.record(second, Event::SendingStarted { since: at(60) });
    record(&house.journal, second, Event::Failed { receipt: "r-2".to_owned() });
    let last = house.journal.import(correcting(3, second)).unwrap();
    house.complete(last, "r-3");
    assert_eq!(house.journal.state(second).unwrap(), State::Superseded { by: last });
    before(&house.journal);
    let path = house.path();
    let folder = house.leave();
    restore(&backup, &key(), &path, &nowhere, at(11 * 86_400)).unwrap();
    (folder, Journal::open(&path, &key()).unwrap(), [first, second, last])
}

/// Handed over once more, as with `--again`.
fn again(journal: &Journal, n: i64) -> Imported {
    journal.import_unless_async(report(n), Unless::Open).wait().unwrap()
}

#[test]
fn a_correction_that_another_had_replaced_is_read_back_in_its_place() {
    let (_folder, journal, [first, second, last]) = restored(|_| {});
    assert_eq!(journal.state(second).unwrap(), State::Superseded { by: last });
    assert_eq!(journal.state(last).unwrap(), State::Held { attempt: 1 });
    assert_eq!(again(&journal, 2), Imported::Known(vec![second]), "the last one counts");
    let other = NewSubmission { corrects: Some(first), ..report(4) };
    assert!(journal.import(other).is_err(), "the last one waits to take the place of the first");
    record(&journal, last, Event::Released { reason: "found".to_owned(), due: at(110) });
    record(&journal, last, accepted("r-3"));
    let states = [first, second].map(|id| journal.state(id).unwrap());
    assert_eq!(states, [State::Superseded { by: last }, State::Superseded { by: last }]);
    assert_eq!(journal.verify().unwrap().problems, []);
}

/// The correction turns out to be a slip: what it had replaced is open again, and nothing goes by
/// itself.
#[test]
fn what_is_read_back_as_replaced_is_open_again_where_the_last_is_withdrawn() {
    let (_folder, journal, [_, second, last]) = restored(|_| {});
    record(&journal, last, Event::Withdrawn { reason: "wrong file".to_owned() });
    assert_eq!(journal.state(second).unwrap(), State::Held { attempt: 1 });
    record(&journal, second, Event::Released { reason: "ok".to_owned(), due: at(500) });
    assert_eq!(journal.state(second).unwrap().code(), "held", "it waits for the comparison");
    journal.decide_guarded(second, None, &person(), at(501)).unwrap();
    assert_eq!(journal.state(second).unwrap().code(), "unknown", "it is asked for first");
    assert_eq!(journal.verify().unwrap().problems, []);
}

/// What took its place cannot be read back: nobody wanted it to be sent any more.
#[test]
fn what_was_replaced_by_what_is_lost_stays_closed() {
    let (_folder, journal, [_, second, _]) = restored(|journal| {
        let rule = Retention { completed_days: Some(7), closed_days: None };
        assert_eq!(journal.retain(rule, at(10 * 86_400)).unwrap(), 1);
    });
    assert_eq!(journal.state(second).unwrap(), State::Withdrawn { received: false });
    assert_eq!(journal.lost_reports().unwrap().len(), 1);
    assert_eq!(journal.verify().unwrap().problems, []);
}

/// Since the backup a report came and was rejected, and so was its correction, or the correction of
/// that: what is read back is closed once, and the restore goes through.
#[test]
fn a_correction_that_was_rejected_too_keeps_no_backup_from_being_restored() {
    for corrections in [1, 2] {
        let house = House::new();
        let backups = house.folder.path().join("backups");
        house.import(1);
        let backup = house.journal.back_up_into(&backups, at(50)).unwrap().file;
        let mut last = house.import(2);
        let mut replaced = Vec::new();
        house.reject(last, "wrong code");
        for n in 0..corrections {
            replaced.push(last);
            let right = NewSubmission { corrects: Some(last), ..report(3 + n) };
            last = house.journal.import(right).unwrap();
            house.reject(last, "wrong still");
        }
        let path = house.path();
        let _folder = house.leave();
        restore(&backup, &key(), &path, &nowhere, at(100)).unwrap();
        let journal = Journal::open(&path, &key()).unwrap();
        for id in replaced {
            assert_eq!(journal.state(id).unwrap(), State::Superseded { by: last });
        }
        assert_eq!(journal.state(last).unwrap(), State::Rejected);
        assert_eq!(journal.verify().unwrap().problems, []);
    }
}
