//! Every form in which a certificate comes, and every way in which its files can be wrong.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod faults;
mod forms;
mod hidden;

use std::cell::Cell;

use identity::{Identity, Password};
use testkit::{ClientCertificate, Figures, TestCa};

pub(crate) fn password(text: &str) -> Password {
    Password::from(text.to_owned())
}

pub(crate) fn client() -> (TestCa, ClientCertificate) {
    let ca = TestCa::new("Testzertifizierung");
    let client = ca.client("labor-beispiel");
    (ca, client)
}

thread_local! {
    static IMPORTS: Cell<u64> = const { Cell::new(0) };
}

/// Runs a test of the row and counts what it imported through the functions below.
pub(crate) fn counted(test: &'static str, run: impl FnOnce()) {
    let mut figures = Figures::start("pkcs12", test);
    IMPORTS.set(0);
    run();
    figures.cases(IMPORTS.get());
    figures.finish();
}

pub(crate) fn code(files: &[&[u8]], text: Option<&str>) -> &'static str {
    IMPORTS.set(IMPORTS.get() + 1);
    Identity::import(files, text.map(password).as_ref()).expect_err("must be refused").code()
}

/// Imports and asserts that it is the very certificate, usable for TLS.
pub(crate) fn imported(files: &[&[u8]], text: Option<&str>, of: &ClientCertificate) -> Identity {
    IMPORTS.set(IMPORTS.get() + 1);
    let identity = Identity::import(files, text.map(password).as_ref()).unwrap();
    assert_eq!(identity.chain()[0], of.chain[0]);
    identity::tls_client_config(Some(&identity), None).unwrap();
    identity
}
