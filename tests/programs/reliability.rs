//! `cargo xtask reliability`: runs every test of a fault and adds up what each of them counted, one
//! row for each fault that Lab Courier promises to survive. Nothing in the table is typed by hand:
//! a row without a figure, a figure that must be zero and is not, and a failed test each fail the
//! command.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use xtask::output;
use xtask::process::Call;
use xtask::workspace::{Workspace, text};

/// What runs: everything that can count, and what that needs.
const STEPS: [&str; 6] = ["setup", "ui-build", "build", "test", "browser", "window"];

/// A fault to survive.
struct Fault {
    /// As tests name it in `Figures::start`.
    key: &'static str,
    /// What happens.
    says: &'static str,
    /// Measures that some test of this fault must have taken, and the most that any may have found.
    most: &'static [(&'static str, f64)],
}

const fn fault(key: &'static str, says: &'static str) -> Fault {
    Fault { key, says, most: &[] }
}

const REQUESTS: &[(&str, f64)] = &[("requests per hour", 15.0)];
const NO_BODY: &[(&str, f64)] = &[("body bytes", 0.0)];

const FAULTS: [Fault; 22] = [
    fault("kill", "the process is killed at any write and at any point of an exchange"),
    fault("answer-lost", "an answer is lost, late, cut, no FHIR, or about another report"),
    fault("search-lag", "the authority's search shows nothing for minutes"),
    Fault {
        key: "retry-codes",
        says: "408, 425, 429, 5xx; Retry-After in every form",
        most: REQUESTS,
    },
    Fault {
        key: "outcome-400",
        says: "400 or 422 with the authority's reasons",
        most: &[("requests per report", 1.0)],
    },
    fault("refused-certificate", "401, 403, a refused handshake, an expired certificate"),
    Fault {
        key: "tls",
        says: "a server that is not to be trusted, a client that is not",
        most: NO_BODY,
    },
    Fault { key: "redirect-proxy", says: "redirects, captive portals, proxies", most: NO_BODY },
    fault("slow-endless", "slow, endless and compressed answers, HTTP/2 abused"),
    fault("disk-full", "the disk is full at any write"),
    fault("damage", "the journal is damaged, cut, locked with another key, or of a newer release"),
    fault("clock", "the clock jumps, the computer sleeps"),
    fault("processes", "several processes on one journal, killed at random"),
    fault("same-file", "the same file again, under another name, with other content"),
    fault("unstable-file", "a file is still written, vanishes, is locked"),
    fault("wrong-file", "huge, empty, a folder, a pipe, a device, a loop of links, no report"),
    fault("hostile-text", "JSON and XML made to break a parser"),
    fault("keychain", "the keychain is locked, absent, emptied, or denies"),
    fault("pkcs12", "a certificate file with a wrong password, odd ciphers, no key, junk"),
    fault("canaries", "patient data where none may be"),
    fault("markup", "markup and scripts in every text that reaches a screen"),
    fault("window-commands", "commands from where none may come, arguments that none may send"),
];

/// Where tests write their figures.
fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target.join("reliability")
}

fn main() -> std::process::ExitCode {
    xtask::program(|workspace, args| match args {
        [] => measure(workspace),
        [only] if only == "--table" => show(&folder(workspace)),
        _ => Err("usage: reliability [--table]".to_owned()),
    })
}

/// Runs the tests and prints the table; 0 where every row has a figure and all is as promised.
fn measure(workspace: &Workspace) -> Result<u8, String> {
    let folder = folder(workspace);
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(failed)?;
    }
    fs::create_dir_all(&folder).map_err(failed)?;
    let call = Call::cargo().args(["xtask", "test"]).inside(&workspace.root);
    let ran = call.args(STEPS.iter().flat_map(|step| ["--only", step])).code()?;
    let counted = show(&folder)?;
    Ok(ran.max(counted))
}

