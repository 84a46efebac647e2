//! What follows from a mistake that is told is not told beside it: whoever mends the mistake has mended it too.
//! Nothing is left out but beside an error, so that the verdict stays as it is.

use std::collections::{HashMap, HashSet};

use fhir::{Element, Severity};

use super::Issue;

/// What the mistakes of a document make of others, by the number of an element.
#[derive(Default)]
struct Causes<'t> {
    /// Entries whose address an entry before them has, with the Bundle that they stand in.
    doubled: HashMap<u32, u32>,
    /// The addresses of those.
    addresses: HashSet<&'t str>,
    /// Elements that must have one certain value and have another.
    unequal: HashSet<u32>,
    /// Elements below which a slice is missing, with its name.
    unsliced: HashMap<(u32, String), i64>,
}

/// Leaves out what follows from other issues, and moves what an entry brings upon its Bundle to that entry.
pub(super) fn without(
    mut issues: Vec<Issue>,
    elements: &HashMap<u32, Element<'_>>,
    empty: &HashSet<u32>,
) -> Vec<Issue> {
    let causes = Causes::of(&issues, elements);
    let follows =
        |issue: &Issue| causes.has(issue) || (is_unmet(issue) && empty.contains(&issue.at));
    issues.retain(|issue| !follows(issue));
    for issue in issues.iter_mut().filter(|issue| is_doubled_address(issue)) {
        let here = causes.doubled.iter().filter(|(_, bundle)| **bundle == issue.at);
        if let Some(first) = here.map(|(entry, _)| *entry).min() {
            issue.at = first;
        }
    }
    issues
}

impl<'t> Causes<'t> {
    fn of(issues: &[Issue], elements: &HashMap<u32, Element<'t>>) -> Self {
        let mut causes = Self::default();
        for issue in issues.iter().filter(|issue| issue.severity == Severity::Error) {
            match issue.code {
                "rule-invariant" if is_doubled_address(issue) => {
                    causes.doubled(elements.get(&issue.at).copied());
                }
                "rule-fixed-value" | "rule-pattern" => _ = causes.unequal.insert(issue.at),
                "rule-slice-missing" => {
                    let name = issue.param("element").unwrap_or_default();
                    let name = name.split(':').next().unwrap_or_default().to_owned();
                    *causes.unsliced.entry((issue.at, name)).or_default() +=
                        number(issue, "expected");
                }
                _ => {}
            }
        }
        causes
    }

    fn doubled(&mut self, bundle: Option<Element<'t>>) {
        let Some(bundle) = bundle else { return };
        let mut seen = HashSet::new();
        for entry in bundle.all("entry") {
            let Some(url) = entry.text("fullUrl") else { continue };
            if !seen.insert((url, entry.text("resource.meta.versionId"))) {
                self.doubled.insert(entry.number(), bundle.number());
                self.addresses.insert(url);
            }
        }
    }

    /// Whether an issue follows from one of these.
    fn has(&self, issue: &Issue) -> bool {
        match issue.code {
            "rule-bundle-not-reached" => self.doubled.contains_key(&issue.at),
            // Unless there are too many without the doubled ones too.
            "rule-too-many" => self.doubled.get(&issue.at).is_some_and(|bundle| {
                let doubled = self.doubled.values().filter(|of| *of == bundle).count();
                let others = number(issue, "found") - i64::try_from(doubled).unwrap_or(0);
                others <= number(issue, "expected")
            }),
            "rule-reference-ambiguous" => {
                let reference = issue.param("value").unwrap_or_default();
                self.addresses.iter().any(|url| url.ends_with(reference))
            }
            // One certain value is demanded: which others there are does not help.
            "rule-code-not-in-value-set" => self.unequal.contains(&issue.at),
            // The slices that are missing say more exactly what is missing.
            "rule-missing" if number(issue, "found") == 0 => {
                let name = issue.param("element").unwrap_or_default().to_owned();
                let told = self.unsliced.get(&(issue.at, name));
                told.is_some_and(|slices| *slices >= number(issue, "expected"))
            }
            _ => false,
        }
    }
}

/// Whether it says that two entries have one address.
fn is_doubled_address(issue: &Issue) -> bool {
    issue.code == "rule-invariant" && issue.param("rule") == Some("bdl-7")
}

/// Whether it says that something is not there, as it is where an element is empty.
fn is_unmet(issue: &Issue) -> bool {
    matches!(issue.code, "rule-missing" | "rule-slice-missing" | "rule-invariant")
}

fn number(issue: &Issue, name: &str) -> i64 {
    issue.param(name).and_then(|number| number.parse().ok()).unwrap_or(0)
}
