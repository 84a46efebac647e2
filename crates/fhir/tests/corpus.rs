//! The published documents survive both encodings, equal their twins and are without findings.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test says what is wrong by ending")]

use std::path::{Path, PathBuf};

use fhir::{Format, Limits, Severity, Tree};

/// The published data lie beside the repository; where they do not, this says so and nothing is tested.
fn corpus() -> Option<PathBuf> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    if corpus.is_dir() {
        return Some(corpus);
    }
    println!("SKIPPED: no corpus at {}", corpus.display());
    None
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

fn all() -> Vec<PathBuf> {
    let Some(corpus) = corpus() else { return Vec::new() };
    let folders = ["documents/json", "documents/xml", "exchange", "invalid"];
    folders.iter().flat_map(|folder| files(&corpus.join(folder))).collect()
}

#[test]
fn every_file_survives_the_other_encoding_and_back() {
    for path in all() {
        let format = format_of(&path);
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(Format::sniff(&bytes), Some(format), "{}", path.display());
        let tree = read(&bytes, format);
        assert_eq!(tree.source(), bytes);
        let there = tree.write(other(format));
        let across = read(there.as_bytes(), other(format));
        assert!(tree.root().same_as(across.root()), "{}", path.display());
        let back = across.write(format);
        let again = read(back.as_bytes(), format);
        assert!(tree.root().same_as(again.root()), "{}", path.display());
        assert_eq!(again.write(other(format)), there, "{}", path.display());
        let same = tree.write(format);
        assert!(tree.root().same_as(read(same.as_bytes(), format).root()), "{}", path.display());
    }
}

#[test]
fn every_document_equals_its_twin() {
    let Some(corpus) = corpus() else { return };
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
        twins += 1;
    }
    println!("{twins} twins");
    assert!(twins > 20);
}

#[test]
fn no_document_has_a_finding() {
    for path in all() {
        let tree = read(&std::fs::read(&path).unwrap(), format_of(&path));
        let errors: Vec<_> = tree
            .check()
            .into_iter()
            .filter(|finding| finding.severity == Severity::Error)
            .collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", path.display());
    }
}

#[test]
fn every_element_is_found_where_it_stands() {
    for path in all().into_iter().step_by(7) {
        let tree = read(&std::fs::read(&path).unwrap(), format_of(&path));
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
}
