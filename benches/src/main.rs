//! Measures what `cargo xtask bench` prints: ratios against a baseline in the same run, interleaved, median
//! of the rounds. The machines are shared, so absolute times are an orientation only.
//!
//! Not a test: nothing here fails because a machine is slow. It needs the release builds of `labcourier` and
//! `labcourier-authority` beside its own executable.

mod authority;
mod bare;
mod bulk;
mod expressions;
mod foreign;
mod output;
mod programs;
mod raw;
mod reading;
mod ruled;
mod rules;
mod table;

use std::error::Error;
use std::process::ExitCode;

use bulk::Bulk;
use table::Row;

/// Whatever stops a measurement.
type Problem = Box<dyn Error + Send + Sync>;
type Result<T> = std::result::Result<T, Problem>;

/// Rows that are measured: the name for `--only`, and what it is.
const ROWS: [(&str, &str); 8] = [
    ("bulk", "`send` against raw POST and curl, to a bare server that answers at once"),
    ("bulk-authority", "`send` against raw POST, to labcourier-authority"),
    ("memory", "resident memory of `send`, measured with `bulk`"),
    ("authority", "the authority alone, with 1,000 and 1,000,000 documents, on both stores"),
    ("reading", "read + check + wrap against serde_json::Value"),
    ("fhirpath", "the invariants of one report against reading it"),
    (
        "rules",
        "the authority's rules on published reports, beside fhirpath.js and pyfhircheck (needs ../shared)",
    ),
    ("bulk-rules", "`send` with rules loaded against without (needs ../shared); part of `rules`"),
];

/// Rows of the performance plan that nothing here measures, and what is missing.
const NOT_MEASURED: [(&str, &str); 7] = [
    ("bulk against a Python requests session", "needs Python's requests on the machine"),
    ("bulk against Node fhir-kit-client", "needs that package on the machine"),
    ("latency-bound sending (200 ms authority)", "needs a delay in the bare server"),
    ("journal queries at 1,000,000 reports", "needs a journal of that size"),
    ("list painted and journal opened at 1,000,000", "needs the window and such a journal"),
    ("learning the state of 1,000 open reports", "needs a count of requests"),
    ("idle CPU while following reports", "needs minutes of waiting"),
];

/// What to measure.
struct Plan {
    rounds: usize,
    reports: usize,
    /// Most documents that a store is filled with.
    documents: u64,
    only: Vec<String>,
}

fn main() -> ExitCode {
    let measured = plan(std::env::args().skip(1)).and_then(|plan| {
        tokio::runtime::Runtime::new()?.block_on(measure(&plan))?;
        Ok(())
    });
    match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::problem(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn plan(mut args: impl Iterator<Item = String>) -> Result<Plan> {
    let mut plan = Plan { rounds: 5, reports: 1_000, documents: 1_000_000, only: Vec::new() };
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--rounds" => plan.rounds = value()?.parse::<usize>()?.max(1),
            "--reports" => plan.reports = value()?.parse::<usize>()?.max(1),
            "--documents" => plan.documents = value()?.parse::<u64>()?.max(1_000),
            "authority" | "rules" => plan.only.push(arg),
            "--only" => plan.only.push(value()?),
            other => return Err(format!("unknown argument: {other}").into()),
        }
    }
    let known = |name: &String| ROWS.iter().any(|(row, _)| row == name);
    if let Some(unknown) = plan.only.iter().find(|name| !known(name)) {
        let names = ROWS.map(|(name, what)| format!("  {name:<16}{what}")).join("\n");
        return Err(format!("no such row: {unknown}\n{names}").into());
    }
    Ok(plan)
}

async fn measure(plan: &Plan) -> Result<()> {
    let wanted = |name: &str| plan.only.is_empty() || plan.only.iter().any(|only| only == name);
    let mut rows: Vec<Row> = Vec::new();
    if wanted("reading") {
        output::progress("reading");
        rows.push(reading::measure(plan.rounds)?);
    }
    if wanted("fhirpath") {
        output::progress("fhirpath");
        rows.push(expressions::measure(plan.rounds)?.against_reading());
    }
    if wanted("rules") {
        output::progress("rules");
        rows.extend(rules::measure()?);
        output::progress("the same invariants with fhirpath.js");
        rows.push(expressions::measure(plan.rounds)?.against_fhirpath_js());
    }
    if wanted("rules") || wanted("bulk-rules") {
        rows.extend(ruled::measure(plan.rounds, plan.reports).await?);
    }
    if wanted("bulk") || wanted("memory") {
        let bulk = Bulk::bare().await?;
        rows.extend(bulk.measure("bare server", plan.rounds, plan.reports).await?);
    }
    if wanted("authority") {
        rows.extend(authority::measure(plan.rounds, plan.reports, plan.documents).await?);
    }
    if wanted("bulk-authority") {
        let bulk = Bulk::authority().await?;
        rows.extend(bulk.measure("labcourier-authority", plan.rounds, plan.reports).await?);
    }
    output::line(&table::print(&rows));
    output::line(&format!(
        "\nMedian of {} rounds, interleaved; in brackets the smallest and the greatest of them. {} \
         reports a round. {}\n\nNot measured yet:",
        plan.rounds,
        plan.reports,
        programs::load(),
    ));
    for (row, missing) in NOT_MEASURED {
        output::line(&format!("  {row}: {missing}"));
    }
    Ok(())
}
