//! Expressions that point to a resource by something else than its number: its address, its type,
//! its id; and steps that name a slice.

use fhir::{Element, Tree};

use super::{after_bracket, resources};

/// The expression with the resource's own in place of what points to it; `None` for one that does
/// not point so.
pub(super) fn pointed(expression: &str, document: Element<'_>) -> Option<String> {
    by_address(expression, document)
        .or_else(|| by_type(expression, document))
        .or_else(|| by_id(expression, document))
}

/// By the address of its entry: `….entry.where(fullUrl='urn:uuid:…').resource…`
fn by_address(expression: &str, document: Element<'_>) -> Option<String> {
    let (_, inside) = expression.split_once(".entry.where(")?;
    let (_, from) = inside.split_once("fullUrl")?;
    let open = from.find(['\'', '"'])?;
    let mark = from[open..].chars().next()?;
    let address = from[open + 1..].split(mark).next()?;
    let entry = document.all("entry").find(|entry| entry.text("fullUrl") == Some(address))?;
    Some(entry.expression() + after_bracket(inside))
}

/// `Bundle.entry.resource.ofType(Patient)…`: the first of them.
fn by_type(expression: &str, document: Element<'_>) -> Option<String> {
    let (_, inside) = expression.split_once(".entry.resource.ofType(")?;
    let (kind, rest) = inside.split_once(')')?;
    Some(resources(document, kind).next()?.expression() + rest)
}

/// `Patient/one.name`. An id may have a full stop in it.
fn by_id(expression: &str, document: Element<'_>) -> Option<String> {
    let (kind, rest) = expression.split_once('/')?;
    let after = |id: &str| {
        let rest = rest.strip_prefix(id)?;
        (rest.is_empty() || rest.starts_with('.')).then_some(rest)
    };
    let all = resources(document, kind).filter_map(|one| Some((one, one.text("id")?)));
    let pointed = all.filter_map(|(one, id)| Some((id.len(), one.expression() + after(id)?)));
    pointed.max_by_key(|(length, _)| *length).map(|(_, expression)| expression)
}

/// Without names of slices (`identifier:GLN`, `identifier[GLN]`), which only a profile can tell
/// apart: the element itself where there is one alone, else what holds them all.
pub(super) fn without_slices(expression: &str, tree: &Tree) -> String {
    let mut path = String::with_capacity(expression.len());
    for segment in expression.split('.') {
        let (name, is_slice) = match segment.split_once([':', '[']) {
            Some((name, rest)) => {
                let index = rest.trim_end_matches(']');
                (name, index.parse::<usize>().is_err() && index != "x")
            }
            None => (segment, false),
        };
        let is_alone = || tree.find(&path).is_some_and(|holder| holder.all(name).count() < 2);
        if is_slice && !is_alone() {
            return path;
        }
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(if is_slice { name } else { segment });
    }
    path
}
