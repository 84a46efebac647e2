//! Passphrases and passwords: from a file or a descriptor, never from the command line.

use std::io::{self, Read as _};
use std::path::Path;

/// Longest first line that is read, bytes.
const LENGTH_MAX: u64 = 4_096;

/// The first line of a file, or of a descriptor (`fd:3`, `/dev/fd/3`), without its line end.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    let text = path.to_string_lossy();
    let file = match text.strip_prefix("fd:") {
        Some(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            std::fs::File::open(format!("/dev/fd/{number}"))?
        }
        _ => std::fs::File::open(path)?,
    };
    let mut bytes = Vec::new();
    file.take(LENGTH_MAX).read_to_end(&mut bytes)?;
    let text = String::from_utf8(bytes).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
    let line = text.split('\n').next().unwrap_or_default();
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_counts_without_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("passphrase");
        for (text, expected) in [
            ("secret", "secret"),
            ("secret\n", "secret"),
            ("secret\r\nsecond", "secret"),
            (" sec ret \n", " sec ret "),
            ("", ""),
        ] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(read(&file).unwrap(), expected);
        }
        std::fs::write(&file, [0xff, 0xfe]).unwrap();
        assert!(read(&file).is_err());
        assert!(read(&folder.path().join("none")).is_err());
    }
}
