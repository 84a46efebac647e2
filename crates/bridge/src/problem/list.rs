//! Every problem that can cross to a person.

use super::Blame;

/// A row of [`PROBLEMS`]: code, names of its parameters, who can mend it, what to do next.
pub type ProblemRow = (&'static str, &'static [&'static str], Blame, &'static str);

/// Every problem that can cross to a person; the message catalogues are complete against this list.
pub const PROBLEMS: &[ProblemRow] = &[
    // what a person asked for
    ("argument-invalid", &["argument"], Blame::You, "change-input"),
    ("argument-too-large", &["argument", "limit"], Blame::You, "change-input"),
    ("no-such-submission", &["id"], Blame::You, "look-again"),
    ("action-not-possible", &["action", "state"], Blame::You, "look-again"),
    ("content-erased", &["id"], Blame::You, "choose-other-file"),
    ("not-a-report", &["file", "kind"], Blame::You, "choose-other-file"),
    ("not-a-document", &["id"], Blame::You, "correct"),
    ("no-identifier", &["id"], Blame::You, "correct"),
    ("known-content", &["id"], Blame::You, "look-again"),
    ("file-unreadable", &["file", "reason"], Blame::You, "choose-other-file"),
    ("path-not-granted", &[], Blame::You, "choose-other-file"),
    ("endpoint-not-allowed", &[], Blame::You, "change-input"),
    ("room-changed", &[], Blame::You, "look-again"),
    ("window-locked", &[], Blame::You, "unlock-window"),
    ("unlock-refused", &[], Blame::You, "enter-password"),
    ("unlock-too-soon", &["seconds"], Blame::You, "wait"),
    ("support-not-saved", &["reason"], Blame::You, "choose-other-file"),
    ("table-not-saved", &["reason"], Blame::You, "choose-other-file"),
    // rules
    ("rules-package-unusable", &["file", "reason"], Blame::You, "choose-other-file"),
    ("rules-not-imported", &["name"], Blame::You, "look-again"),
    ("rules-damaged", &["file"], Blame::You, "choose-other-file"),
    ("no-rules", &[], Blame::You, "choose-other-file"),
    // endpoints
    ("no-endpoint", &[], Blame::You, "add-endpoint"),
    ("unknown-endpoint", &["name"], Blame::You, "add-endpoint"),
    ("endpoint-exists", &["name"], Blame::You, "change-input"),
    ("endpoint-needed", &["name", "open"], Blame::You, "look-again"),
    ("endpoint-in-use", &["name"], Blame::You, "look-again"),
    ("endpoint-has-reports", &["all", "name", "open"], Blame::You, "look-again"),
    ("endpoint-gone", &["address", "environment", "name"], Blame::You, "add-endpoint"),
    ("endpoint-unusable", &["reason"], Blame::You, "change-endpoint"),
    // practice
    ("practice-authority-failed", &["reason"], Blame::Us, "retry"),
    ("practice-certificate-fixed", &[], Blame::You, "create-profile"),
    ("practice-endpoint-fixed", &[], Blame::You, "change-input"),
    ("not-practice", &[], Blame::You, "look-again"),
    // certificate files
    ("certificate-password-needed", &[], Blame::You, "enter-password"),
    ("certificate-wrong-password", &[], Blame::You, "enter-password"),
    ("certificate-damaged", &["kind"], Blame::You, "choose-other-file"),
    ("certificate-no-key", &[], Blame::You, "choose-other-file"),
    ("certificate-no-certificate", &[], Blame::You, "choose-other-file"),
    ("certificate-several-keys", &["count"], Blame::You, "choose-other-file"),
    ("certificate-key-does-not-match", &[], Blame::You, "choose-other-file"),
    ("certificate-not-a-certificate-file", &["found"], Blame::You, "choose-other-file"),
    ("certificate-unsupported-key", &["keyType"], Blame::You, "choose-other-file"),
    ("certificate-unsupported-encryption", &["algorithm"], Blame::You, "choose-other-file"),
    ("certificate-too-many-iterations", &["iterations", "limit"], Blame::You, "choose-other-file"),
    ("certificate-too-large", &["bytes", "limit"], Blame::You, "choose-other-file"),
    // certificates that are stored
    ("unknown-certificate", &["fingerprint"], Blame::You, "look-again"),
    ("certificate-needed", &["endpoints", "open"], Blame::You, "look-again"),
    ("too-many-certificates", &["limit"], Blame::You, "look-again"),
    // keychain and vault
    ("no-keychain", &["cause"], Blame::You, "call-it"),
    ("keychain-locked", &["cause"], Blame::You, "unlock-keychain"),
    ("keychain-denied", &[], Blame::You, "unlock-keychain"),
    ("secret-missing", &["name"], Blame::You, "import-certificate"),
    ("secret-exists", &["name"], Blame::You, "call-it"),
    ("secret-damaged", &["name"], Blame::You, "import-certificate"),
    ("wrong-passphrase", &[], Blame::You, "enter-password"),
    ("passphrase-needed", &[], Blame::You, "enter-password"),
    ("passphrase-weak", &["least"], Blame::You, "change-input"),
    ("passphrase-file-open", &["file", "mode"], Blame::You, "change-input"),
    ("no-vault", &[], Blame::You, "look-again"),
    ("vault-damaged", &[], Blame::You, "restore"),
    ("no-randomness", &[], Blame::Us, "call-it"),
    ("secrets-io", &["cause", "operation"], Blame::You, "call-it"),
    // profile and journal
    ("profile-missing", &["folder"], Blame::You, "create-profile"),
    ("profile-exists", &["folder"], Blame::You, "change-input"),
    ("settings-damaged", &["file", "line"], Blame::You, "restore"),
    ("settings-missing", &["folder"], Blame::You, "restore"),
    ("settings-newer", &["found"], Blame::You, "update"),
    ("profile-io", &["file", "reason"], Blame::You, "call-it"),
    ("journal-missing", &[], Blame::You, "restore"),
    ("journal-exists", &[], Blame::You, "change-input"),
    ("journal-wrong-key-or-damaged", &[], Blame::You, "restore"),
    ("journal-newer", &["found", "known"], Blame::You, "update"),
    ("journal-older", &["found", "known"], Blame::You, "restart"),
    ("journal-brought-on", &[], Blame::You, "update"),
    ("journal-network", &[], Blame::You, "change-input"),
    ("journal-outdated", &["confirmed", "found"], Blame::You, "restore"),
    ("journal-busy", &[], Blame::You, "retry"),
    ("journal-damaged", &[], Blame::You, "restart"),
    ("journal-closed", &[], Blame::Us, "retry"),
    ("journal-stale-lease", &[], Blame::Us, "retry"),
    ("journal-io", &["operation", "reason"], Blame::You, "call-it"),
    ("backup-exists", &[], Blame::You, "change-input"),
    ("backup-incomplete", &["lacks"], Blame::You, "change-input"),
    ("disk-full", &[], Blame::You, "free-space"),
    // told until a person has read it: `journal::RECOVERY_NOTICES` and `engine::UPKEEP_NOTICES`
    (
        "journal-from-backup",
        &["aside", "doubted", "last", "lost", "salvaged", "submissions"],
        Blame::Us,
        "look-at-list",
    ),
    (
        "journal-from-remains",
        &["aside", "doubted", "last", "lost", "salvaged", "submissions"],
        Blame::Us,
        "look-at-list",
    ),
    (
        "journal-from-nothing",
        &["aside", "doubted", "last", "lost", "salvaged", "submissions"],
        Blame::Us,
        "look-at-list",
    ),
    ("pause-unknown", &[], Blame::Us, "look-at-list"),
    ("journal-reconciled", &["added", "doubted", "lost"], Blame::Us, "look-at-list"),
    ("journal-damage-met", &[], Blame::Us, "restart"),
    ("journal-unanchored", &[], Blame::Us, "call-it"),
    ("journal-copied", &["doubted"], Blame::You, "call-it"),
    ("backups-failing", &["last", "reason"], Blame::You, "free-space"),
    ("backup-place-away", &["place", "reason"], Blame::You, "reconnect-folder"),
    // told as long as they are true: `engine::WATCH_NOTICES`
    (
        "watched-files-refused",
        &["count", "file", "folder", "kind", "reason"],
        Blame::You,
        "mend-file",
    ),
    (
        "watched-files-known",
        &["count", "endpoint", "file", "folder", "state", "submission"],
        Blame::You,
        "send-or-remove",
    ),
    ("watched-folder-away", &["folder", "reason"], Blame::You, "reconnect-folder"),
    ("watched-folder-stopped", &["folder", "reason"], Blame::You, "call-it"),
    // told as long as it is true: `engine::COURIER_NOTICES`
    ("search-refused", &["endpoint", "status"], Blame::Authority, "call-authority"),
    // in timelines only: after a restore
    ("journal-restored", &[], Blame::Us, "wait"),
    ("journal-report-found", &[], Blame::Us, "wait"),
    // the way to the authority: `engine::Obstacle` and `client::Why`
    ("client-certificate-missing", &[], Blame::You, "import-certificate"),
    ("client-certificate-unavailable", &["reason"], Blame::You, "unlock-keychain"),
    ("dns", &["host"], Blame::Network, "retry"),
    ("connect-refused", &[], Blame::Network, "retry"),
    ("connect-timeout", &[], Blame::Network, "retry"),
    ("connect-failed", &["cause"], Blame::Network, "retry"),
    ("tls-broken", &[], Blame::Network, "call-it"),
    ("tls-version", &[], Blame::Network, "call-it"),
    ("tls-server-untrusted", &["reason"], Blame::Network, "call-it"),
    ("tls-client-not-asked", &[], Blame::Network, "call-it"),
    ("tls-client-refused", &["alert"], Blame::You, "import-certificate"),
    ("proxy-unreachable", &[], Blame::Network, "call-it"),
    ("proxy-authentication", &[], Blame::Network, "call-it"),
    ("proxy-refused", &["status"], Blame::Network, "call-it"),
    ("redirect", &["status"], Blame::Network, "call-it"),
    ("html", &["status"], Blame::Network, "call-it"),
    ("not-fhir", &["found", "status"], Blame::Network, "call-it"),
    ("content-encoded", &["encoding"], Blame::Authority, "call-authority"),
    ("empty-answer", &["status"], Blame::Authority, "call-authority"),
    ("no-receipt", &["status"], Blame::Authority, "call-authority"),
    ("another-identifier", &[], Blame::Authority, "call-authority"),
    ("shared-identifier", &[], Blame::Authority, "call-authority"),
    ("timeout", &[], Blame::Authority, "retry"),
    ("cut", &[], Blame::Network, "retry"),
    ("too-large", &["limit"], Blame::Authority, "call-authority"),
    ("forbidden", &["status"], Blame::You, "import-certificate"),
    ("not-found", &["status"], Blame::Authority, "look-again"),
    ("unavailable", &["status"], Blame::Authority, "wait"),
    ("unexplained", &["status"], Blame::Network, "call-it"),
    ("status", &["status"], Blame::Authority, "retry"),
    ("parameter-ignored", &["name"], Blame::Authority, "call-authority"),
    ("foreign-link", &[], Blame::Authority, "call-authority"),
    ("too-many-pages", &[], Blame::Authority, "call-authority"),
    ("pages-moved", &[], Blame::Authority, "wait"),
    ("search-unsupported", &[], Blame::You, "change-endpoint"),
    ("search-not-offered", &["name", "release"], Blame::You, "change-input"),
    // in timelines only: a request was under way when the program ended
    ("process-ended", &[], Blame::Us, "wait"),
    ("refused-by-authority", &["text"], Blame::Authority, "look-again"),
];

/// Remedies that [`PROBLEMS`] names, in alphabetical order.
pub const REMEDIES: &[&str] = &[
    "add-endpoint",
    "call-authority",
    "call-it",
    "change-endpoint",
    "change-input",
    "choose-other-file",
    "correct",
    "create-profile",
    "enter-password",
    "free-space",
    "import-certificate",
    "look-again",
    "look-at-list",
    "mend-file",
    "reconnect-folder",
    "restart",
    "restore",
    "retry",
    "send-or-remove",
    "unlock-keychain",
    "unlock-window",
    "update",
    "wait",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use client::Why;
    use engine::Obstacle;

    use super::*;
    use crate::problem::Problem;

    /// Every way in which an exchange can go wrong.
    fn ways() -> Vec<Why> {
        let text = || "x".to_owned();
        let status = 500;
        vec![
            Why::Dns { host: text() },
            Why::ConnectRefused,
            Why::ConnectTimeout,
            Why::ConnectFailed { cause: text() },
            Why::TlsBroken,
            Why::TlsVersion,
            Why::TlsServerUntrusted { reason: text() },
            Why::TlsClientRefused { alert: text() },
            Why::ProxyUnreachable,
            Why::ProxyAuthentication,
            Why::ProxyRefused { status },
            Why::Redirect { status },
            Why::Html { status },
            Why::NotFhir { status, found: text() },
            Why::ContentEncoded { encoding: text() },
            Why::EmptyAnswer { status },
            Why::NoReceipt { status },
            Why::AnotherIdentifier,
            Why::Timeout,
            Why::Cut,
            Why::TooLarge { limit: 1 },
            Why::Forbidden { status },
            Why::NotFound { status },
            Why::Unavailable { status },
            Why::Status { status },
            Why::ParameterIgnored { name: text() },
            Why::ForeignLink,
            Why::TooManyPages,
            Why::PagesMoved,
            Why::SearchUnsupported,
        ]
    }

    #[track_caller]
    fn assert_listed(problem: &Problem) {
        let row = PROBLEMS.iter().find(|(code, ..)| *code == problem.code);
        let (_, params, blame, remedy) = row.unwrap_or_else(|| panic!("{problem} is not listed"));
        let names: BTreeSet<_> = problem.params.keys().map(String::as_str).collect();
        assert_eq!(names, params.iter().copied().collect(), "{problem}");
        assert_eq!((problem.blame, problem.remedy.as_str()), (*blame, *remedy));
    }

    #[test]
    fn each_code_stands_once_and_each_remedy_is_known() {
        let codes: BTreeSet<_> = PROBLEMS.iter().map(|(code, ..)| *code).collect();
        assert_eq!(codes.len(), PROBLEMS.len());
        let used: BTreeSet<_> = PROBLEMS.iter().map(|(.., remedy)| *remedy).collect();
        assert_eq!(used.into_iter().collect::<Vec<_>>(), REMEDIES);
    }

    #[test]
    fn every_way_to_fail_is_listed() {
        for why in ways() {
            assert_listed(&Problem::from(&why));
            assert_eq!(Problem::from(&why).class(), crate::ProblemClass::Authority);
        }
        for (code, params) in Obstacle::CODES {
            let row = PROBLEMS.iter().find(|(known, ..)| known == code).unwrap();
            assert_eq!(row.1, *params, "{code}");
        }
    }

    #[test]
    fn every_notice_is_listed() {
        let all = [
            journal::RECOVERY_NOTICES,
            engine::UPKEEP_NOTICES,
            engine::WATCH_NOTICES,
            engine::COURIER_NOTICES,
        ];
        for (code, params) in all.into_iter().flatten() {
            let row = PROBLEMS.iter().find(|(known, ..)| known == code).unwrap();
            assert_eq!(row.1, *params, "{code}");
            let params: Vec<_> = params.iter().map(|name| (*name, "1")).collect();
            let notice = journal::Notice::new(code, &params, fhir::Instant(0));
            assert_listed(&Problem::from(&notice));
        }
        let unknown = journal::Notice::new("of-a-newer-program", &[("a", "b")], fhir::Instant(0));
        assert_eq!(Problem::from(&unknown).code, "of-a-newer-program");
    }

    #[test]
    fn every_certificate_problem_is_listed() {
        use identity::ImportError as E;
        for error in [
            E::PasswordNeeded,
            E::WrongPassword,
            E::Damaged { kind: "pkcs12" },
            E::NoKey,
            E::NoCertificate,
            E::SeveralKeys { count: 2 },
            E::KeyDoesNotMatch,
            E::NotACertificateFile { found: "pdf" },
            E::UnsupportedKey { key_type: "x".to_owned() },
            E::UnsupportedEncryption { algorithm: "x".to_owned() },
            E::TooManyIterations { iterations: 2, limit: 1 },
            E::TooLarge { bytes: 2, limit: 1 },
        ] {
            assert_listed(&error.into());
        }
    }

    #[test]
    fn every_problem_with_secrets_is_listed() {
        use identity::SecretsError as E;
        let cause = || "x".to_owned();
        for error in [
            E::NoKeychain { cause: cause() },
            E::Locked { cause: cause() },
            E::Denied,
            E::Missing { name: "vault" },
            E::Exists { name: "vault" },
            E::Damaged { name: "vault" },
            E::WrongPassphrase,
            E::PassphraseNeeded,
            E::VaultDamaged,
            E::NoRandomness,
            E::Io { operation: "read", source: std::io::Error::other("x") },
        ] {
            let problem = Problem::from(error);
            assert_listed(&problem);
            assert_eq!(problem.class(), crate::ProblemClass::Locked);
        }
        for error in [E::WeakPassphrase { least: 12 }, E::NoVault, E::TooMany { limit: 26 }] {
            let problem = Problem::from(error);
            assert_listed(&problem);
            assert_eq!(problem.class(), crate::ProblemClass::Usage);
        }
    }
}
