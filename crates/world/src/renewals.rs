//! Certificates that are renewed: what was sent with a former one is shown to that one alone, where
//! each stands for a laboratory of its own at the authority.

use engine::{CertificateUse, Formerly};

use crate::computer::HOUR;
use crate::dice::Dice;
use crate::world::{Plan, World};

/// What becomes of the certificate.
#[derive(Debug, Clone, Default)]
pub(crate) struct Renewals {
    /// When it is renewed.
    pub(crate) at: Vec<i64>,
    /// Each certificate is shown only what was sent with it.
    pub(crate) own_sight: bool,
    /// So long after it was replaced a certificate has expired.
    pub(crate) lapse: Option<i64>,
}

impl Renewals {
    /// Whether a certificate, by its place, has expired.
    pub(crate) fn has_lapsed(&self, certificate: usize, now: i64) -> bool {
        let replaced = self.at.get(certificate);
        self.lapse.zip(replaced).is_some_and(|(after, at)| now >= at + after)
    }

    /// Whether what was sent with a certificate is shown to none that can be used.
    pub(crate) fn is_hidden(&self, certificate: usize, now: i64) -> bool {
        self.own_sight && self.has_lapsed(certificate, now)
    }
}

impl Plan {
    /// Dice of its own, thrown only for seeds that were not kept before: those tell the same story.
    pub(crate) fn add_renewals(&mut self, seed: u64) {
        if crate::is_of_before(seed, crate::RENEWALS) {
            return;
        }
        let mut renew = Dice::new(seed.rotate_left(56) ^ 0x7265_6E65);
        if !renew.percent(30) {
            return;
        }
        for _ in 0..renew.between(1, 2) {
            self.renewals.at.push(renew.time(0, self.quiet * 3 / 2));
        }
        self.renewals.at.sort_unstable();
        self.renewals.own_sight = renew.percent(60);
        // After a restore nobody can know what only an expired certificate would be shown.
        let is_lost = self.renewals.own_sight && self.set_back.is_some();
        if !is_lost && renew.percent(40) {
            self.renewals.lapse = Some(renew.time(0, HOUR));
        }
    }
}

impl World {
    /// The certificate in use, by its place.
    pub(crate) fn certificate(&self) -> usize {
        crate::lock(&self.certificates).len().saturating_sub(1)
    }

    /// Whether what was sent with a certificate is shown to the one in use.
    pub(crate) fn is_shown(&self, certificate: usize) -> bool {
        !self.plan.renewals.own_sight || certificate == self.certificate()
    }

    /// A person renews it.
    pub(crate) fn renew(&self) {
        let newest = self.observer.newest_event_at().ok().flatten();
        let place = self.certificate() + 1;
        let change = CertificateUse::new("", &place.to_string(), self.computer.wall(), newest);
        crate::lock(&self.certificates).push(change);
        self.note("person", || format!("uses certificate {}", place + 1));
    }

    /// The ways with the certificates that were used before the one in use, by their places.
    pub(crate) fn former_ways<A>(&self, way: impl Fn(usize) -> A) -> Vec<Formerly<A>> {
        let changes = crate::lock(&self.certificates);
        let changes: Vec<&CertificateUse> = changes.iter().collect();
        let now = self.computer.wall();
        Formerly::of_changes(&changes, now, |fingerprint| fingerprint.parse().ok().map(&way))
    }
}
