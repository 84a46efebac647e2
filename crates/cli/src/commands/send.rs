//! Checking, sending, following, and what people decide about single reports.

use std::path::PathBuf;

use bridge::Problem;
use bridge::headless::{Arrival, Fate, Goal, Headless, Looked, Outcome, Record};

use super::Scene;
use crate::arguments::{Follow, Paths, Resubmit, Send, Waiting, WithReason};
use crate::exit::Exit;
use crate::output::{Line, Look};
use crate::progress::Progress;
use crate::report_lines::{look_of, looked, report, summary, with_texts, word_of};
use crate::stop;

/// Hints about single reports; more of them help nobody.
const HINTS_MAX: usize = 3;

pub(super) async fn check(scene: &Scene<'_>, paths: Paths) -> Result<Exit, Problem> {
    let profile = scene.open().await?;
    let files = profile.check(&paths.paths).await?;
    let mut exit = Exit::Well;
    for file in &files {
        looked(scene.output, scene.texts, file);
        if matches!(file.fate, Fate::Refused | Fate::WouldBeHeld) {
            exit = Exit::Person;
        }
    }
    let words = files.iter().map(|file| word_of(scene.texts, file, &file.record));
    conclude(scene, summary(scene.texts, words));
    profile.close().await;
    Ok(exit)
}

pub(super) async fn send(scene: &Scene<'_>, send: Send) -> Result<Exit, Problem> {
    let mut profile = scene.open().await?;
    let files = profile.take(&send.paths.paths, send.again).await?;
    let exit = deliver(scene, &mut profile, files, &send.waiting).await;
    profile.close().await;
    exit
}

/// Hands over what was taken in, waits as asked, and prints what became of each file.
pub(super) async fn deliver(
    scene: &Scene<'_>,
    profile: &mut Headless,
    files: Vec<Looked>,
    waiting: &Waiting,
) -> Result<Exit, Problem> {
    let goal = if waiting.wait { Goal::Settled } else { Goal::Sent };
    let attended: Vec<i64> = files.iter().filter_map(|file| attended(file, goal)).collect();
    let outcome = if attended.is_empty() {
        Ok(Outcome::Reached)
    } else {
        attend(scene, profile, &attended, goal, waiting).await
    };
    let mut exit = Exit::Well;
    let mut records = Vec::with_capacity(files.len());
    for mut file in files {
        if let Some(id) = file.record.id {
            file.record = profile.record(id)?;
        }
        looked(scene.output, scene.texts, &file);
        exit = exit.max(exit_of_file(&file));
        records.push(file);
    }
    let words = records.iter().map(|file| word_of(scene.texts, file, &file.record));
    conclude(scene, summary(scene.texts, words));
    decide_hints(scene, records.iter().map(|file| &file.record));
    if !attended.is_empty() {
        say_environment(scene, profile);
    }
    Ok(exit.max(end(scene, profile, &outcome?, &attended)?))
}

/// Nobody must take practice for the real thing.
fn say_environment(scene: &Scene<'_>, profile: &Headless) {
    let endpoints = profile.endpoints();
    match endpoints.iter().find(|facts| facts.in_use).map(|facts| facts.environment) {
        Some("practice") => scene.hint("say.to-practice", &[]),
        Some("integration") => scene.hint("say.to-integration", &[]),
        _ => {}
    }
}

/// What is waited for: what was just taken in, and known content that is still on its way.
fn attended(file: &Looked, goal: Goal) -> Option<i64> {
    match file.fate {
        Fate::Taken(id) => Some(id),
        Fate::Known(id) if goal == Goal::Settled => Some(id),
        _ => None,
    }
}

async fn attend(
    scene: &Scene<'_>,
    profile: &mut Headless,
    ids: &[i64],
    goal: Goal,
    waiting: &Waiting,
) -> Result<Outcome, Problem> {
    profile.reach().await?;
    let stop = stop::on_signal();
    let progress = Progress::new(scene.output, ids.len());
    profile
        .attend(ids, goal, waiting.timeout, &stop, |moved| progress.reached(moved.done, moved.of))
        .await
}

fn exit_of_file(file: &Looked) -> Exit {
    match file.fate {
        Fate::Refused | Fate::WouldBeHeld => Exit::Person,
        // Known content is no news, whatever became of it.
        Fate::Known(_) | Fate::Ready => Exit::Well,
        Fate::Taken(_) => exit_of_record(&file.record),
    }
}

fn exit_of_record(record: &Record) -> Exit {
    match record.state.as_deref() {
        Some("held" | "rejected" | "failed") => Exit::Person,
        _ => Exit::Well,
    }
}

