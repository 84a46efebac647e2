//! Snapshots for definitions that were published as a differential only: the elements of the base
//! with what the differential says laid over them.

use std::cell::Cell;

use crate::definition::{BASE, ElementDefinition, Structure};
use naming::Names;

mod naming;

/// Definitions on definitions that are followed; circular ones end here.
const DEPTH_MAX: usize = 32;
/// Elements of one snapshot.
const ELEMENTS_MAX: usize = 10_000;

/// Elements that are copied for one definition, all that it builds on included. Definitions that
/// each use two others would otherwise take time without end; the largest published one needs some
/// thousand.
const COPIES_MAX: usize = 50_000;

/// What may still be done for one definition.
#[derive(Clone, Copy)]
pub(crate) struct Effort<'e> {
    depth: usize,
    copies: &'e Cell<usize>,
}

impl<'e> Effort<'e> {
    /// For the copies that [`Effort::bound`] allows.
    pub(crate) const fn new(copies: &'e Cell<usize>) -> Self {
        Self { depth: 0, copies }
    }

    /// A bound of its own for each definition.
    pub(crate) const fn bound() -> Cell<usize> {
        Cell::new(COPIES_MAX)
    }

    pub(crate) fn is_spent(self) -> bool {
        self.depth > DEPTH_MAX || self.copies.get() == 0
    }

    const fn deeper(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    fn spend(self, copies: usize) {
        self.copies.set(self.copies.get().saturating_sub(copies + 1));
    }
}

/// Where a definition is found that another one builds on.
pub(crate) trait Bases {
    /// The structure of a canonical, seen from a package, with its snapshot where it has one.
    fn structure_of(&self, url: &str, from: u16, effort: Effort<'_>) -> Option<Structure>;
}

/// Fills the snapshot of a structure. Without a base it stays empty, which is how a caller learns
/// of it.
pub(crate) fn generate(
    bases: &dyn Bases,
    of: Structure,
    package: u16,
    effort: Effort<'_>,
) -> Structure {
    let base = of.base.as_deref().filter(|base| *base != of.url);
    let base = base.and_then(|base| bases.structure_of(base, package, effort.deeper()));
    let Some(base) = base.filter(|base| !base.snapshot.is_empty()) else {
        // A root of all types has no base; its differential is all there is.
        let is_root = of.base.is_none();
        let snapshot = if is_root { of.differential.clone() } else { Vec::new() };
        return Structure { snapshot, ..of };
    };
    effort.spend(base.snapshot.len());
    let mut elements = base.snapshot;
    // What a profile says of an element is not said of those that refer to it for their content:
    // their content stays that of the base.
    for content in elements.iter_mut().filter_map(|of| of.content.as_mut()) {
        if !content.contains('#') {
            *content = format!("{}#{content}", base.url);
        }
    }
    let mut draft = Draft { bases, package, effort, elements };
    if !of.is_constraint {
        draft.rename(&of.type_name);
    }
    let mut names = Names::of(&of.differential);
    for change in &of.differential {
        draft.apply(change, &mut names, &of.type_name);
    }
    Structure { snapshot: draft.elements, ..of }
}

struct Draft<'s> {
    bases: &'s dyn Bases,
    package: u16,
    effort: Effort<'s>,
    elements: Vec<ElementDefinition>,
}

impl Draft<'_> {
    /// A new type begins with the elements of its base under its own name.
    fn rename(&mut self, name: &str) {
        for element in &mut self.elements {
            for text in [&mut element.path, &mut element.id] {
                *text = match text.split_once('.') {
                    Some((_, rest)) => format!("{name}.{rest}"),
                    None => name.to_owned(),
                };
            }
        }
    }

    fn apply(&mut self, change: &ElementDefinition, names: &mut Names, type_name: &str) {
        let mut change = change.clone();
        self.name(&mut change, names, type_name);
        self.lay(&change, type_name);
    }

    /// Lays what a differential says over the element of its id.
    fn lay(&mut self, change: &ElementDefinition, type_name: &str) {
        let at = self.find(&change.id).or_else(|| self.make(change, type_name));
        if let Some(at) = at {
            lay_over(&mut self.elements[at], change);
        }
    }

