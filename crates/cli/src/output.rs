//! The only door to standard output and standard error. Whatever comes from outside (file names,
//! the authority's words, names) passes here, and loses every character that a terminal would obey.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write};
use std::sync::Mutex;
use std::sync::PoisonError;

use serde::Serialize;

use crate::catalogue::Catalogue;
use crate::exit::Exit;

/// Results go to standard output; progress, hints and errors to standard error.
pub(crate) struct Output {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    pub(crate) names: Names,
    colour_out: bool,
    colour_err: bool,
    state: Mutex<Written>,
}

/// Where names of files are shown. They may name patients: a file, a log or another program gets
/// them where they were asked for, and nowhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Names {
    /// On standard output.
    pub(crate) results: bool,
    /// On standard error.
    pub(crate) messages: bool,
}

impl Names {
    /// Of this process; `asked`: with `--file-names`.
    pub(crate) fn of(asked: bool) -> Self {
        Self {
            results: asked || io::stdout().is_terminal(),
            messages: asked || io::stderr().is_terminal(),
        }
    }
}

/// Digits of a digest that are shown in place of a file name.
const DIGEST: usize = 16;

/// How standard output took it so far.
#[derive(Default)]
struct Written {
    /// Nobody reads any more (a closed pipe): that is the reader's good right.
    closed: bool,
    /// It could not be written (a full disk), and why: the results are not complete.
    failed: Option<String>,
}

/// How a part of a line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    Plain,
    Bold,
    Faint,
    Good,
    Bad,
    Careful,
}

/// A line of parts. The parts are plain text; what they look like stands beside.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Line(Vec<(String, Look)>);

impl Line {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn of(text: impl Into<String>) -> Self {
        Self::new().add(text)
    }

    pub(crate) fn add(self, text: impl Into<String>) -> Self {
        self.look(text, Look::Plain)
    }

    pub(crate) fn look(mut self, text: impl Into<String>, look: Look) -> Self {
        self.0.push((text.into(), look));
        self
    }

    /// A part padded to a width, in characters, with one space at least behind it.
    pub(crate) fn column(self, text: &str, width: usize, look: Look) -> Self {
        let text = neutral(text);
        let room = width.saturating_sub(text.chars().count()).max(1);
        self.look(format!("{text}{}", " ".repeat(room)), look)
    }

    fn shown(&self, colour: bool) -> String {
        let mut shown = String::new();
        for (text, look) in &self.0 {
            let text = neutral(text);
            match look.code().filter(|_| colour && !text.trim().is_empty()) {
                // Writing to a String cannot fail.
                Some(code) => _ = write!(shown, "\u{1b}[{code}m{text}\u{1b}[0m"),
                None => shown.push_str(&text),
            }
        }
        shown.truncate(shown.trim_end_matches(' ').len());
        shown
    }
}

impl Look {
    const fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Bold => Some("1"),
            Self::Faint => Some("2"),
            Self::Good => Some("32"),
            Self::Bad => Some("31"),
            Self::Careful => Some("33"),
        }
    }
}

/// Without what a terminal obeys: control characters, line ends, and marks that change the
/// direction of writing. They stay visible as symbols or escapes.
pub(crate) fn neutral(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' | '\n' | '\r' => shown.push(' '),
            '\u{0}'..='\u{1f}' => {
                // U+2400 and following: pictures of the control characters.
                shown.push(char::from_u32(0x2400 + u32::from(character)).unwrap_or('\u{fffd}'));
            }
            _ if is_obeyed(character) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
            }
            _ => shown.push(character),
        }
    }
    shown
}

