//! The support bundle of the room in use: shown first, then saved as it was shown.

use std::path::Path;
use std::sync::PoisonError;

use super::{Desk, Laboratory, on_pool};
use crate::limits;
use crate::problem::Problem;
use crate::saved::save_over;
use crate::statement_pdf::Wording;
use crate::support::{Subject, collect, packed};
use crate::views::SupportFile;

impl Desk {
    /// Makes the bundle of the room in use and keeps it for [`Desk::save_support`]. Its summary is
    /// in the words of whoever shows it.
    pub async fn support_preview(
        &self,
        wording: Option<Wording>,
    ) -> Result<Vec<SupportFile>, Problem> {
        let engine = self.engine();
        let problem = match &*self.laboratory() {
            Laboratory::Closed(problem) => Some(problem.clone()),
            Laboratory::Absent | Laboratory::Open(_) => None,
        };
        let files = on_pool(move || {
            let subject = Subject {
                program: "lab-courier",
                now: engine.now(),
                profile: Some(&engine.profile()),
                engine: Some(&engine),
                problem: problem.as_ref(),
            };
            collect(&subject, wording.as_ref())
        })
        .await?;
        *self.inner.support.lock().unwrap_or_else(PoisonError::into_inner) = files.clone();
        Ok(files)
    }

    /// Saves the bundle that was shown last. The place was chosen in a dialog of the shell, which
    /// asks before it replaces a file.
    pub async fn save_support(&self, target: &Path) -> Result<(), Problem> {
        let files = self.inner.support.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let target = target.to_owned();
        let written = move || packed(&files).and_then(|bytes| save_over(&target, &bytes));
        on_pool(written).await?.map_err(|error| {
            let reason = error.kind().to_string();
            Problem::new("support-not-saved", &[("reason", &reason)], "support")
        })
    }

    /// Saves a table that the page made, where a dialog of the shell has asked for it.
    pub async fn save_table(&self, target: &Path, text: String) -> Result<(), Problem> {
        limits::text(&text)?;
        let target = target.to_owned();
        // Spreadsheets take a file without this mark for one in an older encoding.
        let written = move || save_over(&target, format!("\u{feff}{text}").as_bytes());
        on_pool(written).await?.map_err(|error| {
            let reason = error.kind().to_string();
            Problem::new("table-not-saved", &[("reason", &reason)], "table")
        })
    }
}
