//! Two authorities, each with its own release, CA and certificate, and one laboratory that reports
//! to both: what is open at either is followed by the same program, and nothing is lost or doubled
//! where that program is killed.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use journeys::faults::Surroundings;
use journeys::{Accepted, Authority, Laboratory, accepted, column, objects};
use tempfile::TempDir;
use testkit::DocumentBuilder;

/// Reports for each authority.
const REPORTS: u64 = 4;
/// The second delivery is stored, and its answer does not come while anybody waits for it.
const SILENT: &str = "[[fault]]\non = \"create\"\nnth = 2\nkind = { delay-answer = \"10m\" }\n";
/// Patience with a program that should get on.
const PATIENCE: Duration = Duration::from_secs(60);

/// An authority, and the reports that are meant for it.
struct Side {
    data: TempDir,
    base: String,
    _authority: Authority,
    reports: TempDir,
    documents: BTreeSet<String>,
}

impl Side {
    /// What it has accepted is processed an hour later.
    fn new(surroundings: &Surroundings, release: &str, first: u64) -> Self {
        let data = tempfile::tempdir().unwrap();
        Authority::init(data.path());
        let faults = data.path().join("faults.toml");
        std::fs::write(&faults, SILENT).unwrap();
        let arguments = ["--release", release, "--processing-delay", "1h", "--faults"];
        let arguments = [&arguments[..], &[faults.to_str().unwrap()]].concat();
        let authority = Authority::serve_with(data.path(), &arguments, |command| {
            surroundings.ageing(command);
        });
        let reports = tempfile::tempdir().unwrap();
        let mut documents = BTreeSet::new();
        for seed in first..first + REPORTS {
            let document = DocumentBuilder::new(seed);
            let (ending, text) = match seed % 2 {
                0 => ("json", document.json()),
                _ => ("xml", document.xml()),
            };
            std::fs::write(reports.path().join(format!("{seed}.{ending}")), text).unwrap();
            documents.insert(document.identifier_value().to_owned());
        }
        let base = authority.base.clone();
        Self { data, base, _authority: authority, reports, documents }
    }

    fn accepted(&self) -> Vec<Accepted> {
        accepted(self.data.path())
    }

    fn path(&self) -> &Path {
        self.data.path()
    }
}