    fn find(&self, id: &str) -> Option<usize> {
        self.elements.iter().position(|element| element.id == id)
    }

    /// Makes room for an element that the base does not have: a slice, or a part of a datatype.
    fn make(&mut self, change: &ElementDefinition, type_name: &str) -> Option<usize> {
        if self.elements.len() > ELEMENTS_MAX {
            return None;
        }
        let (owner, last) = change.id.rsplit_once('.')?;
        if self.find(owner).is_none() {
            // The element around it first: `a.b:c.d` may come without `a.b:c`.
            let path = change.path.rsplit_once('.')?.0.to_owned();
            let slice = owner.rsplit('.').next()?.split_once(':').map(|(_, of)| of.to_owned());
            let around =
                ElementDefinition { id: owner.to_owned(), path, slice, ..Default::default() };
            self.make(&around, type_name)?;
        }
        if let Some((name, _)) = last.split_once(':') {
            return self.slice(change, &format!("{owner}.{name}"), type_name);
        }
        let owner = self.find(owner)?;
        if !self.has_children(owner) {
            self.expand(owner);
            if let Some(found) = self.find(&change.id) {
                return Some(found);
            }
        }
        // A new element of a new type.
        let end = self.end_of(owner);
        let mut made = change.clone();
        made.constraints.clear();
        self.elements.insert(end, made);
        Some(end)
    }

    /// A slice begins as a copy of what it is a slice of.
    fn slice(&mut self, change: &ElementDefinition, base: &str, type_name: &str) -> Option<usize> {
        if self.find(base).is_none() {
            let sliced = ElementDefinition {
                id: base.to_owned(),
                path: change.path.clone(),
                ..Default::default()
            };
            self.make(&sliced, type_name)?;
        }
        let name = change
            .slice
            .clone()
            .or_else(|| change.id.rsplit_once(':').map(|(_, name)| name.to_owned()))?;
        // With the parts of a profile its slices came, too.
        if let Some(found) = self.find(&format!("{base}:{name}")) {
            return Some(found);
        }
        // A re-slice copies the slice that it divides.
        let parent =
            name.rsplit_once('/').and_then(|(outer, _)| self.find(&format!("{base}:{outer}")));
        let from = parent.or_else(|| self.find(base))?;
        let old = self.elements[from].id.clone();
        let own_end = self.end_of(from);
        let copied: Vec<ElementDefinition> = self.elements[from..own_end]
            .iter()
            .filter(|of| of.id == old || of.id[old.len()..].starts_with('.'))
            .cloned()
            .collect();
        self.effort.spend(copied.len());
        if self.elements.len() + copied.len() > ELEMENTS_MAX {
            return None;
        }
        let new = format!("{base}:{name}");
        let place = self.after_slices(base);
        for (index, mut element) in copied.into_iter().enumerate() {
            element.id = format!("{new}{}", &element.id[old.len()..]);
            if index == 0 {
                element.slice = Some(name.clone());
                element.slicing = None;
                element.min = Some(0);
            }
            self.elements.insert(place + index, element);
        }
        if self.elements[from].slicing.is_none() && parent.is_none() {
            self.elements[from].slicing = implied_slicing(&self.elements[from]);
        }
        Some(place)
    }

    /// Whether the element has elements below it.
    fn has_children(&self, at: usize) -> bool {
        let prefix = format!("{}.", self.elements[at].id);
        self.elements.get(at + 1).is_some_and(|next| next.id.starts_with(&prefix))
    }

    /// The place after an element and all below it.
    fn end_of(&self, at: usize) -> usize {
        let prefix = format!("{}.", self.elements[at].id);
        let below = self.elements[at + 1..].iter().take_while(|of| of.id.starts_with(&prefix));
        at + 1 + below.count()
    }

    /// The place after an element, its slices and all below them.
    fn after_slices(&self, base: &str) -> usize {
        let Some(at) = self.find(base) else { return self.elements.len() };
        let belongs = |of: &&ElementDefinition| {
            of.id.strip_prefix(base).is_some_and(|rest| rest.starts_with(['.', ':']))
        };
        at + 1 + self.elements[at + 1..].iter().take_while(belongs).count()
    }

