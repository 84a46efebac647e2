//! Which certificate is used where. Each endpoint has its own: the authority gives one for its
//! integration system and another for production, and a group of laboratories may have several.

use std::collections::{BTreeMap, BTreeSet};

use client::HttpAuthority;
use exchange::Endpoint;
use fhir::Instant;
use identity::{Identity, Inspection, SecretsError};
use journal::{EventTimes, JournalError, OpenReport};
use report::{State, SubmissionId};

use super::periods::{self, Used};
use crate::profile::VERSION;
use crate::reconcile::REACH_SECONDS;
use crate::worker::Formerly;
use crate::{CertificateUse, Engine, EngineError, Obstacle, SENT_BEFORE_SECONDS, Settings};

/// An endpoint and its authority, asked as each of the laboratory's certificates; some of them may
/// not be usable now.
pub type WaysToReport = (Endpoint, Vec<Result<HttpAuthority, Obstacle>>);

/// Stands for no certificate, from when on an endpoint has none.
const NONE: &str = "";

/// When a certificate changes, by the clock and by what the journal knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    now: Instant,
    known: Option<EventTimes>,
    /// What the journal knows since an endpoint uses what it uses now, by the number of the last
    /// event of before.
    during: BTreeMap<i64, EventTimes>,
}

/// A stored certificate, and what it is used for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCertificate {
    /// SHA-256 of the certificate, `AB:CD:…`.
    pub fingerprint: String,
    /// What can be told of it; `None` where it is damaged: it is to be imported again or removed.
    pub inspection: Option<Inspection>,
    /// Endpoints that use it now.
    pub endpoints: Vec<String>,
    /// Endpoints that used it before another one took its place.
    pub formerly: Vec<String>,
    /// Reports that were sent with it and whose end is not known yet.
    pub open: u32,
}

impl Settings {
    /// Fingerprint of the certificate that an endpoint uses now, by its id.
    pub fn certificate_of(&self, endpoint: &str) -> Option<&str> {
        let last = self.certificates.iter().rev().find(|it| it.endpoint == endpoint)?;
        Some(last.fingerprint.as_str()).filter(|it| *it != NONE)
    }

    /// A certificate is there no more. An endpoint that uses it has none from now on: another one
    /// that it used before is used again only where a person says so. That it was used, and when,
    /// is kept: what was sent with it is shown to no other one, perhaps, so that an empty answer to
    /// those proves nothing.
    fn forget_certificate(&mut self, fingerprint: &str, change: &Change) {
        let uses_it = |it: &&Endpoint| self.certificate_of(it.id()) == Some(fingerprint);
        let using = self.endpoints.iter().filter(uses_it);
        let using: Vec<String> = using.map(|it| it.id().to_owned()).collect();
        for endpoint in using {
            self.leave_certificate(&endpoint, change);
        }
    }

    /// An endpoint has no certificate from now on, or is removed. Which it had, and when, is kept:
    /// where it is added again, what was sent before is asked for with those.
    pub(super) fn leave_certificate(&mut self, endpoint: &str, change: &Change) {
        if self.certificate_of(endpoint).is_some() {
            self.change_certificate(endpoint, NONE, change);
        }
    }

    /// Lets an endpoint use a certificate from now on.
    fn use_certificate(&mut self, endpoint: &str, fingerprint: &str, change: &Change) {
        if self.certificate_of(endpoint) != Some(fingerprint) {
            self.change_certificate(endpoint, fingerprint, change);
        }
    }

    fn change_certificate(&mut self, endpoint: &str, fingerprint: &str, change: &Change) {
        let before = self.certificates.iter_mut().rev().find(|it| it.endpoint == endpoint);
        if let Some(before) = before {
            before.end(before.event.and_then(|event| change.during.get(&event).copied()));
        }
        let Change { now, known, .. } = *change;
        self.certificates.push(CertificateUse::new(endpoint, fingerprint, now, known));
    }

    /// Numbers of the last event of before, for what each endpoint uses now.
    fn certificates_since(&self) -> BTreeSet<i64> {
        // Of each endpoint the last one stays.
        let last: BTreeMap<&str, Option<i64>> =
            self.certificates.iter().map(|it| (it.endpoint.as_str(), it.event)).collect();
        last.into_values().flatten().collect()
    }

    /// The changes of an endpoint's certificate, as they were made.
    fn certificate_uses(&self, endpoint: &str) -> Vec<&CertificateUse> {
        self.certificates.iter().filter(|it| it.endpoint == endpoint).collect()
    }

