//! What is shown of the way to an authority, in the window and on the command line: how far it
//! goes, certificates, and the layers of a connection test.

use engine::{ConnectionState, Engine, StoredCertificate};
use exchange::Environment;
use fhir::Instant;
use identity::{Inspection, SecretsKind};

use crate::problem::Problem;
use crate::views::{
    CertificateView, Connection, ProbeOutcome, ProbeView, ProductionNeeds, StoredCertificateView,
};

pub(crate) fn certificate_view(
    inspection: &Inspection,
    kind: SecretsKind,
    now: Instant,
) -> CertificateView {
    CertificateView {
        subject: inspection.subject.clone(),
        issuer: inspection.issuer.clone(),
        serial: inspection.serial.clone(),
        not_before: inspection.not_before.to_fhir(),
        not_after: inspection.not_after.to_fhir(),
        days_left: i32::try_from(inspection.days_left(now)).unwrap_or(i32::MAX),
        days_ahead: i32::try_from(inspection.days_ahead(now)).unwrap_or(i32::MAX),
        fingerprint: inspection.fingerprint_sha256.clone(),
        key_type: inspection.key_type.clone(),
        purposes: inspection.purposes.clone(),
        client_auth: inspection.client_auth,
        stored_in: kind,
    }
}

/// A stored certificate, itself shown as `certificate` does.
pub(crate) fn stored_view(
    stored: StoredCertificate,
    certificate: impl Fn(&Inspection) -> CertificateView,
) -> StoredCertificateView {
    StoredCertificateView {
        fingerprint: stored.fingerprint,
        certificate: stored.inspection.as_ref().map(certificate),
        endpoints: stored.endpoints,
        formerly: stored.formerly,
        open: stored.open,
    }
}

pub(crate) fn probe_view(step: client::ProbeStep) -> ProbeView {
    let (outcome, detail, problem) = match step.outcome {
        client::ProbeOutcome::Passed { detail } => (ProbeOutcome::Passed, detail, None),
        client::ProbeOutcome::Failed { why } => {
            (ProbeOutcome::Failed, None, Some(Problem::from(&why)))
        }
        client::ProbeOutcome::Misconfigured { code } => {
            let problem = Problem::new("endpoint-unusable", &[("reason", code)], "probe");
            (ProbeOutcome::Failed, None, Some(problem))
        }
        client::ProbeOutcome::NotReached => (ProbeOutcome::NotReached, None, None),
    };
    ProbeView { layer: step.layer, outcome, detail, problem }
}

/// Whether this is a production system that no report has been taken in for yet.
pub(crate) fn is_new_production(engine: &Engine, name: &str) -> Result<bool, Problem> {
    let profile = engine.profile();
    let Some(endpoint) = profile.endpoint_named(name) else { return Ok(false) };
    Ok(endpoint.environment == Environment::Production
        && engine.journal().reports_at(endpoint.id())?.all == 0)
}

/// Why a production system is not used yet.
pub(crate) fn not_ready(needs: ProductionNeeds, name: &str) -> Problem {
    let code = match needs {
        ProductionNeeds::Certificate => "production-without-certificate",
        ProductionNeeds::Test => "production-untested",
    };
    Problem::new(code, &[("name", name)], "endpoint")
}

pub(crate) fn connection_view(state: &ConnectionState) -> (Connection, Option<Problem>) {
    match state {
        ConnectionState::Unchecked | ConnectionState::Elsewhere => (Connection::Unchecked, None),
        ConnectionState::Connected => (Connection::Connected, None),
        ConnectionState::Unreachable(why) => (Connection::Unreachable, Some(why.into())),
        ConnectionState::Locked(why) => (Connection::Locked, Some(why.into())),
        ConnectionState::JournalUnavailable(refusal) => {
            (Connection::Unreachable, Some((*refusal).into()))
        }
    }
}
