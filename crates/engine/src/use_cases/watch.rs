//! The watched folder: new files in it are taken in and sent; they stay where they are. What cannot
//! be taken is told, and tried again where that may help.

mod gone;
mod known;
mod looking;
mod lying;
mod memory;
mod mounted;
mod notices;
mod shown;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, join_all};
use journal::Notice;
use tokio_util::sync::CancellationToken;

use crate::candidate::{Reason, Refusal};
use crate::use_cases::intake::inspect::look_at;
use crate::use_cases::intake::source::Piece;
use crate::use_cases::intake::take::stops_all;
use crate::{
    Candidate, Engine, EngineError, HandOver, ImportOptions, KnownContent, Listed, Taken, Verdict,
};

use gone::Gone;
pub(crate) use looking::folder_reason;
use looking::{is_as_seen, look_at_folder};
use lying::Left;
pub use lying::{Leaving, Lying};
use memory::{FileStamp, Look, Memory};
use mounted::Mounted;
pub use notices::WATCH_NOTICES;
use notices::{Place, Standing, Stopped, Told, reason_of};
pub use shown::{RefusedFile, WatchedFiles};

/// Pause between two looks at the folder. Looking works on network shares too, where notices do
/// not.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Pause after a look that a fault has ended.
const AGAIN_AFTER: Duration = Duration::from_secs(10);
/// A share that is disconnected may keep a look waiting for ever. After so long it is told.
const NO_ANSWER_AFTER: Duration = Duration::from_secs(60);
/// The same of a folder that has been slow before.
const NO_ANSWER_MAX: Duration = Duration::from_secs(600);
/// Files of one look that cannot be looked at before that is no matter of single files.
const FAULTS_MAX: usize = 4;
/// Files looked at together: reading and checking is CPU work, so a few at a time.
const LOOKS_AT_ONCE: usize = 4;
/// Files taken in together: one group of commits.
const FILES_AT_ONCE: usize = 64;
/// Bytes of reports taken in together; beside them the files just being looked at are in memory.
const BYTES_AT_ONCE: usize = 32 << 20;

const NOT_TAKEN_IN: Reason = Reason::Source(Refusal::NotTakenIn);

type Looked = Result<Vec<Candidate>, EngineError>;

