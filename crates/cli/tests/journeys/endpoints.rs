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
    place.run(&["endpoint", "remove", "authority"]).ends(2).says("1 of them is");
    let elsewhere = "https://127.0.0.1:1/v1/fhir";
    let moved = place.run(&["endpoint", "set-address", "authority", elsewhere]).ends(2);
    moved.says("1 report, 1 of them open").says("--same-authority").says("endpoint add");
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
    place.run(&["endpoint", "remove", "authority"]).ends(2).says("no authority named");
}

#[test]
fn another_ca_or_proxy_is_named_where_the_endpoint_stands() {
    let place = Place::ready();
    let (url, ca) = (place.url(), place.ca());
    // Without its CA the authority is a stranger; what is advised then can be typed.
    place.run(&["endpoint", "add", "other", &url]).ends(0);
    place.run(&["endpoint", "test", "other"]).ends(3).says("endpoint set-way NAME --ca FILE");
    place.run(&["endpoint", "set-way", "other", "--ca", &ca]).ends(0).says("from now on");
    place.run(&["endpoint", "test", "other"]).says_not("set-way");
    place.run(&["endpoint", "set-way", "other", "--proxy", "http://127.0.0.1:1"]).ends(0);
    let one = || place.json(0, &["endpoint", "list"])[1].clone();
    assert_eq!(one()["proxy"], "http://127.0.0.1:1/");
    assert_eq!(one()["ownCa"], true, "what is not named stays");
    place.run(&["endpoint", "set-way", "other", "--no-ca", "--no-proxy"]).ends(0);
    assert_eq!((one()["proxy"].is_null(), &one()["ownCa"]), (true, &false.into()));
    // Nothing named, an authority that nobody knows, and a file that is no CA.
    place.run(&["endpoint", "set-way", "other"]).ends(2);
    place.run(&["endpoint", "set-way", "nobody", "--no-ca"]).ends(2).says("no authority named");
    let bundle = place.write("one.p12", "no pem");
    let refused = place.run(&["endpoint", "set-way", "other", "--ca", &bundle]);
    refused.ends(2).says("no certificate in PEM");
    place.run(&["audit"]).ends(0).says("CA or proxy of the authority other was changed");
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
    place.run(&taken).ends(2).says("already an authority named");
    place.run(&["endpoint", "rename", "authority", "real"]).ends(0).says("is called real");
    assert_eq!(names(&place), ["real", "other"]);
    assert_eq!(place.json(0, &["endpoint", "list"])[0]["inUse"], true);
    let certificates = place.json(0, &["identity", "list"]);
    assert_eq!(certificates[0]["endpoints"], serde_json::json!(["real", "other"]));
    place.start();
    // Where the authority was quick, what came before has learnt it already.
    place.run(&["follow"]).ends(0);
    assert_eq!(place.json(0, &["list"])[0]["state"], "completed", "followed under its new name");
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

/// A profile with an endpoint that is down and has a report waiting, beside one that works.
fn beside_one_that_is_down(place: &Place) {
    let ca = place.ca();
    place.run(&["endpoint", "add", "down", "https://127.0.0.1:1/v1/fhir", "--ca", &ca]).ends(0);
    place.run(&["endpoint", "use", "down"]).ends(0);
    let waiting = place.write("waiting.json", report(310).json());
    let sent = place.run(&["send", &waiting]).ends(3);
    sent.says("error: Endpoint down: ").says("1 report is safe").says("will be sent by");
    place.run(&["endpoint", "use", "authority"]).ends(0);
}

/// What becomes of these reports is the outcome; what is wrong elsewhere is a note with its name.
#[test]
fn the_fault_of_another_endpoint_is_not_the_outcome_of_a_send() {
    let mut place = Place::ready();
    beside_one_that_is_down(&place);
    place.stop();
    place.start_without_processing();
    let file = place.write("a.json", report(311).json());
    let send = ["send", &file, "--wait", "--timeout", "3s"];
    let sent = place.run(&send).ends(1).says("The time is over; 1 report is still open");
    let sent = sent.says_not("error: Endpoint").says("Another endpoint, down, has a fault");
    sent.says("1 report was handed over already").says_not("will be sent by");
    // Patience that ends is told with --quiet too, and is what --require-verified is for.
    let quiet = place.run(&[&["--quiet"], &send[..]].concat()).ends(1).says("The time is over");
    quiet.says_not("handed over");
    let file = place.write("b.json", report(312).json());
    let verified = ["send", &file, "--wait", "--timeout", "1s", "--require-verified"];
    place.run(&verified).ends(5).says("The time is over");
    // Wherever its lines are broken.
    let help = place.run(&["send", "--help"]).ends(0).out;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for option in ["1, with --require-verified 5", "Exit with 5"] {
        assert!(help.contains(option), "{help}");
    }
}

#[test]
fn one_pass_tells_every_endpoint_that_cannot_be_reached() {
    let mut place = Place::ready();
    beside_one_that_is_down(&place);
    place.stop();
    let file = place.write("a.json", report(320).json());
    place.run(&["send", &file]).ends(3).says("error: Endpoint authority: ");
    let passed = place.run(&["follow", "--once"]).ends(3);
    let passed = passed.says("error: Endpoint authority: ").says("error: Endpoint down: ");
    passed.says("2 reports are safe in the journal and will be sent by");
    let again = place.run(&["--quiet", "follow", "--once"]).ends(3);
    again.says("Endpoint authority: ").says("Endpoint down: ");
}

/// What was accepted is not sent once more, and nobody says that it will be.
#[test]
fn what_was_handed_over_is_asked_for_and_what_waits_is_sent() {
    let mut place = Place::ready();
    place.stop();
    place.start_without_processing();
    let accepted = place.write("a.json", report(330).json());
    place.run(&["send", &accepted]).ends(0);
    place.stop();
    let waiting = place.write("b.json", report(331).json());
    place.run(&["send", &waiting]).ends(3);
    let passed = place.run(&["follow", "--once"]).ends(3).says("1 report is safe");
    passed.says("1 report was handed over already").says("what became of it is asked by");
    let mut german = place.command(&["follow", "--once"]);
    german.env("LANG", "de_CH.UTF-8");
    let passed = crate::place::finish(german).ends(3).says("1 Meldung wurde schon übergeben");
    passed.says("1 Meldung ist sicher im Journal und wird gesendet");
}

/// Everything is kept under an id that no name changes: a backup of before the renaming is at home
/// in the settings of after it, and the other way round.
#[test]
fn a_backup_of_before_a_renaming_is_followed_and_its_content_is_known() {
    let place = Place::ready();
    let file = place.write("a.json", report(340).json());
    place.run(&["send", &file]).ends(0);
    let backup = place.shown("kept.db");
    place.run(&["journal", "backup", &backup]).ends(0);
    place.run(&["endpoint", "rename", "authority", "real"]).ends(0);
    place.run(&["journal", "restore", &backup]);
    place.run(&["journal", "notices", "--read"]);
    place.run(&["send", &file]).says("known as 1");
    let list = place.json(0, &["list"]);
    assert_eq!((list.len(), &list[0]["endpoint"]), (1, &serde_json::json!("real")));
    assert_eq!(place.json(0, &["follow"])[0]["state"], "completed", "followed under its new name");
    assert_eq!(place.json(0, &["search", "--count", "0"])[0]["total"], 1);
}

/// On another computer the administrator has called it something else: what leads to the same
/// address in the same environment is the same authority.
#[test]
fn a_backup_from_elsewhere_finds_its_endpoint_by_its_address() {
    let place = Place::ready();
    let file = place.write("a.json", report(341).json());
    place.run(&["send", &file, "--wait"]).ends(0);
    let backup = place.shown("kept.db");
    place.run(&["journal", "backup", &backup]).ends(0);
    let settings = place.path("profile/profile.json");
    let named = std::fs::read_to_string(&settings).unwrap().replace("\"authority\"", "\"FOPH\"");
    place.write("profile/profile.json", named);
    for entry in std::fs::read_dir(place.path("profile")).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with("journal.db") {
            std::fs::remove_file(path).unwrap();
        }
    }
    place.run(&["journal", "restore", &backup]);
    place.run(&["journal", "notices", "--read"]);
    place.run(&["send", &file]).says("known as 1");
    assert_eq!(place.json(0, &["list"])[0]["endpoint"], "FOPH");
    assert_eq!(place.json(0, &["identity", "list"])[0]["endpoints"], serde_json::json!(["FOPH"]));
}

