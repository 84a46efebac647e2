//! What a failed connection means, told by the structure of the error, never by its text.

use std::error::Error;
use std::io;

use rustls::{AlertDescription, CertificateError};

use crate::connection::Link;
use crate::fault::Why;
use crate::resolver::UnknownName;

/// What a transport error permits to conclude.
#[derive(Debug, Clone)]
pub(crate) struct Broken {
    pub(crate) why: Why,
    pub(crate) class: Class,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// The request was not processed, for a reason that will not pass by itself.
    Locked,
    /// The connection never came about: nothing of the request was sent.
    NotSent,
    /// Depends on whether the body was handed over.
    Open,
}

/// Why there is no connection; nothing of a request was sent.
#[derive(Debug, Clone, thiserror::Error)]
#[error("no connection: {}", .0.why.code())]
pub(crate) struct NotConnected(pub(crate) Broken);

impl NotConnected {
    pub(crate) const fn passing(why: Why) -> Self {
        Self(Broken { why, class: Class::NotSent })
    }

    pub(crate) const fn lasting(why: Why) -> Self {
        Self(Broken { why, class: Class::Locked })
    }
}

/// The end of a request; `link` is the connection that it was on.
pub(crate) fn broken(error: &(dyn Error + 'static), link: Option<&Link>) -> Broken {
    let mut never = None;
    let mut tls = link.and_then(Link::broken).cloned();
    walk(error, &mut |cause| {
        if let Some(NotConnected(found)) = cause.downcast_ref() {
            never = Some(found.clone());
        }
        if let Some(found) = cause.downcast_ref::<rustls::Error>() {
            tls = Some(found.clone());
        }
    });
    if let Some(never) = never {
        return never;
    }
    let end = tls.map_or(open(false), |tls| of_tls(&tls, false));
    match end.class {
        // A server that has judged our certificate, or answered before, may have processed this
        // request too.
        Class::Locked if link.is_some_and(Link::judged) => Broken { class: Class::Open, ..end },
        _ => end,
    }
}

/// The end of a TLS handshake.
pub(crate) fn of_handshake(error: &io::Error) -> Broken {
    let mut tls = None;
    walk(error, &mut |cause| {
        if let Some(found) = cause.downcast_ref::<rustls::Error>() {
            tls = Some(found.clone());
        }
    });
    match tls {
        Some(tls) => of_tls(&tls, true),
        None => of_io(Some(error.kind())),
    }
}

/// The end of an attempt to connect.
pub(crate) fn of_tcp(error: &(dyn Error + 'static), host: &str) -> Broken {
    let mut unknown = false;
    let mut kind = None;
    walk(error, &mut |cause| {
        unknown |= cause.is::<UnknownName>();
        if let Some(found) = cause.downcast_ref::<io::Error>() {
            kind = Some(found.kind());
        }
    });
    match unknown {
        true => Broken { why: Why::Dns { host: host.to_owned() }, class: Class::NotSent },
        false => of_io(kind),
    }
}

fn of_io(kind: Option<io::ErrorKind>) -> Broken {
    let why = match kind {
        Some(io::ErrorKind::TimedOut) => Why::ConnectTimeout,
        Some(io::ErrorKind::ConnectionRefused) => Why::ConnectRefused,
        Some(io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset) => Why::TlsBroken,
        Some(kind) => Why::ConnectFailed { cause: kind.to_string() },
        None => Why::ConnectFailed { cause: String::new() },
    };
    Broken { why, class: Class::NotSent }
}

/// Every cause, also those that `io::Error` hides: its `source` skips the error that it carries.
fn walk(error: &(dyn Error + 'static), see: &mut dyn FnMut(&(dyn Error + 'static))) {
    // An error chain that is longer is made by someone; ours have about six links.
    let mut next = Some(error);
    for _ in 0..32 {
        let Some(cause) = next else { return };
        see(cause);
        let carried = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = match carried {
            Some(carried) => Some(carried as &(dyn Error + 'static)),
            None => cause.source(),
        };
    }
}

fn of_tls(error: &rustls::Error, connecting: bool) -> Broken {
    let locked = |why| Broken { why, class: Class::Locked };
    match error {
        rustls::Error::InvalidCertificate(problem) => {
            locked(Why::TlsServerUntrusted { reason: server_problem(problem).to_owned() })
        }
        rustls::Error::AlertReceived(AlertDescription::ProtocolVersion)
        | rustls::Error::AlertReceived(AlertDescription::InsufficientSecurity)
        | rustls::Error::PeerIncompatible(_) => locked(Why::TlsVersion),
        // With TLS 1.3 our certificate is judged after our handshake ended: the refusal arrives
        // when the answer is read. A server that refused the handshake has not read the request.
        rustls::Error::AlertReceived(alert) => match client_alert(*alert) {
            Some(name) => locked(Why::TlsClientRefused { alert: name.to_owned() }),
            None => open(connecting),
        },
        // The peer does not speak TLS at all (a plain web server, a captive portal).
        rustls::Error::InvalidMessage(_) if connecting => locked(Why::TlsVersion),
        _ => open(connecting),
    }
}

fn open(connecting: bool) -> Broken {
    match connecting {
        true => Broken { why: Why::TlsBroken, class: Class::NotSent },
        false => Broken { why: Why::Cut, class: Class::Open },
    }
}

/// Alerts with which a server refuses a client's certificate (RFC 8446, 6.2). OpenSSL and Schannel
/// send `handshake_failure` where a demanded certificate is missing in TLS 1.2.
const fn client_alert(alert: AlertDescription) -> Option<&'static str> {
    Some(match alert {
        AlertDescription::BadCertificate => "bad-certificate",
        AlertDescription::UnsupportedCertificate => "unsupported-certificate",
        AlertDescription::CertificateRevoked => "certificate-revoked",
        AlertDescription::CertificateExpired => "certificate-expired",
        AlertDescription::CertificateUnknown => "certificate-unknown",
        AlertDescription::UnknownCA => "unknown-ca",
        AlertDescription::AccessDenied => "access-denied",
        AlertDescription::CertificateRequired => "certificate-required",
        AlertDescription::NoCertificate => "no-certificate",
        AlertDescription::HandshakeFailure => "handshake-failure",
        AlertDescription::DecryptError => "decrypt-error",
        _ => return None,
    })
}

fn server_problem(problem: &CertificateError) -> &'static str {
    match problem {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "not-yet-valid"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "wrong-host"
        }
        // A signature that no trusted CA's key opens: the issuer has the name of one, and another
        // key.
        CertificateError::UnknownIssuer
        | CertificateError::BadSignature
        | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            "unknown-issuer"
        }
        CertificateError::Revoked => "revoked",
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "wrong-purpose"
        }
        CertificateError::Other(other) if other.0.is::<identity::SelfSigned>() => "self-signed",
        CertificateError::Other(other) if other.0.is::<identity::AnotherKey>() => "another-key",
        _ => "bad",
    }
}
