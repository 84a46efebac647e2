//! Times that can be true: not in the future, not before 1900, nobody tested before birth, and no
//! test so old that the authority takes it for a duplicate.

use fhir::{Element, Instant, Period};

use super::{Findings, all};
use crate::links::Links;

const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;

/// A clock may be wrong, and a date without a zone is up to 14 hours off: one day is forgiven.
const FUTURE_MAX_MICROS: i64 = DAY_MICROS;

/// 1900-01-01T00:00:00Z: 25,567 days before 1970.
const EARLIEST: Instant = Instant(-25_567 * DAY_MICROS);

/// From this age on the authority takes a test for a duplicate (its rule FOPH-020).
const TEST_OLD_DAYS: i64 = 360;

/// Elements that tell when something happened, by resource. Periods of validity are not among them:
/// they may end in the future.
const HAPPENED: &[(&str, &[&str])] = &[
    ("Composition", &["date"]),
    ("DiagnosticReport", &["effectiveDateTime", "effectivePeriod.start", "issued"]),
    ("Observation", &["effectiveDateTime", "effectivePeriod.start", "effectiveInstant", "issued"]),
    ("Patient", &["birthDate", "deceasedDateTime"]),
    ("ServiceRequest", &["authoredOn"]),
    (
        "Specimen",
        &["collection.collectedDateTime", "collection.collectedPeriod.start", "receivedTime"],
    ),
];

pub(super) fn check(
    document: Element<'_>,
    links: &Links<'_>,
    now: Instant,
    findings: &mut Findings,
) {
    match document.child("timestamp") {
        None => findings.error("document-date-missing", document, &[]),
        Some(timestamp) => check_plausible(timestamp, now, findings),
    }
    for (_, resource) in links.resources() {
        let names = HAPPENED.iter().find(|(of, _)| resource.resource_type() == Some(*of));
        for path in names.map(|(_, paths)| *paths).unwrap_or_default() {
            if let Some(at) = resource.at_path(path) {
                check_plausible(at, now, findings);
            }
        }
    }
    check_births(document, links, findings);
    check_age(links, now, findings);
}

/// What is no date at all is the base check's to say.
fn period_of<'t>(at: Element<'t>) -> Option<(Period, &'t str)> {
    let text = at.value()?;
    Some((Period::parse(text)?, text))
}

/// Whether a time lies so far ahead of this one that it cannot be true.
pub fn lies_ahead(at: Instant, now: Instant) -> bool {
    at > now.plus_micros(FUTURE_MAX_MICROS)
}

fn check_plausible(at: Element<'_>, now: Instant, findings: &mut Findings) {
    let Some((period, text)) = period_of(at) else { return };
    if lies_ahead(period.start, now) {
        findings.error("date-in-future", at, &[("date", text)]);
    } else if period.end <= EARLIEST {
        findings.error("date-too-early", at, &[("date", text)]);
    }
}

fn check_births(document: Element<'_>, links: &Links<'_>, findings: &mut Findings) {
    let composition = || links.composition()?.child("date").and_then(period_of);
    let written = document.child("timestamp").and_then(period_of).or_else(composition);
    let Some((written, date)) = written else { return };
    for (_, patient) in links.resources() {
        if patient.resource_type() != Some("Patient") {
            continue;
        }
        let Some(at) = patient.child("birthDate") else { continue };
        // A birth date has no zone: in the east the day has begun up to 14 hours before UTC's.
        let born =
            period_of(at).filter(|(born, _)| born.start >= written.end.plus_micros(DAY_MICROS));
        if let Some((_, birth)) = born {
            let params = [("birth-date", birth), ("date", date)];
            findings.error("birth-date-after-document", at, &params);
        }
    }
}

/// One warning a document: its oldest test, by when it was made, else by when the specimen was
/// taken.
fn check_age(links: &Links<'_>, now: Instant, findings: &mut Findings) {
    let tested =
        oldest(links, "Observation", &["effectiveDateTime", "effectivePeriod", "effectiveInstant"]);
    let taken = || {
        oldest(links, "Specimen", &["collection.collectedDateTime", "collection.collectedPeriod"])
    };
    let Some((at, period, text)) = tested.or_else(taken) else { return };
    let days = now.0.saturating_sub(period.end.0) / DAY_MICROS;
    if days >= TEST_OLD_DAYS {
        findings.warning("test-old", at, &[("date", text), ("days", &days.to_string())]);
    }
}

fn oldest<'t>(
    links: &Links<'t>,
    of: &str,
    paths: &[&str],
) -> Option<(Element<'t>, Period, &'t str)> {
    let times =
        links.resources().filter(|(_, r)| r.resource_type() == Some(of)).flat_map(|(_, r)| {
            paths.iter().filter_map(move |path| {
                let at = r.at_path(path)?;
                // Of a period the end counts: then the test was finished.
                let at = match at.type_name() {
                    "Period" => all(at, "end").chain(all(at, "start")).next()?,
                    _ => at,
                };
                let (period, text) = period_of(at)?;
                Some((at, period, text))
            })
        });
    times.min_by_key(|(_, period, _)| period.end)
}
