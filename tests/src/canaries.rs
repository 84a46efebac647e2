//! Canaries: texts and bytes that must be nowhere but where they belong, in every disguise that a
//! program may give them by writing them down.

use std::path::{Path, PathBuf};

use aho_corasick::{AhoCorasick, MatchKind};
use testkit::Figures;

/// What is looked for, all at once.
pub struct Canaries {
    /// What each needle stands for, and how it is written.
    names: Vec<(String, &'static str)>,
    automaton: AhoCorasick,
    canaries: u64,
    disguises: u64,
}

/// A place and what lies there.
pub struct Place {
    /// For the message; never the content.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Place {
    /// A place by its name.
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), bytes: bytes.into() }
    }
}

impl Canaries {
    /// From what people write (names, numbers, passwords), and from raw secrets (keys).
    ///
    /// # Panics
    /// Where a canary is so short that it would be found by chance.
    pub fn new(texts: &[(&str, &str)], secrets: &[(&str, &[u8])]) -> Self {
        let (mut names, mut needles, mut disguises) = (Vec::new(), Vec::new(), 0);
        let mut take = |name: &str, all: Vec<(&'static str, Vec<u8>)>| {
            disguises = disguises.max(all.len());
            for (how, needle) in all {
                assert!(needle.len() >= 8, "{name} as {how} is too short to look for");
                if !needles.contains(&needle) {
                    names.push((name.to_owned(), how));
                    needles.push(needle);
                }
            }
        };
        for (name, text) in texts {
            take(name, of_text(text));
        }
        for (name, bytes) in secrets {
            take(name, of_bytes(bytes));
        }
        let automaton = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&needles);
        let automaton = automaton.expect("few needles");
        let canaries = (texts.len() + secrets.len()) as u64;
        Self { names, automaton, canaries, disguises: disguises as u64 }
    }

    /// What is found first: which canary, and how it is written.
    pub fn find(&self, haystack: &[u8]) -> Option<(&str, &'static str)> {
        let found = self.automaton.find(haystack)?;
        let (name, how) = &self.names[found.pattern().as_usize()];
        Some((name, how))
    }

    /// Looks everywhere; a hit fails the test. Counts places × canaries × disguises.
    ///
    /// # Panics
    /// Where a canary is found, or where there was nothing to look at.
    pub fn none_in(&self, places: &[Place], figures: &mut Figures) {
        let mut bytes = 0;
        for place in places {
            if let Some((name, how)) = self.find(&place.bytes) {
                panic!("{name} as {how} in {}", place.name);
            }
            bytes += place.bytes.len();
        }
        assert!(bytes > 0, "nothing was looked at");
        figures.cases(places.len() as u64 * self.canaries * self.disguises);
        figures.measure("places", places.len() as f64);
        figures.measure("canaries", self.canaries as f64);
        figures.measure("disguises", self.disguises as f64);
        figures.measure("megabytes searched", bytes as f64 / 1e6);
    }
}

/// The ways in which a text may be written without being the text.
fn of_text(text: &str) -> Vec<(&'static str, Vec<u8>)> {
    let utf16 =
        |bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    let escaped = |ascii: bool, write: fn(char) -> String| {
        let one =
            |c: char| if c.is_ascii_alphanumeric() && ascii { c.to_string() } else { write(c) };
        text.chars().map(one).collect::<String>().into_bytes()
    };
    let in_json = |c: char| {
        let mut units = [0; 2];
        let unit = |unit: &u16| format!("\\u{unit:04x}");
        c.encode_utf16(&mut units).iter().map(unit).collect()
    };
    let percent = |c: char| {
        let mut bytes = [0; 4];
        c.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")).collect::<String>()
    };
    let entity = |c: char| format!("&#{};", u32::from(c));
    let mut all = of_bytes(text.as_bytes());
    all.extend([
        ("UTF-16LE", utf16(u16::to_le_bytes)),
        ("UTF-16BE", utf16(u16::to_be_bytes)),
        ("a URL", escaped(true, percent)),
        ("a URL, all of it", escaped(false, percent)),
        ("a form", escaped(true, |c| if c == ' ' { "+".to_owned() } else { percent_of(c) })),
        ("JSON escapes", escaped(true, in_json)),
        ("JSON escapes, all of it", escaped(false, in_json)),
        ("XML references", escaped(true, entity)),
        ("base64 of UTF-16LE", base64(&utf16(u16::to_le_bytes), 0)),
        ("Latin-1", text.chars().filter_map(|c| u8::try_from(u32::from(c)).ok()).collect()),
    ]);
    all
}

