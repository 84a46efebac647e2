//! Codes as TypeScript sees them: a union of strings for each, made from the one list that Rust has
//! of them. A field of a view names its union by `#[ts(as = "codes::State")]`.

use engine::Candidate;

use crate::{fields, outcomes, timeliness};

/// Every code of the authority's rules, with its parameters.
pub const RULE_CODES: &[(&str, &[&str])] = rules::codes::CODES;

/// The codes of what is wrong in a document: of each it is said what to do, too.
pub const DOCUMENT_CODES: &[&[(&str, &[&str])]] =
    &[report::codes::CODES, fhir::codes::CODES, RULE_CODES];

/// `Event::code` of a request that was put off because it did not get through, where somebody on
/// the way refused it.
pub(crate) const REFUSED_ON_THE_WAY: &str = "refused-on-the-way";

/// Codes of events with the parameters that a timeline shows.
pub const EVENTS: &[(&str, &[&str])] = &[
    ("queued", &[]),
    ("held", &[]),
    ("released", &["reason"]),
    ("held-back", &[]),
    ("sending-started", &[]),
    ("deferred", &["why"]),
    (REFUSED_ON_THE_WAY, &["why"]),
    ("doubted", &["why"]),
    ("asked-in-vain", &[]),
    ("other-not-shown", &["of"]),
    ("not-answered", &["why"]),
    ("not-received", &[]),
    ("accepted", &["receipt"]),
    ("still-in-progress", &[]),
    ("overdue", &[]),
    ("not-found", &[]),
    ("turned-away", &["why"]),
    ("held-after-refusals", &["why"]),
    ("said-received", &["reason"]),
    ("still-expected", &["reason"]),
    ("said-not-received", &["reason"]),
    ("completed", &["receipt"]),
    ("failed", &["receipt"]),
    ("rejected", &[]),
    ("withdrawn", &["reason"]),
    ("superseded", &["by"]),
];

/// Codes of changes of the settings with their parameters.
pub const CHANGES: &[(&str, &[&str])] = &[
    ("endpoint-added", &["endpoint", "address"]),
    ("endpoint-address-set", &["endpoint", "address"]),
    ("endpoint-way-set", &["endpoint"]),
    ("endpoint-terms-set", &["endpoint", "release", "language"]),
    ("endpoint-renamed", &["endpoint", "name"]),
    ("endpoint-removed", &["endpoint"]),
    ("endpoint-used", &["endpoint"]),
    ("practice-used", &[]),
    ("certificate-imported", &[]),
    ("certificate-imported-named", &["subject", "date"]),
    ("certificate-used", &["fingerprint", "endpoint"]),
    ("certificate-removed", &["fingerprint"]),
    ("vault-passphrase-set", &[]),
    ("vault-passphrase-changed", &[]),
    ("journal-key-rotated", &[]),
    ("deadlines-set", &["count"]),
    ("attention-days-set", &["days"]),
    ("watched-folder-set", &["folder"]),
    ("watched-folder-unset", &[]),
    ("rules-imported", &["package"]),
    ("rules-used", &["package"]),
    ("rules-removed", &["package"]),
    ("backup-place-set", &["folder"]),
    ("backup-place-unset", &[]),
    ("set-aside-removed", &["name"]),
    ("retention-set", &["days"]),
    ("retention-unset", &[]),
    ("backup-restored", &["name"]),
    ("unlock-passphrase-chosen", &[]),
    ("unlock-passphrase-set", &[]),
    ("unlock-passphrase-removed", &[]),
    ("administration-passphrase-chosen", &[]),
    ("administration-passphrase-set", &[]),
    ("administration-passphrase-removed", &[]),
    ("updates-switched-on", &[]),
    ("updates-switched-off", &[]),
    ("update-installed", &[]),
];

/// Times that a list of reports may cover.
pub(crate) const PERIODS: [&str; 4] = ["all", "today", "week", "month"];

/// Every theme.
pub(crate) const THEMES: [&str; 3] = ["light", "dark", "system"];
/// How close rows may stand.
pub(crate) const DENSITIES: [&str; 2] = ["comfortable", "compact"];
/// What closing the window may do while reports are open.
pub(crate) const ON_CLOSE: [&str; 3] = ["ask", "background", "quit"];

