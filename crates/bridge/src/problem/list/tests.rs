//! Every way in which something can go wrong has its row in the list.

use std::collections::BTreeSet;

use client::Why;
use engine::Obstacle;

use super::*;
use crate::problem::Problem;

/// Every way in which an exchange can go wrong.
fn ways() -> Vec<Why> {
    let text = || "x".to_owned();
    let status = 500;
    vec![
        Why::Dns { host: text() },
        Why::ConnectRefused,
        Why::ConnectTimeout,
        Why::ConnectFailed { cause: text() },
        Why::TlsBroken,
        Why::TlsVersion,
        Why::TlsServerUntrusted { reason: text() },
        Why::TlsClientRefused { alert: text() },
        Why::ProxyUnreachable,
        Why::ProxyAuthentication,
        Why::ProxyRefused { status },
        Why::Redirect { status },
        Why::Html { status },
        Why::NotFhir { status, found: text() },
        Why::ContentEncoded { encoding: text() },
        Why::EmptyAnswer { status },
        Why::NoReceipt { status },
        Why::AnotherIdentifier,
        Why::Timeout,
        Why::Cut,
        Why::TooLarge { limit: 1 },
        Why::Forbidden { status },
        Why::NotFound { status },
        Why::Unavailable { status },
        Why::Status { status },
        Why::ParameterIgnored { name: text() },
        Why::ForeignLink,
        Why::TooManyPages,
        Why::PagesMoved,
        Why::SearchUnsupported,
    ]
}

#[track_caller]
fn assert_listed(problem: &Problem) {
    let row = ProblemRow::of(&problem.code);
    let row = row.unwrap_or_else(|| panic!("{problem} is not listed"));
    let names: BTreeSet<_> = problem.params.keys().map(String::as_str).collect();
    assert_eq!(names, row.params.iter().copied().collect(), "{problem}");
    assert_eq!((problem.blame, problem.remedy.as_str()), (row.blame, row.remedy));
}

#[test]
fn each_code_stands_once_and_each_remedy_is_known() {
    let codes: BTreeSet<_> = PROBLEMS.iter().map(|row| row.code).collect();
    assert_eq!(codes.len(), PROBLEMS.len());
    let used: BTreeSet<_> = PROBLEMS.iter().map(|row| row.remedy).collect();
    assert_eq!(used.into_iter().collect::<Vec<_>>(), REMEDIES);
}

#[test]
fn every_way_to_fail_is_listed() {
    for why in ways() {
        assert_listed(&Problem::from(&why));
        assert_eq!(Problem::from(&why).class(), crate::ProblemClass::Authority);
    }
    for (code, params) in Obstacle::CODES {
        let row = ProblemRow::of(code).unwrap();
        assert_eq!(row.params, *params, "{code}");
    }
}

#[test]
fn every_notice_is_listed() {
    let all = [
        journal::RECOVERY_NOTICES,
        engine::UPKEEP_NOTICES,
        engine::WATCH_NOTICES,
        engine::COURIER_NOTICES,
    ];
    for (code, params) in all.into_iter().flatten() {
        let row = ProblemRow::of(code).unwrap();
        assert_eq!(row.params, *params, "{code}");
        let params: Vec<_> = params.iter().map(|name| (*name, "1")).collect();
        let notice = journal::Notice::new(code, &params, fhir::Instant(0));
        assert_listed(&Problem::from(&notice));
    }
    let unknown = journal::Notice::new("of-a-newer-program", &[("a", "b")], fhir::Instant(0));
    assert_eq!(Problem::from(&unknown).code, "of-a-newer-program");
}

#[test]
fn every_certificate_problem_is_listed() {
    use identity::ImportError as E;
    for error in [
        E::PasswordNeeded,
        E::WrongPassword,
        E::Damaged { kind: "pkcs12" },
        E::NoKey,
        E::CaWithoutKey,
        E::NotACa,
        E::SeveralFiles { count: 2 },
        E::NoCertificate,
        E::SeveralKeys { count: 2 },
        E::KeyDoesNotMatch,
        E::NotACertificateFile { found: "pdf" },
        E::UnsupportedKey { key_type: "x".to_owned() },
        E::UnsupportedEncryption { algorithm: "x".to_owned() },
        E::TooManyIterations { iterations: 2, limit: 1 },
        E::TooLarge { bytes: 2, limit: 1 },
    ] {
        assert_listed(&error.into());
    }
}

#[test]
fn every_problem_with_secrets_is_listed() {
    use identity::SecretsError as E;
    let cause = || "x".to_owned();
    for error in [
        E::NoKeychain { cause: cause() },
        E::Locked { cause: cause() },
        E::Denied,
        E::Missing { name: "vault" },
        E::Exists { name: "vault" },
        E::Damaged { name: "vault" },
        E::WrongPassphrase,
        E::PassphraseNeeded,
        E::VaultDamaged,
        E::NoRandomness,
        E::Io { operation: "read", source: std::io::Error::other("x") },
    ] {
        let problem = Problem::from(error);
        assert_listed(&problem);
        assert_eq!(problem.class(), crate::ProblemClass::Locked);
    }
    for error in [E::WeakPassphrase { least: 12 }, E::NoVault, E::TooMany { limit: 26 }] {
        let problem = Problem::from(error);
        assert_listed(&problem);
        assert_eq!(problem.class(), crate::ProblemClass::Usage);
    }
}