/// What was sent to one authority was not sent to another one that has its name later.
#[test]
fn a_name_that_is_given_again_stands_for_the_authority_at_its_address() {
    let place = Place::ready();
    let file = place.write("a.json", report(342).json());
    place.run(&["send", &file, "--wait"]).ends(0);
    let (url, ca) = (place.url(), place.ca());
    let other = url.replace("127.0.0.1", "localhost");
    place.run(&["endpoint", "remove", "authority"]).ends(0);
    place.run(&["endpoint", "add", "authority", &other, "--ca", &ca]).ends(0);
    let sent = place.json(0, &["send", &file, "--wait"]);
    assert_eq!((&sent[0]["id"], &sent[0]["state"]), (&2.into(), &"completed".into()));
    place.run(&["send", &file]).says("known as 2");
    // The first one again, under whatever name.
    place.run(&["endpoint", "add", "first", &url, "--ca", &ca]).ends(0);
    place.run(&["endpoint", "use", "first"]).ends(0);
    place.run(&["send", &file]).says("known as 1");
    let list = place.json(0, &["list"]);
    let at: Vec<_> = list.iter().map(|it| it["endpoint"].as_str().unwrap()).collect();
    assert_eq!(at, ["authority", "first"]);
}

/// Nobody has said that what went to one authority may go to another.
#[test]
fn what_takes_the_place_of_a_report_goes_where_that_went_or_nowhere() {
    let place = Place::ready();
    let file = place.write("a.json", report(343).family("Muster-Fehler").json());
    place.run(&["send", &file, "--wait"]);
    assert_eq!(place.json(0, &["list"])[0]["state"], "failed");
    let (url, ca) = (place.url(), place.ca());
    let other = url.replace("127.0.0.1", "localhost");
    let production = ["--ca", &ca, "--environment", "production"];
    place.run(&[&["endpoint", "add", "other", &other], &production[..]].concat()).ends(0);
    place.run(&["endpoint", "use", "other", "--confirm"]).ends(0);
    place.run(&["endpoint", "remove", "authority"]).ends(0);
    let corrected = place.write("b.json", report(343).json());
    for command in [&["resubmit", "1"][..], &["resubmit", "1", "--with", &corrected]] {
        place.run(command).ends(2).says("authority is not set up any more").says(&url);
    }
    assert_eq!(place.json(0, &["list"]).len(), 1, "nothing was taken in");
    place.run(&["endpoint", "add", "again", &url, "--ca", &ca]).ends(0);
    place.run(&["resubmit", "1", "--with", &corrected, "--wait"]).ends(0).says("Completed");
    assert_eq!(place.json(0, &["list"])[0]["endpoint"], "again");
}

