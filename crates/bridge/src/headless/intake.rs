//! Files in: looked at, taken in, corrected.

use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::{Candidate, Taken, Verdict, Watched};
use report::{Action, StateCode, Summary};
use tokio_util::sync::CancellationToken;

use super::arrivals::Arrived;
use super::{Headless, numbered};
use crate::candidates::{candidate_record, not_taken_in};
use crate::opinion::{chosen, opinion};
use crate::problem::Problem;
use crate::record::Record;

/// How long the number of the files that lie in a folder is waited for.
const LYING_MAX: Duration = Duration::from_secs(10);

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It was only looked at: nothing found that would hold it.
    Ready,
    /// It was only looked at: it would be held.
    WouldBeHeld,
    /// A new submission.
    Taken(i64),
    /// The same content is known as this submission; nothing is sent.
    Known(i64),
    /// Not a report, or not readable.
    Refused,
    /// It could not be taken in, and may be handed over again.
    Failed,
}

/// A file that was looked at.
#[derive(Clone, PartialEq)]
pub struct Looked {
    /// What became of it.
    pub fate: Fate,
    /// Its record: of the submission where there is one, else of the file.
    pub record: Record,
    /// Name of the file as handed over (the record of known content has its former name).
    pub file: String,
    /// Disease or leading code in words.
    pub subject: Option<String>,
    /// Where its submission stands, new or known.
    pub standing: Option<Standing>,
}

/// Where a submission stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Its state code.
    pub state: StateCode,
    /// Whether something follows by itself.
    pub open: bool,
}

fhir::shows_only!(Looked { fate, record, standing });

/// What became of files that were handed over.
#[derive(Default)]
pub struct Intake {
    /// Each of them.
    pub files: Vec<Looked>,
    /// Why some could not be taken in, where others were.
    pub problem: Option<Problem>,
}

/// What a watch tells.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrival {
    /// A file was taken in or refused.
    File(Box<Looked>),
    /// The folder, or something in it, cannot be looked at.
    Away(Problem),
    /// It can be looked at again.
    Back,
}

impl Headless {
    /// Looks at files, folders and archives. Nothing is taken in. Where a person has chosen a
    /// validator each report is shown to it too, one after the other.
    pub async fn check(&self, paths: &[PathBuf]) -> Result<Vec<Looked>, Problem> {
        let validator = chosen(&self.folder())?;
        let candidates = self.engine.inspect(self.found(paths)).await?;
        let rules = self.engine.rules().filter(|_| validator.is_some());
        let mut all = Vec::with_capacity(candidates.len());
        for candidate in &candidates {
            let mut file = looked(candidate);
            file.standing = self.standing(file.fate)?;
            if let (Some(validator), Some(report)) = (&validator, candidate.parsed()) {
                let findings: Vec<_> = candidate.findings.iter().map(|(_, of)| of).collect();
                let report = (report.bytes.clone(), report.format);
                let asked = opinion(validator, rules.as_deref(), report, &findings);
                file.record.validator = Some(asked.await);
            }
            all.push(file);
        }
        Ok(all)
    }

    fn standing(&self, fate: Fate) -> Result<Option<Standing>, Problem> {
        let (Fate::Taken(id) | Fate::Known(id)) = fate else { return Ok(None) };
        let state = self.engine.journal().state(numbered(id))?;
        Ok(Some(Standing { state: state.shown(), open: !state.is_settled() }))
    }

    /// The same file as its submission stands by now.
    pub fn now(&self, file: Looked) -> Result<Looked, Problem> {
        match file.record.id {
            Some(id) => {
                Ok(Looked { record: self.record(id)?, standing: self.standing(file.fate)?, ..file })
            }
            None => Ok(file),
        }
    }

    /// Takes files in: queued, or held where errors were found. With `again` known content is sent
    /// once more, unless it is still on its way.
    ///
    /// # Errors
    /// Only where nothing was taken in: what was is listed, whatever became of the others.
    pub async fn take(&self, paths: &[PathBuf], again: bool) -> Result<Intake, Problem> {
        let mut arriving = self.arriving(paths, again).await?;
        let mut all = Intake::default();
        while let Some(part) = self.take_some(&mut arriving).await? {
            for file in part.files {
                all.files.push(match file {
                    Arrived::New(id) => self.of_new(id)?,
                    Arrived::Other(file) => *file,
                });
            }
            all.problem = all.problem.or(part.problem);
        }
        Ok(all)
    }

