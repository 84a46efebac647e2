//! `labcourier send` to an authority that takes 200 ms for each answer: nothing but waiting should
//! be left. The reports are sent in two calls of different size, so that starting the program and
//! opening its vault count for nothing.

use std::time::Duration;

use crate::ground::Ground;
use crate::table::{Bound, Row, Samples};
use crate::{Result, output};

const LATE: Duration = Duration::from_millis(200);
/// Requests under way at once, as the courier has them.
const IN_FLIGHT: usize = 64;

pub(crate) async fn measure(rounds: usize, reports: usize) -> Result<Vec<Row>> {
    let ground = Ground::new(LATE).await?;
    // Whole waves of requests, several of them.
    let (few, waves) = (IN_FLIGHT, (reports / IN_FLIGHT).max(4));
    let many = few * (1 + waves);
    let at_best = LATE.as_secs_f64() * f64::from(u32::try_from(waves)?);
    let (mut best, mut ours) = (Samples::default(), Samples::default());
    for round in 0..rounds {
        output::progress(&format!("an answer after 200 ms, round {} of {rounds}", round + 1));
        let first = round * (few + many);
        let sent = |name: &str, first, count| {
            let folder = ground.reports(&format!("{name}-{round}"), first, count)?;
            tokio::task::block_in_place(|| ground.laboratory.send(&folder))
        };
        let short = sent("few", first, few)?.time;
        let long = sent("many", first + few, many)?.time;
        let per_second = |seconds: f64| f64::from(u32::try_from(many - few).unwrap_or(0)) / seconds;
        best.0.push(per_second(at_best));
        ours.0.push(per_second(long.saturating_sub(short).as_secs_f64()));
    }
    Ok(vec![Row {
        what: format!("send, an answer after 200 ms / {IN_FLIGHT} at once and nothing but waiting"),
        ratio: ours.over(&best).shown(2, ""),
        baseline: best.shown(0, "/s"),
        ours: ours.shown(0, "/s"),
        bound: Bound::at_least(0.9, Some(0.97)),
    }])
}
