//! One element of a tree, with everything that can be asked of it.

use crate::arena::{Flags, NIL, Node};
use crate::table::{Field, Kind, NONE, Type, table};
use crate::{Position, Tree};

use super::path;
use super::siblings::Walk;

/// One element (or the root resource) of a tree. Cheap to copy.
#[derive(Clone, Copy)]
pub struct Element<'t> {
    pub(crate) tree: &'t Tree,
    pub(crate) node: u32,
}

/// Says where, not what: the content is about patients.
impl std::fmt::Debug for Element<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_tuple("Element").field(&self.expression()).finish()
    }
}

impl<'t> Element<'t> {
    /// Name as written, e.g. `valueQuantity`; for a resource its place's name (`resource`,
    /// `contained`) and for the root its type.
    pub fn name(self) -> &'t str {
        self.tree.text(self.read().name)
    }
    /// FHIR type, e.g. `HumanName`, `code`; for a resource its type; empty if unknown.
    pub fn type_name(self) -> &'t str {
        self.known_type().map_or("", |of| of.name)
    }
    /// The resource type if this element is a resource.
    pub fn resource_type(self) -> Option<&'t str> {
        let node = self.read();
        node.flags.has(Flags::RESOURCE).then(|| self.tree.text(node.value))
    }
    /// A primitive's value in its lexical form, unescaped (decimals keep their digits; narrative
    /// `div` gives its XHTML text).
    pub fn value(self) -> Option<&'t str> {
        let node = self.read();
        let has_value = node.value.is_some() && !node.flags.has(Flags::RESOURCE);
        has_value.then(|| self.tree.text(node.value))
    }
    /// Child elements in document order (both faces of a JSON primitive, `x` and `_x`, are one
    /// element). The attributes `id` and `url` of XML are children too.
    pub fn children(self) -> impl Iterator<Item = Element<'t>> + 't {
        let tree = self.tree;
        let first = self.node_after(self.read().first);
        std::iter::successors(first, move |child| child.node_after(tree.node(child.node).next))
    }
    /// First child of this name.
    pub fn child(self, name: &str) -> Option<Element<'t>> {
        let tree = self.tree;
        let fits = |at: u32| tree.element(at).name() == name;
        let found = Walk::from(self.read().first).next(&tree.arena.nodes, || tree.runs(), fits);
        found.map(|at| tree.element(at))
    }
    /// Children of this name.
    pub fn all(self, name: &str) -> impl Iterator<Item = Element<'t>> + 't {
        let first = self.child(name);
        std::iter::successors(first, |child| child.next_same())
    }
    /// First element along a dotted path of names, e.g. `attachment.url`.
    pub fn at_path(self, path: &str) -> Option<Element<'t>> {
        path.split('.').try_fold(self, |element, name| element.child(name))
    }
    /// Value of the first element along a dotted path.
    pub fn text(self, path: &str) -> Option<&'t str> {
        self.at_path(path)?.value()
    }
    /// First child whose name is `prefix` followed by a capital letter (a choice `value[x]`).
    pub fn choice(self, prefix: &str) -> Option<Element<'t>> {
        self.children().find(|child| {
            let rest = child.name().strip_prefix(prefix);
            rest.is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_uppercase()))
        })
    }
    /// The extension with this url.
    pub fn extension(self, url: &str) -> Option<Element<'t>> {
        self.all("extension").find(|extension| extension.text("url") == Some(url))
    }
    /// The enclosing element.
    pub fn parent(self) -> Option<Element<'t>> {
        self.node_after(self.read().parent)
    }
    /// FHIRPath from the root, e.g. `Bundle.entry[0].resource.name[1].given[0]`: an index exactly
    /// on elements that may repeat (or do).
    pub fn expression(self) -> String {
        path::expression(self)
    }
    /// Where it stands: JSON the value (`{…}`, `"…"`), XML from `<` to `>` of its element; a
    /// resource in XML is where its own element is, not the `contained` or `resource` around it; an
    /// attribute from its name to its closing quote. A primitive of which there is only `_x` stands
    /// where that does.
    pub fn position(self) -> Position {
        let node = self.read();
        let (start, end) = (node.start as usize, node.end as usize);
        let (line, column) = self.tree.lines().place(self.tree.source_text(), start);
        Position { line, column, start, end }
    }
    /// Offset right after the opening `{` of a JSON object or the `>` of an XML start tag: where a
    /// first child could be written. `None` for primitives and for an empty XML tag `<x/>`.
    pub fn inner_start(self) -> Option<usize> {
        let inner = self.read().inner;
        (inner != NIL).then_some(inner as usize)
    }
    /// Its source text.
    pub fn source(self) -> &'t [u8] {
        let node = self.read();
        self.tree.source().get(node.start as usize..node.end as usize).unwrap_or_default()
    }
    /// Whether this and the other are the same data (names, values, order; white space between
    /// elements and escaping do not count; repeats of one name keep their order, different names
    /// need not).
    pub fn same_as(self, other: Element<'_>) -> bool {
        if self.resource_type() != other.resource_type() || self.value() != other.value() {
            return false;
        }
        let (mine, theirs) = (self.ordered(), other.ordered());
        let same = |(mine, theirs): (&Element<'_>, &Element<'_>)| {
            mine.name() == theirs.name() && mine.same_as(*theirs)
        };
        mine.len() == theirs.len() && mine.iter().zip(&theirs).all(same)
    }

    /// Children by name and number.
    fn ordered(self) -> Vec<Element<'t>> {
        let mut children: Vec<_> = self.children().collect();
        children.sort_by(|a, b| a.name().cmp(b.name()).then(a.read().index.cmp(&b.read().index)));
        children
    }

    pub(crate) fn read(self) -> &'t Node {
        self.tree.node(self.node)
    }
    /// Next sibling of the same name.
    pub(crate) fn next_same(self) -> Option<Element<'t>> {
        self.node_after(self.read().same)
    }
    fn node_after(self, node: u32) -> Option<Element<'t>> {
        (node != NIL).then(|| self.tree.element(node))
    }
    /// Its field in the table.
    pub(crate) fn field(self) -> Option<&'static Field> {
        table().fields.get(usize::from(self.read().field))
    }
    /// Its type in the table.
    pub(crate) fn known_type(self) -> Option<&'static Type> {
        let of = self.read().of;
        if of == NONE { None } else { table().types.get(usize::from(of)) }
    }
    pub(crate) fn kind(self) -> Option<Kind> {
        self.known_type().map(|of| of.kind)
    }
}
