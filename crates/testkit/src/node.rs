//! A small FHIR value that writes itself as JSON or XML: so that test documents need no crate under
//! test.

/// Extension that says why a value is missing.
const ABSENT: &str = "http://hl7.org/fhir/StructureDefinition/data-absent-reason";

/// One element.
pub(crate) enum Node {
    /// A primitive that JSON writes as a string.
    Text(String),
    /// A primitive that JSON writes bare: a number or a boolean.
    Bare(String),
    /// Narrative, from `<div` to `</div>`.
    Xhtml(String),
    /// A primitive without a value, with the reason in an extension: JSON writes it below `_name`.
    Absent(&'static str),
    Fields(Vec<(&'static str, Node)>),
    List(Vec<Node>),
    Resource(&'static str, Vec<(&'static str, Node)>),
    /// `Extension`: its url is an attribute in XML.
    Extension(&'static str, Vec<(&'static str, Node)>),
}

pub(crate) fn text(value: impl Into<String>) -> Node {
    Node::Text(value.into())
}

pub(crate) fn fields<const N: usize>(fields: [(&'static str, Node); N]) -> Node {
    Node::Fields(fields.into())
}

pub(crate) fn list<const N: usize>(nodes: [Node; N]) -> Node {
    Node::List(nodes.into())
}

impl Node {
    pub(crate) fn to_json(&self) -> String {
        let mut out = String::new();
        self.json(&mut out, 0);
        out.push('\n');
        out
    }

    fn json(&self, out: &mut String, indent: usize) {
        match self {
            Self::Text(value) | Self::Xhtml(value) => out.push_str(&quoted(value)),
            Self::Bare(value) => out.push_str(value),
            Self::Absent(reason) => out.push_str(&format!(
                "{{\"extension\": [{{\"url\": \"{ABSENT}\", \"valueCode\": \"{reason}\"}}]}}"
            )),
            Self::Fields(fields) => json_object(out, indent, None, fields),
            Self::Resource(kind, fields) => {
                json_object(out, indent, Some(("resourceType", kind)), fields);
            }
            Self::Extension(url, fields) => json_object(out, indent, Some(("url", url)), fields),
            Self::List(nodes) => {
                out.push('[');
                for (index, node) in nodes.iter().enumerate() {
                    line(out, indent + 1, index > 0);
                    node.json(out, indent + 1);
                }
                line(out, indent, false);
                out.push(']');
            }
        }
    }

    /// Writes a root resource.
    pub(crate) fn to_xml(&self) -> String {
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        self.xml(&mut out, None, true);
        out.push('\n');
        out
    }

    fn xml(&self, out: &mut String, name: Option<&str>, root: bool) {
        match self {
            Self::Text(value) | Self::Bare(value) => {
                let name = name.unwrap_or_default();
                out.push_str(&format!("<{name} value=\"{}\"/>", escaped(value)));
            }
            Self::Xhtml(value) => out.push_str(value),
            Self::Absent(reason) => {
                let name = name.unwrap_or_default();
                out.push_str(&format!(
                    "<{name}><extension url=\"{ABSENT}\"><valueCode \
                     value=\"{reason}\"/></extension></{name}>"
                ));
            }
            Self::List(nodes) => nodes.iter().for_each(|node| node.xml(out, name, false)),
            Self::Fields(fields) => xml_element(out, name.unwrap_or_default(), "", fields),
            Self::Extension(url, fields) => {
                let attribute = format!(" url=\"{}\"", escaped(url));
                xml_element(out, name.unwrap_or_default(), &attribute, fields);
            }
            Self::Resource(kind, fields) => {
                if let Some(name) = name {
                    out.push_str(&format!("<{name}>"));
                }
                let namespace = if root { " xmlns=\"http://hl7.org/fhir\"" } else { "" };
                xml_element(out, kind, namespace, fields);
                if let Some(name) = name {
                    out.push_str(&format!("</{name}>"));
                }
            }
        }
    }
}

fn json_object(
    out: &mut String,
    indent: usize,
    first: Option<(&str, &str)>,
    fields: &[(&'static str, Node)],
) {
    out.push('{');
    if let Some((name, value)) = first {
        line(out, indent + 1, false);
        out.push_str(&format!("{}: {}", quoted(name), quoted(value)));
    }
    for (index, (name, node)) in fields.iter().enumerate() {
        line(out, indent + 1, index > 0 || first.is_some());
        let mark = if matches!(node, Node::Absent(_)) { "_" } else { "" };
        out.push_str(&format!("\"{mark}{name}\": "));
        node.json(out, indent + 1);
    }
    line(out, indent, false);
    out.push('}');
}

fn xml_element(out: &mut String, name: &str, attribute: &str, fields: &[(&'static str, Node)]) {
    out.push_str(&format!("<{name}{attribute}>"));
    for (name, node) in fields {
        node.xml(out, Some(name), false);
    }
    out.push_str(&format!("</{name}>"));
}

fn line(out: &mut String, indent: usize, comma: bool) {
    out.push_str(if comma { ",\n" } else { "\n" });
    out.push_str(&"  ".repeat(indent));
}

fn quoted(value: &str) -> String {
    serde_json::to_string(value).unwrap()
}

fn escaped(value: &str) -> String {
    let value = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    // White space in an attribute that is not written as a reference is read as a plain space.
    value.replace('"', "&quot;").replace('\n', "&#10;").replace('\t', "&#9;")
}
