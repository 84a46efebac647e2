//! Wrong, hostile or missing input through the real program: each has its exit code and its
//! message, no file of the laboratory changes, nothing of it is sent, and what was good is
//! delivered all the same.

use std::collections::BTreeMap;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

use journeys::{Authority, Laboratory, objects, stored};
use testkit::DocumentBuilder;

/// Anything slower than this hangs (debug build, other tests on the same machine).
const BOUND: Duration = Duration::from_secs(120);

fn sane(output: &Output, what: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!stderr.contains("panicked at"), "{what}: {stderr}");
    let raw = output.stderr.contains(&0x1B) || output.stdout.contains(&0x1B);
    assert!(!raw, "{what}: escape sequences get through");
}

/// Runs a command that must end so, saying something, in bounded time.
fn ends(laboratory: &Laboratory, code: i32, arguments: &[&str]) -> Output {
    let begun = Instant::now();
    let output = laboratory.run(arguments);
    let what = format!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    assert!(begun.elapsed() < BOUND, "{what}");
    assert_eq!(output.status.code(), Some(code), "{what}");
    assert!(!output.stderr.is_empty() || !output.stdout.is_empty(), "{arguments:?}: no message");
    sane(&output, &what);
    output
}

fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.metadata().is_ok_and(|metadata| metadata.is_file()) {
            let bytes = std::fs::read(&path).unwrap();
            files.insert(path, bytes);
        }
    }
    files
}

fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// The flag "encrypted" in the local header and in the directory.
fn encrypted(mut archive: Vec<u8>) -> Vec<u8> {
    for (signature, offset) in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)] {
        let at = archive.windows(4).position(|window| window == signature).unwrap();
        archive[at + offset] |= 1;
    }
    archive
}

fn utf16(text: &str) -> Vec<u8> {
    [0xFF, 0xFE].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
}

fn latin1(text: &str) -> Vec<u8> {
    text.replace("Muster", "M\u{1}ster")
        .bytes()
        .map(|byte| if byte == 1 { 0xFC } else { byte })
        .collect()
}

/// Name, content, and the code of the first message (empty: any).
type Case = (&'static str, Vec<u8>, &'static str);

