//! Files and folders that only their owner may read, from the first byte.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// Makes a folder, with those above it, for its owner only. One that is there is closed to others,
/// as far as its file system knows owners.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    close(folder, 0o700);
    Ok(())
}

/// A new file for its owner only; one that a crash has left is replaced, whatever its permissions.
pub(crate) fn new_file(file: &Path) -> io::Result<File> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

/// A file for its owner only that is there for its name alone, made where it is missing.
pub(crate) fn kept_file(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

/// Closes a file of an earlier version, which left it open to others.
pub(crate) fn close_file(file: &Path) {
    close(file, 0o600);
}

#[cfg(unix)]
fn close(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;

    let open = fs::metadata(path).is_ok_and(|it| it.permissions().mode() & 0o077 != 0);
    if open {
        // Somebody else's file, or a file system without owners: then it stays as whoever made it
        // wanted it.
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(mode));
    }
}

/// Elsewhere the access list of the folder above is inherited, which is the user's own.
#[cfg(not(unix))]
fn close(_: &Path, _: u32) {}
