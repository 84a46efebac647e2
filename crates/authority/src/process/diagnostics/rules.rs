//! Issue-type and English words of what rules of packages find.

/// Code, FHIR issue-type, words.
const WORDS: &[(&str, &str, &str)] = &[
    (
        "rule-missing",
        "required",
        "{element} is missing: at least {expected} needed, {found} there.",
    ),
    (
        "rule-too-many",
        "structure",
        "{element} stands too often: at most {expected} allowed, {found} there.",
    ),
    ("rule-type-not-allowed", "structure", "{element} is of type {found}; allowed: {expected}."),
    ("rule-fixed-value", "value", "{element} must be exactly {expected}; found: {found}."),
    ("rule-pattern", "value", "{element} must contain {expected}; found: {found}."),
    ("rule-too-small", "value", "{element} must not be below {expected}; found: {found}."),
    ("rule-too-great", "value", "{element} must not be above {expected}; found: {found}."),
    (
        "rule-too-long",
        "too-long",
        "{element} has {found} characters; at most {expected} are allowed.",
    ),
    (
        "rule-too-short",
        "value",
        "{element} has {found} characters; at least {expected} are needed.",
    ),
    (
        "rule-too-many-decimals",
        "value",
        "The number in {element} has {found} digits behind the point; at most {expected} are allowed.",
    ),
    ("rule-too-large", "too-long", "{element} has {found} bytes; at most {expected} are allowed."),
    (
        "rule-text-pattern",
        "value",
        "“{found}” in {element} does not have the form that is asked for: {expected}",
    ),
    (
        "rule-privacy-initials",
        "business-rule",
        "For the test {value} the authority may only be told the initials of the patient's name. {element} says more.",
    ),
    (
        "rule-privacy-not-permitted",
        "business-rule",
        "For the test {value} the authority must not be told {element} of the patient.",
    ),
    (
        "rule-privacy-code",
        "business-rule",
        "For the test {value} the patient's name must not be sent: a code stands for it.",
    ),
    (
        "rule-binding-not-value-set",
        "code-invalid",
        "The rules name the code system {value} where they should name a value set, so this code cannot be checked.",
    ),
    (
        "rule-code-system-unknown",
        "code-invalid",
        "FHIR has no code system {value}. Correct the address of the code system.",
    ),
    (
        "rule-slice-missing",
        "required",
        "{element} is missing: at least {expected} needed, {found} there.",
    ),
    (
        "rule-slice-unknown",
        "structure",
        "{element} is none of those that are allowed here: {expected}.",
    ),
    ("rule-slice-order", "structure", "{element} stands in the wrong order."),
    (
        "rule-slice-several",
        "structure",
        "It fits two descriptions at once: {expected} and {found}.",
    ),
    (
        "rule-slicing-not-decided",
        "structure",
        "Whether {element} is meant cannot be told ({value}): the definition says nothing that could be compared.",
    ),
    ("rule-invariant", "invariant", "A rule is not met: {text}"),
    (
        "rule-invariant-not-evaluated",
        "invariant",
        "A rule could not be evaluated and counts as not met: {text}",
    ),
    (
        "rule-code-not-in-value-set",
        "code-invalid",
        "{value} is not an allowed code of {element}; allowed are those of {value-set}.",
    ),
    (
        "rule-code-missing",
        "required",
        "{element} needs a code of {value-set}; words alone are not enough.",
    ),
    ("rule-code-unknown", "code-invalid", "{system} has no code {value}."),
    (
        "rule-system-not-absolute",
        "value",
        "{element} must be a complete address (such as http://… or urn:…), not {value}.",
    ),
    (
        "rule-system-is-value-set",
        "code-invalid",
        "{value} is a value set; a code system is needed here.",
    ),
    ("rule-address-form", "value", "{value} is not a valid address."),
    (
        "rule-code-system-wrong",
        "code-invalid",
        "{value} is not the address of the code system; {expected} is.",
    ),
    ("rule-fragment-unknown", "not-found", "Nothing in this resource has the id {value}."),
    ("rule-id-twice", "duplicate", "Two elements of this resource have the id {value}."),
    ("rule-security-label-twice", "duplicate", "The security label {value} stands twice."),
    (
        "rule-attachment-size",
        "value",
        "The size is given as {found} bytes; the content has {expected}.",
    ),
    ("rule-profile-unknown", "not-found", "The profile {profile} is not among the rules in use."),
    (
        "rule-profile-type",
        "structure",
        "The profile {profile} is for {expected}, but this is {found}.",
    ),
    ("rule-contained-without-id", "required", "A contained resource needs an id."),
    ("rule-contained-twice", "duplicate", "Two contained resources have the id {value}."),
    ("rule-contained-not-used", "invariant", "Nothing refers to the contained resource {value}."),
    ("rule-extension-unknown", "extension", "The extension {value} is not known."),
    (
        "rule-extension-url-relative",
        "extension",
        "The url of an extension must be a complete address, not {value}.",
    ),
    ("rule-extension-version", "extension", "The url of an extension has no version: {value}."),
    ("rule-extension-part-unknown", "extension", "The extension {profile} has no part {value}."),
    ("rule-extension-value-missing", "required", "The extension {value} needs a value."),
    (
        "rule-extension-not-defined",
        "extension",
        "{value} is a definition, but not of an extension.",
    ),
    (
        "rule-extension-not-modifier",
        "extension",
        "The extension {value} does not change the meaning: it belongs under \"extension\".",
    ),
    (
        "rule-extension-is-modifier",
        "extension",
        "The extension {value} changes the meaning: it belongs under \"modifierExtension\".",
    ),
    (
        "rule-extension-context",
        "extension",
        "The extension {value} may not stand here ({found}); allowed at: {expected}.",
    ),
    (
        "rule-extension-context-rule",
        "invariant",
        "The extension {value} may not stand here; required: {text}",
    ),
    (
        "rule-reference-form",
        "value",
        "{value} is not a reference that can be followed; Type/id or a complete address is needed.",
    ),
    ("rule-reference-ambiguous", "structure", "Several entries answer to the reference {value}."),
    ("rule-reference-type", "structure", "The reference leads to {found}; allowed: {expected}."),
    (
        "rule-reference-aggregation",
        "structure",
        "What this refers to must be {expected}, but is {found}.",
    ),
    ("rule-bundle-first-entry", "structure", "The first entry must be {expected}; found: {found}."),
    ("rule-bundle-full-url-missing", "required", "The entry has no fullUrl."),
    (
        "rule-bundle-full-url-relative",
        "structure",
        "The fullUrl must be a complete address, not {value}.",
    ),
    (
        "rule-bundle-full-url-differs",
        "structure",
        "The fullUrl {value} does not go with the resource; it should end in {expected}.",
    ),
    (
        "rule-bundle-not-in-document",
        "not-found",
        "{value} is not among the entries of this Bundle.",
    ),
    ("rule-bundle-not-reached", "structure", "Nothing connects this entry with the first one."),
    ("rule-bundle-entry-without-resource", "required", "The entry has no resource."),
    ("rule-bundle-entry-without-id", "required", "The resource of this entry has no id."),
    ("rule-bundle-entry-type", "structure", "The entry must be {expected}, but is {found}."),
    ("rule-bundle-link-not-allowed", "structure", "A link \"{value}\" is for searches only."),
    ("rule-bundle-link-twice", "duplicate", "The link \"{value}\" stands twice."),
    (
        "rule-questionnaire-question",
        "not-found",
        "The condition asks for {value}, which is no other question of this questionnaire.",
    ),
    ("rule-answer-item-unknown", "not-found", "The questionnaire has no item {value}."),
    ("rule-answer-place", "structure", "The item {value} stands in the wrong place."),
    ("rule-answer-order", "structure", "The item {value} stands in the wrong order."),
    ("rule-answer-missing", "required", "An answer to {value} is required."),
    ("rule-answer-repeats", "structure", "Only one answer to {value} is allowed."),
    (
        "rule-answer-not-enabled",
        "structure",
        "The question {value} is not asked here, but answered.",
    ),
    (
        "rule-answer-group",
        "structure",
        "{value} may not have answers and items like this: answers belong to questions, items to groups or answers.",
    ),
    (
        "rule-answer-text",
        "structure",
        "The text of the question is \"{expected}\" in the questionnaire, here \"{found}\".",
    ),
    ("rule-answer-type", "structure", "The answer is of type {found}; asked for: {expected}."),
    ("rule-answer-option", "structure", "{value} is none of the answers that may be chosen."),
    (
        "rule-code-system-count",
        "code-invalid",
        "The number of codes is given as {found}; there are {expected}.",
    ),
    (
        "rule-code-system-supplement",
        "code-invalid",
        "{element} does not go with a supplement, or only a supplement has it so.",
    ),
    (
        "rule-code-system-not-present",
        "code-invalid",
        "The content is said to be absent, but codes are listed.",
    ),
    (
        "rule-code-system-value-set",
        "code-invalid",
        "The value set {value} is said to hold all codes of this code system; it holds something else.",
    ),
    (
        "rule-value-set-system",
        "code-invalid",
        "{value} is not a code system of its own, so no codes can be taken from it.",
    ),
    (
        "rule-measure-unknown",
        "structure",
        "The measure does not ask for {value} here, or it is given twice.",
    ),
    ("rule-measure-missing", "required", "The measure asks for {value}; it is missing."),
    (
        "rule-measure-count",
        "structure",
        "The count does not agree: expected {expected}, found {found}.",
    ),
    (
        "rule-measure-score-missing",
        "required",
        "A report of a measure of the kind {value} needs a score with a value.",
    ),
    ("rule-measure-not-allowed", "structure", "{element} may not stand in a report of this kind."),
    (
        "rule-definition-base",
        "structure",
        "The definition does not go with its base: expected {expected}, found {found}.",
    ),
    (
        "rule-definition-context",
        "structure",
        "Only the definition of an extension says where it may stand.",
    ),
    (
        "rule-definition-path",
        "structure",
        "The path {found} does not begin with the type {expected}.",
    ),
    ("rule-definition-not-allowed", "structure", "{element} may not stand at {value}."),
    (
        "rule-definition-type",
        "structure",
        "The type does not go with the element: expected {expected}, found {found}.",
    ),
    (
        "rule-definition-wider",
        "structure",
        "{element} allows more than the base: {found} instead of {expected}.",
    ),
    (
        "rule-definition-extension-url",
        "structure",
        "An extension fixes its own address: expected {expected}, found {found}.",
    ),
    (
        "rule-value-set-version",
        "structure",
        "The version of a code system belongs in the element version, not in {value}.",
    ),
    ("rule-narrative-element", "structure", "The narrative may not contain <{element}>."),
    (
        "rule-narrative-attribute",
        "structure",
        "The narrative may not contain the attribute {value} (in <{element}>).",
    ),
    (
        "rule-narrative-place",
        "structure",
        "In the narrative <{element}> may not stand in <{found}>.",
    ),
    (
        "rule-narrative-address",
        "structure",
        "{value} is not an address that the narrative may use.",
    ),
    ("rule-narrative-empty", "structure", "The narrative has no text."),
];

/// Issue-type and words of a code.
pub(super) fn words(code: &str) -> Option<(&'static str, &'static str)> {
    WORDS.iter().find(|(of, ..)| *of == code).map(|(_, kind, words)| (*kind, *words))
}
