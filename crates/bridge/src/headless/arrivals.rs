//! Files that are taken in some at a time, and reports that are attended meanwhile.

use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use engine::{FilesInTurn, HandOver, ImportOptions, KnownContent, Listed, Taken};
use report::{StateCode, SubmissionId};
use tokio::sync::watch;

use super::intake::{failed, unread};
use super::{Goal, Headless, Looked, numbered};
use crate::problem::Problem;

/// Files in memory together: several groups of commits, and a few megabytes of reports.
const FILES_AT_ONCE: usize = 256;

/// Files that are taken in some at a time.
pub struct Arriving {
    files: Option<FilesInTurn>,
    expected: usize,
    known: KnownContent,
    at_once: usize,
    told: usize,
    /// What its parts have to know of each other.
    list: Listed,
    /// A fault keeps what is left from being taken in.
    is_barred: bool,
}

impl Arriving {
    /// How many of the files have not been taken in or refused.
    pub fn left(&self) -> usize {
        self.expected.saturating_sub(self.told)
    }
}

/// Some of the files that arrive.
#[derive(Default)]
pub struct Part {
    /// Each of them.
    pub files: Vec<Arrived>,
    /// Why some could not be taken in.
    pub problem: Option<Problem>,
}

/// A file that has arrived.
pub enum Arrived {
    /// A new submission, by its number: what is said of it stands in the journal.
    New(i64),
    /// Any other file.
    Other(Box<Looked>),
}

impl Headless {
    /// Finds files to be taken in as by [`Headless::take`], some at a time.
    pub async fn arriving(&self, paths: &[PathBuf], again: bool) -> Result<Arriving, Problem> {
        let files = self.engine.files_in_turn(self.found(paths)).await?;
        let known = if again { KnownContent::SendAgain } else { KnownContent::Show };
        // What is sent again is compared with all of this order, so it is looked at together.
        let at_once = if again { usize::MAX } else { FILES_AT_ONCE };
        let expected = files.expected();
        // What a person sees the command say is where all of it goes.
        let endpoint = self.engine.endpoint().ok().map(|endpoint| endpoint.id().to_owned());
        let (list, files) = (Listed::of_command(endpoint), Some(files));
        Ok(Arriving { files, expected, known, at_once, told: 0, list, is_barred: false })
    }

    /// Takes the next files in; none are left where it gives none.
    ///
    /// # Errors
    /// Only where nothing was taken in.
    pub async fn take_some(&self, arriving: &mut Arriving) -> Result<Option<Part>, Problem> {
        let Some(files) = arriving.files.take() else { return Ok(None) };
        let (some, rest) = self.engine.next_files(files, arriving.at_once).await?;
        if some.is_empty() {
            if self.engine.journal().is_guarded(self.engine.now())? {
                // An authority that cannot be reached is asked by whoever follows later.
                let _ = self.engine.reconcile().await;
            }
            return Ok(None);
        }
        let failed = |files: &[PathBuf]| files.iter().map(|it| other(failed(unread(it)))).collect();
        let part = match self.take_part(&some, arriving).await {
            _ if arriving.is_barred => Part { files: failed(&some), problem: None },
            Ok(part) => part,
            Err(problem) if arriving.told == 0 => return Err(problem),
            Err(problem) => {
                arriving.is_barred = true;
                Part { files: failed(&some), problem: Some(problem) }
            }
        };
        arriving.told += some.len();
        arriving.files = Some(rest);
        Ok(Some(part))
    }

    async fn take_part(&self, files: &[PathBuf], of: &mut Arriving) -> Result<Part, Problem> {
        if of.is_barred {
            return Ok(Part::default());
        }
        let candidates = self.engine.inspect_some(files.to_vec()).await?;
        let terms = ImportOptions { known: of.known, ..ImportOptions::default() };
        let HandOver { taken, fault } =
            self.engine.submit(&candidates, terms, &mut of.list).await?;
        of.list.next_part();
        let mut files = Vec::with_capacity(taken.len());
        for (candidate, taken) in candidates.iter().zip(taken) {
            files.push(match taken {
                Taken::New(id) => Arrived::New(id.0),
                taken => other(self.taken(candidate, taken)?),
            });
        }
        Ok(Part { files, problem: fault.map(Problem::from) })
    }
}

fn other(looked: Looked) -> Arrived {
    Arrived::Other(Box::new(looked))
}

/// Reports to be attended, handed over while they are taken in.
pub struct Arrivals {
    /// Not looked at yet.
    new: Mutex<Vec<SubmissionId>>,
    is_over: AtomicBool,
    /// How many of them are attended and have not reached the goal; none once nobody attends them.
    pub(super) is_attended: watch::Sender<Option<usize>>,
}

