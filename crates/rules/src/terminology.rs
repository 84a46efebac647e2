//! Whether a code is in a value set: yes, no, or cannot be known here.

mod listing;

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use regex::Regex;

use crate::definition::{CodeSystem, Filter, Include, ValueSet};
use crate::set::RuleSet;

pub use listing::ListedCode;

/// Value sets that name value sets, at most so deep: circular ones end here.
const DEPTH_MAX: usize = 16;
/// Parts of value sets that are asked for one code. Published ones have less than a hundred; sets
/// that each name two others have no end.
const PARTS_MAX: u32 = 1_000;

/// Codes that are tried to find out whether a value set has any; one that names more has some.
const CANDIDATES_MAX: usize = 100_000;

/// One code, asked of a value set and all that it names.
#[derive(Clone, Copy)]
struct Question<'q> {
    system: Option<&'q str>,
    code: &'q str,
    mode: Mode,
    depth: usize,
    /// Parts that may still be asked.
    left: &'q Cell<u32>,
}

impl Question<'_> {
    const fn deeper(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    fn is_spent(self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        self.depth > DEPTH_MAX || left == 0
    }
}

/// The answer of a value set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Membership {
    /// It is not in.
    Out,
    /// Not enough is known: the code system is not here, or a filter cannot be worked out.
    Unknown,
    /// It is in.
    In,
}

/// Which policy decides where not everything is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// As the authority's validator decides.
    #[default]
    Authority,
    /// As FHIR says; unknown extensions are errors.
    Strict,
}

/// A code system, ready to ask.
#[derive(Debug)]
pub(crate) struct Codes {
    system: CodeSystem,
    places: HashMap<String, u32>,
    folded: HashMap<String, u32>,
}

/// A value set, ready to ask.
#[derive(Debug)]
pub(crate) struct Members {
    include: Vec<Part>,
    exclude: Vec<Part>,
    expansion: HashMap<String, HashSet<String>>,
    /// Whether a code is in it, found out when it is first asked.
    has_codes: OnceLock<bool>,
}

#[derive(Debug)]
struct Part {
    of: Include,
    codes: HashSet<String>,
    displays: HashMap<String, String>,
    patterns: Vec<(String, Option<Regex>)>,
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

    fn place(&self, code: &str) -> Option<u32> {
        let exact = self.places.get(code);
        let exact = exact.or_else(|| match self.system.case_sensitive {
            true => None,
            false => self.folded.get(&code.to_lowercase()),
        });
        exact.copied()
    }

