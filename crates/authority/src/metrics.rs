//! Counts of what was answered, in the text form that Prometheus reads.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Upper bounds of the buckets, in seconds.
const BOUNDS: [f64; 8] = [0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0];

#[derive(Debug, Default)]
pub(crate) struct Metrics(Mutex<BTreeMap<&'static str, Counts>>);

/// Of one interaction.
#[derive(Debug, Default)]
struct Counts {
    /// By HTTP status; 0 where the connection ended without an answer.
    by_status: BTreeMap<u16, u64>,
    buckets: [u64; BOUNDS.len()],
    seconds: f64,
    all: u64,
}

/// What is measured when it is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gauges {
    pub(crate) open_requests: u64,
    pub(crate) connections: usize,
    /// Accepted and not processed.
    pub(crate) waiting: u64,
    /// How long the first of them could have been processed.
    pub(crate) late: Duration,
}

impl Metrics {
    pub(crate) fn answered(&self, interaction: &'static str, status: u16, took: Duration) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = all.entry(interaction).or_default();
        let seconds = took.as_secs_f64();
        *counts.by_status.entry(status).or_default() += 1;
        counts.seconds += seconds;
        counts.all += 1;
        if let Some(bucket) = BOUNDS.iter().position(|bound| seconds <= *bound) {
            counts.buckets[bucket] += 1;
        }
    }

    pub(crate) fn text(&self, gauges: Gauges) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text, gauges);
        text
    }

    fn write(&self, text: &mut String, gauges: Gauges) -> std::fmt::Result {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(text, "# HELP authority_requests_total Requests by interaction and HTTP status.")?;
        writeln!(text, "# TYPE authority_requests_total counter")?;
        for (interaction, counts) in all.iter() {
            for (status, count) in &counts.by_status {
                writeln!(
                    text,
                    "authority_requests_total{{interaction=\"{interaction}\",status=\"{status}\"}} \
                     {count}"
                )?;
            }
        }
        let name = "authority_request_seconds";
        writeln!(text, "# HELP {name} Time from a request's head to its answer.")?;
        writeln!(text, "# TYPE {name} histogram")?;
        for (interaction, counts) in all.iter() {
            let mut sum = 0;
            for (bound, count) in BOUNDS.iter().zip(counts.buckets) {
                sum += count;
                writeln!(
                    text,
                    "{name}_bucket{{interaction=\"{interaction}\",le=\"{bound}\"}} {sum}"
                )?;
            }
            let Counts { seconds, all, .. } = counts;
            writeln!(text, "{name}_bucket{{interaction=\"{interaction}\",le=\"+Inf\"}} {all}")?;
            writeln!(text, "{name}_sum{{interaction=\"{interaction}\"}} {seconds}")?;
            writeln!(text, "{name}_count{{interaction=\"{interaction}\"}} {all}")?;
        }
        drop(all);
        for (name, help, value) in [
            ("open_requests", "Requests under way.", gauges.open_requests.to_string()),
            ("connections", "Open connections.", gauges.connections.to_string()),
            ("waiting", "Documents accepted and not processed.", gauges.waiting.to_string()),
            (
                "late_seconds",
                "How long the first waiting document could have been processed.",
                gauges.late.as_secs_f64().to_string(),
            ),
        ] {
            writeln!(text, "# HELP authority_{name} {help}")?;
            writeln!(text, "# TYPE authority_{name} gauge")?;
            writeln!(text, "authority_{name} {value}")?;
        }
        Ok(())
    }
}