/// Prints the table of the figures in a folder, and keeps it there as Markdown.
fn show(folder: &Path) -> Result<u8, String> {
    let rows = read(folder)?;
    let table = table(&rows);
    output::heading("faults survived");
    output::line(&table);
    let page = folder.join("table.md");
    fs::write(&page, &table).map_err(|error| format!("{}: {error}", page.display()))?;
    output::line(&format!("\nas Markdown: {}", page.display()));
    let wrong = problems(&rows);
    wrong.iter().for_each(|problem| output::problem(problem));
    Ok(u8::from(!wrong.is_empty()))
}

/// What the tests of one fault counted together.
#[derive(Debug, Default, Clone, PartialEq)]
struct Row {
    tests: u64,
    cases: u64,
    losses: u64,
    duplicates: u64,
    false_completed: u64,
    panics: u64,
    seconds: f64,
    /// The greatest of each measure: each has a most, none a least.
    measures: BTreeMap<String, f64>,
}

impl Row {
    /// Adds one line of a test. A count that is missing is no zero.
    fn add(&mut self, line: &Value) -> Option<()> {
        let count = |name| line.get(name).and_then(Value::as_u64);
        self.tests += 1;
        self.cases += count("cases")?;
        self.losses += count("losses")?;
        self.duplicates += count("duplicates")?;
        self.false_completed += count("falseCompleted")?;
        self.panics += count("panics")?;
        self.seconds += line.get("seconds").and_then(Value::as_f64)?;
        for (name, value) in line.get("measures").and_then(Value::as_object).into_iter().flatten() {
            let value = value.as_f64()?;
            let most = self.measures.entry(name.clone()).or_insert(value);
            *most = most.max(value);
        }
        Some(())
    }

    const fn wrong(&self) -> u64 {
        self.losses + self.duplicates + self.false_completed + self.panics
    }
}

/// Reads every line of every file of figures.
fn read(folder: &Path) -> Result<BTreeMap<String, Row>, String> {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let lines = fs::read_to_string(&file).map_err(failed)?;
        for line in lines.lines().filter(|line| !line.trim().is_empty()) {
            let unreadable = || format!("{} holds no figures: {line}", file.display());
            let value: Value = serde_json::from_str(line).map_err(|_| unreadable())?;
            let row = rows.entry(text(&value, "row").to_owned()).or_default();
            row.add(&value).ok_or_else(unreadable)?;
        }
    }
    // The tests of the figures themselves.
    rows.remove("self-test");
    Ok(rows)
}

/// The table in Markdown.
fn table(rows: &BTreeMap<String, Row>) -> String {
    let mut lines = vec![
        "| fault | tests | cases | lost | doubled | false *Completed* | panics | at most | time |"
            .to_owned(),
        "|---|--:|--:|--:|--:|--:|--:|---|--:|".to_owned(),
    ];
    let mut all = Row::default();
    for fault in &FAULTS {
        let Some(row) = rows.get(fault.key) else {
            lines.push(format!("| {} | **none** | | | | | | | |", fault.says));
            continue;
        };
        let measures: Vec<String> =
            row.measures.iter().map(|(name, value)| format!("{} {name}", number(*value))).collect();
        lines.push(cells(fault.says, row, &measures.join(", ")));
        all.tests += row.tests;
        all.cases += row.cases;
        all.losses += row.losses;
        all.duplicates += row.duplicates;
        all.false_completed += row.false_completed;
        all.panics += row.panics;
        all.seconds += row.seconds;
    }
    lines.push(cells("**all**", &all, ""));
    lines.join("\n") + "\n"
}

fn cells(says: &str, row: &Row, measures: &str) -> String {
    format!(
        "| {says} | {} | {} | {} | {} | {} | {} | {measures} | {} s |",
        row.tests,
        row.cases,
        row.losses,
        row.duplicates,
        row.false_completed,
        row.panics,
        number(row.seconds)
    )
}

/// Without a fraction where there is none to speak of.
fn number(value: f64) -> String {
    if value.fract() == 0.0 || value >= 100.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}

