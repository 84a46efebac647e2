//! One cause, one line: what several definitions demand of one element is told once, as the
//! strictest says it.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::{Issue, shortened};

/// The cause of an issue: the element, what is wrong with it, and all that is said of it but who
/// demands it and how much of it.
#[derive(PartialEq, Eq, Hash)]
struct Cause {
    at: u32,
    code: &'static str,
    params: Vec<(&'static str, String)>,
    /// What a rule asks, without the white space and the traces that publishers change.
    asked: Option<String>,
}

impl Cause {
    fn of(issue: &Issue) -> Self {
        let is_part = |name: &str| match name {
            "profile" => is_about_profile(issue),
            "expected" if issue.code == "rule-reference-type" => false,
            "expected" | "found" | "value" => !is_count(issue),
            _ => true,
        };
        let part = |(name, value): &(&'static str, String)| {
            let value = match *name {
                "value-set" => before(value, '|'),
                _ => value,
            };
            is_part(name).then(|| (*name, value.to_owned()))
        };
        let params = issue.params.iter().filter_map(part).collect();
        let asked = issue.asked.as_deref().map(plain);
        Self { at: issue.at, code: issue.code, params, asked }
    }
}

/// An expression without what changes nothing of it.
fn plain(expression: &str) -> String {
    let mut left: String = expression.split_whitespace().collect();
    while let Some((start, rest)) = left.split_once(".trace('")
        && let Some((_, end)) = rest.split_once("')")
    {
        left = format!("{start}{end}");
    }
    left
}

/// Where a rule failed, with its key and its text.
type Told = (u32, Vec<(&'static str, String)>);

/// Rules of one key and one text that ask for different things say which: HL7's validator tells
/// each of them.
fn tell_apart(issues: &mut [Issue]) {
    let mut known: HashMap<Told, Vec<usize>> = HashMap::new();
    for (place, issue) in issues.iter().enumerate().filter(|(_, issue)| issue.asked.is_some()) {
        known.entry((issue.at, issue.params.clone())).or_default().push(place);
    }
    for place in known.into_values().filter(|places| places.len() > 1).flatten() {
        let issue = &mut issues[place];
        let asked = issue.asked.clone().unwrap_or_default();
        for (_, text) in issue.params.iter_mut().filter(|(name, _)| *name == "text") {
            *text = shortened(&format!("{text} ({asked})"));
        }
    }
}

fn before(text: &str, end: char) -> &str {
    text.split(end).next().unwrap_or(text)
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
                // What holds for one reason as well as for another follows from neither of them.
                let about = other.about.take().filter(|about| issue.about.as_ref() == Some(about));
                let breaks = other.breaks.take().or_else(|| issue.breaks.clone());
                if issue.code == "rule-reference-type" {
                    both_allow(other, &issue);
                } else if demand(&issue) > demand(other) {
                    *other = issue;
                }
                (other.about, other.breaks) = (about, breaks);
            }
        }
    }
    tell_apart(&mut kept);
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

/// What is told of two that have one cause: an error before a warning, then the one that demands
/// more.
fn demand(issue: &Issue) -> (Reverse<fhir::Severity>, i64) {
    let number = issue.param("expected").and_then(|number| number.parse::<i64>().ok());
    let number = number.filter(|_| is_count(issue)).unwrap_or(0);
    let strictness = if issue.code == "rule-too-many" { -number } else { number };
    (Reverse(issue.severity), strictness)
}

/// Of the types that one definition allows, those that the other one allows too; where there is
/// none, the first keeps its own.
fn both_allow(first: &mut Issue, second: &Issue) {
    let others = second.param("expected").unwrap_or_default();
    let Some((_, own)) = first.params.iter_mut().find(|(name, _)| *name == "expected") else {
        return;
    };
    let both: Vec<&str> =
        own.split(", ").filter(|own| others.split(", ").any(|other| other == *own)).collect();
    if !both.is_empty() {
        *own = both.join(", ");
    }
}
