//! Handing over: files are taken in some at a time and sent meanwhile, and what became of each is
//! told in their order, as soon as it is known. So a send of a million files needs no more memory
//! than one of a few thousand.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};

use bridge::headless::{
    Arrivals, Arrived, Arriving, Fate, Goal, Headless, Looked, Outcome, Part, Record,
};
use bridge::{Environment, Problem, StateCode};
use tokio_util::sync::CancellationToken;

use super::Scene;
use super::send::{conclude, decide_hints, end, exit_of_record, note_others};
use crate::arguments::{Verified, Waiting};
use crate::exit::Exit;
use crate::progress::Progress;
use crate::report_lines::{Asked, Counted, looked, word_of};
use crate::stop;

/// Reports that are taken in and not sent yet, at most: several times what one look at the queue
/// takes up.
const AHEAD_MAX: usize = 512;

/// Files on their way, and what is told of them.
pub(super) struct Delivery<'s, 'a> {
    scene: &'s Scene<'a>,
    waiting: &'s Waiting,
    /// Told in this order.
    untold: VecDeque<Arrived>,
    /// Of those: how often each report has reached the goal.
    there: HashMap<i64, usize>,
    attended: Vec<i64>,
    told: Told,
    problem: Option<Problem>,
    /// Why nothing more can be told.
    failure: Option<Problem>,
}

/// What was told so far.
#[derive(Default)]
struct Told {
    files: usize,
    exit: Option<Exit>,
    words: Counted,
    needing: Vec<i64>,
    under_way: usize,
    is_any_unverified: bool,
    /// Reports that were sent: to practice, to a test system, to anything else.
    sent: [usize; 3],
}

impl<'s, 'a> Delivery<'s, 'a> {
    pub(super) fn new(scene: &'s Scene<'a>, waiting: &'s Waiting) -> Self {
        Self {
            scene,
            waiting,
            untold: VecDeque::new(),
            there: HashMap::new(),
            attended: Vec::new(),
            told: Told::default(),
            problem: None,
            failure: None,
        }
    }

    fn goal(&self) -> Goal {
        if self.waiting.wait { Goal::Settled } else { Goal::Sent }
    }

    /// Whether anything is to be sent.
    pub(super) fn has_any(&self) -> bool {
        !self.attended.is_empty()
    }

    /// Why some could not be taken in.
    pub(super) fn problem(&self) -> Option<&Problem> {
        self.problem.as_ref()
    }

    pub(super) fn arrive(&mut self, part: Part) {
        self.attended.extend(part.files.iter().filter_map(attended));
        self.untold.extend(part.files);
        self.problem = self.problem.take().or(part.problem);
    }

    fn is_there(&mut self, id: i64) {
        *self.there.entry(id).or_default() += 1;
    }

    /// Tells what became of the next files, as far as it is known; or of all, whatever it is.
    pub(super) fn tell(&mut self, profile: &Headless, all: bool) {
        while self.failure.is_none() {
            let Some(first) = self.untold.front() else { break };
            if let Some(id) = attended(first) {
                match self.there.get_mut(&id) {
                    Some(1) => drop(self.there.remove(&id)),
                    Some(count) => *count -= 1,
                    None if all => {}
                    None => break,
                }
            }
            let Some(file) = self.untold.pop_front() else { break };
            self.failure = self.tell_one(profile, file).err();
        }
    }

    fn tell_one(&mut self, profile: &Headless, file: Arrived) -> Result<(), Problem> {
        let is_ours = attended(&file).is_some();
        let (file, became) = match file {
            Arrived::New(id) => {
                let (file, latest) = profile.new_and_latest(id)?;
                (file, Some(latest))
            }
            Arrived::Other(file) => {
                let file = profile.now(*file)?;
                let became = became(profile, &file)?;
                (file, became)
            }
        };
        self.told.files += 1;
        looked(self.scene.output, self.scene.texts, self.told.files, &file, Asked::Send);
        self.told.add(&file, became.as_ref(), is_ours);
        Ok(())
    }

    /// Says how it ended, once attending has.
    pub(super) fn conclude(
        mut self,
        profile: &Headless,
        outcome: Result<Outcome, Problem>,
        verified: &Verified,
    ) -> Result<Exit, Problem> {
        self.tell(profile, true);
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let (scene, told) = (self.scene, self.told);
        let mut exit = told.exit.unwrap_or(Exit::Well);
        conclude(scene, told.words.summary(scene.texts));
        decide_hints(scene, profile, &told.needing)?;
        match told.under_way {
            0 => {}
            1 => scene.hint("say.follow-shows", &[]),
            _ => scene.hint("say.follow-shows-many", &[]),
        }
        if verified.require_verified && told.is_any_unverified {
            exit = exit.max(Exit::Unverified);
        }
        say_environment(scene, told.sent);
        let outcome = outcome?;
        let ended = match end(scene, profile, &outcome, &self.attended)? {
            // Time over or stopped: nothing of it needs a person, and what was asked for is not
            // known.
            Exit::Person if verified.require_verified => Exit::Unverified,
            ended => ended,
        };
        note_others(scene, profile, &outcome);
        Ok(exit.max(ended))
    }
}

impl Told {
    fn add(&mut self, file: &Looked, became: Option<&Record>, is_ours: bool) {
        let record = &file.record;
        let exit = exit_of_file(file, became);
        self.exit = self.exit.max(Some(exit));
        self.words.add(word_of(file));
        if exit_of_record(record) != Exit::Well {
            self.needing.extend(record.id);
        }
        self.under_way += usize::from(matches!(file.fate, Fate::Taken(_)) && is_under_way(record));
        self.is_any_unverified |= !became.is_some_and(is_verified);
        if is_ours && record.attempts > 0 {
            self.sent[match record.environment {
                Some(Environment::Practice) => 0,
                Some(Environment::Integration) => 1,
                _ => 2,
            }] += 1;
        }
    }
}

