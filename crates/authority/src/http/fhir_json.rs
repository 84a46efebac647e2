//! What is answered, as FHIR says it: the few resources that the authority writes, fields in FHIR's
//! order.

use std::borrow::Cow;

use exchange::{Processing, canonical};
use fhir::{Instant, Severity};
use serde::Serialize;

use crate::faults::Oddities;
use crate::notice::{Notice, constraint_failed};

/// Puts the codes of rules where this odd day has them.
pub(crate) fn displace_rules(notices: &mut [Notice], odd: &Oddities) {
    if !odd.rule_in_text && !odd.rule_in_diagnostics {
        return;
    }
    for notice in notices {
        let Some((_, code)) = notice.rule.take() else { continue };
        let text = notice.text.take().unwrap_or_default();
        let told = Some(constraint_failed(&code, &text));
        notice.diagnostics = None;
        match odd.rule_in_diagnostics {
            true => notice.diagnostics = told,
            false => notice.text = told,
        }
    }
}

/// The form of an instant on the wire: microseconds, UTC.
pub(crate) fn instant(at: Instant) -> String {
    format!("{}Z", at.to_search())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Outcome<'a> {
    resource_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'static str>,
    issue: Vec<OutcomeIssue<'a>>,
}

#[derive(Serialize)]
struct OutcomeIssue<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    extension: Vec<PlaceExtension>,
    severity: Severity,
    code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Details<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    expression: Vec<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PlaceExtension {
    url: &'static str,
    value_integer: u32,
}

#[derive(Serialize)]
struct Details<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    coding: Vec<Coding<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

#[derive(Serialize)]
struct Coding<'a> {
    system: &'a str,
    code: &'a str,
}

/// Id of the OperationOutcome contained in an answer.
const OUTCOME_ID: &str = "outcome";

impl<'a> Outcome<'a> {
    pub(crate) fn new(notices: &'a [Notice]) -> Self {
        let issue = notices.iter().map(OutcomeIssue::new).collect();
        Self { resource_type: "OperationOutcome", id: None, issue }
    }
}

impl<'a> OutcomeIssue<'a> {
    fn new(notice: &'a Notice) -> Self {
        let place = [
            ("http://hl7.org/fhir/StructureDefinition/operationoutcome-issue-line", notice.line),
            ("http://hl7.org/fhir/StructureDefinition/operationoutcome-issue-col", notice.column),
        ];
        let details = (notice.rule.is_some() || notice.text.is_some()).then(|| Details {
            coding: notice.rule.iter().map(|(system, code)| Coding { system, code }).collect(),
            text: notice.text.as_deref(),
        });
        Self {
            extension: place
                .into_iter()
                .filter_map(|(url, value)| Some(PlaceExtension { url, value_integer: value? }))
                .collect(),
            severity: notice.severity,
            code: &notice.kind,
            details,
            diagnostics: notice.diagnostics.as_deref(),
            expression: notice.expression.iter().map(String::as_str).collect(),
        }
    }
}

/// A DocumentReference as returned, from these facts.
pub(crate) struct ReferenceFacts<'a> {
    pub(crate) created: CreatedFacts<'a>,
    pub(crate) status: Processing,
    pub(crate) notices: &'a [Notice],
    pub(crate) identifier_system: Option<&'a str>,
    /// Empty where a refused DocumentReference had none.
    pub(crate) identifier: &'a str,
    /// Identifier of the document; empty likewise.
    pub(crate) document: &'a str,
}

