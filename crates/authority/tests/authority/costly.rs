//! Searches that would cost too much.

use authority::{AuditFilter, Rules, audit};
use exchange::Answer;
use fhir::issues_of;
use reqwest::{Method, StatusCode};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::common::{House, connect, document, outcome_of, resource, urn, wrapped};
use crate::setting::last_updated;

in_every_release![a_search_that_costs_too_much_is_refused_and_is_no_outage];

mod newest {
    use super::{
        one_laboratory_has_a_part_of_the_bytes_that_are_under_way,
        the_answer_to_a_search_is_bounded_however_much_is_told,
    };

    on_every_store![
        the_answer_to_a_search_is_bounded_however_much_is_told,
        one_laboratory_has_a_part_of_the_bytes_that_are_under_way,
    ];
}

/// Rules by which every document gets so many messages of 4 KiB, and those of one family one alone.
fn talkative(messages: usize) -> Rules {
    let words = "word ".repeat(800);
    let rule = |number: usize, when: &str| {
        format!(
            "[[rule]]\ncode = \"R-{number}\"\nseverity = \"warning\"\neffect = \"notice\"\n\
             text = \"{words}\"\n[rule.when]\n{when}\n"
        )
    };
    let many = (1..=messages).map(|number| rule(number, "family = [\"Many\"]"));
    let one = rule(0, "family = [\"Many\", \"One\"]");
    Rules::parse(&many.chain([one]).collect::<String>()).unwrap()
}

/// A laboratory whose documents have much said of them asks for many at once: each is shown, with a
/// fair part of its messages and a word that there are more; alone each tells everything.
async fn the_answer_to_a_search_is_bounded_however_much_is_told() {
    const MANY: usize = 100;
    let house = House::open(|options| options.rules = talkative(MANY)).await;
    let lab = house.client("alpha");
    let mut receipts = Vec::new();
    for number in 0..120 {
        let family = if number % 4 == 0 { "Many" } else { "One" };
        let text = document(&urn(), family, &number.to_string());
        receipts.push((family, lab.deliver(&text, &urn()).await.receipt.unwrap()));
    }
    for (_, receipt) in &receipts {
        lab.processed(receipt).await;
    }
    let url = format!("{}/DocumentReference?_count=1000", lab.base);
    for format in ["json", "xml"] {
        let url = format!("{url}&_format={format}");
        let answer = lab.client.get(&url).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        let length = answer.content_length().unwrap();
        // A courier reads at most 8 MB; everything together is 24 MB.
        assert!(length < 8_000_000, "{length} bytes");
        let tree = resource(answer).await;
        let mut shown = 0;
        for entry in tree.root().all("entry").filter_map(|entry| entry.child("resource")) {
            let answer = Answer::read(entry).unwrap();
            let (family, _) = receipts
                .iter()
                .find(|(_, receipt)| answer.receipt.as_deref() == Some(receipt))
                .unwrap();
            let codes: Vec<_> = answer.issues.iter().filter_map(|it| it.rule.as_deref()).collect();
            match *family {
                "One" => assert_eq!(codes, ["R-0"], "what is short is told as it is"),
                _ => {
                    assert!((5..MANY).contains(&codes.len()), "{codes:?}");
                    assert_eq!(codes[0], "R-1");
                    assert_eq!(codes.last(), Some(&"too-many-findings"));
                    let last = answer.issues.last().unwrap();
                    let told = format!("more than {} findings", codes.len() - 1);
                    assert!(last.text.contains(&told), "{last:?}");
                }
            }
            shown += 1;
        }
        assert_eq!(shown, receipts.len(), "a page is as full as it was");
        let head = lab.client.request(Method::HEAD, &url).send().await.unwrap();
        let promised = head.headers()["content-length"].to_str().unwrap();
        assert!(promised.parse::<u64>().unwrap() < 8_000_000, "{promised}");
        assert!(head.bytes().await.unwrap().is_empty());
    }
    let whole = MANY + 1;
    let ids = [&receipts[0].1, &receipts[4].1, &receipts[8].1];
    assert_eq!(lab.read(ids[0]).await.issues.len(), whole, "the read by id tells everything");
    let few = lab.search(&format!("_id={},{},{}", ids[0], ids[1], ids[2])).await;
    assert_eq!(few.answers.len(), 3);
    assert!(few.answers.iter().all(|it| it.issues.len() == whole), "few are told as they are");
    let data = house.close().await;
    let lines = audit(data.path(), &AuditFilter::default()).unwrap();
    let searches: Vec<_> = lines.iter().filter(|line| line.interaction == "search").collect();
    let shown: Vec<_> = searches.iter().map(|line| line.shown.len()).collect();
    assert_eq!(shown, [120, 0, 120, 0, 3], "all are named, and by `HEAD` nothing is shown");
    assert!(searches.iter().all(|line| line.entries.is_some()));
}

