//! From paths to candidates: recognised, read and checked.

use std::path::PathBuf;
use std::sync::Arc;

use exchange::{Wrapping, check_before_seal, envelope_of};
use fhir::{Element, Finding, Instant, Limits, Tree};
use futures::{StreamExt as _, stream};
use journal::JournalError;
use report::{SubmissionId, Summary, digest, recognise};

use crate::candidate::{Candidate, Origin, Parsed, Reason, Verdict};
use crate::use_cases::intake::source::{
    Piece, Room, SourceLimits, files_below, files_below_each, may_hold_several, pieces_of,
    pieces_of_bytes,
};
use crate::{Engine, EngineError};

/// Files looked at together: reading and checking is CPU work, so a few at a time.
const LOOKS_AT_ONCE: usize = 4;
impl Engine {
    /// The files that paths lead to: folders give what is below them.
    async fn files(&self, paths: Vec<PathBuf>) -> Result<Vec<PathBuf>, EngineError> {
        let limits = self.source_limits();
        on_pool(move || files_below(&paths, &limits)).await
    }

    /// Looks at files, folders, archives; nothing is taken in yet. The result holds the bytes of
    /// all.
    pub async fn inspect(&self, paths: Vec<PathBuf>) -> Result<Vec<Candidate>, EngineError> {
        self.inspect_and(paths, |candidates| candidates).await
    }

    /// The same of files that were found already: a folder among them is refused.
    pub(crate) async fn inspect_files(
        &self,
        files: Vec<PathBuf>,
    ) -> Result<Vec<Candidate>, EngineError> {
        self.look_and(files, self.source_limits(), |candidates| candidates).await
    }

    /// Looks at what each of these paths leads to, within the bounds of one hand-over. What cannot
    /// be looked at, because the journal cannot be compared with it, keeps no other from it.
    ///
    /// # Errors
    /// Of all only at the end of the program.
    pub async fn inspect_each(
        &self,
        paths: Vec<PathBuf>,
    ) -> Result<Vec<Result<Vec<Candidate>, EngineError>>, EngineError> {
        let limits = self.source_limits();
        let below = on_pool(move || files_below_each(&paths, &limits)).await?;
        let counts: Vec<usize> = below.iter().map(Vec::len).collect();
        let (files, several) = self.with_several(below.into_iter().flatten().collect()).await?;
        let _turn = self.turn(&several).await;
        let mut looked = self.looked_at(files, limits).await.into_iter();
        let joined = |count: usize| {
            let of_path: Result<Vec<_>, _> = looked.by_ref().take(count).collect();
            of_path.map(|groups| groups.into_iter().flatten().collect())
        };
        Ok(counts.into_iter().map(joined).collect())
    }

    /// Looks, and makes something of it at once. Until that is done no other archive is unpacked,
    /// so that those who ask for many one by one have one of them in memory.
    pub async fn inspect_and<T: Send + 'static>(
        &self,
        paths: Vec<PathBuf>,
        make: impl FnOnce(Vec<Candidate>) -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        self.look_and(self.files(paths).await?, self.source_limits(), make).await
    }

    pub(crate) async fn look_and<T: Send + 'static>(
        &self,
        files: Vec<PathBuf>,
        limits: SourceLimits,
        make: impl FnOnce(Vec<Candidate>) -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        let (files, several) = self.with_several(files).await?;
        let turn = self.turn(&several).await;
        let groups: Result<Vec<_>, _> = self.looked_at(files, limits).await.into_iter().collect();
        let candidates = groups?.into_iter().flatten().collect();
        let made = on_pool(move || make(candidates)).await;
        drop(turn);
        made
    }

    /// Waits until no other archive is in memory, where these files may be some.
    async fn turn(&self, several: &[bool]) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        match several.contains(&true) {
            true => Some(self.inner.unpacking.lock().await),
            false => None,
        }
    }

    /// Which of the files may hold several reports.
    pub(crate) async fn with_several(
        &self,
        files: Vec<PathBuf>,
    ) -> Result<(Vec<PathBuf>, Vec<bool>), EngineError> {
        let limits = self.source_limits();
        on_pool(move || {
            let several = files.iter().map(|file| may_hold_several(file, &limits)).collect();
            (files, several)
        })
        .await
    }

    /// What is in each of the files.
    async fn looked_at(
        &self,
        files: Vec<PathBuf>,
        limits: SourceLimits,
    ) -> Vec<Result<Vec<Candidate>, EngineError>> {
        let room = Arc::new(Room::new(&limits));
        stream::iter(files)
            .map(|file| {
                let (engine, room) = (self.clone(), room.clone());
                on_pool(move || engine.look(pieces_of(&file, &limits, &room)))
            })
            .buffered(LOOKS_AT_ONCE)
            .map(|result| result.and_then(|inner| inner))
            .collect()
            .await
    }

    /// Looks at a text that did not come from a file.
    pub async fn inspect_text(
        &self,
        name: String,
        text: Vec<u8>,
    ) -> Result<Vec<Candidate>, EngineError> {
        let (engine, limits) = (self.clone(), self.source_limits());
        on_pool(move || engine.look(pieces_of_bytes(name, text, &limits))).await?
    }

    fn look(&self, pieces: Vec<Piece>) -> Result<Vec<Candidate>, EngineError> {
        let now = self.now();
        pieces
            .into_iter()
            .map(|piece| {
                let mut candidate = look_at(piece, now);
                self.apply_rules(&mut candidate);
                self.compare(&mut candidate)?;
                Ok(candidate)
            })
            .collect()
    }
}

