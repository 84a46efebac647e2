//! What happened, step by step, and what of it broke a promise.

use std::sync::Mutex;

use crate::computer::{HOUR, MINUTE, SECOND};

/// Which promise was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// A report was lost, or never came to rest.
    Loss,
    /// The authority accepted a report twice.
    Duplicate,
    /// *Completed* without the authority's word.
    FalseCompleted,
    /// Any other promise.
    Other,
}

/// A promise that was broken.
#[derive(Debug, Clone)]
pub struct Violation {
    /// The promise that was broken.
    pub broken: Broken,
    /// What was seen.
    pub what: String,
}

/// The story of one world. Kept only where somebody reads it.
#[derive(Default)]
pub(crate) struct History {
    lines: Option<Mutex<Vec<String>>>,
    violation: Mutex<Option<Violation>>,
}

impl History {
    pub(crate) fn new(kept: bool) -> Self {
        Self { lines: kept.then(Mutex::default), violation: Mutex::default() }
    }

    /// Adds a line; `what` is only made where it is kept.
    pub(crate) fn note(&self, truth: i64, who: &str, what: impl FnOnce() -> String) {
        if let Some(lines) = &self.lines {
            let line = format!("{}  {who:<10} {}", shown(truth), what());
            crate::lock(lines).push(line);
        }
    }

    /// The first broken promise counts.
    pub(crate) fn broken(&self, truth: i64, broken: Broken, what: String) {
        self.note(truth, "BROKEN", || format!("{broken:?}: {what}"));
        crate::lock(&self.violation).get_or_insert(Violation { broken, what });
    }

    pub(crate) fn violation(&self) -> Option<Violation> {
        crate::lock(&self.violation).clone()
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.as_ref().map(|lines| crate::lock(lines).clone()).unwrap_or_default()
    }
}

fn shown(truth: i64) -> String {
    let (hours, minutes) = (truth / HOUR, truth % HOUR / MINUTE);
    let seconds = truth % MINUTE / SECOND;
    format!("{hours:>3}:{minutes:02}:{seconds:02}.{:03}", truth % SECOND / 1000)
}
