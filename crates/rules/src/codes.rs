//! Every code that this crate can put into a finding, with the names of its parameters. The message
//! catalogues say them in words; a test holds the list to what the code does.
//!
//! | parameter | holds |
//! |---|---|
//! | `element` | name of the element or slice |
//! | `expected`, `found` | what was awaited and what stands there |
//! | `value` | the value in question |
//! | `profile`, `value-set`, `system` | canonical of what says so |
//! | `rule`, `text` | key and words of a named rule, as it was published |

/// Code and parameters.
pub const CODES: &[(&str, &[&str])] = &[
    ("rule-missing", &["element", "expected", "found", "profile"]),
    ("rule-too-many", &["element", "expected", "found", "profile"]),
    ("rule-type-not-allowed", &["element", "found", "expected"]),
    ("rule-fixed-value", &["element", "expected", "found"]),
    ("rule-pattern", &["element", "expected", "found"]),
    ("rule-too-small", &["element", "expected", "found"]),
    ("rule-too-great", &["element", "expected", "found"]),
    ("rule-too-long", &["element", "expected", "found"]),
    ("rule-slice-missing", &["element", "expected", "found", "profile"]),
    ("rule-slice-unknown", &["element", "expected", "profile"]),
    ("rule-slice-order", &["element", "profile"]),
    ("rule-slice-several", &["expected", "found"]),
    ("rule-slicing-not-decided", &["element", "value", "profile"]),
    ("rule-invariant", &["rule", "text"]),
    ("rule-invariant-not-evaluated", &["rule", "text"]),
    ("rule-code-not-in-value-set", &["element", "value", "value-set"]),
    ("rule-code-missing", &["element", "value-set"]),
    ("rule-code-unknown", &["value", "system"]),
    ("rule-system-not-absolute", &["element", "value"]),
    ("rule-system-is-value-set", &["value"]),
    ("rule-address-form", &["value"]),
    ("rule-attachment-size", &["expected", "found"]),
    ("rule-profile-unknown", &["profile"]),
    ("rule-profile-type", &["profile", "expected", "found"]),
    ("rule-contained-without-id", &[]),
    ("rule-contained-twice", &["value"]),
    ("rule-contained-not-used", &["value", "rule"]),
    ("rule-extension-unknown", &["value"]),
    ("rule-extension-url-relative", &["value"]),
    ("rule-extension-not-defined", &["value"]),
    ("rule-extension-not-modifier", &["value"]),
    ("rule-extension-is-modifier", &["value"]),
    ("rule-extension-context", &["value", "expected", "found"]),
    ("rule-extension-context-rule", &["value", "text"]),
    ("rule-reference-form", &["value"]),
    ("rule-reference-ambiguous", &["value"]),
    ("rule-reference-type", &["expected", "found"]),
    ("rule-reference-aggregation", &["expected", "found"]),
    ("rule-bundle-first-entry", &["expected", "found"]),
    ("rule-bundle-full-url-missing", &[]),
    ("rule-bundle-full-url-relative", &["value"]),
    ("rule-bundle-full-url-differs", &["value", "expected"]),
    ("rule-bundle-not-in-document", &["value"]),
    ("rule-bundle-not-reached", &[]),
    ("rule-bundle-entry-without-resource", &[]),
    ("rule-bundle-entry-without-id", &[]),
    ("rule-bundle-entry-type", &["expected", "found"]),
    ("rule-bundle-link-not-allowed", &["value"]),
    ("rule-bundle-link-twice", &["value"]),
    ("rule-narrative-element", &["element", "rule"]),
    ("rule-narrative-attribute", &["element", "value", "rule"]),
    ("rule-narrative-empty", &["rule"]),
];
