//! Figures of the reliability table: every test of a fault counts what it tried and what went
//! wrong, and `cargo xtask reliability` adds them up. Nothing in that table is typed by hand.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Environment variable naming the folder that figures are written to; without it they are only
/// printed.
pub const FIGURES: &str = "LABCOURIER_FIGURES";

static PANICS: AtomicU64 = AtomicU64::new(0);
static COUNTING: Once = Once::new();

/// Counts every panic of this process from now on, also those that are caught.
fn count_panics() {
    COUNTING.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            PANICS.fetch_add(1, Ordering::SeqCst);
            before(info);
        }));
    });
}

/// What one test of a fault counted. It is written when it is [finished](Figures::finish), and a
/// test that does not get that far leaves nothing: its row then has no figure.
#[derive(Debug)]
pub struct Figures {
    row: &'static str,
    test: &'static str,
    started: Instant,
    panics_before: u64,
    cases: u64,
    losses: u64,
    duplicates: u64,
    false_completed: u64,
    panics: u64,
    measures: Vec<(&'static str, f64)>,
}

impl Figures {
    /// Begins counting for a row of the table (its key, see `tests/programs/reliability.rs`).
    #[must_use]
    pub fn start(row: &'static str, test: &'static str) -> Self {
        count_panics();
        Self {
            row,
            test,
            started: Instant::now(),
            panics_before: PANICS.load(Ordering::SeqCst),
            cases: 0,
            losses: 0,
            duplicates: 0,
            false_completed: 0,
            panics: 0,
            measures: Vec::new(),
        }
    }

    /// Cases that were run to their end.
    pub fn cases(&mut self, more: u64) {
        self.cases += more;
    }

    /// Reports that were taken in and are neither at the authority nor still to be sent.
    pub fn losses(&mut self, more: u64) {
        self.losses += more;
    }

    /// Reports that the authority accepted more than once.
    pub fn duplicates(&mut self, more: u64) {
        self.duplicates += more;
    }

    /// Reports that were shown as completed although the authority does not say so.
    pub fn false_completed(&mut self, more: u64) {
        self.false_completed += more;
    }

    /// Panics of child processes; those of this process are counted by themselves.
    pub fn panics(&mut self, more: u64) {
        self.panics += more;
    }

    /// One more figure with its unit in the name: `requests per hour`, `body bytes`.
    pub fn measure(&mut self, name: &'static str, value: f64) {
        self.measures.push((name, value));
    }

    /// Panics so far.
    #[must_use]
    pub fn panicked(&self) -> u64 {
        self.panics + PANICS.load(Ordering::SeqCst) - self.panics_before
    }

    /// Prints the figures, writes them where [`FIGURES`] says, and fails the test where one that
    /// must be zero is not.
    ///
    /// # Panics
    /// Where there was a loss, a duplicate, a false *Completed*, a panic, or no case at all.
    pub fn finish(self) {
        let panics = self.panicked();
        let line = serde_json::json!({
            "row": self.row,
            "test": self.test,
            "cases": self.cases,
            "losses": self.losses,
            "duplicates": self.duplicates,
            "falseCompleted": self.false_completed,
            "panics": panics,
            "seconds": seconds(self.started.elapsed()),
            "measures": self.measures.iter().map(|(name, value)| (*name, *value))
                .collect::<std::collections::BTreeMap<_, _>>(),
        });
        eprintln!("reliability {line}");
        if let Some(folder) = std::env::var_os(FIGURES) {
            let folder = PathBuf::from(folder);
            std::fs::create_dir_all(&folder).unwrap();
            let file = folder.join(format!("{}.{}.json", self.row, self.test));
            let mut file = std::fs::File::create(file).unwrap();
            writeln!(file, "{line}").unwrap();
        }
        assert!(self.cases > 0, "{}: no case was run", self.test);
        let wrong = self.losses + self.duplicates + self.false_completed + panics;
        assert_eq!(wrong, 0, "{}: {line}", self.test);
    }
}

fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "losses")]
    fn a_loss_fails_the_test() {
        let mut figures = Figures::start("self-test", "a_loss");
        figures.cases(1);
        figures.losses(1);
        figures.finish();
    }

    #[test]
    #[should_panic(expected = "no case was run")]
    fn nothing_run_is_no_figure() {
        Figures::start("self-test", "nothing").finish();
    }
}
