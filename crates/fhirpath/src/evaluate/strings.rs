//! Functions on text. What is no string gives nothing, as in HL7's validator.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use super::collections::integer;
use super::{Evaluated, Run, Scope};
use crate::error::{EvaluationError, Limit};
use crate::function::Function;
use crate::item::{Collection, Item};
use crate::node::Call;

/// The text of a string; `None` for anything else.
pub(crate) fn string<'t>(item: &Item<'t>) -> Option<Cow<'t, str>> {
    match item.to_system() {
        Item::String(text) => Some(text),
        _ => None,
    }
}

impl<'t> Run<'_, 't> {
    pub(crate) fn string(
        &mut self,
        call: &'t Call,
        focus: &[Item<'t>],
        scope: &Scope<'_, 't>,
    ) -> Evaluated<'t> {
        use Function as F;
        let function = call.function;
        if function == F::Join {
            return self.join(call, focus, scope);
        }
        // Of several items these two take the first, the others none.
        let first_will_do = matches!(function, F::StartsWith | F::IndexOf);
        let item = match focus {
            [item] => item,
            [item, ..] if first_will_do => item,
            [_, _, ..] if function == F::Replace => {
                let count = focus.len();
                return Err(EvaluationError::NotSingle { operation: "replace", count });
            }
            _ => return Ok(Collection::new()),
        };
        let Some(text) = string(item) else { return Ok(Collection::new()) };
        self.step(text.len() / 64)?;
        match function {
            F::Length => {
                let length = i32::try_from(text.chars().count()).unwrap_or(i32::MAX);
                Ok(Collection::one(Item::Integer(length)))
            }
            F::Upper => Ok(Collection::one(Item::string(text.to_uppercase()))),
            F::Lower => Ok(Collection::one(Item::string(text.to_lowercase()))),
            F::Trim => Ok(Collection::one(Item::string(text.trim().to_owned()))),
            F::ToChars => {
                self.step(text.len())?;
                Ok(text.chars().map(|letter| Item::string(letter.to_string())).collect())
            }
            F::Substring => self.substring(call, &text, scope),
            F::Replace => self.replace(call, &text, scope),
            _ => self.with_argument(call, text, scope),
        }
    }

    /// Functions whose one argument is a string; without it they give nothing.
    fn with_argument(
        &mut self,
        call: &'t Call,
        text: Cow<'t, str>,
        scope: &Scope<'_, 't>,
    ) -> Evaluated<'t> {
        use Function as F;
        let Some(other) = self.text_argument(call, 0, scope)? else { return Ok(Collection::new()) };
        let other = &*other;
        let boolean = |value| Ok(Collection::one(Item::Boolean(value)));
        let place = |found: Option<usize>| {
            let letters = found.and_then(|at| i32::try_from(text[..at].chars().count()).ok());
            Ok(Collection::one(Item::Integer(letters.unwrap_or(-1))))
        };
        match call.function {
            F::StartsWith => boolean(text.starts_with(other)),
            F::EndsWith => boolean(text.ends_with(other)),
            F::Contains => boolean(text.contains(other)),
            F::IndexOf => place(text.find(other)),
            F::LastIndexOf => place(text.rfind(other)),
            F::Split => {
                self.step(text.len() / other.len().max(1))?;
                if other.is_empty() {
                    return Ok(Collection::one(Item::String(text)));
                }
                Ok(text.split(other).map(|part| Item::string(part.to_owned())).collect())
            }
            F::Encode => Ok(encoded(&text, other).map(Item::string).into()),
            F::Decode => Ok(decoded(&text, other).map(Item::string).into()),
            F::Escape => Ok(escaped(&text, other).map(Item::string).into()),
            _ => Ok(unescaped(&text, other).map(Item::string).into()),
        }
    }

    pub(crate) fn text_argument(
        &mut self,
        call: &'t Call,
        number: usize,
        scope: &Scope<'_, 't>,
    ) -> Result<Option<Cow<'t, str>>, EvaluationError> {
        let items = self.argument(call, number, scope)?;
        match &items[..] {
            [] => Ok(None),
            [item] => Ok(item.text()),
            _ => {
                let (operation, count) = (call.function.name(), items.len());
                Err(EvaluationError::NotSingle { operation, count })
            }
        }
    }

    fn substring(&mut self, call: &'t Call, text: &str, scope: &Scope<'_, 't>) -> Evaluated<'t> {
        let start = self.argument(call, 0, scope)?;
        let Some(start) = integer(&start, "substring")? else {
            return Err(EvaluationError::WrongArgument("substring"));
        };
        let length = match call.arguments.get(1) {
            None => usize::MAX,
            Some(length) => {
                let length = self.evaluate(*length, scope.this, scope)?;
                match integer(&length, "substring")? {
                    Some(length) => usize::try_from(length).unwrap_or(0),
                    None => return Ok(Collection::new()),
                }
            }
        };
        let Ok(start) = usize::try_from(start) else { return Ok(Collection::new()) };
        let part: String = text.chars().skip(start).take(length).collect();
        Ok(if part.is_empty() { Collection::new() } else { Collection::one(Item::string(part)) })
    }

    fn replace(&mut self, call: &'t Call, text: &str, scope: &Scope<'_, 't>) -> Evaluated<'t> {
        let old = self.text_argument(call, 0, scope)?;
        let new = self.text_argument(call, 1, scope)?;
        let Some((old, new)) = old.zip(new) else { return Ok(Collection::new()) };
        let most = (text.len() / old.len().max(1) + 1).saturating_mul(new.len()) + text.len();
        if most > self.context.limits.text_max {
            return Err(EvaluationError::Limit(Limit::Text));
        }
        self.step(most / 64)?;
        Ok(Collection::one(Item::string(text.replace(&*old, &new))))
    }

    fn join(&mut self, call: &'t Call, focus: &[Item<'t>], scope: &Scope<'_, 't>) -> Evaluated<'t> {
        let between = self.text_argument(call, 0, scope)?.unwrap_or_default();
        let mut text = String::new();
        for (number, item) in focus.iter().filter_map(Item::text).enumerate() {
            if number > 0 {
                text.push_str(&between);
            }
            text.push_str(&item);
            if text.len() > self.context.limits.text_max {
                return Err(EvaluationError::Limit(Limit::Text));
            }
        }
        Ok(Collection::one(Item::string(text)))
    }
}

