//! Where programs die again and again: an authority, laboratories that are copies of one, a clock
//! that can be set ahead, and the comparison of what the laboratory says with what the authority
//! has.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use testkit::{DocumentBuilder, Figures};

use crate::faults::Surroundings;
use crate::{Accepted, Authority, Laboratory, accepted, column, objects};

/// Passes over the queue after which everything must be settled: a report in doubt needs five
/// questions, one more pass sends it, one learns what became of it; faults of the authority cost
/// some more.
const PASSES_MAX: u64 = 60;

/// What was counted in a campaign.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// Runs that came to their end, whether or not the program died in them.
    pub cases: u64,
    /// Processes that were killed or killed themselves.
    pub deaths: u64,
    /// Processes started to go on after a death.
    pub restarts: u64,
    /// Reports handed over.
    pub reports: u64,
    /// Reports handed over that the authority does not have, or that are still open at the end.
    pub lost: u64,
    /// Deliveries beyond one for each submission.
    pub duplicates: u64,
    /// Shown as completed and not so at the authority.
    pub false_completed: u64,
    /// Findings of `journal verify`, and deliveries that the journal does not know.
    pub flaws: u64,
    /// Sectors that power cuts took back.
    pub undone: u64,
}

impl Count {
    /// Adds up.
    pub fn add(&mut self, other: Self) {
        self.cases += other.cases;
        self.deaths += other.deaths;
        self.restarts += other.restarts;
        self.reports += other.reports;
        self.lost += other.lost;
        self.duplicates += other.duplicates;
        self.false_completed += other.false_completed;
        self.flaws += other.flaws;
        self.undone += other.undone;
    }

    /// Whether anything went wrong.
    pub fn is_clean(&self) -> bool {
        self.lost + self.duplicates + self.false_completed + self.flaws == 0
    }

    /// Into the table of reliability; fails the test where something went wrong.
    #[allow(clippy::cast_precision_loss, reason = "counts far below 2^52")]
    pub fn finish(self, mut figures: Figures) {
        figures.cases(self.cases);
        figures.losses(self.lost);
        figures.duplicates(self.duplicates);
        figures.false_completed(self.false_completed);
        for (name, value) in [
            ("deaths", self.deaths),
            ("restarts", self.restarts),
            ("reports", self.reports),
            ("verify problems", self.flaws),
            ("sectors undone", self.undone),
        ] {
            figures.measure(name, value as f64);
        }
        figures.finish();
        assert_eq!(self.flaws, 0, "findings of `journal verify`");
    }
}

/// Reports in a folder of their own, or in several.
#[derive(Debug, Default)]
pub struct Batch {
    /// The folders.
    pub folders: Vec<PathBuf>,
    /// Identifiers of the documents by file name.
    pub documents: BTreeMap<String, String>,
}

impl Batch {
    /// The first folder as an argument.
    pub fn path(&self) -> &str {
        self.folders[0].to_str().expect("UTF-8")
    }

    /// Both as one.
    pub fn join(&mut self, other: Self) {
        self.folders.extend(other.folders);
        self.documents.extend(other.documents);
    }
}

/// An authority, and a laboratory that has delivered one report already.
pub struct Lane {
    /// The clock and the faults.
    pub surroundings: Surroundings,
    template: Laboratory,
    data: TempDir,
    authority: Authority,
    next: u64,
}

impl Lane {
    /// Sets it up; `None` where faults cannot be made.
    pub fn new(arguments: &[&str], first: u64) -> Option<Self> {
        let surroundings = Surroundings::new()?;
        let data = tempfile::tempdir().expect("a folder");
        Authority::init(data.path());
        // More than one laboratory sends in practice: the limit is not what is tested here.
        let arguments = [&["--requests-per-second", "100000"], arguments].concat();
        let authority = Authority::serve_with(data.path(), &arguments, |command| {
            surroundings.ageing(command);
        });
        let template = Laboratory::at(&authority.base, data.path());
        template.forget_computer();
        let mut lane = Self { surroundings, template, data, authority, next: first };
        let laboratory = lane.laboratory();
        let batch = lane.batch(&laboratory, 1);
        lane.deliver(&laboratory, &batch);
        laboratory.forget_computer();
        lane.template = laboratory;
        Some(lane)
    }

