//! The way to the authority, vault and certificate: each fault has its exit code, and nothing is
//! lost.

use testkit::{KeyKind, Purpose, TestCa, Validity};

use crate::place::{Place, report};

#[test]
fn the_authority_down_is_three_and_nothing_is_lost() {
    let mut place = Place::ready();
    place.stop();
    let file = place.write("a.json", report(100).json());
    place
        .run(&["send", &file])
        .ends(3)
        .says("The authority cannot be reached")
        .says("1 report is safe");
    assert_eq!(place.json(0, &["list"])[0]["state"], "queued");
    place.run(&["follow", "--once"]).ends(3);
    place.run(&["endpoint", "test"]).ends(3).says("does not work");
    place.run(&["search"]).ends(3);
    place.start();
    place.run(&["endpoint", "test"]).ends(0);
    let other = place.write("b.json", report(101).json());
    assert_eq!(place.json(0, &["send", &other, "--wait"])[0]["state"], "completed");
}

#[test]
fn a_wrong_ca_is_three_before_a_byte_leaves() {
    let place = Place::ready();
    authority::init(&place.path("other-authority"), &[]).unwrap();
    let ca = place.shown("other-authority/ca.pem");
    place.run(&["endpoint", "add", "wrong", &place.url(), "--ca", &ca]).ends(0);
    place.run(&["endpoint", "use", "wrong"]).ends(0);
    let file = place.write("a.json", report(110).json());
    place
        .run(&["send", &file, "--wait"])
        .ends(3)
        .says("is not trusted")
        // It has the same name as the right one, and another key.
        .says("its issuer is not known here")
        .says("Nothing was sent");
    assert_eq!(place.json(0, &["list"])[0]["state"], "queued");
    // What waits for that endpoint is tried there, and does not block the other.
    place.run(&["endpoint", "use", "authority"]).ends(0);
    place.run(&["follow"]).ends(3).says("is not trusted");
    let other = place.write("b.json", report(111).json());
    assert_eq!(place.json(0, &["send", &other, "--wait"])[0]["state"], "completed");
    assert_eq!(place.json(0, &["list"])[1]["state"], "queued");
    assert_eq!(place.json(0, &["search", "--count", "0"])[0]["total"], 1);
}

#[test]
fn without_a_certificate_it_is_three_with_the_next_step() {
    let mut place = Place::empty();
    place.start();
    let (url, ca) = (place.url(), place.ca());
    place.run(&["init", "--endpoint", &url, "--ca", &ca, "--vault", "passphrase"]).ends(0);
    place.run(&["identity", "show"]).ends(1);
    let file = place.write("a.json", report(120).json());
    place.run(&["send", &file]).ends(3).says("No certificate").says("identity import");
    place.run(&["endpoint", "test"]).ends(3).says("No certificate");
    place.import().ends(0).says("CN=lab");
    place.run(&["follow"]).ends(0).says("Completed");
}

#[test]
fn a_certificate_from_elsewhere_is_refused() {
    let place = Place::ready();
    let other = place.path("other-authority");
    let made = authority::init(&other, &["stranger".to_owned()]).unwrap();
    let pilot = &made.pilots[0];
    let (p12, password) = (pilot.p12.display().to_string(), pilot.password.display().to_string());
    place.run(&["identity", "import", &p12, "--password-file", &password]).ends(0);
    let file = place.write("a.json", report(130).json());
    place.run(&["send", &file]).ends(3).says("1 report is safe");
}

/// A renewal that begins later, or a clock that is wrong: both look like a certificate that nobody
/// takes.
#[test]
fn a_certificate_that_is_not_valid_yet_says_so() {
    let place = Place::ready();
    let ca = TestCa::new("elsewhere");
    let early = ca.client_with("lab", KeyKind::P256, Validity::NotYet, Purpose::ClientAuth);
    let file = place.write("early.pem", early.pem());
    place.run(&["identity", "import", &file]).ends(0).says("not valid for another");
    place.run(&["identity", "show"]).ends(0).says("not valid for another");
    assert!(place.json(0, &["identity", "show"])[0]["daysAhead"].as_i64().unwrap() > 0);
}

