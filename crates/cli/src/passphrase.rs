//! Passphrases and passwords: from a file or a descriptor, never from the command line.

use std::fs::File;
use std::path::Path;

use bridge::{Password, Problem};

use crate::files::unreadable;

/// The first line of a file, or of a descriptor (`fd:3`, `/dev/fd/3`), without its line end.
///
/// # Errors
/// `file-unreadable`; `passphrase-file-open` where everybody on this computer may read or replace
/// it.
pub(crate) fn read(path: &Path) -> Result<Password, Problem> {
    let said = |error: std::io::Error| unreadable(path, &error);
    let text = path.to_string_lossy();
    let file = match text.strip_prefix("fd:") {
        Some(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            File::open(format!("/dev/fd/{number}")).map_err(said)?
        }
        _ => File::open(path).map_err(said)?,
    };
    if let Some(mode) = open_to_others(&file) {
        let params = [("file", &*text), ("mode", &*format!("{mode:o}"))];
        return Err(Problem::new("passphrase-file-open", &params, "file"));
    }
    Password::first_line(file).map_err(said)
}

/// The permissions of a file that everybody may read, or somebody else may change. The owner's
/// group may read it: so systemd hands credentials over.
#[cfg(unix)]
fn open_to_others(file: &File) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;

    let metadata = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    Some(metadata.permissions().mode() & 0o777).filter(|mode| mode & 0o027 != 0)
}

/// Elsewhere access lists say who reads a file.
#[cfg(not(unix))]
fn open_to_others(_: &File) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_and_what_is_none_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("passphrase");
        std::fs::write(&file, "secret\n").unwrap();
        close(&file, 0o600);
        assert!(!read(&file).unwrap().is_empty());
        std::fs::write(&file, "\n").unwrap();
        assert!(read(&file).unwrap().is_empty());
        assert_eq!(read(&folder.path().join("none")).unwrap_err().code, "file-unreadable");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_read_or_change_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("passphrase");
        std::fs::write(&file, "secret\n").unwrap();
        for mode in [0o400, 0o600, 0o440, 0o640] {
            close(&file, mode);
            assert!(read(&file).is_ok(), "{mode:o}");
        }
        for mode in [0o644, 0o604, 0o660, 0o666, 0o602] {
            close(&file, mode);
            let problem = read(&file).unwrap_err();
            assert_eq!(problem.code, "passphrase-file-open");
            assert_eq!(problem.params["mode"], format!("{mode:o}"));
        }
        // A pipe belongs to whoever opened it.
        assert!(read(Path::new("/dev/null")).unwrap().is_empty());
    }

    fn close(file: &Path, mode: u32) {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        #[cfg(not(unix))]
        let _ = (file, mode);
    }
}
