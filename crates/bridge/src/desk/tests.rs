//! Two rooms: practice, and a laboratory with an authority of its own. Its secrets rest in a plain
//! file here, because the keychain of whoever runs the tests is not theirs to write to.

mod audited;
mod closed;
mod folders;
mod handing;
mod rooms;
mod window;

use std::path::Path;
use std::task::Poll;
use std::time::Duration;

use authority::{ServeOptions, Serving, serve};
use engine::Engine;
use exchange::Environment;
use identity::SecretsKind;
use journal::Filter;
use tokio_util::sync::CancellationToken;

use super::Desk;
use crate::rows::Names;
use crate::views::{
    Connection, EndpointInput, HandedItem, LaboratoryView, ListQuery, ProbeOutcome, ProductionNeeds,
};
use crate::{KnownContent, PRACTICE_ENDPOINT};

const PATIENCE: Duration = Duration::from_secs(60);

/// An authority that takes itself for the integration system.
struct Integration {
    serving: Serving,
    shutdown: CancellationToken,
    ca_pem: String,
    p12: String,
    password: String,
}

impl Integration {
    async fn start(data: &Path) -> Self {
        let made = authority::init(data, &["labor-muster".to_owned()]).unwrap();
        let shutdown = CancellationToken::new();
        let serving = serve(ServeOptions::new(data), shutdown.clone()).await.unwrap();
        Self {
            serving,
            shutdown,
            ca_pem: std::fs::read_to_string(&made.ca).unwrap(),
            p12: made.pilots[0].p12.display().to_string(),
            password: std::fs::read_to_string(&made.pilots[0].password).unwrap(),
        }
    }

    fn endpoint(&self) -> EndpointInput {
        EndpointInput {
            name: "Integration".to_owned(),
            base_url: self.serving.base_url.clone(),
            environment: "integration".to_owned(),
            release: None,
            language: Some("fr-CH".to_owned()),
            ca_pem: Some(self.ca_pem.clone()),
            proxy: None,
        }
    }
}

/// An authority that is not there.
fn nowhere() -> EndpointInput {
    EndpointInput {
        name: "real".to_owned(),
        base_url: "https://127.0.0.1:1/v1/fhir".to_owned(),
        environment: "integration".to_owned(),
        release: None,
        language: None,
        ca_pem: None,
        proxy: None,
    }
}

async fn completed(desk: &Desk, count: u32) {
    let wait = async {
        loop {
            let status = desk.status().await.unwrap();
            if status.counts.completed == count {
                return;
            }
            desk.changed(status.revision).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("in time");
}

async fn sample(desk: &Desk) -> String {
    let samples = desk.practice_samples().await.unwrap();
    samples.into_iter().find(|path| path.contains("covid")).unwrap()
}