/// Everything that keeps the table from being what was promised.
fn problems(rows: &BTreeMap<String, Row>) -> Vec<String> {
    let mut wrong = Vec::new();
    for fault in &FAULTS {
        let Some(row) = rows.get(fault.key) else {
            wrong.push(format!("{}: no test has counted anything", fault.key));
            continue;
        };
        if row.cases == 0 {
            wrong.push(format!("{}: no case was run", fault.key));
        }
        if row.wrong() > 0 {
            wrong.push(format!("{}: {} figures that must be zero are not", fault.key, row.wrong()));
        }
        for (name, most) in fault.most {
            match row.measures.get(*name) {
                None => wrong.push(format!("{}: no test measured {name}", fault.key)),
                Some(found) if found > most => {
                    wrong.push(format!("{}: {found} {name}; promised are {most}", fault.key));
                }
                Some(_) => {}
            }
        }
    }
    let known: BTreeSet<&str> = FAULTS.iter().map(|fault| fault.key).collect();
    let unknown = rows.keys().filter(|key| !known.contains(key.as_str()));
    wrong.extend(unknown.map(|key| format!("{key}: tests count for a fault that is not listed")));
    wrong
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(cases: u64, losses: u64, measures: &Value) -> Value {
        json!({
            "row": "kill", "test": "t", "cases": cases, "losses": losses, "duplicates": 0,
            "falseCompleted": 0, "panics": 0, "seconds": 1.5, "measures": measures,
        })
    }

    /// All that was promised.
    fn sound() -> BTreeMap<String, Row> {
        let row = |fault: &Fault| {
            let most = fault.most.iter().map(|(name, most)| ((*name).to_owned(), *most));
            Row { tests: 1, cases: 3, measures: most.collect(), ..Row::default() }
        };
        FAULTS.iter().map(|fault| (fault.key.to_owned(), row(fault))).collect()
    }

    #[test]
    fn figures_of_one_fault_are_added_and_measures_keep_their_greatest() {
        let mut row = Row::default();
        row.add(&line(3, 0, &json!({ "requests per hour": 9.0 }))).unwrap();
        row.add(&line(4, 1, &json!({ "requests per hour": 7.0, "milliseconds": 2.25 }))).unwrap();
        assert_eq!((row.tests, row.cases, row.losses, row.seconds), (2, 7, 1, 3.0));
        let shown = cells("x", &row, "");
        assert_eq!(shown, "| x | 2 | 7 | 1 | 0 | 0 | 0 |  | 3 s |");
        assert_eq!(row.measures["requests per hour"], 9.0);
        let mut without = line(3, 0, &json!({}));
        without.as_object_mut().unwrap().remove("panics");
        assert_eq!(row.add(&without), None, "what was not counted is no zero");
    }

    #[test]
    fn a_table_is_sound_only_when_every_row_is() {
        assert_eq!(problems(&sound()), Vec::<String>::new());
        let broken = |key: &str, change: &dyn Fn(&mut Row)| {
            let mut rows = sound();
            change(rows.get_mut(key).unwrap());
            problems(&rows).join("\n")
        };
        assert_eq!(broken("kill", &|row| row.cases = 0), "kill: no case was run");
        assert!(broken("clock", &|row| row.duplicates = 1).starts_with("clock: 1 figures"));
        assert!(broken("tls", &|row| row.measures.clear()).contains("no test measured body bytes"));
        let storm = broken("retry-codes", &|row| {
            row.measures.insert("requests per hour".to_owned(), 16.0);
        });
        assert_eq!(storm, "retry-codes: 16 requests per hour; promised are 15");
        let mut rows = sound();
        rows.remove("markup");
        rows.insert("mark-up".to_owned(), Row { tests: 1, cases: 1, ..Row::default() });
        let found = problems(&rows);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(table(&rows).contains("reaches a screen | **none** |"));
    }

    #[test]
    fn files_are_read_as_tests_write_them() {
        let folder = std::env::temp_dir().join(format!("figures-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("kill.a.json"), format!("{}\n", line(2, 0, &json!({})))).unwrap();
        fs::write(folder.join("table.md"), "no figures").unwrap();
        assert_eq!(read(&folder).unwrap()["kill"].cases, 2);
        fs::write(folder.join("kill.b.json"), "{\"row\":\"kill\"}\n").unwrap();
        assert!(read(&folder).unwrap_err().contains("holds no figures"));
        fs::remove_dir_all(&folder).unwrap();
    }
}
