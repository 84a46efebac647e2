//! The authority's rules: packages in and out, and resources against them.

use std::collections::BTreeMap;
use std::path::Path;

use bridge::headless::{
    Change, PackageFlaw, RulesChange, RulesEntry, RulesMode, RulesTerms, Validated,
    choose_validator, forget_validator, import_rules, is_rules_in_use, list_rules, remove_rules,
    rules_in_use, use_rules, validate_files, validator,
};
use bridge::{Problem, Severity};
use serde::Serialize;

use super::Scene;
use crate::arguments::{RulesCommand, Validate, ValidateMode, ValidatorChoice};
use crate::exit::Exit;
use crate::output::{Line, Look};
use crate::progress::Progress;
use crate::report_lines::messages;

pub(super) async fn rules(scene: &Scene<'_>, command: RulesCommand) -> Result<Exit, Problem> {
    let folder = scene.folder();
    match command {
        RulesCommand::Validate(asked) => return validate(scene, &folder, asked),
        RulesCommand::Validator(choice) => return choice_of_validator(scene, &folder, &choice),
        RulesCommand::Import { files } => {
            let progress = Progress::new(scene.output, files.len());
            for (done, file) in files.iter().enumerate() {
                let entry = import_rules(&folder, file)?;
                let file = file.display().to_string();
                scene
                    .note(&Change::new("rules-imported", &[("package", Change::package(&file))]))?;
                progress.reached(done + 1, files.len());
                show_entry(scene, &entry);
            }
            drop(progress);
            tell_missing(scene, &folder)?;
            tell_outdated(scene, &list_rules(&folder)?);
        }
        RulesCommand::List => {
            let entries = list_rules(&folder)?;
            entries.iter().for_each(|entry| show_entry(scene, entry));
            tell_outdated(scene, &entries);
        }
        RulesCommand::Remove { package } => {
            let was_used = is_rules_in_use(&folder, &package)?;
            remove_rules(&folder, &package)?;
            scene.line("say.rules-removed", &[("name", &package)]);
            if was_used {
                scene.line("say.rules-off", &[]);
            }
        }
        RulesCommand::Use { package, confirm } => {
            return put_to_use(scene, &folder, &package, confirm).await;
        }
        RulesCommand::Show => {
            let used = rules_in_use(&folder)?;
            used.iter().for_each(|entry| show_entry(scene, entry));
            tell_outdated(scene, used.as_slice());
            if used.is_empty() {
                scene.line("say.no-rules-in-use", &[]);
            }
        }
    }
    Ok(Exit::Well)
}

/// A package in use, or what it would change.
#[derive(Serialize)]
struct PutToUse<'a> {
    #[serde(flatten)]
    entry: Option<&'a RulesEntry>,
    /// What it changes over the last reports; nothing where none could be looked at.
    change: Option<&'a RulesChange>,
}

/// Shows what it changes, then uses it.
async fn put_to_use(
    scene: &Scene<'_>,
    folder: &Path,
    package: &str,
    confirm: bool,
) -> Result<Exit, Problem> {
    let change = change_of(scene, folder, package).await?;
    let refuses = change.as_ref().is_some_and(|change| change.refused > 0);
    if !scene.output.json {
        change.iter().for_each(|change| show_change(scene, change));
    }
    let entry = if refuses && !confirm { None } else { Some(use_rules(folder, package)?) };
    if scene.output.json {
        scene.output.object(&PutToUse { entry: entry.as_ref(), change: change.as_ref() });
    } else {
        entry.iter().for_each(|entry| show_entry(scene, entry));
    }
    if entry.is_none() {
        scene.hint("say.rules-confirm", &[("name", package)]);
        return Ok(Exit::Person);
    }
    tell_missing(scene, folder)?;
    Ok(Exit::Well)
}

/// What it would change over the last reports; nothing where there is no journal, or none that can
/// be read here: rules are chosen without a certificate, a passphrase or an authority.
async fn change_of(
    scene: &Scene<'_>,
    folder: &Path,
    package: &str,
) -> Result<Option<RulesChange>, Problem> {
    if !folder.join("profile.json").exists() {
        return Ok(None);
    }
    let profile = match scene.open_untold().await {
        Ok(profile) => profile,
        Err(problem) => {
            let reason = scene.texts.problem(&scene.concealed(&problem));
            scene.hint("say.rules-not-tried", &[("reason", &reason)]);
            return Ok(None);
        }
    };
    let mut change = profile.change_of_rules(package);
    profile.close().await;
    for reason in change.iter_mut().flat_map(|change| &mut change.reasons) {
        reason.issue.text = Some(scene.texts.message(&reason.issue));
    }
    change.map(Some)
}

fn show_change(scene: &Scene<'_>, change: &RulesChange) {
    if change.looked == 0 {
        return;
    }
    let count = |number: u32| number.to_string();
    let params = [
        ("looked", &*count(change.looked)),
        ("refused", &*count(change.refused)),
        ("accepted", &*count(change.accepted)),
        ("still", &*count(change.still)),
    ];
    scene.line("say.rules-tried", &params);
    for reason in &change.reasons {
        scene.line("say.rules-reason", &[("count", &count(reason.reports))]);
        messages(scene.output, scene.texts, std::slice::from_ref(&reason.issue));
    }
    if !change.reports.is_empty() {
        let numbers: Vec<String> = change.reports.iter().map(ToString::to_string).collect();
        scene.line("say.rules-reports", &[("numbers", &numbers.join(", "))]);
    }
}

