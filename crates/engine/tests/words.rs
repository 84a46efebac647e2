//! What a person says of a report that has been open for too long, through the engine that takes it
//! in and the worker that goes on with it.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod house;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use engine::{Clock as _, Engine, EngineDeps, EngineError, ImportOptions, Profile, Taken, Worker};
use exchange::Processing;
use house::{Hands, House, Willing, named};
use identity::SecretsKind;
use report::{Action, Event, Group, State, SubmissionId};
use tokio_util::sync::CancellationToken;

const DAY: i64 = 86_400;
const WORD: &str = "Ms Keller of the hotline";

/// A laboratory with its engine, and an authority that a test scripts.
struct Laboratory {
    engine: Engine,
    house: House,
    worker: Worker<Willing>,
    id: SubmissionId,
    _folder: tempfile::TempDir,
}

impl Laboratory {
    /// One report is sent to an authority as `scripted`.
    async fn new(days: Option<u16>, scripted: impl FnOnce(&Willing)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let endpoints = vec![named("ours")];
        let profile = Profile::create(folder.path(), SecretsKind::Practice, endpoints).unwrap();
        let clock: Arc<Hands> = Arc::default();
        let deps = EngineDeps { clock: clock.clone(), ..EngineDeps::default() };
        let engine = Engine::create(profile, None, deps).unwrap();
        engine.set_attention_days(days).await.unwrap();
        let mut house = House::timed(engine.journal().clone(), clock);
        house.timing.in_progress_max = Duration::from_secs(engine.attention_days() * 86_400);
        let text = testkit::DocumentBuilder::new(1).json().into_bytes();
        let seen = engine.inspect_text("a.json".to_owned(), text).await.unwrap();
        let taken = engine.take(&seen, ImportOptions::default()).await.unwrap();
        let Taken::New(id) = taken.taken[0] else { panic!("{:?}", taken.taken) };
        scripted(&house.authority);
        let worker = house.worker_of(named("ours").id(), "one");
        let laboratory = Self { engine, house, worker, id, _folder: folder };
        laboratory.pass(10, 1).await;
        laboratory
    }

    /// So often so many seconds pass, and the worker does what it owes.
    async fn pass(&self, seconds: i64, turns: usize) {
        for _ in 0..turns {
            self.house.clock.pass(seconds);
            self.worker.turn(&mut None, &CancellationToken::new()).await.unwrap();
        }
    }

    fn state(&self) -> State {
        self.engine.journal().state(self.id).unwrap()
    }

    fn group(&self) -> Group {
        self.state().group(self.house.clock.now())
    }

    async fn say(&self, received: bool) -> Result<(), EngineError> {
        match received {
            true => self.engine.say_received(self.id, WORD.to_owned()).await,
            false => self.engine.say_not_received(self.id, WORD.to_owned()).await,
        }
    }

    /// Who has said it, and why, stands in what happened.
    fn is_kept(&self) -> bool {
        let timeline = self.engine.journal().detail(self.id).unwrap().timeline;
        timeline.iter().any(|entry| match &entry.event {
            Event::SaidReceived { reason }
            | Event::StillExpected { reason, .. }
            | Event::SaidNotReceived { reason, .. } => {
                reason == WORD && entry.by == *self.engine.person()
            }
            _ => false,
        })
    }
}

fn doubtful(authority: &Willing) {
    authority.doubt.store(true, Ordering::SeqCst);
}

/// A doubt of a minute is the worker's; after 75 minutes a person may say what is true, and it
/// counts.
#[tokio::test]
async fn what_is_said_of_an_old_doubt_counts() {
    for received in [true, false] {
        let laboratory = Laboratory::new(None, doubtful).await;
        assert_eq!(laboratory.state().code(), "unknown");
        let refused = laboratory.say(received).await;
        assert!(matches!(refused, Err(EngineError::NotPermitted { .. })), "{refused:?}");
        assert!(!laboratory.is_kept());
        // Nothing else of ours was ever accepted, and no question is answered: the doubt stays.
        let fault = client::Fault::Transient {
            why: client::Why::Timeout,
            retry_after: None,
            evidence: None,
        };
        *laboratory.house.authority.lost_find.lock().unwrap() = Some(fault);
        laboratory.pass(460, 10).await;
        assert_eq!(laboratory.group(), Group::NeedsAttention);
        let sent = laboratory.house.sent();
        laboratory.house.authority.doubt.store(false, Ordering::SeqCst);
        *laboratory.house.authority.lost_find.lock().unwrap() = None;
        laboratory.say(received).await.unwrap();
        assert!(laboratory.is_kept());
        laboratory.pass(60, 40).await;
        let (code, requests) = if received { ("said-received", 0) } else { ("in-progress", 1) };
        assert_eq!(laboratory.state().shown().code(), code);
        assert_eq!(laboratory.house.sent() - sent, requests, "received: {received}");
        let again = laboratory.say(received).await;
        assert!(matches!(again, Err(EngineError::NotPermitted { .. })), "{again:?}");
    }
}

/// What is in progress needs attention after as many days as the settings say, and not before. What
/// a person says of it then counts: it is waited for on, or sent once more.
#[tokio::test]
async fn what_is_said_of_an_old_report_in_progress_counts() {
    for (days, after) in [(None, 3), (Some(1), 1), (Some(9), 9)] {
        for received in [true, false] {
            let laboratory = Laboratory::new(days, |_| {}).await;
            let authority = &laboratory.house.authority;
            *authority.processed.lock().unwrap() = Some(Processing::InProgress);
            laboratory.pass(3_600, usize::try_from(after * 24 - 2).unwrap()).await;
            assert_eq!(laboratory.group(), Group::InProgress, "{days:?}");
            let refused = laboratory.say(received).await;
            assert!(matches!(refused, Err(EngineError::NotPermitted { .. })), "{refused:?}");
            laboratory.pass(3_600, 12).await;
            assert_eq!(laboratory.group(), Group::NeedsAttention, "{days:?}");
            let sent = laboratory.house.sent();
            laboratory.say(received).await.unwrap();
            assert!(laboratory.is_kept());
            assert_eq!(laboratory.group(), Group::InProgress, "{days:?}, {received}");
            laboratory.pass(60, 10).await;
            let requests = usize::from(!received);
            assert_eq!(laboratory.house.sent() - sent, requests, "{days:?}, {received}");
            assert_eq!(laboratory.state().code(), "in-progress");
            // What the authority says of it in the end is told.
            *authority.processed.lock().unwrap() = Some(Processing::Completed);
            laboratory.pass(DAY / 2, 3).await;
            assert_eq!(laboratory.state().code(), "completed", "{days:?}, {received}");
        }
    }
}

/// Both words are offered where the window and the command line look for what may be done.
#[tokio::test]
async fn what_is_offered_is_what_may_be_said() {
    let laboratory = Laboratory::new(Some(1), |_| {}).await;
    *laboratory.house.authority.processed.lock().unwrap() = Some(Processing::InProgress);
    laboratory.pass(3_600, 30).await;
    let detail = laboratory.engine.journal().detail(laboratory.id).unwrap();
    let offered = detail.actions(laboratory.house.clock.now());
    assert_eq!(offered, [Action::SayReceived, Action::SayNotReceived]);
}
