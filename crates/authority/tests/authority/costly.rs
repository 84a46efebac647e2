//! Searches that would cost too much.

use fhir::issues_of;
use reqwest::StatusCode;

use crate::common::{House, document, outcome_of, resource, urn, wrapped};
use crate::setting::last_updated;

in_every_release![a_search_that_costs_too_much_is_refused_and_is_no_outage];

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
