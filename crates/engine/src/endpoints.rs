//! Another address or name for an endpoint, and its end. An endpoint stands for one authority: what was sent there is
//! followed there, whatever a person changes.

use exchange::Endpoint;
use journal::{JournalError, LeaseAnswer};
use url::Url;

use crate::{Engine, EngineError, Settings};

/// Whether the new address of an endpoint leads to the authority that the old one led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SameAuthority {
    /// A person says so: what is open is asked for and read there from now on.
    Yes,
    /// It is not known.
    Unknown,
}

impl Engine {
    /// Gives an endpoint another address.
    ///
    /// # Errors
    /// [`EngineError::EndpointHasReports`] where it has reports and nobody says that it is the same authority: another
    /// one would show none of them, and each doubt would look like a report that never arrived.
    pub async fn set_endpoint_address(
        &self,
        name: &str,
        base: Url,
        same: SameAuthority,
    ) -> Result<(), EngineError> {
        let known = self.known_endpoint(name)?;
        let changed = Endpoint { base, ..known };
        Self::check_usable(&changed)?;
        let reports = self.journal().reports_at(name)?;
        if same == SameAuthority::Unknown && reports.all > 0 {
            let (name, all, open) = (name.to_owned(), reports.all, reports.open);
            return Err(EngineError::EndpointHasReports { name, all, open });
        }
        self.replace_endpoint(changed).await
    }

    /// Gives an endpoint another name; its reports, certificates and place in the search go with it.
    ///
    /// # Errors
    /// [`JournalError::Busy`] where another program works the queue: it would go on under the old name.
    pub async fn rename_endpoint(&self, from: &str, to: &str) -> Result<(), EngineError> {
        let known = self.known_endpoint(from)?;
        let renamed = Endpoint { name: to.to_owned(), ..known };
        // Ended in between, it goes on where it was: both names stand for one authority then, and the new one has no
        // certificate yet.
        let profile = self.profile();
        if let Some(other) = profile.endpoint_named(to)
            && (*other != renamed || profile.settings.certificate_of(to).is_some())
        {
            return Err(EngineError::EndpointExists(to.to_owned()));
        }
        let was_working = self.is_working().await;
        self.stop().await;
        let done = self.rename_alone(renamed, from);
        if was_working {
            self.start().await;
        }
        done
    }

    /// Both names stand in the settings until the journal has the new one.
    fn rename_alone(&self, renamed: Endpoint, from: &str) -> Result<(), EngineError> {
        let (journal, now) = (self.journal(), self.now());
        let life = i64::try_from(self.inner.timing.lease.as_micros()).unwrap_or(i64::MAX);
        let lease = journal.acquire_lease(&self.inner.holder, now, now.plus_micros(life))?;
        let LeaseAnswer::Held(lease) = lease else { return Err(JournalError::Busy.into()) };
        let to = renamed.name.clone();
        let done = self
            .change_settings(|settings| {
                if settings.endpoints.iter().all(|known| known.name != to) {
                    settings.endpoints.push(renamed);
                }
                Ok(())
            })
            .and_then(|()| Ok(journal.rename_endpoint(from, &to)?))
            .and_then(|()| self.change_settings(|settings| settings.take_name(from, &to)));
        // Failing to release only makes the next process wait for the lease to run out.
        let _ = journal.release_lease(&lease);
        done
    }

    /// Removes an endpoint. Its reports stay in the journal, its certificates stored.
    ///
    /// # Errors
    /// [`EngineError::EndpointNeeded`] where reports wait for something there; [`EngineError::EndpointInUse`] where it
    /// is in use and another could be.
    pub async fn remove_endpoint(&self, name: &str) -> Result<(), EngineError> {
        self.known_endpoint(name)?;
        let open = self.journal().reports_at(name)?.open;
        if open > 0 {
            return Err(EngineError::EndpointNeeded { name: name.to_owned(), open });
        }
        self.change_settings(|settings| {
            if settings.in_use.as_deref() == Some(name) {
                if settings.endpoints.len() > 1 {
                    return Err(EngineError::EndpointInUse(name.to_owned()));
                }
                settings.in_use = None;
            }
            settings.endpoints.retain(|known| known.name != name);
            settings.certificates.retain(|used| used.endpoint != name);
            Ok(())
        })?;
        self.restart().await;
        Ok(())
    }

    fn known_endpoint(&self, name: &str) -> Result<Endpoint, EngineError> {
        let known = self.profile().endpoint_named(name).cloned();
        known.ok_or_else(|| EngineError::UnknownEndpoint(name.to_owned()))
    }
}

impl Settings {
    /// What stands under one name stands under another, which is there already, from now on.
    fn take_name(&mut self, from: &str, to: &str) -> Result<(), EngineError> {
        let place = self.endpoints.iter().position(|known| known.name == from);
        let new = self.endpoints.iter().position(|known| known.name == to);
        if let (Some(place), Some(new)) = (place, new) {
            self.endpoints.swap(place, new);
            self.endpoints.retain(|known| known.name != from);
        }
        if self.in_use.as_deref() == Some(from) {
            self.in_use = Some(to.to_owned());
        }
        for used in self.certificates.iter_mut().filter(|used| used.endpoint == from) {
            to.clone_into(&mut used.endpoint);
        }
        Ok(())
    }
}
