//! `where(name = text)`: how rules look a code up in maps of hundreds of entries. The same as
//! evaluating it for each entry, without making collections for each.

use fhir::{ElementName, TypeDefinition};

use super::Run;
use crate::item::Item;
use crate::node::{Node, NodeId};

/// A text that is looked for under a name.
pub(crate) struct Lookup<'i> {
    name: ElementName,
    text: &'i str,
    /// The type of what was compared last: that of the next entry too, mostly.
    of_text: Option<TypeDefinition>,
}

impl<'t> Run<'_, 't> {
    /// For a comparison of what stands under a plain name with one text; `None` for any other.
    pub(crate) fn lookup<'i>(&self, left: NodeId, right: &'i [Item<'t>]) -> Option<Lookup<'i>> {
        let name = match self.node(left) {
            Node::Member(member) => member,
            Node::Chain(steps) => match steps[..] {
                [only] => match self.node(only) {
                    Node::Member(member) => member,
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        };
        let name = name.name.filter(|_| !name.may_be_type)?;
        let text = match right {
            [Item::String(text)] => &**text,
            [Item::Element(of)] if of.type_definition().is_some_and(is_text) => of.value()?,
            _ => return None,
        };
        Some(Lookup { name, text, of_text: None })
    }
}

impl Lookup<'_> {
    /// Whether the item has that text under the name; `None` where that must be evaluated.
    pub(crate) fn is_met(&mut self, item: &Item<'_>) -> Option<bool> {
        let Item::Element(of) = item else { return None };
        let mut named = of.children_named(self.name);
        let Some(child) = named.next() else { return Some(false) };
        if named.next().is_some() {
            return Some(false);
        }
        let kind = child.type_definition()?;
        if self.of_text != Some(kind) {
            if !is_text(kind) {
                return None;
            }
            self.of_text = Some(kind);
        }
        Some(child.value()? == self.text)
    }
}

/// Whether values of the type are equal exactly when their texts are.
fn is_text(kind: TypeDefinition) -> bool {
    kind.is("string") || kind.is("uri")
}
