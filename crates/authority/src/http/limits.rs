//! What one laboratory may ask of the service, so that none keeps the others waiting.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use tokio::time::Instant;

use crate::AuthorityError;
use crate::http::turns::Turns;

/// Limits of each laboratory; the defaults are far above what an honest one needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Requests per second on average; twice as many may come at once. 0 refuses everything.
    pub requests_per_second: u32,
    /// Requests under way at once, over all connections.
    pub open_requests: u32,
    /// Bytes of a request body.
    pub body_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { requests_per_second: 10_000, open_requests: 1_000, body_max: 20 << 20 }
    }
}

/// Limits of single laboratories, as a TOML file has them; what is left out is as for everybody.
///
/// ```toml
/// [laboratory.my-lab]
/// requests-per-second = 50
/// open-requests = 4
/// body-max = 5000000
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OwnLimits {
    #[serde(default)]
    laboratory: HashMap<String, OwnLimit>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct OwnLimit {
    requests_per_second: Option<u32>,
    open_requests: Option<u32>,
    body_max: Option<usize>,
}

impl OwnLimits {
    pub(crate) fn parse(text: &str) -> Result<Self, AuthorityError> {
        toml::from_str(text).map_err(|error| AuthorityError::Limits(error.to_string()))
    }

    fn read(path: &Path) -> Result<Self, AuthorityError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| AuthorityError::File { path: path.to_owned(), source })?;
        Self::parse(&text).map_err(|error| error.in_file(path))
    }

    fn of(&self, laboratory: Option<&str>, all: Limits) -> Limits {
        let own = laboratory.and_then(|name| self.laboratory.get(name)).copied();
        let own = own.unwrap_or_default();
        Limits {
            requests_per_second: own.requests_per_second.unwrap_or(all.requests_per_second),
            open_requests: own.open_requests.unwrap_or(all.open_requests),
            body_max: own.body_max.unwrap_or(all.body_max),
        }
    }
}

/// What is left to each laboratory.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    limits: Limits,
    file: Option<PathBuf>,
    own: Mutex<(Option<SystemTime>, OwnLimits)>,
    used: Mutex<HashMap<i64, Used>>,
    /// Bytes of requests and answers under way, of all laboratories. Changed with `used` locked.
    bytes: AtomicUsize,
    /// For reading and judging what is sent.
    pub(crate) judging: Arc<Turns>,
    /// For searches, and the answers to them.
    pub(crate) searching: Arc<Turns>,
}

#[derive(Debug)]
struct Used {
    /// Requests that may come at this moment; refilled as time goes by.
    left: f64,
    since: Instant,
    open: u32,
    /// Bytes of its requests and answers under way.
    bytes: usize,
    /// Refused and not recorded yet, and when refusals were recorded last.
    refused: u32,
    recorded: Option<Instant>,
    certificate: String,
}

/// Who asks for a place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caller<'a> {
    /// Its id; 0 for all that are no laboratory.
    pub(crate) laboratory: i64,
    pub(crate) name: Option<&'a str>,
    pub(crate) certificate: &'a str,
}

/// What became of asking for a place.
#[derive(Debug)]
pub(crate) struct Admission {
    /// A place, or how long to wait before the next try.
    pub(crate) place: Result<Permit, Duration>,
    /// Refusals to put on record now, of which there may be many in one line: 0 for none.
    pub(crate) refusals: u32,
}

/// A request under way; gives its place back when it ends, however it ends.
#[derive(Debug)]
pub(crate) struct Permit {
    of: Arc<RateLimiter>,
    laboratory: i64,
    /// Bytes of a request body of this laboratory.
    pub(crate) body_max: usize,
    /// Bytes that are kept for it.
    bytes: usize,
}

/// Why there is no room for what a request brings or asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// The laboratory has its part.
    OfLaboratory,
    /// All laboratories together have everything.
    AtAll,
}

