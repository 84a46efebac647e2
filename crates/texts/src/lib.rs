//! What is said by code, in the languages of the laboratories. The texts are files of the folder
//! `texts`, which the window reads too: what the core finds, what goes wrong, the states and events
//! of a report.
//!
//! - `message`: a text with places for parameters
//! - `size`: a number of bytes as people read it
//! - `written`: from the files to a table; a text that one language lacks ends the build

mod message;
mod size;
pub mod written;

/// The texts that the window, the command line and the authority share.
pub const CATALOGUE: Catalogue = Catalogue::new(include!(concat!(env!("OUT_DIR"), "/texts.rs")));

/// A language that the programs speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// English, also for whoever asks for a language that there is not.
    English,
    /// German, as written in Switzerland.
    German,
    /// French, code `fr`.
    French,
    /// Italian, code `it`.
    Italian,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::English, Self::German, Self::French, Self::Italian];

    /// The language of a locale name like `de_CH.UTF-8`.
    pub fn of_locale(locale: &str) -> Self {
        match locale.split(['_', '.', '-', '@']).next() {
            Some("de") => Self::German,
            Some("fr") => Self::French,
            Some("it") => Self::Italian,
            _ => Self::English,
        }
    }

    /// Its code, as in the names of the folders: `fr`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::French => "fr",
            Self::Italian => "it",
        }
    }

    /// The shared text of an id with its parameters; an id without text stands for itself.
    pub fn shared(self, id: &str, params: &[(&str, &str)]) -> String {
        let text = CATALOGUE.text(self, id);
        text.map_or_else(|| id.to_owned(), |text| self.filled(text, params))
    }

    /// Puts parameters into a text. The parameter `value-set` is called `valueSet` there, and
    /// `limit` in bytes is asked for as a size by `limitSize`. What a parameter holds is not looked
    /// at again; one that is missing leaves its place empty.
    pub fn filled(self, text: &str, params: &[(&str, &str)]) -> String {
        let of = |name: &str| params.iter().find(|(known, _)| is_named(known, name));
        let value = |name: &str| match (of(name), size::sized(name).and_then(of)) {
            (Some((_, value)), _) => (*value).to_owned(),
            (None, Some((_, bytes))) => self.size(bytes),
            (None, None) => String::new(),
        };
        // The build has read every text of the tables.
        message::filled(text, self.one(), &value).unwrap_or_else(|| text.to_owned())
    }

    /// Which numbers this language counts as one.
    fn one(self) -> fn(u64) -> bool {
        match self {
            Self::French => |number| number < 2,
            _ => |number| number == 1,
        }
    }
}

/// Whether a parameter of the core, in words with hyphens, has this name in a text.
fn is_named(param: &str, name: &str) -> bool {
    let mut words = param.split('-');
    let mut rest = words.next().and_then(|first| name.strip_prefix(first));
    for word in words {
        let (first, others) = word.split_at(word.len().min(1));
        rest = rest
            .and_then(|rest| rest.strip_prefix(&*first.to_ascii_uppercase()))
            .and_then(|rest| rest.strip_prefix(others));
    }
    rest == Some("")
}

/// Texts by id, in all languages, sorted by id. An id is a family and a code: `state.held`.
#[derive(Debug, Clone, Copy)]
pub struct Catalogue(&'static [Entry]);

/// Id, and its texts in the order of [`Language::ALL`].
type Entry = (&'static str, [&'static str; 4]);

impl Catalogue {
    /// Of what [`written::write`] has made.
    pub const fn new(entries: &'static [Entry]) -> Self {
        Self(entries)
    }

