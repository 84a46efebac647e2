//! The lesson: send, see one fail, correct it, see it completed.

use std::path::PathBuf;

use bridge::headless::{Fate, Headless, Intake, Looked};
use bridge::{Problem, StateCode};

use super::{Scene, deliver, unreadable};
use crate::arguments::{Verified, Waiting};
use crate::exit::Exit;
use crate::output::{Line, Look};
use crate::terms::Duration;

/// Longest time for the samples to be processed: the practice authority takes about two seconds.
const PATIENCE: Duration = Duration::from_secs(120);

pub(super) async fn practice(scene: &Scene<'_>) -> Result<Exit, Problem> {
    let (folder, passing) = match &scene.global.profile {
        Some(folder) => (folder.clone(), false),
        None => (passing_folder()?, true),
    };
    let done = lesson(scene, &folder).await;
    if passing {
        // Made-up reports in the system's folder for such things: what stays is swept away with it.
        let _ = std::fs::remove_dir_all(&folder);
    }
    done
}

/// A folder of our own that nobody else can have prepared.
fn passing_folder() -> Result<PathBuf, Problem> {
    let base = std::env::temp_dir();
    for number in 0..1_000 {
        let folder = base.join(format!("labcourier-practice-{}-{number}", std::process::id()));
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(unreadable(&folder, &error)),
        }
    }
    Err(unreadable(&base, &std::io::ErrorKind::AlreadyExists.into()))
}

async fn lesson(scene: &Scene<'_>, folder: &std::path::Path) -> Result<Exit, Problem> {
    scene.hint("say.practice-intro", &[]);
    let mut profile = Headless::practice(folder).await?;
    // What the authority answers is read on this screen.
    let taught = match speak(scene, &profile).await {
        Ok(()) => teach(scene, &mut profile).await,
        Err(problem) => Err(problem),
    };
    profile.close().await;
    taught
}

/// The practice authority answers in the language of the texts, also later.
pub(super) async fn speak(scene: &Scene<'_>, profile: &Headless) -> Result<(), Problem> {
    match profile.as_practice() {
        Some(practice) => practice.speak(scene.texts.language().code()).await,
        None => Ok(()),
    }
}

async fn teach(scene: &Scene<'_>, profile: &mut Headless) -> Result<Exit, Problem> {
    let Some((samples, (failing, correction))) =
        profile.as_practice().map(|practice| (practice.samples(), practice.lesson()))
    else {
        return Err(Problem::new("not-practice", &[], "practice"));
    };
    let waiting = Waiting { wait: true, timeout: Some(PATIENCE) };
    let Intake { files, problem } = profile.take(&[samples], false).await?;
    if let Some(problem) = problem {
        return Err(problem);
    }
    if files.iter().all(|file| matches!(file.fate, Fate::Known(_))) {
        scene.hint("say.practice-known", &[]);
    } else {
        scene.hint("say.practice-sending", &[("count", &files.len().to_string())]);
    }
    scene.output.hint(&Line::new());
    let failed = files.iter().find(|file| file.file == failing).and_then(id_of);
    let ids: Vec<i64> = files.iter().filter_map(id_of).collect();
    let first = deliver::deliver(scene, profile, files, &waiting, &Verified::default()).await?;
    let others_well = ids.iter().filter(|id| Some(**id) != failed).all(|id| {
        profile.record(*id).is_ok_and(|record| record.state == Some(StateCode::Completed))
    });
    let Some(id) = failed else { return Ok(odd(scene)) };
    let state = profile.record(id)?.state;
    if first > Exit::Person || !others_well {
        return Ok(odd(scene).max(first));
    }
    match state {
        Some(StateCode::Failed) => {}
        // Corrected in an earlier lesson.
        Some(StateCode::Superseded) => return Ok(Exit::Well),
        _ => return Ok(odd(scene)),
    }
    scene.output.hint(&Line::new());
    // As it can be typed: a practice profile finds its own files from wherever the person stands.
    let file =
        correction.strip_prefix(profile.folder()).unwrap_or(&correction).display().to_string();
    let params = [("id", &*id.to_string()), ("file", &file)];
    let text = scene.texts.text("say.practice-correcting", &params);
    scene.output.hint(&Line::new().look(text, Look::Bold));
    scene.output.hint(&Line::new());
    let corrected = profile.correct(id, correction, None).await?;
    let second =
        deliver::deliver(scene, profile, vec![corrected], &waiting, &Verified::default()).await?;
    if second != Exit::Well {
        return Ok(odd(scene).max(second));
    }
    scene.hint("say.practice-done", &[]);
    Ok(Exit::Well)
}

fn id_of(file: &Looked) -> Option<i64> {
    match file.fate {
        Fate::Taken(id) | Fate::Known(id) => Some(id),
        _ => None,
    }
}

fn odd(scene: &Scene<'_>) -> Exit {
    scene.hint("say.practice-odd", &[]);
    Exit::Person
}
