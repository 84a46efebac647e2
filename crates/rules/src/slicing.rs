//! How a slice recognises its elements: each discriminator becomes a path into the document and a
//! test of what stands there, both taken from the definitions once.

mod told;

use serde_json::Value;

use crate::definition::Typed;
use crate::matcher::{Matcher, Step, Test};
use crate::profile::Profile;
use crate::set::RuleSet;

/// Where a path leads in the definitions.
struct Place<'s> {
    profile: &'s Profile,
    node: u32,
    /// What a pattern or fixed value further up says of this place.
    inherited: Option<(Value, bool)>,
}

/// Compiles the discriminators of a slice. `Err` names the discriminator that nothing in the slice
/// decides.
pub(crate) fn compile(
    set: &RuleSet,
    profile: &Profile,
    sliced: u32,
    slice: u32,
    place: usize,
) -> Result<Vec<Matcher>, String> {
    let slicing = profile.node(sliced).slicing.as_ref();
    let discriminators = slicing.map(|slicing| &slicing.discriminators[..]).unwrap_or_default();
    if discriminators.is_empty() {
        return Err(String::new());
    }
    let mut matchers = Vec::with_capacity(discriminators.len());
    let mut is_decided = false;
    for discriminator in discriminators {
        let steps = steps(&discriminator.path).ok_or_else(|| discriminator.path.clone())?;
        let kind = discriminator.kind.as_str();
        let test = if kind == "position" {
            Some(position(profile, sliced, place, discriminators.len()))
        } else {
            let tests: Vec<Test> = places(set, profile, slice, &steps, kind)
                .iter()
                .filter_map(|place| test(kind, place, &steps))
                .collect();
            one_of(tests).or_else(|| by_url(profile, slice, &steps))
        };
        match test {
            Some(Test::NotAsked) => return Err(discriminator.path.clone()),
            Some(test) => matchers.push(Matcher { steps, test }),
            // Without a profile every element has it.
            None if kind == "profile" => is_decided = true,
            None if kind == "exists" => return Err(discriminator.path.clone()),
            // Another discriminator may decide.
            None => {}
        }
    }
    if matchers.is_empty() && !is_decided {
        let paths: Vec<&str> = discriminators.iter().map(|of| &*of.path).collect();
        return Err(paths.join(", "));
    }
    Ok(matchers)
}

/// The places of a slice by position: behind all slices before it, each of which has a certain
/// number.
fn position(profile: &Profile, sliced: u32, place: usize, discriminators: usize) -> Test {
    let slices = &profile.node(sliced).slices;
    let before = slices.iter().take(place).map(|at| profile.node(*at));
    let mut start = 0;
    for slice in before {
        if slice.min != slice.max {
            return Test::NotAsked;
        }
        start += slice.min as usize;
    }
    let Some(own) = slices.get(place).filter(|_| discriminators == 1) else {
        return Test::NotAsked;
    };
    Test::Position(start..start.saturating_add(profile.node(*own).max as usize))
}

/// An extension whose definition is not at hand is still known by its url.
fn by_url(profile: &Profile, slice: u32, steps: &[Step]) -> Option<Test> {
    let node = profile.node(slice);
    let is_url = matches!(steps, [Step::Child(name)] if name == "url");
    let told = node.types.iter().flat_map(|of| &of.profiles).filter(|_| is_url);
    let tests = told.map(|url| {
        let url = url.split('|').next().unwrap_or_default().to_owned();
        Test::Fixed(Typed { type_name: "uri".to_owned(), value: Value::String(url) })
    });
    one_of(tests.collect())
}

fn one_of(mut tests: Vec<Test>) -> Option<Test> {
    if tests.len() < 2 {
        return tests.pop();
    }
    if tests.iter().all(|test| matches!(test, Test::NotAsked)) {
        return Some(Test::NotAsked);
    }
    tests.retain(|test| !matches!(test, Test::NotAsked));
    // A value says more than a value set, and that more than that something is there: an element
    // that has both its own children and a profile is described twice.
    let rank = |test: &Test| match test {
        Test::Exists | Test::Missing | Test::Forbidden(_) => 0,
        Test::Bound(..) => 1,
        _ => 2,
    };
    let highest = tests.iter().map(rank).max().unwrap_or_default();
    tests.retain(|test| rank(test) == highest);
    if tests.len() < 2 { tests.pop() } else { Some(Test::Any(tests)) }
}

