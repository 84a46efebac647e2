//! What a person is asked before reports may go to an address that the page has named: the endpoint
//! as it will be used, to the letter. The yes counts for exactly that, and once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use exchange::Endpoint;
use identity::AuthorityCa;
use tokio::time::Instant;
use url::Url;

use super::Desk;
use super::setup::{address_of, endpoint_of, shown_proxy, with_way};
use crate::problem::Problem;
use crate::views::EndpointInput;

/// So long a yes may wait to be used.
const LIVES: Duration = Duration::from_secs(60);
/// Answers that wait at most: a person gives them one by one.
const WAITING_MAX: usize = 8;

/// The question before an endpoint is added or gets another address. All of it is ASCII: a host in
/// other letters is shown in the form in which it is looked up, `xn--…`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointQuestion {
    /// The address, as it will be used.
    pub address: String,
    /// The address of before, where an endpoint gets another one.
    pub before: Option<String>,
    /// `integration` or `production`.
    pub environment: String,
    /// The proxy between, without user and password.
    pub proxy: Option<String>,
    /// SHA-256 of each CA that is trusted; empty: those of the computer alone.
    pub ca: Vec<String>,
    /// Whether those of the computer are trusted too.
    pub also_of_the_computer: bool,
    /// Whether a CA of its own, which alone was trusted, is given up for those of the computer.
    pub gives_up_ca: bool,
    /// The proxy that is given up, without user and password.
    pub gives_up_proxy: Option<String>,
    /// Whether the address ends as those of the authority do, `/v1/fhir`.
    pub has_usual_path: bool,
}

/// What a person has said yes to.
#[derive(Clone, PartialEq)]
pub(crate) enum Wanted {
    /// This endpoint is added.
    New(Box<Endpoint>),
    /// The endpoint of this name gets this address.
    Address { name: String, base: Url, same_authority: bool },
    /// The endpoint of this name trusts this CA and is reached by this proxy; what is not given
    /// stays.
    Way { name: String, ca_pem: Option<String>, proxy: Option<String> },
}

/// What may be done once, and since when.
#[derive(Default)]
pub(super) struct Allowed {
    waiting: Mutex<Vec<(Wanted, Instant)>>,
    renames: AtomicU64,
}

impl Allowed {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(Wanted, Instant)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An endpoint has another name: what was said yes to may be another one's now.
    pub(super) fn forget(&self) {
        self.renames.fetch_add(1, Ordering::SeqCst);
        self.lock().clear();
    }

    fn add(&self, wanted: Wanted, now: Instant) {
        let mut all = self.lock();
        all.retain(|(_, at)| now.duration_since(*at) < LIVES);
        all.push((wanted, now));
        let over = all.len().saturating_sub(WAITING_MAX);
        all.drain(..over);
    }

    fn holds(&self, wanted: &Wanted, now: Instant) -> bool {
        self.lock().iter().any(|(one, at)| one == wanted && now.duration_since(*at) < LIVES)
    }

    /// Uses it up; `false` where it is not there.
    fn spend(&self, wanted: &Wanted, now: Instant) -> bool {
        let mut all = self.lock();
        all.retain(|(_, at)| now.duration_since(*at) < LIVES);
        let place = all.iter().position(|(one, _)| one == wanted);
        place.map(|place| all.remove(place)).is_some()
    }
}

impl Wanted {
    /// What a person is asked before an endpoint is added.
    pub(crate) fn new(input: EndpointInput) -> Result<Self, Problem> {
        Ok(Self::New(Box::new(endpoint_of(input)?)))
    }

    /// The same before an endpoint gets another address.
    pub(crate) fn address(
        name: &str,
        base_url: &str,
        same_authority: bool,
    ) -> Result<Self, Problem> {
        Ok(Self::Address { name: name.to_owned(), base: address_of(base_url)?, same_authority })
    }