/// Hands over what was taken in, waits as asked, and prints what became of each file.
pub(super) async fn deliver(
    scene: &Scene<'_>,
    profile: &mut Headless,
    files: Vec<Looked>,
    waiting: &Waiting,
    verified: &Verified,
) -> Result<Exit, Problem> {
    let mut delivery = Delivery::new(scene, waiting);
    let files = files.into_iter().map(|file| Arrived::Other(Box::new(file))).collect();
    delivery.arrive(Part { files, problem: None });
    let outcome = if delivery.has_any() {
        let stop = stop::on_signal();
        attend(profile, &mut delivery, None, &stop).await
    } else {
        Ok(Outcome::Reached)
    };
    delivery.conclude(profile, outcome, verified)
}

/// Sends what was taken in, and takes in what is left meanwhile.
pub(super) async fn attend(
    profile: &mut Headless,
    delivery: &mut Delivery<'_, '_>,
    arriving: Option<&mut Arriving>,
    stop: &CancellationToken,
) -> Result<Outcome, Problem> {
    profile.reach().await?;
    let profile = &*profile;
    let (scene, goal, patience) = (delivery.scene, delivery.goal(), delivery.waiting.timeout);
    let arrivals = Arrivals::default();
    delivery.attended.iter().for_each(|id| arrivals.add(*id));
    let left = Cell::new(arriving.as_ref().map_or(0, |arriving| arriving.left()));
    let progress = Progress::new(scene.output, delivery.attended.len() + left.get());
    let delivery = RefCell::new(delivery);
    let intake = async {
        let taken = match arriving {
            Some(arriving) => take_rest(profile, &delivery, arriving, &arrivals, &left, stop).await,
            None => Ok(()),
        };
        arrivals.end();
        taken
    };
    let attending = profile.attend_arriving(&arrivals, goal, patience, stop, |moved| {
        progress.reached(moved.done, moved.of + left.get());
        if moved.is_there {
            let mut delivery = delivery.borrow_mut();
            delivery.is_there(moved.id);
            progress.beside(|| delivery.tell(profile, false));
        }
    });
    let (taken, outcome) = tokio::join!(intake, attending);
    taken.and(outcome)
}

/// Takes in what is left, never far ahead of what is sent; where nothing can be sent, to the end.
async fn take_rest(
    profile: &Headless,
    delivery: &RefCell<&mut Delivery<'_, '_>>,
    arriving: &mut Arriving,
    arrivals: &Arrivals,
    left: &Cell<usize>,
    stop: &CancellationToken,
) -> Result<(), Problem> {
    // What waits for its final status is no work for anybody here.
    let waits = delivery.borrow().waiting.wait;
    loop {
        if !waits {
            arrivals.fewer_than(AHEAD_MAX).await;
        }
        if stop.is_cancelled() {
            return Ok(());
        }
        let Some(part) = profile.take_some(arriving).await? else { return Ok(()) };
        part.files.iter().filter_map(attended).for_each(|id| arrivals.add(id));
        left.set(arriving.left());
        delivery.borrow_mut().arrive(part);
    }
}

/// What is waited for: what was just taken in, and known content that is still on its way.
fn attended(file: &Arrived) -> Option<i64> {
    match file {
        Arrived::New(id) => Some(*id),
        Arrived::Other(file) => match (file.fate, &file.standing) {
            (Fate::Taken(id), _) => Some(id),
            (Fate::Known(id), Some(known)) if known.open => Some(id),
            _ => None,
        },
    }
}

/// Nobody must take practice for the real thing, nor the real thing for a test: it is said only
/// where all that was sent went there, whichever endpoint is in use.
fn say_environment(scene: &Scene<'_>, sent: [usize; 3]) {
    match sent.map(|count| count > 0) {
        [true, false, false] => scene.hint("say.to-practice", &[]),
        [false, true, false] => scene.hint("say.to-integration", &[]),
        _ => {}
    }
}

/// Completed by an authority. The practice authority is none: nothing that it says reaches anybody.
fn is_verified(record: &Record) -> bool {
    let practice = record.environment == Some(Environment::Practice);
    record.state == Some(StateCode::Completed) && !practice
}

/// Handed over, and its end not known yet.
fn is_under_way(record: &Record) -> bool {
    matches!(record.state, Some(StateCode::Unknown | StateCode::InProgress))
}

/// What became of a file's report; of one that was replaced, what became of the last that took its
/// place.
fn became(profile: &Headless, file: &Looked) -> Result<Option<Record>, Problem> {
    let id = file.record.id.filter(|_| matches!(file.fate, Fate::Known(_) | Fate::Taken(_)));
    id.map(|id| profile.latest(id)).transpose()
}

fn exit_of_file(file: &Looked, became: Option<&Record>) -> Exit {
    match (file.fate, became) {
        (Fate::Refused | Fate::WouldBeHeld | Fate::Failed, _) => Exit::Person,
        // Whoever hands over a report wants to know what became of it, also the second time. One
        // that somebody withdrew reaches nobody, whatever the script around this command believes.
        (_, Some(record)) if record.state == Some(StateCode::Withdrawn) => Exit::Person,
        (_, Some(record)) => exit_of_record(record),
        (_, None) => Exit::Well,
    }
}
