//! One value of a document changed in its text: everything else stays as it was received, to the
//! byte.

use fhir::{Element, Format, Limits, Tree};

use crate::missing::with_new;
use crate::writing::{exactly, leaves, replacement};

/// Longest value that a form writes.
pub(crate) const VALUE_MAX: usize = 2_000;

/// The text with another value at one element, which is written where it is missing and may stand;
/// `None` where there can be none, or it holds no value.
pub(crate) fn with_value(text: &str, expression: &str, value: &str) -> Option<String> {
    let format = Format::sniff(text.as_bytes())?;
    let tree = Tree::read(text.as_bytes(), format, &Limits::default()).ok()?;
    match exactly(&tree, expression) {
        Some(leaf) => changed(&tree, leaf, value),
        None => with_new(&tree, expression, value),
    }
}

/// As [`with_value`], for every leaf that `wanted` names the new value of.
pub(crate) fn with_values<'v>(
    tree: &Tree,
    wanted: impl Fn(Element<'_>) -> Option<&'v str>,
) -> Option<String> {
    let mut text = String::from_utf8(tree.source().to_vec()).ok()?;
    let mut found = Vec::new();
    leaves(tree.root(), &mut |leaf| {
        if let Some(value) = wanted(leaf) {
            found.push((leaf, value));
        }
    });
    if found.is_empty() {
        return None;
    }
    // From the end, so that the places of the others stay what they are.
    found.sort_by_key(|(leaf, _)| std::cmp::Reverse(leaf.position().start));
    for (leaf, value) in found {
        let (start, end, written) = replacement(tree, leaf, value)?;
        text.replace_range(start..end, &written);
    }
    Some(text)
}

fn changed(tree: &Tree, leaf: Element<'_>, value: &str) -> Option<String> {
    leaf.value()?;
    let mut text = String::from_utf8(tree.source().to_vec()).ok()?;
    let (start, end, written) = replacement(tree, leaf, value)?;
    text.replace_range(start..end, &written);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writing::common_path;

    #[test]
    fn truth_values_and_numbers_are_written_as_json_has_them() {
        let json = r#"{"resourceType":"Observation","valueQuantity":{"value":1.5},"component":[{"valueInteger":"3"},{"valueBoolean":"true"},{"valueString":"1"}]}"#;
        let (number, truth) =
            ("Observation.valueQuantity.value", "Observation.component[1].valueBoolean");
        // On the way to 1.50 there is no number; what is typed then is no end of the document.
        let open = with_value(json, number, "1.").unwrap();
        assert_eq!(open, json.replace("1.5", "\"1.\""));
        assert_eq!(with_value(&open, number, "1.50").unwrap(), json.replace("1.5", "1.50"));
        assert_eq!(with_value(json, truth, "false").unwrap(), json.replace("\"true\"", "false"));
        assert_eq!(with_value(json, truth, "1").unwrap(), json.replace("\"true\"", "\"1\""));
        let count = "Observation.component[0].valueInteger";
        assert_eq!(with_value(json, count, "4").unwrap(), json.replace("\"3\"", "4"));
        assert_eq!(with_value(json, count, "true").unwrap(), json.replace("\"3\"", "\"true\""));
        let text = "Observation.component[2].valueString";
        assert_eq!(with_value(json, text, "2").unwrap(), json.replace("\"1\"", "\"2\""));
    }

    #[test]
    fn only_the_value_changes() {
        let json = "{\n \"resourceType\":\"Patient\", \"active\": \
                    true,\n \"name\":[{\"family\":\"A\\u00e9\"}]}";
        let edited = with_value(json, "Patient.name[0].family", "O\"Neil\\").unwrap();
        assert_eq!(edited, json.replace("\"A\\u00e9\"", "\"O\\\"Neil\\\\\""));
        let edited = with_value(json, "Patient.active", "false").unwrap();
        assert_eq!(edited, json.replace("true", "false"));
        assert!(with_value(json, "Patient.name[0]", "x").is_none());
        assert!(with_value(json, "Patient.nothing", "x").is_none());
        assert!(with_value(json, "Patient.active.value", "x").is_none());
        assert!(with_value(json, "Patient.birthDate", "1970").unwrap().contains("1970"));

        let xml = "<Patient xmlns=\"http://hl7.org/fhir\">\n <name id='value=\"x\"' ><family  \
                   id=\"a\" value='A' ><extension url=\"http://x\"><valueString \
                   value=\"s\"/></extension></family></name></Patient>";
        let edited = with_value(xml, "Patient.name[0].family", "O'Neil & <Co>").unwrap();
        assert_eq!(edited, xml.replace("value='A'", "value='O&apos;Neil &amp; &lt;Co&gt;'"));
        let tree = Tree::read(edited.as_bytes(), Format::Xml, &Limits::default()).unwrap();
        assert_eq!(tree.root().text("name.family"), Some("O'Neil & <Co>"));
    }

    #[test]
    fn all_of_one_path_change_at_once() {
        let json =
            r#"{"resourceType":"Patient","name":[{"family":"A"},{"family":"B"},{"family":"A"}]}"#;
        let tree = Tree::read(json.as_bytes(), Format::Json, &Limits::default()).unwrap();
        let wanted = |leaf: Element<'_>| {
            (common_path(leaf) == "Patient.name.family" && leaf.value() == Some("A"))
                .then_some("Long")
        };
        assert_eq!(with_values(&tree, wanted).unwrap(), json.replace("\"A\"", "\"Long\""));
        assert!(with_values(&tree, |_| None).is_none());
    }
}