fn percent_of(c: char) -> String {
    let mut bytes = [0; 4];
    c.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// The ways in which bytes may be written.
fn of_bytes(bytes: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let hex = |digit: fn(&u8) -> String| bytes.iter().map(digit).collect::<String>().into_bytes();
    let joined = |separator: &str, digit: fn(&u8) -> String| {
        bytes.iter().map(digit).collect::<Vec<_>>().join(separator).into_bytes()
    };
    let mut all = vec![
        ("itself", bytes.to_vec()),
        ("hex", hex(|byte| format!("{byte:02x}"))),
        ("HEX", hex(|byte| format!("{byte:02X}"))),
        ("hex with colons", joined(":", |byte| format!("{byte:02X}"))),
        ("a list of numbers", joined(", ", |byte| byte.to_string())),
    ];
    for (shift, name) in ["base64", "base64 from the second byte", "base64 from the third byte"]
        .into_iter()
        .enumerate()
    {
        all.push((name, base64(bytes, shift)));
    }
    let url = |digit: u8| match digit {
        b'+' => b'-',
        b'/' => b'_',
        other => other,
    };
    all.push(("base64 for URLs", base64(bytes, 0).into_iter().map(url).collect()));
    all
}

/// Base64 of bytes that begin at this place of a group; only the digits that depend on nothing
/// else.
fn base64(bytes: &[u8], shift: usize) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let padded = [vec![b'x'; shift], bytes.to_vec()].concat();
    let group = |chunk: &[u8]| {
        let bytes = [chunk[0], *chunk.get(1).unwrap_or(&0), *chunk.get(2).unwrap_or(&0)];
        let bits = bytes.iter().fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte));
        [18, 12, 6, 0].map(|at| DIGITS[bits >> at & 63])
    };
    let digits: Vec<u8> = padded.chunks(3).flat_map(group).collect();
    digits[(shift * 8).div_ceil(6)..padded.len() * 8 / 6].to_vec()
}

/// All files below a folder, but those below the folders that are left out.
pub fn places_below(folder: &Path, left_out: &[PathBuf]) -> Vec<Place> {
    if left_out.iter().any(|out| folder.starts_with(out)) {
        return Vec::new();
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut places = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        // A name is a place too.
        let name = path.file_name().map(|name| name.as_encoded_bytes().to_vec());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => places.extend(places_below(&path, left_out)),
            // Sockets and pipes hold nothing.
            Ok(kind) if kind.is_file() && !left_out.contains(&path) => {
                let mut bytes = std::fs::read(&path).unwrap_or_default();
                bytes.push(0);
                bytes.extend(name.unwrap_or_default());
                places.push(Place::new(path.display().to_string(), bytes));
            }
            _ => {}
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_disguise_is_seen_through() {
        let canaries = Canaries::new(&[("name", "Zoë Zwinglicanary")], &[("key", &[7; 32])]);
        let base64_of_name = "Wm/DqyBad2luZ2xpY2FuYXJ5";
        for hidden in [
            "xx Zoë Zwinglicanary yy".as_bytes().to_vec(),
            "Zoë Zwinglicanary".encode_utf16().flat_map(u16::to_le_bytes).collect(),
            "Zoë Zwinglicanary".encode_utf16().flat_map(u16::to_be_bytes).collect(),
            b"?name=Zo%C3%AB%20Zwinglicanary&".to_vec(),
            b"?name=Zo%C3%AB+Zwinglicanary&".to_vec(),
            br#"{"name":"Zo\u00eb\u0020Zwinglicanary"}"#.to_vec(),
            b"Zo&#235;&#32;Zwinglicanary".to_vec(),
            b"Zo\xeb Zwinglicanary".to_vec(),
            format!("[{base64_of_name}]").into_bytes(),
            [1; 5].iter().chain(&[7; 32]).copied().collect(),
            format!("{:?}", [7_u8; 40]).into_bytes(),
            "07".repeat(32).into_bytes(),
        ] {
            let found = canaries.find(&hidden);
            assert!(found.is_some(), "{}", String::from_utf8_lossy(&hidden));
        }
        // In the middle of something else, at each of the three places of a group.
        for before in ["", "a", "ab"] {
            let text = format!("{before}Zoë Zwinglicanary and more");
            let digits = base64(text.as_bytes(), 0);
            assert!(canaries.find(&digits).is_some(), "{}", String::from_utf8_lossy(&digits));
        }
        assert_eq!(base64(b"Man", 0), b"TWFu");
        assert_eq!(canaries.find(b"nothing of that kind"), None);
        assert_eq!(canaries.find(&[7; 31]), None);
    }

    #[test]
    fn a_name_of_a_file_is_a_place_and_what_is_left_out_is_not() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("own")).unwrap();
        std::fs::write(folder.path().join("own/Zwinglicanary"), "Zwinglicanary").unwrap();
        std::fs::write(folder.path().join("Zwinglicanary.tmp"), "").unwrap();
        let canaries = Canaries::new(&[("name", "Zwinglicanary")], &[]);
        let places = places_below(folder.path(), &[folder.path().join("own")]);
        assert_eq!(places.len(), 1);
        assert!(canaries.find(&places[0].bytes).is_some());
    }
}
