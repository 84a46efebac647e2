//! Functions on elements of a document.

use super::{Evaluated, Run, Scope, single, xhtml};
use crate::error::EvaluationError;
use crate::function::Function;
use crate::item::{Collection, Item};
use crate::node::Call;

/// A child of a value: the parts of a quantity and of a type.
pub(crate) fn member_of_value<'t>(item: &Item<'t>, name: &str, found: &mut Collection<'t>) {
    match (item, name) {
        (Item::Quantity(of), "value") => found.push(Item::Decimal(of.value)),
        (Item::Quantity(of), "unit" | "code") => found.push(Item::string(of.unit().to_owned())),
        (Item::Type(of), "namespace") => found.push(Item::string(of.namespace)),
        (Item::Type(of), "name") => found.push(Item::string(of.name)),
        _ => {}
    }
}

impl<'t> Run<'_, 't> {
    pub(crate) fn tree(
        &mut self,
        call: &'t Call,
        focus: &[Item<'t>],
        scope: &Scope<'_, 't>,
    ) -> Evaluated<'t> {
        match call.function {
            Function::Children => self.children(focus),
            Function::Descendants => self.descendants(focus),
            Function::Extension => {
                let url = self.argument(call, 0, scope)?;
                let Some(url) = single(&url, "extension")?.and_then(Item::text) else {
                    return Err(EvaluationError::WrongArgument("extension"));
                };
                self.extensions(focus, &url)
            }
            Function::HasValue => {
                let has_value = match focus {
                    [item] => item.text().is_some_and(|text| !text.is_empty()),
                    _ => false,
                };
                Ok(Collection::one(Item::Boolean(has_value)))
            }
            Function::GetValue => {
                let value = match focus {
                    [item] => Some(item.to_system()).filter(|value| value.element().is_none()),
                    _ => None,
                };
                Ok(value.into())
            }
            Function::HtmlChecks | Function::HtmlChecks2 => {
                let text = match focus {
                    [item] => item.element().and_then(fhir::Element::value),
                    _ => None,
                };
                let good = text.is_some_and(|text| match call.function {
                    Function::HtmlChecks => xhtml::is_allowed(text),
                    _ => xhtml::has_content(text),
                });
                Ok(Collection::one(Item::Boolean(good)))
            }
            _ => self.check_modifiers(call, focus, scope),
        }
    }

    fn children(&mut self, focus: &[Item<'t>]) -> Evaluated<'t> {
        let mut found = Collection::new();
        for element in focus.iter().filter_map(Item::element) {
            let before = found.len();
            found.0.extend(element.children().map(Item::Element));
            self.step(1 + found.len() - before)?;
        }
        Ok(found)
    }

    /// Level by level.
    fn descendants(&mut self, focus: &[Item<'t>]) -> Evaluated<'t> {
        let mut found = self.children(focus)?;
        let mut start = 0;
        while start < found.len() {
            let level = start..found.len();
            start = level.end;
            for at in level {
                let Some(element) = found.get(at).and_then(Item::element) else { continue };
                let before = found.len();
                found.0.extend(element.children().map(Item::Element));
                self.step(1 + found.len() - before)?;
            }
        }
        Ok(found)
    }

    fn extensions(&mut self, focus: &[Item<'t>], url: &str) -> Evaluated<'t> {
        let mut found = Collection::new();
        for element in focus.iter().filter_map(Item::element) {
            for child in element.children() {
                self.step(1)?;
                let is_extension = matches!(child.name(), "extension" | "modifierExtension");
                if is_extension && child.text("url") == Some(url) {
                    found.push(Item::Element(child));
                }
            }
        }
        Ok(found)
    }

    /// The focus, unless it has a modifier extension that was not named.
    fn check_modifiers(
        &mut self,
        call: &'t Call,
        focus: &[Item<'t>],
        scope: &Scope<'_, 't>,
    ) -> Evaluated<'t> {
        let mut known = Vec::new();
        for number in 0..call.arguments.len() {
            let urls = self.argument(call, number, scope)?;
            known.extend(urls.iter().filter_map(Item::text));
        }
        for element in focus.iter().filter_map(Item::element) {
            for extension in element.all("modifierExtension") {
                self.step(1 + known.len())?;
                let url = extension.text("url").unwrap_or_default();
                if !known.iter().any(|known| known == url) {
                    return Err(EvaluationError::WrongArgument("checkModifiers"));
                }
            }
        }
        Ok(focus.iter().cloned().collect())
    }
}
