//! Correcting: a draft looked at while somebody types, one value changed in one report or in many.

use std::collections::{BTreeMap, HashMap};

use engine::{Candidate, Engine};
use fhir::{Element, Format, Limits, Tree};
use journal::{Journal, JournalError, Message, Row};
use report::SubmissionId;

use super::{Desk, on_pool};
use crate::candidates::messages_of;
use crate::difference::changes;
use crate::draft::{form, vanished};
use crate::edit::{VALUE_MAX, with_value, with_values};
use crate::emptied::{is_needed, without};
use crate::limits;
use crate::messages::{leading, message_view};
use crate::placement::found;
use crate::privacy::privacy_of;
use crate::problem::Problem;
use crate::rows::{placed, small};
use crate::suggested::applied;
use crate::taken_back::said;
use crate::views::{
    CauseFieldView, DraftView, FixView, IntakeView, RemovedView, SuggestedView, ValueView,
};
use crate::writing::{common_path, leaves};

/// Differing lines shown.
const CHANGES_SHOWN: usize = 40;
/// Values shown of one element.
const VALUES_MAX: usize = 20;

impl Desk {
    /// Looks at an edited report: what is found in it, what differs, what is missing now.
    pub async fn look_at_draft(&self, id: i64, text: String) -> Result<DraftView, Problem> {
        limits::text(&text)?;
        let engine = self.engine();
        let name = engine.journal().row(SubmissionId(id))?.file;
        let mut candidate = engine.inspect_text(name, text.clone().into_bytes()).await?.pop();
        let id = SubmissionId(id);
        on_pool(move || {
            if let Some(candidate) = &mut candidate {
                engine.compare_in_place_of(id, candidate)?;
            }
            look(&engine, id, &text, candidate.as_ref())
        })
        .await?
    }

    /// The text with another value at one element.
    pub async fn edit_draft(
        &self,
        text: String,
        expression: String,
        value: String,
    ) -> Result<String, Problem> {
        limits::text(&text)?;
        limits::line("expression", &expression)?;
        if value.chars().count() > VALUE_MAX {
            return Err(limits::invalid("value"));
        }
        let edited = on_pool(move || with_value(&text, &expression, &value)).await?;
        edited.ok_or_else(|| limits::invalid("expression"))
    }

    /// The text without the element of an emptied value, unless the report needs it: then something
    /// would be wrong with it that is not wrong now.
    pub async fn remove_value(
        &self,
        text: String,
        expression: String,
    ) -> Result<RemovedView, Problem> {
        limits::text(&text)?;
        limits::line("expression", &expression)?;
        let before = text.clone();
        let Some(left) = on_pool(move || without(&before, &expression)).await? else {
            return Ok(RemovedView { text: None, refusal: Some("tied") });
        };
        let engine = self.engine();
        let found = async |text: String| {
            let candidate = engine.inspect_text(String::new(), text.into_bytes()).await?.pop();
            Ok::<_, Problem>(candidate.iter().flat_map(messages_of).collect::<Vec<_>>())
        };
        if is_needed(&found(text).await?, &found(left.clone()).await?) {
            return Ok(RemovedView { text: None, refusal: Some("needed") });
        }
        Ok(RemovedView { text: Some(left), refusal: None })
    }

    /// The text with what is suggested for it: at one element, or everywhere.
    pub async fn apply_suggestions(
        &self,
        text: String,
        only: Option<String>,
    ) -> Result<SuggestedView, Problem> {
        limits::text(&text)?;
        if let Some(expression) = &only {
            limits::line("only", expression)?;
        }
        let engine = self.engine();
        let bytes = text.clone().into_bytes();
        let candidate = engine.inspect_text(String::new(), bytes).await?.pop();
        on_pool(move || {
            let messages: Vec<_> = candidate.iter().flat_map(messages_of).collect();
            let (after, count) = applied(&text, &messages, only.as_deref());
            let (shown, changed) = changes(&text, &after, CHANGES_SHOWN);
            let (count, changed) = (small(count as u64), small(changed as u64));
            SuggestedView { text: after, count, changes: shown, changed }
        })
        .await
    }

