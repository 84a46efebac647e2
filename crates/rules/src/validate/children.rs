//! The elements below an element: how many there are, and which slice each belongs to.

use std::rc::Rc;

use fhir::Element;

use super::{Issue, Run, error, has_errors};
use crate::profile::{Named, Profile, UNBOUNDED};
use crate::slicing::{self, Matcher, Test};
use crate::terminology::Mode;

impl<'t> Run<'t> {
    pub(super) fn children(
        &self,
        of: Element<'t>,
        profile: &'t Profile,
        at: u32,
        issues: &mut Vec<Issue>,
    ) {
        let mut children = &profile.node(at).children;
        if children.is_empty() {
            let content = profile.node(at).content.as_deref();
            let Some(content) = content.and_then(|path| profile.content(path)) else { return };
            children = &profile.node(content).children;
        }
        let below: Vec<Named<'t>> = of.children().map(Named::of).collect();
        for child in children {
            let node = profile.node(*child);
            if below.is_empty() && node.min == 0 && node.slices.is_empty() {
                continue;
            }
            let named = below.iter().filter(|child| node.is_named(child));
            let mine: Vec<Element<'t>> = named.map(|child| child.element).collect();
            if mine.is_empty() && node.min == 0 && node.slices.is_empty() {
                continue;
            }
            self.count(of, &mine, profile, *child, issues);
            if node.slices.is_empty() {
                for element in &mine {
                    self.element(*element, profile, *child, issues);
                }
            } else {
                self.slices(of, &mine, profile, *child, issues);
            }
        }
    }

