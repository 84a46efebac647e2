//! What a start of the program hands over: files to be looked at, or a link to a report. The page
//! asks for it once it is there and nobody has locked it; until then it waits here.

use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use url::Url;

use super::Desk;
use crate::problem::Problem;
use crate::views::OpenedView;

/// Files of one start; more than that is a folder's business, and none of them is taken.
const FILES_MAX: usize = 10_000;
/// Digits of the number in a link: as many as JavaScript counts exactly.
const DIGITS_MAX: usize = 15;
/// The links that the system hands to us.
const SCHEME: &str = "labcourier:";
const REPORT: &str = "labcourier://report/";

/// What the arguments of a start mean.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Opened {
    paths: Vec<PathBuf>,
    /// So many files that none of them was taken.
    refused: usize,
    report: Option<i64>,
}

impl Opened {
    /// Reads the arguments behind the name of the program; `folder` is the one in which it was
    /// started. What is neither a file nor a link to a report says nothing, for anybody may write
    /// links.
    pub fn of(arguments: &[String], folder: &Path) -> Self {
        let mut opened = Self::default();
        for argument in arguments {
            if argument.starts_with("--") {
                continue;
            }
            if argument.get(..SCHEME.len()).is_some_and(|it| it.eq_ignore_ascii_case(SCHEME)) {
                opened.report = report_of(argument).or(opened.report);
            } else if let Some(path) = path_of(argument, folder) {
                opened.paths.push(path);
            }
        }
        if opened.paths.len() > FILES_MAX {
            opened.refused = opened.paths.len();
            opened.paths.clear();
        }
        opened
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The number in a link to a report: digits alone.
fn report_of(link: &str) -> Option<i64> {
    let number = link.strip_prefix(REPORT)?;
    let number = number.strip_suffix('/').unwrap_or(number);
    let is_number = number.len() <= DIGITS_MAX && number.bytes().all(|it| it.is_ascii_digit());
    number.parse().ok().filter(|number| is_number && *number > 0)
}

/// The whole path. One that leads upwards is looked up: nothing is granted by a path that leads
/// elsewhere.
fn path_of(argument: &str, folder: &Path) -> Option<PathBuf> {
    let path = if argument.starts_with("file:") {
        Url::parse(argument).ok()?.to_file_path().ok()?
    } else if argument.is_empty() {
        return None;
    } else {
        folder.join(argument)
    };
    if path.components().any(|part| part == Component::ParentDir) {
        return std::fs::canonicalize(path).ok();
    }
    Some(path)
}

/// What waits for the page.
#[derive(Default)]
pub(super) struct Waiting(Mutex<Opened>);

impl Desk {
    /// A start of the program hands this over.
    pub fn hand_in(&self, opened: Opened) {
        let mut waiting = self.inner.opened.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.refused = waiting.refused.saturating_add(opened.refused);
        waiting.report = opened.report.or(waiting.report);
        let known: std::collections::HashSet<PathBuf> = waiting.paths.iter().cloned().collect();
        waiting.paths.extend(opened.paths.into_iter().filter(|path| !known.contains(path)));
        if waiting.paths.len() > FILES_MAX {
            waiting.refused = waiting.refused.saturating_add(waiting.paths.len());
            waiting.paths.clear();
        }
    }

    /// What starts of the program have handed over since it was asked last; the page may name these
    /// files for an hour.
    pub async fn opened(&self) -> Result<OpenedView, Problem> {
        let opened = {
            let mut waiting = self.inner.opened.0.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *waiting)
        };
        self.grant(opened.paths.iter().cloned());
        // One that is no Unicode is named, and refused: better than if nobody heard of it.
        let shown = |path: PathBuf| path.to_string_lossy().into_owned();
        Ok(OpenedView {
            paths: opened.paths.into_iter().map(shown).collect(),
            refused: u32::try_from(opened.refused).unwrap_or(u32::MAX),
            report: opened.report,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arguments: &[&str]) -> Opened {
        let arguments: Vec<String> = arguments.iter().map(|it| (*it).to_owned()).collect();
        Opened::of(&arguments, Path::new("/lab/outbox"))
    }

    #[test]
    fn files_are_named_in_full() {
        for (argument, path) in [
            ("/data/a.json", "/data/a.json"),
            ("a.json", "/lab/outbox/a.json"),
            ("deep/a b.xml", "/lab/outbox/deep/a b.xml"),
            ("file:///data/a%20b.json", "/data/a b.json"),
            ("-a.json", "/lab/outbox/-a.json"),
        ] {
            assert_eq!(of(&[argument]).paths, [PathBuf::from(path)], "{argument}");
        }
        for nothing in ["", "--practice", "file://elsewhere/share/a.json", "no/../such/../file"] {
            assert!(of(&[nothing]).is_empty(), "{nothing}");
        }
        assert_eq!(of(&["/usr/../usr/bin/.."]).paths, [std::fs::canonicalize("/usr").unwrap()]);
    }

    #[test]
    fn a_link_names_a_report_by_number_and_nothing_else() {
        assert_eq!(of(&["labcourier://report/17"]).report, Some(17));
        assert_eq!(of(&["labcourier://report/17/"]).report, Some(17));
        for link in [
            "labcourier://report/",
            "labcourier://report/0",
            "labcourier://report/-1",
            "labcourier://report/+1",
            "labcourier://report/1e3",
            "labcourier://report/1?x=/etc/passwd",
            "labcourier://report/../../etc/passwd",
            "labcourier://report/1234567890123456",
            "labcourier://settings",
            "labcourier:/etc/passwd",
            "LABCOURIER:///etc/passwd",
        ] {
            assert!(of(&[link]).is_empty(), "{link}");
        }
    }

    #[test]
    fn too_many_files_are_none() {
        let many: Vec<String> = (0..=FILES_MAX).map(|n| format!("/outbox/{n}.json")).collect();
        let opened = Opened::of(&many, Path::new("/"));
        assert_eq!((opened.paths.len(), opened.refused), (0, FILES_MAX + 1));
    }

    #[tokio::test]
    async fn what_is_handed_over_waits_for_the_page_and_is_granted() {
        let root = tempfile::tempdir().unwrap();
        let desk = Desk::open(root.path()).await.unwrap();
        let file = root.path().join("a.json").display().to_string();
        let look = crate::Call::InspectFiles { paths: vec![file.clone()], reveal: false };
        assert!(desk.permits(&look).is_err());
        desk.hand_in(of(&[&file]));
        desk.hand_in(of(&[&file, "labcourier://report/3"]));
        assert!(desk.permits(&look).is_err(), "nobody has been told of it");
        let opened = desk.opened().await.unwrap();
        assert_eq!((opened.paths, opened.report, opened.refused), (vec![file], Some(3), 0));
        assert!(desk.permits(&look).is_ok());
        assert!(desk.opened().await.unwrap().paths.is_empty(), "once");
        desk.hand_in(of(&["b.json"]));
        desk.lock().await.unwrap();
        assert!(
            desk.permits(&crate::Call::Opened {}).is_err(),
            "it waits while the window is locked"
        );
    }
}
