//! Tags, attributes, references and the content of narratives.

use quick_xml::errors::IllFormedError;
use quick_xml::events::{BytesStart, Event};

use super::{Reader, Tag, syntax};
use crate::arena::{Note, Span, shortened};
use crate::finding::Finding;
use crate::{namespaces, xml_text};

/// More attributes than any element of FHIR or XHTML has.
const ATTRIBUTES_MAX: usize = 64;

impl<'s> Reader<'s> {
    /// Passes over the content of a narrative to the end of its element. Gives the prefixes used in
    /// it that are declared outside, with what they mean.
    pub(super) fn pass_content(
        &mut self,
        div: &Tag<'s>,
        mut depth: usize,
    ) -> Result<Vec<(&'s str, &'s str)>, Finding> {
        let mut used = Vec::new();
        if !div.declared_here && div.uri == namespaces::XHTML {
            used.push((div.prefix, div.uri));
        }
        let outside = self.scopes.depth();
        self.used_prefixes(outside, &mut used, div.start)?;
        while depth > 0 {
            let start = self.at();
            match self.next()? {
                Event::Start(inner) => {
                    depth += 1;
                    if depth > self.build.depth_max {
                        return Err(self.build.too_deep(start));
                    }
                    self.scopes.enter();
                    let inner = self.tag(&inner, start)?;
                    self.used(outside, inner.prefix, &mut used, start)?;
                    self.used_prefixes(outside, &mut used, start)?;
                }
                Event::Empty(inner) => {
                    self.scopes.enter();
                    let inner = self.tag(&inner, start)?;
                    self.used(outside, inner.prefix, &mut used, start)?;
                    self.used_prefixes(outside, &mut used, start)?;
                    self.scopes.leave();
                }
                Event::End(_) => {
                    depth -= 1;
                    if depth > 0 {
                        self.scopes.leave();
                    }
                }
                Event::GeneralRef(name) => self.entity(&name, start)?,
                Event::DocType(_) => return Err(self.refuse("dtd-refused", start, &[])),
                Event::Eof => return Err(syntax(&self.build, div.start, "unclosed-tag")),
                _ => {}
            }
        }
        Ok(used)
    }

    /// Looks at the prefixes of the attributes at hand.
    pub(super) fn used_prefixes(
        &self,
        outside: u32,
        used: &mut Vec<(&'s str, &'s str)>,
        start: usize,
    ) -> Result<(), Finding> {
        for (key, _) in &self.attributes {
            if let Some((prefix, _)) = key.split_once(':').filter(|(prefix, _)| *prefix != "xmlns")
            {
                self.used(outside, prefix, used, start)?;
            }
        }
        Ok(())
    }

    pub(super) fn used(
        &self,
        outside: u32,
        prefix: &'s str,
        used: &mut Vec<(&'s str, &'s str)>,
        start: usize,
    ) -> Result<(), Finding> {
        if prefix.is_empty() || prefix == "xml" {
            return Ok(());
        }
        let Some((uri, depth)) = self.scopes.find(prefix) else {
            return Err(syntax(&self.build, start, "undeclared-prefix"));
        };
        if depth < outside && !used.iter().any(|(known, _)| *known == prefix) {
            used.push((prefix, uri));
        }
        Ok(())
    }

