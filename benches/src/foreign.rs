//! Programs of others, measured on the same: set up once below `target/bench`, with the registries'
//! own clients and in versions that stand here. Where that does not work the reason is told, and
//! the rest is measured.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::table::{Figure, Row, Samples};
use crate::{Result, output};

const FHIRPATH_JS: &str = "fhirpath@5.2.2";
const PYFHIRCHECK: &str = "pyfhircheck==0.2.0";
const REQUESTS: &str = "requests==2.34.2";
/// It sends with Node's own fetch, which shows a certificate only by this.
const FHIR_KIT: [&str; 2] = ["fhir-kit-client@2.0.3", "undici@6.29.1"];
/// It takes tenths of a second a report.
const PYFHIRCHECK_SECONDS: u32 = 60;

/// Times of fhirpath.js.
#[derive(Deserialize)]
struct Expressions {
    /// µs for all of them, a round each.
    #[serde(rename = "perRound")]
    per_round: Vec<f64>,
    /// Those that it cannot evaluate.
    refused: usize,
    /// Those that it does not find true.
    differs: usize,
}

/// Times of pyfhircheck.
#[derive(Deserialize)]
struct Reports {
    #[serde(rename = "perReport")]
    per_report: Vec<f64>,
    first: f64,
    accepted: usize,
    seen: usize,
    mb: f64,
}

/// The same invariants on the same elements: `work` is what the script reads.
pub(crate) fn fhirpath_js(count: f64, ours: &Samples, work: &Value) -> Option<Row> {
    let measured = expressions(work);
    let what = format!("{count} invariants of one report / {FHIRPATH_JS}");
    let theirs = measured.map_err(|error| told(&what, &error)).ok()?;
    let what = format!("{what} (cannot say: {}, other: {})", theirs.refused, theirs.differs);
    let samples = Samples(theirs.per_round);
    Some(row(what, &samples, ours, (ours.shown(0, " µs"), samples.shown(0, " µs"))))
}

fn expressions(work: &Value) -> Result<Expressions> {
    let folder = folder("fhirpath-js")?;
    node(&folder, &[FHIRPATH_JS])?;
    let file = folder.join("work.json");
    std::fs::write(&file, work.to_string())?;
    let told = run(Command::new("node").arg(script("fhirpath.mjs")).arg(&folder).arg(&file))?;
    Ok(serde_json::from_str(&told)?)
}

/// The same reports against the same profile.
pub(crate) fn pyfhircheck(
    packages: &[PathBuf],
    reports: &[PathBuf],
    profile: &str,
    ours: &Samples,
) -> Option<Row> {
    let what = format!("rules: one report / {PYFHIRCHECK}");
    let measured = validated(packages, reports, profile);
    let theirs = measured.map_err(|error| told(&what, &error)).ok()?;
    let what = format!(
        "{what} (first: {:.1} s, {:.0} MB, accepts {} of {})",
        theirs.first / 1e3,
        theirs.mb,
        theirs.accepted,
        theirs.seen
    );
    let samples = Samples(theirs.per_report);
    Some(row(what, &samples, ours, (ours.shown(2, " ms"), samples.shown(0, " ms"))))
}

/// Who posts with a program of somebody else, and from where.
pub(crate) struct Post<'a> {
    pub(crate) base: &'a str,
    pub(crate) ca: &'a Path,
    pub(crate) identity: &'a Path,
    pub(crate) bodies: &'a Path,
}

/// Seconds for a folder of bodies, with one session of Python's requests.
pub(crate) fn requests(post: &Post<'_>) -> Result<f64> {
    let python = python("requests", REQUESTS)?;
    let url = format!("{}/DocumentReference", post.base);
    let mut command = Command::new(python);
    command.arg(script("post.py")).arg(url).args([post.ca, post.identity, post.bodies]);
    Ok(run(&mut command)?.trim().parse()?)
}

/// The same with fhir-kit-client.
pub(crate) fn fhir_kit_client(post: &Post<'_>) -> Result<f64> {
    let folder = folder("fhir-kit-client")?;
    node(&folder, &FHIR_KIT)?;
    let mut command = Command::new("node");
    command.arg(script("post.mjs")).arg(&folder).arg(post.base);
    Ok(run(command.args([post.ca, post.identity, post.bodies]))?.trim().parse()?)
}

/// Packages of Node in a folder, once.
fn node(folder: &Path, packages: &[&str]) -> Result<()> {
    let mark = folder.join("installed");
    if mark.exists() {
        return Ok(());
    }
    std::fs::write(folder.join("package.json"), r#"{"private":true}"#)?;
    let install = ["install", "--silent", "--no-audit", "--no-fund"];
    run(Command::new("npm").args(install).args(packages).current_dir(folder))?;
    Ok(std::fs::write(mark, "")?)
}

/// A Python that has a package, in an environment of its own.
fn python(name: &str, package: &str) -> Result<PathBuf> {
    let folder = folder(name)?;
    let (python, mark) = (folder.join("venv/bin/python"), folder.join("installed"));
    if !mark.exists() {
        run(Command::new("python3").args(["-m", "venv"]).arg(folder.join("venv")))?;
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet", package]))?;
        std::fs::write(mark, "")?;
    }
    Ok(python)
}

fn validated(packages: &[PathBuf], reports: &[PathBuf], profile: &str) -> Result<Reports> {
    let (folder, python) = (folder("pyfhircheck")?, python("pyfhircheck", PYFHIRCHECK)?);
    let file = folder.join("asked.json");
    let asked = json!({
        "packages": packages, "reports": reports, "profile": profile,
        "seconds": PYFHIRCHECK_SECONDS, "evidence": folder.join("evidence"),
    });
    std::fs::write(&file, asked.to_string())?;
    Ok(serde_json::from_str(&run(Command::new(&python).arg(script("reports.py")).arg(&file))?)?)
}

/// How many times faster ours is.
fn row(
    what: String,
    theirs: &Samples,
    of_ours: &Samples,
    (ours, baseline): (Figure, Figure),
) -> Row {
    let ratio = Figure::of(theirs.median() / of_ours.median(), 0, "× faster");
    Row { what, baseline, ours, ratio, bound: None }
}

pub(crate) fn told(what: &str, error: &crate::Problem) {
    output::problem(&format!("{what}: {error}"));
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("foreign").join(name)
}

/// Beside the programs that are measured.
pub(crate) fn folder(name: &str) -> Result<PathBuf> {
    let programs = std::env::current_exe()?;
    let target = programs.parent().and_then(Path::parent).ok_or("no target folder")?;
    let folder = target.join("bench").join(name);
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// What it prints.
fn run(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(String::from_utf8(output.stdout)?);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.lines().last().unwrap_or("ended without a word").to_owned().into())
}
