//! Connections whose caller is not known yet: how many may say nothing, and how many may shake
//! hands.
//!
//! Who has said nothing keeps nobody out: where the places are taken, the one that has been silent
//! for longest ends for the newest, first among those of the same address. Handshakes cost time and
//! memory, so that not all run at once, and of those one address has only a part. One that takes
//! long ends for whoever waits: who begins and says no more keeps nobody out either.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// Time until a caller has said how it wants to begin, from the moment that a connection is there.
const HELLO_MAX: Duration = Duration::from_secs(2);
/// Pause between two looks at a beginning that is not whole yet.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Bytes of a beginning that are looked at first, and at most (RFC 8446, 5.1).
const HELLO_USUAL: usize = 2 << 10;
const HELLO_BYTES_MAX: usize = 5 + (16 << 10);
/// Time that a caller who has spoken waits for its handshake to begin.
const TURN_MAX: Duration = Duration::from_secs(10);
/// Connections that wait for their first byte, or for their turn: a few kilobytes each.
const WAITING_MAX: usize = 512;
/// The same of one address. Behind a balancer all laboratories have one.
const WAITING_OF_ADDRESS_MAX: usize = 128;
/// Handshakes at once, most of which wait for the other end: about 100 kilobytes each.
const HANDSHAKES_MAX: usize = 512;
/// The same of one address.
const HANDSHAKES_OF_ADDRESS_MAX: usize = 256;
/// The type of a record that begins one (RFC 8446, 5.1).
const HANDSHAKE: u8 = 22;
/// A handshake that has taken so long ends for one that waits.
const SLOW: Duration = Duration::from_secs(1);
/// Pause between two looks for such a one.
const DISPLACE_EVERY: Duration = Duration::from_millis(50);

/// Connections whose caller is not known yet.
#[derive(Debug)]
pub(crate) struct Pending {
    waiting: Mutex<Waiting>,
    handshakes: Arc<Semaphore>,
    /// Of each address that has a connection waiting or shaking hands.
    addresses: Mutex<HashMap<IpAddr, Arc<Semaphore>>>,
    shaking: Arc<Mutex<Shaking>>,
}

/// The handshakes that run, by the order in which they began.
#[derive(Debug, Default)]
struct Shaking {
    all: BTreeMap<u64, Shake>,
    next: u64,
}

#[derive(Debug)]
struct Shake {
    address: IpAddr,
    began: Instant,
    displaced: CancellationToken,
}

#[derive(Debug, Default)]
struct Waiting {
    /// By their order of arrival.
    connections: BTreeMap<u64, Connection>,
    next: u64,
}

#[derive(Debug)]
struct Connection {
    address: IpAddr,
    has_spoken: bool,
    /// Cancelled when another one takes its place.
    displaced: CancellationToken,
}

/// A place among those that wait; given back when it is dropped.
struct Place<'a> {
    of: &'a Pending,
    number: u64,
    displaced: CancellationToken,
}

/// Leave for one handshake; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _all: OwnedSemaphorePermit,
    _of_address: OwnedSemaphorePermit,
    number: u64,
    displaced: CancellationToken,
    shaking: Arc<Mutex<Shaking>>,
}

impl Turn {
    /// Another caller takes its place: it has taken too long.
    pub(crate) async fn displaced(&self) {
        self.displaced.cancelled().await;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        lock(&self.shaking).all.remove(&self.number);
    }
}