    pub(super) fn taken(&self, candidate: &Candidate, taken: Taken) -> Result<Looked, Problem> {
        let file = looked(candidate);
        let (fate, id) = match taken {
            Taken::New(id) => (Fate::Taken(id.0), id),
            Taken::Known(id) => (Fate::Known(id.0), id),
            Taken::Refused => return Ok(Looked { fate: Fate::Refused, ..file }),
            Taken::Failed => return Ok(failed(file)),
        };
        Ok(Looked { fate, record: self.record(id.0)?, standing: self.standing(fate)?, ..file })
    }

    /// Whether these files may be handed over where nobody has named this profile: a practice
    /// profile then takes its own samples and nothing else, for whatever else it takes reaches
    /// nobody.
    pub fn may_take_unnamed(&self, paths: &[PathBuf]) -> bool {
        self.as_practice().is_none_or(|practice| practice.owns(&self.found(paths)))
    }

    /// The same of reports in its journal.
    pub fn may_send_unnamed(&self, ids: &[i64]) -> Result<bool, Problem> {
        let ids: Vec<_> = ids.iter().map(|id| numbered(*id)).collect();
        self.as_practice().map_or(Ok(true), |practice| practice.owns_reports(&ids))
    }

    /// In a practice profile `samples` means the profile's own, wherever the person stands.
    pub(super) fn found(&self, paths: &[PathBuf]) -> Vec<PathBuf> {
        let folder = self.as_practice().map(|_| self.folder());
        let find = |path: &PathBuf| match &folder {
            Some(folder) if path.is_relative() && !path.exists() && folder.join(path).exists() => {
                folder.join(path)
            }
            _ => path.clone(),
        };
        paths.iter().map(find).collect()
    }

    /// Sends the same content as a new submission in place of a rejected or failed one.
    pub async fn resubmit(&self, id: i64) -> Result<Looked, Problem> {
        let successor = self.engine.resubmit(numbered(id)).await?;
        self.of_new(successor.0)
    }

    /// Sends a corrected file in place of a held, rejected or failed submission. A file that is no
    /// report is refused and changes nothing.
    ///
    /// # Errors
    /// `other-report` where it is about another patient or case: a slip in its name would give up
    /// the report. `correction-changed` where its SHA-256 is not the one of what somebody has
    /// looked at, where that is given.
    pub async fn correct(
        &self,
        id: i64,
        file: PathBuf,
        seen: Option<&str>,
    ) -> Result<Looked, Problem> {
        self.correct_if(id, file, seen, is_of_one_case).await
    }

    /// As [`Headless::correct`], whatever the file is about: a person says so.
    pub async fn replace(
        &self,
        id: i64,
        file: PathBuf,
        seen: Option<&str>,
    ) -> Result<Looked, Problem> {
        self.correct_if(id, file, seen, |_, _| true).await
    }

    async fn correct_if(
        &self,
        id: i64,
        file: PathBuf,
        seen: Option<&str>,
        may_follow: fn(&Summary, &Summary) -> bool,
    ) -> Result<Looked, Problem> {
        let state = self.engine.journal().state(numbered(id))?;
        if !state.actions(self.engine.now()).contains(&Action::Correct) {
            let params = [("action", "correct"), ("state", state.shown().code())];
            return Err(Problem::new("action-not-possible", &params, "correct"));
        }
        let mut candidates = self.engine.inspect(self.found(&[file])).await?;
        let Some(candidate) = candidates.pop().filter(|_| candidates.is_empty()) else {
            let limit = [("argument", "--with"), ("limit", "1")];
            return Err(Problem::new("argument-too-large", &limit, "correct"));
        };
        let is_seen = |digest: &str| seen.is_none_or(|seen| seen.eq_ignore_ascii_case(digest));
        if candidate.parsed().is_some_and(|parsed| !is_seen(&parsed.digest)) {
            return Err(Problem::new("correction-changed", &[], "correct"));
        }
        if matches!(candidate.verdict, Verdict::Refused(_)) {
            return Ok(looked(&candidate));
        }
        let before = self.engine.journal().row(numbered(id))?.summary;
        if candidate.parsed().is_some_and(|parsed| !may_follow(&before, &parsed.summary)) {
            return Err(Problem::new("other-report", &[("report", &id.to_string())], "correct"));
        }
        let successor = self.engine.correct(numbered(id), candidate).await?;
        self.of_new(successor.0)
    }