    /// The text of an id.
    pub fn text(&self, language: Language, id: &str) -> Option<&'static str> {
        let at = self.0.binary_search_by(|(known, _)| (*known).cmp(id)).ok()?;
        Some(self.0[at].1[language as usize])
    }

    /// All ids.
    pub fn ids(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|(id, _)| *id)
    }

    /// Whether there is a text for a code of a family.
    pub const fn has(&self, family: &str, code: &str) -> bool {
        self.has_with(family, code, "")
    }

    /// Whether there is a text with this ending of its id.
    const fn has_with(&self, family: &str, code: &str, ending: &str) -> bool {
        let words = [family.as_bytes(), b".", code.as_bytes(), ending.as_bytes()];
        let (mut from, mut to) = (0, self.0.len());
        while from < to {
            let middle = from.midpoint(to);
            match order(self.0[middle].0.as_bytes(), &words) {
                0 => return true,
                1 => to = middle,
                _ => from = middle + 1,
            }
        }
        false
    }

    /// Names that a text asks for and that are not among its parameters.
    pub fn foreign(&self, id: &str, params: &[&str]) -> Vec<String> {
        let all = Language::ALL.iter().filter_map(|language| self.text(*language, id));
        let asked = all.filter_map(message::arguments).flatten();
        let is_known = |name: &str| params.iter().any(|param| is_named(param, name));
        asked.filter(|name| !is_known(name) && !size::sized(name).is_some_and(is_known)).collect()
    }

    /// Ends the compilation of a constant where a code of a family has no text. The codes come with
    /// their parameters.
    pub const fn must_have_each(&self, family: &str, codes: &[(&str, &[&str])]) {
        let mut at = 0;
        while at < codes.len() {
            assert!(self.has(family, codes[at].0), "{}", codes[at].0);
            at += 1;
        }
    }

    /// Ends the compilation of a constant where a code of a family has no help
    /// (`family.code.more`).
    pub const fn must_help_each(&self, family: &str, codes: &[(&str, &[&str])]) {
        let mut at = 0;
        while at < codes.len() {
            assert!(self.has_with(family, codes[at].0, ".more"), "{}", codes[at].0);
            at += 1;
        }
    }

    /// Ends the compilation of a constant where a code of a family has no text.
    pub const fn must_have(&self, family: &str, codes: &[&str]) {
        let mut at = 0;
        while at < codes.len() {
            assert!(self.has(family, codes[at]), "{}", codes[at]);
            at += 1;
        }
    }
}

/// How an id stands to these words, one behind the other: below them is -1, above them is 1.
const fn order(id: &[u8], words: &[&[u8]]) -> i8 {
    let (mut at, mut word) = (0, 0);
    while word < words.len() {
        let mut letter = 0;
        while letter < words[word].len() {
            if at == id.len() || id[at] < words[word][letter] {
                return -1;
            }
            if id[at] > words[word][letter] {
                return 1;
            }
            (at, letter) = (at + 1, letter + 1);
        }
        word += 1;
    }
    if at == id.len() { 0 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_that_of_the_locale() {
        for (locale, language) in [
            ("de_CH.UTF-8", Language::German),
            ("fr-CH", Language::French),
            ("it", Language::Italian),
            ("en_GB", Language::English),
            ("C.UTF-8", Language::English),
            ("", Language::English),
            ("rm_CH", Language::English),
        ] {
            assert_eq!(Language::of_locale(locale), language, "{locale}");
        }
    }

    #[test]
    fn a_text_is_found_by_its_id_in_each_language() {
        let held = Language::ALL.map(|language| CATALOGUE.text(language, "state.held").unwrap());
        assert_eq!(held, ["On hold", "Angehalten", "Retenue", "Trattenuta"]);
        assert_eq!(CATALOGUE.text(Language::English, "state.odd"), None);
    }

    #[test]
    fn every_id_is_found_by_family_and_code_and_nothing_else_is() {
        for id in CATALOGUE.ids() {
            let (family, code) = id.split_once('.').unwrap();
            assert!(CATALOGUE.has(family, code), "{id}");
            assert!(CATALOGUE.has_with(family, &code[..code.len() - 1], &code[code.len() - 1..]));
            assert!(!CATALOGUE.has(family, &format!("{code}x")), "{id}");
            assert!(!CATALOGUE.has(&format!("{family}x"), code), "{id}");
        }
        assert!(!CATALOGUE.has("", "") && !CATALOGUE.has("state", ""));
    }

    #[test]
    fn parameters_have_their_names_of_the_core_or_of_the_window() {
        let said = Language::English
            .filled("{valueSet}, {keyType}", &[("value-set", "a"), ("keyType", "b")]);
        assert_eq!(said, "a, b");
        assert!(!is_named("value-se", "valueSet") && !is_named("value", "valueSet"));
    }

    #[test]
    fn french_counts_nothing_as_one() {
        let text = "{n, plural, one {one} other {other}}";
        let of = |language: Language| language.filled(text, &[("n", "0")]);
        assert_eq!(Language::ALL.map(of), ["other", "other", "one", "other"]);
    }
}