/// What is known of a newer version of the program: who may be asked, and what came of it.
pub(crate) const UPDATE_STATES: [&str; 8] =
    ["off", "switched-off", "nobody", "unusable", "unasked", "current", "ready", "failed"];

/// Why nothing newer is offered: whom to ask is not said so that it can be used, or what came of
/// asking.
pub(crate) fn update_reasons() -> impl Iterator<Item = &'static str> {
    updates::NotUsable::CODES.iter().chain(updates::FAULTS).copied()
}

/// Why an emptied value stays: the report needs it, or it is tied to more than a field shows.
pub(crate) const REMOVAL_REFUSALS: [&str; 2] = ["needed", "tied"];

/// What a list can be sorted by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    State,
    Disease,
    Patient,
    Laboratory,
    Created,
    Updated,
    Deadline,
}

/// Columns by their names.
pub(crate) const COLUMNS: [(&str, Column); 7] = [
    ("state", Column::State),
    ("disease", Column::Disease),
    ("patient", Column::Patient),
    ("laboratory", Column::Laboratory),
    ("created", Column::Created),
    ("updated", Column::Updated),
    ("deadline", Column::Deadline),
];

/// What a candidate was recognised as; `unknown` where it could not be read, also where it begins
/// like a report and is broken further down.
pub(crate) fn kind_code(candidate: &Candidate) -> &'static str {
    if matches!(candidate.verdict, engine::Verdict::Refused(engine::Reason::Unreadable(_))) {
        return "unknown";
    }
    candidate.kind.as_ref().map_or("unknown", report::Kind::code)
}

