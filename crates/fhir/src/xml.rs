//! The XML reader, over quick-xml's events: positions, namespaces, narrative as it stands.
//!
//! Document types and all entities but the five predefined ones are refused. Comments are passed
//! over; of processing instructions FHIR has none, which the base check says.

use quick_xml::Reader as Events;
use quick_xml::events::{BytesStart, Event};

use crate::arena::{Arena, Builder, Flags, NIL, Node, Span};
use crate::finding::Finding;
use crate::limits::Limits;
use crate::namespaces::{self, Scopes};
use crate::table::{Kind, NONE};
use crate::xml_text;

mod tags;

/// Reads a resource.
pub(crate) fn read(source: &str, limits: &Limits) -> Result<Arena, Finding> {
    let base = if source.starts_with('\u{FEFF}') { 3 } else { 0 };
    let build = Builder::new(source, limits);
    if let Some(at) = xml_text::forbidden(source) {
        return Err(syntax(&build, at, "character"));
    }
    let mut reader = Reader::new(build, base);
    reader.document()?;
    Ok(reader.build.arena)
}

/// Whether a text is the `div` of a narrative: one well-formed element in the namespace of XHTML.
pub(crate) fn narrative(text: &str) -> Result<(), Finding> {
    let build = Builder::new(text, &Limits::default());
    if let Some(at) = xml_text::forbidden(text) {
        return Err(syntax(&build, at, "character"));
    }
    let mut reader = Reader::new(build, 0);
    let start = loop {
        let start = reader.at();
        let (tag, depth) = match reader.next()? {
            Event::Start(tag) => (tag, 1),
            Event::Empty(tag) => (tag, 0),
            Event::Text(text) if text.trim_ascii().is_empty() => continue,
            _ => return Err(syntax(&reader.build, start, "no-div")),
        };
        reader.scopes.enter();
        let tag = reader.tag(&tag, start)?;
        reader.pass_content(&tag, depth)?;
        if tag.local != "div" {
            return Err(syntax(&reader.build, start, "no-div"));
        }
        if tag.uri != namespaces::XHTML {
            return Err(syntax(&reader.build, start, "wrong-namespace"));
        }
        break reader.at();
    };
    match text[start..].trim_ascii() {
        "" => Ok(()),
        _ => Err(syntax(&reader.build, start, "content-after-root")),
    }
}

struct Reader<'s> {
    build: Builder<'s>,
    events: Events<&'s [u8]>,
    base: usize,
    open: Vec<Open>,
    /// Nesting of elements.
    depth: usize,
    scopes: Scopes<'s>,
    /// Attributes (name, raw value) of the tag at hand.
    attributes: Vec<(&'s str, &'s str)>,
    /// The root has ended.
    done: bool,
}

/// An element whose end is awaited.
struct Open {
    node: u32,
    /// Type whose fields its children are.
    of: u16,
    frame: usize,
    role: Role,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Its children are elements.
    Element,
    /// Its one child is a resource (`contained`, `resource`).
    Container,
    /// The resource inside.
    Resource,
}

/// A start tag, taken apart.
struct Tag<'s> {
    start: usize,
    end: usize,
    name: Span,
    /// Bytes of the name with its prefix.
    name_len: usize,
    prefix: &'s str,
    local: &'s str,
    /// Of its namespace; empty if it has none.
    uri: &'s str,
    /// The namespace is declared in the tag itself.
    declared_here: bool,
}

impl<'s> Reader<'s> {
    fn new(build: Builder<'s>, base: usize) -> Self {
        Self {
            events: Events::from_str(&build.source[base..]),
            build,
            base,
            open: Vec::new(),
            depth: 0,
            scopes: Scopes::default(),
            attributes: Vec::with_capacity(8),
            done: false,
        }
    }

    fn document(&mut self) -> Result<(), Finding> {
        // Those before the resource have no element yet that they could be told at.
        let mut instructions = Vec::new();
        loop {
            let start = self.at();
            let event = self.next()?;
            match event {
                Event::Start(tag) => self.start(&tag, start, false)?,
                Event::Empty(tag) => self.start(&tag, start, true)?,
                Event::End(_) => self.end(),
                Event::Text(text) if text.bytes().all(|byte| byte.is_ascii_whitespace()) => {}
                Event::Text(_) | Event::CData(_) => self.stray(start)?,
                Event::GeneralRef(name) => {
                    self.entity(&name, start)?;
                    self.stray(start)?;
                }
                Event::PI(_) => match self.open.last().map(|open| open.node) {
                    Some(node) => self.note("processing-instruction", node, start, self.at(), &[]),
                    None => instructions.push((start, self.at())),
                },
                Event::Comment(_) => {}
                Event::Decl(declaration) => {
                    // What stands before it makes it an instruction, which XML does not allow.
                    if !self.build.source[..start].trim_start_matches('\u{FEFF}').is_empty() {
                        instructions.push((start, self.at()));
                    }
                    if let Some(Ok(encoding)) = declaration.encoding() {
                        self.encoding(&encoding, start)?;
                    }
                }
                Event::DocType(_) => return Err(self.refuse("dtd-refused", start, &[])),
                Event::Eof if self.done => {
                    for (start, end) in instructions {
                        self.note("processing-instruction", 0, start, end, &[]);
                    }
                    return Ok(());
                }
                Event::Eof if self.open.is_empty() => {
                    return Err(self.refuse("no-resource", start, &[]));
                }
                Event::Eof => return Err(syntax(&self.build, start, "unclosed-tag")),
            }
        }
    }

