//! Measures what `cargo xtask bench` prints: ratios against a baseline in the same run,
//! interleaved, median of the rounds. The machines are shared, so absolute times are an orientation
//! only.
//!
//! Not a test, but a judgement: what a row must reach stands beside it. Where one does not, the
//! exit code is 1; where something could not be measured it is 2. It needs the release builds of
//! `labcourier` and `labcourier-authority` beside its own executable.

mod authority;
mod bare;
mod bulk;
mod clients;
mod expressions;
mod foreign;
mod ground;
mod idle;
mod journal;
mod long;
mod made;
mod output;
mod pages;
mod programs;
mod raw;
mod reading;
mod ruled;
mod rules;
mod slow;
mod table;
mod window;

use std::error::Error;
use std::process::ExitCode;

use bulk::Bulk;
use serde_json::json;
use table::Row;

/// Whatever stops a measurement.
type Problem = Box<dyn Error + Send + Sync>;
type Result<T> = std::result::Result<T, Problem>;

/// What can be asked for, each with the rows that belong together.
const ROWS: [(&str, &str); 14] = [
    ("send", "`send` against raw POST and curl, to a bare server that answers at once; its memory"),
    ("send-authority", "`send` against raw POST, to labcourier-authority"),
    ("send-clients", "`send` against Python's requests and fhir-kit-client, which it installs"),
    ("send-slow", "`send` to an authority that answers after 200 ms, against nothing but waiting"),
    ("send-long", "`send` of --files at once: its last tenth against its first, and its memory"),
    ("idle", "`follow` with open reports of which nothing is heard, a minute a round"),
    ("journal", "a journal of --submissions, made once: opened, listed, searched, backed up"),
    ("pages", "what the journal writes for a report, of which --reports are in it"),
    ("ui", "the window in a browser: start, clicks, memory; with --submissions, made once"),
    ("authority", "the authority alone, with 1,000 and 1,000,000 documents, on both stores"),
    ("reading", "read + check + wrap against serde_json::Value"),
    ("fhirpath", "the invariants of one report against reading it"),
    (
        "rules",
        "the authority's rules on published reports, beside fhirpath.js and pyfhircheck (needs \
         ../shared)",
    ),
    ("send-rules", "`send` with rules loaded against without (needs ../shared); part of `rules`"),
];

/// The exit code where a row misses what it must reach.
const MISSED: u8 = 1;
/// The exit code where something could not be measured.
const BROKEN: u8 = 2;

/// What to measure.
struct Plan {
    rounds: usize,
    reports: usize,
    /// Most documents that a store is filled with.
    documents: u64,
    /// Submissions of the large journal.
    submissions: u64,
    /// Files of a long send.
    files: usize,
    only: Vec<String>,
    /// For a program instead of a person.
    is_json: bool,
}

fn main() -> ExitCode {
    let measured = plan(std::env::args().skip(1)).and_then(|plan| {
        let rows = tokio::runtime::Runtime::new()?.block_on(measure(&plan))?;
        if rows.is_empty() {
            return Err("nothing of this can be measured here".into());
        }
        show(&plan, &rows);
        Ok(rows.iter().all(Row::holds))
    });
    match measured {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(MISSED),
        Err(error) => {
            output::problem(&error.to_string());
            ExitCode::from(BROKEN)
        }
    }
}

fn plan(mut args: impl Iterator<Item = String>) -> Result<Plan> {
    let mut plan = Plan {
        rounds: 5,
        reports: 10_000,
        documents: 1_000_000,
        submissions: 1_000_000,
        files: 100_000,
        only: Vec::new(),
        is_json: false,
    };
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--rounds" => plan.rounds = value()?.parse::<usize>()?.max(1),
            "--reports" => plan.reports = value()?.parse::<usize>()?.max(1),
            "--documents" => plan.documents = value()?.parse::<u64>()?.max(1_000),
            "--submissions" => plan.submissions = value()?.parse::<u64>()?.max(1_000),
            "--files" => plan.files = value()?.parse::<usize>()?.max(1_000),
            "--json" => plan.is_json = true,
            _ if arg.starts_with('-') => return Err(format!("unknown argument: {arg}").into()),
            _ => plan.only.push(arg),
        }
    }
    let known = |name: &String| ROWS.iter().any(|(row, _)| row == name);
    if let Some(unknown) = plan.only.iter().find(|name| !known(name)) {
        let names = ROWS.map(|(name, what)| format!("  {name:<16}{what}")).join("\n");
        return Err(format!("no such row: {unknown}\n{names}").into());
    }
    Ok(plan)
}

