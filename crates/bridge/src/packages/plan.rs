//! What another version of the rules would change, tried on the last reports before it is used.

use std::collections::HashMap;

use engine::Engine;
use fhir::{Finding, Limits, Severity, Tree};
use journal::{Filter, JournalError, Message, Row, Source};
use rules::{Asked, Mode, RuleSet, Store, StoreFault};

use super::of_store;
use crate::messages::message_view;
use crate::problem::Problem;
use crate::record::IssueRecord;
use crate::rows::{Names, placed, row_view, small};
use crate::views::{MessageView, RulesPlanView, RulesReasonView};

/// Reports that another version of the rules is tried on: the last ones that were taken in.
const REPORTS: usize = 1_000;
/// Of those that would be refused, and of the reasons, as many are told.
const TOLD_MAX: usize = 20;

/// What a package would change.
pub(crate) struct Plan {
    pub(crate) package: String,
    pub(crate) in_use: Option<String>,
    pub(crate) seen: Seen,
}

/// What was found of all reports so far.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) looked: usize,
    pub(crate) refused: Vec<Row>,
    pub(crate) accepted: usize,
    pub(crate) still: usize,
    pub(crate) reasons: Vec<Reason>,
    by_reason: HashMap<String, usize>,
}

/// Why reports would be held, as it is found in the first of them.
pub(crate) struct Reason {
    message: MessageView,
    pub(crate) issue: IssueRecord,
    pub(crate) reports: u32,
}

impl Plan {
    /// Tries a package on the last reports whose content is kept, beside what is in use.
    pub(crate) fn of(engine: &Engine, package: String) -> Result<Self, Problem> {
        let store = Store::at(engine.profile().folder().join("rules"));
        let next = store.load(Some(&package)).map_err(of_store)?;
        // Rules that cannot be read are in use for nobody.
        let now = match store.load_used() {
            Ok(now) => now,
            Err(StoreFault::Damaged { .. } | StoreFault::NotImported { .. }) => None,
            Err(fault) => return Err(of_store(fault)),
        };
        let mut seen = Seen::default();
        let filter = Filter { limit: REPORTS, now: engine.now(), ..Filter::default() };
        for row in engine.journal().list(&filter)? {
            let bytes = match engine.journal().document(row.id) {
                Ok(bytes) => bytes,
                // Retention has taken it.
                Err(JournalError::NotFound(_)) => continue,
                Err(error) => return Err(error.into()),
            };
            let Ok(tree) = Tree::read(&bytes, row.format, &Limits::default()) else { continue };
            seen.look(row, &tree, now.as_ref(), &next);
        }
        seen.reasons.sort_by_key(|reason| std::cmp::Reverse(reason.reports));
        seen.reasons.truncate(TOLD_MAX);
        let in_use = now.as_ref().and_then(|set| set.packages().next()).map(rules::Manifest::label);
        Ok(Self { package, in_use, seen })
    }

    /// The last ones that would be held; as many as are told.
    pub(crate) fn told(&self) -> impl Iterator<Item = &Row> {
        self.seen.refused.iter().take(TOLD_MAX)
    }

    pub(crate) fn view(self, engine: &Engine) -> RulesPlanView {
        let profile = engine.profile();
        let shown = |row| row_view(row, &profile, Names::Masked, engine.now());
        let reports = self.told().map(shown).collect();
        let Seen { looked, refused, accepted, still, reasons, .. } = self.seen;
        let reason = |Reason { message, reports, .. }| RulesReasonView { message, reports };
        RulesPlanView {
            package: self.package,
            in_use: self.in_use,
            looked: small(looked as u64),
            refused: small(refused.len() as u64),
            accepted: small(accepted as u64),
            still: small(still as u64),
            reasons: reasons.into_iter().map(reason).collect(),
            reports,
        }
    }
}

impl Seen {
    /// Both judge the report as of the moment at which it was taken in: only the rules differ.
    fn look(&mut self, row: Row, tree: &Tree, now: Option<&RuleSet>, next: &RuleSet) {
        self.looked += 1;
        let before = now.is_some_and(|set| !errors(set, tree, &row).is_empty());
        let after = errors(next, tree, &row);
        match (before, after.is_empty()) {
            (true, true) => self.accepted += 1,
            (true, false) => self.still += 1,
            (false, true) => {}
            (false, false) => {
                self.because(tree, &after);
                self.refused.push(row);
            }
        }
    }

    /// Each reason is counted once a report, however often it is there.
    fn because(&mut self, tree: &Tree, found: &[Finding]) {
        let found = found.iter().map(|finding| Message::from_finding(Source::Local, finding));
        let found: Vec<Message> = found.collect();
        let mut messages: Vec<MessageView> = found.iter().map(message_view).collect();
        placed(tree, &mut messages);
        let mut counted: Vec<usize> = Vec::new();
        for (message, found) in messages.into_iter().zip(&found) {
            let key = reason_of(&message);
            let known = self.reasons.len();
            let at = *self.by_reason.entry(key).or_insert(known);
            if at == known {
                self.reasons.push(Reason {
                    message: example(message),
                    issue: IssueRecord { line: None, column: None, ..IssueRecord::of(found) },
                    reports: 0,
                });
            }
            if !counted.contains(&at) {
                counted.push(at);
                self.reasons[at].reports += 1;
            }
        }
    }
}

fn reason_of(message: &MessageView) -> String {
    let rule = message.rule.as_deref().unwrap_or_default();
    let element = message.params.get("element").map(String::as_str).unwrap_or_default();
    [&message.code, rule, message.path.as_deref().unwrap_or(element)].join(" ")
}

/// A message for many reports: without the place and the cure of the first of them.
fn example(message: MessageView) -> MessageView {
    MessageView { line: None, column: None, found: None, suggestion: None, ..message }
}

fn errors(set: &RuleSet, tree: &Tree, row: &Row) -> Vec<Finding> {
    let profiles = set.entry_profiles(tree.root().resource_type().unwrap_or_default());
    let asked = Asked { profiles: &profiles, mode: Mode::Authority, now: row.created };
    let mut found = set.validate(tree, &asked);
    found.retain(|finding| finding.severity == Severity::Error);
    found
}
