//! Endpoints added, renamed, moved and removed. An endpoint stands for one authority: what was sent
//! there is followed there, whatever a person changes. What is kept of it is kept under its id, so
//! that another name changes the name alone; the journal notes what each is called and where it
//! leads, so that a backup finds its endpoints again.

pub(crate) mod certificates;
pub(crate) mod destination;
mod periods;

use client::HttpAuthority;
use exchange::Endpoint;
use journal::{EndpointNote, JournalError};
use url::Url;

use crate::profile::locked;
use crate::{CertificateUse, Engine, EngineError, Settings};

/// Whether the new address of an endpoint leads to the authority that the old one led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SameAuthority {
    /// A person says so: what is open is asked for and read there from now on.
    Yes,
    /// It is not known.
    Unknown,
}

impl Engine {
    /// Adds an endpoint; the first one is used at once. Where the profile has one certificate, it
    /// uses that.
    pub async fn add_endpoint(&self, endpoint: Endpoint) -> Result<(), EngineError> {
        Self::check_usable(&endpoint)?;
        let only = self.only_certificate();
        self.change_certificates(|settings, change| {
            settings.has_no(&endpoint.name)?;
            let id = self.id_for(&endpoint, settings)?;
            settings.in_use.get_or_insert_with(|| id.clone());
            if let Some(only) = only {
                Self::assign_only(settings, &id, &only, change);
            }
            let name = endpoint.name.clone();
            settings.endpoints.push(endpoint.identified(&id, &name));
            Ok(())
        })?;
        self.note_endpoints()?;
        self.restart().await;
        Ok(())
    }

    /// The id of a new endpoint: that of the reports that went to this address in this environment,
    /// where the journal has such and no endpoint has them; else its name, unless that stood for
    /// another authority before.
    fn id_for(&self, new: &Endpoint, settings: &Settings) -> Result<String, EngineError> {
        let notes = self.journal().endpoint_notes()?;
        let free = notes.iter().filter(|(id, _)| settings.endpoint(id).is_none());
        let same = free.filter(|(_, note)| new.leads_to(&note.base, &note.environment));
        if let Some(id) = named_or_only(&new.name, same.collect()) {
            return Ok(id);
        }
        let is_free = |id: &String| settings.endpoint(id).is_none() && !notes.contains_key(id);
        let numbered = (2_u32..).map(|number| format!("{}-{number}", new.name));
        let mut ids = std::iter::once(new.name.clone()).chain(numbered);
        Ok(ids.find(is_free).unwrap_or_default())
    }

    /// Whether an endpoint can work at all.
    pub(crate) fn check_usable(endpoint: &Endpoint) -> Result<(), EngineError> {
        if endpoint.base.scheme() != "https" {
            return Err(EngineError::EndpointUnusable { reason: "not-https".to_owned() });
        }
        match HttpAuthority::new(endpoint, None) {
            Ok(_) => Ok(()),
            Err(why) => Err(EngineError::EndpointUnusable { reason: why.code().to_owned() }),
        }
    }

    /// Replaces an endpoint of the same id (the practice authority's port changes at each start).
    pub async fn replace_endpoint(&self, endpoint: Endpoint) -> Result<(), EngineError> {
        self.change_settings(|settings| {
            match settings.endpoints.iter_mut().find(|known| known.id() == endpoint.id()) {
                Some(known) => *known = endpoint,
                None => return Err(EngineError::UnknownEndpoint(endpoint.name)),
            }
            Ok(())
        })?;
        self.note_endpoints()?;
        self.restart().await;
        Ok(())
    }

    /// Uses another endpoint for what is taken in from now on.
    pub async fn use_endpoint(&self, name: &str) -> Result<(), EngineError> {
        self.change_settings(|settings| {
            let id = settings.endpoint_named(name)?.id().to_owned();
            settings.in_use = Some(id);
            Ok(())
        })?;
        self.restart().await;
        Ok(())
    }