    /// Keeps what somebody has edited and not sent, in the journal: it is patient data. An empty
    /// one is forgotten.
    pub async fn keep_draft(&self, id: i64, text: String) -> Result<(), Problem> {
        limits::text(&text)?;
        let engine = self.engine();
        Ok(on_pool(move || engine.journal().keep_edited(SubmissionId(id), text)).await??)
    }

    /// What was edited before and not sent.
    pub async fn draft(&self, id: i64) -> Result<Option<String>, Problem> {
        Ok(self.engine().journal().edited(SubmissionId(id))?)
    }

    /// What stands where the messages of these reports point to, and in how many of them.
    pub async fn cause_fields(&self, ids: Vec<i64>) -> Result<Vec<CauseFieldView>, Problem> {
        limits::looked(&ids)?;
        let engine = self.engine();
        on_pool(move || cause_fields(&engine, &ids)).await?
    }

    /// What one change would do to these reports; nothing is changed.
    pub async fn fix_preview(
        &self,
        ids: Vec<i64>,
        path: String,
        find: String,
        replace: String,
    ) -> Result<FixView, Problem> {
        limits::looked(&ids)?;
        let fix = Fix::of(path, find, replace)?;
        let engine = self.engine();
        let mut view = FixView::default();
        for id in ids {
            let (before, after) = fix.apply(&engine, id).await?;
            // What somebody has written by hand would be lost.
            if engine.journal().edited(SubmissionId(id))?.is_some_and(|text| text != before) {
                view.edited.push(id);
                continue;
            }
            let Some(after) = after else {
                view.unchanged.push(id);
                continue;
            };
            if view.example.is_empty() {
                (view.example, _) = changes(&before, &after, CHANGES_SHOWN);
            }
            let candidates = engine.inspect_text(String::new(), after.into_bytes()).await?;
            let sound = candidates.first().is_some_and(|c| c.parsed().is_some() && !c.has_errors());
            if sound { view.ready.push(id) } else { view.invalid.push(id) }
        }
        Ok(view)
    }

    /// Makes the change in one report and sends it as the correction.
    pub async fn fix(
        &self,
        id: i64,
        path: String,
        find: String,
        replace: String,
    ) -> Result<IntakeView, Problem> {
        let fix = Fix::of(path, find, replace)?;
        let desk = self.here();
        let (_, after) = fix.apply(&desk.engine(), id).await?;
        let after = after.ok_or_else(|| limits::invalid("find"))?;
        // Without time for undoing it: one is sent first, and its answer is what the others wait
        // for.
        desk.correct_with_text_after(id, after, 0).await
    }
}

/// Where, if, do.
#[derive(Clone)]
struct Fix {
    path: String,
    find: String,
    replace: String,
}

impl Fix {
    fn of(path: String, find: String, replace: String) -> Result<Self, Problem> {
        limits::line("path", &path)?;
        for (argument, value) in [("find", &find), ("replace", &replace)] {
            if value.is_empty() || value.chars().count() > VALUE_MAX {
                return Err(limits::invalid(argument));
            }
        }
        if find == replace {
            Err(limits::invalid("replace"))
        } else {
            Ok(Self { path, find, replace })
        }
    }

    /// The text before, and after where it changes.
    async fn apply(&self, engine: &Engine, id: i64) -> Result<(String, Option<String>), Problem> {
        let (engine, fix) = (engine.clone(), self.clone());
        on_pool(move || {
            let bytes = engine.journal().document(SubmissionId(id))?;
            let Some(tree) = read(&bytes) else { return Ok((String::new(), None)) };
            let wanted = |leaf: Element<'_>| {
                let here = leaf.value() == Some(fix.find.as_str()) && common_path(leaf) == fix.path;
                here.then_some(fix.replace.as_str())
            };
            let after = with_values(&tree, wanted);
            Ok((String::from_utf8_lossy(&bytes).into_owned(), after))
        })
        .await?
    }
}

