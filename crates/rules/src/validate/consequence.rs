//! What follows from a mistake that is told is not told beside it: whoever mends the mistake has
//! mended it too. Nothing is left out but beside an error, so that the verdict stays as it is.

use std::collections::{HashMap, HashSet};

use fhir::{Element, Severity};

use super::documents::Documents;
use super::{About, Issue};

/// What the mistakes of a document make of others, by the number of an element.
#[derive(Default)]
struct Causes<'t> {
    /// Entries whose address an entry before them has.
    doubled: Vec<Doubled>,
    /// Their places among those, by the number of the entry.
    places: HashMap<u32, usize>,
    /// How many of a Bundle repeat a resource of one type.
    repetitions: HashMap<(u32, String), usize>,
    /// The Bundles that they are in.
    bundles: HashSet<u32>,
    /// The addresses of those, whole and by type and id alone.
    addresses: HashSet<&'t str>,
    /// Primitives that must have one certain value and have another.
    unequal: HashSet<u32>,
    /// Slices that are missing below an element in one profile, by its name: how many.
    unsliced: HashMap<(u32, String), HashMap<String, i64>>,
    /// What stands too often, whatever its slice: at most how many, and how many there are.
    crowded: HashMap<(u32, String), (i64, i64)>,
    /// Parts that an element lacks, by their names.
    lacking: HashSet<(u32, String)>,
    documents: Documents,
}

/// Invariants that hold as soon as one of these parts is there.
const ANY_OF: &[(&str, &[&str])] = &[("cmp-1", &["entry", "section", "text"])];

struct Doubled {
    entry: u32,
    bundle: u32,
    /// The type of its resource, where it is the entry before it once more: then it is to be taken
    /// out, and with it goes what is said of it.
    repeats: Option<String>,
}

/// Leaves out what follows from other issues, and moves what an entry brings upon its Bundle to
/// that entry.
pub(super) fn without(
    issues: Vec<Issue>,
    elements: &HashMap<u32, Element<'_>>,
    empty: &HashSet<u32>,
) -> Vec<Issue> {
    let mut causes = Causes::of(&issues, elements);
    let mut left = Vec::with_capacity(issues.len());
    for issue in issues {
        let element = elements.get(&issue.at).copied();
        let follows = causes.has(&issue)
            || causes.documents.explain(&issue, element)
            || (is_absence(&issue) && empty.contains(&issue.at));
        if is_doubled_address(&issue) && causes.bundles.contains(&issue.at) {
            let here = causes.doubled.iter().filter(|of| of.bundle == issue.at);
            left.extend(here.map(|of| Issue { at: of.entry, ..issue.clone() }));
        } else if !follows {
            left.push(issue);
        }
    }
    left
}

impl<'t> Causes<'t> {
    fn of(issues: &[Issue], elements: &HashMap<u32, Element<'t>>) -> Self {
        let mut causes = Self::default();
        for issue in issues.iter().filter(|issue| issue.severity == Severity::Error) {
            let element = elements.get(&issue.at).copied();
            causes.documents.add(issue, element);
            match issue.code {
                "rule-missing" if !matches!(issue.about, Some(About::Without(..))) => {
                    causes.lacking.insert((issue.at, name_of(issue)));
                }
                "rule-invariant" if is_doubled_address(issue) => causes.find_doubled(element),
                "rule-fixed-value" if element.is_some_and(|of| of.value().is_some()) => {
                    causes.unequal.insert(issue.at);
                }
                "rule-slice-missing" => {
                    let profile = issue.param("profile").unwrap_or_default().to_owned();
                    let missing = causes.unsliced.entry((issue.at, name_of(issue))).or_default();
                    *missing.entry(profile).or_default() += number(issue, "expected");
                }
                "rule-too-many" if !is_of_slice(issue) => {
                    let counts = (number(issue, "expected"), number(issue, "found"));
                    causes.crowded.insert((issue.at, name_of(issue)), counts);
                }
                _ => {}
            }
        }
        causes
    }

    fn find_doubled(&mut self, bundle: Option<Element<'t>>) {
        let Some(bundle) = bundle else { return };
        let mut seen: HashMap<_, Element<'t>> = HashMap::new();
        for entry in bundle.all("entry") {
            let Some(url) = entry.text("fullUrl") else { continue };
            let Some(first) = seen.get(&(url, entry.text("resource.meta.versionId"))) else {
                seen.insert((url, entry.text("resource.meta.versionId")), entry);
                continue;
            };
            let kind = entry.child("resource").and_then(Element::resource_type);
            let repeats = kind.filter(|_| says_the_same(*first, entry)).map(str::to_owned);
            if let Some(kind) = &repeats {
                let count = self.repetitions.entry((bundle.number(), kind.clone()));
                *count.or_default() += 1;
            }
            self.places.insert(entry.number(), self.doubled.len());
            self.bundles.insert(bundle.number());
            self.doubled.push(Doubled { entry: entry.number(), bundle: bundle.number(), repeats });
            self.addresses.extend([url, tail_of(url)]);
        }
    }

