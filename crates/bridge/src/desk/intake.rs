//! Files on their way in: looked at, taken, and recognised as corrections of reports that need one.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use engine::{
    Candidate, Differing, Engine, EngineError, HandOver, ImportOptions, KnownContent, Relation,
    Taken,
};
use journal::Destination;
use report::{Action, SubmissionId};

use super::Desk;
use super::watches::settle_left;
use crate::candidates::{candidate_view, gone_view, refused_view};
use crate::difference::changes;
use crate::limits;
use crate::problem::Problem;
use crate::rows::{Names, small};
use crate::views::{CandidateView, ChangeView, CorrectsView, IntakeView, Verdict};

/// Differing lines shown of a file that corrects a report.
const CHANGES_SHOWN: usize = 5;

impl Desk {
    /// Looks at files and folders; nothing is taken in.
    pub async fn inspect_files(&self, paths: Vec<String>) -> Result<Vec<CandidateView>, Problem> {
        let (engine, paths) = (self.engine(), limits::paths(paths)?);
        let view = {
            let engine = engine.clone();
            move |candidates: Vec<Candidate>| {
                candidates.iter().map(|candidate| looked_at(&engine, candidate)).collect()
            }
        };
        engine.inspect_and(paths, view).await?
    }

    /// Takes files in and sends them, after the time for undoing it. A file with the identifier of a
    /// report that failed, was rejected or is on hold takes its place.
    pub async fn send_files(
        &self,
        paths: Vec<String>,
        known: KnownContent,
    ) -> Result<IntakeView, Problem> {
        self.send_as_shown(paths, known, false, None).await
    }

    /// The same for what a person has seen of these files, by its digests: what lies there now and was not shown is given
    /// back, and so is what was shown and lies there no more, for a system may write to a file or a folder while somebody
    /// looks at it. With `separate` each file is a report of its own.
    ///
    /// # Errors
    /// `endpoint-changed` where another endpoint comes into use before anything is taken in.
    pub(crate) async fn send_as_shown(
        &self,
        paths: Vec<String>,
        known: KnownContent,
        separate: bool,
        shown: Option<Vec<String>>,
    ) -> Result<IntakeView, Problem> {
        let (desk, paths) = (self.here(), limits::paths(paths)?);
        desk.refuse_standing_in(&paths).await?;
        let engine = desk.engine();
        let _under_way = desk.takes(shown.as_ref().map_or(paths.len(), Vec::len));
        let goes_to = endpoint_of(&engine);
        let shown: Option<HashSet<String>> = shown.map(|shown| shown.into_iter().collect());
        let is_shown = |candidate: &Candidate| match (&shown, candidate.parsed()) {
            (Some(shown), Some(parsed)) => shown.contains(&parsed.digest),
            _ => true,
        };
        let candidates = engine.inspect(paths.clone()).await?;
        refuse_elsewhere(&engine, &candidates, goes_to.as_deref())?;
        let gone = gone(&engine, shown.as_ref(), &candidates, known)?;
        let (candidates, others): (Vec<_>, Vec<_>) = candidates.into_iter().partition(is_shown);
        let delay = desk.undo_micros().await?;
        let mut view = if separate {
            take(&engine, &candidates, known, Differing::Apart, delay).await?
        } else {
            take_with_corrections(&engine, candidates, known, delay).await?
        };
        let count = others.len().to_string();
        for other in &others {
            let changed = Problem::new("files-changed", &[("count", &count)], "intake");
            view.add_failed(candidate_view(other, Names::Masked), changed);
        }
        let count = gone.len().to_string();
        for digest in gone {
            let problem = Problem::new("files-gone", &[("count", &count)], "intake");
            view.add_failed(gone_view(digest), problem);
        }
        // Each file is looked at once more: the seconds of undo have begun.
        tokio::spawn(async move { settle_left(&engine, paths.into_iter().collect()).await });
        Ok(view)
    }

    /// Refuses what is meant for a laboratory that does not open, which is everything but the samples of practice: in
    /// practice, which stands in for it, it would reach nobody.
    pub(super) async fn refuse_standing_in(&self, files: &[PathBuf]) -> Result<(), Problem> {
        let Some(problem) = self.room_here().stands_in else { return Ok(()) };
        let is_practice = !files.is_empty() && self.inner.practice.lock().await.owns(files);
        if is_practice { Ok(()) } else { Err(problem) }
    }

    /// As [`Desk::send_files`], but each file is a report of its own.
    pub async fn send_files_separately(
        &self,
        paths: Vec<String>,
        known: KnownContent,
    ) -> Result<IntakeView, Problem> {
        self.send_as_shown(paths, known, true, None).await
    }