    /// Whether `at` is below `root`, however deep.
    fn is_below(&self, at: u32, root: u32) -> bool {
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
    fn passes(&self, at: u32, filter: &Filter, pattern: Option<&Regex>) -> Option<bool> {
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
    fn may_be_hollow(&self) -> bool {
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
    fn is_empty(&self) -> bool {
        self.include.is_empty() && self.expansion.is_empty()
    }
}

impl RuleSet {
    /// Whether a code is in a value set. Without a system any system of the value set will do (a
    /// primitive `code`). An unknown value set cannot answer.
    pub(crate) fn membership(
        &self,
        value_set: &str,
        from: u16,
        system: Option<&str>,
        code: &str,
        mode: Mode,
    ) -> Membership {
        let left = Cell::new(PARTS_MAX);
        self.member(value_set, from, Question { system, code, mode, depth: 0, left: &left })
    }

    fn member(&self, value_set: &str, from: u16, of: Question<'_>) -> Membership {
        let Question { system, code, mode, .. } = of;
        let Some((members, package)) = self.members(value_set, from) else {
            return Membership::Unknown;
        };
        if members.is_empty() || of.is_spent() {
            return Membership::Unknown;
        }
        if members.include.is_empty() {
            let mut systems = members.expansion.iter();
            let found = systems.any(|(of, codes)| {
                system.is_none_or(|system| system == of) && codes.contains(code)
            });
            return if found { Membership::In } else { Membership::Out };
        }
        let ask = |part: &Part| self.part(part, package, of);
        let best = members.include.iter().map(ask).max().unwrap_or(Membership::Out);
        if best == Membership::Out {
            // The authority's validator asks for the systems alone where a set cannot be expanded.
            let lenient = mode == Mode::Authority
                && !members.include.iter().all(|part| self.is_expandable(part, package, of));
            let accepted = |part: &Part| {
                part.of.system.as_deref() == system
                    && part
                        .patterns
                        .iter()
                        .all(|(_, of)| of.as_ref().is_none_or(|of| of.is_match(code)))
            };
            if lenient && system.is_some() && members.include.iter().any(accepted) {
                return Membership::Unknown;
            }
            return self.or_accepted(members, package, of);
        }
        match members.exclude.iter().map(ask).max() {
            Some(Membership::In) => self.or_accepted(members, package, of),
            _ => best,
        }
    }

    /// What is in none of the parts is out, but the authority accepts everything where a set has no
    /// code at all.
    fn or_accepted(&self, members: &Members, package: u16, of: Question<'_>) -> Membership {
        // Asked of the set itself; what it names is a part of it.
        if of.mode == Mode::Strict || of.depth > 0 || !members.may_be_hollow() {
            return Membership::Out;
        }
        let has_codes = *members.has_codes.get_or_init(|| self.has_codes(members, package, of));
        if has_codes { Membership::Out } else { Membership::Unknown }
    }

    /// Whether any code is in a value set; one that cannot be listed here is taken to have some.
    fn has_codes(&self, members: &Members, package: u16, of: Question<'_>) -> bool {
        let left = Cell::new(PARTS_MAX);
        let of = Question { left: &left, ..of };
        if !members.include.iter().all(|part| self.is_expandable(part, package, of)) {
            return true;
        }
        let mut codes = Vec::new();
        members.include.iter().for_each(|part| self.listed(part, package, 0, &mut codes));
        // Each is asked with an effort of its own, and not for emptiness again.
        let is_in = |system: &str, code: &str| {
            let left = Cell::new(PARTS_MAX);
            let of = Question { system: Some(system), code, mode: of.mode, depth: 1, left: &left };
            let best = members.include.iter().map(|part| self.part(part, package, of)).max();
            let out = members.exclude.iter().map(|part| self.part(part, package, of)).max();
            best > Some(Membership::Out) && out != Some(Membership::In)
        };
        codes.len() >= CANDIDATES_MAX || codes.iter().any(|(system, code)| is_in(system, code))
    }

    /// The codes that could be in a part of a value set: those that it lists, else those of its
    /// code system.
    fn listed<'s>(
        &'s self,
        part: &'s Part,
        package: u16,
        depth: usize,
        codes: &mut Vec<(&'s str, &'s str)>,
    ) {
        let room = CANDIDATES_MAX.saturating_sub(codes.len());
        match part.of.system.as_deref() {
            Some(system) if part.codes.is_empty() => {
                let of = self.codes(system, package);
                let all = of.into_iter().flat_map(|of| &of.system.concepts);
                codes.extend(all.take(room).map(|concept| (system, &*concept.code)));
            }
            Some(system) => {
                codes.extend(part.codes.iter().take(room).map(|code| (system, code.as_str())));
            }
            // What is in all of the sets is in the first.
            None => {
                let first = part.of.value_sets.first().filter(|_| depth < DEPTH_MAX && room > 0);
                let Some((members, from)) = first.and_then(|set| self.members(set, package)) else {
                    return;
                };
                for (system, all) in &members.expansion {
                    codes.extend(all.iter().map(|code| (system.as_str(), code.as_str())));
                }
                for part in &members.include {
                    self.listed(part, from, depth + 1, codes);
                }
            }
        }
    }

    fn part(&self, part: &Part, package: u16, asked: Question<'_>) -> Membership {
        let Question { system, code, .. } = asked;
        let sets = part.of.value_sets.iter();
        let through = sets
            .map(|set| self.member(set, package, asked.deeper()))
            .min()
            .unwrap_or(Membership::In);
        let Some(of) = part.of.system.as_deref() else {
            return if part.of.value_sets.is_empty() { Membership::Out } else { through };
        };
        if system.is_some_and(|system| system != of) || through == Membership::Out {
            return Membership::Out;
        }
        let own = if part.codes.is_empty() {
            self.system_part(part, of, package, code)
        } else if part.codes.contains(code) {
            Membership::In
        } else {
            Membership::Out
        };
        own.min(through)
    }

    /// A whole code system, or what passes the filters.
    fn system_part(&self, part: &Part, system: &str, package: u16, code: &str) -> Membership {
        let matches = |(property, of): &(String, Option<Regex>)| {
            !matches!(&**property, "code" | "concept")
                || of.as_ref().is_none_or(|of| of.is_match(code))
        };
        if !part.patterns.iter().all(matches) {
            return Membership::Out;
        }
        let canonical = part.of.version.as_deref().map(|version| format!("{system}|{version}"));
        let codes = self.codes(canonical.as_deref().unwrap_or(system), package);
        let Some(codes) = codes else { return Membership::Unknown };
        let Some(at) = codes.place(code) else {
            return if codes.is_complete() { Membership::Out } else { Membership::Unknown };
        };
        let mut answer = Membership::In;
        // Made once: each `regex` filter has its own, in the order of the filters.
        let mut patterns = part.patterns.iter();
        for filter in &part.of.filters {
            let is_regex = filter.operator == "regex";
            let pattern = if is_regex { patterns.next() } else { None };
            let pattern = pattern.and_then(|(_, of)| of.as_ref());
            answer = answer.min(match codes.passes(at, filter, pattern) {
                Some(true) => Membership::In,
                Some(false) => Membership::Out,
                None => Membership::Unknown,
            });
        }
        answer
    }

    /// Whether all codes of a part can be listed here.
    fn is_expandable(&self, part: &Part, package: u16, of: Question<'_>) -> bool {
        let own = match part.of.system.as_deref() {
            Some(system) if part.codes.is_empty() => {
                self.codes(system, package).is_some_and(Codes::is_complete)
            }
            _ => true,
        };
        let through = part.of.value_sets.iter().all(|set| match self.members(set, package) {
            Some((members, from)) => {
                !of.is_spent()
                    && members
                        .include
                        .iter()
                        .all(|part| self.is_expandable(part, from, of.deeper()))
            }
            None => false,
        });
        own && through
    }

    /// Whether a code system has a code; `None` where not every code of it is here.
    pub(crate) fn has_code(&self, system: &str, from: u16, code: &str) -> Option<bool> {
        let codes = self.codes(system, from)?;
        if codes.has(code) { Some(true) } else { codes.is_complete().then_some(false) }
    }
}
