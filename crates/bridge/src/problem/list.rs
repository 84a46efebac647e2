//! Every problem that can cross to a person.

use super::{Blame, ProblemClass as Class};

/// What is fixed of a problem, whenever it occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProblemRow {
    /// Its code.
    pub code: &'static str,
    /// Names of its parameters, in alphabetical order.
    pub params: &'static [&'static str],
    /// Who can mend it.
    pub blame: Blame,
    /// What to do next: one of [`REMEDIES`].
    pub remedy: &'static str,
    /// What a script may do about it.
    pub class: Class,
}

impl ProblemRow {
    /// The row of a code.
    pub fn of(code: &str) -> Option<&'static Self> {
        PROBLEMS.iter().find(|row| row.code == code)
    }
}

const fn row(
    code: &'static str,
    params: &'static [&'static str],
    blame: Blame,
    remedy: &'static str,
    class: Class,
) -> ProblemRow {
    ProblemRow { code, params, blame, remedy, class }
}

/// Every problem that can cross to a person; the message catalogues are complete against this list.
pub const PROBLEMS: &[ProblemRow] = &[
    // what a person asked for
    row("argument-invalid", &["argument"], Blame::You, "change-input", Class::Usage),
    row("argument-too-large", &["argument", "limit"], Blame::You, "change-input", Class::Usage),
    row("no-such-submission", &["id"], Blame::You, "look-again", Class::Person),
    row("action-not-possible", &["action", "state"], Blame::You, "look-again", Class::Person),
    row("content-erased", &["id"], Blame::You, "choose-other-file", Class::Person),
    row("not-a-report", &["file", "kind"], Blame::You, "choose-other-file", Class::Person),
    row("not-a-document", &["id"], Blame::You, "correct", Class::Person),
    row("no-identifier", &["id"], Blame::You, "correct", Class::Person),
    row("known-content", &["id"], Blame::You, "look-again", Class::Person),
    row("correction-changed", &[], Blame::You, "look-again", Class::Person),
    row("endpoint-changed", &[], Blame::You, "look-again", Class::Person),
    row("files-changed", &["count"], Blame::You, "look-again", Class::Person),
    row("files-gone", &["count"], Blame::You, "look-again", Class::Person),
    row("handed-over-unseen", &["attention", "count"], Blame::You, "look-again", Class::Person),
    row("folder-not-seen", &["folder", "reason"], Blame::You, "look-again", Class::Person),
    row("other-report", &["report"], Blame::You, "change-input", Class::Person),
    row("file-unreadable", &["file", "reason"], Blame::You, "choose-other-file", Class::Person),
    row("path-not-granted", &[], Blame::You, "choose-other-file", Class::Person),
    row("endpoint-not-allowed", &[], Blame::You, "change-input", Class::Person),
    row("room-changed", &[], Blame::You, "look-again", Class::Person),
    row("window-locked", &[], Blame::You, "unlock-window", Class::Person),
    row("administration-closed", &[], Blame::You, "enter-password", Class::Person),
    row("unlock-refused", &[], Blame::You, "enter-password", Class::Person),
    row("unlock-too-soon", &["seconds"], Blame::You, "wait", Class::Person),
    row("support-not-saved", &["reason"], Blame::You, "choose-other-file", Class::Person),
    row("table-not-saved", &["reason"], Blame::You, "choose-other-file", Class::Person),
    // rules
    row(
        "rules-package-unusable",
        &["file", "reason"],
        Blame::You,
        "choose-other-file",
        Class::Usage,
    ),
    row(
        "rules-definition-unusable",
        &["file", "name", "reason"],
        Blame::You,
        "choose-other-file",
        Class::Usage,
    ),
    row("rules-not-imported", &["name"], Blame::You, "look-again", Class::Usage),
    row("rules-damaged", &["file"], Blame::You, "choose-other-file", Class::Usage),
    row("no-rules", &[], Blame::You, "choose-other-file", Class::Usage),
    row("validator-unusable", &["reason"], Blame::You, "change-input", Class::Usage),
    row("validator-damaged", &["file"], Blame::You, "change-input", Class::Usage),
    // endpoints
    row("no-endpoint", &[], Blame::You, "add-endpoint", Class::Usage),
    row("unknown-endpoint", &["name"], Blame::You, "add-endpoint", Class::Usage),
    row("endpoint-exists", &["name"], Blame::You, "change-input", Class::Usage),
    row("endpoint-needed", &["name", "open"], Blame::You, "look-again", Class::Usage),
    row("endpoint-in-use", &["name"], Blame::You, "look-again", Class::Usage),
    row("endpoint-has-reports", &["all", "name", "open"], Blame::You, "look-again", Class::Usage),
    row(
        "endpoint-gone",
        &["address", "environment", "name"],
        Blame::You,
        "add-endpoint",
        Class::Usage,
    ),
    row("endpoint-unusable", &["reason"], Blame::You, "change-endpoint", Class::Usage),
    // practice
    row("practice-authority-failed", &["reason"], Blame::Us, "retry", Class::Authority),
    row("practice-certificate-fixed", &[], Blame::You, "create-profile", Class::Usage),
    row("practice-endpoint-fixed", &[], Blame::You, "change-input", Class::Usage),
    row("not-practice", &[], Blame::You, "look-again", Class::Usage),
    // certificate files
    row("certificate-password-needed", &[], Blame::You, "enter-password", Class::Person),
    row("certificate-wrong-password", &[], Blame::You, "enter-password", Class::Person),
    row("certificate-damaged", &["kind"], Blame::You, "choose-other-file", Class::Person),
    row("certificate-no-key", &[], Blame::You, "choose-other-file", Class::Person),
    row("certificate-no-certificate", &[], Blame::You, "choose-other-file", Class::Person),
    row("certificate-several-keys", &["count"], Blame::You, "choose-other-file", Class::Person),
    row("certificate-key-does-not-match", &[], Blame::You, "choose-other-file", Class::Person),
    row(
        "certificate-not-a-certificate-file",
        &["found"],
        Blame::You,
        "choose-other-file",
        Class::Person,
    ),
    row(
        "certificate-unsupported-key",
        &["keyType"],
        Blame::You,
        "choose-other-file",
        Class::Person,
    ),
    row(
        "certificate-unsupported-encryption",
        &["algorithm"],
        Blame::You,
        "choose-other-file",
        Class::Person,
    ),
    row(
        "certificate-too-many-iterations",
        &["iterations", "limit"],
        Blame::You,
        "choose-other-file",
        Class::Person,
    ),
    row(
        "certificate-too-large",
        &["bytes", "limit"],
        Blame::You,
        "choose-other-file",
        Class::Person,
    ),
    // certificates that are stored
    row("unknown-certificate", &["fingerprint"], Blame::You, "look-again", Class::Usage),
    row("certificate-needed", &["endpoints", "open"], Blame::You, "look-again", Class::Usage),
    row("too-many-certificates", &["limit"], Blame::You, "look-again", Class::Usage),
    // keychain and vault
    row("no-keychain", &["cause"], Blame::You, "call-it", Class::Locked),
    row("keychain-locked", &["cause"], Blame::You, "unlock-keychain", Class::Locked),
    row("keychain-denied", &[], Blame::You, "unlock-keychain", Class::Locked),
    row("secret-missing", &["name"], Blame::You, "import-certificate", Class::Locked),
    row("secret-exists", &["name"], Blame::You, "call-it", Class::Locked),
    row("secret-damaged", &["name"], Blame::You, "import-certificate", Class::Locked),
    row("wrong-passphrase", &[], Blame::You, "enter-password", Class::Locked),
    row("passphrase-needed", &[], Blame::You, "enter-password", Class::Locked),
    row("passphrase-weak", &["least"], Blame::You, "change-input", Class::Usage),
    row("passphrase-file-open", &["file", "mode"], Blame::You, "change-input", Class::Person),
    row("no-vault", &[], Blame::You, "look-again", Class::Usage),
    row("vault-damaged", &[], Blame::You, "restore", Class::Locked),
    row("no-randomness", &[], Blame::Us, "call-it", Class::Locked),
    row("secrets-io", &["cause", "operation"], Blame::You, "call-it", Class::Locked),
    // profile and journal
    row("profile-missing", &["folder"], Blame::You, "create-profile", Class::Locked),
    row("profile-exists", &["folder"], Blame::You, "change-input", Class::Usage),
    row("settings-damaged", &["file", "line"], Blame::You, "restore", Class::Locked),
    row("settings-missing", &["folder"], Blame::You, "restore", Class::Locked),
    row("settings-newer", &["found"], Blame::You, "update", Class::Locked),
    row("profile-io", &["file", "reason"], Blame::You, "call-it", Class::Locked),
    row("journal-missing", &[], Blame::You, "restore", Class::Locked),
    row("journal-exists", &[], Blame::You, "change-input", Class::Locked),
    row("journal-wrong-key-or-damaged", &[], Blame::You, "restore", Class::Locked),
    row("journal-newer", &["found", "known"], Blame::You, "update", Class::Locked),
    row("journal-older", &["found", "known"], Blame::You, "restart", Class::Locked),
    row("journal-brought-on", &[], Blame::You, "update", Class::Locked),
    row("journal-network", &[], Blame::You, "change-input", Class::Locked),
    row("journal-outdated", &["confirmed", "found"], Blame::You, "restore", Class::Locked),
    row("journal-busy", &[], Blame::You, "retry", Class::Locked),
    row("journal-damaged", &[], Blame::You, "restart", Class::Locked),
    row("journal-closed", &[], Blame::Us, "retry", Class::Locked),
    row("journal-stale-lease", &[], Blame::Us, "retry", Class::Locked),
    row("journal-io", &["operation", "reason"], Blame::You, "call-it", Class::Locked),
    row("backup-exists", &[], Blame::You, "change-input", Class::Usage),
    row("backup-incomplete", &["lacks"], Blame::You, "change-input", Class::Person),
    row("disk-full", &[], Blame::You, "free-space", Class::Locked),
    // told until a person has read it: `journal::RECOVERY_NOTICES` and `engine::UPKEEP_NOTICES`
    row(
        "journal-from-backup",
        &["aside", "doubted", "last", "lost", "salvaged", "submissions"],
        Blame::Us,
        "look-at-list",
        Class::Locked,
    ),
    row(
        "journal-from-remains",
        &["aside", "doubted", "last", "lost", "salvaged", "submissions"],
        Blame::Us,
        "look-at-list",
        Class::Locked,
    ),
    row(
        "journal-from-nothing",
        &["aside", "doubted", "last", "lost", "salvaged", "submissions"],
        Blame::Us,
        "look-at-list",
        Class::Locked,
    ),
    row("pause-unknown", &[], Blame::Us, "look-at-list", Class::Person),
    row(
        "journal-reconciled",
        &["added", "doubted", "lost"],
        Blame::Us,
        "look-at-list",
        Class::Locked,
    ),
    row("comparison-incomplete", &["names"], Blame::You, "change-endpoint", Class::Person),
    row("journal-damage-met", &[], Blame::Us, "restart", Class::Locked),
    row("journal-unanchored", &[], Blame::Us, "call-it", Class::Locked),
    row("journal-copied", &["doubted"], Blame::You, "call-it", Class::Locked),
    row("backups-failing", &["last", "reason"], Blame::You, "free-space", Class::Person),
    row("backup-place-away", &["place", "reason"], Blame::You, "reconnect-folder", Class::Person),
    // told as long as they are true: `engine::WATCH_NOTICES`
    row(
        "watched-files-refused",
        &["count", "file", "folder", "kind", "reason"],
        Blame::You,
        "mend-file",
        Class::Person,
    ),
    row(
        "watched-files-known",
        &["count", "endpoint", "file", "folder", "state", "submission"],
        Blame::You,
        "send-or-remove",
        Class::Person,
    ),
    row(
        "watched-folder-away",
        &["folder", "reason"],
        Blame::You,
        "reconnect-folder",
        Class::Person,
    ),
    row("watched-folder-stopped", &["folder", "reason"], Blame::You, "call-it", Class::Person),
    // `engine::COURIER_NOTICES`: told as long as it is true, or until it is read
    row(
        "search-refused",
        &["endpoint", "status"],
        Blame::Authority,
        "call-authority",
        Class::Person,
    ),
    row(
        "completed-afterwards",
        &["count", "endpoint", "reports"],
        Blame::Authority,
        "call-authority",
        Class::Person,
    ),
    // in timelines only: after a restore
    row("journal-restored", &[], Blame::Us, "wait", Class::Locked),
    row("journal-report-found", &[], Blame::Us, "wait", Class::Locked),
    // the way to the authority: `engine::Obstacle` and `client::Why`
    row("client-certificate-missing", &[], Blame::You, "import-certificate", Class::Authority),
    row(
        "client-certificate-unavailable",
        &["reason"],
        Blame::You,
        "unlock-keychain",
        Class::Locked,
    ),
    row("dns", &["host"], Blame::Network, "retry", Class::Authority),
    row("connect-refused", &[], Blame::Network, "retry", Class::Authority),
    row("connect-timeout", &[], Blame::Network, "retry", Class::Authority),
    row("connect-failed", &["cause"], Blame::Network, "retry", Class::Authority),
    row("tls-broken", &[], Blame::Network, "call-it", Class::Authority),
    row("tls-version", &[], Blame::Network, "call-it", Class::Authority),
    row("tls-server-untrusted", &["reason"], Blame::Network, "call-it", Class::Authority),
    row("tls-client-not-asked", &[], Blame::Network, "call-it", Class::Authority),
    row("tls-client-refused", &["alert"], Blame::You, "import-certificate", Class::Authority),
    row("proxy-unreachable", &[], Blame::Network, "call-it", Class::Authority),
    row("proxy-authentication", &[], Blame::Network, "call-it", Class::Authority),
    row("proxy-refused", &["status"], Blame::Network, "call-it", Class::Authority),
    row("redirect", &["status"], Blame::Network, "call-it", Class::Authority),
    row("html", &["status"], Blame::Network, "call-it", Class::Authority),
    row("not-fhir", &["found", "status"], Blame::Network, "call-it", Class::Authority),
    row("content-encoded", &["encoding"], Blame::Authority, "call-authority", Class::Authority),
    row("empty-answer", &["status"], Blame::Authority, "call-authority", Class::Authority),
    row("no-receipt", &["status"], Blame::Authority, "call-authority", Class::Authority),
    row("another-identifier", &[], Blame::Authority, "call-authority", Class::Authority),
    row("shared-identifier", &[], Blame::Authority, "call-authority", Class::Authority),
    row("timeout", &[], Blame::Authority, "retry", Class::Authority),
    row("cut", &[], Blame::Network, "retry", Class::Authority),
    row("too-large", &["limit"], Blame::Authority, "call-authority", Class::Authority),
    row("forbidden", &["status"], Blame::You, "import-certificate", Class::Authority),
    row("not-found", &["status"], Blame::Authority, "look-again", Class::Authority),
    row("unavailable", &["status"], Blame::Authority, "wait", Class::Authority),
    row("unexplained", &["status"], Blame::Network, "call-it", Class::Authority),
    row("status", &["status"], Blame::Authority, "retry", Class::Authority),
    row("parameter-ignored", &["name"], Blame::Authority, "call-authority", Class::Authority),
    row("foreign-link", &[], Blame::Authority, "call-authority", Class::Authority),
    row("too-many-pages", &[], Blame::Authority, "call-authority", Class::Authority),
    row("pages-moved", &[], Blame::Authority, "wait", Class::Authority),
    row("search-unsupported", &[], Blame::You, "change-endpoint", Class::Authority),
    row("search-not-offered", &["name", "release"], Blame::You, "change-input", Class::Usage),
    // told by the window of itself
    row("window-fault", &["text"], Blame::Us, "call-it", Class::Person),
    // in timelines only: a request was under way when the program ended
    row("process-ended", &[], Blame::Us, "wait", Class::Person),
    row("refused-by-authority", &["text"], Blame::Authority, "look-again", Class::Person),
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
mod tests;
