//! Functions whose answer is not in the document: time, variables, and what the host knows.

use std::borrow::Cow;

use fhir::Element;

use super::{Evaluated, Run, Scope, single, wrong_type};
use crate::context::Host;
use crate::error::EvaluationError;
use crate::function::Function;
use crate::item::{Collection, Item};
use crate::moment::Moment;
use crate::node::Call;

impl<'t> Run<'_, 't> {
    pub(crate) fn ask(
        &mut self,
        call: &'t Call,
        focus: &[Item<'t>],
        scope: &Scope<'_, 't>,
    ) -> Evaluated<'t> {
        let now = || Moment::of_instant(self.context.now);
        match call.function {
            Function::Now => Ok(Collection::one(Item::DateTime(now()))),
            Function::Today => Ok(Collection::one(Item::Date(now().date_part()))),
            Function::TimeOfDay => Ok(now().time_part().map(Item::Time).into()),
            Function::Trace => self.trace(call, focus, scope),
            Function::DefineVariable => self.define_variable(call, focus, scope),
            Function::Resolve => self.resolve(focus),
            Function::MemberOf => self.member_of(call, focus, scope),
            _ => self.conforms_to(call, focus, scope),
        }
    }

    fn host(&self, function: Function) -> Result<&dyn Host<'t>, EvaluationError> {
        self.context.host.ok_or_else(|| EvaluationError::NotSupported(function.name().into()))
    }

    fn name(
        &mut self,
        call: &'t Call,
        scope: &Scope<'_, 't>,
    ) -> Result<Cow<'t, str>, EvaluationError> {
        let name = self.argument(call, 0, scope)?;
        let operation = call.function.name();
        let name = single(&name, operation)?.and_then(Item::text);
        name.ok_or(EvaluationError::WrongArgument(operation))
    }

    fn trace(
        &mut self,
        call: &'t Call,
        focus: &[Item<'t>],
        scope: &Scope<'_, 't>,
    ) -> Evaluated<'t> {
        let name = self.name(call, scope)?;
        if let Some(host) = self.context.host {
            match call.arguments.get(1) {
                None => host.trace(&name, focus),
                Some(what) => {
                    for (index, item) in focus.iter().enumerate() {
                        let this = std::slice::from_ref(item);
                        let scope = Scope { this, index, ..*scope };
                        host.trace(&name, &self.evaluate(*what, this, &scope)?);
                    }
                }
            }
        }
        Ok(focus.iter().cloned().collect())
    }

    fn define_variable(
        &mut self,
        call: &'t Call,
        focus: &[Item<'t>],
        scope: &Scope<'_, 't>,
    ) -> Evaluated<'t> {
        let name = self.name(call, scope)?;
        let is_taken =
            matches!(&*name, "context" | "resource" | "rootResource" | "sct" | "loinc" | "ucum")
                || self.is_defined(&name);
        if is_taken {
            return Err(EvaluationError::WrongArgument("defineVariable"));
        }
        let items: Collection<'t> = focus.iter().cloned().collect();
        let value = match call.arguments.get(1) {
            Some(value) => self.evaluate(*value, focus, &Scope { this: focus, ..*scope })?,
            None => items.clone(),
        };
        self.define(name, value);
        Ok(items)
    }

    fn resolve(&mut self, focus: &[Item<'t>]) -> Evaluated<'t> {
        let host = self.host(Function::Resolve)?;
        let mut found = Collection::new();
        for item in focus {
            let (reference, from) = match item {
                Item::Element(element) if element.value().is_none() => {
                    let reference = element.child("reference").and_then(Element::value);
                    (reference.map(Cow::Borrowed), Some(*element))
                }
                _ => (item.text(), item.element()),
            };
            let Some(reference) = reference else { continue };
            let target = match reference.strip_prefix('#') {
                Some(id) => self.contained(id),
                None => host.resolve(&reference, from),
            };
            found.0.extend(target);
        }
        self.step(focus.len() * 8)?;
        Ok(found)
    }

    /// `#id` names a contained resource of the whole resource, `#` that resource itself.
    fn contained(&self, id: &str) -> Option<Item<'t>> {
        let root = self.context.root_resource?;
        if id.is_empty() {
            return Some(Item::Element(root));
        }
        root.all("contained").find(|resource| resource.text("id") == Some(id)).map(Item::Element)
    }

    /// One item and one value set; whatever cannot be known gives nothing.
    fn member_of(
        &mut self,
        call: &'t Call,
        focus: &[Item<'t>],
        scope: &Scope<'_, 't>,
    ) -> Evaluated<'t> {
        let value_set = self.argument(call, 0, scope)?;
        let ([item], [value_set]) = (focus, &value_set[..]) else { return Ok(Collection::new()) };
        let kinds = ["code", "string", "uri", "Coding", "CodeableConcept", "String"];
        let (Some(value_set), true) = (value_set.text(), kinds.contains(&item.type_info().name))
        else {
            return Ok(Collection::new());
        };
        self.step(8)?;
        let host = self.host(Function::MemberOf)?;
        Ok(Collection::of_boolean(host.member_of(item, &value_set)))
    }

    /// Of several items, or of none, it is false that they conform.
    fn conforms_to(
        &mut self,
        call: &'t Call,
        focus: &[Item<'t>],
        scope: &Scope<'_, 't>,
    ) -> Evaluated<'t> {
        let [item] = focus else { return Ok(Collection::one(Item::Boolean(false))) };
        let profile = self.argument(call, 0, scope)?;
        let profile = match &profile[..] {
            [] => Cow::Borrowed(""),
            [profile] => profile.text().ok_or_else(|| wrong_type("conformsTo", profile))?,
            several => {
                let count = several.len();
                return Err(EvaluationError::NotSingle { operation: "conformsTo", count });
            }
        };
        self.step(8)?;
        let host = self.host(Function::ConformsTo)?;
        match host.conforms_to(item, &profile) {
            Ok(conforms) => Ok(Collection::one(Item::Boolean(conforms))),
            Err(_) => Err(EvaluationError::UnknownProfile((&*profile).into())),
        }
    }
}
