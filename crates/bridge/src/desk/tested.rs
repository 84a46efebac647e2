//! The connection test that passed last: it says that the authority can be reached before anything
//! was sent there.

use std::sync::PoisonError;

use engine::{Engine, Profile};
use exchange::Endpoint;
use fhir::Instant;

use super::Desk;

/// A test in which every layer passed. It counts for what was tested: another address, CA or
/// certificate has not been.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Tested {
    at: Instant,
    endpoint: Endpoint,
    certificate: Option<String>,
}

impl Tested {
    pub(super) fn new(at: Instant, profile: &Profile, endpoint: &Endpoint) -> Self {
        let certificate = profile.settings.certificate_of(endpoint.id()).map(str::to_owned);
        Self { at, endpoint: endpoint.clone(), certificate }
    }

    /// Whether it was about this endpoint as it is now; what it is called makes no difference.
    fn is_of(&self, profile: &Profile, endpoint: &Endpoint) -> bool {
        let (name, id) = (self.endpoint.name.clone(), self.endpoint.id.clone());
        let named_as_then = Endpoint { name, id, ..endpoint.clone() };
        self.endpoint.id() == endpoint.id()
            && *self == Self { endpoint: named_as_then, ..Self::new(self.at, profile, endpoint) }
    }
}

impl Desk {
    /// Keeps what a connection test has shown of an endpoint: that it passed, or that it does not
    /// pass any more.
    pub(super) fn note_test(&self, engine: &Engine, tested: &Endpoint, has_passed: bool) {
        let profile = engine.profile();
        let mut last = self.inner.tested.lock().unwrap_or_else(PoisonError::into_inner);
        if has_passed {
            *last = Some(Tested::new(engine.now(), &profile, tested));
        } else if last.as_ref().is_some_and(|it| it.endpoint.id() == tested.id()) {
            *last = None;
        }
    }

    /// Whether the test that passed last was of this endpoint, as it is now.
    pub(super) fn has_passed(&self, profile: &Profile, endpoint: &Endpoint) -> bool {
        let last = self.inner.tested.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().is_some_and(|last| last.is_of(profile, endpoint))
    }

    /// When the endpoint in use was tested last with success, as it is now.
    pub(super) fn last_test(&self, profile: &Profile) -> Option<Instant> {
        let last = self.inner.tested.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        last.is_of(profile, profile.endpoint()?).then_some(last.at)
    }
}
