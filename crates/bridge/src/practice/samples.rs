//! Reports of made-up people, for practice. They are written out as files, because files are what
//! people drop and scripts send.

use std::fs;
use std::path::{Path, PathBuf};

use fhir::Instant;

use super::file;
use crate::problem::Problem;

/// The samples by name. One fails on purpose, one has a warning.
const SAMPLES: [(&str, &str); 6] = [
    ("campylobacteriosis.xml", include_str!("../../samples/campylobacteriosis.xml")),
    ("covid-19.json", include_str!("../../samples/covid-19.json")),
    ("gonorrhoea.json", include_str!("../../samples/gonorrhoea.json")),
    ("legionellosis.xml", include_str!("../../samples/legionellosis.xml")),
    ("malaria.json", include_str!("../../samples/malaria.json")),
    (FAILING, include_str!("../../samples/salmonellosis-muster-fehler.json")),
];

/// The sample that the practice authority fails.
pub(super) const FAILING: &str = "salmonellosis-muster-fehler.json";
/// The file that corrects it. Not among the samples: it is sent in the place of the failed one.
const CORRECTION: (&str, &str) = (
    "salmonellosis-muster-fehler-corrected.json",
    include_str!("../../samples/salmonellosis-muster-fehler-corrected.json"),
);

/// A report that breaks the rules of practice: held before it is sent, and cured by suggestions.
/// Not among the samples either, which are sent all at once.
const HELD: (&str, &str) =
    ("syphilis-full-name.json", include_str!("../../samples/syphilis-full-name.json"));

/// The day on which the samples play, as committed.
const DAY: &str = "2026-10-05";
/// On disk they play so many days ago: a test that is older than a year would be warned about.
const DAYS_AGO: i64 = 3;

pub(super) fn folder(profile: &Path) -> PathBuf {
    profile.join("samples")
}

pub(super) fn correction(profile: &Path) -> PathBuf {
    profile.join("corrections").join(CORRECTION.0)
}

/// Whether a file is one of those that are written here, or lies among them.
pub(super) fn holds(profile: &Path, path: &Path) -> bool {
    let Ok(path) = path.canonicalize() else { return false };
    let corrections = correction(profile).parent().map(Path::to_owned);
    let folders = [Some(folder(profile)), corrections];
    let own = folders.into_iter().flatten().filter_map(|folder| folder.canonicalize().ok());
    own.into_iter().any(|folder| path.starts_with(folder))
}

/// The files themselves, as they are on the disk.
pub(super) fn files(profile: &Path) -> Vec<PathBuf> {
    let samples = SAMPLES.iter().map(|(name, _)| folder(profile).join(name));
    samples.chain([correction(profile)]).collect()
}

/// Writes the samples that are not there; a file that a person has changed is left alone.
pub(super) fn write(profile: &Path, now: Instant) -> Result<(), Problem> {
    let day: String = now.plus_seconds(-DAYS_AGO * 86_400).to_fhir().chars().take(10).collect();
    for (name, text) in SAMPLES {
        write_one(&folder(profile).join(name), text, &day)?;
    }
    write_one(&profile.join("lessons").join(HELD.0), HELD.1, &day)?;
    write_one(&correction(profile), CORRECTION.1, &day)
}

fn write_one(path: &Path, text: &str, day: &str) -> Result<(), Problem> {
    if path.exists() {
        return Ok(());
    }
    let text = text.replace(DAY, day);
    let written = path.parent().map_or(Ok(()), fs::create_dir_all);
    written.and_then(|()| fs::write(path, text)).map_err(|error| file(path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fhir::{Format, Limits, Severity, Tree};

    #[test]
    fn samples_are_sound_but_for_the_one_warning() {
        let now = Instant::parse("2026-10-08T12:00:00Z").unwrap();
        for (name, text) in SAMPLES.into_iter().chain([CORRECTION]) {
            let format = if name.ends_with(".xml") { Format::Xml } else { Format::Json };
            let tree = Tree::read(text.as_bytes(), format, &Limits::default()).unwrap();
            let mut findings = tree.check();
            findings.extend(report::check(tree.root(), now));
            let codes: Vec<_> =
                findings.iter().map(|f| (f.severity, f.code.as_str(), &f.expression)).collect();
            match name {
                "gonorrhoea.json" => assert!(
                    matches!(
                        codes.as_slice(),
                        [(Severity::Warning, "identifier-uuid-malformed", _)]
                    ),
                    "{codes:?}"
                ),
                _ => assert!(codes.is_empty(), "{name}: {codes:?}"),
            }
        }
    }

    #[test]
    fn the_correction_differs_in_the_name_only() {
        let failing = SAMPLES.iter().find(|(name, _)| *name == FAILING).unwrap().1;
        assert_eq!(failing.replace("Muster-Fehler", "Muster"), CORRECTION.1);
    }
}