    /// Whether a report was sent with a certificate, or may have been.
    fn may_have_sent(&self, fingerprint: &str, report: &OpenReport, now: Instant) -> bool {
        let sent = sent_at(report);
        let periods = periods::periods(&self.certificate_uses(&report.endpoint), now);
        periods.iter().any(|it| it.fingerprint == fingerprint && it.covers(sent))
    }

    /// Certificates that an endpoint used before the one that it uses now.
    fn certificates_before(&self, endpoint: &str, now: Instant) -> Vec<Used<'_>> {
        used_before(&self.certificate_uses(endpoint), now)
    }

    /// Profiles of the first version had one certificate for all of their endpoints.
    pub(crate) fn migrate_certificates(&mut self, stored: &[identity::StoredIdentity]) {
        if let [only] = stored
            && self.certificates.is_empty()
        {
            let ids: Vec<String> = self.endpoints.iter().map(|it| it.id().to_owned()).collect();
            for id in ids {
                let always = Change { now: Instant(0), known: None, during: BTreeMap::new() };
                self.use_certificate(&id, &only.fingerprint, &always);
            }
        }
        self.version = VERSION;
    }
}

/// Of all changes of one endpoint, as they were made: the certificates that it used before the one
/// that it uses now.
fn used_before<'a>(changes: &[&'a CertificateUse], now: Instant) -> Vec<Used<'a>> {
    let in_use = changes.last().map(|it| it.fingerprint.as_str());
    let mut all = periods::periods(changes, now);
    all.pop();
    all.retain(|it| Some(it.fingerprint) != in_use && it.fingerprint != NONE);
    all
}

impl<A> Formerly<A> {
    /// Of all changes of one endpoint's certificate, as they were made: those that it used before
    /// the one that it uses now. `way` says how the authority is asked with one, by its
    /// fingerprint; `None` where it cannot be used.
    pub fn of_changes(
        changes: &[&CertificateUse],
        now: Instant,
        way: impl Fn(&str) -> Option<A>,
    ) -> Vec<Self> {
        used_before(changes, now).into_iter().map(|used| Self::of(used, &way)).collect()
    }

    fn of(used: Used<'_>, way: impl Fn(&str) -> Option<A>) -> Self {
        let Used { fingerprint, from, until, alone_until, through } = used;
        Self { from, until, alone_until, through, authority: way(fingerprint) }
    }
}

/// When the last request of an open report left, or when it was accepted.
fn sent_at(report: &OpenReport) -> Instant {
    match report.state {
        State::Sending { since, .. }
        | State::Unknown { since, .. }
        | State::InProgress { since, .. } => since,
        _ => report.created,
    }
}

impl Engine {
    /// The certificate of the endpoint in use; where there is no endpoint yet, the only one that is
    /// stored.
    pub fn certificate(&self) -> Result<Option<Inspection>, EngineError> {
        let settings = self.profile().settings;
        let all = self.secrets().identities()?;
        let wanted = match &settings.in_use {
            Some(endpoint) => settings.certificate_of(endpoint),
            None => None,
        };
        let found = match (wanted, &settings.in_use, all.as_slice()) {
            (Some(wanted), ..) => all.iter().find(|it| it.fingerprint == wanted),
            (None, None, [only]) => Some(only),
            _ => None,
        };
        match found {
            Some(found) if found.inspection.is_none() => {
                Err(SecretsError::Damaged { name: "identity" }.into())
            }
            found => Ok(found.and_then(|found| found.inspection.clone())),
        }
    }

    /// All certificates, with what each is used for.
    pub fn certificates(&self) -> Result<Vec<StoredCertificate>, EngineError> {
        let profile = self.profile();
        let settings = &profile.settings;
        let (open, now) = (self.journal().open_reports()?, self.now());
        let stored = self.secrets().identities()?.into_iter();
        let all = stored.map(|stored| {
            let uses_it = |endpoint: &&Endpoint| {
                settings.certificate_of(endpoint.id()) == Some(&stored.fingerprint)
            };
            let endpoints = settings.endpoints.iter().filter(uses_it);
            let endpoints: Vec<String> = endpoints.map(|it| it.name.clone()).collect();
            let used = settings.certificates.iter();
            let used = used.filter(|it| it.fingerprint == stored.fingerprint);
            let mut formerly: Vec<String> = used.map(|it| profile.name_of(&it.endpoint)).collect();
            formerly.retain(|name| !endpoints.contains(name));
            formerly.sort();
            formerly.dedup();
            let sent =
                |report: &&OpenReport| settings.may_have_sent(&stored.fingerprint, report, now);
            let open = u32::try_from(open.iter().filter(sent).count()).unwrap_or(u32::MAX);
            let (fingerprint, inspection) = (stored.fingerprint, stored.inspection);
            StoredCertificate { fingerprint, inspection, endpoints, formerly, open }
        });
        Ok(all.collect())
    }

