//! Create, read and what is kept, through real HTTPS.

use crate::common::{House, as_xml, document, resource, urn, wrapped};
use crate::setting::{release, tells_outcomes_alone};
use authority::{PRACTICE_RULES, Rules};
use exchange::{Answer, Processing, Strictness};
use fhir::Instant;
use reqwest::{StatusCode, Version};

in_every_release![
    a_report_goes_every_way_and_is_corrected,
    a_document_is_accepted_and_completes_in_both_encodings,
    reading_is_cheap_where_nothing_changed,
    what_the_caller_prefers_is_returned,
    the_contained_text_is_stored_as_sent_and_survives_a_restart_processed_once,
    the_capabilities_say_what_is_offered,
    times_rise_strictly_in_order_of_acceptance,
    a_laboratory_sees_its_own_documents_only,
];

/// What stands in files of ours.
mod files {
    use super::the_text_of_a_failed_document_is_gone_from_every_file;

    mod sqlite {
        in_setting!(Sqlite, R1_13_1, (), [the_text_of_a_failed_document_is_gone_from_every_file]);
    }
}

/// Of published material, which may not be there.
mod published_documents {
    use crate::setting::{Setting, StoreKind};

    use super::every_published_document_is_accepted_and_completes_in_its_encoding as test;

    #[published::needs("corpus/documents")]
    #[tokio::test]
    async fn are_accepted_and_complete_on_sqlite() {
        Setting::on(StoreKind::Sqlite).run(test()).await;
    }

    #[cfg(postgres_is_installed)]
    #[published::needs("corpus/documents")]
    #[tokio::test]
    async fn are_accepted_and_complete_on_postgres() {
        Setting::on(StoreKind::Postgres).run(test()).await;
    }
}

async fn a_document_is_accepted_and_completes_in_both_encodings() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    let json = document(&urn(), "Muster", "positive");
    for text in [json.clone(), as_xml(&json)] {
        let identifier = urn();
        let (body, format) = wrapped(&text, &identifier);
        let response = lab.post(body, format.media_type()).await;
        assert_eq!((response.status(), response.version()), (StatusCode::CREATED, Version::HTTP_2));
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert!(header("content-type").starts_with(format.media_type()));
        assert_eq!(header("etag"), "W/\"1\"");
        assert!(header("last-modified").ends_with(" GMT"));
        let location = header("location");
        let answer = Answer::read(resource(response).await.root()).unwrap();
        let receipt = answer.receipt.clone().unwrap();
        assert_eq!(location, format!("{}/DocumentReference/{receipt}", house.base));
        assert_eq!(answer.processing, Some(Processing::InProgress));
        assert_eq!(answer.identifiers, [identifier]);
        assert_eq!(answer.date, answer.last_updated);
        let done = lab.processed(&receipt).await;
        assert_eq!((done.processing, done.issues.len()), (Some(Processing::Completed), 0));
        assert_eq!(done.date, answer.date);
        assert!(done.last_updated > answer.last_updated);
    }
    house.close().await;
}

async fn reading_is_cheap_where_nothing_changed() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    let receipt = lab.deliver(&document(&urn(), "A", "1"), &urn()).await.receipt.unwrap();
    lab.processed(&receipt).await;
    let path = format!("{}/DocumentReference/{receipt}", house.base);
    let full = lab.client.get(&path).send().await.unwrap();
    let length = full.headers()["content-length"].clone();
    assert_eq!(full.headers()["etag"], "W/\"2\"");
    let head = lab.client.head(&path).send().await.unwrap();
    assert_eq!((head.status(), &head.headers()["content-length"]), (StatusCode::OK, &length));
    assert_eq!(head.bytes().await.unwrap().len(), 0);
    let known =
        lab.client.get(&path).header("if-none-match", "W/\"1\", W/\"2\"").send().await.unwrap();
    assert_eq!(known.status(), StatusCode::NOT_MODIFIED);
    let stale = lab.client.get(&path).header("if-none-match", "W/\"1\"").send().await.unwrap();
    assert_eq!(stale.status(), StatusCode::OK);
}