    /// Takes a pasted text in and sends it.
    pub async fn send_text(&self, text: String, name: String) -> Result<IntakeView, Problem> {
        limits::text(&text)?;
        let (desk, name) = (self.here(), limits::name("name", &name)?);
        desk.refuse_standing_in(&[]).await?;
        let engine = desk.engine();
        let candidates = engine.inspect_text(name, text.into_bytes()).await?;
        let delay = desk.undo_micros().await?;
        take(&engine, &candidates, KnownContent::Show, Differing::ByPerson, delay).await
    }

    /// Looks at a pasted text; nothing is taken in.
    pub async fn inspect_text(
        &self,
        text: String,
        name: String,
    ) -> Result<Vec<CandidateView>, Problem> {
        limits::text(&text)?;
        let (engine, name) = (self.engine(), limits::name("name", &name)?);
        let candidates = engine.inspect_text(name, text.into_bytes()).await?;
        let view = move || candidates.iter().map(|it| looked_at(&engine, it)).collect();
        super::on_pool(view).await?
    }

    /// Takes a pasted text in as a file is: what it corrects is replaced, unless it is to be a report of its own.
    pub async fn send_pasted(
        &self,
        text: String,
        name: String,
        known: KnownContent,
        separate: bool,
    ) -> Result<IntakeView, Problem> {
        limits::text(&text)?;
        let (desk, name) = (self.here(), limits::name("name", &name)?);
        desk.refuse_standing_in(&[]).await?;
        let engine = desk.engine();
        let _under_way = desk.takes(1);
        let goes_to = endpoint_of(&engine);
        let candidates = engine.inspect_text(name, text.into_bytes()).await?;
        refuse_elsewhere(&engine, &candidates, goes_to.as_deref())?;
        let delay = desk.undo_micros().await?;
        if separate {
            return take(&engine, &candidates, known, Differing::Apart, delay).await;
        }
        take_with_corrections(&engine, candidates, known, delay).await
    }
}

/// The id of the endpoint in use.
fn endpoint_of(engine: &Engine) -> Option<String> {
    engine.endpoint().ok().map(|endpoint| endpoint.id().to_owned())
}

/// What a person sends goes where they saw that it goes: another endpoint may come into use while files are read.
pub(super) fn refuse_elsewhere(
    engine: &Engine,
    candidates: &[Candidate],
    goes_to: Option<&str>,
) -> Result<(), Problem> {
    let mut looked_for = candidates.iter().filter_map(Candidate::parsed).map(|it| &it.compared_for);
    let is_same = looked_for.all(|endpoint| endpoint.as_deref() == goes_to);
    match is_same && endpoint_of(engine).as_deref() == goes_to {
        true => Ok(()),
        false => Err(Problem::new("endpoint-changed", &[], "intake")),
    }
}

/// What was shown and lies there no more, by its digests. What is known and was not to go again is not missed.
fn gone(
    engine: &Engine,
    shown: Option<&HashSet<String>>,
    candidates: &[Candidate],
    known: KnownContent,
) -> Result<Vec<String>, Problem> {
    let there: HashSet<&str> =
        candidates.iter().filter_map(Candidate::parsed).map(|it| it.digest.as_str()).collect();
    let endpoint = engine.endpoint()?;
    let here =
        Destination { endpoint: endpoint.id(), environment: Some(endpoint.environment.code()) };
    let mut gone = Vec::new();
    for digest in shown.into_iter().flatten().filter(|it| !there.contains(it.as_str())) {
        let is_known = !engine.journal().of_content(digest, None, Some(here))?.is_empty();
        if known == KnownContent::SendAgain || !is_known {
            gone.push(digest.clone());
        }
    }
    gone.sort_unstable();
    Ok(gone)
}

/// `engine` is the one that has looked at the files: what they correct is numbered in its journal.
async fn take_with_corrections(
    engine: &Engine,
    candidates: Vec<Candidate>,
    known: KnownContent,
    delay: i64,
) -> Result<IntakeView, Problem> {
    let targets: Vec<Option<SubmissionId>> =
        candidates.iter().map(|candidate| corrected_by(engine, candidate)).collect();
    let (plain, corrections): (Vec<_>, Vec<_>) =
        candidates.into_iter().zip(targets).partition(|(_, target)| target.is_none());
    let plain: Vec<Candidate> = plain.into_iter().map(|(candidate, _)| candidate).collect();
    let mut view = take(engine, &plain, known, Differing::ByPerson, delay).await?;
    let mut placed: HashMap<SubmissionId, Placed> = HashMap::new();
    for (candidate, target) in corrections {
        let Some(target) = target else { continue };
        if let Some(first) = placed.get(&target) {
            view.add(first.beside(&candidate), None);
            continue;
        }
        let canonical = candidate.parsed().map(|parsed| parsed.canonical.clone());
        let (name, refused) =
            (candidate.name.clone(), refused_view(&candidate, "correction-not-taken", Vec::new()));
        let shown = candidate_view(&candidate, Names::Masked);
        match engine.correct_after(target, candidate, delay).await {
            Ok(id) => {
                view.add(shown, Some(id.0));
                placed.insert(target, Placed { name, canonical, id });
            }
            // It may be handed over again.
            Err(fault @ (EngineError::Journal(_) | EngineError::Profile(_))) => {
                view.add_failed(shown, fault.into());
            }
            // What became of the report meanwhile decides: then this is told, and the others still go.
            Err(_) => view.add(refused, None),
        }
    }
    Ok(view)
}