    /// The certificate and key with which an endpoint is asked, by its id.
    pub fn client_identity(&self, endpoint: &str) -> Result<Option<Identity>, SecretsError> {
        match self.profile().settings.certificate_of(endpoint) {
            Some(fingerprint) => self.secrets().identity(fingerprint),
            None => Ok(None),
        }
    }

    /// Stores a certificate with its key. The endpoints that are named use it from now on; where
    /// none is named, the one in use and those that have none yet. What they used before stays
    /// stored.
    pub async fn import_certificate(
        &self,
        identity: &Identity,
        endpoints: &[String],
    ) -> Result<Inspection, EngineError> {
        let settings = self.profile().settings;
        let names = if endpoints.is_empty() {
            let takes_it = |endpoint: &&Endpoint| {
                settings.in_use.as_deref() == Some(endpoint.id())
                    || settings.certificate_of(endpoint.id()).is_none()
            };
            settings.endpoints.iter().filter(takes_it).map(|it| it.name.clone()).collect()
        } else {
            endpoints.to_vec()
        };
        // Before anything is stored: an import for an endpoint that does not exist changes nothing.
        let ids = self.ids_of(&names)?;
        self.secrets().store_identity(identity)?;
        let inspection = identity.inspect();
        self.assign(&inspection.fingerprint_sha256, &ids).await?;
        Ok(inspection)
    }

    /// Lets an endpoint use a certificate that is stored already.
    pub async fn use_certificate(
        &self,
        fingerprint: &str,
        endpoint: &str,
    ) -> Result<(), EngineError> {
        let names = [endpoint.to_owned()];
        let ids = self.ids_of(&names)?;
        self.known_certificate(fingerprint)?;
        self.assign(fingerprint, &ids).await
    }

    /// Removes a certificate with its key, which nobody can bring back.
    ///
    /// # Errors
    /// [`EngineError::CertificateNeeded`] where an endpoint uses it, or reports that were sent with
    /// it are open, unless the caller says that this is known.
    pub async fn remove_certificate(
        &self,
        fingerprint: &str,
        although_needed: bool,
    ) -> Result<(), EngineError> {
        let found = self.known_certificate(fingerprint)?;
        if !although_needed && (found.open > 0 || !found.endpoints.is_empty()) {
            let (endpoints, open) = (found.endpoints, found.open);
            return Err(EngineError::CertificateNeeded { endpoints, open });
        }
        self.change_certificates(|settings, change| {
            settings.forget_certificate(fingerprint, change);
            Ok(())
        })?;
        self.secrets().remove_identity(fingerprint)?;
        self.restart().await;
        Ok(())
    }

    /// A connection to an endpoint with its certificate.
    pub fn authority(&self, endpoint: &Endpoint) -> Result<HttpAuthority, Obstacle> {
        self.authority_as(endpoint, self.profile().settings.certificate_of(endpoint.id()))
    }

    fn authority_as(
        &self,
        endpoint: &Endpoint,
        fingerprint: Option<&str>,
    ) -> Result<HttpAuthority, Obstacle> {
        let identity = fingerprint.map_or(Ok(None), |it| self.secrets().identity(it));
        let identity = identity.map_err(|problem| {
            Obstacle::new("client-certificate-unavailable", &[("reason", problem.code())])
        })?;
        let Some(identity) = identity else {
            return Err(Obstacle::new("client-certificate-missing", &[]));
        };
        HttpAuthority::new(endpoint, Some(&identity))
            .map_err(|problem| Obstacle::new("endpoint-unusable", &[("reason", problem.code())]))
    }

    /// Where a report went, and the ways to ask there for it: the certificate in use, then those
    /// that were used before, because the one that it was sent with is shown it and another one may
    /// not be.
    pub fn ways_to_report(&self, id: SubmissionId) -> Result<WaysToReport, EngineError> {
        let endpoint = self.endpoint_of_report(id)?;
        let settings = self.profile().settings;
        // One that was replaced before the report was taken in is shown nothing of it, and is
        // expired, perhaps.
        let first = match self.journal().restored_since(id)? {
            Some(_) => Instant(i64::MIN),
            None => self.journal().row(id)?.created,
        };
        let mut former: Vec<&str> = settings
            .certificates_before(endpoint.id(), self.now())
            .into_iter()
            .filter(|it| first < it.until.plus_seconds(SENT_BEFORE_SECONDS))
            .map(|it| it.fingerprint)
            .collect();
        former.sort_unstable();
        former.dedup();
        let former = former.into_iter().map(|it| self.authority_as(&endpoint, Some(it)));
        let ways = std::iter::once(self.authority(&endpoint)).chain(former).collect();
        Ok((endpoint, ways))
    }

