//! PEM (RFC 7468, and RFC 1421 headers as OpenSSL's legacy encryption writes them).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

/// One block.
pub(crate) struct Block {
    pub(crate) label: String,
    /// Value of `DEK-Info` where `Proc-Type` says the block is encrypted.
    pub(crate) dek_info: Option<String>,
    pub(crate) der: Zeroizing<Vec<u8>>,
}

/// The text of a file that holds at least one PEM block; Windows tools write UTF-16 too.
pub(crate) fn text_of(bytes: &[u8]) -> Option<Zeroizing<String>> {
    let text = match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    };
    let text = Zeroizing::new(text);
    text.contains("-----BEGIN ").then_some(text)
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    // A unit is at most three bytes of UTF-8: room for all, because growing would leave copies of a
    // key.
    let mut text = String::with_capacity(bytes.len() / 2 * 3);
    let units = bytes.as_chunks::<2>().0.iter().map(|pair| unit(*pair));
    text.extend(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
    text
}

/// All blocks in order; text between them (e.g. `Bag Attributes`) is skipped, as RFC 7468 says.
/// `Err` where a block does not end or is not base64: a block is never skipped silently.
pub(crate) fn blocks(text: &str) -> Result<Vec<Block>, ()> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("-----BEGIN ") {
        let (label, after) = after.split_once("-----").ok_or(())?;
        let (body, after) = after.split_once(&format!("-----END {label}-----")).ok_or(())?;
        found.push(block(label, body)?);
        rest = after;
    }
    Ok(found)
}

fn block(label: &str, body: &str) -> Result<Block, ()> {
    let mut dek_info = None;
    let mut digits = Zeroizing::new(String::with_capacity(body.len()));
    for line in body.lines().map(str::trim) {
        match line.split_once(':') {
            Some(("DEK-Info", value)) => dek_info = Some(value.trim().to_owned()),
            Some(_) => {}
            None => digits.extend(line.chars().filter(|c| !c.is_whitespace())),
        }
    }
    let der = Zeroizing::new(STANDARD.decode(digits.as_bytes()).map_err(|_| ())?);
    Ok(Block { label: label.to_owned(), dek_info, der })
}
