//! Whether a code is in a value set: yes, no, or cannot be known here.

mod listing;

use std::cell::Cell;

use regex::Regex;

use crate::set::RuleSet;
use crate::vocabulary::{Codes, Members, Part};

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
