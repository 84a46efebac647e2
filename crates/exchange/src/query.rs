//! The query string of a search: written by the client, read by the authority
//! (docs/interface.md, "Search"; percent-encoding per RFC 3986).

use fhir::Period;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::search::split_prefix;
use crate::{Processing, Query, Release, SearchProblem, SearchSupport, SortKey, TimeFilter, Times};

impl Query {
    /// The query string (without `?`), percent-encoded per RFC 3986, parameters named and times
    /// written as the release does. What the release cannot be asked is left out: see
    /// [`Query::beyond`].
    pub fn to_query_string(&self, release: Release) -> String {
        let parameters = self.parameters(release);
        let asked = parameters.iter().filter(|(name, _)| offers(release, name));
        let written: Vec<_> =
            asked.map(|(name, value)| format!("{name}={}", encode(value))).collect();
        written.join("&")
    }

    /// The first parameter that the release does not offer (docs/interface.md, "Versioning":
    /// 1.0.0-trialuse searches by `identifier` and nothing else).
    pub fn beyond(&self, release: Release) -> Option<&'static str> {
        self.parameters(release).iter().map(|(name, _)| *name).find(|name| !offers(release, name))
    }

    fn parameters(&self, release: Release) -> Vec<(&'static str, String)> {
        let facts = release.facts();
        let mut parameters: Vec<(&'static str, String)> = Vec::new();
        let time = |filter: &TimeFilter| match facts.times {
            Times::WithoutZone => format!("{}{}", filter.prefix.code(), filter.value),
            Times::Utc => {
                let parts: Vec<_> = filter.value.split(',').map(zoned).collect();
                format!("{}{}", filter.prefix.code(), parts.join(","))
            }
        };
        parameters.extend(self.date.iter().map(|filter| ("date", time(filter))));
        parameters
            .extend(self.last_updated.iter().map(|filter| (facts.last_updated, time(filter))));
        parameters.extend(self.identifier.iter().map(|value| ("identifier", value.clone())));
        parameters.extend(self.status.map(|status| ("elm-status", status.code().to_owned())));
        parameters.extend(self.id.iter().map(|id| ("_id", id.clone())));
        if !self.sort.is_empty() {
            let key = |(key, down): &(SortKey, bool)| {
                format!("{}{}", if *down { "-" } else { "" }, key.name())
            };
            let keys: Vec<_> = self.sort.iter().map(key).collect();
            parameters.push(("_sort", keys.join(",")));
        }
        parameters.extend(self.count.map(|count| ("_count", count.to_string())));
        parameters.extend(self.page.map(|page| ("page", page.to_string())));
        parameters
    }

    /// Reads a raw query string as the given release's authority does: unknown parameters are
    /// returned beside the query (by name), malformed values are problems, all of them. A parameter
    /// without a value is ignored, as FHIR says. `_summary=count` reads as `_count=0`.
    pub fn parse(raw: &str, release: Release) -> Result<(Self, Vec<String>), Vec<SearchProblem>> {
        let mut reading = Reading { release, ..Reading::default() };
        for (name, value) in pairs(raw) {
            reading.take(name, value);
        }
        if reading.problems.is_empty() {
            Ok((reading.query, reading.unknown))
        } else {
            Err(reading.problems)
        }
    }
}

/// Whether a release can be asked this.
fn offers(release: Release, name: &str) -> bool {
    release.facts().search == SearchSupport::Full || name == "identifier"
}

/// A date and time that names no zone, with the one that is meant. A date alone has none.
fn zoned(value: &str) -> String {
    let has_zone = value.split_once('T').is_none_or(|(_, time)| time.contains(['Z', '+', '-']));
    if has_zone { value.to_owned() } else { format!("{value}Z") }
}

#[derive(Default)]
struct Reading {
    release: Release,
    query: Query,
    unknown: Vec<String>,
    problems: Vec<SearchProblem>,
}

impl Reading {
    fn take(&mut self, name: String, value: String) {
        let facts = self.release.facts();
        let full = facts.search == SearchSupport::Full;
        if value.is_empty() {
            self.unknown.push(name);
            return;
        }
        let taken = match name.as_str() {
            "identifier" => self.identifier(&value),
            "_count" => number(&value).map(|count| self.query.count = Some(count)),
            "page" => self.page(&value),
            "_summary" if value == "count" => {
                self.query.count = Some(0);
                Ok(())
            }
            "date" if full => time(&value).map(|filter| self.query.date.push(filter)),
            "elm-status" if full => self.status(&value),
            "_id" if full => self.id(&value),
            "_sort" => self.sort(&value),
            other if full && other == facts.last_updated => {
                time(&value).map(|filter| self.query.last_updated.push(filter))
            }
            _ => {
                self.unknown.push(name);
                return;
            }
        };
        if let Err(reason) = taken {
            self.problems.push(SearchProblem { parameter: name, reason, value });
        }
    }