    /// Gives an endpoint another address. Where the authority has moved, the others that lead to it
    /// move too, also those that were removed.
    ///
    /// # Errors
    /// [`EngineError::EndpointHasReports`] where it has reports and nobody says that it is the same
    /// authority: another one would show none of them, and each doubt would look like a report that
    /// never arrived.
    pub async fn set_endpoint_address(
        &self,
        name: &str,
        base: Url,
        same: SameAuthority,
    ) -> Result<(), EngineError> {
        self.change_settings(|settings| {
            let known = settings.endpoint_named(name)?;
            let changed = Endpoint { base, ..known.clone() };
            Self::check_usable(&changed)?;
            let reports = self.journal().reports_at(known.id())?;
            if same == SameAuthority::Unknown && reports.all > 0 {
                let (name, all, open) = (name.to_owned(), reports.all, reports.open);
                return Err(EngineError::EndpointHasReports { name, all, open });
            }
            let before = std::mem::replace(known, changed.clone());
            if same == SameAuthority::Yes {
                settings.move_others(&before, &changed.base);
                self.move_removed(&before, &changed.base, settings)?;
            }
            Ok(())
        })?;
        self.note_endpoints()?;
        self.restart().await;
        Ok(())
    }

    /// What went by endpoints that were removed is with the authority that has moved. Of those that
    /// are there the settings say it.
    fn move_removed(
        &self,
        from: &Endpoint,
        to: &Url,
        settings: &Settings,
    ) -> Result<(), JournalError> {
        for (id, note) in self.journal().endpoint_notes()? {
            if settings.endpoint(&id).is_none() && from.leads_to(&note.base, &note.environment) {
                self.journal().note_endpoint(&id, EndpointNote { base: to.to_string(), ..note })?;
            }
        }
        Ok(())
    }

    /// Says whom an endpoint trusts and by which proxy it is reached. Its address stays, and all
    /// that is kept of it.
    pub async fn set_endpoint_way(
        &self,
        name: &str,
        ca_pem: Option<String>,
        proxy: Option<Url>,
    ) -> Result<(), EngineError> {
        self.change_settings(|settings| {
            let known = settings.endpoint_named(name)?;
            let changed = Endpoint { ca_pem, proxy, ..known.clone() };
            Self::check_usable(&changed)?;
            *known = changed;
            Ok(())
        })?;
        self.note_endpoints()?;
        self.restart().await;
        Ok(())
    }

    /// Gives an endpoint another name. Its id stays, and with it everything that is kept of it.
    pub async fn rename_endpoint(&self, from: &str, to: &str) -> Result<(), EngineError> {
        self.change_settings(|settings| {
            settings.endpoint_named(from)?;
            settings.has_no(to)?;
            let known = settings.endpoint_named(from)?;
            let id = known.id().to_owned();
            *known = known.clone().identified(&id, to);
            Ok(())
        })?;
        self.note_endpoints()?;
        self.restart().await;
        Ok(())
    }

    /// Removes an endpoint. Its reports stay in the journal, its certificates stored.
    ///
    /// # Errors
    /// [`EngineError::EndpointNeeded`] where reports wait for something there;
    /// [`EngineError::EndpointInUse`] where it is in use and another could be.
    pub async fn remove_endpoint(&self, name: &str) -> Result<(), EngineError> {
        // Before it is gone: the journal must know which authority its reports went to.
        self.note_endpoints()?;
        self.change_certificates(|settings, change| {
            let id = settings.endpoint_named(name)?.id().to_owned();
            let open = self.journal().reports_at(&id)?.open;
            if open > 0 {
                return Err(EngineError::EndpointNeeded { name: name.to_owned(), open });
            }
            if settings.in_use.as_ref() == Some(&id) {
                if settings.endpoints.len() > 1 {
                    return Err(EngineError::EndpointInUse(name.to_owned()));
                }
                settings.in_use = None;
            }
            settings.endpoints.retain(|known| known.id() != id);
            settings.leave_certificate(&id, change);
            Ok(())
        })?;
        self.restart().await;
        Ok(())
    }

