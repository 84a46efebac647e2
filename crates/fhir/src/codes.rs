//! Every code that this crate can put into a finding, with the names of its parameters. The message
//! catalogues say them in words; a test holds the list to what the code does.
//!
//! | parameter | holds |
//! |---|---|
//! | `element` | name of the element, as written (`value[x]` for a choice) |
//! | `type` | FHIR type expected, or resource type met |
//! | `expected`, `found` | what was awaited and what stands there (JSON: `string`, `number`, `boolean`, `object`, `array`, `null`) |
//! | `value` | the value, cut to 40 characters |
//! | `limit` | the bound that was passed |
//! | `reason` | see [`XML_REASONS`] |

/// Code and parameters. The first group makes reading impossible (`Tree::read` gives `Err`); the
/// second is found by the base check, always as an error except `too-many-findings` and
/// `control-character`.
pub const CODES: &[(&str, &[&str])] = &[
    // Nothing but white space.
    ("empty", &[]),
    ("too-large", &["limit"]),
    ("too-deep", &["limit"]),
    ("too-many-elements", &["limit"]),
    ("too-many-attributes", &["limit"]),
    // `encoding` is empty where the bytes are no encoding that could be named.
    ("not-utf8", &["encoding"]),
    ("json-syntax", &["expected", "found"]),
    ("lone-surrogate", &[]),
    ("xml-syntax", &["reason"]),
    ("mismatched-end-tag", &["expected", "found"]),
    ("dtd-refused", &[]),
    ("entity-refused", &["entity"]),
    ("no-resource", &[]),
    // At the root; inside, `wrong-namespace` is found by the check.
    ("wrong-namespace", &["element", "value", "expected"]),
    // Found by the base check.
    ("unknown-resource-type", &["type"]),
    ("resource-type-missing", &["element"]),
    ("two-resources", &["type"]),
    ("unknown-element", &["element", "type"]),
    ("unknown-attribute", &["attribute"]),
    ("unexpected-text", &["value"]),
    ("processing-instruction", &[]),
    ("choice-type-not-allowed", &["element", "type"]),
    ("two-choices", &["element", "found"]),
    ("missing-element", &["element", "type"]),
    ("too-many", &["element"]),
    ("wrong-order", &["element", "expected"]),
    ("duplicate-key", &["element"]),
    ("wrong-json-type", &["element", "expected", "found"]),
    ("array-expected", &["element"]),
    ("array-not-allowed", &["element"]),
    ("attribute-expected", &["element"]),
    ("empty-array", &["element"]),
    ("empty-element", &["element"]),
    ("empty-value", &["element"]),
    ("null-not-allowed", &["element"]),
    ("value-not-allowed", &["element", "type", "value"]),
    ("invalid-value", &["element", "type", "value"]),
    // JSON alone can write it; a warning.
    ("control-character", &["element"]),
    ("code-not-allowed", &["element", "value", "expected"]),
    ("narrative-not-xhtml", &["reason"]),
    // The list is not complete.
    ("too-many-findings", &["limit"]),
];

/// Values of `reason` in `xml-syntax` and `narrative-not-xhtml`.
pub const XML_REASONS: &[&str] = &[
    "character",
    "name",
    "attribute",
    "unclosed-tag",
    "unmatched-end-tag",
    "reference",
    "markup",
    "undeclared-prefix",
    "content-after-root",
    "content-outside-root",
    "no-div",
    "wrong-namespace",
    "mismatched-end-tag",
    "entity-refused",
    "dtd-refused",
    "too-deep",
    "too-many-attributes",
];
