//! A tree from a text, and a text from a tree, in either encoding.

use crate::arena::{bytes_max, refusal};
use crate::{Finding, Format, Limits, Tree, json, xml};

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
        Ok(Self::of(source.to_owned(), format, arena))
    }
    /// Writes either.
    pub fn write(&self, format: Format) -> String {
        match format {
            Format::Json => self.to_json(),
            Format::Xml => self.to_xml(),
        }
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