fn validate(scene: &Scene<'_>, folder: &Path, asked: Validate) -> Result<Exit, Problem> {
    let mode = match asked.mode {
        ValidateMode::Authority => RulesMode::Authority,
        ValidateMode::Strict => RulesMode::Strict,
    };
    let terms = RulesTerms { profiles: asked.profiles, packages: asked.packages, mode };
    let (mut exit, mut number) = (Exit::Well, 0);
    let flaw = |of: PackageFlaw| {
        let reason = scene.texts.reason(of.reason);
        let params = [("file", &*of.file), ("name", &*of.name), ("reason", &*reason)];
        // Scripts are told too: a rule that is not asked could be taken for one that is kept.
        let key = if of.name.is_empty() { "say.rules-unused" } else { "say.rules-flaw" };
        scene.output.error(Line::of(scene.texts.text(key, &params)));
    };
    validate_files(folder, &asked.files, &terms, flaw, |validated| {
        if validated.issues.iter().any(|issue| issue.severity == Severity::Error) {
            exit = Exit::Person;
        }
        number += 1;
        show_validated(scene, number, validated);
    })?;
    Ok(exit)
}

/// Shows, chooses or forgets who is asked as well.
fn choice_of_validator(
    scene: &Scene<'_>,
    folder: &Path,
    choice: &ValidatorChoice,
) -> Result<Exit, Problem> {
    if choice.forget {
        forget_validator(folder)?;
    }
    let facts = match &choice.address {
        Some(address) if !choice.allow_patient_data => {
            scene.hint("say.validator-sees-patients", &[("address", address)]);
            return Ok(Exit::Usage);
        }
        Some(address) => Some(choose_validator(folder, address, choice.ca.as_deref())?),
        None => validator(folder)?,
    };
    if scene.output.json {
        scene.output.object(&facts);
        return Ok(Exit::Well);
    }
    match facts {
        Some(facts) => {
            let params = [("address", &*facts.address), ("chosen", &*facts.chosen)];
            scene.line("say.validator", &params);
        }
        None => scene.line("say.no-validator", &[]),
    }
    Ok(Exit::Well)
}

/// `number`: which of the files it is, counted from 1.
fn show_validated(scene: &Scene<'_>, number: usize, mut validated: Validated) {
    // It may be a report, and the output a file.
    let (is_nameless, number) = (!scene.output.names.results, number.to_string());
    if scene.output.json {
        for issue in &mut validated.issues {
            issue.text = Some(scene.texts.message(issue));
        }
        if is_nameless {
            validated.file = number;
        }
        scene.output.object(&validated);
        return;
    }
    let errors = validated.issues.iter().filter(|issue| issue.severity == Severity::Error).count();
    let (word, look) = match (errors, validated.issues.is_empty()) {
        (0, true) => ("say.valid", Look::Good),
        (0, false) => ("say.valid-with-notes", Look::Careful),
        _ => ("say.invalid", Look::Bad),
    };
    let file = match is_nameless {
        true => scene.texts.text("say.file-number", &[("number", &number)]),
        false => validated.file,
    };
    let line = Line::new().column(&scene.texts.say(word), 30, look).add(file);
    scene.output.line(&line);
    messages(scene.output, scene.texts, &validated.issues);
}

fn show_entry(scene: &Scene<'_>, entry: &RulesEntry) {
    if scene.output.json {
        scene.output.object(entry);
        return;
    }
    let mark = if entry.in_use { scene.texts.say("say.rules-in-use") } else { String::new() };
    let count = entry.definitions.to_string();
    let line = Line::new()
        .column(&label(entry), 44, Look::Bold)
        .column(&scene.texts.text("say.rules-definitions", &[("count", &count)]), 22, Look::Plain)
        .column(&entry.imported, 26, Look::Faint)
        .look(mark, Look::Good);
    scene.output.line(&line);
}

fn label(entry: &RulesEntry) -> String {
    format!("{}@{}", entry.name, entry.version)
}

/// What is in use stays as it was put to use, whatever was imported since.
fn tell_outdated(scene: &Scene<'_>, entries: &[RulesEntry]) {
    for entry in entries.iter().filter(|entry| entry.outdated) {
        scene.hint("say.rules-as-before", &[("name", &label(entry))]);
    }
}

/// Dependencies that are not there are said once each, with the packages that name them; they keep
/// nobody from going on.
fn tell_missing(scene: &Scene<'_>, folder: &Path) -> Result<(), Problem> {
    let mut wanted: BTreeMap<(String, String, Option<String>), Vec<String>> = BTreeMap::new();
    for entry in list_rules(folder)? {
        for missing in entry.missing {
            let packages = wanted.entry((missing.name, missing.wanted, missing.instead));
            packages.or_default().push(entry.name.clone());
        }
    }
    for ((name, version, instead), packages) in &wanted {
        let packages = packages.join(", ");
        let params = [
            ("packages", &*packages),
            ("name", name),
            ("version", version),
            ("instead", instead.as_deref().unwrap_or_default()),
        ];
        let key = match instead {
            Some(_) => "say.rules-other-version",
            None => "say.rules-missing",
        };
        scene.hint(key, &params);
    }
    Ok(())
}
