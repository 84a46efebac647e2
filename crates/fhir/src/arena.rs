//! What both readers build: nodes in one vector, texts as spans of the source wherever possible.

use std::collections::HashMap;

use crate::finding::{Finding, Position, Severity};
use crate::limits::Limits;
use crate::table::{self, Kind, Table};

/// No node, no offset.
pub(crate) const NIL: u32 = u32::MAX;
/// Nesting beyond which no setting goes: the readers and the check recurse, and must do with a
/// stack of 1 MiB even unoptimised.
const DEPTH_CEILING: usize = 64;
/// Length beyond which no setting goes: offsets are 31 bits.
const BYTES_CEILING: usize = 1 << 30;
/// Notes kept while reading; hostile input shall not fill the memory with them.
const NOTES_MAX: usize = 10_000;
/// Names of one element that are compared one by one before a hash table takes over.
const NAMES_LINEAR_MAX: usize = 32;

/// A piece of text: of the source, or (high bit of `start`) of the side text, where unescaped
/// values lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    start: u32,
    len: u32,
}

impl Span {
    pub(crate) const NONE: Self = Self { start: 0, len: NIL };
    const SIDE: u32 = 1 << 31;

    pub(crate) const fn source(start: usize, end: usize) -> Self {
        Self { start: start as u32, len: (end - start) as u32 }
    }
    pub(crate) const fn is_some(self) -> bool {
        self.len != NIL
    }
    /// The same text but for its first byte, an ASCII letter.
    pub(crate) const fn without_first(self) -> Self {
        Self { start: self.start + 1, len: self.len - 1 }
    }
    pub(crate) fn get<'t>(self, source: &'t str, side: &'t str) -> &'t str {
        let text = if self.start & Self::SIDE == 0 { source } else { side };
        let start = (self.start & !Self::SIDE) as usize;
        text.get(start..start + self.len as usize).unwrap_or_default()
    }
}

/// What was peculiar about a node, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Flags(u16);

impl Flags {
    /// A resource: the value is its type.
    pub(crate) const RESOURCE: Self = Self(1);
    /// Stood in a JSON array.
    pub(crate) const IN_ARRAY: Self = Self(1 << 1);
    /// JSON string.
    pub(crate) const STRING: Self = Self(1 << 2);
    /// JSON number.
    pub(crate) const NUMBER: Self = Self(1 << 3);
    /// JSON `true` or `false`.
    pub(crate) const BOOL: Self = Self(1 << 4);
    /// JSON `null`.
    pub(crate) const NULL: Self = Self(1 << 5);
    /// JSON object (not the one of a `_x`).
    pub(crate) const OBJECT: Self = Self(1 << 6);
    /// JSON array inside an array, or where an item was expected: its text is the value.
    pub(crate) const RAW: Self = Self(1 << 7);
    /// Has the `_x` of a JSON primitive.
    pub(crate) const FACE: Self = Self(1 << 8);
    /// XML attribute.
    pub(crate) const ATTRIBUTE: Self = Self(1 << 9);
    /// XML element of another namespace.
    pub(crate) const FOREIGN: Self = Self(1 << 10);

    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// An element as read.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) parent: u32,
    pub(crate) first: u32,
    pub(crate) last: u32,
    /// Next sibling.
    pub(crate) next: u32,
    /// Next sibling of the same name.
    pub(crate) same: u32,
    /// Number among the siblings of the same name.
    pub(crate) index: u32,
    pub(crate) name: Span,
    pub(crate) value: Span,
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) inner: u32,
    /// Field of the table, or `table::NONE` if unknown.
    pub(crate) field: u16,
    /// Type of the table, or `table::NONE` if unknown.
    pub(crate) of: u16,
    pub(crate) flags: Flags,
}

impl Node {
    pub(crate) fn new(name: Span, field: u16, of: u16, start: usize, end: usize) -> Self {
        let (start, end) = (start as u32, end as u32);
        let (parent, first, last, next, same, inner) = (NIL, NIL, NIL, NIL, NIL, NIL);
        let (index, value, flags) = (0, Span::NONE, Flags::default());
        Self {
            parent,
            first,
            last,
            next,
            same,
            index,
            name,
            value,
            start,
            end,
            inner,
            field,
            of,
            flags,
        }
    }
}

