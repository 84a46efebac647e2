//! A text with places for parameters, as the window's library has them (ICU messages): `{name}`,
//! and `{count, plural, one {# report} other {# reports}}`. Other forms are not used, and no text
//! quotes braces.
//!
//! Written by hand because it is all that is needed: what there is for Rust reads Fluent, which the
//! window does not.

use std::collections::BTreeSet;

/// A part of a text.
enum Part<'a> {
    Literal(&'a str),
    /// The value of a parameter.
    Value(&'a str),
    /// One of several texts by the value of a parameter: `=0`, `one` or `other`.
    Plural(&'a str, Vec<(&'a str, Vec<Part<'a>>)>),
    /// The value by which the text was chosen.
    Number,
}

/// The names of a text's parameters; `None` where it cannot be read.
pub(crate) fn arguments(text: &str) -> Option<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    collect(&parsed(text)?, &mut names);
    Some(names)
}

fn collect(parts: &[Part<'_>], names: &mut BTreeSet<String>) {
    for part in parts {
        match part {
            Part::Value(name) => _ = names.insert((*name).to_owned()),
            Part::Plural(name, cases) => {
                names.insert((*name).to_owned());
                cases.iter().for_each(|(_, parts)| collect(parts, names));
            }
            Part::Literal(_) | Part::Number => {}
        }
    }
}

/// Puts parameters in. What they hold is not looked at again, so braces in them stay as they are.
/// `one` says which numbers a language counts as one. `None` where the text cannot be read.
pub(crate) fn filled(
    text: &str,
    one: fn(u64) -> bool,
    value: &dyn Fn(&str) -> String,
) -> Option<String> {
    let mut shown = String::with_capacity(text.len() + 32);
    put(&parsed(text)?, one, value, "", &mut shown);
    Some(shown)
}

fn put(
    parts: &[Part<'_>],
    one: fn(u64) -> bool,
    value: &dyn Fn(&str) -> String,
    number: &str,
    shown: &mut String,
) {
    for part in parts {
        match part {
            Part::Literal(text) => shown.push_str(text),
            Part::Value(name) => shown.push_str(&value(name)),
            Part::Number => shown.push_str(number),
            Part::Plural(name, cases) => {
                let count = value(name);
                put(chosen(cases, &count, one), one, value, &count, shown);
            }
        }
    }
}

fn chosen<'a, 'b>(
    cases: &'b [(&str, Vec<Part<'a>>)],
    count: &str,
    one: fn(u64) -> bool,
) -> &'b [Part<'a>] {
    let of = |wanted: &str| cases.iter().find(|(case, _)| *case == wanted);
    let exact = of(&format!("={count}"));
    let single = || of("one").filter(|_| count.parse().is_ok_and(one));
    exact.or_else(single).or_else(|| of("other")).map_or(&[], |(_, parts)| parts)
}

fn parsed(text: &str) -> Option<Vec<Part<'_>>> {
    let (parts, rest) = parts(text, false)?;
    rest.is_empty().then_some(parts)
}

/// The parts up to the end of the text, or up to the brace that ends a case of a plural.
fn parts(mut text: &str, in_plural: bool) -> Option<(Vec<Part<'_>>, &str)> {
    let mut parts = Vec::new();
    loop {
        let special = text.find(|c| c == '{' || c == '}' || in_plural && c == '#');
        let (literal, rest) = text.split_at(special.unwrap_or(text.len()));
        // An apostrophe before a brace would quote it.
        if literal.contains("''") || literal.ends_with('\'') && !rest.is_empty() {
            return None;
        }
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        if let Some(after) = rest.strip_prefix('#') {
            parts.push(Part::Number);
            text = after;
        } else if let Some(after) = rest.strip_prefix('{') {
            let (part, after) = parameter(after)?;
            parts.push(part);
            text = after;
        } else {
            return Some((parts, rest));
        }
    }
}

/// What stands in braces, from behind the first one.
fn parameter(text: &str) -> Option<(Part<'_>, &str)> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric())?;
    let (name, rest) = text.split_at(end);
    if name.is_empty() {
        return None;
    }
    if let Some(rest) = rest.strip_prefix('}') {
        return Some((Part::Value(name), rest));
    }
    let mut rest = rest.strip_prefix(", plural,")?.trim_start();
    let mut cases = Vec::new();
    loop {
        if let Some(after) = rest.strip_prefix('}') {
            let complete = cases.iter().any(|(case, _)| *case == "other");
            return complete.then_some((Part::Plural(name, cases), after));
        }
        let (case, inside) = rest.split_once(" {")?;
        let known = matches!(case, "one" | "other") || case.starts_with('=');
        let (parts, after) = parts(inside, true)?;
        cases.push((case, parts));
        rest = after.strip_prefix('}').filter(|_| known)?.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, params: &[(&str, &str)]) -> Option<String> {
        let value = |name: &str| {
            let found = params.iter().find(|(known, _)| *known == name);
            found.map_or_else(String::new, |(_, value)| (*value).to_owned())
        };
        filled(text, |number| number == 1, &value)
    }

    #[test]
    fn parameters_are_put_in_once() {
        let params = [("a", "{b}"), ("b", "x")];
        assert_eq!(said("{a} and {b}", &params).as_deref(), Some("{b} and x"));
        assert_eq!(said("nobody's {c}.", &params).as_deref(), Some("nobody's ."));
    }

    #[test]
    fn a_number_chooses_its_words() {
        let text = "{n, plural, =0 {Nothing.} one {# report of {lab}} other {# reports of {lab}}}";
        let of = |n| said(text, &[("n", n), ("lab", "#1")]);
        assert_eq!(of("0").as_deref(), Some("Nothing."));
        assert_eq!(of("1").as_deref(), Some("1 report of #1"));
        assert_eq!(of("11").as_deref(), Some("11 reports of #1"));
        assert_eq!(of("many").as_deref(), Some("many reports of #1"));
        assert_eq!(arguments(text), Some(BTreeSet::from(["lab".to_owned(), "n".to_owned()])));
    }

    #[test]
    fn what_the_window_would_read_otherwise_is_refused() {
        for text in [
            "{",
            "}",
            "{a",
            "{a-b}",
            "{}",
            "it''s",
            "'{a}'",
            "{n, plural, one {#}}",
            "{n, plural, one {#} other {#}",
            "{n, plural, odd {#} other {#}}",
            "{n, select, a {b} other {c}}",
        ] {
            assert_eq!(arguments(text), None, "{text}");
        }
    }
}
