//! Checking, sending, and what people decide about single reports.

use std::collections::HashSet;

use bridge::headless::{EndpointProblem, Fate, Goal, Headless, Intake, Looked, Outcome, Record};
use bridge::{Action, Environment, Problem, StateCode};

use super::Scene;
use super::view::needs_a_person;
use crate::arguments::{Paths, Resubmit, Send, Settle, Verified, Waiting, WithReason};
use crate::exit::Exit;
use crate::output::{Line, Look};
use crate::progress::Progress;
use crate::report_lines::{Asked, looked, summary, with_texts, word_of};
use crate::stop;

/// Hints about single reports; more of them help nobody.
const HINTS_MAX: usize = 3;

pub(super) async fn check(scene: &Scene<'_>, paths: Paths) -> Result<Exit, Problem> {
    let profile = scene.open().await?;
    let files = profile.check(&paths.paths).await?;
    let mut exit = Exit::Well;
    for file in &files {
        looked(scene.output, scene.texts, file, Asked::Check);
        if matches!(file.fate, Fate::Refused | Fate::WouldBeHeld) {
            exit = Exit::Person;
        }
    }
    let words = files.iter().map(word_of);
    conclude(scene, summary(scene.texts, words));
    profile.close().await;
    Ok(exit)
}

pub(super) async fn send(scene: &Scene<'_>, send: Send) -> Result<Exit, Problem> {
    let mut profile = scene.open().await?;
    if scene.refuses_unnamed(&profile, profile.may_take_unnamed(&send.paths.paths)) {
        return Ok(Exit::Usage);
    }
    let Intake { files, problem } = profile.take(&send.paths.paths, send.again).await?;
    let exit = deliver(scene, &mut profile, files, &send.waiting, &send.verified).await;
    profile.close().await;
    // Said last: what was taken in is listed, and need not be handed over again.
    let worse = problem.map_or(Exit::Well, |problem| scene.trouble(&problem));
    exit.map(|exit| exit.max(worse))
}

/// Hands over what was taken in, waits as asked, and prints what became of each file.
pub(super) async fn deliver(
    scene: &Scene<'_>,
    profile: &mut Headless,
    files: Vec<Looked>,
    waiting: &Waiting,
    verified: &Verified,
) -> Result<Exit, Problem> {
    let goal = if waiting.wait { Goal::Settled } else { Goal::Sent };
    let attended: Vec<i64> = files.iter().filter_map(attended).collect();
    let outcome = if attended.is_empty() {
        Ok(Outcome::Reached)
    } else {
        attend(scene, profile, &attended, goal, waiting).await
    };
    let mut exit = Exit::Well;
    let mut records = Vec::with_capacity(files.len());
    let mut is_all_verified = true;
    for file in files {
        let file = profile.now(file)?;
        looked(scene.output, scene.texts, &file, Asked::Send);
        let became = became(profile, &file)?;
        exit = exit.max(exit_of_file(&file, became.as_ref()));
        is_all_verified &= became.as_ref().is_some_and(is_verified);
        records.push(file);
    }
    conclude(scene, summary(scene.texts, records.iter().map(word_of)));
    decide_hints(scene, profile, records.iter().map(|file| &file.record))?;
    let under_way =
        |file: &Looked| matches!(file.fate, Fate::Taken(_)) && is_under_way(&file.record);
    match records.iter().filter(|file| under_way(file)).count() {
        0 => {}
        1 => scene.hint("say.follow-shows", &[]),
        _ => scene.hint("say.follow-shows-many", &[]),
    }
    if verified.require_verified && !is_all_verified {
        exit = exit.max(Exit::Unverified);
    }
    let ids: HashSet<i64> = attended.iter().copied().collect();
    let ours = records.iter().filter(|file| file.record.id.is_some_and(|id| ids.contains(&id)));
    say_environment(scene, ours.map(|file| &file.record).filter(|record| record.attempts > 0));
    let outcome = outcome?;
    let ended = match end(scene, profile, &outcome, &attended)? {
        // Time over or stopped: nothing of it needs a person, and what was asked for is not known.
        Exit::Person if verified.require_verified => Exit::Unverified,
        ended => ended,
    };
    note_others(scene, profile, &outcome);
    Ok(exit.max(ended))
}

/// Completed by an authority. The practice authority is none: nothing that it says reaches anybody.
fn is_verified(record: &Record) -> bool {
    let practice = record.environment == Some(Environment::Practice);
    record.state == Some(StateCode::Completed) && !practice
}

/// What is wrong at endpoints that these reports do not wait for is worth knowing, and not the
/// outcome.
fn note_others(scene: &Scene<'_>, profile: &Headless, outcome: &Outcome) {
    let told: &[EndpointProblem] = match outcome {
        Outcome::Unreachable(problems) => problems,
        _ => &[],
    };
    for other in profile.unreachable() {
        if told.iter().all(|told| told.endpoint != other.endpoint) {
            let text = scene.texts.problem(&other.problem);
            let params = [("endpoint", &*other.endpoint), ("text", &*text)];
            scene.hint("say.other-endpoint", &params);
        }
    }
}

