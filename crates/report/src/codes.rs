//! Every code a finding of these rules can have, with its parameters: the message catalogues of the
//! window and of the headless program are complete against this list.

/// Code and names of its parameters, in alphabetical order of the codes.
pub const CODES: &[(&str, &[&str])] = &[
    ("author-missing", &[]),
    ("birth-date-after-document", &["birth-date", "date"]),
    ("bundle-type", &["found"]),
    ("date-in-future", &["date"]),
    ("date-too-early", &["date"]),
    ("document-date-missing", &[]),
    ("entries-missing", &[]),
    ("entry-without-resource", &[]),
    ("first-entry-not-composition", &["found"]),
    ("full-url-form", &["url"]),
    ("full-url-missing", &[]),
    ("full-url-other-id", &["id", "url"]),
    ("full-url-repeated", &["first", "url"]),
    ("identifier-missing", &[]),
    ("identifier-not-uuid", &["value"]),
    ("identifier-system", &["found"]),
    ("identifier-system-missing", &[]),
    ("identifier-uuid-malformed", &["value"]),
    ("identifier-value-missing", &[]),
    ("language-form", &["found"]),
    ("reference-by-id-only", &["reference"]),
    ("reference-outside", &["reference"]),
    ("reference-unresolved", &["reference"]),
    ("subject-missing", &[]),
    ("subject-not-patient", &["found"]),
    ("test-old", &["date", "days"]),
];
