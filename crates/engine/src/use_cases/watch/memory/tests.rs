use report::Kind;

use super::*;
use crate::Refusal;

const PDF: Reason = Reason::NotAReport(Kind::Pdf);
const CHANGING: Reason = Reason::Source(Refusal::StillChanging);

fn locked() -> Reason {
    Reason::Source(Refusal::NotReadable { reason: "permission denied".to_owned() })
}

fn stamp(length: u64) -> FileStamp {
    FileStamp { length, ..FileStamp::default() }
}

fn look(files: &[(&str, u64)]) -> Look {
    let files = files.iter().map(|(name, length)| (PathBuf::from(name), stamp(*length)));
    Look { files: files.collect(), ..Look::default() }
}

fn away() -> Look {
    let away = Away { path: PathBuf::from("out"), reason: "folder-missing".to_owned() };
    Look { away: Some(away), ..Look::default() }
}

/// Looks at one file of so many bytes; what is ready is settled.
fn pass(memory: &mut Memory, length: u64, reason: Option<&Reason>) -> Vec<bool> {
    let ready = memory.ready(look(&[("report.json", length)]));
    let settle = |(path, stamp): (PathBuf, FileStamp)| {
        memory.settle(&path, stamp, reason.map(|reason| ("report.json", reason)))
    };
    ready.into_iter().map(settle).collect()
}

#[test]
fn a_file_is_taken_once_it_stands_still_and_again_when_it_changes() {
    let mut memory = Memory::default();
    let mut taken = |length| pass(&mut memory, length, None).len();
    assert_eq!(taken(10), 0, "just appeared");
    assert_eq!(taken(20), 0, "still growing");
    assert_eq!(taken(20), 1, "stands still");
    assert_eq!(taken(20), 0, "taken");
    assert_eq!(taken(30), 0, "changed");
    assert_eq!(taken(30), 1, "the change stands still");
}

#[test]
fn what_was_not_settled_is_ready_again() {
    let mut memory = Memory::default();
    memory.ready(look(&[("a", 1), ("b", 1)]));
    let ready = memory.ready(look(&[("a", 1), ("b", 1)]));
    assert_eq!(ready.len(), 2);
    memory.settle(&ready[0].0, ready[0].1, None);
    let ready = memory.ready(look(&[("a", 1), ("b", 1)]));
    assert_eq!(ready, [(PathBuf::from("b"), stamp(1))]);
}

#[test]
fn a_refusal_that_may_pass_is_tried_at_every_look_and_told_once_for_each_reason() {
    let mut memory = Memory::default();
    assert_eq!(pass(&mut memory, 10, Some(&locked())), [false; 0]);
    assert_eq!(pass(&mut memory, 10, Some(&locked())), [true]);
    assert_eq!(memory.refused(), Some((0, None)), "perhaps for a moment only");
    assert_eq!(pass(&mut memory, 10, Some(&locked())), [false]);
    assert_eq!(memory.refused().unwrap().0, 1);
    assert_eq!(pass(&mut memory, 10, Some(&CHANGING)), [true], "another reason");
    assert_eq!(pass(&mut memory, 10, Some(&locked())), [false], "told already");
    assert_eq!(pass(&mut memory, 10, None), [true], "taken");
    assert_eq!(pass(&mut memory, 10, None), [false; 0], "and left alone");
    assert_eq!(memory.refused(), Some((0, None)));
}

#[test]
fn a_refusal_that_lies_in_the_content_stays_until_the_file_changes() {
    let mut memory = Memory::default();
    pass(&mut memory, 10, None);
    assert_eq!(pass(&mut memory, 10, Some(&PDF)), [true]);
    for _ in 0..3 {
        assert_eq!(pass(&mut memory, 10, Some(&PDF)), [false; 0]);
        assert_eq!(memory.refused().unwrap().1.unwrap().reason, PDF);
    }
    assert_eq!(pass(&mut memory, 20, None), [false; 0]);
    assert_eq!(memory.refused(), Some((0, None)), "it is being corrected");
    assert_eq!(pass(&mut memory, 20, None), [true]);
}

