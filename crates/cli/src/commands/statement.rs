//! The statement of a day: what was taken in and what became of it, for the file.

use bridge::views::{StatementEntryView, StatementView};
use bridge::{Problem, STATEMENT_TEXTS, Wording, save_new};
use texts::CATALOGUE;

use super::Scene;
use super::export::quoted;
use crate::arguments::Statement;
use crate::exit::Exit;

const _: () = CATALOGUE.must_have_each("statement", STATEMENT_TEXTS);

/// As the window copies them: a table for other programs is the same in every language.
const COLUMNS: &[&str] = &[
    "id",
    "created",
    "sent",
    "answered",
    "state",
    "disease",
    "code",
    "environment",
    "endpoint",
    "documentIdentifier",
    "identifier",
    "digest",
    "receipt",
    "answerStatus",
    "answerDigest",
    "corrects",
    "chainEvent",
    "chainHash",
];

pub(super) async fn statement(scene: &Scene<'_>, asked: Statement) -> Result<Exit, Problem> {
    let profile = scene.open().await?;
    let view = profile.statement(&asked.day)?;
    profile.close().await;
    match &asked.pdf {
        Some(file) => {
            let bytes = wording(scene).pdf(&view);
            // A statement that is there already stays: it may be signed.
            save_new(file, &bytes).map_err(|error| {
                let (name, reason) = (file.display().to_string(), error.kind().to_string());
                let params = [("file", &*name), ("reason", &*reason)];
                Problem::new("file-unreadable", &params, "statement")
            })?;
            let file = file.display().to_string();
            scene.line("say.statement-saved", &[("file", &file)]);
        }
        None if scene.output.json => scene.output.object(&view),
        None => {
            scene.output.raw(&COLUMNS.join(","));
            view.entries.iter().for_each(|entry| scene.output.raw(&row(&view, entry)));
        }
    }
    Ok(Exit::Well)
}

pub(super) fn wording(scene: &Scene<'_>) -> Wording {
    let language = scene.texts.language();
    Wording::new(language.code(), move |id, params| language.shared(id, params))
}

fn row(view: &StatementView, entry: &StatementEntryView) -> String {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let number = |value: Option<i64>| value.map(|it| it.to_string()).unwrap_or_default();
    let cells = [
        entry.id.to_string(),
        entry.created.clone(),
        text(&entry.sent),
        text(&entry.answered),
        entry.state.code().to_owned(),
        text(&entry.disease),
        text(&entry.code),
        entry.environment.code().to_owned(),
        entry.endpoint.clone(),
        text(&entry.document_identifier),
        entry.identifier.clone(),
        entry.digest.clone(),
        text(&entry.receipt),
        number(entry.answer_status.map(i64::from)),
        text(&entry.answer_digest),
        number(entry.corrects),
        view.chain_event.to_string(),
        view.chain_hash.clone(),
    ];
    cells.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use bridge::{Environment, StateCode};
    use texts::Language;

    use super::*;

    fn view(count: i64) -> StatementView {
        let hex = |number: i64| format!("{number:064x}");
        let entry = |id: i64| StatementEntryView {
            id,
            created: "2026-11-24T09:30:00+01:00".to_owned(),
            sent: Some("2026-11-24T09:30:10+01:00".to_owned()),
            answered: None,
            state: StateCode::Completed,
            disease: Some("malaria".to_owned()),
            code: Some("20955-1".to_owned()),
            environment: Environment::Production,
            endpoint: "Behörde".to_owned(),
            document_identifier: Some(format!("urn:uuid:document-{id}")),
            identifier: format!("urn:uuid:delivery-{id}"),
            digest: hex(id),
            receipt: Some(format!("receipt-{id}")),
            answer_status: Some(200),
            answer_digest: Some(hex(id + 10_000)),
            corrects: (id == 2).then_some(1),
        };
        StatementView {
            date: "2026-11-24".to_owned(),
            made: "2026-11-25T08:00:00+01:00".to_owned(),
            entries: (1..=count).map(entry).collect(),
            is_cut: false,
            chain_event: 4711,
            chain_hash: hex(4_711_000),
            version: "9.9.9".to_owned(),
        }
    }

    /// What the pages show, line by line: the texts that are drawn, read as a reader does.
    fn shown(pdf: &[u8]) -> Vec<String> {
        let letters: String = pdf.iter().map(|byte| windows(*byte)).collect();
        let drawn = letters.split(" Tj").filter_map(|before| before.rsplit('\n').next());
        drawn.filter_map(|text| literal(text).or_else(|| hexadecimal(text))).collect()
    }

    fn literal(text: &str) -> Option<String> {
        let inside = text.strip_prefix('(')?.strip_suffix(')')?;
        Some(inside.replace("\\(", "(").replace("\\)", ")").replace("\\\\", "\\"))
    }

    fn hexadecimal(text: &str) -> Option<String> {
        let digits = text.strip_prefix('<')?.strip_suffix('>')?.as_bytes();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        digits.chunks(2).map(|pair| byte(pair).map(windows)).collect()
    }

    fn windows(byte: u8) -> char {
        match byte {
            0x85 => '…',
            0x92 => '’',
            0x93 => '“',
            0x94 => '”',
            other => char::from(other),
        }
    }

    fn pdf(language: Language, view: &StatementView) -> Vec<u8> {
        Wording::new(language.code(), move |id, params| language.shared(id, params)).pdf(view)
    }

    #[test]
    fn a_reader_finds_every_fact_in_every_language() {
        let view = view(2);
        for language in Language::ALL {
            let lines = shown(&pdf(language, &view));
            let has = |part: &str| lines.iter().any(|line| line.contains(part));
            let say = |id: &str, params: &[(&str, &str)]| language.shared(id, params);
            let entry = &view.entries[1];
            let facts = [
                "2026-11-24 08:30:10.000 (UTC+00:00)",
                &format!("{} (2)", say("state.completed", &[])),
                &entry.identifier,
                &entry.digest,
                entry.receipt.as_deref().unwrap(),
                entry.answer_digest.as_deref().unwrap(),
                entry.document_identifier.as_deref().unwrap(),
                &view.chain_hash,
                "4711",
                ", 20955-1 ",
                "Behörde (",
                &say("state.completed", &[]),
                &say("statement.corrects", &[("id", "1")]),
                &say("statement.answer-digest", &[]),
                &say("statement.page", &[("page", "1"), ("pages", "1")]),
            ];
            for fact in facts {
                let fact = fact.replace('\u{202f}', "\u{a0}");
                assert!(has(&fact), "{language:?}: {fact} in {lines:#?}");
            }
            assert!(!has("statement."), "{language:?}: a text is missing: {lines:#?}");
            assert!(!has("?"), "{language:?}: a letter is missing: {lines:#?}");
        }
    }

    #[test]
    fn a_long_day_has_pages_and_each_report_stands_on_one_of_them() {
        let view = view(60);
        let lines = shown(&pdf(Language::English, &view));
        for entry in &view.entries {
            let count = lines.iter().filter(|line| **line == entry.digest).count();
            assert_eq!(count, 1, "{}", entry.id);
        }
        let pages: Vec<_> = lines.iter().filter(|line| line.contains("Page ")).collect();
        assert!(pages.len() > 5, "{pages:?}");
        assert!(pages[1].ends_with(&format!("Page 2 of {}", pages.len())), "{pages:?}");
    }
}
