//! Characters of XML: which may stand there, how they are escaped and read back.

/// Offset of the first character that no XML document may contain.
pub(crate) fn forbidden(text: &str) -> Option<usize> {
    let control = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r');
    // A look without a position first, which the compiler can do for many bytes at once.
    let bytes = text.as_bytes();
    let clean =
        bytes.chunks(256).all(|chunk| !chunk.iter().fold(false, |any, byte| any | control(byte)));
    let controlled = if clean { None } else { bytes.iter().position(control) };
    controlled.or_else(|| text.find('\u{FFFE}')).or_else(|| text.find('\u{FFFF}'))
}

pub(crate) const fn is_xml_char(letter: char) -> bool {
    matches!(letter, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}'
        | '\u{10000}'..)
}

/// A name with at most one colon, not at its ends.
pub(crate) fn is_name(name: &str) -> bool {
    let plain = |part: &str| {
        let first = part.chars().next().is_some_and(is_name_start);
        first && part.chars().all(|letter| is_name_start(letter) || is_name_more(letter))
    };
    if name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return name.starts_with(|first: char| first.is_ascii_alphabetic());
    }
    match name.split_once(':') {
        Some((prefix, local)) => plain(prefix) && plain(local),
        None => plain(name),
    }
}

const fn is_name_start(letter: char) -> bool {
    matches!(letter, 'A'..='Z' | 'a'..='z' | '_' | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}'
        | '\u{F8}'..='\u{2FF}' | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}'
        | '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}'
        | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}'
        | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

const fn is_name_more(letter: char) -> bool {
    matches!(letter, '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}'
        | '\u{203F}'..='\u{2040}')
}

/// Takes the next `name="value"` off the text of a tag: `None` at its end, `Some(None)` if it is
/// wrong.
#[allow(
    clippy::option_option,
    reason = "the end and an error are told apart, like in an iterator of results"
)]
pub(crate) fn attribute<'s>(rest: &mut &'s str) -> Option<Option<(&'s str, &'s str)>> {
    let text = rest.trim_ascii_start();
    if text.is_empty() {
        return None;
    }
    let spaced = text.len() < rest.len();
    let taken = take_attribute(text).filter(|_| spaced);
    *rest = taken.map_or("", |(_, _, rest)| rest);
    Some(taken.map(|(key, value, _)| (key, value)))
}

fn take_attribute(text: &str) -> Option<(&str, &str, &str)> {
    let (key, rest) = text.split_once('=')?;
    let (key, rest) = (key.trim_ascii_end(), rest.trim_ascii_start());
    let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let (value, rest) = rest[1..].split_once(quote)?;
    (is_name(key) && !value.contains('<')).then_some((key, value, rest))
}

/// The character that a reference (without `&` and `;`) stands for.
pub(crate) fn reference(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let digits = name.strip_prefix('#')?;
            let (digits, radix) =
                digits.strip_prefix('x').map_or((digits, 10), |digits| (digits, 16));
            if digits.starts_with('+') {
                return None;
            }
            let code = u32::from_str_radix(digits, radix).ok()?;
            return char::from_u32(code).filter(|letter| is_xml_char(*letter));
        }
    })
}

/// An attribute's value as meant; `Err` is the offset of a reference that is refused.
pub(crate) fn unescape(raw: &str) -> Result<String, usize> {
    let mut text = String::with_capacity(raw.len());
    let mut at = 0;
    while let Some(found) = raw[at..].find(['&', '\t', '\n', '\r']) {
        text.push_str(&raw[at..at + found]);
        at += found;
        if raw.as_bytes()[at] == b'&' {
            let end = raw[at..].bytes().take(12).position(|byte| byte == b';').ok_or(at)?;
            text.push(reference(&raw[at + 1..at + end]).ok_or(at)?);
            at += end + 1;
        } else {
            at += if raw[at..].starts_with("\r\n") { 2 } else { 1 };
            text.push(' ');
        }
    }
    text.push_str(&raw[at..]);
    Ok(text)
}

/// Writes an attribute's value. What XML cannot say at all becomes U+FFFD.
pub(crate) fn escape(value: &str, out: &mut String) {
    let mut from = 0;
    for (at, letter) in value.char_indices() {
        let written = match letter {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '"' => "&quot;",
            '\t' => "&#9;",
            '\n' => "&#10;",
            '\r' => "&#13;",
            letter if is_xml_char(letter) => continue,
            _ => "\u{FFFD}",
        };
        out.push_str(&value[from..at]);
        out.push_str(written);
        from = at + letter.len_utf8();
    }
    out.push_str(&value[from..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_and_white_space() {
        assert_eq!(unescape("a&amp;&#x41;\r\nb\tc&#10;").as_deref(), Ok("a&A b c\n"));
        for (raw, at) in
            [("&nbsp;", 0), ("x&#0;", 1), ("x&", 1), ("&#xD800;", 0), ("&#+65;", 0), ("&é;", 0)]
        {
            assert_eq!(unescape(raw), Err(at), "{raw}");
        }
        let mut out = String::new();
        escape("a<\"\n\u{1}é>", &mut out);
        assert_eq!(out, "a&lt;&quot;&#10;\u{FFFD}é&gt;");
    }

    #[test]
    fn attributes_are_taken_one_by_one() {
        let mut rest = " a=\"1\"  b:c = '\"'";
        assert_eq!(attribute(&mut rest), Some(Some(("a", "1"))));
        assert_eq!(attribute(&mut rest), Some(Some(("b:c", "\""))));
        assert_eq!(attribute(&mut rest), None);
        for wrong in ["a=\"1\"", " a", " a=1", " a=\"<\"", " 1=\"\"", " a=\"1\"b=\"2\""] {
            let mut rest = wrong;
            let mut last = attribute(&mut rest);
            while let Some(Some(_)) = last {
                last = attribute(&mut rest);
            }
            assert_eq!(last, Some(None), "{wrong}");
        }
    }
}
