//! The thread that owns the writing connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use rusqlite::Connection;

use crate::store::simulation::{Inline, Memory};
use crate::store::words;
use crate::store::{schema, sql};
use crate::{JournalError, Pending, RecordError};

/// Steps in one commit at most. An fsync costs about 5 ms: 64 of them at once make 2,000 a second
/// out of 190, and the first of a group waits no longer than a commit of its own would take.
const GROUP_MAX: usize = 64;

/// Whether other views must look again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Submissions change: the revision grows.
    Seen,
    /// Only the journal's own affairs.
    Unseen,
}

/// Tells the caller: the failure of the whole group, or the step's own outcome.
pub(crate) type Reply = Box<dyn FnOnce(Option<&JournalError>) + Send>;

/// What a step came to before its commit.
struct Outcome {
    verdict: Verdict,
    reply: Reply,
}

enum Verdict {
    Keep,
    /// Undo what the step wrote; the cause, where it is the journal's.
    Undo(Option<JournalError>),
}

/// Errors of steps, seen from the writing thread.
pub(crate) trait Failure: From<JournalError> + Send + 'static {
    /// The journal's own failure behind it, if it is one.
    fn of_journal(&self) -> Option<&JournalError>;
}

impl Failure for JournalError {
    fn of_journal(&self) -> Option<&JournalError> {
        Some(self)
    }
}

impl Failure for RecordError {
    fn of_journal(&self) -> Option<&JournalError> {
        match self {
            Self::Journal(error) => Some(error),
            _ => None,
        }
    }
}

/// Does the step, or hears why it is not begun.
type Run = Box<dyn FnOnce(Result<&Connection, JournalError>) -> Outcome + Send>;

pub(crate) struct Job {
    effect: Effect,
    run: Run,
}

enum Order {
    Do(Job),
    Stop,
}

/// Statements around a group.
pub(crate) struct Bounds {
    pub(crate) begin: &'static str,
    pub(crate) commit: &'static str,
    pub(crate) undo: &'static str,
}

pub(crate) const TRANSACTION: Bounds =
    Bounds { begin: "BEGIN IMMEDIATE", commit: "COMMIT", undo: "ROLLBACK" };

/// The way to the writing thread, or, in simulations, to a database that has none.
pub(crate) struct Writer {
    way: Way,
    commits: Arc<AtomicU64>,
}

enum Way {
    Thread { orders: Sender<Order>, thread: Option<JoinHandle<()>> },
    Inline(Inline),
}

impl Writer {
    /// `after` sees every commit before the replies.
    pub(crate) fn start(
        connection: Connection,
        after: impl FnMut(&Connection) + Send + 'static,
    ) -> std::io::Result<Self> {
        let (orders, queue) = channel();
        let commits = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&commits);
        let thread = std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || run(&connection, &queue, &count, after))?;
        Ok(Self { way: Way::Thread { orders, thread: Some(thread) }, commits })
    }

    pub(crate) fn inline(inline: Inline) -> Self {
        Self { way: Way::Inline(inline), commits: Arc::default() }
    }

    /// The database of a simulation.
    pub(crate) fn memory(&self) -> Option<&Memory> {
        match &self.way {
            Way::Inline(inline) => Some(&inline.memory),
            Way::Thread { .. } => None,
        }
    }

    /// Has `step` done in a transaction. An error undoes what the step wrote, and nothing else.
    /// `awaited` only matters to a simulation: others may be done before the caller hears of it.
    pub(crate) fn submit<T, E, F>(&self, effect: Effect, awaited: bool, step: F) -> Pending<T, E>
    where
        T: Send + 'static,
        E: Failure,
        F: FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    {
        let (sender, pending) = Pending::new();
        let run = Box::new(move |connection: Result<&Connection, JournalError>| {
            let outcome = connection.map_err(E::from).and_then(step);
            Outcome {
                verdict: match &outcome {
                    Ok(_) => Verdict::Keep,
                    Err(error) => Verdict::Undo(error.of_journal().cloned()),
                },
                reply: Box::new(move |failure| {
                    let outcome = match failure {
                        Some(failure) if outcome.is_ok() => Err(failure.clone().into()),
                        _ => outcome,
                    };
                    // Nobody may be waiting any more; the step is done all the same.
                    let _ = sender.send(outcome);
                }),
            }
        });
        match &self.way {
            Way::Thread { orders, .. } => {
                // A stopped thread drops the job and with it the sender: the reply is `Closed`.
                let _ = orders.send(Order::Do(Job { effect, run }));
            }
            Way::Inline(inline) => inline.submit(Job { effect, run }, awaited),
        }
        pending
    }

    pub(crate) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    pub(crate) fn stop(&self) {
        if let Way::Thread { orders, .. } = &self.way {
            let _ = orders.send(Order::Stop);
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.stop();
        if let Way::Thread { thread, .. } = &mut self.way
            && let Some(thread) = thread.take()
        {
            let _ = thread.join();
        }
    }
}

