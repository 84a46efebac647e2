//! Files on their way in: looked at, taken, and recognised as corrections of reports that need one.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use engine::{Candidate, Engine, KnownContent, Relation};
use fhir::{Element, Format, Limits, Tree};
use report::{Action, SubmissionId};

use super::Desk;
use super::handing::{Again, Item, List, Progress};
use super::work::has_draft;
use crate::candidates::candidate_view;
use crate::difference::changes;
use crate::limits;
use crate::mask::masked_value;
use crate::problem::Problem;
use crate::rows::{Names, small};
use crate::views::{CandidateView, ChangeView, CorrectsView, IntakeView};
use crate::writing::exactly;

/// Differing lines shown of a file that corrects a report.
const CHANGES_SHOWN: usize = 5;

impl Desk {
    /// Looks at files and folders; nothing is taken in. Names are masked.
    pub async fn inspect_files(&self, paths: Vec<String>) -> Result<Vec<CandidateView>, Problem> {
        self.inspect_files_as(paths, Names::Masked).await
    }

    /// As [`Desk::inspect_files`]; names as somebody has asked for them.
    pub async fn inspect_files_as(
        &self,
        paths: Vec<String>,
        names: Names,
    ) -> Result<Vec<CandidateView>, Problem> {
        let (engine, paths) = (self.engine(), limits::paths(paths)?);
        let view = {
            let engine = engine.clone();
            move |candidates: Vec<Candidate>| {
                candidates.iter().map(|candidate| looked_at(&engine, candidate, names)).collect()
            }
        };
        engine.inspect_and(paths, view).await?
    }

    /// Takes files in and sends them, after the time for undoing it. A file with the identifier of
    /// a report that failed, was rejected or is on hold takes its place.
    ///
    /// # Errors
    /// Where nothing of it was taken in.
    pub async fn send_files(
        &self,
        paths: Vec<String>,
        known: KnownContent,
    ) -> Result<IntakeView, Problem> {
        self.send_all(limits::paths(paths)?.into_iter().map(Item::At).collect(), known, false).await
    }

    /// As [`Desk::send_files`], but each file is a report of its own.
    pub async fn send_files_separately(
        &self,
        paths: Vec<String>,
        known: KnownContent,
    ) -> Result<IntakeView, Problem> {
        self.send_all(limits::paths(paths)?.into_iter().map(Item::At).collect(), known, true).await
    }

    /// Takes a text in and sends it, as a report of its own.
    pub async fn send_text(&self, text: String, name: String) -> Result<IntakeView, Problem> {
        limits::text(&text)?;
        let text = Item::Text { name: limits::name("name", &name)?, text };
        self.send_all(vec![text], KnownContent::Show, true).await
    }

    /// Hands over all that lies there, wherever it goes now.
    async fn send_all(
        &self,
        items: Vec<Item>,
        known: KnownContent,
        separate: bool,
    ) -> Result<IntakeView, Problem> {
        let desk = self.here();
        let _under_way = desk.takes(items.len());
        let again = match known {
            KnownContent::SendAgain => Again::All,
            KnownContent::Show | KnownContent::ShowAnywhere => Again::These(HashSet::new()),
        };
        let endpoint = desk.engine().endpoint().map(|it| it.id().to_owned()).unwrap_or_default();
        let (corrections, shown) = (HashMap::new(), None);
        let (left_out, beside) = (HashSet::new(), HashSet::new());
        let list = List { items, again, corrections, shown, left_out, beside, separate, endpoint };
        let mut all = IntakeView::empty();
        for part in desk.hand(list, &Progress::default()).await?.items {
            all.append(part);
        }
        match all.problem.take() {
            Some(problem) if all.submissions.iter().all(Option::is_none) => Err(problem),
            problem => Ok(IntakeView { problem, ..all }),
        }
    }

    /// Refuses what is meant for a laboratory that does not open, which is everything but the
    /// samples of practice: in practice, which stands in for it, it would reach nobody.
    pub(super) async fn refuse_standing_in(&self, files: &[PathBuf]) -> Result<(), Problem> {
        let Some(problem) = self.room_here().stands_in else { return Ok(()) };
        let is_practice = !files.is_empty() && self.inner.practice.lock().await.owns(files);
        if is_practice { Ok(()) } else { Err(problem) }
    }

    /// Looks at a pasted text; nothing is taken in. Names are masked.
    pub async fn inspect_text(
        &self,
        text: String,
        name: String,
    ) -> Result<Vec<CandidateView>, Problem> {
        self.inspect_text_as(text, name, Names::Masked).await
    }

