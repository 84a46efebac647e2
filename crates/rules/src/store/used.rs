//! What is in use: the package with all that was imported when it was put to use, held apart from
//! what is imported or removed later.
//!
//! ```text
//! in-use.json            {"package": NAME@VERSION, "held": FOLDER}
//! used-DIGEST/           the files of all packages, as they were then
//! ```

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::{Imported, Store, StoreFault, closure};
use crate::set::RuleSet;

const IN_USE: &str = "in-use.json";
const PREFIX: &str = "used-";

/// What `in-use.json` says.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct InUseMark {
    package: String,
    /// Missing where it was put to use by an earlier version, which did not hold it apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    held: Option<String>,
}

impl Store {
    /// Makes a package, with all that it depends on, the rules in use: as they were imported by
    /// now.
    pub fn make_used(&self, label: &str) -> Result<Imported, StoreFault> {
        let found = self.found(label)?;
        let files = self.files()?;
        let held = format!("{PREFIX}{}", &self.digest_of(&self.list()?)[..16]);
        self.hold(&files, &held)?;
        let path = self.folder.join(IN_USE);
        let io = |source| StoreFault::Io { path: path.clone(), source };
        let part = path.with_extension(format!("{}.part", std::process::id()));
        let mark = InUseMark { package: label.to_owned(), held: Some(held.clone()) };
        let text = serde_json::to_vec(&mark).map_err(|error| io(error.into()))?;
        std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, &path)).map_err(io)?;
        self.forget_all_but(&held);
        Ok(found)
    }

    /// `NAME@VERSION` of the package in use.
    pub fn in_use(&self) -> Result<Option<String>, StoreFault> {
        Ok(self.mark()?.map(|mark| mark.package))
    }

    /// The packages as they were when one of them was put to use, and which of them that is.
    pub fn used(&self) -> Result<Option<(String, Self)>, StoreFault> {
        let Some(mark) = self.mark()? else { return Ok(None) };
        let folder = self.folder_of(&mark);
        if !folder.is_dir() {
            return Err(StoreFault::Damaged { path: self.folder.join(IN_USE) });
        }
        Ok(Some((mark.package, Self { folder })))
    }

    /// The rules in use; `None` where none are.
    pub fn load_used(&self) -> Result<Option<RuleSet>, StoreFault> {
        self.used()?.map(|(label, store)| store.load(Some(&label))).transpose()
    }

    /// Whether the package in use, or what it depends on, was imported anew or completed since it
    /// was put to use: then putting it to use again takes that in.
    pub fn is_outdated(&self) -> Result<bool, StoreFault> {
        let Some((label, used)) = self.used()? else { return Ok(false) };
        let of = |store: &Self| -> Result<Vec<(String, String)>, StoreFault> {
            let all: Vec<_> = store.list()?.into_iter().map(|of| of.manifest).collect();
            let first = all.iter().position(|of| of.label() == label);
            let (order, _) = first
                .map(|first| closure(&all.iter().collect::<Vec<_>>(), first))
                .unwrap_or_default();
            Ok(order.into_iter().map(|at| (all[at].label(), all[at].digest.clone())).collect())
        };
        Ok(of(self)? != of(&used)?)
    }

    pub(super) fn make_unused(&self) -> Result<(), StoreFault> {
        let path = self.folder.join(IN_USE);
        std::fs::remove_file(&path)
            .map_err(|source| StoreFault::Io { path: path.clone(), source })?;
        self.forget_all_but("");
        Ok(())
    }

    pub(crate) fn mark(&self) -> Result<Option<InUseMark>, StoreFault> {
        let path = self.folder.join(IN_USE);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(StoreFault::Io { path, source }),
        };
        let mark: Option<InUseMark> = serde_json::from_slice(&text).ok();
        // A name, and no way out of the folder.
        let plain = |held: &String| {
            held.strip_prefix(PREFIX)
                .is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_hexdigit()))
        };
        let mark = mark.filter(|mark| mark.held.as_ref().is_none_or(plain));
        mark.map(Some).ok_or(StoreFault::Damaged { path })
    }

    fn folder_of(&self, mark: &InUseMark) -> PathBuf {
        mark.held.as_ref().map_or_else(|| self.folder.clone(), |held| self.folder.join(held))
    }

    /// Of what is imported by now: the same names with the same content give the same.
    fn digest_of(&self, all: &[Imported]) -> String {
        let mut digest = Sha256::new();
        for of in all {
            let manifest = &of.manifest;
            digest.update(format!("{}\n{}\n{}\n", manifest.label(), manifest.digest, of.at));
        }
        digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// All files in a folder of their own: the same files by another name, so that they need no
    /// room; copies where the file system has no second names. It is there as a whole or not at
    /// all.
    fn hold(&self, files: &[PathBuf], held: &str) -> Result<(), StoreFault> {
        let target = self.folder.join(held);
        if target.is_dir() {
            return Ok(());
        }
        let part = self.folder.join(format!("{held}.{}.part", std::process::id()));
        let io = |source| StoreFault::Io { path: target.clone(), source };
        let filled = std::fs::create_dir_all(&part).and_then(|()| {
            for file in files {
                again(file, &part.join(file.file_name().unwrap_or_default()))?;
            }
            std::fs::rename(&part, &target)
        });
        filled.map_err(|error| {
            // What is half made is of no use to anybody.
            let _ = std::fs::remove_dir_all(&part);
            io(error)
        })
    }

    /// What was in use before needs room no more; what cannot be removed now goes the next time.
    fn forget_all_but(&self, held: &str) {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        for entry in entries {
            let name = entry.file_name();
            if name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name != held) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }
}

fn again(file: &Path, target: &Path) -> std::io::Result<()> {
    match std::fs::hard_link(file, target) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            std::fs::copy(file, target).map(|_| ())
        }
        // Left by a process of the same number that has died.
        _ => Ok(()),
    }
}
