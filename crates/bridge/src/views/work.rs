//! What people work with: results to read, drafts and differences, many reports at once.

use std::collections::BTreeMap;

use report::StateCode;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::codes;

use super::{CodedView, MessageView};
use crate::problem::Problem;

/// One result: a test and what came out, or a part of it.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct ResultView {
    /// A part of the result above it.
    pub is_part: bool,
    /// Name of the test, as the report has it.
    pub name: Option<String>,
    /// The code of the name, where the catalogue may have words for it.
    pub name_coded: Option<CodedView>,
    /// Its code.
    pub code: Option<String>,
    /// Key of the disease.
    #[ts(as = "Option<codes::Disease>")]
    pub disease: Option<String>,
    /// How it was tested.
    #[ts(as = "Option<codes::TestKind>")]
    pub test: Option<String>,
    /// In what.
    #[ts(as = "Option<codes::Specimen>")]
    pub specimen: Option<String>,
    /// The value in words.
    pub value: Option<String>,
    /// The code of the value.
    pub value_coded: Option<CodedView>,
    /// What value or interpretation say, e.g. `positive`; the catalogue has its word.
    #[ts(as = "Option<codes::Outcome>")]
    pub outcome: Option<String>,
    /// The interpretation as the report has it.
    pub interpretation: Option<String>,
    /// The code of the interpretation.
    pub interpretation_coded: Option<CodedView>,
    /// Why there is no value.
    pub absent: Option<String>,
    /// Where the result stands, as FHIRPath.
    pub expression: String,
    /// Line in the source.
    pub line: u32,
}

/// A line that differs.
#[derive(Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct ChangeView {
    /// Line in the new text, from 1.
    pub line: u32,
    /// As it was; `None` where it is new.
    pub removed: Option<String>,
    /// As it is now; `None` where it is gone.
    pub added: Option<String>,
}

/// The report that a file corrects: the same identifier, other content.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct CorrectsView {
    /// Number of its submission.
    #[ts(type = "number")]
    pub id: i64,
    /// Where it stands.
    #[ts(as = "codes::State")]
    pub state: StateCode,
    /// Its last event, ISO instant.
    pub updated: String,
    /// Whether a correction may take its place; otherwise it is only told.
    pub possible: bool,
    /// Somebody has begun to correct it: that is lost once this takes its place.
    pub draft: bool,
    /// The first lines that differ.
    pub changes: Vec<ChangeView>,
    /// Differing lines in all.
    pub changed: u32,
}

/// An edited report, looked at while somebody types.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct DraftView {
    /// What is found in it now; empty where nothing is.
    pub messages: Vec<MessageView>,
    /// Whether it can be read as a report at all.
    pub readable: bool,
    /// The values in question: what the messages of the report are about.
    pub fields: Vec<FormFieldView>,
    /// The lines that differ from what was sent.
    pub changes: Vec<ChangeView>,
    /// How many.
    pub changed: u32,
    /// Elements that the report had and that are gone, e.g. `Patient.name.family`.
    pub vanished: Vec<String>,
    /// What the authority would see of the patient, where the rules in use say it.
    pub privacy: Option<PrivacyView>,
    /// Something of what says too much of the patient can be cured without judgement.
    pub reducible: bool,
}

/// A cure that needs no judgement.
#[derive(Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct SuggestionView {
    /// FHIRPath of the element that it changes: its name among the suggestions of a text.
    pub expression: String,
    /// The same without numbers.
    pub path: String,
    /// What stands there now; `None` where nothing does.
    pub before: Option<String>,
    /// What should stand there.
    pub value: String,
}

/// An edited report with suggestions put into it.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct SuggestedView {
    /// The text with them.
    pub text: String,
    /// How many were put in.
    pub count: u32,
    /// The lines that differ from the text before.
    pub changes: Vec<ChangeView>,
    /// How many.
    pub changed: u32,
}

/// What became of the text when one of its values was emptied.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct RemovedView {
    /// The text without it; nothing where it stays.
    pub text: Option<String>,
    /// Why it stays.
    #[ts(as = "Option<codes::RemovalRefusal>")]
    pub refusal: Option<&'static str>,
}