async fn what_the_caller_prefers_is_returned() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    for (prefer, kind) in [
        ("return=minimal", None),
        ("return=representation", Some("DocumentReference")),
        ("respond-async, return=OperationOutcome", Some("OperationOutcome")),
    ] {
        let (body, format) = wrapped(&document(&urn(), "A", "1"), &urn());
        let response = lab
            .client
            .post(format!("{}/DocumentReference", house.base))
            .header("content-type", format.media_type())
            .header("prefer", prefer)
            .body(body)
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), StatusCode::CREATED);
        assert!(response.headers().contains_key("location"));
        match kind {
            None => assert_eq!(response.bytes().await.unwrap().len(), 0),
            Some(kind) => assert_eq!(resource(response).await.root().resource_type(), Some(kind)),
        }
    }
}

async fn a_laboratory_sees_its_own_documents_only() {
    let house = House::open(|_| {}).await;
    let (alpha, beta) = (house.client("alpha"), house.client("beta"));
    let identifier = urn();
    let receipt = alpha.deliver(&document(&urn(), "A", "1"), &identifier).await.receipt.unwrap();
    alpha.processed(&receipt).await;
    assert_eq!(alpha.search(&format!("identifier={identifier}")).await.total, Some(1));
    for query in [String::new(), format!("identifier={identifier}"), format!("_id={receipt}")] {
        let page = beta.search(&query).await;
        assert_eq!((page.total, page.answers.len()), (Some(0), 0), "{query}");
    }
    let denied = beta.get(&format!("/DocumentReference/{receipt}")).await;
    let absent = beta.get("/DocumentReference/none").await;
    assert_eq!((denied.status(), absent.status()), (StatusCode::NOT_FOUND, StatusCode::NOT_FOUND));
    assert_eq!(denied.bytes().await.unwrap(), absent.bytes().await.unwrap());
}

async fn the_contained_text_is_stored_as_sent_and_survives_a_restart_processed_once() {
    let house =
        House::open(|options| options.processing_delay = std::time::Duration::from_secs(3600))
            .await;
    let lab = house.client("alpha");
    let text = document(&urn(), "A", "1");
    let identifier = urn();
    let receipt = lab.deliver(&text, &identifier).await.receipt.unwrap();
    assert_eq!(lab.read(&receipt).await.processing, Some(Processing::InProgress));
    let folder = house.close().await;
    assert_eq!(folder.body(), wrapped(&text, &identifier).0);
    folder.execute("UPDATE queue SET due = 0").unwrap();
    let house = House::open_in(folder, |_| {}).await;
    let lab = house.client("alpha");
    assert_eq!(lab.processed(&receipt).await.processing, Some(Processing::Completed));
    let folder = house.close().await;
    assert_eq!(folder.count("SELECT count(*) FROM version"), 2);
}

