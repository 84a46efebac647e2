//! The base check: every departure from the element table, collected in document order.

use crate::arena::{Flags, NIL, Node, Note, shortened};
use crate::table::{Field, Kind, NONE, Table, table};
use crate::{Element, Finding, Format, Severity, Tree, lexical, xml};

impl Tree {
    /// The base check: every departure from FHIR R4 itself, in document order. What the codes mean
    /// is listed in [`crate::codes`]. Invariants (FHIRPath) are not evaluated. After 10,000
    /// findings one `too-many-findings` ends the list.
    pub fn check(&self) -> Vec<Finding> {
        check(self)
    }
}

/// Findings kept; beyond, the list says that it is cut.
const FINDINGS_MAX: usize = 10_000;

/// Checks a whole tree.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut check = Check { tree, table: table(), findings: Vec::new(), total: 0 };
    check.resource(tree.root());
    for note in &tree.arena.notes {
        check.note(note);
    }
    check.finish()
}

struct Check<'t> {
    tree: &'t Tree,
    table: &'static Table,
    findings: Vec<(u32, Finding)>,
    total: usize,
}

type Params<'p> = &'p [(&'static str, &'p str)];

impl<'t> Check<'t> {
    fn finish(mut self) -> Vec<Finding> {
        self.findings.sort_by_key(|(start, _)| *start);
        let mut findings: Vec<Finding> =
            self.findings.into_iter().map(|(_, finding)| finding).collect();
        if self.total > findings.len() {
            findings.push(Finding {
                code: "too-many-findings".to_owned(),
                severity: Severity::Warning,
                expression: String::new(),
                position: None,
                params: vec![("limit".to_owned(), FINDINGS_MAX.to_string())],
            });
        }
        findings
    }

    fn resource(&mut self, of: Element<'t>) {
        let node = of.read();
        if node.of == NONE {
            self.find(
                of,
                "unknown-resource-type",
                &[("type", of.resource_type().unwrap_or_default())],
            );
            return;
        }
        self.children(of, node);
    }

    fn element(&mut self, of: Element<'t>, field: &'static Field) {
        let node = of.read();
        let name = ("element", of.name());
        if node.index > 0 && !field.is_array {
            self.find(of, "too-many", &[name]);
        }
        if self.tree.format() == Format::Json {
            self.json_form(of, node, field);
        } else if field.is_attribute && !node.flags.has(Flags::ATTRIBUTE) {
            self.find(of, "attribute-expected", &[name]);
        }
        match of.kind() {
            Some(Kind::Primitive(primitive)) => {
                if node.flags.has(Flags::OBJECT.and(Flags::RAW)) {
                    return self.wrong_json_type(of, primitive.json_type());
                }
                let wanted = primitive.json_type();
                if json_type(node).is_some_and(|found| found != wanted && found != "null") {
                    self.wrong_json_type(of, wanted);
                } else if let Some(value) = of.value() {
                    self.value(of, field, primitive, value);
                }
                self.primitive_children(of, node);
            }
            Some(Kind::Xhtml) => self.narrative(of, node),
            Some(Kind::AnyResource | Kind::Resource) => self.container(of, node),
            Some(Kind::Complex) => self.complex(of, node),
            // A resource whose type is unknown.
            None => self.container(of, node),
        }
    }

    fn complex(&mut self, of: Element<'t>, node: &'t Node) {
        if self.tree.format() == Format::Json && !node.flags.has(Flags::OBJECT) {
            if !node.flags.has(Flags::NULL) {
                self.wrong_json_type(of, "object");
            } else if node.flags.has(Flags::IN_ARRAY) {
                self.find(of, "null-not-allowed", &[("element", of.name())]);
            }
            return;
        }
        if let Some(value) = of.value() {
            let value = shortened(value);
            self.find(
                of,
                "value-not-allowed",
                &[("element", of.name()), ("type", of.type_name()), ("value", &value)],
            );
        }
        if of.children().all(is_id) {
            self.find(of, "empty-element", &[("element", of.name())]);
        }
        self.children(of, node);
    }

