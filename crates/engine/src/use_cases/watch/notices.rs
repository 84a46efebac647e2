//! What people are told of a watched folder: notices in the journal that come and go with what they
//! say. A file name may hold a patient's name: it stands in the journal and on the screen, nowhere
//! else.

use std::path::{Path, PathBuf};

use fhir::Instant;
use journal::{Journal, JournalError, Notice};

use super::memory::{Away, Memory};
use crate::use_cases::upkeep;
use crate::{EngineError, ProfileProblem, Reason};

const REFUSED: &str = "watched-files-refused";
const KNOWN: &str = "watched-files-known";
const AWAY: &str = "watched-folder-away";
const STOPPED: &str = "watched-folder-stopped";
/// Stands until it is read; the others as long as they are true.
pub(super) const GONE: &str = "watched-files-gone";

/// Codes of notices about a watched folder, with the names of their parameters.
pub const WATCH_NOTICES: &[(&str, &[&str])] = &[
    (REFUSED, &["count", "file", "folder", "kind", "reason"]),
    (KNOWN, &["count", "endpoint", "file", "folder", "state", "submission"]),
    (AWAY, &["folder", "reason"]),
    (STOPPED, &["folder", "reason"]),
    (GONE, &["count", "file", "folder"]),
];

/// Characters of a file name in a notice: an entry of an archive may have a name of any length.
const NAME_MAX: usize = 200;

/// The name of a file as a notice has it.
pub(super) fn shown_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    name.chars().take(NAME_MAX).collect()
}

/// What a notice has to say now.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Standing {
    params: Vec<(&'static str, String)>,
    /// How many things it stands for.
    count: usize,
    /// Grows with each of them.
    order: u64,
}

fhir::shows_only!(Standing { count, order });

impl Standing {
    /// Of the refused files, if there is something to say (see [`Memory::refused`]).
    pub(super) fn of_files(memory: &Memory, folder: &Path) -> Option<Option<Self>> {
        let (count, last) = memory.refused()?;
        Some(last.map(|last| {
            let kind = match &last.reason {
                Reason::NotAReport(kind) => kind.code(),
                _ => "",
            };
            let params = vec![
                ("count", count.to_string()),
                ("file", last.name.chars().take(NAME_MAX).collect()),
                ("folder", folder.display().to_string()),
                ("kind", kind.to_owned()),
                ("reason", last.reason.code().to_owned()),
            ];
            Self { params, count, order: last.order }
        }))
    }

    /// Of the reports of known content that nothing brings to the authority in use (see
    /// [`Memory::known`]).
    pub(super) fn of_known(memory: &Memory, folder: &Path) -> Option<Option<Self>> {
        let (count, last) = memory.known()?;
        Some(last.map(|last| {
            let params = vec![
                ("count", count.to_string()),
                ("endpoint", last.stopped.endpoint.clone()),
                ("file", last.name.chars().take(NAME_MAX).collect()),
                ("folder", folder.display().to_string()),
                ("state", last.stopped.state.code().to_owned()),
                ("submission", last.stopped.submission.0.to_string()),
            ];
            Self { params, count, order: last.order }
        }))
    }

    /// Of a folder that cannot be looked at; `order` says which time that is.
    fn of_folder(away: &Away, order: u64) -> Self {
        let folder = away.path.display().to_string();
        let params = vec![("folder", folder), ("reason", away.reason.clone())];
        Self { params, count: 1, order }
    }

    /// Of a folder from which nothing can be taken in; `order` says which time that is.
    fn of_fault(folder: &Path, reason: &str, order: u64) -> Self {
        let params = vec![("folder", folder.display().to_string()), ("reason", reason.to_owned())];
        Self { params, count: 1, order }
    }

    fn is_news_after(&self, before: Option<&Self>) -> bool {
        before.is_none_or(|before| self.count > before.count || self.order > before.order)
    }

    fn notice(&self, code: &str, now: Instant) -> Notice {
        let params: Vec<_> = self.params.iter().map(|(name, value)| (*name, &**value)).collect();
        Notice::new(code, &params, now)
    }
}

