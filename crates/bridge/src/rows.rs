//! Views from what the journal keeps.

use std::collections::{BTreeMap, HashMap};

use engine::Profile;
use exchange::Environment;
use fhir::{Format, Instant, Limits, Tree};
use journal::{Counts, Detail, Entry, KeptEvidence, Row};
use report::{Event, Group, StateCode};

use crate::codes::REFUSED_ON_THE_WAY;
use crate::mask::{masked, masked_file};
use crate::messages::{leading, message_view};
use crate::placement::place;
use crate::record::environment_of;
use crate::results::{results_of, told};
use crate::sections::sections_of;
use crate::suggested::offer;
use crate::views::{
    CountsView, DetailView, EvidenceView, MessageView, ResultView, RowView, SectionView,
    TimelineView,
};

/// Whether names are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// Initials and year of birth.
    Masked,
    /// As the report has them.
    Shown,
}

impl Names {
    /// As a person asked on screen.
    pub const fn shown_if(asked_for: bool) -> Self {
        if asked_for { Self::Shown } else { Self::Masked }
    }
}

/// Bytes of an answer shown; the rest stays in the journal.
const EVIDENCE_SHOWN_MAX: usize = 64 << 10;

/// From the real thing to a test system: what is taken in after that reaches nobody who counts it.
/// By the endpoint that the laboratory has in use, also while practice is.
pub(crate) fn leaves_production(plan: &engine::Move) -> bool {
    let was = plan.from.as_ref().map(|(_, environment)| *environment);
    was == Some(Environment::Production) && plan.to.1 != Environment::Production
}

/// Counts never exceed what a view can say.
pub(crate) fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

pub(crate) fn counts_view(counts: &Counts) -> CountsView {
    let by_state = counts.by_state.iter();
    let by_state = by_state.filter_map(|(code, n)| Some((StateCode::of(code)?, small(*n))));
    CountsView {
        needs_attention: small(counts.group(Group::NeedsAttention)),
        in_progress: small(counts.group(Group::InProgress)),
        completed: small(counts.group(Group::Completed)),
        closed: small(counts.group(Group::Closed)),
        by_state: by_state.collect(),
    }
}

pub(crate) fn row_view(row: &Row, profile: &Profile, names: Names, now: Instant) -> RowView {
    let summary = &row.summary;
    let patient = summary.patient.as_deref().map(|patient| match names {
        Names::Shown => patient.to_owned(),
        Names::Masked => masked(patient, summary.birth_date.as_deref()),
    });
    let tested = summary.tested();
    RowView {
        id: row.id.0,
        file: match names {
            Names::Shown => row.file.clone(),
            Names::Masked => masked_file(&row.file),
        },
        state: row.state.shown(),
        group: row.state.group(now),
        actions: row.actions(now),
        patient,
        subject: summary.subject.clone(),
        code: summary.code.clone(),
        disease: tested.map(|tested| tested.disease.key.to_owned()),
        test: tested.and_then(|tested| told(tested.test)),
        specimen: tested.and_then(|tested| told(tested.specimen)),
        laboratory: summary.laboratory.clone(),
        document_identifier: summary.identifier.clone(),
        errors: row.messages.errors,
        warnings: row.messages.warnings,
        message: None,
        environment: environment_of(row, profile),
        endpoint: profile.name_of(&row.endpoint),
        corrects: row.corrects.map(|id| id.0),
        corrected_by: row.corrected_by.map(|id| id.0),
        created: row.created.to_fhir(),
        updated: row.updated.to_fhir(),
        due: None,
        draft: false,
        taken_back: None,
    }
}

/// Everything about one submission. `document` is empty where retention has removed it.
pub(crate) fn detail_view(
    detail: &Detail,
    document: &[u8],
    evidence: &[KeptEvidence],
    profile: &Profile,
    now: Instant,
) -> DetailView {
    let row = &detail.row;
    let mut messages: Vec<_> = detail.messages.iter().map(message_view).collect();
    // Errors first; among equals the order stands.
    messages.sort_by_key(|message| message.severity);
    let (results, sections) = read_document(document, row.format, &mut messages);
    let shown: HashMap<i64, &KeptEvidence> = evidence.iter().map(|kept| (kept.id, kept)).collect();
    let mut view = row_view(row, profile, Names::Shown, now);
    view.actions = detail.actions(now);
    view.message = leading(view.state, &detail.messages).map(message_view);
    DetailView {
        row: view,
        birth_date: row.summary.birth_date.clone(),
        document_date: row.summary.date.map(Instant::to_fhir),
        digest: row.digest.clone(),
        identifier: row.identifier.clone(),
        receipt: row.receipt.clone(),
        attempts: row.attempts,
        format: row.format.code(),
        size: small(detail.document_size.unwrap_or(0)),
        goes_by_itself: false,
        waiting_versions: Vec::new(),
        messages,
        timeline: detail.timeline.iter().map(|entry| timeline_view(entry, &shown)).collect(),
        results,
        sections,
        source: String::from_utf8_lossy(document).into_owned(),
        privacy: None,
    }
}

