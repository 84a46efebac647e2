//! `labcourier follow` with open reports of which nothing is heard.

use std::time::Duration;

use crate::ground::Ground;
use crate::table::{Bound, Row, Samples};
use crate::{Result, output};

/// Long after the start, which derives a key and asks at once.
const SETTLING: Duration = Duration::from_secs(20);
const WATCHED: Duration = Duration::from_secs(60);

/// `reports` are open, at most a thousand.
pub(crate) async fn measure(rounds: usize, reports: usize) -> Result<Vec<Row>> {
    let ground = Ground::new(Duration::ZERO).await?;
    let reports = reports.min(1_000);
    let folder = ground.reports("open", 0, reports)?;
    tokio::task::block_in_place(|| ground.laboratory.send(&folder))?;
    let mut follow = tokio::task::block_in_place(|| ground.laboratory.follow())?;
    tokio::time::sleep(SETTLING).await;
    let mut used = Samples::default();
    for round in 0..rounds {
        output::progress(&format!("idle, round {} of {rounds}", round + 1));
        let before = follow.cpu_seconds();
        tokio::time::sleep(WATCHED).await;
        used.0.push((follow.cpu_seconds() - before) / WATCHED.as_secs_f64() * 100.0);
    }
    if follow.has_ended()? {
        return Err("labcourier follow has ended".into());
    }
    Ok(vec![Row {
        what: format!("processor time while {reports} open reports are followed"),
        ours: used.shown(2, " % of a core"),
        bound: Bound::at_most(0.3, Some(0.1)),
        ..Row::default()
    }])
}
