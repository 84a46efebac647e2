//! Another address or name for an endpoint, and its end: what is open is kept where it was sent.

use crate::place::{Place, report};

fn names(place: &Place) -> Vec<String> {
    let all = place.json(0, &["endpoint", "list"]);
    all.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_endpoint_that_reports_wait_for_is_neither_removed_nor_led_elsewhere() {
    let mut place = Place::ready();
    place.stop();
    let file = place.write("a.json", report(300).json());
    place.run(&["send", &file]).ends(3);
    place.run(&["endpoint", "remove", "authority"]).ends(2).says("1 report waits");
    let elsewhere = "https://127.0.0.1:1/v1/fhir";
    let moved = place.run(&["endpoint", "set-address", "authority", elsewhere]).ends(2);
    moved.says("1 report was").says("--same-authority").says("endpoint add");
    assert_eq!(place.json(0, &["endpoint", "list"])[0]["url"], place.url(), "nothing is changed");

    // The same authority under another address: what is open is sent and followed there.
    let other = place.url().replace("127.0.0.1", "localhost");
    let same = ["endpoint", "set-address", "authority", &other, "--same-authority"];
    place.run(&same).ends(0).says("asked for and read there");
    place.start();
    assert_eq!(place.json(0, &["follow"])[0]["state"], "completed");

    // In use while there is another; then it goes, and its report stays in the list.
    let (url, ca) = (place.url(), place.ca());
    place.run(&["endpoint", "add", "other", &url, "--ca", &ca]).ends(0);
    place.run(&["endpoint", "remove", "authority"]).ends(2).says("endpoint use NAME");
    place.run(&["endpoint", "use", "other"]).ends(0);
    place.run(&["endpoint", "remove", "authority"]).ends(0).says("stay in the list");
    assert_eq!(names(&place), ["other"]);
    assert_eq!(place.json(0, &["list"]).len(), 1);
    // Nothing was taken in for it: its address may lead anywhere.
    place.run(&["endpoint", "set-address", "other", elsewhere]).ends(0);
    place.run(&["endpoint", "set-address", "other", "http://127.0.0.1/v1/fhir"]).ends(2);
    place.run(&["endpoint", "remove", "authority"]).ends(2).says("no endpoint named");
}

#[test]
fn a_renamed_endpoint_keeps_its_reports_and_its_certificate() {
    let mut place = Place::ready();
    place.stop();
    let file = place.write("a.json", report(301).json());
    place.run(&["send", &file]).ends(3);
    let (url, ca) = (place.url(), place.ca());
    place.run(&["endpoint", "add", "other", &url, "--ca", &ca]).ends(0);
    let taken = ["endpoint", "rename", "authority", "other"];
    place.run(&taken).ends(2).says("is an endpoint named");
    place.run(&["endpoint", "rename", "authority", "real"]).ends(0).says("is called real");
    assert_eq!(names(&place), ["real", "other"]);
    assert_eq!(place.json(0, &["endpoint", "list"])[0]["inUse"], true);
    let certificates = place.json(0, &["identity", "list"]);
    assert_eq!(certificates[0]["endpoints"], serde_json::json!(["real", "other"]));
    place.start();
    assert_eq!(place.json(0, &["follow"])[0]["state"], "completed", "followed under its new name");
    place.run(&["send", &file]).ends(0).says("known as 1: Completed");
    place.run(&["journal", "verify"]).ends(0);
}

/// How long a report may be in progress before a person is asked is the laboratory's choice.
#[test]
fn the_days_until_a_report_needs_attention_are_settable() {
    let place = Place::ready();
    assert_eq!(place.json(0, &["journal", "attention"])[0]["days"], 3);
    place.run(&["journal", "attention", "5"]).ends(0).says("5 days");
    assert_eq!(place.json(0, &["journal", "attention"])[0]["days"], 5);
    place.run(&["journal", "attention", "0"]).ends(2);
}
