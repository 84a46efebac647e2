//! From offsets to lines and columns and back, in bounded time even if all stands in one line.

/// Bytes between two known places.
const STEP: usize = 1024;

/// Known places of a text.
#[derive(Debug, Clone)]
pub(crate) struct Lines {
    /// Line and column (from 1) at each multiple of `STEP`.
    known: Vec<(u32, u32)>,
    bom: usize,
}

impl Lines {
    pub(crate) fn of(source: &str) -> Self {
        let bytes = source.as_bytes();
        let bom = if source.starts_with('\u{FEFF}') { 3 } else { 0 };
        let mut known = Vec::with_capacity(bytes.len() / STEP + 1);
        let mut place = (1, 1);
        known.push(place);
        for (step, chunk) in bytes.chunks(STEP).enumerate() {
            place = walk(place, &chunk[if step == 0 { bom } else { 0 }..]);
            known.push(place);
        }
        Self { known, bom }
    }

    /// Line and column of an offset.
    pub(crate) fn place(&self, source: &str, offset: usize) -> (u32, u32) {
        let offset = offset.clamp(self.bom, source.len().max(self.bom));
        let step = offset / STEP;
        let from = (step * STEP).max(self.bom);
        walk(self.known[step], &source.as_bytes()[from..offset])
    }

    /// Offset of a line and column; beyond the end of a line, its end.
    pub(crate) fn offset(&self, source: &str, line: u32, column: u32) -> Option<usize> {
        let target = (line, column.max(1));
        let step = self.known.partition_point(|place| *place <= target).checked_sub(1)?;
        let from = (step * STEP).max(self.bom).min(source.len());
        let mut place = self.known[step];
        let bytes = source.as_bytes();
        for (at, byte) in bytes.iter().enumerate().skip(from) {
            // The first byte of a character is where its column is.
            if *byte & 0xC0 == 0x80 {
                continue;
            }
            if place >= target || (*byte == b'\n' && place.0 == line) {
                return Some(at);
            }
            place = walk(place, &bytes[at..=at]);
        }
        None
    }
}

/// The place after these bytes. Bytes that continue a character do not count.
fn walk(from: (u32, u32), bytes: &[u8]) -> (u32, u32) {
    bytes.iter().fold(from, |(line, column), byte| match byte {
        b'\n' => (line + 1, 1),
        byte if byte & 0xC0 == 0x80 => (line, column),
        _ => (line, column + 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_offsets_agree() {
        let source = format!("\u{FEFF}aé\nb{}\n\nz", "ü".repeat(3_000));
        let lines = Lines::of(&source);
        for (offset, letter) in source.char_indices().skip(1) {
            let (line, column) = lines.place(&source, offset);
            assert_eq!(lines.offset(&source, line, column), Some(offset), "{letter} at {offset}");
        }
        assert_eq!(lines.place(&source, 3), (1, 1));
        assert_eq!(lines.place(&source, source.len() - 1), (4, 1));
        assert_eq!(lines.offset(&source, 1, 99), Some(6));
        assert_eq!(lines.offset(&source, 9, 1), None);
    }
}
