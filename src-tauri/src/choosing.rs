//! The system's own file dialogs: what is chosen stands in their title and what can be chosen in
//! their filter, in the language of the window, and each begins in the folder that was used last
//! for the same thing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bridge::{FolderPurpose, Purpose};
use tauri::{AppHandle, Manager as _, Runtime};
use tauri_plugin_dialog::{DialogExt as _, FileDialogBuilder, FilePath};
use texts::{CATALOGUE, Language};

use crate::house::House;
use crate::language;

/// What is chosen, or saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    Reports,
    Certificate,
    Ca,
    Rules,
    ReportsFolder,
    WatchedFolder,
    BackupFolder,
    Support,
    Table,
    Statement,
}

/// Compiled only where each has its title, and each that is a file its words in the filter.
const _: () = {
    CATALOGUE.must_have("choose", &What::CODES);
    CATALOGUE.must_have("choose", &What::FILTERS);
};

impl What {
    const ALL: [Self; 10] = [
        Self::Reports,
        Self::Certificate,
        Self::Ca,
        Self::Rules,
        Self::ReportsFolder,
        Self::WatchedFolder,
        Self::BackupFolder,
        Self::Support,
        Self::Table,
        Self::Statement,
    ];
    const CODES: [&str; Self::ALL.len()] = {
        let mut codes = [""; Self::ALL.len()];
        let mut at = 0;
        while at < codes.len() {
            codes[at] = Self::ALL[at].code();
            at += 1;
        }
        codes
    };

    const FILTERS: [&str; 8] = [
        "filter.reports",
        "filter.certificate",
        "filter.ca",
        "filter.rules",
        "filter.support",
        "filter.table",
        "filter.statement",
        ALL_FILES,
    ];

    const fn code(self) -> &'static str {
        match self {
            Self::Reports => "reports",
            Self::Certificate => "certificate",
            Self::Ca => "ca",
            Self::Rules => "rules",
            Self::ReportsFolder => "reports-folder",
            Self::WatchedFolder => "watched-folder",
            Self::BackupFolder => "backup-folder",
            Self::Support => "support",
            Self::Table => "table",
            Self::Statement => "statement",
        }
    }

    fn title(self, language: Language) -> String {
        language.shared(&format!("choose.{}", self.code()), &[])
    }

    /// Which files the dialog offers, in words: nobody looks for reports by the ends of names.
    fn filter(self, language: Language) -> String {
        language.shared(&format!("choose.filter.{}", self.code()), &[])
    }
}

/// The filter that lets every file through.
const ALL_FILES: &str = "filter.all";

impl From<Purpose> for What {
    fn from(purpose: Purpose) -> Self {
        match purpose {
            Purpose::Reports => Self::Reports,
            Purpose::Certificate => Self::Certificate,
            Purpose::Ca => Self::Ca,
            Purpose::Rules => Self::Rules,
        }
    }
}

impl From<FolderPurpose> for What {
    fn from(purpose: FolderPurpose) -> Self {
        match purpose {
            FolderPurpose::Reports => Self::ReportsFolder,
            FolderPurpose::Watched => Self::WatchedFolder,
            FolderPurpose::Backups => Self::BackupFolder,
        }
    }
}

/// The folders that were used last. Names of folders may name people: they are kept for this run,
/// in memory, and nowhere else.
#[derive(Default)]
pub(crate) struct Folders(Mutex<BTreeMap<What, PathBuf>>);

impl Folders {
    /// Where a dialog begins; `None` where nothing was chosen yet, or the folder has gone.
    fn last(&self, what: What) -> Option<PathBuf> {
        let folders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        folders.get(&what).filter(|folder| folder.is_dir()).cloned()
    }

    /// A folder that was chosen is the one that was used; of a file it is the one in which it lies.
    fn used(&self, what: What, chosen: &Path) {
        let folder = match what {
            What::ReportsFolder | What::WatchedFolder | What::BackupFolder => Some(chosen),
            _ => chosen.parent(),
        };
        if let Some(folder) = folder {
            let mut folders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            folders.insert(what, folder.to_owned());
        }
    }
}

/// Files to read.
pub(crate) async fn files<R: Runtime>(app: &AppHandle<R>, purpose: Purpose) -> Vec<String> {
    let extensions: &[&str] = match purpose {
        Purpose::Reports => &["json", "xml", "zip", "ndjson"],
        Purpose::Certificate => &["p12", "pfx", "pem", "cer", "crt", "der", "key"],
        Purpose::Ca => &["pem", "cer", "crt"],
        Purpose::Rules => &["tgz", "json"],
    };
    let (dialog, language) = dialog(app, purpose.into()).await;
    let (answer, chosen) = tokio::sync::oneshot::channel();
    let all = language.shared(&format!("choose.{ALL_FILES}"), &[]);
    dialog
        .add_filter(What::from(purpose).filter(language), extensions)
        .add_filter(all, &["*"])
        .pick_files(move |files| {
            // The page may be gone by the time the dialog closes.
            let _ = answer.send(files);
        });
    let files = chosen.await.ok().flatten().unwrap_or_default();
    let files: Vec<PathBuf> = files.into_iter().filter_map(|file| file.into_path().ok()).collect();
    if let Some(first) = files.first() {
        app.state::<Folders>().used(purpose.into(), first);
    }
    files.into_iter().filter_map(named).collect()
}

