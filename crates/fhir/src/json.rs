//! The JSON reader: positions, duplicate keys, numbers as written, both faces of a primitive as
//! one.

use crate::arena::{Arena, Builder, Flags, NIL, Node, Note, Span};
use crate::finding::Finding;
use crate::limits::Limits;
use crate::table::{Kind, NONE};

mod scan;

/// Reads a resource.
pub(crate) fn read(source: &str, limits: &Limits) -> Result<Arena, Finding> {
    let at = if source.starts_with('\u{FEFF}') { 3 } else { 0 };
    let mut reader = Reader {
        build: Builder::new(source, limits),
        bytes: source.as_bytes(),
        at,
        depth: 0,
        objects: 0,
    };
    reader.document()?;
    Ok(reader.build.arena)
}

struct Reader<'s> {
    build: Builder<'s>,
    bytes: &'s [u8],
    at: usize,
    /// Open brackets of both kinds, and open objects.
    depth: usize,
    objects: usize,
}

/// Where an item belongs.
#[derive(Clone, Copy)]
struct Place {
    parent: u32,
    seen: usize,
    name: Span,
    field: u16,
    in_array: bool,
    is_face: bool,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<(), Finding> {
        self.space();
        let start = self.at;
        if self.peek() != Some(b'{') {
            return Err(self.syntax(if self.peek().is_none() { "a value" } else { "{" }));
        }
        let Some(kind) = self.resource_type()? else {
            return Err(self.build.refuse("no-resource", start, start + 1, &[]));
        };
        let of = self.build.table.resource(self.build.text(kind)).unwrap_or(NONE);
        let mut node = Node::new(kind, NONE, of, start, start);
        (node.value, node.flags) = (kind, Flags::RESOURCE.and(Flags::OBJECT));
        let root = self.build.root(node)?;
        self.members(root, of)?;
        self.space();
        if self.at < self.bytes.len() { Err(self.syntax("the end")) } else { Ok(()) }
    }

