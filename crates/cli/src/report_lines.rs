//! How a report stands on a terminal: number, state, file; below it what was found, each with its place.

use bridge::headless::{Family, Fate, IssueRecord, Looked, Record};

use crate::catalogue::Catalogue;
use crate::output::{Line, Look, Output};

/// Width of the column with the number.
const NUMBER: usize = 6;
/// Width of the column with the state; the longest English one has 28 letters.
const STATE: usize = 30;
/// Messages shown below one report; the rest is counted.
const MESSAGES_MAX: usize = 20;

/// One report with its messages.
pub(crate) fn report(output: &Output, texts: &Catalogue, record: &Record) {
    if output.json {
        output.object(&with_texts(texts, record));
        return;
    }
    output.line(&head(texts, record));
    messages(output, texts, &record.issues);
}

/// A file after checking or sending.
pub(crate) fn looked(output: &Output, texts: &Catalogue, looked: &Looked) {
    if output.json {
        output.object(&with_texts(texts, &looked.record));
        return;
    }
    let word = |key: &str, look| {
        Line::new().column("", NUMBER, Look::Plain).column(&texts.say(key), STATE, look)
    };
    match looked.fate {
        Fate::Taken(_) => return report(output, texts, &looked.record),
        Fate::Ready => output.line(&word("say.ready", Look::Good).add(&looked.file)),
        Fate::WouldBeHeld => output.line(&word("say.would-hold", Look::Bad).add(&looked.file)),
        Fate::Refused => output.line(&word("say.refused", Look::Bad).add(&looked.file)),
        Fate::Known(id) => {
            output.line(&word("say.known", Look::Careful).add(&looked.file));
            let key =
                if looked.record.state.is_some() { "say.known-as" } else { "say.known-check" };
            let state = texts.word(Family::State, looked.known.unwrap_or_default());
            let text = texts.text(key, &[("id", &id.to_string()), ("state", &state)]);
            output.line(&indented().look(text, Look::Faint));
            return;
        }
    }
    messages(output, texts, &looked.record.issues);
}

/// Number, state, file.
fn head(texts: &Catalogue, record: &Record) -> Line {
    let state = record.state.as_deref().unwrap_or_default();
    let number = record.id.map(|id| format!("{id:>4}  ")).unwrap_or_default();
    Line::new()
        .column(&number, NUMBER, Look::Faint)
        .column(&texts.word(Family::State, state), STATE, look_of(state))
        .add(&record.file)
}

/// How a state looks; never by colour alone, the word stands there.
pub(crate) fn look_of(state: &str) -> Look {
    match state {
        "completed" => Look::Good,
        "held" | "rejected" | "failed" => Look::Bad,
        "unknown" => Look::Careful,
        "withdrawn" | "superseded" => Look::Faint,
        _ => Look::Plain,
    }
}

fn indented() -> Line {
    Line::new().column("", NUMBER, Look::Plain)
}

/// What was found, errors first, each with its place.
pub(crate) fn messages(output: &Output, texts: &Catalogue, issues: &[IssueRecord]) {
    let mut sorted: Vec<_> = issues.iter().collect();
    sorted.sort_by_key(|issue| weight(&issue.severity));
    for issue in sorted.iter().take(MESSAGES_MAX) {
        let look = match issue.severity.as_str() {
            "error" => Look::Bad,
            "warning" => Look::Careful,
            _ => Look::Faint,
        };
        let severity = texts.say(&format!("say.{}", issue.severity));
        let mut line = indented().column(&severity, 9, look);
        if let Some(rule) = &issue.rule {
            line = line.look(rule, Look::Bold).add("  ");
        }
        if issue.source == "authority" {
            line = line.look(texts.say("say.authority-says"), Look::Faint).add(" ");
        }
        output.line(&line.add(texts.message(issue)));
        if let Some(place) = place(texts, issue) {
            output.line(&indented().column("", 9, Look::Plain).look(place, Look::Faint));
        }
    }
    let more = sorted.len().saturating_sub(MESSAGES_MAX);
    if more > 0 {
        output.line(&indented().look(format!("… {more}"), Look::Faint));
    }
}

fn weight(severity: &str) -> u8 {
    match severity {
        "error" => 0,
        "warning" => 1,
        _ => 2,
    }
}

/// Where: the element, and line and column in the file.
fn place(texts: &Catalogue, issue: &IssueRecord) -> Option<String> {
    let line = issue.line.map(|line| {
        let (line, column) = (line.to_string(), issue.column.unwrap_or(1).to_string());
        texts.text("say.at-line", &[("line", &line), ("column", &column)])
    });
    let parts: Vec<String> = issue.expression.clone().into_iter().chain(line).collect();
    (!parts.is_empty()).then(|| parts.join("  ·  "))
}

/// The record with our own words where the authority has none.
pub(crate) fn with_texts(texts: &Catalogue, record: &Record) -> Record {
    let mut record = record.clone();
    for issue in &mut record.issues {
        if issue.text.is_none() {
            issue.text = Some(texts.message(issue));
        }
    }
    record
}

/// "6 reports: 5 completed, 1 failed."
pub(crate) fn summary(texts: &Catalogue, words: impl Iterator<Item = String>) -> Option<String> {
    let mut parts: Vec<(String, usize)> = Vec::new();
    let mut count = 0;
    for word in words {
        count += 1;
        match parts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, number)) => *number += 1,
            None => parts.push((word, 1)),
        }
    }
    let parts: Vec<String> = parts
        .iter()
        .map(|(word, number)| {
            let (number, word) = (number.to_string(), word.to_lowercase());
            texts.text("say.part", &[("count", &number), ("state", &word)])
        })
        .collect();
    let (parts, number) = (parts.join(", "), count.to_string());
    match count {
        0 => None,
        1 => Some(texts.text("say.summary-one", &[("parts", &parts)])),
        _ => Some(texts.text("say.summary-many", &[("count", &number), ("parts", &parts)])),
    }
}

/// The word that a file counts under.
pub(crate) fn word_of(texts: &Catalogue, looked: &Looked, record: &Record) -> String {
    match looked.fate {
        Fate::Ready => texts.say("say.ready"),
        Fate::WouldBeHeld => texts.say("say.would-hold"),
        Fate::Refused => texts.say("say.refused"),
        Fate::Known(_) => texts.say("say.known"),
        Fate::Taken(_) => texts.word(Family::State, record.state.as_deref().unwrap_or_default()),
    }
}
