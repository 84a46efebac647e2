//! The operating system's keychain: Secret Service, macOS Keychain, Windows Credential Manager.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use zeroize::Zeroizing;

use super::problem::SecretsError;
use platform::Connection;

const SERVICE: &str = "Lab Courier";
/// A keychain may ask the person for a password; one that never answers must not hold us for ever.
const ANSWER_WAIT: Duration = Duration::from_secs(120);

/// The entries of one profile.
pub(crate) struct Keychain {
    profile_id: String,
    connection: Connection,
}

impl Keychain {
    pub(crate) fn open(profile_id: &str) -> Result<Self, SecretsError> {
        let connection = apart(|| Connection::open().map_err(problem))?;
        Ok(Self { profile_id: profile_id.to_owned(), connection })
    }

    pub(crate) fn get(&self, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>, SecretsError> {
        let (connection, user) = (self.connection.clone(), self.user(name));
        apart(move || match connection.entry(&user).and_then(|entry| entry.get_secret()) {
            Ok(bytes) => Ok(Some(Zeroizing::new(bytes))),
            Err(keyring::Error::NoEntry) => Ok(None),
            Err(error) => Err(problem(error)),
        })
    }

    pub(crate) fn put(&self, name: &str, bytes: &[u8]) -> Result<(), SecretsError> {
        let (connection, user) = (self.connection.clone(), self.user(name));
        let bytes = Zeroizing::new(bytes.to_vec());
        apart(move || {
            let stored = connection.entry(&user).and_then(|entry| entry.set_secret(&bytes));
            stored.map_err(problem)
        })
    }

    /// Whether there was something to remove.
    pub(crate) fn remove(&self, name: &str) -> Result<bool, SecretsError> {
        let (connection, user) = (self.connection.clone(), self.user(name));
        apart(move || match connection.entry(&user).and_then(|entry| entry.delete_credential()) {
            Ok(()) => Ok(true),
            Err(keyring::Error::NoEntry) => Ok(false),
            Err(error) => Err(problem(error)),
        })
    }

    fn user(&self, name: &str) -> String {
        format!("{}/{name}", self.profile_id)
    }
}

/// A connection of our own: the one that `keyring` keeps is opened once in the life of a process,
/// so a keychain that starts or restarts later would never be found.
#[cfg(target_os = "linux")]
mod platform {
    use std::collections::HashMap;
    use std::sync::Arc;

    use keyring_core::api::CredentialStoreApi;
    use zbus_secret_service_keyring_store::Store;

    #[derive(Clone)]
    pub(super) struct Connection(Arc<Store>);

    impl Connection {
        pub(super) fn open() -> keyring::Result<Self> {
            Store::new().map(Self)
        }

        pub(super) fn entry(&self, user: &str) -> keyring::Result<keyring_core::Entry> {
            let label = format!("{}: {user}", super::SERVICE);
            self.0.build(super::SERVICE, user, Some(&HashMap::from([("label", label.as_str())])))
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use keyring::v1::Entry;

    #[derive(Clone)]
    pub(super) struct Connection;

    impl Connection {
        pub(super) fn open() -> keyring::Result<Self> {
            match Entry::store_status() {
                Ok(()) => Ok(Self),
                Err(cause) => Err(keyring::Error::PlatformFailure(cause.to_string().into())),
            }
        }

        pub(super) fn entry(&self, user: &str) -> keyring::Result<Entry> {
            Entry::new(super::SERVICE, user)
        }
    }
}

/// Runs a call on a thread of its own: the Secret Service client blocks on a runtime of its own,
/// which is not allowed inside an asynchronous task, and a prompt that nobody answers must not
/// block the caller.
fn apart<T, F>(call: F) -> Result<T, SecretsError>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, SecretsError> + Send + 'static,
{
    let (answer, wait) = mpsc::sync_channel(1);
    let spawned = thread::Builder::new().name("keychain".to_owned()).spawn(move || {
        // The caller may have given up.
        let _ = answer.send(call());
    });
    spawned.map_err(SecretsError::io("start-thread"))?;
    match wait.recv_timeout(ANSWER_WAIT) {
        Ok(result) => result,
        Err(mpsc::RecvTimeoutError::Timeout) => {
            Err(SecretsError::Locked { cause: "no answer".to_owned() })
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            Err(SecretsError::NoKeychain { cause: "the keychain client failed".to_owned() })
        }
    }
}

fn problem(error: keyring::Error) -> SecretsError {
    match error {
        keyring::Error::NoStorageAccess(cause) if was_refused(cause.as_ref()) => {
            SecretsError::Denied
        }
        keyring::Error::NoStorageAccess(cause) => SecretsError::Locked { cause: cause.to_string() },
        keyring::Error::BadDataFormat(..) | keyring::Error::Ambiguous(_) => {
            SecretsError::Damaged { name: "keychain" }
        }
        other => SecretsError::NoKeychain { cause: other.to_string() },
    }
}

#[cfg(target_os = "linux")]
fn was_refused(cause: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    matches!(cause.downcast_ref(), Some(secret_service::Error::Prompt))
}

#[cfg(not(target_os = "linux"))]
fn was_refused(_: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    false
}
