//! A list that a person sends: files, folders and pasted texts, among them what corrects reports
//! and what goes once more. One call of the window brings all of it. What has begun is done to its
//! end, whether the page that asked is still there or not; where nobody hears the answer, a notice
//! says what became of it.

mod list;
mod placed;
mod progress;
mod steps;
#[cfg(test)]
mod tests;

use std::sync::atomic::Ordering;

use engine::Engine;
use journal::{JournalError, Notice};
use report::{State, SubmissionId};

use super::Desk;
use super::decisions::held_back;
use super::watches::settle_left;
use crate::problem::Problem;
use crate::views::{HandedView, IntakeView, Verdict};

pub(crate) use list::HandedList;
pub(super) use list::{Again, Item, List};
pub(super) use progress::Progress;
use steps::Handing;

/// Code of the notice about a list that was taken in unseen.
const UNSEEN: &str = "handed-over-unseen";

impl Desk {
    /// Takes in a list, in its order, and sends it after the time for undoing it. Another content
    /// under the identifier of a report that failed, was rejected or is on hold takes its place,
    /// unless each is to be a report of its own.
    ///
    /// # Errors
    /// `endpoint-changed` where another endpoint is in use than the one that the page names, before
    /// anything is taken in; whatever concerns all of the list. What concerns one of its things is
    /// told with that.
    pub(crate) async fn hand_over(&self, list: HandedList) -> Result<HandedView, Problem> {
        let (desk, list) = (self.here(), List::of(list)?);
        let count = list.count();
        let (under_way, page) = (desk.takes(count), desk.page());
        let progress = desk.progress_begins();
        // A task of its own, which the end of the desk waits for: the page may go away in the
        // middle.
        let handing = tokio::spawn(async move {
            let handed = desk.hand(list, &progress).await;
            if desk.is_unseen(page) {
                // Where it cannot be told the journal cannot be written either, and that shows by
                // itself.
                let _ = tell(&desk.engine(), &handed, count);
            }
            drop(under_way);
            handed
        });
        handing.await.unwrap_or_else(|_| Err(Problem::new("process-ended", &[], "intake")))
    }

    /// All of a list, one step after the other, unless somebody takes it back in the middle.
    pub(super) async fn hand(
        &self,
        list: List,
        progress: &Progress,
    ) -> Result<HandedView, Problem> {
        let handed = list.paths().into_iter().collect();
        let mut handing = match Handing::begin(self, list).await {
            Ok(handing) => handing,
            Err(problem) => {
                progress.ends();
                return Err(problem);
            }
        };
        loop {
            let (done, total) = handing.count();
            progress.at(done, total);
            if progress.is_stopped() || !handing.step().await {
                break;
            }
        }
        let is_taken_back = progress.ends();
        let mut view = handing.end();
        if is_taken_back {
            view.taken_back = self.take_back(&view).await;
        }
        // Each file is looked at once more: the seconds of undo have begun.
        let engine = self.engine();
        tokio::spawn(async move { settle_left(&engine, handed).await });
        Ok(view)
    }

    /// Holds back what was taken in, and says what of it had not left yet. `None` where that could
    /// not be done for all: something waits to be sent, as if nobody had taken it back.
    async fn take_back(&self, view: &HandedView) -> Option<Vec<i64>> {
        let taken = view.items.iter().flat_map(|part| part.submissions.iter().flatten());
        let taken: Vec<i64> = taken.copied().collect();
        let engine = self.engine();
        // What has left goes its way, and what findings hold is held already.
        let (held, _) = held_back(&engine, taken.clone()).await;
        let waits = |id: &i64| match engine.journal().state(SubmissionId(*id)) {
            Ok(state) => matches!(state, State::Queued { attempt: 0, .. }),
            Err(_) => true,
        };
        (!taken.iter().any(waits)).then_some(held)
    }

    /// The window shows a page from its beginning, or none any more: nobody hears what the one
    /// before has asked for.
    pub fn page_begins(&self) {
        self.inner.pages.fetch_add(1, Ordering::SeqCst);
    }

    fn page(&self) -> u32 {
        self.inner.pages.load(Ordering::SeqCst)
    }

    /// Whether whoever asked from that page hears no answer.
    fn is_unseen(&self, page: u32) -> bool {
        page != self.page() || self.is_locked()
    }
}

/// Leaves a notice of what went and what needs a person; what an earlier one says that nobody has
/// read is in it.
fn tell(
    engine: &Engine,
    handed: &Result<HandedView, Problem>,
    count: usize,
) -> Result<(), JournalError> {
    let (mut went, mut attention) = match handed {
        Ok(view) => tally(engine, view)?,
        Err(_) => (0, count),
    };
    for unread in engine.journal().notices()?.iter().filter(|notice| notice.code == UNSEEN) {
        let of = |name| unread.params.get(name).and_then(|count| count.parse().ok()).unwrap_or(0);
        went += of("count");
        attention += of("attention");
    }
    let params = [("attention", &*attention.to_string()), ("count", &went.to_string())];
    engine.journal().put_notice(Notice::new(UNSEEN, &params, engine.now()))
}

/// How many are to be sent, and how many need a person: on hold, refused, gone or not taken in.
fn tally(engine: &Engine, view: &HandedView) -> Result<(usize, usize), JournalError> {
    let (mut went, mut attention) = (0, 0);
    for part in view.items.iter().chain([&view.gone]) {
        for (at, (file, submission)) in (0..).zip(part.files.iter().zip(&part.submissions)) {
            let is_held = match submission {
                Some(id) => engine.journal().state(SubmissionId(*id))?.code() == "held",
                None => part.failed.contains(&at) || file.verdict == Verdict::Refused,
            };
            attention += usize::from(is_held);
            went += usize::from(submission.is_some() && !is_held);
        }
        attention += usize::from(is_unread(part));
    }
    Ok((went, attention))
}

/// One thing of the list that could not be looked at.
const fn is_unread(part: &IntakeView) -> bool {
    part.files.is_empty() && part.problem.is_some()
}
