//! Words, numbers, texts and signs of an expression.

use crate::error::{SyntaxError, SyntaxReason};
use crate::{Decimal, Moment};

/// One of them, with the offset of its first byte.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) at: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// A name or keyword.
    Word(Box<str>),
    /// A name in backticks.
    Quoted(Box<str>),
    /// A text between single quotes, `'…'`.
    Text(Box<str>),
    Integer(i32),
    Long(i64),
    Decimal(Decimal),
    Date(Moment),
    DateTime(Moment),
    Time(Moment),
    /// `$this` and its like, with the dollar.
    Dollar(Box<str>),
    /// The name of a variable, `%name`.
    Variable(Box<str>),
    /// An operator or bracket.
    Sign(&'static str),
    End,
}

const SIGNS: [&str; 26] = [
    "!=", "!~", "<=", ">=", "(", ")", "[", "]", "{", "}", ".", ",", "=", "~", "<", ">", "+", "-",
    "*", "/", "|", "&", "!", ";", "?", ":",
];

/// All tokens, the last being the end.
pub(crate) fn tokens(source: &str) -> Result<Vec<Token>, SyntaxError> {
    let mut lexer = Lexer { source, at: 0 };
    let mut tokens = Vec::with_capacity(source.len() / 3 + 1);
    loop {
        lexer.pass_space()?;
        let at = lexer.at;
        let kind = lexer.next()?;
        let ends = kind == Kind::End;
        tokens.push(Token { kind, at });
        if ends {
            return Ok(tokens);
        }
    }
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
}

impl<'s> Lexer<'s> {
    fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or_default()
    }
    fn fail<T>(&self, at: usize, reason: SyntaxReason) -> Result<T, SyntaxError> {
        Err(SyntaxError { position: at, reason })
    }

    fn pass_space(&mut self) -> Result<(), SyntaxError> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if trimmed.starts_with("//") {
                self.at += trimmed.find(['\n', '\r']).unwrap_or(trimmed.len());
            } else if trimmed.starts_with("/*") {
                match trimmed.find("*/") {
                    Some(end) => self.at += end + 2,
                    None => return self.fail(self.at, SyntaxReason::Unterminated("comment")),
                }
            } else {
                return Ok(());
            }
        }
    }

    fn next(&mut self) -> Result<Kind, SyntaxError> {
        let rest = self.rest();
        let Some(first) = rest.bytes().next() else { return Ok(Kind::End) };
        match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => Ok(Kind::Word(self.word().into())),
            b'0'..=b'9' => self.number(),
            b'\'' => Ok(Kind::Text(self.quoted('\'', "text")?)),
            b'`' => Ok(Kind::Quoted(self.quoted('`', "name")?)),
            b'@' => self.moment(),
            b'$' => {
                self.at += 1;
                Ok(Kind::Dollar(self.word().into()))
            }
            b'%' => {
                self.at += 1;
                let name = match self.rest().bytes().next() {
                    Some(b'`') => self.quoted('`', "name")?,
                    Some(b'\'') => self.quoted('\'', "name")?,
                    _ => self.variable().into(),
                };
                Ok(Kind::Variable(name))
            }
            _ => match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => {
                    self.at += sign.len();
                    Ok(Kind::Sign(sign))
                }
                None => {
                    let letter = rest.chars().next().map(String::from).unwrap_or_default();
                    self.fail(self.at, SyntaxReason::Unexpected(letter.into()))
                }
            },
        }
    }

    fn take(&mut self, belongs: impl Fn(u8) -> bool) -> &'s str {
        let rest = self.rest();
        let end = rest.bytes().position(|byte| !belongs(byte)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }
    fn word(&mut self) -> &'s str {
        self.take(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    }
    /// Older expressions write `%vs-name` without backticks.
    fn variable(&mut self) -> &'s str {
        let prefixed = ["vs-", "cs-", "ext-"].iter().any(|prefix| self.rest().starts_with(prefix));
        self.take(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || (prefixed && byte == b'-'))
    }
    fn digits(&mut self) -> &'s str {
        self.take(|byte| byte.is_ascii_digit())
    }

    fn number(&mut self) -> Result<Kind, SyntaxError> {
        let start = self.at;
        self.digits();
        let has_fraction = matches!(self.rest().as_bytes(), [b'.', b'0'..=b'9', ..]);
        if has_fraction {
            self.at += 1;
            self.digits();
        }
        let text = &self.source[start..self.at];
        let too_large =
            SyntaxError { position: start, reason: SyntaxReason::NoSuchValue("number") };
        if has_fraction {
            return Decimal::parse(text).map(Kind::Decimal).ok_or(too_large);
        }
        if self.rest().starts_with('L') {
            self.at += 1;
            return text.parse().map(Kind::Long).map_err(|_| too_large);
        }
        match text.parse() {
            Ok(value) => Ok(Kind::Integer(value)),
            Err(_) => Decimal::parse(text).map(Kind::Decimal).ok_or(too_large),
        }
    }

    fn moment(&mut self) -> Result<Kind, SyntaxError> {
        let start = self.at;
        self.at += 1;
        let text_start = self.at;
        self.take(|byte| byte.is_ascii_digit() || byte == b'-');
        let has_time = self.rest().starts_with('T');
        if has_time {
            self.at += 1;
            self.take(|byte| byte.is_ascii_digit() || byte == b':');
            if matches!(self.rest().as_bytes(), [b'.', b'0'..=b'9', ..]) {
                self.at += 1;
                self.digits();
            }
            match self.rest().bytes().next() {
                Some(b'Z') => self.at += 1,
                Some(b'+' | b'-') if zone_follows(self.rest()) => {
                    self.at += 1;
                    self.take(|byte| byte.is_ascii_digit() || byte == b':');
                }
                _ => {}
            }
        }
        let text = &self.source[text_start..self.at];
        let kind = match text.strip_prefix('T') {
            Some(time) => Moment::time(time).map(Kind::Time),
            None if has_time => Moment::date_time(text).map(Kind::DateTime),
            None => Moment::date(text).map(Kind::Date),
        };
        let reason = SyntaxReason::NoSuchValue("date or time");
        kind.ok_or(SyntaxError { position: start, reason })
    }

    /// A text between quotation marks, its escapes resolved.
    fn quoted(&mut self, mark: char, what: &'static str) -> Result<Box<str>, SyntaxError> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let mut letters = self.rest().chars();
            let Some(letter) = letters.next() else {
                return self.fail(start, SyntaxReason::Unterminated(what));
            };
            self.at += letter.len_utf8();
            match letter {
                '\\' => text.push(self.escape()?),
                letter if letter == mark => return Ok(text.into()),
                letter => text.push(letter),
            }
        }
    }
    fn escape(&mut self) -> Result<char, SyntaxError> {
        let at = self.at - 1;
        let unknown = SyntaxError { position: at, reason: SyntaxReason::UnknownEscape };
        let Some(letter) = self.rest().chars().next() else { return Err(unknown) };
        self.at += letter.len_utf8();
        Ok(match letter {
            't' => '\t',
            'r' => '\r',
            'n' => '\n',
            'f' => '\u{c}',
            '\'' | '"' | '`' | '\\' | '/' => letter,
            'u' => {
                let mut code = self.hexadecimal().ok_or(unknown.clone())?;
                // A character beyond U+FFFF is written as two halves.
                if (0xD800..0xDC00).contains(&code) && self.rest().starts_with("\\u") {
                    self.at += 2;
                    let low = self.hexadecimal().ok_or(unknown.clone())?;
                    code = 0x10000_u32
                        .wrapping_add((code - 0xD800) << 10)
                        .wrapping_add(low.wrapping_sub(0xDC00));
                }
                char::from_u32(code).ok_or(unknown)?
            }
            _ => return Err(unknown),
        })
    }
    fn hexadecimal(&mut self) -> Option<u32> {
        let digits = self.rest().get(..4)?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))
    }
}

