//! Backups: what one costs, and what is left where one cannot be written.

use std::fs;

use crate::common::{self, House, answer, at, key, report, step};
use journal::{Journal, list_backups};
use report::Event;

use super::laboratory::memory;

/// What a backup costs: a copy of all, a base, and an increment after a thousand events more.
/// `LABCOURIER_BACKUP_EVENTS` makes the journal bigger.
#[test]
fn a_backup_is_verified_and_leaves_the_journal_free() {
    let wanted = std::env::var("LABCOURIER_BACKUP_EVENTS").ok().and_then(|n| n.parse().ok());
    let wanted: u64 = wanted.unwrap_or(1_000);
    let folder = memory();
    let journal = Journal::create(&folder.path().join("journal.db"), &key()).unwrap();
    let filled = std::time::Instant::now();
    for group in 0..wanted.div_ceil(4 * 64) {
        let ids: Vec<_> = (0..64)
            .map(|n| {
                let mut new = report(i64::try_from(group * 64 + n).unwrap());
                // As long as a real report is, and as little alike.
                let words: Vec<String> = (0..150)
                    .map(|k| format!("{:x}", (group * 64 + n) * 7_919 + k * 104_729))
                    .collect();
                new.document =
                    format!("{{\"n\":{group}{n},\"x\":\"{}\"}}", words.join(" ").repeat(8))
                        .into_bytes();
                new.digest = common::digest(&new.document);
                journal.import_async(new)
            })
            .collect();
        let ids: Vec<_> = ids.into_iter().map(|pending| pending.wait().unwrap()).collect();
        let mut steps = Vec::new();
        for id in ids {
            steps.push(journal.record_async(step(id, Event::SendingStarted { since: at(1) })));
            steps.push(journal.record_async(step(id, common::accepted(&format!("r-{}", id.0)))));
            let mut last = step(id, Event::Completed { receipt: format!("r-{}", id.0) });
            last.evidence = Some(answer(&"<DocumentReference/>".repeat(20)));
            steps.push(journal.record_async(last));
        }
        steps.into_iter().for_each(|pending| drop(pending.wait().unwrap()));
    }
    let filled = filled.elapsed();
    let began = std::time::Instant::now();
    let made = journal.back_up_into(&folder.path().join("backups"), at(1)).unwrap();
    let took = began.elapsed();
    assert!(made.facts.events >= wanted);
    assert_eq!(made.facts.events, journal.events().unwrap());
    println!(
        "{} events, {:.1} MB: filled in {:.1} s, backed up and verified in {:.2} s",
        made.facts.events,
        made.facts.bytes as f64 / 1e6,
        filled.as_secs_f64(),
        took.as_secs_f64()
    );
    let began = std::time::Instant::now();
    let whole = journal.backup(&folder.path().join("whole.db")).unwrap();
    let copied = began.elapsed();
    for n in 0..250 {
        let id = journal.import(report(2_000_000 + n)).unwrap();
        journal.record(step(id, Event::SendingStarted { since: at(1) })).unwrap();
        journal.record(step(id, common::accepted(&format!("m-{n}")))).unwrap();
        let mut last = step(id, Event::Completed { receipt: format!("m-{n}") });
        last.evidence = Some(answer("<DocumentReference/>"));
        journal.record(last).unwrap();
    }
    let began = std::time::Instant::now();
    let changed = journal.back_up_into(&folder.path().join("backups"), at(50)).unwrap();
    let increment = began.elapsed();
    println!(
        "a copy of all: {:.2} s, {:.1} MB; what a thousand events changed: {:.3} s, {:.1} MB: \
         {:.3} of the time",
        copied.as_secs_f64(),
        whole.bytes as f64 / 1e6,
        increment.as_secs_f64(),
        changed.facts.bytes as f64 / 1e6,
        increment.as_secs_f64() / copied.as_secs_f64()
    );
    // Nothing of it is in the way of others.
    std::thread::scope(|scope| {
        let backup = scope.spawn(|| journal.back_up_into(&folder.path().join("backups"), at(100)));
        let mut longest = std::time::Duration::ZERO;
        let mut n = 1_000_000;
        while !backup.is_finished() || n == 1_000_000 {
            n += 1;
            let began = std::time::Instant::now();
            journal.import(report(n)).unwrap();
            longest = longest.max(began.elapsed());
        }
        println!("longest import beside a backup: {:.0} ms", longest.as_secs_f64() * 1e3);
        backup.join().unwrap().unwrap();
    });
}

/// A disk that is full leaves the backups that are there.
#[test]
fn a_backup_that_fails_leaves_the_others() {
    let folder = memory();
    let journal = Journal::create(&folder.path().join("journal.db"), &key()).unwrap();
    journal.import(report(1)).unwrap();
    let backups = folder.path().join("backups");
    let made = journal.back_up_into(&backups, at(1)).unwrap();
    // The same moment: the name is taken.
    assert!(journal.back_up_into(&backups, at(1)).is_err());
    // No folder can be made where a file stands.
    fs::write(folder.path().join("file"), "x").unwrap();
    assert!(journal.back_up_into(&folder.path().join("file"), at(2)).is_err());
    assert_eq!(journal::list_backups(&backups).unwrap().len(), 1);
    let names = fs::read_dir(&backups).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.filter(|name| name != ".lock").count(), 1, "no draft is left");
    for day in 1..60 {
        journal.import(report(day + 1)).unwrap();
        journal.back_up_into(&backups, at(day * 86_400)).unwrap();
    }
    let all = journal::list_backups(&backups).unwrap();
    // One more at most: a base on which others build.
    assert!(all.len() <= 15 && all.len() >= 9, "{}", all.len());
    assert!(!made.file.exists());
    assert_eq!(all[0].events, journal.events().unwrap());
}

/// An empty battery sets the clock back by a year, after weeks of backups: what is backed up then
/// stays, and so do the others.
#[test]
fn a_backup_of_a_clock_that_fell_back_stays() {
    const DAY: i64 = 86_400;
    let house = House::new();
    let backups = house.folder.path().join("backups");
    for day in 366..400 {
        house.journal.back_up_into(&backups, at(day * DAY)).unwrap();
    }
    let before = list_backups(&backups).unwrap();
    house.import(1);
    for hour in 0..40 {
        let made = house.journal.back_up_into(&backups, at(30 * DAY + hour * 3_600)).unwrap();
        assert!(made.file.exists(), "hour {hour}");
    }
    let after = list_backups(&backups).unwrap();
    assert!(before.iter().all(|it| after.contains(it)), "nobody knows which clock was right");
    let of_now = after.iter().filter(|it| it.events > 0).count();
    assert_eq!(of_now, 6, "the newest three, the last of two days before, what they build on");
    // It is right again: what was dated ahead is judged like all others.
    for hour in 0..4 {
        house.journal.back_up_into(&backups, at(400 * DAY + hour * 3_600)).unwrap();
    }
    assert!(list_backups(&backups).unwrap().len() <= 14);
}