fn run(
    connection: &Connection,
    queue: &Receiver<Order>,
    commits: &AtomicU64,
    mut after: impl FnMut(&Connection),
) {
    loop {
        let mut group = Vec::new();
        let mut stopping = false;
        match queue.recv() {
            Ok(Order::Do(job)) => group.push(job),
            Ok(Order::Stop) | Err(_) => return,
        }
        while group.len() < GROUP_MAX && !stopping {
            match queue.try_recv() {
                Ok(Order::Do(job)) => group.push(job),
                Ok(Order::Stop) => stopping = true,
                Err(_) => break,
            }
        }
        commit(connection, group, commits, &mut after);
        if stopping {
            return;
        }
    }
}

/// One transaction for the whole group; replies follow the commit.
fn commit(
    connection: &Connection,
    group: Vec<Job>,
    commits: &AtomicU64,
    after: &mut impl FnMut(&Connection),
) {
    let mut replies = Vec::with_capacity(group.len());
    let outcome = transact(connection, group, &mut replies, &TRANSACTION);
    match &outcome {
        Ok(()) => {
            commits.fetch_add(1, Ordering::Relaxed);
            after(connection);
        }
        // After a failed commit the transaction may still be open.
        Err(_) if !connection.is_autocommit() => {
            let _ = connection.execute_batch(TRANSACTION.undo);
        }
        Err(_) => {}
    }
    for reply in replies {
        reply(outcome.as_ref().err());
    }
}

pub(crate) fn transact(
    connection: &Connection,
    group: Vec<Job>,
    replies: &mut Vec<Reply>,
    bounds: &Bounds,
) -> Result<(), JournalError> {
    let begun = exec(connection, bounds.begin).and_then(|()| schema::unchanged(connection));
    let mut failure = begun.err();
    let mut seen = false;
    for job in group {
        match &failure {
            Some(failure) => replies.push((job.run)(Err(failure.clone())).reply),
            None => failure = step(connection, job, &mut seen, replies).err(),
        }
    }
    if let Some(failure) = failure {
        return Err(failure);
    }
    if seen {
        exec(connection, sql::REVISION_GROWS)?;
    }
    words::write_gathered(connection)?;
    exec(connection, bounds.commit)
}

/// One step inside the group's transaction, undone by itself when it fails.
fn step(
    connection: &Connection,
    job: Job,
    seen: &mut bool,
    replies: &mut Vec<Reply>,
) -> Result<(), JournalError> {
    let opened = exec(connection, "SAVEPOINT step");
    let outcome = (job.run)(opened.as_ref().map(|()| connection).map_err(Clone::clone));
    replies.push(outcome.reply);
    opened?;
    match outcome.verdict {
        // A full disk or a damaged page can make SQLite undo the whole transaction by itself.
        Verdict::Undo(cause) if connection.is_autocommit() => {
            Err(cause.unwrap_or(JournalError::Damaged))
        }
        Verdict::Undo(_) => {
            exec(connection, "ROLLBACK TO step")?;
            exec(connection, "RELEASE step")
        }
        Verdict::Keep => {
            *seen |= job.effect == Effect::Seen;
            exec(connection, "RELEASE step")
        }
    }
}

