//! The question for reports by the identifier of their document.

use client::Authority;

use crate::questions::{bundle, own};
use crate::{IDENTIFIER, World, fhir, outcome, reference, told};

/// It says nothing of deliveries: what is shown carries identifiers of its own.
#[tokio::test]
async fn a_document_is_asked_for_in_both_forms_and_on_all_pages() {
    let world = World::new();
    let (one, two) = (reference("r-1", "completed", IDENTIFIER), reference("r-2", "failed", "x"));
    for token_only in [false, true] {
        let (one, two) = (one.clone(), two.clone());
        let server = world
            .server(move |seen| {
                if seen.target.contains("_page") {
                    return fhir(200, bundle(std::slice::from_ref(&two), &[]));
                }
                if token_only && !seen.target.contains("%7C") {
                    return fhir(200, bundle(&[], &[own(seen)]));
                }
                let next = format!("{}&_page=1", seen.target);
                fhir(200, bundle(std::slice::from_ref(&one), &[own(seen), ("next", next)]))
            })
            .await;
        let shown = world.authority(&server).find_document("document-1").await.unwrap();
        let receipts: Vec<_> = shown.answers.iter().filter_map(|it| it.receipt.clone()).collect();
        assert_eq!(receipts, ["r-1", "r-2"]);
        assert_eq!(server.seen().len(), 2 + usize::from(token_only));
    }
    let empty = world.server(|seen| fhir(200, bundle(&[], &[own(seen)]))).await;
    assert!(world.authority(&empty).find_document("a|b").await.unwrap().is_empty());
    let asked: Vec<_> = empty.seen().iter().map(|seen| seen.target.clone()).collect();
    assert_eq!(asked.len(), 3, "escaped, with its system, and as it is: {asked:?}");
}

/// What is lacking may be what was asked for: nothing of a part is believed.
#[tokio::test]
async fn a_document_is_not_shown_only_where_the_result_is_whole() {
    let world = World::new();
    let hit = reference("r-1", "completed", IDENTIFIER);
    let next = || ("next", "/v1/fhir/DocumentReference?identifier=x&_page=1".to_owned());
    for (case, expected) in [
        ("total", "pages-moved"),
        ("issue", "not-fhir"),
        ("endless", "too-many-pages"),
        ("lost", "unavailable"),
        ("ignored", "parameter-ignored"),
        ("refused", "unexplained"),
    ] {
        let hit = hit.clone();
        let server = world
            .server(move |seen| match (case, seen.target.contains("_page")) {
                ("total", _) => fhir(200, bundle(&[], &[]).replace("\"total\":0", "\"total\":1")),
                ("issue", _) => fhir(200, bundle(&[outcome("error")], &[])),
                ("lost", true) => fhir(503, ""),
                ("ignored", _) => {
                    let all = "https://localhost/v1/fhir/DocumentReference".to_owned();
                    fhir(200, bundle(&[], &[("self", all)]))
                }
                ("refused", _) => fhir(400, ""),
                (_, _) => fhir(200, bundle(std::slice::from_ref(&hit), &[next()])),
            })
            .await;
        let fault = world.authority(&server).find_document("document-1").await.unwrap_err();
        assert_eq!(told(&fault).1, expected, "{case}");
    }
}
