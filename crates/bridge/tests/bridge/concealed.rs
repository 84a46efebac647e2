//! What `Debug` prints of views, records and problems: never what may name a patient, never a
//! password.

use std::fmt::Debug;

use bridge::headless::{EndpointTerms, ListTerms, SearchTerms};
use bridge::views::{
    CandidateView, CauseFieldView, ChangeView, ChoiceView, CodedView, CorrectsView, DetailView,
    DraftView, EndpointInput, EvidenceView, FieldView, FixView, FormFieldView, IntakeView,
    ListQuery, MessageView, PageView, PrivacyRowView, PrivacyView, ResultView, RowView,
    SectionView, SuggestedView, SuggestionView, TimelineView, UnfinishedFix, ValueView, Verdict,
};
use bridge::{
    Action, Call, Desk, Environment, Group, IssueRecord, IssueSource, Opinion, Password, Problem,
    Record, Severity, StateCode, SuggestionRecord,
};
use journal::Source;
use static_assertions::assert_not_impl_any;

// The arguments of a call are reports, names and passwords: this does not compile.
assert_not_impl_any!(Call: Debug, std::fmt::Display, serde::Serialize);
assert_not_impl_any!(Password: std::fmt::Display, serde::Serialize, Clone);
assert_not_impl_any!(Desk: Debug, std::fmt::Display);

const CANARY: &str = "Zwinglicanary";

fn canary() -> String {
    CANARY.to_owned()
}

fn silent(value: &impl Debug) {
    for printed in [format!("{value:?}"), format!("{value:#?}")] {
        assert!(!printed.contains(CANARY), "{printed}");
    }
}

/// Anything that a view can hold, everywhere: views are read from JSON here only.
fn message() -> MessageView {
    MessageView {
        source: Source::Authority,
        severity: Severity::Error,
        code: canary(),
        rule: Some(canary()),
        text: Some(canary()),
        params: [(canary(), canary())].into(),
        expression: Some(canary()),
        line: None,
        column: None,
        section: None,
        field: Some(canary()),
        path: Some(canary()),
        found: Some(canary()),
        suggestion: Some(suggestion()),
    }
}

fn privacy() -> PrivacyView {
    let row = PrivacyRowView { key: canary(), now: vec![canary()], seen: vec![canary()] };
    silent(&row);
    let rows = vec![row];
    PrivacyView { permitted: canary(), because: None, patient: canary(), too_much: true, rows }
}

fn suggestion() -> SuggestionView {
    SuggestionView { expression: canary(), path: canary(), before: Some(canary()), value: canary() }
}

fn row() -> RowView {
    RowView {
        id: 1,
        file: canary(),
        state: StateCode::Held,
        group: Group::NeedsAttention,
        actions: vec![Action::Correct],
        patient: Some(canary()),
        subject: Some(canary()),
        code: Some(canary()),
        disease: Some(canary()),
        test: Some(canary()),
        specimen: Some(canary()),
        laboratory: Some(canary()),
        document_identifier: Some(canary()),
        errors: 0,
        warnings: 0,
        message: Some(message()),
        environment: Environment::Production,
        endpoint: canary(),
        corrects: None,
        corrected_by: None,
        created: canary(),
        updated: canary(),
        due: Some(canary()),
        draft: true,
        taken_back: None,
    }
}

fn change() -> ChangeView {
    ChangeView { line: 1, removed: Some(canary()), added: Some(canary()) }
}

fn result() -> ResultView {
    ResultView {
        is_part: false,
        name: Some(canary()),
        name_coded: Some(coded()),
        code: Some(canary()),
        disease: Some(canary()),
        test: Some(canary()),
        specimen: Some(canary()),
        value: Some(canary()),
        value_coded: Some(coded()),
        outcome: Some(canary()),
        interpretation: Some(canary()),
        interpretation_coded: Some(coded()),
        absent: Some(canary()),
        expression: canary(),
        line: 1,
    }
}

#[test]
fn what_people_work_with_is_not_printed() {
    silent(&result());
    silent(&coded());
    let field = FormFieldView {
        expression: canary(),
        path: canary(),
        value: canary(),
        line: 1,
        choices: vec![ChoiceView { code: canary(), display: canary(), id: Some(canary()) }],
        id: Some(canary()),
        display: Some(canary()),
        messages: vec![0],
    };
    silent(&field);
    silent(&DraftView {
        messages: vec![message()],
        readable: true,
        fields: vec![field.clone()],
        changes: vec![change()],
        changed: 1,
        vanished: vec![canary()],
        privacy: Some(privacy()),
        reducible: true,
    });
    silent(&suggestion());
    silent(&SuggestedView { text: canary(), count: 1, changes: vec![change()], changed: 1 });
    let value = ValueView { value: canary(), count: 1 };
    silent(&value);
    silent(&CauseFieldView { path: canary(), values: vec![value.clone()] });
    silent(&UnfinishedFix {
        path: canary(),
        find: canary(),
        replace: canary(),
        sent: 1,
        rest: vec![2],
    });
    silent(&FixView {
        ready: vec![1],
        invalid: vec![],
        unchanged: vec![],
        edited: vec![],
        example: vec![change()],
    });
}

