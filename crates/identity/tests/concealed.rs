//! What `Debug` prints of passwords, keys and where they rest: nothing of them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::fmt::Debug;

use identity::{Identity, Password, Secrets};
use static_assertions::assert_not_impl_any;
use testkit::TestCa;

/// Stands for a name, a number, a password: whatever must not be printed by accident.
const CANARY: &str = "Zwinglicanary";

fn canary() -> String {
    CANARY.to_owned()
}

fn silent(value: &impl Debug) {
    for printed in [format!("{value:?}"), format!("{value:#?}")] {
        assert!(!printed.contains(CANARY), "{printed}");
    }
}

// Neither shown, nor written, nor copied by accident: this does not compile.
assert_not_impl_any!(Password: std::fmt::Display, serde::Serialize, Clone, AsRef<str>, AsRef<[u8]>);
assert_not_impl_any!(Identity: std::fmt::Display, serde::Serialize, Clone);
assert_not_impl_any!(Secrets: Debug, std::fmt::Display, serde::Serialize, Clone);

#[test]
fn what_is_secret_is_not_printed() {
    silent(&Password::from(canary()));
    let client = TestCa::new("CA").client("labor");
    let identity = Identity::import(&[client.pem().as_bytes()], None).unwrap();
    let printed = format!("{identity:?}");
    assert!(printed.contains(&identity.inspect().fingerprint_sha256), "{printed}");
    let key = identity.key().secret_der();
    let as_numbers = format!("{:?}", &key[..8]);
    assert!(!printed.contains(as_numbers.trim_matches(['[', ']'])), "{printed}");
    assert!(printed.len() < 200, "{printed}");
}

#[test]
fn a_refused_import_repeats_nothing_of_the_file() {
    let wrong = Password::from(canary());
    for file in [
        CANARY.to_owned(),
        format!("-----BEGIN PRIVATE KEY-----\n{CANARY}\n-----END PRIVATE KEY-----"),
    ] {
        let error = Identity::import(&[file.as_bytes()], Some(&wrong)).unwrap_err();
        silent(&error);
        assert!(!error.to_string().contains(CANARY));
    }
}