    fn start(&mut self, tag: &BytesStart<'s>, start: usize, empty: bool) -> Result<(), Finding> {
        if self.done {
            return Err(syntax(&self.build, start, "content-after-root"));
        }
        if self.depth >= self.build.depth_max {
            return Err(self.build.too_deep(start));
        }
        self.scopes.enter();
        let tag = self.tag(tag, start)?;
        let (parent, of, frame, role) = match self.open.last() {
            None => return self.root(&tag, empty),
            Some(open) => (open.node, open.of, open.frame, open.role),
        };
        // Types of resources begin with a capital; anything else in a container is a stray element.
        if role == Role::Container
            && tag.local.starts_with(|first: char| first.is_ascii_uppercase())
        {
            return self.resource(&tag, parent, frame, empty);
        }
        let field = if of == NONE { None } else { self.build.table.field(of, tag.local) };
        let field = field.unwrap_or(NONE);
        let child = self.build.type_of(field);
        let kind = self.build.kind(child);
        let seen = self.build.seen(frame, parent, tag.name, field);
        let mut node = Node::new(tag.name, field, child, tag.start, tag.end);
        let expected = if kind == Some(Kind::Xhtml) { namespaces::XHTML } else { namespaces::FHIR };
        if tag.uri != expected {
            node.flags = node.flags.and(Flags::FOREIGN);
        }
        if kind == Some(Kind::Xhtml) {
            let id = self.narrative(&tag, parent, seen, node, empty)?;
            self.namespace(&tag, id, expected);
            return Ok(());
        }
        if !empty && !matches!(kind, Some(Kind::Primitive(_))) {
            node.inner = tag.end as u32;
        }
        let id = self.build.append(parent, seen, node)?;
        self.namespace(&tag, id, expected);
        let role = if kind == Some(Kind::AnyResource) { Role::Container } else { Role::Element };
        let frame = self.build.open();
        self.attributes(id, child, frame)?;
        self.open.push(Open { node: id, of: child, frame, role });
        self.depth += 1;
        if empty {
            self.end();
        }
        Ok(())
    }

    fn root(&mut self, tag: &Tag<'s>, empty: bool) -> Result<(), Finding> {
        if tag.uri != namespaces::FHIR {
            let params =
                [("element", tag.local), ("value", tag.uri), ("expected", namespaces::FHIR)];
            return Err(self.build.refuse("wrong-namespace", tag.start, tag.end, &params));
        }
        let of = self.build.table.resource(tag.local).unwrap_or(NONE);
        let mut node = Node::new(tag.name, NONE, of, tag.start, tag.end);
        (node.value, node.flags) = (tag.name, Flags::RESOURCE);
        let node = self.build.root(node)?;
        self.open_resource(tag, node, of, empty)
    }

    /// The resource inside a container.
    fn resource(
        &mut self,
        tag: &Tag<'s>,
        container: u32,
        frame: usize,
        empty: bool,
    ) -> Result<(), Finding> {
        let of = self.build.table.resource(tag.local).unwrap_or(NONE);
        let mut node = container;
        if self.build.node(container).flags.has(Flags::RESOURCE) {
            self.note("two-resources", container, tag.start, tag.end, &[("type", tag.local)]);
            // Kept beside the first one, as if it had a container of its own.
            let first = self.build.node(container).clone();
            let place = self
                .open
                .len()
                .checked_sub(2)
                .map(|above| (self.open[above].node, self.open[above].frame));
            let (parent, outer) = place.unwrap_or((container, frame));
            let seen = self.build.seen(outer, parent, first.name, first.field);
            let again = Node::new(first.name, first.field, of, tag.start, tag.end);
            node = self.build.append(parent, seen, again)?;
        }
        let inside = self.build.node(node);
        (inside.of, inside.value) = (of, tag.name);
        inside.flags = inside.flags.and(Flags::RESOURCE);
        (inside.start, inside.end) = (tag.start as u32, tag.end as u32);
        self.namespace(tag, node, namespaces::FHIR);
        self.open_resource(tag, node, of, empty)
    }

