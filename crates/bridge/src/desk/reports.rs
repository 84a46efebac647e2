//! What people do with reports.

use std::path::PathBuf;

use engine::{Candidate, Engine};
use fhir::{Instant, Limits, Period, Tree};
use journal::{Destination, Filter, Journal, JournalError, Row};
use report::{Action, Group, StateCode, SubmissionId};

use super::deadlines::Deadlines;
use super::decisions::held_back;
use super::lists::{self, Arrangement};
use super::work::has_draft;
use super::{Desk, on_pool};
use crate::candidates::candidate_view;
use crate::limits;
use crate::messages::{leading, message_view};
use crate::privacy::privacy_of;
use crate::problem::Problem;
use crate::rows::{Names, detail_view, row_view, small};
use crate::taken_back::take_over;
use crate::views::{DetailView, IntakeView, ListQuery, PageView, RowView};

/// Rows of one page at most.
const PAGE_MAX: usize = 500;
/// Rows counted at most where counting means listing (search, period).
const COUNT_MAX: usize = 1_000;

impl Desk {
    /// A page of the list.
    pub async fn list(&self, query: ListQuery, names: Names) -> Result<PageView, Problem> {
        let engine = self.engine();
        let filter = filter_of(&query, engine.now())?;
        let arrangement = Arrangement::of(&query)?;
        if let Some(ids) = &query.ids {
            limits::ids(ids)?;
        }
        if arrangement.is_asked_for() {
            let page = move || lists::page(&engine, query.ids, &filter, arrangement, names);
            return on_pool(page).await?;
        }
        if let Some(ids) = query.ids {
            return on_pool(move || page_of(&engine, ids, filter, names)).await?;
        }
        on_pool(move || page(&engine, filter, names)).await?
    }

    /// Everything about one submission.
    pub async fn detail(&self, id: i64) -> Result<DetailView, Problem> {
        let engine = self.engine();
        on_pool(move || detail(&engine, SubmissionId(id))).await?
    }

    /// Somebody who knows says that the authority has a report that has been open for too long.
    pub async fn say_received(&self, id: i64, reason: String) -> Result<(), Problem> {
        let reason = limits::reason(&reason)?;
        Ok(self.engine().say_received(SubmissionId(id), reason).await?)
    }

    /// Somebody who knows says that the authority does not have it: it is sent again.
    pub async fn say_not_received(&self, id: i64, reason: String) -> Result<(), Problem> {
        let reason = limits::reason(&reason)?;
        Ok(self.engine().say_not_received(SubmissionId(id), reason).await?)
    }

    /// Stops what waits to be sent; says of how many. An error only where it was none.
    pub async fn hold_back(&self, ids: Vec<i64>) -> Result<u32, Problem> {
        limits::ids(&ids)?;
        let (held, first) = held_back(&self.engine(), ids).await;
        match first {
            Some(error) if held.is_empty() => Err(error.into()),
            _ => Ok(small(held.len() as u64)),
        }
    }

    /// Sends a held report although something was found, after the time for undoing it. Says
    /// whether it waits all the same, until the authority was asked whether it has it.
    pub async fn release(&self, id: i64, reason: String) -> Result<bool, Problem> {
        let (engine, reason) = (self.engine(), limits::reason(&reason)?);
        let delay = self.undo_micros().await?;
        engine.release_after(SubmissionId(id), reason, delay).await?;
        Ok(engine.journal().goes_by_itself(SubmissionId(id))?)
    }

    /// Decides that a report will not be sent (again).
    pub async fn withdraw(&self, id: i64, reason: String) -> Result<(), Problem> {
        let reason = limits::reason(&reason)?;
        Ok(self.engine().withdraw(SubmissionId(id), reason).await?)
    }

    /// Sends the same content again in place of a rejected or failed submission, after the time for
    /// undoing it; gives the successor.
    pub async fn resubmit(&self, id: i64) -> Result<i64, Problem> {
        let (engine, delay) = (self.engine(), self.undo_micros().await?);
        Ok(engine.resubmit_after(SubmissionId(id), delay).await?.0)
    }

    /// Sends a corrected file in place of a submission, as it was shown, by its digest.
    ///
    /// # Errors
    /// `correction-changed` where something else lies there now: a system may have written another
    /// patient's report there while somebody looked at it.
    pub async fn correct_with_file(
        &self,
        id: i64,
        path: String,
        shown: Vec<String>,
    ) -> Result<IntakeView, Problem> {
        let (desk, files) = (self.here(), vec![limits::path(path)?]);
        desk.refuse_standing_in(&files).await?;
        let engine = desk.engine();
        let _under_way = desk.takes(1);
        let candidates = engine.inspect(files).await?;
        let mut read = candidates.iter().filter_map(Candidate::parsed);
        if !read.all(|parsed| shown.contains(&parsed.digest)) {
            return Err(Problem::new("correction-changed", &[], "correct"));
        }
        correct(&engine, SubmissionId(id), candidates, desk.undo_micros().await?).await
    }