/// A folder.
pub(crate) async fn folder<R: Runtime>(
    app: &AppHandle<R>,
    purpose: FolderPurpose,
) -> Option<String> {
    let (dialog, _) = dialog(app, purpose.into()).await;
    let (answer, chosen) = tokio::sync::oneshot::channel();
    dialog.pick_folder(move |folder| {
        // As above.
        let _ = answer.send(folder);
    });
    let folder = path_of(chosen.await.ok().flatten())?;
    app.state::<Folders>().used(purpose.into(), &folder);
    named(folder)
}

/// Where to save; the dialog asks before a file is replaced.
pub(crate) async fn target<R: Runtime>(
    app: &AppHandle<R>,
    what: What,
    name: &str,
) -> Option<PathBuf> {
    let extension = name.rsplit_once('.').map_or("*", |(_, extension)| extension);
    let (dialog, language) = dialog(app, what).await;
    let (answer, chosen) = tokio::sync::oneshot::channel();
    let filter = what.filter(language);
    dialog.set_file_name(name).add_filter(filter, &[extension]).save_file(move |file| {
        // As above.
        let _ = answer.send(file);
    });
    let file = path_of(chosen.await.ok().flatten())?;
    app.state::<Folders>().used(what, &file);
    Some(file)
}

/// A dialog with its title, in the folder that was used last; and the language that it speaks.
async fn dialog<R: Runtime>(app: &AppHandle<R>, what: What) -> (FileDialogBuilder<R>, Language) {
    let language = match app.state::<Arc<House>>().desk().await {
        Ok(desk) => language::of(&desk).await,
        // Where the desk does not open nobody knows what was chosen.
        Err(_) => language::of_the_system(),
    };
    let dialog = app.dialog().file().set_title(what.title(language));
    match app.state::<Folders>().last(what) {
        Some(folder) => (dialog.set_directory(folder), language),
        None => (dialog, language),
    }
}

fn path_of(chosen: Option<FilePath>) -> Option<PathBuf> {
    chosen?.into_path().ok()
}

/// A chosen path as the page hands it back; one that is no Unicode cannot travel through it.
fn named(chosen: PathBuf) -> Option<String> {
    chosen.into_os_string().into_string().ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says what is wrong by ending")]
mod tests {
    use super::*;

    #[test]
    fn every_dialog_says_what_is_chosen_in_each_language() {
        for language in Language::ALL {
            let mut titles: Vec<String> =
                What::ALL.iter().map(|what| what.title(language)).collect();
            assert!(titles.iter().all(|title| title.contains(' ')), "{titles:?}");
            titles.sort();
            titles.dedup();
            assert_eq!(titles.len(), What::ALL.len(), "each its own: {titles:?}");
        }
        assert_eq!(
            What::from(Purpose::Ca).title(Language::English),
            What::Ca.title(Language::English)
        );
    }

    #[test]
    fn every_filter_says_in_words_which_files_it_offers() {
        let folders = [What::ReportsFolder, What::WatchedFolder, What::BackupFolder];
        let files = What::ALL.into_iter().filter(|what| !folders.contains(what));
        let codes: Vec<String> =
            files.clone().map(|what| format!("filter.{}", what.code())).collect();
        assert_eq!(codes, What::FILTERS[..codes.len()], "each has its words");
        let reports = Language::ALL.map(|language| What::Reports.filter(language));
        let kinds = "(JSON, XML, NDJSON, ZIP)";
        let words = ["Reports", "Meldungen", "Déclarations", "Dichiarazioni"];
        assert_eq!(reports, words.map(|word| format!("{word} {kinds}")));
        for what in files {
            let said = Language::ALL.map(|language| what.filter(language));
            assert!(said.iter().all(|words| words.starts_with(char::is_uppercase)), "{said:?}");
        }
    }

    #[test]
    fn each_dialog_begins_where_the_last_one_for_the_same_ended() {
        let (here, there) = (std::env::current_dir().unwrap(), std::env::temp_dir());
        let folders = Folders::default();
        assert_eq!(folders.last(What::Reports), None);
        folders.used(What::Reports, &here.join("a.json"));
        folders.used(What::Table, &there.join("labcourier.csv"));
        folders.used(What::WatchedFolder, &here);
        assert_eq!(folders.last(What::Reports), Some(here.clone()));
        assert_eq!(folders.last(What::Table), Some(there));
        assert_eq!(folders.last(What::WatchedFolder), Some(here.clone()));
        assert_eq!(folders.last(What::Certificate), None);
        folders.used(What::Reports, &here.join("gone").join("b.json"));
        assert_eq!(folders.last(What::Reports), None, "there is no such folder any more");
    }
}
