//! The steps of a hand-over: everything is looked at, then taken in, in the order of the list.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;

use engine::{
    Candidate, Differing, Engine, EngineError, HandOver, ImportOptions, KnownContent, Listed, Taken,
};
use report::SubmissionId;

use super::super::Desk;
use super::super::batch::latest;
use super::super::intake::corrected_by;
use super::super::pace::Pace;
use super::list::{Again, Item, List};
use super::placed::Placed;
use crate::candidates::{candidate_view, gone_view, refused_view};
use crate::problem::Problem;
use crate::rows::Names;
use crate::views::{CandidateView, HandedView, IntakeView, Verdict};

/// A list that is being taken in.
pub(in crate::desk) struct Handing {
    engine: Engine,
    pace: Pace,
    separate: bool,
    listed: Listed,
    steps: VecDeque<Step>,
    /// What has taken the place of a report.
    placed: HashMap<SubmissionId, Placed>,
    /// One for each report that was found, in the order of the list.
    told: Vec<Told>,
    /// Of so many of them it is known what became of them, and so many of these took a step.
    done: usize,
    stepped: usize,
    items: Vec<IntakeView>,
    gone: IntakeView,
}

/// Most reports of one step: between two steps it is told how far it is, and may be stopped.
const PLAIN_MAX: usize = 128;

/// What is taken in together.
enum Step {
    /// Reports that correct none that was known before, by their places in `told`.
    Plain(Vec<usize>, Vec<Candidate>),
    Correction(usize, Box<Candidate>, SubmissionId),
}

/// What became of a report.
struct Told {
    /// The thing of the list that it is in.
    item: usize,
    /// `None` until its step is done.
    outcome: Option<Outcome>,
}

enum Outcome {
    Settled(CandidateView, Option<SubmissionId>),
    /// It may be handed over again.
    Failed(CandidateView, Problem),
    /// Nobody has tried: the hand-over was stopped before.
    Left(CandidateView),
}

/// What was found in a list: each report with the thing that it is in.
type Found = Vec<(usize, Candidate)>;

impl Handing {
    /// Looks at all of the list; nothing is taken in.
    ///
    /// # Errors
    /// `endpoint-changed`; what keeps all of it from being sent.
    pub(in crate::desk) async fn begin(desk: &Desk, list: List) -> Result<Self, Problem> {
        let paths = list.paths();
        // A pasted text is no sample of practice.
        let is_of_files = paths.len() == list.items.len();
        desk.refuse_standing_in(if is_of_files { &paths } else { &[] }).await?;
        let engine = desk.engine();
        Listed::new(&list.endpoint, HashSet::new()).check(engine.endpoint().ok().as_ref())?;
        let undo = desk.undo_micros().await?;
        let (items, found) = look(&engine, &list, paths).await?;
        let is_wanted = |candidate: &Candidate| {
            candidate.parsed().is_none_or(|parsed| !list.left_out.contains(&parsed.digest))
        };
        let found: Found = found.into_iter().filter(|(_, it)| is_wanted(it)).collect();
        refuse_elsewhere(found.iter().map(|(_, candidate)| candidate), &list.endpoint)?;
        let targets = targets(&engine, &list, &found);
        let again = again(&engine, &list, &found, &targets)?;
        let gone = gone(&engine, &list, &again, &found)?;
        let mut handing = Self {
            pace: Pace::new(undo),
            separate: list.separate,
            listed: Listed::new(&list.endpoint, again).with_beside(list.beside.clone()),
            engine,
            steps: VecDeque::new(),
            placed: HashMap::new(),
            told: Vec::with_capacity(found.len()),
            done: 0,
            stepped: 0,
            items,
            gone,
        };
        handing.plan(&list, found, targets);
        Ok(handing)
    }

    /// What was not shown stays where it lies, the others are taken in: those between two
    /// corrections together.
    fn plan(&mut self, list: &List, found: Found, targets: Vec<Option<SubmissionId>>) {
        let is_shown = |item: usize, candidate: &Candidate| {
            let is_pasted = matches!(list.items.get(item), Some(Item::Text { .. }));
            match (&list.shown, candidate.parsed()) {
                (Some(shown), Some(parsed)) => is_pasted || shown.contains(&parsed.digest),
                _ => true,
            }
        };
        let unseen = found.iter().filter(|(item, candidate)| !is_shown(*item, candidate)).count();
        let changed = Problem::new("files-changed", &[("count", &unseen.to_string())], "intake");
        for ((item, candidate), target) in found.into_iter().zip(targets) {
            let at = self.told.len();
            let outcome = if !is_shown(item, &candidate) {
                let view = candidate_view(&candidate, Names::Masked);
                Some(Outcome::Failed(view, changed.clone()))
            } else if target.is_none() && is_overtaken(list, &candidate) {
                Some(Outcome::Settled(not_taken(&candidate), None))
            } else {
                self.add(at, candidate, target);
                None
            };
            self.done += usize::from(outcome.is_some());
            self.told.push(Told { item, outcome });
        }
    }

