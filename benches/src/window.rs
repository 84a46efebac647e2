//! The window's page in a browser on the real core, with a small and with a large journal: its
//! start, the time from a click to what is painted, and its memory after many changes.
//!
//! The journals are made once below `target/bench`; the page measures itself
//! (`ui/tests/speed/`), and what it must reach stands here.

use std::path::{Path, PathBuf};
use std::process::Command;

use bridge::Desk;
use serde::Deserialize;

use crate::made::Making;
use crate::table::{Bound, Figure, Row, Samples};
use crate::{Result, foreign, output, programs};

/// What a click is compared with.
const SMALL: u64 = 1_000;
/// What the start is compared with beside.
const FEW: u64 = 10;
/// Most by which a click may take longer with the large journal, and what is wanted.
const CLICK: Option<Bound> = Bound::at_most(2.0, Some(1.0));
/// The same for the start of the window.
const START: Option<Bound> = Bound::at_most(1.2, Some(1.0));
/// Most by which the memory of the page may have grown after the changes.
const MEMORY: Option<Bound> = Bound::at_most(1.5, Some(1.0));

/// What the page measured.
#[derive(Deserialize)]
struct Measured {
    /// From the start of the core to the painted page, in milliseconds: few, small, large.
    start: [Vec<f64>; 3],
    /// From a click to what is painted, in milliseconds: the action, small, large.
    clicks: Vec<(String, Vec<f64>, Vec<f64>)>,
    /// Memory of the page, in MB: before and after the changes, and how many there were.
    memory: (f64, f64, u64),
}

/// `count`: submissions of the large journal.
pub(crate) async fn measure(rounds: usize, count: u64) -> Result<Vec<Row>> {
    let roots = [kept(FEW).await?, kept(SMALL).await?, kept(count).await?];
    output::progress("the page in a browser");
    let measured = in_browser(rounds, &roots)?;
    let [few, small, large] = &measured.start;
    let mut rows = vec![
        row(format!("window: start at {count} / at {FEW}"), few, large, START),
        row(format!("window: start at {count} / at {SMALL}"), small, large, START),
    ];
    for (action, small, large) in &measured.clicks {
        rows.push(row(format!("window: {action}, {count} / {SMALL}"), small, large, CLICK));
    }
    let (before, after, changes) = measured.memory;
    rows.push(Row {
        what: format!("window: memory of the page after {changes} changes / before"),
        baseline: Figure::of(before, 1, " MB"),
        ours: Figure::of(after, 1, " MB"),
        ratio: Figure::of(after / before, 2, "×"),
        bound: MEMORY,
    });
    Ok(rows)
}

/// The folder of a window whose practice journal has so many reports.
async fn kept(count: u64) -> Result<PathBuf> {
    let folder = foreign::folder(&format!("window-{count}"))?;
    let (root, whole) = (folder.join("home"), folder.join("whole"));
    if !whole.exists() {
        output::progress(&format!("making a window's journal of {count} submissions, once"));
        std::fs::remove_dir_all(&folder)?;
        std::fs::create_dir_all(&folder)?;
        make(&root, count).await?;
        std::fs::write(&whole, "")?;
    }
    Ok(root)
}

async fn make(root: &Path, count: u64) -> Result<()> {
    let told = |problem: bridge::Problem| problem.code;
    let desk = Desk::open(root).await.map_err(told)?;
    let engine = desk.engine();
    let status = desk.status().await.map_err(told)?;
    let making = Making {
        of: count,
        newest: engine.now(),
        endpoint: status.endpoint_id,
        environment: "practice".to_owned(),
        // Nobody at the practice authority would know them.
        has_open: false,
    };
    making.add(engine.journal(), 1..=count)?;
    desk.stop().await;
    Ok(())
}

fn in_browser(rounds: usize, roots: &[PathBuf]) -> Result<Measured> {
    let ui = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui");
    if !ui.join("dist/index.html").exists() {
        return Err("the page is not built: cargo xtask test --only ui-build".into());
    }
    let figures = foreign::folder("window")?.join("measured.json");
    let roots: Vec<_> = roots.iter().map(|root| root.to_string_lossy()).collect();
    let mut command = Command::new("npm");
    command.args(["run", "--silent", "test:speed"]).current_dir(&ui);
    command.env("SPEED_HOST", programs::program("window-host")?);
    command.env("SPEED_ROOTS", roots.join("\n")).env("SPEED_ROUNDS", rounds.to_string());
    let status = command.env("SPEED_FIGURES", &figures).status()?;
    if !status.success() {
        return Err("the page could not be measured".into());
    }
    Ok(serde_json::from_slice(&std::fs::read(figures)?)?)
}

fn row(what: String, small: &[f64], large: &[f64], bound: Option<Bound>) -> Row {
    let (small, large) = (Samples(small.to_vec()), Samples(large.to_vec()));
    Row {
        what,
        baseline: small.shown(0, " ms"),
        ours: large.shown(0, " ms"),
        ratio: large.over(&small).shown(2, "×"),
        bound,
    }
}
