//! Who may use what: one certificate for each endpoint, files and folders that nobody else reads,
//! passphrases that are worth the name.

use std::path::Path;

use serde_json::Value;
use testkit::{KeyKind, Purpose, TestCa, Validity};

use crate::place::{Place, report};

/// A second laboratory of the same group, with a certificate of its own.
fn second_pilot(place: &Place) -> (String, String) {
    authority::init(&place.path("authority"), &["second".to_owned()]).unwrap();
    let pilot = |end: &str| place.shown(&format!("authority/pilot/second.{end}"));
    (pilot("p12"), pilot("password"))
}

fn add_endpoint(place: &Place, name: &str) {
    let (url, ca) = (place.url(), place.ca());
    let add = ["endpoint", "add", name, &url, "--environment", "integration", "--ca", &ca];
    place.run(&add).ends(0);
}

/// How many reports the authority shows to the certificate of an endpoint.
fn shown(place: &Place, endpoint: &str) -> u64 {
    place.run(&["endpoint", "use", endpoint]).ends(0);
    let found = place.json(0, &["search", "--count", "0"]);
    found[0]["total"].as_u64().unwrap()
}

#[test]
fn each_endpoint_has_its_own_certificate_and_a_renewal_touches_no_other() {
    let place = Place::ready();
    add_endpoint(&place, "second");
    let (p12, password) = second_pilot(&place);
    let import = ["identity", "import", &p12, "--password-file", &password];
    place.run(&[&import[..], &["--endpoint", "nowhere"]].concat()).ends(2).says("nowhere");
    assert_eq!(place.json(0, &["identity", "list"]).len(), 1, "nothing was stored");
    place.run(&[&import[..], &["--endpoint", "second"]].concat()).ends(0).says("second");

    let all = place.json(0, &["identity", "list"]);
    let of = |subject: &str| -> Value {
        let subject_of =
            |it: &&Value| it["certificate"]["subject"].as_str().unwrap().contains(subject);
        all.iter().find(subject_of).unwrap().clone()
    };
    assert_eq!(of("CN=lab")["endpoints"], serde_json::json!(["authority"]));
    assert_eq!(of("CN=second")["endpoints"], serde_json::json!(["second"]));
    assert_eq!(of("CN=second")["formerly"], serde_json::json!([]));
    let former = of("CN=lab")["formerly"].clone();
    assert_eq!(former, serde_json::json!(["second"]), "it had the only one until then");

    // Each is asked with its own: the authority shows a laboratory its own reports only.
    place.run(&["endpoint", "use", "authority"]).ends(0);
    let file = place.write("a.json", report(901).json());
    place.run(&["send", &file]).ends(0);
    assert_eq!((shown(&place, "authority"), shown(&place, "second")), (1, 0));
    let file = place.write("b.json", report(902).json());
    place.run(&["send", &file]).ends(0);
    assert_eq!((shown(&place, "authority"), shown(&place, "second")), (1, 1));

    // What is open under a certificate keeps it from being removed unasked.
    let lab = of("CN=lab")["fingerprint"].as_str().unwrap().to_owned();
    let short = &lab[..11];
    place.run(&["identity", "remove", short]).ends(2).says("needed still");
    place.run(&["identity", "remove", "AB:00:99:77"]).ends(2);
    place.run(&["identity", "show", short]).ends(0).says("CN=lab");
    place.run(&["identity", "remove", short, "--although-needed"]).ends(0);
    assert_eq!(place.json(0, &["identity", "list"]).len(), 1);
    place.run(&["identity", "show", "second"]).ends(0).says("CN=second");
    place.run(&["endpoint", "use", "authority"]).ends(0);
    place.run(&["identity", "show"]).ends(1).says("no certificate");
    assert_eq!(shown(&place, "second"), 1, "the other endpoint goes on");
}