/// Nobody must take practice for the real thing, nor the real thing for a test: it is said only
/// where all that was sent went there, whichever endpoint is in use.
fn say_environment<'r>(scene: &Scene<'_>, sent: impl Iterator<Item = &'r Record>) {
    let environments: Vec<_> = sent.map(|record| record.environment).collect();
    let is_there = |environment| environments.iter().all(|it| *it == Some(environment));
    let only = |environment| !environments.is_empty() && is_there(environment);
    if only(Environment::Practice) {
        scene.hint("say.to-practice", &[]);
    } else if only(Environment::Integration) {
        scene.hint("say.to-integration", &[]);
    }
}

/// What is waited for: what was just taken in, and known content that is still on its way.
fn attended(file: &Looked) -> Option<i64> {
    match (file.fate, &file.standing) {
        (Fate::Taken(id), _) => Some(id),
        (Fate::Known(id), Some(known)) if known.open => Some(id),
        _ => None,
    }
}

/// Handed over, and its end not known yet.
fn is_under_way(record: &Record) -> bool {
    matches!(record.state, Some(StateCode::Unknown | StateCode::InProgress))
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

/// What became of a file's report; of one that was replaced, what became of the last that took its
/// place.
fn became(profile: &Headless, file: &Looked) -> Result<Option<Record>, Problem> {
    let id = file.record.id.filter(|_| matches!(file.fate, Fate::Known(_) | Fate::Taken(_)));
    id.map(|id| profile.latest(id)).transpose()
}

fn exit_of_file(file: &Looked, became: Option<&Record>) -> Exit {
    match (file.fate, became) {
        (Fate::Refused | Fate::WouldBeHeld | Fate::Failed, _) => Exit::Person,
        // Whoever hands over a report wants to know what became of it, also the second time. One
        // that somebody withdrew reaches nobody, whatever the script around this command believes.
        (_, Some(record)) if record.state == Some(StateCode::Withdrawn) => Exit::Person,
        (_, Some(record)) => exit_of_record(record),
        (_, None) => Exit::Well,
    }
}

pub(super) fn exit_of_record(record: &Record) -> Exit {
    if needs_a_person(record) || record.is_open_too_long() { Exit::Person } else { Exit::Well }
}

/// How attending ended, in words and as an exit code.
pub(super) fn end(
    scene: &Scene<'_>,
    profile: &Headless,
    outcome: &Outcome,
    ids: &[i64],
) -> Result<Exit, Problem> {
    let states = ids.iter().map(|id| Ok(profile.record(*id)?.state));
    let states: Vec<Option<StateCode>> = states.collect::<Result<_, Problem>>()?;
    let count = |wanted: &dyn Fn(StateCode) -> bool| {
        states.iter().flatten().filter(|state| wanted(**state)).count()
    };
    let waiting = count(&|state| state == StateCode::Queued);
    let handed_over = count(&StateCode::is_open) - waiting;
    match outcome {
        Outcome::Reached => Ok(Exit::Well),
        Outcome::Elsewhere if waiting + count(&|state| state == StateCode::Sending) > 0 => {
            scene.output.error(Line::of(scene.texts.say("say.elsewhere")));
            Ok(Exit::Authority)
        }
        Outcome::Elsewhere => {
            scene.hint("say.elsewhere", &[]);
            Ok(Exit::Well)
        }
        Outcome::Unreachable(problems) => {
            problems.iter().for_each(|it| _ = scene.trouble_at(&it.endpoint, &it.problem));
            say_safe(scene, waiting, handed_over);
            Ok(Exit::Authority)
        }
        Outcome::TimedOut => {
            let count = (waiting + handed_over).to_string();
            scene.error("say.timed-out", &[("count", &count)]);
            say_safe(scene, waiting, handed_over);
            Ok(Exit::Person)
        }
        Outcome::Paused => {
            scene.error("say.paused", &[]);
            if handed_over > 0 {
                say_safe(scene, 0, handed_over);
            }
            Ok(Exit::Authority)
        }
        Outcome::Stopped => {
            scene.hint("say.stopped", &[]);
            Ok(Exit::Person)
        }
    }
}

/// What waits is sent; what was handed over is never sent once more for that, but asked for.
fn say_safe(scene: &Scene<'_>, waiting: usize, handed_over: usize) {
    if waiting + handed_over == 0 {
        return scene.hint("say.safe-all", &[]);
    }
    for (key, count) in [("say.safe-waiting", waiting), ("say.safe-handed-over", handed_over)] {
        if count > 0 {
            scene.hint(key, &[("count", &count.to_string())]);
        }
    }
}

/// The last line for people.
pub(super) fn conclude(scene: &Scene<'_>, summary: Option<String>) {
    match summary {
        Some(text) => {
            scene.output.hint(&Line::new());
            scene.output.hint(&Line::new().look(text, Look::Bold));
        }
        None => scene.hint("say.nothing-to-send", &[]),
    }
}

/// What a person may do about reports that need one. Withdrawing is proposed where a report is
/// looked at, not here.
fn decide_hints<'r>(
    scene: &Scene<'_>,
    profile: &Headless,
    records: impl Iterator<Item = &'r Record>,
) -> Result<(), Problem> {
    let needing: Vec<i64> = records
        .filter(|record| exit_of_record(record) != Exit::Well)
        .filter_map(|record| record.id)
        .collect();
    let mut proposed = Vec::with_capacity(HINTS_MAX);
    for id in needing.iter().take(HINTS_MAX) {
        let mut actions = profile.actions(*id)?;
        actions.retain(|action| !matches!(action, Action::Withdraw | Action::HoldBack));
        proposed.push((*id, actions));
    }
    propose(scene, proposed.iter().map(|(id, actions)| (*id, actions.as_slice())));
    if needing.len() > HINTS_MAX {
        let more = (needing.len() - HINTS_MAX).to_string();
        scene.hint("say.more-hint", &[("count", &more)]);
    }
    Ok(())
}