/// Something noticed while reading that the tree itself cannot show.
#[derive(Clone)]
pub(crate) struct Note {
    pub(crate) code: &'static str,
    /// The element in question, or the parent of what `name` says.
    pub(crate) node: u32,
    pub(crate) name: String,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) params: Vec<(&'static str, String)>,
}

crate::shows_only!(Note { code, node });

/// The elements of one document.
#[derive(Clone)]
pub(crate) struct Arena {
    pub(crate) nodes: Vec<Node>,
    pub(crate) side: String,
    pub(crate) notes: Vec<Note>,
}

crate::shows_only!(Arena {});

/// A name that the open element already has.
#[derive(Debug)]
pub(crate) struct Seen {
    name: Span,
    field: u16,
    pub(crate) first: u32,
    last: u32,
    count: u32,
    /// JSON: came as `x`.
    pub(crate) plain: bool,
    /// JSON: came as `_x`.
    pub(crate) face: bool,
}

/// An arena being built.
pub(crate) struct Builder<'s> {
    pub(crate) source: &'s str,
    pub(crate) table: &'static Table,
    pub(crate) arena: Arena,
    pub(crate) depth_max: usize,
    elements_max: usize,
    /// Names of all open elements; each element's begin where its frame says.
    seen: Vec<Seen>,
    many: HashMap<(u32, Box<str>), usize>,
}

impl<'s> Builder<'s> {
    pub(crate) fn new(source: &'s str, limits: &Limits) -> Self {
        // A report has an element in about 25 bytes of JSON or 40 of XML.
        let nodes = Vec::with_capacity((source.len() / 24).min(limits.elements_max) + 8);
        Self {
            source,
            table: table::table(),
            arena: Arena { nodes, side: String::new(), notes: Vec::new() },
            depth_max: limits.depth_max.min(DEPTH_CEILING),
            elements_max: limits.elements_max.min(BYTES_CEILING),
            seen: Vec::with_capacity(64),
            many: HashMap::new(),
        }
    }

    pub(crate) fn node(&mut self, node: u32) -> &mut Node {
        &mut self.arena.nodes[node as usize]
    }

    pub(crate) fn text(&self, span: Span) -> &str {
        span.get(self.source, &self.arena.side)
    }

    /// Keeps a text that does not stand in the source.
    pub(crate) fn side(&mut self, write: impl FnOnce(&mut String)) -> Span {
        let start = self.arena.side.len();
        write(&mut self.arena.side);
        Span { start: start as u32 | Span::SIDE, len: (self.arena.side.len() - start) as u32 }
    }

    /// The type of a field, `table::NONE` if unknown.
    pub(crate) fn type_of(&self, field: u16) -> u16 {
        self.table.fields.get(usize::from(field)).map_or(table::NONE, |field| field.of)
    }

    pub(crate) fn kind(&self, of: u16) -> Option<Kind> {
        self.table.types.get(usize::from(of)).map(|of| of.kind)
    }

    /// Begins the children of an element.
    pub(crate) fn open(&self) -> usize {
        self.seen.len()
    }

    /// Ends them.
    pub(crate) fn close(&mut self, frame: usize, parent: u32) {
        if self.seen.len() - frame > NAMES_LINEAR_MAX {
            for seen in &self.seen[frame..] {
                let text = seen.name.get(self.source, &self.arena.side);
                self.many.remove(&(parent, Box::from(text)));
            }
        }
        self.seen.truncate(frame);
    }

