//! What a message says only in its words: a path, or a value that stands at one place alone.

use fhir::Element;

/// Longest text looked at, in bytes.
const TEXT_MAX: usize = 4_000;
/// Paths and values looked up of one text.
const PARTS_MAX: usize = 12;
/// Marks around a value, opening and closing.
const QUOTES: [(char, char); 6] =
    [('\'', '\''), ('"', '"'), ('`', '`'), ('«', '»'), ('“', '”'), ('‘', '’')];

/// The words of a text that are a path: from a type of resource on, or an XPath.
pub(super) fn paths(text: &str) -> impl Iterator<Item = &str> {
    let is_path = |word: &&str| {
        let head = word.trim_start_matches("/f:").trim_start_matches('/');
        let is_typed = head.starts_with(|letter: char| letter.is_ascii_uppercase());
        is_typed && word.contains(['.', '/']) && !word.contains("://")
    };
    beginning(text).split_whitespace().map(bare).filter(is_path).take(PARTS_MAX)
}

/// As much of a text as is looked at.
fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_MAX)]
}

/// A word without the punctuation around it; a bracket that it opened itself is its own.
fn bare(word: &str) -> &str {
    let mut word = word.trim_start_matches(['(', '[', '"', '\'', '«', '`']);
    while let Some(last) = word.chars().next_back() {
        let opened = |open: char| word.matches(open).count() >= word.matches(last).count();
        let is_own = match last {
            ')' => opened('('),
            ']' => opened('['),
            '.' | ',' | ';' | ':' | '"' | '\'' | '»' | '`' | '!' | '?' => false,
            _ => true,
        };
        if is_own {
            break;
        }
        word = &word[..word.len() - last.len_utf8()];
    }
    word
}

/// Values that a text names: in quotation marks, as `code (system)` and as `system#code`.
pub(super) fn values(text: &str) -> Vec<&str> {
    let text = beginning(text);
    let mut values: Vec<&str> = QUOTES.iter().flat_map(|quotes| quoted(text, *quotes)).collect();
    let words: Vec<&str> = text.split_whitespace().collect();
    for pair in words.windows(2) {
        if pair[1].starts_with("(http") || pair[1].starts_with("(urn:") {
            values.push(pair[0]);
        }
    }
    for word in &words {
        let coded = bare(word).rsplit_once('#').filter(|(system, _)| system.contains(':'));
        values.extend(coded.map(|(_, code)| code));
    }
    values.retain(|value| value.len() > 1);
    values.truncate(PARTS_MAX);
    values
}

fn quoted(text: &str, (open, close): (char, char)) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once(open) {
        let Some((inside, behind)) = after.split_once(close) else { break };
        found.push(inside);
        rest = behind;
    }
    found
}

/// The element of a document that has one of these values: within `near` where that is given, else
/// the only one in all of it.
pub(super) fn with_value<'t>(
    document: Element<'t>,
    values: &[&str],
    near: impl Fn(Element<'t>) -> bool,
) -> Option<Element<'t>> {
    let mut found = vec![Vec::new(); values.len()];
    collect(document, values, &mut found);
    found.into_iter().find_map(|all| {
        let only = || if all.len() == 1 { all.first().copied() } else { None };
        all.iter().copied().find(|element| near(*element)).or_else(only)
    })
}

/// All elements that have one of these values, by the value: one walk, for a document may be long.
fn collect<'t>(element: Element<'t>, values: &[&str], found: &mut [Vec<Element<'t>>]) {
    if let Some(own) = element.value() {
        for (value, all) in values.iter().zip(&mut *found) {
            if own == *value {
                all.push(element);
            }
        }
    }
    for child in element.children() {
        collect(child, values, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<&str> {
        paths(text).collect()
    }

    #[test]
    fn paths_are_told_from_other_words() {
        assert_eq!(
            all("Profile failed (at Bundle.entry[2].resource)."),
            ["Bundle.entry[2].resource"]
        );
        assert_eq!(
            all("See 'Bundle.entry[1].resource.ofType(Patient)': wrong"),
            ["Bundle.entry[1].resource.ofType(Patient)"]
        );
        assert_eq!(
            all("at /f:Bundle/f:entry[1], Patient.name; Patient/one"),
            ["/f:Bundle/f:entry[1]", "Patient.name", "Patient/one"]
        );
        assert!(all("The Patient is unknown. See https://A.example/B.c (and e.g. a.b)").is_empty());
        assert!(all("é. «é» ') ]( .").is_empty());
    }

    #[test]
    fn values_are_what_is_quoted_or_has_a_system() {
        assert_eq!(values("the value ('AB') and \"cd ef\" and «gh»"), ["AB", "cd ef", "gh"]);
        assert_eq!(values("the code 94500-6 (http://loinc.org) expires"), ["94500-6"]);
        assert_eq!(values("Unknown code http://loinc.org#94500-6."), ["94500-6"]);
        assert!(values("nothing of 'a and #b (c)").is_empty());
        assert!(values(&"'é".repeat(5_000)).len() <= PARTS_MAX);
    }

    #[test]
    fn what_stands_behind_the_bound_is_not_looked_at_wherever_a_letter_ends() {
        for before in ["", "a", "ab"] {
            let text = format!("{before}{} 'late' Patient.name", "é".repeat(TEXT_MAX));
            assert!(values(&text).is_empty(), "{before}");
            assert!(all(&text).is_empty(), "{before}");
        }
    }
}
