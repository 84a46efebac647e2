//! What a watch remembers of a folder between two looks. Pure: what is there is passed in.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use report::SubmissionId;

use super::known::{Content, Stopped};
use crate::candidate::Reason;

/// What a file looked like; the same twice in a row means that nobody writes to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct FileStamp {
    pub(super) length: u64,
    pub(super) modified: Option<SystemTime>,
    /// When the system last changed something of the file, where it keeps that, in seconds and
    /// nanoseconds. Nobody can set it: it also tells a file that took the place of one of the same
    /// name, length and time.
    pub(super) changed: Option<(i64, i64)>,
}

/// One look at a folder.
#[derive(Default)]
pub(super) struct Look {
    /// The files that can be seen, in name order.
    pub(super) files: Vec<(PathBuf, FileStamp)>,
    /// The first that could not be looked at: the folder itself or something in it.
    pub(super) away: Option<Away>,
    /// Whether another file system begins at the folder.
    pub(super) is_mounted: bool,
}

/// A folder (or a file) that cannot be looked at.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Away {
    pub(super) path: PathBuf,
    /// Stable code, or the operating system's word.
    pub(super) reason: String,
}

struct Seen {
    stamp: FileStamp,
    /// Looks at which it had this stamp.
    looks: u32,
    became: Became,
    /// Its reports that were not taken in because their content is known, and that nothing brings
    /// to the authority.
    known: Vec<Known>,
}

/// A report of known content that nothing brings to the authority in use.
pub(super) struct Known {
    pub(super) name: String,
    content: Content,
    pub(super) stopped: Stopped,
    /// Revision of the journal at which that was found.
    judged: u64,
    /// Grows with each of them.
    pub(super) order: u64,
}

// Its name may be a patient's.
fhir::shows_only!(Known { judged, order });

enum Became {
    Nothing,
    Taken,
    Refused(Refused),
}

/// A file that was refused with the stamp that it has.
#[derive(Clone, PartialEq)]
pub(super) struct Refused {
    /// Its name, or that of the first refused piece in it.
    pub(super) name: String,
    pub(super) reason: Reason,
    /// Reasons given for this stamp: each is told once.
    told: Vec<Reason>,
    tries: u32,
    /// Grows with every refusal that is told.
    pub(super) order: u64,
}

// Its name may be a patient's.
fhir::shows_only!(Refused { tries, order });

/// A program that makes a file empty and writes to it later does so within this many looks: five
/// minutes.
const EMPTY_LOOKS: u32 = 150;
/// A refusal that may pass by itself stands among the refused files from this try on: a virus
/// scanner that holds a new file for a moment is no matter.
const TRIES_STANDING: u32 = 2;
/// Reports that came from the folder and are remembered, those that were taken in last.
const TAKEN_MAX: usize = 20;

#[derive(Default)]
pub(super) struct Memory {
    /// The last reports that came from it, with the names of their files.
    taken: BTreeMap<SubmissionId, String>,
    files: HashMap<PathBuf, Seen>,
    /// Looks that saw all of the folder.
    whole_looks: u64,
    order: u64,
}

impl Memory {
    /// The files to be read: new or changed and still since the last look, and after them those
    /// that were refused for a reason that may have passed: what fails again must not be in the way
    /// of others. They stay due until [`Memory::settle`] says what became of them.
    pub(super) fn ready(&mut self, look: Look) -> Vec<(PathBuf, FileStamp)> {
        let mut next = HashMap::with_capacity(look.files.len());
        let (mut ready, mut again) = (Vec::new(), Vec::new());
        for (path, stamp) in look.files {
            let seen = match self.files.remove(&path) {
                Some(seen) if seen.stamp == stamp => {
                    Seen { looks: seen.looks.saturating_add(1), ..seen }
                }
                _ => Seen { stamp, looks: 1, became: Became::Nothing, known: Vec::new() },
            };
            if seen.is_due() {
                let is_again = matches!(seen.became, Became::Refused(_));
                if is_again { &mut again } else { &mut ready }.push((path.clone(), stamp));
            }
            next.insert(path, seen);
        }
        if look.away.is_some() {
            // What is out of sight is not gone: it would be read again as a whole once it is back.
            next.extend(self.files.drain());
        } else {
            self.whole_looks += 1;
        }
        self.files = next;
        ready.append(&mut again);
        ready
    }

    /// Whether every file has been seen twice: what is due is among what was ready.
    pub(super) fn has_seen_all(&self) -> bool {
        self.whole_looks > 1
    }

