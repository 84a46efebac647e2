//! Certificates that are renewed: what was sent with a former one is shown to that one alone, where
//! each stands for a laboratory of its own at the authority.

use crate::computer::HOUR;
use crate::dice::Dice;

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
    /// Dice of its own, thrown only for seeds that were not kept before: those tell the same story.
    /// `is_restored`: the disk dies in this world.
    pub(crate) fn of_seed(seed: u64, quiet: i64, is_restored: bool) -> Self {
        let mut renewals = Self::default();
        if crate::is_of_before(seed, crate::RENEWALS) {
            return renewals;
        }
        let mut renew = Dice::new(seed.rotate_left(56) ^ 0x7265_6E65);
        if !renew.percent(30) {
            return renewals;
        }
        for _ in 0..renew.between(1, 2) {
            renewals.at.push(renew.time(0, quiet * 3 / 2));
        }
        renewals.at.sort_unstable();
        renewals.own_sight = renew.percent(60);
        // After a restore nobody can know what only an expired certificate would be shown.
        let is_lost = renewals.own_sight && is_restored;
        if !is_lost && renew.percent(40) {
            renewals.lapse = Some(renew.time(0, HOUR));
        }
        renewals
    }

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