    /// Whether an issue follows from one of these.
    fn has(&self, issue: &Issue) -> bool {
        if let Some(About::Without(of, parts)) = &issue.about {
            let lacks = |part: &String| self.lacking.contains(&(*of, part.clone()));
            if parts.iter().any(lacks) {
                return true;
            }
        }
        match issue.code {
            "rule-invariant" if self.is_met_by_parts(issue) => true,
            "rule-bundle-not-reached" => self.repetition(issue.at).is_some(),
            "rule-too-many" => self.has_crowd(issue),
            "rule-reference-ambiguous" => {
                let reference = issue.param("value").unwrap_or_default();
                self.addresses.contains(reference)
            }
            // One certain value is demanded: which others there are does not help.
            "rule-code-not-in-value-set" => self.unequal.contains(&issue.at),
            // The slices that one profile misses say more exactly what is missing.
            "rule-missing" if number(issue, "found") == 0 => {
                let wanted = number(issue, "expected");
                let told = self.unsliced.get(&(issue.at, name_of(issue)));
                told.is_some_and(|of| of.values().any(|slices| *slices >= wanted))
            }
            _ => false,
        }
    }

    /// Whether an invariant asks for nothing but parts of which one is told to be missing.
    fn is_met_by_parts(&self, issue: &Issue) -> bool {
        let mut met = ANY_OF.iter().filter(|(key, _)| issue.param("rule") == Some(key));
        met.any(|(_, parts)| {
            parts.iter().any(|part| self.lacking.contains(&(issue.at, (*part).to_owned())))
        })
    }

    /// Whether there are not too many without the repetitions, or the same is told of what the
    /// slice is a slice of.
    fn has_crowd(&self, issue: &Issue) -> bool {
        let (most, found) = (number(issue, "expected"), number(issue, "found"));
        if let Some(repeated) = self.repetition(issue.at) {
            let kind = repeated.repeats.clone().unwrap_or_default();
            let repetitions = self.repetitions.get(&(repeated.bundle, kind)).copied();
            return found - i64::try_from(repetitions.unwrap_or(0)).unwrap_or(0) <= most;
        }
        let whole = self.crowded.get(&(issue.at, name_of(issue)));
        is_of_slice(issue) && whole.is_some_and(|(of_all, all)| *all == found && *of_all <= most)
    }

    fn repetition(&self, entry: u32) -> Option<&Doubled> {
        let place = *self.places.get(&entry)?;
        self.doubled.get(place).filter(|of| of.repeats.is_some())
    }
}

/// What a relative reference says of an address: its last two parts.
fn tail_of(url: &str) -> &str {
    let mut ends = url.rmatch_indices('/').map(|(at, _)| at + 1);
    ends.nth(1).map_or(url, |start| &url[start..])
}

/// Whether two elements have the same values in the same places.
fn says_the_same(a: Element<'_>, b: Element<'_>) -> bool {
    let (mut of_a, mut of_b) = (a.children(), b.children());
    let alike = |a: Element<'_>, b: Element<'_>| a.name() == b.name() && says_the_same(a, b);
    a.value() == b.value()
        && loop {
            match (of_a.next(), of_b.next()) {
                (None, None) => break true,
                (Some(a), Some(b)) if alike(a, b) => {}
                _ => break false,
            }
        }
}

/// The name of the element that it is about, without a slice.
fn name_of(issue: &Issue) -> String {
    let name = issue.param("element").unwrap_or_default();
    name.split(':').next().unwrap_or_default().to_owned()
}

fn is_of_slice(issue: &Issue) -> bool {
    issue.param("element").is_some_and(|element| element.contains(':'))
}

/// Whether it says that two entries have one address.
fn is_doubled_address(issue: &Issue) -> bool {
    issue.code == "rule-invariant" && issue.param("rule") == Some("bdl-7")
}

/// Whether it says that something is not there, as it is where an element is empty.
fn is_absence(issue: &Issue) -> bool {
    matches!(issue.code, "rule-missing" | "rule-slice-missing")
}

fn number(issue: &Issue, name: &str) -> i64 {
    issue.param(name).and_then(|number| number.parse().ok()).unwrap_or(0)
}
