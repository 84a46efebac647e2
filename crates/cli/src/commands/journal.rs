//! The journal itself: verify, back up, restore.

use bridge::Problem;
use bridge::headless::{Family, Flaw, Headless};

use super::Scene;
use crate::arguments::JournalCommand;
use crate::exit::Exit;
use crate::output::{Line, Look};

pub(super) async fn journal(scene: &Scene<'_>, command: JournalCommand) -> Result<Exit, Problem> {
    match command {
        JournalCommand::Verify => verify(scene).await,
        JournalCommand::Backup { file } => {
            let profile = scene.open().await?;
            let facts = profile.backup(&file)?;
            if scene.output.json {
                scene.output.object(&facts);
            } else {
                let (submissions, bytes) = (facts.submissions.to_string(), facts.bytes.to_string());
                let params =
                    [("file", &*facts.file), ("submissions", &submissions), ("bytes", &bytes)];
                scene.line("say.backed-up", &params);
            }
            profile.close().await;
            Ok(Exit::Well)
        }
        JournalCommand::Restore { file } => {
            let facts = match Headless::restore(&scene.folder(), scene.passphrase()?, &file) {
                // Of the backup, which was looked at first.
                Err(problem) if problem.code == "journal-wrong-key-or-damaged" => {
                    scene.output.error(Line::of(scene.texts.say("say.backup-unusable")));
                    return Ok(Exit::Locked);
                }
                restored => restored?,
            };
            if scene.output.json {
                scene.output.object(&facts);
            } else {
                let (submissions, events) =
                    (facts.submissions.to_string(), facts.events.to_string());
                scene.line("say.restored", &[("submissions", &submissions), ("events", &events)]);
                if let Some(aside) = &facts.set_aside {
                    scene.line("say.set-aside", &[("file", aside)]);
                }
            }
            Ok(Exit::Well)
        }
    }
}

async fn verify(scene: &Scene<'_>) -> Result<Exit, Problem> {
    let profile = scene.open().await?;
    let found = profile.verify()?;
    profile.close().await;
    let sound = found.flaws.is_empty();
    if scene.output.json {
        scene.output.object(&found);
    } else if sound {
        let numbers =
            [found.submissions, found.events, found.digests].map(|number| number.to_string());
        let params =
            [("submissions", &*numbers[0]), ("events", &*numbers[1]), ("digests", &*numbers[2])];
        scene.line("say.sound", &params);
    } else {
        scene.line("say.unsound", &[("count", &found.flaws.len().to_string())]);
        found.flaws.iter().for_each(|flaw| show(scene, flaw));
    }
    Ok(if sound { Exit::Well } else { Exit::Person })
}

fn show(scene: &Scene<'_>, flaw: &Flaw) {
    let place = match (flaw.id, flaw.event) {
        (Some(id), _) => Some(("say.flaw-report", id)),
        (None, Some(id)) => Some(("say.flaw-event", id)),
        (None, None) => None,
    };
    let place = place
        .map(|(key, id)| scene.texts.text(key, &[("id", &id.to_string())]))
        .unwrap_or_default();
    let line = Line::new()
        .add("  ")
        .column(&place, 14, Look::Faint)
        .add(scene.texts.word(Family::Flaw, flaw.code));
    scene.output.line(&line);
}
