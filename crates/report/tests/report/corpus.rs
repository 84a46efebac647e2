//! The published documents, where they are at hand: no errors in any of them.

use std::path::{Path, PathBuf};

use fhir::{Format, Limits, Severity, Tree};
use report::{Kind, Summary, recognise};

use crate::text::now;

/// The folder beside the workspace, or `None` (said aloud) where it is missing.
fn corpus(of: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3)?;
    let folder = root.join("shared/corpus").join(of);
    if !folder.is_dir() {
        eprintln!("skipped: no published documents at ../shared/corpus/{of}");
        return None;
    }
    Some(folder)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn published_documents_have_no_errors() {
    let Some(folder) = corpus("documents") else { return };
    for (sub, format) in [("json", Format::Json), ("xml", Format::Xml)] {
        for file in files(&folder.join(sub)) {
            let bytes = std::fs::read(&file).unwrap();
            assert_eq!(recognise(&bytes), Kind::FhirDocument(format), "{}", file.display());
            assert_eq!(recognise(&bytes[..4096.min(bytes.len())]), Kind::FhirDocument(format));
            let tree = Tree::read(&bytes, format, &Limits::default()).unwrap();
            let findings = report::check(tree.root(), now());
            let errors: Vec<_> =
                findings.iter().filter(|f| f.severity == Severity::Error).collect();
            assert!(errors.is_empty(), "{}: {errors:?}", file.display());
            assert!(
                findings
                    .iter()
                    .all(|f| ["test-old", "identifier-uuid-malformed"].contains(&f.code.as_str())),
                "{}: {findings:?}",
                file.display()
            );
        }
    }
}

#[test]
fn both_encodings_have_the_same_summary() {
    let Some(folder) = corpus("documents") else { return };
    let mut both = 0;
    for file in files(&folder.join("xml")) {
        let twin = folder.join("json").join(file.file_stem().unwrap()).with_extension("json");
        if !twin.is_file() {
            continue;
        }
        let of = |file: &Path, format| {
            let bytes = std::fs::read(file).unwrap();
            Summary::of(Tree::read(&bytes, format, &Limits::default()).unwrap().root())
        };
        let (xml, json) = (of(&file, Format::Xml), of(&twin, Format::Json));
        assert_eq!(xml, json, "{}", file.display());
        for fact in [&xml.identifier, &xml.patient, &xml.subject, &xml.code, &xml.laboratory] {
            assert!(fact.is_some(), "{}", file.display());
        }
        assert!(xml.date.is_some() && xml.birth_date.is_some());
        both += 1;
    }
    assert!(both > 20);
}

#[test]
fn envelopes_and_answers_are_recognised() {
    let Some(folder) = corpus("exchange") else { return };
    for file in files(&folder) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let expected = match name.split('-').next() {
            Some("DocumentReference") if name.contains("Publish") => "fhir-envelope",
            _ => "fhir-other",
        };
        assert_eq!(recognise(&std::fs::read(&file).unwrap()).code(), expected, "{name}");
    }
}
