//! What the work on one report costs, in instructions: a machine that is busy changes nothing of
//! them, so a regression shows anywhere. Each test runs itself under valgrind, which counts nothing
//! but [`counted`]. The counts are those of the profile of the tests, with the compiler of
//! `rust-toolchain.toml`.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(clippy::unwrap_used)] // A test that cannot go on panics.

use std::hint::black_box;
use std::process::Command;
use std::sync::Arc;

use fhir::{Format, Instant, Limits, Tree};
use journal::simulation::{Memory, Seam};
use journal::{Evidence, EvidenceKind, Journal, NewSubmission, Step};
use report::{Event, Person, Summary, digest};
use rules::{Asked, Mode, Package, RuleSet};
use testkit::DocumentBuilder;

/// Set in the process that is counted.
const IS_COUNTED: &str = "LABCOURIER_WEIGHED";
/// How often the work is done there, after once that is not counted.
const TIMES: u64 = 8;
/// Further away than this from what is written here is told, in percent.
const TOLERANCE: u64 = 5;
/// Later than the documents say they were written.
const NOW: Instant = Instant::from_seconds(1_800_000_000);

/// Counts `work`, or does it in the process that is counted. `known`: its cost, in thousands.
fn weigh(test: &str, known: u64, mut work: impl FnMut(u64)) {
    // So that a failure of the work itself is told without valgrind around it.
    work(0);
    if std::env::var_os(IS_COUNTED).is_some() {
        counted(&mut work);
        return;
    }
    let each = instructions(test) / TIMES / 1_000;
    let most = known * (100 + TOLERANCE) / 100;
    assert!(each <= most, "{test}: {each} thousand instructions, and {known} before");
    let least = known * (100 - TOLERANCE) / 100;
    assert!(each >= least, "{test}: {each} thousand instructions now: write that down here");
}

#[inline(never)]
fn counted(work: &mut dyn FnMut(u64)) {
    (1..=TIMES).for_each(work);
}

/// Of this test in a process of its own.
fn instructions(test: &str) -> u64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg("--toggle-collect=weight::counted")
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env(IS_COUNTED, "1")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let line = told.lines().find_map(|line| line.split_once("Collected :")).unwrap();
    line.1.trim().parse().unwrap()
}

fn text() -> String {
    DocumentBuilder::new(1).json()
}

fn tree(text: &str) -> Tree {
    Tree::read(text.as_bytes(), Format::Json, &Limits::default()).unwrap()
}

#[published::needs_program("valgrind")]
#[test]
fn read() {
    let text = text();
    weigh("read", 1_258, |_| drop(black_box(tree(&text))));
}

#[published::needs_program("valgrind")]
#[test]
fn check() {
    let tree = tree(&text());
    weigh("check", 2_106, |_| {
        let own = report::check(tree.root(), NOW);
        black_box((tree.check(), own));
    });
}

#[published::needs_program("valgrind")]
#[test]
fn wrap() {
    let tree = tree(&text());
    let identifier = "urn:uuid:00000000-0000-4000-8000-000000000000";
    weigh("wrap", 640, |_| {
        drop(black_box(exchange::wrap(&tree, identifier, "de-CH").ok().unwrap()))
    });
}

/// As a report is wrapped that this process has read before: its digest is compared, and nothing is
/// read again.
#[published::needs_program("valgrind")]
#[test]
fn wrap_known() {
    let text = text();
    let (wrapping, known) =
        (exchange::Wrapping::of(&tree(&text)).unwrap(), digest(text.as_bytes()));
    let identifier = "urn:uuid:00000000-0000-4000-8000-000000000000";
    weigh("wrap_known", 488, |_| {
        assert_eq!(digest(text.as_bytes()), known);
        drop(black_box(wrapping.around(text.as_bytes(), identifier, "de-CH")));
    });
}

/// A process that lives, and hears of every commit.
struct Alive;

impl Seam for Alive {
    fn before(&self) -> bool {
        true
    }

    fn after(&self) -> bool {
        true
    }

    fn later(&self, hand_over: Box<dyn FnOnce() + Send>) {
        hand_over();
    }
}

/// Taken in, sent, accepted; in memory, without encryption, which depends on the processor.
#[published::needs_program("valgrind")]
#[test]
fn record() {
    let journal = Journal::simulated(&Memory::new().unwrap(), Arc::new(Alive));
    let document = text().into_bytes();
    weigh("record", 3_292, |number| {
        let id = journal.import(submission(number, &document)).unwrap();
        let by = Person("weight".to_owned());
        journal
            .record(Step::new(id, Event::SendingStarted { since: NOW }, by.clone(), NOW))
            .unwrap();
        let accepted = Event::Accepted { receipt: format!("r-{number}"), since: NOW, due: NOW };
        let mut step = Step::new(id, accepted, by, NOW);
        step.issues = Some(Vec::new());
        step.evidence = Some(Evidence {
            kind: EvidenceKind::Create,
            at: NOW,
            http_status: Some(201),
            content_type: Some("application/fhir+json".to_owned()),
            body: document.get(..500).unwrap().to_vec(),
            fault: None,
        });
        journal.record(step).unwrap();
    });
}

fn submission(number: u64, document: &[u8]) -> NewSubmission {
    let summary = Summary {
        identifier: Some(format!("urn:uuid:document-{number}")),
        patient: Some(format!("Muster{number}, Anna")),
        birth_date: Some("1980-02-03".to_owned()),
        subject: Some("Salmonella enterica".to_owned()),
        laboratory: Some("Labor Süd".to_owned()),
        ..Summary::default()
    };
    NewSubmission {
        file: format!("befund-{number}.json"),
        format: Format::Json,
        digest: digest(document),
        document: document.to_vec(),
        summary,
        identifier: format!("urn:uuid:00000000-0000-4000-8000-{number:012}"),
        endpoint: "practice".to_owned(),
        canonical: None,
        environment: None,
        first: Event::Queued { due: NOW },
        findings: Vec::new(),
        corrects: None,
        by: Person("weight".to_owned()),
        at: NOW,
    }
}

/// By the rules of practice: those of the authority are not part of this repository.
#[published::needs_program("valgrind")]
#[test]
fn verdict() {
    let set = RuleSet::of(vec![Package::practice().unwrap()]);
    let tree = tree(&text());
    let profiles = set.entry_profiles("Bundle");
    let asked = Asked { profiles: &profiles, mode: Mode::Authority, now: NOW };
    weigh("verdict", 4_536, |_| drop(black_box(set.validate(&tree, &asked))));
}
