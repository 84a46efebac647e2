//! Whatever can be read can be judged: nothing panics on texts that are almost right.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

use exchange::{
    Answer, Page, Strictness, check_envelope, document_of, envelope_of, permitted_insertions, wrap,
};
use fhir::{Format, Limits, Tree};
use proptest::prelude::*;

const SEEDS: [(&str, Format); 6] = [
    (
        r##"{"resourceType":"Bundle","id":"a","meta":{"profile":["http://x.org/p"],"_profile":[{"id":"q"}]},"type":"document","entry":[{"resource":{"resourceType":"Composition","language":"de-CH"}}]}"##,
        Format::Json,
    ),
    (
        r##"{"resourceType":"DocumentReference","contained":[{"resourceType":"Bundle","id":"b","type":"document"},{"resourceType":"OperationOutcome","id":"o","issue":[{"severity":"error","code":"value"}]}],"extension":[{"url":"http://fhir.ch/ig/ch-elm/StructureDefinition/ch-ext-elm-status","extension":[{"url":"status","valueCode":"failed"},{"url":"outcome","valueReference":{"reference":"#o"}}]}],"identifier":[{"value":"urn:uuid:1"}],"content":[{"attachment":{"url":"#b"}}]}"##,
        Format::Json,
    ),
    (
        r##"{"resourceType":"Bundle","type":"searchset","total":1,"link":[{"relation":"next","url":"u"}],"entry":[{"resource":{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"value"}]}}]}"##,
        Format::Json,
    ),
    (
        r##"<Bundle xmlns="http://hl7.org/fhir"><id value="a"/><meta><profile value="http://x.org/p"/><tag><code value="t"/></tag></meta><type value="document"/></Bundle>"##,
        Format::Xml,
    ),
    (
        r##"<f:Bundle xmlns:f="http://hl7.org/fhir"><f:meta/><f:type value="document"/></f:Bundle>"##,
        Format::Xml,
    ),
    (
        r##"<DocumentReference xmlns="http://hl7.org/fhir"><contained><Bundle><id value="b"/><type value="document"/></Bundle></contained><identifier><value value="urn:uuid:1"/></identifier><content><attachment><url value="#b"/></attachment></content></DocumentReference>"##,
        Format::Xml,
    ),
];

/// Pieces that are likely to be put where they do not belong.
const PIECES: [&str; 16] = [
    "",
    "null",
    "[]",
    "{}",
    "\"",
    ",",
    ":",
    "\\u0069",
    "<",
    "/>",
    "<!-- -->",
    "<meta/>",
    "\"id\":1,",
    "\"meta\":null,",
    "é",
    "\u{feff}",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]
    #[test]
    fn almost_right_texts(
        seed in 0usize..6,
        edits in proptest::collection::vec((any::<u16>(), 0usize..8, 0usize..16), 1..4),
    ) {
        let (text, format) = SEEDS[seed];
        let mut bytes = text.as_bytes().to_vec();
        for (place, cut, piece) in edits {
            let start = usize::from(place) % (bytes.len() + 1);
            let end = (start + cut).min(bytes.len());
            bytes.splice(start..end, PIECES[piece].bytes());
        }
        let Ok(tree) = Tree::read(&bytes, format, &Limits::default()) else { return Ok(()) };
        let _ = (Answer::read(tree.root()), Page::read(tree.root()), check_envelope(&tree, Strictness::Deployed));
        let _ = (document_of(&tree).is_some(), envelope_of(&tree).is_some());
        let place = tree.root().position();
        let insertions = permitted_insertions(&tree);
        for (offset, _) in &insertions {
            prop_assert!((place.start..=place.end).contains(offset));
        }
        prop_assert!(insertions.is_sorted_by_key(|(offset, _)| *offset));
        let Ok(wrapped) = wrap(&tree, "urn:uuid:1", "de-CH") else { return Ok(()) };
        // What was well-formed stays so.
        let again = Tree::read(&wrapped.body, format, &Limits::default());
        prop_assert!(again.is_ok(), "{:?}\n{}", again.err(), String::from_utf8_lossy(&wrapped.body));
    }
}
