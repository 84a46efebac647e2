//! What left the watched folder, or was written over, before it could be taken in: nothing else
//! knows of it, so it is told until a person has read it.

use std::path::{Path, PathBuf};

use fhir::Instant;
use journal::{Journal, JournalError, Notice};

use super::memory::Memory;
use super::notices::{GONE, shown_name};

/// The notice about it, and how much of it has been told.
pub(super) struct Gone {
    folder: PathBuf,
    told: usize,
}

impl Gone {
    pub(super) fn of(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), told: 0 }
    }

    /// Lets the journal say what is new. One that cannot take it now is asked again at the next
    /// look: a full disk may be the very reason.
    pub(super) async fn say(&mut self, journal: &Journal, now: Instant, memory: &Memory) {
        let (count, last) = memory.gone();
        let fresh = count - self.told;
        if fresh == 0 {
            return;
        }
        let (file, folder) = (shown_name(last), self.folder.display().to_string());
        let journal = journal.clone();
        let put = move || add(&journal, fresh, &file, &folder, now);
        if matches!(tokio::task::spawn_blocking(put).await, Ok(Ok(()))) {
            self.told = count;
        }
    }
}

/// What was told before and nobody has read yet counts too.
fn add(
    journal: &Journal,
    fresh: usize,
    file: &str,
    folder: &str,
    now: Instant,
) -> Result<(), JournalError> {
    let notices = journal.notices()?;
    let before = notices.iter().find(|notice| notice.code == GONE);
    let before: usize = before.and_then(|it| it.params.get("count")?.parse().ok()).unwrap_or(0);
    let count = before.saturating_add(fresh).to_string();
    let params = [("count", &*count), ("file", file), ("folder", folder)];
    journal.put_notice(Notice::new(GONE, &params, now))
}
