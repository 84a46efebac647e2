//! What people install themselves: Rust and Node. Everything else is installed by us.

use crate::process::Call;

/// The oldest Node that the user interface builds and tests with.
const NODE_MIN: (u64, u64) = (20, 19);

/// Node and npm are there and new enough.
pub fn node() -> Result<(), String> {
    let wanted = format!(
        "Lab Courier's user interface needs Node {}.{} or newer with npm: see https://nodejs.org, \
         or your system's package manager",
        NODE_MIN.0, NODE_MIN.1
    );
    let Some(found) = Call::new("node").args(["--version"]).text() else {
        return Err(format!("Node was not found. {wanted}"));
    };
    match version(&found) {
        Some(version) if version >= NODE_MIN => {}
        _ => return Err(format!("Node {} is too old. {wanted}", found.trim())),
    }
    match Call::npm().args(["--version"]).text() {
        Some(_) => Ok(()),
        None => Err(format!("npm was not found. {wanted}")),
    }
}

/// The parts of the toolchain beyond the compiler that the checks need.
pub fn toolchain() -> Result<(), String> {
    let missing: Vec<_> = [("fmt", "rustfmt"), ("clippy", "clippy")]
        .into_iter()
        .filter(|(command, _)| Call::cargo().args([command, "--version"]).text().is_none())
        .map(|(_, component)| component)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!(
        "missing from the Rust toolchain: {0}. With rustup: rustup component add {0}",
        missing.join(" ")
    ))
}

/// `v20.20.2` to (20, 20).
fn version(text: &str) -> Option<(u64, u64)> {
    let mut parts = text.trim().trim_start_matches('v').split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number() {
        assert_eq!(version("v20.20.2\n"), Some((20, 20)));
        assert!(version("v9.9.0") < Some(NODE_MIN));
        assert!(version("v100.0.0") > Some(NODE_MIN));
        assert_eq!(version("nightly"), None);
    }
}