/// Declares unions: the name in TypeScript, and where the codes are.
macro_rules! unions {
    ($( $(#[doc = $words:literal])* $name:ident = $codes:expr; )*) => {
        $(
            $(#[doc = $words])*
            #[allow(dead_code, reason = "some are only written for the window, and named by no \
                view")]
            pub(crate) enum $name {}

            impl ts_rs::TS for $name {
                type WithoutGenerics = Self;
                type OptionInnerType = Self;

                // A table by such a code need not have every key.
                const IS_ENUM: bool = true;

                fn docs() -> Option<String> {
                    Some(concat!("/**\n", $(" *", $words, "\n",)* " */\n").to_owned())
                }

                fn name(_: &ts_rs::Config) -> String {
                    stringify!($name).to_owned()
                }

                fn inline(_: &ts_rs::Config) -> String {
                    $crate::codes::union($codes)
                }

                fn decl(config: &ts_rs::Config) -> String {
                    format!("type {} = {};", Self::name(config), Self::inline(config))
                }

                fn decl_concrete(config: &ts_rs::Config) -> String {
                    Self::decl(config)
                }

                fn output_path() -> Option<std::path::PathBuf> {
                    Some(concat!(stringify!($name), ".ts").into())
                }
            }
        )*

        #[cfg(test)]
        #[test]
        #[allow(clippy::unwrap_used, reason = "a test says what is wrong by ending")]
        fn export_bindings_codes() {
            let config = ts_rs::Config::from_env();
            $( <$name as ts_rs::TS>::export_all(&config).unwrap(); )*
        }
    };
}

pub(crate) use unions;

unions! {
    /// Where a report stands.
    State = report::StateCode::CODES;
    /// The groups that people see.
    Group = report::Group::ALL.map(report::Group::code);
    /// What a person may do with a report.
    Action = report::Action::CODES;
    /// How much a message weighs.
    Severity = fhir::Severity::ALL.map(fhir::Severity::code);
    /// Whose message it is: our rules', the base check's of FHIR, or the authority's.
    Source = journal::Source::ALL.map(journal::Source::code);
    /// What an authority is for.
    Environment = exchange::Environment::ALL.map(exchange::Environment::code);
    /// What an authority says of a report.
    Processing = exchange::Processing::ALL.map(exchange::Processing::code);
    /// Where secrets rest.
    Vault = identity::SecretsKind::ALL.map(identity::SecretsKind::code);
    /// What happened to a report.
    EventCode = EVENTS.iter().map(|(code, _)| *code);
    /// What was changed of the settings.
    Change = CHANGES.iter().map(|(code, _)| *code);
    /// What a file was recognised as; `unknown` where its bytes could not be read.
    Kind = report::Kind::CODES.into_iter().chain(["unknown"]);
    /// Layer of the connection test.
    Layer = client::LAYERS;
    /// Key of a field of a section; `other` where there is none.
    FieldKey = fields::keys().chain(["other"]);
    /// FHIR resource types whose fields are shown with labels.
    SectionResource = fields::resource_types();
    /// Look of the window; `system` follows the computer.
    Theme = THEMES;
    /// How close the rows of the window stand.
    Density = DENSITIES;
    /// What closing the window does while reports are open.
    OnClose = ON_CLOSE;
    /// How a report stands to its deadline.
    Timeliness = timeliness::Timeliness::ALL.map(timeliness::Timeliness::code);
    /// Column that a list can be sorted by.
    SortColumn = COLUMNS.map(|(name, _)| name);
    /// Time that a list of reports covers.
    Period = PERIODS;
    /// Why an emptied value stays in a report.
    RemovalRefusal = REMOVAL_REFUSALS;
    /// What is known of a newer version of the program.
    UpdateState = UPDATE_STATES;
    /// Why no newer version is offered.
    UpdateReason = update_reasons();
    /// A described release of the interface.
    Release = exchange::Release::ALL.map(|release| release.facts().name);
    /// Encoding of a report.
    Format = fhir::Format::ALL.map(fhir::Format::code);
    /// Key of a disease; the catalogue has its name.
    Disease = report::diseases::all().iter().map(|disease| disease.key);
    /// How something was tested.
    TestKind = report::diseases::TESTS;
    /// In what something was tested.
    Specimen = report::diseases::SPECIMENS;
    /// What a value or an interpretation says.
    Outcome = outcomes::outcomes().collect::<std::collections::BTreeSet<_>>();
    /// Form of a patient's name that the authority permits.
    NameForm = rules::name_forms();
    /// What a certificate may be used for; what has no name is a dotted object identifier.
    KeyUsage = identity::KEY_USAGES.into_iter().map(purpose).chain(["${number}.${string}"]);
}

/// Name of an extended key usage in the standard (RFC 5280); an object identifier stands as it is.
pub(crate) fn purpose(code: &str) -> &str {
    match code {
        "any" => "anyExtendedKeyUsage",
        "client-auth" => "clientAuth",
        "server-auth" => "serverAuth",
        "code-signing" => "codeSigning",
        "email-protection" => "emailProtection",
        "time-stamping" => "timeStamping",
        "ocsp-signing" => "OCSPSigning",
        other => other,
    }
}

/// The codes as TypeScript has a union of them.
pub(crate) fn union(codes: impl IntoIterator<Item = &'static str>) -> String {
    // A pattern is a template, all others are plain strings.
    let quoted: Vec<String> = codes
        .into_iter()
        .map(|code| if code.contains("${") { format!("`{code}`") } else { format!("\"{code}\"") })
        .collect();
    quoted.join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::event_told;
    use report::{Event, SubmissionId};

    #[test]
    fn events_are_listed_by_their_codes() {
        let (at, text) = (fhir::Instant(0), String::new);
        let events = [
            Event::Queued { due: at },
            Event::Held,
            Event::Released { reason: text(), due: at },
            Event::HeldBack,
            Event::SendingStarted { since: at },
            Event::Deferred { due: at, why: "dns".to_owned() },
            Event::Deferred { due: at, why: "forbidden".to_owned() },
            Event::Doubted { since: at, due: at, why: text() },
            Event::AskedInVain { due: at, answered: None },
            Event::OtherNotShown { of: SubmissionId(1), due: at, answered: None },
            Event::NotAnswered { due: at, why: text(), in_vain: false, late: false },
            Event::NotReceived { due: at },
            Event::Accepted { receipt: text(), since: at, due: at },
            Event::StillInProgress { due: at },
            Event::Overdue { due: at },
            Event::NotFound { at, due: at, late: false },
            Event::TurnedAway { due: at, why: text() },
            Event::HeldAfterRefusals { why: text() },
            Event::SaidReceived { reason: text() },
            Event::StillExpected { reason: text(), at },
            Event::SaidNotReceived { reason: text(), due: at },
            Event::Completed { receipt: text() },
            Event::Failed { receipt: text() },
            Event::Rejected,
            Event::Withdrawn { reason: text() },
            Event::Superseded { by: SubmissionId(1) },
        ];
        let codes: Vec<_> = events.iter().map(event_told).collect();
        let listed: Vec<_> = EVENTS.iter().map(|(code, _)| *code).collect();
        assert_eq!(codes, listed);
    }
}
