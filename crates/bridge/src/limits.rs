//! Bounds on what a caller may hand over: the window's side is not trusted with sizes.

use std::path::PathBuf;

use serde_json::Value;

use crate::problem::Problem;

/// Paths in one call.
pub(crate) const PATHS_MAX: usize = 10_000;
/// Submissions in one call.
pub(crate) const IDS_MAX: usize = 10_000;
/// Submissions that one call looks into, document by document. Who has more asks in steps: what is
/// left out in silence would be taken for looked at.
const LOOKED_MAX: usize = 1_000;
/// Bytes of one path; the longest that Linux takes.
const PATH_BYTES_MAX: usize = 4_096;
/// Bytes of a pasted or edited report.
const TEXT_BYTES_MAX: usize = 20 << 20;
/// Bytes of all pasted reports of a list.
const TEXTS_BYTES_MAX: usize = 100 << 20;
/// Characters of a reason.
const REASON_MAX: usize = 2_000;
/// Characters of a name, search text or password.
const LINE_MAX: usize = 1_000;
/// Bytes of a CA certificate or chain.
const CA_BYTES_MAX: usize = 200_000;
/// Days of statistics: ten years.
pub(crate) const DAYS_MAX: u32 = 3_660;
/// Bytes of any other text: 2,000 characters of a reason take 8,000 at most, a path 4,096.
const OTHER_BYTES_MAX: usize = 8_192;
/// Elements of a list, and members of an object.
const ELEMENTS_MAX: usize = 10_000;
/// Levels of an argument: an object that holds a list.
const LEVELS_MAX: usize = 3;
/// Bytes of a certificate or key file that is read; above it the file itself is refused.
pub(crate) const CERTIFICATE_BYTES_MAX: u64 = 4 << 20;

/// Bounds on an argument as it comes, before it is read: each function has finer ones.
pub(crate) fn json(argument: &str, value: &Value) -> Result<(), Problem> {
    let text_max = match argument {
        "text" | "items" => TEXT_BYTES_MAX,
        "input" | "ca_pem" => CA_BYTES_MAX,
        _ => OTHER_BYTES_MAX,
    };
    let mut open = vec![(value, 1)];
    while let Some((value, level)) = open.pop() {
        match value {
            Value::String(text) => within(argument, text.len(), text_max)?,
            Value::Array(items) => {
                within(argument, items.len(), ELEMENTS_MAX)?;
                open.extend(items.iter().map(|item| (item, level + 1)));
            }
            Value::Object(members) => {
                within(argument, members.len(), ELEMENTS_MAX)?;
                open.extend(members.values().map(|member| (member, level + 1)));
            }
            _ => {}
        }
        within(argument, level, LEVELS_MAX)?;
    }
    Ok(())
}

fn within(argument: &str, size: usize, limit: usize) -> Result<(), Problem> {
    if size <= limit {
        return Ok(());
    }
    let params = [("argument", argument), ("limit", &*limit.to_string())];
    Err(Problem::new("argument-too-large", &params, "command"))
}

pub(crate) fn invalid(argument: &str) -> Problem {
    Problem::new("argument-invalid", &[("argument", argument)], "command")
}

pub(crate) fn paths(paths: Vec<String>) -> Result<Vec<PathBuf>, Problem> {
    within("paths", paths.len(), PATHS_MAX)?;
    paths.into_iter().map(path).collect()
}

pub(crate) fn path(path: String) -> Result<PathBuf, Problem> {
    within("path", path.len(), PATH_BYTES_MAX)?;
    if path.is_empty() || path.contains('\0') {
        return Err(invalid("path"));
    }
    Ok(PathBuf::from(path))
}

pub(crate) fn ids(ids: &[i64]) -> Result<(), Problem> {
    within("ids", ids.len(), IDS_MAX)
}

pub(crate) fn looked(ids: &[i64]) -> Result<(), Problem> {
    within("ids", ids.len(), LOOKED_MAX)
}

pub(crate) fn text(text: &str) -> Result<(), Problem> {
    within("text", text.len(), TEXT_BYTES_MAX)
}

/// All pasted texts of a list together.
pub(crate) fn texts<'a>(texts: impl Iterator<Item = &'a str>) -> Result<(), Problem> {
    within("items", texts.map(str::len).sum(), TEXTS_BYTES_MAX)
}

/// A reason has something in it.
pub(crate) fn reason(reason: &str) -> Result<String, Problem> {
    within("reason", reason.chars().take(REASON_MAX + 1).count(), REASON_MAX)?;
    let reason = reason.trim();
    if reason.is_empty() { Err(invalid("reason")) } else { Ok(reason.to_owned()) }
}

pub(crate) fn line(argument: &str, line: &str) -> Result<(), Problem> {
    within(argument, line.chars().take(LINE_MAX + 1).count(), LINE_MAX)
}

/// A name that stands on one line.
pub(crate) fn name(argument: &str, name: &str) -> Result<String, Problem> {
    line(argument, name)?;
    let name = name.trim();
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(invalid(argument));
    }
    Ok(name.to_owned())
}

/// The language of reports that name none.
pub(crate) fn language(text: &str) -> Result<String, Problem> {
    let text = name("language", text)?;
    if fhir::is_language_region(&text) { Ok(text) } else { Err(invalid("language")) }
}

pub(crate) fn ca(pem: &str) -> Result<(), Problem> {
    within("caPem", pem.len(), CA_BYTES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_bounded() {
        let code = |result: Result<(), Problem>| result.unwrap_err().code;
        let many = paths(vec!["a".to_owned(); PATHS_MAX + 1]).map(drop);
        assert_eq!(code(many), "argument-too-large");
        assert_eq!(code(paths(vec!["a".repeat(5_000)]).map(drop)), "argument-too-large");
        assert_eq!(code(paths(vec!["a\0b".to_owned()]).map(drop)), "argument-invalid");
        assert_eq!(code(text(&" ".repeat(TEXT_BYTES_MAX + 1))), "argument-too-large");
        assert_eq!(code(reason(&"é".repeat(2_001)).map(drop)), "argument-too-large");
        assert_eq!(reason(&"é".repeat(2_000)).unwrap().chars().count(), 2_000);
        assert_eq!(code(reason(" \n").map(drop)), "argument-invalid");
        assert_eq!(code(name("name", "a\nb").map(drop)), "argument-invalid");
        assert_eq!(name("name", " a ").unwrap(), "a");
        for wrong in ["german", "de_CH", "de", ""] {
            assert_eq!(code(language(wrong).map(drop)), "argument-invalid", "{wrong}");
        }
        assert_eq!(language(" es-419 ").unwrap(), "es-419");
        assert_eq!(code(ids(&vec![1; IDS_MAX + 1])), "argument-too-large");
        assert_eq!(code(looked(&vec![1; LOOKED_MAX + 1])), "argument-too-large");
    }
}