fn foreign() -> Vec<Case> {
    let not = "not-a-report";
    vec![
        ("empty.json", Vec::new(), "file-empty"),
        ("spaces.json", b" \n\t ".to_vec(), not),
        ("large.json", vec![b' '; 30 << 20], "file-too-large"),
        ("a.pdf", b"%PDF-1.7\n1 0 obj".to_vec(), not),
        ("a.hl7", b"MSH|^~\\&|LAB|X|BAG|Y|2026||ORU^R01|1|P|2.5\r".to_vec(), not),
        ("a.csv", b"name;date;code\nA;2026;1\n".to_vec(), not),
        ("a.png", b"\x89PNG\r\n\x1A\n\0\0".to_vec(), not),
        ("a.doc", b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\0".to_vec(), not),
        ("a.docx", zip(&[("[Content_Types].xml", b"<Types/>"), ("w.xml", b"<w/>")]), not),
        ("a.bin", vec![0xA5, 0, 1, 2], not),
        ("a.html", b"<!doctype html><html></html>".to_vec(), not),
        ("array.json", b"[1,2]".to_vec(), not),
        ("other.json", b"{\"a\":1}".to_vec(), not),
        ("other.xml", b"<a/>".to_vec(), not),
        ("patient.json", br#"{"resourceType":"Patient","id":"x"}"#.to_vec(), not),
        ("found.json", br#"{"resourceType":"Bundle","type":"searchset"}"#.to_vec(), not),
        ("bare.json", br#"{"resourceType":"DocumentReference","status":"current"}"#.to_vec(), not),
        ("empty.zip", zip(&[]), "nothing-inside"),
        ("damaged.zip", b"PK\x03\x04 no archive".to_vec(), "archive"),
        ("locked.zip", encrypted(zip(&[("a.json", b"{}")])), "archive"),
        ("nested.zip", zip(&[("in.zip", &zip(&[("a.json", b"{}")]))]), "archive"),
        ("bomb.zip", zip(&[("a.json", &vec![b' '; 30 << 20])]), "file-too-large"),
        ("esc\u{1B}[31m.json", Vec::new(), "file-empty"),
        ("new\nline.json", Vec::new(), "file-empty"),
        ("right\u{202E}left.json", Vec::new(), "file-empty"),
    ]
}

fn broken(json: &str, xml: &str) -> Vec<Case> {
    let head = br#"{"resourceType":"Bundle","type":"document","entry":"#;
    let deep = |open: &str| [&head[..], open.repeat(1_000_000).as_bytes()].concat();
    let spoilt = |from: &str, to: &str| {
        let text = json.replacen(from, to, 1);
        assert_ne!(text, json, "{from}");
        text.into_bytes()
    };
    let bomb = "<!DOCTYPE b [<!ENTITY a \"x\"><!ENTITY b \"&a;&a;&a;\">]>\n";
    vec![
        ("utf16.json", utf16(json), ""),
        ("latin1.json", latin1(json), ""),
        ("cut.json", json.as_bytes()[..json.len() / 2].to_vec(), ""),
        ("cut.xml", xml.as_bytes()[..xml.len() / 2].to_vec(), ""),
        ("deep.json", deep("["), ""),
        ("deeper.json", deep("{\"a\":"), ""),
        ("surrogate.json", spoilt("Muster", "\\ud800"), ""),
        ("bomb.xml", [bomb, "<Bundle xmlns=\"http://hl7.org/fhir\"/>"].concat().into(), ""),
        ("namespace.xml", xml.replace("http://hl7.org/fhir\"", "http://x.example\"").into(), ""),
    ]
}

#[test]
fn whatever_is_handed_over_is_named_and_only_reports_are_sent() {
    let folder = tempfile::tempdir().unwrap();
    Authority::init(folder.path());
    let authority = Authority::serve(folder.path(), &["--processing-delay", "10ms"]);
    let laboratory = Laboratory::at(&authority.base, folder.path());
    let json = DocumentBuilder::new(1).family("Muster").json();
    let xml = DocumentBuilder::new(2).family("Muster").xml();
    let line = serde_json::from_str::<serde_json::Value>(&json).unwrap().to_string();

    let place = laboratory.folder().join("in");
    std::fs::create_dir(&place).unwrap();
    let mut cases = foreign();
    cases.extend(broken(&json, &xml));
    for (name, content, _) in &cases {
        std::fs::write(place.join(name), content).unwrap();
    }
    std::fs::write(place.join("two.ndjson"), format!("{line}\n{{\"broken\n{{}}\n")).unwrap();
    let typeless = json.replacen("\"type\": \"document\",", "", 1);
    assert_ne!(typeless, json);
    std::fs::write(place.join("typeless.json"), typeless).unwrap();
    let twice = json.replacen("{", "{\"resourceType\":\"Bundle\",", 1);
    std::fs::write(place.join("twice.json"), twice).unwrap();
    let before = contents(&place);

    let (hollow, missing) = (laboratory.folder().join("hollow"), laboratory.folder().join("gone"));
    std::fs::create_dir(&hollow).unwrap();
    let mut paths = vec![place.clone(), hollow, missing];
    let mut inputs = before.len() + 2;
    #[cfg(unix)]
    {
        let (pipe, turn) = (laboratory.folder().join("pipe"), laboratory.folder().join("loop"));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        std::os::unix::fs::symlink(&turn, &turn).unwrap();
        paths.extend([pipe, turn, PathBuf::from("/dev/zero")]);
        inputs += 3;
    }
    let mut arguments = vec!["send", "--wait", "--timeout", "60s"];
    arguments.extend(paths.iter().map(|path| path.to_str().unwrap()));
    let answers = objects(&ends(&laboratory, 1, &arguments));

    for (name, _, code) in &cases {
        let of = |file: &str| file == *name || file.starts_with(&format!("{name}/"));
        let answer = answers.iter().find(|answer| of(answer["file"].as_str().unwrap()));
        let answer = answer.unwrap_or_else(|| panic!("{name}: no answer"));
        let found = answer["issues"][0]["code"].as_str().unwrap_or_default();
        assert!(answer["state"].is_null(), "{name}: {answer}");
        assert!(!found.is_empty() && (code.is_empty() || found == *code), "{name}: {found}");
    }
    let state = |file: &str| {
        let answer = answers.iter().find(|answer| answer["file"] == file);
        answer.unwrap_or_else(|| panic!("{file}: no answer"))["state"].clone()
    };
    assert_eq!(state("typeless.json"), "held", "meant as a document: a person decides");
    assert_eq!(state("two.ndjson:1"), "completed", "beside whatever is wrong");
    assert!(answers.len() >= inputs, "{} answers", answers.len());
    assert_eq!(stored(folder.path()).len(), 1, "nothing else was sent");
    assert_eq!(contents(&place), before, "files of the laboratory are only read");
    println!("input: {inputs} inputs, 0 panics, 0 changed files, 1 report sent");
}

#[test]
fn wrong_orders_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    Authority::init(folder.path());
    let authority = Authority::serve(folder.path(), &["--processing-delay", "10ms"]);
    let laboratory = Laboratory::at(&authority.base, folder.path());
    let report = laboratory.folder().join("report.json");
    std::fs::write(&report, DocumentBuilder::new(3).json()).unwrap();
    let report = report.to_str().unwrap();
    let sent = laboratory.must(&["send", report, "--wait", "--timeout", "60s"]);
    let id = sent[0]["id"].to_string();
    let pdf = laboratory.folder().join("key.p12");
    std::fs::write(&pdf, b"%PDF-1.7").unwrap();
    let pdf = pdf.to_str().unwrap();
    let certificate = authority.ca().display().to_string();
    let p12 = folder.path().join("pilot/riverside.p12").display().to_string();
    let orders: &[(i32, &[&str])] = &[
        (2, &["show", "999"]),
        (2, &["show", "nonsense"]),
        (2, &["withdraw", "999", "--reason", "x"]),
        (2, &["release", &id, "--reason", "x"]),
        (2, &["withdraw", &id, "--reason", "x"]),
        (2, &["resubmit", &id]),
        (2, &["endpoint", "use", "nowhere"]),
        (2, &["endpoint", "add", "plain", "http://127.0.0.1:1/"]),
        (2, &["endpoint", "add", "nonsense", "not an address"]),
        (1, &["identity", "import", pdf]),
        (1, &["identity", "import", &certificate]),
        (1, &["identity", "import", &p12]),
        (1, &["identity", "import", &p12, "--password-file", pdf]),
        (1, &["identity", "import", "/dev/null"]),
    ];
    for (code, arguments) in orders {
        ends(&laboratory, *code, arguments);
    }
    assert_eq!(objects(&ends(&laboratory, 0, &["show", &id]))[0], sent[0], "as it was");
    assert_eq!(objects(&ends(&laboratory, 0, &["identity", "show"])).len(), 1);

    // Each file of the profile cut, spoilt or taken away: it says so and leaves what it finds.
    let mut places = 0;
    for (file, bytes) in contents(&laboratory.profile()) {
        let newer =
            String::from_utf8_lossy(&bytes).replacen("\"version\": 1", "\"version\": 99", 1);
        let spoilt = [bytes[..bytes.len() / 2].to_vec(), vec![0x5A; bytes.len()], newer.into()];
        for other in spoilt.into_iter().filter(|other| *other != bytes) {
            let name = file.file_name().unwrap().to_str().unwrap();
            // A spoilt journal is replaced, which other tests show.
            if !["profile.json", "vault"].iter().any(|known| name.starts_with(known))
                || name.ends_with("-wal")
                || name.ends_with("-shm")
            {
                continue;
            }
            std::fs::write(&file, &other).unwrap();
            ends(&laboratory, 4, &["list"]);
            assert_eq!(std::fs::read(&file).unwrap(), other, "{name}");
            places += 1;
        }
        std::fs::write(&file, &bytes).unwrap();
    }
    assert!(places >= 5, "two files cut and spoilt, and settings of a newer program: {places}");
    assert_eq!(objects(&ends(&laboratory, 0, &["show", &id]))[0], sent[0], "as it was");
    println!("input: {} wrong orders, {places} damaged files, 0 panics", orders.len());
}