    /// Sends an edited text in place of a submission.
    pub async fn correct_with_text(&self, id: i64, text: String) -> Result<IntakeView, Problem> {
        let delay = self.undo_micros().await?;
        self.correct_with_text_after(id, text, delay).await
    }

    pub(super) async fn correct_with_text_after(
        &self,
        id: i64,
        text: String,
        delay: i64,
    ) -> Result<IntakeView, Problem> {
        limits::text(&text)?;
        let _under_way = self.takes(1);
        let engine = self.engine();
        let name = engine.journal().row(SubmissionId(id))?.file;
        let candidates = engine.inspect_text(name, text.into_bytes()).await?;
        correct(&engine, SubmissionId(id), candidates, delay).await
    }

    /// Paths of the sample reports.
    pub async fn practice_samples(&self) -> Result<Vec<String>, Problem> {
        let folder = self.inner.practice.lock().await.samples();
        let listed = std::fs::read_dir(&folder).map_err(|error| {
            let params =
                [("file", &*folder.display().to_string()), ("reason", &error.kind().to_string())];
            Problem::new("file-unreadable", &params, "samples")
        })?;
        let files = listed.flatten().map(|entry| entry.path()).filter(|path| path.is_file());
        let files: Vec<PathBuf> = files.collect();
        // They are made up by us: the page may hand them back.
        self.grant(files.iter().cloned());
        let files = files.into_iter();
        let mut files: Vec<String> = files.map(|path| path.display().to_string()).collect();
        files.sort();
        Ok(files)
    }
}

pub(super) fn filter_of(query: &ListQuery, now: Instant) -> Result<Filter, Problem> {
    let groups = match query.group.as_deref() {
        None => Vec::new(),
        Some(code) => vec![Group::of(code).ok_or_else(|| limits::invalid("group"))?],
    };
    let states: Option<Vec<_>> = query.states.iter().map(|code| StateCode::of(code)).collect();
    // Each state once says all.
    let states = states.filter(|states| states.len() <= StateCode::ALL.len());
    let states = states.ok_or_else(|| limits::invalid("states"))?;
    if let Some(search) = &query.search {
        limits::line("search", search)?;
    }
    let start = |name: &str, text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => Period::parse(text)
            .map(|period| Some(period.start))
            .ok_or_else(|| limits::invalid(name)),
    };
    let limit = query.limit.map_or(100, |limit| usize::try_from(limit).unwrap_or(PAGE_MAX));
    Ok(Filter {
        states,
        groups,
        search: query.search.clone().filter(|search| !search.trim().is_empty()),
        since: start("since", &query.since)?,
        until: start("until", &query.until)?,
        before: query.before.map(SubmissionId),
        limit: limit.clamp(1, PAGE_MAX),
        now,
    })
}

fn page(engine: &Engine, filter: Filter, names: Names) -> Result<PageView, Problem> {
    let rows = engine.journal().list(&filter)?;
    let total = total(engine, &filter, rows.len())?;
    let next = rows.last().filter(|_| rows.len() == filter.limit).map(|row| row.id.0);
    Ok(PageView { rows: row_views(engine, &rows, names, filter.now)?, next, total })
}

/// A page of these submissions, the highest number first. What a number stood for may be gone.
fn page_of(
    engine: &Engine,
    mut ids: Vec<i64>,
    filter: Filter,
    names: Names,
) -> Result<PageView, Problem> {
    ids.sort_unstable_by(|a, b| b.cmp(a));
    ids.dedup();
    let (mut rows, mut total, mut more) = (Vec::new(), 0, false);
    for id in ids {
        let row = match engine.journal().row(SubmissionId(id)) {
            Ok(row) => row,
            Err(JournalError::NotFound(_)) => continue,
            Err(error) => return Err(error.into()),
        };
        if !wanted(&row, &filter) {
            continue;
        }
        total += 1;
        if filter.before.is_none_or(|before| id < before.0) {
            more = rows.len() == filter.limit;
            if !more {
                rows.push(row);
            }
        }
    }
    let next = rows.last().filter(|_| more).map(|row| row.id.0);
    Ok(PageView { rows: row_views(engine, &rows, names, filter.now)?, next, total })
}

pub(super) fn wanted(row: &Row, filter: &Filter) -> bool {
    let has = |part: &str| {
        let summary = &row.summary;
        let of = [&summary.patient, &summary.subject, &summary.code, &summary.identifier];
        let of = of.into_iter().chain([&summary.laboratory]).flatten();
        of.chain([&row.file]).any(|text| text.to_lowercase().contains(part))
    };
    let words = filter.search.as_deref().unwrap_or_default().to_lowercase();
    (filter.states.is_empty() || filter.states.contains(&row.state.shown()))
        && (filter.groups.is_empty() || filter.groups.contains(&row.state.group(filter.now)))
        && filter.since.is_none_or(|since| row.created >= since)
        && filter.until.is_none_or(|until| row.created < until)
        && words.split_whitespace().all(has)
}

