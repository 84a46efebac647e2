//! A patient who must be nowhere in the clear: a canary.

use serde_json::Value;
use testkit::DocumentBuilder;

/// Family name.
pub const FAMILY: &str = "Zwinglicanary";
/// The same, corrected.
pub const CORRECTED: &str = "Zwinglicanary-Rüti";
/// Given name.
pub const GIVEN: &str = "Élianne-Canaria";
/// Birth date.
pub const BORN: &str = "1931-07-29";
/// Street and number.
pub const STREET: &str = "Kanarienvogelgässchen 17b";
/// In the shape of a Swiss insurance number; the specimen that authorities print.
pub const INSURANCE: &str = "7569217076985";
/// The laboratory's number of the patient.
pub const PATIENT: &str = "PID-canary-004711";

/// A report about the canary.
///
/// # Panics
/// Where the generated document has no patient.
pub fn report(seed: u64, family: &str) -> String {
    let mut document: Value =
        serde_json::from_str(&DocumentBuilder::new(seed).family(family).json()).expect("JSON");
    let entries = document["entry"].as_array_mut().expect("entries");
    let patient = entries
        .iter_mut()
        .map(|entry| &mut entry["resource"])
        .find(|resource| resource["resourceType"] == "Patient")
        .expect("a patient");
    patient["name"][0]["given"] = serde_json::json!([GIVEN]);
    patient["birthDate"] = BORN.into();
    patient["address"][0]["line"] = serde_json::json!([STREET]);
    patient["identifier"] = serde_json::json!([
        { "system": "urn:oid:2.16.756.5.32", "value": INSURANCE },
        { "system": "urn:oid:2.16.756.5.30.1", "value": PATIENT },
    ]);
    document.to_string()
}