    /// Reads `{…}` into the children of a node, which it ends.
    fn members(&mut self, node: u32, of: u16) -> Result<(), Finding> {
        self.enter()?;
        let is_resource = self.build.node(node).flags.has(Flags::RESOURCE);
        let is_face = !self.build.node(node).flags.has(Flags::OBJECT);
        let frame = self.build.open();
        let start = self.at;
        self.at += 1;
        if !is_face {
            self.build.node(node).inner = self.at as u32;
        }
        let mut typed = false;
        self.space();
        if self.peek() == Some(b'}') {
            if is_face && self.build.node(node).value.is_some() {
                self.build.note(note("empty-element", node, String::new(), start, self.at + 1));
            }
        } else {
            loop {
                self.space();
                let key_start = self.at;
                let key = self.string("a key")?;
                let key_end = self.at;
                self.space();
                self.expect(b':', ":")?;
                self.space();
                if is_resource && self.build.text(key) == "resourceType" {
                    if std::mem::replace(&mut typed, true) {
                        let name = "resourceType".to_owned();
                        self.build.note(note("duplicate-key", node, name, key_start, key_end));
                    }
                    self.skip()?;
                } else {
                    self.member(node, of, frame, key, key_start..key_end)?;
                }
                self.space();
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(b'}') => break,
                    _ => return Err(self.syntax(", or }")),
                }
            }
        }
        self.at += 1;
        self.build.close(frame, node);
        if !is_face {
            self.build.node(node).end = self.at as u32;
        }
        self.leave(b'}');
        Ok(())
    }

    fn member(
        &mut self,
        parent: u32,
        of: u16,
        frame: usize,
        key: Span,
        at: std::ops::Range<usize>,
    ) -> Result<(), Finding> {
        let (name, field, is_face) = self.named(of, key);
        let seen = self.build.seen(frame, parent, name, field);
        let record = self.build.seen_mut(seen);
        let again =
            std::mem::replace(if is_face { &mut record.face } else { &mut record.plain }, true);
        // The other face may have come first: then item for item it is the same element.
        let mut twin = if again { NIL } else { record.first };
        if again {
            let name = self.build.text(key).to_owned();
            self.build.note(note("duplicate-key", parent, name, at.start, at.end));
        }
        let mut place = Place { parent, seen, name, field, in_array: false, is_face };
        if self.peek() != Some(b'[') {
            return self.item(place, twin).map(drop);
        }
        place.in_array = true;
        self.enter()?;
        let start = self.at;
        self.at += 1;
        self.space();
        if self.peek() == Some(b']') {
            let name = self.build.text(name).to_owned();
            self.build.note(note("empty-array", parent, name, start, self.at + 1));
        } else {
            loop {
                self.space();
                let next = if twin == NIL { NIL } else { self.build.node(twin).same };
                self.item(place, twin)?;
                twin = next;
                self.space();
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(b']') => break,
                    _ => return Err(self.syntax(", or ]")),
                }
            }
        }
        self.at += 1;
        self.leave(b']');
        Ok(())
    }

    /// The element that a key names, and whether as `_x`.
    fn named(&self, of: u16, key: Span) -> (Span, u16, bool) {
        let text = self.build.text(key);
        let find = |name: &str| if of == NONE { None } else { self.build.table.field(of, name) };
        if let Some(field) = find(text) {
            return (key, field, false);
        }
        let Some(rest) = text.strip_prefix('_').filter(|rest| !rest.is_empty()) else {
            return (key, NONE, false);
        };
        let name = key.without_first();
        let field = find(rest);
        // What is no object or array of them is kept as an unknown element `_x`.
        let can_be_face = self.holds_objects(field.is_some());
        match field {
            Some(field) if can_be_face => {
                let known = &self.build.table.fields[usize::from(field)];
                let primitive = matches!(self.build.kind(known.of), Some(Kind::Primitive(_)));
                if primitive && !known.is_attribute {
                    (name, field, true)
                } else {
                    (key, NONE, false)
                }
            }
            None if can_be_face => (name, NONE, true),
            _ => (key, NONE, false),
        }
    }

    /// Reads one value; `twin` is the element that it belongs to, if that exists.
    fn item(&mut self, place: Place, twin: u32) -> Result<(), Finding> {
        let start = self.at;
        let mut flags = if place.in_array { Flags::IN_ARRAY } else { Flags::default() };
        let of = self.build.type_of(place.field);
        let mut value = Span::NONE;
        match self.peek() {
            Some(b'{') if place.is_face => return self.face(place, twin, of),
            Some(b'{') => return self.object(place, of, flags),
            Some(b'"') => {
                value = self.string("a value")?;
                flags = flags.and(Flags::STRING);
            }
            Some(b'n') => {
                self.word("null")?;
                flags = flags.and(Flags::NULL);
            }
            Some(b't' | b'f') => {
                self.word(if self.peek() == Some(b't') { "true" } else { "false" })?;
                value = Span::source(start, self.at);
                flags = flags.and(Flags::BOOL);
            }
            Some(b'-' | b'0'..=b'9') => {
                value = self.number()?;
                flags = flags.and(Flags::NUMBER);
            }
            Some(b'[') => {
                self.skip()?;
                value = Span::source(start, self.at);
                flags = flags.and(Flags::RAW);
            }
            _ => return Err(self.syntax("a value")),
        }
        let end = self.at;
        if place.is_face && !flags.has(Flags::NULL) {
            let name = self.build.text(place.name).to_owned();
            let mut wrong = note("wrong-json-type", place.parent, name.clone(), start, end);
            wrong.params = vec![("element", format!("_{name}")), ("expected", "object".to_owned())];
            self.build.note(wrong);
            // What stands in its place keeps the following items where they belong.
            let list = if place.in_array { Flags::IN_ARRAY } else { Flags::default() };
            (flags, value) = (list.and(Flags::NULL), Span::NONE);
        }
        if twin != NIL {
            if place.is_face {
                return Ok(());
            }
            // A list where none may be is found with the element that it has made.
            if !self.build.node(twin).flags.has(Flags::IN_ARRAY) {
                self.face_form(place, twin, false);
            }
            let node = self.build.node(twin);
            node.flags = node.flags.and(flags);
            node.value = value;
            if !flags.has(Flags::NULL) {
                (node.start, node.end) = (start as u32, end as u32);
            }
            return Ok(());
        }
        let mut node = Node::new(place.name, place.field, of, start, end);
        (node.value, node.flags) = (value, flags);
        self.build.append(place.parent, place.seen, node).map(drop)
    }

    /// `{…}` of a `_x`.
    fn face(&mut self, place: Place, twin: u32, of: u16) -> Result<(), Finding> {
        let start = self.at;
        let target = if twin == NIL || self.build.node(twin).flags.has(Flags::OBJECT) {
            let mut node = Node::new(place.name, place.field, of, start, start);
            node.flags = if place.in_array { Flags::IN_ARRAY } else { Flags::default() };
            self.build.append(place.parent, place.seen, node)?
        } else {
            self.face_form(place, twin, place.in_array);
            twin
        };
        self.build.node(target).flags = self.build.node(target).flags.and(Flags::FACE);
        // An unknown primitive may have what every element may have.
        let of = if of == NONE { self.build.table.element() } else { of };
        self.members(target, of)?;
        let end = self.at as u32;
        let node = self.build.node(target);
        if !node.value.is_some() {
            (node.start, node.end) = (start as u32, end);
        }
        Ok(())
    }

    /// `_x` is a list exactly where `x` is one (R4 JSON, "JSON representation of primitive
    /// elements"). Where it stands alone it is looked at as the element is.
    fn face_form(&mut self, place: Place, twin: u32, is_list: bool) {
        let may_repeat = match self.build.table.fields.get(usize::from(place.field)) {
            Some(field) if self.build.node(twin).index == 0 => field.is_array,
            _ => return,
        };
        if is_list != may_repeat {
            let code = if may_repeat { "array-expected" } else { "array-not-allowed" };
            let name = self.build.text(place.name).to_owned();
            let (start, end) =
                (self.build.node(twin).start as usize, self.build.node(twin).end as usize);
            let mut wrong = note(code, place.parent, name.clone(), start, end);
            wrong.params = vec![("element", format!("_{name}"))];
            self.build.note(wrong);
        }
    }

    /// `{…}` of a complex element or a resource.
    fn object(&mut self, place: Place, of: u16, flags: Flags) -> Result<(), Finding> {
        let start = self.at;
        let mut node = Node::new(place.name, place.field, of, start, start);
        node.flags = flags.and(Flags::OBJECT);
        let mut inner = if self.build.kind(of) == Some(Kind::Complex) { of } else { NONE };
        let is_container = self.build.kind(of) == Some(Kind::AnyResource);
        if let Some(kind) = if is_container { self.resource_type()? } else { None } {
            inner = self.build.table.resource(self.build.text(kind)).unwrap_or(NONE);
            (node.value, node.of) = (kind, inner);
            node.flags = node.flags.and(Flags::RESOURCE);
        }
        let id = self.build.append(place.parent, place.seen, node)?;
        self.members(id, inner)
    }
}

fn note(code: &'static str, node: u32, name: String, start: usize, end: usize) -> Note {
    let params = if name.is_empty() { Vec::new() } else { vec![("element", name.clone())] };
    Note { code, node, name, start, end, params }
}
