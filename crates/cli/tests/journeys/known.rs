//! Content that is known already: judged as its report, and never made a second one while that is
//! on its way.

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

/// Which endpoint is in use says where new reports go; what is open at another one is sent and
/// followed all the same.
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
    refused.says("is not a document").says("resubmit 1 --with FILE").says_not("correct 1");
}

/// A report that waits can be stopped, also after the first connection was refused; what the
/// authority says of it is asked for only where it has been open for too long.
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
    // What is on hold has no final status, and nothing becomes of it by itself.
    place.run(&["follow"]).ends(1).says("On hold: 1").says_not("Nothing is open");
    place.run(&["release", "1", "--reason", "now"]).ends(0);
    // It may be known before anybody follows.
    place.run(&["follow"]).ends(0);
    place.run(&["list"]).ends(0).says("Completed");
}

/// A script that hands a file over again must not read success where nothing reached the authority.
#[test]
fn what_was_withdrawn_or_replaced_is_judged_by_what_reached_the_authority() {
    let place = Place::ready();
    let held = report(232).json().replace("\"final\"", "\"finished\"");
    let file = place.write("withdrawn.json", held);
    place.run(&["send", &file]).ends(1);
    place.run(&["withdraw", "1", "--reason", "sent by fax"]).ends(0);
    place.run(&["send", &file]).ends(1).says("known as 1: Withdrawn");
    place.run(&["send", &file, "--wait", "--require-verified"]).ends(1);

    let wrong = report(233).family("Muster-Fehler").json();
    let fails = place.write("fails.json", wrong.clone());
    place.run(&["send", &fails, "--wait"]).ends(1);
    let next = place.write("next.json", wrong.replace("Musterdorf", "Andersdorf"));
    place.run(&["resubmit", "2", "--with", &next, "--wait"]).ends(1);
    // Replaced, and what took its place failed too.
    place.run(&["send", &fails]).ends(1).says("known as 2: Replaced");
    let right = place.write("right.json", report(233).family("Muster").json());
    place.run(&["resubmit", "3", "--with", &right, "--wait"]).ends(0);
    place.run(&["send", &fails, "--wait", "--require-verified"]).ends(0);
    place.run(&["send", "--help"]).ends(0).says("withdrawn").says("only where the authority");
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
    add("b", &[&odd, "--ca", &ca]).ends(0).says("does not end in /v1/fhir").says("endpoint test b");
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

/// One authority under two environments gets what was sent to the one a second time: whoever adds
/// it is told, with `--quiet` and for scripts too.
#[test]
fn an_address_that_another_environment_has_is_told() {
    let place = Place::ready();
    let (same, ca) = (format!("{}/", place.url()), place.ca());
    let real = ["--environment", "production", "--also-system-roots", "--ca", &ca];
    let add = |before: &[&str], name: &str, url: &str, more: &[&str]| {
        place.run(&[before, &["endpoint", "add", name, url], more].concat()).ends(0)
    };
    let told = "“authority” (test system) has this address already";
    add(&[], "twin", &same, &["--ca", &ca]).says_not("has this address already");
    add(&["--quiet"], "real", &same, &real).says(told);
    let scripted = add(&["--json"], "again", &same, &real).says(told);
    let others = serde_json::json!([
        { "name": "authority", "environment": "integration" },
        { "name": "twin", "environment": "integration" },
    ]);
    assert_eq!(scripted.objects()[0]["sameAddress"], others, "results are whole lines of JSON");
    let elsewhere = "https://elm.example.org/v1/fhir";
    add(&[], "far", elsewhere, &real).says_not("has this address already");
    place.run(&["endpoint", "set-address", "far", &same]).ends(0).says(told);
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
        (&["--status", "failed"][..], "searched for by --status"),
        (&["--last-updated", "ge2026"], "searched for by --last-updated"),
        (&["--sort", "date"], "searched for by --sort"),
        (&["--count", "5"], "searched for by --count"),
        (&["--page", "2"], "searched for by --page"),
    ] {
        let words = [&["search"][..], asked].concat();
        place.run(&words).ends(2).says(name).says("by identifier only");
    }
    let own = "urn:uuid:7c1f7a10-4f0e-4b57-9d3a-5a1d6f0c0001";
    place.run(&["search", "--identifier", own]).ends(0).says("Nothing");
    place.run(&["search", "--page", "0"]).ends(2).says("pages count from 1");
}

