//! What an element that is in no slice was meant for: the slice that it comes nearest to says what
//! is wrong with it, and no other one does.

use std::rc::Rc;

use fhir::{Element, Severity};

use super::{About, Issue, Run, error, has_errors};
use crate::matcher::{Matcher, Step, Test};
use crate::profile::Profile;

/// The elements of one name, and the slice that each is in, by its place among the slices.
#[derive(Clone, Copy)]
pub(super) struct Dealt<'d, 't> {
    pub(super) elements: &'d [Element<'t>],
    pub(super) slices: &'d [Option<usize>],
}

impl<'t> Dealt<'_, 't> {
    fn count(&self, slice: usize) -> usize {
        self.slices.iter().filter(|of| **of == Some(slice)).count()
    }

    /// The elements in no slice, with their places.
    fn free(&self) -> impl Iterator<Item = (usize, Element<'t>)> {
        let all = self.elements.iter().zip(self.slices).enumerate();
        all.filter(|(_, (_, slice))| slice.is_none()).map(|(at, (element, _))| (at, *element))
    }
}

/// An element in no slice, the slice that it was meant for, and why it is not in that.
#[derive(Clone)]
pub(super) struct Meant {
    pub(super) element: usize,
    pub(super) slice: usize,
    pub(super) reasons: Rc<Vec<Issue>>,
}

impl<'t> Run<'t> {
    /// Deals elements in no slice to slices by profile that have room for them, the nearest first.
    /// Where other elements may stand beside the slices, a slice has room only as long as it has
    /// too few.
    pub(super) fn meant_for(
        &self,
        dealt: Dealt<'_, 't>,
        profile: &'t Profile,
        sliced: u32,
        is_closed: bool,
    ) -> Vec<Meant> {
        let slices = &profile.node(sliced).slices;
        let (mut room, mut owed) = (Vec::new(), Vec::new());
        let mut possible = Vec::new();
        for (slice, at) in slices.iter().enumerate() {
            let (node, count) = (profile.node(*at), dealt.count(slice));
            owed.push((node.min as usize).saturating_sub(count));
            let most = if is_closed { node.max } else { node.min } as usize;
            room.push(most.saturating_sub(count));
            if room[slice] == 0 {
                continue;
            }
            for (element, of) in dealt.free() {
                if let Some((errors, reasons)) = self.nearest(of, profile, &[*at]) {
                    let meant = Meant { element, slice, reasons };
                    possible.push((errors, meant));
                }
            }
        }
        possible.sort_by_key(|(errors, _)| *errors);
        let mut taken = vec![false; dealt.elements.len()];
        let mut all = Vec::new();
        // Of equally near ones, a slice that has too few comes first.
        for alike in possible.chunk_by(|(one, _), (other, _)| one == other) {
            for wants in [true, false] {
                for (_, meant) in alike {
                    let has_room = if wants { owed[meant.slice] } else { room[meant.slice] } > 0;
                    if has_room && !taken[meant.element] {
                        taken[meant.element] = true;
                        room[meant.slice] -= 1;
                        owed[meant.slice] = owed[meant.slice].saturating_sub(1);
                        all.push(meant.clone());
                    }
                }
            }
        }
        all
    }

    /// An element that is in no slice although it must be in one, and is meant for none that has
    /// room.
    pub(super) fn in_no_slice(
        &self,
        element: Element<'t>,
        profile: &'t Profile,
        sliced: u32,
        issues: &mut Vec<Issue>,
    ) {
        let node = profile.node(sliced);
        if let Some((_, reasons)) = self.nearest(element, profile, &node.slices) {
            issues.extend(reasons.iter().cloned());
            return;
        }
        if let Some(slice) = self.nearest_by_value(element, profile, &node.slices) {
            let mut found = Vec::new();
            self.element(element, profile, slice, &mut found);
            if has_errors(&found) {
                return issues.append(&mut found);
            }
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

    /// The slice that an element is by its values, where only parts stand in it that must not or
    /// lack that must be there.
    fn nearest_by_value(
        &self,
        element: Element<'t>,
        profile: &'t Profile,
        slices: &[u32],
    ) -> Option<u32> {
        let differences = |slice: &u32| {
            let Some(Ok(matchers)) = profile.node(*slice).matchers.get() else { return None };
            let (fits, differs): (Vec<&Matcher>, Vec<&Matcher>) =
                matchers.iter().partition(|matcher| self.matches(element, matcher, 0));
            let is_known =
                fits.iter().any(|of| matches!(of.test, Test::Fixed(_) | Test::Pattern(_)));
            let is_part = |of: &&Matcher| matches!(of.test, Test::Exists | Test::Missing);
            (is_known && differs.iter().all(is_part)).then_some((differs.len(), *slice))
        };
        let nearest = slices.iter().filter_map(differences).min_by_key(|(count, _)| *count);
        nearest.map(|(_, slice)| slice)
    }

    /// Of slices by profile that an element could have been meant for, the reasons of the nearest
    /// one: fewest errors.
    fn nearest(
        &self,
        element: Element<'t>,
        profile: &'t Profile,
        slices: &[u32],
    ) -> Option<(usize, Rc<Vec<Issue>>)> {
        let mut best: Option<(usize, Rc<Vec<Issue>>)> = None;
        for slice in slices {
            let Some(Ok(matchers)) = profile.node(*slice).matchers.get() else { continue };
            for (at, matcher) in matchers.iter().enumerate() {
                let mut others = matchers.iter().enumerate().filter(|(other, _)| *other != at);
                if !others.all(|(_, other)| self.matches(element, other, 0)) {
                    continue;
                }
                for found in self.reasons(element, matcher) {
                    let of_errors = |issue: &&Issue| issue.severity == Severity::Error;
                    let errors = found.iter().filter(of_errors).count();
                    if best.as_ref().is_none_or(|(least, _)| errors < *least) {
                        best = Some((errors, found));
                    }
                }
            }
        }
        best
    }

    /// Why an element does not conform to the profiles that a slice asks for, as far as its type
    /// fits.
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

/// What an element is told as one of a slice that it may be in only because parts of it are
/// missing.
pub(super) fn for_want_of(of: Element<'_>, matchers: &[Matcher], told: &mut [Issue]) {
    let wanted: Vec<String> = matchers.iter().filter_map(absent).map(str::to_owned).collect();
    for issue in told.iter_mut().filter(|issue| issue.about.is_none() && !wanted.is_empty()) {
        issue.about = Some(About::Without(of.number(), wanted.clone()));
    }
}

/// The part that must not be there.
fn absent(matcher: &Matcher) -> Option<&str> {
    match (&matcher.test, &matcher.steps[..]) {
        (Test::Missing, [Step::Child(name)]) => Some(name),
        _ => None,
    }
}
