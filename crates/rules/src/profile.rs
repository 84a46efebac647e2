//! A StructureDefinition as a tree of small assertions, made once and walked for every document.

use std::sync::{Arc, OnceLock};

use fhir::{Element, ElementName};

use crate::definition::{
    Binding, Bounds, ElementDefinition, ExtensionContext, Slicing, Structure, TypeReference, Typed,
};
use crate::matcher::Matcher;
use crate::rule::{Rule, Rules};

/// No upper bound.
pub(crate) const UNBOUNDED: u32 = u32::MAX;

/// A compiled StructureDefinition.
#[derive(Debug)]
pub(crate) struct Profile {
    /// Place of its record in the set: its name in what is remembered.
    pub(crate) number: u32,
    /// Place of its package: what its canonicals mean depends on it.
    pub(crate) package: u16,
    pub(crate) url: String,
    pub(crate) type_name: String,
    pub(crate) is_constraint: bool,
    pub(crate) is_abstract: bool,
    /// `primitive-type`, `complex-type`, `resource` or `logical`.
    pub(crate) kind: String,
    pub(crate) contexts: Vec<ExtensionContext>,
    pub(crate) context_rules: Vec<Arc<Rule>>,
    /// Profiles that a resource must conform to beside this one.
    pub(crate) imposed: Vec<String>,
    /// The root first.
    pub(crate) nodes: Vec<Node>,
}

/// An element of a compiled StructureDefinition.
#[derive(Debug)]
pub(crate) struct Node {
    /// Last part of the path, without `[x]`.
    pub(crate) name: String,
    /// The same as a number; `None` if no type of FHIR has such an element.
    pub(crate) element_name: Option<ElementName>,
    /// `value[x]`: matches `valueQuantity`.
    pub(crate) is_choice: bool,
    pub(crate) path: String,
    pub(crate) slice: Option<String>,
    pub(crate) min: u32,
    pub(crate) max: u32,
    pub(crate) types: Vec<TypeReference>,
    pub(crate) content: Option<String>,
    pub(crate) fixed: Option<Typed>,
    pub(crate) pattern: Option<Typed>,
    pub(crate) min_value: Option<Typed>,
    pub(crate) max_value: Option<Typed>,
    pub(crate) max_length: Option<u64>,
    pub(crate) bounds: Option<Bounded>,
    pub(crate) binding: Option<Binding>,
    pub(crate) rules: Vec<Arc<Rule>>,
    pub(crate) is_modifier: bool,
    pub(crate) slicing: Option<Slicing>,
    /// Elements below, slices left out.
    pub(crate) children: Vec<u32>,
    /// Slices of this element (or, for a slice, its re-slices).
    pub(crate) slices: Vec<u32>,
    /// How a slice recognises its elements; made at first use, for it looks into other definitions.
    pub(crate) matchers: OnceLock<Result<Vec<Matcher>, String>>,
}

/// Bounds, with their expression made ready.
#[derive(Debug)]
pub(crate) struct Bounded {
    pub(crate) told: Bounds,
    /// `None` where there is none, or where it is none that can be used here.
    pub(crate) pattern: Option<regex::Regex>,
}

impl Bounded {
    fn of(told: Bounds) -> Self {
        let pattern = told.pattern.as_deref().and_then(crate::vocabulary::whole);
        Self { told, pattern }
    }
}

/// An element with what is asked of its name.
pub(crate) struct Named<'t> {
    pub(crate) element: Element<'t>,
    known: Option<ElementName>,
    /// `valueQuantity`: named with one type of a choice.
    is_choice: bool,
}

impl<'t> Named<'t> {
    pub(crate) fn of(element: Element<'t>) -> Self {
        let is_choice = element.stem() != element.name();
        Self { element, known: element.element_name(), is_choice }
    }
}

impl Profile {
    /// Compiles a definition that has a snapshot.
    pub(crate) fn compile(structure: Structure, number: u32, package: u16, rules: &Rules) -> Self {
        let mut build = Build::default();
        for element in structure.snapshot {
            build.add(element, rules);
        }
        let context_rules = structure.context_invariants.iter();
        Self {
            number,
            package,
            url: structure.url,
            type_name: structure.type_name,
            is_constraint: structure.is_constraint,
            is_abstract: structure.is_abstract,
            kind: structure.kind,
            contexts: structure.contexts,
            context_rules: context_rules.map(|text| rules.of_context(text)).collect(),
            imposed: structure.imposed,
            nodes: build.nodes,
        }
    }

    pub(crate) fn node(&self, at: u32) -> &Node {
        &self.nodes[at as usize]
    }

    /// The element of a path, slices left out.
    pub(crate) fn at_path(&self, path: &str) -> Option<&Node> {
        self.content(path).map(|at| self.node(at))
    }

