//! `labcourier send` against clients of others that post bodies which are made already: one session
//! of Python's requests, and fhir-kit-client on Node. Both are installed once, by pip and npm.

use std::time::Duration;

use crate::foreign::{self, Post};
use crate::ground::{self, Ground};
use crate::table::{Bound, Row, Samples};
use crate::{Result, output};

pub(crate) async fn measure(rounds: usize, reports: usize) -> Result<Vec<Row>> {
    let ground = Ground::new(Duration::ZERO).await?;
    let count = f64::from(u32::try_from(reports)?);
    let (mut ours, mut others) = (Samples::default(), [Samples::default(), Samples::default()]);
    for round in 0..rounds {
        output::progress(&format!("clients of others, round {} of {rounds}", round + 1));
        let (first, bodies) = (round * 2 * reports, ground.path(&format!("bodies-{round}")));
        ground::bodies(&bodies, first, reports)?;
        let post = Post {
            base: &ground.server.base,
            ca: &ground.ca,
            identity: &ground.identity,
            bodies: &bodies,
        };
        for (which, samples) in [Which::Requests, Which::FhirKit].into_iter().zip(&mut others) {
            match tokio::task::block_in_place(|| which.post(&post)) {
                Ok(seconds) => samples.0.push(count / seconds),
                Err(error) => foreign::told(which.name(), &error),
            }
        }
        let folder = ground.reports(&format!("round-{round}"), first + reports, reports)?;
        let used = tokio::task::block_in_place(|| ground.laboratory.send(&folder))?;
        ours.0.push(count / used.time.as_secs_f64());
    }
    let rows = [Which::Requests, Which::FhirKit].into_iter().zip(others);
    let measured = rows.filter(|(_, theirs)| theirs.0.len() == ours.0.len());
    Ok(measured
        .map(|(which, theirs)| Row {
            what: format!("send / {}", which.name()),
            ratio: ours.over(&theirs).shown(1, "×"),
            baseline: theirs.shown(0, "/s"),
            ours: ours.shown(0, "/s"),
            bound: which.bound(),
        })
        .collect())
}

#[derive(Clone, Copy)]
enum Which {
    Requests,
    FhirKit,
}

impl Which {
    const fn name(self) -> &'static str {
        match self {
            Self::Requests => "one session of Python's requests",
            Self::FhirKit => "fhir-kit-client",
        }
    }

    const fn bound(self) -> Option<Bound> {
        match self {
            Self::Requests => Bound::at_least(4.0, Some(10.0)),
            Self::FhirKit => Bound::at_least(8.0, Some(25.0)),
        }
    }

    fn post(self, post: &Post<'_>) -> Result<f64> {
        match self {
            Self::Requests => foreign::requests(post),
            Self::FhirKit => foreign::fhir_kit_client(post),
        }
    }
}
