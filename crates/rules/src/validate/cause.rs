//! One cause, one line: what several definitions demand of one element is told once, as the strictest says it.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::Issue;

/// The cause of an issue: the element, what is wrong with it, and all that is said of it but who demands it and how
/// much of it.
#[derive(PartialEq, Eq, Hash)]
struct Cause {
    at: u32,
    code: &'static str,
    params: Vec<(&'static str, String)>,
}

impl Cause {
    fn of(issue: &Issue) -> Self {
        let (counts, is_of_profile) = (is_count(issue), is_about_profile(issue));
        let is_part = |name: &str| match name {
            "profile" => is_of_profile,
            "expected" | "found" | "value" => !counts,
            _ => true,
        };
        let params = issue.params.iter().filter(|(name, _)| is_part(name)).cloned().collect();
        Self { at: issue.at, code: issue.code, params }
    }
}

/// Each cause once, at the place of the first that tells it.
pub(super) fn once(issues: Vec<Issue>) -> Vec<Issue> {
    let mut places: HashMap<Cause, usize> = HashMap::with_capacity(issues.len());
    let mut kept: Vec<Issue> = Vec::with_capacity(issues.len());
    for issue in issues {
        match places.entry(Cause::of(&issue)) {
            Entry::Vacant(free) => {
                free.insert(kept.len());
                kept.push(issue);
            }
            Entry::Occupied(other) => {
                let other = &mut kept[*other.get()];
                if demand(&issue) > demand(other) {
                    *other = issue;
                }
            }
        }
    }
    kept
}

/// Whether the profile that it names is what it is about, and not only who demands something.
fn is_about_profile(issue: &Issue) -> bool {
    let about = ["rule-profile-unknown", "rule-profile-unusable", "rule-profile-type"];
    about.contains(&issue.code)
}

/// Whether it says how many of something there are.
fn is_count(issue: &Issue) -> bool {
    matches!(issue.code, "rule-missing" | "rule-slice-missing" | "rule-too-many")
}

/// What is told of two that have one cause: an error before a warning, then the one that demands more.
fn demand(issue: &Issue) -> (Reverse<fhir::Severity>, i64) {
    let number = issue.param("expected").and_then(|number| number.parse::<i64>().ok());
    let number = number.filter(|_| is_count(issue)).unwrap_or(0);
    let strictness = if issue.code == "rule-too-many" { -number } else { number };
    (Reverse(issue.severity), strictness)
}
