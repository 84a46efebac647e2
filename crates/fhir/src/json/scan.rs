//! The words of JSON: strings, numbers, white space, and passing over what is not kept.

use super::Reader;
use crate::arena::Span;
use crate::finding::Finding;
use crate::lexical::is_json_number;

impl Reader<'_> {
    /// Looks ahead for the `resourceType` of the object that begins here.
    pub(super) fn resource_type(&mut self) -> Result<Option<Span>, Finding> {
        let begin = self.at;
        let mut nesting = 0_usize;
        let mut found = None;
        while let Some(byte) = self.peek() {
            match byte {
                b'{' | b'[' => nesting += 1,
                b'}' | b']' if nesting <= 1 => break,
                b'}' | b']' => nesting -= 1,
                b'"' if nesting > 1 => {
                    self.pass_string();
                    continue;
                }
                b'"' => {
                    let key = self.string("a key")?;
                    self.space();
                    // A string followed by a colon is a key; here only keys of this object are met.
                    if self.peek() == Some(b':') && self.build.text(key) == "resourceType" {
                        self.at += 1;
                        self.space();
                        if self.peek() == Some(b'"') {
                            found = Some(self.string("a value")?);
                        }
                        break;
                    }
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
        self.at = begin;
        Ok(found)
    }

    /// Whether the value that begins here is an object or an array of objects and `null`. An array
    /// that has neither counts if the caller would have it so.
    pub(super) fn holds_objects(&self, empty_counts: bool) -> bool {
        let mut rest = &self.bytes[self.at..];
        if !rest.starts_with(b"[") {
            return rest.starts_with(b"{");
        }
        rest = rest[1..].trim_ascii_start();
        while let Some(after) = rest.strip_prefix(b"null").or_else(|| rest.strip_prefix(b",")) {
            rest = after.trim_ascii_start();
        }
        rest.starts_with(b"{") || (rest.starts_with(b"]") && empty_counts)
    }

    pub(super) fn pass_string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                return;
            }
        }
    }

    /// Reads a value without keeping it.
    pub(super) fn skip(&mut self) -> Result<(), Finding> {
        let close = match self.peek() {
            Some(b'"') => return self.string("a value").map(drop),
            Some(b't') => return self.word("true"),
            Some(b'f') => return self.word("false"),
            Some(b'n') => return self.word("null"),
            Some(b'-' | b'0'..=b'9') => return self.number().map(drop),
            Some(b'{') => b'}',
            Some(b'[') => b']',
            _ => return Err(self.syntax("a value")),
        };
        self.enter()?;
        self.at += 1;
        self.space();
        if self.peek() != Some(close) {
            loop {
                self.space();
                if close == b'}' {
                    self.string("a key")?;
                    self.space();
                    self.expect(b':', ":")?;
                    self.space();
                }
                self.skip()?;
                self.space();
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(byte) if byte == close => break,
                    _ => return Err(self.syntax(if close == b'}' { ", or }" } else { ", or ]" })),
                }
            }
        }
        self.at += 1;
        self.leave(close);
        Ok(())
    }

    pub(super) fn number(&mut self) -> Result<Span, Finding> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) {
            self.at += 1;
        }
        let span = Span::source(start, self.at);
        if is_json_number(self.build.text(span)) {
            return Ok(span);
        }
        self.at = start;
        Err(self.syntax("a number"))
    }

    pub(super) fn string(&mut self, expected: &str) -> Result<Span, Finding> {
        if self.peek() != Some(b'"') {
            return Err(self.syntax(expected));
        }
        self.at += 1;
        let start = self.at;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Span::source(start, self.at - 1));
                }
                Some(b'\\') => return self.escaped(start),
                Some(0..0x20) | None => return Err(self.syntax("\"")),
                Some(_) => self.at += 1,
            }
        }
    }

    /// The rest of a string with escapes; `at` is on the first backslash.
    pub(super) fn escaped(&mut self, start: usize) -> Result<Span, Finding> {
        let mut text = self.build.source[start..self.at].to_owned();
        loop {
            let run = self.at;
            while !matches!(self.peek(), Some(b'"' | b'\\' | 0..0x20) | None) {
                self.at += 1;
            }
            text.push_str(&self.build.source[run..self.at]);
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => text.push(self.escape()?),
                _ => return Err(self.syntax("\"")),
            }
        }
        self.at += 1;
        Ok(self.build.side(|side| side.push_str(&text)))
    }

    pub(super) fn escape(&mut self) -> Result<char, Finding> {
        let start = self.at;
        self.at += 2;
        Ok(match self.bytes.get(start + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let lone = |end| self.build.refuse("lone-surrogate", start, end, &[]);
                let high = self.hex(self.at).ok_or_else(|| self.syntax_at(start, "an escape"))?;
                self.at += 4;
                match high {
                    0xD800..0xDC00 => {
                        let escaped = self.bytes.get(self.at..self.at + 2) == Some(b"\\u");
                        let low = if escaped { self.hex(self.at + 2) } else { None };
                        let low = low
                            .filter(|low| (0xDC00..0xE000).contains(low))
                            .ok_or_else(|| lone(self.at))?;
                        self.at += 6;
                        let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                        char::from_u32(code).ok_or_else(|| lone(self.at))?
                    }
                    code => char::from_u32(code).ok_or_else(|| lone(self.at))?,
                }
            }
            _ => return Err(self.syntax_at(start, "an escape")),
        })
    }

    pub(super) fn hex(&self, at: usize) -> Option<u32> {
        let digits = self.bytes.get(at..at + 4)?;
        digits.iter().try_fold(0, |code, digit| Some(code << 4 | char::from(*digit).to_digit(16)?))
    }

    pub(super) fn word(&mut self, word: &str) -> Result<(), Finding> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(self.syntax("a value"));
        }
        self.at += word.len();
        Ok(())
    }

    pub(super) fn enter(&mut self) -> Result<(), Finding> {
        self.depth += 1;
        let objects = usize::from(self.peek() == Some(b'{'));
        self.objects += objects;
        // An array and its items are one level of elements.
        if self.objects > self.build.depth_max || self.depth > self.build.depth_max * 2 {
            Err(self.build.too_deep(self.at))
        } else {
            Ok(())
        }
    }

    /// The array or object that this bracket closes has ended.
    pub(super) const fn leave(&mut self, close: u8) {
        self.depth -= 1;
        self.objects -= (close == b'}') as usize;
    }

    pub(super) fn expect(&mut self, byte: u8, expected: &str) -> Result<(), Finding> {
        if self.peek() != Some(byte) {
            return Err(self.syntax(expected));
        }
        self.at += 1;
        Ok(())
    }

    pub(super) fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(super) fn syntax(&self, expected: &str) -> Finding {
        self.syntax_at(self.at, expected)
    }

    pub(super) fn syntax_at(&self, at: usize, expected: &str) -> Finding {
        let rest = self.build.source.get(at..).unwrap_or_default();
        let found = rest.chars().next().map(String::from).unwrap_or_default();
        let params = [("expected", expected), ("found", &found)];
        self.build.refuse("json-syntax", at, at + found.len(), &params)
    }
}
