//! What the authority says: answers, pages, links; and what it is asked.

use exchange::{Answer, Page, Query, Release, TimeFilter};
use fhir::{Format, Instant, Limits, Tree};
use url::Url;

pub(crate) const WORDS: &[&str] = &[
    "\"resourceType\":\"DocumentReference\",",
    "\"resourceType\":\"OperationOutcome\",",
    "\"type\":\"searchset\",",
    "\"valueCode\":\"completed\"",
    "\"valueCode\":\"failed\"",
    "\"url\":\"status\"",
    "\"url\":\"outcome\"",
    "\"link\":[{\"relation\":\"next\",\"url\":\"u\"}],",
    "\"total\":18446744073709551616,",
    "\"issue\":[",
    "\"severity\":\"fatal\",",
    "\"diagnostics\":\"",
    "\"details\":{\"coding\":[{\"code\":\"",
    "\"id\":\"\",",
    "\"reference\":\"#o\"",
    "\"date\":\"2026\",",
    "\"expression\":[\"",
    "null",
    "[]",
    "{}",
    ",",
    "<html>",
    "<issue><severity value=\"error\"/></issue>",
    "\\u001b[31m",
];
pub(crate) const LINK_WORDS: &[&str] = &[
    "https://a.example",
    "http://",
    "https:",
    "//",
    "\\",
    "@",
    "user:pass@",
    ":443",
    ":8443",
    "#",
    "?page=2",
    "/../",
    "%2e%2e",
    "\t",
    "\n",
    "\0",
    "javascript:",
    "data:",
    "file:///",
    "a.example.",
    "xn--",
    "\u{3002}",
    "[::1]",
    "0x7f.1",
    "ftp:",
    "A.EXAMPLE",
    "\u{ff0f}",
    "blob:https://a.example/",
];
pub(crate) const QUERY_WORDS: &[&str] = &[
    "identifier=",
    "_lastUpdated=ge",
    "_lastUpdate=",
    "date=",
    "elm-status=failed",
    "_sort=-date,",
    "_count=",
    "page=",
    "_id=",
    "&",
    "=",
    ",",
    "|",
    "%2C",
    "%7C",
    "%00",
    "%FF",
    "%",
    "+",
    "2026-11-20T08:00:00Z",
    "ne2025",
    "4294967296",
    "_summary=count",
];

/// An answer in either encoding is read as the same, or refused with a reason.
pub(crate) fn answer(bytes: &[u8]) {
    let Some(format) = Format::sniff(bytes) else { return };
    let Ok(tree) = Tree::read(bytes, format, &Limits::default()) else { return };
    let answer = Answer::read(tree.root());
    let page = Page::read(tree.root());
    let _ = fhir::issues_of(tree.root());
    if let Ok(answer) = &answer {
        let kept = serde_json::to_string(answer).expect("an answer can be kept");
        let again: Answer = serde_json::from_str(&kept).expect("what is kept can be read");
        assert_eq!(&again, answer);
        assert!(answer.receipt.as_ref().is_none_or(|id| !id.is_empty()));
    }
    if let Some(page) = &page {
        assert!(page.answers.len() + page.unreadable <= tree.root().all("entry").count());
    }
    if !tree.check().is_empty() {
        return;
    }
    let other = if format == Format::Json { Format::Xml } else { Format::Json };
    let text = tree.write(other);
    let across = Tree::read(text.as_bytes(), other, &Limits::default());
    let across = across.unwrap_or_else(|finding| panic!("{finding:?} in what was written: {text}"));
    assert_eq!(Answer::read(across.root()), answer, "another answer in the other encoding");
    assert_eq!(Page::read(across.root()), page, "another page in the other encoding");
}

/// A link of an answer leads to the configured server, without credentials, or nowhere.
pub(crate) fn link(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for base in ["https://a.example/v1/fhir", "https://a.example:8443/", "https://[::1]:9/x/"] {
        let base = Url::parse(base).expect("an address");
        let Some(url) = exchange::followable(&base, &text) else { continue };
        assert_eq!(url.scheme(), "https");
        assert_eq!(url.host(), base.host());
        assert_eq!(url.port_or_known_default(), base.port_or_known_default());
        assert_eq!((url.username(), url.password()), ("", None));
        // As it is written into the request, it is still the same place.
        let again = Url::parse(url.as_str()).expect("what is followed is an address");
        assert_eq!(again.origin(), base.origin());
    }
}

/// What is asked is read as it was meant: parse, write, parse is the identity for the release that
/// says how times are meant. For the others, times get their zone and what the release does not
/// offer is left out; once that is done, nothing changes any more.
pub(crate) fn query(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    assert_eq!(exchange::decode(&exchange::encode(&text)), text);
    for release in Release::ALL {
        let (query, unknown) = match Query::parse(&text, release) {
            Ok(read) => read,
            Err(problems) => {
                assert!(!problems.is_empty());
                continue;
            }
        };
        assert!(unknown.len() <= exchange::pairs(&text).count());
        let written = query.to_query_string(release);
        assert!(written.is_ascii() && !written.contains(['#', ' ', '\r', '\n']), "{written}");
        let again = Query::parse(&written, release);
        if release == Release::R1_13_1 {
            assert_eq!(again, Ok((query, Vec::new())), "{written}");
            continue;
        }
        let (again, unknown) = again.expect("what was written is read");
        assert_eq!((again.to_query_string(release), unknown.len()), (written, 0));
        assert_eq!(again.beyond(release), None);
    }
    if let Some(filter) = TimeFilter::parse(&text) {
        let _ = filter.matches(Instant::from_seconds(1_795_132_800));
        assert!(filter.alternatives().all(|(_, period)| period.is_some()));
    }
}