/// What the authority would see of the patient.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct PrivacyView {
    /// Form of the name that the rules permit: a code of the authority's, e.g. `initials`.
    #[ts(as = "codes::NameForm")]
    pub permitted: String,
    /// The test that decides it, in words.
    pub because: Option<String>,
    /// FHIRPath of the patient.
    pub patient: String,
    /// Whether the report says more: then it is held back.
    pub too_much: bool,
    /// Each fact about the patient.
    pub rows: Vec<PrivacyRowView>,
}

/// One fact about the patient.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct PrivacyRowView {
    /// Key of the field, as in the sections.
    #[ts(as = "codes::FieldKey")]
    pub key: String,
    /// As the report has it now.
    pub now: Vec<String>,
    /// As it is permitted; empty where nothing may be seen.
    pub seen: Vec<String>,
}

/// A code that may stand at a value in question.
#[derive(Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct ChoiceView {
    /// The code.
    pub code: String,
    /// What the rules call it; empty where they do not say, and for codes that the window names.
    pub display: String,
    /// Its id in the catalogue, which may have a word for it.
    pub id: Option<String>,
}

/// A value in question, to be changed in a form.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct FormFieldView {
    /// FHIRPath in the text.
    pub expression: String,
    /// The same without numbers, e.g. `Patient.name.family`.
    pub path: String,
    /// Present value; empty where it is missing.
    pub value: String,
    /// Line in the text.
    pub line: u32,
    /// Codes that may stand there; empty where anything may.
    pub choices: Vec<ChoiceView>,
    /// Id of the present value in the catalogue, where it is a code.
    pub id: Option<String>,
    /// FHIRPath of the display beside a code, which is to follow what is chosen.
    pub display: Option<String>,
    /// Positions in the messages of the draft that are about it.
    pub messages: Vec<u32>,
}

/// Values of reports with one cause, at one element.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct CauseFieldView {
    /// Element, e.g. `Patient.address.postalCode`.
    pub path: String,
    /// Values and how many reports have them, the most frequent first.
    pub values: Vec<ValueView>,
}

/// A report with a cause that was corrected before, and has come back with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct CameBackView {
    /// Number of its submission.
    #[ts(type = "number")]
    pub id: i64,
    /// When a report with that cause was corrected last, ISO instant.
    pub corrected: String,
}

/// A value and how many reports have it.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct ValueView {
    /// The value.
    pub value: String,
    /// Reports with it.
    pub count: u32,
}

/// What one change would do to many reports.
#[derive(Clone, Default, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct FixView {
    /// Reports that it changes and that then have no error of ours.
    #[ts(type = "number[]")]
    pub ready: Vec<i64>,
    /// Reports that it changes and that still have errors.
    #[ts(type = "number[]")]
    pub invalid: Vec<i64>,
    /// Reports that it does not change.
    #[ts(type = "number[]")]
    pub unchanged: Vec<i64>,
    /// Reports that it leaves out: somebody has edited them and has not sent that yet.
    #[ts(type = "number[]")]
    pub edited: Vec<i64>,
    /// The difference in the first of them.
    pub example: Vec<ChangeView>,
}

/// A change of many reports that is not made in all of them: one was sent, and completed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(export)]
pub struct UnfinishedFix {
    /// Where, as the messages point to it.
    pub path: String,
    /// The value that is changed.
    pub find: String,
    /// What stands in its place then.
    pub replace: String,
    /// How many were sent.
    pub sent: u32,
    /// Those that are left.
    #[ts(type = "number[]")]
    pub rest: Vec<i64>,
}

/// How far reports are that were sent together; each stands for its latest correction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct BatchView {
    /// Reports in all.
    pub total: u32,
    /// By state code.
    #[ts(as = "BTreeMap<codes::State, u32>")]
    pub by_state: BTreeMap<StateCode, u32>,
    /// Not finished, and no person needed.
    pub moving: u32,
    /// Completed by the authority.
    pub completed: u32,
    /// Number of reports that were withdrawn.
    pub closed: u32,
    /// Different causes among those that need a person.
    pub causes: u32,
    /// About how many seconds until none moves; unknown before the first has finished.
    pub seconds_left: Option<u32>,
    /// Until when those that wait can be held back, ISO instant; `None` when that time is over.
    pub undo_until: Option<String>,
    /// Those of which nothing has been sent.
    #[ts(type = "number[]")]
    pub waiting: Vec<i64>,
    /// Those that need a person.
    #[ts(type = "number[]")]
    pub attention: Vec<i64>,
}