/// Reads a restricted FHIRPath: names, `$this`, `extension('…')`, `ofType(…)`, `resolve()`.
pub(crate) fn steps(path: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = path.trim();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("extension(") {
            let (url, after) = after.split_once(')')?;
            steps.push(Step::Extension(url.trim_matches(['\'', '"', ' ']).to_owned()));
            rest = after;
        } else if let Some(after) = rest.strip_prefix("ofType(") {
            let (of, after) = after.split_once(')')?;
            steps.push(Step::OfType(of.trim().trim_start_matches("FHIR.").to_owned()));
            rest = after;
        } else if let Some(after) = rest.strip_prefix("resolve()") {
            steps.push(Step::Resolve);
            rest = after;
        } else {
            let end = rest.find('.').unwrap_or(rest.len());
            let name = rest[..end].trim_end_matches("[x]");
            if name.contains(['(', ' ']) {
                return None;
            }
            if name != "$this" {
                steps.push(Step::Child(name.to_owned()));
            }
            rest = &rest[end..];
        }
        rest = rest.strip_prefix('.').unwrap_or(rest);
    }
    Some(steps)
}

/// All places of the definitions that a path leads to.
fn places<'s>(
    set: &'s RuleSet,
    profile: &'s Profile,
    slice: u32,
    steps: &[Step],
    kind: &str,
) -> Vec<Place<'s>> {
    let mut places = vec![Place { profile, node: slice, inherited: None }];
    for (at, step) in steps.iter().enumerate() {
        let is_last = at + 1 == steps.len();
        // The profile of what a reference points to stands at the reference itself.
        if *step == Step::Resolve && is_last && kind == "profile" {
            break;
        }
        let next = places.iter().flat_map(|place| below(set, place, step)).collect();
        places = next;
    }
    if kind != "profile" {
        let own: Vec<Place<'s>> =
            places.iter().flat_map(|place| through_profiles(set, place)).collect();
        places.extend(own);
    }
    places
}

/// The roots of the profiles that the type of a place names.
fn through_profiles<'s>(set: &'s RuleSet, place: &Place<'s>) -> Vec<Place<'s>> {
    let node = place.profile.node(place.node);
    let profiles = node.types.iter().flat_map(|of| &of.profiles);
    profiles
        .filter_map(|url| set.profile(url, place.profile.package))
        .map(|profile| Place { profile, node: 0, inherited: None })
        .collect()
}

fn below<'s>(set: &'s RuleSet, place: &Place<'s>, step: &Step) -> Vec<Place<'s>> {
    let node = place.profile.node(place.node);
    match step {
        Step::OfType(_) => vec![Place { inherited: place.inherited.clone(), ..*place }],
        Step::Resolve => {
            let targets = node.types.iter().flat_map(|of| &of.targets);
            let found = targets.filter_map(|url| set.profile(url, place.profile.package));
            found.map(|profile| Place { profile, node: 0, inherited: None }).collect()
        }
        Step::Child(name) => {
            let found = children(set, place, name);
            found.into_iter().map(|place| Place { node: told_apart(&place), ..place }).collect()
        }
        Step::Extension(url) => {
            let mut found = Vec::new();
            for place in children(set, place, "extension") {
                let mut slices = Vec::new();
                with_inner(place.profile, place.node, &mut slices);
                let mine =
                    slices.into_iter().filter(|of| is_extension(set, place.profile, *of, url));
                found.extend(mine.map(|node| Place { node, inherited: None, ..place }));
            }
            if found.is_empty() {
                let profile = set.profile(url, place.profile.package);
                found.extend(profile.map(|profile| Place { profile, node: 0, inherited: None }));
            }
            found
        }
    }
}

/// The slices of an element, and their own slices.
fn with_inner(profile: &Profile, of: u32, slices: &mut Vec<u32>) {
    for slice in &profile.node(of).slices {
        slices.push(*slice);
        with_inner(profile, *slice, slices);
    }
}

/// The child of this name, in the definition itself, in the profiles of its type, or in the type.
fn children<'s>(set: &'s RuleSet, place: &Place<'s>, name: &str) -> Vec<Place<'s>> {
    let profile = place.profile;
    let node = profile.node(place.node);
    let inherited = inherited(place, name);
    let mut found = Vec::new();
    if let Some(child) = profile.child(place.node, name) {
        found.push(Place { profile, node: child, inherited: inherited.clone() });
    }
    if let Some((profile, content)) = set.content_of(profile, place.node) {
        let child = profile.child(content, name);
        found.extend(child.map(|node| Place { profile, node, inherited: inherited.clone() }));
    }
    for of in &node.types {
        for url in &of.profiles {
            let Some(profile) = set.profile(url, place.profile.package) else { continue };
            let child = profile.child(0, name);
            found.extend(child.map(|node| Place { profile, node, inherited: inherited.clone() }));
        }
    }
    if found.is_empty() {
        for of in &node.types {
            let Some(profile) = set.type_profile(&of.code) else { continue };
            let child = profile.child(0, name);
            found.extend(child.map(|node| Place { profile, node, inherited: inherited.clone() }));
        }
    }
    found
}

