//! The elements below an element: how many there are, and which slice each belongs to.

use fhir::{Element, TypeDefinition};

use super::meant::{self, Dealt};
use super::{About, Issue, Run, error};
use crate::profile::{Named, Profile, UNBOUNDED};
use crate::slicing;
use crate::terminology::Mode;

impl<'t> Run<'t> {
    pub(super) fn children(
        &self,
        of: Element<'t>,
        profile: &'t Profile,
        at: u32,
        issues: &mut Vec<Issue>,
    ) {
        let (profile, at) = if profile.node(at).children.is_empty() {
            let Some(content) = self.set.content_of(profile, at) else { return };
            content
        } else {
            (profile, at)
        };
        let children = &profile.node(at).children;
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
                    if !(path.is_empty() || mine.is_empty()) {
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
        let dealt = Dealt { elements: mine, slices: &dealt };
        let is_closed = node.slicing.as_ref().is_some_and(|slicing| slicing.rules == "closed");
        let is_closed = is_closed && (undecided.is_empty() || node.slice.is_some());
        let meant = self.meant_for(dealt, profile, sliced, is_closed);
        for (place, slice) in node.slices.iter().enumerate() {
            let mine = mine.iter().zip(dealt.slices);
            let of_slice: Vec<Element<'t>> =
                mine.filter(|(_, of)| **of == Some(place)).map(|(element, _)| *element).collect();
            if !undecided.contains(slice) {
                let reasons = meant.iter().filter(|of| of.slice == place).map(|of| &*of.reasons);
                self.count_slice(owner, &of_slice, reasons, profile, *slice, issues);
            }
            self.in_slice(&of_slice, profile, sliced, *slice, issues);
            if !profile.node(*slice).slices.is_empty() {
                self.slices(owner, &of_slice, profile, *slice, issues);
            }
        }
        for (at, element) in mine.iter().enumerate().filter(|(at, _)| dealt.slices[*at].is_none()) {
            if !is_closed && node.slice.is_none() {
                self.element(*element, profile, sliced, issues);
            } else if is_closed && !meant.iter().any(|of| of.element == at) {
                self.in_no_slice(*element, profile, sliced, issues);
            }
        }
    }

    /// The elements of a slice, each as its slice says.
    fn in_slice(
        &self,
        of_slice: &[Element<'t>],
        profile: &'t Profile,
        sliced: u32,
        slice: u32,
        issues: &mut Vec<Issue>,
    ) {
        let matchers = profile.node(slice).matchers.get().and_then(|made| made.as_ref().ok());
        for element in of_slice {
            let before = issues.len();
            self.element(*element, profile, slice, issues);
            meant::for_want_of(*element, matchers.map_or(&[], |all| all), &mut issues[before..]);
            // What is said of all repetitions holds for those of a slice too, which need not repeat
            // it.
            if profile.node(sliced).slice.is_none() {
                self.element(*element, profile, sliced, issues);
            }
        }
    }

    /// Nobody can tell whether an element belongs to the slice: each of them is in doubt. Where
    /// there is none, the slice is missing, if it must be there.
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

    /// The number of a slice, with what is meant for it and why that is not in it.
    fn count_slice<'m>(
        &self,
        owner: Element<'t>,
        of_slice: &[Element<'t>],
        reasons: impl Iterator<Item = &'m Vec<Issue>>,
        profile: &'t Profile,
        slice: u32,
        issues: &mut Vec<Issue>,
    ) {
        let mut meant = 0;
        for reasons in reasons {
            issues.extend(reasons.iter().cloned());
            meant += 1;
        }
        let node = profile.node(slice);
        if meant > 0 && of_slice.len() + meant >= node.min as usize {
            return;
        }
        let before = issues.len();
        self.count(owner, of_slice, profile, slice, issues);
        let types = types_of(profile, slice).filter(|_| owner.is_of("Bundle"));
        for told in issues[before..].iter_mut().filter(|of| of.code == "rule-slice-missing") {
            told.about = types.clone().map(About::Types);
        }
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
}

/// The types of the resources that a slice of entries holds.
fn types_of(profile: &Profile, slice: u32) -> Option<Vec<&'static str>> {
    let resource = profile.child(slice, "resource")?;
    let types =
        profile.node(resource).types.iter().filter_map(|of| TypeDefinition::named(&of.code));
    let types: Vec<&str> =
        types.filter(|of| !of.is_abstract_resource()).map(TypeDefinition::name).collect();
    (!types.is_empty()).then_some(types)
}
