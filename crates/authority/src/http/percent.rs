//! Percent-encoding as RFC 3986 (section 2.1) has it, and nothing that only looks like it.

/// The text that is meant; `None` where a `%` begins no code, or the bytes are no UTF-8.
pub(crate) fn decoded(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (code, rest) = part.split_at_checked(2)?;
        if !code.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        bytes.push(u8::from_str_radix(code, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

/// Names of the parameters of a query string or form that cannot be decoded.
pub(crate) fn broken_parameters(raw: &str) -> Vec<String> {
    raw.split('&')
        .filter(|pair| decoded(pair).is_none())
        .map(|pair| exchange::decode(pair.split('=').next().unwrap_or_default()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_code_is_not_guessed() {
        for (text, meant) in [
            ("", Some("")),
            ("a%20b%2B", Some("a b+")),
            ("%C3%84", Some("Ä")),
            ("Ä", Some("Ä")),
            ("%", None),
            ("%2", None),
            ("%zz", None),
            ("%+1", None),
            ("%Ä0", None),
            ("%ff", None),
        ] {
            assert_eq!(decoded(text).as_deref(), meant, "{text}");
        }
        assert_eq!(broken_parameters("a=1&b=%zz&%41=%"), ["b", "A"]);
    }
}
