//! Whether the definitions of one package go together: each is there once, and none builds on
//! itself.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::{Fault, Unusable, Version};
use crate::definition::Definition;

/// Refuses definitions of which nobody could tell what they say.
pub(super) fn check(definitions: &[Definition]) -> Result<(), Fault> {
    let unusable = |of: &Definition, why| Err(Fault::Definition { name: of.url().to_owned(), why });
    let mut known: FxHashMap<(&str, &str, &str), &Definition> = FxHashMap::default();
    for of in definitions {
        match known.entry((of.kind(), of.url(), of.version())) {
            Entry::Vacant(free) => {
                free.insert(of);
            }
            // The same file twice says nothing new.
            Entry::Occupied(other) if is_alike(other.get(), of) => {}
            Entry::Occupied(_) => return unusable(of, Unusable::Twice),
        }
    }
    match first_in_a_circle(definitions) {
        Some(of) => unusable(of, Unusable::Circular),
        None => Ok(()),
    }
}

/// How far a definition was followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    New,
    Begun,
    Done,
}

/// The first definition that builds on itself, over as many others as it takes. Only what is in the
/// package is followed.
fn first_in_a_circle(definitions: &[Definition]) -> Option<&Definition> {
    let addresses = Addresses::of(definitions);
    let mut ways = vec![Way::New; definitions.len()];
    for first in 0..definitions.len() {
        // What is open on the way, each with what it still builds on: a deep package is no deep
        // call.
        let mut path: Vec<(usize, std::vec::IntoIter<&str>)> = Vec::new();
        let mut next = Some(first);
        loop {
            if let Some(at) = next.filter(|at| ways[*at] != Way::Done) {
                if ways[at] == Way::Begun {
                    return Some(&definitions[at]);
                }
                ways[at] = Way::Begun;
                path.push((at, definitions[at].builds_on().collect::<Vec<_>>().into_iter()));
            }
            let Some((at, rest)) = path.last_mut() else { break };
            match rest.next() {
                Some(canonical) => next = addresses.meant(&definitions[*at], canonical),
                None => {
                    ways[*at] = Way::Done;
                    path.pop();
                    next = None;
                }
            }
        }
    }
    None
}

/// The definitions of a package by kind and address.
struct Addresses<'d> {
    exact: FxHashMap<(&'d str, &'d str, &'d str), usize>,
    /// The two newest versions, the newest first.
    newest: FxHashMap<(&'d str, &'d str), (usize, Option<usize>)>,
}

impl<'d> Addresses<'d> {
    fn of(definitions: &'d [Definition]) -> Self {
        let mut found = Self { exact: FxHashMap::default(), newest: FxHashMap::default() };
        let mut order: Vec<usize> = (0..definitions.len()).collect();
        order.sort_by_cached_key(|at| Reverse(Version::of(definitions[*at].version())));
        for at in order {
            let of = &definitions[at];
            if found.exact.insert((of.kind(), of.url(), of.version()), at).is_none() {
                let newest = found.newest.entry((of.kind(), of.url())).or_insert((at, None));
                if newest.0 != at && newest.1.is_none() {
                    newest.1 = Some(at);
                }
            }
        }
        found
    }

    /// What a canonical means in a definition. Where it names no version, another version than the
    /// definition's own is meant if there is one: a new version may build on the one before.
    fn meant(&self, from: &Definition, canonical: &str) -> Option<usize> {
        let canonical = canonical.split('#').next().unwrap_or_default();
        if let Some((url, version)) = canonical.split_once('|') {
            return self.exact.get(&(from.kind(), url, version)).copied();
        }
        let (newest, before) = *self.newest.get(&(from.kind(), canonical))?;
        let own = self.exact.get(&(from.kind(), from.url(), from.version()));
        Some(if own == Some(&newest) { before.unwrap_or(newest) } else { newest })
    }
}

fn is_alike(a: &Definition, b: &Definition) -> bool {
    let written = |of: &Definition| serde_json::to_value(of).ok();
    written(a) == written(b)
}
