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
    /// The tests that must notice: arguments of `cargo test`.
    tests: &'static [&'static str],
}

const WORLD: &[&str] = &["-p", "engine", "--test", "world"];
const QUEUE: &[&str] = &["-p", "engine", "--test", "queue"];
const RULES: &[&str] = &["-p", "engine", "--lib"];
const LIFE: &[&str] = &["-p", "report", "--test", "report"];
const JOURNAL: &[&str] = &["-p", "journal", "--test", "life", "--test", "sharing"];

const VERDICT: &str = "crates/engine/src/worker/verdict.rs";
const WORKER: &str = "crates/engine/src/worker/mod.rs";
const DUTIES: &str = "crates/engine/src/worker/duties.rs";
const POLL: &str = "crates/engine/src/worker/poll.rs";
const HOLD: &str = "crates/engine/src/worker/hold.rs";
const PACE: &str = "crates/engine/src/pace.rs";
const STATE: &str = "crates/report/src/state.rs";
const LEASE: &str = "crates/journal/src/lease.rs";
const APPEND: &str = "crates/journal/src/append.rs";

const MISTAKES: &[Mistake] = &[
    // --- before and after a request
    Mistake {
        what: "a report in doubt is sent again without asking",
        edits: &[(
            VERDICT,
            "Fault::Uncertain { why, evidence } => {\n            doubted(&why, evidence.map(|evidence| *evidence), context)\n        }",
            "Fault::Uncertain { why, evidence } => Verdict { event: Some(Event::Deferred { due: context.now, why: why.code().to_owned() }), issues: None, evidence: evidence.map(|evidence| *evidence), reach: Reach::Unclear },",
        )],
        tests: WORLD,
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
        tests: WORLD,
    },
    Mistake {
        what: "what a dead process left in \"sending\" is forgotten",
        edits: &[(
            WORKER,
            "        if !recovered {\n",
            "        if !recovered && self.pace.lease.is_zero() {\n",
        )],
        tests: WORLD,
    },
    Mistake {
        what: "a report in doubt is queued again as if it had not left",
        edits: &[(
            STATE,
            ") => Self::Unknown {\n                attempt: *attempt,\n                since: *since,\n                asked: 0,\n                due: *due,\n                empty_since: None,\n            },",
            ") => { let _ = since; Self::Queued { attempt: *attempt, due: *due } }",
        )],
        tests: LIFE,
    },
    Mistake {
        what: "an answer without a status counts as accepted",
        edits: &[(
            VERDICT,
            "Some(match answer.processing? {",
            "Some(match answer.processing.unwrap_or(Processing::InProgress) {",
        )],
        tests: RULES,
    },
    Mistake {
        what: "a refusal is tried again",
        edits: &[(
            VERDICT,
            "event: Some(Event::Rejected),",
            "event: Some(Event::Deferred { due: context.now, why: String::new() }),",
        )],
        tests: RULES,
    },
    Mistake {
        what: "faults do not close the gate",
        edits: &[(
            "crates/engine/src/gate.rs",
            "        self.closed = Some((now, pause));",
            "        self.closed = None;",
        )],
        tests: RULES,
    },
    // --- asking
    Mistake {
        what: "the first empty search is believed",
        edits: &[(
            PACE,
            "asked >= self.asks_min && doubt >= doubt_min",
            "asked >= 1 && doubt >= doubt_min.min(Duration::ZERO)",
        )],
        tests: WORLD,
    },
    Mistake {
        what: "the age of a doubt is told by the laboratory's clock",
        edits: &[(
            DUTIES,
            "(Some(first), Some(now)) => elapsed(first, now),\n            (None, Some(_)) => Duration::ZERO,",
            "(_, Some(_)) => elapsed(since, self.clock.now()),",
        )],
        tests: QUEUE,
    },
    Mistake {
        what: "an empty answer is believed although no other report is shown",
        edits: &[(
            DUTIES,
            "Ok(if accepted { Sight::Blind } else { Sight::NothingYet })",
            "Ok(if accepted { Sight::Clear } else { Sight::NothingYet })",
        )],
        tests: QUEUE,
    },
    Mistake {
        what: "nothing shown and nothing accepted is believed as soon as all else",
        edits: &[(
            VERDICT,
            "Sight::NothingYet if pace.believes_empty(asked, doubt, false) => {",
            "Sight::NothingYet if pace.believes_empty(asked, doubt, true) => {",
        )],
        tests: RULES,
    },
    // --- searching for changes
    Mistake {
        what: "two searches do not overlap",
        edits: &[(PACE, "poll_overlap: seconds(120)", "poll_overlap: seconds(0)")],
        tests: WORLD,
    },
    Mistake {
        what: "a search that shows nothing moves the watermark",
        edits: &[(POLL, "(newest, complete)", "(newest.or(changes.server_time), complete)")],
        tests: WORLD,
    },
    Mistake {
        what: "a search that was cut off moves the watermark",
        edits: &[(
            POLL,
            "let complete = changes.incomplete.is_none() && changes.unreadable == 0;",
            "let complete = true;",
        )],
        tests: WORLD,
    },
    Mistake {
        what: "numbers of one authority are taken for those of another",
        edits: &[(
            POLL,
            "            .filter(|report| report.endpoint == self.endpoint.name)\n            .filter_map",
            "            .filter_map",
        )],
        tests: WORLD,
    },
    // --- several processes, clocks
    Mistake {
        what: "a process that stood still sends all the same",
        edits: &[(
            DUTIES,
            "if !self.holds_surely() {",
            "if !self.holds_surely() && self.pace.lease.is_zero() {",
        )],
        tests: WORLD,
    },
    Mistake {
        what: "a stale lease may still record",
        edits: &[(
            LEASE,
            "_ => Err(JournalError::StaleLease),\n    }\n}\n\nfn write",
            "_ => Ok(()),\n    }\n}\n\nfn write",
        )],
        tests: JOURNAL,
    },
    Mistake {
        what: "a name is enough to have a lease",
        edits: &[(
            LEASE,
            "        Some(held) if held.until > now",
            "        Some(held) if held.holder == holder => held.token,\n        Some(held) if held.until > now",
        )],
        tests: QUEUE,
    },
    Mistake {
        what: "a dead holder's lease is believed for as long as the clock says",
        edits: &[(
            HOLD,
            "now.steady.saturating_sub(*since) >= self.pace.lease",
            "now.steady.saturating_sub(*since) >= Duration::MAX",
        )],
        tests: QUEUE,
    },
    Mistake {
        what: "a lease that was looked at twice is taken",
        edits: &[(
            HOLD,
            "now.steady.saturating_sub(*since) >= self.pace.lease",
            "now.steady.saturating_sub(*since) >= Duration::ZERO",
        )],
        tests: QUEUE,
    },
    Mistake {
        what: "time is told by the computer's clock alone",
        edits: &[(
            "crates/engine/src/clock.rs",
            "self.steady.saturating_sub(earlier.steady).max(Duration::from_micros(wall))",
            "Duration::from_micros(wall)",
        )],
        tests: QUEUE,
    },
    Mistake {
        what: "what a clock has put off stays put off",
        edits: &[(
            "crates/engine/src/worker/queue.rs",
            "if last.is_some_and(|last| now.since(last) < LOOK_FAR_EVERY) {",
            "if last.is_none_or(|last| now.since(last) < LOOK_FAR_EVERY) {",
        )],
        tests: QUEUE,
    },
    // --- what is kept
    Mistake {
        what: "a status moves backwards",
        edits: &[(
            STATE,
            "(state, Event::Accepted { receipt, since, due }) if state.may_be_delivered() => {",
            "(_, Event::Accepted { receipt, since, due }) => {",
        )],
        tests: LIFE,
    },
    Mistake {
        what: "one receipt is exchanged for another",
        edits: &[(STATE, "if known == receipt)", "if !known.is_empty() || known == receipt)")],
        tests: LIFE,
    },
    Mistake {
        what: "a document is taken in under a wrong digest",
        edits: &[(
            APPEND,
            "return Err(RecordError::DigestMismatch);",
            "let _ = RecordError::DigestMismatch;",
        )],
        tests: JOURNAL,
    },
    Mistake {
        what: "completed without the authority's answer",
        edits: &[(
            APPEND,
            "return Err(RecordError::NoEvidence);",
            "let _ = RecordError::NoEvidence;",
        )],
        tests: JOURNAL,
    },
];

