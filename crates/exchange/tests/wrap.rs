//! The document travels as its text; what is added is what `permitted_insertions` says.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test may fail"
)]

use std::path::PathBuf;

use exchange::canonical::{BUNDLE_EU_LAB, DOCUMENT, DOCUMENT_STRICT};
use exchange::{
    Strictness, WrapProblem, check_envelope, document_of, envelope_of, permitted_insertions, wrap,
};
use fhir::{Format, Limits, Severity, Tree};
use proptest::prelude::*;

const IDENTIFIER: &str = "urn:uuid:2a3c5f0e-8d1b-4c77-9d54-0a1b2c3d4e5f";

fn read(text: &[u8], format: Format) -> Tree {
    Tree::read(text, format, &Limits::default())
        .unwrap_or_else(|finding| panic!("{finding:?}\n{}", String::from_utf8_lossy(text)))
}

/// Seals a document and holds the envelope to everything that it promises; the contained text.
fn verified(text: &[u8], format: Format) -> String {
    let tree = read(text, format);
    let wrapped = wrap(&tree, IDENTIFIER, "de-CH").unwrap();
    assert_eq!((wrapped.format, wrapped.identifier.as_str()), (format, IDENTIFIER));
    let envelope = read(&wrapped.body, format);
    let document = document_of(&envelope).expect("the document is found again");
    assert_eq!(document.text("type"), Some("document"));
    let view = envelope_of(&envelope).unwrap();
    assert_eq!(view.identifier, Some(IDENTIFIER));
    assert_eq!(
        check_envelope(&envelope, Strictness::Deployed),
        [],
        "{}",
        String::from_utf8_lossy(&wrapped.body)
    );
    if tree.check().is_empty() {
        assert_eq!(envelope.check(), []);
    }
    // The contained text without the insertions is the file's text.
    let insertions = permitted_insertions(&tree);
    let place = tree.root().position();
    let head: &[u8] = match format {
        Format::Json => b"{\"resourceType\":\"DocumentReference\",\"contained\":[",
        Format::Xml => b"<DocumentReference xmlns=\"http://hl7.org/fhir\"><contained>",
    };
    assert!(wrapped.body.starts_with(head));
    let mut rest = &wrapped.body[head.len()..];
    let contained = rest;
    let mut from = place.start;
    for (offset, inserted) in &insertions {
        let own = &text[from..*offset];
        assert!(rest.starts_with(own));
        rest = &rest[own.len()..];
        assert!(rest.starts_with(inserted.as_bytes()));
        rest = &rest[inserted.len()..];
        from = *offset;
    }
    let own = &text[from..place.end];
    assert!(rest.starts_with(own));
    rest = &rest[own.len()..];
    let tail: &[u8] = if format == Format::Json { b"],\"identifier\"" } else { b"</contained>" };
    assert!(rest.starts_with(tail));
    String::from_utf8(contained[..contained.len() - rest.len()].to_vec()).unwrap()
}

const JSON_BODY: &str = r#""type":"document","language":"fr-CH","timestamp":"2025-01-01T00:00:00Z","entry":[{"resource":{"resourceType":"Composition"}}]}"#;

