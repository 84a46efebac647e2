//! Watching a folder, and what becomes of what was put there.

use std::path::PathBuf;

use bridge::headless::{Arrival, EndpointProblem, Fate, Headless, Looked};
use bridge::{IssueSource, Problem, StateCode};
use tokio_util::sync::CancellationToken;

use super::Scene;
use crate::exit::Exit;
use crate::output::Line;
use crate::report_lines::{Asked, looked, report};
use crate::stop;

/// How long a folder may take to answer at the beginning.
const ANSWER_MAX: std::time::Duration = std::time::Duration::from_secs(10);
/// Pause between two looks at what became of watched reports.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(500);

/// Whether something else than a folder is there. A share that does not answer is watched: the
/// watch says so.
async fn is_no_folder(dir: PathBuf) -> bool {
    let look = move || std::fs::metadata(&dir).is_ok_and(|there| !there.is_dir());
    let look = tokio::time::timeout(ANSWER_MAX, tokio::task::spawn_blocking(look));
    look.await.is_ok_and(|looked| looked.unwrap_or_default())
}

pub(super) async fn watch(scene: &Scene<'_>, dir: PathBuf) -> Result<Exit, Problem> {
    // One that is away is watched too: a share may come later than the computer, and nobody looks
    // at a service.
    if is_no_folder(dir.clone()).await {
        let dir = dir.display().to_string();
        scene.output.error(Line::of(scene.texts.text("say.not-a-folder", &[("folder", &dir)])));
        return Ok(Exit::Usage);
    }
    let mut profile = scene.open_untold().await?;
    // How a service ends says whether it worked, not what was unread when it began.
    scene.say_notices(&profile)?;
    if scene.refuses_unnamed(&profile, profile.may_take_unnamed(std::slice::from_ref(&dir))) {
        return Ok(Exit::Usage);
    }
    profile.reach().await?;
    // Before anything moves them.
    let mut changes = profile.changes();
    let mut told = Told::of_the_open(&profile)?;
    told.pause(scene, &profile)?;
    profile.start().await;
    // Before it says that it watches: whoever stops it then is heard.
    let stop = stop::on_signal();
    let folder = dir.display().to_string();
    scene.hint("say.watching", &[("folder", &folder)]);
    // All of it is sent, also what came while nobody watched: a service that is started again must
    // not leave that out.
    let lying = Headless::lying_in(dir.clone()).await;
    if lying > 0 {
        scene.hint("say.lying", &[("count", &lying.to_string())]);
    }
    let (arrived, mut news) = tokio::sync::mpsc::unbounded_channel();
    let watching = profile.watch(dir, stop.clone(), move |arrival| {
        // The receiver lives as long as the watching.
        let _ = arrived.send(arrival);
    });
    let shown = ended_together(&stop, async {
        loop {
            tokio::select! {
                arrival = news.recv() => match arrival {
                    Some(Arrival::File(file)) => told.came(scene, &file),
                    // Watching goes on: the folder may come back.
                    Some(Arrival::Away(problem)) => _ = scene.trouble(&problem),
                    Some(Arrival::Back) => scene.hint("say.watching", &[("folder", &folder)]),
                    None => break Ok(()),
                },
                () = tokio::time::sleep(LOOK_EVERY) => {
                    if changes.are_there()? || told.has_more {
                        told.moved(scene, &profile)?;
                    }
                    told.pause(scene, &profile)?;
                    told.way(scene, profile.unreachable());
                }
            }
            if !scene.output.is_read() {
                stop.cancel();
            }
        }
    });
    let (watched, shown): (Result<(), Problem>, Result<(), Problem>) =
        tokio::join!(watching, shown);
    watched.and(shown)?;
    profile.close().await;
    Ok(Exit::Well)
}

