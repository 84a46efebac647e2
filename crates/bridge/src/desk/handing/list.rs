//! A list as it comes from the page, and within bounds.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use report::SubmissionId;

use crate::limits;
use crate::problem::Problem;
use crate::views::{HandedItem, NamedCorrection};

/// A list as the page has it: the arguments of the command.
pub(crate) struct HandedList {
    /// In the order in which a person chose them.
    pub(crate) items: Vec<HandedItem>,
    /// Digests of what was shown as known and is to go once more.
    pub(crate) again: Vec<String>,
    /// What was shown as a correction.
    pub(crate) corrections: Vec<NamedCorrection>,
    /// Digests of all that was shown; what lies there besides stays there. `None`: all that lies
    /// there is meant.
    pub(crate) shown: Option<Vec<String>>,
    /// Digests of what a person has left out, although it lies there.
    pub(crate) left_out: Vec<String>,
    /// Digests of what goes beside a report with its identifier: a person who was shown that one
    /// has said so.
    pub(crate) beside: Vec<String>,
    /// Each content is a report of its own, also where it could correct another.
    pub(crate) separate: bool,
    /// Id of the endpoint that the page shows.
    pub(crate) endpoint: String,
}

/// The same within bounds.
pub(in crate::desk) struct List {
    pub(in crate::desk) items: Vec<Item>,
    pub(in crate::desk) again: Again,
    pub(in crate::desk) corrections: HashMap<String, SubmissionId>,
    pub(in crate::desk) shown: Option<HashSet<String>>,
    pub(in crate::desk) left_out: HashSet<String>,
    pub(in crate::desk) beside: HashSet<String>,
    pub(in crate::desk) separate: bool,
    pub(in crate::desk) endpoint: String,
}

/// Where a thing of the list is.
pub(in crate::desk) enum Item {
    At(PathBuf),
    Text { name: String, text: String },
}

/// What of the known contents goes once more.
pub(in crate::desk) enum Again {
    These(HashSet<String>),
    All,
}

impl List {
    /// # Errors
    /// `argument-too-large`, `argument-invalid`.
    pub(super) fn of(list: HandedList) -> Result<Self, Problem> {
        let HandedList { items, again, corrections, shown, left_out, beside, separate, endpoint } =
            list;
        limits::line("endpoint", &endpoint)?;
        for digest in again.iter().chain(shown.iter().flatten()).chain(&left_out).chain(&beside) {
            limits::line("again", digest)?;
        }
        for named in &corrections {
            limits::line("corrections", &named.digest)?;
        }
        limits::texts(items.iter().filter_map(|item| match item {
            HandedItem::Text { text, .. } => Some(text.as_str()),
            HandedItem::File { .. } => None,
        }))?;
        let named = |named: NamedCorrection| (named.digest, SubmissionId(named.id));
        Ok(Self {
            items: items.into_iter().map(Item::of).collect::<Result<_, _>>()?,
            again: Again::These(again.into_iter().collect()),
            corrections: corrections.into_iter().map(named).collect(),
            shown: shown.map(|shown| shown.into_iter().collect()),
            left_out: left_out.into_iter().collect(),
            beside: beside.into_iter().collect(),
            separate,
            endpoint,
        })
    }

    /// How many reports it is about, as far as that is known before they are read.
    pub(super) fn count(&self) -> usize {
        self.shown.as_ref().map_or(self.items.len(), HashSet::len)
    }

    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let path = |item: &Item| match item {
            Item::At(path) => Some(path.clone()),
            Item::Text { .. } => None,
        };
        self.items.iter().filter_map(path).collect()
    }
}

impl Item {
    fn of(item: HandedItem) -> Result<Self, Problem> {
        match item {
            HandedItem::File { path } => Ok(Self::At(limits::path(path)?)),
            HandedItem::Text { name, text } => {
                limits::text(&text)?;
                Ok(Self::Text { name: limits::name("name", &name)?, text })
            }
        }
    }
}
