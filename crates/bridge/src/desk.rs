//! The window's side of the product: a practice room, and the laboratory's own room once there is a
//! real certificate or endpoint. One room is in use at a time; both are followed.

mod administration;
mod asking;
mod batch;
mod came_back;
mod certificates;
mod deadlines;
mod decisions;
mod granted;
mod handing;
mod intake;
mod lists;
mod moving;
mod narrowing;
mod notifying;
mod opened;
mod pace;
mod question;
mod reports;
mod restoring;
mod rules;
mod safekeeping;
mod saved_views;
mod screen;
pub(crate) mod setup;
mod standing;
pub(crate) mod statement;
mod statistics;
mod status;
mod support;
mod taking;
mod tested;
#[cfg(test)]
mod tests;
mod trying;
mod updating;
mod vault;
mod watches;
mod work;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use engine::Engine;
use identity::{Inspection, Password, SecretsKind};

use crate::laboratory::{
    self, Laboratory, PLACE, knows_laboratory, make_laboratory, on_pool, open_laboratory,
    remember_laboratory, wants_laboratory,
};
use crate::practice::Practice;
use crate::problem::Problem;
use crate::views::SupportFile;

pub use decisions::Decision;
use granted::Granted;
pub(crate) use handing::HandedList;
pub use notifying::{NOTIFICATIONS, NotificationLine};
pub use opened::Opened;
use question::Allowed;
pub use question::EndpointQuestion;
pub(crate) use question::Wanted;
use screen::Locks;
pub use standing::{Standing, StandingView};
use taking::Taking;
use tested::Tested;
use trying::{TRY_FIRST, Trying};
use watches::Watches;

/// What the window works at. Cheap to clone; all clones are the same desk.
#[derive(Clone)]
pub struct Desk {
    inner: Arc<Inner>,
    /// The one room that this clone works in, whichever is in use by then: of a call that takes in
    /// or names reports.
    stays_in: Option<Room>,
}

/// One room: its engine, and whether that is practice.
#[derive(Clone)]
struct Room {
    engine: Engine,
    is_practice: bool,
    /// Why practice is in use although nobody has chosen it: it stands in for a laboratory that
    /// does not open.
    stands_in: Option<Problem>,
}

struct Inner {
    root: PathBuf,
    /// Where the secrets of a new laboratory rest: the keychain, but for tests.
    secrets: SecretsKind,
    practice: tokio::sync::Mutex<Practice>,
    practice_engine: Engine,
    laboratory: RwLock<Laboratory>,
    /// Held while the laboratory is opened or made, so that there is one engine of it.
    opening: tokio::sync::Mutex<()>,
    place: RwLock<Place>,
    /// The certificate of the room in use: a keychain is too slow to be asked for every look.
    certificate: RwLock<Option<Inspection>>,
    /// The settings by which they were read.
    certificates_of: AtomicU64,
    /// The laboratory's certificate, likewise; waits while practice is in use.
    laboratory_certificate: RwLock<Option<(Inspection, SecretsKind)>>,
    /// Held while a watch begins or ends, so that none is left that nothing stops.
    watches: tokio::sync::Mutex<Watches>,
    /// What the authority has more to show of, and how often it was asked.
    further: std::sync::Mutex<Option<asking::Further>>,
    questions: AtomicU32,
    /// The state of the connection that was looked at last, and how many there were before it.
    connections: std::sync::Mutex<(engine::ConnectionState, u64)>,
    /// What was shown last of a folder that is to be watched.
    lying: std::sync::Mutex<Option<Arc<engine::Lying>>>,
    working: AtomicBool,
    /// The connection test that passed last.
    tested: std::sync::Mutex<Option<Tested>>,
    /// What was wrong with reports that were corrected.
    causes: came_back::Causes,
    /// What was handed over and is not in a journal yet.
    taking: Taking,
    /// Pages that the window has shown: what an earlier one has asked for is answered to nobody.
    pages: AtomicU32,
    /// A laboratory that does not open, tried again.
    trying: tokio::sync::Mutex<Option<Trying>>,
    locks: Locks,
    /// The paths that the page may name.
    granted: Granted,
    /// What a person has said yes to.
    allowed: Allowed,
    /// What starts of the program have handed over, and nobody has looked at.
    opened: opened::Waiting,
    /// What notifications need not tell any more.
    told: std::sync::Mutex<notifying::Told>,
    /// What is known of a newer version of the program.
    updating: updating::Updating,
    /// The support bundle that was shown last: what is saved is what was seen.
    support: std::sync::Mutex<Vec<SupportFile>>,
}

