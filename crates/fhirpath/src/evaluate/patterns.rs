//! Regular expressions. They are written for Java; here they run in time that grows with the text
//! only, so that no pattern can hold a check up. Looking ahead or behind and back references are
//! not supported and reported as such.

use regex::{Regex, RegexBuilder};

use super::strings::string;
use super::{Evaluated, Run, Scope};
use crate::error::{EvaluationError, Limit};
use crate::function::Function;
use crate::item::{Collection, Item};
use crate::node::{Call, Node};

/// Memory that one compiled pattern may take.
const COMPILED_MAX: usize = 8 << 20;
/// Steps that compiling a pattern counts for.
const COMPILE_STEPS: usize = 2_000;

impl<'t> Run<'_, 't> {
    pub(crate) fn pattern(
        &mut self,
        call: &'t Call,
        focus: &[Item<'t>],
        scope: &Scope<'_, 't>,
    ) -> Evaluated<'t> {
        let Some(pattern) = self.text_argument(call, 0, scope)? else {
            return Ok(Collection::new());
        };
        let boolean = |value| Ok(Collection::one(Item::Boolean(value)));
        let replaces = call.function == Function::ReplaceMatches;
        let text = match focus {
            [] => return Ok(Collection::new()),
            [item] => match string(item) {
                Some(text) => text,
                None => return Ok(Collection::new()),
            },
            _ if replaces => {
                let (operation, count) = ("replaceMatches", focus.len());
                return Err(EvaluationError::NotSingle { operation, count });
            }
            _ => return boolean(false),
        };
        self.step(text.len() / 16)?;
        let replacement = if replaces { self.text_argument(call, 1, scope)? } else { None };
        if pattern.is_empty() || (text.is_empty() && !replaces) {
            // HL7's validator looks at neither.
            return if replaces { Ok(Collection::one(Item::String(text))) } else { boolean(false) };
        }
        let compiled;
        let regex = if matches!(self.node(call.arguments[0]), Node::Constant(_)) {
            call.pattern.get_or_init(|| compile(&pattern, call.function)).as_ref()
        } else {
            self.step(COMPILE_STEPS)?;
            compiled = compile(&pattern, call.function);
            compiled.as_ref()
        };
        let Some(regex) = regex else {
            return Err(EvaluationError::NotSupported("regular expression".into()));
        };
        if !replaces {
            return boolean(regex.is_match(&text));
        }
        let Some(replacement) = replacement else { return Ok(Collection::new()) };
        let most = (text.len() + 1).saturating_mul(replacement.len() + 1);
        self.step(most / 64)?;
        let replaced = regex.replace_all(&text, rust_replacement(&replacement)).into_owned();
        if replaced.len() > self.context.limits.text_max {
            return Err(EvaluationError::Limit(Limit::Text));
        }
        Ok(Collection::one(Item::string(replaced)))
    }
}

fn compile(pattern: &str, function: Function) -> Option<Regex> {
    let pattern = ascii_classes(pattern);
    let pattern = match function {
        Function::MatchesFull => format!("\\A(?:{pattern})\\z"),
        _ => pattern,
    };
    // In `matches` a dot stands for a line feed too.
    let dots = function != Function::ReplaceMatches;
    RegexBuilder::new(&pattern)
        .dot_matches_new_line(dots)
        .size_limit(COMPILED_MAX)
        .dfa_size_limit(COMPILED_MAX)
        .build()
        .ok()
}

/// In Java `\d`, `\w`, `\s` and `\b` know ASCII only.
fn ascii_classes(pattern: &str) -> String {
    let mut result = String::with_capacity(pattern.len() + 16);
    let mut letters = pattern.chars();
    let mut nesting = 0_u32;
    while let Some(letter) = letters.next() {
        match letter {
            '[' => nesting += 1,
            ']' => nesting = nesting.saturating_sub(1),
            _ => {}
        }
        if letter != '\\' {
            result.push(letter);
            continue;
        }
        match letters.next() {
            Some('d') => result.push_str("[0-9]"),
            Some('D') => result.push_str("[^0-9]"),
            Some('w') => result.push_str("[A-Za-z0-9_]"),
            Some('W') => result.push_str("[^A-Za-z0-9_]"),
            Some('s') => result.push_str("[ \\t\\n\\x0B\\f\\r]"),
            Some('S') => result.push_str("[^ \\t\\n\\x0B\\f\\r]"),
            Some('b') if nesting == 0 => result.push_str("(?-u:\\b)"),
            Some('Z') => result.push_str("\\z"),
            Some(other @ ('<' | '>' | ' ')) => result.push(other),
            Some(other) => {
                result.push('\\');
                result.push(other);
            }
            None => result.push('\\'),
        }
    }
    result
}

/// Java's `$1` ends after its digit and `\$` is a dollar; here `${1}` and `$$`.
fn rust_replacement(text: &str) -> String {
    let mut result = String::with_capacity(text.len() + 8);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('$') => result.push_str("$$"),
                Some(other) => result.push(other),
                None => {}
            },
            '$' => match letters.peek() {
                Some(digit) if digit.is_ascii_digit() => {
                    result.push_str("${");
                    result.push(*digit);
                    result.push('}');
                    letters.next();
                }
                Some('{') => result.push('$'),
                _ => result.push_str("$$"),
            },
            _ => result.push(letter),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_know_ascii_only() {
        let matches = |pattern, text| compile(pattern, Function::Matches).unwrap().is_match(text);
        assert!(matches("^\\d$", "5") && !matches("^\\d$", "٥"));
        assert!(matches("^[^\\s\\.]+$", "a\u{a0}b") && !matches("^[^\\s\\.]+$", "a b"));
        assert!(matches("^[\\w-]+$", "a-b") && matches("\\bLab\\b", "a Lab."));
        assert!(matches("a.b", "a\nb") && matches("^\\/\\'\\@$", "/'@"));
        assert!(compile("a(?=b)", Function::Matches).is_none());
        assert!(compile("(((a{1000}){1000}){1000})", Function::Matches).is_none());
    }

    #[test]
    fn replacements_are_javas() {
        assert_eq!(rust_replacement("$1x\\$2"), "${1}x$$2");
        assert_eq!(rust_replacement("a$"), "a$$");
    }
}
