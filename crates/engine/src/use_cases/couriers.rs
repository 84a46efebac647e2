//! One courier for each endpoint, side by side: which endpoint is in use only says where new
//! reports go.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use client::HttpAuthority;
use exchange::Endpoint;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::use_cases::Working;
use crate::worker::{Worker, WorkerDeps};
use crate::{Connection, ConnectionState, Engine, EngineError, LeaseKeeper, Obstacle, Timing};

/// Pause between two looks at the settings while nothing is sent; before each report they are
/// looked at anyway.
const SETTINGS_EVERY: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Couriers at work, and the settings that they work by.
struct Couriers {
    generation: u64,
    working: Working,
}

impl Working {
    /// Stops them, and waits until they have ended.
    async fn end(self) {
        self.cancel.cancel();
        for task in self.tasks {
            // A panic in the worker has been printed by its thread; there is nothing to add here.
            let _ = task.await;
        }
    }
}

impl Engine {
    /// What is known about the connection to the endpoint in use; changes can be awaited.
    pub fn connection(&self) -> watch::Receiver<Connection> {
        let in_use = self.profile().settings.in_use.unwrap_or_default();
        self.connection_of(&in_use).subscribe()
    }

    /// What is known about the connection to an endpoint, by its id.
    pub fn connection_to(&self, endpoint: &str) -> Connection {
        self.connection_of(endpoint).borrow().clone()
    }

    fn connection_of(&self, endpoint: &str) -> Arc<watch::Sender<Connection>> {
        let mut all = self.inner.connections.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = || Arc::new(watch::Sender::new(Connection::default()));
        all.entry(endpoint.to_owned()).or_insert_with(fresh).clone()
    }

    /// Something may be owed: look now.
    pub fn wake(&self) {
        let wakes = self.inner.wakes.lock().unwrap_or_else(PoisonError::into_inner);
        wakes.iter().for_each(|wake| wake.notify_one());
    }

    /// Where a fault holds the reports, lets the next try of each courier begin now: one request
    /// shows whether the way is open again. Waits for what it shows of the endpoint with this id,
    /// but not longer than this; whether it is connected then.
    pub async fn try_now(&self, endpoint: &str, patience: Duration) -> bool {
        let mut connection = self.connection_of(endpoint).subscribe();
        connection.mark_unchanged();
        self.inner.wishes.fetch_add(1, Ordering::SeqCst);
        self.wake();
        let is_held = connection.borrow().next_try.is_some();
        if is_held {
            // Not in time: it is shown as soon as it is known.
            let _ = tokio::time::timeout(patience, connection.changed()).await;
        }
        connection.borrow().state == ConnectionState::Connected
    }

    /// Starts working the queue and keeping the journal in the background; does nothing where it
    /// works already.
    pub async fn start(&self) {
        self.start_keeping().await;
        let mut working = self.inner.working.lock().await;
        if working.is_some() {
            return;
        }
        // What cannot be removed now is removed at the next start; a damaged journal shows
        // elsewhere.
        let _ = self.apply_retention().await;
        let cancel = CancellationToken::new();
        let first = self.send_out();
        let tasks = vec![tokio::spawn(self.clone().keep_in_force(first, cancel.clone()))];
        *working = Some(Working { cancel, tasks });
    }

    /// Couriers by the settings of now.
    fn send_out(&self) -> Couriers {
        let _ = self.refresh();
        let (generation, cancel) = (self.settings_generation(), CancellationToken::new());
        let (lease, mut tasks) = (self.lease(), Vec::new());
        for endpoint in self.endpoints() {
            match self.worker(&endpoint, &lease, generation) {
                Ok(worker) => {
                    let wake = Arc::new(Notify::new());
                    let wakes = self.inner.wakes.lock();
                    wakes.unwrap_or_else(PoisonError::into_inner).push(wake.clone());
                    tasks.push(tokio::spawn(worker.run(wake, cancel.clone())));
                }
                Err(obstacle) => self.obstructed(endpoint.id(), obstacle),
            }
        }
        if self.profile().endpoint().is_none() {
            self.obstructed("", Obstacle::new("no-endpoint", &[]));
        }
        Couriers { generation, working: Working { cancel, tasks } }
    }

    /// Sends out others as soon as a program has changed the settings, whichever it was.
    async fn keep_in_force(self, first: Couriers, cancel: CancellationToken) {
        let mut couriers = first;
        loop {
            let ended = tokio::select! {
                () = cancel.cancelled() => true,
                () = tokio::time::sleep(SETTINGS_EVERY) => false,
            };
            if !ended && self.is_in_force(couriers.generation) {
                continue;
            }
            couriers.working.end().await;
            self.inner.wakes.lock().unwrap_or_else(PoisonError::into_inner).clear();
            if ended {
                return;
            }
            self.forget_connections();
            couriers = self.send_out();
        }
    }

    /// What was known of the ways was met with other settings.
    fn forget_connections(&self) {
        for one in self.inner.connections.lock().unwrap_or_else(PoisonError::into_inner).values() {
            one.send_replace(Connection::default());
        }
    }

    /// There can be no exchange with this endpoint until a person has changed something.
    fn obstructed(&self, endpoint: &str, obstacle: Obstacle) {
        self.connection_of(endpoint).send_modify(|connection| {
            connection.state = ConnectionState::Locked(obstacle);
        });
    }