/// Whether somebody has begun to correct a report, and has not sent that. Looked up by its number,
/// and only where there can be a draft; what says the same as what was sent is none.
pub(super) fn has_draft(journal: &Journal, row: &Row) -> Result<bool, JournalError> {
    if !row.state.shown().may_be_corrected() {
        return Ok(false);
    }
    let Some(text) = journal.edited(row.id)? else { return Ok(false) };
    match journal.document(row.id) {
        Ok(sent) => Ok(text != String::from_utf8_lossy(&sent)),
        // Retention has removed it meanwhile, and the draft with it.
        Err(JournalError::NotFound(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

fn read(bytes: &[u8]) -> Option<Tree> {
    Tree::read(bytes, Format::sniff(bytes)?, &Limits::default()).ok()
}

fn look(
    engine: &Engine,
    id: SubmissionId,
    text: &str,
    candidate: Option<&Candidate>,
) -> Result<DraftView, Problem> {
    let before = engine.journal().document(id)?;
    let before = String::from_utf8_lossy(&before);
    let (shown, changed) = changes(&before, text, CHANGES_SHOWN);
    let messages: Vec<_> = candidate.iter().flat_map(|candidate| messages_of(candidate)).collect();
    let mut messages: Vec<_> = messages.iter().map(message_view).collect();
    let readable = candidate.is_some_and(|candidate| candidate.parsed().is_some());
    let (asked, _) = said(engine.journal(), &engine.journal().row(id)?)?;
    let tree = read(text.as_bytes());
    if let Some(tree) = &tree {
        placed(tree, &mut messages);
    }
    let original = read(before.as_bytes());
    let rules = engine.rules();
    let fields = |tree: &Tree| form(tree, &asked, &messages, rules.as_deref());
    Ok(DraftView {
        fields: tree.as_ref().map(fields).unwrap_or_default(),
        vanished: match (&original, &tree) {
            (Some(original), Some(tree)) => vanished(original, tree),
            _ => Vec::new(),
        },
        privacy: tree.as_ref().and_then(|tree| privacy_of(rules.as_deref(), tree)),
        reducible: messages
            .iter()
            .any(|message| rules::is_private(&message.code) && message.suggestion.is_some()),
        messages,
        readable,
        changes: shown,
        changed: small(changed as u64),
    })
}

fn cause_fields(engine: &Engine, ids: &[i64]) -> Result<Vec<CauseFieldView>, Problem> {
    let mut fields: Vec<String> = Vec::new();
    let mut counts: HashMap<String, BTreeMap<String, u32>> = HashMap::new();
    for id in ids {
        let row = engine.journal().row(SubmissionId(*id))?;
        let (messages, _) = said(engine.journal(), &row)?;
        let Some(message) = leading(row.state.shown(), &messages) else { continue };
        let bytes = engine.journal().document(SubmissionId(*id))?;
        let Some(tree) = read(&bytes) else { continue };
        for (path, value) in values_in_question(&tree, message) {
            if !fields.contains(&path) {
                fields.push(path.clone());
            }
            *counts.entry(path).or_default().entry(value).or_default() += 1;
        }
    }
    let views = fields.into_iter().map(|path| {
        let values = counts.remove(&path).unwrap_or_default();
        let mut values: Vec<_> =
            values.into_iter().map(|(value, count)| ValueView { value, count }).collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.count));
        values.truncate(VALUES_MAX);
        CauseFieldView { path, values }
    });
    Ok(views.collect())
}

/// Element and value of what a message is about; each pair once.
fn values_in_question(tree: &Tree, message: &Message) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let Some(element) = found(&message_view(message), tree) else { return pairs };
    leaves(element, &mut |leaf| {
        let pair = (common_path(leaf), leaf.value().unwrap_or_default().to_owned());
        if pairs.len() < VALUES_MAX && !pairs.contains(&pair) {
            pairs.push(pair);
        }
    });
    pairs
}