    /// Connections to an endpoint with the certificates that it used before: whatever was sent with
    /// one of them is asked for with that one, also what failed long ago and is to be sent again.
    pub(crate) fn former_ways(&self, endpoint: &Endpoint) -> Vec<Formerly<HttpAuthority>> {
        self.ways_since(endpoint, Instant(i64::MIN))
    }

    /// Connections with the certificates that an endpoint used in the time that the journal has
    /// forgotten: what was sent then may be shown to those alone. None where the journal was never
    /// restored.
    pub(crate) fn forgotten_ways(
        &self,
        endpoint: &Endpoint,
    ) -> Result<Vec<Formerly<HttpAuthority>>, JournalError> {
        if !self.journal().was_restored()? {
            return Ok(Vec::new());
        }
        // As far before the end of what was restored as the search reaches: clocks differ.
        let since = self.journal().forgotten()?.and_then(|forgotten| forgotten.since);
        let since = since.map(|since| since.plus_seconds(-REACH_SECONDS));
        Ok(self.ways_since(endpoint, since.unwrap_or(Instant(i64::MIN))))
    }

    /// Connections with the certificates that an endpoint used at a time or later, but the one that
    /// is in use now.
    fn ways_since(&self, endpoint: &Endpoint, first: Instant) -> Vec<Formerly<HttpAuthority>> {
        let settings = self.profile().settings;
        // Somewhat longer: a delivery may have been under way when it was replaced.
        let late = |until: Instant| until.plus_seconds(SENT_BEFORE_SECONDS);
        let all = settings.certificates_before(endpoint.id(), self.now()).into_iter();
        let needed = all.filter(|it| first < late(it.until));
        let way = |fingerprint: &str| {
            let identity = self.secrets().identity(fingerprint).ok().flatten();
            identity.and_then(|it| HttpAuthority::new(endpoint, Some(&it)).ok())
        };
        needed.map(|used| Formerly::of(used, way)).collect()
    }

    /// A new endpoint uses the certificate of this profile where there is only one; otherwise a
    /// person chooses.
    pub(crate) fn only_certificate(&self) -> Option<String> {
        // A keychain that is locked now is no reason to refuse an endpoint.
        match self.secrets().identities().ok()?.as_slice() {
            [only] => Some(only.fingerprint.clone()),
            _ => None,
        }
    }

    /// The stored certificate with this fingerprint.
    fn known_certificate(&self, fingerprint: &str) -> Result<StoredCertificate, EngineError> {
        let found = self.certificates()?.into_iter().find(|it| it.fingerprint == fingerprint);
        found.ok_or_else(|| EngineError::UnknownCertificate(fingerprint.to_owned()))
    }

    fn ids_of(&self, names: &[String]) -> Result<Vec<String>, EngineError> {
        let profile = self.profile();
        let id = |name: &String| match profile.endpoint_named(name) {
            Some(known) => Ok(known.id().to_owned()),
            None => Err(EngineError::UnknownEndpoint(name.clone())),
        };
        names.iter().map(id).collect()
    }

    /// Changes which certificates are used. The time of that is taken when the settings are held,
    /// which another program may do for long: requests go with the former one until then. Little
    /// may follow it, so the events are looked at before, which reads all of them; what came
    /// meanwhile is soon read.
    pub(super) fn change_certificates(
        &self,
        change: impl FnOnce(&mut Settings, &Change) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let journal = self.journal();
        let before = journal.event_times(0)?;
        let mut during = BTreeMap::new();
        for since in self.profile().settings.certificates_since() {
            during.extend(journal.event_times(since)?.map(|times| (since, times)));
        }
        self.change_settings(|settings| {
            let now = self.now();
            let meanwhile = journal.event_times(before.map_or(0, |before| before.last))?;
            let known = EventTimes::of_both(before, meanwhile);
            during
                .values_mut()
                .for_each(|times| *times = meanwhile.map_or(*times, |it| times.and(it)));
            change(settings, &Change { now, known, during })
        })
    }

    async fn assign(&self, fingerprint: &str, endpoints: &[String]) -> Result<(), EngineError> {
        self.change_certificates(|settings, change| {
            for endpoint in endpoints {
                settings.use_certificate(endpoint, fingerprint, change);
            }
            Ok(())
        })?;
        self.restart().await;
        Ok(())
    }

    pub(crate) fn assign_only(
        settings: &mut Settings,
        endpoint: &str,
        only: &str,
        change: &Change,
    ) {
        if settings.certificate_of(endpoint).is_none() {
            settings.use_certificate(endpoint, only, change);
        }
    }
}

#[cfg(test)]
mod tests;