#[test]
fn wrong_certificate_files_say_what_is_wrong() {
    let place = Place::ready();
    let p12 = place.shown("authority/pilot/lab.p12");
    let wrong = place.write("wrong", "nonsense");
    place.run(&["identity", "import", &p12]).ends(1).says("protected by a password");
    place
        .run(&["identity", "import", &p12, "--password-file", &wrong])
        .ends(1)
        .says("password is wrong");
    place.run(&["identity", "import", &wrong]).ends(1).says("not a certificate file");
    place.run(&["identity", "import", "missing.p12"]).ends(1).says("no such file");
    let ca = place.ca();
    place.run(&["identity", "import", &ca]).ends(1).says("certificate authority").says("--ca FILE");
    let certificate = testkit::TestCa::new("Another").client("lab").chain_pem();
    let alone = place.write("alone.pem", certificate);
    place.run(&["identity", "import", &alone]).ends(1).says("private key is missing");
    let import = ["identity", "import", &alone, "--key", &alone];
    place.run(&import).ends(1).says("Name the file that holds the private key");
    // The one that works is still there.
    place.run(&["identity", "show"]).ends(0).says("CN=lab");
}

#[test]
fn a_vault_opens_with_its_passphrase_only() {
    let place = Place::ready();
    let profile = place.shown("profile");
    let wrong = place.write("wrong", "incorrect horse\n");
    let with = |file: Option<&str>| {
        let mut command = crate::place::program(place.folder.path());
        command.args(["--profile", &profile, "list"]);
        if let Some(file) = file {
            command.args(["--passphrase-file", file]);
        }
        crate::place::finish(command)
    };
    with(Some(&wrong)).ends(4).says("passphrase is wrong");
    with(None).ends(4).says("--passphrase-file");
    with(Some("/nonexistent/passphrase")).ends(4).says("no such file");
    with(Some(&place.shown("passphrase"))).ends(0);
    let mut command = crate::place::program(place.folder.path());
    command.args(["--profile", &profile, "list"]);
    command.env("LABCOURIER_PASSPHRASE_FILE", place.path("passphrase"));
    crate::place::finish(command).ends(0);
}

#[test]
fn a_profile_that_is_missing_or_damaged_is_four() {
    let place = Place::ready();
    let mut command = crate::place::program(place.folder.path());
    command.args(["--profile", &place.shown("nowhere"), "list"]);
    crate::place::finish(command).ends(4).says("not set up in").says("init");
    // A damaged journal is set aside at once, and said with every command until it was read.
    place.write("profile/journal.db", [1_u8; 4096]);
    place.run(&["list"]).ends(1).says("journal").says("set-aside");
    place.run(&["list"]).ends(1).says("journal notices");
    place.run(&["journal", "notices", "--read"]).ends(0).says("set-aside");
    place.run(&["list"]).ends(0);
    place.run(&["journal", "verify"]).ends(0);
    place.run(&["journal", "backup"]).ends(0).says("backups");
    place.run(&["journal", "list-backups"]).ends(0).says("journal-");
    place.run(&["journal", "retention"]).ends(0).says("stays");
    place.run(&["journal", "retention", "0"]).ends(2);
    place.run(&["journal", "retention", "30"]).ends(0).says("30 days");
    place.run(&["journal", "retention", "off"]).ends(0).says("stays");
    place.write("profile/profile.json", "{");
    place.run(&["list"]).ends(4).says("settings");
}

#[test]
fn a_profile_that_cannot_be_made_leaves_nothing_behind() {
    let mut place = Place::empty();
    place.start();
    let (url, ca) = (place.url(), place.ca());
    let mut command = crate::place::program(place.folder.path());
    let profile = place.shown("profile");
    command.args(["--profile", &profile, "init", "--endpoint", &url, "--vault", "passphrase"]);
    crate::place::finish(command).ends(4).says("passphrase");
    place.run(&["init", "--endpoint", &url, "--ca", &ca, "--vault", "passphrase"]).ends(0);
    place.run(&["init", "--endpoint", &url, "--vault", "passphrase"]).ends(2).says("already");
}

/// Waits for the time limit, and says so.
#[test]
fn patience_ends() {
    let mut place = Place::ready();
    place.stop();
    let file = place.write("a.json", report(140).json());
    place.run(&["send", &file, "--wait", "--timeout", "1s"]).ends(3);
    place.run(&["send", &file, "--timeout", "1s"]).ends(2).says("--wait");
}