    /// A submission that was taken in, as it stands by now.
    pub(super) fn of_new(&self, id: i64) -> Result<Looked, Problem> {
        Ok(self.new_and_latest(id)?.0)
    }

    /// The same, and the record of what stands for it now ([`Headless::latest`]).
    pub fn new_and_latest(&self, id: i64) -> Result<(Looked, Record), Problem> {
        let detail = self.engine.journal().detail(numbered(id))?;
        let looked = Looked {
            fate: Fate::Taken(id),
            file: detail.row.file.clone(),
            subject: detail.row.summary.subject.clone(),
            standing: None,
            record: self.record_of(&detail),
        };
        let latest = match detail.row.corrected_by {
            Some(next) => self.latest(next.0)?,
            None => looked.record.clone(),
        };
        Ok((looked, latest))
    }

    /// Decides that a report will not be sent (again).
    pub async fn withdraw(&self, id: i64, reason: String) -> Result<Record, Problem> {
        self.engine.withdraw(numbered(id), reason).await?;
        self.record(id)
    }

    /// Stops a report that waits to be sent.
    pub async fn hold_back(&self, id: i64) -> Result<Record, Problem> {
        self.engine.hold_back(numbered(id)).await?;
        self.record(id)
    }

    /// Somebody who knows says that the authority has a report that has been open for too long.
    pub async fn say_received(&self, id: i64, reason: String) -> Result<Record, Problem> {
        self.engine.say_received(numbered(id), reason).await?;
        self.record(id)
    }

    /// Somebody who knows says that the authority does not have it: it is sent again.
    pub async fn say_not_received(&self, id: i64, reason: String) -> Result<Record, Problem> {
        self.engine.say_not_received(numbered(id), reason).await?;
        self.record(id)
    }

    /// Releases a held report although something was found.
    pub async fn release(&self, id: i64, reason: String) -> Result<Record, Problem> {
        self.engine.release(numbered(id), reason).await?;
        self.record(id)
    }

    /// How many files lie in a folder: a watch sends them too. 0 where it does not answer in time,
    /// as a share whose server is away: the watch says so.
    pub async fn lying_in(folder: PathBuf) -> usize {
        let look = tokio::task::spawn_blocking(move || engine::Lying::in_folder(&folder).count());
        let looked = tokio::time::timeout(LYING_MAX, look).await;
        looked.ok().and_then(Result::ok).unwrap_or_default()
    }

    /// Watches a folder until told to stop; `each` gets every file that was taken in or refused,
    /// and hears of a folder that is away.
    pub async fn watch(
        &self,
        folder: PathBuf,
        stop: CancellationToken,
        mut each: impl FnMut(Arrival),
    ) -> Result<(), Problem> {
        let mut failed = None;
        let watched = self.engine.watch(&folder, stop.clone(), |watched| match watched {
            Watched::File(candidate, taken) => match self.taken(candidate, taken) {
                Ok(looked) => each(Arrival::File(Box::new(looked))),
                Err(problem) => {
                    stop.cancel();
                    failed = Some(problem);
                }
            },
            Watched::Away(notice) => each(Arrival::Away(notice.into())),
            Watched::Back => each(Arrival::Back),
        });
        watched.await?;
        failed.map_or(Ok(()), Err)
    }
}

/// The same, told as what could not be taken in.
pub(super) fn failed(mut looked: Looked) -> Looked {
    looked.record.issues.insert(0, not_taken_in());
    Looked { fate: Fate::Failed, ..looked }
}

/// A file that nobody has looked at.
pub(super) fn unread(file: &Path) -> Looked {
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
    let record = Record { file: name.clone(), ..Record::default() };
    Looked { fate: Fate::Failed, record, file: name, subject: None, standing: None }
}