/// Runs CPU and file work off the async threads.
pub(crate) async fn on_pool<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, EngineError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| EngineError::Journal(JournalError::Closed))
}

/// What a file says: its document, bare or in an envelope. An export makes a new envelope each
/// time, with another identifier and date, so these are no other content. What is wrong with an
/// envelope counts: the file that mends it must not be taken for the one that is held.
pub(crate) fn content_digest(tree: &Tree) -> String {
    let (document, of_envelope) = match envelope_of(tree) {
        Some(view) => (view.document, check_before_seal(tree)),
        None => (tree.root(), Vec::new()),
    };
    digest_of(tree, document, &tree.check(), &of_envelope)
}

fn digest_of(
    tree: &Tree,
    document: Element<'_>,
    base: &[Finding],
    of_envelope: &[Finding],
) -> String {
    let all: Vec<Finding> = base.iter().chain(of_envelope).cloned().collect();
    tree.canonical_digest_of(document, &all)
}

/// Recognises, reads and checks one piece. Pure: `now` is passed in.
pub(crate) fn look_at(piece: Piece, now: Instant) -> Candidate {
    let Piece { name, content } = piece;
    let refused = |kind, reason| Candidate {
        name: name.clone(),
        kind,
        verdict: Verdict::Refused(reason),
        findings: Vec::new(),
    };
    let bytes = match content {
        Ok(bytes) => bytes,
        Err(refusal) => return refused(None, Reason::Source(refusal)),
    };
    let kind = recognise(&bytes);
    let Some(format) = kind.is_report() else {
        return refused(Some(kind.clone()), Reason::NotAReport(kind));
    };
    let tree = match Tree::read(&bytes, format, &Limits::default()) {
        Ok(tree) => tree,
        Err(finding) => return refused(Some(kind), Reason::Unreadable(finding)),
    };
    let envelope = envelope_of(&tree);
    let document = match (&envelope, tree.root().resource_type()) {
        (Some(view), _) => view.document,
        // Whatever its type: a Bundle that was meant as a document is held, and the finding says
        // why.
        (None, Some("Bundle")) => tree.root(),
        _ => return refused(Some(kind.clone()), Reason::NotAReport(kind)),
    };
    let base = tree.check();
    let of_envelope = envelope.as_ref().map(|_| check_before_seal(&tree)).unwrap_or_default();
    let canonical = digest_of(&tree, document, &base, &of_envelope);
    let mut findings: Vec<(Origin, Finding)> =
        base.into_iter().map(|finding| (Origin::Base, finding)).collect();
    let mut local = report::check(document, now);
    local.extend(of_envelope);
    findings.extend(local.into_iter().map(|finding| (Origin::Local, finding)));
    let summary = Summary::of(document);
    let envelope_identifier = envelope.and_then(|view| view.identifier).map(str::to_owned);
    let parsed = Parsed {
        digest: digest(&bytes),
        canonical,
        format,
        wrapping: Wrapping::of(&tree).ok(),
        summary,
        envelope_identifier,
        compared_for: None,
        compared_through: SubmissionId(0),
        known: Vec::new(),
        elsewhere: None,
        relation: None,
        bytes,
    };
    Candidate { name, kind: Some(kind), verdict: Verdict::Report(Box::new(parsed)), findings }
}
