//! The journal itself: verify, back up, restore, what happened to it, how long it keeps content.

use std::path::PathBuf;

use bridge::Problem;
use bridge::headless::{Change, Family, Flaw, Headless, SetAsideFacts};

use super::Scene;
use crate::arguments::{JournalCommand, Retention};
use crate::exit::Exit;
use crate::output::{Line, Look};

pub(super) async fn journal(scene: &Scene<'_>, command: JournalCommand) -> Result<Exit, Problem> {
    match command {
        JournalCommand::Verify => verify(scene).await,
        JournalCommand::Backup { file } => backup(scene, file).await,
        JournalCommand::BackupPlace { place } => backup_place(scene, place).await,
        JournalCommand::ListBackups => list_backups(scene),
        JournalCommand::ListSetAside => list_set_aside(scene),
        JournalCommand::RemoveSetAside { file, .. } => remove_set_aside(scene, file),
        JournalCommand::RotateKey => rotate_key(scene),
        JournalCommand::Notices { read } => notices(scene, read).await,
        JournalCommand::Retention { days } => retention(scene, days).await,
        JournalCommand::Attention { days } => attention(scene, days).await,
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
                let [doubted, salvaged, lost] =
                    [facts.doubted, facts.salvaged, facts.lost].map(|count| count.to_string());
                let params = [("doubted", &*doubted), ("salvaged", &*salvaged), ("lost", &*lost)];
                scene.line("say.restored-in-doubt", &params);
            }
            Ok(Exit::Well)
        }
    }
}

async fn backup(scene: &Scene<'_>, file: Option<PathBuf>) -> Result<Exit, Problem> {
    let profile = scene.open().await?;
    let made = match file {
        Some(file) => profile.backup(&file),
        None => profile.backup_now(),
    };
    profile.close().await;
    let facts = made?;
    if scene.output.json {
        scene.output.object(&facts);
    } else {
        let (submissions, bytes) = (facts.submissions.to_string(), facts.bytes.to_string());
        let params = [("file", &*facts.file), ("submissions", &submissions), ("bytes", &bytes)];
        scene.line("say.backed-up", &params);
    }
    Ok(Exit::Well)
}

async fn backup_place(scene: &Scene<'_>, place: Option<PathBuf>) -> Result<Exit, Problem> {
    let profile = scene.open().await?;
    let place = place.map(|place| Some(place).filter(|place| place.as_os_str() != "off"));
    let copied = match place {
        None => Ok(0),
        Some(place) => profile.set_backup_place(place.as_deref()).await,
    };
    let kept = profile.backup_place();
    profile.close().await;
    let copied = copied?;
    if scene.output.json {
        scene.output.object(&serde_json::json!({ "place": kept, "copied": copied }));
        return Ok(Exit::Well);
    }
    match kept {
        None => scene.line("say.backup-place-none", &[]),
        Some(place) => scene.line("say.backup-place", &[("place", &place)]),
    }
    if copied > 0 {
        scene.line("say.backups-copied", &[("count", &copied.to_string())]);
    }
    Ok(Exit::Well)
}

fn rotate_key(scene: &Scene<'_>) -> Result<Exit, Problem> {
    let facts = Headless::rotate_key(&scene.folder(), scene.passphrase()?)?;
    if scene.output.json {
        scene.output.object(&facts);
        return Ok(Exit::Well);
    }
    scene.line("say.key-rotated", &[("files", &facts.files.to_string())]);
    for file in &facts.left {
        scene.line("say.key-left", &[("file", file)]);
    }
    Ok(Exit::Well)
}

fn list_backups(scene: &Scene<'_>) -> Result<Exit, Problem> {
    let all = Headless::backups(&scene.folder())?;
    if scene.output.json {
        all.iter().for_each(|backup| scene.output.object(backup));
        return Ok(Exit::Well);
    }
    if all.is_empty() {
        scene.hint("say.no-backups", &[]);
    }
    for backup in &all {
        let (events, bytes) = (backup.events.to_string(), backup.bytes.to_string());
        let params = [("file", &*backup.file), ("events", &events), ("bytes", &bytes)];
        let line = Line::new()
            .look(super::view::to_the_second(&backup.at), Look::Faint)
            .add("  ")
            .add(scene.texts.text("say.backup-line", &params));
        scene.output.line(&line);
    }
    Ok(Exit::Well)
}

