//! The test of the tests: deliberate faults, one at a time, in a copy of the sources. Each must make at least
//! one test fail; one that passes unnoticed is a hole in the net. On demand, never part of `test`.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::output;
use crate::workspace::Workspace;

/// One deliberate fault.
struct Mistake {
    /// What is done wrong.
    what: &'static str,
    /// Files with what stands there and what takes its place. What is not found is an error: the list must
    /// follow the code.
    edits: &'static [(&'static str, &'static str, &'static str)],
    /// Packages whose tests must notice.
    packages: &'static [&'static str],
}

const VERDICT: &str = "crates/engine/src/worker/verdict.rs";
const WORKER: &str = "crates/engine/src/worker/mod.rs";
const DUTIES: &str = "crates/engine/src/worker/duties.rs";
const STATE: &str = "crates/report/src/state.rs";

const MISTAKES: &[Mistake] = &[
    Mistake {
        what: "a report in doubt is sent again without asking",
        edits: &[(
            VERDICT,
            "Fault::Uncertain { why, evidence } => {\n            doubted(&why, evidence.map(|evidence| *evidence), context)\n        }",
            "Fault::Uncertain { why, evidence } => Verdict { event: Some(Event::Deferred { due: context.now, why: why.code().to_owned() }), issues: None, evidence: evidence.map(|evidence| *evidence), reach: Reach::Unclear },",
        )],
        packages: &["engine"],
    },
    Mistake {
        what: "the first empty search is believed",
        edits: &[(
            "crates/engine/src/pace.rs",
            "asked >= self.asks_min && doubt >= doubt_min",
            "asked >= 1 && doubt >= doubt_min.min(Duration::ZERO)",
        )],
        packages: &["engine"],
    },
    Mistake {
        what: "a report is sent before \"sending\" is on disk",
        edits: &[
            (
                DUTIES,
                "let started = Event::SendingStarted",
                "let result = self.authority.submit(&sealed).await;\n        let started = Event::SendingStarted",
            ),
            (
                DUTIES,
                "        let result = self.authority.submit(&sealed).await;\n        let verdict = after_submit",
                "        let verdict = after_submit",
            ),
        ],
        packages: &["engine"],
    },
    Mistake {
        what: "what a dead process left in \"sending\" is forgotten",
        edits: &[(
            WORKER,
            "        if !recovered {\n",
            "        if !recovered && self.pace.lease.is_zero() {\n",
        )],
        packages: &["engine"],
    },
    Mistake {
        what: "a status moves backwards",
        edits: &[(
            STATE,
            "(state, Event::Accepted { receipt, since, due }) if state.may_be_delivered() => {",
            "(_, Event::Accepted { receipt, since, due }) => {",
        )],
        packages: &["report"],
    },
    Mistake {
        what: "a report in doubt is queued again as if it had not left",
        edits: &[(
            STATE,
            "Self::Unknown { attempt: *attempt, since: *since, asked: 0, due: *due }",
            "{ let _ = since; Self::Queued { attempt: *attempt, due: *due } }",
        )],
        packages: &["report"],
    },
    Mistake {
        what: "a stale lease may still record",
        edits: &[(
            "crates/journal/src/lease.rs",
            "_ => Err(JournalError::StaleLease),\n    }\n}\n\nfn write",
            "_ => Ok(()),\n    }\n}\n\nfn write",
        )],
        packages: &["journal"],
    },
    Mistake {
        what: "a document is taken in under a wrong digest",
        edits: &[(
            "crates/journal/src/append.rs",
            "return Err(RecordError::DigestMismatch);",
            "let _ = RecordError::DigestMismatch;",
        )],
        packages: &["journal"],
    },
    Mistake {
        what: "completed without the authority's answer",
        edits: &[(
            "crates/journal/src/append.rs",
            "return Err(RecordError::NoEvidence);",
            "let _ = RecordError::NoEvidence;",
        )],
        packages: &["journal"],
    },
    Mistake {
        what: "faults do not close the gate",
        edits: &[(
            "crates/engine/src/gate.rs",
            "        self.closed_until = Some(until);",
            "        self.closed_until = None;",
        )],
        packages: &["engine"],
    },
    Mistake {
        what: "an answer without a status counts as accepted",
        edits: &[(
            VERDICT,
            "Some(match answer.processing? {",
            "Some(match answer.processing.unwrap_or(Processing::InProgress) {",
        )],
        packages: &["engine"],
    },
    Mistake {
        what: "a refusal is tried again",
        edits: &[(
            VERDICT,
            "event: Some(Event::Rejected),",
            "event: Some(Event::Deferred { due: context.now, why: String::new() }),",
        )],
        packages: &["engine"],
    },
];

