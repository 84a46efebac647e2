//! Files that a person has asked for: statements, tables, texts for support. Whoever else uses the
//! computer cannot read them, whatever the system's own setting lets them; to share one is the
//! person's own step.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

/// Writes a file that is not there yet; one that is there stays.
pub fn save_new(file: &Path, bytes: &[u8]) -> io::Result<()> {
    private(OpenOptions::new().write(true).create_new(true)).open(file)?.write_all(bytes)
}

/// Writes a file, in the place of one that is there: a dialog has asked. Whoever may read that one
/// still may.
pub(crate) fn save_over(file: &Path, bytes: &[u8]) -> io::Result<()> {
    private(OpenOptions::new().write(true).create(true).truncate(true)).open(file)?.write_all(bytes)
}

#[cfg(unix)]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600)
}

/// The folder says who reads there.
#[cfg(not(unix))]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_is_saved_is_for_its_owner_and_keeps_the_access_of_what_it_replaces() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |file: &Path| std::fs::metadata(file).unwrap().permissions().mode() & 0o777;
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        save_new(&one, b"1").unwrap();
        save_over(&two, b"long").unwrap();
        assert_eq!((mode(&one), mode(&two)), (0o600, 0o600));
        assert_eq!(save_new(&one, b"2").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        std::fs::set_permissions(&two, std::fs::Permissions::from_mode(0o644)).unwrap();
        save_over(&two, b"2").unwrap();
        assert_eq!(mode(&two), 0o644, "somebody shares it");
        let read = |file: &Path| std::fs::read(file).unwrap();
        assert_eq!((read(&one), read(&two)), (b"1".to_vec(), b"2".to_vec()));
    }
}
