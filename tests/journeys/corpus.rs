//! Every published report goes from file to *completed* through `labcourier send --wait`, over mutual TLS,
//! in its own encoding.

use journeys::{Authority, Laboratory, column, corpus};

#[test]
fn every_published_report_is_completed_in_its_own_encoding() {
    let Some(corpus) = corpus() else {
        println!("SKIPPED: the published corpus is not beside this checkout");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    Authority::init(folder.path());
    let authority = Authority::serve(folder.path(), &["--processing-delay", "100ms"]);
    let laboratory = Laboratory::at(&authority.base, folder.path());
    let documents = corpus.join("documents");
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
    // A second time nothing is sent: the known submissions are shown.
    let again = laboratory.must(&["send", documents.to_str().unwrap()]);
    assert_eq!(column(&again, "id"), column(&sent, "id"));
    println!("{files} published reports completed, 0 sent twice");
}