/// How attending ended, in words and as an exit code.
fn end(
    scene: &Scene<'_>,
    profile: &Headless,
    outcome: &Outcome,
    ids: &[i64],
) -> Result<Exit, Problem> {
    let states = ids.iter().map(|id| Ok(profile.record(*id)?.state));
    let states: Vec<Option<String>> = states.collect::<Result<_, Problem>>()?;
    let open = |wanted: &[&str]| {
        states.iter().flatten().filter(|state| wanted.contains(&state.as_str())).count()
    };
    match outcome {
        Outcome::Reached => Ok(Exit::Well),
        Outcome::Elsewhere => {
            scene.hint("say.elsewhere", &[]);
            Ok(Exit::Well)
        }
        Outcome::Unreachable(problem) => {
            scene.trouble(problem);
            match open(&["queued", "sending", "unknown", "in-progress"]) {
                0 => scene.hint("say.safe-all", &[]),
                1 => scene.hint("say.safe-one", &[]),
                count => scene.hint("say.safe-many", &[("count", &count.to_string())]),
            }
            Ok(Exit::Authority)
        }
        Outcome::TimedOut => {
            let count = open(&["queued", "sending", "unknown", "in-progress"]).to_string();
            scene.hint("say.timed-out", &[("count", &count)]);
            Ok(Exit::Person)
        }
        Outcome::Stopped => {
            scene.hint("say.stopped", &[]);
            Ok(Exit::Person)
        }
    }
}

/// The last line for people.
fn conclude(scene: &Scene<'_>, summary: Option<String>) {
    match summary {
        Some(text) => {
            scene.output.hint(&Line::new());
            scene.output.hint(&Line::new().look(text, Look::Bold));
        }
        None => scene.hint("say.nothing-to-send", &[]),
    }
}

/// What a person may do about reports that need one.
fn decide_hints<'r>(scene: &Scene<'_>, records: impl Iterator<Item = &'r Record>) {
    let needing: Vec<_> = records
        .filter_map(|record| Some((record.id?, actions_in(record.state.as_deref()?)?)))
        .collect();
    propose(scene, needing.iter().copied().take(HINTS_MAX));
    if needing.len() > HINTS_MAX {
        let more = (needing.len() - HINTS_MAX).to_string();
        scene.hint("say.more-hint", &[("count", &more)]);
    }
}

/// What is proposed right after sending. Withdrawing is proposed where a report is looked at, not here.
fn actions_in(state: &str) -> Option<&'static [&'static str]> {
    match state {
        "held" => Some(&["correct", "release"]),
        "rejected" | "failed" => Some(&["correct", "resubmit"]),
        _ => None,
    }
}

/// One line for each action: what to type, and what it does.
pub(super) fn propose<'a>(scene: &Scene<'_>, reports: impl Iterator<Item = (i64, &'a [&'a str])>) {
    let mut lines = Vec::new();
    for (id, actions) in reports {
        let id = id.to_string();
        for action in actions.iter().filter(|action| **action != "hold-back") {
            let command = scene.texts.text(&format!("say.do-{action}"), &[("id", &id)]);
            lines.push((command, scene.texts.say(&format!("say.do-{action}-why"))));
        }
    }
    let width = lines.iter().map(|(command, _)| command.chars().count()).max().unwrap_or(0);
    for (command, why) in &lines {
        let line = Line::new().add("  ").column(command, width + 3, Look::Plain);
        scene.output.hint(&line.look(why, Look::Faint));
    }
}

pub(super) async fn follow(scene: &Scene<'_>, follow: Follow) -> Result<Exit, Problem> {
    let mut profile = scene.open().await?;
    profile.reach().await?;
    let (ids, outcome) = if follow.once {
        profile.follow_once().await?
    } else {
        let stop = stop::on_signal();
        let progress = Progress::new(scene.output, 0);
        profile.follow(&stop, |moved| progress.reached(moved.done, moved.of)).await?
    };
    let mut exit = Exit::Well;
    let mut words = Vec::new();
    for id in &ids {
        let record = profile.record(*id)?;
        report(scene.output, scene.texts, &record);
        exit = exit.max(exit_of_record(&record));
        let state = record.state.as_deref().unwrap_or_default();
        words.push(scene.texts.word(bridge::headless::Family::State, state));
    }
    match summary(scene.texts, words.into_iter()) {
        Some(text) => conclude(scene, Some(text)),
        None => scene.hint("say.nothing-open", &[]),
    }
    let elsewhere = profile.open_elsewhere()?;
    if elsewhere > 0 {
        scene.hint("say.other-endpoint", &[("count", &elsewhere.to_string())]);
    }
    let exit = exit.max(end(scene, &profile, &outcome, &ids)?);
    profile.close().await;
    Ok(exit)
}