    /// The same before an endpoint trusts another CA or is reached by another proxy.
    pub(crate) fn way(name: &str, ca_pem: Option<&String>, proxy: Option<&String>) -> Self {
        Self::Way { name: name.to_owned(), ca_pem: ca_pem.cloned(), proxy: proxy.cloned() }
    }
}

fn not_allowed() -> Problem {
    Problem::new("endpoint-not-allowed", &[], "endpoint")
}

impl Desk {
    /// What a person has to be asked before this is done.
    pub(crate) async fn question_about(&self, wanted: Wanted) -> Result<EndpointQuestion, Problem> {
        let mut given_up = None;
        let (endpoint, before) = match wanted {
            Wanted::New(endpoint) => (*endpoint, None),
            Wanted::Address { name, base, .. } => {
                let known = self.endpoint_to_change(&name).await?;
                let before = known.base.to_string();
                (Endpoint { base, ..known }, Some(before))
            }
            Wanted::Way { name, ca_pem, proxy } => {
                let known = self.endpoint_to_change(&name).await?;
                let alone = known.ca_pem.is_some() && !known.also_system_roots;
                given_up = Some((alone, known.proxy.as_ref().map(shown_proxy)));
                (with_way(known, ca_pem, proxy)?, None)
            }
        };
        let (had_ca_alone, had_proxy) = given_up.unwrap_or_default();
        let ca = match &endpoint.ca_pem {
            Some(pem) => AuthorityCa::read(pem.as_bytes())?.fingerprints,
            None => Vec::new(),
        };
        Ok(EndpointQuestion {
            address: endpoint.base.to_string(),
            before,
            environment: endpoint.environment.code().to_owned(),
            proxy: endpoint.proxy.as_ref().map(shown_proxy),
            also_of_the_computer: endpoint.also_system_roots,
            gives_up_ca: had_ca_alone && ca.is_empty(),
            gives_up_proxy: had_proxy.filter(|_| endpoint.proxy.is_none()),
            ca,
            has_usual_path: endpoint.has_usual_path(),
        })
    }

    /// How often endpoints have got other names: a yes to a question from before another one counts
    /// for nothing.
    pub fn renames(&self) -> u64 {
        self.inner.allowed.renames.load(Ordering::SeqCst)
    }

    /// A person has said yes to this: it may be done once.
    pub(crate) fn allow_once(&self, wanted: Wanted) {
        self.inner.allowed.add(wanted, Instant::now());
    }

    /// Refuses an address that no person has allowed: reports of patients would go there.
    pub(crate) fn permits_address(&self, wanted: &Wanted) -> Result<(), Problem> {
        match self.inner.allowed.holds(wanted, Instant::now()) {
            true => Ok(()),
            false => Err(not_allowed()),
        }
    }

    /// Uses up the yes to this.
    pub(crate) fn spend_yes(&self, wanted: &Wanted) -> Result<(), Problem> {
        match self.inner.allowed.spend(wanted, Instant::now()) {
            true => Ok(()),
            false => Err(not_allowed()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(base: &str) -> Wanted {
        let (name, base) = ("real".to_owned(), base.parse().unwrap());
        Wanted::Address { name, base, same_authority: false }
    }

    #[test]
    fn a_yes_counts_once_and_for_a_while_and_for_nothing_else() {
        let (allowed, now) = (Allowed::default(), Instant::now());
        let (one, other) = (address("https://host/v1/fhir"), address("https://host/v2/fhir"));
        allowed.add(one.clone(), now);
        assert!(allowed.holds(&one, now) && !allowed.holds(&other, now));
        assert!(!allowed.holds(&one, now + LIVES));
        assert!(!allowed.spend(&other, now) && allowed.spend(&one, now));
        assert!(!allowed.spend(&one, now), "used up");
        for _ in 0..2 * WAITING_MAX {
            allowed.add(one.clone(), now);
        }
        assert_eq!(allowed.lock().len(), WAITING_MAX);
    }
}