/// Gives messages their place in a document.
pub(crate) fn placed(tree: &Tree, messages: &mut [MessageView]) {
    let root = tree.root();
    let bundle = exchange::document_of(tree).unwrap_or(root);
    let sections = sections_of(root, bundle);
    for message in messages {
        place(message, tree, bundle, &sections);
        offer(message, tree);
    }
}

fn read_document(
    document: &[u8],
    format: Format,
    messages: &mut [MessageView],
) -> (Vec<ResultView>, Vec<SectionView>) {
    let Ok(tree) = Tree::read(document, format, &Limits::default()) else {
        return (Vec::new(), Vec::new());
    };
    let root = tree.root();
    let bundle = exchange::document_of(&tree).unwrap_or(root);
    let sections = sections_of(root, bundle);
    for message in messages {
        place(message, &tree, bundle, &sections);
        offer(message, &tree);
    }
    (results_of(&report::Links::of(bundle)), sections)
}

/// The code that people read. What did not get through is one thing, and what somebody refused on
/// the way another: that may have been passed on before.
pub(crate) fn event_told(event: &Event) -> &'static str {
    match event {
        Event::Deferred { why, .. } if !engine::reached_nobody(why) => REFUSED_ON_THE_WAY,
        event => event.code(),
    }
}

fn timeline_view(entry: &Entry, evidence: &HashMap<i64, &KeptEvidence>) -> TimelineView {
    let kept = entry.evidence.and_then(|id| evidence.get(&id));
    TimelineView {
        event: event_told(&entry.event),
        params: event_params(&entry.event),
        person: entry.by.0.clone(),
        at: entry.at.to_fhir(),
        evidence: kept.map(|kept| evidence_view(kept)),
    }
}

fn evidence_view(kept: &KeptEvidence) -> EvidenceView {
    let body = &kept.evidence.body;
    let shown = &body[..body.len().min(EVIDENCE_SHOWN_MAX)];
    EvidenceView {
        http_status: kept.evidence.http_status,
        content_type: kept.evidence.content_type.clone(),
        body: String::from_utf8_lossy(shown).into_owned(),
        truncated: shown.len() < body.len(),
    }
}

/// What a person wants to know of an event beside its code.
fn event_params(event: &Event) -> BTreeMap<String, String> {
    let mut params = BTreeMap::new();
    let mut add = |name: &str, value: String| {
        params.insert(name.to_owned(), value);
    };
    match event {
        Event::Queued { due } | Event::AskedInVain { due, .. } | Event::NotReceived { due } => {
            add("due", due.to_fhir());
        }
        Event::OtherNotShown { of, due, .. } => {
            add("of", of.0.to_string());
            add("due", due.to_fhir());
        }
        Event::StillInProgress { due } | Event::Overdue { due } | Event::NotFound { due, .. } => {
            add("due", due.to_fhir());
        }
        Event::Released { reason, due } | Event::SaidNotReceived { reason, due } => {
            add("reason", reason.clone());
            add("due", due.to_fhir());
        }
        Event::Deferred { due, why, .. }
        | Event::Doubted { due, why, .. }
        | Event::NotAnswered { due, why, .. }
        | Event::TurnedAway { due, why } => {
            add("due", due.to_fhir());
            add("why", why.clone());
        }
        Event::Accepted { receipt, .. }
        | Event::Completed { receipt }
        | Event::Failed { receipt } => add("receipt", receipt.clone()),
        Event::HeldAfterRefusals { why } => add("why", why.clone()),
        Event::Withdrawn { reason }
        | Event::SaidReceived { reason }
        | Event::StillExpected { reason, .. } => {
            add("reason", reason.clone());
        }
        Event::Superseded { by } => add("by", by.0.to_string()),
        Event::Held | Event::HeldBack | Event::SendingStarted { .. } | Event::Rejected => {}
    }
    params
}
