//! Functions on collections: which items, how many, in which order.

use std::cmp::Ordering;
use std::collections::HashSet;

use super::logic::truth_of;
use super::{Evaluated, Run, Scope, equality, single, wrong_type};
use crate::error::{EvaluationError, Limit};
use crate::function::Function;
use crate::item::{Collection, Item};
use crate::node::{Call, Node, NodeId, Operator};

/// The integer of an argument; `None` if there is none.
pub(crate) fn integer(
    items: &[Item<'_>],
    operation: &'static str,
) -> Result<Option<i64>, EvaluationError> {
    let Some(item) = single(items, operation)? else { return Ok(None) };
    match item.to_system() {
        Item::Integer(value) => Ok(Some(i64::from(value))),
        Item::Long(value) => Ok(Some(value)),
        _ => Err(wrong_type(operation, item)),
    }
}

fn boolean<'t>(value: bool) -> Evaluated<'t> {
    Ok(Collection::one(Item::Boolean(value)))
}

impl<'t> Run<'_, 't> {
    pub(crate) fn collection(
        &mut self,
        call: &'t Call,
        focus: &[Item<'t>],
        scope: &Scope<'_, 't>,
    ) -> Evaluated<'t> {
        use Function as F;
        match call.function {
            F::Count => {
                let count = i32::try_from(focus.len()).unwrap_or(i32::MAX);
                Ok(Collection::one(Item::Integer(count)))
            }
            F::Empty => boolean(focus.is_empty()),
            F::Not => Ok(Collection::of_boolean(truth_of(focus, "not")?.map(|value| !value))),
            F::Exists => self.exists(call, focus, scope),
            F::All => self.all(call, focus, scope),
            F::AllTrue | F::AllFalse | F::AnyTrue | F::AnyFalse => of_all(call.function, focus),
            F::First => Ok(focus.first().cloned().into()),
            F::Last => Ok(focus.last().cloned().into()),
            F::Single => match focus {
                [item] => Ok(Collection::one(item.clone())),
                _ => Err(EvaluationError::NotSingle { operation: "single", count: focus.len() }),
            },
            F::Tail => Ok(focus.iter().skip(1).cloned().collect()),
            F::Skip | F::Take => self.part(call, focus, scope),
            F::Where | F::Select => self.per_item(call, focus, scope),
            F::Repeat => self.repeat(call, focus, scope),
            F::Aggregate => self.aggregate(call, focus, scope),
            F::Sort => self.sort(call, focus, scope),
            F::Distinct => self.distinct(focus),
            F::IsDistinct => match plain_texts(focus) {
                Some(texts) => {
                    self.step(texts.len())?;
                    let kept: HashSet<&str> = texts.iter().copied().collect();
                    boolean(kept.len() == texts.len())
                }
                None => boolean(self.distinct(focus)?.len() == focus.len()),
            },
            F::Iif => self.iif(call, focus, scope),
            _ => {
                let other = self.argument(call, 0, scope)?;
                self.with_other(call.function, focus, other)
            }
        }
    }

    /// Functions of two collections.
    fn with_other(
        &mut self,
        function: Function,
        focus: &[Item<'t>],
        other: Collection<'t>,
    ) -> Evaluated<'t> {
        use Function as F;
        let mut kept = Collection::new();
        match function {
            F::SubsetOf => {
                for item in focus {
                    if !self.is_among(item, &other)? {
                        return boolean(false);
                    }
                }
                boolean(true)
            }
            F::SupersetOf => self.with_other(F::SubsetOf, &other, focus.iter().cloned().collect()),
            F::Combine => Ok(focus.iter().cloned().chain(other).collect()),
            F::Union => {
                self.merge(&mut kept, focus)?;
                self.merge(&mut kept, &other)?;
                Ok(kept)
            }
            F::Intersect => {
                for item in focus {
                    if self.is_among(item, &other)? && !self.is_among(item, &kept)? {
                        kept.push(item.clone());
                    }
                }
                Ok(kept)
            }
            _ => {
                for item in focus {
                    if !self.is_among(item, &other)? {
                        kept.push(item.clone());
                    }
                }
                Ok(kept)
            }
        }
    }

    pub(crate) fn union_of(
        &mut self,
        operands: &'t [NodeId],
        focus: &[Item<'t>],
        scope: &Scope<'_, 't>,
    ) -> Evaluated<'t> {
        let mut all = Collection::new();
        for operand in operands {
            let items = self.evaluate(*operand, focus, scope)?;
            self.merge(&mut all, &items)?;
        }
        Ok(all)
    }

    fn merge(
        &mut self,
        into: &mut Collection<'t>,
        items: &[Item<'t>],
    ) -> Result<(), EvaluationError> {
        for item in items {
            if !self.is_among(item, into)? {
                into.push(item.clone());
            }
        }
        Ok(())
    }

    fn distinct(&mut self, focus: &[Item<'t>]) -> Evaluated<'t> {
        let mut kept = Collection::new();
        self.merge(&mut kept, focus)?;
        Ok(kept)
    }

    fn exists(
        &mut self,
        call: &'t Call,
        focus: &[Item<'t>],
        scope: &Scope<'_, 't>,
    ) -> Evaluated<'t> {
        let [criteria] = &call.arguments[..] else { return boolean(!focus.is_empty()) };
        for (index, item) in focus.iter().enumerate() {
            let this = std::slice::from_ref(item);
            if self.truth(*criteria, this, &Scope { this, index, ..*scope })? == Some(true) {
                return boolean(true);
            }
        }
        boolean(false)
    }

    fn all(&mut self, call: &'t Call, focus: &[Item<'t>], scope: &Scope<'_, 't>) -> Evaluated<'t> {
        for (index, item) in focus.iter().enumerate() {
            let this = std::slice::from_ref(item);
            let scope = Scope { this, index, ..*scope };
            if self.truth(call.arguments[0], this, &scope)? != Some(true) {
                return boolean(false);
            }
        }
        boolean(true)
    }

    fn per_item(
        &mut self,
        call: &'t Call,
        focus: &[Item<'t>],
        scope: &Scope<'_, 't>,
    ) -> Evaluated<'t> {
        let mut kept = Collection::new();
        if let (Some((left, right)), [_, ..]) = (call.fixed, focus) {
            let right = self.evaluate(right, focus, scope)?;
            let mut lookup = self.lookup(left, &right);
            for (index, item) in focus.iter().enumerate() {
                if let Some(is_met) = lookup.as_mut().and_then(|lookup| lookup.is_met(item)) {
                    // As many steps as the evaluation of both sides takes.
                    self.step(4)?;
                    if is_met {
                        kept.push(item.clone());
                    }
                    continue;
                }
                let this = std::slice::from_ref(item);
                let left = self.evaluate(left, this, &Scope { this, index, ..*scope })?;
                if self.compare(Operator::Equal, &left, &right)? == Some(true) {
                    kept.push(item.clone());
                }
            }
            return Ok(kept);
        }
        for (index, item) in focus.iter().enumerate() {
            let this = std::slice::from_ref(item);
            let scope = Scope { this, index, ..*scope };
            if call.function == Function::Select {
                kept.0.extend(self.evaluate(call.arguments[0], this, &scope)?);
                self.fits(kept.len())?;
            } else if self.truth(call.arguments[0], this, &scope)? == Some(true) {
                kept.push(item.clone());
            }
        }
        Ok(kept)
    }

    fn fits(&self, count: usize) -> Result<(), EvaluationError> {
        let fits = count <= self.context.limits.items_max;
        if fits { Ok(()) } else { Err(EvaluationError::Limit(Limit::Items)) }
    }

    /// What the expression gives on each item, then on each new item of that, until there is none.
    fn repeat(
        &mut self,
        call: &'t Call,
        focus: &[Item<'t>],
        scope: &Scope<'_, 't>,
    ) -> Evaluated<'t> {
        let mut found = Collection::new();
        let mut open: Vec<Item<'t>> = focus.to_vec();
        while !open.is_empty() {
            let mut next = Vec::new();
            for (index, item) in open.iter().enumerate() {
                let this = std::slice::from_ref(item);
                let scope = Scope { this, index, ..*scope };
                for new in self.evaluate(call.arguments[0], this, &scope)? {
                    if !self.is_among(&new, &found)? {
                        found.push(new.clone());
                        next.push(new);
                    }
                }
                self.fits(found.len())?;
            }
            open = next;
        }
        Ok(found)
    }

    fn aggregate(
        &mut self,
        call: &'t Call,
        focus: &[Item<'t>],
        scope: &Scope<'_, 't>,
    ) -> Evaluated<'t> {
        let mut total = self.argument(call, 1, scope)?;
        for (index, item) in focus.iter().enumerate() {
            let this = std::slice::from_ref(item);
            let scope = Scope { this, index, total: Some(&total) };
            total = self.evaluate(call.arguments[0], this, &scope)?;
        }
        Ok(total)
    }

    /// By its keys in turn: upwards, or downwards for a key with a minus. Items without a key come
    /// first, either way.
    fn sort(&mut self, call: &'t Call, focus: &[Item<'t>], scope: &Scope<'_, 't>) -> Evaluated<'t> {
        let mut rows = Vec::with_capacity(focus.len());
        for (index, item) in focus.iter().enumerate() {
            let this = std::slice::from_ref(item);
            let scope = Scope { this, index, ..*scope };
            let mut keys = Vec::with_capacity(call.arguments.len().max(1));
            for argument in &call.arguments {
                let (is_down, key) = match self.node(*argument) {
                    Node::Negated(key) => (true, *key),
                    _ => (false, *argument),
                };
                let key = self.evaluate(key, this, &scope)?;
                keys.push((is_down, single(&key, "sort")?.map(Item::to_system)));
            }
            if call.arguments.is_empty() {
                keys.push((false, Some(item.to_system())));
            }
            rows.push((keys, item));
        }
        self.step(rows.len().saturating_mul(16))?;
        let rows = merge_sorted(rows, &mut |(mine, _): &Row<'_, 't>, (theirs, _)| {
            let mut order = Ordering::Equal;
            for ((is_down, mine), (_, theirs)) in mine.iter().zip(theirs) {
                let of_key = match (mine, theirs) {
                    (Some(mine), Some(theirs)) => {
                        let order = equality::order("sort", mine, theirs)?;
                        let order = order.unwrap_or(Ordering::Equal);
                        if *is_down { order.reverse() } else { order }
                    }
                    (mine, theirs) => mine.is_some().cmp(&theirs.is_some()),
                };
                order = order.then(of_key);
            }
            Ok(order)
        })?;
        Ok(rows.into_iter().map(|(_, item)| item.clone()).collect())
    }

    fn part(&mut self, call: &'t Call, focus: &[Item<'t>], scope: &Scope<'_, 't>) -> Evaluated<'t> {
        let count = self.argument(call, 0, scope)?;
        let operation = call.function.name();
        let Some(count) = integer(&count, operation)? else {
            return Err(EvaluationError::WrongArgument(operation));
        };
        let count = usize::try_from(count).unwrap_or(0);
        Ok(match call.function {
            Function::Skip => focus.iter().skip(count).cloned().collect(),
            _ => focus.iter().take(count).cloned().collect(),
        })
    }

    /// Only the branch that is chosen is evaluated.
    fn iif(&mut self, call: &'t Call, focus: &[Item<'t>], scope: &Scope<'_, 't>) -> Evaluated<'t> {
        single(focus, "iif")?;
        let scope = if focus.is_empty() { *scope } else { Scope { this: focus, ..*scope } };
        let chosen = match self.truth(call.arguments[0], focus, &scope)? {
            Some(true) => call.arguments.get(1),
            _ => call.arguments.get(2),
        };
        match chosen {
            Some(chosen) => self.evaluate(*chosen, focus, &scope),
            None => Ok(Collection::new()),
        }
    }
}

