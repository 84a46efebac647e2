//! Input from people who mean harm, and from programs that mean nothing: a reason and a place, in
//! bounded time, and never a panic.

#![allow(clippy::unwrap_used, reason = "a test says what is wrong by ending")]

use std::time::{Duration, Instant};

use fhir::{Finding, Format, Limits, Tree};

fn refused(bytes: &[u8], format: Format) -> Finding {
    let begun = Instant::now();
    let read = Tree::read(bytes, format, &Limits::default());
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    match read {
        Err(finding) => {
            let listed = fhir::codes::CODES.iter().find(|(code, _)| *code == finding.code);
            let names: Vec<_> = finding.params.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(listed.map(|(_, names)| *names), Some(&names[..]), "{}", finding.code);
            finding
        }
        Ok(_) => panic!("read: {}", String::from_utf8_lossy(&bytes[..bytes.len().min(200)])),
    }
}

fn json(text: impl AsRef<[u8]>) -> String {
    let finding = refused(text.as_ref(), Format::Json);
    let at = finding.position.unwrap();
    format!("{} {}:{}", finding.code, at.line, at.column)
}

fn xml(text: impl AsRef<[u8]>) -> String {
    let finding = refused(text.as_ref(), Format::Xml);
    let at = finding.position.unwrap();
    let reason = finding.params.iter().find(|(name, _)| name == "reason");
    let reason = reason.map_or(String::new(), |(_, reason)| format!(" {reason}"));
    format!("{}{reason} {}:{}", finding.code, at.line, at.column)
}

fn patient(inner: &str) -> String {
    format!("<Patient xmlns=\"http://hl7.org/fhir\">{inner}</Patient>")
}

#[test]
fn encodings() {
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let with_bom = [&[0xFF, 0xFE][..], &utf16("{\"resourceType\":\"Patient\"}")].concat();
    assert_eq!(json(&with_bom), "not-utf8 1:1");
    assert_eq!(json(utf16("{\"resourceType\":\"Patient\"}")), "not-utf8 1:1");
    assert_eq!(xml(utf16("<Patient/>")), "not-utf8 1:1");
    assert_eq!(json(b"{\"resourceType\":\"Patient\",\n \"id\":\"\xC3\x28\"}"), "not-utf8 2:8");
    assert_eq!(
        xml(b"<Patient xmlns=\"http://hl7.org/fhir\">\xED\xA0\x80</Patient>"),
        "not-utf8 1:38"
    );
    let declared =
        "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><Patient xmlns=\"http://hl7.org/fhir\"/>";
    assert_eq!(xml(declared), "not-utf8 1:1");
    for nothing in ["", "  \n", "\u{FEFF}"] {
        assert_eq!(refused(nothing.as_bytes(), Format::Json).code, "empty");
        assert_eq!(refused(nothing.as_bytes(), Format::Xml).code, "empty");
    }
    let bom = "\u{FEFF} {\"resourceType\":\"Patient\"}";
    assert_eq!(Format::sniff(bom.as_bytes()), Some(Format::Json));
    let tree = Tree::read(bom.as_bytes(), Format::Json, &Limits::default()).unwrap();
    assert_eq!((tree.source(), tree.root().position().column), (bom.as_bytes(), 2));
}

#[test]
fn broken_json() {
    assert_eq!(json("[]"), "json-syntax 1:1");
    assert_eq!(json("{}"), "no-resource 1:1");
    assert_eq!(json("{\"resourceType\":1}"), "no-resource 1:1");
    assert_eq!(json("{\"resourceType\":\"Patient\"} x"), "json-syntax 1:28");
    assert_eq!(json("{\"resourceType\":\"Patient\",}"), "json-syntax 1:27");
    assert_eq!(json("{\"resourceType\":\"Patient\",\n\"é\":01}"), "json-syntax 2:5");
    for value in [
        "tru",
        "nul",
        "+1",
        "1.",
        ".5",
        "NaN",
        "'x'",
        "\"a",
        "\"\u{1}\"",
        "\"\\x\"",
        "\"\\u12\"",
        "[1,]",
        "[",
        "{",
    ] {
        let code = refused(
            format!("{{\"resourceType\":\"Patient\",\"id\":{value}").as_bytes(),
            Format::Json,
        )
        .code;
        assert_eq!(code, "json-syntax", "{value}");
    }
    for lone in ["\\ud800", "\\udc00", "\\ud800x", "\\ud800\\u0041", "\\ud800\\ud800"] {
        let text = format!("{{\"resourceType\":\"Patient\",\"id\":\"{lone}\"}}");
        assert_eq!(json(text), "lone-surrogate 1:33", "{lone}");
    }
}