    /// Notes a namespace that is not the one of the element.
    fn namespace(&mut self, tag: &Tag<'s>, node: u32, expected: &str) {
        if tag.uri != expected {
            let params = [("element", tag.local), ("value", tag.uri), ("expected", expected)];
            self.note("wrong-namespace", node, tag.start, tag.end, &params);
        }
    }

    fn open_resource(
        &mut self,
        tag: &Tag<'s>,
        node: u32,
        of: u16,
        empty: bool,
    ) -> Result<(), Finding> {
        self.build.node(node).inner = if empty { NIL } else { tag.end as u32 };
        let frame = self.build.open();
        self.attributes(node, of, frame)?;
        self.open.push(Open { node, of, frame, role: Role::Resource });
        if empty {
            self.end();
        }
        Ok(())
    }

    /// Ends the innermost element; quick-xml has compared the names.
    fn end(&mut self) {
        let end = self.at() as u32;
        self.scopes.leave();
        if let Some(open) = self.open.pop() {
            // A resource counts with the element around it.
            self.depth -= usize::from(open.role != Role::Resource);
            self.build.close(open.frame, open.node);
            let node = self.build.node(open.node);
            // A container is where its resource is.
            if open.role != Role::Container || !node.flags.has(Flags::RESOURCE) {
                node.end = end;
            }
        }
        self.done = self.open.is_empty();
    }

    /// Takes the attributes that FHIR knows: `value`, and fields that are attributes (`id`, `url`).
    fn attributes(&mut self, node: u32, of: u16, frame: usize) -> Result<(), Finding> {
        let attributes = std::mem::take(&mut self.attributes);
        let is_resource = self.build.node(node).flags.has(Flags::RESOURCE);
        let of = if of == NONE { self.build.table.element() } else { of };
        for (key, raw) in &attributes {
            if *key == "xmlns" || key.starts_with("xmlns:") || self.is_location(key) {
                continue;
            }
            let start = self.offset(key);
            let value_start = self.offset(raw);
            let end = value_start + raw.len() + 1;
            let value = self.unescape(raw, value_start)?;
            let field = self.build.table.field(of, key);
            let field =
                field.filter(|field| self.build.table.fields[usize::from(*field)].is_attribute);
            if let Some(field) = field.filter(|_| !is_resource) {
                let name = Span::source(start, start + key.len());
                let seen = self.build.seen(frame, node, name, field);
                let mut child = Node::new(name, field, self.build.type_of(field), start, end);
                (child.value, child.flags) = (value, Flags::ATTRIBUTE);
                self.build.append(node, seen, child)?;
            } else if *key == "value" && !is_resource {
                self.build.node(node).value = value;
            } else {
                self.note("unknown-attribute", node, start, end, &[("attribute", key)]);
            }
        }
        self.attributes = attributes;
        Ok(())
    }

    /// Whether an attribute says where a schema lies: the only one of another namespace that FHIR
    /// knows.
    fn is_location(&self, key: &str) -> bool {
        let Some((prefix, local)) = key.split_once(':') else { return false };
        let names = ["schemaLocation", "noNamespaceSchemaLocation"];
        names.contains(&local)
            && self.scopes.find(prefix).is_some_and(|(uri, _)| uri == namespaces::SCHEMA)
    }

    /// Takes a narrative as it stands, after a look that it is well-formed.
    fn narrative(
        &mut self,
        tag: &Tag<'s>,
        parent: u32,
        seen: usize,
        mut node: Node,
        empty: bool,
    ) -> Result<u32, Finding> {
        let used = self.pass_content(tag, usize::from(!empty))?;
        self.scopes.leave();
        let end = self.at();
        node.end = end as u32;
        node.value = if used.is_empty() {
            Span::source(tag.start, end)
        } else {
            // Outside of this document the text must say for itself what its prefixes mean.
            let source = self.build.source;
            let name_end = tag.start + 1 + tag.name_len;
            let (head, rest) = (&source[tag.start..name_end], &source[name_end..end]);
            let declarations: String = used
                .iter()
                .map(|(prefix, uri)| {
                    let colon = if prefix.is_empty() { "" } else { ":" };
                    format!(" xmlns{colon}{prefix}=\"{uri}\"")
                })
                .collect();
            self.build.side(|side| side.extend([head, &declarations, rest]))
        };
        self.build.append(parent, seen, node)
    }
}

fn syntax(build: &Builder<'_>, at: usize, reason: &str) -> Finding {
    build.refuse("xml-syntax", at, at + 1, &[("reason", reason)])
}
