//! The certificates of the laboratory, as they were changed.

use engine::{CertificateUse, Formerly};

use crate::world::World;

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
        let times = |after| self.observer.event_times(after).ok().flatten();
        let place = self.certificate() + 1;
        let change = CertificateUse::new("", &place.to_string(), self.computer.wall(), times(0));
        let mut certificates = crate::lock(&self.certificates);
        if let Some(before) = certificates.last_mut() {
            before.end(before.event.and_then(times));
        }
        certificates.push(change);
        drop(certificates);
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
