//! Work that takes memory and a core, some at a time: whoever comes when all turns are taken waits.
//!
//! The next turn is of the laboratory that has fewest, so that one with many requests keeps none
//! with few waiting behind all of them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::store::READERS;

/// Connections that read and that searches leave alone.
const LEFT: usize = 4;

/// All turns of one kind of work.
#[derive(Debug)]
pub(crate) struct Turns {
    /// At once.
    most: usize,
    /// Of one laboratory: whatever it asks for, a turn is left for another.
    each: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    of: HashMap<i64, usize>,
    waiting: VecDeque<(i64, oneshot::Sender<Turn>)>,
}

/// Taken until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    of: Arc<Turns>,
    laboratory: i64,
}

impl Turns {
    /// For work that keeps a core busy: as many as there are, and one that is left for another
    /// laboratory.
    pub(crate) fn for_each_core() -> Arc<Self> {
        Self::new(cores() + 1, cores())
    }

    /// For work that waits for the database too. A search takes some ten megabytes at most, and a
    /// connection that reads: some are left for whoever is asked for before its turn, and for reads
    /// by id.
    pub(crate) fn for_searches() -> Arc<Self> {
        let most = (8 * cores()).min(READERS - LEFT);
        Self::new(most, most / 2)
    }

    fn new(most: usize, each: usize) -> Arc<Self> {
        Arc::new(Self { most, each, taken: Mutex::default() })
    }

    /// Waits for a turn of this laboratory.
    pub(crate) async fn take(self: &Arc<Self>, laboratory: i64) -> Turn {
        loop {
            let waiting = {
                let mut taken = self.lock();
                if taken.has_room(self, laboratory) {
                    return self.given(&mut taken, laboratory);
                }
                let (give, given) = oneshot::channel();
                taken.waiting.push_back((laboratory, give));
                given
            };
            // It is dropped by nobody but whoever gives it.
            if let Ok(turn) = waiting.await {
                return turn;
            }
        }
    }

    fn given(self: &Arc<Self>, taken: &mut Taken, laboratory: i64) -> Turn {
        taken.all += 1;
        *taken.of.entry(laboratory).or_default() += 1;
        Turn { of: Arc::clone(self), laboratory }
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        // Nothing in here panics between two changes that belong together.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    fn of(&self, laboratory: i64) -> usize {
        self.of.get(&laboratory).copied().unwrap_or(0)
    }

    fn has_room(&self, turns: &Turns, laboratory: i64) -> bool {
        self.all < turns.most && self.of(laboratory) < turns.each
    }

    /// Who is next: of the laboratories that have fewest turns whoever waits for longest.
    fn next(&mut self, turns: &Turns) -> Option<(i64, oneshot::Sender<Turn>)> {
        // Those that have gone away meanwhile.
        self.waiting.retain(|(_, give)| !give.is_closed());
        let waiting = self.waiting.iter().map(|(laboratory, _)| *laboratory).enumerate();
        let may = waiting.filter(|(_, laboratory)| self.has_room(turns, *laboratory));
        let (next, _) = may.min_by_key(|(_, laboratory)| self.of(*laboratory))?;
        self.waiting.remove(next)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let turns = Arc::clone(&self.of);
        let mut taken = turns.lock();
        taken.all = taken.all.saturating_sub(1);
        if let Some(own) = taken.of.get_mut(&self.laboratory) {
            *own = own.saturating_sub(1);
            if *own == 0 {
                taken.of.remove(&self.laboratory);
            }
        }
        let next = taken.next(&turns).map(|(laboratory, give)| {
            let turn = turns.given(&mut taken, laboratory);
            (turn, give)
        });
        drop(taken);
        if let Some((turn, give)) = next {
            // Whoever went away at this very moment: the turn is dropped, and is the next one's.
            drop(give.send(turn));
        }
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    type Waiting = Pin<Box<dyn Future<Output = Turn>>>;

    fn asked(waiting: &mut Waiting) -> Option<Turn> {
        match waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => Some(turn),
            Poll::Pending => None,
        }
    }

    /// Who begins to wait, in this order.
    fn wait(turns: &Arc<Turns>, laboratories: &[i64]) -> Vec<(i64, Waiting)> {
        let begin = |laboratory: &i64| {
            let (turns, laboratory) = (Arc::clone(turns), *laboratory);
            let mut waiting: Waiting = Box::pin(async move { turns.take(laboratory).await });
            assert!(asked(&mut waiting).is_none(), "{laboratory} waits");
            (laboratory, waiting)
        };
        laboratories.iter().map(begin).collect()
    }

    /// Of which laboratories those are that got a turn.
    fn served(waiting: &mut Vec<(i64, Waiting)>) -> Vec<(i64, Turn)> {
        let mut served = Vec::new();
        waiting.retain_mut(|(laboratory, waiting)| match asked(waiting) {
            Some(turn) => {
                served.push((*laboratory, turn));
                false
            }
            None => true,
        });
        served
    }

    #[tokio::test]
    async fn one_laboratory_leaves_a_turn_for_another_and_is_not_served_before_it() {
        let turns = Turns::new(3, 2);
        let mut greedy = vec![turns.take(1).await, turns.take(1).await];
        let mut waiting = wait(&turns, &[1, 1, 1]);
        let modest = turns.take(2).await;
        waiting.extend(wait(&turns, &[2, 3]));
        assert!(served(&mut waiting).is_empty());
        greedy.pop();
        let third = served(&mut waiting);
        assert_eq!(third.iter().map(|(laboratory, _)| *laboratory).collect::<Vec<_>>(), [3]);
        drop(modest);
        let next = served(&mut waiting);
        assert_eq!(next[0].0, 2, "it has none, the greedy one has one");
        drop((third, next, greedy));
        let mut order = Vec::new();
        while !waiting.is_empty() {
            let now = served(&mut waiting);
            assert!((1..=2).contains(&now.len()));
            order.extend(now.into_iter().map(|(laboratory, _)| laboratory));
        }
        assert_eq!(order, [1, 1, 1]);
        let taken = turns.lock();
        assert_eq!((taken.all, taken.of.len()), (0, 0));
    }

    #[tokio::test]
    async fn searches_leave_connections_for_others_on_any_computer() {
        let turns = Turns::for_searches();
        assert!(turns.most + LEFT <= READERS && turns.each * 2 <= turns.most && turns.each > 0);
    }

    #[tokio::test]
    async fn whoever_goes_away_leaves_its_turn_to_the_next() {
        let turns = Turns::new(1, 1);
        let first = turns.take(1).await;
        let mut waiting = wait(&turns, &[2, 3, 4]);
        drop(waiting.remove(0));
        drop(first);
        // Given to 3, which goes away before it knows.
        drop(waiting.remove(0));
        let last = served(&mut waiting);
        assert_eq!(last[0].0, 4);
        drop(last);
        assert_eq!(turns.lock().all, 0);
    }
}