#[test]
fn json_gets_what_is_missing_and_nothing_else() {
    let profiles = format!(r#""{DOCUMENT}","{BUNDLE_EU_LAB}""#);
    let strict = format!(r#""meta":{{"profile":["{DOCUMENT_STRICT}|1.13.1", "{BUNDLE_EU_LAB}"]}}"#);
    for (head, expected) in [
        (
            r#"{"resourceType":"Bundle","#.to_owned(),
            format!(
                r#"{{"resourceType":"Bundle","id":"document","meta":{{"profile":[{profiles}]}},"#
            ),
        ),
        (
            r#"{ "id" : "a", "resourceType" : "Bundle","#.to_owned(),
            format!(
                r#"{{ "id" : "a","meta":{{"profile":[{profiles}]}}, "resourceType" : "Bundle","#
            ),
        ),
        (
            r#"{"resourceType":"Bundle","id":"a","meta":{"lastUpdated":"2025-01-01T00:00:00Z"},"#
                .to_owned(),
            format!(
                r#"{{"resourceType":"Bundle","id":"a","meta":{{"profile":[{profiles}],"lastUpdated":"2025-01-01T00:00:00Z"}},"#
            ),
        ),
        (
            r#"{"resourceType":"Bundle","id":"a","meta":{"profile":[ "http://x.org/p" ]},"#
                .to_owned(),
            format!(
                r#"{{"resourceType":"Bundle","id":"a","meta":{{"profile":[ "http://x.org/p",{profiles} ]}},"#
            ),
        ),
        (
            format!(r#"{{"resourceType":"Bundle","id":"a","meta":{{"profile":["{DOCUMENT}"]}},"#),
            format!(
                r#"{{"resourceType":"Bundle","id":"a","meta":{{"profile":["{DOCUMENT}","{BUNDLE_EU_LAB}"]}},"#
            ),
        ),
        (
            format!(r#"{{"resourceType":"Bundle",{strict},"id":"a","#),
            format!(r#"{{"resourceType":"Bundle",{strict},"id":"a","#),
        ),
    ] {
        let found = verified(format!("{head}{JSON_BODY}").as_bytes(), Format::Json);
        assert_eq!(found, format!("{expected}{JSON_BODY}"));
    }
}

#[test]
fn what_stands_outside_the_bundle_stays_outside() {
    let bundle = format!("{{\"resourceType\":\"Bundle\",\"id\":\"a\",{JSON_BODY}");
    let found = verified(format!("\u{feff}\r\n {bundle}\n\n").as_bytes(), Format::Json);
    assert!(found.starts_with("{\"resourceType\"") && found.ends_with("}]}"));
    let xml = "\u{feff}<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- ours -->\n\
               <Bundle xmlns=\"http://hl7.org/fhir\"><type value=\"document\"/></Bundle>\n<!-- end -->\n";
    let found = verified(xml.as_bytes(), Format::Xml);
    assert!(found.starts_with("<Bundle ") && found.ends_with("</Bundle>"), "{found}");
}

#[test]
fn xml_gets_what_is_missing_in_the_right_order() {
    let profiles = format!("<profile value=\"{DOCUMENT}\"/><profile value=\"{BUNDLE_EU_LAB}\"/>");
    let prefixed = profiles.replace("<profile", "<f:profile");
    let security = "<security><system value=\"urn:x\"/><code value=\"R\"/></security>";
    for (open, head, expected, close) in [
        (
            "<Bundle xmlns=\"http://hl7.org/fhir\">",
            String::new(),
            format!("<id value=\"document\"/><meta>{profiles}</meta>"),
            "<type value=\"document\"/></Bundle>",
        ),
        (
            "<Bundle xmlns='http://hl7.org/fhir'>",
            "\n <id value='a'/>\n".to_owned(),
            format!("\n <id value='a'/><meta>{profiles}</meta>\n"),
            "<type value=\"document\"/></Bundle>",
        ),
        (
            "<f:Bundle xmlns:f=\"http://hl7.org/fhir\">",
            String::new(),
            format!("<f:id value=\"document\"/><f:meta>{prefixed}</f:meta>"),
            "<f:type value=\"document\"/></f:Bundle>",
        ),
        (
            "<Bundle xmlns=\"http://hl7.org/fhir\">",
            format!("<id value=\"a\"/><meta><versionId value=\"1\"/>{security}</meta>"),
            format!("<id value=\"a\"/><meta><versionId value=\"1\"/>{profiles}{security}</meta>"),
            "<type value=\"document\"/></Bundle>",
        ),
        (
            "<Bundle xmlns=\"http://hl7.org/fhir\">",
            "<id value=\"a\"/><meta><profile value=\"http://x.org/p\"/></meta>".to_owned(),
            format!("<id value=\"a\"/><meta><profile value=\"http://x.org/p\"/>{profiles}</meta>"),
            "<type value=\"document\"/></Bundle>",
        ),
        (
            "<Bundle xmlns=\"http://hl7.org/fhir\">",
            "<id value=\"a\"/><g:meta xmlns:g=\"http://hl7.org/fhir\" id=\"m\"/>".to_owned(),
            format!(
                "<id value=\"a\"/><g:meta xmlns:g=\"http://hl7.org/fhir\" id=\"m\">{}</g:meta>",
                profiles.replace("<profile", "<g:profile")
            ),
            "<type value=\"document\"/></Bundle>",
        ),
    ] {
        let found = verified(format!("{open}{head}{close}").as_bytes(), Format::Xml);
        assert_eq!(found, format!("{open}{expected}{close}"));
    }
}

#[test]
fn the_language_is_the_bundles_or_the_compositions_or_the_default() {
    let bundle = |bundle: &str, composition: &str| {
        format!(
            "{{\"resourceType\":\"Bundle\",\"type\":\"document\"{bundle},\"entry\":[{{\"resource\":\
             {{\"resourceType\":\"Composition\"{composition}}}}}]}}"
        )
    };
    for (text, language) in [
        (bundle(",\"language\":\"it-CH\"", ",\"language\":\"fr-CH\""), "it-CH"),
        (bundle("", ",\"language\":\"fr-CH\""), "fr-CH"),
        (bundle("", ""), "de-CH"),
    ] {
        let tree = read(text.as_bytes(), Format::Json);
        let wrapped = wrap(&tree, IDENTIFIER, "de-CH").unwrap();
        let envelope = read(&wrapped.body, Format::Json);
        assert_eq!(envelope.root().text("content.attachment.language"), Some(language));
    }
}

#[test]
fn values_cannot_break_out_of_the_envelope() {
    let hostile = "urn:uuid:\"}<&>'\n\\";
    for (text, format) in [
        (r#"{"resourceType":"Bundle","type":"document"}"#, Format::Json),
        (r#"<Bundle xmlns="http://hl7.org/fhir"><type value="document"/></Bundle>"#, Format::Xml),
    ] {
        let tree = read(text.as_bytes(), format);
        let wrapped = wrap(&tree, hostile, "de-CH").unwrap();
        let envelope = read(&wrapped.body, format);
        assert_eq!(envelope_of(&envelope).unwrap().identifier, Some(hostile));
    }
}

#[test]
fn other_roots_are_refused_and_envelopes_travel_as_they_are() {
    for text in
        [r#"{"resourceType":"Patient"}"#, r#"{"resourceType":"Bundle","type":"collection"}"#]
    {
        let tree = read(text.as_bytes(), Format::Json);
        assert_eq!(wrap(&tree, IDENTIFIER, "de-CH"), Err(WrapProblem::NotADocument));
        assert!(document_of(&tree).is_none());
    }
    let envelope = |url: &str| {
        format!(
            "\u{feff} {{\"resourceType\":\"DocumentReference\",\"contained\":[{{\"resourceType\":\
             \"Bundle\",\"id\":\"b\",\"type\":\"document\"}}],\"identifier\":[{{\"value\":\"urn:x\"}}],\
             \"content\":[{{\"attachment\":{{\"url\":\"{url}\"}}}}]}}\n"
        )
    };
    let own = envelope("#b").replace(
        "\"id\":\"b\",",
        &format!(
            "\"id\":\"b\",\"meta\":{{\"profile\":[\"{DOCUMENT_STRICT}\",\"{BUNDLE_EU_LAB}\"]}},"
        ),
    );
    let wrapped = wrap(&read(own.as_bytes(), Format::Json), "urn:x", "de-CH").unwrap();
    assert_eq!((wrapped.body.as_slice(), wrapped.identifier.as_str()), (own.as_bytes(), "urn:x"));
    // Without an identifier there is nothing to put another one in place of.
    let none = own.replace("\"value\":\"urn:x\"", "\"system\":\"urn:y\"");
    let wrapped = wrap(&read(none.as_bytes(), Format::Json), IDENTIFIER, "de-CH").unwrap();
    assert_eq!((wrapped.body.as_slice(), wrapped.identifier.as_str()), (none.as_bytes(), ""));
    for url in ["#c", "b", "#", ""] {
        let text = envelope(url);
        let tree = read(text.as_bytes(), Format::Json);
        assert_eq!(
            wrap(&tree, IDENTIFIER, "de-CH"),
            Err(WrapProblem::NoContainedDocument),
            "{url}"
        );
    }
}

/// The text with the permitted insertions and nothing else.
fn inserted(tree: &Tree) -> Vec<u8> {
    let mut text = tree.source().to_vec();
    for (offset, new) in permitted_insertions(tree).into_iter().rev() {
        text.splice(offset..offset, new.into_bytes());
    }
    text
}

#[test]
fn an_envelope_gets_what_its_document_lacks_and_another_identifier_where_it_was_sent_before() {
    let json = r##"{ "resourceType" : "DocumentReference", "identifier":[ {"value" : "urn:uuid:1\u0061", "system":"urn:ietf:rfc:3986"} ],
        "contained" : [ {"resourceType":"Bundle","id":"b","type":"document"} ],
        "status":"current", "content":[{"attachment":{"language":"de-CH","url":"#b"}}] }"##;
    let xml = r##"<f:DocumentReference xmlns:f="http://hl7.org/fhir"><f:contained>
        <f:Bundle><f:id value="b"/><f:meta/><f:type value="document"/></f:Bundle></f:contained>
        <f:identifier><f:system value="urn:ietf:rfc:3986"/><f:value id='v' value = 'urn:uuid:1a' /></f:identifier>
        <f:status value="current"/><f:content><f:attachment><f:language value="de-CH"/><f:url value="#b"/></f:attachment></f:content></f:DocumentReference>"##;
    for (text, format) in [(json, Format::Json), (xml, Format::Xml)] {
        let tree = read(text.as_bytes(), format);
        // The first time with the identifier that it brings along: insertions only.
        let first = wrap(&tree, "urn:uuid:1a", "fr-CH").unwrap();
        assert_eq!(first.identifier, "urn:uuid:1a");
        assert_eq!(first.body, inserted(&tree));
        assert_ne!(first.body, text.as_bytes());
        let missing = check_envelope(&read(&first.body, format), Strictness::Deployed);
        let codes: Vec<_> = missing.iter().map(|finding| finding.code.as_str()).collect();
        assert_eq!(codes, ["envelope-identifier-uuid"], "only that the test's is no real UUID");
        // Then with another one in its place, whatever stands in it.
        for other in [IDENTIFIER, "urn:\"'<&>\\ \t"] {
            let again = wrap(&tree, other, "fr-CH").unwrap();
            assert_eq!(again.identifier, other);
            let envelope = read(&again.body, format);
            assert_eq!(envelope_of(&envelope).unwrap().identifier, Some(other));
            let (own, new) = (first.body.len(), again.body.len());
            let shorter = String::from_utf8(again.body).unwrap();
            assert!(new.abs_diff(own) < 60, "{shorter}");
            assert_eq!(shorter.matches("urn:uuid:1").count(), 0, "{shorter}");
        }
    }
}

#[test]
fn each_departure_from_the_profile_has_its_code() {
    let good = format!(
        r##"{{"resourceType":"DocumentReference","contained":[{{"resourceType":"Bundle","id":"b","meta":{{"profile":["{DOCUMENT}","{BUNDLE_EU_LAB}"]}},"type":"document"}}],"identifier":[{{"system":"urn:ietf:rfc:3986","value":"{IDENTIFIER}"}}],"status":"current","content":[{{"attachment":{{"language":"de-CH","url":"#b"}}}}]}}"##
    );
    let found = |text: &str| -> Vec<String> {
        let tree = read(text.as_bytes(), Format::Json);
        check_envelope(&tree, Strictness::Deployed)
            .into_iter()
            .map(|finding| finding.code)
            .collect()
    };
    assert_eq!(found(&good), Vec::<String>::new());
    for (from, to, code) in [
        ("\"document\"", "\"collection\"", "envelope-document-type"),
        (BUNDLE_EU_LAB, "http://x.org/p", "envelope-profile-missing"),
        ("urn:ietf:rfc:3986", "urn:oid:1.2.3", "envelope-identifier-system"),
        ("urn:uuid:2a", "2a", "envelope-identifier-value"),
        ("-8d1b-4c77", "-8d1t-4c77", "envelope-identifier-uuid"),
        ("\"current\"", "\"superseded\"", "envelope-status"),
        ("\"status\"", "\"docStatus\":\"final\",\"status\"", "envelope-doc-status"),
        ("\"status\"", "\"relatesTo\":[{\"code\":\"replaces\"}],\"status\"", "envelope-relates-to"),
        (
            "\"status\"",
            "\"modifierExtension\":[{\"url\":\"urn:x\"}],\"status\"",
            "envelope-modifier-extension",
        ),
        ("\"url\":\"#b\"", "\"title\":\"t\"", "envelope-url-missing"),
        ("#b", "#c", "envelope-url-unresolved"),
        ("\"language\":\"de-CH\",", "", "envelope-language-missing"),
        ("de-CH", "deutsch", "envelope-language-form"),
        (
            "\"identifier\":[{",
            "\"identifier\":[{\"system\":\"urn:ietf:rfc:3986\",\"value\":\"urn:uuid:2a3c5f0e-8d1b-4c77-9d54-0a1b2c3d4e5f\"},{",
            "envelope-identifier-count",
        ),
        (
            "\"content\":[{",
            "\"content\":[{\"attachment\":{\"language\":\"de-CH\",\"url\":\"#b\"}},{",
            "envelope-content-count",
        ),
        ("DocumentReference\"", "Basic\"", "envelope-root"),
    ] {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{code}");
        assert_eq!(found(&text), [code], "{text}");
    }
    let two = good.replacen(
        "\"contained\":[",
        "\"contained\":[{\"resourceType\":\"Bundle\",\"id\":\"z\"},",
        1,
    );
    assert_eq!(found(&two), ["envelope-document-count"]);
    let bare = good.replacen("\"id\":\"b\",", "", 1);
    assert_eq!(found(&bare), ["envelope-document-id", "envelope-url-unresolved"]);
}

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus")
}

#[test]
fn our_reports_seal_in_their_encoding() {
    for report in testkit::collection() {
        verified(report.json.as_bytes(), Format::Json);
        verified(report.xml.as_bytes(), Format::Xml);
    }
}

#[published::needs("corpus/documents")]
#[test]
fn every_published_document_seals_in_its_encoding() {
    let corpus = corpus();
    let mut count = 0;
    for (folder, format) in [("json", Format::Json), ("xml", Format::Xml)] {
        for entry in std::fs::read_dir(corpus.join("documents").join(folder)).unwrap() {
            let text = std::fs::read(entry.unwrap().path()).unwrap();
            verified(&text, format);
            count += 1;
        }
    }
    assert!(count > 60, "{count}");
}

#[published::needs("corpus/exchange")]
#[test]
fn published_requests_are_accepted_as_they_are() {
    let corpus = corpus();
    for name in ["Publish-1Doc-NeisseriaGonorrhoeae", "Publish-7Doc-SARSCoV2"] {
        let path = corpus.join(format!("exchange/DocumentReference-{name}.json"));
        let text = std::fs::read(path).unwrap();
        let tree = read(&text, Format::Json);
        let own = envelope_of(&tree).unwrap().identifier.unwrap();
        let wrapped = wrap(&tree, own, "de-CH").unwrap();
        assert_eq!((wrapped.identifier.as_str(), inserted(&tree)), (own, wrapped.body.clone()));
        let findings = check_envelope(&tree, Strictness::Deployed);
        assert!(findings.iter().all(|finding| finding.severity != Severity::Error), "{findings:?}");
        assert_eq!(
            check_envelope(&read(&wrapped.body, Format::Json), Strictness::Deployed),
            [],
            "nothing is missing now"
        );
    }
}

fn space() -> impl Strategy<Value = String> {
    "[ \n\t]{0,2}"
}

fn member() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(r#""id":"a.b-1""#.to_owned()),
        Just("\"\\u0069d\":\"a\"".to_owned()),
        Just(r#""language":"de-CH""#.to_owned()),
        Just(r#""meta":{}"#.to_owned()),
        Just(r#""meta":{"profile":[]}"#.to_owned()),
        Just(r#""meta":{ "tag":[{"code":"]}\",{"}] }"#.to_owned()),
        Just(format!(r#""meta":{{"profile":[ "{DOCUMENT}" ] }}"#)),
        Just(format!(r#""meta":{{"_profile":[{{"id":"x"}}],"profile":["{BUNDLE_EU_LAB}"]}}"#)),
        Just(r#""total":1.10"#.to_owned()),
        Just(r#""entry":[{"fullUrl":"urn:\\\"\"}],["}]"#.to_owned()),
    ]
}

proptest! {
    #[test]
    fn whatever_the_layout_the_insertions_make_it_complete(
        members in proptest::collection::vec((member(), space(), space()), 0..5),
        at in 0usize..5,
    ) {
        let mut members = members;
        // One member of each name: duplicate keys are refused elsewhere.
        let mut names = std::collections::BTreeSet::new();
        members.retain(|(text, ..)| {
            let name = text.split(':').next().unwrap_or_default().replace("\\u0069", "i");
            names.insert(name)
        });
        members.insert(at.min(members.len()), ("\"resourceType\":\"Bundle\"".into(), " ".into(), "".into()));
        members.push(("\"type\": \"document\"".into(), "".into(), "\n".into()));
        let inner: Vec<_> = members.iter().map(|(text, a, b)| format!("{a}{text}{b}")).collect();
        let text = format!("{{{}}}", inner.join(","));
        let tree = read(text.as_bytes(), Format::Json);
        let wrapped = wrap(&tree, IDENTIFIER, "de-CH").unwrap();
        let value: serde_json::Value = serde_json::from_slice(&wrapped.body).unwrap();
        let bundle = &value["contained"][0];
        let profiles = bundle["meta"]["profile"].as_array().unwrap();
        prop_assert!(profiles.iter().any(|p| p == DOCUMENT));
        prop_assert!(profiles.iter().any(|p| p == BUNDLE_EU_LAB));
        let id = bundle["id"].as_str().unwrap();
        prop_assert_eq!(&value["content"][0]["attachment"]["url"], &format!("#{id}"));
        // Without what was added it is the same data.
        let mut own: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut sent = bundle.clone();
        for value in [&mut own, &mut sent] {
            value.as_object_mut().unwrap().remove("id");
            if let Some(meta) = value.get_mut("meta") { meta.as_object_mut().unwrap().remove("profile"); }
            if value.get("meta") == Some(&serde_json::json!({})) { value.as_object_mut().unwrap().remove("meta"); }
        }
        prop_assert_eq!(own, sent);
    }
}