impl Default for Arrivals {
    fn default() -> Self {
        let is_attended = watch::Sender::new(Some(0));
        Self { new: Mutex::default(), is_over: AtomicBool::new(false), is_attended }
    }
}

impl Arrivals {
    /// One more, by its number.
    pub fn add(&self, id: i64) {
        self.lock().push(numbered(id));
    }

    /// None follow.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    /// Waits until fewer than so many are on their way, or nobody attends them any more: what is
    /// taken in must not run ahead of what is sent.
    pub async fn fewer_than(&self, most: usize) {
        let mut attended = self.is_attended.subscribe();
        let has_room =
            |open: &Option<usize>| open.is_none_or(|open| open + self.lock().len() < most);
        // Ends with an error only where the sender is gone, and it is ours.
        let _ = attended.wait_for(has_room).await;
    }

    pub(super) fn take(&self) -> Vec<SubmissionId> {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<SubmissionId>> {
        self.new.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Which reports are attended beside those that are.
pub(super) enum More<'a> {
    /// Those that arrive.
    Arriving(&'a Arrivals),
    /// Whatever is open, except what was seen to be before.
    Open(HashSet<SubmissionId>),
}

/// Reports that are attended.
pub(super) struct Attended<'a> {
    pub(super) more: More<'a>,
    pub(super) goal: Goal,
    pub(super) open: Vec<Open>,
    /// How many have reached the goal, and of how many.
    pub(super) done: usize,
    pub(super) of: usize,
    /// Every endpoint that one of them goes to.
    ways: Vec<String>,
}

/// One that has not reached the goal.
pub(super) struct Open {
    pub(super) id: SubmissionId,
    pub(super) seen: Option<StateCode>,
    /// Its place in [`Attended::ways`].
    pub(super) way: usize,
}

impl<'a> Attended<'a> {
    pub(super) fn new(more: More<'a>, goal: Goal) -> Self {
        Self { more, goal, open: Vec::new(), done: 0, of: 0, ways: Vec::new() }
    }

    pub(super) fn may_grow(&self) -> bool {
        match &self.more {
            More::Arriving(arrivals) => !arrivals.is_over.load(Ordering::Acquire),
            More::Open(_) => false,
        }
    }

    /// Whether the journal knows more of them than were looked at.
    pub(super) fn has_more(&self) -> bool {
        matches!(&self.more, More::Arriving(arrivals) if !arrivals.lock().is_empty())
    }

    pub(super) fn add(&mut self, id: SubmissionId, endpoint: String) {
        let known = self.ways.iter().position(|way| *way == endpoint);
        let way = known.unwrap_or_else(|| {
            self.ways.push(endpoint);
            self.ways.len() - 1
        });
        self.open.push(Open { id, seen: None, way });
        self.of += 1;
    }

    /// The endpoints that the open ones go to.
    pub(super) fn ways(&self) -> BTreeSet<String> {
        let open: BTreeSet<usize> = self.open.iter().map(|open| open.way).collect();
        open.into_iter().filter_map(|way| self.ways.get(way).cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headless::Fate;

    /// Another endpoint comes into use while a command takes files in: what is left of them does
    /// not go there.
    #[tokio::test(flavor = "multi_thread")]
    async fn what_a_command_hands_over_goes_to_one_endpoint() {
        let folder = tempfile::tempdir().unwrap();
        let profile = Headless::practice(&folder.path().join("profile")).await.unwrap();
        let out = folder.path().join("out");
        std::fs::create_dir(&out).unwrap();
        for number in 1..=FILES_AT_ONCE + 1 {
            let text = testkit::DocumentBuilder::new(u64::try_from(number).unwrap()).json();
            std::fs::write(out.join(format!("{number:03}.json")), text).unwrap();
        }
        let mut arriving = profile.arriving(&[out], false).await.unwrap();
        let part = profile.take_some(&mut arriving).await.unwrap().unwrap();
        assert!(part.files.iter().all(|file| matches!(file, Arrived::New(_))));
        let elsewhere = "https://localhost/v1/fhir".parse().unwrap();
        let other = exchange::Endpoint::new("other", elsewhere, exchange::Environment::Production);
        profile.engine.add_endpoint(other).await.unwrap();
        profile.engine.use_endpoint("other").await.unwrap();
        let part = profile.take_some(&mut arriving).await.unwrap().unwrap();
        let [Arrived::Other(file)] = &part.files[..] else { panic!("one is left") };
        assert_eq!(file.fate, Fate::Failed);
        assert_eq!(part.problem.unwrap().code, "endpoint-changed");
        assert_eq!(profile.engine.journal().reports_at("other").unwrap().all, 0);
        profile.close().await;
    }
}