/// A file that has taken the place of a report. Only one of a hand-over can.
struct Placed {
    name: String,
    canonical: Option<String>,
    id: SubmissionId,
}

impl Placed {
    /// Another file of the same hand-over for the same report: the same once more, or another content, of which
    /// nobody has said which is meant.
    fn beside(&self, candidate: &Candidate) -> CandidateView {
        if candidate.parsed().map(|parsed| &parsed.canonical) == self.canonical.as_ref() {
            let mut view = candidate_view(candidate, Names::Masked);
            view.verdict = Verdict::Known;
            view.known = Some(self.id.0);
            return view;
        }
        refused_view(candidate, "corrected-by-other-file", vec![("file", self.name.clone())])
    }
}

/// A candidate with what the journal knows beside it: its known report, or the one that it corrects.
fn looked_at(engine: &Engine, candidate: &Candidate) -> Result<CandidateView, Problem> {
    let mut view = candidate_view(candidate, Names::Masked);
    if let Some(known) = view.known {
        let row = engine.journal().row(SubmissionId(known))?;
        view.known_state = Some(row.state.shown());
        view.known_updated = Some(row.updated.to_fhir());
    } else if let Some((parsed, relation)) =
        candidate.parsed().and_then(|parsed| parsed.relation.as_ref().map(|it| (parsed, it)))
    {
        let row = engine.journal().row(relation.submission)?;
        let before = engine.journal().document(relation.submission).unwrap_or_default();
        let (shown, changed) = if row.format == parsed.format {
            let after = String::from_utf8_lossy(&parsed.bytes);
            changes(&String::from_utf8_lossy(&before), &after, CHANGES_SHOWN)
        } else {
            by_element(relation)
        };
        view.corrects = Some(CorrectsView {
            id: relation.submission.0,
            state: row.state.shown(),
            updated: row.updated.to_fhir(),
            possible: relation.corrects && row.actions(engine.now()).contains(&Action::Correct),
            changes: shown,
            changed: small(changed as u64),
        });
    }
    Ok(view)
}

/// Between JSON and XML every line differs: the elements that do are shown instead.
fn by_element(relation: &Relation) -> (Vec<ChangeView>, usize) {
    let all = &relation.differences;
    let views = all.iter().take(CHANGES_SHOWN).map(|difference| {
        let side = |value: &Option<String>| {
            value.as_ref().map(|value| format!("{} = {value}", difference.expression))
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
fn corrected_by(engine: &Engine, candidate: &Candidate) -> Option<SubmissionId> {
    let id = candidate.parsed()?.relation.as_ref().filter(|it| it.corrects)?.submission;
    let row = engine.journal().row(id).ok()?;
    row.actions(engine.now()).contains(&Action::Correct).then_some(id)
}

async fn take(
    engine: &Engine,
    candidates: &[Candidate],
    known: KnownContent,
    differing: Differing,
    delay_micros: i64,
) -> Result<IntakeView, Problem> {
    let terms = ImportOptions { known, differing, delay_micros };
    let HandOver { taken, fault } = engine.take(candidates, terms).await?;
    let problem = match fault.map(Problem::from) {
        Some(problem) if !taken.iter().any(|taken| matches!(taken, Taken::New(_))) => {
            return Err(problem);
        }
        problem => problem,
    };
    let failed = (0..).zip(&taken).filter(|(_, taken)| **taken == Taken::Failed);
    let failed = failed.map(|(at, _)| at).collect();
    let submissions = taken.iter().map(|taken| match taken {
        Taken::New(id) => Some(id.0),
        Taken::Known(_) | Taken::Refused | Taken::Failed => None,
    });
    let files = candidates.iter().zip(&taken).map(|(candidate, taken)| {
        let mut view = candidate_view(candidate, Names::Masked);
        if let Taken::Known(id) = taken {
            view.verdict = Verdict::Known;
            view.known = Some(id.0);
        }
        view
    });
    let (files, submissions) = (files.collect(), submissions.collect());
    Ok(IntakeView { files, submissions, failed, problem })
}
