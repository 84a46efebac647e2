//! Answers and pages, with every oddity that was seen or is left open.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test may fail"
)]

use std::path::PathBuf;

use exchange::canonical::STATUS_EXTENSION;
use exchange::{Answer, AnswerProblem, Page, Processing};
use fhir::{Format, Instant, Limits, Tree};

fn read(text: &str) -> Tree {
    Tree::read(text.as_bytes(), Format::Json, &Limits::default()).unwrap()
}

fn reference(fields: &str, status: &str, outcome: &str) -> String {
    format!(
        r#"{{"resourceType":"DocumentReference",{fields}"extension":[{{"url":"{STATUS_EXTENSION}","extension":[{{"url":"status","valueCode":"{status}"}}{outcome}]}}],"status":"current"}}"#
    )
}

const OUTCOME: &str = r#","contained":[{"resourceType":"OperationOutcome","id":"o","issue":[{"severity":"information","code":"duplicate","details":{"text":"stored already"}}]}]"#;

#[test]
fn an_answer_to_a_create_without_meta_and_with_narrative() {
    let text = reference(
        r#""id":"r-1","text":{"status":"generated","div":"<div xmlns=\"http://www.w3.org/1999/xhtml\"><b>x</b></div>"},"identifier":[{"system":"urn:ietf:rfc:3986","value":"urn:uuid:1"}],"date":"2025-07-10T08:30:00.1234567+02:00","#,
        "in-progress",
        "",
    );
    let answer = Answer::read(read(&text).root()).unwrap();
    assert_eq!(answer.receipt.as_deref(), Some("r-1"));
    assert_eq!(answer.processing, Some(Processing::InProgress));
    assert_eq!(answer.identifiers, ["urn:uuid:1"]);
    assert_eq!(answer.date, Instant::parse("2025-07-10T06:30:00.123456Z"));
    assert_eq!(answer.last_updated, None);
}

#[test]
fn the_outcome_is_read_in_every_state_named_or_not() {
    for status in ["completed", "failed", "in-progress"] {
        for part in [r##",{"url":"outcome","valueReference":{"reference":"#o"}}"##, ""] {
            let text = reference(&format!("\"id\":\"r\"{OUTCOME},"), status, part);
            let answer = Answer::read(read(&text).root()).unwrap();
            assert_eq!(answer.issues.len(), 1);
            assert_eq!(answer.issues[0].text, "stored already");
        }
    }
}

#[test]
fn what_is_incomplete_is_no_answer() {
    let incomplete = |element| Err(AnswerProblem::Incomplete { element });
    for (text, expected) in [
        (reference("", "in-progress", ""), incomplete("id")),
        (reference("\"id\":\"r\",", "done", ""), incomplete("status")),
        (r#"{"resourceType":"DocumentReference","id":"r"}"#.to_owned(), incomplete("status")),
        (
            r#"{"resourceType":"Patient"}"#.to_owned(),
            Err(AnswerProblem::NotAnAnswer { found: "Patient".to_owned() }),
        ),
    ] {
        assert_eq!(Answer::read(read(&text).root()), expected, "{text}");
    }
    // Two that contradict each other say nothing; the same one twice says what it says.
    let completed = reference("\"id\":\"r\",", "completed", "");
    for (second, expected) in
        [("failed", incomplete("status")), ("completed", Answer::read(read(&completed).root()))]
    {
        let part = format!(r#",{{"url":"status","valueCode":"{second}"}}"#);
        let within = reference("\"id\":\"r\",", "completed", &part);
        assert_eq!(Answer::read(read(&within).root()), expected, "{within}");
        let extension = format!(
            r#""extension":[{{"url":"{STATUS_EXTENSION}","extension":[{{"url":"status","valueCode":"{second}"}}]}},"#
        );
        let beside = completed.replacen("\"extension\":[", &extension, 1);
        assert_eq!(Answer::read(read(&beside).root()), expected, "{beside}");
    }
    let old = reference(&OUTCOME[1..].replace("}]}]", "}]}],"), "failed", "");
    let refused = Answer::read(read(&old).root()).unwrap();
    assert_eq!((refused.receipt, refused.processing), (None, Some(Processing::Failed)));
    assert_eq!(refused.issues.len(), 1);
}

#[test]
fn a_page_keeps_its_links_as_given() {
    let text = format!(
        r#"{{"resourceType":"Bundle","type":"searchset","timestamp":"2025-01-01T00:00:00Z","total":7,"link":[{{"relation":"self","url":"s?_count=4"}},{{"relation":"next","url":"?_page=1&_count=4"}},{{"relation":"previous","url":"p"}}],"entry":[{{"resource":{}}},{{"resource":{{"resourceType":"OperationOutcome","issue":[{{"severity":"warning","code":"processing","diagnostics":"w"}}]}},"search":{{"mode":"outcome"}}}},{{"resource":{{"resourceType":"Patient"}}}},{{"fullUrl":"urn:x"}}]}}"#,
        reference("\"id\":\"r\",", "failed", "")
    );
    let page = Page::read(read(&text).root()).unwrap();
    assert_eq!(page.total, Some(7));
    assert_eq!(page.timestamp, Instant::parse("2025-01-01T00:00:00Z"));
    assert_eq!((page.answers.len(), page.issues.len(), page.unreadable), (1, 1, 2));
    assert_eq!(page.links.self_.as_deref(), Some("s?_count=4"));
    assert_eq!(page.links.next.as_deref(), Some("?_page=1&_count=4"));
    assert_eq!(page.links.prev.as_deref(), Some("p"));
    assert_eq!(page.links.last, None);
    assert_eq!(Page::read(read(r#"{"resourceType":"Bundle","type":"document"}"#).root()), None);
    assert_eq!(Page::read(read(r#"{"resourceType":"OperationOutcome"}"#).root()), None);
}

#[published::needs("corpus/exchange")]
#[test]
fn published_answers_read() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/exchange");
    let published = |name: &str| read(&std::fs::read_to_string(folder.join(name)).unwrap());
    for (name, processing, issues) in [
        ("InProgress", Processing::InProgress, 0),
        ("Completed", Processing::Completed, 0),
        ("Failed", Processing::Failed, 1),
    ] {
        let tree = published(&format!("DocumentReference-1-DocumentReferenceResponse{name}.json"));
        let answer = Answer::read(tree.root()).unwrap();
        assert_eq!(answer.processing, Some(processing));
        assert_eq!(answer.issues.len(), issues);
        assert_eq!(answer.receipt, Some(format!("1-DocumentReferenceResponse{name}")));
        assert!(answer.last_updated.is_some() && answer.date.is_some());
    }
    let tree = published("Bundle-ex-findDocumentReferencesResponse.json");
    let page = Page::read(tree.root()).unwrap();
    assert_eq!((page.total, page.answers.len(), page.unreadable), (Some(1), 1, 0));
    assert_eq!(page.answers[0].issues[0].text, "unknown type of laboratory report");
    assert!(page.links.self_.is_some() && page.links.next.is_none());
}
