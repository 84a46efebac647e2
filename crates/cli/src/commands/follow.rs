//! Following what is open until it has its final status.

use bridge::Problem;
use bridge::headless::Outcome;

use super::Scene;
use super::send::{conclude, end, exit_of_record};
use crate::arguments::Follow;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::report_lines::{report, state_word, summary};
use crate::stop;

pub(super) async fn follow(scene: &Scene<'_>, follow: Follow) -> Result<Exit, Problem> {
    let mut profile = scene.open().await?;
    let open: Vec<i64> = profile.open_reports()?.into_iter().map(|(id, _)| id).collect();
    // That nothing is open in practice says nothing of the laboratory.
    let is_its_own = !open.is_empty() && profile.may_send_unnamed(&open)?;
    if profile.as_practice().is_some() && scene.refuses_unnamed(&profile, is_its_own) {
        return Ok(Exit::Usage);
    }
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
        words.push(state_word(&record));
    }
    match summary(scene.texts, words.into_iter()) {
        Some(text) => conclude(scene, Some(text)),
        None => exit = exit.max(nothing_open(scene, profile.on_hold()?)),
    }
    let ended = match &outcome {
        // Another program works the queue: all is as it should be, and a scheduler has nothing to
        // report.
        Outcome::Elsewhere => {
            scene.hint("say.elsewhere", &[]);
            Exit::Well
        }
        outcome => end(scene, &profile, outcome, &ids)?,
    };
    let exit = exit.max(ended);
    profile.close().await;
    Ok(exit)
}

/// Nothing moves by itself; what is on hold has no final status all the same.
fn nothing_open(scene: &Scene<'_>, on_hold: u64) -> Exit {
    if on_hold == 0 {
        scene.hint("say.nothing-open", &[]);
        return Exit::Well;
    }
    scene.hint("say.nothing-moves", &[("count", &on_hold.to_string())]);
    Exit::Person
}
