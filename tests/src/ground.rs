//! An authority that a test bends for an hour of simulated time, and what that hour showed.

use std::sync::atomic::Ordering;
use std::time::Duration;

use authority::{Fault, FaultKind, Interaction};
use identity::Identity;
use report::State;
use tempfile::TempDir;
use testkit::{Figures, ScriptedServer, TestCa};
use tokio::runtime::Runtime;

use crate::outage::{Front, Scene, endpoint, hasty, patient, pilot};
use crate::{Authority, Misbehaving, stored};

/// An hour.
pub const HOUR: Duration = Duration::from_secs(3600);
/// Longer than any pause: what has not come to rest by then never will.
const DAYS: Duration = Duration::from_secs(5 * 24 * 3600);
/// Reports of each laboratory.
pub const REPORTS: u64 = 3;

/// An authority behind a front, and a stranger's certificates that the laboratory trusts as well.
pub struct Ground {
    /// Where everything runs.
    pub runtime: Runtime,
    /// The authority's folder.
    pub data: TempDir,
    /// The authority.
    pub authority: Misbehaving,
    /// Issues certificates that the laboratory trusts as well.
    pub ca: TestCa,
}

/// What an hour showed.
pub struct Hour {
    /// All requests of the hour.
    pub requests: u64,
    /// Of these, with a report.
    pub submits: u64,
    /// What people see at its end: where the connection stands, and the code of the reason.
    pub banner: (&'static str, String),
    /// Where the reports stand at its end.
    pub states: Vec<State>,
}

impl Default for Ground {
    fn default() -> Self {
        Self::new()
    }
}

impl Ground {
    /// With an authority of its own.
    pub fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        Authority::init(data.path());
        let authority = Misbehaving::serve(data.path(), []);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        Self { runtime, data, authority, ca: TestCa::new("Zweite Behörde") }
    }

    /// The CA certificates that the laboratory trusts, PEM.
    pub fn trusted(&self) -> String {
        let own = std::fs::read_to_string(self.data.path().join("ca.pem")).unwrap();
        format!("{own}\n{}", self.ca.pem())
    }

    /// Where the authority listens.
    pub fn address(&self) -> std::net::SocketAddr {
        let url: url::Url = self.authority.base.parse().unwrap();
        ([127, 0, 0, 1], url.port().unwrap()).into()
    }

    /// The laboratory's certificate.
    pub fn identity(&self) -> Identity {
        pilot(self.data.path())
    }

    /// The authority meets this fault at every request, whatever it asks, for an hour.
    pub fn faulty(&self, figures: &mut Figures, name: &str, kind: &FaultKind, warm: bool) -> Hour {
        let limits = match kind {
            FaultKind::Delay(_) | FaultKind::EndlessBody => hasty(),
            _ => patient(),
        };
        self.runtime.block_on(async {
            let front = Front::open().await;
            front.lead(Some(self.address()));
            let mut scene = Scene::new();
            scene.connect(
                &endpoint(&front.base(), &self.trusted()),
                Some(&self.identity()),
                limits,
            );
            if warm {
                scene.take_in(1);
                scene.work(HOUR).await;
                assert!(scene.settled(), "{name}: sound before");
            }
            let asked = [
                Interaction::Create,
                Interaction::Read,
                Interaction::Search,
                Interaction::Capabilities,
            ];
            for on in asked {
                self.authority.faults.add(Fault::always(on, kind.clone()));
            }
            let hour = hour(&mut scene, name).await;
            self.authority.faults.clear();
            // What hangs was given little time; what works is given enough.
            scene.connect(
                &endpoint(&front.base(), &self.trusted()),
                Some(&self.identity()),
                patient(),
            );
            self.recovers(figures, &mut scene, name).await;
            hour
        })
    }

    /// The front leads to this server for an hour, then to the authority.
    pub async fn behind(&self, figures: &mut Figures, name: &str, server: &ScriptedServer) -> Hour {
        let mut front = Front::open().await;
        front.lead(Some(server.address()));
        let mut scene = Scene::new();
        let limits = client::Limits { connect: Duration::from_millis(900), ..patient() };
        scene.connect(&endpoint(&front.base(), &self.trusted()), Some(&self.identity()), limits);
        let hour = hour(&mut scene, name).await;
        // Time is simulated, so that no connection grows old: it is cut.
        front.close().await;
        front.reopen().await;
        front.lead(Some(self.address()));
        self.recovers(figures, &mut scene, name).await;
        hour
    }

    /// The way is free: every report is delivered once and completed, by itself.
    pub async fn recovers(&self, figures: &mut Figures, scene: &mut Scene, name: &str) {
        scene.work(DAYS).await;
        let at_authority = stored(self.data.path());
        for (identifier, state) in scene.identifiers.iter().zip(scene.states()) {
            let times = at_authority.iter().filter(|(known, ..)| known == identifier).count();
            let completed = matches!(state, State::Completed { .. });
            assert!(completed, "{name}: {state:?}, stored {times} times");
            figures.losses(u64::from(times == 0));
            figures.duplicates(u64::from(times > 1));
            figures.false_completed(u64::from(completed && times == 0));
        }
        figures.cases(1);
    }

    /// Ends it.
    pub fn end(self) {
        self.authority.stop();
        self.runtime.shutdown_background();
    }
}

/// Reports are taken in, and an hour passes.
pub async fn hour(scene: &mut Scene, name: &str) -> Hour {
    scene.take_in(REPORTS);
    let submits = scene.requests.submits.load(Ordering::SeqCst);
    let requests = scene.work(HOUR).await;
    let submits = scene.requests.submits.load(Ordering::SeqCst) - submits;
    let states = scene.states();
    let failed = |state: &&State| matches!(state, State::Failed { .. } | State::Rejected);
    assert_eq!(states.iter().filter(failed).count(), 0, "{name}: {states:?}");
    assert!(requests <= 15, "{name}: {requests} requests in an hour");
    let banner = scene.banner();
    println!("{name}: {requests} requests, {submits} of them with a report, {banner:?}");
    Hour { requests, submits, banner, states }
}

/// The most requests of an hour.
pub fn measured(figures: &mut Figures, hours: &[Hour]) {
    let most = hours.iter().map(|hour| hour.requests).max().unwrap_or(u64::MAX);
    figures.measure("requests per hour", f64::from(u32::try_from(most).unwrap()));
}
