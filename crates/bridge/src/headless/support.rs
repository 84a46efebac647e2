//! The support bundle of a profile, whether it opens or not.

use std::path::Path;

use engine::{Clock as _, Profile, SystemClock};
use identity::Password;

use super::Headless;
use crate::problem::Problem;
use crate::saved::save_new;
use crate::statement_pdf::Wording;
use crate::support::{Subject, collect, packed};
use crate::views::SupportFile;

/// Makes the bundle of a profile, with a summary in these words. Where the profile does not open,
/// the bundle says why.
pub async fn support_files(
    folder: &Path,
    passphrase: Option<Password>,
    wording: &Wording,
) -> Vec<SupportFile> {
    let opened = Headless::open(folder, passphrase).await;
    let profile = Profile::open(folder).ok();
    let subject = Subject {
        program: "labcourier",
        now: SystemClock.now(),
        profile: profile.as_ref(),
        engine: opened.as_ref().ok().map(|headless| &headless.engine),
        problem: opened.as_ref().err(),
    };
    let files = collect(&subject, Some(wording));
    if let Ok(headless) = opened {
        headless.close().await;
    }
    files
}

/// Saves a bundle as one ZIP archive; an existing file is never replaced.
pub fn save_support(files: &[SupportFile], target: &Path) -> Result<(), Problem> {
    let written = packed(files).and_then(|bytes| save_new(target, &bytes));
    written.map_err(|error| {
        let reason = error.kind().to_string();
        Problem::new("support-not-saved", &[("reason", &reason)], "support")
    })
}