/// What the authority gave to a document.
pub(crate) struct CreatedFacts<'a> {
    pub(crate) receipt: &'a str,
    pub(crate) version: u32,
    pub(crate) last_updated: Instant,
    pub(crate) created: Instant,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Reference<'a> {
    resource_type: &'static str,
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    meta: Option<Meta>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Narrative>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    contained: Vec<Outcome<'a>>,
    extension: [StatusExtension; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    identifier: Vec<Identifier<'a>>,
    status: &'static str,
    date: String,
    content: [Content<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    #[serde(skip_serializing_if = "Option::is_none")]
    version_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_updated: Option<String>,
    profile: [&'static str; 1],
}

#[derive(Serialize)]
struct Narrative {
    status: &'static str,
    div: &'static str,
}

/// Well-formed XML and nothing a browser should ever be given.
const HOSTILE: Narrative = Narrative {
    status: "generated",
    div: "<div xmlns=\"http://www.w3.org/1999/xhtml\" style=\"position:fixed;inset:0\">\
          <script>window.hostile = true</script>\
          <img src=\"x\" alt=\"\" onerror=\"window.hostile = true\"/>\
          <iframe src=\"http://127.0.0.1:9/\"></iframe>\
          <form action=\"http://127.0.0.1:9/\"><input name=\"password\"/></form>\
          <a href=\"javascript:window.hostile=true\">Report completed</a></div>",
};

#[derive(Serialize)]
struct StatusExtension {
    extension: Vec<StatusPart>,
    url: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusPart {
    url: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_reference: Option<LocalReference>,
}

#[derive(Serialize)]
struct LocalReference {
    reference: String,
}

#[derive(Serialize)]
struct Identifier<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<&'a str>,
    value: &'a str,
}

#[derive(Serialize)]
struct Content<'a> {
    attachment: Attachment<'a>,
}

#[derive(Serialize)]
struct Attachment<'a> {
    url: Cow<'a, str>,
}

impl<'a> ReferenceFacts<'a> {
    /// Names the document, as the published answers do; a refused one that had no name at all by
    /// our id of it.
    fn url(&self) -> Cow<'a, str> {
        let named = [self.document, self.identifier].into_iter().find(|name| !name.is_empty());
        named
            .map_or_else(|| Cow::Owned(format!("urn:uuid:{}", self.created.receipt)), Cow::Borrowed)
    }
}

impl<'a> Reference<'a> {
    pub(crate) fn new(facts: &ReferenceFacts<'a>) -> Self {
        let mut parts = vec![StatusPart {
            url: "status",
            value_code: Some(facts.status.code()),
            value_reference: None,
        }];
        let mut contained = Vec::new();
        if !facts.notices.is_empty() {
            contained.push(Outcome { id: Some(OUTCOME_ID), ..Outcome::new(facts.notices) });
            parts.push(StatusPart {
                url: "outcome",
                value_code: None,
                value_reference: Some(LocalReference { reference: format!("#{OUTCOME_ID}") }),
            });
        }
        let created = &facts.created;
        Self {
            resource_type: "DocumentReference",
            id: created.receipt,
            meta: Some(Meta {
                version_id: Some(created.version.to_string()),
                last_updated: Some(instant(created.last_updated)),
                profile: [canonical::PUBLISH_RESPONSE],
            }),
            text: None,
            contained,
            extension: [StatusExtension { extension: parts, url: canonical::STATUS_EXTENSION }],
            identifier: Some(facts.identifier)
                .filter(|value| !value.is_empty())
                .map(|value| Identifier { system: facts.identifier_system, value })
                .into_iter()
                .collect(),
            status: "current",
            date: instant(created.created),
            content: [Content { attachment: Attachment { url: facts.url() } }],
        }
    }
    /// Without `meta`.
    pub(crate) fn without_meta(self) -> Self {
        Self { meta: None, ..self }
    }

    /// With a narrative that must never be rendered.
    pub(crate) fn with_hostile_text(self) -> Self {
        Self { text: Some(HOSTILE), ..self }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SearchSet<'a> {
    resource_type: &'static str,
    meta: Meta,
    r#type: &'static str,
    timestamp: String,
    total: u64,
    link: Vec<Link>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    entry: Vec<Entry<'a>>,
}

#[derive(Serialize)]
pub(crate) struct Link {
    pub(crate) relation: &'static str,
    pub(crate) url: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    full_url: String,
    resource: Reference<'a>,
    search: SearchMode,
}

#[derive(Serialize)]
struct SearchMode {
    mode: &'static str,
}

impl<'a> SearchSet<'a> {
    /// `as_of`: everything that happened to the caller's documents up to then is in the result,
    /// nothing later.
    pub(crate) fn new(as_of: Option<Instant>, now: Instant, total: u64, link: Vec<Link>) -> Self {
        let meta = Meta {
            version_id: None,
            last_updated: as_of.map(instant),
            profile: [canonical::FIND_RESPONSE],
        };
        Self {
            resource_type: "Bundle",
            meta,
            r#type: "searchset",
            timestamp: instant(now),
            total,
            link,
            entry: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, full_url: String, resource: Reference<'a>) {
        self.entry.push(Entry { full_url, resource, search: SearchMode { mode: "match" } });
    }
}