fn list_set_aside(scene: &Scene<'_>) -> Result<Exit, Problem> {
    let all = Headless::set_aside(&scene.folder())?;
    if scene.output.json {
        all.iter().for_each(|one| scene.output.object(one));
        return Ok(Exit::Well);
    }
    for one in &all {
        let params = [("file", &*one.file), ("bytes", &*one.bytes.to_string())];
        let line = Line::new()
            .look(super::view::to_the_second(&one.at), Look::Faint)
            .add("  ")
            .add(scene.texts.text("say.set-aside-line", &params));
        scene.output.line(&line);
    }
    say_set_aside(scene, &all);
    Ok(Exit::Well)
}

fn remove_set_aside(scene: &Scene<'_>, file: Option<PathBuf>) -> Result<Exit, Problem> {
    let folder = scene.folder();
    let files = match file {
        Some(file) => vec![file],
        None => Headless::set_aside(&folder)?.into_iter().map(|one| one.file.into()).collect(),
    };
    for file in &files {
        Headless::remove_set_aside(&folder, file)?;
        let file = file.display().to_string();
        scene.note(&Change::new("set-aside-removed", &[("name", Change::package(&file))]))?;
        if scene.output.json {
            scene.output.object(&serde_json::json!({ "removed": file }));
        } else {
            scene.line("say.set-aside-removed", &[("file", &file)]);
        }
    }
    if files.is_empty() && !scene.output.json {
        say_set_aside(scene, &[]);
    }
    Ok(Exit::Well)
}

/// How many there are, and what they take.
fn say_set_aside(scene: &Scene<'_>, all: &[SetAsideFacts]) {
    if all.is_empty() {
        return scene.hint("say.none-set-aside", &[]);
    }
    let bytes = all.iter().map(|one| one.bytes).sum::<u64>().to_string();
    let params = [("count", &*all.len().to_string()), ("bytes", &*bytes)];
    scene.hint("say.set-aside-count", &params);
}

/// What is to be read needs a person: exit code 1 until it was read.
async fn notices(scene: &Scene<'_>, read: bool) -> Result<Exit, Problem> {
    let profile = Headless::open(&scene.folder(), scene.passphrase()?).await?;
    let (all, lost) = (profile.notices()?, profile.lost_reports()?);
    if read {
        profile.acknowledge_notices(&all)?;
    }
    profile.close().await;
    let named = scene.output.names.results;
    if scene.output.json {
        for mut notice in all.iter().cloned() {
            notice.problem = scene.as_shown(&notice.problem, named);
            scene.output.object(&notice);
        }
        for mut lost in lost {
            lost.file = scene.output.name(&lost.file, None);
            scene.output.object(&lost);
        }
    } else {
        if all.is_empty() {
            scene.hint("say.no-notices", &[]);
        }
        for notice in &all {
            let line = Line::new()
                .look(super::view::to_the_second(&notice.at), Look::Faint)
                .add("  ")
                .add(scene.texts.problem(&scene.as_shown(&notice.problem, named)));
            scene.output.line(&line);
        }
        for lost in &lost {
            let file = if named { lost.file.clone() } else { scene.texts.say("say.some-file") };
            let params = [("file", &*file), ("identifier", &*lost.identifier)];
            scene.line("say.lost-report", &params);
        }
    }
    Ok(if all.is_empty() || read { Exit::Well } else { Exit::Person })
}

async fn attention(scene: &Scene<'_>, days: Option<u16>) -> Result<Exit, Problem> {
    let profile = scene.open().await?;
    let outcome = match days {
        None => Ok(()),
        Some(days) => profile.set_attention_days(Some(days)).await,
    };
    let kept = profile.attention_days();
    profile.close().await;
    outcome?;
    if scene.output.json {
        scene.output.object(&serde_json::json!({ "days": kept }));
    } else {
        scene.line("say.attention", &[("days", &kept.to_string())]);
    }
    Ok(Exit::Well)
}

async fn retention(scene: &Scene<'_>, days: Option<Retention>) -> Result<Exit, Problem> {
    let profile = scene.open().await?;
    let outcome = match days {
        None => Ok(0),
        Some(Retention::Off) => profile.set_retention_days(None).await,
        Some(Retention::Days(days)) => profile.set_retention_days(Some(days)).await,
    };
    let kept = profile.retention_days();
    profile.close().await;
    let erased = outcome?;
    if scene.output.json {
        scene.output.object(&serde_json::json!({ "days": kept, "erased": erased }));
    } else {
        match kept {
            None => scene.line("say.retention-off", &[]),
            Some(days) => scene.line("say.retention", &[("days", &days.to_string())]),
        }
        if erased > 0 {
            scene.line("say.erased", &[("count", &erased.to_string())]);
        }
        // What retention has removed here stays readable there.
        let aside = Headless::set_aside(&scene.folder())?;
        if kept.is_some() && !aside.is_empty() {
            say_set_aside(scene, &aside);
        }
    }
    Ok(Exit::Well)
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
