//! Cures that need no judgement: another value at one place, a profile that is declared, an element
//! that goes. What a person has to decide is not suggested.

use fhir::{Element, Finding, Instant, Tree};

/// A change that would end a finding.
#[derive(Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// What is done.
    pub cure: Cure,
    /// FHIRPath of the element that it is done to.
    pub expression: String,
    /// The value that is written; nothing where an element goes.
    pub value: String,
}

/// What is done to an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cure {
    /// It gets this value in place of its own.
    Replace,
    /// A resource declares this profile (`meta.profile`), beside what it declares already.
    Declare,
    /// It goes, with all that is in it.
    Remove,
}

// The value may be about a patient.
fhir::shows_only!(Suggestion {});

/// Names of countries in the languages of Switzerland and in English, and longer codes.
const COUNTRIES: &[(&str, &[&str])] = &[
    ("AT", &["österreich", "autriche", "austria", "aut"]),
    (
        "CH",
        &[
            "schweiz",
            "suisse",
            "svizzera",
            "svizra",
            "switzerland",
            "confoederatio helvetica",
            "che",
        ],
    ),
    ("DE", &["deutschland", "allemagne", "germania", "germany", "deu"]),
    ("FR", &["frankreich", "france", "francia", "fra"]),
    ("IT", &["italien", "italie", "italia", "italy", "ita"]),
    ("LI", &["liechtenstein", "fürstentum liechtenstein", "lie"]),
];

/// The cantons by the names that they have in their own languages and in English.
const CANTONS: &[(&str, &[&str])] = &[
    ("AG", &["aargau", "argovie"]),
    ("AI", &["appenzell innerrhoden"]),
    ("AR", &["appenzell ausserrhoden"]),
    ("BE", &["bern", "berne", "berna"]),
    ("BL", &["basel-landschaft", "baselland", "bâle-campagne"]),
    ("BS", &["basel-stadt", "bâle-ville"]),
    ("FR", &["freiburg", "fribourg", "friburgo"]),
    ("GE", &["genf", "genève", "geneve", "ginevra", "geneva"]),
    ("GL", &["glarus", "glaris"]),
    ("GR", &["graubünden", "grisons", "grigioni", "grischun"]),
    ("JU", &["jura"]),
    ("LU", &["luzern", "lucerne", "lucerna"]),
    ("NE", &["neuenburg", "neuchâtel", "neuchatel"]),
    ("NW", &["nidwalden", "nidwald"]),
    ("OW", &["obwalden", "obwald"]),
    ("SG", &["st. gallen", "sankt gallen", "saint-gall", "san gallo"]),
    ("SH", &["schaffhausen", "schaffhouse", "sciaffusa"]),
    ("SO", &["solothurn", "soleure", "soletta"]),
    ("SZ", &["schwyz"]),
    ("TG", &["thurgau", "thurgovie", "turgovia"]),
    ("TI", &["tessin", "ticino"]),
    ("UR", &["uri"]),
    ("VD", &["waadt", "vaud"]),
    ("VS", &["wallis", "valais", "vallese"]),
    ("ZG", &["zug", "zoug", "zugo"]),
    ("ZH", &["zürich", "zurich", "zurigo"]),
];

/// What would cure a finding; `None` where a person has to decide.
pub fn suggestion(tree: &Tree, finding: &Finding) -> Option<Suggestion> {
    let at = tree.find(&finding.expression)?;
    let param = |name: &str| {
        finding.params.iter().find(|(of, _)| of == name).map(|(_, value)| value.as_str())
    };
    let of = |cure: Cure, at: Element<'_>, value: &str| {
        let (expression, value) = (at.expression(), value.to_owned());
        Some(Suggestion { cure, expression, value })
    };
    let (leaf, value) = match &*finding.code {
        "envelope-profile-missing" => {
            return of(Cure::Declare, resource_of(at)?, param("profile")?);
        }
        "rule-missing" if declares(at, param("element")?) => {
            return of(Cure::Declare, resource_of(at)?, param("profile")?);
        }
        "rule-slice-missing" if declares(at, param("element")?) => {
            return of(Cure::Declare, resource_of(at)?, param("value")?);
        }
        "rule-privacy-not-permitted"
        | "rule-privacy-elsewhere"
        | "rule-privacy-narrative"
        | "rule-privacy-narrative-initials" => return of(Cure::Remove, at, ""),
        "rule-privacy-initials" => (at, initial(at)?),
        "rule-code-system-wrong" => (at.child("system")?, param("expected")?.to_owned()),
        "rule-fixed-value" if at.name() == "system" => (at, param("expected")?.to_owned()),
        "rule-invariant" => (at, ungrouped(at, param("rule")?)?),
        "rule-code-not-in-value-set" | "rule-fixed-value" | "rule-pattern" | "rule-too-long" => {
            (at, short_name(at)?)
        }
        "invalid-value" => (at, moment(at)?),
        _ => return None,
    };
    let changes = leaf.value().is_some_and(|found| found != value);
    changes.then(|| of(Cure::Replace, leaf, &value)).flatten()
}

/// Whether what is missing here is the declaration of a profile.
fn declares(at: Element<'_>, element: &str) -> bool {
    match element.split(':').next() {
        Some("meta") => at.resource_type().is_some(),
        Some("profile") => at.type_name() == "Meta",
        _ => false,
    }
}