    /// A laboratory as if just set up, with one report completed.
    pub fn laboratory(&self) -> Laboratory {
        self.template.copy()
    }

    /// What the authority has.
    pub fn accepted(&self) -> Vec<Accepted> {
        accepted(self.data.path())
    }

    /// `{base_url}` of the authority.
    pub fn base(&self) -> &str {
        &self.authority.base
    }

    /// Reports that nobody has seen yet, alternating between the encodings.
    pub fn batch(&mut self, laboratory: &Laboratory, count: u64) -> Batch {
        self.batch_of(laboratory, count, |document| document)
    }

    /// The same, each changed.
    pub fn batch_of(
        &mut self,
        laboratory: &Laboratory,
        count: u64,
        change: impl Fn(DocumentBuilder) -> DocumentBuilder,
    ) -> Batch {
        let folder = laboratory.folder().join(format!("reports-{}", self.next));
        std::fs::create_dir(&folder).expect("made");
        let mut documents = BTreeMap::new();
        for _ in 0..count {
            self.next += 1;
            let document = change(DocumentBuilder::new(self.next));
            let (name, text) = match self.next % 2 {
                0 => (format!("{}.json", self.next), document.json()),
                _ => (format!("{}.xml", self.next), document.xml()),
            };
            std::fs::write(folder.join(&name), text).expect("written");
            documents.insert(name, document.identifier_value().to_owned());
        }
        Batch { folders: vec![folder], documents }
    }

    /// A command under the common clock.
    pub fn command(&self, laboratory: &Laboratory, arguments: &[&str]) -> Command {
        let mut command = laboratory.command(arguments);
        self.surroundings.clocked(&mut command);
        command
    }

    /// Runs it.
    pub fn run(&self, laboratory: &Laboratory, arguments: &[&str]) -> Output {
        self.command(laboratory, arguments).output().expect("labcourier starts")
    }