/// Makes each mistake once, or those whose description has one of the words; 0 where every one was noticed.
pub(crate) fn prove(workspace: &Workspace, words: &[String]) -> Result<u8, String> {
    let wanted = |mistake: &&Mistake| {
        words.is_empty() || words.iter().any(|word| mistake.what.contains(word.as_str()))
    };
    let mistakes: Vec<&Mistake> = MISTAKES.iter().filter(wanted).collect();
    let tree = workspace.target.join("prove/tree");
    let build = workspace.target.join("prove/build");
    copy(&workspace.root, &tree)?;
    // All edits are looked for before anything is built.
    for (file, from, _) in mistakes.iter().flat_map(|mistake| mistake.edits) {
        let text =
            fs::read_to_string(tree.join(file)).map_err(|error| format!("{file}: {error}"))?;
        if !text.contains(from) {
            return Err(format!("{file}: does not hold: {from}"));
        }
    }
    let mut suites: Vec<&[&str]> = Vec::new();
    for mistake in &mistakes {
        if !suites.contains(&mistake.tests) {
            suites.push(mistake.tests);
        }
    }
    for tests in suites {
        if let Some(failed) = run_tests(&tree, &build, tests)? {
            return Err(format!("without a mistake {failed} fails already"));
        }
    }
    let mut unnoticed = 0;
    for mistake in &mistakes {
        let started = Instant::now();
        let mut before = Vec::new();
        for (file, from, to) in mistake.edits {
            let file = tree.join(file);
            before.push((file.clone(), fs::read(&file).map_err(|error| error.to_string())?));
            edit(&file, from, to)?;
        }
        let noticed = run_tests(&tree, &build, mistake.tests)?;
        // Several edits of one file: the first copy is the whole one.
        for (file, text) in before.into_iter().rev() {
            fs::write(file, text).map_err(|error| error.to_string())?;
        }
        unnoticed += usize::from(noticed.is_none());
        let by = noticed.as_deref().unwrap_or("NOBODY");
        let seconds = started.elapsed().as_secs();
        output::line(&format!("{seconds:>4} s  {}: noticed by {by}", mistake.what));
    }
    let noticed = mistakes.len() - unnoticed;
    output::line(&format!("{noticed} of {} mistakes were noticed", mistakes.len()));
    Ok(u8::from(unnoticed > 0))
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
fn run_tests(tree: &Path, build: &Path, tests: &[&str]) -> Result<Option<String>, String> {
    let mut command = Command::new("cargo");
    // The first failure is enough.
    command.args(["test", "--quiet"]).args(tests);
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