    fn container(&mut self, of: Element<'t>, node: &'t Node) {
        if node.flags.has(Flags::RESOURCE) {
            return self.resource(of);
        }
        if self.tree.format() == Format::Json && !node.flags.has(Flags::OBJECT) {
            if !node.flags.has(Flags::NULL) {
                self.wrong_json_type(of, "object");
            } else if node.flags.has(Flags::IN_ARRAY) {
                self.find(of, "null-not-allowed", &[("element", of.name())]);
            }
            return;
        }
        self.find(of, "resource-type-missing", &[("element", of.name())]);
    }

    /// Arrays exactly where an element may repeat; `null` only as padding.
    fn json_form(&mut self, of: Element<'t>, node: &'t Node, field: &'static Field) {
        let name = ("element", of.name());
        let in_array = node.flags.has(Flags::IN_ARRAY);
        if node.index == 0 && field.is_array && !in_array {
            self.find(of, "array-expected", &[name]);
        } else if node.index == 0 && !field.is_array && in_array {
            self.find(of, "array-not-allowed", &[name]);
        }
        if node.flags.has(Flags::NULL) && !node.value.is_some() && !in_array {
            self.find(of, "null-not-allowed", &[name]);
        }
    }

    fn value(
        &mut self,
        of: Element<'t>,
        field: &'static Field,
        primitive: crate::lexical::Primitive,
        value: &str,
    ) {
        let name = ("element", of.name());
        if value.is_empty() {
            return self.find(of, "empty-value", &[name]);
        }
        let short = ("value", value);
        if !primitive.allows(value) {
            return self.find(of, "invalid-value", &[name, ("type", of.type_name()), short]);
        }
        if !lexical::fits_xml(value) {
            self.tell(of, "control-character", Severity::Warning, &[name]);
        }
        let codes = self.table.lists.get(usize::from(field.list));
        if let Some(codes) = codes.filter(|codes| codes.binary_search(&value).is_err()) {
            // A long list helps nobody.
            let expected = if codes.len() <= 20 { codes.join(", ") } else { String::new() };
            self.find(of, "code-not-allowed", &[name, short, ("expected", &expected)]);
        }
    }

    /// Only `id` and `extension`; one of value and extension must be there.
    fn primitive_children(&mut self, of: Element<'t>, node: &'t Node) {
        let padded = node.flags.has(Flags::NULL) && !node.flags.has(Flags::FACE);
        if padded && node.flags.has(Flags::IN_ARRAY) && !node.value.is_some() {
            // `null` stands for an item whose `_x` has something to say; here it has not.
            self.find(of, "null-not-allowed", &[("element", of.name())]);
        } else if !padded && !node.value.is_some() && of.children().all(is_id) {
            self.find(of, "empty-element", &[("element", of.name())]);
        }
        if node.first != NIL {
            self.children(of, node);
        }
    }

    fn narrative(&mut self, of: Element<'t>, node: &'t Node) {
        let Some(text) = of.value() else {
            return self.find(of, "empty-element", &[("element", of.name())]);
        };
        if self.tree.format() == Format::Xml {
            return;
        }
        if !node.flags.has(Flags::STRING) {
            return self.wrong_json_type(of, "string");
        }
        if let Err(fault) = xml::narrative(text) {
            let reason = fault.params.iter().find(|(name, _)| name == "reason");
            let reason =
                reason.map_or(fault.code.as_str(), |(_, reason)| reason.as_str()).to_owned();
            self.find(of, "narrative-not-xhtml", &[("reason", &reason)]);
        }
    }

