//! Processes killed at random moments under load: nothing accepted is lost, nothing is processed
//! twice.
//!
//! On SQLite one process is killed and started again; on PostgreSQL two nodes and a worker run, one
//! of them is killed, and clients go on with the others. `LABCOURIER_KILLS` says how often;
//! `cargo xtask kills` says it.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{Folder, client, document, tls, urn, wrapped};
use crate::setting::on_postgres;
use testkit::Figures;
use tokio_util::sync::CancellationToken;

on_every_store_in_threads![killed_at_any_moment_it_loses_nothing_and_processes_nothing_twice];

/// What the whole run of tests does; many times as many on demand.
const KILLS: u64 = 6;
const SENDERS: usize = 4;

/// One process, and the address it answers at, if it answers.
struct Running {
    role: &'static str,
    child: Child,
    base: Option<String>,
}

impl Running {
    fn start(data: &Path, role: &'static str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_labcourier-authority"))
            .args(["serve", "--processing-delay", "5ms", "--rules", "practice", "--role", role])
            .arg("--data")
            .arg(data)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let base = line.trim_end().strip_prefix("listening on ").map(str::to_owned);
        assert_eq!(base.is_none(), role == "worker", "{line}");
        Self { role, child, base }
    }

    /// SIGKILL: it can finish nothing.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the senders share.
#[derive(Default)]
struct Board {
    /// Where somebody answers.
    bases: Mutex<Vec<String>>,
    /// Receipts that were answered with 201.
    accepted: Mutex<Vec<String>>,
    /// Longest time between two of them, and when the last was.
    gap: Mutex<(Duration, Option<Instant>)>,
    /// Requests that ended without an answer.
    unanswered: Mutex<u64>,
}

impl Board {
    fn accept(&self, receipt: String) {
        let now = Instant::now();
        let mut gap = self.gap.lock().unwrap();
        if let Some(last) = gap.1.replace(now) {
            gap.0 = gap.0.max(now - last);
        }
        self.accepted.lock().unwrap().push(receipt);
    }