/// Where an element is sliced itself, its first slice says what stands there: the sliced element
/// says nothing of its own.
fn told_apart(place: &Place<'_>) -> u32 {
    let node = place.profile.node(place.node);
    let is_told = node.fixed.is_some() || node.pattern.is_some() || place.inherited.is_some();
    let first = node.slices.first().filter(|_| node.slicing.is_some() && !is_told);
    first.copied().unwrap_or(place.node)
}

/// What a pattern or a fixed value says of a part of it.
fn inherited(place: &Place<'_>, name: &str) -> Option<(Value, bool)> {
    let node = place.profile.node(place.node);
    let own = match (&node.fixed, &node.pattern) {
        (Some(fixed), _) => Some((fixed.value.clone(), true)),
        (None, Some(pattern)) => Some((pattern.value.clone(), false)),
        (None, None) => place.inherited.clone(),
    };
    let (value, is_fixed) = own?;
    let value = match value {
        Value::Array(items) => items.into_iter().find_map(|item| item.get(name).cloned()),
        other => other.get(name).cloned(),
    };
    Some((value?, is_fixed))
}

fn is_extension(set: &RuleSet, profile: &Profile, slice: u32, url: &str) -> bool {
    let told = profile.child(slice, "url").and_then(|at| profile.node(at).fixed.as_ref());
    let by_profile = profile.node(slice).types.iter().flat_map(|of| &of.profiles).any(|of| {
        let of_url = of.split('|').next().unwrap_or_default();
        of_url == url || set.profile(of, profile.package).is_some_and(|of| of.url == url)
    });
    by_profile || told.is_some_and(|told| told.value.as_str() == Some(url))
}

/// The test that a discriminator of this kind makes of a place.
fn test(kind: &str, place: &Place<'_>, steps: &[Step]) -> Option<Test> {
    match place.profile.node(place.node).max {
        // The element itself, which is there.
        0 if steps.is_empty() => Some(Test::Forbidden(told(kind, place, steps).map(Box::new))),
        0 => Some(Test::Missing),
        _ => told(kind, place, steps),
    }
}

/// What the definitions say of a place, whatever its number.
fn told(kind: &str, place: &Place<'_>, steps: &[Step]) -> Option<Test> {
    let node = place.profile.node(place.node);
    let package = place.profile.package;
    match kind {
        "value" | "pattern" => {
            if let Some(fixed) = &node.fixed {
                return Some(told::of_fixed(fixed));
            }
            if let Some(pattern) = &node.pattern {
                return Some(told::of_pattern(pattern));
            }
            if let Some((value, _)) = &place.inherited {
                return Some(Test::Pattern(value.clone()));
            }
            let binding = node.binding.as_ref().filter(|of| of.strength == "required");
            let binding = binding.filter(|of| of.value_set.is_some());
            binding.map(|binding| Test::Bound(binding.clone(), package))
        }
        "exists" => (node.min >= 1).then_some(Test::Exists),
        "type" => {
            let told = steps.last().and_then(|step| match step {
                Step::OfType(of) => Some(vec![of.clone()]),
                _ => None,
            });
            // Behind `resolve()` and `resource` the place is the root of a profile.
            let own = if node.types.is_empty() {
                vec![place.profile.type_name.clone()]
            } else {
                node.types.iter().map(|of| of.code.clone()).collect()
            };
            Some(Test::Type(told.unwrap_or(own)))
        }
        "profile" => {
            let through_reference = steps.last() == Some(&Step::Resolve);
            let of = node.types.iter();
            let urls: Vec<String> = if through_reference {
                of.flat_map(|of| of.targets.iter().cloned()).collect()
            } else {
                of.flat_map(|of| of.profiles.iter().cloned()).collect()
            };
            (!urls.is_empty()).then_some(Test::Profile(urls, package))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_discriminators_are_read() {
        let child = |name: &str| Step::Child(name.to_owned());
        assert_eq!(steps("$this"), Some(vec![]));
        assert_eq!(steps("code.coding"), Some(vec![child("code"), child("coding")]));
        assert_eq!(steps("$this.resolve()"), Some(vec![Step::Resolve]));
        assert_eq!(
            steps("extension('http://a.b/c').value.ofType(Coding).code"),
            Some(vec![
                Step::Extension("http://a.b/c".to_owned()),
                child("value"),
                Step::OfType("Coding".to_owned()),
                child("code"),
            ])
        );
        assert_eq!(steps("code.where(true)"), None);
    }
}