    /// The element that describes the content of another, and all below it.
    fn content(&self, told: &str) -> Vec<ElementDefinition> {
        let (url, path) = told.split_once('#').unwrap_or(("", told));
        let effort = self.effort.deeper();
        let other = Some(url).filter(|url| !(url.is_empty() || effort.is_spent()));
        let other = other.and_then(|url| self.bases.structure_of(url, self.package, effort));
        let elements = other.as_ref().map_or(&self.elements, |of| &of.snapshot);
        let Some(from) = elements.iter().position(|of| of.path == path) else { return Vec::new() };
        let prefix = format!("{}.", elements[from].id);
        let below = elements[from + 1..].iter().take_while(|of| of.id.starts_with(&prefix));
        elements[from..=from].iter().chain(below).cloned().collect()
    }

    /// Puts the elements of its type (or of the one profile of it) below an element.
    fn expand(&mut self, at: usize) {
        let owner = self.elements[at].clone();
        let content = owner.content.as_deref();
        let source = match (content, owner.types.first()) {
            (Some(content), _) => self.content(content),
            (None, Some(of)) => {
                let url = match of.profiles.as_slice() {
                    [one] => one.clone(),
                    _ => format!("{BASE}{}", of.code),
                };
                let effort = self.effort.deeper();
                if effort.is_spent() {
                    return;
                }
                let found = self.bases.structure_of(&url, self.package, effort);
                found.map(|found| found.snapshot).unwrap_or_default()
            }
            _ => return,
        };
        let Some(root) = source.first().cloned() else { return };
        // What does not stand below the root of its own definition stands nowhere.
        let below = source.into_iter().skip(1).filter_map(|mut element| {
            let rest = element.path.strip_prefix(&root.path)?;
            element.path = format!("{}{rest}", owner.path);
            element.id = format!("{}{}", owner.id, element.id.get(root.id.len()..).unwrap_or(""));
            Some(element)
        });
        let below: Vec<_> = below.collect();
        self.effort.spend(below.len());
        if self.elements.len() + below.len() <= ELEMENTS_MAX {
            self.elements.splice(at + 1..at + 1, below);
        }
    }
}

/// Extensions are told apart by their url and choices by their type, also where nobody says so.
fn implied_slicing(element: &ElementDefinition) -> Option<crate::definition::Slicing> {
    let (kind, path) = match element.path.rsplit('.').next()? {
        "extension" | "modifierExtension" => ("value", "url"),
        name if name.ends_with("[x]") => ("type", "$this"),
        _ => return None,
    };
    let discriminator =
        crate::definition::Discriminator { kind: kind.to_owned(), path: path.to_owned() };
    Some(crate::definition::Slicing {
        discriminators: vec![discriminator],
        rules: "open".to_owned(),
        ordered: false,
    })
}

/// What the differential says replaces what the base said; invariants are added.
fn lay_over(base: &mut ElementDefinition, change: &ElementDefinition) {
    macro_rules! replace {
        ($($field:ident),*) => {$(
            if change.$field.is_some() {
                base.$field.clone_from(&change.$field);
            }
        )*};
    }
    replace!(
        min,
        max,
        slicing,
        content,
        fixed,
        pattern,
        min_value,
        max_value,
        max_length,
        bounds,
        is_modifier
    );
    if let Some(binding) = &change.binding {
        let kept = base.binding.as_ref().and_then(|of| of.value_set.clone());
        let mut binding = binding.clone();
        binding.value_set = binding.value_set.or(kept);
        base.binding = Some(binding);
    }
    if !change.types.is_empty() {
        // Targets that are not repeated stay as they were.
        let mut types = change.types.clone();
        for of in &mut types {
            let before = base.types.iter().find(|before| before.code == of.code);
            if let Some(before) = before.filter(|_| of.targets.is_empty()) {
                of.targets.clone_from(&before.targets);
            }
        }
        base.types = types;
    }
    for constraint in &change.constraints {
        if !base.constraints.iter().any(|known| known.key == constraint.key) {
            base.constraints.push(constraint.clone());
        }
    }
}