/// What a watch tells.
#[derive(Clone, Copy)]
pub enum Watched<'a> {
    /// A file was taken in or refused; one that is tried again is told once for each reason.
    File(&'a Candidate, Taken),
    /// The folder, or something in it, cannot be looked at; the notice says what and why.
    Away(&'a Notice),
    /// It can be looked at again.
    Back,
}

/// Files that were looked at and will be taken in together.
#[derive(Default)]
struct Batch {
    /// Path, stamp, and how many of the candidates it gave.
    files: Vec<(PathBuf, FileStamp, usize)>,
    candidates: Vec<Candidate>,
    bytes: usize,
}

impl Batch {
    fn add(&mut self, path: PathBuf, stamp: FileStamp, candidates: Vec<Candidate>) {
        let bytes =
            candidates.iter().filter_map(Candidate::parsed).map(|parsed| parsed.bytes.len());
        self.bytes += bytes.sum::<usize>();
        self.files.push((path, stamp, candidates.len()));
        self.candidates.extend(candidates);
    }

    fn is_full(&self) -> bool {
        self.files.len() >= FILES_AT_ONCE || self.bytes >= BYTES_AT_ONCE
    }
}

/// A watch, with what it remembers and what it has told.
struct Watch {
    look_at: fn(&Path) -> Look,
    no_answer_after: Duration,
    mounted: Mounted,
    /// What lay there before, and stays.
    left: Arc<Left>,
    memory: Memory,
    files: Told,
    known: Told,
    place: Place,
    stopped: Stopped,
    gone: Gone,
}

impl Watch {
    fn of(folder: &Path, profile: &Path) -> Self {
        Self {
            look_at: look_at_folder,
            no_answer_after: NO_ANSWER_AFTER,
            mounted: Mounted::of(folder, profile),
            left: Arc::default(),
            memory: Memory::default(),
            files: Told::of_files(folder),
            known: Told::of_known(folder),
            place: Place::of(folder),
            stopped: Stopped::of(folder),
            gone: Gone::of(folder),
        }
    }
}

impl Engine {
    /// Watches another folder with all that lies in it, or none; what was told of the one before is
    /// over.
    pub fn set_watched_folder(&self, folder: Option<PathBuf>) -> Result<(), EngineError> {
        self.watch_another(folder, None)
    }

    /// Watches a folder until cancelled or until a fault ends it; `each` is told of every file
    /// taken in or refused, and of a folder that is away. Keeps the notices about both, and about a
    /// fault.
    pub async fn watch(
        &self,
        folder: &Path,
        cancel: CancellationToken,
        each: impl FnMut(Watched<'_>),
    ) -> Result<(), EngineError> {
        let mut watch = Watch::of(folder, self.profile().folder());
        self.watch_by(&mut watch, folder, &cancel, LOOK_EVERY, self.looking(), each).await
    }

    /// The same for a window, which goes on: a fault is told in a notice as long as it lasts, and
    /// it is tried again. What was left lying when the folder was chosen stays unsent.
    pub async fn keep_watching(&self, folder: &Path, cancel: CancellationToken) {
        let mut watch = Watch::of(folder, self.profile().folder());
        while !cancel.is_cancelled() {
            let watched = match self.left() {
                Ok(left) => {
                    watch.left = Arc::new(left);
                    let looking = self.looking();
                    self.watch_by(&mut watch, folder, &cancel, LOOK_EVERY, looking, |_| {}).await
                }
                Err(error) => {
                    watch.stopped.say(self.journal(), self.now(), Some(reason_of(&error))).await;
                    Err(error)
                }
            };
            if watched.is_err() {
                tokio::select! {
                    () = cancel.cancelled() => {}
                    () = tokio::time::sleep(AGAIN_AFTER) => {}
                }
            }
        }
    }

    fn looking(&self) -> impl Fn(PathBuf) -> BoxFuture<'static, Looked> {
        let engine = self.clone();
        move |file| {
            let engine = engine.clone();
            Box::pin(async move { engine.inspect_files(vec![file]).await })
        }
    }

    /// The same with another pause and another way to look at a file.
    async fn watch_by<F>(
        &self,
        watch: &mut Watch,
        folder: &Path,
        cancel: &CancellationToken,
        pause: Duration,
        inspect: impl Fn(PathBuf) -> F,
        mut each: impl FnMut(Watched<'_>),
    ) -> Result<(), EngineError>
    where
        F: Future<Output = Looked>,
    {
        loop {
            let looked = self.look_once(watch, folder, cancel, &mut each).await?;
            let Some(look) = looked else { return Ok(()) };
            self.tell_place(watch, look.away.as_ref(), &mut each).await;
            let ready = watch.memory.ready(look);
            let ready = self.without_left(watch, ready, cancel).await;
            let left = watch.left.clone();
            let inspect = |file| without_reports_of(&left, inspect(file));
            let taken = self.take_ready(ready, &mut watch.memory, cancel, &inspect, &mut each);
            let taken = taken.await;
            self.judge_known(&mut watch.memory).await;
            if cancel.is_cancelled() {
                return taken;
            }
            self.tell(watch, folder, taken.as_ref().err().map(reason_of)).await;
            taken?;
            tokio::select! {
                () = cancel.cancelled() => return Ok(()),
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// Says in the notices what stands after a look; `stopped`: why nothing could be taken in.
    async fn tell(&self, watch: &mut Watch, folder: &Path, stopped: Option<&'static str>) {
        let Watch { memory, files, known, stopped: faults, gone, .. } = watch;
        gone.say(self.journal(), self.now(), memory).await;
        // Before every file was seen twice nothing was to be taken in: what stopped an earlier
        // watch may stand.
        if stopped.is_some() || memory.has_seen_all() {
            faults.say(self.journal(), self.now(), stopped).await;
        }
        self.show_watched(memory, folder);
        if let Some(standing) = Standing::of_files(memory, folder) {
            files.say(self.journal(), self.now(), standing).await;
        }
        if let Some(standing) = Standing::of_known(memory, folder) {
            known.say(self.journal(), self.now(), standing).await;
        }
    }

    /// Looks at files and takes them in, in batches, until cancelled. What a fault of the journal
    /// keeps from being taken in is not remembered as taken. What cannot be looked at is refused by
    /// itself, and the others are taken in all the same.
    async fn take_ready<F>(
        &self,
        ready: Vec<(PathBuf, FileStamp)>,
        memory: &mut Memory,
        cancel: &CancellationToken,
        inspect: &impl Fn(PathBuf) -> F,
        each: &mut impl FnMut(Watched<'_>),
    ) -> Result<(), EngineError>
    where
        F: Future<Output = Looked>,
    {
        // Asked at each look, so that settings that cannot be read are told before a file comes.
        self.refresh()?;
        let (mut batch, mut list, mut faults) = (Batch::default(), Listed::default(), 0);
        let paths = ready.iter().map(|(path, _)| path.clone()).collect();
        let several = tokio::select! {
            several = self.with_several(paths) => several?.1,
            () = cancel.cancelled() => return Ok(()),
        };
        for group in groups(&ready, &several) {
            if cancel.is_cancelled() {
                return Ok(());
            }
            let looking = async {
                let looked = join_all(group.iter().map(|(path, _)| inspect(path.clone()))).await;
                let as_seen = as_seen(group.to_vec()).await;
                looked.into_iter().zip(as_seen).collect::<Vec<_>>()
            };
            let looked = tokio::select! {
                looked = looking => looked,
                () = cancel.cancelled() => return Ok(()),
            };
            let mut fault = None;
            for ((path, stamp), (looked, is_as_seen)) in group.iter().zip(looked) {
                // What has been read is not what stood there: that is lost, as the next look finds,
                // and what stands there now is read once nobody writes to it.
                if !is_as_seen && memory.passes_over(path, *stamp) {
                    continue;
                }
                let candidates = looked.unwrap_or_else(|error| {
                    faults += 1;
                    fault = Some(error);
                    vec![self.not_taken_in(path)]
                });
                batch.add(path.clone(), *stamp, candidates);
            }
            if let Some(error) = fault.filter(|_| faults >= FAULTS_MAX) {
                self.take_batch(batch, &mut list, memory, each).await?;
                return Err(error);
            }
            if batch.is_full() {
                self.take_batch(std::mem::take(&mut batch), &mut list, memory, each).await?;
            }
        }
        self.take_batch(batch, &mut list, memory, each).await
    }

    fn not_taken_in(&self, path: &Path) -> Candidate {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        look_at(Piece { name, content: Err(Refusal::NotTakenIn) }, self.now())
    }

    async fn take_batch(
        &self,
        batch: Batch,
        list: &mut Listed,
        memory: &mut Memory,
        each: &mut impl FnMut(Watched<'_>),
    ) -> Result<(), EngineError> {
        if batch.files.is_empty() {
            return Ok(());
        }
        let terms = ImportOptions { known: KnownContent::ShowAnywhere, ..ImportOptions::default() };
        let HandOver { taken, fault } = self.submit(&batch.candidates, terms, list).await?;
        list.next_part();
        let stops_all = fault.as_ref().is_some_and(stops_all);
        let revision = self.known_at()?;
        let mut results = batch.candidates.iter().zip(taken);
        for (path, stamp, count) in batch.files {
            let pieces: Vec<_> = results.by_ref().take(count).collect();
            let mut refused = pieces.iter().find_map(|(candidate, _)| match &candidate.verdict {
                Verdict::Refused(reason) => Some((candidate.name.as_str(), reason)),
                Verdict::Report(_) => None,
            });
            let failed = pieces.iter().find(|(_, taken)| *taken == Taken::Failed);
            if failed.is_some() && stops_all {
                // It stays due.
                continue;
            }
            let stopped = self.stopped_of(&pieces);
            if matches!(&stopped, Ok(stopped) if stopped.is_empty()) {
                for (candidate, taken) in &pieces {
                    if let Taken::New(id) | Taken::Known(id) = taken {
                        memory.took(*id, &candidate.name);
                    }
                }
            }
            // What the journal knows of it cannot be read: that is no matter of the other files.
            let unread = pieces.first().filter(|_| stopped.is_err());
            if let Some((candidate, _)) = failed.or(unread) {
                refused = refused.or(Some((&*candidate.name, &NOT_TAKEN_IN)));
            }
            let is_news = memory.settle(&path, stamp, refused);
            memory.know(&path, stamp, revision, stopped.unwrap_or_default());
            if is_news {
                for (candidate, taken) in pieces {
                    each(Watched::File(candidate, taken));
                }
            }
        }
        fault.filter(|_| stops_all).map_or(Ok(()), Err)
    }
}

/// What was found, without the reports that were left lying in a file of several and stand in one
/// that has got more since.
async fn without_reports_of(left: &Left, looking: impl Future<Output = Looked>) -> Looked {
    let mut candidates = looking.await?;
    if candidates.len() > 1 {
        candidates.retain(|candidate| !left.holds_report(candidate));
    }
    Ok(candidates)
}

/// Whether each of these files is still the one that the look saw.
async fn as_seen(files: Vec<(PathBuf, FileStamp)>) -> Vec<bool> {
    let count = files.len();
    let seen = tokio::task::spawn_blocking(move || {
        files.iter().map(|(path, stamp)| is_as_seen(path, stamp)).collect()
    });
    seen.await.unwrap_or_else(|_| vec![true; count])
}

/// Files that are looked at together: a few plain ones, or one that may hold several reports and
/// fill the memory, which is taken in before the next one is looked at.
fn groups<'a>(
    ready: &'a [(PathBuf, FileStamp)],
    several: &[bool],
) -> Vec<&'a [(PathBuf, FileStamp)]> {
    let is_plain = |at: usize| !several.get(at).copied().unwrap_or(true);
    let mut groups = Vec::new();
    let mut from = 0;
    while from < ready.len() {
        let plain = (from..ready.len()).take(LOOKS_AT_ONCE).take_while(|at| is_plain(*at)).count();
        let to = from + plain.max(1);
        groups.extend(ready.get(from..to));
        from = to;
    }
    groups
}