impl Shaking {
    /// Ends the oldest that takes too long, of this address or of any.
    fn make_room(&mut self, address: Option<IpAddr>) {
        let slow = self.all.iter().find(|(_, shake)| {
            address.is_none_or(|address| shake.address == address) && shake.began.elapsed() >= SLOW
        });
        let Some(number) = slow.map(|(number, _)| *number) else { return };
        if let Some(shake) = self.all.remove(&number) {
            shake.displaced.cancel();
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing in here panics between two changes that belong together.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pending {
    pub(crate) fn new() -> Self {
        Self {
            waiting: Mutex::default(),
            handshakes: Arc::new(Semaphore::new(HANDSHAKES_MAX)),
            addresses: Mutex::default(),
            shaking: Arc::default(),
        }
    }

    /// Waits until a caller speaks and its turn has come; `None`: it said nothing in time, or its
    /// place was needed.
    pub(crate) async fn turn(&self, stream: &TcpStream, address: IpAddr) -> Option<Turn> {
        let address = network(address);
        let place = self.enter(address);
        tokio::select! {
            () = place.displaced.cancelled() => None,
            turn = self.wait(stream, &place, address) => turn,
        }
    }

    async fn wait(&self, stream: &TcpStream, place: &Place<'_>, address: IpAddr) -> Option<Turn> {
        if !matches!(tokio::time::timeout(HELLO_MAX, has_begun(stream)).await, Ok(Ok(true))) {
            return None;
        }
        if let Some(own) = self.lock().connections.get_mut(&place.number) {
            own.has_spoken = true;
        }
        let turn = async {
            // That of the address first: it must hold no place of the others while it waits.
            let own = self.place_in(&self.of_address(address), Some(address)).await?;
            let all = self.place_in(&self.handshakes, None).await?;
            Some(self.begin(address, own, all))
        };
        tokio::time::timeout(TURN_MAX, turn).await.ok().flatten()
    }

    /// Waits for one of these places, and ends handshakes that hold them for too long.
    async fn place_in(
        &self,
        places: &Arc<Semaphore>,
        address: Option<IpAddr>,
    ) -> Option<OwnedSemaphorePermit> {
        let free = Arc::clone(places).acquire_owned();
        tokio::pin!(free);
        loop {
            tokio::select! {
                permit = &mut free => return permit.ok(),
                () = tokio::time::sleep(DISPLACE_EVERY) => lock(&self.shaking).make_room(address),
            }
        }
    }

    fn begin(&self, address: IpAddr, own: OwnedSemaphorePermit, all: OwnedSemaphorePermit) -> Turn {
        let displaced = CancellationToken::new();
        let mut shaking = lock(&self.shaking);
        let number = shaking.next;
        shaking.next += 1;
        let shake = Shake { address, began: Instant::now(), displaced: displaced.clone() };
        shaking.all.insert(number, shake);
        drop(shaking);
        let shaking = Arc::clone(&self.shaking);
        Turn { _all: all, _of_address: own, number, displaced, shaking }
    }

    fn enter(&self, address: IpAddr) -> Place<'_> {
        let displaced = CancellationToken::new();
        let mut waiting = self.lock();
        waiting.make_room(address);
        let number = waiting.next;
        waiting.next += 1;
        let connection = Connection { address, has_spoken: false, displaced: displaced.clone() };
        waiting.connections.insert(number, connection);
        Place { of: self, number, displaced }
    }

    fn of_address(&self, address: IpAddr) -> Arc<Semaphore> {
        let mut all = lock(&self.addresses);
        // Whoever is still about holds its semaphore, by a permit or by waiting for one.
        all.retain(|_, semaphore| Arc::strong_count(semaphore) > 1);
        let fresh = || Arc::new(Semaphore::new(HANDSHAKES_OF_ADDRESS_MAX));
        Arc::clone(all.entry(address).or_insert_with(fresh))
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.waiting)
    }
}

impl Waiting {
    /// Ends the oldest silent connection where there are too many; where all have spoken, the
    /// oldest of those.
    fn make_room(&mut self, address: IpAddr) {
        let of_address = |connection: &Connection| connection.address == address;
        let same = self.connections.values().filter(|one| of_address(one)).count();
        let is_candidate =
            |connection: &Connection| same < WAITING_OF_ADDRESS_MAX || of_address(connection);
        if same < WAITING_OF_ADDRESS_MAX && self.connections.len() < WAITING_MAX {
            return;
        }
        let candidates = || self.connections.iter().filter(|(_, one)| is_candidate(one));
        let silent = candidates().find(|(_, one)| !one.has_spoken);
        let Some(number) = silent.or_else(|| candidates().next()).map(|(number, _)| *number) else {
            return;
        };
        if let Some(displaced) = self.connections.remove(&number) {
            displaced.displaced.cancel();
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.of.lock().connections.remove(&self.number);
    }
}

/// Waits until all of the first record is there; what begins no handshake of TLS is for TLS to
/// refuse. `false`: the other end has closed it.
async fn has_begun(stream: &TcpStream) -> io::Result<bool> {
    let mut head = vec![0; HELLO_USUAL];
    loop {
        let there = stream.peek(&mut head).await?;
        let length = match head[..there] {
            [] => return Ok(false),
            [HANDSHAKE, _, _, high, low, ..] => 5 + usize::from(u16::from_be_bytes([high, low])),
            [HANDSHAKE, ..] => 5,
            _ => return Ok(true),
        };
        let wanted = length.min(HELLO_BYTES_MAX);
        if there >= wanted && there > 4 {
            return Ok(true);
        }
        head.resize(head.len().max(wanted), 0);
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// What one caller can have many of counts as one address: of IPv6 a customer chooses the lower
/// half, and is given up to 65,536 networks beside each other (RFC 6177 section 2). Behind a
/// translator the address of IPv4 stands in the last bits (RFC 6052 section 2.1).
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if address.segments()[..6] == [0x64, 0xff9b, 0, 0, 0, 0] => {
            IpAddr::V4((address.to_bits() as u32).into())
        }
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 80 << 80).into()),
        four => four,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn the_longest_silent_makes_room_and_first_one_of_the_same_address() {
        let pending = Pending::new();
        let (one, other) = (address("192.0.2.1"), address("192.0.2.2"));
        let first = pending.enter(other);
        let mut places: Vec<_> = (0..WAITING_OF_ADDRESS_MAX).map(|_| pending.enter(one)).collect();
        pending.lock().connections.get_mut(&places[0].number).unwrap().has_spoken = true;
        places.push(pending.enter(one));
        let gone = |places: &[Place<'_>]| {
            let gone = places.iter().enumerate();
            gone.filter(|(_, place)| place.displaced.is_cancelled()).map(|(at, _)| at).collect()
        };
        let none: Vec<usize> = gone(&places);
        assert_eq!(none, [1], "neither another address nor one that has spoken");
        assert!(!first.displaced.is_cancelled());
        drop(places);
        assert_eq!(pending.lock().connections.len(), 1);
        let many: Vec<_> = (0..WAITING_MAX)
            .map(|number| pending.enter(IpAddr::from([10, 0, (number / 256) as u8, number as u8])))
            .collect();
        assert!(first.displaced.is_cancelled(), "the oldest of all");
        assert!(!many[0].displaced.is_cancelled());
    }

    #[test]
    fn an_address_of_its_own_choice_is_no_other_address() {
        assert_eq!(network(address("2001:db8::1")), network(address("2001:db8::ffff:2")));
        assert_eq!(network(address("2001:db8::1")), network(address("2001:db8:0:ffff::1")));
        assert_ne!(network(address("2001:db8::1")), network(address("2001:db8:1::1")));
        assert_eq!(network(address("::ffff:192.0.2.1")), address("192.0.2.1"));
        assert_eq!(network(address("64:ff9b::192.0.2.1")), address("192.0.2.1"));
    }
}
