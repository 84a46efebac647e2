//! Whatever the bytes are: a verdict, and no panic.

use fhir::{Format, Limits, Tree};
use proptest::prelude::*;
use report::{Kind, Summary, recognise};

use crate::text::{SOUND, now, read};

/// Pieces that files of this field are made of.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let texts = [
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "\\",
        "<",
        ">",
        "/",
        "<!--",
        "-->",
        "<?xml ?>",
        "\n",
        " ",
        "\"resourceType\"",
        "\"Bundle\"",
        "\"type\"",
        "\"document\"",
        "\"entry\"",
        "\"resource\"",
        "<Bundle xmlns=\"http://hl7.org/fhir\">",
        "<type value=\"document\"/>",
        "</Bundle>",
        "MSH|",
        "PK",
    ];
    prop_oneof![
        4 => prop::sample::select(texts.to_vec()).prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..8),
    ]
}

/// A change of one place of a text.
fn damaged(text: &'static str) -> impl Strategy<Value = Vec<u8>> {
    (0..text.len(), 0..40_usize, piece()).prop_map(move |(at, cut, piece)| {
        let end = (at + cut).min(text.len());
        [&text.as_bytes()[..at], &piece, &text.as_bytes()[end..]].concat()
    })
}

fn look(bytes: &[u8]) {
    let kind = recognise(bytes);
    assert!(Kind::CODES.contains(&kind.code()));
    for format in [Format::Json, Format::Xml] {
        if let Ok(tree) = Tree::read(bytes, format, &Limits::default()) {
            for finding in report::check(tree.root(), now()) {
                assert!(tree.find(&finding.expression).is_some());
            }
            let _ = Summary::of(tree.root());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(pieces in prop::collection::vec(piece(), 0..30)) {
        look(&pieces.concat());
    }

    #[test]
    fn a_damaged_document(bytes in damaged(SOUND)) {
        look(&bytes);
    }

    #[test]
    fn a_beginning_is_recognised_like_the_whole(length in 40..SOUND.len()) {
        // The first few kilobytes are enough; here the type is seen within the first 40 bytes.
        prop_assert_eq!(recognise(&SOUND.as_bytes()[..length]), Kind::FhirDocument(Format::Json));
    }
}

#[test]
fn many_entries_that_refer_to_each_other_take_no_time_per_pair() {
    // 20,000 resources: pair by pair that would be 400 million looks.
    let entries: Vec<String> = (0..20_000)
        .map(|n| {
            format!(
                "{{\"fullUrl\":\"http://l.example/r/List/{n}\",\"resource\":{{\"resourceType\":\"List\",\
                 \"id\":\"{n}\",\"subject\":{{\"reference\":\"List/{}\"}}}}}}",
                19_999 - n
            )
        })
        .collect();
    let text = format!(
        "{{\"resourceType\":\"Bundle\",\"type\":\"document\",\"entry\":[{}]}}",
        entries.join(",")
    );
    let tree = read(&text);
    let links = report::Links::of(tree.root());
    let resolved = links
        .resources()
        .filter(|(_, resource)| links.follow(*resource, *resource, "subject").is_some());
    assert_eq!(resolved.count(), 20_000);
    assert!(report::check(tree.root(), now()).iter().all(|f| f.code != "reference-unresolved"));
}
