//! What FHIRPath asks of the document around it and of the rules in use.

use fhir::Element;
use fhirpath::{Host, Item, UnknownProfile};

use super::{Run, has_errors};
use crate::terminology::Membership;

impl<'t> Host<'t> for Run<'t> {
    fn resolve(&self, reference: &str, from: Option<Element<'t>>) -> Option<Item<'t>> {
        let from = from.unwrap_or_else(|| self.tree.root());
        let found = Run::resolve(self, reference, from);
        // A canonical: rules look into ConceptMaps.
        let found = found.or_else(|| self.set.tree(reference, 0).map(fhir::Tree::root));
        found.map(Item::Element)
    }

    fn member_of(&self, item: &Item<'t>, value_set: &str) -> Option<bool> {
        match item {
            Item::Element(of) => self.is_member(*of, value_set, 0),
            Item::String(code) => {
                self.code_member(code, value_set, 0).map(|answer| answer != Membership::Out)
            }
            _ => None,
        }
    }

    fn conforms_to(&self, item: &Item<'t>, profile: &str) -> Result<bool, UnknownProfile> {
        let profile = self.set.profile(profile, 0).ok_or(UnknownProfile)?;
        let Item::Element(of) = item else { return Ok(false) };
        if !of.is_of(&profile.type_name) {
            return Ok(false);
        }
        let conforms = !has_errors(&self.conform(*of, profile));
        if !conforms {
            self.unmet.borrow_mut().push((self.place(*of), profile));
        }
        Ok(conforms)
    }
}

impl<'t> Run<'t> {
    /// Whether a bare code is in a value set; `None` for a value set that nobody defines.
    pub(super) fn code_member(
        &self,
        code: &str,
        value_set: &str,
        package: u16,
    ) -> Option<Membership> {
        self.set.members(value_set, package)?;
        Some(self.set.membership(value_set, package, None, code, self.mode))
    }
}
