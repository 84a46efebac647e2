//! The daily statement as a PDF for the file: text in the fonts that every reader has, nothing
//! compressed, so that what it says can be read in fifty years with any editor.

use std::collections::BTreeMap;

use fhir::Instant;
use pdf_writer::{Content, Date, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use report::StateCode;

use crate::views::{StatementEntryView, StatementView};
use crate::zone::local_time;

/// A text by its id, with its parameters.
type Text = dyn Fn(&str, &[(&str, &str)]) -> String + Send;

/// What stands on a statement and in a support bundle, in a language. Words for people are none of
/// this crate.
pub struct Wording {
    language: &'static str,
    text: Box<Text>,
}

impl Wording {
    /// `text` gives the text of an id with its parameters: of the families `statement`,
    /// `state`, `support-file` and `support-summary`.
    pub fn new(
        language: &'static str,
        text: impl Fn(&str, &[(&str, &str)]) -> String + Send + 'static,
    ) -> Self {
        Self { language, text: Box::new(text) }
    }

    /// The statement as a file.
    pub fn pdf(&self, view: &StatementView) -> Vec<u8> {
        pdf(view, self)
    }

    /// The text of a whole id.
    pub(crate) fn text(&self, id: &str, params: &[(&str, &str)]) -> String {
        (self.text)(id, params)
    }

    fn say(&self, id: &str, params: &[(&str, &str)]) -> String {
        (self.text)(&format!("statement.{id}"), params)
    }
}

/// Texts of the family `statement` that a statement asks for, with their parameters.
pub const STATEMENT_TEXTS: &[(&str, &[&str])] = &[
    ("title", &[]),
    ("heading", &["date"]),
    ("sum", &["n"]),
    ("corrections", &["n"]),
    ("cut", &["n"]),
    ("created", &[]),
    ("sent", &[]),
    ("answered", &[]),
    ("endpoint", &[]),
    ("document", &[]),
    ("identifier", &[]),
    ("digest", &[]),
    ("receipt", &[]),
    ("status", &[]),
    ("answer-digest", &[]),
    ("corrects", &["id"]),
    ("chain", &["event"]),
    ("made", &["time", "version"]),
    ("page", &["page", "pages"]),
    ("environment.practice", &[]),
    ("environment.integration", &[]),
    ("environment.production", &[]),
];

/// A4, in points.
const PAGE: (f32, f32) = (595.0, 842.0);
const MARGIN: f32 = 48.0;
/// Where values begin.
const VALUES: f32 = 215.0;
/// Characters of a sentence in one line: Helvetica is narrower than this allows for.
const SENTENCE: usize = 96;
/// Characters of a value in one line; a digest of 64 fits.
const VALUE: usize = 68;

#[derive(Clone, Copy)]
enum Font {
    Plain,
    Bold,
    /// For what is compared character by character.
    Fixed,
}

impl Font {
    const ALL: [Self; 3] = [Self::Plain, Self::Bold, Self::Fixed];

    const fn name(self) -> &'static [u8] {
        match self {
            Self::Plain => b"Plain",
            Self::Bold => b"Bold",
            Self::Fixed => b"Fixed",
        }
    }

    const fn base(self) -> &'static [u8] {
        match self {
            Self::Plain => b"Helvetica",
            Self::Bold => b"Helvetica-Bold",
            Self::Fixed => b"Courier",
        }
    }
}

struct Piece {
    font: Font,
    size: f32,
    left: f32,
    text: String,
}

/// One line: its pieces, and its height.
struct Line {
    pieces: Vec<Piece>,
    height: f32,
}

impl Line {
    fn of(font: Font, size: f32, text: impl Into<String>) -> Self {
        let piece = Piece { font, size, left: MARGIN, text: text.into() };
        Self { pieces: vec![piece], height: size * 1.45 }
    }

    fn gap(height: f32) -> Self {
        Self { pieces: Vec::new(), height }
    }
}

