//! Licences, bans and sources of everything that we build on, against `deny.toml`.
//!
//! The same file rules `cargo deny`, which knows more (security advisories). Where that program is
//! installed it runs too; where it is not, the output says what was not checked.

use std::fs;

use serde_json::Value;
use toml::Table;

use crate::output;
use crate::process::Call;
use crate::workspace::{Workspace, list, metadata, text};

/// Checks every package of the lock file, of every platform.
pub(crate) fn check(workspace: &Workspace) -> Result<(), String> {
    let path = workspace.root.join("deny.toml");
    let source = fs::read_to_string(&path).map_err(|error| format!("deny.toml: {error}"))?;
    let policy = Policy::read(&source)?;
    let packages = metadata(&["--locked", "--all-features"])?;
    let findings = findings(&policy, &packages);
    if !findings.is_empty() {
        findings.iter().for_each(|finding| output::problem(finding));
        return Err(format!("{} packages are against deny.toml", findings.len()));
    }
    output::line(&format!(
        "{} packages: licences, bans and sources are as deny.toml wants them",
        list(&packages, "packages").len()
    ));
    if Call::cargo().args(["deny", "--version"]).text().is_none() {
        output::line("security advisories were NOT checked: cargo-deny is not installed");
        return Ok(());
    }
    Call::cargo().args(["deny", "--all-features", "check"]).inside(&workspace.root).run()
}

/// What `deny.toml` says, as far as it is checked here.
#[derive(Debug, Default, PartialEq, Eq)]
struct Policy {
    licences: Vec<String>,
    banned: Vec<String>,
    registries: Vec<String>,
}

impl Policy {
    fn read(source: &str) -> Result<Self, String> {
        let file: Table = source.parse().map_err(|error| format!("deny.toml: {error}"))?;
        let entries = |section: &str, key: &str| -> Result<Vec<String>, String> {
            let list = file.get(section).and_then(|section| section.get(key)?.as_array());
            let list = list.ok_or_else(|| format!("deny.toml has no list {section}.{key}"))?;
            let name = |entry: &toml::Value| {
                let text = entry.as_str().or_else(|| entry.get("crate")?.as_str());
                text.map(str::to_owned)
                    .ok_or_else(|| format!("deny.toml: {section}.{key}: {entry}"))
            };
            list.iter().map(name).collect()
        };
        Ok(Self {
            licences: entries("licenses", "allow")?,
            banned: entries("bans", "deny")?,
            registries: entries("sources", "allow-registry")?,
        })
    }
}

fn findings(policy: &Policy, metadata: &Value) -> Vec<String> {
    let mut findings = Vec::new();
    for package in list(metadata, "packages") {
        let name = format!("{} {}", text(package, "name"), text(package, "version"));
        let source = text(package, "source");
        // Without a source it is our own.
        if source.is_empty() {
            continue;
        }
        if !source
            .strip_prefix("registry+")
            .is_some_and(|url| policy.registries.iter().any(|known| known == url))
        {
            findings.push(format!("{name} comes from {source}"));
        }
        if policy.banned.iter().any(|banned| banned == text(package, "name")) {
            findings.push(format!("{name} is banned"));
        }
        let licence = text(package, "license");
        match permits(licence, &policy.licences) {
            Ok(true) => {}
            Ok(false) => findings.push(format!("{name} is under {licence}, which is not allowed")),
            Err(()) => {
                findings.push(format!("{name} has no licence that can be read: {licence:?}"))
            }
        }
    }
    findings
}

/// Evaluates an SPDX expression; `/` is the old form of OR.
fn permits(expression: &str, allowed: &[String]) -> Result<bool, ()> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut terms = Terms { words: spaced.split_whitespace().collect(), next: 0, allowed };
    let value = terms.either()?;
    if terms.next == terms.words.len() { Ok(value) } else { Err(()) }
}

struct Terms<'a> {
    words: Vec<&'a str>,
    next: usize,
    allowed: &'a [String],
}

impl<'a> Terms<'a> {
    fn either(&mut self) -> Result<bool, ()> {
        let mut value = self.both()?;
        while self.take("OR") {
            // Not `||`: the right side must be read even where it no longer matters.
            value |= self.both()?;
        }
        Ok(value)
    }

    fn both(&mut self) -> Result<bool, ()> {
        let mut value = self.one()?;
        while self.take("AND") {
            value &= self.one()?;
        }
        Ok(value)
    }

    fn one(&mut self) -> Result<bool, ()> {
        if self.take("(") {
            let value = self.either()?;
            return if self.take(")") { Ok(value) } else { Err(()) };
        }
        let mut name = self.word().ok_or(())?.to_owned();
        if ["OR", "AND", "WITH", ")"].contains(&name.as_str()) {
            return Err(());
        }
        if self.take("WITH") {
            name = format!("{name} WITH {}", self.word().ok_or(())?);
        }
        Ok(self.allowed.contains(&name))
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.words.get(self.next) == Some(&word);
        self.next += usize::from(found);
        found
    }

    fn word(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.next).copied();
        self.next += usize::from(word.is_some());
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const DENY: &str = r#"
        [licenses]
        allow = ["MIT", "Apache-2.0", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"]
        [bans]
        deny = ["native-tls", { crate = "sonic-rs", reason = "deep nesting" }]
        [sources]
        allow-registry = ["https://github.com/rust-lang/crates.io-index"]
    "#;

    #[test]
    fn spdx_expressions_are_evaluated() {
        let policy = Policy::read(DENY).unwrap();
        let permits = |text| permits(text, &policy.licences);
        for good in [
            "MIT",
            "MIT/GPL-3.0",
            "GPL-3.0 OR MIT",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert_eq!(permits(good), Ok(true), "{good}");
        }
        for bad in
            ["GPL-3.0", "MIT AND GPL-3.0", "MIT WITH LLVM-exception", "GPL-3.0 OR (MIT AND X)"]
        {
            assert_eq!(permits(bad), Ok(false), "{bad}");
        }
        for broken in ["", "MIT MIT", "(MIT", "MIT OR", "AND MIT", "MIT)", "MIT WITH"] {
            assert_eq!(permits(broken), Err(()), "{broken}");
        }
    }

    #[test]
    fn a_bad_package_is_found_and_our_own_are_left_alone() {
        let policy = Policy::read(DENY).unwrap();
        let registry = "registry+https://github.com/rust-lang/crates.io-index";
        let packages = json!({ "packages": [
            { "name": "ours", "version": "0.1.0", "license": "Apache-2.0", "source": null },
            { "name": "good", "version": "1.0.0", "license": "MIT OR X", "source": registry },
            { "name": "copyleft", "version": "1.0.0", "license": "GPL-3.0", "source": registry },
            { "name": "sonic-rs", "version": "2.0.0", "license": "MIT", "source": registry },
            { "name": "fork", "version": "1.0.0", "license": "MIT", "source": "git+https://example.org" },
            { "name": "silent", "version": "1.0.0", "license": null, "source": registry },
        ]});
        assert_eq!(
            findings(&policy, &packages),
            [
                "copyleft 1.0.0 is under GPL-3.0, which is not allowed",
                "sonic-rs 2.0.0 is banned",
                "fork 1.0.0 comes from git+https://example.org",
                "silent 1.0.0 has no licence that can be read: \"\"",
            ]
        );
    }

    #[test]
    fn an_incomplete_policy_is_refused() {
        assert_eq!(Policy::read("[licenses]").unwrap_err(), "deny.toml has no list licenses.allow");
        assert!(Policy::read("[").is_err());
    }
}