/// `+hh:mm` or `-hh:mm`; else the sign is an operator.
fn zone_follows(rest: &str) -> bool {
    matches!(rest.as_bytes(), [_, a, b, b':', ..] if a.is_ascii_digit() && b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(source: &str) -> Vec<Kind> {
        tokens(source).unwrap().into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn tokens_are_told_apart() {
        assert_eq!(
            kinds("1.toString() /* a */ != 2.50 // end"),
            [
                Kind::Integer(1),
                Kind::Sign("."),
                Kind::Word("toString".into()),
                Kind::Sign("("),
                Kind::Sign(")"),
                Kind::Sign("!="),
                Kind::Decimal(Decimal::new(250, 2)),
                Kind::End,
            ]
        );
        assert_eq!(
            kinds("'\\u0041\\'\\\\' %`vs-x` %vs-y $this `a b`"),
            [
                Kind::Text("A'\\".into()),
                Kind::Variable("vs-x".into()),
                Kind::Variable("vs-y".into()),
                Kind::Dollar("this".into()),
                Kind::Quoted("a b".into()),
                Kind::End,
            ]
        );
    }

    #[test]
    fn moments_end_where_they_end() {
        let kinds = kinds("@2015.is(x) @T14:34:28.123 @2015-02-04T14-1 @2015T");
        assert!(matches!(kinds[0], Kind::Date(_)) && kinds[1] == Kind::Sign("."));
        assert!(matches!(kinds[6], Kind::Time(_)));
        assert!(matches!(kinds[7], Kind::DateTime(_)) && kinds[8] == Kind::Sign("-"));
        assert!(matches!(kinds[10], Kind::DateTime(_)));
    }

    #[test]
    fn what_does_not_end_or_exist_is_told_with_its_place() {
        use SyntaxReason::{NoSuchValue, Unterminated};
        for (source, position, reason) in [
            ("2 /* a", 2, Unterminated("comment")),
            ("a = 'b", 4, Unterminated("text")),
            ("'\\x'", 1, SyntaxReason::UnknownEscape),
            ("@2015-02-30", 0, NoSuchValue("date or time")),
            ("@T14:00Z", 0, NoSuchValue("date or time")),
            ("1 # 2", 2, SyntaxReason::Unexpected("#".into())),
        ] {
            assert_eq!(tokens(source).unwrap_err(), SyntaxError { position, reason }, "{source}");
        }
    }
}
