//! Whether the definitions of one package go together: each is there once, and none builds on itself.

use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Fault, Unusable};
use crate::definition::{Definition, Structure};

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
    let bases: FxHashMap<&str, &str> = definitions.iter().filter_map(base_of).collect();
    // What leads nowhere in a circle was followed already; each definition is looked at once.
    let mut fine: FxHashSet<&str> = FxHashSet::default();
    for of in definitions {
        let mut path: FxHashSet<&str> = FxHashSet::default();
        let mut at = of.url();
        while !fine.contains(at) {
            if !path.insert(at) {
                return unusable(of, Unusable::Circular);
            }
            let Some(base) = bases.get(at) else { break };
            at = base;
        }
        fine.extend(path);
    }
    Ok(())
}

/// The address of a structure, and of what it builds on where that has no version of its own: another version of a
/// package may build on the one before.
fn base_of(of: &Definition) -> Option<(&str, &str)> {
    let Definition::Structure(Structure { url, base: Some(base), .. }) = of else { return None };
    (!base.contains('|')).then_some((url.as_str(), base.as_str()))
}

fn is_alike(a: &Definition, b: &Definition) -> bool {
    let written = |of: &Definition| serde_json::to_value(of).ok();
    written(a) == written(b)
}