/// The largest requests that one laboratory may have under way: a courier has eight.
const BODIES_OF_LABORATORY: usize = 8;
/// Laboratories that may have as many at the same time.
const LABORATORIES: usize = 3;
/// Bytes of the largest answer to a search.
const ANSWER: usize = 8 << 20;
/// Bytes that each laboratory may have under way whatever the others have.
const OWN: usize = 1 << 20;

const SECOND: Duration = Duration::from_secs(1);
/// Refusals of one laboratory go on record together, so that a flood cannot fill the audit log.
const RECORD_EVERY: Duration = Duration::from_secs(60);

impl RateLimiter {
    /// With limits of single laboratories from a file, where there is one.
    pub(crate) fn new(limits: Limits, file: Option<PathBuf>) -> Result<Arc<Self>, AuthorityError> {
        let own = match &file {
            Some(path) => (changed(path), OwnLimits::read(path)?),
            None => (None, OwnLimits::default()),
        };
        Ok(Arc::new(Self {
            limits,
            file,
            own: Mutex::new(own),
            used: Mutex::default(),
            bytes: AtomicUsize::default(),
            judging: Turns::for_each_core(),
            searching: Turns::for_searches(),
        }))
    }

    /// Reads the file again where it has changed. One that cannot be read leaves the last in force.
    pub(crate) fn look(&self) {
        let Some(path) = &self.file else { return };
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let now = changed(path);
        if own.0 == now {
            return;
        }
        own.0 = now;
        match OwnLimits::read(path) {
            Ok(read) => own.1 = read,
            Err(error) => tracing::error!(%error, "the last limits stay in force"),
        }
    }

    /// A place for one more request.
    pub(crate) fn enter(self: &Arc<Self>, who: Caller<'_>, now: Instant) -> Admission {
        let limits = {
            let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
            own.1.of(who.name, self.limits)
        };
        let rate = f64::from(limits.requests_per_second);
        let mut all = self.lock();
        let used = all.entry(who.laboratory).or_insert_with(|| Used::new(2.0 * rate, now));
        let passed = now.saturating_duration_since(used.since).as_secs_f64();
        used.left = passed.mul_add(rate, used.left).min(2.0 * rate);
        used.since = now;
        let wait = if used.left < 1.0 {
            let wait = Duration::try_from_secs_f64((1.0 - used.left) / rate);
            Some(wait.unwrap_or(Duration::from_secs(3600)).max(SECOND))
        } else {
            (used.open >= limits.open_requests).then_some(SECOND)
        };
        if let Some(wait) = wait {
            return Admission { place: Err(wait), refusals: used.refuse(who.certificate, now) };
        }
        used.left -= 1.0;
        used.open += 1;
        let of = Arc::clone(self);
        let place = Permit { of, laboratory: who.laboratory, body_max: limits.body_max, bytes: 0 };
        Admission { place: Ok(place), refusals: std::mem::take(&mut used.refused) }
    }

    /// Counts a refusal of what was let in; how many there are to put on record now.
    pub(crate) fn refuse(&self, who: Caller<'_>, now: Instant) -> u32 {
        self.lock().get_mut(&who.laboratory).map_or(0, |used| used.refuse(who.certificate, now))
    }

    /// Refusals that could not be put on record are counted again.
    pub(crate) fn give_back(&self, laboratory: i64, refusals: u32) {
        if let Some(used) = self.lock().get_mut(&laboratory) {
            used.refused = used.refused.saturating_add(refusals);
        }
    }

    /// Refusals that are not on record yet: laboratory, certificate, how many.
    pub(crate) fn unrecorded(&self) -> Vec<(i64, String, u32)> {
        let mut all = self.lock();
        let left = all.iter_mut().filter(|(_, used)| used.refused > 0);
        left.map(|(laboratory, used)| {
            (*laboratory, used.certificate.clone(), std::mem::take(&mut used.refused))
        })
        .collect()
    }

