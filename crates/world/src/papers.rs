//! What the laboratory's own system writes: contents under document identifiers, in any encoding,
//! once or again; and what was handed over where.

use std::collections::{HashMap, HashSet};

use fhir::{Format, Limits, Tree};
use journal::Unless;

use crate::dice::Dice;

/// What a report says: the number of its document, and which of its versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) document: u64,
    pub(crate) version: u64,
}

/// How it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Compact,
    Spread,
    Xml,
}

impl Form {
    pub(crate) fn any(dice: &mut Dice) -> Self {
        match dice.below(3) {
            0 => Self::Compact,
            1 => Self::Spread,
            _ => Self::Xml,
        }
    }
}

impl Content {
    /// `Bundle.identifier` of every version.
    pub(crate) fn identifier(self) -> String {
        format!("d{}", self.document)
    }

    pub(crate) fn written(self, form: Form) -> (Vec<u8>, Format) {
        let Self { document: number, version } = self;
        let time = format!("2026-01-01T00:00:{version:02}Z");
        let gap = if form == Form::Spread { "\r\n\t" } else { "" };
        let text = match form {
            Form::Compact | Form::Spread => format!(
                r#"{{"resourceType":"Bundle","id":"b{number}","identifier":{{"value":"d{number}"}},{gap}"type":"document",{gap}"timestamp":"{time}"}}"#
            ),
            Form::Xml => format!(
                r#"<Bundle xmlns="http://hl7.org/fhir"><id value="b{number}"/><identifier><value value="d{number}"/></identifier><type value="document"/><timestamp value="{time}"/></Bundle>"#
            ),
        };
        let format = if form == Form::Xml { Format::Xml } else { Format::Json };
        (text.into_bytes(), format)
    }

    /// Its canonical digest, by the real reader.
    pub(crate) fn canonical(self, form: Form) -> Option<String> {
        let (bytes, format) = self.written(form);
        let tree = Tree::read(&bytes, format, &Limits::default()).ok()?;
        Some(tree.canonical_digest(&tree.check()))
    }
}

/// A content that was taken in for an endpoint.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Handed {
    pub(crate) content: Content,
    pub(crate) endpoint: usize,
    /// The journal was set back before that.
    lost: bool,
}

/// Everything that was handed over.
#[derive(Debug, Default)]
pub(crate) struct Papers {
    handed: Vec<Handed>,
    /// By the identifier of the attempt, wherever it is known.
    contents: HashMap<String, Content>,
    /// Attempts that take the place of another once they are sent.
    linked: HashSet<String>,
    /// How many there were at the backup.
    kept: usize,
}

impl Papers {
    pub(crate) fn is_attempt_of(&mut self, identifier: &str, content: Content) {
        self.contents.insert(identifier.to_owned(), content);
    }

    pub(crate) fn taken(&mut self, content: Content, endpoint: usize) {
        self.handed.push(Handed { content, endpoint, lost: false });
    }

    pub(crate) fn content_of(&self, identifier: &str) -> Option<Content> {
        self.contents.get(identifier).copied()
    }

    pub(crate) fn link(&mut self, identifier: &str) {
        self.linked.insert(identifier.to_owned());
    }

    pub(crate) fn is_linked(&self, identifier: &str) -> bool {
        self.linked.contains(identifier)
    }

    pub(crate) fn any(&self, dice: &mut Dice) -> Option<Handed> {
        let which = dice.below(self.handed.len() as u64);
        self.handed.get(usize::try_from(which).unwrap_or(0)).copied()
    }

    /// The same document, as nobody has handed it over yet.
    pub(crate) fn newer(&self, content: Content) -> Content {
        let same = self.handed.iter().filter(|it| it.content.document == content.document);
        let newest = same.map(|it| it.content.version).max().unwrap_or(0);
        Content { version: newest + 1, ..content }
    }

    /// Whether the journal must recognise it.
    pub(crate) fn is_known(&self, content: Content, endpoint: usize, unless: Unless) -> bool {
        let fits = |it: &&Handed| {
            let there = it.endpoint == endpoint || unless == Unless::KnownAnywhere;
            it.content == content && there && !it.lost
        };
        self.handed.iter().any(|it| fits(&it))
    }

    pub(crate) fn back_up(&mut self) {
        self.kept = self.handed.len();
    }

    /// The journal is as it was at the backup.
    pub(crate) fn set_back(&mut self) {
        self.handed.iter_mut().skip(self.kept).for_each(|it| it.lost = true);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test that cannot go on panics.
mod tests {
    use super::*;

    #[test]
    fn forms_say_the_same_and_versions_do_not() {
        let content = Content { document: 7, version: 1 };
        let compact = content.canonical(Form::Compact).unwrap();
        for form in [Form::Spread, Form::Xml] {
            assert_ne!(content.written(form).0, content.written(Form::Compact).0);
            assert_eq!(content.canonical(form).unwrap(), compact);
        }
        let newer = Content { version: 2, ..content };
        assert_ne!(newer.canonical(Form::Compact).unwrap(), compact);
    }
}
