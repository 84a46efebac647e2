//! FHIR as JSON and XML: read, judged, written, read again, wrapped.

use fhir::{Element, Finding, Format, Instant, Limits, Tree};

pub(crate) const JSON_WORDS: &[&str] = &[
    "\"resourceType\":\"Bundle\",",
    "\"resourceType\":\"Patient\",",
    "\"resourceType\":",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "null",
    "true",
    "1e400",
    "-0.0",
    "\\ud800",
    "\\u0000",
    "\u{feff}",
    "\u{202e}",
    "\"entry\":[",
    "\"resource\":",
    "\"contained\":[",
    "\"extension\":[{\"url\":\"x\",",
    "\"_birthDate\":",
    "\"meta\":{\"profile\":[",
    "\"meta\":null,",
    "\"id\":\"a\",",
    "\"_id\":{},",
    "\"div\":\"<div>\"",
    "é",
    "😀",
    "\"type\":\"document\",",
    "\"language\":\"de\"",
    "\"identifier\":[{\"value\":\"urn:uuid:1\"}]",
];
pub(crate) const XML_WORDS: &[&str] = &[
    "<Bundle xmlns=\"http://hl7.org/fhir\">",
    "</Bundle>",
    "<entry><resource>",
    "</resource></entry>",
    "<id value=\"a\"/>",
    "<meta/>",
    "<contained>",
    "</contained>",
    " value=\"",
    "/>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?xml version=\"1.0\"?>",
    "<!DOCTYPE x [<!ENTITY a \"b\">]>",
    "&a;",
    "&#x0;",
    "&#13;",
    "&lt;",
    "<?p ?>",
    "xmlns:f=\"http://hl7.org/fhir\"",
    "f:",
    "<div xmlns=\"http://www.w3.org/1999/xhtml\">",
    "</div>",
    "xml:id=\"x\"",
    "\u{feff}",
    "é",
    "\r\n",
    "\t",
    "<extension url=\"x\">",
    "</extension>",
    "<type value=\"document\"/>",
    "<language value=\"de\"/>",
];

/// Elements looked at one by one: each look goes through all of them.
const ELEMENTS_MAX: usize = 150;

pub(crate) fn json(bytes: &[u8]) {
    document(bytes, Format::Json);
}

pub(crate) fn xml(bytes: &[u8]) {
    document(bytes, Format::Xml);
}

fn document(bytes: &[u8], format: Format) {
    let kind = report::recognise(bytes);
    assert!(report::Kind::CODES.contains(&kind.code()));
    let tree = match Tree::read(bytes, format, &Limits::default()) {
        Ok(tree) => tree,
        Err(finding) => return inside(&finding, bytes),
    };
    assert_eq!(tree.source(), bytes, "the source is kept as it came");
    let findings = tree.check();
    findings.iter().for_each(|finding| inside(finding, bytes));
    places(&tree);
    written(&tree, findings.is_empty());
    judged(&tree);
    wrapped(&tree);
}

/// A finding is one of the list, and its place lies within the text.
fn inside(finding: &Finding, bytes: &[u8]) {
    assert!(fhir::codes::CODES.iter().any(|(code, _)| *code == finding.code), "{}", finding.code);
    if let Some(at) = finding.position {
        assert!(at.start <= at.end && at.end <= bytes.len(), "{finding:?} of {}", bytes.len());
        assert!(at.line >= 1 && at.column >= 1, "{finding:?}");
    }
}

/// Every element stands within the text and within what it is part of, and is found by its path and
/// place.
fn places(tree: &Tree) {
    let mut open = vec![tree.root()];
    let mut seen = 0;
    while let Some(element) = open.pop() {
        let at = element.position();
        assert!(at.start <= at.end && at.end <= tree.source().len());
        assert!(std::str::from_utf8(element.source()).is_ok(), "cut within a character");
        seen += 1;
        if seen > ELEMENTS_MAX {
            return;
        }
        let expression = element.expression();
        // A resource of the type "" has an empty path, which leads nowhere.
        assert!(expression.is_empty() || tree.find(&expression).is_some(), "{expression:?}");
        if at.start < at.end {
            let found = tree.at(at.line, at.column);
            let found = found.unwrap_or_else(|| panic!("nothing at {at:?}")).position();
            assert!(found.start <= at.start && at.start < found.end, "{found:?} for {at:?}");
        }
        open.extend(element.children());
    }
}