    /// Requests under way.
    pub(crate) fn open(&self) -> u64 {
        self.lock().values().map(|used| u64::from(used.open)).sum()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<i64, Used>> {
        // Nothing in here panics between two changes that belong together.
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Used {
    fn new(left: f64, now: Instant) -> Self {
        let certificate = String::new();
        Self { left, since: now, open: 0, bytes: 0, refused: 0, recorded: None, certificate }
    }

    /// Counts a refusal; how many there are to put on record now.
    fn refuse(&mut self, certificate: &str, now: Instant) -> u32 {
        self.refused = self.refused.saturating_add(1);
        certificate.clone_into(&mut self.certificate);
        let recent = |at: Instant| now.saturating_duration_since(at) < RECORD_EVERY;
        if self.recorded.is_some_and(recent) {
            return 0;
        }
        self.recorded = Some(now);
        std::mem::take(&mut self.refused)
    }
}

impl Permit {
    /// Keeps so many more bytes for it until it ends. Where none are under way there is room for
    /// any size that is allowed: nothing is refused for ever. One laboratory has half of everything
    /// at most, and a little is left to each, so that none is kept out by others.
    pub(crate) fn keep(&mut self, bytes: usize) -> Result<(), NoRoom> {
        if bytes == 0 {
            return Ok(());
        }
        let part = |body_max: usize| body_max.max(ANSWER).saturating_mul(BODIES_OF_LABORATORY);
        let mut used = self.of.lock();
        let Some(used) = used.get_mut(&self.laboratory) else { return Ok(()) };
        let fits = |taken: usize, most: usize| taken == 0 || taken.saturating_add(bytes) <= most;
        let most = part(self.of.limits.body_max).saturating_mul(LABORATORIES);
        if !fits(used.bytes, part(self.body_max).min(most / 2)) {
            return Err(NoRoom::OfLaboratory);
        }
        let is_little = used.bytes.saturating_add(bytes) <= OWN;
        if !is_little && !fits(self.of.bytes.load(Ordering::Relaxed), most) {
            return Err(NoRoom::AtAll);
        }
        used.bytes += bytes;
        self.of.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.bytes += bytes;
        Ok(())
    }

    /// Bytes that are kept for it.
    pub(crate) const fn kept(&self) -> usize {
        self.bytes
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(used) = self.of.lock().get_mut(&self.laboratory) {
            used.open = used.open.saturating_sub(1);
            used.bytes = used.bytes.saturating_sub(self.bytes);
            self.of.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

fn changed(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|facts| facts.modified()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lab(laboratory: i64) -> Caller<'static> {
        Caller { laboratory, name: None, certificate: "ab" }
    }

    fn place(all: &Arc<RateLimiter>, laboratory: i64, now: Instant) -> Result<Permit, Duration> {
        all.enter(lab(laboratory), now).place
    }

    #[tokio::test]
    async fn a_laboratory_gets_its_rate_and_its_places_and_takes_none_from_others() {
        let limits = Limits { requests_per_second: 2, open_requests: 3, body_max: 1 };
        let all = RateLimiter::new(limits, None).unwrap();
        let start = Instant::now();
        let mut places: Vec<_> = (0..3).map(|_| place(&all, 1, start).unwrap()).collect();
        assert_eq!(place(&all, 1, start).unwrap_err(), SECOND, "three are open");
        places.pop();
        places.push(place(&all, 1, start).unwrap());
        places.clear();
        assert!(place(&all, 1, start).is_err(), "twice the rate came at once");
        assert!(place(&all, 2, start).is_ok(), "another laboratory");
        assert!(place(&all, 1, start + SECOND / 2).is_ok());
        assert!(place(&all, 1, start + SECOND / 2).is_err());
        assert_eq!(all.open(), 0);
        let none = Limits { requests_per_second: 0, ..limits };
        let none = RateLimiter::new(none, None).unwrap();
        assert!(place(&none, 1, start).unwrap_err() >= SECOND);
    }

    #[tokio::test]
    async fn a_laboratory_has_a_part_of_all_bytes_under_way() {
        let limits = Limits { body_max: 20 << 20, ..Limits::default() };
        let all = RateLimiter::new(limits, None).unwrap();
        let start = Instant::now();
        let mut held = Vec::new();
        for laboratory in 1..=3 {
            for _ in 0..8 {
                let mut one = place(&all, laboratory, start).unwrap();
                assert_eq!(one.keep(20 << 20), Ok(()), "{laboratory}");
                held.push(one);
            }
            let mut more = place(&all, laboratory, start).unwrap();
            assert_eq!(more.keep(1), Err(NoRoom::OfLaboratory));
        }
        let mut other = place(&all, 4, start).unwrap();
        assert_eq!(other.keep(OWN + 1), Err(NoRoom::AtAll));
        assert_eq!(other.keep(OWN), Ok(()), "a little is left to each");
        assert_eq!(other.keep(1), Err(NoRoom::AtAll));
        held.pop();
        assert_eq!((other.keep(5), other.keep(5), other.kept()), (Ok(()), Ok(()), OWN + 10));
        drop(held);
        let mut huge = place(&all, 5, start).unwrap();
        assert_eq!(huge.keep(usize::MAX), Err(NoRoom::AtAll));
        drop(other);
        assert_eq!(huge.keep(1 << 40), Ok(()), "alone whatever its limit allows");
        drop(huge);
        assert_eq!(all.bytes.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn a_laboratory_with_large_limits_of_its_own_leaves_half_to_others() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "[laboratory.a]\nbody-max = 1000000000\n").unwrap();
        let all = RateLimiter::new(Limits::default(), Some(file.path().to_owned())).unwrap();
        let large = || {
            let who = Caller { laboratory: 1, name: Some("a"), certificate: "ab" };
            all.enter(who, Instant::now()).place.unwrap()
        };
        let (mut held, mut more) = (large(), large());
        assert_eq!(held.keep(240 << 20), Ok(()));
        assert_eq!(more.keep(1), Err(NoRoom::OfLaboratory));
        let mut other = place(&all, 2, Instant::now()).unwrap();
        assert_eq!(other.keep(20 << 20), Ok(()));
        drop((held, other));
        assert_eq!(more.keep(1_000_000_000), Ok(()), "one of its own limit");
    }

    #[tokio::test]
    async fn refusals_that_could_not_be_put_on_record_are_counted_again() {
        let limits = Limits { requests_per_second: 0, open_requests: 1, body_max: 1 };
        let all = RateLimiter::new(limits, None).unwrap();
        let start = Instant::now();
        let first = all.enter(lab(1), start).refusals;
        assert_eq!(first, 1);
        all.give_back(1, first);
        assert_eq!(all.enter(lab(1), start).refusals, 0, "not yet");
        assert_eq!(all.enter(lab(1), start + RECORD_EVERY).refusals, 3);
    }

    #[tokio::test]
    async fn refusals_go_on_record_together_and_none_is_forgotten() {
        let limits = Limits { requests_per_second: 1, open_requests: 9, body_max: 1 };
        let all = RateLimiter::new(limits, None).unwrap();
        let start = Instant::now();
        let refusals =
            |seconds| all.enter(lab(1), start + Duration::from_secs_f64(seconds)).refusals;
        let told: Vec<_> = [0.0, 0.0, 0.0, 0.0, 0.0].into_iter().map(refusals).collect();
        assert_eq!(told, [0, 0, 1, 0, 0], "the first at once, the others later");
        assert_eq!(refusals(1.0), 2, "with the next that is let in");
        assert_eq!(refusals(1.0), 0);
        assert_eq!(all.unrecorded(), [(1, "ab".to_owned(), 1)]);
        assert_eq!(all.unrecorded(), []);
    }

    #[test]
    fn a_laboratory_can_have_limits_of_its_own() {
        let own = OwnLimits::parse("[laboratory.a]\nbody-max = 7\n").unwrap();
        let all = Limits::default();
        assert_eq!(own.of(Some("a"), all), Limits { body_max: 7, ..all });
        assert_eq!(own.of(Some("b"), all), all);
        assert_eq!(own.of(None, all), all);
        for wrong in ["[laboratory.a]\nbody = 7", "[lab.a]\n", "[laboratory.a]\nbody-max = -1"] {
            assert!(OwnLimits::parse(wrong).is_err(), "{wrong}");
        }
    }
}