    fn deliver(&self, laboratory: &Laboratory, batch: &Batch) {
        let output = self.run(laboratory, &["send", batch.path(), "--wait", "--timeout", "60s"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// See [`Surroundings::outlive_lease`].
    pub fn outlive_lease(&self) {
        self.surroundings.outlive_lease();
    }

    /// See [`Surroundings::settle`].
    pub fn settle(&self, laboratory: &Laboratory) -> u64 {
        self.surroundings.settle(laboratory)
    }

    /// Compares what the laboratory shows with what the authority has. Where the program died
    /// before it took everything in, everything is handed over once more first, as a person does
    /// who does not know how far it came.
    pub fn compare(&self, laboratory: &Laboratory, batch: &Batch) -> Count {
        let mut rows = objects(&self.run(laboratory, &["list"]));
        let files: BTreeSet<String> = column(&rows, "file").into_iter().collect();
        if !batch.documents.keys().all(|name| files.contains(name)) {
            let mut again = self.command(laboratory, &["send", "--wait", "--timeout", "60s"]);
            let output = again.args(&batch.folders).output().expect("labcourier starts");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!said.contains("panicked"), "{said}");
            // The authority may have lost an answer of this order too.
            self.settle(laboratory);
            rows = objects(&self.run(laboratory, &["list"]));
        }
        let mut count = judge(&rows, &self.accepted(), &batch.documents);
        count.flaws += flaws(&self.run(laboratory, &["journal", "verify"]));
        count
    }
}

impl Surroundings {
    /// A dead process holds the queue until its lease has run out.
    pub fn outlive_lease(&self) {
        self.advance(Duration::from_secs(31));
    }

    /// Passes over the queue, hours apart, until nothing moves by itself any more. Gives their
    /// number.
    pub fn settle(&self, laboratory: &Laboratory) -> u64 {
        self.outlive_lease();
        for pass in 1..=PASSES_MAX {
            let mut command = laboratory.command(&["follow", "--once"]);
            self.clocked(&mut command);
            let output = command.output().expect("labcourier starts");
            let open = open(&objects(&output));
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!said.contains("panicked"), "{said}");
            // 0 and 1: it looked, and all is well or a person is asked for; 3: not reached, look
            // again.
            match output.status.code() {
                Some(0 | 1) if open == 0 => return pass,
                Some(0 | 1 | 3) => {}
                _ => panic!("{}: {said}", output.status),
            }
            self.advance(Duration::from_secs(3600));
        }
        PASSES_MAX
    }
}

/// Reports that still move by themselves.
pub fn open(records: &[Value]) -> usize {
    let moving = ["queued", "sending", "unknown", "in-progress"];
    column(records, "state").iter().filter(|state| moving.contains(&state.as_str())).count()
}

/// Findings of `journal verify`; one where it does not even run.
pub fn flaws(verified: &Output) -> u64 {
    match (verified.status.code(), objects(verified).first()) {
        (Some(0), Some(facts)) => facts["flaws"].as_array().map_or(1, Vec::len) as u64,
        (_, Some(facts)) => facts["flaws"].as_array().map_or(1, |flaws| flaws.len().max(1)) as u64,
        _ => 1,
    }
}

/// Compares the rows of a journal with what the authority has. `handed` are all documents that this
/// laboratory handed over, by file name; each is wanted once for every submission that was not
/// replaced.
pub fn judge(rows: &[Value], accepted: &[Accepted], handed: &BTreeMap<String, String>) -> Count {
    let mut count = Count { cases: 1, reports: handed.len() as u64, ..Count::default() };
    let known: BTreeSet<String> = column(rows, "identifier").into_iter().collect();
    for document in handed.values() {
        let deliveries: Vec<_> = accepted.iter().filter(|a| a.document == *document).collect();
        count.lost += u64::from(deliveries.is_empty());
        let attempts: BTreeSet<_> = deliveries.iter().map(|a| &a.identifier).collect();
        count.duplicates += (deliveries.len() - attempts.len()) as u64;
        // Sent without a row that knows of it: neither on disk before, nor ever to be followed.
        count.flaws += attempts.iter().filter(|a| !known.contains(**a)).count() as u64;
    }
    for row in rows.iter().filter(|row| handed.contains_key(row["file"].as_str().unwrap_or(""))) {
        let receipt = row["receipt"].as_str();
        let there = accepted.iter().find(|a| Some(a.receipt.as_str()) == receipt);
        match row["state"].as_str().unwrap_or_default() {
            "completed" => {
                let truly = there.is_some_and(|there| {
                    there.status == "completed" && row["identifier"] == there.identifier.as_str()
                });
                count.false_completed += u64::from(!truly);
            }
            "queued" | "sending" | "unknown" | "in-progress" => count.lost += 1,
            _ => {}
        }
    }
    // A report has one successor, whoever asks for it.
    let replaced = rows.iter().filter(|row| !row["corrects"].is_null());
    let replaced: Vec<String> = replaced.map(|row| row["corrects"].to_string()).collect();
    let once: BTreeSet<&String> = replaced.iter().collect();
    count.duplicates += (replaced.len() - once.len()) as u64;
    // Content that nobody replaced or sent again is one submission, however often it was handed
    // over.
    for name in handed.keys() {
        let of_file: Vec<_> = rows.iter().filter(|row| row["file"] == name.as_str()).collect();
        let roots = of_file.iter().filter(|row| row["corrects"].is_null()).count();
        count.duplicates += roots.saturating_sub(1) as u64;
    }
    count
}

/// The folder below which a laboratory's files count, as the kernel names it.
pub fn profile_of(laboratory: &Laboratory) -> PathBuf {
    real(&laboratory.profile())
}

/// As the kernel names it.
pub fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).expect("it is there")
}