/// A program that is killed as soon as something is so; it must not end before.
fn killed_when(mut command: Command, is_so: impl Fn() -> bool) {
    let mut child: Child =
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("labcourier starts");
    // An hour of doubt passes for one of them.
    let deadline = Instant::now() + PATIENCE * 6;
    while !is_so() {
        let ended = child.try_wait().expect("a child");
        assert!(ended.is_none() && Instant::now() < deadline, "it gets on: {ended:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("SIGKILL");
    child.wait().expect("ended");
}

#[test]
fn two_endpoints_with_two_certificates_are_followed_at_once_through_kills() {
    let Some(surroundings) = Surroundings::new() else { return };
    let one = Side::new(&surroundings, "1.13.1", 7100);
    let two = Side::new(&surroundings, "1.8.0", 7200);
    let laboratory = Laboratory::speaking(&one.base, one.path(), "1.13.1");
    laboratory.add_endpoint("second", &two.base, two.path(), "1.8.0");
    assert_eq!(laboratory.must(&["identity", "list"]).len(), 2, "one certificate for each");
    let command = |arguments: &[&str]| {
        let mut command = laboratory.command(arguments);
        surroundings.clocked(&mut command);
        command
    };

    // Killed while each authority has a report whose answer was never seen, and others wait.
    for (name, side) in [("authority", &one), ("second", &two)] {
        laboratory.must(&["endpoint", "use", name]);
        let folder = side.reports.path().to_str().unwrap();
        killed_when(command(&["send", folder]), || side.accepted().len() >= 2);
        surroundings.outlive_lease();
    }
    let before = laboratory.must(&["list"]);
    assert_eq!(before.len(), 2 * usize::try_from(REPORTS).unwrap(), "all taken in");
    assert!(column(&before, "state").iter().any(|state| state == "sending"), "{before:?}");

    // One program follows both, and is killed when each has everything and has processed nothing.
    let all = |side: &Side| side.accepted().len() == side.documents.len();
    let mut follow = laboratory.command(&["follow"]);
    surroundings.ageing(&mut follow);
    let next = Cell::new(Instant::now() + Duration::from_secs(5));
    killed_when(follow, || {
        // What was cut off before it arrived is asked for several times before it is sent again,
        // which takes an hour where nothing was sent after it. What is seen around a question
        // counts where it takes three minutes at most, so that the hour must not fly: a busy
        // computer needs seconds for it.
        if next.get() < Instant::now() {
            surroundings.advance(Duration::from_secs(20));
            next.set(Instant::now() + Duration::from_millis(500));
        }
        all(&one) && all(&two)
    });
    let passes = surroundings.settle(&laboratory);

    let rows = objects(&command(&["list"]).output().unwrap());
    let mut receipts = BTreeSet::new();
    for side in [&one, &two] {
        let there = side.accepted();
        let documents: Vec<_> = there.iter().map(|one| one.document.clone()).collect();
        assert_eq!(documents.len(), side.documents.len(), "nothing is doubled");
        assert_eq!(documents.into_iter().collect::<BTreeSet<_>>(), side.documents, "nor lost");
        assert!(there.iter().all(|one| one.status == "completed"), "{there:?}");
        receipts.extend(there.into_iter().map(|one| (one.identifier, one.receipt)));
    }
    let known: BTreeSet<_> =
        column(&rows, "identifier").into_iter().zip(column(&rows, "receipt")).collect();
    assert_eq!(known, receipts, "each with the receipt of its own authority");
    assert!(column(&rows, "state").iter().all(|state| state == "completed"), "{rows:?}");
    let sound = objects(&command(&["journal", "verify"]).output().unwrap());
    println!("settled after {passes} passes; journal: {}", sound[0]);
}

/// A second certificate takes the place of the first while a report is in progress, and stands for
/// another laboratory, which is shown nothing of it.
#[test]
fn what_was_sent_with_a_certificate_is_followed_with_it_after_another_took_its_place() {
    let data = tempfile::tempdir().unwrap();
    let pilots = [
        "init",
        "--data",
        data.path().to_str().unwrap(),
        "--laboratory",
        "riverside",
        "--laboratory",
        "hillside",
    ];
    let made = Command::new(journeys::program("labcourier-authority")).args(pilots).output();
    assert!(made.unwrap().status.success());
    let authority = Authority::serve(data.path(), &["--processing-delay", "3s"]);
    let laboratory = Laboratory::at(&authority.base, data.path());
    let reports = tempfile::tempdir().unwrap();
    let report = reports.path().join("report.json");
    std::fs::write(&report, DocumentBuilder::new(7300).json()).unwrap();
    laboratory.must(&["send", report.to_str().unwrap()]);

    let pilot = |ending: &str| data.path().join(format!("pilot/hillside.{ending}"));
    let (p12, password) = (pilot("p12"), pilot("password"));
    let (p12, password) = (p12.to_str().unwrap(), password.to_str().unwrap());
    let import = ["identity", "import", p12, "--password-file", password];
    laboratory.must(&[&import[..], &["--endpoint", "authority"]].concat());
    assert_eq!(laboratory.must(&["identity", "list"]).len(), 2);

    let deadline = Instant::now() + PATIENCE;
    while column(&laboratory.must(&["list"]), "state") != ["completed"] {
        assert!(Instant::now() < deadline, "{:?}", laboratory.must(&["list"]));
        laboratory.must(&["follow", "--once"]);
    }
    assert_eq!(accepted(data.path()).len(), 1);
}