/// Which room is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    is_practice: bool,
    /// A person has chosen it: practice does not stand in for a laboratory that is closed.
    is_chosen: bool,
    /// Moves of the person between rooms: part of the revision that the window sees.
    moves: u32,
}

/// How often the journal is looked at for changes: another process may make them.
const LOOK_EVERY: Duration = Duration::from_millis(250);

impl Desk {
    /// Opens the desk of a folder: `practice` below it is made where missing; `laboratory` is
    /// opened where it is there. A laboratory that does not open leaves the practice room in use,
    /// and the status says why.
    pub async fn open(root: &Path) -> Result<Self, Problem> {
        Self::open_with(root, SecretsKind::Keychain).await
    }

    /// As [`Desk::open`], with another place for the secrets of a new laboratory.
    async fn open_with(root: &Path, secrets: SecretsKind) -> Result<Self, Problem> {
        let practice = Practice::prepare(&root.join("practice")).await?;
        let practice_engine = practice.engine().clone();
        let folder = root.join("laboratory");
        let laboratory = open_laboratory(folder.clone(), None).await;
        let is_wanted = wants_laboratory(&practice_engine.profile());
        let laboratory =
            laboratory.unless_missed(knows_laboratory(&practice_engine.profile()), &folder);
        if matches!(laboratory, Laboratory::Open(_)) {
            remember_laboratory(&practice_engine);
        }
        let is_practice = !matches!(laboratory, Laboratory::Open(_)) || !is_wanted;
        let told = std::sync::Mutex::new(Self::told_before(&practice_engine));
        let locks = Locks::of(&practice_engine)?;
        let desk = Self {
            inner: Arc::new(Inner {
                root: root.to_owned(),
                secrets,
                practice: tokio::sync::Mutex::new(practice),
                practice_engine,
                laboratory: RwLock::new(laboratory),
                opening: tokio::sync::Mutex::new(()),
                place: RwLock::new(Place { is_practice, is_chosen: false, moves: 0 }),
                certificate: RwLock::new(None),
                certificates_of: AtomicU64::new(0),
                laboratory_certificate: RwLock::new(None),
                watches: tokio::sync::Mutex::default(),
                further: std::sync::Mutex::default(),
                questions: AtomicU32::default(),
                connections: std::sync::Mutex::default(),
                lying: std::sync::Mutex::default(),
                working: AtomicBool::new(false),
                tested: std::sync::Mutex::default(),
                causes: came_back::Causes::default(),
                taking: Taking::default(),
                pages: AtomicU32::new(0),
                trying: tokio::sync::Mutex::default(),
                locks,
                granted: Granted::default(),
                allowed: Allowed::default(),
                opened: opened::Waiting::default(),
                told,
                updating: updating::Updating::default(),
                support: std::sync::Mutex::default(),
            }),
            stays_in: None,
        };
        // A keychain that is locked now is not the end: the status shows it.
        let _ = desk.read_certificate().await;
        Ok(desk)
    }

    /// Where the window keeps its two rooms: `LABCOURIER_HOME`, else the system's place for such
    /// data.
    pub fn default_folder() -> PathBuf {
        laboratory::rooms_folder()
    }

