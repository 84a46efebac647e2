//! A look at the names near the root of JSON or XML, without building or checking anything:
//! counters and one pass, so any depth and any damage only end the look.

/// What was seen.
#[derive(Debug, Default)]
pub(crate) struct Glance {
    /// Local name of the XML root.
    pub(crate) root: Option<String>,
    /// Type of the resource at the root.
    pub(crate) resource_type: Option<String>,
    /// `Bundle.type`, where it was seen.
    pub(crate) bundle_type: Option<String>,
    /// Resource type of the first entry.
    pub(crate) first_entry: Option<String>,
    /// A Bundle among the contained resources.
    pub(crate) contains_bundle: bool,
}

impl Glance {
    /// Nothing that could still be seen would change the verdict.
    fn is_enough(&self) -> bool {
        match self.resource_type.as_deref() {
            Some("Bundle") => match self.bundle_type.as_deref() {
                Some("document") => true,
                Some(_) => self.first_entry.is_some(),
                None => false,
            },
            Some("DocumentReference") => self.contains_bundle,
            Some(_) => true,
            None => false,
        }
    }
}

/// Without leading white space as both encodings define it.
pub(crate) fn trim_start(bytes: &[u8]) -> &[u8] {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    &bytes[bytes.iter().position(|byte| !is_space(byte)).unwrap_or(bytes.len())..]
}

/// Levels of JSON that matter: `Bundle.entry[0].resource.resourceType` is at 4.
const DEPTH_SEEN: usize = 4;