fn encoded(text: &str, form: &str) -> Option<String> {
    Some(match form {
        "hex" => text.bytes().map(|byte| format!("{byte:02x}")).collect(),
        "base64" => STANDARD.encode(text),
        "urlbase64" => URL_SAFE.encode(text),
        _ => return None,
    })
}

fn decoded(text: &str, form: &str) -> Option<String> {
    let bytes = match form {
        "hex" => {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            let (pairs, rest) = text.as_bytes().as_chunks::<2>();
            let bytes =
                pairs.iter().map(|[high, low]| Some((digit(*high)? * 16 + digit(*low)?) as u8));
            bytes.collect::<Option<Vec<u8>>>().filter(|_| rest.is_empty())?
        }
        "base64" => STANDARD.decode(text).ok()?,
        "urlbase64" => URL_SAFE.decode(text).ok()?,
        _ => return None,
    };
    String::from_utf8(bytes).ok()
}

/// What stands for what in HTML.
const HTML: [(char, &str); 5] =
    [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\'', "&#39;")];
/// And behind a backslash in JSON.
const JSON: [(char, &str); 7] = [
    ('\\', "\\\\"),
    ('"', "\\\""),
    ('\n', "\\n"),
    ('\r', "\\r"),
    ('\t', "\\t"),
    ('\u{8}', "\\b"),
    ('\u{c}', "\\f"),
];

fn escaped(text: &str, form: &str) -> Option<String> {
    let table: &[(char, &str)] = match form {
        "html" => &HTML,
        "json" => &JSON,
        _ => return None,
    };
    let mut result = String::with_capacity(text.len());
    for letter in text.chars() {
        match table.iter().find(|(plain, _)| *plain == letter) {
            Some((_, written)) => result.push_str(written),
            None => result.push(letter),
        }
    }
    Some(result)
}

fn unescaped(text: &str, form: &str) -> Option<String> {
    let table: &[(char, &str)] = match form {
        "html" => &HTML,
        "json" => &JSON,
        _ => return None,
    };
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        match table.iter().find(|(_, written)| rest.starts_with(written)) {
            Some((plain, written)) => {
                result.push(*plain);
                rest = &rest[written.len()..];
            }
            None => {
                result.push(letter);
                rest = &rest[letter.len_utf8()..];
            }
        }
    }
    Some(result)
}