    /// What became of a file that was ready. Gives whether people are to be told: of a file that is
    /// tried again, once for each reason.
    pub(super) fn settle(
        &mut self,
        path: &Path,
        stamp: FileStamp,
        refusal: Option<(&str, &Reason)>,
    ) -> bool {
        let Some(seen) = self.files.get_mut(path).filter(|seen| seen.stamp == stamp) else {
            return true;
        };
        let Some((name, reason)) = refusal else {
            seen.became = Became::Taken;
            return true;
        };
        let (mut told, tries, order) = match &mut seen.became {
            Became::Refused(earlier) => {
                (std::mem::take(&mut earlier.told), earlier.tries, earlier.order)
            }
            Became::Nothing | Became::Taken => (Vec::new(), 0, 0),
        };
        let is_news = !told.contains(reason);
        if is_news {
            told.push(reason.clone());
            self.order += 1;
        }
        seen.became = Became::Refused(Refused {
            name: name.to_owned(),
            reason: reason.clone(),
            told,
            tries: tries.saturating_add(1),
            order: if is_news { self.order } else { order },
        });
        is_news
    }

    /// A file in it gave this report, now or earlier.
    pub(super) fn took(&mut self, id: SubmissionId, name: &str) {
        self.taken.entry(id).or_insert_with(|| name.to_owned());
        if self.taken.len() > TAKEN_MAX {
            self.taken.pop_first();
        }
    }

    /// The last reports that came from it, the newest first.
    pub(super) fn taken(&self) -> impl Iterator<Item = (SubmissionId, &str)> {
        self.taken.iter().rev().map(|(id, name)| (*id, name.as_str()))
    }

    /// The reports of a settled file that nothing brings to the authority: name, content, and what
    /// stands in the way.
    pub(super) fn know(
        &mut self,
        path: &Path,
        stamp: FileStamp,
        judged: u64,
        found: Vec<(String, Content, Stopped)>,
    ) {
        let Some(seen) = self.files.get_mut(path).filter(|seen| seen.stamp == stamp) else {
            return;
        };
        seen.known.clear();
        for (name, content, stopped) in found {
            self.order += 1;
            seen.known.push(Known { name, content, stopped, judged, order: self.order });
        }
    }

    /// Contents to be judged again because the journal has changed: so many, those first that were
    /// judged longest ago.
    pub(super) fn to_judge(&self, revision: u64, at_most: usize) -> Vec<Content> {
        let known = self.files.values().flat_map(|seen| &seen.known);
        let mut due: Vec<&Known> = known.filter(|known| known.judged != revision).collect();
        due.sort_unstable_by_key(|known| known.judged);
        due.into_iter().take(at_most).map(|known| known.content.clone()).collect()
    }

    /// What stands in the way of these contents now; nothing where one has reached the authority,
    /// or will.
    pub(super) fn judge(&mut self, revision: u64, found: &HashMap<Content, Option<Stopped>>) {
        for seen in self.files.values_mut() {
            seen.known.retain_mut(|known| {
                let Some(now) = found.get(&known.content) else { return true };
                known.judged = revision;
                if let Some(stopped) = now {
                    known.stopped.clone_from(stopped);
                }
                now.is_some()
            });
        }
    }

    /// The reports of known content that nothing brings to the authority: how many, and the last
    /// one. `None` before every file has been seen twice, when nothing can be said yet.
    pub(super) fn known(&self) -> Option<(usize, Option<&Known>)> {
        let known = || self.files.values().flat_map(|seen| &seen.known);
        let (count, last) = (known().count(), known().max_by_key(|known| known.order));
        (count > 0 || self.whole_looks > 1).then_some((count, last))
    }

    /// The refused files, with what they look like, in no order.
    pub(super) fn refused_files(&self) -> impl Iterator<Item = (&FileStamp, &Refused)> {
        self.files.values().filter_map(|seen| seen.refused().map(|refused| (&seen.stamp, refused)))
    }

    /// The refused files: how many, and the one that was refused last. `None` before every file has
    /// been seen twice, when nothing can be said yet.
    pub(super) fn refused(&self) -> Option<(usize, Option<&Refused>)> {
        let standing = self.files.values().filter_map(Seen::refused);
        let (count, last) = standing.fold((0, None), |(count, last), refused: &Refused| {
            let later = last.filter(|last: &&Refused| last.order > refused.order);
            (count + 1, later.or(Some(refused)))
        });
        (count > 0 || self.whole_looks > 1).then_some((count, last))
    }
}

impl Seen {
    fn is_due(&self) -> bool {
        match &self.became {
            Became::Nothing => {
                self.looks > 1 && (self.stamp.length > 0 || self.looks >= EMPTY_LOOKS)
            }
            Became::Taken => false,
            Became::Refused(refused) => refused.reason.may_pass(),
        }
    }

    fn refused(&self) -> Option<&Refused> {
        match &self.became {
            Became::Refused(refused)
                if !refused.reason.may_pass() || refused.tries >= TRIES_STANDING =>
            {
                Some(refused)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
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
}