    fn add(&mut self, at: usize, candidate: Candidate, target: Option<SubmissionId>) {
        if let Some(target) = target {
            self.steps.push_back(Step::Correction(at, Box::new(candidate), target));
        } else if let Some(Step::Plain(places, candidates)) = self.steps.back_mut()
            && places.len() < PLAIN_MAX
        {
            places.push(at);
            candidates.push(candidate);
        } else {
            self.steps.push_back(Step::Plain(vec![at], vec![candidate]));
        }
    }

    /// Does the next step; `false` where there is none. What fails is told for what it concerns,
    /// and the others still go.
    pub(in crate::desk) async fn step(&mut self) -> bool {
        match self.steps.pop_front() {
            Some(Step::Plain(places, candidates)) => {
                let outcomes = self.take(&candidates).await;
                for (at, outcome) in places.into_iter().zip(outcomes) {
                    self.tell(at, outcome);
                }
            }
            Some(Step::Correction(at, candidate, target)) => {
                let outcome = self.correct(*candidate, target).await;
                self.tell(at, outcome);
            }
            None => return false,
        }
        true
    }

    /// Of how many reports it is known what became of them, and how many there are.
    pub(super) const fn count(&self) -> (usize, usize) {
        (self.done, self.told.len())
    }

    /// Microseconds before the next report may leave.
    fn delay(&self) -> i64 {
        self.pace.delay(self.stepped, self.told.len() - self.done)
    }

    fn tell(&mut self, at: usize, outcome: Outcome) {
        if let Some(told) = self.told.get_mut(at) {
            told.outcome = Some(outcome);
            self.done += 1;
            self.stepped += 1;
        }
    }

    async fn take(&mut self, candidates: &[Candidate]) -> Vec<Outcome> {
        let differing = if self.separate { Differing::Apart } else { Differing::ByPerson };
        let terms =
            ImportOptions { known: KnownContent::Show, differing, delay_micros: self.delay() };
        let view = |candidate: &Candidate| candidate_view(candidate, Names::Masked);
        let HandOver { taken, fault } =
            match self.engine.submit(candidates, terms, &mut self.listed).await {
                Ok(handed) => handed,
                Err(fault) => {
                    // What shares an identifier with one of these must not be taken for the earlier
                    // one.
                    candidates.iter().for_each(|candidate| self.listed.note(candidate, true));
                    HandOver { taken: vec![Taken::Failed; candidates.len()], fault: Some(fault) }
                }
            };
        let closed = || Problem::new("journal-closed", &[], "intake");
        let problem = fault.map_or_else(closed, Problem::from);
        let told = |(candidate, taken): (&Candidate, Taken)| match taken {
            Taken::New(id) => Outcome::Settled(view(candidate), Some(id)),
            Taken::Known(id) => Outcome::Settled(known(view(candidate), id), None),
            Taken::Refused => Outcome::Settled(view(candidate), None),
            Taken::Failed => Outcome::Failed(view(candidate), problem.clone()),
        };
        candidates.iter().zip(taken).map(told).collect()
    }

    async fn correct(&mut self, candidate: Candidate, target: SubmissionId) -> Outcome {
        let shown = candidate_view(&candidate, Names::Masked);
        if let Err(fault) = self.listed.check(self.engine.endpoint().ok().as_ref()) {
            self.listed.note(&candidate, true);
            return Outcome::Failed(shown, fault.into());
        }
        if let Some(first) = self.placed.get(&target) {
            return Outcome::Settled(first.beside(&candidate), None);
        }
        self.listed.note(&candidate, false);
        match self.engine.correct_after(target, candidate.clone(), self.delay()).await {
            Ok(id) => {
                self.placed.insert(target, Placed::new(&candidate, id));
                Outcome::Settled(shown, Some(id))
            }
            Err(fault @ (EngineError::Journal(_) | EngineError::Profile(_))) => {
                self.listed.note(&candidate, true);
                Outcome::Failed(shown, fault.into())
            }
            // What became of the report meanwhile decides.
            Err(_) => Outcome::Settled(not_taken(&candidate), None),
        }
    }

    /// What became of everything, thing by thing. What was stopped before its step is where it was.
    pub(in crate::desk) fn end(mut self) -> HandedView {
        for step in std::mem::take(&mut self.steps) {
            let (places, candidates) = match step {
                Step::Plain(places, candidates) => (places, candidates),
                Step::Correction(at, candidate, _) => (vec![at], vec![*candidate]),
            };
            for (at, candidate) in places.into_iter().zip(&candidates) {
                self.tell(at, Outcome::Left(candidate_view(candidate, Names::Masked)));
            }
        }
        let mut items = self.items;
        for Told { item, outcome } in self.told {
            let Some(view) = items.get_mut(item) else { continue };
            match outcome {
                Some(Outcome::Settled(file, id)) => view.add(file, id.map(|id| id.0)),
                Some(Outcome::Failed(file, problem)) => view.add_failed(file, problem),
                Some(Outcome::Left(file)) => view.add_left(file),
                None => {}
            }
        }
        HandedView { items, gone: self.gone, taken_back: None }
    }
}

