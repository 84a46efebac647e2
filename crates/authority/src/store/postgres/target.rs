//! How a PostgreSQL is reached: URL, password, TLS.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use rustls::RootCertStore;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use tokio_postgres::config::{Config, Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::super::StoreError;
use crate::AuthorityError;

/// A database server and how to speak to it.
pub(crate) struct Target {
    config: Config,
    tls: Tls,
    password_file: Option<PathBuf>,
}

enum Tls {
    /// On this computer, or because the operator says so.
    None,
    /// The server's certificate is always verified; by these CAs (PEM) in place of the system's.
    Verified(Option<PathBuf>),
}

/// Time to connect, and to wait for a connection of the pool.
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// A server that is silent for so long is gone: 10 s of quiet, then 3 questions 5 s apart.
const SILENCE_MAX: Duration = Duration::from_secs(25);

impl Target {
    /// Reads a URL; nothing is opened yet.
    pub(crate) fn parse(url: &str) -> Result<Self, AuthorityError> {
        let refused = |why: String| AuthorityError::StoreUrl(why);
        let (address, query) = url.split_once('?').unwrap_or((url, ""));
        if !["postgres://", "postgresql://"].iter().any(|scheme| address.starts_with(scheme)) {
            return Err(refused("it is `sqlite` or starts with postgres://".to_owned()));
        }
        let (mut mode, mut roots, mut password_file) = (None, None, None);
        let mut rest = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match name {
                "sslmode" => mode = Some(value),
                "sslrootcert" => roots = Some(PathBuf::from(exchange::decode(value))),
                "password_file" => password_file = Some(PathBuf::from(exchange::decode(value))),
                _ => rest.push(pair),
            }
        }
        let mark = if rest.is_empty() { "" } else { "?" };
        let plain = format!("{address}{mark}{}", rest.join("&"));
        let mut config: Config = plain.parse().map_err(|error: tokio_postgres::Error| {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            refused(cause.unwrap_or_else(|| error.to_string()))
        })?;
        let tls = match mode {
            None if stays_here(&config) => Tls::None,
            Some("disable") => Tls::None,
            None | Some("require" | "verify-full") => Tls::Verified(roots),
            Some(_) => {
                return Err(refused("sslmode is disable, require or verify-full".to_owned()));
            }
        };
        config.ssl_mode(match tls {
            Tls::None => SslMode::Disable,
            Tls::Verified(_) => SslMode::Require,
        });
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_MAX);
        }
        config.keepalives_idle(Duration::from_secs(10));
        config.keepalives_interval(Duration::from_secs(5));
        config.keepalives_retries(3);
        config.tcp_user_timeout(SILENCE_MAX);
        if config.get_application_name().is_none() {
            config.application_name("labcourier-authority");
        }
        Ok(Self { config, tls, password_file })
    }

    /// A pool of connections, each with these settings of the session; none is made yet.
    pub(crate) fn pool(&self, size: usize, settings: &str) -> Result<Pool, StoreError> {
        let mut config = self.config.clone();
        if let Some(path) = &self.password_file {
            let text = std::fs::read_to_string(path).map_err(unreachable)?;
            config.password(text.trim_end_matches(['\r', '\n']));
        } else if config.get_password().is_none()
            && let Some(password) = std::env::var_os("PGPASSWORD")
        {
            config.password(password.as_encoded_bytes());
        }
        let asked = config.get_options().unwrap_or_default();
        let options = format!("{asked} {settings}");
        config.options(options.trim());
        let manner = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = match &self.tls {
            Tls::None => Manager::from_config(config, tokio_postgres::NoTls, manner),
            Tls::Verified(roots) => {
                let connector = MakeRustlsConnect::new(client_config(roots.as_ref())?);
                Manager::from_config(config, connector, manner)
            }
        };
        Pool::builder(manager)
            .max_size(size)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(CONNECT_MAX))
            .create_timeout(Some(CONNECT_MAX))
            .recycle_timeout(Some(CONNECT_MAX))
            .build()
            .map_err(unreachable)
    }
}

/// Whether no packet leaves this computer.
fn stays_here(config: &Config) -> bool {
    let hosts = config.get_hosts();
    let near = |host: &Host| match host {
        Host::Tcp(name) => {
            name == "localhost"
                || name
                    .trim_matches(['[', ']'])
                    .parse()
                    .is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    !hosts.is_empty()
        && hosts.iter().all(near)
        && config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback)
}

fn client_config(roots: Option<&PathBuf>) -> Result<rustls::ClientConfig, StoreError> {
    let mut trusted = RootCertStore::empty();
    match roots {
        Some(path) => {
            for certificate in CertificateDer::pem_file_iter(path).map_err(unreachable)? {
                trusted.add(certificate.map_err(unreachable)?).map_err(unreachable)?;
            }
        }
        None => {
            trusted.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(unreachable)?
        .with_root_certificates(trusted)
        .with_no_client_auth())
}

pub(super) fn unreachable(error: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::Unreachable(Arc::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_this_computer_is_encrypted_and_verified_unless_it_is_said_otherwise() {
        for (url, tls) in [
            ("postgres://u@127.0.0.1:1/d", false),
            ("postgres://u@localhost/d", false),
            ("postgres://u@%2Frun%2Fpostgresql/d", false),
            ("postgresql:///d?host=/run/postgresql&user=u", false),
            ("postgres://u@[::1]/d", false),
            ("postgres://u@127.0.0.1/d?sslmode=require", true),
            ("postgres://u@db.example/d", true),
            ("postgres://u@db.example,localhost/d", true),
            ("postgres://u@localhost/d?hostaddr=192.0.2.1", true),
            ("postgres://u@192.0.2.1/d?sslmode=verify-full&sslrootcert=/ca.pem", true),
            ("postgres://u@db.example/d?sslmode=disable", false),
        ] {
            let target = Target::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"));
            assert_eq!(matches!(target.tls, Tls::Verified(_)), tls, "{url}");
        }
        for wrong in ["prefer", "allow", "verify-ca", ""] {
            assert!(Target::parse(&format!("postgres://h/d?sslmode={wrong}")).is_err());
        }
    }
}