    /// The children of an element whose type is known.
    fn children(&mut self, of: Element<'t>, node: &'t Node) {
        let known = &self.table.types[usize::from(node.of)];
        // The furthest element so far, by its place in the table; and what each choice was.
        let mut furthest: Option<(u16, Element<'t>)> = None;
        let mut choices: Vec<(u16, Element<'t>)> = Vec::new();
        let mut required_seen = 0;
        for child in of.children() {
            let Some(field) = child.field() else {
                self.unknown(of, node.of, child);
                continue;
            };
            let first = child.read().index == 0;
            let other = choices.iter().find(|(order, _)| first && *order == field.order);
            if let Some((_, other)) = other {
                let element = format!("{}[x]", field.stem);
                self.find(child, "two-choices", &[("element", &element), ("found", other.name())]);
            } else if first {
                required_seen += usize::from(field.min > 0);
                if field.is_choice {
                    choices.push((field.order, child));
                }
            }
            match furthest {
                // JSON has no order, and attributes have none.
                _ if field.is_attribute || self.tree.format() == Format::Json => {}
                Some((order, before)) if field.order < order => {
                    let params = [("element", child.name()), ("expected", before.name())];
                    self.find(child, "wrong-order", &params);
                }
                _ => furthest = Some((field.order, child)),
            }
            self.element(child, field);
        }
        if required_seen < known.required.len() {
            self.missing(of, &known.required);
        }
    }

    fn missing(&mut self, of: Element<'t>, required: &[u16]) {
        for field in required.iter().map(|field| &self.table.fields[usize::from(*field)]) {
            let there =
                |child: Element<'_>| child.field().is_some_and(|other| other.order == field.order);
            if !of.children().any(there) {
                let choice = if field.is_choice { "[x]" } else { "" };
                let element = format!("{}{choice}", field.stem);
                let of_type =
                    if field.is_choice { "" } else { self.table.types[usize::from(field.of)].name };
                self.find(of, "missing-element", &[("element", &element), ("type", of_type)]);
            }
        }
    }

    fn unknown(&mut self, of: Element<'t>, owner: u16, child: Element<'t>) {
        let name = child.name();
        // The reader has noted that it is of another namespace.
        if child.read().flags.has(Flags::FOREIGN) {
            return;
        }
        // Of two stems the longer one is meant.
        let choices = self.table.fields_of(owner).iter().filter(|field| field.is_choice);
        let stems = choices.filter_map(|field| Some((field.stem, name.strip_prefix(field.stem)?)));
        let typed =
            stems.filter(|(_, of)| of.starts_with(|letter: char| letter.is_ascii_uppercase()));
        match typed.max_by_key(|(stem, _)| stem.len()) {
            Some((stem, of_type)) => {
                let element = format!("{stem}[x]");
                self.find(
                    child,
                    "choice-type-not-allowed",
                    &[("element", &element), ("type", of_type)],
                );
            }
            None => {
                self.find(child, "unknown-element", &[("element", name), ("type", of.type_name())])
            }
        }
    }

    fn wrong_json_type(&mut self, of: Element<'t>, expected: &str) {
        let found = json_type(of.read()).unwrap_or_default();
        self.find(
            of,
            "wrong-json-type",
            &[("element", of.name()), ("expected", expected), ("found", found)],
        );
    }

    fn find(&mut self, of: Element<'t>, code: &str, params: Params<'_>) {
        self.tell(of, code, Severity::Error, params);
    }

    fn tell(&mut self, of: Element<'t>, code: &str, severity: Severity, params: Params<'_>) {
        self.total += 1;
        if self.findings.len() >= FINDINGS_MAX {
            return;
        }
        let params =
            params.iter().map(|(name, value)| ((*name).to_owned(), shortened(value))).collect();
        let finding = Finding {
            code: code.to_owned(),
            severity,
            expression: of.expression(),
            position: Some(of.position()),
            params,
        };
        self.findings.push((of.read().start, finding));
    }

    /// What the reader noticed.
    fn note(&mut self, note: &Note) {
        let of = self.tree.element(note.node);
        let params: Vec<_> =
            note.params.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let before = self.findings.len();
        self.find(of, note.code, &params);
        if let Some((start, finding)) = self.findings.get_mut(before) {
            *start = note.start as u32;
            let (line, column) = self.tree.lines().place(self.tree.source_text(), note.start);
            finding.position =
                Some(crate::Position { line, column, start: note.start, end: note.end });
            if !note.name.is_empty() {
                finding.expression.push('.');
                finding.expression.push_str(&note.name);
            }
        }
    }
}

fn is_id(child: Element<'_>) -> bool {
    child.name() == "id"
}

/// What a value is in JSON; `None` for XML, which has no types.
fn json_type(node: &Node) -> Option<&'static str> {
    let kinds = [
        // A value that came after a `null` padding keeps both flags.
        (Flags::STRING, "string"),
        (Flags::NUMBER, "number"),
        (Flags::BOOL, "boolean"),
        (Flags::OBJECT, "object"),
        (Flags::RAW, "array"),
        (Flags::NULL, "null"),
    ];
    kinds.iter().find(|(flag, _)| node.flags.has(*flag)).map(|(_, name)| *name)
}