/// Makes each mistake once; 0 where every one was noticed.
pub(crate) fn prove(workspace: &Workspace) -> Result<u8, String> {
    let tree = workspace.target.join("prove/tree");
    let build = workspace.target.join("prove/build");
    let mut rows = Vec::new();
    copy(&workspace.root, &tree)?;
    if let Some(failed) = run_tests(&tree, &build, &["report", "journal", "engine"])? {
        return Err(format!("without a mistake {failed} fails already"));
    }
    for mistake in MISTAKES {
        let started = Instant::now();
        for (file, from, to) in mistake.edits {
            edit(&tree.join(file), from, to)?;
        }
        let noticed = run_tests(&tree, &build, mistake.packages)?;
        for (file, ..) in mistake.edits {
            let fresh = fs::read(workspace.root.join(file)).map_err(|error| error.to_string())?;
            fs::write(tree.join(file), fresh).map_err(|error| error.to_string())?;
        }
        let by = noticed.as_deref().unwrap_or("NOBODY");
        output::line(&format!(
            "{:>4} s  {}: noticed by {by}",
            started.elapsed().as_secs(),
            mistake.what
        ));
        rows.push(noticed.is_some());
    }
    let noticed = rows.iter().filter(|noticed| **noticed).count();
    output::line(&format!("{noticed} of {} mistakes were noticed", rows.len()));
    Ok(u8::from(noticed != rows.len()))
}

/// The sources as they are now, without what is built.
fn copy(root: &Path, tree: &Path) -> Result<(), String> {
    if tree.exists() {
        fs::remove_dir_all(tree).map_err(|error| format!("{}: {error}", tree.display()))?;
    }
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("git: {error}"))?;
    for name in listed.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let name = String::from_utf8_lossy(name);
        let (from, to) = (root.join(&*name), tree.join(&*name));
        let copied =
            to.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::copy(&from, &to));
        match copied {
            Ok(_) => {}
            // Removed and not yet said so.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("{}: {error}", from.display())),
        }
    }
    Ok(())
}

fn edit(file: &Path, from: &str, to: &str) -> Result<(), String> {
    let shown = file.display();
    let text = fs::read_to_string(file).map_err(|error| format!("{shown}: {error}"))?;
    if text.matches(from).count() != 1 {
        return Err(format!("{shown}: does not hold exactly once: {from}"));
    }
    fs::write(file, text.replacen(from, to, 1)).map_err(|error| format!("{shown}: {error}"))
}

/// The first test that fails, if one does. A mistake that does not compile proves nothing and is an error.
fn run_tests(tree: &Path, build: &Path, packages: &[&str]) -> Result<Option<String>, String> {
    let mut command = Command::new("cargo");
    // The first failure is enough.
    command.args(["test", "--quiet", "--lib", "--tests"]);
    command.args(packages.iter().flat_map(|package| ["-p", package]));
    command.env("CARGO_TARGET_DIR", build).current_dir(tree);
    let output = command.output().map_err(|error| format!("cargo: {error}"))?;
    if output.status.success() {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let mut listed = text.lines().skip_while(|line| *line != "failures:").skip(1).map(str::trim);
    let named = |line: &&str| !line.is_empty() && !line.starts_with("----");
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix("---- ")?.strip_suffix(" stdout ----"))
        .or_else(|| listed.find(named));
    let name = name.ok_or_else(|| {
        let errors = String::from_utf8_lossy(&output.stderr);
        format!(
            "no test failed, and yet: {}",
            errors.lines().take(12).collect::<Vec<_>>().join("\n")
        )
    })?;
    Ok(Some(name.to_owned()))
}
