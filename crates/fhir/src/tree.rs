//! The tree: what both encodings have in common, with where each element stood.

mod element;
mod path;
mod siblings;

use std::sync::OnceLock;

use crate::arena::{Arena, Node, Span};
use crate::lines::Lines;

pub use element::Element;
use siblings::Runs;
pub(crate) use siblings::Walk;

/// The two encodings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// JSON, `application/fhir+json`.
    Json,
    /// XML, `application/fhir+xml`.
    Xml,
}

/// A FHIR resource, read: the source text and every element of it.
#[derive(Clone)]
pub struct Tree {
    source: String,
    format: Format,
    pub(crate) arena: Arena,
    lines: OnceLock<Lines>,
    runs: OnceLock<Runs>,
}

impl Format {
    /// Both formats.
    pub const ALL: [Self; 2] = [Self::Json, Self::Xml];

    /// Stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Xml => "xml",
        }
    }

    /// The FHIR media type.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/fhir+json",
            Self::Xml => "application/fhir+xml",
        }
    }
    /// Tells by the first significant byte (after a UTF-8 BOM and white space): `{` or `<`.
    pub fn sniff(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        match bytes.trim_ascii_start().first() {
            Some(b'{') => Some(Self::Json),
            Some(b'<') => Some(Self::Xml),
            _ => None,
        }
    }
}

/// Says nothing of the content, which is about patients.
impl std::fmt::Debug for Tree {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Tree")
            .field("format", &self.format)
            .field("bytes", &self.source.len())
            .field("elements", &self.arena.nodes.len())
            .finish_non_exhaustive()
    }
}

impl Tree {
    /// What was read of a text, whose positions are those of the source.
    pub(crate) const fn of(source: String, format: Format, arena: Arena) -> Self {
        Self { source, format, arena, lines: OnceLock::new(), runs: OnceLock::new() }
    }
    /// The root resource.
    pub fn root(&self) -> Element<'_> {
        self.element(0)
    }
    /// The encoding it was read from.
    pub fn format(&self) -> Format {
        self.format
    }
    /// The source text, byte for byte as read.
    pub fn source(&self) -> &[u8] {
        self.source.as_bytes()
    }
    /// The element whose FHIRPath (as [`Element::expression`] writes it) is given, else its nearest
    /// existing ancestor. Tolerates a missing or other resource type prefix, what validators add to
    /// paths (`ofType(…)`, comments), and XPath (`/f:Bundle/f:entry[1]`). `None` only for an empty
    /// path.
    pub fn find(&self, expression: &str) -> Option<Element<'_>> {
        path::find(self, expression)
    }
    /// The innermost element that covers this line and column (both from 1).
    pub fn at(&self, line: u32, column: u32) -> Option<Element<'_>> {
        let offset = self.lines().offset(&self.source, line, column)?;
        let covers = |node: &Node| node.start as usize <= offset && offset < node.end as usize;
        let nodes = self.arena.nodes.iter().enumerate().filter(|(_, node)| covers(node));
        // Of equal ranges the later node is the inner one.
        let inner = nodes.min_by_key(|(at, node)| (node.end - node.start, usize::MAX - at))?;
        Some(self.element(inner.0 as u32))
    }

    pub(crate) const fn element(&self, node: u32) -> Element<'_> {
        Element { tree: self, node }
    }
    pub(crate) fn node(&self, node: u32) -> &Node {
        &self.arena.nodes[node as usize]
    }
    pub(crate) fn text(&self, span: Span) -> &str {
        span.get(&self.source, &self.arena.side)
    }
    pub(crate) fn lines(&self) -> &Lines {
        self.lines.get_or_init(|| Lines::of(&self.source))
    }
    pub(crate) fn runs(&self) -> &Runs {
        self.runs.get_or_init(|| Runs::of(&self.arena.nodes))
    }
    pub(crate) fn source_text(&self) -> &str {
        &self.source
    }
}