/// `tokens` alternatives in each of so many parameters.
fn costly(parameters: usize, tokens: usize) -> String {
    let values: Vec<_> = (0..tokens).map(|number| format!("urn:uuid:{number}")).collect();
    vec![format!("identifier={}", values.join(",")); parameters].join("&")
}

async fn a_search_that_costs_too_much_is_refused_and_is_no_outage() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    let post = |form: String| {
        let url = format!("{}/DocumentReference/_search", lab.base);
        let kind = "application/x-www-form-urlencoded";
        lab.client.post(url).header("content-type", kind).body(form).send()
    };
    let fits = ["x=".to_owned() + &"a".repeat((64 << 10) - 2), costly(1, 100), costly(20, 5)];
    for form in fits {
        assert_eq!(post(form.clone()).await.unwrap().status(), StatusCode::OK, "{}", form.len());
        if form.len() < 60_000 {
            let asked = format!("/DocumentReference?{form}");
            assert_eq!(lab.get(&asked).await.status(), StatusCode::OK);
        }
    }
    let too_many = ["date", last_updated(), "_id", "identifier"]
        .map(|name| format!("{name}={}", vec!["2025"; 101].join(",")));
    let costly = [costly(1, 101), costly(21, 1), costly(20, 6)];
    for form in too_many.into_iter().chain(costly) {
        let by_form = post(form.clone()).await.unwrap();
        let by_address = lab.get(&format!("/DocumentReference?{form}")).await;
        for answer in [by_form, by_address] {
            assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{form}");
            assert_eq!(resource(answer).await.root().text("issue.code"), Some("too-costly"));
        }
    }
    for length in [64 << 10, 4 << 20, 21 << 20] {
        let answer = post("x=".to_owned() + &"a".repeat(length)).await.unwrap();
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{length}");
        assert_eq!(resource(answer).await.root().text("issue.code"), Some("too-costly"));
    }
    // What an index cannot hold is refused too, and told as what it is: PostgreSQL keeps 2,704
    // bytes.
    let long: String = (0..80).map(|_| urn()).collect();
    let (body, format) = wrapped(&document(&urn(), "A", "1"), &long);
    let answer = lab.post(body, format.media_type()).await;
    assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let told = resource(answer).await;
    let issues = outcome_of(told.root()).map(issues_of).unwrap_or_default();
    assert!(issues.iter().any(|issue| issue.code == "too-long"), "{issues:?}");
}

/// Large reports that one laboratory begins and does not end: it may have eight at once, and is
/// told to come back before it says more. Others are not in its way.
async fn one_laboratory_has_a_part_of_the_bytes_that_are_under_way() {
    let house = House::open(|_| {}).await;
    let head = format!(
        "POST /v1/fhir/DocumentReference HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\n\
         content-type: application/fhir+json\r\ncontent-length: {}\r\n\r\n",
        20 << 20
    );
    let mut held = Vec::new();
    let refusal = loop {
        let mut stream = connect(&house).await;
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut said = vec![0; 2_000];
        let length = stream.read(&mut said).await.unwrap();
        let said = String::from_utf8_lossy(&said[..length]).into_owned();
        if !said.starts_with("HTTP/1.1 100 ") || held.len() > 100 {
            break said;
        }
        held.push(stream);
    };
    assert_eq!(held.len(), 8, "{refusal}");
    assert!(refusal.starts_with("HTTP/1.1 429 "), "{refusal}");
    assert!(refusal.contains("retry-after: ") && refusal.contains("throttled"), "{refusal}");
    let (alpha, beta) = (house.client("alpha"), house.client("beta"));
    beta.deliver(&document(&urn(), "A", "1"), &urn()).await;
    let (body, format) = wrapped(&document(&urn(), "A", "1"), &urn());
    let refused = alpha.post(body.clone(), format.media_type()).await;
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(alpha.search("_count=0").await.total, Some(0), "what was refused is not stored");
    drop(held);
    let mut refusals = 2;
    loop {
        match alpha.post(body.clone(), format.media_type()).await.status() {
            StatusCode::TOO_MANY_REQUESTS => refusals += 1,
            status => break assert_eq!(status, StatusCode::CREATED),
        }
    }
    let data = house.close().await;
    let lines = audit(data.path(), &AuditFilter::default()).unwrap();
    let refused: Vec<_> = lines.iter().filter(|line| line.status == 429).collect();
    assert!(refused.len() <= 2, "they go on record together");
    assert!(refused.iter().all(|line| line.interaction == "throttled"));
    assert_eq!(refused.iter().filter_map(|line| line.entries).sum::<u32>(), refusals);
}
