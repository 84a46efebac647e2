//! Reports of our own making and the published ones: no errors in any of them.

use std::path::{Path, PathBuf};

use fhir::{Format, Limits, Severity, Tree};
use report::{Kind, Summary, recognise};

use crate::text::now;

/// The folder beside the checkout.
fn corpus(of: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus").join(of)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn is_a_report_without_errors(name: &str, bytes: &[u8], format: Format) {
    assert_eq!(recognise(bytes), Kind::FhirDocument(format), "{name}");
    assert_eq!(recognise(&bytes[..4096.min(bytes.len())]), Kind::FhirDocument(format));
    let tree = Tree::read(bytes, format, &Limits::default()).unwrap();
    let findings = report::check(tree.root(), now());
    let errors: Vec<_> = findings.iter().filter(|f| f.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{name}: {errors:?}");
    let usual = ["test-old", "identifier-uuid-malformed"];
    assert!(findings.iter().all(|f| usual.contains(&f.code.as_str())), "{name}: {findings:?}");
}

#[test]
fn our_reports_have_no_errors_and_one_summary() {
    for report in testkit::collection() {
        is_a_report_without_errors(report.name, report.json.as_bytes(), Format::Json);
        is_a_report_without_errors(report.name, report.xml.as_bytes(), Format::Xml);
        let of = |text: &str, format| {
            Summary::of(Tree::read(text.as_bytes(), format, &Limits::default()).unwrap().root())
        };
        let json = of(&report.json, Format::Json);
        assert_eq!(of(&report.xml, Format::Xml), json, "{}", report.name);
        for fact in [&json.identifier, &json.patient, &json.subject, &json.code, &json.laboratory] {
            assert!(fact.is_some(), "{}: {json:?}", report.name);
        }
    }
}

#[published::needs("corpus/documents")]
#[test]
fn published_documents_have_no_errors() {
    for (sub, format) in [("json", Format::Json), ("xml", Format::Xml)] {
        for file in files(&corpus("documents").join(sub)) {
            let bytes = std::fs::read(&file).unwrap();
            is_a_report_without_errors(&file.display().to_string(), &bytes, format);
        }
    }
}

#[published::needs("corpus/documents")]
#[test]
fn both_published_encodings_have_the_same_summary() {
    let folder = corpus("documents");
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

#[published::needs("corpus/exchange")]
#[test]
fn published_envelopes_and_answers_are_recognised() {
    for file in files(&corpus("exchange")) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let expected = match name.split('-').next() {
            Some("DocumentReference") if name.contains("Publish") => "fhir-envelope",
            _ => "fhir-other",
        };
        assert_eq!(recognise(&std::fs::read(&file).unwrap()).code(), expected, "{name}");
    }
}
