//! What a watch remembers of a folder between two looks. Pure: what is there is passed in.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use report::SubmissionId;

use super::NOT_TAKEN_IN;
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
    /// It was another file once it had been read, so that it was not taken in: once is enough, for
    /// some programs touch a file whenever it is read.
    is_passed_over: bool,
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
    /// Files that left the folder, or were written over, before they could be taken in; and the
    /// last one.
    gone: (usize, PathBuf),
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
                before => {
                    // A refused one that is written to is being corrected.
                    if before.as_ref().is_some_and(|it| it.is_lost_for(&stamp)) {
                        self.gone = (self.gone.0 + 1, path.clone());
                    }
                    let is_passed_over = before.is_some_and(|it| it.is_passed_over);
                    let (became, known) = (Became::Nothing, Vec::new());
                    Seen { stamp, looks: 1, became, is_passed_over, known }
                }
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
            self.miss(&next);
        }
        self.files = next;
        ready.append(&mut again);
        ready
    }

    /// Notes what was there before, is no longer, and was never taken in. What was given another
    /// name is there.
    fn miss(&mut self, now: &HashMap<PathBuf, Seen>) {
        let owed = self.files.extract_if(|_, seen| seen.is_owed()).collect::<Vec<_>>();
        if owed.is_empty() {
            return;
        }
        let facts = |seen: &Seen| (seen.stamp.length, seen.stamp.modified);
        let fresh: HashSet<_> = now.values().filter(|seen| seen.looks == 1).map(facts).collect();
        for (path, _) in owed.into_iter().filter(|(_, seen)| !fresh.contains(&facts(seen))) {
            self.gone = (self.gone.0 + 1, path);
        }
    }

    /// How many files left the folder, or were written over, before they could be taken in; and the
    /// last one.
    pub(super) fn gone(&self) -> (usize, &Path) {
        (self.gone.0, &self.gone.1)
    }

    /// Whether every file has been seen twice: what is due is among what was ready.
    pub(super) fn has_seen_all(&self) -> bool {
        self.whole_looks > 1
    }

    /// Whether a file that was another one after it had been read waits for the next look: not
    /// where it did so the last time.
    pub(super) fn passes_over(&mut self, path: &Path, stamp: FileStamp) -> bool {
        match self.files.get_mut(path).filter(|seen| seen.stamp == stamp) {
            Some(seen) => !std::mem::replace(&mut seen.is_passed_over, true),
            None => false,
        }
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
        seen.is_passed_over = false;
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

    /// Whether it may hold a report that nobody has taken in.
    fn is_owed(&self) -> bool {
        match &self.became {
            Became::Nothing | Became::Taken => self.is_waiting(),
            Became::Refused(_) => {
                let refused = self.refused();
                self.is_waiting() || refused.is_some_and(|it| it.reason.may_hide_a_report())
            }
        }
    }

    /// Whether it may have held a report that nobody has taken in, and holds it no more, now that
    /// it looks like this. What was passed over has perhaps grown, or was touched.
    fn is_lost_for(&self, now: &FileStamp) -> bool {
        let is_touched = (now.length, now.modified) == (self.stamp.length, self.stamp.modified);
        let may_hold_it = is_touched || now.length > self.stamp.length;
        self.is_waiting() && !(self.is_passed_over && may_hold_it)
    }

    /// Whether it stands still and only a fault of ours keeps it from being taken in.
    fn is_waiting(&self) -> bool {
        match &self.became {
            Became::Nothing => self.is_due() && self.stamp.length > 0,
            Became::Taken => false,
            Became::Refused(refused) => refused.reason == NOT_TAKEN_IN,
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
mod tests;
