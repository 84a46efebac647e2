//! Canaries: names, numbers and secrets that must be nowhere but in the user's own files, in the
//! encrypted journal and vault, and in the authority's own store, whatever happens on the way.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use identity::{Identity, Password, Secrets, SecretsKind};
use journeys::canaries::{Canaries, Place, places_below};
use journeys::patient::{BORN, CORRECTED, FAMILY, GIVEN, INSURANCE, PATIENT, STREET, report};
use journeys::{Authority, Laboratory, column, objects, program};
use serde_json::Value;
use testkit::Figures;

/// The 32 bytes of an elliptic-curve key (RFC 5915: after the version, an OCTET STRING).
fn scalar(pkcs8: &[u8]) -> Vec<u8> {
    let at = pkcs8.windows(5).position(|window| window == [2, 1, 1, 4, 32]).expect("a P-256 key");
    pkcs8[at + 5..at + 37].to_vec()
}

struct Journey {
    data: tempfile::TempDir,
    home: tempfile::TempDir,
    logs: tempfile::TempDir,
    laboratory: Laboratory,
    authority: Authority,
    places: Vec<Place>,
}

impl Journey {
    fn begin() -> Self {
        let [data, home, logs] = [(); 3].map(|()| tempfile::tempdir().unwrap());
        Authority::init(data.path());
        let rules = data.path().join("rules.toml");
        let fails = authority::PRACTICE_RULES.replace("Muster-Fehler", FAMILY);
        std::fs::write(&rules, fails).unwrap();
        let arguments = ["--processing-delay", "50ms", "--rules", rules.to_str().unwrap()];
        let log = std::fs::File::create(logs.path().join("authority.log")).unwrap();
        let authority = Authority::serve_with(data.path(), &arguments, |command| {
            command.env("RUST_LOG", "trace").stderr(log);
        });
        let laboratory = Laboratory::at(&authority.base, data.path());
        Self { data, home, logs, laboratory, authority, places: Vec::new() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.laboratory.command(arguments);
        command.env("HOME", self.home.path()).env("TMPDIR", self.home.path());
        command.env("RUST_BACKTRACE", "full").env("LABCOURIER_LOG", "trace");
        command
    }

    /// Runs a command; what it logs is a place to look at.
    fn run(&mut self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output().unwrap();
        self.places.push(Place::new("standard error", output.stderr.clone()));
        output
    }

    /// The same, where what it prints must name nobody either.
    fn run_silent(&mut self, arguments: &[&str]) -> Output {
        let output = self.run(arguments);
        self.places.push(Place::new(format!("output of {arguments:?}"), output.stdout.clone()));
        output
    }

    fn write(&self, name: &str, text: &str) -> String {
        let file = self.laboratory.folder().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    }

    /// Fails, is corrected, completes; is shown, exported, backed up and looked at by a helper.
    fn day(&mut self) {
        let failing = self.write("one.json", &report(1, FAMILY));
        let failed = objects(&self.run(&["send", &failing, "--wait", "--timeout", "60s"]));
        assert_eq!(column(&failed, "state"), ["failed"]);
        let corrected = self.write("two.json", &report(1, CORRECTED));
        let id = failed[0]["id"].to_string();
        let resubmit = ["resubmit", &id, "--with", &corrected, "--wait", "--timeout", "60s"];
        assert_eq!(column(&objects(&self.run(&resubmit)), "state"), ["completed"]);
        // A report that is held, with the reason of its release in the journal.
        let held = report(2, CORRECTED).replace("\"gender\"", "\"gendr\"");
        let held = self.write("three.json", &held);
        let held = objects(&self.run(&["send", &held]));
        assert_eq!(column(&held, "state"), ["held"]);
        let reason = format!("{FAMILY} came in person");
        self.run(&["withdraw", &held[0]["id"].to_string(), "--reason", &reason]);
        self.run(&["show", &id]);
        self.run(&["list", "--search", FAMILY]);
        self.run(&["export", "--format", "json", "--names"]);
        self.run_silent(&["export", "--format", "csv"]);
        let bundle = self.home.path().join("support.zip").display().to_string();
        assert!(self.run_silent(&["support-bundle", &bundle, "--show"]).status.success());
        let backup = self.home.path().join("backup.db").display().to_string();
        assert!(self.run_silent(&["journal", "backup", &backup]).status.success());
        self.run_silent(&["journal", "verify"]);
        // Files that are refused: their content may be repeated by nobody.
        let broken = self.write("broken.json", &report(3, FAMILY)[..900]);
        let foreign = self.write("foreign.txt", &format!("MSH|^~\\&|{FAMILY}|{INSURANCE}\r"));
        self.run(&["check", &broken, &foreign]);
    }

    /// Dies in the middle of a batch; looks at its arguments and environment before.
    fn death(&mut self) {
        for number in 10..40 {
            self.write(&format!("batch/{number}.json"), &report(number, CORRECTED));
        }
        let folder = self.laboratory.folder().join("batch");
        let mut sending = self.command(&["send", folder.to_str().unwrap(), "--wait"]);
        let log = std::fs::File::create(self.logs.path().join("killed.log")).unwrap();
        let mut sending = sending.stderr(log).stdout(Stdio::null()).spawn().unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        while objects(&self.run(&["list"])).len() < 6 {
            assert!(Instant::now() < deadline, "the batch is taken in");
        }
        let process = PathBuf::from(format!("/proc/{}", sending.id()));
        for name in ["cmdline", "environ", "comm", "limits"] {
            // Refused to others than root, and gone where it has ended already.
            let bytes = std::fs::read(process.join(name)).unwrap_or_default();
            self.places.push(Place::new(name, bytes));
        }
        sending.kill().unwrap();
        sending.wait().unwrap();
    }

    /// What must be found nowhere.
    fn canaries(&self) -> Canaries {
        let read = |path: &Path| std::fs::read_to_string(path).unwrap().trim().to_owned();
        let passphrase = read(&self.laboratory.folder().join("passphrase"));
        let password = read(&self.data.path().join("pilot/riverside.password"));
        let profile = self.laboratory.profile();
        let settings: Value = serde_json::from_str(&read(&profile.join("profile.json"))).unwrap();
        let opens = Password::from(passphrase.clone());
        let id = settings["id"].as_str().unwrap();
        let secrets = Secrets::open(SecretsKind::Passphrase, &profile, id, Some(&opens)).unwrap();
        let p12 = std::fs::read(self.data.path().join("pilot/riverside.p12")).unwrap();
        let given = Password::from(password.clone());
        let identity = Identity::import(&[&p12], Some(&given)).unwrap();
        let dotted = format!(
            "{}.{}.{}.{}",
            &INSURANCE[..3],
            &INSURANCE[3..7],
            &INSURANCE[7..11],
            &INSURANCE[11..]
        );
        Canaries::new(
            &[
                ("the family name", FAMILY),
                ("the given name", GIVEN),
                ("the birth date", BORN),
                ("the street", STREET),
                ("the insurance number", INSURANCE),
                ("the insurance number with dots", &dotted),
                ("the patient's number", PATIENT),
                ("the passphrase", &passphrase),
                ("the certificate's password", &password),
            ],
            &[
                ("the private key", &scalar(identity.key().secret_der())),
                ("the journal's key", secrets.journal_key().unwrap().as_slice()),
            ],
        )
    }
}

#[test]
fn patients_and_secrets_are_nowhere_in_the_clear() {
    let mut figures = Figures::start("canaries", "patients_and_secrets_are_nowhere_in_the_clear");
    let mut journey = Journey::begin();
    journey.day();
    journey.death();
    let audit = Command::new(program("labcourier-authority"))
        .args(["audit", "list", "--data"])
        .arg(journey.data.path())
        .output()
        .unwrap();
    assert!(audit.status.success() && !audit.stdout.is_empty(), "the audit log can be read");
    let canaries = journey.canaries();
    // The search itself finds them where they belong.
    let own = std::fs::read(journey.laboratory.folder().join("one.json")).unwrap();
    assert!(canaries.find(&own).is_some());
    assert!(journey.authority.ca().exists());

    let mut places = std::mem::take(&mut journey.places);
    places.push(Place::new("the authority's audit log", audit.stdout));
    for folder in [&journey.laboratory.profile(), journey.home.path(), journey.logs.path()] {
        places.extend(places_below(folder, &[]));
    }
    let log = std::fs::metadata(journey.logs.path().join("authority.log")).unwrap();
    assert!(log.len() > 1_000, "the authority has logged");
    canaries.none_in(&places, &mut figures);
    figures.finish();
}
