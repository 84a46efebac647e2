//! Looking for a child by name without a look at each of many of another name: a Bundle of
//! thousands of entries is asked for its type once for each reference in it.

use std::collections::HashMap;

use crate::arena::{NIL, Node};

/// So many elements of one name, one behind the other, are looked at one by one before they are
/// passed over at once.
const LOOKED_AT_MAX: u32 = 16;

/// Where long runs of one name begin, and what comes behind each (`NIL`: nothing).
#[derive(Debug, Clone)]
pub(crate) struct Runs(HashMap<u32, u32>);

impl Runs {
    pub(crate) fn of(nodes: &[Node]) -> Self {
        let mut runs = HashMap::new();
        for first in nodes.iter().map(|node| node.first).filter(|first| *first != NIL) {
            let (mut begin, mut at, mut length) = (first, first, 1);
            while at != NIL {
                let node = &nodes[at as usize];
                if goes_on(nodes, node) {
                    length += 1;
                } else {
                    if length > LOOKED_AT_MAX {
                        runs.insert(begin, node.next);
                    }
                    (begin, length) = (node.next, 1);
                }
                at = node.next;
            }
        }
        Self(runs)
    }
}

/// Whether the next sibling is another one of the same name, and as well known.
fn goes_on(nodes: &[Node], node: &Node) -> bool {
    node.next != NIL && node.next == node.same && nodes[node.next as usize].field == node.field
}

/// A walk over siblings that passes over runs of a name that is not looked for.
pub(crate) struct Walk {
    at: u32,
    /// Where the run began that it is in, and how many of that were looked at.
    begin: u32,
    looked: u32,
}

impl Walk {
    pub(crate) const fn from(first: u32) -> Self {
        Self { at: first, begin: first, looked: 0 }
    }

    /// The next sibling that fits. What fits or does not must depend on the name alone.
    pub(crate) fn next<'r>(
        &mut self,
        nodes: &[Node],
        runs: impl Fn() -> &'r Runs,
        fits: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        while self.at != NIL {
            let at = self.at;
            let node = &nodes[at as usize];
            self.at = node.next;
            let does_fit = fits(at);
            if !goes_on(nodes, node) {
                (self.begin, self.looked) = (node.next, 0);
            } else if !does_fit {
                self.looked += 1;
                if self.looked == LOOKED_AT_MAX
                    && let Some(behind) = runs().0.get(&self.begin)
                {
                    (self.at, self.begin, self.looked) = (*behind, *behind, 0);
                }
            }
            if does_fit {
                return Some(at);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::{Format, Limits, Tree};

    fn bundle(entries: usize) -> Tree {
        let entries = vec![r#"{"fullUrl":"urn:uuid:1"}"#; entries].join(",");
        let text =
            format!(r#"{{"resourceType":"Bundle","id":"1","entry":[{entries}],"type":"x"}}"#);
        Tree::read(text.as_bytes(), Format::Json, &Limits::default()).unwrap()
    }

    /// All children of a name, and how many were looked at for them.
    fn found(tree: &Tree, name: &str) -> (usize, usize) {
        let (looked, nodes) = (Cell::new(0), &tree.arena.nodes);
        let mut walk = Walk::from(nodes[0].first);
        let fits = |at: u32| {
            looked.set(looked.get() + 1);
            tree.element(at).name() == name
        };
        let found = std::iter::from_fn(|| walk.next(nodes, || tree.runs(), fits)).count();
        (found, looked.get())
    }

    #[test]
    fn what_stands_behind_many_entries_is_found_in_few_steps() {
        for entries in [500, 5_000, 50_000] {
            let tree = bundle(entries);
            assert_eq!(found(&tree, "type"), (1, 18), "{entries}");
            assert_eq!(found(&tree, "nothing"), (0, 18), "{entries}");
            assert_eq!(found(&tree, "entry"), (entries, entries + 2), "{entries}");
            assert_eq!(tree.root().text("type"), Some("x"));
            assert_eq!(tree.root().all("entry").count(), entries);
        }
    }

    #[test]
    fn every_number_of_siblings_is_walked_over_alike() {
        for entries in 0..40 {
            let tree = bundle(entries.max(1));
            for name in ["id", "entry", "type", "nothing"] {
                let plain = tree.root().children().filter(|of| of.name() == name).count();
                assert_eq!(found(&tree, name).0, plain, "{entries} {name}");
            }
        }
    }
}
