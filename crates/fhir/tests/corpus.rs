//! The published documents survive both encodings, equal their twins and are without findings.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test says what is wrong by ending")]

use std::path::{Path, PathBuf};

use fhir::{Format, Limits, Severity, Tree};

/// A resource to read, and its name in messages.
struct Sample {
    name: String,
    bytes: Vec<u8>,
    format: Format,
}

/// Reports of our own making, in both encodings.
fn own() -> Vec<Sample> {
    let both = |report: testkit::Report| {
        let of = |text: String, format| {
            let name = format!("{} ({format:?})", report.name);
            Sample { name, bytes: text.into_bytes(), format }
        };
        [of(report.json.clone(), Format::Json), of(report.xml.clone(), Format::Xml)]
    };
    testkit::collection().into_iter().flat_map(both).collect()
}

/// What lies beside the checkout.
fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file() && path.file_name().unwrap() != "expected.json")
        .collect();
    found.sort();
    found
}

fn format_of(path: &Path) -> Format {
    if path.extension().is_some_and(|extension| extension == "xml") {
        Format::Xml
    } else {
        Format::Json
    }
}

fn read(bytes: &[u8], format: Format) -> Tree {
    Tree::read(bytes, format, &Limits::default()).unwrap_or_else(|finding| panic!("{finding:?}"))
}

fn other(format: Format) -> Format {
    match format {
        Format::Json => Format::Xml,
        Format::Xml => Format::Json,
    }
}

/// The published documents, exchanges and invalid documents.
fn published() -> Vec<Sample> {
    let folders = ["documents/json", "documents/xml", "exchange", "invalid"];
    let read = |path: PathBuf| Sample {
        name: path.display().to_string(),
        bytes: std::fs::read(&path).unwrap(),
        format: format_of(&path),
    };
    folders.iter().flat_map(|folder| files(&corpus().join(folder))).map(read).collect()
}

fn survives_the_other_encoding_and_back(sample: &Sample) {
    let Sample { name, bytes, format } = sample;
    let format = *format;
    assert_eq!(Format::sniff(bytes), Some(format), "{name}");
    let tree = read(bytes, format);
    assert_eq!(tree.source(), bytes);
    let there = tree.write(other(format));
    let across = read(there.as_bytes(), other(format));
    assert!(tree.root().same_as(across.root()), "{name}");
    assert_eq!(digest(&tree), digest(&across), "{name}");
    let back = across.write(format);
    let again = read(back.as_bytes(), format);
    assert!(tree.root().same_as(again.root()), "{name}");
    assert_eq!(again.write(other(format)), there, "{name}");
    let same = tree.write(format);
    assert!(tree.root().same_as(read(same.as_bytes(), format).root()), "{name}");
}

fn digest(tree: &Tree) -> String {
    tree.canonical_digest(&tree.check())
}

/// No two say the same, but for twins in the other encoding.
fn have_digests_of_their_own(samples: &[Sample]) {
    let mut seen = std::collections::HashMap::new();
    for sample in samples.iter().filter(|sample| sample.format == Format::Json) {
        let other = seen.insert(digest(&read(&sample.bytes, sample.format)), &sample.name);
        assert_eq!(other, None, "{}", sample.name);
    }
    assert!(seen.len() > 20);
}

fn has_no_error(sample: &Sample) {
    let tree = read(&sample.bytes, sample.format);
    let mut errors = tree.check();
    errors.retain(|finding| finding.severity == Severity::Error);
    assert!(errors.is_empty(), "{}: {errors:#?}", sample.name);
}

fn has_every_element_where_it_stands(sample: &Sample) {
    let tree = read(&sample.bytes, sample.format);
    let mut open = vec![tree.root()];
    let mut count = 0;
    while let Some(element) = open.pop() {
        let expression = element.expression();
        let found = tree.find(&expression).unwrap();
        assert_eq!(found.expression(), expression);
        let position = element.position();
        let at = tree.at(position.line, position.column).unwrap();
        assert_eq!(at.expression(), expression);
        assert_eq!(element.source(), &tree.source()[position.start..position.end]);
        open.extend(element.children());
        count += 1;
    }
    assert!(count > 10);
}

#[test]
fn our_reports_survive_the_other_encoding_and_back() {
    own().iter().for_each(survives_the_other_encoding_and_back);
}

#[test]
fn our_reports_have_no_finding() {
    own().iter().for_each(has_no_error);
}

#[test]
fn every_element_of_our_reports_is_found_where_it_stands() {
    own().iter().step_by(7).for_each(has_every_element_where_it_stands);
}

#[test]
fn our_reports_have_digests_of_their_own() {
    have_digests_of_their_own(&own());
}

#[published::needs("corpus/documents")]
#[test]
fn published_documents_have_digests_of_their_own() {
    let read = |path: PathBuf| Sample {
        name: path.display().to_string(),
        bytes: std::fs::read(&path).unwrap(),
        format: format_of(&path),
    };
    let folder = corpus().join("documents/json");
    let samples: Vec<Sample> = files(&folder).into_iter().map(read).collect();
    have_digests_of_their_own(&samples);
}

#[published::needs("corpus/documents")]
#[test]
fn every_published_file_survives_the_other_encoding_and_back() {
    published().iter().for_each(survives_the_other_encoding_and_back);
}

#[published::needs("corpus/documents")]
#[test]
fn no_published_document_has_an_error() {
    published().iter().for_each(has_no_error);
}

#[published::needs("corpus/documents")]
#[test]
fn every_published_element_is_found_where_it_stands() {
    published().iter().step_by(7).for_each(has_every_element_where_it_stands);
}

#[published::needs("corpus/documents")]
#[test]
fn every_published_document_equals_its_twin() {
    let corpus = corpus();
    let mut twins = 0;
    for path in files(&corpus.join("documents/json")) {
        let name = path.file_stem().unwrap();
        let twin = corpus.join("documents/xml").join(name).with_extension("xml");
        if !twin.is_file() {
            continue;
        }
        let json = read(&std::fs::read(&path).unwrap(), Format::Json);
        let xml = read(&std::fs::read(&twin).unwrap(), Format::Xml);
        assert!(json.root().same_as(xml.root()), "{}", path.display());
        assert_eq!(digest(&json), digest(&xml), "{}", path.display());
        twins += 1;
    }
    println!("{twins} twins");
    assert!(twins > 20);
}
