//! Every form in which a certificate comes, and every way in which its files can be wrong.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod faults;
mod forms;

use identity::{Identity, Password};
use testkit::{ClientCertificate, TestCa};

pub(crate) fn password(text: &str) -> Password {
    Password::from(text.to_owned())
}

pub(crate) fn client() -> (TestCa, ClientCertificate) {
    let ca = TestCa::new("Testzertifizierung");
    let client = ca.client("labor-beispiel");
    (ca, client)
}

pub(crate) fn code(files: &[&[u8]], text: Option<&str>) -> &'static str {
    Identity::import(files, text.map(password).as_ref()).expect_err("must be refused").code()
}

/// Imports and asserts that it is the very certificate, usable for TLS.
pub(crate) fn imported(files: &[&[u8]], text: Option<&str>, of: &ClientCertificate) -> Identity {
    let identity = Identity::import(files, text.map(password).as_ref()).unwrap();
    assert_eq!(identity.chain()[0], of.chain[0]);
    identity::tls_client_config(Some(&identity), None).unwrap();
    identity
}
