//! A resource as such: its type, the profiles that it names, what it contains.

use std::rc::Rc;

use fhir::Element;

use super::{Issue, Run, error, warning};
use crate::definition::BASE;
use crate::facts::vitals;
use crate::profile::Profile;

/// Stands for "as a resource" where a profile has its number.
const AS_RESOURCE: u32 = u32::MAX;

impl<'t> Run<'t> {
    /// What a resource shows against its type and the profiles that it names, looked at once.
    pub(super) fn resource(&self, of: Element<'t>) -> Rc<Vec<Issue>> {
        self.remembered((self.place(of), AS_RESOURCE), |issues| {
            let Some(kind) = of.resource_type() else { return };
            if let Some(base) = self.type_profile(kind) {
                issues.extend(self.conform(of, base).iter().cloned());
            }
            if let Some(meta) = of.child("meta") {
                for named in meta.all("profile") {
                    self.named_profile(of, named, issues);
                }
            }
            for demanded in self.set.globals(kind) {
                self.against(of, demanded, issues);
            }
            self.identity(of, issues);
            self.implied_profile(of, kind, issues);
            match kind {
                "Bundle" => self.bundle(of, issues),
                "CodeSystem" => self.code_system(of, issues),
                "ConceptMap" => self.concept_map(of, issues),
                "MeasureReport" => self.measure_report(of, issues),
                "OperationDefinition" => self.operation(of, issues),
                "SearchParameter" => Self::search_parameter(of, issues),
                "StructureDefinition" => self.structure_definition(of, issues),
                "ValueSet" => self.value_set(of, issues),
                "Questionnaire" => Self::questionnaire(of, issues),
                "QuestionnaireResponse" => self.questionnaire_response(of, issues),
                _ => {}
            }
        })
    }

    fn named_profile(&self, of: Element<'t>, named: Element<'t>, issues: &mut Vec<Issue>) {
        let Some(canonical) = named.value() else { return };
        match self.set.profile(canonical, 0) {
            Some(profile) => self.against(of, profile, issues),
            None => {
                warning(issues, named, self.absent(canonical), &[("profile", canonical)]);
            }
        }
    }

    /// A resource against a profile of its own type.
    pub(super) fn against(&self, of: Element<'t>, profile: &'t Profile, issues: &mut Vec<Issue>) {
        if !of.is_of(&profile.type_name) {
            let found = of.resource_type().unwrap_or_default();
            let params =
                [("profile", &*profile.url), ("expected", &profile.type_name), ("found", found)];
            return error(issues, of, "rule-profile-type", &params);
        }
        issues.extend(self.conform(of, profile).iter().cloned());
    }

    /// What HL7's validator asks of some codes: vital signs conform to the profiles of FHIR for
    /// them.
    fn implied_profile(&self, of: Element<'t>, kind: &str, issues: &mut Vec<Issue>) {
        if kind != "Observation" {
            return;
        }
        let codings = || of.all("code").flat_map(|code| code.all("coding"));
        let implied = vitals::PROFILES.iter().find(|(system, codes, _)| {
            codings().any(|coding| {
                let code = coding.text("code").unwrap_or_default();
                coding.text("system") == Some(system) && codes.contains(&code)
            })
        });
        let profile =
            implied.and_then(|(_, _, name)| self.set.profile(&format!("{BASE}{name}"), 0));
        if let Some(profile) = profile {
            issues.extend(self.conform(of, profile).iter().cloned());
        }
    }
}
