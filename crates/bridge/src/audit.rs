//! The audit log: who has changed what of the settings, and when. What people decide about reports
//! stands in the journal, with the report; this is the rest: where reports go, with which
//! certificate, by which rules, and what is kept.
//!
//! It is a text file of the profile that is only added to, one JSON object a line. It holds names
//! and addresses of the settings, never a secret and nothing of a patient. It stays where it is
//! when a backup takes the journal's place. Whoever may write the profile's folder may also write
//! it: it answers the question among colleagues, and proves nothing against the owner.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use url::Url;

use crate::codes::{self, CHANGES};
use crate::problem::Problem;

/// Name of the file in the profile's folder.
const FILE: &str = "audit.jsonl";
/// Bytes that are read from its end: more than ten thousand changes.
const READ_MAX: u64 = 4 << 20;
/// Entries that are shown at most.
const SHOWN_MAX: usize = 1_000;
/// Digits of a fingerprint that are noted.
const FINGERPRINT_SHOWN: usize = 23;
/// Characters of an instant that are its day.
const DAY: usize = 10;

/// A change of the settings that somebody makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    code: &'static str,
    params: Vec<(&'static str, String)>,
}

impl Change {
    /// One of `CHANGES` with all of its parameters.
    pub fn new(code: &'static str, params: &[(&'static str, &str)]) -> Self {
        debug_assert!(
            CHANGES.iter().any(|(known, names)| *known == code
                && names.iter().eq(params.iter().map(|(name, _)| name))),
            "{code} is not in the list, or has other parameters"
        );
        let params = params.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        Self { code, params }
    }

    /// The same with what is known once it was done: an imported certificate by its subject and its
    /// last day. `answer` is the view of it, as JSON.
    pub(crate) fn told_by(self, answer: &str) -> Self {
        if self.code != "certificate-imported" {
            return self;
        }
        let view = serde_json::from_str::<serde_json::Value>(answer).unwrap_or_default();
        let text = |name: &str| view.get(name).and_then(serde_json::Value::as_str);
        match (text("subject"), text("notAfter").and_then(|instant| instant.get(..DAY))) {
            (Some(subject), Some(day)) => {
                Self::new("certificate-imported-named", &[("subject", subject), ("date", day)])
            }
            _ => self,
        }
    }

    /// A folder that is chosen, or given up.
    pub fn of_folder(set: &'static str, unset: &'static str, folder: Option<&str>) -> Self {
        folder.map_or_else(|| Self::new(unset, &[]), |at| Self::new(set, &[("folder", at)]))
    }

    /// An address as it is noted: without what may be a password in it.
    pub fn address(text: &str) -> String {
        let Ok(mut url) = Url::parse(text) else { return String::new() };
        // Both fail only where an address can hold neither.
        let _ = url.set_password(None);
        let _ = url.set_username("");
        url.to_string()
    }

    /// The beginning of a fingerprint: enough to name a certificate by.
    pub fn fingerprint(text: &str) -> String {
        text.chars().take(FINGERPRINT_SHOWN).collect()
    }

    /// Where a package lay is nobody's concern later: the name of its file.
    pub fn package(path: &str) -> &str {
        path.rsplit(['/', '\\']).next().unwrap_or(path)
    }
}

/// One line of the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct AuditEntry {
    /// When it was changed, ISO instant.
    pub at: String,
    /// Who has changed it, `name@computer`.
    pub by: String,
    /// What was changed. One of a newer program may be unknown.
    #[ts(as = "codes::Change")]
    pub change: String,
    /// Parameters by name.
    #[ts(type = "Record<string, string>")]
    pub params: BTreeMap<String, String>,
}

/// Adds a change to the audit log of a profile's folder.
///
/// # Errors
/// `audit-not-written`: the change itself was made.
pub(crate) fn note(folder: &Path, change: &Change, at: fhir::Instant) -> Result<(), Problem> {
    let file = folder.join(FILE);
    let params = change.params.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
    let entry = AuditEntry {
        at: at.to_fhir(),
        by: engine::system_user().0,
        change: change.code.to_owned(),
        params: params.collect(),
    };
    let written = serde_json::to_string(&entry).map_err(io::Error::from);
    written.and_then(|line| append(&file, &line)).map_err(|error| {
        let params = [("file", &*file.display().to_string()), ("reason", &*error.to_string())];
        Problem::new("audit-not-written", &params, "audit")
    })
}