pub(super) async fn resubmit(scene: &Scene<'_>, resubmit: Resubmit) -> Result<Exit, Problem> {
    let mut profile = scene.open().await?;
    let file = match resubmit.with {
        Some(file) => profile.correct(resubmit.id, file).await?,
        None => profile.resubmit(resubmit.id).await?,
    };
    let exit = deliver(scene, &mut profile, vec![file], &resubmit.waiting).await;
    profile.close().await;
    exit
}

pub(super) async fn withdraw(scene: &Scene<'_>, terms: WithReason) -> Result<Exit, Problem> {
    let profile = scene.open().await?;
    let record = profile.withdraw(terms.id, terms.reason).await?;
    decided(scene, &record, "say.withdrawn");
    profile.close().await;
    Ok(Exit::Well)
}

/// Releases, and hands over at once: nothing rests unsent where no worker runs.
pub(super) async fn release(scene: &Scene<'_>, terms: WithReason) -> Result<Exit, Problem> {
    let mut profile = scene.open().await?;
    let record = profile.release(terms.id, terms.reason).await?;
    let file = Looked {
        fate: Fate::Taken(terms.id),
        file: record.file.clone(),
        subject: None,
        known: None,
        record,
    };
    let waiting = Waiting { wait: false, timeout: None };
    let exit = deliver(scene, &mut profile, vec![file], &waiting).await;
    profile.close().await;
    exit
}

fn decided(scene: &Scene<'_>, record: &Record, key: &str) {
    if scene.output.json {
        scene.output.object(&with_texts(scene.texts, record));
    } else {
        let id = record.id.unwrap_or_default().to_string();
        scene.line(key, &[("id", &id)]);
    }
}

pub(super) async fn watch(scene: &Scene<'_>, dir: PathBuf) -> Result<Exit, Problem> {
    if !dir.is_dir() {
        let dir = dir.display().to_string();
        scene.output.error(Line::of(scene.texts.text("say.not-a-folder", &[("folder", &dir)])));
        return Ok(Exit::Usage);
    }
    let mut profile = scene.open().await?;
    profile.reach().await?;
    profile.start().await;
    let folder = dir.display().to_string();
    scene.hint("say.watching", &[("folder", &folder)]);
    let stop = stop::on_signal();
    let (arrived, mut news) = tokio::sync::mpsc::unbounded_channel();
    let watching = profile.watch(dir, stop.clone(), move |arrival| {
        // The receiver lives as long as the watching.
        let _ = arrived.send(arrival);
    });
    let shown = async {
        let mut open: Vec<(i64, Option<String>)> = Vec::new();
        loop {
            tokio::select! {
                arrival = news.recv() => match arrival {
                    Some(Arrival::File(file)) => {
                        looked(scene.output, scene.texts, &file);
                        if let Fate::Taken(id) = file.fate {
                            open.push((id, file.record.state));
                        }
                    }
                    // Watching goes on: the folder may come back.
                    Some(Arrival::Away(problem)) => _ = scene.trouble(&problem),
                    Some(Arrival::Back) => scene.hint("say.watching", &[("folder", &folder)]),
                    None => break Ok(()),
                },
                () = tokio::time::sleep(LOOK_EVERY) => show_moved(scene, &profile, &mut open)?,
            }
            if !scene.output.is_read() {
                stop.cancel();
            }
        }
    };
    let (watched, shown): (Result<(), Problem>, Result<(), Problem>) =
        tokio::join!(watching, shown);
    watched.and(shown)?;
    profile.close().await;
    Ok(Exit::Well)
}

/// Pause between two looks at what became of watched reports.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(500);

/// Prints the watched reports that have moved; settled ones are watched no longer.
fn show_moved(
    scene: &Scene<'_>,
    profile: &Headless,
    open: &mut Vec<(i64, Option<String>)>,
) -> Result<(), Problem> {
    let mut still = Vec::with_capacity(open.len());
    for (id, state) in open.drain(..) {
        let mut record = profile.record(id)?;
        // What was found here was said when the file came.
        record.issues.retain(|issue| scene.output.json || issue.source == "authority");
        if record.state != state && record.state.as_deref() != Some("sending") {
            report(scene.output, scene.texts, &record);
        }
        let now = record.state.clone();
        let moves =
            matches!(now.as_deref(), Some("queued" | "sending" | "unknown" | "in-progress"));
        if moves || look_of(now.as_deref().unwrap_or_default()) == Look::Careful {
            still.push((id, now));
        }
    }
    *open = still;
    Ok(())
}