    fn count(&self) -> usize {
        self.accepted.lock().unwrap().len()
    }
}

async fn send(data: std::path::PathBuf, board: Arc<Board>, number: usize, over: CancellationToken) {
    let client = client(tls(&data, Some("alpha")));
    let mut turn = number;
    while !over.is_cancelled() {
        let base = {
            let bases = board.bases.lock().unwrap();
            (!bases.is_empty()).then(|| bases[turn % bases.len()].clone())
        };
        let Some(base) = base else {
            tokio::task::yield_now().await;
            continue;
        };
        let (body, format) = wrapped(&document(&urn(), "A", "1"), &urn());
        let url = format!("{base}/DocumentReference");
        let request = client.post(url).header("content-type", format.media_type()).body(body);
        // The head is enough, it says 201 and where: the kill may come before the body.
        match request.send().await {
            Ok(answer) if answer.status() == 201 => {
                let location = answer.headers()["location"].to_str().unwrap();
                board.accept(location.rsplit('/').next().unwrap().to_owned());
            }
            Ok(answer) => assert!(answer.status().is_server_error(), "{}", answer.status()),
            Err(_) => {
                *board.unanswered.lock().unwrap() += 1;
                // Another node is tried next.
                turn += 1;
            }
        }
    }
}

async fn killed_at_any_moment_it_loses_nothing_and_processes_nothing_twice() {
    let kills = std::env::var("LABCOURIER_KILLS").map_or(KILLS, |count| count.parse().unwrap());
    let store = if on_postgres() { "PostgreSQL" } else { "SQLite" };
    let name = if on_postgres() { "authority-kills-postgres" } else { "authority-kills-sqlite" };
    let mut figures = Figures::start("kill", name);
    let folder = Folder::new();
    authority::init(folder.path(), &["alpha".to_owned()]).unwrap();
    let roles: &[&'static str] =
        if on_postgres() { &["both", "node", "worker"] } else { &["both"] };
    let mut fleet: Vec<_> = roles.iter().map(|role| Running::start(folder.path(), role)).collect();
    let board = Arc::new(Board::default());
    let publish = |fleet: &[Running]| {
        *board.bases.lock().unwrap() = fleet.iter().filter_map(|one| one.base.clone()).collect();
    };
    publish(&fleet);
    let over = CancellationToken::new();
    let senders: Vec<_> = (0..SENDERS)
        .map(|number| {
            let data = folder.path().to_owned();
            tokio::spawn(send(data, Arc::clone(&board), number, over.clone()))
        })
        .collect();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64 ^ u64::from(std::process::id());
    println!("seed {seed:#x}");
    let mut roll = |sides: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % sides
    };
    for _ in 0..kills {
        // Some documents after the last start, and some way into the next one.
        let goal = board.count() + 1 + usize::try_from(roll(12)).unwrap();
        let end = Instant::now() + Duration::from_secs(60);
        while board.count() < goal {
            assert!(Instant::now() < end, "clients do not go on");
            tokio::task::yield_now().await;
        }
        for _ in 0..roll(4000) {
            tokio::task::yield_now().await;
        }
        let victim = usize::try_from(roll(fleet.len() as u64)).unwrap();
        fleet[victim].kill();
        let role = fleet[victim].role;
        fleet[victim] = Running::start(folder.path(), role);
        publish(&fleet);
    }
    over.cancel();
    for sender in senders {
        sender.await.unwrap();
    }
    let end = Instant::now() + Duration::from_secs(120);
    while folder.count("SELECT count(*) FROM queue") > 0 {
        assert!(Instant::now() < end, "the queue is not worked");
        tokio::task::yield_now().await;
    }
    drop(fleet);
    let accepted = std::mem::take(&mut *board.accepted.lock().unwrap());
    let lost = missing(&folder, &accepted);
    let stored = folder.count("SELECT count(*) FROM document");
    let twice = folder.count("SELECT count(*) FROM version WHERE number > 2");
    let once = folder.count("SELECT count(*) FROM version WHERE number = 2");
    let recorded =
        folder.count("SELECT count(*) FROM audit WHERE interaction = 'create' AND status = 201");
    let unanswered = *board.unanswered.lock().unwrap();
    let gap = board.gap.lock().unwrap().0;
    println!(
        "{store}: {kills} kills, {} accepted, {stored} stored, {unanswered} requests without an \
         answer, {lost} lost, {twice} processed twice, longest time without an accepted one \
         {gap:?}",
        accepted.len()
    );
    figures.cases(kills);
    figures.losses(lost);
    figures.duplicates(u64::try_from(twice).unwrap());
    figures.finish();
    assert_eq!((lost, twice, once), (0, 0, stored));
    assert_eq!(recorded, stored, "the audit log has each create");
    assert!(
        stored <= i64::try_from(accepted.len() as u64 + unanswered).unwrap(),
        "none from nowhere"
    );
    counts_agree(&folder);
}

/// Accepted documents that are not stored and completed.
fn missing(folder: &Folder, accepted: &[String]) -> u64 {
    let found: i64 = accepted
        .chunks(500)
        .map(|some| {
            let quoted: Vec<_> = some.iter().map(|one| format!("'{one}'")).collect();
            folder.count(&format!(
                "SELECT count(*) FROM document d JOIN version v ON v.document = d.id
                 WHERE v.status = 'completed' AND d.receipt IN ({})",
                quoted.join(", ")
            ))
        })
        .sum();
    accepted.len() as u64 - u64::try_from(found).unwrap()
}

/// What is counted without counting is what is there.
fn counts_agree(folder: &Folder) {
    let last = |column: &str| {
        folder.count(&format!("SELECT {column} FROM version ORDER BY since DESC LIMIT 1"))
    };
    let completed = folder.count("SELECT count(*) FROM version WHERE status = 'completed'");
    assert_eq!((last("in_progress"), last("completed"), last("failed")), (0, completed, 0));
    let highest = folder.count("SELECT max(ordinal) FROM document");
    assert_eq!(highest, folder.count("SELECT count(*) FROM document"));
}