async fn the_text_of_a_failed_document_is_gone_from_every_file() {
    let house = House::open(|options| options.rules = Rules::parse(PRACTICE_RULES).unwrap()).await;
    let lab = house.client("alpha");
    let canary = "Zwinglicanary".repeat(40);
    let holding = |folder: &std::path::Path| -> Vec<_> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries
            .filter(|path| path.is_file())
            .filter(|path| {
                let bytes = std::fs::read(path).unwrap_or_default();
                bytes.windows(13).any(|window| window == b"Zwinglicanary")
            })
            .collect()
    };
    // Others are read and written meanwhile.
    let (busy, over) = (house.client("beta"), tokio_util::sync::CancellationToken::new());
    let stop = over.clone();
    let noise = tokio::spawn(async move {
        while !stop.is_cancelled() {
            busy.deliver(&document(&urn(), "B", "1"), &urn()).await;
            busy.search("").await;
        }
    });
    for _ in 0..3 {
        let text = document(&urn(), "Muster-Fehler", &canary);
        let receipt = lab.deliver(&text, &urn()).await.receipt.unwrap();
        assert_eq!(lab.processed(&receipt).await.processing, Some(Processing::Failed));
        let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while !holding(house.folder.path()).is_empty() {
            let left = holding(house.folder.path());
            assert!(std::time::Instant::now() < end, "it stays in {left:?}");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
    over.cancel();
    noise.await.unwrap();
}

async fn a_report_goes_every_way_and_is_corrected() {
    let house = House::open(|options| options.rules = Rules::parse(PRACTICE_RULES).unwrap()).await;
    let lab = house.client("alpha");
    // By the identifier alone, which is what every release can search for.
    let verdict = async |identifier: &str| {
        let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
        loop {
            let page = lab.search(&format!("identifier={identifier}&_sort=-_lastUpdated")).await;
            let answer = page.answers.into_iter().next().expect("what was accepted is found");
            if answer.processing != Some(Processing::InProgress) {
                return answer;
            }
            assert!(std::time::Instant::now() < end, "not processed");
        }
    };
    for text in [document(&urn(), "Muster", "1"), as_xml(&document(&urn(), "Muster", "2"))] {
        let identifier = urn();
        lab.deliver(&text, &identifier).await;
        let done = verdict(&identifier).await;
        assert_eq!((done.processing, done.issues.len()), (Some(Processing::Completed), 0));
        assert_eq!(lab.read(done.receipt.as_deref().unwrap()).await, done);
    }
    // Refused at once, with messages.
    let own = urn();
    let (body, _) = wrapped(&document(&own, "Muster", "3"), &urn());
    let broken = String::from_utf8(body).unwrap().replace("\"final\"", "\"finished\"");
    let refused = lab.post(broken.into_bytes(), "application/fhir+json").await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let answer = Answer::read(resource(refused).await.root()).unwrap();
    assert_eq!(answer.issues[0].rule.as_deref(), Some("code-not-allowed"));
    assert_eq!(answer.receipt.is_some(), !tells_outcomes_alone(), "{:?}", release());
    if let Some(receipt) = &answer.receipt {
        assert_eq!(lab.read(receipt).await, answer, "the messages can be read again");
    }
    // Corrected, it fails later, with messages; corrected once more, it completes.
    for (family, processing, count) in
        [("Muster-Fehler", Processing::Failed, 1), ("Muster", Processing::Completed, 0)]
    {
        let identifier = urn();
        lab.deliver(&document(&own, family, "3"), &identifier).await;
        let answer = verdict(&identifier).await;
        assert_eq!((answer.processing, answer.issues.len()), (Some(processing), count));
    }
}

async fn the_capabilities_say_what_is_offered() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    for query in ["", "?_format=xml"] {
        let tree = resource(lab.get(&format!("/metadata{query}")).await).await;
        let root = tree.root();
        assert_eq!(root.resource_type(), Some("CapabilityStatement"));
        assert_eq!(root.text("rest.resource.type"), Some("DocumentReference"));
        assert_eq!(root.text("implementation.url"), Some(house.base.as_str()));
    }
}

async fn times_rise_strictly_in_order_of_acceptance() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    let tasks: Vec<_> = (0..40)
        .map(|number| {
            let lab = lab.clone();
            let text = document(&urn(), "A", &number.to_string());
            tokio::spawn(async move { lab.deliver(&text, &urn()).await.date.unwrap() })
        })
        .collect();
    let mut times: Vec<Instant> = Vec::new();
    for task in tasks {
        times.push(task.await.unwrap());
    }
    times.sort();
    times.dedup();
    assert_eq!(times.len(), 40);
    let page = lab.search("_sort=date&_count=100").await;
    let found: Vec<_> = page.answers.iter().filter_map(|answer| answer.date).collect();
    assert_eq!(found, times);
}

async fn every_published_document_is_accepted_and_completes_in_its_encoding() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    // The published requests declare no profiles.
    let house = House::open(|options| {
        options.rules = Rules::parse(PRACTICE_RULES).unwrap();
        options.strictness = Strictness::Deployed;
    })
    .await;
    let lab = house.client("alpha");
    let mut receipts = Vec::new();
    for folder in ["documents/json", "documents/xml"] {
        for entry in std::fs::read_dir(corpus.join(folder)).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            receipts.push(lab.deliver(&text, &urn()).await.receipt.unwrap());
        }
    }
    assert!(receipts.len() > 60);
    for receipt in &receipts {
        assert_eq!(lab.processed(receipt).await.processing, Some(Processing::Completed));
    }
    // The same reports in the other encoding are the same data.
    let all = lab.search("elm-status=completed&_count=1000").await;
    let known = all.answers.iter().filter(|answer| !answer.issues.is_empty()).count();
    println!("{} documents, of which {known} were known from the other encoding", receipts.len());
    for name in ["Publish-1Doc-NeisseriaGonorrhoeae", "Publish-7Doc-SARSCoV2"] {
        let body = std::fs::read(corpus.join(format!("exchange/DocumentReference-{name}.json")));
        let response = lab.post(body.unwrap(), "application/fhir+json").await;
        assert_eq!(response.status(), StatusCode::CREATED, "{name}");
    }
}