    /// The record of a name in the open element.
    pub(crate) fn seen(&mut self, frame: usize, parent: u32, name: Span, field: u16) -> usize {
        let count = self.seen.len() - frame;
        let text = name.get(self.source, &self.arena.side);
        if count <= NAMES_LINEAR_MAX {
            let same = |seen: &Seen| {
                seen.field == field
                    && (field != table::NONE
                        || seen.name.get(self.source, &self.arena.side) == text)
            };
            if let Some(at) = self.seen[frame..].iter().position(same) {
                return frame + at;
            }
        } else if let Some(at) = self.many.get(&(parent, Box::from(text))) {
            return *at;
        }
        if count == NAMES_LINEAR_MAX {
            for (at, seen) in self.seen.iter().enumerate().skip(frame) {
                let text = seen.name.get(self.source, &self.arena.side);
                self.many.insert((parent, Box::from(text)), at);
            }
        }
        if count >= NAMES_LINEAR_MAX {
            self.many.insert((parent, Box::from(text)), self.seen.len());
        }
        self.seen.push(Seen {
            name,
            field,
            first: NIL,
            last: NIL,
            count: 0,
            plain: false,
            face: false,
        });
        self.seen.len() - 1
    }

    pub(crate) fn seen_mut(&mut self, at: usize) -> &mut Seen {
        &mut self.seen[at]
    }

    /// Adds a child.
    pub(crate) fn append(
        &mut self,
        parent: u32,
        seen: usize,
        mut node: Node,
    ) -> Result<u32, Finding> {
        let id = self.arena.nodes.len() as u32;
        self.room(node.start as usize)?;
        let seen = &mut self.seen[seen];
        (node.parent, node.index) = (parent, seen.count);
        seen.count += 1;
        let before = std::mem::replace(&mut seen.last, id);
        if before == NIL {
            seen.first = id;
        } else {
            self.arena.nodes[before as usize].same = id;
        }
        self.arena.nodes.push(node);
        let owner = &mut self.arena.nodes[parent as usize];
        let last = std::mem::replace(&mut owner.last, id);
        if last == NIL {
            owner.first = id;
        } else {
            self.arena.nodes[last as usize].next = id;
        }
        Ok(id)
    }

    /// Adds the root.
    pub(crate) fn root(&mut self, node: Node) -> Result<u32, Finding> {
        self.room(node.start as usize)?;
        self.arena.nodes.push(node);
        Ok(0)
    }

    fn room(&self, at: usize) -> Result<(), Finding> {
        if self.arena.nodes.len() < self.elements_max {
            return Ok(());
        }
        Err(self.refuse("too-many-elements", at, at, &[("limit", &self.elements_max.to_string())]))
    }

    pub(crate) fn too_deep(&self, at: usize) -> Finding {
        self.refuse("too-deep", at, at, &[("limit", &self.depth_max.to_string())])
    }

    pub(crate) fn note(&mut self, note: Note) {
        if self.arena.notes.len() < NOTES_MAX {
            self.arena.notes.push(note);
        }
    }

    /// A reason why no tree can be made.
    pub(crate) fn refuse(
        &self,
        code: &str,
        start: usize,
        end: usize,
        params: &[(&str, &str)],
    ) -> Finding {
        refusal(self.source.as_bytes(), code, start, end, params)
    }
}

/// A finding about the whole text, at a place of it.
pub(crate) fn refusal(
    source: &[u8],
    code: &str,
    start: usize,
    end: usize,
    params: &[(&str, &str)],
) -> Finding {
    let start = start.min(source.len());
    let before = &source[..start];
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let newlines = before.iter().filter(|byte| **byte == b'\n').count();
    let line_start =
        if line_start == 0 && before.starts_with(b"\xEF\xBB\xBF") { 3 } else { line_start };
    let letters = source[line_start..start].iter().filter(|byte| **byte & 0xC0 != 0x80).count();
    let position = Position {
        line: newlines as u32 + 1,
        column: letters as u32 + 1,
        start,
        end: end.clamp(start, source.len()),
    };
    Finding {
        code: code.to_owned(),
        severity: Severity::Error,
        expression: String::new(),
        position: Some(position),
        params: params.iter().map(|(name, value)| ((*name).to_owned(), shortened(value))).collect(),
    }
}

/// At most forty characters of a value: enough to recognise it, no more of a patient than needed.
pub(crate) fn shortened(value: &str) -> String {
    match value.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

/// The longest text that can be read under these limits.
pub(crate) const fn bytes_max(limits: &Limits) -> usize {
    if limits.bytes_max < BYTES_CEILING { limits.bytes_max } else { BYTES_CEILING }
}
