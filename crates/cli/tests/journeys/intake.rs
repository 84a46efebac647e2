//! Wrong, hostile or missing input: each gets its name, and the others are sent all the same.

use crate::place::{Place, report};

#[test]
fn everything_else_is_named_for_what_it_is() {
    let place = Place::ready();
    std::fs::create_dir(place.path("empty-folder")).unwrap();
    let cases: [(&str, &[u8], &str); 7] = [
        ("a.pdf", b"%PDF-1.7\n1 0 obj", "PDF document"),
        ("b.hl7", b"MSH|^~\\&|LAB|X|BAG|Y|2026||ORU^R01|1|P|2.5\rPID|1\r", "HL7 version 2 message"),
        ("c.csv", b"name;date;code\nA;2026;1\nB;2026;2\n", "Table (CSV)"),
        ("d.json", b"", "The file is empty"),
        ("e.json", br#"{"resourceType":"Patient","id":"x"}"#, "Another FHIR resource Patient"),
        (
            "f.json",
            b"{\"resourceType\":\"Bundle\",\"type\":\"document\",\"entry\":[",
            "The JSON is broken",
        ),
        (
            "g.xml",
            b"<!DOCTYPE x [<!ENTITY a \"b\">]><Bundle xmlns=\"http://hl7.org/fhir\"/>",
            "DTD",
        ),
    ];
    for (name, content, _) in cases {
        place.write(&format!("in/{name}"), content);
    }
    let good = place.write("in/z.json", report(60).json());
    let done = place.run(&["send", "in", "missing.json", "empty-folder", "--wait"]).ends(1);
    let mut done = done.says("no such file").says("no report in it").says("Completed");
    for (_, _, text) in cases {
        done = done.says(text);
    }
    assert_eq!(place.json(0, &["list"]).len(), 1, "only the report: {good}");
    place.run(&["--file-names", "show", "1"]).ends(0).says("z.json");
}

#[test]
fn several_reports_at_once() {
    let place = Place::ready();
    let line = |seed| {
        let json: serde_json::Value = serde_json::from_str(&report(seed).json()).unwrap();
        json.to_string()
    };
    let ndjson = place.write("two.ndjson", format!("{}\n\n{}\n", line(70), line(71)));
    let objects = place.json(0, &["send", &ndjson, "--wait"]);
    let files: Vec<_> = objects.iter().map(|object| object["file"].clone()).collect();
    assert_eq!(files, ["two.ndjson:1", "two.ndjson:3"]);
    assert!(objects.iter().all(|object| object["state"] == "completed"));
}

#[cfg(unix)]
#[test]
fn hostile_names_reach_no_terminal() {
    let place = Place::ready();
    let name = "in/evil\u{1b}[2J\u{1b}]0;x\u{7}\n\u{9b}31m\u{202e}gpj.json";
    place.write(name, report(80).json());
    place.write("in/\u{1b}[31m.pdf", b"%PDF-1.7");
    let fits = |text: &str| !text.chars().any(|c| c != '\n' && (c.is_control() || c == '\u{202e}'));
    for arguments in
        [&["send", "in", "--wait"][..], &["list"], &["show", "1"], &["send", "in/\u{1b}c"]]
    {
        let done = place.run(&[&["--file-names"], arguments].concat());
        assert!(fits(&done.out) && fits(&done.err), "{:?} {:?}", done.out, done.err);
    }
    let done = place.run(&["--json", "--file-names", "list"]).ends(0);
    assert!(fits(&done.out), "{:?}", done.out);
    let file = done.objects()[0]["file"].as_str().unwrap().to_owned();
    assert_eq!(format!("in/{file}"), name, "and means the same");
}

/// Half of a list must not be taken for all of it.
#[cfg(target_os = "linux")]
#[test]
fn results_that_cannot_be_written_are_no_success() {
    let place = Place::ready();
    place.write("in/a.json", report(91).json());
    place.run(&["send", "in", "--wait"]).ends(0);
    for arguments in
        [&["export", "--format", "csv"][..], &["list"], &["show", "1"], &["--json", "list"]]
    {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = place.command(arguments);
        command.stdout(full);
        crate::place::finish_into(command).ends(1).says("could not be written: there is no space");
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_leaves_is_no_error() {
    use std::io::Read as _;
    use std::process::Stdio;
    let place = Place::ready();
    place.write("in/a.json", report(90).json());
    place.run(&["send", "in", "--wait"]).ends(0);
    let mut child = place
        .command(&["--json", "list"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Closed before anything is written.
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{err}");
    assert_eq!(err, "");
}