/// One line for each action: what to type, and what it does.
pub(super) fn propose<'a>(scene: &Scene<'_>, reports: impl Iterator<Item = (i64, &'a [Action])>) {
    let mut lines = Vec::new();
    for (id, actions) in reports {
        let id = id.to_string();
        for action in actions.iter().map(|action| action.code()) {
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

pub(super) async fn resubmit(scene: &Scene<'_>, resubmit: Resubmit) -> Result<Exit, Problem> {
    let mut profile = scene.open().await?;
    let is_its_own = match &resubmit.with {
        Some(file) => profile.may_take_unnamed(std::slice::from_ref(file)),
        None => profile.may_send_unnamed(&[resubmit.id])?,
    };
    if scene.refuses_unnamed(&profile, is_its_own) {
        return Ok(Exit::Usage);
    }
    let seen = resubmit.digest.as_deref();
    let file = match resubmit.with {
        Some(file) if resubmit.other_report => profile.replace(resubmit.id, file, seen).await?,
        Some(file) => profile.correct(resubmit.id, file, seen).await?,
        None => profile.resubmit(resubmit.id).await?,
    };
    let (waiting, verified) = (&resubmit.waiting, &resubmit.verified);
    let exit = deliver(scene, &mut profile, vec![file], waiting, verified).await;
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

pub(super) async fn hold(scene: &Scene<'_>, id: i64) -> Result<Exit, Problem> {
    let profile = scene.open().await?;
    let record = profile.hold_back(id).await?;
    decided(scene, &record, "say.held-back");
    profile.close().await;
    Ok(Exit::Well)
}

/// Pauses or resumes sending, for every program.
pub(super) async fn pause(scene: &Scene<'_>, paused: bool) -> Result<Exit, Problem> {
    let profile = scene.open_untold().await?;
    profile.set_paused(paused)?;
    // Only now: that sending is paused and nobody knows why is answered by this very command.
    scene.tell(&profile)?;
    scene.line(if paused { "say.paused" } else { "say.resumed" }, &[]);
    profile.close().await;
    Ok(Exit::Well)
}

pub(super) async fn settle(scene: &Scene<'_>, settle: Settle) -> Result<Exit, Problem> {
    let profile = scene.open().await?;
    let WithReason { id, reason } = settle.whose;
    let (record, said) = if settle.received {
        let record = profile.say_received(id, reason).await?;
        let open = record.state == Some(StateCode::InProgress);
        (record, if open { "say.still-expected" } else { "say.said-received" })
    } else {
        (profile.say_not_received(id, reason).await?, "say.said-not-received")
    };
    decided(scene, &record, said);
    profile.close().await;
    Ok(Exit::Well)
}

/// Releases, and hands over at once: nothing rests unsent where no worker runs.
pub(super) async fn release(scene: &Scene<'_>, terms: WithReason) -> Result<Exit, Problem> {
    let mut profile = scene.open().await?;
    if scene.refuses_unnamed(&profile, profile.may_send_unnamed(&[terms.id])?) {
        return Ok(Exit::Usage);
    }
    let record = profile.release(terms.id, terms.reason).await?;
    let file = Looked {
        fate: Fate::Taken(terms.id),
        file: record.file.clone(),
        subject: None,
        standing: None,
        record,
    };
    let waiting = Waiting { wait: false, timeout: None };
    let exit = deliver(scene, &mut profile, vec![file], &waiting, &Verified::default()).await;
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
