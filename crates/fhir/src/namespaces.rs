//! XML namespaces in scope while reading.

/// Namespace of every FHIR element.
pub(crate) const FHIR: &str = "http://hl7.org/fhir";
/// Namespace of the narrative.
pub(crate) const XHTML: &str = "http://www.w3.org/1999/xhtml";
/// Namespace of what a document says of its schema.
pub(crate) const SCHEMA: &str = "http://www.w3.org/2001/XMLSchema-instance";

const XML: &str = "http://www.w3.org/XML/1998/namespace";
/// Declarations in force at once; each lookup walks over them.
const DECLARED_MAX: usize = 64;

/// What prefixes mean at this point.
#[derive(Default)]
pub(crate) struct Scopes<'s> {
    declared: Vec<(u32, &'s str, &'s str)>,
    depth: u32,
}

impl<'s> Scopes<'s> {
    /// An element begins.
    pub(crate) const fn enter(&mut self) {
        self.depth += 1;
    }

    /// The innermost element has ended.
    pub(crate) fn leave(&mut self) {
        while self.declared.last().is_some_and(|(depth, ..)| *depth == self.depth) {
            self.declared.pop();
        }
        self.depth = self.depth.saturating_sub(1);
    }

    /// The innermost element declares a prefix (empty: the default); `false` if there are too many.
    #[must_use]
    pub(crate) fn declare(&mut self, prefix: &'s str, uri: &'s str) -> bool {
        self.declared.push((self.depth, prefix, uri));
        self.declared.len() <= DECLARED_MAX
    }

    /// How many elements are open.
    pub(crate) const fn depth(&self) -> u32 {
        self.depth
    }

    /// What a prefix (empty: the default) means, and at which depth that was declared.
    pub(crate) fn find(&self, prefix: &str) -> Option<(&'s str, u32)> {
        if prefix == "xml" {
            return Some((XML, u32::MAX));
        }
        // Most documents have no prefixes; comparing nothing with nothing is slower than it looks.
        let same =
            |known: &str| known.len() == prefix.len() && (prefix.is_empty() || known == prefix);
        let found = self.declared.iter().rev().find(|(_, known, _)| same(known));
        found.filter(|(_, _, uri)| !uri.is_empty()).map(|(depth, _, uri)| (*uri, *depth))
    }
}