/// Settings of a version that knew one certificate for all endpoints.
#[test]
fn a_profile_with_one_certificate_goes_on_without_a_person() {
    let place = Place::ready();
    add_endpoint(&place, "second");
    let file = place.path("profile/profile.json");
    let mut settings: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(settings["certificates"].as_array().unwrap().len(), 2);
    settings["version"] = 1.into();
    settings.as_object_mut().unwrap().remove("certificates");
    std::fs::write(&file, settings.to_string()).unwrap();
    assert_eq!(place.json(0, &["identity", "list"])[0]["endpoints"].as_array().unwrap().len(), 2);
    for (endpoint, seed) in [("authority", 910), ("second", 911)] {
        place.run(&["endpoint", "use", endpoint]).ends(0);
        let file = place.write("a.json", report(seed).json());
        place.run(&["send", &file, "--wait"]).ends(0);
    }
}

#[cfg(unix)]
fn open_to_others(folder: &Path) -> Vec<String> {
    use std::os::unix::fs::PermissionsExt as _;

    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let metadata = entry.metadata().unwrap();
        if metadata.permissions().mode() & 0o077 != 0 {
            let mode = metadata.permissions().mode();
            found.push(format!("{} {mode:o}", entry.path().display()));
        }
        if metadata.is_dir() {
            found.extend(open_to_others(&entry.path()));
        }
    }
    found
}

#[cfg(unix)]
#[test]
fn nothing_of_a_profile_is_open_to_others_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = Place::ready();
    let profile = place.path("profile");
    let file = place.write("a.json", report(903).json());
    let program = env!("CARGO_BIN_EXE_labcourier");
    for words in ["send \"$2\"", "journal backup", "list", "identity list"] {
        let mut shell = std::process::Command::new("sh");
        let script = format!("umask 000; exec \"$0\" --profile \"$1\" {words}");
        shell.args(["-c", &script, program]).arg(&profile).arg(&file);
        shell.env("LABCOURIER_PASSPHRASE_FILE", place.path("passphrase"));
        shell.env("HOME", place.folder.path());
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{words}: {output:?}");
    }
    assert_eq!(open_to_others(&profile), Vec::<String>::new());
    let mode = std::fs::metadata(&profile).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);

    // What an earlier version left open is closed.
    for name in ["profile.json", "journal.db-lock"] {
        let open = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(profile.join(name), open).unwrap();
    }
    place.run(&["list"]).ends(0);
    assert_eq!(open_to_others(&profile), Vec::<String>::new());
}

#[test]
fn the_password_of_a_proxy_rests_in_the_vault() {
    let place = Place::ready();
    let secret = place.write("proxy-password", "proxycanary\n");
    let (url, ca) = (place.url(), place.ca());
    let proxy = "http://labor@127.0.0.1:1";
    let add = ["endpoint", "add", "behind", &url, "--ca", &ca, "--proxy", proxy];
    place.run(&[&add[..], &["--proxy-password-file", &secret]].concat()).ends(0);
    let settings = std::fs::read_to_string(place.path("profile/profile.json")).unwrap();
    assert!(settings.contains("labor@127.0.0.1"), "{settings}");
    assert!(!settings.contains("proxycanary"), "{settings}");
    place.run(&["endpoint", "list"]).ends(0).says("labor@127.0.0.1").says_not("proxycanary");
    place.run(&["--json", "endpoint", "list"]).ends(0).says_not("proxycanary");

    // As an earlier version kept it: it is moved, and the program has it still.
    let old = settings
        .replace("labor@127", "labor:oldcanary@127")
        .replace("\"version\": 2", "\"version\": 1");
    assert_ne!(old, settings);
    std::fs::write(place.path("profile/profile.json"), old).unwrap();
    place.run(&["list"]).ends(0);
    let settings = std::fs::read_to_string(place.path("profile/profile.json")).unwrap();
    assert!(!settings.contains("oldcanary"), "{settings}");
    assert!(settings.contains("\"version\": 2"), "{settings}");
}