/// The resource, of itself or of its `meta`.
fn resource_of(at: Element<'_>) -> Option<Element<'_>> {
    let is_resource = |of: &Element<'_>| of.resource_type().is_some();
    Some(at).filter(is_resource).or_else(|| at.parent().filter(is_resource))
}

/// The first letter of a part of a name, of its first part where it is a compound.
pub(crate) fn initial(of: Element<'_>) -> Option<String> {
    let letter = of.value()?.chars().find(|c| c.is_alphabetic())?;
    let upper: String = letter.to_uppercase().collect();
    // "ß" has two letters as a capital.
    Some(if upper.chars().count() == 1 { upper } else { letter.to_string() })
}

/// A number of insured people, firms and places as registers have it: without what groups its
/// digits.
fn ungrouped(of: Element<'_>, rule: &str) -> Option<String> {
    let is_number = of.parent().is_some_and(|owner| owner.is_of("Identifier"));
    let text = of.value().filter(|_| is_number && rule.ends_with("-length"))?;
    let plain: String = text.chars().filter(|c| !" .-/\u{a0}\u{2011}".contains(*c)).collect();
    let is_plain = plain.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_plain && !plain.is_empty()).then_some(plain)
}

/// The letters of a country or a canton that is named in full.
fn short_name(of: Element<'_>) -> Option<String> {
    let names = match of.name() {
        "country" => COUNTRIES,
        "state" => CANTONS,
        _ => return None,
    };
    let text = of.value()?.trim().to_lowercase();
    let is_meant = |(letters, names): &&(&str, &[&str])| {
        *letters.to_lowercase() == text || names.contains(&&*text)
    };
    names.iter().find(is_meant).map(|(letters, _)| (*letters).to_owned())
}

/// A moment as FHIR writes it: a `T` before the time, its seconds, and a colon in its offset.
fn moment(of: Element<'_>) -> Option<String> {
    if !matches!(of.type_name(), "dateTime" | "instant") {
        return None;
    }
    let text = of.value()?.trim();
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let at = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
    let (clock, offset) = time.split_at(at);
    if offset.is_empty() {
        // Nobody knows where that was.
        return None;
    }
    let seconds = if clock.matches(':').count() == 1 { ":00" } else { "" };
    let offset = match offset.as_bytes() {
        [b'z'] => "Z".to_owned(),
        [b'+' | b'-', digits @ ..]
            if digits.len() == 4 && digits.iter().all(u8::is_ascii_digit) =>
        {
            format!("{}:{}", &offset[..3], &offset[3..])
        }
        _ => offset.to_owned(),
    };
    let written = format!("{date}T{}{seconds}{offset}", clock.trim_end());
    Instant::parse(&written).map(|_| written)
}

#[cfg(test)]
mod tests {
    use fhir::{Format, Limits, Severity};

    use super::*;

    fn suggested(
        json: &str,
        expression: &str,
        code: &str,
        params: &[(&str, &str)],
    ) -> Option<String> {
        let tree = Tree::read(json.as_bytes(), Format::Json, &Limits::default()).ok()?;
        let finding = Finding {
            code: code.to_owned(),
            severity: Severity::Error,
            expression: expression.to_owned(),
            position: None,
            params: params.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
        };
        suggestion(&tree, &finding).map(|of| of.value)
    }

    #[test]
    fn mechanical_cures() {
        let place = |name: &str, value: &str| {
            let json =
                format!(r#"{{"resourceType":"Patient","address":[{{"{name}":"{value}"}}]}}"#);
            let at = format!("Patient.address[0].{name}");
            suggested(&json, &at, "rule-code-not-in-value-set", &[])
        };
        assert_eq!(place("country", "Schweiz").as_deref(), Some("CH"));
        assert_eq!(place("country", "ch").as_deref(), Some("CH"));
        assert_eq!(place("country", "CH"), None);
        assert_eq!(place("country", "Atlantis"), None);
        assert_eq!(place("state", "Zürich").as_deref(), Some("ZH"));
        assert_eq!(place("city", "Zürich"), None);
        let number = |value: &str, rule: &str| {
            let json =
                format!(r#"{{"resourceType":"Patient","identifier":[{{"value":"{value}"}}]}}"#);
            let params = [("rule", rule)];
            suggested(&json, "Patient.identifier[0].value", "rule-invariant", &params)
        };
        assert_eq!(number("756.1234.5678.97", "ahvn13-length").as_deref(), Some("7561234567897"));
        assert_eq!(number("CHE-123.456.789", "uidb-length").as_deref(), Some("CHE123456789"));
        assert_eq!(number("7561234567897", "ahvn13-length"), None);
        assert_eq!(number("756.1234.5678.97", "ahvn13-digit-check"), None);
        let moment = |value: &str| {
            let json = format!(r#"{{"resourceType":"Observation","issued":"{value}"}}"#);
            suggested(&json, "Observation.issued", "invalid-value", &[])
        };
        assert_eq!(moment("2026-11-01 10:30:00Z").as_deref(), Some("2026-11-01T10:30:00Z"));
        assert_eq!(moment("2026-11-01T10:30+0100").as_deref(), Some("2026-11-01T10:30:00+01:00"));
        assert_eq!(moment("2026-11-01T10:30"), None, "nobody knows its offset");
        assert_eq!(moment("gestern"), None);
        let coded = r#"{"resourceType":"Observation","code":{"coding":[{"system":"https://loinc.org","code":"x"}]}}"#;
        let params = [("value", "https://loinc.org"), ("expected", "http://loinc.org")];
        let at = "Observation.code.coding[0]";
        let cure = suggested(coded, at, "rule-code-system-wrong", &params);
        assert_eq!(cure.as_deref(), Some("http://loinc.org"));
    }
}