/// Adds a line in one write: two programs that add at the same time do not mix theirs. What a crash
/// has cut off is ended first, so that it takes no other line with it.
fn append(file: &Path, line: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut opened = options.open(file)?;
    let start = if ends_a_line(&mut opened)? { "" } else { "\n" };
    opened.write_all(format!("{start}{line}\n").as_bytes())?;
    opened.sync_data()
}

fn ends_a_line(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// The last changes of these profiles, the newest first; at most 1,000. A line that cannot be read
/// is left out. A profile in which nothing was changed has none.
///
/// # Errors
/// `profile-io`: the file is there and cannot be read.
pub(crate) fn entries(folders: &[&Path]) -> Result<Vec<AuditEntry>, Problem> {
    let mut all = Vec::new();
    for folder in folders {
        let file = folder.join(FILE);
        let end = match end_of(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            end => end.map_err(|source| engine::ProfileProblem::Io { file, source })?,
        };
        let lines = String::from_utf8_lossy(&end);
        all.extend(lines.lines().filter_map(|line| serde_json::from_str::<AuditEntry>(line).ok()));
    }
    // Instants of one form are in order as texts; of one moment the later line is the newer one.
    all.reverse();
    all.sort_by(|one, other| other.at.cmp(&one.at));
    all.truncate(SHOWN_MAX);
    Ok(all)
}

/// The last bytes of a file, as many as are read of it.
fn end_of(file: &Path) -> io::Result<Vec<u8>> {
    let mut opened = File::open(file)?;
    let length = opened.metadata()?.len();
    opened.seek(SeekFrom::Start(length.saturating_sub(READ_MAX)))?;
    let mut end = Vec::new();
    opened.take(READ_MAX).read_to_end(&mut end)?;
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(folder: &Path, second: i64, days: &str) {
        let change = Change::new("attention-days-set", &[("days", days)]);
        note(folder, &change, fhir::Instant(second * 1_000_000)).unwrap();
    }

    fn days(folders: &[&Path]) -> Vec<String> {
        let all = entries(folders).unwrap();
        all.iter().map(|entry| entry.params["days"].clone()).collect()
    }

    #[test]
    fn the_newest_change_comes_first_whichever_profile_it_is_of() {
        let [one, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let folders = [one.path(), other.path()];
        assert_eq!(entries(&folders).unwrap(), []);
        noted(one.path(), 1, "1");
        noted(other.path(), 2, "2");
        noted(one.path(), 3, "3");
        noted(one.path(), 3, "4");
        assert_eq!(days(&folders), ["4", "3", "2", "1"]);
        assert_eq!(days(&[one.path()]), ["4", "3", "1"]);
    }

    #[test]
    fn what_a_crash_has_cut_off_takes_no_other_change_with_it() {
        let folder = tempfile::tempdir().unwrap();
        noted(folder.path(), 1, "1");
        noted(folder.path(), 2, "2");
        let file = folder.path().join(FILE);
        let whole = std::fs::read(&file).unwrap();
        std::fs::write(&file, &whole[..whole.len() - 9]).unwrap();
        noted(folder.path(), 3, "3");
        assert_eq!(days(&[folder.path()]), ["3", "1"]);
    }

    #[test]
    #[cfg(unix)]
    fn only_its_owner_reads_it() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        noted(folder.path(), 1, "1");
        let mode = folder.path().join(FILE).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn an_imported_certificate_is_named_by_its_subject_and_its_last_day() {
        let imported = || Change::new("certificate-imported", &[]);
        let told = imported().told_by(r#"{"subject":"CN=Lab","notAfter":"2027-04-13T08:00:00Z"}"#);
        assert_eq!(told.params, [("subject", "CN=Lab".to_owned()), ("date", "2027-04-13".into())]);
        assert_eq!(imported().told_by("null"), imported());
        let other = Change::new("retention-unset", &[]);
        assert_eq!(other.clone().told_by(r#"{"subject":"CN=Lab"}"#), other);
    }

    #[test]
    fn what_cannot_be_written_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let change = Change::new("retention-unset", &[]);
        let away = folder.path().join("away");
        let problem = note(&away, &change, fhir::Instant(0)).unwrap_err();
        assert_eq!(problem.code, "audit-not-written");
    }

    #[test]
    fn what_is_noted_holds_no_password_and_no_folder_of_a_package() {
        let address = "https://user:secret@a.example/v1";
        assert_eq!(Change::address(address), "https://a.example/v1");
        assert_eq!(Change::address("secret"), "");
        assert_eq!(Change::package("/home/somebody/rules.tgz"), "rules.tgz");
        assert_eq!(Change::package("C:\\somebody\\rules.tgz"), "rules.tgz");
    }
}