/// A notice of one watch, and what it said last.
#[derive(Clone)]
pub(super) struct Told {
    code: &'static str,
    folder: PathBuf,
    /// What it said; `None` before the journal has been asked what an earlier watch left there.
    said: Option<Option<Standing>>,
}

/// What is to be done with the notice in the journal.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    Nothing,
    Put,
    Remove,
}

impl Told {
    pub(super) fn of_files(folder: &Path) -> Self {
        Self { code: REFUSED, folder: folder.to_owned(), said: None }
    }

    pub(super) fn of_known(folder: &Path) -> Self {
        Self { code: KNOWN, folder: folder.to_owned(), said: None }
    }

    fn of_folder(folder: &Path) -> Self {
        Self { code: AWAY, folder: folder.to_owned(), said: None }
    }

    /// Lets the journal say what stands now. Neither reads nor writes where nothing has changed; a
    /// journal that cannot take it is asked again at the next look.
    pub(super) async fn say(&mut self, journal: &Journal, now: Instant, what: Option<Standing>) {
        if self.said.as_ref() == Some(&what) {
            return;
        }
        let (told, journal, wanted) = (self.clone(), journal.clone(), what.clone());
        let said =
            tokio::task::spawn_blocking(move || told.change_in(&journal, now, wanted.as_ref()));
        if matches!(said.await, Ok(Ok(()))) {
            self.said = Some(what);
        }
    }

    fn change_in(
        &self,
        journal: &Journal,
        now: Instant,
        what: Option<&Standing>,
    ) -> Result<(), JournalError> {
        let notices = journal.notices()?;
        let kept = notices.iter().find(|notice| notice.code == self.code && self.is_ours(notice));
        match (self.change(what, kept), what) {
            (Change::Put, Some(what)) => journal.put_notice(what.notice(self.code, now)),
            (Change::Remove, _) => journal.remove_notice(self.code),
            _ => Ok(()),
        }
    }

    /// A notice about another folder is another watch's: what is wrong there may still be wrong.
    fn is_ours(&self, notice: &Notice) -> bool {
        let folder = notice.params.get("folder");
        folder.is_some_and(|folder| Path::new(folder).starts_with(&self.folder))
    }

    fn change(&self, what: Option<&Standing>, kept: Option<&Notice>) -> Change {
        let Some(what) = what else {
            return if kept.is_some() { Change::Remove } else { Change::Nothing };
        };
        let before = self.said.as_ref().and_then(Option::as_ref);
        match kept {
            Some(kept) if kept.params == what.notice(self.code, kept.at).params => Change::Nothing,
            Some(_) => Change::Put,
            // A person has read it: it comes again when there is something new to read.
            None if what.is_news_after(before) => Change::Put,
            None => Change::Nothing,
        }
    }
}

/// The watched folder itself: whether it can be looked at.
pub(super) struct Place {
    told: Told,
    away: Option<Away>,
    /// How often it went.
    times: u64,
}

impl Place {
    pub(super) fn of(folder: &Path) -> Self {
        Self { told: Told::of_folder(folder), away: None, times: 0 }
    }

    /// Remembers what could not be looked at; whether that is another thing than before.
    pub(super) fn is_another(&mut self, away: Option<&Away>) -> bool {
        let is_another = self.away.as_ref() != away;
        if is_another {
            self.away = away.cloned();
            self.times += u64::from(self.away.is_some());
        }
        is_another
    }

    /// What is to be told of it.
    pub(super) fn notice(&self, now: Instant) -> Option<Notice> {
        self.standing().map(|standing| standing.notice(AWAY, now))
    }

    /// Lets the journal say so (see [`Told::say`]).
    pub(super) async fn say(&mut self, journal: &Journal, now: Instant) {
        let standing = self.standing();
        self.told.say(journal, now, standing).await;
    }

    fn standing(&self) -> Option<Standing> {
        self.away.as_ref().map(|away| Standing::of_folder(away, self.times))
    }
}

