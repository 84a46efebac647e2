//! Expressions of FHIRPath, from packages that anybody may have made.

use std::sync::LazyLock;

use fhir::{Format, Instant, Limits, Tree};
use fhirpath::{Context, Expression, Item};

pub(crate) const WORDS: &[&str] = &[
    "name.",
    "given",
    "$this",
    "$total",
    "%resource",
    "(",
    ")",
    "[0]",
    "{}",
    " | ",
    " and ",
    " implies ",
    " is Quantity",
    " as string",
    " = ",
    " ~ ",
    " in ",
    " & ",
    " div ",
    "-",
    "'a'",
    "'\\u0041'",
    "1.50",
    "2147483647",
    "99999999999999999999999999999999999999",
    "@2024-02-29",
    "@T10:30",
    " + 1 month",
    "4 'mg'",
    ".where(",
    ".select(",
    ".repeat(",
    ".aggregate($total & $this, '')",
    ".descendants()",
    ".sort(-$this)",
    ".distinct()",
    ".matches('(a*)*b')",
    ".replace('', 'aaaa')",
    ".lowBoundary(5)",
    ".toQuantity()",
    "defineVariable('a', ",
    "iif(",
    ", ",
    "/* ",
    "//",
    "`",
];

/// An invented patient in both encodings.
static PATIENTS: LazyLock<[Tree; 2]> = LazyLock::new(|| {
    // In the order of FHIR, which XML has to keep: else the children of an element had two orders.
    let json = br#"{"resourceType":"Patient","id":"a","extension":[{"url":"u","valueQuantity":
        {"value":4.0,"system":"http://unitsofmeasure.org","code":"mg"}}],"active":true,"name":[
        {"family":"Muster","given":["Anna",null],"_given":[null,{"extension":[{"url":"u",
        "valueDecimal":1.50}]}]},{"use":"usual","given":["Anni"]}],"birthDate":"1974-12",
        "deceasedDateTime":"2020-01-31T10:30:00+01:00"}"#;
    let json = Tree::read(json, Format::Json, &Limits::default()).expect("a patient");
    let xml = Tree::read(json.to_xml().as_bytes(), Format::Xml, &Limits::default());
    [json, xml.expect("the same patient")]
});

/// Whatever the expression: it is refused, or it ends within its limits, and gives the same from
/// JSON and from XML.
pub(crate) fn expression(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(expression) = Expression::parse(text) else { return };
    let limits = fhirpath::Limits { steps_max: 20_000, items_max: 5_000, text_max: 20_000 };
    let results = PATIENTS.each_ref().map(|tree| {
        if let Some(of) = tree.root().type_definition() {
            // What it finds is no property; that it ends is one.
            let _ = expression.check_with_order(of);
        }
        let context = Context::new(Instant(0)).within(tree.root(), tree.root()).limited(limits);
        let found = expression.evaluate(&context, &[Item::Element(tree.root())]);
        found.map(|items| {
            let shown =
                |item: &Item<'_>| (item.type_info().name.to_owned(), item.text().map(String::from));
            items.iter().map(shown).collect::<Vec<_>>()
        })
    });
    let [json, xml] = results;
    assert_eq!(json, xml, "{text}");
}