/// Keys, each with whether it counts downwards, and the item.
type Row<'i, 't> = (Vec<(bool, Option<Item<'t>>)>, &'i Item<'t>);

/// Sorts stably. Dates of different precision have no order, and the standard library's sort may
/// panic where the order is not total.
fn merge_sorted<T>(
    mut rows: Vec<T>,
    compare: &mut impl FnMut(&T, &T) -> Result<Ordering, EvaluationError>,
) -> Result<Vec<T>, EvaluationError> {
    if rows.len() < 2 {
        return Ok(rows);
    }
    let later = rows.split_off(rows.len() / 2);
    let mut left = merge_sorted(rows, compare)?.into_iter().peekable();
    let mut right = merge_sorted(later, compare)?.into_iter().peekable();
    let mut merged = Vec::with_capacity(left.len() + right.len());
    while let (Some(mine), Some(theirs)) = (left.peek(), right.peek()) {
        let first = compare(mine, theirs)?.is_le();
        merged.extend(if first { left.next() } else { right.next() });
    }
    merged.extend(left);
    merged.extend(right);
    Ok(merged)
}

/// `allTrue` and its like take booleans only.
fn of_all<'t>(function: Function, focus: &[Item<'t>]) -> Evaluated<'t> {
    let mut trues = 0;
    for item in focus {
        match item.as_boolean() {
            Some(value) => trues += usize::from(value),
            None => return Err(wrong_type(function.name(), item)),
        }
    }
    boolean(match function {
        Function::AllTrue => trues == focus.len(),
        Function::AllFalse => trues == 0,
        Function::AnyTrue => trues > 0,
        _ => trues < focus.len(),
    })
}

/// The texts of items that are equal exactly when their texts are (codes, ids, addresses); `None`
/// if one of them is anything else. A code system has thousands of codes that must differ.
fn plain_texts<'i>(items: &'i [Item<'_>]) -> Option<Vec<&'i str>> {
    let text = |item: &'i Item<'_>| match item {
        Item::String(text) => Some(&**text),
        Item::Element(of) => {
            let kind = of.type_definition()?;
            let is_text = kind.is("string") || kind.is("uri");
            of.value().filter(|_| is_text && of.children().next().is_none())
        }
        _ => None,
    };
    items.iter().map(text).collect()
}
