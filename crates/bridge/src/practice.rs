//! The practice profile: an authority of its own on this computer, a pilot certificate that is
//! already imported, and made-up reports at hand. Nothing in it is real, and nothing in it leaves
//! the computer.

mod host;
mod rules;
mod samples;

use std::path::{Path, PathBuf};

use authority::Pilot;
use engine::{Engine, EngineDeps, Profile};
use exchange::{Endpoint, Environment};
use identity::{Identity, Password, SecretsKind};
use report::SubmissionId;
use url::Url;

use crate::problem::Problem;
use host::Host;

/// Name of the practice endpoint.
pub const ENDPOINT: &str = "practice";
/// Name of the laboratory to which the practice authority gives its pilot certificate.
const LABORATORY: &str = "practice-laboratory";
/// Where the endpoint points until its authority has been started for the first time.
const NOWHERE: &str = "https://127.0.0.1:1/v1/fhir";

/// An open practice profile.
pub struct Practice {
    engine: Engine,
    host: Option<Host>,
}

impl Practice {
    /// Opens the practice profile of a folder; makes it, with everything that belongs to it, where
    /// there is none.
    pub async fn prepare(folder: &Path) -> Result<Self, Problem> {
        let engine = match Profile::open(folder) {
            Ok(profile) if profile.is_practice() => {
                Engine::open(profile, None, EngineDeps::default())?
            }
            Ok(_) => return Err(Problem::new("not-practice", &[], "practice")),
            Err(engine::ProfileProblem::Missing { .. }) => create(folder).await?,
            Err(problem) => return Err(problem.into()),
        };
        crate::leading_codes::learn(folder);
        samples::write(folder, engine.now())?;
        rules::bring(folder, engine.now())?;
        Ok(Self { engine, host: None })
    }

    /// The engine of the profile.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Starts the practice authority, or finds the one that another program runs for this profile,
    /// and points the endpoint at it. Does nothing where that has been done.
    pub async fn start(&mut self) -> Result<(), Problem> {
        if self.host.is_none() {
            self.host = Some(Host::start(self.engine.clone(), data_of(&self.engine)).await?);
        }
        Ok(())
    }

    /// Answers to reports that name no language are in this one, a locale like `de_CH.UTF-8`.
    pub async fn speak(&self, locale: &str) -> Result<(), Problem> {
        speak(&self.engine, locale).await
    }

    /// Stops the practice authority where it is ours; requests under way are finished.
    pub async fn stop(&mut self) {
        if let Some(host) = self.host.take() {
            host.stop().await;
        }
    }

    /// The folder with the sample reports.
    pub fn samples(&self) -> PathBuf {
        samples::folder(self.engine.profile().folder())
    }

    /// Whether these files are the profile's own samples and nothing else.
    pub fn owns(&self, paths: &[PathBuf]) -> bool {
        let folder = self.engine.profile().folder().to_owned();
        paths.iter().all(|path| samples::holds(&folder, path))
    }

    /// Whether all these reports say what the profile's own samples say.
    pub fn owns_reports(&self, ids: &[SubmissionId]) -> Result<bool, Problem> {
        let files = samples::files(self.engine.profile().folder());
        let texts: Vec<Vec<u8>> =
            files.iter().filter_map(|file| std::fs::read(file).ok()).collect();
        for id in ids {
            let document = self.engine.journal().document(*id).unwrap_or_default();
            if !texts.contains(&document) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// File name of the sample that fails on purpose, and the file that corrects it.
    pub fn lesson(&self) -> (&'static str, PathBuf) {
        (samples::FAILING, samples::correction(self.engine.profile().folder()))
    }
}

/// The authority answers in the language of a report. One that names none is sent in the language
/// of whoever practises: the samples are the same for everybody. Does nothing where that is so.
pub(crate) async fn speak(engine: &Engine, locale: &str) -> Result<(), Problem> {
    let language = match locale.split(['_', '.', '-', '@']).next() {
        Some("de") => "de-CH",
        Some("fr") => "fr-CH",
        Some("it") => "it-CH",
        _ => "en-CH",
    };
    match engine.profile().endpoint_named(ENDPOINT) {
        Some(endpoint) if endpoint.language != language => {
            let language = language.to_owned();
            Ok(engine.replace_endpoint(Endpoint { language, ..endpoint.clone() }).await?)
        }
        _ => Ok(()),
    }
}

fn data_of(engine: &Engine) -> PathBuf {
    engine.profile().folder().join("authority")
}

async fn create(folder: &Path) -> Result<Engine, Problem> {
    let data = folder.join("authority");
    let made = authority::init(&data, &[LABORATORY.to_owned()]).map_err(|e| failed(&e))?;
    let ca_pem = std::fs::read_to_string(&made.ca).map_err(|error| file(&made.ca, &error))?;
    let base = Url::parse(NOWHERE).map_err(|error| failed(&error))?;
    let endpoint =
        Endpoint { ca_pem: Some(ca_pem), ..Endpoint::new(ENDPOINT, base, Environment::Practice) };
    let pilot = made.pilots.first().ok_or_else(|| failed(&"no pilot certificate"))?;
    let identity = pilot_identity(pilot)?;
    let profile = Profile::create(folder, SecretsKind::Practice, vec![endpoint])?;
    let engine = crate::laboratory::new_engine(profile, None)?;
    engine.import_certificate(&identity, &[]).await?;
    Ok(engine)
}

fn pilot_identity(pilot: &Pilot) -> Result<Identity, Problem> {
    let read = |path: &Path| std::fs::read(path).map_err(|error| file(path, &error));
    let password = String::from_utf8_lossy(&read(&pilot.password)?).into_owned();
    Ok(Identity::import(&[&read(&pilot.p12)?], Some(&Password::from(password)))?)
}

/// The practice authority cannot be set up or started.
fn failed(reason: &dyn std::fmt::Display) -> Problem {
    Problem::new("practice-authority-failed", &[("reason", &reason.to_string())], "practice")
}

fn file(path: &Path, error: &std::io::Error) -> Problem {
    let params = [("file", &*path.display().to_string()), ("reason", &error.kind().to_string())];
    Problem::new("profile-io", &params, "practice")
}