/// Whoever tried it out with the test system still has everything to send to production.
#[test]
fn what_went_to_the_test_system_is_sent_to_production() {
    let place = Place::ready();
    let (url, ca) = (place.url(), place.ca());
    let pilot = ["endpoint", "add", "pilot", &url, "--ca", &ca, "--environment", "integration"];
    place.run(&pilot).ends(0);
    let real = ["endpoint", "add", "real", &url, "--ca", &ca, "--environment", "production"];
    place.run(&real).ends(0);
    place.run(&["endpoint", "use", "pilot"]).ends(0);
    let file = place.write("a.json", report(240).json());
    place.run(&["send", &file, "--wait"]).ends(0).says("pilot (test system)");
    place.run(&["send", &file]).ends(0).says("known as 1: Completed");
    assert_eq!(place.json(0, &["search", "--count", "0"])[0]["total"], 1);

    // One deliberate step, which says what it does and does not do.
    let asked = place.run(&["endpoint", "use", "real"]).ends(1).says("Nothing is changed");
    asked.says("Nothing that went to another endpoint is sent to real by itself").says("--confirm");
    let plan = place.json(1, &["endpoint", "use", "real"]);
    assert_eq!((&plan[0]["to_production"], &plan[0]["from"]), (&true.into(), &"pilot".into()));
    place.run(&["endpoint", "use", "real", "--confirm"]).ends(0).says("goes to real (production)");

    place.run(&["check", &file]).ends(0).says("Ready");
    place.run(&["send", &file, "--wait"]).ends(0).says("real (production)").says("Completed");
    assert_eq!(place.json(0, &["search", "--count", "0"])[0]["total"], 2, "delivered to each");
    place.run(&["send", &file]).ends(0).says("known as 2: Completed");
    assert_eq!(place.json(0, &["search", "--count", "0"])[0]["total"], 2, "and once");
    let list = place.json(0, &["list"]);
    let places: Vec<_> = list.iter().map(|it| (&it["endpoint"], &it["environment"])).collect();
    let said = |endpoint: &'static str, environment: &'static str| {
        (Value::from(endpoint), Value::from(environment))
    };
    let [one, other] = [said("real", "production"), said("pilot", "integration")];
    assert_eq!(places, [(&one.0, &one.1), (&other.0, &other.1)]);
    let csv = place.run(&["export", "--format", "csv"]).ends(0);
    csv.says(",pilot,").says(",integration").says(",real,").says(",production");
    // Back is asked first too; and a report that goes where it was to go is not said to go where
    // new ones do.
    let failing = place.write("b.json", report(241).family("Muster-Fehler").json());
    let sent = place.run(&["send", &failing, "--wait"]).ends(1);
    sent.says_not("went to the test system");
    place
        .run(&["endpoint", "use", "pilot"])
        .ends(1)
        .says("Nothing is changed")
        .says("Out of production");
    place.run(&["endpoint", "use", "pilot", "--confirm"]).ends(0);
    let again = place.run(&["resubmit", "3", "--wait"]).ends(1).says("real (production)");
    again.says_not("went to the test system");
}

/// Exported again by another program: pretty-printed, compact, as XML.
#[test]
fn the_same_report_in_other_bytes_is_known() {
    let place = Place::ready();
    let document = report(250).json();
    let file = place.write("a.json", document.clone());
    place.run(&["send", &file, "--wait"]).ends(0).says("Completed");
    // Numbers keep their digits: 8.50 is not 8.5.
    let compact: String = document.lines().map(str::trim).collect();
    let spread = compact.replace(",\"", ",\r\n\t\"");
    assert_ne!(compact, document);
    let [compact, spread] = [("compact.json", compact), ("spread.json", spread)]
        .map(|(name, text)| place.write(name, text));
    let xml = report(250).xml();
    let xml = place.write("a.xml", xml.replace("><", ">\n<"));
    for other in [&compact, &spread, &xml] {
        place.run(&["check", other]).ends(0).says("known as 1: Completed");
        place.run(&["send", other]).ends(0).says("known as 1: Completed");
    }
    assert_eq!(place.json(0, &["list"]).len(), 1);
    assert_eq!(place.json(0, &["search", "--count", "0"])[0]["total"], 1);
}

