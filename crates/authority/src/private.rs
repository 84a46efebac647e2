//! Folders and files that only their owner may read, from their first byte on.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// Folders inside the data folder that hold files of ours.
const INNER: [&str; 1] = ["pilot"];

/// Makes a folder, and those that lead to it, where they are not there.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Opens a file to be written from its start.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    options().truncate(true).open(path)
}

/// Makes an empty file where there is none, so that whoever opens it next does not decide who may
/// read it.
pub(crate) fn prepare(path: &Path) -> io::Result<()> {
    options().truncate(false).open(path).map(drop)
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Closes a data folder, and what lies in it, that was made by hand or by an earlier release. What
/// belongs to somebody else stays as it is, and is told in the log.
pub(crate) fn close_to_others(data: &Path) {
    let folders = std::iter::once(data.to_owned()).chain(INNER.map(|name| data.join(name)));
    for folder in folders.filter(|folder| folder.is_dir()) {
        close(&folder, 0o700);
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let is_file = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
        entries.filter(is_file).for_each(|entry| close(&entry.path(), 0o600));
    }
}

#[cfg(unix)]
fn close(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    let Ok(facts) = fs::metadata(path) else { return };
    if facts.permissions().mode() & 0o077 == 0 {
        return;
    }
    if let Err(error) = fs::set_permissions(path, fs::Permissions::from_mode(mode)) {
        tracing::warn!(path = %path.display(), %error, "others may read this, and it cannot be \
            closed");
    }
}

/// There are no modes; the folder of a user is closed to other users.
#[cfg(not(unix))]
fn close(_: &Path, _: u32) {}