#[test]
fn weak_passphrases_and_files_that_others_read_are_refused_and_it_can_be_changed() {
    let place = Place::ready();
    let weak = place.write("weak", "a\n");
    place
        .run(&["vault", "change-passphrase", "--new-passphrase-file", &weak])
        .ends(2)
        .says("at least 12 characters");
    let fresh = place.write("fresh", "four other plain words\n");
    place.run(&["vault", "change-passphrase", "--new-passphrase-file", &fresh]).ends(0);
    place.run(&["list"]).ends(4).says("passphrase is wrong");
    std::fs::copy(&fresh, place.path("passphrase")).unwrap();
    place.run(&["list"]).ends(0);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let open = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(place.path("passphrase"), open).unwrap();
        place.run(&["list"]).ends(4).says("chmod 600");
    }
}

#[test]
fn the_journal_gets_a_new_key_and_nothing_is_lost_by_an_end_in_between() {
    let place = Place::ready();
    let file = place.write("a.json", report(920).json());
    place.run(&["send", &file, "--wait"]).ends(0);
    place.run(&["journal", "backup"]).ends(0);
    let before = std::fs::read(place.path("profile/journal.db")).unwrap();
    for round in 0..8 {
        // Killed at whatever it is doing: the next command finishes it.
        let mut command = place.command(&["journal", "rotate-key"]);
        let mut child = command.spawn().unwrap();
        let until = std::time::Instant::now() + std::time::Duration::from_millis(120 + 25 * round);
        while child.try_wait().unwrap().is_none() && std::time::Instant::now() < until {
            std::thread::yield_now();
        }
        let _ = child.kill();
        child.wait().unwrap();
        let listed = place.json(0, &["list"]);
        assert_eq!(listed[0]["state"], "completed");
    }
    place.run(&["journal", "rotate-key"]).ends(0).says("new key");
    assert_ne!(std::fs::read(place.path("profile/journal.db")).unwrap()[..4096], before[..4096]);
    place.run(&["journal", "verify"]).ends(0);
    let backup =
        place.json(0, &["journal", "list-backups"])[0]["file"].as_str().unwrap().to_owned();
    place.run(&["journal", "restore", &backup]).ends(0);
    assert_eq!(place.run(&["--json", "list"]).objects()[0]["state"], "completed");
}

/// After a renewal no endpoint uses the old certificate, and what was sent with it may still be
/// open.
#[test]
fn a_certificate_that_only_open_reports_need_says_so() {
    let mut place = Place::ready();
    place.stop();
    place.start_without_processing();
    let file = place.write("a.json", report(930).json());
    place.run(&["send", &file]).ends(0);
    let old = place.json(0, &["identity", "list"])[0]["fingerprint"].as_str().unwrap().to_owned();
    let (p12, password) = second_pilot(&place);
    place.run(&["identity", "import", &p12, "--password-file", &password]).ends(0);
    let refused = place.run(&["identity", "remove", &old]).ends(2).says("1 open report was sent");
    let refused = refused.says_not("Authorities that use it").says("follow asks what became");
    refused.says_not("Use another one there");
    place.run(&["identity", "remove", &old, "--although-needed"]).ends(0);
}

/// No authority takes it, and what was sent with the one in use is asked for with that.
#[test]
fn a_certificate_that_has_expired_takes_nobodys_place() {
    let place = Place::ready();
    let before = place.json(0, &["identity", "list"]);
    let (kind, purpose) = (KeyKind::P256, Purpose::ClientAuth);
    let old = TestCa::new("old").client_with("lab", kind, Validity::Expired, purpose);
    let p12 = place.write("old.p12", old.p12("secret"));
    let password = place.write("old.password", "secret");
    let import = place.run(&["identity", "import", &p12, "--password-file", &password]);
    import.ends(2).says("has expired").says("2021-");
    assert_eq!(place.json(0, &["identity", "list"]), before, "nothing was stored");
}