    /// How many there are of an element or of a slice.
    fn count(
        &self,
        owner: Element<'t>,
        mine: &[Element<'t>],
        profile: &'t Profile,
        at: u32,
        issues: &mut Vec<Issue>,
    ) {
        let node = profile.node(at);
        let is_too_few = mine.len() < node.min as usize;
        let is_too_many = node.max != UNBOUNDED && mine.len() > node.max as usize;
        // Asked of every element of every definition: nothing is made where nothing is wrong.
        if !is_too_few && !is_too_many {
            return;
        }
        let name = if node.is_choice { format!("{}[x]", node.name) } else { node.name.clone() };
        let name = match &node.slice {
            Some(slice) => format!("{name}:{slice}"),
            None => name,
        };
        let found = mine.len().to_string();
        if is_too_few {
            let code = if node.slice.is_some() { "rule-slice-missing" } else { "rule-missing" };
            let min = node.min.to_string();
            let mut params = vec![
                ("element", &*name),
                ("expected", &*min),
                ("found", &*found),
                ("profile", &*profile.url),
            ];
            // What a slice of plain values is, is one value.
            let told = node.fixed.as_ref().or(node.pattern.as_ref());
            let value = told.and_then(|told| told.value.as_str());
            params.extend(value.filter(|_| node.slice.is_some()).map(|value| ("value", value)));
            error(issues, owner, code, &params);
        }
        if is_too_many {
            let max = node.max.to_string();
            let params = [
                ("element", &*name),
                ("expected", &*max),
                ("found", &*found),
                ("profile", &*profile.url),
            ];
            error(issues, mine[node.max as usize], "rule-too-many", &params);
        }
    }

    /// Deals elements out to the slices of `sliced` and looks at each as its slice says.
    fn slices(
        &self,
        owner: Element<'t>,
        mine: &[Element<'t>],
        profile: &'t Profile,
        sliced: u32,
        issues: &mut Vec<Issue>,
    ) {
        let node = profile.node(sliced);
        let mut dealt: Vec<Option<usize>> = vec![None; mine.len()];
        let mut undecided = Vec::new();
        for (place, slice) in node.slices.iter().enumerate() {
            let compiled = profile
                .node(*slice)
                .matchers
                .get_or_init(|| slicing::compile(self.set, profile, sliced, *slice, place));
            let matchers = match compiled {
                Ok(matchers) => matchers,
                Err(path) => {
                    if !path.is_empty() {
                        undecided.push(*slice);
                        self.not_decided(mine, profile, *slice, path, issues);
                    }
                    continue;
                }
            };
            for (index, element) in mine.iter().enumerate() {
                if !matchers.iter().all(|matcher| self.matches(*element, matcher, index)) {
                    continue;
                }
                match dealt[index] {
                    None => dealt[index] = Some(place),
                    // Of a choice, HL7's validator takes the last slice that fits.
                    Some(_) if node.is_choice => dealt[index] = Some(place),
                    Some(other) => {
                        let name = |place: usize| {
                            profile.node(node.slices[place]).slice.as_deref().unwrap_or_default()
                        };
                        let params = [("expected", name(other)), ("found", name(place))];
                        error(issues, *element, "rule-slice-several", &params);
                    }
                }
            }
        }
        self.order(mine, &dealt, profile, sliced, issues);
        for (place, slice) in node.slices.iter().enumerate() {
            let of_slice: Vec<Element<'t>> = mine
                .iter()
                .zip(&dealt)
                .filter(|(_, of)| **of == Some(place))
                .map(|(e, _)| *e)
                .collect();
            if !undecided.contains(slice) {
                self.count_slice(owner, mine, &dealt, &of_slice, profile, *slice, issues);
            }
            for element in &of_slice {
                self.element(*element, profile, *slice, issues);
                // What is said of all repetitions holds for those of a slice too, which need not repeat it.
                if node.slice.is_none() {
                    self.element(*element, profile, sliced, issues);
                }
            }
            if !profile.node(*slice).slices.is_empty() {
                self.slices(owner, &of_slice, profile, *slice, issues);
            }
        }
        let is_closed = node.slicing.as_ref().is_some_and(|slicing| slicing.rules == "closed");
        for (element, _) in mine.iter().zip(&dealt).filter(|(_, of)| of.is_none()) {
            if is_closed && undecided.is_empty() && node.slice.is_none() {
                self.in_no_slice(*element, profile, sliced, issues);
            } else if node.slice.is_none() {
                self.element(*element, profile, sliced, issues);
            } else if is_closed {
                self.in_no_slice(*element, profile, sliced, issues);
            }
        }
    }

    /// Nobody can tell whether an element belongs to the slice: each of them is in doubt.
    fn not_decided(
        &self,
        mine: &[Element<'t>],
        profile: &'t Profile,
        slice: u32,
        path: &str,
        issues: &mut Vec<Issue>,
    ) {
        let name = profile.node(slice).slice.as_deref().unwrap_or_default();
        let params = [("element", name), ("value", path), ("profile", &*profile.url)];
        for element in mine {
            error(issues, *element, "rule-slicing-not-decided", &params);
        }
    }

    fn in_no_slice(
        &self,
        element: Element<'t>,
        profile: &'t Profile,
        sliced: u32,
        issues: &mut Vec<Issue>,
    ) {
        let node = profile.node(sliced);
        if let Some(reasons) = self.nearest(&[element], profile, &node.slices) {
            issues.extend(reasons.iter().cloned());
            return;
        }
        let names: Vec<&str> =
            node.slices.iter().filter_map(|at| profile.node(*at).slice.as_deref()).collect();
        let params = [
            ("element", element.name()),
            ("expected", &names.join(", ")),
            ("profile", &profile.url),
        ];
        error(issues, element, "rule-slice-unknown", &params);
    }

    /// The number of a slice; where one is missing for want of a profile, the nearest candidate says why.
    #[allow(
        clippy::too_many_arguments,
        reason = "one slice, its elements, and all elements around it"
    )]
    fn count_slice(
        &self,
        owner: Element<'t>,
        mine: &[Element<'t>],
        dealt: &[Option<usize>],
        of_slice: &[Element<'t>],
        profile: &'t Profile,
        slice: u32,
        issues: &mut Vec<Issue>,
    ) {
        if of_slice.len() < profile.node(slice).min as usize {
            let free: Vec<Element<'t>> =
                mine.iter().zip(dealt).filter(|(_, of)| of.is_none()).map(|(e, _)| *e).collect();
            if let Some(reasons) = self.nearest(&free, profile, &[slice]) {
                issues.extend(reasons.iter().cloned());
                return;
            }
        }
        self.count(owner, of_slice, profile, slice, issues);
    }

    /// Slices in their order, and what is in none at the end, where that is asked.
    fn order(
        &self,
        mine: &[Element<'t>],
        dealt: &[Option<usize>],
        profile: &'t Profile,
        sliced: u32,
        issues: &mut Vec<Issue>,
    ) {
        let Some(slicing) = &profile.node(sliced).slicing else { return };
        let mut furthest = 0;
        let mut free_before = false;
        for (element, place) in mine.iter().zip(dealt) {
            let Some(place) = *place else {
                // Behind what is in no slice the order begins anew.
                free_before = true;
                furthest = 0;
                continue;
            };
            let out_of_order = slicing.ordered && place < furthest;
            // HL7's validator does not look whether what is in no slice stands at the end.
            let is_late = self.mode == Mode::Strict && slicing.rules == "openAtEnd" && free_before;
            if out_of_order || is_late {
                let slice = profile.node(profile.node(sliced).slices[place]).slice.as_deref();
                let params = [("element", slice.unwrap_or_default()), ("profile", &*profile.url)];
                error(issues, *element, "rule-slice-order", &params);
            }
            furthest = furthest.max(place);
        }
    }

    /// Of elements that could have been meant for slices by profile, the reasons of the one that comes
    /// nearest: fewest errors.
    fn nearest(
        &self,
        free: &[Element<'t>],
        profile: &'t Profile,
        slices: &[u32],
    ) -> Option<Rc<Vec<Issue>>> {
        let mut best: Option<(usize, Rc<Vec<Issue>>)> = None;
        for slice in slices {
            let Some(Ok(matchers)) = profile.node(*slice).matchers.get() else { continue };
            for element in free {
                for (at, matcher) in matchers.iter().enumerate() {
                    let others = matchers.iter().enumerate().filter(|(other, _)| *other != at);
                    if !others.into_iter().all(|(_, other)| self.matches(*element, other, 0)) {
                        continue;
                    }
                    for found in self.reasons(*element, matcher) {
                        let errors = found
                            .iter()
                            .filter(|issue| issue.severity == fhir::Severity::Error)
                            .count();
                        if best.as_ref().is_none_or(|(least, _)| errors < *least) {
                            best = Some((errors, found));
                        }
                    }
                }
            }
        }
        best.map(|(_, found)| found)
    }

    /// Why an element does not conform to the profiles that a slice asks for, as far as its type fits.
    fn reasons(&self, element: Element<'t>, matcher: &'t Matcher) -> Vec<Rc<Vec<Issue>>> {
        let Test::Profile(urls, package) = &matcher.test else { return Vec::new() };
        let mut all = Vec::new();
        for place in self.places(element, &matcher.steps) {
            for url in urls {
                let Some(profile) = self.set.profile(url, *package) else { continue };
                if place.is_of(&profile.type_name) {
                    let found = self.conform(place, profile);
                    if has_errors(&found) {
                        all.push(found);
                    }
                }
            }
        }
        all
    }
}
