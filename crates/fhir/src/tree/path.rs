//! FHIRPath of elements: written, and found again.

use crate::arena::{Flags, NIL};
use crate::{Element, Tree};

/// Segments that are looked at; no tree is deeper.
const SEGMENTS_MAX: usize = 512;

pub(crate) fn expression(element: Element<'_>) -> String {
    let mut path = String::with_capacity(48);
    write(element, &mut path);
    path
}

/// The parents first; the depth of a tree is bounded.
fn write(element: Element<'_>, path: &mut String) {
    if let Some(parent) = element.parent() {
        write(parent, path);
        path.push('.');
    }
    path.push_str(element.name());
    let node = element.read();
    let repeats = node.index > 0 || node.same != NIL;
    let may_repeat = match element.field() {
        Some(field) => field.is_array,
        None => node.flags.has(Flags::IN_ARRAY),
    };
    if repeats || may_repeat {
        path.push('[');
        path.push_str(&node.index.to_string());
        path.push(']');
    }
}

pub(crate) fn find<'t>(tree: &'t Tree, expression: &str) -> Option<Element<'t>> {
    let plain = without_comments(expression.trim());
    if plain.is_empty() {
        return None;
    }
    let is_xpath = plain.starts_with('/');
    let mut found = tree.root();
    for (number, segment) in
        segments(&plain, if is_xpath { '/' } else { '.' }).take(SEGMENTS_MAX).enumerate()
    {
        let segment = segment.strip_prefix("f:").unwrap_or(segment).trim_start_matches('@');
        let (name, index) = split_index(segment, is_xpath);
        if name.is_empty() || name.contains('(') {
            continue;
        }
        let is_type = name.starts_with(|letter: char| letter.is_ascii_uppercase());
        // The type of a resource is no step, neither at the root nor (XPath) inside a container.
        if is_type && (number == 0 || is_xpath) {
            continue;
        }
        let Some(child) = step(found, name, index) else { break };
        found = child;
    }
    Some(found)
}

fn step<'t>(from: Element<'t>, name: &str, index: usize) -> Option<Element<'t>> {
    let mut child = from.child(name).or_else(|| from.choice(name))?;
    for _ in 0..index {
        child = child.next_same()?;
    }
    Some(child)
}

/// `name[2]`, counted from 0 (from 1 in XPath).
fn split_index(segment: &str, is_xpath: bool) -> (&str, usize) {
    let Some((name, rest)) = segment.split_once('[') else { return (segment, 0) };
    let index: usize = rest.trim_end_matches(']').parse().unwrap_or(0);
    (name, if is_xpath { index.saturating_sub(1) } else { index })
}

/// Splits outside of parentheses and brackets.
fn segments(path: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut nesting = 0_i32;
    path.split(move |letter| {
        match letter {
            '(' | '[' => nesting += 1,
            ')' | ']' => nesting -= 1,
            _ => {}
        }
        letter == separator && nesting <= 0
    })
}

/// `Bundle.entry[0].resource/*Patient/7*/.name` as the HL7 validator writes it.
fn without_comments(path: &str) -> String {
    let mut plain = String::with_capacity(path.len());
    let mut rest = path;
    while let Some((before, after)) = rest.split_once("/*") {
        plain.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    plain
}