fn pdf(view: &StatementView, wording: &Wording) -> Vec<u8> {
    let pages = paged(blocks(view, wording));
    let mut file = Pdf::new();
    let (catalog, tree, info) = (Ref::new(1), Ref::new(2), Ref::new(3));
    let fonts: Vec<_> = Font::ALL.iter().zip(4..).map(|(font, id)| (*font, Ref::new(id))).collect();
    let page_of = |at: usize| Ref::new(10 + 2 * i32::try_from(at).unwrap_or(0));
    let title = wording.say("heading", &[("date", &view.date)]);
    file.catalog(catalog).pages(tree).lang(TextStr(wording.language));
    let mut about = file.document_info(info);
    about.title(TextStr(&title));
    about.subject(TextStr(&wording.say("title", &[])));
    about.producer(TextStr(&format!("Lab Courier {}", view.version)));
    if let Some(made) = made(&view.made) {
        about.creation_date(made);
    }
    about.finish();
    let count = i32::try_from(pages.len()).unwrap_or(i32::MAX);
    file.pages(tree).kids((0..pages.len()).map(page_of)).count(count);
    for (font, id) in &fonts {
        let mut written = file.type1_font(*id);
        written.base_font(Name(font.base())).encoding_predefined(Name(b"WinAnsiEncoding"));
    }
    for (at, lines) in pages.iter().enumerate() {
        let (page, content) = (page_of(at), Ref::new(page_of(at).get() + 1));
        let mut written = file.page(page);
        written.media_box(Rect::new(0.0, 0.0, PAGE.0, PAGE.1)).parent(tree).contents(content);
        let mut resources = written.resources();
        let mut named = resources.fonts();
        for (font, id) in &fonts {
            named.pair(Name(font.name()), *id);
        }
        named.finish();
        resources.finish();
        written.finish();
        let (this, all) = ((at + 1).to_string(), pages.len().to_string());
        let foot = wording.say("page", &[("page", &this), ("pages", &all)]);
        let foot = format!("Lab Courier \u{b7} {} \u{b7} {foot}", view.date);
        file.stream(content, &drawn(lines, &foot));
    }
    file.finish()
}

/// The blocks of the statement, none of which is broken where a page can hold it.
fn blocks(view: &StatementView, wording: &Wording) -> Vec<Vec<Line>> {
    let count = view.entries.len().to_string();
    let title = wording.say("heading", &[("date", &view.date)]);
    let mut first = vec![Line::of(Font::Bold, 15.0, title), Line::gap(4.0)];
    first.extend(sentence(&wording.say("sum", &[("n", &count)])));
    first.extend(sentence(&outcome(view, wording)));
    let corrections = view.entries.iter().filter(|entry| entry.corrects.is_some()).count();
    if corrections > 0 {
        let count = corrections.to_string();
        first.extend(sentence(&wording.say("corrections", &[("n", &count)])));
    }
    if view.is_cut {
        first.extend(sentence(&wording.say("cut", &[("n", &count)])));
    }
    let event = view.chain_event.to_string();
    let mut last = vec![Line::gap(10.0)];
    last.extend(sentence(&wording.say("chain", &[("event", &event)])));
    last.push(Line::of(Font::Fixed, 9.0, view.chain_hash.clone()));
    last.push(Line::gap(4.0));
    let made = [("time", &*read(&view.made)), ("version", &*view.version)];
    last.extend(sentence(&wording.say("made", &made)));
    let entries = view.entries.iter().map(|entry| block(entry, wording));
    std::iter::once(first).chain(entries).chain([last]).collect()
}

/// "Completed (45) · Failed (7)": how many are where.
fn outcome(view: &StatementView, wording: &Wording) -> String {
    let mut counts: BTreeMap<StateCode, usize> = BTreeMap::new();
    for entry in &view.entries {
        *counts.entry(entry.state).or_default() += 1;
    }
    let told = counts.iter().map(|(state, count)| {
        let state = (wording.text)(&format!("state.{}", state.code()), &[]);
        format!("{state} ({count})")
    });
    told.collect::<Vec<_>>().join(" \u{b7} ")
}

fn block(entry: &StatementEntryView, wording: &Wording) -> Vec<Line> {
    let state = (wording.text)(&format!("state.{}", entry.state.code()), &[]);
    let disease = entry.disease.as_deref().and_then(|key| disease(key, wording.language));
    let tested: Vec<_> = disease.into_iter().chain(entry.code.as_deref()).collect();
    let mut head = vec![entry.id.to_string(), tested.join(", "), state];
    if let Some(id) = entry.corrects {
        head.push(wording.say("corrects", &[("id", &id.to_string())]));
    }
    head.retain(|part| !part.is_empty());
    let mut lines = vec![Line::gap(10.0), Line::of(Font::Bold, 10.0, head.join(" \u{b7} "))];
    let environment = wording.say(&format!("environment.{}", entry.environment.code()), &[]);
    let place = if entry.endpoint == crate::PRACTICE_ENDPOINT {
        environment
    } else {
        format!("{} ({environment})", entry.endpoint)
    };
    let status = entry.answer_status.map(|status| status.to_string());
    let facts = [
        ("created", Some(read(&entry.created))),
        ("sent", entry.sent.as_deref().map(read)),
        ("answered", entry.answered.as_deref().map(read)),
        ("endpoint", Some(place)),
        ("document", entry.document_identifier.clone()),
        ("identifier", Some(entry.identifier.clone())),
        ("digest", Some(entry.digest.clone())),
        ("receipt", entry.receipt.clone()),
        ("status", status),
        ("answer-digest", entry.answer_digest.clone()),
    ];
    for (id, value) in facts {
        lines.extend(value.into_iter().flat_map(|value| fact(&wording.say(id, &[]), &value)));
    }
    lines
}