/// A watch that can tell no longer ends as well: mute it would look well to whoever looks after the
/// service, which starts it again instead.
async fn ended_together(
    stop: &CancellationToken,
    shown: impl Future<Output = Result<(), Problem>>,
) -> Result<(), Problem> {
    let shown = shown.await;
    if shown.is_err() {
        stop.cancel();
    }
    shown
}

/// What was told already, so that everything is told once.
struct Told {
    /// How many files came.
    files: usize,
    /// Reports whose end is not known yet, with the state that was told.
    open: Vec<(i64, Option<StateCode>)>,
    /// Some of these came after the last look: they may have moved before it.
    has_more: bool,
    /// Why authorities cannot be reached.
    trouble: Vec<EndpointProblem>,
    /// Sending is paused.
    paused: bool,
}

impl Told {
    /// Whoever watches wants to hear of what was open before, too.
    fn of_the_open(profile: &Headless) -> Result<Self, Problem> {
        let open = profile.open_reports()?.into_iter().map(|(id, state)| (id, Some(state)));
        let (open, trouble) = (open.collect(), Vec::new());
        Ok(Self { files: 0, open, has_more: false, trouble, paused: false })
    }

    /// A file came.
    fn came(&mut self, scene: &Scene<'_>, file: &Looked) {
        self.files += 1;
        looked(scene.output, scene.texts, self.files, file, Asked::Watch);
        if let Fate::Taken(id) = file.fate {
            self.open.push((id, file.record.state));
            self.has_more = true;
        }
    }

    /// Prints the reports that have moved; settled ones are looked at no longer.
    fn moved(&mut self, scene: &Scene<'_>, profile: &Headless) -> Result<(), Problem> {
        self.has_more = false;
        let mut still = Vec::with_capacity(self.open.len());
        for (id, state) in self.open.drain(..) {
            let mut record = profile.record(id)?;
            // What was found here was said when the file came.
            record
                .issues
                .retain(|issue| scene.output.json || issue.source == IssueSource::Authority);
            if record.state != state && record.state != Some(StateCode::Sending) {
                report(scene.output, scene.texts, &record);
            }
            if record.state.is_some_and(StateCode::is_open) {
                still.push((id, record.state));
            }
        }
        self.open = still;
        Ok(())
    }

    /// Somebody has paused or resumed sending, by whichever program.
    fn pause(&mut self, scene: &Scene<'_>, profile: &Headless) -> Result<(), Problem> {
        let paused = profile.is_paused()?;
        if paused != self.paused {
            self.paused = paused;
            let said = scene.texts.say(if paused { "say.paused" } else { "say.resumed" });
            scene.output.error(Line::of(said));
        }
        Ok(())
    }

    /// The way to the authority: said when it ends, again where something else is to be done, and
    /// when it is there again. Each try of an outage may fail in another way; that is no news.
    fn way(&mut self, scene: &Scene<'_>, now: Vec<EndpointProblem>) {
        for EndpointProblem { endpoint, problem } in &now {
            let before = self.trouble.iter().find(|before| before.endpoint == *endpoint);
            if before.is_none_or(|before| before.problem.remedy != problem.remedy) {
                scene.trouble_at(endpoint, problem);
            }
        }
        for EndpointProblem { endpoint, .. } in &self.trouble {
            if now.iter().all(|now| now.endpoint != *endpoint) {
                let text = scene.texts.say("say.reached-again");
                let params = [("endpoint", &**endpoint), ("text", &*text)];
                scene.output.error(Line::of(scene.texts.text("say.at-endpoint", &params)));
            }
        }
        self.trouble = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_watch_that_cannot_tell_any_more_ends() {
        let stop = CancellationToken::new();
        let watching = async {
            stop.cancelled().await;
            Ok::<(), Problem>(())
        };
        let failing = async { Err(Problem::new("journal-busy", &[], "journal")) };
        let (watched, shown) = tokio::join!(watching, ended_together(&stop, failing));
        assert!(watched.is_ok());
        assert_eq!(shown.unwrap_err().code, "journal-busy");
    }
}
