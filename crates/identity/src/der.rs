//! The little of DER (ITU-T X.690) that recognising, bounding and completing key files needs.
//! Definite lengths and one-byte tags only; everything is bounds-checked, nothing recurses here.

use zeroize::Zeroizing;

pub(crate) const INTEGER: u8 = 0x02;
pub(crate) const BIT_STRING: u8 = 0x03;
pub(crate) const OCTET_STRING: u8 = 0x04;
pub(crate) const OID: u8 = 0x06;
pub(crate) const SEQUENCE: u8 = 0x30;
pub(crate) const CONTEXT_0: u8 = 0xa0;
pub(crate) const CONTEXT_1: u8 = 0xa1;

/// One tag-length-value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Item<'a> {
    pub(crate) tag: u8,
    pub(crate) value: &'a [u8],
    /// Tag, length and value.
    pub(crate) whole: &'a [u8],
}

/// Reads the first item; returns it and what follows. `None` where it is cut or not DER.
pub(crate) fn read(input: &[u8]) -> Option<(Item<'_>, &[u8])> {
    let (&tag, rest) = input.split_first()?;
    if tag & 0x1f == 0x1f {
        return None;
    }
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (digits.iter().fold(0usize, |sum, digit| (sum << 8) | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    let (value, rest) = rest.split_at_checked(length)?;
    let whole = input.get(..input.len() - rest.len())?;
    Some((Item { tag, value, whole }, rest))
}

/// All items of a value. `None` where any of them is cut or not DER.
pub(crate) fn items(mut input: &[u8]) -> Option<Vec<Item<'_>>> {
    let mut found = Vec::new();
    while !input.is_empty() {
        let (item, rest) = read(input)?;
        found.push(item);
        input = rest;
    }
    Some(found)
}

/// The items of a SEQUENCE that stands at the start of the input (trailing bytes are left alone).
pub(crate) fn sequence(input: &[u8]) -> Option<Vec<Item<'_>>> {
    let (item, _) = read(input)?;
    (item.tag == SEQUENCE).then(|| items(item.value)).flatten()
}

/// A non-negative INTEGER's value; too large ones saturate.
pub(crate) fn unsigned(item: Item<'_>) -> Option<u64> {
    if item.tag != INTEGER || item.value.first().is_none_or(|first| first & 0x80 != 0) {
        return None;
    }
    let digits: &[u8] = match item.value {
        [0, rest @ ..] => rest,
        all => all,
    };
    if digits.len() > 8 {
        return Some(u64::MAX);
    }
    Some(digits.iter().fold(0, |sum, digit| (sum << 8) | u64::from(*digit)))
}

/// Writes one item around the parts, which may be of a key: room for all of it from the start,
/// because growing would leave copies behind.
pub(crate) fn write(tag: u8, parts: &[&[u8]]) -> Zeroizing<Vec<u8>> {
    /// Tag, and length in its longest form.
    const HEAD: usize = 2 + size_of::<usize>();
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut out = Zeroizing::new(Vec::with_capacity(HEAD + length));
    out.push(tag);
    if length < 0x80 {
        out.push(length.to_le_bytes()[0]);
    } else {
        let digits = length.to_be_bytes();
        let skip = digits.iter().take_while(|digit| **digit == 0).count();
        out.push(0x80 | (digits.len() - skip).to_le_bytes()[0]);
        out.extend_from_slice(&digits[skip..]);
    }
    for part in parts {
        out.extend_from_slice(part);
    }
    out
}

/// An OID's dotted form, for a message about an algorithm that is not supported.
pub(crate) fn dotted(oid: &[u8]) -> String {
    let mut arcs: Vec<u64> = Vec::new();
    let mut arc: u64 = 0;
    for byte in oid {
        arc = arc.saturating_mul(128).saturating_add(u64::from(byte & 0x7f));
        if byte & 0x80 == 0 {
            if arcs.is_empty() {
                let top = (arc / 40).min(2);
                arcs.push(top);
                arcs.push(arc - top * 40);
            } else {
                arcs.push(arc);
            }
            arc = 0;
        }
    }
    arcs.iter().map(u64::to_string).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for length in [0usize, 1, 127, 128, 255, 256, 70_000] {
            let content = vec![7u8; length];
            let bytes = write(OCTET_STRING, &[&content]);
            let (item, rest) = read(&bytes).unwrap();
            assert_eq!((item.tag, item.value, rest.len()), (OCTET_STRING, &content[..], 0));
        }
    }

    #[test]
    fn cut_and_hostile_input_is_no_item() {
        for bytes in [
            &[][..],
            &[0x30],
            &[0x30, 0x80],
            &[0x30, 5, 1],
            &[0x1f, 1, 0],
            &[0x30, 0x84, 255, 255, 255, 255],
        ] {
            assert_eq!(read(bytes), None, "{bytes:?}");
        }
        assert_eq!(
            dotted(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0d]),
            "1.2.840.113549.1.5.13"
        );
    }
}