/// Looks at a JSON object.
pub(crate) fn json(text: &[u8]) -> Glance {
    let mut glance = Glance::default();
    let (mut at, mut depth) = (0, 0_usize);
    // Last name at each level, as a range of the text; a name is a string followed by a colon.
    let mut names: [&[u8]; DEPTH_SEEN + 1] = [b""; DEPTH_SEEN + 1];
    let mut entries = 0;
    while at < text.len() {
        match text[at] {
            b'"' => {
                let Some(end) = string_end(text, at) else { break };
                let content = &text[at + 1..end];
                at = end + 1;
                if depth > DEPTH_SEEN {
                    continue;
                }
                if trim_start(&text[at..]).starts_with(b":") {
                    names[depth] = content;
                } else {
                    note_json(&mut glance, &names, depth, entries, content);
                    if glance.is_enough() {
                        break;
                    }
                }
                continue;
            }
            b'{' | b'[' => {
                depth += 1;
                if depth <= DEPTH_SEEN {
                    names[depth] = b"";
                }
                if depth == 3 && names[1] == b"entry" {
                    entries += 1;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            break;
        }
        at += 1;
    }
    glance
}

/// A string value was read under these names.
fn note_json(glance: &mut Glance, names: &[&[u8]], depth: usize, entries: u32, value: &[u8]) {
    let value = || Some(String::from_utf8_lossy(value).into_owned());
    match (depth, names[1], names[depth]) {
        (1, _, b"resourceType") if glance.resource_type.is_none() => glance.resource_type = value(),
        (1, _, b"type") if glance.bundle_type.is_none() => glance.bundle_type = value(),
        // { contained: [ { resourceType
        (3, b"contained", b"resourceType") => {
            glance.contains_bundle |= value().as_deref() == Some("Bundle");
        }
        // { entry: [ { resource: { resourceType
        (4, b"entry", b"resourceType") if entries == 1 && names[3] == b"resource" => {
            glance.first_entry = value();
        }
        _ => {}
    }
}

/// Offset of the closing quote of the string that opens at `open`.
fn string_end(text: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    while at < text.len() {
        match text[at] {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}

/// Looks at an XML document.
pub(crate) fn xml(text: &[u8]) -> Glance {
    let mut glance = Glance::default();
    let (mut at, mut depth) = (0, 0_usize);
    let mut path: [&[u8]; 3] = [b""; 3];
    let mut entries = 0;
    while let Some(open) = find(text, at, b"<") {
        let Some(end) = tag_end(text, open) else {
            // A cut text may still tell by the tag it ends in, if that is the root.
            if depth == 0 {
                note_root(&mut glance, &text[open + 1..]);
            }
            break;
        };
        let tag = &text[open + 1..end];
        at = end + 1;
        match tag.first() {
            Some(b'!' | b'?') | None => continue,
            Some(b'/') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
                continue;
            }
            Some(_) => {}
        }
        let name = local_name(tag);
        match depth {
            0 => {
                note_root(&mut glance, tag);
                if glance.resource_type.is_none() {
                    break;
                }
            }
            1 if name == b"type" && glance.bundle_type.is_none() => {
                glance.bundle_type = attribute(tag, b"value");
            }
            1 if name == b"entry" => entries += 1,
            2 if path[1] == b"contained" && name == b"Bundle" => glance.contains_bundle = true,
            3 if path[1] == b"entry" && path[2] == b"resource" && entries == 1 => {
                glance.first_entry = Some(String::from_utf8_lossy(name).into_owned());
            }
            _ => {}
        }
        if glance.is_enough() {
            break;
        }
        if !tag.ends_with(b"/") {
            if depth < path.len() {
                path[depth] = name;
            }
            depth += 1;
        } else if depth == 0 {
            break;
        }
    }
    glance
}

/// A root in the FHIR namespace is a resource; so are the two names a report can have in any
/// namespace, because then the reader can say that the namespace is wrong.
fn note_root(glance: &mut Glance, tag: &[u8]) {
    let name = String::from_utf8_lossy(local_name(tag)).into_owned();
    let in_fhir = find(tag, 0, b"http://hl7.org/fhir").is_some();
    if in_fhir || name == "Bundle" || name == "DocumentReference" {
        glance.resource_type = Some(name.clone());
    }
    glance.root = Some(name);
}

/// Name of a tag without its prefix.
fn local_name(tag: &[u8]) -> &[u8] {
    let ends = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'/' | b'>');
    let name = &tag[..tag.iter().position(ends).unwrap_or(tag.len())];
    &name[name.iter().position(|byte| *byte == b':').map_or(0, |colon| colon + 1)..]
}

/// Value of an attribute of a tag, as written.
fn attribute(tag: &[u8], name: &[u8]) -> Option<String> {
    let mut from = 0;
    loop {
        let start = find(tag, from, name)?;
        from = start + name.len();
        let rest = trim_start(&tag[from..]);
        let is_own_word = start > 0 && tag[start - 1].is_ascii_whitespace();
        let Some(rest) = rest.strip_prefix(b"=").filter(|_| is_own_word) else { continue };
        let rest = trim_start(rest);
        let quote = *rest.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
        let value = &rest[1..];
        let end = value.iter().position(|byte| *byte == quote)?;
        return Some(String::from_utf8_lossy(&value[..end]).into_owned());
    }
}

/// Offset of the `>` that ends what opens at `open`: a tag (quotes are respected), a comment, a
/// processing instruction, CDATA or a DOCTYPE with its internal subset.
fn tag_end(text: &[u8], open: usize) -> Option<usize> {
    let rest = &text[open..];
    let after = |end: &[u8]| find(text, open, end).map(|at| at + end.len() - 1);
    if rest.starts_with(b"<!--") {
        return find(text, open + 4, b"-->").map(|at| at + 2);
    }
    if rest.starts_with(b"<![CDATA[") {
        return after(b"]]>");
    }
    if rest.starts_with(b"<?") {
        return after(b"?>");
    }
    let (mut quote, mut brackets) = (None, 0_usize);
    for (offset, byte) in rest.iter().enumerate() {
        match (quote, byte) {
            (Some(open), byte) if open == *byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(*byte),
            (None, b'[') => brackets += 1,
            (None, b']') => brackets = brackets.saturating_sub(1),
            (None, b'>') if brackets == 0 => return Some(open + offset),
            _ => {}
        }
    }
    None
}

fn find(text: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let rest = text.get(from..)?;
    if let [one] = what {
        return rest.iter().position(|byte| byte == one).map(|at| from + at);
    }
    rest.windows(what.len()).position(|window| window == what).map(|at| from + at)
}
