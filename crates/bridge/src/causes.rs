//! What reports that need a person have in common: the authority's or our code, the words without
//! their values, and the place without its numbers.

use journal::Message;

/// Reports with the same key have the same cause.
pub(crate) fn key_of(message: Option<&Message>, state: &str) -> String {
    let Some(message) = message else { return format!("state {state}") };
    let code = message.rule.as_deref().unwrap_or(&message.code);
    let words = common_words(message.text.as_deref().unwrap_or_default());
    let path = without_numbers(message.expression.as_deref().unwrap_or_default());
    [message.source.code(), code, &words, &path].join(" ")
}

/// The words that stay the same from report to report: what is quoted and what has digits is a
/// value.
fn common_words(text: &str) -> String {
    let mut unquoted = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(['"', '\'', '“', '«', '„']) {
        let inside = rest[start..].chars().next().map_or(start, |quote| start + quote.len_utf8());
        let Some(end) = rest[inside..].find(['"', '\'', '”', '»', '“']) else { break };
        unquoted.push_str(&rest[..start]);
        unquoted.push('…');
        let closing = inside + end;
        let after = rest[closing..].chars().next().map_or(closing, |q| closing + q.len_utf8());
        rest = &rest[after..];
    }
    unquoted.push_str(rest);
    let is_value = |word: &str| word.chars().any(|c| c.is_ascii_digit() || c == '…');
    let mut words: Vec<&str> = Vec::new();
    for word in unquoted.split_whitespace() {
        let word = if is_value(word) { "…" } else { word };
        if word != "…" || words.last() != Some(&"…") {
            words.push(word);
        }
    }
    words.join(" ")
}

/// A path without the numbers of its elements.
fn without_numbers(path: &str) -> String {
    let mut inside = false;
    let outside = |c: &char| match c {
        '[' => {
            inside = true;
            false
        }
        ']' => {
            inside = false;
            false
        }
        _ => !inside,
    };
    path.chars().filter(outside).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_numbers_do_not_tell_causes_apart() {
        let one = common_words("Code 99999-9 (\"http://loinc.org\") is not in set 12");
        assert_eq!(one, common_words("Code 1-2 (\"x\") is not in set 4"));
        assert_eq!(one, "Code … is not in set …");
        assert_ne!(one, common_words("Code 1-2 is not in a set"));
        assert_eq!(common_words("the \"open quote is kept"), "the \"open quote is kept");
        assert_eq!(without_numbers("Bundle.entry[7].resource.code"), "Bundle.entry.resource.code");
    }
}
