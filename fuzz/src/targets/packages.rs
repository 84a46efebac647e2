//! Packages of rules, which anybody may have made.

use std::sync::LazyLock;

use fhir::{Format, Instant, Limits, Severity, Tree};
use rules::{Asked, Mode, Package, PackageLimits, RuleSet};

pub(crate) const WORDS: &[&str] = &[
    "\"resourceType\":\"StructureDefinition\"",
    "\"resourceType\":\"ValueSet\"",
    "\"url\":\"http://a.test/p\"",
    "\"baseDefinition\":\"http://a.test/p\"",
    "\"derivation\":\"constraint\"",
    "\"type\":\"Patient\"",
    "\"type\":[{\"code\":\"HumanName\",\"profile\":[\"http://a.test/p\"]}]",
    "\"type\":[{\"code\":\"Reference\",\"targetProfile\":[\"http://a.test/p\"]}]",
    "\"path\":\"Patient.name\"",
    "\"path\":\"Patient.name.family\"",
    "\"path\":\"Patient.extension\"",
    "\"path\":\"Patient.multipleBirth[x]\"",
    "\"id\":\"Patient.name:a.family\"",
    "\"sliceName\":\"a\"",
    "\"sliceName\":\"a/b\"",
    "\"slicing\":{\"discriminator\":[{\"type\":\"value\",\"path\":\"use\"}],\"rules\":\"closed\"}",
    "\"slicing\":{\"discriminator\":[{\"type\":\"profile\",\"path\":\"$this.resolve()\"}]}",
    "\"slicing\":{\"discriminator\":[{\"type\":\"exists\",\"path\":\"extension('u')\"}]}",
    "\"min\":4294967296",
    "\"max\":\"-1\"",
    "\"contentReference\":\"#Patient.name\"",
    "\"fixedCode\":\"usual\"",
    "\"patternHumanName\":{\"given\":[\"Anna\"]}",
    "\"minValueInteger\":1",
    "\"constraint\":[{\"key\":\"a-1\",\"severity\":\"error\",\"expression\":\"name.exists()\"}]",
    "\"binding\":{\"strength\":\"required\",\"valueSet\":\"http://a.test/v\"}",
    "\"compose\":{\"include\":[{\"valueSet\":[\"http://a.test/v\"]}]}",
    "\"filter\":[{\"property\":\"code\",\"op\":\"regex\",\"value\":\"(a*)*b\"}]",
    "\"snapshot\":{\"element\":[",
    "\"differential\":{\"element\":[",
    "{",
    "}",
    "[",
    "]",
    ",",
];

/// Profiles of a package that are compiled and asked.
const PROFILES_MAX: usize = 2;

/// What the packages build on: as little of FHIR's own types as profiles need.
static BASE: LazyLock<Package> = LazyLock::new(|| {
    let types = [
        ("Patient", "resource", &["extension Extension", "name HumanName", "active boolean"][..]),
        ("HumanName", "complex-type", &["use code", "family string", "given string"]),
        ("Extension", "complex-type", &["url uri", "extension Extension", "value[x] string"]),
        ("Reference", "complex-type", &["reference string"]),
    ];
    let entries = types.map(|(name, kind, elements)| {
        let told = elements.iter().filter_map(|of| of.split_once(' ')).map(|(path, of)| {
            serde_json::json!({ "id": format!("{name}.{path}"), "path": format!("{name}.{path}"),
                "min": 0, "max": "*", "type": [{ "code": of }] })
        });
        let root = serde_json::json!({ "id": name, "path": name, "min": 0, "max": "*" });
        let elements: Vec<_> = std::iter::once(root).chain(told).collect();
        serde_json::json!({ "resource": {
            "resourceType": "StructureDefinition", "kind": kind, "type": name, "abstract": false,
            "url": format!("http://hl7.org/fhir/StructureDefinition/{name}"),
            "snapshot": { "element": elements }
        } })
    });
    let all = serde_json::json!({ "resourceType": "Bundle", "entry": entries }).to_string();
    Package::read(all.as_bytes(), &PackageLimits::default()).expect("the base")
});

/// An invented patient.
static PATIENT: LazyLock<Tree> = LazyLock::new(|| {
    let json = br#"{"resourceType":"Patient","id":"a","extension":[{"url":"u","valueString":"x"}],
        "active":true,"name":[{"use":"official","family":"Muster","given":["Anna"]},
        {"use":"usual","given":["Anni"]}],"multipleBirthInteger":2,
        "managingOrganization":{"reference":"Organization/1"}}"#;
    Tree::read(json, Format::Json, &Limits::default()).expect("a patient")
});

/// Whatever the package: it is refused, or its definitions are ready in time, and whoever asks
/// strictly is told no less.
pub(crate) fn package(bytes: &[u8]) {
    let limits = PackageLimits {
        archive_max: 1 << 20,
        unpacked_max: 4 << 20,
        file_max: 1 << 20,
        files_max: 100,
    };
    let Ok(package) = Package::read(bytes, &limits) else { return };
    let set = RuleSet::of(vec![BASE.clone()]).with(vec![package]);
    let mut profiles: Vec<String> = set.profile_urls().map(str::to_owned).collect();
    profiles.sort();
    profiles.retain(|url| !url.starts_with("http://hl7.org/fhir/StructureDefinition/"));
    profiles.truncate(PROFILES_MAX);
    let found = [Mode::Authority, Mode::Strict]
        .map(|mode| set.validate(&PATIENT, &Asked { profiles: &profiles, mode, now: Instant(0) }));
    let errors =
        found.map(|found| found.iter().filter(|of| of.severity == Severity::Error).count());
    assert!(errors[0] <= errors[1], "strict finds less: {errors:?}");
}
