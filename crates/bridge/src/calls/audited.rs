//! What of the calls is written to the audit log once it was done.

use super::Call;
use crate::audit::Change;
use crate::practice::ENDPOINT;
use crate::views::EndpointInput;

/// Of a passphrase that is chosen, changed or removed. Without the one of before it was chosen
/// first: where there was one, the call was refused.
fn one_of(codes: [&'static str; 3], current: &str, passphrase: &str) -> &'static str {
    let [chosen, set, removed] = codes;
    match (current, passphrase) {
        (_, "") => removed,
        ("", _) => chosen,
        _ => set,
    }
}

impl Call {
    /// What it changes of the settings, if it does. Every administrators' call does; that an update
    /// is installed is known only later.
    pub(super) fn change(&self) -> Option<Change> {
        let of = |code, params: &[(&'static str, &str)]| Some(Change::new(code, params));
        match self {
            Self::CertificateImport { .. } => of("certificate-imported", &[]),
            Self::UseCertificate { fingerprint, endpoint } => {
                let params =
                    [("fingerprint", &*Change::fingerprint(fingerprint)), ("endpoint", endpoint)];
                of("certificate-used", &params)
            }
            Self::RemoveCertificate { fingerprint, .. } => {
                of("certificate-removed", &[("fingerprint", &Change::fingerprint(fingerprint))])
            }
            Self::ProtectWithPassphrase { .. } => of("vault-passphrase-set", &[]),
            Self::RotateJournalKey {} => of("journal-key-rotated", &[]),
            Self::ChangeVaultPassphrase { .. } => of("vault-passphrase-changed", &[]),
            Self::SetUnlockPassphrase { current, passphrase } => {
                let codes = [
                    "unlock-passphrase-chosen",
                    "unlock-passphrase-set",
                    "unlock-passphrase-removed",
                ];
                of(one_of(codes, current, passphrase), &[])
            }
            Self::SetAdministrationPassphrase { current, passphrase } => {
                let codes = [
                    "administration-passphrase-chosen",
                    "administration-passphrase-set",
                    "administration-passphrase-removed",
                ];
                of(one_of(codes, current, passphrase), &[])
            }
            Self::SetUpdates { on: true } => of("updates-switched-on", &[]),
            Self::SetUpdates { on: false } => of("updates-switched-off", &[]),
            _ => self.change_of_endpoint().or_else(|| self.change_of_keeping()),
        }
    }

    fn change_of_endpoint(&self) -> Option<Change> {
        let of = |code, params: &[(&'static str, &str)]| Some(Change::new(code, params));
        match self {
            Self::AddEndpoint { input: EndpointInput { name, base_url, .. } } => {
                of("endpoint-added", &[("endpoint", name), ("address", &Change::address(base_url))])
            }
            Self::SetEndpointAddress { name, base_url, .. } => of(
                "endpoint-address-set",
                &[("endpoint", name), ("address", &Change::address(base_url))],
            ),
            Self::SetEndpointWay { name, .. } => of("endpoint-way-set", &[("endpoint", name)]),
            Self::SetEndpointTerms { name, release, language } => of(
                "endpoint-terms-set",
                &[("endpoint", name), ("release", release), ("language", language)],
            ),
            Self::RenameEndpoint { name, new_name } => {
                of("endpoint-renamed", &[("endpoint", name), ("name", new_name)])
            }
            Self::RemoveEndpoint { name } => of("endpoint-removed", &[("endpoint", name)]),
            Self::UseEndpoint { name } if name == ENDPOINT => of("practice-used", &[]),
            Self::UseEndpoint { name } => of("endpoint-used", &[("endpoint", name)]),
            _ => None,
        }
    }

    /// What it changes of what is sent, checked and kept.
    fn change_of_keeping(&self) -> Option<Change> {
        let of = |code, params: &[(&'static str, &str)]| Some(Change::new(code, params));
        let folder = |set, unset, path| Some(Change::of_folder(set, unset, path));
        let watched = |path| folder("watched-folder-set", "watched-folder-unset", path);
        match self {
            Self::SetDeadlines { deadlines } => {
                of("deadlines-set", &[("count", &deadlines.len().to_string())])
            }
            Self::SetAttentionDays { days } => {
                of("attention-days-set", &[("days", &days.to_string())])
            }
            Self::SetWatchedFolder { path } => watched(path.as_deref()),
            Self::WatchWhatComes { path } => watched(Some(path)),
            Self::ImportRules { path } => {
                of("rules-imported", &[("package", Change::package(path))])
            }
            Self::UseRules { package } => of("rules-used", &[("package", package)]),
            Self::RemoveRules { package } => of("rules-removed", &[("package", package)]),
            Self::SetBackupPlace { path } => {
                folder("backup-place-set", "backup-place-unset", path.as_deref())
            }
            Self::RemoveSetAside { name } => of("set-aside-removed", &[("name", name)]),
            Self::SetRetention { days: Some(days) } => {
                of("retention-set", &[("days", &days.to_string())])
            }
            Self::SetRetention { days: None } => of("retention-unset", &[]),
            Self::RestoreBackup { name, .. } => of("backup-restored", &[("name", name)]),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Call;
    use serde_json::{Value, json};

    macro_rules! calls {
        ($desk:ident; $(
            $(#[doc = $words:literal])*
            $name:ident => $variant:ident { $($argument:ident: $type:ty),* } -> $answer:ty:
                $room:ident room $(if $when:expr)?,
                $(while $locked:ident,)? $(follows $followed:ident,)?
                $(changes [$($changed:ident),*],)? { $($sample:tt)* } $(= $how:expr)?;
        )*) => {
            fn samples() -> Vec<(&'static str, Value)> {
                vec![$( (stringify!($name), json!({ $($sample)* })) ),*]
            }
        };
    }

    include!("table.rs");

    /// A change that only administrators may make is one that others ask about later.
    #[test]
    fn every_administrators_call_is_noted() {
        let calls = samples().into_iter().map(|(command, arguments)| {
            (command, Call::read(command, arguments).unwrap().unwrap())
        });
        let unnoted: Vec<&str> = calls
            .filter(|(_, call)| call.is_administration() && call.change().is_none())
            .map(|(command, _)| command)
            .collect();
        // It is noted where it turns out that there is one to install.
        assert_eq!(unnoted, ["install_update"]);
    }
}
