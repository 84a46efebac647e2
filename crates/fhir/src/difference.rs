//! Where two resources say different things, element by element.

use crate::table::Kind;
use crate::{Element, Tree, canonical};

/// Characters of a value that are given; the beginning shows what it is about.
const VALUE_MAX: usize = 200;

/// One place where two resources differ. Holds values of the report: patient data.
#[derive(Clone, PartialEq, Eq)]
pub struct Difference {
    /// FHIRPath in the later resource, or in the earlier one where the later has no such element.
    pub expression: String,
    /// The same from the nearest resource on, without indices: `Composition.date`.
    pub element: String,
    /// FHIR type of the element.
    pub type_name: String,
    /// Line of the element in the source that `expression` belongs to, from 1.
    pub line: u32,
    /// What the earlier one has; `None` where it has no such element, or one without a value.
    pub before: Option<String>,
    /// What the later one has; `None` where it has no such element, or one without a value.
    pub after: Option<String>,
}

crate::shows_only!(Difference { expression, line });

impl Tree {
    /// Where this resource and a later one differ in what their canonical forms say, at most so
    /// many: first what the later one has, in the order of the table, then what it lacks. An
    /// element that one of them lacks is one difference, whatever it holds.
    pub fn differences(&self, later: &Tree, at_most: usize) -> Vec<Difference> {
        self.root().differences(later.root(), at_most)
    }
}

impl Element<'_> {
    /// The same of an element and a later one, wherever each of them stands.
    pub fn differences(self, later: Element<'_>, at_most: usize) -> Vec<Difference> {
        let mut found = Vec::new();
        pair(self, later, at_most, &mut found);
        found
    }
}

fn pair(before: Element<'_>, after: Element<'_>, at_most: usize, found: &mut Vec<Difference>) {
    if found.len() >= at_most || same(before, after) {
        return;
    }
    if before.resource_type() != after.resource_type() {
        add(after, before.resource_type(), after.resource_type(), at_most, found);
        return;
    }
    if text(before) != text(after) {
        add(after, before.value(), after.value(), at_most, found);
    }
    let (mine, theirs) = (canonical::ordered(before), canonical::ordered(after));
    let mut names: Vec<&str> = Vec::new();
    for child in theirs.iter().chain(&mine) {
        if !names.contains(&child.name()) {
            names.push(child.name());
        }
    }
    for name in names {
        let mine: Vec<_> = mine.iter().copied().filter(|child| child.name() == name).collect();
        let theirs: Vec<_> = theirs.iter().copied().filter(|child| child.name() == name).collect();
        repeats(&mine, &theirs, at_most, found);
    }
}

/// Elements of one name: what is the same at both ends is passed over, the rest is compared one by
/// one.
fn repeats(
    before: &[Element<'_>],
    after: &[Element<'_>],
    at_most: usize,
    found: &mut Vec<Difference>,
) {
    let alike = |(a, b): &(&Element<'_>, &Element<'_>)| same(**a, **b);
    let start = before.iter().zip(after).take_while(alike).count();
    let (before, after) = (&before[start..], &after[start..]);
    let end = before.iter().rev().zip(after.iter().rev()).take_while(alike).count();
    let (before, after) = (&before[..before.len() - end], &after[..after.len() - end]);
    for (index, later) in after.iter().enumerate() {
        match before.get(index) {
            Some(earlier) => pair(*earlier, *later, at_most, found),
            None => add(*later, None, later.value(), at_most, found),
        }
    }
    for earlier in before.iter().skip(after.len()) {
        add(*earlier, earlier.value(), None, at_most, found);
    }
}

fn same(a: Element<'_>, b: Element<'_>) -> bool {
    canonical::digest(a, Vec::new()) == canonical::digest(b, Vec::new())
}

/// The path of an element from the nearest resource on.
fn element_of(of: Element<'_>) -> String {
    let mut names = Vec::new();
    let mut at = Some(of);
    while let Some(element) = at {
        if let Some(resource) = element.resource_type() {
            names.push(resource);
            break;
        }
        names.push(element.name());
        at = element.parent();
    }
    names.reverse();
    names.join(".")
}

fn text(of: Element<'_>) -> Option<String> {
    let is_narrative = of.kind() == Some(Kind::Xhtml);
    of.value().map(
        |value| {
            if is_narrative { canonical::narrative(value) } else { value.to_owned() }
        },
    )
}

fn add(
    of: Element<'_>,
    before: Option<&str>,
    after: Option<&str>,
    at_most: usize,
    found: &mut Vec<Difference>,
) {
    if found.len() >= at_most {
        return;
    }
    let shown = |value: &str| value.chars().take(VALUE_MAX).collect();
    found.push(Difference {
        expression: of.expression(),
        element: element_of(of),
        type_name: of.type_name().to_owned(),
        line: of.position().line,
        before: before.map(shown),
        after: after.map(shown),
    });
}
