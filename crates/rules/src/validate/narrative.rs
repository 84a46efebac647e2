//! Narrative: only what formats text, each where HTML lets it stand, and some text (`txt-1`,
//! `txt-2`).

use fhir::Element;

use super::bundle::is_absolute;
use super::{Issue, error};
use crate::html;

/// What the `div` of a narrative shows: names for links, and where its own links go.
#[derive(Debug, Default)]
pub(super) struct Links<'t> {
    /// Every `id`, and the `name` of every `a`.
    pub(super) anchors: Vec<&'t str>,
    /// What stands after `#` in every link and image.
    pub(super) fragments: Vec<&'t str>,
}

/// Checks the `div` of a narrative. That it is well-formed the base check has said.
pub(super) fn check(div: Element<'_>, issues: &mut Vec<Issue>) {
    let Some(text) = div.value() else { return };
    let mut walk = Walk { div, open: Vec::new(), has_text: false, issues };
    html::walk(text, |event| match event {
        html::Event::Start(tag, is_empty) => walk.start(tag, is_empty),
        html::Event::End => {
            walk.open.pop();
        }
        html::Event::Text(text) => walk.text(text),
    });
    if !walk.has_text {
        error(issues, div, "rule-narrative-empty", &[("rule", "txt-2")]);
    }
}

/// What can be linked to in the `div` of a narrative, and what it links to.
pub(super) fn links<'t>(div: Element<'t>, links: &mut Links<'t>) {
    let Some(text) = div.value() else { return };
    html::walk(text, |event| {
        let html::Event::Start(tag, _) = event else { return };
        for (name, value) in html::attributes(tag) {
            match (html::name(tag), name) {
                (_, "id") | ("a", "name") => links.anchors.push(value),
                ("a", "href") | ("img", "src") => {
                    let fragment = value.strip_prefix('#').filter(|id| !id.is_empty());
                    links.fragments.extend(fragment);
                }
                _ => {}
            }
        }
    });
}

struct Walk<'i, 't> {
    div: Element<'t>,
    /// Names of the open elements, the `div` first.
    open: Vec<&'t str>,
    has_text: bool,
    issues: &'i mut Vec<Issue>,
}

impl<'t> Walk<'_, 't> {
    fn text(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.has_text = true;
        if let Some(around) = self.open.last().filter(|name| html::holds_no_text(name)) {
            let params = [("element", "#text"), ("found", *around), ("rule", "txt-1")];
            error(self.issues, self.div, "rule-narrative-place", &params);
        }
    }

    fn start(&mut self, tag: &'t str, is_empty: bool) {
        let name = html::name(tag);
        self.has_text |= name == "img";
        // The outermost `div` may have what it likes.
        if !self.open.is_empty() {
            self.element(name);
            self.attributes(name, tag);
            self.place(name);
        }
        if !is_empty {
            self.open.push(name);
        }
    }

    fn element(&mut self, name: &str) {
        if !html::ELEMENTS.contains(&name) {
            let params = [("element", name), ("rule", "txt-1")];
            error(self.issues, self.div, "rule-narrative-element", &params);
        }
    }

    fn attributes(&mut self, name: &str, tag: &str) {
        for (attribute, value) in html::attributes(tag) {
            // Each inner element is one of HTML, too.
            let is_other = attribute == "xmlns" && value != "http://www.w3.org/1999/xhtml";
            if is_other || !html::may_have(name, attribute) {
                let params = [("element", name), ("value", attribute), ("rule", "txt-1")];
                error(self.issues, self.div, "rule-narrative-attribute", &params);
            }
            let is_address = matches!((name, attribute), ("a", "href") | ("img", "src"));
            if is_address && !is_usable(value, name == "a") {
                let params = [("value", value), ("rule", "txt-1")];
                error(self.issues, self.div, "rule-narrative-address", &params);
            }
        }
    }

    /// Whether HTML lets an element of this name stand in those that are open.
    fn place(&mut self, name: &str) {
        let around = self.open.last().copied().unwrap_or_default();
        let is_inside = |other: &&&str| html::may_not_hold(other, name);
        let wrong = match html::may_stand_in(name, around) {
            false => Some(around),
            true => self.open.iter().skip(1).find(is_inside).copied(),
        };
        if let Some(around) = wrong {
            let params = [("element", name), ("found", around), ("rule", "txt-1")];
            error(self.issues, self.div, "rule-narrative-place", &params);
        }
    }
}

/// Whether a link or an image may have this address.
fn is_usable(address: &str, is_link: bool) -> bool {
    if let Some(data) = address.strip_prefix("data:") {
        let mut parts = data.split(',');
        return parts.next().is_some() && parts.next().is_some_and(|data| !data.is_empty());
    }
    let fine =
        |letter: char| letter.is_alphanumeric() || ";?:@&=+$.,/%-_~#[]!'()*|".contains(letter);
    if address.is_empty() || !address.chars().all(fine) {
        return false;
    }
    let scheme = address.split(':').next().unwrap_or_default();
    let is_active = matches!(scheme, "javascript" | "vbscript" | "urn" | "cid");
    !(is_link && is_active && is_absolute(address))
}
