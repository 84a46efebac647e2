//! Certificates, and connections until their caller is known.

pub(crate) mod handshake;
pub(crate) mod pending;
pub(crate) mod pki;
pub(crate) mod places;
pub(crate) mod trust;