/// What is written can be read, is the same data, and is written the same again; in the other
/// encoding and back too, where there is nothing wrong with the document.
fn written(tree: &Tree, is_sound: bool) {
    let own = tree.format();
    let text = tree.write(own);
    let again = read(&text, own);
    assert!(tree.root().same_as(again.root()), "other data after writing: {text}");
    assert_eq!(again.write(own), text, "written twice");
    let other = if own == Format::Json { Format::Xml } else { Format::Json };
    let across_text = tree.write(other);
    // What is wrong with a document may not be sayable in the other encoding: then it can be read,
    // no more.
    let across = read(&across_text, other);
    if is_sound {
        assert_eq!(across.write(other), across_text, "written twice, across");
        assert!(tree.root().same_as(across.root()), "other data across: {across_text}");
        let back_text = across.write(own);
        let back = read(&back_text, own);
        assert!(tree.root().same_as(back.root()), "other data there and back: {back_text}");
        assert_eq!(across.check(), vec![], "a sound document stays one: {across_text}");
    }
}

fn read(text: &str, format: Format) -> Tree {
    Tree::read(text.as_bytes(), format, &Limits::default())
        .unwrap_or_else(|finding| panic!("{finding:?} in what was written: {text}"))
}

/// Our own rules say something about places that are there.
fn judged(tree: &Tree) {
    // 2026-11-20T00:00:00Z
    let now = Instant::from_seconds(1_795_132_800);
    for finding in report::check(tree.root(), now) {
        let expression = &finding.expression;
        assert!(expression.is_empty() || tree.find(expression).is_some(), "{expression:?}");
    }
    let _ = report::Summary::of(tree.root());
    let _ = exchange::check_envelope(tree, exchange::Strictness::Specified);
}

/// What is sent holds what was received, byte for byte, but for the insertions that are permitted.
fn wrapped(tree: &Tree) {
    let root = tree.root();
    let Ok(wrapped) =
        exchange::wrap(tree, "urn:uuid:0b9d4c7e-51aa-4e0b-8a3f-000000000001", "de-CH")
    else {
        return;
    };
    if let Some(envelope) = exchange::envelope_of(tree) {
        let own = envelope.identifier.unwrap_or_default();
        let wrapped = exchange::wrap(tree, own, "de-CH").expect("it was wrapped a moment ago");
        let mut expected = tree.source().to_vec();
        for (offset, text) in exchange::permitted_insertions(tree).into_iter().rev() {
            expected.splice(offset..offset, text.into_bytes());
        }
        assert_eq!(wrapped.body, expected, "an envelope travels as it is but for what is inserted");
        return;
    }
    let insertions = exchange::permitted_insertions(tree);
    assert!(insertions.is_sorted_by_key(|(offset, _)| *offset));
    let at = root.position();
    let mut rest = between(&wrapped.body, contained(root, &insertions));
    let mut from = at.start;
    for (offset, text) in &insertions {
        assert!((from..=at.end).contains(offset), "{offset} is outside");
        rest = without(rest, &tree.source()[from..*offset]);
        rest = without(rest, text.as_bytes());
        from = *offset;
    }
    rest = without(rest, &tree.source()[from..at.end]);
    assert!(rest.is_empty());
    let body = Tree::read(&wrapped.body, tree.format(), &Limits::default());
    let body = body.unwrap_or_else(|finding| panic!("{finding:?}: what is sent cannot be read"));
    assert_eq!(body.root().text("identifier.value"), Some(&*wrapped.identifier));
}

/// Length of the document within the envelope.
fn contained(root: Element<'_>, insertions: &[exchange::Insertion]) -> usize {
    root.source().len() + insertions.iter().map(|(_, text)| text.len()).sum::<usize>()
}

/// The document within the envelope: after its fixed head.
fn between(body: &[u8], length: usize) -> &[u8] {
    let heads: [&[u8]; 2] = [
        b"{\"resourceType\":\"DocumentReference\",\"contained\":[",
        b"<DocumentReference xmlns=\"http://hl7.org/fhir\"><contained>",
    ];
    let head = heads.iter().find(|head| body.starts_with(head)).expect("the head of an envelope");
    &body[head.len()..head.len() + length]
}

fn without<'b>(bytes: &'b [u8], start: &[u8]) -> &'b [u8] {
    bytes.strip_prefix(start).expect("what is sent is what was received")
}
