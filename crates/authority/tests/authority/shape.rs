//! The form of what is returned, field by field, in every release and both encodings.

use crate::common::{House, document, resource, urn, wrapped};
use authority::{PRACTICE_RULES, Rules};
use exchange::canonical;
use fhir::{Element, Tree};
use reqwest::StatusCode;

in_every_release![
    what_is_returned_has_the_published_form,
    a_search_result_is_a_bundle_with_total_and_links
];

/// What a DocumentReference must tell of one document.
struct Told<'a> {
    identifier: &'a str,
    document: &'a str,
    status: &'a str,
    has_outcome: bool,
}

/// One of each, in the places where the published answers have it.
fn has_the_form(reference: Element<'_>, told: &Told<'_>) {
    let text = |path: &str| reference.text(path).unwrap_or_default().to_owned();
    let all = |name: &'static str| reference.all(name).collect::<Vec<_>>();
    assert_eq!(reference.resource_type(), Some("DocumentReference"));
    assert!(!text("id").is_empty());
    assert_eq!(text("meta.profile"), canonical::PUBLISH_RESPONSE);
    assert!(fhir::Instant::parse(&text("meta.lastUpdated")).is_some());
    assert!(text("meta.versionId").parse::<u32>().is_ok());
    assert_eq!(text("status"), "current");
    assert!(fhir::Instant::parse(&text("date")).is_some());
    assert_eq!(all("identifier").len(), 1);
    assert_eq!(text("identifier.system"), canonical::URI_SYSTEM);
    assert_eq!(text("identifier.value"), told.identifier);
    assert_eq!(all("content").len(), 1);
    assert_eq!(text("content.attachment.url"), told.document);

    let status = reference.extension(canonical::STATUS_EXTENSION).expect("a status");
    assert_eq!(all("extension").len(), 1);
    let parts: Vec<_> = status.all("extension").collect();
    assert_eq!(parts.len(), if told.has_outcome { 2 } else { 1 });
    let code = status.extension("status").and_then(|part| part.text("valueCode"));
    assert_eq!(code, Some(told.status));
    let outcomes: Vec<_> = reference
        .all("contained")
        .filter(|contained| contained.resource_type() == Some("OperationOutcome"))
        .map(|outcome| format!("#{}", outcome.text("id").unwrap_or_default()))
        .collect();
    let named = status.extension("outcome").and_then(|part| part.text("valueReference.reference"));
    assert_eq!(outcomes, named.into_iter().collect::<Vec<_>>(), "the one that is contained");
}

async fn what_is_returned_has_the_published_form() {
    let rules = Rules::parse(PRACTICE_RULES).unwrap();
    let house = House::open(|options| options.rules = rules).await;
    let lab = house.client("alpha");
    for (family, status, has_outcome) in
        [("Muster", "completed", false), ("Muster-Fehler", "failed", true)]
    {
        let (identifier, own) = (urn(), urn());
        let (body, format) = wrapped(&document(&own, family, &own), &identifier);
        let created = lab.post(body, format.media_type()).await;
        assert_eq!(created.status(), StatusCode::CREATED);
        let created = resource(created).await;
        let told = Told { identifier: &identifier, document: &own, status, has_outcome };
        let at_first = Told { status: "in-progress", has_outcome: false, ..told };
        has_the_form(created.root(), &at_first);
        let receipt = created.root().text("id").unwrap();
        lab.processed(receipt).await;
        for encoding in ["json", "xml"] {
            let path = format!("/DocumentReference/{receipt}?_format={encoding}");
            has_the_form(resource(lab.get(&path).await).await.root(), &told);
            let path = format!("/DocumentReference?identifier={identifier}&_format={encoding}");
            let found = resource(lab.get(&path).await).await;
            has_the_form(found.root().at_path("entry.resource").unwrap(), &told);
        }
    }
}

/// The relations of a page's links.
fn relations(page: &Tree) -> Vec<String> {
    let links = page.root().all("link");
    links.filter_map(|link| link.text("relation").map(str::to_owned)).collect()
}

async fn a_search_result_is_a_bundle_with_total_and_links() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    for number in 0..3 {
        let text = document(&urn(), "Muster", &number.to_string());
        lab.deliver(&text, &urn()).await;
    }
    let page = |query: &str| {
        let path = format!("/DocumentReference{query}");
        let lab = lab.clone();
        async move {
            let answer = lab.get(&path).await;
            assert_eq!(answer.status(), StatusCode::OK);
            resource(answer).await
        }
    };
    // No parameter is required.
    let all = page("").await;
    assert_eq!(all.root().text("type"), Some("searchset"));
    assert_eq!(all.root().text("meta.profile"), Some(canonical::FIND_RESPONSE));
    assert_eq!(all.root().text("total"), Some("3"));
    let entries: Vec<_> = all.root().all("entry").collect();
    assert_eq!(entries.len(), 3);
    for entry in entries {
        let id = entry.text("resource.id").unwrap();
        let url = format!("{}/DocumentReference/{id}", house.base);
        assert_eq!(entry.text("fullUrl"), Some(url.as_str()));
        assert_eq!(entry.text("search.mode"), Some("match"));
    }
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    for (number, wanted) in [
        (1, &["first", "last", "next", "self"][..]),
        (2, &["first", "last", "next", "prev", "self"]),
        (3, &["first", "last", "prev", "self"]),
    ] {
        let found = page(&format!("?_count=1&page={number}")).await;
        assert_eq!(sorted(relations(&found)), wanted, "page {number}");
        assert_eq!(found.root().all("entry").count(), 1);
    }
    let counted = page("?_count=0").await;
    assert_eq!(relations(&counted), ["self"]);
    assert_eq!((counted.root().text("total"), counted.root().all("entry").count()), (Some("3"), 0));
    let none = page("?identifier=urn:uuid:nobody").await;
    assert_eq!((none.root().text("total"), none.root().all("entry").count()), (Some("0"), 0));
}
