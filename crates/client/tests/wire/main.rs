//! The client against real TLS servers on loopback that do what each test tells them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod alerts;
mod certificates;
mod documents;
mod endless;
mod http2;
mod mutual;
mod proxies;
mod questions;
mod redirects;
mod releases;
mod submit;
mod versions;

use std::time::Duration;

use client::{Fault, HttpAuthority, Limits};
use exchange::{Endpoint, Envelope, Environment};
use fhir::Format;
use identity::Identity;
use testkit::{
    ClientCertificate, DocumentBuilder, Reaction, ScriptedServer, ScriptedTls, Seen, TestCa,
};

pub(crate) const IDENTIFIER: &str = "urn:uuid:0d1c9a52-6f0e-4f61-9d5e-3b6d0c7b1a11";

/// A certificate authority and a laboratory's certificate.
pub(crate) struct World {
    pub(crate) ca: TestCa,
    pub(crate) laboratory: ClientCertificate,
}

impl World {
    pub(crate) fn new() -> Self {
        let ca = TestCa::new("Behörde");
        let laboratory = ca.client("labor-beispiel");
        Self { ca, laboratory }
    }

    /// A sound mutual-TLS server with this plan.
    pub(crate) async fn server(
        &self,
        plan: impl Fn(&Seen) -> Reaction + Send + Sync + 'static,
    ) -> ScriptedServer {
        let tls = ScriptedTls::mutual(self.ca.loopback_server(), self.ca.der());
        ScriptedServer::start(tls, plan).await
    }

    pub(crate) fn identity(&self) -> Identity {
        identity_of(&self.laboratory)
    }

    pub(crate) fn authority(&self, server: &ScriptedServer) -> HttpAuthority {
        self.authority_of(&self.endpoint(server))
    }

    pub(crate) fn authority_of(&self, endpoint: &Endpoint) -> HttpAuthority {
        HttpAuthority::with_limits(endpoint, Some(&self.identity()), limits()).unwrap()
    }

    pub(crate) fn endpoint(&self, server: &ScriptedServer) -> Endpoint {
        endpoint(&server.base(), &self.ca)
    }
}

pub(crate) fn endpoint(base: &str, ca: &TestCa) -> Endpoint {
    Endpoint {
        ca_pem: Some(ca.pem()),
        ..Endpoint::new("test", base.parse().unwrap(), Environment::Integration)
    }
}

pub(crate) fn identity_of(client: &ClientCertificate) -> Identity {
    Identity::import(&[client.pem().as_bytes()], None).unwrap()
}

/// Short enough for tests, long enough for a loaded machine.
pub(crate) fn limits() -> Limits {
    Limits {
        connect: Duration::from_secs(10),
        exchange: Duration::from_secs(20),
        answer_bytes_max: 100_000,
        pages_max: 5,
        walk: Duration::from_secs(20),
    }
}

pub(crate) fn hasty() -> Limits {
    Limits { exchange: Duration::from_millis(700), ..limits() }
}

pub(crate) fn wrapped() -> Envelope {
    let body = DocumentBuilder::new(7).json().into_bytes();
    Envelope { body, format: Format::Json, identifier: IDENTIFIER.to_owned() }
}

pub(crate) fn fhir(status: u16, body: impl Into<Vec<u8>>) -> Reaction {
    Reaction::answer(status, "application/fhir+json", body)
}

/// A DocumentReference as the authority returns it.
pub(crate) fn reference(id: &str, status: &str, identifier: &str) -> String {
    format!(
        r##"{{"resourceType":"DocumentReference","id":"{id}","meta":{{"lastUpdated":"2026-07-01T10:00:00.1234567Z"}},
        "contained":[{{"resourceType":"OperationOutcome","id":"o","issue":[{{"severity":"warning","code":"duplicate","diagnostics":"FOPH-021"}}]}}],
        "extension":[{{"url":"http://fhir.ch/ig/ch-elm/StructureDefinition/ch-ext-elm-status","extension":[
            {{"url":"status","valueCode":"{status}"}},{{"url":"outcome","valueReference":{{"reference":"#o"}}}}]}}],
        "identifier":[{{"system":"urn:ietf:rfc:3986","value":"{identifier}"}}],
        "status":"current","content":[{{"attachment":{{"url":"#b"}}}}]}}"##
    )
}

pub(crate) fn outcome(severity: &str) -> String {
    format!(
        r#"{{"resourceType":"OperationOutcome","issue":[{{"severity":"{severity}","code":"invariant","diagnostics":"Constraint failed: x-1: 'no'"}}]}}"#
    )
}

/// An outcome with an error of each of these codes.
pub(crate) fn outcome_of(codes: &[&str]) -> String {
    let issue = |code: &&str| format!(r#"{{"severity":"error","code":"{code}"}}"#);
    let issues: Vec<_> = codes.iter().map(issue).collect();
    format!(r#"{{"resourceType":"OperationOutcome","issue":[{}]}}"#, issues.join(","))
}

/// An outcome with one error of this code, at a place of the report.
pub(crate) fn judged(code: &str) -> String {
    let issue =
        format!(r#"{{"severity":"error","code":"{code}","expression":["Bundle.entry[0]"]}}"#);
    format!(r#"{{"resourceType":"OperationOutcome","issue":[{issue}]}}"#)
}

/// Class and code of a fault.
pub(crate) fn told(fault: &Fault) -> (&'static str, &'static str) {
    let class = match fault {
        Fault::Transient { .. } => "transient",
        Fault::Uncertain { .. } => "uncertain",
        Fault::Refused { .. } => "refused",
        Fault::Locked { .. } => "locked",
    };
    (class, fault.why().map_or("", |why| why.code()))
}
