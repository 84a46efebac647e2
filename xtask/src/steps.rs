//! The steps of a long run: named, timed, summed up. One failure does not hide the next.

use std::time::{Duration, Instant};

use crate::output;

/// One step: a name, what must have passed before, what it does.
pub(crate) struct Step<'a> {
    /// The name, as given to `--only`.
    pub(crate) name: &'static str,
    /// What it says about the product, in a few words.
    pub(crate) says: &'static str,
    /// Steps without which this one means nothing.
    pub(crate) needs: &'static [&'static str],
    /// The work.
    pub(crate) act: Box<dyn Fn() -> Result<(), String> + 'a>,
}

/// What became of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed(String),
    /// Not run, because this step had failed.
    Blocked(&'static str),
}

/// A step that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) name: &'static str,
    pub(crate) took: Duration,
    pub(crate) outcome: Outcome,
}

/// Which steps run: all, or those named (a name that no step has is an error).
pub(crate) fn select<'s, 'a>(
    steps: &'s [Step<'a>],
    only: &[String],
) -> Result<Vec<&'s Step<'a>>, String> {
    let known = |name: &String| steps.iter().any(|step| step.name == name);
    if let Some(unknown) = only.iter().find(|name| !known(name)) {
        let names: Vec<_> = steps.iter().map(|step| step.name).collect();
        return Err(format!("no step {unknown}; there are: {}", names.join(" ")));
    }
    let wanted = |step: &&Step<'a>| only.is_empty() || only.iter().any(|name| name == step.name);
    Ok(steps.iter().filter(wanted).collect())
}

/// Runs the steps in order and prints each with its time.
pub(crate) fn run(steps: &[&Step<'_>]) -> Vec<Done> {
    let mut done: Vec<Done> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        output::heading(&format!("[{}/{}] {}: {}", index + 1, steps.len(), step.name, step.says));
        let started = Instant::now();
        let outcome = match blocked_by(step.needs, &done) {
            Some(failed) => Outcome::Blocked(failed),
            None => match (step.act)() {
                Ok(()) => Outcome::Passed,
                Err(reason) => Outcome::Failed(reason),
            },
        };
        let over = Done { name: step.name, took: started.elapsed(), outcome };
        output::line(&row(&over));
        done.push(over);
    }
    done
}

/// The first needed step that did not pass. A step left out by `--only` does not block.
fn blocked_by(needs: &[&'static str], done: &[Done]) -> Option<&'static str> {
    let passed = |name: &str| {
        done.iter()
            .find(|over| over.name == name)
            .is_none_or(|over| over.outcome == Outcome::Passed)
    };
    needs.iter().copied().find(|name| !passed(name))
}

/// The table at the end; its last line is `N passed, N failed`, with steps not run as `skipped`.
pub(crate) fn summary(done: &[Done]) -> String {
    let mut lines: Vec<String> = done.iter().map(row).collect();
    let total: Duration = done.iter().map(|over| over.took).sum();
    lines.push(format!("  {:<12} {:>8}", "in all", time(total)));
    let count =
        |wanted: fn(&Outcome) -> bool| done.iter().filter(|over| wanted(&over.outcome)).count();
    let blocked = count(|outcome| matches!(outcome, Outcome::Blocked(_)));
    let mut last = format!(
        "{} passed, {} failed",
        count(|outcome| *outcome == Outcome::Passed),
        count(|outcome| matches!(outcome, Outcome::Failed(_)))
    );
    if blocked > 0 {
        last.push_str(&format!(", {blocked} skipped"));
    }
    lines.push(last);
    lines.join("\n")
}

/// True where every step passed, and there was one.
pub(crate) fn all_passed(done: &[Done]) -> bool {
    !done.is_empty() && done.iter().all(|over| over.outcome == Outcome::Passed)
}

fn row(over: &Done) -> String {
    let (mark, note) = match &over.outcome {
        Outcome::Passed => ("✓", String::new()),
        Outcome::Failed(reason) => ("✗", format!("  {reason}")),
        Outcome::Blocked(by) => ("-", format!("  not run: {by} had failed")),
    };
    format!("{mark} {:<12} {:>8}{note}", over.name, time(over.took))
}

/// Minutes and seconds; tenths below ten seconds.
fn time(took: Duration) -> String {
    let seconds = took.as_secs();
    if seconds < 10 {
        format!("{:.1} s", took.as_secs_f64())
    } else if seconds < 60 {
        format!("{seconds} s")
    } else {
        format!("{} min {:02}", seconds / 60, seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(name: &'static str, needs: &'static [&'static str], passes: bool) -> Step<'static> {
        let act = move || if passes { Ok(()) } else { Err("broken".to_owned()) };
        Step { name, says: "", needs, act: Box::new(act) }
    }

    fn outcomes(steps: &[Step<'_>], only: &[&str]) -> Vec<(&'static str, Outcome)> {
        let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
        run(&select(steps, &only).unwrap())
            .into_iter()
            .map(|over| (over.name, over.outcome))
            .collect()
    }

    #[test]
    fn a_failure_blocks_what_needs_it_and_nothing_else() {
        let steps = [
            step("ui", &[], false),
            step("clippy", &[], true),
            step("browser", &["ui"], true),
            step("window", &["browser"], true),
        ];
        assert_eq!(
            outcomes(&steps, &[]),
            [
                ("ui", Outcome::Failed("broken".to_owned())),
                ("clippy", Outcome::Passed),
                ("browser", Outcome::Blocked("ui")),
                ("window", Outcome::Blocked("browser")),
            ]
        );
    }

    #[test]
    fn only_runs_the_named_steps_and_refuses_unknown_ones() {
        let steps = [step("ui", &[], false), step("browser", &["ui"], true)];
        assert_eq!(outcomes(&steps, &["browser"]), [("browser", Outcome::Passed)]);
        let error = select(&steps, &["browsr".to_owned()]).err().unwrap();
        assert_eq!(error, "no step browsr; there are: ui browser");
    }

    #[test]
    fn the_summary_ends_with_the_counts() {
        let done = |name, outcome| Done { name, took: Duration::from_millis(61_400), outcome };
        let all = [
            done("format", Outcome::Passed),
            done("ui", Outcome::Failed("lint".to_owned())),
            done("browser", Outcome::Blocked("ui")),
        ];
        let text = summary(&all);
        assert!(text.contains("✗ ui           1 min 01  lint"), "{text}");
        assert!(text.ends_with("\n1 passed, 1 failed, 1 skipped"), "{text}");
        assert!(!all_passed(&all));
        assert!(summary(&all[..1]).ends_with("\n1 passed, 0 failed"));
        assert!(all_passed(&all[..1]));
        assert!(!all_passed(&[]));
    }

    #[test]
    fn times_are_short() {
        assert_eq!(time(Duration::from_millis(340)), "0.3 s");
        assert_eq!(time(Duration::from_secs(42)), "42 s");
        assert_eq!(time(Duration::from_secs(605)), "10 min 05");
    }
}