/// What keeps everything in the folder from being taken in.
pub(super) struct Stopped {
    told: Told,
    reason: Option<&'static str>,
    /// How often it came.
    times: u64,
}

impl Stopped {
    pub(super) fn of(folder: &Path) -> Self {
        let told = Told { code: STOPPED, folder: folder.to_owned(), said: None };
        Self { told, reason: None, times: 0 }
    }

    /// Lets the journal say so, or that it is over (see [`Told::say`]).
    pub(super) async fn say(
        &mut self,
        journal: &Journal,
        now: Instant,
        reason: Option<&'static str>,
    ) {
        if self.reason != reason {
            self.reason = reason;
            self.times += u64::from(reason.is_some());
        }
        let folder = self.told.folder.clone();
        let standing = reason.map(|reason| Standing::of_fault(&folder, reason, self.times));
        self.told.say(journal, now, standing).await;
    }
}

/// Why nothing can be taken in, as a code.
pub(super) fn reason_of(error: &EngineError) -> &'static str {
    match error {
        EngineError::Profile(ProfileProblem::Damaged { .. }) => "settings-damaged",
        EngineError::Profile(ProfileProblem::Newer { .. }) => "settings-newer",
        EngineError::NoEndpoint => "no-endpoint",
        EngineError::Journal(JournalError::Busy) => "journal-busy",
        EngineError::Journal(error) => upkeep::reason(error),
        _ => "profile-io",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(count: usize, order: u64) -> Standing {
        let params = vec![("count", count.to_string()), ("folder", "out".to_owned())];
        Standing { params, count, order }
    }

    fn told(said: Option<Option<Standing>>) -> Told {
        Told { said, ..Told::of_files(Path::new("out")) }
    }

    fn kept(standing: &Standing) -> Notice {
        standing.notice(REFUSED, Instant(0))
    }

    #[test]
    fn a_notice_is_put_when_there_is_news_and_removed_when_it_is_over() {
        let (one, two) = (standing(1, 1), standing(2, 2));
        assert_eq!(told(None).change(Some(&one), None), Change::Put);
        assert_eq!(told(Some(None)).change(Some(&one), None), Change::Put);
        assert_eq!(
            told(Some(Some(one.clone()))).change(Some(&two), Some(&kept(&one))),
            Change::Put
        );
        assert_eq!(
            told(Some(Some(two.clone()))).change(Some(&one), Some(&kept(&two))),
            Change::Put
        );
        assert_eq!(told(Some(Some(one.clone()))).change(None, Some(&kept(&one))), Change::Remove);
        assert_eq!(told(Some(Some(one))).change(None, None), Change::Nothing);
    }

    #[test]
    fn a_start_leaves_what_is_still_true_and_removes_what_is_over() {
        let one = standing(1, 1);
        assert_eq!(told(None).change(Some(&one), Some(&kept(&one))), Change::Nothing);
        assert_eq!(told(None).change(None, Some(&kept(&one))), Change::Remove);
        assert_eq!(told(None).change(None, None), Change::Nothing);
    }

    #[test]
    fn what_was_read_comes_again_with_news_only() {
        let (one, two, another) = (standing(1, 1), standing(2, 2), standing(2, 3));
        assert_eq!(told(Some(Some(two.clone()))).change(Some(&one), None), Change::Nothing);
        assert_eq!(told(Some(Some(one))).change(Some(&two), None), Change::Put);
        assert_eq!(told(Some(Some(two))).change(Some(&another), None), Change::Put);
    }

    #[test]
    fn a_notice_about_another_folder_is_left_alone() {
        let of = |folder: &str| Notice::new(AWAY, &[("folder", folder)], Instant(0));
        let told = Told::of_folder(Path::new("/out"));
        assert!(told.is_ours(&of("/out")) && told.is_ours(&of("/out/inside")));
        assert!(!told.is_ours(&of("/output")) && !told.is_ours(&of("/")));
    }
}