#[test]
fn the_last_refused_file_is_named_and_before_it_the_one_before() {
    let mut memory = Memory::default();
    let both: &[_] = &[("a.pdf", 1), ("b.pdf", 1)];
    assert_eq!(memory.refused(), None);
    memory.ready(look(both));
    assert_eq!(memory.refused(), None, "nothing has been read yet");
    for (path, stamp) in memory.ready(look(both)) {
        memory.settle(&path, stamp, Some((&path.display().to_string(), &PDF)));
    }
    let names = |memory: &Memory| {
        let (count, last) = memory.refused().unwrap();
        (count, last.map(|last| last.name.clone()))
    };
    assert_eq!(names(&memory), (2, Some("b.pdf".to_owned())));
    memory.ready(look(&[("a.pdf", 1)]));
    assert_eq!(names(&memory), (1, Some("a.pdf".to_owned())));
    memory.ready(look(&[]));
    assert_eq!(names(&memory), (0, None));
}

#[test]
fn what_is_out_of_sight_is_remembered() {
    let mut memory = Memory::default();
    pass(&mut memory, 10, None);
    pass(&mut memory, 10, None);
    assert!(memory.ready(away()).is_empty());
    for _ in 0..2 {
        assert_eq!(pass(&mut memory, 10, None), [false; 0], "taken before the folder was away");
    }
}

#[test]
fn a_folder_that_is_away_from_the_beginning_says_nothing_about_its_files() {
    let mut memory = Memory::default();
    for _ in 0..3 {
        memory.ready(away());
        assert_eq!(memory.refused(), None);
    }
}

#[test]
fn an_empty_file_is_still_being_written_but_not_for_ever() {
    let mut memory = Memory::default();
    let empty = Reason::Source(Refusal::Empty);
    for _ in 1..EMPTY_LOOKS {
        assert_eq!(pass(&mut memory, 0, Some(&empty)), [false; 0]);
    }
    assert_eq!(pass(&mut memory, 0, Some(&empty)), [true]);
    assert_eq!(pass(&mut memory, 0, Some(&empty)), [false; 0]);
}

#[test]
fn there_is_no_bound_on_files() {
    let mut memory = Memory::default();
    let files = || Look {
        files: (0..100_500).map(|n| (PathBuf::from(n.to_string()), stamp(1))).collect(),
        ..Look::default()
    };
    memory.ready(files());
    assert_eq!(memory.ready(files()).len(), 100_500);
}

#[test]
fn what_leaves_before_it_was_taken_in_is_counted() {
    let mut memory = Memory::default();
    let named = |memory: &Memory| (memory.gone().0, memory.gone().1.to_owned());
    memory.ready(look(&[("a", 1), ("b", 2), ("c", 3)]));
    // Due, and a fault keeps it from being taken in; `b` is taken, `c` still written to.
    for (path, stamp) in memory.ready(look(&[("a", 1), ("b", 2), ("c", 4)])) {
        if path == Path::new("b") {
            memory.settle(&path, stamp, None);
        }
    }
    memory.ready(away());
    assert_eq!(memory.gone().0, 0, "out of sight is not gone");
    memory.ready(look(&[]));
    assert_eq!(named(&memory), (1, "a".into()), "neither what was taken nor what was not due");
    // Written over before it could be taken in.
    memory.ready(look(&[("d", 1)]));
    memory.ready(look(&[("d", 1)]));
    memory.ready(look(&[("d", 2)]));
    assert_eq!(named(&memory), (2, "d".into()));
    // Under another name it is there still.
    memory.ready(look(&[("d", 2)]));
    memory.ready(look(&[("moved", 2)]));
    assert_eq!(memory.gone().0, 2);
}

#[test]
fn what_was_refused_and_left_is_counted_where_it_may_hide_a_report() {
    let too_large = Reason::Source(Refusal::TooLarge { bytes: 2, bytes_max: 1 });
    for (reason, gone) in [(&PDF, 0), (&too_large, 1)] {
        let mut memory = Memory::default();
        pass(&mut memory, 10, Some(reason));
        pass(&mut memory, 10, Some(reason));
        memory.ready(look(&[]));
        assert_eq!(memory.gone().0, gone, "{}", reason.code());
    }
    // A file that was locked for a moment, and got its name then.
    let mut memory = Memory::default();
    pass(&mut memory, 10, Some(&locked()));
    pass(&mut memory, 10, Some(&locked()));
    memory.ready(look(&[]));
    assert_eq!(memory.gone().0, 0);
    // One that is written to again is being corrected.
    pass(&mut memory, 10, Some(&too_large));
    pass(&mut memory, 10, Some(&too_large));
    pass(&mut memory, 11, None);
    assert_eq!(memory.gone().0, 0);
}
