//! What stands in the document against a value, a pattern, a bound, or the test of a slice.

use fhir::Element;
use serde_json::Value;

use super::{Issue, Run, bounds, error, has_errors};
use crate::matcher::{Matcher, Step, Test};
use crate::profile::Node;
use crate::terminology::Mode;

impl<'t> Run<'t> {
    /// Fixed and pattern values, bounds and length.
    pub(super) fn values(&self, of: Element<'t>, node: &Node, issues: &mut Vec<Issue>) {
        let found = of.value().unwrap_or_default();
        for (told, is_fixed) in [(&node.fixed, true), (&node.pattern, false)] {
            let Some(told) = told else { continue };
            let is_equal = fits(of, &told.value, is_fixed);
            // HL7's validator lets nothing stand beside a fixed value.
            if is_equal && is_fixed && is_primitive(&told.value) && of.child("extension").is_some()
            {
                let expected = shown(&told.value);
                let params = [("element", of.name()), ("expected", &*expected)];
                error(issues, of, "rule-fixed-extension", &params);
            }
            if !is_equal {
                // The pattern of a primitive has no parts that the value could have beside others.
                let is_exact = is_fixed || !told.value.is_object();
                let code = if is_exact { "rule-fixed-value" } else { "rule-pattern" };
                let expected = shown(&told.value);
                let params = [("element", of.name()), ("expected", &*expected), ("found", found)];
                error(issues, of, code, &params);
            }
        }
        bounds::range(of, node, issues);
        if let Some(bounds) = &node.bounds {
            self.bounds(of, bounds, issues);
        }
        if let Some(max) = node.max_length.filter(|max| *max > 0) {
            let length = found.chars().count() as u64;
            if length > max {
                let (max, length) = (max.to_string(), length.to_string());
                let params = [("element", of.name()), ("expected", &*max), ("found", &*length)];
                error(issues, of, "rule-too-long", &params);
            }
        }
    }

    /// Whether an element belongs to a slice, as far as one discriminator says. `index` is its
    /// place among the elements of its name.
    pub(super) fn matches(&self, of: Element<'t>, matcher: &'t Matcher, index: usize) -> bool {
        if let Test::Position(places) = &matcher.test {
            return places.contains(&index);
        }
        let places = self.places(of, &matcher.steps);
        self.passes(&places, &matcher.test)
    }

    fn passes(&self, places: &[Element<'t>], test: &'t Test) -> bool {
        let any = |passes: &dyn Fn(Element<'t>) -> bool| places.iter().any(|of| passes(*of));
        match test {
            Test::Any(tests) => tests.iter().any(|test| self.passes(places, test)),
            Test::Fixed(told) => any(&|of| fits(of, &told.value, true)),
            Test::Pattern(value) => any(&|of| fits(of, value, false)),
            Test::Bound(binding, package) => {
                let Some(set) = binding.value_set.as_deref() else { return true };
                any(&|of| self.is_member(of, set, *package) == Some(true))
            }
            Test::Exists => !places.is_empty(),
            Test::Missing => places.is_empty(),
            Test::Forbidden(told) => {
                let passes = |told: &'t Test| self.passes(places, told);
                self.mode == Mode::Strict && told.as_deref().is_some_and(passes)
            }
            Test::Type(types) => any(&|of| types.iter().any(|name| of.is_of(name))),
            Test::Profile(urls, package) => any(&|of| {
                urls.iter().any(|url| match self.set.profile(url, *package) {
                    Some(profile) => {
                        of.is_of(&profile.type_name) && !has_errors(&self.conform(of, profile))
                    }
                    None => false,
                })
            }),
            Test::Position(_) | Test::NotAsked => false,
        }
    }

    /// Where a path leads in the document.
    pub(super) fn places(&self, of: Element<'t>, steps: &'t [Step]) -> Vec<Element<'t>> {
        let mut places = vec![of];
        for step in steps {
            let next = places.iter().flat_map(|place| self.step(*place, step)).collect();
            places = next;
        }
        places
    }

    fn step(&self, of: Element<'t>, step: &'t Step) -> Vec<Element<'t>> {
        match step {
            Step::Child(name) => of.children().filter(|child| child.stem() == name).collect(),
            Step::Extension(url) => {
                let is_mine = |child: &Element<'t>| child.text("url") == Some(url);
                of.all("extension").filter(is_mine).collect()
            }
            Step::OfType(name) => {
                if of.is_of(name) {
                    vec![of]
                } else {
                    Vec::new()
                }
            }
            Step::Resolve => {
                let told =
                    if of.type_name() == "Reference" { of.text("reference") } else { of.value() };
                told.and_then(|told| self.resolve(told, of)).into_iter().collect()
            }
        }
    }
}

/// Whether an element is exactly (`is_fixed`) or at least what a value says.
pub(super) fn fits(of: Element<'_>, value: &Value, is_fixed: bool) -> bool {
    match value {
        Value::Object(members) => {
            let all = members.iter().all(|(name, value)| {
                let name = name.strip_prefix('_').unwrap_or(name);
                name == "resourceType" || part_fits(of, name, value, is_fixed)
            });
            let known = |name: &str| members.contains_key(name) || name == "id";
            // What is fixed has nothing beside its values either, unless that is told too.
            let is_bare = |child: &Element<'_>| {
                let told = members.get(child.name());
                let beside = format!("_{}", child.name());
                !told.is_some_and(is_primitive)
                    || child.child("extension").is_none()
                    || members.contains_key(&beside)
            };
            let fits = |child: Element<'_>| known(child.name()) && is_bare(&child);
            all && (!is_fixed || of.children().all(fits))
        }
        Value::Array(items) => items.iter().any(|item| fits(of, item, is_fixed)),
        Value::String(text) => of.value() == Some(text),
        Value::Number(number) => of.value().is_some_and(|found| {
            found == number.to_string() || found.parse::<f64>().ok() == number.as_f64()
        }),
        Value::Bool(flag) => of.value() == Some(if *flag { "true" } else { "false" }),
        Value::Null => true,
    }
}

fn part_fits(of: Element<'_>, name: &str, value: &Value, is_fixed: bool) -> bool {
    let Value::Array(items) = value else {
        return of.child(name).is_some_and(|child| fits(child, value, is_fixed));
    };
    let found: Vec<Element<'_>> = of.all(name).collect();
    if is_fixed {
        let same = items.iter().zip(&found).all(|(item, child)| fits(*child, item, true));
        return items.len() == found.len() && same;
    }
    items.iter().all(|item| found.iter().any(|child| fits(*child, item, false)))
}

fn is_primitive(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
