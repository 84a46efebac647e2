//! Writing out what the journal knows, for files and spreadsheets.

use std::ops::ControlFlow;

use bridge::headless::Entry;
use bridge::{Problem, Severity};

use super::Scene;
use crate::arguments::{Export, ExportForm};
use crate::exit::Exit;
use crate::report_lines::with_texts;

const COLUMNS: &[&str] = &[
    "id",
    "state",
    "file",
    "digest",
    "document",
    "identifier",
    "receipt",
    "subject",
    "laboratory",
    "endpoint",
    "errors",
    "warnings",
    "rules",
    "attempts",
    "corrects",
    "correctedBy",
    "created",
    "updated",
    "environment",
    "disease",
];
/// Only with `--names`.
const NAMES: &[&str] = &["patient", "birthDate"];

pub(super) async fn export(scene: &Scene<'_>, export: Export) -> Result<Exit, Problem> {
    let profile = scene.open().await?;
    let terms = super::view::terms_of(export.list);
    if export.format == ExportForm::Csv {
        let names = if export.names { NAMES } else { &[] };
        scene.output.raw(&COLUMNS.iter().chain(names).copied().collect::<Vec<_>>().join(","));
    }
    profile.list(&terms, |entry| {
        match export.format {
            ExportForm::Csv => {
                let file = if scene.output.names.results { &*entry.record.file } else { "" };
                scene.output.raw(&row(&entry, file, export.names));
            }
            ExportForm::Json => object(scene, entry, export.names),
        }
        if scene.output.is_read() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    profile.close().await;
    Ok(Exit::Well)
}

/// The record as every command gives it; with names only where they were asked for.
fn object(scene: &Scene<'_>, entry: Entry, names: bool) {
    let record = with_texts(scene.output, scene.texts, &entry.record);
    if names {
        scene.output.object(&Entry { record, ..entry });
    } else {
        scene.output.object(&record);
    }
}

fn row(entry: &Entry, file: &str, names: bool) -> String {
    let record = &entry.record;
    let count = |severity: Severity| {
        record.issues.iter().filter(|issue| issue.severity == severity).count().to_string()
    };
    // Rule codes and our codes; the words of a message may name a patient.
    let mut rules: Vec<&str> = record
        .issues
        .iter()
        .filter(|issue| issue.severity == Severity::Error)
        .map(|issue| issue.rule.as_deref().unwrap_or(&issue.code))
        .collect();
    rules.dedup();
    let number = |id: Option<i64>| id.map(|id| id.to_string()).unwrap_or_default();
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let mut cells = vec![
        number(record.id),
        record.state.map_or_else(String::new, |state| state.code().to_owned()),
        file.to_owned(),
        text(&record.digest),
        text(&entry.document),
        text(&record.identifier),
        text(&record.receipt),
        text(&entry.subject),
        text(&entry.laboratory),
        text(&record.endpoint),
        count(Severity::Error),
        count(Severity::Warning),
        rules.join(" "),
        record.attempts.to_string(),
        number(record.corrects),
        number(entry.corrected_by),
        text(&record.created),
        text(&record.updated),
        record.environment.map_or_else(String::new, |it| it.code().to_owned()),
        entry.disease.unwrap_or_default().to_owned(),
    ];
    if names {
        cells.extend([text(&entry.patient), text(&entry.birth_date)]);
    }
    cells.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",")
}

/// A cell that no spreadsheet takes for a formula, quoted where it must be (RFC 4180).
pub(super) fn quoted(cell: &str) -> String {
    // Control characters mean nothing in a table and something to a terminal.
    let mut text: String = cell.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.starts_with(['=', '+', '-', '@', ' ']) {
        text.insert(0, '\'');
    }
    if text.contains([',', '"', ';']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn cells_are_text_and_nothing_else() {
        for (cell, expected) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("@SUM(1)", "'@SUM(1)"),
            ("\tx", "' x"),
            ("two\nlines", "two lines"),
        ] {
            assert_eq!(quoted(cell), expected);
        }
    }
}
