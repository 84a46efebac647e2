//! A code system and a value set, each ready to be asked. What a value set names elsewhere is asked
//! by the terminology.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use regex::Regex;

use crate::definition::{CodeSystem, Filter, Include, ValueSet};

/// A code system, ready to ask.
#[derive(Debug)]
pub(crate) struct Codes {
    pub(crate) system: CodeSystem,
    pub(crate) places: HashMap<String, u32>,
    pub(crate) folded: HashMap<String, u32>,
}

/// A value set, ready to ask.
#[derive(Debug)]
pub(crate) struct Members {
    pub(crate) include: Vec<Part>,
    pub(crate) exclude: Vec<Part>,
    pub(crate) expansion: HashMap<String, HashSet<String>>,
    /// Whether a code is in it, found out when it is first asked.
    pub(crate) has_codes: OnceLock<bool>,
}

/// A part of a value set, with its lists and expressions made ready.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) of: Include,
    pub(crate) codes: HashSet<String>,
    pub(crate) displays: HashMap<String, String>,
    pub(crate) patterns: Vec<(String, Option<Regex>)>,
}

impl Codes {
    pub(crate) fn of(mut system: CodeSystem) -> Self {
        let mut places = HashMap::with_capacity(system.concepts.len());
        let mut folded = HashMap::new();
        for (at, concept) in system.concepts.iter().enumerate() {
            places.entry(concept.code.clone()).or_insert(at as u32);
            if !system.case_sensitive {
                folded.entry(concept.code.to_lowercase()).or_insert(at as u32);
            }
        }
        system.concepts.shrink_to_fit();
        Self { system, places, folded }
    }

    /// Whether every code of the system is here.
    pub(crate) fn is_complete(&self) -> bool {
        self.system.content == "complete" && !self.system.concepts.is_empty()
    }

    /// Whether it only adds to another one.
    pub(crate) fn is_supplement(&self) -> bool {
        self.system.content == "supplement"
    }

    pub(crate) fn has(&self, code: &str) -> bool {
        self.place(code).is_some()
    }

    pub(crate) fn place(&self, code: &str) -> Option<u32> {
        let exact = self.places.get(code);
        let exact = exact.or_else(|| match self.system.case_sensitive {
            true => None,
            false => self.folded.get(&code.to_lowercase()),
        });
        exact.copied()
    }

    /// Whether `at` is below `root`, however deep.
    pub(crate) fn is_below(&self, at: u32, root: u32) -> bool {
        let mut seen = HashSet::new();
        let mut open = vec![at];
        while let Some(place) = open.pop() {
            for parent in &self.system.concepts[place as usize].parents {
                if *parent == root {
                    return true;
                }
                if seen.insert(*parent) {
                    open.push(*parent);
                }
            }
        }
        false
    }

    /// Whether a code passes a filter; `None` for an operator that is not worked out here.
    pub(crate) fn passes(&self, at: u32, filter: &Filter, pattern: Option<&Regex>) -> Option<bool> {
        let concept = &self.system.concepts[at as usize];
        let is_concept = matches!(&*filter.property, "concept" | "code");
        let root = self.place(&filter.value);
        let below = |root: Option<u32>| root.is_some_and(|root| self.is_below(at, root));
        let values = || {
            let of = concept.properties.iter().filter(|(name, _)| *name == filter.property);
            of.map(|(_, value)| value.as_str())
        };
        Some(match &*filter.operator {
            "is-a" => root == Some(at) || below(root),
            "descendent-of" | "descendant-of" => below(root),
            "is-not-a" => root != Some(at) && !below(root),
            "generalizes" => root == Some(at) || root.is_some_and(|root| self.is_below(root, at)),
            "=" if is_concept => concept.code == filter.value,
            "=" => values().any(|value| value == filter.value),
            "in" if is_concept => filter.value.split(',').any(|of| of.trim() == concept.code),
            "in" => values().any(|value| filter.value.split(',').any(|of| of.trim() == value)),
            "not-in" if is_concept => !filter.value.split(',').any(|of| of.trim() == concept.code),
            "exists" => values().next().is_some() == (filter.value == "true"),
            "regex" => {
                let regex = pattern?;
                if is_concept {
                    regex.is_match(&concept.code)
                } else {
                    values().any(|value| regex.is_match(value))
                }
            }
            _ => return None,
        })
    }
}

/// An expression that must match all of a text.
pub(crate) fn whole(pattern: &str) -> Option<Regex> {
    regex::RegexBuilder::new(&format!("^(?:{pattern})$")).size_limit(1 << 20).build().ok()
}

impl Members {
    pub(crate) fn of(set: ValueSet) -> Self {
        let mut expansion: HashMap<String, HashSet<String>> = HashMap::new();
        for (system, code) in set.expansion {
            expansion.entry(system).or_default().insert(code);
        }
        let part = |mut of: Include| {
            let codes = std::mem::take(&mut of.codes).into_iter().collect();
            let displays = std::mem::take(&mut of.displays).into_iter().collect();
            let regexes = of.filters.iter().filter(|filter| filter.operator == "regex");
            let patterns =
                regexes.map(|filter| (filter.property.clone(), whole(&filter.value))).collect();
            Part { of, codes, displays, patterns }
        };
        Self {
            include: set.include.into_iter().map(part).collect(),
            exclude: set.exclude.into_iter().map(part).collect(),
            expansion,
            has_codes: OnceLock::new(),
        }
    }

    /// Whether it could be that nothing is in it, although it names something.
    pub(crate) fn may_be_hollow(&self) -> bool {
        let is_plain = |part: &Part| part.of.filters.is_empty() && part.of.value_sets.is_empty();
        !self.exclude.is_empty() || !self.include.iter().any(is_plain)
    }

    /// Whether it is all of one code system and nothing else.
    pub(crate) fn is_all_of(&self, system: &str) -> bool {
        matches!(&self.include[..], [part] if part.of.system.as_deref() == Some(system)
            && part.codes.is_empty()
            && part.of.filters.is_empty()
            && part.of.value_sets.is_empty())
    }

    /// Whether it names no code at all: the authority accepts everything then.
    pub(crate) fn is_empty(&self) -> bool {
        self.include.is_empty() && self.expansion.is_empty()
    }
}
