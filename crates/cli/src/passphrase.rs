//! Passphrases and passwords: from a file or a descriptor, never from the command line.

use std::io;
use std::path::Path;

use bridge::Password;

/// The first line of a file, or of a descriptor (`fd:3`, `/dev/fd/3`), without its line end.
pub(crate) fn read(path: &Path) -> io::Result<Password> {
    let text = path.to_string_lossy();
    let file = match text.strip_prefix("fd:") {
        Some(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            std::fs::File::open(format!("/dev/fd/{number}"))?
        }
        _ => std::fs::File::open(path)?,
    };
    Password::first_line(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_and_what_is_none_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("passphrase");
        std::fs::write(&file, "secret\n").unwrap();
        assert!(!read(&file).unwrap().is_empty());
        std::fs::write(&file, "\n").unwrap();
        assert!(read(&file).unwrap().is_empty());
        assert!(read(&folder.path().join("none")).is_err());
    }
}