fn coded() -> CodedView {
    CodedView { own: canary(), is_ours: true, id: canary() }
}

fn field() -> FieldView {
    FieldView {
        key: canary(),
        label: Some(canary()),
        technical: true,
        value: canary(),
        coded: vec![coded()],
        detail: Some(canary()),
        expression: canary(),
        line: 1,
    }
}

fn section() -> SectionView {
    SectionView { resource: canary(), expression: canary(), fields: vec![field()] }
}

fn evidence() -> EvidenceView {
    EvidenceView {
        http_status: Some(200),
        content_type: Some(canary()),
        body: canary(),
        truncated: false,
    }
}

fn step() -> TimelineView {
    TimelineView {
        event: "queued",
        params: [(canary(), canary())].into(),
        person: canary(),
        at: canary(),
        evidence: Some(evidence()),
    }
}

fn file() -> CandidateView {
    CandidateView {
        file: canary(),
        verdict: Verdict::Errors,
        kind: "fhir-document",
        digest: canary(),
        content: Some(canary()),
        document_identifier: Some(canary()),
        patient: Some(canary()),
        subject: Some(canary()),
        disease: Some(canary()),
        test: Some(canary()),
        specimen: Some(canary()),
        messages: vec![message()],
        known: None,
        known_state: None,
        known_updated: None,
        corrects: Some(CorrectsView {
            id: 1,
            state: StateCode::Held,
            updated: canary(),
            possible: true,
            draft: true,
            changes: vec![change()],
            changed: 1,
        }),
    }
}

#[test]
fn views_are_not_printed() {
    silent(&change());
    silent(&message());
    silent(&row());
    silent(&PageView { rows: vec![row()], next: None, total: 1 });
    silent(&ListQuery { search: Some(canary()), ..ListQuery::default() });
    silent(&field());
    silent(&section());
    silent(&evidence());
    silent(&step());
    silent(&file());
    let (files, submissions) = (vec![file()], vec![None]);
    silent(&IntakeView { files, submissions, failed: Vec::new(), problem: None });
    silent(&DetailView {
        row: row(),
        birth_date: Some(canary()),
        document_date: Some(canary()),
        digest: canary(),
        identifier: canary(),
        receipt: Some(canary()),
        attempts: 1,
        format: "json",
        size: 1,
        goes_by_itself: false,
        waiting_versions: vec![2],
        messages: vec![message()],
        timeline: vec![step()],
        results: vec![result()],
        sections: vec![section()],
        source: canary(),
        privacy: Some(privacy()),
    });
}

fn issue() -> IssueRecord {
    IssueRecord {
        severity: Severity::Error,
        code: "invalid".to_owned(),
        rule: None,
        text: Some(canary()),
        expression: Some(canary()),
        line: None,
        column: None,
        source: IssueSource::Authority,
        suggestion: Some(SuggestionRecord {
            kind: "replace".to_owned(),
            expression: canary(),
            value: canary(),
            start: 1,
            end: 2,
            text: canary(),
        }),
        params: [(canary(), canary())].into(),
    }
}

#[test]
fn records_problems_and_questions_are_not_printed() {
    let issue = issue();
    silent(&issue);
    let opinion = Opinion {
        address: canary(),
        fault: None,
        both: 1,
        only_there: vec![issue.clone()],
        only_here: vec![issue.clone()],
    };
    silent(&opinion);
    silent(&Record {
        id: Some(1),
        file: canary(),
        digest: Some(canary()),
        identifier: Some(canary()),
        state: None,
        receipt: None,
        issues: vec![issue],
        validator: Some(opinion),
        attempts: 0,
        corrects: None,
        endpoint: Some(canary()),
        environment: None,
        created: None,
        updated: None,
    });
    silent(&Problem::new("file-unreadable", &[("file", CANARY), ("reason", CANARY)], "file"));
    silent(&ListTerms { search: Some(canary()), ..ListTerms::default() });
    silent(&SearchTerms { identifier: vec![canary()], ..SearchTerms::default() });
    let proxy = Some(format!("http://user:{CANARY}@proxy.example"));
    silent(&EndpointTerms {
        name: "real".to_owned(),
        url: "https://a.example".to_owned(),
        environment: "integration".to_owned(),
        release: "1.13.1".to_owned(),
        language: "de-CH".to_owned(),
        identifier: "attempt".to_owned(),
        ca_pem: None,
        also_system_roots: false,
        server_key: None,
        proxy: proxy.clone(),
        proxy_password: None,
    });
    silent(&EndpointInput {
        name: "real".to_owned(),
        base_url: "https://a.example".to_owned(),
        environment: "integration".to_owned(),
        release: None,
        language: None,
        ca_pem: None,
        proxy,
    });
}