    /// Starts the practice authority and works both queues in the background.
    pub async fn start(&self) -> Result<(), Problem> {
        self.inner.working.store(true, Ordering::SeqCst);
        let started = self.inner.practice.lock().await.start().await;
        let started = started.and(self.practise_in_own_language().await);
        self.inner.practice_engine.start().await;
        self.watch_practice().await;
        if let Some(engine) = self.opened_laboratory() {
            self.work(&engine).await;
        }
        self.keep_trying(TRY_FIRST).await;
        self.keep_looking_for_updates().await;
        started
    }

    /// Stops everything in order, once what was handed over is taken in: the watch, the workers,
    /// the practice authority.
    pub async fn stop(&self) {
        // Nobody is there any more who could be told what became of a list.
        self.page_begins();
        self.finish_taking().await;
        self.inner.working.store(false, Ordering::SeqCst);
        self.stop_trying().await;
        self.stop_looking_for_updates().await;
        self.stop_watches().await;
        if let Some(engine) = self.opened_laboratory() {
            engine.stop().await;
        }
        self.inner.practice_engine.stop().await;
        self.inner.practice.lock().await.stop().await;
    }

    /// The engine of the room in use.
    pub fn engine(&self) -> Engine {
        self.room().0
    }

    /// The engine of the room in use, and whether that is practice.
    fn room(&self) -> (Engine, bool) {
        let room = self.room_here();
        (room.engine, room.is_practice)
    }

    fn room_here(&self) -> Room {
        self.stays_in.clone().unwrap_or_else(|| {
            loop {
                if let Some(room) = self.room_of(self.place()) {
                    return room;
                }
            }
        })
    }

    /// The room of a place; `None` where another one is in use by now. A laboratory is left before
    /// it is closed, so that practice is never taken for it.
    fn room_of(&self, place: Place) -> Option<Room> {
        let stands_in = self.stands_in(place);
        let laboratory = (!place.is_practice).then(|| self.opened_laboratory()).flatten();
        let is_practice = laboratory.is_none();
        let engine = laboratory.unwrap_or_else(|| self.inner.practice_engine.clone());
        (self.place() == place).then_some(Room { engine, is_practice, stands_in })
    }

    /// This desk, in the room that is in use now and in no other: a person may change rooms while
    /// files are read.
    fn here(&self) -> Self {
        Self { inner: self.inner.clone(), stays_in: Some(self.room_here()) }
    }

    /// This desk, in the room that the page believes to be in: its numbers are those of the reports
    /// there.
    ///
    /// # Errors
    /// `room-changed` where another one is in use by now; `argument-invalid` where the page does
    /// not say.
    pub(crate) fn in_room(&self, room: Option<u32>) -> Result<Self, Problem> {
        let room = room.ok_or_else(|| crate::limits::invalid("room"))?;
        let place = self.place();
        match self.room_of(place).filter(|_| room == place.moves) {
            Some(room) => Ok(Self { inner: self.inner.clone(), stays_in: Some(room) }),
            None => Err(Problem::new("room-changed", &[], "room")),
        }
    }

    /// Revision of what the window shows: moves with the journal and the connection in use, and
    /// with a change of rooms.
    pub fn revision(&self) -> Result<u64, Problem> {
        // The status tells of the laboratory while practice is in use.
        let unseen =
            self.laboratory_unseen().map(|engine| engine.journal().revision()).transpose()?;
        let journal = self.engine().journal().revision()?.saturating_add(unseen.unwrap_or(0));
        let journal = journal.saturating_add(self.connection_changes());
        let moves = u64::from(self.place().moves).saturating_add(self.settings_generation());
        // 2^40 changes of one journal are never reached, and the sum stays a whole number in
        // JavaScript.
        Ok((moves << 40).saturating_add(journal))
    }

    /// Grows with every change of the settings of either room, whichever program has made it.
    fn settings_generation(&self) -> u64 {
        let rooms = [Some(self.inner.practice_engine.clone()), self.opened_laboratory()];
        rooms.into_iter().flatten().map(|engine| engine.settings_generation()).sum()
    }

