//! The texts that the table of faults names: each is refused with a reason and a place, or read as
//! it is; and what is sent of it equals what was received.

use std::time::{Duration, Instant};

use fhir::{Format, Limits, Tree};
use testkit::Figures;

const DEEP: usize = 1_000_000;

fn patient(inner: &str) -> Vec<u8> {
    format!("<Patient xmlns=\"http://hl7.org/fhir\">{inner}</Patient>").into_bytes()
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn json(inner: &str) -> Vec<u8> {
    format!("{{\"resourceType\":\"Patient\",{inner}}}").into_bytes()
}

/// What is refused outright: name, text, encoding, code.
fn refused() -> Vec<(&'static str, Vec<u8>, Format, &'static str)> {
    use Format::{Json, Xml};
    let nested = format!("{}1{}", "[{\"extension\":".repeat(DEEP), "}]".repeat(DEEP));
    let tags = format!("{}{}", "<a>".repeat(DEEP), "</a>".repeat(DEEP));
    let attributes: String = (0..200_000).map(|number| format!(" a{number}=\"\"")).collect();
    let lols = "<!DOCTYPE x [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;\">]>";
    let external = "<!DOCTYPE Patient SYSTEM \"file:///etc/passwd\">";
    vec![
        ("JSON a million deep", json(&format!("\"extension\":{nested}")), Json, "too-deep"),
        ("JSON never closed", "[".repeat(DEEP).into_bytes(), Json, "json-syntax"),
        ("lone high surrogate", json("\"id\":\"\\ud800\""), Json, "lone-surrogate"),
        ("lone low surrogate", json("\"id\":\"\\udc00\""), Json, "lone-surrogate"),
        ("two high surrogates", json("\"id\":\"\\ud800\\ud800\""), Json, "lone-surrogate"),
        ("bad UTF-8 in JSON", b"{\"resourceType\":\"\xC3\x28\"}".to_vec(), Json, "not-utf8"),
        ("bad UTF-8 in XML", patient("\u{1}").replace_byte(1, 0xFF), Xml, "not-utf8"),
        ("UTF-16 JSON", utf16("{\"resourceType\":\"Patient\"}"), Json, "not-utf8"),
        ("UTF-16 XML", utf16("<Patient/>"), Xml, "not-utf8"),
        ("XML bomb", [lols.as_bytes(), &patient("&b;")].concat(), Xml, "dtd-refused"),
        ("external DTD", [external.as_bytes(), &patient("")].concat(), Xml, "dtd-refused"),
        ("unknown entity", patient("&xxe;"), Xml, "entity-refused"),
        ("XML a million deep", patient(&tags), Xml, "too-deep"),
        ("200,000 attributes", patient(&format!("<id{attributes}/>")), Xml, "too-many-attributes"),
        ("no namespace", b"<Patient/>".to_vec(), Xml, "wrong-namespace"),
        ("another namespace", b"<Patient xmlns=\"urn:x\"/>".to_vec(), Xml, "wrong-namespace"),
    ]
}

trait Replaced {
    fn replace_byte(self, from: u8, to: u8) -> Self;
}

impl Replaced for Vec<u8> {
    fn replace_byte(mut self, from: u8, to: u8) -> Self {
        self.iter_mut().filter(|byte| **byte == from).for_each(|byte| *byte = to);
        self
    }
}

/// What is read all the same: name, text, what the check says first, if anything.
fn read() -> Vec<(&'static str, Vec<u8>, Option<&'static str>)> {
    let bundle = |inner: &str| {
        format!("{{\"resourceType\":\"Bundle\",\"type\":\"document\"{inner}}}").into_bytes()
    };
    let value = "\"resource\":{\"resourceType\":\"Observation\",\"status\":\"final\",\
                 \"code\":{\"text\":\"x\"},\"valueQuantity\":{\"value\":1e400}}";
    vec![
        ("duplicate keys", bundle(",\"type\":\"batch\""), Some("duplicate-key")),
        ("1e400", bundle(&format!(",\"entry\":[{{{value}}}]")), None),
        ("byte order mark", [&b"\xEF\xBB\xBF"[..], &bundle("")].concat(), None),
    ]
}

#[test]
fn the_named_texts() {
    let mut figures = Figures::start("hostile-text", "the_named_texts");
    let mut longest = Duration::ZERO;
    for (name, bytes, format, code) in refused() {
        let begun = Instant::now();
        let finding = Tree::read(&bytes, format, &Limits::default()).expect_err(name);
        longest = longest.max(begun.elapsed());
        assert_eq!(finding.code, code, "{name}");
        let at = finding.position.unwrap_or_else(|| panic!("{name}: no place"));
        assert!(at.start <= at.end && at.end <= bytes.len(), "{name}: {at:?}");
        figures.cases(1);
    }
    for (name, bytes, code) in read() {
        let tree = Tree::read(&bytes, Format::Json, &Limits::default());
        let tree = tree.unwrap_or_else(|finding| panic!("{name}: {finding:?}"));
        let said = tree.check();
        assert_eq!(said.first().map(|finding| finding.code.as_str()), code, "{name}: {said:?}");
        let wrapped = exchange::wrap(&tree, "urn:uuid:1", "de-CH").expect(name);
        let inserted = exchange::permitted_insertions(&tree);
        let mut expected = tree.source()[tree.root().position().start..].to_vec();
        let start = tree.root().position().start;
        for (offset, text) in inserted.iter().rev() {
            expected.splice(offset - start..offset - start, text.bytes());
        }
        let found = wrapped.body.windows(expected.len()).any(|window| window == expected);
        assert!(found, "{name}: what is sent is not what was received");
        figures.cases(1);
    }
    // A million levels are megabytes of text, read in an unoptimised build on a machine that does
    // other things.
    assert!(longest < Duration::from_secs(20), "{longest:?}");
    figures.measure("longest seconds", longest.as_secs_f64());
    figures.finish();
}