async fn measure(plan: &Plan) -> Result<Vec<Row>> {
    let wanted = |name: &str| plan.only.is_empty() || plan.only.iter().any(|only| only == name);
    let mut rows: Vec<Row> = Vec::new();
    if wanted("reading") {
        output::progress("reading");
        rows.push(reading::measure(plan.rounds)?);
    }
    if wanted("fhirpath") {
        output::progress("fhirpath");
        rows.extend(expressions::measure(plan.rounds)?.against_reading());
    }
    if wanted("rules") {
        output::progress("rules");
        rows.extend(rules::measure()?);
        output::progress("the same invariants with fhirpath.js");
        rows.extend(expressions::measure(plan.rounds)?.against_fhirpath_js());
    }
    if wanted("rules") || wanted("send-rules") {
        rows.extend(ruled::measure(plan.rounds, plan.reports).await?);
    }
    if wanted("send") {
        let bulk = Bulk::bare().await?;
        rows.extend(bulk.measure("bare server", plan.rounds, plan.reports).await?);
    }
    rows.extend(measure_sends(plan, &wanted).await?);
    if wanted("journal") {
        rows.extend(journal::measure(plan.rounds, plan.submissions)?);
    }
    if wanted("pages") {
        rows.extend(pages::measure(plan.reports)?);
    }
    if wanted("ui") {
        rows.extend(window::measure(plan.rounds, plan.submissions).await?);
    }
    if wanted("authority") {
        rows.extend(authority::measure(plan.rounds, plan.reports, plan.documents).await?);
    }
    if wanted("send-authority") {
        let bulk = Bulk::authority().await?;
        rows.extend(bulk.measure("labcourier-authority", plan.rounds, plan.reports).await?);
    }
    Ok(rows)
}

async fn measure_sends(plan: &Plan, wanted: &impl Fn(&str) -> bool) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    if wanted("send-clients") {
        rows.extend(clients::measure(plan.rounds, plan.reports).await?);
    }
    if wanted("send-slow") {
        rows.extend(slow::measure(plan.rounds, plan.reports).await?);
    }
    if wanted("send-long") {
        rows.extend(long::measure(plan.files).await?);
    }
    if wanted("idle") {
        rows.extend(idle::measure(plan.rounds, plan.reports).await?);
    }
    Ok(rows)
}

fn show(plan: &Plan, rows: &[Row]) {
    let (rounds, reports, load) = (plan.rounds, plan.reports, programs::load());
    if plan.is_json {
        let told = json!({
            "rounds": rounds, "reports": reports, "machine": load, "rows": table::json(rows),
        });
        output::line(&told.to_string());
        return;
    }
    output::line(&table::print(rows));
    output::line(&format!(
        "\nMedian of {rounds} rounds, interleaved; in brackets the smallest and the greatest of \
         them. {reports} reports a round. {load}",
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(words: &[&str]) -> Result<Plan> {
        plan(words.iter().map(|word| (*word).to_owned()))
    }

    #[test]
    fn rows_are_named_without_an_option() {
        let plan = planned(&["send", "rules", "--rounds", "3", "--json"]).unwrap();
        assert_eq!(
            (plan.only, plan.rounds, plan.is_json),
            (vec!["send".into(), "rules".into()], 3, true)
        );
        let error = |words: &[&str]| planned(words).err().unwrap().to_string();
        assert!(error(&["sent"]).starts_with("no such row: sent\n  send "));
        assert_eq!(error(&["--fast"]), "unknown argument: --fast");
        assert_eq!(error(&["--rounds"]), "--rounds needs a value");
    }
}