    /// Waits until the revision is another one than `seen`.
    pub async fn changed(&self, seen: u64) -> u64 {
        loop {
            // A journal that cannot be read now is looked at again: the status shows what is wrong.
            if let Ok(revision) = self.revision()
                && revision != seen
            {
                return revision;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    fn place(&self) -> Place {
        *self.inner.place.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn laboratory(&self) -> std::sync::RwLockReadGuard<'_, Laboratory> {
        self.inner.laboratory.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn opened_laboratory(&self) -> Option<Engine> {
        match &*self.laboratory() {
            Laboratory::Open(engine) => Some(engine.clone()),
            Laboratory::Absent | Laboratory::Closed(_) => None,
        }
    }

    /// The laboratory's engine while practice is in use.
    fn laboratory_unseen(&self) -> Option<Engine> {
        self.room().1.then(|| self.opened_laboratory()).flatten()
    }

    fn set_laboratory(&self, laboratory: Laboratory) {
        if matches!(laboratory, Laboratory::Open(_)) {
            remember_laboratory(&self.inner.practice_engine);
        }
        *self.inner.laboratory.write().unwrap_or_else(PoisonError::into_inner) = laboratory;
    }

    /// The laboratory's engine, if it has been set up; a closed one is tried again.
    async fn laboratory_engine(&self) -> Result<Option<Engine>, Problem> {
        let _one_at_a_time = self.inner.opening.lock().await;
        self.opened_or_tried().await
    }

    async fn opened_or_tried(&self) -> Result<Option<Engine>, Problem> {
        match &*self.laboratory() {
            Laboratory::Open(engine) => return Ok(Some(engine.clone())),
            Laboratory::Absent => return Ok(None),
            Laboratory::Closed(_) => {}
        }
        self.open_again(None).await
    }

    /// Opens the laboratory that is closed; whoever worked in it goes on there.
    async fn open_again(&self, passphrase: Option<Password>) -> Result<Option<Engine>, Problem> {
        let folder = self.laboratory_folder();
        let opened = open_laboratory(folder.clone(), passphrase).await;
        let is_known = knows_laboratory(&self.inner.practice_engine.profile());
        let opened = opened.unless_missed(is_known, &folder);
        let answer = match &opened {
            Laboratory::Open(engine) => Ok(Some(engine.clone())),
            Laboratory::Absent => Ok(None),
            Laboratory::Closed(problem) => Err(problem.clone()),
        };
        self.set_laboratory(opened);
        if let Ok(Some(engine)) = &answer {
            self.go_on_there();
            self.work(engine).await;
        }
        answer
    }

    /// The laboratory's engine; its room is made, with its secrets in the keychain, where there is
    /// none.
    async fn laboratory_or_new(&self) -> Result<Engine, Problem> {
        let _one_at_a_time = self.inner.opening.lock().await;
        if let Some(engine) = self.opened_or_tried().await? {
            return Ok(engine);
        }
        let (folder, secrets) = (self.laboratory_folder(), self.inner.secrets);
        let engine = on_pool(move || make_laboratory(&folder, secrets, None)).await??;
        self.set_laboratory(Laboratory::Open(engine.clone()));
        self.work(&engine).await;
        Ok(engine)
    }

    /// Lets the laboratory work, whichever room is in use: its queue is worked, and its folder is
    /// watched anew.
    async fn work(&self, laboratory: &Engine) {
        if self.inner.working.load(Ordering::SeqCst) {
            laboratory.start().await;
            self.watch_laboratory(laboratory).await;
        }
    }

    fn laboratory_folder(&self) -> PathBuf {
        self.inner.root.join("laboratory")
    }

    fn wants_laboratory(&self) -> bool {
        wants_laboratory(&self.inner.practice_engine.profile())
    }
}