    /// After the journal was opened: endpoints take over what it has of them from elsewhere, and it
    /// learns the others. What fails is done at the next start.
    pub(crate) fn settle_endpoints(&self) {
        let _ = self.adopt_reports().and_then(|()| Ok(self.note_endpoints()?));
    }

    /// Reports of a journal that was restored from elsewhere belong to the endpoint that leads to
    /// the same address in the same environment, unless that has reports of its own.
    fn adopt_reports(&self) -> Result<(), EngineError> {
        let (profile, notes) = (self.profile(), self.journal().endpoint_notes()?);
        for endpoint in &profile.settings.endpoints {
            let free = notes.iter().filter(|(id, _)| profile.endpoint_of(id).is_none());
            let same = free.filter(|(_, note)| endpoint.leads_to(&note.base, &note.environment));
            if let Some(id) = named_or_only(&endpoint.name, same.collect())
                && self.journal().reports_at(&id)?.all > 0
                && self.journal().reports_at(endpoint.id())?.all == 0
            {
                self.change_settings(|settings| {
                    settings.take_id(endpoint.id(), &id);
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    /// The journal learns what each endpoint is called and where it leads; ours knows what it has
    /// noted.
    pub(crate) fn note_endpoints(&self) -> Result<(), JournalError> {
        for endpoint in self.profile().settings.endpoints {
            let (name, base) = (endpoint.name.clone(), endpoint.base.to_string());
            let environment = endpoint.environment.code().to_owned();
            let note = EndpointNote { name, base, environment };
            self.journal().note_endpoint(endpoint.id(), note)?;
        }
        let noted = self.journal().endpoint_notes()?;
        locked(&self.inner.profile).noted = noted;
        Ok(())
    }
}

/// The one of this name, by id or as it was called; else the only one.
fn named_or_only(name: &str, found: Vec<(&String, &EndpointNote)>) -> Option<String> {
    let named = found.iter().find(|(id, note)| *id == name || note.name == name);
    let only = || (found.len() == 1).then(|| found.first()).flatten();
    named.or_else(only).map(|(id, _)| (*id).clone())
}

impl Settings {
    fn endpoint(&self, id: &str) -> Option<&Endpoint> {
        self.endpoints.iter().find(|known| known.id() == id)
    }

    fn endpoint_named(&mut self, name: &str) -> Result<&mut Endpoint, EngineError> {
        let known = self.endpoints.iter_mut().find(|known| known.name == name);
        known.ok_or_else(|| EngineError::UnknownEndpoint(name.to_owned()))
    }

    fn has_no(&self, name: &str) -> Result<(), EngineError> {
        match self.endpoints.iter().any(|known| known.name == name) {
            true => Err(EngineError::EndpointExists(name.to_owned())),
            false => Ok(()),
        }
    }

    /// The authority of an endpoint has moved, and with it that of all others that led there.
    fn move_others(&mut self, from: &Endpoint, to: &Url) {
        let before = (from.base.to_string(), from.environment.code());
        for other in &mut self.endpoints {
            if other.leads_to(&before.0, before.1) {
                other.base = to.clone();
            }
        }
    }

    /// What stands under one id, which has no reports, stands under another from now on.
    fn take_id(&mut self, from: &str, to: &str) {
        if self.endpoint(to).is_some() {
            return;
        }
        if let Some(known) = self.endpoints.iter_mut().find(|known| known.id() == from) {
            let name = known.name.clone();
            *known = known.clone().identified(to, &name);
        }
        if self.in_use.as_deref() == Some(from) {
            self.in_use = Some(to.to_owned());
        }
        // Behind those that an endpoint of the other id had until it was removed: the last is used.
        let of_it = self.certificates.extract_if(.., |used| used.endpoint == from);
        let moved: Vec<_> =
            of_it.map(|it| CertificateUse { endpoint: to.to_owned(), ..it }).collect();
        self.certificates.extend(moved);
    }
}
