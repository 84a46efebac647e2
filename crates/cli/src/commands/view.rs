//! Looking: the list, and one report.

use std::ops::ControlFlow;

use bridge::headless::{Entry, Family, Headless, ListTerms, Moment, Record, Shown};
use bridge::{Environment, Group, Problem, Severity};

use super::Scene;
use crate::arguments::List;
use crate::exit::Exit;
use crate::output::{Line, Look};
use crate::report_lines::{look_of, messages, report, with_texts};

pub(super) fn terms_of(list: List) -> ListTerms {
    ListTerms { states: list.states, search: list.search, since: list.since }
}

pub(super) async fn list(scene: &Scene<'_>, list: List) -> Result<Exit, Problem> {
    let profile = scene.open().await?;
    let mut count = 0_usize;
    profile.list(&terms_of(list), |entry| {
        count += 1;
        let mut record = entry.record;
        if !scene.output.json {
            // The list shows the leading message; `show` has them all.
            let leading = record.issues.iter().position(|issue| issue.severity == Severity::Error);
            record.issues = leading.map(|at| record.issues.swap_remove(at)).into_iter().collect();
            if !needs_a_person(&record) && !record.is_open_too_long() {
                record.issues.clear();
            }
        }
        report(scene.output, scene.texts, &record);
        if scene.output.is_read() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    if count == 0 {
        scene.hint("say.nothing-found", &[]);
    }
    profile.close().await;
    Ok(Exit::Well)
}

pub(super) fn needs_a_person(record: &Record) -> bool {
    record.state.is_some_and(|state| state.group() == Group::NeedsAttention)
}

pub(super) async fn show(scene: &Scene<'_>, id: i64) -> Result<Exit, Problem> {
    let profile = scene.open().await?;
    let shown = profile.show(id)?;
    if scene.output.json {
        scene.output.object(&with_texts(scene.output, scene.texts, &shown.entry.record));
    } else {
        facts(scene, &shown);
        if !shown.entry.record.issues.is_empty() {
            heading(scene, "messages");
            messages(scene.output, scene.texts, &shown.entry.record.issues);
        }
        heading(scene, "timeline");
        shown.timeline.iter().for_each(|moment| timeline(scene, moment));
        hints(scene, &shown);
    }
    profile.close().await;
    Ok(Exit::Well)
}

fn facts(scene: &Scene<'_>, shown: &Shown) {
    let entry = &shown.entry;
    let record = &entry.record;
    let id = record.id.unwrap_or_default().to_string();
    let (state, look) = record.state.map_or(("", Look::Plain), |of| (of.code(), look_of(of)));
    let title = Line::new()
        .look(scene.texts.text("label.report", &[("id", &id)]), Look::Bold)
        .add("  ·  ")
        .look(scene.texts.word(Family::State, state), look);
    scene.output.line(&title);
    let file = scene.output.name(&record.file, record.digest.as_deref());
    let size = shown.size.map(|bytes| {
        let bytes = scene.texts.text("label.bytes", &[("count", &bytes.to_string())]);
        format!("{file}  ({bytes})")
    });
    scene.fact("file", size.as_deref().unwrap_or(&file));
    let number = |id: Option<i64>| id.map(|id| id.to_string());
    let (corrects, by) = (number(record.corrects), number(entry.corrected_by));
    let subject = subject_of(scene, entry);
    let optional = [
        ("disease", &subject),
        ("laboratory", &entry.laboratory),
        ("document", &entry.document),
        ("identifier", &record.identifier),
        ("receipt", &record.receipt),
        ("digest", &record.digest),
        ("corrects", &corrects),
        ("corrected-by", &by),
    ];
    for (label, value) in optional {
        if let Some(value) = value {
            scene.fact(label, value);
        }
    }
    let environment = record.environment.map_or("", Environment::code);
    let environment = scene.texts.say(&format!("environment.{environment}"));
    let endpoint = record.endpoint.as_deref().unwrap_or_default();
    scene.fact("endpoint", &format!("{endpoint} ({environment})"));
    scene.fact("attempts", &record.attempts.to_string());
}

/// The disease in words and what the report says itself, where that is something else.
fn subject_of(scene: &Scene<'_>, entry: &Entry) -> Option<String> {
    let language = scene.texts.language().code();
    let disease = entry.disease.and_then(|key| Headless::disease_named(key, language));
    match (disease, &entry.subject) {
        (Some(disease), Some(own)) if disease != own => Some(format!("{disease}  ({own})")),
        (Some(disease), _) => Some(disease.to_owned()),
        (None, own) => own.clone(),
    }
}

fn heading(scene: &Scene<'_>, label: &str) {
    scene.output.line(&Line::new());
    let text = scene.texts.say(&format!("label.{label}"));
    scene.output.line(&Line::new().look(text, Look::Bold));
}

fn timeline(scene: &Scene<'_>, moment: &Moment) {
    let line = Line::new()
        .add("  ")
        .look(to_the_second(&moment.at), Look::Faint)
        .add("  ")
        .add(scene.texts.event(moment))
        .look(format!("  {}", moment.by), Look::Faint);
    scene.output.line(&line);
}

/// `2026-11-21T04:00:01.123Z` as `2026-11-21 04:00:01Z`.
pub(super) fn to_the_second(instant: &str) -> String {
    let (date, time) = instant.split_once('T').unwrap_or((instant, ""));
    let seconds = time.split(['.', 'Z']).next().unwrap_or_default();
    format!("{date} {seconds}Z")
}

fn hints(scene: &Scene<'_>, shown: &Shown) {
    if let (Some(id), false) = (shown.entry.record.id, shown.actions.is_empty()) {
        scene.output.hint(&Line::new());
        super::send::propose(scene, std::iter::once((id, shown.actions.as_slice())));
    }
}
