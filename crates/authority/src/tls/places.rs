//! Places of callers that are known: so many in all, and of these one laboratory and one address
//! have only a part.
//!
//! Whoever opens more is let go at once, and keeps those that it has: its own connections are in
//! its own way.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::pending::network;

/// Connections of known callers at once.
pub(crate) const PLACES: usize = 1_024;
/// Of one laboratory: a courier has eight at most, and a large laboratory has some computers.
const OF_LABORATORY: usize = 128;
/// Of one address: behind a balancer all laboratories have one, and an administrator's way in
/// stays.
const OF_ADDRESS: usize = PLACES - OF_LABORATORY;
/// How long a caller waits for a place, where others have all of them.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// All places.
#[derive(Debug)]
pub(crate) struct Places {
    all: Arc<Semaphore>,
    /// By the laboratory's number, or by the certificate where it belongs to none.
    laboratories: Shares<String>,
    addresses: Shares<IpAddr>,
}

/// A place; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    _all: OwnedSemaphorePermit,
    _of_laboratory: OwnedSemaphorePermit,
    _of_address: OwnedSemaphorePermit,
}

impl Places {
    pub(crate) fn new() -> Self {
        Self {
            all: Arc::new(Semaphore::new(PLACES)),
            laboratories: Shares::new(OF_LABORATORY),
            addresses: Shares::new(OF_ADDRESS),
        }
    }

    /// All of them together, to be counted.
    pub(crate) fn all(&self) -> Arc<Semaphore> {
        Arc::clone(&self.all)
    }

    /// `None` where the caller has its part, or no place becomes free in time.
    pub(crate) async fn take(&self, laboratory: String, address: IpAddr) -> Option<Place> {
        let of_laboratory = self.laboratories.take(laboratory)?;
        let of_address = self.addresses.take(network(address))?;
        let all = Arc::clone(&self.all).acquire_owned();
        let all = tokio::time::timeout(WAIT_MAX, all).await.ok()?.ok()?;
        Some(Place { _all: all, _of_laboratory: of_laboratory, _of_address: of_address })
    }
}

/// What each of many may have at once.
#[derive(Debug)]
struct Shares<K> {
    most: usize,
    of: Mutex<HashMap<K, Arc<Semaphore>>>,
}

impl<K: Eq + Hash> Shares<K> {
    fn new(most: usize) -> Self {
        Self { most, of: Mutex::default() }
    }

    fn take(&self, key: K) -> Option<OwnedSemaphorePermit> {
        let mut of = self.of.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever has a connection holds its semaphore.
        of.retain(|_, share| Arc::strong_count(share) > 1);
        let share = of.entry(key).or_insert_with(|| Arc::new(Semaphore::new(self.most)));
        Arc::clone(share).try_acquire_owned().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_laboratory_and_one_address_leave_places_for_others() {
        let places = Places::new();
        let address = |last: u8| IpAddr::from([192, 0, 2, last]);
        let take = |laboratory: &str, last| places.take(laboratory.to_owned(), address(last));
        let mut taken = Vec::new();
        while let Some(place) = take("greedy", 1).await {
            taken.push(place);
        }
        assert_eq!(taken.len(), OF_LABORATORY);
        assert!(take("greedy", 2).await.is_none(), "from another address neither");
        for laboratory in 0.. {
            match take(&format!("lab-{laboratory}"), 1).await {
                Some(place) => taken.push(place),
                None => break,
            }
        }
        assert_eq!(taken.len(), OF_ADDRESS);
        taken.push(take("modest", 2).await.unwrap());
        taken.remove(0);
        assert!(take("greedy", 1).await.is_some(), "what was given back is there again");
        drop(taken);
        assert_eq!(places.all().available_permits(), PLACES);
    }
}