/// What we think of a file before it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "kebab-case")]
#[ts(export)]
pub enum Verdict {
    /// A report without findings.
    Ready,
    /// A report with findings that do not hold it back.
    Warnings,
    /// A report that is held back until a person has decided.
    Errors,
    /// A report that was taken in before.
    Known,
    /// No report, or one that is not taken in.
    Refused,
}

/// A file looked at before sending.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct CandidateView {
    /// Path or name inside an archive, for people.
    pub file: String,
    /// What we think of it.
    pub verdict: Verdict,
    /// What it was recognised as; `unknown` where its bytes could not be read.
    #[ts(as = "codes::Kind")]
    pub kind: &'static str,
    /// SHA-256 hex (empty if refused unread).
    pub digest: String,
    /// Digest of what its document says: the same for a report as JSON and as XML.
    pub content: Option<String>,
    /// Identifier of its document, a UUID in small letters.
    pub document_identifier: Option<String>,
    /// Patient, masked unless asked for.
    pub patient: Option<String>,
    /// Disease or leading code in words.
    pub subject: Option<String>,
    /// Key of the disease, e.g. `hepatitis-b`; the catalogue has its name.
    #[ts(as = "Option<codes::Disease>")]
    pub disease: Option<String>,
    /// How it was tested, e.g. `pcr`.
    #[ts(as = "Option<codes::TestKind>")]
    pub test: Option<String>,
    /// In what, e.g. `blood`.
    #[ts(as = "Option<codes::Specimen>")]
    pub specimen: Option<String>,
    /// What was found when the report was checked.
    pub messages: Vec<MessageView>,
    /// The known submission with the same content.
    #[ts(type = "number | null")]
    pub known: Option<i64>,
    /// Where that submission stands.
    #[ts(as = "Option<codes::State>")]
    pub known_state: Option<StateCode>,
    /// When it was last heard of, ISO instant.
    pub known_updated: Option<String>,
    /// The report that this file corrects.
    pub corrects: Option<CorrectsView>,
}

/// What became of files handed over for sending.
#[derive(Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct IntakeView {
    /// In the order of the files.
    pub files: Vec<CandidateView>,
    /// Submissions made, by position in `files` (`None` where refused, known or failed).
    #[ts(type = "(number | null)[]")]
    pub submissions: Vec<Option<i64>>,
    /// Positions in `files` of those that could not be taken in. They may be handed over again; the
    /// others must not.
    pub failed: Vec<u32>,
    /// Why they could not.
    pub problem: Option<Problem>,
}

impl IntakeView {
    /// Of nothing yet.
    pub(crate) const fn empty() -> Self {
        Self { files: Vec::new(), submissions: Vec::new(), failed: Vec::new(), problem: None }
    }

    /// Adds what became of others.
    pub(crate) fn append(&mut self, others: Self) {
        let before = self.files.len();
        let moved = |at: u32| at.saturating_add(u32::try_from(before).unwrap_or(u32::MAX));
        self.failed.extend(others.failed.into_iter().map(moved));
        self.files.extend(others.files);
        self.submissions.extend(others.submissions);
        self.problem = self.problem.take().or(others.problem);
    }

    /// Of one file.
    pub(crate) fn of_one(file: CandidateView, submission: Option<i64>) -> Self {
        let (files, submissions) = (vec![file], vec![submission]);
        Self { files, submissions, failed: Vec::new(), problem: None }
    }

    /// Adds a file and the submission that it became.
    pub(crate) fn add(&mut self, file: CandidateView, submission: Option<i64>) {
        self.files.push(file);
        self.submissions.push(submission);
    }

    /// Adds a file that could not be taken in.
    pub(crate) fn add_failed(&mut self, file: CandidateView, problem: Problem) {
        self.problem.get_or_insert(problem);
        self.add_left(file);
    }

    /// Adds a file that was not taken in because somebody has stopped that.
    pub(crate) fn add_left(&mut self, file: CandidateView) {
        self.failed.push(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.add(file, None);
    }
}