fn exec(connection: &Connection, statement: &str) -> Result<(), JournalError> {
    connection
        .prepare_cached(statement)
        .and_then(|mut s| s.execute([]))
        .map(drop)
        .map_err(JournalError::sql("commit"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A full disk in the middle of a group: every step either has its commit or hears of the full
    /// disk.
    #[test]
    fn a_full_disk_undoes_what_it_says_and_nothing_else() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("small.db");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA max_page_count = 40;
                 CREATE TABLE fact (name TEXT PRIMARY KEY, value ANY NOT NULL) WITHOUT ROWID;
                 INSERT INTO fact VALUES ('revision', 0);
                 CREATE TABLE thing (id INTEGER PRIMARY KEY, content BLOB NOT NULL);",
            )
            .unwrap();
        let writer = Writer::start(connection, |_| {}).unwrap();
        let pending: Vec<_> = (0..200_i64)
            .map(|id| {
                let step = move |connection: &Connection| {
                    connection
                        .execute("INSERT INTO thing VALUES (?1, zeroblob(2000))", [id])
                        .map_err(JournalError::sql("test"))
                };
                writer.submit::<_, JournalError, _>(Effect::Seen, true, step)
            })
            .collect();
        let outcomes: Vec<_> = pending.into_iter().map(Pending::wait).collect();
        drop(writer);
        let kept: Vec<bool> = {
            let connection = Connection::open(&path).unwrap();
            let mut query = connection.prepare("SELECT 1 FROM thing WHERE id = ?1").unwrap();
            (0..200_i64).map(|id| query.exists([id]).unwrap()).collect()
        };
        for (outcome, kept) in outcomes.iter().zip(&kept) {
            match outcome {
                Ok(_) => assert!(kept),
                Err(JournalError::Full) => assert!(!kept),
                Err(other) => panic!("{other:?}"),
            }
        }
        assert!(kept.contains(&false));
    }

    /// A commit that is refused leaves its transaction open: it is undone, and the next group
    /// begins as ever.
    #[test]
    fn a_refused_commit_stops_nothing_that_follows() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "PRAGMA foreign_keys = ON;
                 CREATE TABLE fact (name TEXT PRIMARY KEY, value ANY NOT NULL) WITHOUT ROWID;
                 INSERT INTO fact VALUES ('revision', 0);
                 CREATE TABLE whole (id INTEGER PRIMARY KEY);
                 CREATE TABLE part (of INTEGER REFERENCES whole DEFERRABLE INITIALLY DEFERRED);",
            )
            .unwrap();
        let writer = Writer::start(connection, |_| {}).unwrap();
        let run = |statement: &'static str| {
            let step = move |connection: &Connection| {
                connection.execute(statement, []).map_err(JournalError::sql("test"))
            };
            writer.submit::<_, JournalError, _>(Effect::Seen, true, step).wait()
        };
        assert!(run("INSERT INTO part VALUES (1)").is_err(), "there is no whole");
        assert_eq!(run("INSERT INTO whole VALUES (2)").unwrap(), 1);
        assert_eq!(run("DELETE FROM part").unwrap(), 0, "undone");
    }

    /// A step that writes a submission and its words, and fails after that where it is told to.
    fn taken_in(id: i64, fails: bool) -> impl FnOnce(&Connection) -> Result<(), JournalError> {
        move |connection| {
            let words = words::Words::of_text(&format!("anna{id}"));
            words::index(connection, report::SubmissionId(id), &words, &[])?;
            let insert = "INSERT INTO setting (name, value) VALUES (?1, '1')";
            connection.execute(insert, [id.to_string()]).map_err(JournalError::sql("test"))?;
            if fails { Err(JournalError::StaleLease) } else { Ok(()) }
        }
    }

    /// One step of a group fails after it has written: it alone leaves nothing, neither rows nor
    /// words. Those of the others are one segment of the index, in the same commit.
    #[test]
    fn a_step_that_fails_within_a_group_takes_its_words_along() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("group.db");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA journal_mode = WAL").unwrap();
        schema::migrate(&connection).unwrap();
        words::gather(&connection).unwrap();
        let writer = Writer::start(connection, |_| {}).unwrap();
        let (begun, is_begun) = channel::<()>();
        let (go, wait) = channel::<()>();
        let held = writer.submit::<_, JournalError, _>(Effect::Unseen, true, move |_| {
            let told = begun.send(());
            told.ok().and_then(|()| wait.recv().ok()).ok_or(JournalError::Closed)
        });
        is_begun.recv().unwrap();
        let pending: Vec<_> =
            (1..=9).map(|id| writer.submit(Effect::Seen, true, taken_in(id, id == 5))).collect();
        go.send(()).unwrap();
        held.wait().unwrap();
        let kept: Vec<bool> = pending.into_iter().map(|step| step.wait().is_ok()).collect();
        assert_eq!(kept, (1..=9).map(|id| id != 5).collect::<Vec<_>>());
        assert_eq!(writer.commits(), 2, "what was waiting is one group");
        drop(writer);
        let connection = Connection::open(&path).unwrap();
        let number =
            |query: &str| connection.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
        for id in 1..=9 {
            let found =
                number(&format!("SELECT count(*) FROM search WHERE search MATCH 'anna{id}'"));
            assert_eq!(found, i64::from(id != 5), "{id}");
        }
        assert_eq!(number("SELECT count(*) FROM setting"), 8);
        assert_eq!(number("SELECT count(DISTINCT segid) FROM search_idx"), 1);
        connection.execute_batch("INSERT INTO search (search) VALUES ('integrity-check')").unwrap();
    }
}