    /// The element that a content reference names, by its id or path.
    pub(crate) fn content(&self, path: &str) -> Option<u32> {
        let found = self.nodes.iter().position(|node| node.path == path && node.slice.is_none());
        found.map(|at| at as u32)
    }

    /// The child of this name: `value` finds `value[x]`.
    pub(crate) fn child(&self, of: u32, name: &str) -> Option<u32> {
        let named = |at: &&u32| self.node(**at).name == name;
        self.node(of).children.iter().find(named).copied()
    }
}

impl Node {
    fn of(element: ElementDefinition, rules: &Rules) -> Self {
        let last = element.path.rsplit('.').next().unwrap_or_default();
        let (name, is_choice) = match last.strip_suffix("[x]") {
            Some(stem) => (stem.to_owned(), true),
            None => (last.to_owned(), false),
        };
        let max = element.max.as_deref().map_or(UNBOUNDED, |max| max.parse().unwrap_or(UNBOUNDED));
        Self {
            element_name: ElementName::of(&name),
            name,
            is_choice,
            slice: element.slice,
            min: element.min.unwrap_or(0),
            max,
            types: element.types,
            content: element.content,
            fixed: element.fixed,
            pattern: element.pattern,
            min_value: element.min_value,
            max_value: element.max_value,
            max_length: element.max_length,
            bounds: element.bounds.map(Bounded::of),
            binding: element.binding,
            rules: element.constraints.iter().filter_map(|rule| rules.of(rule)).collect(),
            is_modifier: element.is_modifier.unwrap_or(false),
            slicing: element.slicing,
            children: Vec::new(),
            slices: Vec::new(),
            matchers: OnceLock::new(),
            path: element.path,
        }
    }

    /// Whether an element of this name belongs here.
    pub(crate) fn is_named(&self, of: &Named<'_>) -> bool {
        // Names that FHIR knows are compared as numbers: this is asked of every element for every
        // definition.
        if self.element_name.is_some() && of.known.is_some() {
            return self.element_name == of.known && self.is_choice == of.is_choice;
        }
        let name = of.element.name();
        if self.is_choice {
            of.is_choice && self.name == of.element.stem()
        } else {
            self.name == name
        }
    }
}

/// Elements in the order of a snapshot become a tree.
#[derive(Default)]
struct Build {
    nodes: Vec<Node>,
    /// The open element of each depth.
    open: Vec<u32>,
}

impl Build {
    fn add(&mut self, element: ElementDefinition, rules: &Rules) {
        let depth = element.path.matches('.').count();
        let at = self.nodes.len() as u32;
        let node = Node::of(element, rules);
        if depth > self.open.len() {
            // Its parent is missing: nothing can be said of it.
            return;
        }
        self.open.truncate(depth + 1);
        let before = self.open.get(depth).copied();
        let parent = depth.checked_sub(1).and_then(|above| self.open.get(above)).copied();
        match (&node.slice, before) {
            (Some(slice), Some(_)) if depth > 0 => {
                let sliced = self.sliced(parent, &node.path, slice);
                match sliced {
                    Some(of) => self.attach(of, at, parent),
                    None => self.child(parent, at),
                }
            }
            _ => self.child(parent, at),
        }
        self.nodes.push(node);
        self.open.truncate(depth);
        self.open.push(at);
    }

    /// A slice of an element, or of a slice: that is told as its own slices where it does not say
    /// how they are.
    fn attach(&mut self, of: u32, at: u32, parent: Option<u32>) {
        let outer = &self.nodes[of as usize];
        if outer.slice.is_some() && outer.slicing.is_none() {
            let path = outer.path.clone();
            let base = self.sliced(parent, &path, "");
            let slicing = base.and_then(|base| self.nodes[base as usize].slicing.clone());
            let open = slicing.map(|of| Slicing { rules: "open".to_owned(), ordered: false, ..of });
            self.nodes[of as usize].slicing = open;
        }
        self.nodes[of as usize].slices.push(at);
    }

    fn child(&mut self, parent: Option<u32>, at: u32) {
        if let Some(parent) = parent {
            self.nodes[parent as usize].children.push(at);
        }
    }

    /// What a slice is a slice of: the element of its path, or the slice `a` for `a/b`.
    fn sliced(&self, parent: Option<u32>, path: &str, slice: &str) -> Option<u32> {
        let children = &self.nodes[parent? as usize].children;
        let base = *children.iter().rev().find(|at| self.nodes[**at as usize].path == path)?;
        let mut of = base;
        let mut parts = slice.split('/').collect::<Vec<_>>();
        parts.pop();
        let mut name = String::new();
        for part in parts {
            if !name.is_empty() {
                name.push('/');
            }
            name.push_str(part);
            let slices = &self.nodes[of as usize].slices;
            let named = |at: &&u32| self.nodes[**at as usize].slice.as_ref() == Some(&name);
            match slices.iter().find(named) {
                Some(found) => of = *found,
                None => break,
            }
        }
        Some(of)
    }
}