    /// As [`Desk::inspect_text`]; names as somebody has asked for them.
    pub async fn inspect_text_as(
        &self,
        text: String,
        name: String,
        names: Names,
    ) -> Result<Vec<CandidateView>, Problem> {
        limits::text(&text)?;
        let (engine, name) = (self.engine(), limits::name("name", &name)?);
        let candidates = engine.inspect_text(name, text.into_bytes()).await?;
        let view = move || candidates.iter().map(|it| looked_at(&engine, it, names)).collect();
        super::on_pool(view).await?
    }
}

/// A candidate with what the journal knows beside it: its known report, or the one that it
/// corrects.
fn looked_at(
    engine: &Engine,
    candidate: &Candidate,
    names: Names,
) -> Result<CandidateView, Problem> {
    let mut view = candidate_view(candidate, names);
    if let Some(known) = view.known {
        let row = engine.journal().row(SubmissionId(known))?;
        view.known_state = Some(row.state.shown());
        view.known_updated = Some(row.updated.to_fhir());
    } else if let Some((parsed, relation)) =
        candidate.parsed().and_then(|parsed| parsed.relation.as_ref().map(|it| (parsed, it)))
    {
        let row = engine.journal().row(relation.submission)?;
        let before = engine.journal().document(relation.submission).unwrap_or_default();
        let (shown, changed) = match names {
            Names::Shown if row.format == parsed.format => {
                let after = String::from_utf8_lossy(&parsed.bytes);
                changes(&String::from_utf8_lossy(&before), &after, CHANGES_SHOWN)
            }
            Names::Shown => by_element(relation, |_, value| value.to_owned()),
            // A line may name anybody: each element that differs is told, and its value where that
            // names nobody.
            Names::Masked => {
                let trees: Vec<Tree> =
                    [&*parsed.bytes, &*before].into_iter().filter_map(read).collect();
                by_element(relation, |expression, value| {
                    let mut found = trees.iter().filter_map(|tree| exactly(tree, expression));
                    if found.next().is_some_and(names_nobody) {
                        value.to_owned()
                    } else {
                        masked_value(value)
                    }
                })
            }
        };
        view.corrects = Some(CorrectsView {
            id: relation.submission.0,
            state: row.state.shown(),
            updated: row.updated.to_fhir(),
            possible: relation.corrects && row.actions(engine.now()).contains(&Action::Correct),
            draft: has_draft(engine.journal(), &row)?,
            changes: shown,
            changed: small(changed as u64),
        });
    }
    Ok(view)
}

/// Types whose values can name nobody.
const NAMELESS_TYPES: &[&str] =
    &["boolean", "code", "decimal", "instant", "integer", "positiveInt", "unsignedInt"];
/// Elements of an address that say where many people live.
const NAMELESS_PLACES: &[&str] = &["city", "country", "postalCode", "state"];

/// Whether the value of this element can stand on the screen while names are masked.
fn names_nobody(of: Element<'_>) -> bool {
    NAMELESS_TYPES.contains(&of.type_name())
        || (of.parent().is_some_and(|above| above.type_name() == "Address")
            && NAMELESS_PLACES.contains(&of.name()))
}

fn read(text: &[u8]) -> Option<Tree> {
    Tree::read(text, Format::sniff(text)?, &Limits::default()).ok()
}

/// The elements that differ, each side as `said` has it. Between JSON and XML every line does.
fn by_element(
    relation: &Relation,
    said: impl Fn(&str, &str) -> String,
) -> (Vec<ChangeView>, usize) {
    let all = &relation.differences;
    let views = all.iter().take(CHANGES_SHOWN).map(|difference| {
        let side = |value: &Option<String>| {
            let expression = &difference.expression;
            value.as_ref().map(|value| format!("{expression} = {}", said(expression, value)))
        };
        ChangeView {
            line: difference.line,
            removed: side(&difference.before),
            added: side(&difference.after),
        }
    });
    (views.collect(), all.len())
}

/// The submission that a file corrects, where that is possible.
pub(super) fn corrected_by(engine: &Engine, candidate: &Candidate) -> Option<SubmissionId> {
    let id = candidate.parsed()?.relation.as_ref().filter(|it| it.corrects)?.submission;
    let row = engine.journal().row(id).ok()?;
    row.actions(engine.now()).contains(&Action::Correct).then_some(id)
}
