//! The support bundle: what a helper needs to know of an installation, and nothing of a patient or
//! a person.
//!
//! Everything in it is a count, a code, a time or a setting without secrets. Words of the authority
//! are taken only where they look like a code; paths, file names, identifiers and subjects of
//! certificates are left out. A journal or keychain that does not open is the usual reason for
//! asking, so it is no reason to fail.

use std::io::{Cursor, Write as _};

use engine::{Engine, Profile};
use exchange::Endpoint;
use fhir::Instant;
use identity::Inspection;
use journal::{Journal, MessageTally};
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::connection::connection_view;
use crate::problem::Problem;
use crate::statement_pdf::Wording;
use crate::views::SupportFile;

/// Events, faults and kinds of messages in a bundle, each.
const LINES_MAX: u32 = 500;
/// Longest text that passes for a code.
const CODE_MAX: usize = 64;
/// The file that is for people.
const SUMMARY: &str = "summary";

/// What a bundle is made of. `engine` is missing where the profile does not open: `problem` says
/// why.
pub(crate) struct Subject<'a> {
    pub(crate) program: &'static str,
    pub(crate) now: Instant,
    pub(crate) profile: Option<&'a Profile>,
    pub(crate) engine: Option<&'a Engine>,
    pub(crate) problem: Option<&'a Problem>,
}

/// Files of a bundle, each with its words in the family `support-file`.
pub const SUPPORT_FILES: &[&str] =
    &[SUMMARY, "program", "settings", "certificate", "counts", "events", "faults", "verification"];

/// Texts of the family `support-summary`, with their parameters.
pub const SUPPORT_TEXTS: &[(&str, &[&str])] = &[
    ("title", &["at", "program", "version"]),
    ("holds", &[]),
    ("closed", &["code"]),
    ("without", &[]),
    ("addresses", &[]),
];

/// Collects the bundle; its first file says in words what the others are, where there are words.
/// Reads the whole journal (it is verified): to be called off the async threads.
pub(crate) fn collect(subject: &Subject<'_>, wording: Option<&Wording>) -> Vec<SupportFile> {
    let mut files = facts_of(subject);
    if let Some(wording) = wording {
        files.insert(0, summary(subject, &files, wording));
    }
    files
}

/// What the bundle is, for whoever is asked to pass it on.
fn summary(subject: &Subject<'_>, files: &[SupportFile], wording: &Wording) -> SupportFile {
    let say = |id: &str, params: &[(&str, &str)]| {
        format!("{}\n", wording.text(&format!("support-summary.{id}"), params))
    };
    let at = subject.now.to_fhir();
    let version = env!("CARGO_PKG_VERSION");
    let title = [("program", subject.program), ("version", version), ("at", &*at)];
    let mut text = format!("{}\n{}", say("title", &title), say("holds", &[]));
    for SupportFile { name, .. } in files {
        let known = name.strip_suffix(".json").unwrap_or(name);
        let words = wording.text(&format!("support-file.{known}"), &[]);
        text.push_str(&format!("- {name}: {words}\n"));
    }
    if let Some(problem) = subject.problem {
        text.push_str(&format!("\n{}", say("closed", &[("code", &problem.code)])));
    }
    text.push_str(&format!("\n{}{}", say("without", &[]), say("addresses", &[])));
    SupportFile { name: format!("{SUMMARY}.txt"), text }
}

fn facts_of(subject: &Subject<'_>) -> Vec<SupportFile> {
    let mut files = vec![file("program.json", &program(subject))];
    if let Some(profile) = subject.profile {
        files.push(file("settings.json", &settings(profile)));
    }
    if let Some(engine) = subject.engine {
        let journal = engine.journal();
        files.push(file("certificate.json", &certificate(engine)));
        files.push(file("counts.json", &or_code(counts(journal, subject.now))));
        files.push(file("events.json", &or_code(events(journal))));
        files.push(file("faults.json", &or_code(faults(journal))));
        files.push(file("verification.json", &or_code(verification(journal))));
    }
    files
}

/// As one ZIP archive.
pub(crate) fn packed(files: &[SupportFile]) -> std::io::Result<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for SupportFile { name, text } in files {
        archive.start_file(name.as_str(), SimpleFileOptions::default())?;
        archive.write_all(text.as_bytes())?;
    }
    Ok(archive.finish()?.into_inner())
}

fn file(name: &str, value: &Value) -> SupportFile {
    SupportFile { name: name.to_owned(), text: format!("{value:#}\n") }
}

/// What cannot be read is said by its code.
fn or_code(found: Result<Value, journal::JournalError>) -> Value {
    found.unwrap_or_else(|error| json!({ "unreadable": Problem::from(error).code }))
}

fn program(subject: &Subject<'_>) -> Value {
    json!({
        "program": subject.program,
        "version": env!("CARGO_PKG_VERSION"),
        "system": std::env::consts::OS,
        "family": std::env::consts::FAMILY,
        "architecture": std::env::consts::ARCH,
        "journalSchema": Journal::schema_version(),
        "at": subject.now.to_fhir(),
        "problem": subject.problem.map(|problem| json!({
            "code": problem.code, "remedy": problem.remedy, "trace": problem.trace,
        })),
    })
}

