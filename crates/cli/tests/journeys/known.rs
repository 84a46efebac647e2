//! Content that is known already: judged as its report, and never made a second one while that is on its way.

use serde_json::Value;

use crate::place::{Place, report};

#[test]
fn a_known_report_is_waited_for_and_judged_as_itself() {
    let place = Place::ready();
    let fails = place.write("fails.json", report(200).family("Muster-Fehler").json());
    place.run(&["send", &fails]).ends(0).says("nothing follows it unless");
    let waited = place.run(&["send", &fails, "--wait"]).ends(1).says("known as 1: Failed");
    waited.says("FOPH-002").says("resubmit 1 --with FILE").says_not("--again");
    place.run(&["send", &fails]).ends(1).says("known as 1: Failed");
    let again = place.json(1, &["send", &fails, "--wait"]);
    assert_eq!(again[0]["state"], "failed");
    assert_eq!(again[0]["issues"][0]["source"], "authority");

    let json = report(201).json().replace("\"final\"", "\"finished\"");
    let invalid = place.write("invalid.json", json);
    place.run(&["send", &invalid]).ends(1).says("release 2");
    place.run(&["send", &invalid]).ends(1).says("known as 2: On hold").says("release 2");
    assert_eq!(place.json(0, &["list"]).len(), 2, "nothing was added");
}

/// Which endpoint is in use says where new reports go; what is open at another one is sent and followed all the same.
#[test]
fn what_is_open_at_another_endpoint_is_followed() {
    let mut place = Place::ready();
    place.stop();
    let file = place.write("a.json", report(210).json());
    place.run(&["send", &file]).ends(3);
    let json = report(211).json().replace("\"final\"", "\"finished\"");
    let held = place.write("held.json", json);
    place.run(&["send", &held]).ends(1);
    let (url, ca) = (place.url(), place.ca());
    let other = ["endpoint", "add", "other", &url, "--ca", &ca, "--environment", "integration"];
    place.run(&other).ends(0);
    place.run(&["endpoint", "use", "other"]).ends(0);
    // Nobody is there yet: that is what is said, and nothing about which endpoint is in use.
    let waits = place.run(&["follow", "--once"]).ends(3).says("Waiting");
    waits.says_not("not in use");
    place.start();
    let done = place.json(0, &["follow"]);
    assert_eq!((&done[0]["id"], &done[0]["state"]), (&1.into(), &"completed".into()));
    // Released, it goes where it was to go.
    place.run(&["release", "2", "--reason", "let us see"]).ends(1).says("Rejected");
}

#[test]
fn nothing_is_sent_again_while_it_is_on_its_way() {
    let mut place = Place::ready();
    place.stop();
    let file = place.write("a.json", report(220).json());
    place.run(&["send", &file]).ends(3);
    for command in [&["send", &file][..], &["send", &file, "--again"]] {
        let known = place.run(command).ends(3).says("known as 1: Waiting").says("follow");
        known.says_not("--again");
    }
    place.run(&["check", &file]).ends(0).says("is not sent a second time").says_not("--again");
    assert_eq!(place.json(0, &["list"]).len(), 1, "still one");
    place.start();
    // In progress at the authority: neither then.
    let sent = place.json(0, &["send", &file, "--again"]);
    assert_eq!(sent[0]["id"], 1);
    let done = place.json(0, &["send", &file, "--again", "--wait"]);
    assert_eq!((&done[0]["id"], &done[0]["attempts"]), (&1.into(), &1.into()));
    assert_eq!(place.json(0, &["search", "--count", "0"])[0]["total"], 1);
    // Completed, it is sent again for whoever insists.
    assert_eq!(place.json(0, &["send", &file, "--again", "--wait"])[0]["id"], 2);
}

/// No envelope can be written around what is no document: releasing it is not proposed.
#[test]
fn only_what_can_work_is_proposed() {
    let place = Place::ready();
    let mut json: Value = serde_json::from_str(&report(230).json()).unwrap();
    json["type"] = "collection".into();
    let file = place.write("collection.json", json.to_string());
    place.run(&["send", &file]).ends(1).says("resubmit 1 --with").says_not("release 1");
    place.run(&["show", "1"]).ends(0).says("resubmit 1 --with").says_not("release 1");
    let refused = place.run(&["release", "1", "--reason", "all the same"]);
    refused.says("no document").says("resubmit 1 --with FILE").says_not("correct 1");
}

/// A report that waits can be stopped, also after the first connection was refused; what the authority says of it is
/// asked for only where it has been open for too long.
#[test]
fn what_waits_can_be_stopped_and_withdrawn() {
    let mut place = Place::ready();
    place.stop();
    for number in [230, 231] {
        let file = place.write(&format!("{number}.json"), report(number).json());
        place.run(&["send", &file]).ends(3);
    }
    place.run(&["show", "1"]).ends(0).says("hold 1").says("withdraw 1");
    place.run(&["hold", "1"]).ends(0).says("on hold");
    place.run(&["hold", "1"]).ends(2);
    place.run(&["withdraw", "2", "--reason", "sent by fax"]).ends(0);
    place.run(&["settle", "1", "--received", "--reason", "hotline"]).ends(2);
    place.run(&["settle", "1", "--reason", "hotline"]).ends(2).says("--not-received");
    place.start();
    place.run(&["follow"]).ends(0).says("Nothing is open");
    place.run(&["release", "1", "--reason", "now"]).ends(0);
    // It may be known before anybody follows.
    place.run(&["follow"]).ends(0);
    place.run(&["list"]).ends(0).says("Completed");
}

