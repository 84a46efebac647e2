//! Every report, of our own making and published, goes from file to *completed* through
//! `labcourier send --wait`, over mutual TLS, in its own encoding.

use std::collections::BTreeMap;
use std::path::Path;

use exchange::{document_of, permitted_insertions};
use fhir::{Format, Limits, Tree};
use journeys::{Authority, Laboratory, column, corpus, stored};
use serde_json::Value;

#[published::needs("corpus/documents")]
#[test]
fn every_published_report_is_completed_in_its_own_encoding() {
    // A report in the other encoding is the same report: each encoding goes to an authority of its
    // own.
    for format in ["json", "xml"] {
        let folder = tempfile::tempdir().unwrap();
        let documents = corpus().join("documents");
        for other in ["json", "xml"] {
            std::fs::create_dir(folder.path().join(other)).unwrap();
        }
        for entry in std::fs::read_dir(documents.join(format)).unwrap() {
            let from = entry.unwrap().path();
            let to = folder.path().join(format).join(from.file_name().unwrap());
            std::fs::copy(from, to).unwrap();
        }
        completed_in_their_own_encoding(folder.path());
    }
}

#[test]
fn every_report_of_ours_is_completed_in_its_own_encoding() {
    let folder = tempfile::tempdir().unwrap();
    for format in ["json", "xml"] {
        std::fs::create_dir(folder.path().join(format)).unwrap();
    }
    // Every second one in each encoding: the same report in the other encoding would be the same
    // report.
    for (number, report) in testkit::collection().into_iter().enumerate() {
        let (format, text) =
            if number % 2 == 0 { ("json", report.json) } else { ("xml", report.xml) };
        let file = folder.path().join(format).join(report.name).with_extension(format);
        std::fs::write(file, text).unwrap();
    }
    completed_in_their_own_encoding(folder.path());
}

fn completed_in_their_own_encoding(documents: &Path) {
    let folder = tempfile::tempdir().unwrap();
    Authority::init(folder.path());
    let authority = Authority::serve(folder.path(), &["--processing-delay", "100ms"]);
    let laboratory = Laboratory::at(&authority.base, folder.path());
    let files = ["json", "xml"]
        .iter()
        .map(|format| std::fs::read_dir(documents.join(format)).unwrap().count())
        .sum::<usize>();
    let sent =
        laboratory.must(&["send", documents.to_str().unwrap(), "--wait", "--timeout", "240s"]);
    assert_eq!(sent.len(), files, "one line a file");
    for (state, file) in column(&sent, "state").iter().zip(column(&sent, "file")) {
        assert_eq!(state, "completed", "{file}");
    }
    let received = contained_texts_are_the_files(documents, &sent, folder.path());
    assert_eq!(received, files);
    // A second time nothing is sent: the known submissions are shown.
    let again = laboratory.must(&["send", documents.to_str().unwrap()]);
    assert_eq!(column(&again, "id"), column(&sent, "id"));
    println!("{files} reports completed, 0 sent twice");
}

/// What the authority received as the contained Bundle is the file's text with the permitted
/// insertions and nothing else, in the file's encoding. Gives the number of reports compared.
fn contained_texts_are_the_files(documents: &Path, sent: &[Value], data: &Path) -> usize {
    let files: BTreeMap<String, String> =
        column(sent, "identifier").into_iter().zip(column(sent, "file")).collect();
    let bodies = stored(data);
    for (identifier, format, body) in &bodies {
        let name = &files[identifier];
        let format = if format == "json" { Format::Json } else { Format::Xml };
        let folder = if format == Format::Json { "json" } else { "xml" };
        let file = std::fs::read(documents.join(folder).join(name)).unwrap();
        let original = Tree::read(&file, format, &Limits::default()).unwrap();
        let envelope = Tree::read(body, format, &Limits::default()).unwrap();
        let contained = document_of(&envelope).unwrap().source().to_vec();
        let bundle = original.root().position();
        let mut expected = file[..bundle.end].to_vec();
        for (offset, text) in permitted_insertions(&original).into_iter().rev() {
            expected.splice(offset..offset, text.into_bytes());
        }
        let expected = &expected[bundle.start..];
        assert!(contained == expected, "{name}: the contained text is not the file's");
    }
    bodies.len()
}
