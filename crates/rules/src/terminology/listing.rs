//! The codes of a value set or a code system, for people who choose one.

use std::collections::BTreeSet;

use super::{CANDIDATES_MAX, Membership, Mode, Question};
use crate::set::RuleSet;
use crate::vocabulary::{Codes, Members};

/// A code that may be chosen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListedCode {
    /// What people read, as the rules call it; empty where they do not say.
    pub display: String,
    /// Its code system.
    pub system: String,
    /// The code.
    pub code: String,
}

impl RuleSet {
    /// The codes of a value set in the order of their names. `None` where it is not here, has no
    /// codes or more than `most`, or cannot be listed in full.
    pub fn codes_of_value_set(&self, canonical: &str, most: usize) -> Option<Vec<ListedCode>> {
        let (members, package) = self.members(canonical, 0)?;
        let left = std::cell::Cell::new(super::PARTS_MAX);
        let of = Question { system: None, code: "", mode: Mode::Strict, depth: 0, left: &left };
        let mut candidates = Vec::new();
        if members.include.is_empty() {
            let all = members.expansion.iter();
            candidates.extend(
                all.flat_map(|(system, codes)| codes.iter().map(move |code| (&**system, &**code))),
            );
        } else if members.include.iter().all(|part| self.is_expandable(part, package, of)) {
            members.include.iter().for_each(|part| self.listed(part, package, 0, &mut candidates));
        } else {
            return None;
        }
        if candidates.len() >= CANDIDATES_MAX {
            return None;
        }
        let is_in = |(system, code): &(&str, &str)| {
            self.membership(canonical, 0, Some(system), code, Mode::Strict) == Membership::In
        };
        let listed = candidates.into_iter().filter(is_in).map(|(system, code)| ListedCode {
            display: self.display(members, package, system, code),
            system: system.to_owned(),
            code: code.to_owned(),
        });
        few(listed, most)
    }

    /// The codes of a code system, likewise.
    pub fn codes_of_system(&self, canonical: &str, most: usize) -> Option<Vec<ListedCode>> {
        let codes = self.codes(canonical, 0).filter(|codes| codes.is_complete())?;
        let system = canonical.split('|').next().unwrap_or_default();
        few(
            codes.system.concepts.iter().map(|concept| ListedCode {
                display: concept.display.clone(),
                system: system.to_owned(),
                code: concept.code.clone(),
            }),
            most,
        )
    }

    /// What a value set calls a code, else what its code system does.
    fn display(&self, members: &Members, package: u16, system: &str, code: &str) -> String {
        let mut own =
            members.include.iter().filter(|part| part.of.system.as_deref() == Some(system));
        let own = own.find_map(|part| part.displays.get(code));
        let of = || self.codes(system, package).and_then(|codes| codes.display(code));
        own.map(String::as_str).or_else(of).unwrap_or_default().to_owned()
    }
}

impl Codes {
    fn display(&self, code: &str) -> Option<&str> {
        let concept = self.system.concepts.get(self.place(code)? as usize)?;
        Some(&*concept.display).filter(|display| !display.is_empty())
    }
}

/// In the order of their names, each once; nothing where there are too many to choose from.
fn few(listed: impl Iterator<Item = ListedCode>, most: usize) -> Option<Vec<ListedCode>> {
    let mut found = BTreeSet::new();
    for code in listed {
        found.insert(code);
        if found.len() > most {
            return None;
        }
    }
    (!found.is_empty()).then(|| found.into_iter().collect())
}