    fn identifier(&mut self, value: &str) -> Result<(), &'static str> {
        let readable = split(value, ',').into_iter().all(|token| {
            split(token, '|').len() <= 2 && token.chars().any(|character| character != '|')
        });
        if !readable {
            return Err("not-a-token");
        }
        self.query.identifier.push(value.to_owned());
        Ok(())
    }

    fn page(&mut self, value: &str) -> Result<(), &'static str> {
        let page = number(value)?;
        if page == 0 {
            return Err("not-a-number");
        }
        self.query.page = Some(page);
        Ok(())
    }

    fn status(&mut self, value: &str) -> Result<(), &'static str> {
        if value.contains(',') || self.query.status.is_some() {
            return Err("several-statuses");
        }
        // A token may carry a system, which this element has not.
        let code = value.strip_prefix('|').unwrap_or(value);
        self.query.status = Some(Processing::from_code(code).ok_or("unknown-status")?);
        Ok(())
    }

    fn id(&mut self, value: &str) -> Result<(), &'static str> {
        if self.query.id.as_deref().is_some_and(|id| id != value) {
            return Err("several-values");
        }
        self.query.id = Some(value.to_owned());
        Ok(())
    }

    fn sort(&mut self, value: &str) -> Result<(), &'static str> {
        for part in value.split(',') {
            let (name, down) = part.strip_prefix('-').map_or((part, false), |name| (name, true));
            let key = SortKey::named(name).ok_or("unknown-sort-key")?;
            self.query.sort.push((key, down));
        }
        Ok(())
    }
}

fn number(value: &str) -> Result<u32, &'static str> {
    // `parse` alone would take a leading `+`.
    if !value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("not-a-number");
    }
    value.parse().map_err(|_| "not-a-number")
}

fn time(value: &str) -> Result<TimeFilter, &'static str> {
    for part in value.split(',') {
        let (_, date) = split_prefix(part).ok_or("unknown-prefix")?;
        Period::parse(date).ok_or("not-a-date")?;
    }
    TimeFilter::parse(value).ok_or("not-a-date")
}

/// Parts of a search value between separators; one behind a `\\` separates nothing (FHIR R4,
/// Search, "Escaping Search Parameters"). The parts are still [escaped](unescape).
pub fn split(value: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut from, mut escaped) = (Vec::new(), 0, false);
    for (at, character) in value.char_indices() {
        if !escaped && character == separator {
            parts.push(&value[from..at]);
            from = at + character.len_utf8();
        }
        escaped = !escaped && character == '\\';
    }
    parts.push(&value[from..]);
    parts
}

/// A part of a search value as it was meant: `\\,` `\\|` `\\$` and `\\\\` are the characters
/// themselves. Before anything else a `\\` is a character like others.
pub fn unescape(part: &str) -> String {
    let mut text = String::with_capacity(part.len());
    let mut characters = part.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied().filter(|next| SEPARATORS.contains(next));
        match (character, next) {
            ('\\', Some(next)) => {
                characters.next();
                text.push(next);
            }
            _ => text.push(character),
        }
    }
    text
}

/// A text as one value of a search: nothing in it separates.
pub fn escape(text: &str) -> String {
    let mut value = String::with_capacity(text.len());
    for character in text.chars() {
        if SEPARATORS.contains(&character) {
            value.push('\\');
        }
        value.push(character);
    }
    value
}

const SEPARATORS: [char; 4] = [',', '|', '$', '\\'];

/// Name and value of each parameter, decoded. `+` is itself, as in RFC 3986 (it is a space in HTML
/// forms).
pub fn pairs(raw: &str) -> impl Iterator<Item = (String, String)> + '_ {
    raw.split('&').filter(|part| !part.is_empty()).map(|part| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        (decode(name), decode(value))
    })
}

/// What RFC 3986 (section 2.3) calls unreserved stays as it is.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Percent-encodes everything that RFC 3986 does not call unreserved.
pub fn encode(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Undoes [`encode`]. A `%` that begins no code stays; bytes that are not UTF-8 become U+FFFD.
pub fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded_and_what_is_no_code_stays() {
        assert_eq!(encode("aZ0-._~ ä+%|"), "aZ0-._~%20%C3%A4%2B%25%7C");
        for text in ["", "plain", "a b&c=d", "ä|😀+%41", "%"] {
            assert_eq!(decode(&encode(text)), text);
        }
        for (text, meant) in [("%", "%"), ("%zz+", "%zz+"), ("%4", "%4"), ("%ff", "\u{fffd}")] {
            assert_eq!(decode(text), meant);
        }
    }

    #[test]
    fn what_is_escaped_separates_nothing() {
        assert_eq!(split(r"a\,b,c", ','), [r"a\,b", "c"]);
        assert_eq!(split(r"a\\,b", ','), [r"a\\", "b"], "an escaped backslash escapes nothing");
        assert_eq!(split("", ','), [""]);
        assert_eq!(unescape(r"a\,b\|c\$d\\e\f\"), r"a,b|c$d\e\f\");
        for text in ["", "plain", r"a,b|c$d\e", r"\\,", "ä|😀,"] {
            let value = escape(text);
            assert_eq!(split(&value, ',').len(), 1, "{value}");
            assert_eq!(split(&value, '|').len(), 1, "{value}");
            assert_eq!(unescape(&value), text);
        }
    }
}