/// Handed over is not verified: it is said, and whoever asks for it gets an exit code of its own.
#[test]
fn what_is_sent_and_not_verified_says_so() {
    let mut place = Place::ready();
    place.stop();
    place.start_without_processing();
    let files: Vec<_> = (240..247)
        .map(|number| place.write(&format!("{number}.json"), report(number).json()))
        .collect();
    let write = |number: usize| files[number - 240].clone();
    let hint = "nothing follows it unless";
    place.run(&["send", &write(240)]).ends(0).says(hint);
    place.run(&["send", &write(241), "--require-verified"]).ends(5).says(hint);
    let both = place.run(&["send", &write(242), &write(243)]).ends(0);
    both.says("nothing follows them unless");
    place.stop();
    place.start();
    let waited = place.run(&["send", &write(244), "--wait", "--require-verified"]).ends(0);
    waited.says("Completed").says_not("nothing follows");
    place.run(&["send", "--help"]).ends(0).says("nothing follows it unless");
    // What needs a person counts more.
    let json = report(245).json().replace("\"final\"", "\"finished\"");
    let held = place.write("held.json", json);
    place.run(&["send", &write(246), &held, "--require-verified"]).ends(1);
}

/// A mistake costs least where nothing of it is real: production is chosen, not fallen into.
#[test]
fn an_endpoint_is_for_integration_unless_said_otherwise() {
    let place = Place::ready();
    assert_eq!(place.json(0, &["endpoint", "list"])[0]["environment"], "integration");
    let (good, odd) = (place.url(), place.url().replace("/v1/fhir", "/fhir"));
    let ca = place.ca();
    let add = |name: &str, more: &[&str]| {
        let words = [&["endpoint", "add", name][..], more].concat();
        place.run(&words)
    };
    add("a", &[&good, "--ca", &ca]).ends(0).says_not("does not end in");
    add("b", &[&odd, "--ca", &ca]).ends(0).says("does not end in /v1/fhir");
    add("c", &[&good, "--environment", "production", "--also-system-roots", "--ca", &ca]).ends(0);
    add("d", &[&good, "--also-system-roots"]).ends(2).says("--ca");
    for wrong in ["german", "de_CH", "de"] {
        add("e", &[&good, "--language", wrong]).ends(2).says("de-CH or es-419");
    }
    let another = "0a".repeat(32);
    add("f", &[&good, "--ca", &ca, "--language", "es-419", "--server-key", &another]).ends(0);
    let found = place.json(0, &["endpoint", "list"]);
    let environments: Vec<_> = found.iter().map(|one| one["environment"].as_str()).collect();
    let (test, real) = (Some("integration"), Some("production"));
    assert_eq!(environments, [test, test, test, real, test]);
    assert_eq!((&found[3]["alsoSystemRoots"], &found[0]["ownCa"]), (&true.into(), &true.into()));
    // Not that server's key.
    place.run(&["endpoint", "test", "f"]).ends(3).says("its key is not the one");
}

/// What a release cannot be asked is refused in words, not left out.
#[test]
fn a_search_that_the_release_does_not_offer_is_refused() {
    let place = Place::ready();
    let (url, ca) = (place.url(), place.ca());
    let old = ["endpoint", "add", "old", &url, "--ca", &ca, "--release", "1.0.0-trialuse"];
    place.run(&old).ends(0);
    place.run(&["endpoint", "use", "old"]).ends(0);
    for (asked, name) in [
        (&["--status", "failed"][..], "elm-status"),
        (&["--last-updated", "ge2026"], "_lastUpdate"),
        (&["--count", "5"], "_count"),
        (&["--page", "2"], "page"),
    ] {
        let words = [&["search"][..], asked].concat();
        place.run(&words).ends(2).says(name).says("by identifier only");
    }
    let own = "urn:uuid:7c1f7a10-4f0e-4b57-9d3a-5a1d6f0c0001";
    place.run(&["search", "--identifier", own]).ends(0).says("Nothing");
}

/// Whoever tried it out with the test system still has everything to send to production.
#[test]
fn what_went_to_the_test_system_is_sent_to_production_and_known_there_after() {
    let place = Place::ready();
    let (url, ca) = (place.url(), place.ca());
    for (name, environment) in [("pilot", "integration"), ("real", "production")] {
        let add = ["endpoint", "add", name, &url, "--ca", &ca, "--environment", environment];
        place.run(&add).ends(0);
    }
    let delivered = || place.json(0, &["search", "--count", "0"])[0]["total"].clone();
    place.run(&["endpoint", "use", "pilot"]).ends(0);
    let file = &place.write("a.json", report(240).json());
    place.run(&["send", file, "--wait"]).ends(0).says("Completed");
    place.run(&["send", file]).ends(0).says("known as 1: Completed");
    assert_eq!(delivered(), 1);

    place.run(&["endpoint", "use", "real"]).ends(0);
    place.run(&["check", file]).ends(0).says_not("known as");
    place.run(&["send", file, "--wait"]).ends(0).says("Completed").says_not("known as");
    assert_eq!(delivered(), 2, "delivered to each");
    place.run(&["send", file]).ends(0).says("known as 2: Completed");
    assert_eq!(delivered(), 2, "and once");
}
