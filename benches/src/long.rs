//! One long `labcourier send`: its rate at the end against its rate at the beginning, and its
//! memory. What became of each file is told as soon as it is known, so the rates are those of the
//! lines.

use std::io::{BufRead as _, BufReader};
use std::time::{Duration, Instant};

use crate::ground::Ground;
use crate::programs::resident;
use crate::table::{Bound, Figure, Row};
use crate::{Result, output};

/// Looks at the memory.
const EVERY_LINES: usize = 50;

/// `files`: in one call, once.
pub(crate) async fn measure(files: usize) -> Result<Vec<Row>> {
    let ground = Ground::new(Duration::ZERO).await?;
    output::progress(&format!("writing {files} files"));
    let folder = ground.reports("all", 0, files)?;
    output::progress(&format!("sending {files} files"));
    tokio::task::block_in_place(|| sent(&ground, &folder, files))
}

fn sent(ground: &Ground, folder: &std::path::Path, files: usize) -> Result<Vec<Row>> {
    let mut child = ground.laboratory.sending(folder)?;
    let stdout = child.stdout.take().ok_or("no output")?;
    let tenth = (files / 10).max(1);
    let (mut at, mut lines, mut most) = (Vec::new(), 0, 0.0_f64);
    for line in BufReader::with_capacity(4096, stdout).lines() {
        line?;
        if lines % tenth == 0 {
            at.push(Instant::now());
        }
        lines += 1;
        // The vault takes 64 MB for a moment, before the first line.
        if lines % EVERY_LINES == 0 {
            most = most.max(resident(child.id()));
        }
    }
    at.push(Instant::now());
    if !child.wait()?.success() || lines != files {
        return Err(format!("{lines} of {files} files were told").into());
    }
    let rate = |from: usize| match at.get(from..from + 2) {
        Some([began, ended]) => tenth as f64 / ended.duration_since(*began).as_secs_f64(),
        _ => 0.0,
    };
    let (first, last) = (rate(0), rate(9));
    Ok(vec![
        Row {
            what: format!("send of {files} files: rate of the last tenth / of the first"),
            baseline: Figure::of(first, 0, "/s"),
            ours: Figure::of(last, 0, "/s"),
            ratio: Figure::of(last / first, 2, ""),
            bound: Bound::at_least(0.9, Some(1.0)),
        },
        Row {
            what: format!("send of {files} files: most resident memory after the first line"),
            ours: Figure::of(most, 1, " MB"),
            bound: Bound::at_most(60.0, Some(30.0)),
            ..Row::default()
        },
    ])
}