/// DEL, C1 controls, line and paragraph separators, marks of direction, invisible characters.
fn is_obeyed(character: char) -> bool {
    matches!(
        character,
        '\u{7f}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

impl Output {
    pub(crate) fn new(json: bool, quiet: bool, names: Names) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        Self {
            json,
            quiet,
            names,
            colour_out: wanted && io::stdout().is_terminal(),
            colour_err: wanted && io::stderr().is_terminal(),
            state: Mutex::default(),
        }
    }

    /// What a report is recognised by: its file name, or the beginning of its digest.
    pub(crate) fn name(&self, file: &str, digest: Option<&str>) -> String {
        if self.names.results {
            return file.to_owned();
        }
        digest.map_or_else(String::new, |digest| digest.chars().take(DIGEST).collect())
    }

    /// A result for people; with `--json` results are objects and this is left out.
    pub(crate) fn line(&self, line: &Line) {
        if !self.json {
            self.write(&line.shown(self.colour_out));
        }
    }

    /// Text for a file or another program, byte for byte.
    pub(crate) fn raw(&self, text: &str) {
        self.write(text);
    }

    /// A result for scripts, on one line.
    pub(crate) fn object(&self, object: &impl Serialize) {
        match serde_json::to_string(object) {
            Ok(text) => self.write(&escaped(&text)),
            // Without its words: they may repeat what could not be written.
            Err(_) => self.state().failed = Some(io::ErrorKind::InvalidData.to_string()),
        }
    }

    /// A hint beside the results; scripts need none.
    pub(crate) fn hint(&self, line: &Line) {
        if !self.quiet && !self.json {
            self.say(line);
        }
    }

    /// What a person must know, also with `--quiet`.
    pub(crate) fn error(&self, line: Line) {
        self.say(&line);
    }

    fn say(&self, line: &Line) {
        // Where standard error is closed there is nobody to tell.
        let _ = writeln!(io::stderr(), "{}", line.shown(self.colour_err));
    }

    fn write(&self, text: &str) {
        let mut state = self.state();
        if state.closed || state.failed.is_some() {
            return;
        }
        let mut out = io::stdout().lock();
        match writeln!(out, "{text}").and_then(|()| out.flush()) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => state.closed = true,
            Err(error) => state.failed = Some(error.kind().to_string()),
        }
    }

    /// Whether results still reach somebody.
    pub(crate) fn is_read(&self) -> bool {
        !self.state().closed
    }

    /// Whether a person watches: progress is shown then, and only then.
    pub(crate) fn is_watched(&self) -> bool {
        !self.quiet && !self.json && io::stderr().is_terminal()
    }

    /// Results that could not be written are not "all well", and whoever wanted them must not take
    /// half of them for all.
    pub(crate) fn finish(&self, exit: Exit, texts: &Catalogue) -> Exit {
        let Some(reason) = self.state().failed.take() else { return exit };
        let reason = texts.reason(&reason);
        let text = texts.text("say.not-written", &[("reason", &reason)]);
        self.error(Line::new().look(format!("{}: ", texts.say("say.error")), Look::Bad).add(text));
        exit.max(Exit::Person)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, Written> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// JSON means the same with these characters escaped, and a terminal that shows it stays calm.
fn escaped(json: &str) -> String {
    if !json.chars().any(is_obeyed) {
        return json.to_owned();
    }
    let mut text = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        if is_obeyed(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(character);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_gets_through() {
        let hostile = "a\u{1b}[31mred\u{1b}]0;title\u{7}\nb\u{9b}2J\u{202e}gpj.exe\u{200b}\u{7f}\r";
        let shown = Line::of(hostile).look(hostile, Look::Bad).shown(false);
        assert!(!shown.chars().any(|c| c.is_control() || is_obeyed(c)), "{shown:?}");
        assert!(shown.contains("␛[31mred"), "{shown:?}");
        let coloured = Line::new().look(hostile, Look::Bad).shown(true);
        assert_eq!(coloured.matches('\u{1b}').count(), 2, "only our own colour: {coloured:?}");
    }

    /// Every character there is, in every way to the terminal: sequences of colour, links and
    /// titles all begin with one that does not get through.
    #[test]
    fn no_character_reaches_a_terminal_as_a_command() {
        let mut figures = testkit::Figures::start("markup", "no_character_commands_a_terminal");
        let all: Vec<char> = ('\0'..=char::MAX).collect();
        for some in all.chunks(4_096) {
            let text: String = some.iter().collect();
            let json = serde_json::to_string(&text).unwrap();
            let ways = [
                Line::of(&text).shown(false),
                Line::new().column(&text, 3, Look::Bold).shown(false),
                Line::new()
                    .look(&text, Look::Bad)
                    .shown(true)
                    .replace("\u{1b}[31m", "")
                    .replace("\u{1b}[0m", ""),
                escaped(&json),
            ];
            for (way, shown) in ways.iter().enumerate() {
                let obeyed = shown.chars().find(|c| c.is_control() || is_obeyed(*c));
                assert_eq!(obeyed, None, "way {way}");
            }
            assert_eq!(serde_json::from_str::<String>(&escaped(&json)).unwrap(), text);
            figures.cases(some.len() as u64);
        }
        figures.finish();
    }

    #[test]
    fn json_keeps_its_meaning() {
        let text = "Zo\u{eb} \u{9b}2J \u{202e} \u{e0041} \u{1b}";
        let json = escaped(&serde_json::to_string(text).unwrap());
        assert!(!json.chars().any(|c| c.is_control() || is_obeyed(c)), "{json:?}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    #[test]
    fn columns_are_padded_by_characters() {
        let line =
            Line::new().column("Zoë", 5, Look::Plain).column("longer", 3, Look::Plain).add("|");
        assert_eq!(line.shown(false), "Zoë  longer |");
    }
}
