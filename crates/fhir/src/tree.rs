//! The tree: what both encodings have in common, with where each element stood.

use std::sync::OnceLock;

use crate::arena::{Arena, Node, Span, bytes_max, refusal};
pub use crate::element::Element;
use crate::lines::Lines;
use crate::siblings::Runs;
use crate::{Finding, check, json, json_write, path, xml, xml_write};

/// The two encodings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// JSON, `application/fhir+json`.
    Json,
    /// XML, `application/fhir+xml`.
    Xml,
}

/// Bounds on what is read; hostile input is assumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of text (at most 1 GiB, whatever is said here).
    pub bytes_max: usize,
    /// Nesting of elements (at most 64, whatever is said here).
    pub depth_max: usize,
    /// Elements in all.
    pub elements_max: usize,
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

impl Default for Limits {
    /// 20 MiB of text, 64 levels, 500,000 elements.
    fn default() -> Self {
        Self { bytes_max: 20 << 20, depth_max: 64, elements_max: 500_000 }
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
    /// Reads a resource. `Err` only where no tree can be made (not UTF-8, not well-formed, beyond
    /// the limits, DTD, no resource); everything else is read, kept, and reported by
    /// [`Tree::check`].
    pub fn read(bytes: &[u8], format: Format, limits: &Limits) -> Result<Self, Finding> {
        let limit = bytes_max(limits);
        if bytes.len() > limit {
            return Err(refusal(&[], "too-large", 0, 0, &[("limit", &limit.to_string())]));
        }
        let source = decode(bytes)?;
        let arena = match format {
            Format::Json => json::read(source, limits)?,
            Format::Xml => xml::read(source, limits)?,
        };
        Ok(Self {
            source: source.to_owned(),
            format,
            arena,
            lines: OnceLock::new(),
            runs: OnceLock::new(),
        })
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
    /// The base check: every departure from FHIR R4 itself, in document order. What the codes mean
    /// is listed in [`crate::codes`]. Invariants (FHIRPath) are not evaluated. After 10,000
    /// findings one `too-many-findings` ends the list.
    pub fn check(&self) -> Vec<Finding> {
        check::check(self)
    }
    /// Writes JSON (compact).
    pub fn to_json(&self) -> String {
        json_write::write(self)
    }
    /// Writes XML (compact, with declaration-less root in the FHIR namespace). What JSON may hold
    /// and XML cannot (control characters, keys that are no names) is written as U+FFFD or
    /// `_xHHHH_`; the base check reports both.
    pub fn to_xml(&self) -> String {
        xml_write::write(self)
    }
    /// Writes either.
    pub fn write(&self, format: Format) -> String {
        match format {
            Format::Json => self.to_json(),
            Format::Xml => self.to_xml(),
        }
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

/// UTF-8 only, as FHIR says; UTF-16 and UTF-32 are named for what they are.
fn decode(bytes: &[u8]) -> Result<&str, Finding> {
    let wide = matches!(bytes, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [0, 0, ..])
        || matches!(bytes, [0, b'{' | b'<', ..] | [b'{' | b'<', 0, ..]);
    if wide {
        return Err(refusal(bytes, "not-utf8", 0, 1, &[("encoding", "UTF-16")]));
    }
    if bytes.trim_ascii().is_empty() || bytes == b"\xEF\xBB\xBF" {
        return Err(refusal(bytes, "empty", 0, 0, &[]));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        refusal(bytes, "not-utf8", at, at + 1, &[("encoding", "")])
    })
}