/// The same document identifier with other content: a correction of what failed, and told where the
/// earlier one was completed.
#[test]
fn a_corrected_file_takes_the_place_of_the_one_that_failed() {
    let place = Place::ready();
    let wrong = report(260).family("Muster-Fehler").json();
    let right = wrong.replace("Muster-Fehler", "Muster");
    let file = place.write("a.json", wrong);
    place.run(&["send", &file, "--wait"]).ends(1).says("Failed");
    let corrected = place.write("b.json", right.clone());
    let sent = place.json(0, &["send", &corrected, "--wait"]);
    assert_eq!((&sent[0]["id"], &sent[0]["corrects"]), (&2.into(), &1.into()));
    assert_eq!(sent[0]["state"], "completed");
    let list = place.json(0, &["list"]);
    assert_eq!(list[1]["state"], "superseded", "nothing is left for a person");
    place.run(&["show", "1"]).ends(0).says("2");

    // Completed: told with the places, never with the values.
    let other = place.write("c.json", right.replace("Muster", "Andere"));
    let told = place.json(0, &["send", &other, "--wait"]);
    let issue = &told[0]["issues"][0];
    assert_eq!(
        (&issue["code"], &told[0]["corrects"]),
        (&"same-identifier-other-content".into(), &Value::Null)
    );
    let text = issue["text"].as_str().unwrap();
    assert!(text.contains(".name") && !text.contains("Andere"), "{text}");

    // Where the profile says so, a person looks first.
    let settings = place.path("profile").join("profile.json");
    let kept = std::fs::read_to_string(&settings).unwrap();
    let kept = kept.replace("\"same_identifier\": \"warn\"", "\"same_identifier\": \"hold\"");
    std::fs::write(&settings, kept).unwrap();
    let third = place.write("d.json", right.replace("Muster", "Dritte"));
    let held = place.json(1, &["send", &third]);
    assert_eq!(held[0]["state"], "held");
    // A watched folder or a script that brings the corrected one of a held report needs nobody.
    let fourth = place.write("e.json", right.replace("Muster", "Vierte"));
    let sent = place.json(0, &["send", &fourth, "--wait"]);
    assert_eq!((&sent[0]["corrects"], &sent[0]["state"]), (&held[0]["id"], &"completed".into()));
}

/// Paused by one program, sending stays so for every other, and after a restart.
#[test]
fn what_is_paused_is_sent_by_no_program_until_it_is_resumed() {
    let place = Place::ready();
    let open = place.write("open.json", report(240).json());
    place.run(&["send", &open]).ends(0);
    place.run(&["pause"]).ends(0).says("Sending is paused");
    let file = place.write("a.json", report(241).json());
    place.run(&["send", &file]).ends(3).says("Sending is paused").says(" resume");
    place.run(&["send", &file, "--wait"]).ends(3).says("known as 2: Waiting");
    // What was sent before is followed to its end; what waits is told.
    place.run(&["follow", "--once"]).ends(3).says("Sending is paused");
    place.run(&["follow"]).ends(3).says("Sending is paused");
    place.run(&["show", "1"]).ends(0).says("Completed");
    assert_eq!(place.json(0, &["list", "--state", "queued"])[0]["attempts"], 0);
    place.run(&["resume"]).ends(0).says("Sending goes on");
    place.run(&["follow"]).ends(0).says("Completed").says_not("paused");
}

/// Capital letters make no other UUID: neither of content, nor of a version.
#[test]
fn a_document_identifier_in_capital_letters_is_the_same() {
    let place = Place::ready();
    let letters = |text: &str| {
        let at = text.find("urn:uuid:").unwrap();
        let uuid = &text[at..at + 45];
        text.replace(uuid, &format!("urn:uuid:{}", uuid[9..].to_uppercase()))
    };
    let sound = place.write("a.json", report(240).json());
    place.run(&["send", &sound, "--wait"]).ends(0).says("Completed");
    let as_xml = place.write("a.xml", letters(&report(240).xml()));
    place.run(&["send", &as_xml]).ends(0).says("known as 1: Completed");
    // An older version of it is on hold, and the correction of one that failed takes its place.
    let older = report(240).timestamp("2026-01-01T00:00:00Z").json();
    let older = place.write("older.json", letters(&older));
    place.json(1, &["send", &older]);
    let fails = place.write("fails.json", report(241).family("Muster-Fehler").json());
    place.json(1, &["send", &fails, "--wait"]);
    let corrected = place.write("corrected.json", letters(&report(241).json()));
    let taken = place.json(0, &["send", &corrected, "--wait"]);
    assert_eq!((&taken[0]["state"], &taken[0]["corrects"]), (&"completed".into(), &3.into()));
}