fn settings(profile: &Profile) -> Value {
    let settings = &profile.settings;
    let endpoint = |endpoint: &Endpoint| {
        json!({
            "inUse": settings.in_use.as_deref() == Some(endpoint.id()),
            // Without user name, password, query and fragment, which no endpoint needs.
            "address": format!(
                "{}://{}{}",
                endpoint.base.scheme(), host(&endpoint.base), endpoint.base.path()
            ),
            "environment": endpoint.environment.code(),
            "release": endpoint.release.facts().name,
            "language": plain(&endpoint.language),
            "identifier": endpoint.identifier,
            "ownCa": endpoint.ca_pem.is_some(),
            "proxy": endpoint.proxy.as_ref().map(host),
        })
    };
    json!({
        "settingsVersion": settings.version,
        "secrets": settings.secrets,
        "endpoints": settings.endpoints.iter().map(endpoint).collect::<Vec<_>>(),
        "watchesFolder": settings.watched_folder.is_some(),
        "documentBytesMax": settings.document_bytes_max,
        "retentionDays": settings.retention_days,
    })
}

fn host(url: &url::Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Facts that TLS depends on; the subject may be a person's name.
fn certificate(engine: &Engine) -> Value {
    let connection = engine.connection().borrow().clone();
    let (state, problem) = connection_view(&connection.state);
    let found = match engine.certificate() {
        Ok(found) => found.as_ref().map(|inspection| facts(inspection, engine.now())),
        Err(error) => Some(json!({ "unreadable": Problem::from(error).code })),
    };
    json!({
        "certificate": found,
        "connection": state,
        "connectionProblem": problem.map(|problem| problem.code),
        "lastContact": connection.last_contact.map(Instant::to_fhir),
    })
}

fn facts(inspection: &Inspection, now: Instant) -> Value {
    json!({
        "fingerprint": inspection.fingerprint_sha256,
        "keyType": inspection.key_type,
        "notBefore": inspection.not_before.to_fhir(),
        "notAfter": inspection.not_after.to_fhir(),
        "daysLeft": inspection.days_left(now),
        "daysAhead": inspection.days_ahead(now),
        "purposes": inspection.purposes,
        "clientAuth": inspection.client_auth,
        "chainLength": inspection.chain_length,
    })
}

fn counts(journal: &Journal, now: Instant) -> Result<Value, journal::JournalError> {
    let counts = journal.counts(now)?;
    let tally = |tally: MessageTally| {
        json!({
            "source": tally.source,
            "severity": tally.severity.code(),
            "code": plain(&tally.code),
            "rule": tally.rule.as_deref().map(plain),
            "count": tally.count,
        })
    };
    let messages = journal.message_tallies(LINES_MAX)?;
    Ok(json!({
        "byState": counts.by_state,
        "inDoubtLong": counts.doubtful_long,
        "overdue": counts.overdue,
        "messages": messages.into_iter().map(tally).collect::<Vec<_>>(),
    }))
}

/// The tail of what happened: the journal is the only log that Lab Courier keeps.
fn events(journal: &Journal) -> Result<Value, journal::JournalError> {
    let line = |event: journal::Happening| {
        json!({
            "number": event.number,
            "submission": event.id,
            "at": event.at.to_fhir(),
            "code": plain(&event.code),
            "why": event.why.as_deref().map(plain),
        })
    };
    Ok(journal.happenings(LINES_MAX)?.into_iter().map(line).collect())
}

fn faults(journal: &Journal) -> Result<Value, journal::JournalError> {
    let line = |trouble: journal::Trouble| {
        json!({
            "at": trouble.at.to_fhir(),
            "exchange": plain(&trouble.exchange),
            "httpStatus": trouble.http_status,
            "fault": trouble.fault.as_deref().map(plain),
        })
    };
    Ok(journal.troubles(LINES_MAX)?.into_iter().map(line).collect())
}

fn verification(journal: &Journal) -> Result<Value, journal::JournalError> {
    let found = journal.verify()?;
    let flaw = |flaw: &journal::Discrepancy| {
        let code = flaw.kind.code();
        json!({ "code": code, "submission": flaw.id, "event": flaw.event })
    };
    Ok(json!({
        "submissions": found.submissions,
        "events": found.events,
        "digests": found.digests_ok,
        "flaws": found.problems.iter().map(flaw).collect::<Vec<_>>(),
    }))
}

/// A text that looks like a code; others come from outside and may say anything, so they are not
/// repeated.
fn plain(text: &str) -> &str {
    let is_code = !text.is_empty()
        && text.len() <= CODE_MAX
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
        // A birth date or an insurance number is no code, a release or a rule (`FOPH-012`) is.
        && text.bytes().filter(u8::is_ascii_digit).count() <= 5;
    if is_code { text } else { "other" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_codes_are_repeated() {
        for code in ["tls-server-untrusted", "FOPH-012", "de-CH", "business-rule", "dom-6"] {
            assert_eq!(plain(code), code);
        }
        for text in ["", "Muster, Mia", "756.1234.5678.97", "1984-02-31", "Müller", &"a".repeat(65)]
        {
            assert_eq!(plain(text), "other");
        }
    }

    #[test]
    fn an_archive_holds_what_was_shown() {
        let shown = [file("program.json", &json!({ "version": "0.1.0" }))];
        let bytes = packed(&shown).unwrap();
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
        assert_eq!(archive.len(), 1);
        let text = std::io::read_to_string(archive.by_name("program.json").unwrap()).unwrap();
        assert_eq!(text, shown[0].text);
    }
}
