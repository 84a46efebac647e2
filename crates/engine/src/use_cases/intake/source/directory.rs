//! The directory of a ZIP archive, entry by entry: the reader of archives shows one entry of each
//! name and as many as the archive says it has, and nothing of the others.

use std::collections::HashSet;

const SIGNATURE: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";
/// Bytes of an entry before its name, its extra fields and its comment.
const FIXED: usize = 46;

/// Why an archive with this directory is refused, where it has other entries than the so many that
/// were shown. An entry of a folder holds nothing, so that it may stand there twice.
pub(super) fn left_out(archive: &[u8], directory: u64, shown: usize) -> Option<&'static str> {
    let (mut names, mut entries, mut is_twice) = (HashSet::new(), 0, false);
    let mut rest = archive.get(usize::try_from(directory).ok()?..).unwrap_or_default();
    while rest.starts_with(SIGNATURE) {
        let length = |at: usize| {
            let bytes = rest.get(at..at + 2).and_then(|two| two.try_into().ok());
            usize::from(bytes.map_or(0, u16::from_le_bytes))
        };
        let (name, behind) = (length(28), length(30) + length(32));
        let Some(name) = rest.get(FIXED..FIXED + name) else { return Some("damaged") };
        let (is_first, is_folder) = (names.insert(name), name.ends_with(b"/"));
        entries += usize::from(is_first || !is_folder);
        is_twice |= !is_first && !is_folder;
        rest = rest.get(FIXED + name.len() + behind..).unwrap_or_default();
    }
    // Of two archives in one file the reader may take the directory of the first and the end of the
    // second.
    let ends = rest.windows(END.len()).filter(|bytes| *bytes == END).take(2).count();
    if ends > 1 {
        return Some("damaged");
    }
    // Compared by count: what two names say may differ by an extra field that the reader knows.
    (entries != shown).then_some(if is_twice { "two-of-one-name" } else { "damaged" })
}