/// A name and its value, which goes on below where it is long.
fn fact(name: &str, value: &str) -> Vec<Line> {
    let letters: Vec<char> = value.chars().collect();
    let mut lines = Vec::new();
    for (at, part) in letters.chunks(VALUE).enumerate() {
        let value = Piece {
            font: Font::Fixed,
            size: 8.0,
            left: VALUES,
            text: part.iter().collect::<String>(),
        };
        let mut line = Line { pieces: vec![value], height: 11.5 };
        if at == 0 {
            let name = Piece { font: Font::Plain, size: 8.0, left: MARGIN, text: name.to_owned() };
            line.pieces.insert(0, name);
        }
        lines.push(line);
    }
    lines
}

fn sentence(text: &str) -> Vec<Line> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last().map_or(0, |line| line.chars().count());
        if last > 0 && last + 1 + word.chars().count() > SENTENCE {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines.into_iter().map(|line| Line::of(Font::Plain, 9.5, line)).collect()
}

/// Lines of each page.
fn paged(blocks: Vec<Vec<Line>>) -> Vec<Vec<Line>> {
    let room = PAGE.1 - 2.0 * MARGIN - 20.0;
    let mut pages: Vec<Vec<Line>> = vec![Vec::new()];
    let mut left = room;
    for block in blocks {
        let needs: f32 = block.iter().map(|line| line.height).sum();
        if needs > left && needs <= room {
            pages.push(Vec::new());
            left = room;
        }
        for line in block {
            if line.height > left {
                pages.push(Vec::new());
                left = room;
            }
            left -= line.height;
            if let Some(page) = pages.last_mut() {
                page.push(line);
            }
        }
    }
    pages
}

/// The instructions that draw a page.
fn drawn(lines: &[Line], foot: &str) -> Vec<u8> {
    let mut content = Content::new();
    let mut top = PAGE.1 - MARGIN;
    let mut put = |font: Font, size: f32, left: f32, height: f32, text: &str| {
        content.begin_text().set_font(Name(font.name()), size);
        content.next_line(left, height).show(Str(&windows(text))).end_text();
    };
    for line in lines {
        top -= line.height;
        for piece in &line.pieces {
            put(piece.font, piece.size, piece.left, top, &piece.text);
        }
    }
    put(Font::Plain, 7.5, MARGIN, MARGIN - 14.0, foot);
    content.finish().to_vec()
}

/// The text in the encoding of the fonts; they lack what no Western language needs.
fn windows(text: &str) -> Vec<u8> {
    let byte = |letter: char| match letter {
        ' '..='~' | '\u{a0}'..='\u{ff}' => u8::try_from(u32::from(letter)).unwrap_or(b'?'),
        // A narrow space that does not break.
        '\u{202f}' => 0xa0,
        '€' => 0x80,
        '…' => 0x85,
        'Œ' => 0x8c,
        '‘' => 0x91,
        '’' => 0x92,
        '“' => 0x93,
        '”' => 0x94,
        '–' => 0x96,
        '—' => 0x97,
        'œ' => 0x9c,
        _ => b'?',
    };
    text.chars().map(byte).collect()
}

/// An instant of an interface, for people of every language, as the clock of the laboratory showed
/// it: a day of the statement is a day there.
fn read(instant: &str) -> String {
    Instant::parse(instant).map_or_else(|| instant.to_owned(), local_time)
}

/// When it was made, for the properties of the file.
fn made(instant: &str) -> Option<Date> {
    let number = |from: usize, to: usize| instant.get(from..to)?.parse::<u8>().ok();
    let date = Date::new(instant.get(..4)?.parse().ok()?);
    let date = date.month(number(5, 7)?).day(number(8, 10)?);
    Some(date.hour(number(11, 13)?).minute(number(14, 16)?).second(number(17, 19)?))
}

fn disease(key: &str, language: &str) -> Option<&'static str> {
    let at = report::diseases::LANGUAGES.iter().position(|known| *known == language)?;
    let all = report::diseases::all().iter();
    all.filter(|disease| disease.key == key).map(|disease| disease.names[at]).next()
}
