//! Which element of a snapshot a line of a differential means. Its id says so where the ids of the
//! differential are right; where they are missing, or say something else than path and name of the
//! slice, the order of the lines does: what follows a slice is a part of it.

use super::Draft;
use crate::definition::{ElementDefinition, TypeReference};

/// What was named so far.
pub(super) struct Names {
    ids_are_right: bool,
    /// Paths and ids of the lines that parts may follow.
    told: Vec<(String, String)>,
}

impl Names {
    pub(super) fn of(differential: &[ElementDefinition]) -> Self {
        Self { ids_are_right: differential.iter().all(is_right), told: Vec::new() }
    }

    /// The id that was told last for a path.
    fn last(&self, path: &str) -> Option<&str> {
        self.told.iter().rev().find(|(of, _)| of == path).map(|(_, id)| id.as_str())
    }

    /// What stood below an earlier element of the path is not meant any more.
    fn tell(&mut self, path: &str, id: &str) {
        let below = |of: &str| of.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
        self.told.retain(|(of, _)| of != path && !below(of));
        self.told.push((path.to_owned(), id.to_owned()));
    }
}

/// Whether the id of an element is its path with the names of slices.
fn is_right(of: &ElementDefinition) -> bool {
    let ends_with_slice = || {
        let named = of.id.rsplit('.').next().and_then(|last| last.split_once(':'));
        match (&of.slice, named) {
            (Some(slice), Some((_, named))) => {
                named == slice || named.rsplit('/').next() == Some(slice)
            }
            (Some(slice), None) => is_shortcut(&of.path, slice),
            (None, _) => true,
        }
    };
    let goes = |(id, path): (&str, &str)| {
        let name = id.split(':').next().unwrap_or_default();
        name == path || is_choice_of(name, path) || is_choice_of(path, name)
    };
    let (ids, paths) = (of.id.split('.'), of.path.split('.'));
    ids.clone().count() == paths.clone().count() && ids.zip(paths).all(goes) && ends_with_slice()
}

/// `Observation.valueQuantity` with the slice `valueQuantity`.
fn is_shortcut(path: &str, slice: &str) -> bool {
    path.rsplit('.').next() == Some(slice)
}

/// Whether `valueQuantity` is a type of `value[x]`.
fn is_choice_of(choice: &str, name: &str) -> bool {
    let rest = choice.strip_suffix("[x]").and_then(|stem| name.strip_prefix(stem));
    rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()))
}

impl Draft<'_> {
    /// Gives a line the path and the id of the element that it means.
    pub(super) fn name(
        &mut self,
        change: &mut ElementDefinition,
        names: &mut Names,
        type_name: &str,
    ) {
        let (told, ids) = (change.path.clone(), change.id.clone());
        let mut ids = ids.split('.').map(|id| id.split_once(':').map(|(_, slice)| slice));
        let mut steps = told.split('.').enumerate().peekable();
        let (mut path, mut id) = (String::new(), String::new());
        while let Some((at, step)) = steps.next() {
            let slice = ids.next().flatten().filter(|_| names.ids_are_right);
            let is_last = steps.peek().is_none();
            let choice = if at == 0 { None } else { self.choice(&path, &id, step) };
            let name =
                choice.as_ref().map_or(step, |of| of.path.rsplit('.').next().unwrap_or(step));
            let dot = if at == 0 { "" } else { "." };
            path = format!("{path}{dot}{name}");
            let known = (!is_last && !names.ids_are_right).then(|| names.last(&path)).flatten();
            if let Some(known) = known {
                id = known.to_owned();
                continue;
            }
            let own = change.slice.as_deref().filter(|_| is_last);
            let slice = slice.or(own).or_else(|| choice.as_ref().map(|_| step));
            let slice = slice.map(str::to_owned);
            id = match &slice {
                Some(slice) => format!("{id}{dot}{name}:{slice}"),
                None => format!("{id}{dot}{name}"),
            };
            let Some(mut choice) = choice else { continue };
            if is_last {
                change.slice = change.slice.take().or(slice);
                if change.types.is_empty() {
                    change.types = choice.types;
                }
            } else if self.find(&id).is_none() {
                (choice.id, choice.slice) = (id.clone(), slice);
                self.lay(&choice, type_name);
            }
        }
        (change.path, change.id) = (path, id);
        names.tell(&change.path, &change.id);
    }

    /// `Observation.valueQuantity` is written for a slice of `Observation.value[x]`: that slice,
    /// without a name yet.
    fn choice(&mut self, owner: &str, id: &str, step: &str) -> Option<ElementDefinition> {
        // No name of FHIR that stands for a choice is without a capital letter.
        if !step.bytes().any(|byte| byte.is_ascii_uppercase()) || step.ends_with("[x]") {
            return None;
        }
        let below = format!("{owner}.");
        if !self.elements.iter().any(|of| of.path.starts_with(&below)) {
            let at = self.find(id)?;
            self.expand(at);
        }
        let name = |of: &ElementDefinition| {
            of.path.strip_prefix(&below).filter(|name| !name.contains('.')).map(str::to_owned)
        };
        if self.elements.iter().any(|of| name(of).as_deref() == Some(step)) {
            return None;
        }
        let is_meant =
            |of: &&ElementDefinition| name(of).is_some_and(|name| is_choice_of(&name, step));
        let choice = self.elements.iter().find(is_meant)?;
        let stem = choice.path.trim_end_matches("[x]").rsplit('.').next().unwrap_or_default();
        let told = &step[stem.len()..];
        let of_type = choice.types.iter().find(|of| of.code.eq_ignore_ascii_case(told));
        let code = of_type.map_or_else(|| told.to_owned(), |of| of.code.clone());
        Some(ElementDefinition {
            path: choice.path.clone(),
            types: vec![TypeReference { code, ..TypeReference::default() }],
            ..ElementDefinition::default()
        })
    }
}