fn looked(candidate: &Candidate) -> Looked {
    let parsed = candidate.parsed();
    let fate = match parsed.map(|parsed| parsed.known.first()) {
        None => Fate::Refused,
        Some(Some(id)) => Fate::Known(id.0),
        Some(None) if candidate.has_errors() => Fate::WouldBeHeld,
        Some(None) => Fate::Ready,
    };
    Looked {
        fate,
        record: candidate_record(candidate),
        file: candidate.name.clone(),
        subject: parsed.and_then(|parsed| parsed.summary.subject.clone()),
        standing: None,
    }
}

/// Whether a file may correct a report: it is about the same patient, as far as both say who that
/// is, and has the same document identifier or is about the same finding.
fn is_of_one_case(before: &Summary, after: &Summary) -> bool {
    let agree = |one: &Option<String>, other: &Option<String>| match (one, other) {
        (Some(one), Some(other)) => Some(one.trim().eq_ignore_ascii_case(other.trim())),
        _ => None,
    };
    let patient =
        [agree(&before.patient, &after.patient), agree(&before.birth_date, &after.birth_date)];
    let is_same_patient = patient.contains(&Some(true));
    let has_same_identifier = agree(&before.identifier, &after.identifier) != Some(false);
    let is_same_finding = agree(&before.code, &after.code) == Some(true);
    if patient == [None, None] {
        has_same_identifier
    } else {
        is_same_patient && (has_same_identifier || is_same_finding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn what_was_taken_in_is_listed_where_another_file_could_not_be() {
        let folder = tempfile::tempdir().unwrap();
        let profile = Headless::practice(&folder.path().join("profile")).await.unwrap();
        let paths: Vec<PathBuf> = (1..=3)
            .map(|number| {
                let file = folder.path().join(format!("{number}.json"));
                std::fs::write(&file, testkit::DocumentBuilder::new(number).json()).unwrap();
                file
            })
            .collect();
        let key = profile.engine.secrets().journal_key().unwrap();
        let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        let raw = rusqlite::Connection::open(profile.engine.profile().journal_file()).unwrap();
        raw.execute_batch(&format!("PRAGMA key = \"x'{hex}'\"")).unwrap();
        let fails = "CREATE TRIGGER fails BEFORE INSERT ON submission WHEN NEW.file = '3.json' \
                     BEGIN SELECT RAISE(ABORT, 'cannot be written'); END";
        raw.execute_batch(fails).unwrap();
        let Intake { files, problem } = profile.take(&paths, true).await.unwrap();
        let fates: Vec<_> = files.iter().map(|file| file.fate).collect();
        assert!(matches!(fates[..], [Fate::Taken(_), Fate::Taken(_), Fate::Failed]), "{fates:?}");
        assert_eq!(files[2].record.issues[0].code, "file-not-taken-in");
        assert_eq!(problem.unwrap().code, "journal-io");
        raw.execute_batch("DROP TRIGGER fails").unwrap();
        let Intake { files, problem } = profile.take(&paths, false).await.unwrap();
        let fates: Vec<_> = files.iter().map(|file| file.fate).collect();
        assert!(matches!(fates[..], [Fate::Known(_), Fate::Known(_), Fate::Taken(_)]), "{fates:?}");
        assert_eq!(problem, None);
        profile.close().await;
    }
    #[cfg(unix)]
    #[tokio::test(flavor = "multi_thread")]
    async fn a_link_inside_a_folder_leads_nowhere_also_when_the_folder_is_sent() {
        let folder = tempfile::tempdir().unwrap();
        let profile = Headless::practice(&folder.path().join("profile")).await.unwrap();
        let [out, other] = ["out", "other"].map(|name| folder.path().join(name));
        for (number, place) in [(1, &out), (2, &other)] {
            std::fs::create_dir(place).unwrap();
            let text = testkit::DocumentBuilder::new(number).json();
            std::fs::write(place.join("1.json"), text).unwrap();
        }
        std::os::unix::fs::symlink(&other, out.join("link")).unwrap();
        let Intake { files, problem } = profile.take(&[out], false).await.unwrap();
        let fates: Vec<_> = files.iter().map(|file| file.fate).collect();
        assert!(matches!(fates[..], [Fate::Taken(_), Fate::Refused]), "{fates:?}");
        assert_eq!(files[1].record.issues[0].code, "link-not-followed");
        assert_eq!(problem, None);
        profile.close().await;
    }
}
