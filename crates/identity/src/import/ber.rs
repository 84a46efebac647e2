//! From BER to DER (ITU-T X.690): Java and Mozilla tools write `.p12` files with indefinite lengths
//! and with octet strings in pieces, which the strict reader does not take.

use zeroize::Zeroizing;

use crate::der::{self, CONTEXT_0, OCTET_STRING, OID, SEQUENCE};

const CONSTRUCTED: u8 = 0x20;
const DEPTH_MAX: usize = 32;

/// Whether the structure uses indefinite lengths or octet strings in pieces at its outermost
/// levels.
pub(crate) fn is_needed(bytes: &[u8]) -> bool {
    bytes.first() == Some(&SEQUENCE)
        && outer(bytes).is_some_and(|converted| converted.as_slice() != bytes)
}

/// The structure in DER. What octet strings carry stays as it is: a MAC may have been made over it.
pub(crate) fn outer(bytes: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let mut out = Zeroizing::new(Vec::with_capacity(bytes.len()));
    convert(bytes, &mut out, 0)?;
    Some(out)
}

/// A `.p12` (in DER outside) with its AuthenticatedSafe and the safes in it in DER too, and without
/// MAC, which it would no longer fit: the MAC is to be checked before.
pub(crate) fn inner(pfx: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let parts = der::sequence(pfx)?;
    let (version, content_info) = (parts.first()?, der::items(parts.get(1)?.value)?);
    let octets = data_octets(&content_info)?;
    let safes = outer(octets)?;
    // Longer than what it is made of by a few lengths at most, as a rule shorter.
    let mut converted = Zeroizing::new(Vec::with_capacity(safes.len() + 64));
    for safe in der::sequence(&safes)? {
        let info = der::items(safe.value)?;
        match data_octets(&info) {
            Some(bags) => converted.extend_from_slice(&data(info.first()?.whole, &outer(bags)?)),
            None => converted.extend_from_slice(safe.whole),
        }
    }
    let safes = der::write(SEQUENCE, &[&converted]);
    let content = data(content_info.first()?.whole, &safes);
    Some(der::write(SEQUENCE, &[version.whole, &content]))
}

/// The octets of `ContentInfo ::= SEQUENCE { OID, [0] EXPLICIT OCTET STRING }`.
fn data_octets<'a>(content_info: &[der::Item<'a>]) -> Option<&'a [u8]> {
    let [_, explicit] = content_info else { return None };
    let (octets, _) = der::read(explicit.value).filter(|_| explicit.tag == CONTEXT_0)?;
    (octets.tag == OCTET_STRING).then_some(octets.value)
}

fn data(oid: &[u8], octets: &[u8]) -> Zeroizing<Vec<u8>> {
    let explicit = der::write(CONTEXT_0, &[&der::write(OCTET_STRING, &[octets])]);
    der::write(SEQUENCE, &[oid, &explicit])
}

/// Converts the first item; returns what follows it.
fn convert<'a>(input: &'a [u8], out: &mut Vec<u8>, depth: usize) -> Option<&'a [u8]> {
    if let Some((item, rest)) = der::read(input)
        && item.tag & CONSTRUCTED == 0
    {
        out.extend_from_slice(item.whole);
        return Some(rest);
    }
    if depth > DEPTH_MAX {
        return None;
    }
    let tag = *input.first().filter(|tag| **tag & CONSTRUCTED != 0)?;
    let mut children: Vec<Zeroizing<Vec<u8>>> = Vec::new();
    let mut child_of = |input: &'a [u8]| {
        // Grows: room for all the rest in every child would be the square of a hostile file. What
        // is inside is sealed as a rule.
        let mut child = Zeroizing::new(Vec::new());
        let rest = convert(input, &mut child, depth + 1)?;
        children.push(child);
        Some(rest)
    };
    let rest = if input.get(1) == Some(&0x80) {
        let mut rest = input.get(2..)?;
        while !rest.starts_with(&[0, 0]) {
            rest = child_of(rest)?;
        }
        &rest[2..]
    } else {
        let (item, rest) = der::read(input)?;
        let mut inside = item.value;
        while !inside.is_empty() {
            inside = child_of(inside)?;
        }
        rest
    };
    if tag == OCTET_STRING | CONSTRUCTED {
        let pieces = children.iter().map(|child| {
            let (item, _) = der::read(child)?;
            (item.tag == OCTET_STRING).then_some(item.value)
        });
        let pieces = pieces.collect::<Option<Vec<_>>>()?;
        out.extend_from_slice(&der::write(OCTET_STRING, &pieces));
        return Some(rest);
    }
    // EncryptedContentInfo ::= SEQUENCE { OID, SEQUENCE, [0] IMPLICIT OCTET STRING }, here in
    // pieces.
    let tags: Vec<u8> = children.iter().filter_map(|child| child.first().copied()).collect();
    if tag == SEQUENCE
        && tags == [OID, SEQUENCE, CONTEXT_0]
        && let Some((item, _)) = children.last().and_then(|child| der::read(child))
        && let Some(pieces) = der::items(item.value)
        && pieces.iter().all(|piece| piece.tag == OCTET_STRING)
    {
        let pieces: Vec<&[u8]> = pieces.iter().map(|piece| piece.value).collect();
        let whole = der::write(CONTEXT_0 & !CONSTRUCTED, &pieces);
        if let Some(last) = children.last_mut() {
            *last = whole;
        }
    }
    let children: Vec<&[u8]> = children.iter().map(|child| child.as_slice()).collect();
    out.extend_from_slice(&der::write(tag, &children));
    Some(rest)
}
