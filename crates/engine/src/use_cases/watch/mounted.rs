//! A share or a disk that is not there leaves an empty folder where it was mounted, which looks as
//! if no file came. So it is kept, beside the settings, that something was mounted at a watched
//! folder; a folder that is empty and where nothing is mounted any more is away.

use std::fs;
use std::path::{Path, PathBuf};

use super::memory::{Away, Look};
use crate::profile::private;

/// What the name of a note begins with; a digest of the folder's path follows, for the path may
/// name a person.
const NAME: &str = "mounted.";

/// The note that something was mounted at a folder.
#[derive(Clone)]
pub(super) struct Mounted(PathBuf);

impl Mounted {
    /// That of a folder, in the folder of a profile.
    pub(super) fn of(folder: &Path, profile: &Path) -> Self {
        let mut digest = report::digest(folder.as_os_str().as_encoded_bytes());
        digest.truncate(16);
        Self(profile.join(format!("{NAME}{digest}")))
    }

    /// Whether the folder that a look saw is away. Where files lie in it without anything mounted,
    /// people use the folder itself, and the note is of no more use.
    pub(super) fn judge(&self, folder: &Path, look: &mut Look) {
        let is_noted = self.0.exists();
        if look.is_mounted {
            if !is_noted {
                // Where it cannot be kept, the next look tries again.
                let _ = private::new_file(&self.0);
            }
        } else if is_noted && !look.files.is_empty() {
            let _ = fs::remove_file(&self.0);
        } else if is_noted && look.away.is_none() {
            let reason = "folder-not-mounted".to_owned();
            look.away = Some(Away { path: folder.to_owned(), reason });
        }
    }
}

/// Whether another file system begins at this folder.
#[cfg(unix)]
pub(super) fn is_mounted(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let device = |path: &Path| fs::metadata(path).ok().map(|facts| facts.dev());
    let Ok(folder) = fs::canonicalize(folder) else { return false };
    let above = folder.parent().and_then(device);
    above.is_some() && device(&folder) != above
}

/// A drive that is not connected has no folder at all.
#[cfg(not(unix))]
pub(super) fn is_mounted(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn another_file_system_begins_where_one_is_mounted() {
        assert!(is_mounted(Path::new("/proc")));
        assert!(!is_mounted(Path::new("/proc/self")));
        assert!(!is_mounted(Path::new("/")), "nothing is above it");
        assert!(!is_mounted(Path::new("/nowhere")));
    }
}