#[test]
fn broken_xml() {
    let head = "<Patient xmlns=\"http://hl7.org/fhir\">";
    assert_eq!(xml("text"), "xml-syntax content-outside-root 1:1");
    assert_eq!(xml("<!-- only -->"), "no-resource 1:14");
    assert_eq!(xml(head), "xml-syntax unclosed-tag 1:38");
    assert_eq!(xml(format!("{head}<id>")), "xml-syntax unclosed-tag 1:42");
    assert_eq!(xml(format!("{head}<id></di></Patient>")), "mismatched-end-tag 1:42");
    assert_eq!(xml(patient("") + "<Patient/>"), "xml-syntax content-after-root 1:48");
    assert_eq!(xml(patient("") + "x"), "xml-syntax content-outside-root 1:48");
    assert_eq!(xml(patient("<id value=\"a\" value=\"b\"/>")), "xml-syntax attribute 1:38");
    assert_eq!(xml(patient("<id value=a/>")), "xml-syntax attribute 1:38");
    assert_eq!(xml(patient("<id value=\"<\"/>")), "xml-syntax attribute 1:38");
    assert_eq!(xml(patient("<1/>")), "xml-syntax name 1:38");
    assert_eq!(xml(patient("<x:id/>")), "xml-syntax undeclared-prefix 1:38");
    assert_eq!(xml(patient("\u{1}")), "xml-syntax character 1:38");
    assert_eq!(xml(patient("\u{FFFE}")), "xml-syntax character 1:38");
    assert_eq!(xml(patient("<id value=\"&nbsp;\"/>")), "entity-refused 1:49");
    assert_eq!(xml(patient("&xxe;")), "entity-refused 1:38");
    assert_eq!(
        xml(patient("<text><div xmlns=\"http://www.w3.org/1999/xhtml\">&nbsp;")),
        "entity-refused 1:86"
    );
    for root in [
        "<Patient/>",
        "<Patient xmlns=\"http://hl7.org/fhir/\"/>",
        "<html xmlns=\"http://www.w3.org/1999/xhtml\"/>",
    ] {
        assert_eq!(xml(root), "wrong-namespace 1:1");
    }
}

#[test]
fn entities_never_grow() {
    let bomb = "<!DOCTYPE lolz [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;\">]>".to_owned()
        + &patient("&b;");
    assert_eq!(xml(&bomb), "dtd-refused 1:1");
    let external = "<!DOCTYPE Patient SYSTEM \"file:///etc/passwd\">".to_owned() + &patient("");
    assert_eq!(xml(&external), "dtd-refused 1:1");
}

#[test]
fn depth_is_bounded() {
    let deep = 1_000_000;
    assert_eq!(refused("[".repeat(deep).as_bytes(), Format::Json).code, "json-syntax");
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"extension\":", "}]")] {
        let inner = format!("{}1{}", open.repeat(deep), close.repeat(deep));
        let text = format!("{{\"resourceType\":\"Patient\",\"extension\":{inner}}}");
        assert_eq!(refused(text.as_bytes(), Format::Json).code, "too-deep");
        let late = format!("{{\"extension\":{inner},\"resourceType\":\"Patient\"}}");
        assert_eq!(refused(late.as_bytes(), Format::Json).code, "too-deep");
    }
    let resources = "{\"resourceType\":\"Patient\",\"contained\":[".repeat(20_000);
    assert_eq!(refused(resources.as_bytes(), Format::Json).code, "too-deep");
    let inner = format!("{}{}", "<extension>".repeat(deep / 2), "</extension>".repeat(deep / 2));
    assert_eq!(refused(patient(&inner).as_bytes(), Format::Xml).code, "too-deep");
    let div = "<text><div xmlns=\"http://www.w3.org/1999/xhtml\">".to_owned() + &"<b>".repeat(deep);
    assert_eq!(refused(patient(&div).as_bytes(), Format::Xml).code, "too-deep");
    // Whatever the limit says, no stack is overrun.
    let limits = Limits { depth_max: usize::MAX, bytes_max: usize::MAX, elements_max: usize::MAX };
    let inner = "{\"resourceType\":\"Patient\",\"extension\":".to_owned()
        + &"[{\"extension\":".repeat(deep);
    assert_eq!(Tree::read(inner.as_bytes(), Format::Json, &limits).unwrap_err().code, "too-deep");
    let just = format!("{}1{}", "[{\"extension\":".repeat(60), "}]".repeat(60));
    let text = format!("{{\"resourceType\":\"Patient\",\"extension\":{just}}}");
    let tree = Tree::read(text.as_bytes(), Format::Json, &Limits::default()).unwrap();
    assert!(!tree.check().is_empty());
    let across = tree.to_xml();
    assert!(Tree::read(across.as_bytes(), Format::Xml, &Limits::default()).is_ok());
}