pub(super) fn row_views(
    engine: &Engine,
    rows: &[Row],
    names: Names,
    now: Instant,
) -> Result<Vec<RowView>, Problem> {
    let (journal, profile) = (engine.journal(), engine.profile());
    let deadlines = Deadlines::of(engine)?;
    let mut views = Vec::with_capacity(rows.len());
    for row in rows {
        let mut view = row_view(row, &profile, names, now);
        view.due = deadlines.due(row).map(Instant::to_fhir);
        view.draft = has_draft(journal, row)?;
        // Why a person must act stands in the row, and why one was corrected. The others need no
        // second look at the journal.
        let needs_attention = view.group == Group::NeedsAttention;
        if needs_attention || view.state == StateCode::Superseded {
            let mut detail = journal.detail(row.id)?;
            view.taken_back = take_over(journal, &mut detail)?;
            (view.errors, view.warnings) =
                (detail.row.messages.errors, detail.row.messages.warnings);
            view.message = leading(view.state, &detail.messages).map(message_view);
            if needs_attention {
                view.actions = detail.actions(now);
            }
        }
        without_vain_release(journal, &mut view)?;
        views.push(view);
    }
    Ok(views)
}

/// What goes by itself once the authority was asked would go on waiting if a person released it.
fn without_vain_release(journal: &Journal, view: &mut RowView) -> Result<(), JournalError> {
    let id = SubmissionId(view.id);
    let may = view.actions.contains(&Action::Release);
    if may && journal.goes_by_itself(id)? && journal.release_waits(id)? {
        view.actions.retain(|action| *action != Action::Release);
    }
    Ok(())
}

/// Matching rows in all: exact where no text and no period is asked for; else 1,000 means "at least
/// 1,000".
fn total(engine: &Engine, filter: &Filter, listed: usize) -> Result<u32, Problem> {
    if filter.before.is_none() && listed < filter.limit {
        return Ok(small(listed as u64));
    }
    Ok(small(engine.journal().count(filter, COUNT_MAX)?))
}

fn detail(engine: &Engine, id: SubmissionId) -> Result<DetailView, Problem> {
    let journal = engine.journal();
    let mut detail = journal.detail(id)?;
    let taken_back = take_over(journal, &mut detail)?;
    let document = match journal.document(id) {
        Ok(document) => document,
        // Retention has removed it; the rest is shown.
        Err(JournalError::NotFound(_)) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let evidence = journal.evidence(id)?;
    let mut view = detail_view(&detail, &document, &evidence, &engine.profile(), engine.now());
    view.row.taken_back = taken_back;
    view.row.due = Deadlines::of(engine)?.due(&detail.row).map(Instant::to_fhir);
    view.row.draft = has_draft(journal, &detail.row)?;
    let tree = Tree::read(&document, detail.row.format, &Limits::default()).ok();
    view.goes_by_itself = journal.goes_by_itself(id)?;
    if view.row.actions.contains(&Action::Withdraw) {
        view.waiting_versions = waiting_versions(journal, &detail.row)?;
    }
    without_vain_release(journal, &mut view.row)?;
    view.privacy = tree.and_then(|tree| privacy_of(engine.rules().as_deref(), &tree));
    Ok(view)
}

/// Other versions of its document that go by themselves, or wait for a person.
fn waiting_versions(journal: &Journal, row: &Row) -> Result<Vec<i64>, JournalError> {
    let Some(document) = &row.summary.identifier else { return Ok(Vec::new()) };
    let environment = row.environment.as_deref();
    let there = Destination { endpoint: &row.endpoint, environment };
    let mut waiting = Vec::new();
    for version in journal.of_document(document, there)? {
        let waits = matches!(version.state, StateCode::Queued | StateCode::Held);
        if version.id == row.id || !waits {
            continue;
        }
        let other = journal.row(version.id)?.summary;
        if row.summary.may_be_case_of(&other) || other.may_be_case_of(&row.summary) {
            waiting.push(version.id.0);
        }
    }
    Ok(waiting)
}

/// The successor, or why the file is none: what is no report changes nothing.
async fn correct(
    engine: &Engine,
    id: SubmissionId,
    mut candidates: Vec<Candidate>,
    delay: i64,
) -> Result<IntakeView, Problem> {
    let Some(candidate) = candidates.pop().filter(|_| candidates.is_empty()) else {
        // A correction is one report: an archive of several does not say which.
        return Err(limits::invalid("path"));
    };
    let view = candidate_view(&candidate, Names::Masked);
    if candidate.parsed().is_none() {
        return Ok(IntakeView::of_one(view, None));
    }
    let successor = engine.correct_after(id, candidate, delay).await?;
    Ok(IntakeView::of_one(view, Some(successor.0)))
}