/// Reports that wait at an endpoint that the settings do not have are told, with what to do;
/// nothing waits for ever.
#[test]
fn reports_of_an_endpoint_that_is_not_configured_are_told() {
    let mut place = Place::ready();
    place.stop();
    let file = place.write("a.json", report(344).json());
    place.run(&["send", &file]).ends(3);
    // As after a restore where nobody has added it yet.
    let settings = place.path("profile/profile.json");
    let text = std::fs::read_to_string(&settings).unwrap();
    let mut elsewhere: serde_json::Value = serde_json::from_str(&text).unwrap();
    elsewhere["endpoints"] = serde_json::json!([]);
    elsewhere["in_use"] = serde_json::Value::Null;
    place.write("profile/profile.json", elsewhere.to_string());
    place.start();
    let told = place.run(&["follow"]).ends(3).says("is not set up any more");
    told.says(&place.url()).says("endpoint add");
    let (url, ca) = (place.url(), place.ca());
    place.run(&["endpoint", "add", "authority", &url, "--ca", &ca]).ends(0);
    assert_eq!(place.json(0, &["follow"])[0]["state"], "completed");
}

/// Each reads, changes and writes the whole of the settings: one after the other, so that none
/// undoes another's change.
#[test]
fn settings_that_are_changed_side_by_side_lose_nothing() {
    let place = Place::ready();
    let (url, ca) = (place.url(), place.ca());
    let add = |number: u32| {
        let name = format!("other-{number}");
        place.command(&["endpoint", "add", &name, &url, "--ca", &ca]).spawn().unwrap()
    };
    let all: Vec<_> = (0..8).map(add).collect();
    for mut one in all {
        assert!(one.wait().unwrap().success());
    }
    assert_eq!(names(&place).len(), 9);
    assert!(place.json(0, &["endpoint", "list"]).iter().all(|it| it["certificate"].is_string()));
}