/// The deepest that is read fits the smallest stack of a main thread (1 MiB, Windows).
#[test]
fn the_deepest_document_fits_a_small_stack() {
    let deepest = std::thread::Builder::new().stack_size(1 << 20).spawn(|| {
        let limits =
            Limits { depth_max: usize::MAX, bytes_max: usize::MAX, elements_max: usize::MAX };
        let inner = format!("{}1{}", "{\"extension\":".repeat(63), "}".repeat(63));
        let text = format!("{{\"resourceType\":\"Patient\",\"extension\":{inner}}}");
        let tree = Tree::read(text.as_bytes(), Format::Json, &limits).unwrap();
        assert!(tree.check().len() > 50);
        let across = Tree::read(tree.to_xml().as_bytes(), Format::Xml, &limits).unwrap();
        assert!(tree.root().same_as(across.root()));
        assert!(!across.check().is_empty() && !across.to_json().is_empty());
    });
    deepest.unwrap().join().unwrap();
}

#[test]
fn size_and_number_are_bounded() {
    let limits = Limits { bytes_max: 10, ..Limits::default() };
    assert_eq!(Tree::read(&[b' '; 11], Format::Json, &limits).unwrap_err().code, "too-large");
    let attributes: String = (0..200_000).map(|number| format!(" a{number}=\"\"")).collect();
    assert_eq!(
        refused(patient(&format!("<id{attributes}/>")).as_bytes(), Format::Xml).code,
        "too-many-attributes"
    );
    let spaces: String = (0..200_000).map(|number| format!(" xmlns:a{number}=\"u\"")).collect();
    assert_eq!(
        refused(patient(&format!("<id{spaces}/>")).as_bytes(), Format::Xml).code,
        "too-many-attributes"
    );
    let many = format!("{{\"resourceType\":\"Patient\",\"x\":[{}1]}}", "1,".repeat(600_000));
    assert_eq!(refused(many.as_bytes(), Format::Json).code, "too-many-elements");
    let many = "<name/>".repeat(600_000);
    assert_eq!(refused(patient(&many).as_bytes(), Format::Xml).code, "too-many-elements");
}

/// What is legal to read but large and wrong everywhere takes time in proportion, not its square.
#[test]
fn many_wrong_things_take_bounded_time() {
    let keys: String = (0..30_000).map(|number| format!(",\"key{number}\":{{\"a\":1}}")).collect();
    let alternating = ",\"active\":1,\"gender\":2".repeat(15_000);
    let faces = format!(
        ",\"_x\":[{}null],\"x\":[{}1]",
        "{\"id\":\"a\"},".repeat(15_000),
        "1,".repeat(15_000)
    );
    for inner in [keys, alternating, faces] {
        let begun = Instant::now();
        let text = format!("{{\"resourceType\":\"Patient\"{inner}}}");
        let tree = Tree::read(text.as_bytes(), Format::Json, &Limits::default()).unwrap();
        let findings = tree.check();
        assert!(findings.len() <= 10_001);
        let again = tree.to_xml();
        let across = Tree::read(again.as_bytes(), Format::Xml, &Limits::default()).unwrap();
        assert!(across.check().len() <= 10_001);
        assert!(tree.root().same_as(across.root()));
        assert!(across.to_json().len() > 100_000);
        assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
    }
}

#[test]
fn names_that_xml_does_not_have_are_still_written() {
    let text = r#"{"resourceType":"Patient","a b":1,"":{"<x>":"\u0000"},"resource Type":[[1,{"a":null}]],"x:y":true,"1a":null}"#;
    let tree = Tree::read(text.as_bytes(), Format::Json, &Limits::default()).unwrap();
    assert_eq!(tree.check().len(), 5);
    assert_eq!(tree.to_json(), text);
    let across = Tree::read(tree.to_xml().as_bytes(), Format::Xml, &Limits::default()).unwrap();
    assert!(across.root().child("a_x0020_b").is_some());
    assert!(across.root().child("_x0031_a").is_some());
}

/// Every cut of a document, and every flip of a byte, is read or refused.
#[test]
fn cuts_and_flips() {
    for (name, format) in [
        ("padding.json", Format::Json),
        ("padding.xml", Format::Xml),
        ("narrative.json", Format::Json),
        ("narrative.xml", Format::Xml),
    ] {
        let path =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/good").join(name);
        let bytes = std::fs::read(path).unwrap();
        for cut in 0..bytes.len() {
            let _ = Tree::read(&bytes[..cut], format, &Limits::default());
        }
        for at in (0..bytes.len()).step_by(3) {
            for flip in [b'<', b'>', b'"', b'&', b'{', b']', b'\\', b' ', 0, 0xFF] {
                let mut flipped = bytes.clone();
                flipped[at] = flip;
                if let Ok(tree) = Tree::read(&flipped, format, &Limits::default()) {
                    drop(tree.check());
                    let json = tree.to_json();
                    let again =
                        Tree::read(json.as_bytes(), Format::Json, &Limits::default()).unwrap();
                    drop(again.check());
                    if at % 2 == 0 {
                        let xml = tree.to_xml();
                        Tree::read(xml.as_bytes(), Format::Xml, &Limits::default())
                            .unwrap_or_else(|finding| panic!("{finding:?} {xml}"));
                    }
                }
            }
        }
    }
}
