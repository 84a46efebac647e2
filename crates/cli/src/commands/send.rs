//! Checking, sending, and what people decide about single reports.

use bridge::headless::{EndpointProblem, Fate, Headless, Looked, Outcome, Record};
use bridge::{Action, Problem, StateCode};

use super::Scene;
use super::deliver::{Delivery, attend, deliver};
use super::view::needs_a_person;
use crate::arguments::{Paths, Resubmit, Send, Settle, Verified, Waiting, WithReason};
use crate::exit::Exit;
use crate::output::{Line, Look};
use crate::report_lines::{Asked, looked, summary, with_texts, word_of};
use crate::stop;

/// Hints about single reports; more of them help nobody.
const HINTS_MAX: usize = 3;

pub(super) async fn check(scene: &Scene<'_>, paths: Paths) -> Result<Exit, Problem> {
    let profile = scene.open().await?;
    let files = profile.check(&paths.paths).await?;
    let mut exit = Exit::Well;
    for (number, file) in (1..).zip(&files) {
        looked(scene.output, scene.texts, number, file, Asked::Check);
        if matches!(file.fate, Fate::Refused | Fate::WouldBeHeld) {
            exit = Exit::Person;
        }
    }
    let words = files.iter().map(word_of);
    conclude(scene, summary(scene.texts, words));
    profile.close().await;
    Ok(exit)
}

/// Ctrl+C ends the taking in after some files more; the same call goes on with the others.
pub(super) async fn send(scene: &Scene<'_>, send: Send) -> Result<Exit, Problem> {
    let mut profile = scene.open().await?;
    if scene.refuses_unnamed(&profile, profile.may_take_unnamed(&send.paths.paths)) {
        return Ok(Exit::Usage);
    }
    let mut arriving = profile.arriving(&send.paths.paths, send.again).await?;
    let stop = stop::on_signal();
    let mut delivery = Delivery::new(scene, &send.waiting);
    // Nobody is called on before there is something to send; a few files are all there by then.
    while (!delivery.has_any() || arriving.left() == 0) && !stop.is_cancelled() {
        let Some(part) = profile.take_some(&mut arriving).await? else { break };
        delivery.arrive(part);
        delivery.tell(&profile, false);
    }
    let outcome = match delivery.has_any() {
        true => attend(&mut profile, &mut delivery, Some(&mut arriving), &stop).await,
        false if stop.is_cancelled() => Ok(Outcome::Stopped),
        false => Ok(Outcome::Reached),
    };
    // Said last: what was taken in is listed, and need not be handed over again.
    let problem = delivery.problem().cloned();
    let exit = delivery.conclude(&profile, outcome, &send.verified);
    if arriving.left() > 0 {
        scene.hint("say.stopped-left", &[("count", &arriving.left().to_string())]);
    }
    profile.close().await;
    let worse = problem.map_or(Exit::Well, |problem| scene.trouble(&problem));
    exit.map(|exit| exit.max(worse))
}

/// What is wrong at endpoints that these reports do not wait for is worth knowing, and not the
/// outcome.
pub(super) fn note_others(scene: &Scene<'_>, profile: &Headless, outcome: &Outcome) {
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
    let states = match outcome {
        Outcome::Reached | Outcome::Stopped => Vec::new(),
        _ => profile.states(ids)?,
    };
    let count =
        |wanted: &dyn Fn(StateCode) -> bool| states.iter().filter(|state| wanted(**state)).count();
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
pub(super) fn decide_hints(
    scene: &Scene<'_>,
    profile: &Headless,
    needing: &[i64],
) -> Result<(), Problem> {
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
        scene.output.object(&with_texts(scene.output, scene.texts, record));
    } else {
        let id = record.id.unwrap_or_default().to_string();
        scene.line(key, &[("id", &id)]);
    }
}
