//! What can be asked about the authority's rules.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// Validate any FHIR R4 resource.
    #[command(after_help = "\
Against its type, the profiles that it names itself, and every --profile. Nothing is sent or kept.
Exit code 0: no errors; 1: errors; 2: wrong usage, or a package that cannot be read.

Examples:
  labcourier rules validate report.json
  labcourier --json rules validate patient.xml --profile http://example.org/StructureDefinition/patient
  labcourier rules validate patient.json --package profile.json --mode strict")]
    Validate(Validate),
    /// Import FHIR packages (.tgz).
    #[command(after_help = "\
Nothing is used before `labcourier rules use`, and what is in use stays as it is. A dependency that is missing is
named; it may follow later.

Example:
  labcourier rules import hl7.fhir.r4.core-4.0.1.tgz ch.fhir.ig.ch-elm-1.14.0.tgz")]
    Import {
        /// Packages.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// List the imported packages.
    #[command(after_help = "Example:\n  labcourier --json rules list")]
    List,
    /// Forget a package.
    #[command(after_help = "Example:\n  labcourier rules remove ch.fhir.ig.ch-elm@1.13.0")]
    Remove {
        /// NAME@VERSION
        package: String,
    },
    /// Use a package and what it depends on.
    #[command(after_help = "\
It is tried on the last 1,000 reports first, beside the rules in use. Where reports would be held that are not held now,
nothing is changed before --confirm. What is imported later changes nothing of what is in use, nor does a removal, except
that of the package itself: then no rules are in use.

Example:
  labcourier rules use ch.fhir.ig.ch-elm@1.14.0")]
    Use {
        /// NAME@VERSION
        package: String,
        /// Use it, whatever it changes.
        #[arg(long)]
        confirm: bool,
    },
    /// Show which rules are in use.
    #[command(after_help = "Example:\n  labcourier rules show")]
    Show,
    /// Show, choose or forget a validator that is asked as well.
    #[command(after_help = "\
Once one is chosen, `labcourier check` shows each report to its $validate, with the patient in it, and says where it
finds something else than is found here. What it says decides nothing, and nothing counts as sent. The client
certificate is not used for it. The address is one of https, or one on this computer; HL7's Java validators are asked
at BASE/$validate, others at BASE/Bundle/$validate, which is what a base address alone means.

Examples:
  labcourier rules validator
  labcourier rules validator 'http://localhost:8080/fhir/$validate' --allow-patient-data
  labcourier rules validator --forget")]
    Validator(ValidatorChoice),
}

#[derive(Debug, Args)]
pub(crate) struct ValidatorChoice {
    /// Its base address, or that of its $validate.
    #[arg(value_name = "ADDRESS", conflicts_with = "forget")]
    pub(crate) address: Option<String>,
    /// Reports may be shown to it with the patients in them.
    #[arg(long, requires = "address")]
    pub(crate) allow_patient_data: bool,
    /// Its own CA (PEM); it alone is trusted then.
    #[arg(long, value_name = "FILE", requires = "address")]
    pub(crate) ca: Option<PathBuf>,
    /// Ask nobody from now on.
    #[arg(long)]
    pub(crate) forget: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Validate {
    /// Resources in JSON or XML.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Canonical of a profile that every resource must conform to, also as `--profile URL`; may be
    /// repeated.
    #[arg(long = "against", value_name = "URL")]
    pub(crate) profiles: Vec<String>,
    /// A package (.tgz) or one definition (.json), for this call only; may be repeated.
    #[arg(long = "package", value_name = "FILE")]
    pub(crate) packages: Vec<PathBuf>,
    /// Whose policy decides.
    #[arg(long, value_enum, default_value = "authority")]
    pub(crate) mode: ValidateMode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ValidateMode {
    /// As the authority's validator decides.
    Authority,
    /// As FHIR says; unknown extensions are errors.
    Strict,
}

/// `--profile` names the profile's folder everywhere, and after `rules validate` a FHIR profile
/// too: a canonical is told from a folder by its scheme, and handed on as `--against`.
pub(crate) fn told_apart(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut all: Vec<OsString> = arguments.collect();
    let Some(rules) = all.iter().position(|argument| argument == "rules") else { return all };
    let validate = all.iter().skip(rules).position(|argument| argument == "validate");
    let Some(first) = validate.map(|at| rules + at + 1) else { return all };
    for at in first..all.len() {
        let Some(argument) = all[at].to_str() else { continue };
        if argument == "--" {
            break;
        }
        if argument == "--profile" {
            if all.get(at + 1).and_then(|value| value.to_str()).is_some_and(is_canonical) {
                all[at] = "--against".into();
            }
        } else if let Some(value) =
            argument.strip_prefix("--profile=").filter(|of| is_canonical(of))
        {
            all[at] = format!("--against={value}").into();
        }
    }
    all
}

fn is_canonical(value: &str) -> bool {
    value.contains("://") || value.starts_with("urn:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_canonicals_are_told_apart() {
        let told = |arguments: &str| -> String {
            let all = told_apart(arguments.split(' ').map(OsString::from));
            let all: Vec<&str> = all.iter().filter_map(|argument| argument.to_str()).collect();
            all.join(" ")
        };
        for (given, expected) in [
            (
                "x --profile d rules validate a --profile http://b/c --profile=urn:d",
                "x --profile d rules validate a --against http://b/c --against=urn:d",
            ),
            ("x rules validate a --profile d", "x rules validate a --profile d"),
            ("x --profile http://b list", "x --profile http://b list"),
        ] {
            assert_eq!(told(given), expected);
        }
    }
}