/// Everything that is found, in the order of the list. What cannot be looked at has its problem.
async fn look(
    engine: &Engine,
    list: &List,
    paths: Vec<PathBuf>,
) -> Result<(Vec<IntakeView>, Found), Problem> {
    let mut below = engine.inspect_each(paths).await?.into_iter();
    let (mut items, mut found) = (Vec::with_capacity(list.items.len()), Found::new());
    for (at, item) in list.items.iter().enumerate() {
        let looked = match item {
            Item::At(_) => below.next().unwrap_or_else(|| Ok(Vec::new())),
            Item::Text { name, text } => {
                engine.inspect_text(name.clone(), text.clone().into_bytes()).await
            }
        };
        let mut view = IntakeView::empty();
        match looked {
            Ok(candidates) => found.extend(candidates.into_iter().map(|it| (at, it))),
            Err(fault) => view.problem = Some(fault.into()),
        }
        items.push(view);
    }
    Ok((items, found))
}

/// What a person sends goes where they saw that it goes: another endpoint may come into use while
/// files are read.
pub(super) fn refuse_elsewhere<'a>(
    candidates: impl Iterator<Item = &'a Candidate>,
    goes_to: &str,
) -> Result<(), Problem> {
    let mut compared_for = candidates.filter_map(Candidate::parsed).map(|it| &it.compared_for);
    match compared_for.all(|endpoint| endpoint.as_deref().unwrap_or_default() == goes_to) {
        true => Ok(()),
        false => Err(EngineError::EndpointChanged.into()),
    }
}

/// The report that each corrects, where it does.
fn targets(engine: &Engine, list: &List, found: &Found) -> Vec<Option<SubmissionId>> {
    let target = |candidate: &Candidate| match list.separate {
        true => None,
        false => corrected_by(engine, candidate),
    };
    found.iter().map(|(_, candidate)| target(candidate)).collect()
}

/// What goes again. A report that something on the list corrects does not: the authority would have
/// both.
fn again(
    engine: &Engine,
    list: &List,
    found: &Found,
    targets: &[Option<SubmissionId>],
) -> Result<HashSet<String>, Problem> {
    let named = list.corrections.values().filter(|_| !list.separate);
    let corrected: HashSet<&SubmissionId> = targets.iter().flatten().chain(named).collect();
    let mut again = HashSet::new();
    for parsed in found.iter().filter_map(|(_, candidate)| candidate.parsed()) {
        let is_wanted = match &list.again {
            // What is new goes once: another program may take it in meanwhile.
            Again::All => !parsed.known.is_empty(),
            Again::These(digests) => digests.contains(&parsed.digest),
        };
        let mut is_corrected = false;
        for id in parsed.known.iter().filter(|_| is_wanted && !corrected.is_empty()) {
            is_corrected |= corrected.contains(id) || corrected.contains(&latest(engine, *id)?.id);
        }
        if is_wanted && !is_corrected {
            again.insert(parsed.digest.clone());
        }
    }
    Ok(again)
}

/// What was shown and lies nowhere any more, by its digests. What is known and was not to go again
/// is not missed.
fn gone(
    engine: &Engine,
    list: &List,
    again: &HashSet<String>,
    found: &Found,
) -> Result<IntakeView, Problem> {
    let parsed = found.iter().filter_map(|(_, candidate)| candidate.parsed());
    let there: HashSet<&str> = parsed.map(|it| it.digest.as_str()).collect();
    let mut gone = Vec::new();
    let endpoint = engine.endpoint()?;
    let here = journal::Destination {
        endpoint: endpoint.id(),
        environment: Some(endpoint.environment.code()),
    };
    for digest in list.shown.iter().flatten().filter(|it| !there.contains(it.as_str())) {
        let is_known = !engine.journal().of_content(digest, None, Some(here))?.is_empty();
        let is_to_go = matches!(&list.again, Again::These(these) if these.contains(digest));
        if is_to_go || again.contains(digest) || !is_known {
            gone.push(digest.clone());
        }
    }
    gone.sort_unstable();
    let count = gone.len().to_string();
    let mut view = IntakeView::empty();
    for digest in gone {
        let problem = Problem::new("files-gone", &[("count", &count)], "intake");
        view.add_failed(gone_view(digest), problem);
    }
    Ok(view)
}

/// Whether it was shown as a correction, and can take no report's place any more: beside that it
/// would be a second one.
fn is_overtaken(list: &List, candidate: &Candidate) -> bool {
    candidate.parsed().is_some_and(|parsed| {
        !list.separate && parsed.known.is_empty() && list.corrections.contains_key(&parsed.digest)
    })
}

fn not_taken(candidate: &Candidate) -> CandidateView {
    refused_view(candidate, "correction-not-taken", Vec::new())
}

/// The same as what is known under this number.
pub(super) fn known(mut view: CandidateView, id: SubmissionId) -> CandidateView {
    view.verdict = Verdict::Known;
    view.known = Some(id.0);
    view
}
