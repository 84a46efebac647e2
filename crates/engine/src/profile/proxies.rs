//! Passwords of proxies: they rest with the profile's secrets, never in its settings.

use identity::{Secrets, SecretsError};
use url::Url;

use crate::Settings;

/// Keeps the passwords that stand in the addresses of proxies.
pub(crate) fn keep(settings: &Settings, secrets: &Secrets) -> Result<(), SecretsError> {
    for proxy in settings.endpoints.iter().filter_map(|endpoint| endpoint.proxy.as_ref()) {
        if let Some(password) = proxy.password() {
            secrets.set_proxy_password(&name_of(proxy), password)?;
        }
    }
    Ok(())
}

/// Puts the passwords that were kept into the addresses again. What cannot be read now is left out:
/// then the proxy refuses, and says why.
pub(crate) fn fill(settings: &mut Settings, secrets: &Secrets) {
    for proxy in settings.endpoints.iter_mut().filter_map(|endpoint| endpoint.proxy.as_mut()) {
        if proxy.password().is_none()
            && let Ok(Some(password)) = secrets.proxy_password(&name_of(proxy))
        {
            // Fails only where an address can hold no password.
            let _ = proxy.set_password(Some(&password));
        }
    }
}

/// Whether a password stands in the settings, as an earlier version left it.
pub(crate) fn stand_in(settings: &Settings) -> bool {
    let mut proxies = settings.endpoints.iter().filter_map(|endpoint| endpoint.proxy.as_ref());
    proxies.any(|proxy| proxy.password().is_some())
}

/// A proxy and its user, whichever endpoint is reached through it.
fn name_of(proxy: &Url) -> String {
    let host = proxy.host_str().unwrap_or_default();
    let port = proxy.port_or_known_default().unwrap_or_default();
    format!("{}@{host}:{port}", proxy.username())
}