    pub(super) fn tag(&mut self, tag: &BytesStart<'s>, start: usize) -> Result<Tag<'s>, Finding> {
        let source = self.build.source;
        let end = self.at();
        self.read_attributes(tag, start)?;
        for (key, value) in &self.attributes {
            let declared = match key.strip_prefix("xmlns") {
                Some("") => self.scopes.declare("", value),
                Some(prefix) if prefix.starts_with(':') => self.scopes.declare(&prefix[1..], value),
                _ => true,
            };
            if !declared {
                return Err(self.refuse("too-many-attributes", start, &[]));
            }
        }
        let name_len = tag.name().as_ref().len();
        let qualified = &source[start + 1..start + 1 + name_len];
        let (prefix, local) = qualified.split_once(':').unwrap_or(("", qualified));
        let found = self.scopes.find(prefix);
        if found.is_none() && !prefix.is_empty() {
            return Err(syntax(&self.build, start, "undeclared-prefix"));
        }
        let declared_here = found.is_some_and(|(_, depth)| depth == self.scopes.depth());
        let uri = found.map_or("", |(uri, _)| uri);
        let local_start = start + 1 + name_len - local.len();
        let name = Span::source(local_start, local_start + local.len());
        Ok(Tag { start, end, name_len, name, prefix, local, uri, declared_here })
    }

    /// Takes the attributes of a tag, raw; refuses what is not well-formed.
    pub(super) fn read_attributes(
        &mut self,
        tag: &BytesStart<'s>,
        start: usize,
    ) -> Result<(), Finding> {
        self.attributes.clear();
        let source = self.build.source;
        let name_end = start + 1 + tag.name().as_ref().len();
        if !source.get(start + 1..name_end).is_some_and(xml_text::is_name) {
            return Err(syntax(&self.build, start, "name"));
        }
        // From the source itself, which outlives the event.
        let mut rest = &source[name_end..name_end + tag.attributes_raw().len()];
        while let Some(next) = xml_text::attribute(&mut rest) {
            let Some((key, value)) = next else {
                return Err(syntax(&self.build, start, "attribute"));
            };
            if self.attributes.iter().any(|(known, _)| *known == key) {
                return Err(syntax(&self.build, start, "attribute"));
            }
            if self.attributes.len() == ATTRIBUTES_MAX {
                let limit = ATTRIBUTES_MAX.to_string();
                return Err(self.refuse("too-many-attributes", start, &[("limit", &limit)]));
            }
            if value.contains('&') {
                let at = self.offset(value);
                xml_text::unescape(value).map_err(|inside| self.entity_refused(at + inside))?;
            }
            self.attributes.push((key, value));
        }
        Ok(())
    }

    /// A value with its references resolved and its white space normalised, as XML wants it.
    pub(super) fn unescape(&mut self, raw: &'s str, start: usize) -> Result<Span, Finding> {
        if !raw.bytes().any(|byte| matches!(byte, b'&' | b'\t' | b'\n' | b'\r')) {
            return Ok(Span::source(start, start + raw.len()));
        }
        match xml_text::unescape(raw) {
            Ok(text) => Ok(self.build.side(|side| side.push_str(&text))),
            Err(at) => Err(self.entity_refused(start + at)),
        }
    }

    /// Only the predefined entities and references to characters may be used.
    pub(super) fn entity(&self, name: &str, start: usize) -> Result<(), Finding> {
        if xml_text::reference(name).is_some() { Ok(()) } else { Err(self.entity_refused(start)) }
    }

    pub(super) fn entity_refused(&self, at: usize) -> Finding {
        let rest = &self.build.source[at..];
        let end =
            rest.bytes().take(64).position(|byte| byte == b';').map_or(at + 1, |end| at + end + 1);
        self.build.refuse("entity-refused", at, end, &[("entity", &self.build.source[at..end])])
    }

    /// Text where FHIR has none.
    pub(super) fn stray(&mut self, start: usize) -> Result<(), Finding> {
        let Some(node) = self.open.last().map(|open| open.node) else {
            return Err(syntax(&self.build, start, "content-outside-root"));
        };
        let end = self.at();
        let text = self.build.source[start..end].trim();
        self.note("unexpected-text", node, start, end, &[("value", text)]);
        Ok(())
    }

    pub(super) fn encoding(&self, encoding: &str, start: usize) -> Result<(), Finding> {
        let readable = ["utf-8", "utf8", "us-ascii", "ascii"];
        if readable.iter().any(|known| encoding.eq_ignore_ascii_case(known)) {
            return Ok(());
        }
        Err(self.refuse("not-utf8", start, &[("encoding", encoding)]))
    }

    pub(super) fn next(&mut self) -> Result<Event<'s>, Finding> {
        self.events.read_event().map_err(|error| {
            let at = self.base + self.events.error_position() as usize;
            let reason = match error {
                quick_xml::Error::Syntax(_) => "unclosed-tag",
                quick_xml::Error::IllFormed(IllFormedError::MismatchedEndTag {
                    expected,
                    found,
                }) => {
                    let params = [("expected", &*expected), ("found", &*found)];
                    return self.build.refuse("mismatched-end-tag", at, at + 1, &params);
                }
                quick_xml::Error::IllFormed(IllFormedError::UnclosedReference) => "reference",
                quick_xml::Error::IllFormed(_) => "unmatched-end-tag",
                _ => "markup",
            };
            syntax(&self.build, at, reason)
        })
    }

    pub(super) fn at(&self) -> usize {
        self.base + self.events.buffer_position() as usize
    }

    /// Where a piece of the source stands in it.
    pub(super) fn offset(&self, piece: &str) -> usize {
        piece.as_ptr() as usize - self.build.source.as_ptr() as usize
    }

    pub(super) fn note(
        &mut self,
        code: &'static str,
        node: u32,
        start: usize,
        end: usize,
        params: &[(&'static str, &str)],
    ) {
        let params = params.iter().map(|(name, value)| (*name, shortened(value))).collect();
        self.build.note(Note { code, node, name: String::new(), start, end, params });
    }

    pub(super) fn refuse(&self, code: &str, start: usize, params: &[(&str, &str)]) -> Finding {
        self.build.refuse(code, start, self.at().max(start), params)
    }
}