    /// Every endpoint that reports may go to or be followed at: one courier each, side by side.
    /// Which one is in use only says where new reports go.
    fn endpoints(&self) -> Vec<Endpoint> {
        self.profile().settings.endpoints
    }

    /// The worker's times, as the settings have them.
    fn timing(&self) -> Timing {
        let mut timing = self.inner.timing.clone();
        if let Some(days) = self.profile().settings.attention_days {
            timing.in_progress_max = DAY.saturating_mul(u32::from(days));
        }
        timing
    }

    /// Days in progress after which a report needs attention.
    pub fn attention_days(&self) -> u64 {
        self.timing().in_progress_max.as_secs() / DAY.as_secs()
    }

    /// Sets them; `None`: as they are without a setting.
    pub async fn set_attention_days(&self, days: Option<u16>) -> Result<(), EngineError> {
        self.change_settings(|settings| {
            settings.attention_days = days;
            Ok(())
        })?;
        self.restart().await;
        Ok(())
    }

    /// The right to work the queue, for all couriers of this process together.
    fn lease(&self) -> Arc<LeaseKeeper> {
        let (journal, clock) = (self.inner.journal.clone(), self.inner.clock.clone());
        let (life, holder) = (self.inner.timing.lease, self.inner.holder.clone());
        Arc::new(LeaseKeeper::new(journal, clock, life, holder))
    }

    /// Backups and comparisons, also where there is nobody to send to.
    async fn start_keeping(&self) {
        let mut keeping = self.inner.keeping.lock().await;
        if keeping.is_none() {
            let cancel = CancellationToken::new();
            let tasks = vec![tokio::spawn(self.clone().keep_up(cancel.clone()))];
            *keeping = Some(Working { cancel, tasks });
        }
    }

    /// Stops all couriers; requests under way are finished first.
    pub async fn stop(&self) {
        let working = self.inner.working.lock().await.take();
        let keeping = self.inner.keeping.lock().await.take();
        for one in [working, keeping].into_iter().flatten() {
            one.end().await;
        }
    }

    /// Lets the worker see a new certificate or endpoint, or try again now although a fault holds
    /// it.
    pub async fn restart(&self) {
        let was_working = self.inner.working.lock().await.is_some();
        let was_locked = {
            let all = self.inner.connections.lock().unwrap_or_else(PoisonError::into_inner);
            all.values().any(|one| matches!(one.borrow().state, ConnectionState::Locked(_)))
        };
        self.stop().await;
        self.forget_connections();
        if was_working || was_locked {
            self.start().await;
        }
    }

    /// One pass without a background task: recover, do what is owed, learn what changed. Gives the
    /// number of things done; `None` where another process works the queue.
    pub async fn follow_once(&self) -> Result<Option<usize>, EngineError> {
        let _ = self.refresh();
        let (lease, mut workers) = (self.lease(), Vec::new());
        let generation = self.settings_generation();
        let mut hindrance = Obstacle::new("no-endpoint", &[]);
        for endpoint in self.endpoints() {
            match self.worker(&endpoint, &lease, generation) {
                Ok(worker) => workers.push(worker),
                Err(obstacle) => {
                    self.obstructed(endpoint.id(), obstacle.clone());
                    hindrance = obstacle;
                }
            }
        }
        if workers.is_empty() {
            return Err(EngineError::Obstructed(hindrance));
        }
        // What fails here is tried again by the next pass; the worker says what is wrong with the
        // way.
        let _ = self.reconcile().await;
        let passes = futures::future::join_all(workers.iter().map(Worker::once)).await;
        let mut done = Some(0);
        for pass in passes {
            done = pass?.zip(done).map(|(of_one, done)| of_one + done);
        }
        Ok(done)
    }

    fn worker(
        &self,
        endpoint: &Endpoint,
        lease: &Arc<LeaseKeeper>,
        generation: u64,
    ) -> Result<Worker<HttpAuthority>, Obstacle> {
        let authority = self.authority(endpoint)?;
        let worker = Worker::new(WorkerDeps {
            journal: self.inner.journal.clone(),
            authority,
            endpoint: endpoint.clone(),
            clock: self.inner.clock.clone(),
            timing: self.timing(),
            lease: lease.clone(),
            connection: self.connection_of(endpoint.id()),
        });
        let engine = self.clone();
        let worker = worker.while_in_force(move || engine.is_in_force(generation));
        let worker = worker.knowing(self.inner.wrappings.clone());
        let worker = worker.heeding(self.inner.wishes.clone());
        Ok(worker.with_former(self.former_ways(endpoint)))
    }
}

#[cfg(test)]
mod tests {
    use identity::SecretsKind;

    use super::*;
    use crate::{EngineDeps, Profile};

    #[tokio::test]
    async fn couriers_ask_a_person_after_as_many_days_as_the_settings_say() {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join("profile");
        let profile = Profile::create(&place, SecretsKind::Practice, Vec::new()).unwrap();
        let engine = Engine::create(profile, None, EngineDeps::default()).unwrap();
        assert_eq!(engine.timing().in_progress_max, DAY * 3);
        engine.set_attention_days(Some(1)).await.unwrap();
        assert_eq!((engine.timing().in_progress_max, engine.attention_days()), (DAY, 1));
        let kept = Profile::open(&place).unwrap().settings.attention_days;
        assert_eq!(kept, Some(1));
    }
}
