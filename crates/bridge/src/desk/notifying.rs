//! What is worth a notification of the system, and when: for whoever does not look at the window.
//! Codes and counts, never anything of a report; what one notification holds back, the next one
//! tells with the rest.

use std::sync::PoisonError;

use engine::{ConnectionState, Engine};
use fhir::Instant;

use super::{Desk, Laboratory};
use crate::problem::Problem;
use crate::rows::{counts_view, small};

/// Between two notifications, at least.
const PAUSE_SECONDS: i64 = 5 * 60;
/// So long the authority must be out of reach: networks come back by themselves.
const AWAY_SECONDS: i64 = 30 * 60;
/// A batch whose end is told has so many reports under way at once, and goes on for so long.
const BATCH_REPORTS: u32 = 20;
const BATCH_SECONDS: i64 = 2 * 60;
/// Days before the end of a certificate at which it is told, once each. 0 stands for its end.
const CERTIFICATE_DAYS: [i32; 6] = [60, 30, 14, 7, 1, 0];
/// Preference (in the practice profile) that keeps for which certificate it was told last, and at
/// which of these days.
const TOLD: &str = "told-certificate";

/// What a notification may say: the codes of its texts with their parameters.
pub const NOTIFICATIONS: &[(&str, &[&str])] = &[
    ("attention", &["count"]),
    ("stopped", &[]),
    ("away", &["count"]),
    ("notices", &["count"]),
    ("batch", &["count"]),
    ("certificate", &["days"]),
    ("certificate-over", &[]),
];

/// One line of a notification: a code, and its number where it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotificationLine {
    /// Its code, one of [`NOTIFICATIONS`].
    pub code: &'static str,
    /// The value of its parameter.
    pub number: Option<i64>,
}

const fn line(code: &'static str, number: i64) -> NotificationLine {
    NotificationLine { code, number: Some(number) }
}

/// Whether reports can leave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Way {
    #[default]
    Open,
    /// It opens again by itself.
    Away,
    /// A person must do something.
    Stopped,
}

/// What there is, as counted at one moment.
#[derive(Debug, Clone, Default)]
struct Seen {
    attention: u32,
    notices: u32,
    /// Reports whose end is not known.
    moving: u32,
    completed: u32,
    way: Way,
    /// Fingerprint and days left.
    certificate: Option<(String, i32)>,
}

/// Reports that were sent together, or nearly.
#[derive(Debug, Clone, Copy)]
struct Batch {
    since: Instant,
    most: u32,
    completed_before: u32,
}

/// What people know already: they have seen it in the window, or it was told.
#[derive(Debug, Default)]
pub(super) struct Told {
    attention: u32,
    notices: u32,
    stopped: bool,
    away_since: Option<Instant>,
    away: bool,
    batch: Option<Batch>,
    /// Completed reports of a long batch that has ended.
    ended: Option<u32>,
    certificate: Option<(String, i32)>,
    last: Option<Instant>,
}

impl Told {
    /// What is to be told now. `in_view`: the window is in front, and shows it. Whoever does not
    /// want to be told has nothing to catch up with later.
    fn look(
        &mut self,
        seen: &Seen,
        in_view: bool,
        is_wanted: bool,
        now: Instant,
    ) -> Vec<NotificationLine> {
        self.follow(seen, now);
        if in_view || !is_wanted {
            self.know(seen, now);
        }
        if !is_wanted || self.last.is_some_and(|last| is_within(last, now, PAUSE_SECONDS)) {
            return Vec::new();
        }
        let lines = self.lines(seen, now);
        if !lines.is_empty() {
            self.know(seen, now);
            self.certificate =
                seen.certificate.as_ref().and_then(told_of).or(self.certificate.take());
            self.last = Some(now);
        }
        lines
    }

    /// Follows what comes and goes.
    fn follow(&mut self, seen: &Seen, now: Instant) {
        // What has become less and then more again is new.
        self.attention = self.attention.min(seen.attention);
        self.notices = self.notices.min(seen.notices);
        self.stopped &= seen.way == Way::Stopped;
        if seen.way == Way::Away {
            self.away_since.get_or_insert(now);
        } else {
            (self.away_since, self.away) = (None, false);
        }
        match (&mut self.batch, seen.moving) {
            (None, 0) => {}
            (None, most) => {
                let completed_before = seen.completed;
                self.batch = Some(Batch { since: now, most, completed_before });
            }
            (Some(batch), 0) => {
                let is_long =
                    batch.most >= BATCH_REPORTS && !is_within(batch.since, now, BATCH_SECONDS);
                let completed = seen.completed.saturating_sub(batch.completed_before);
                // One of which nothing was completed is told by what needs a person.
                if is_long && completed > 0 {
                    self.ended = Some(completed);
                }
                self.batch = None;
            }
            (Some(batch), moving) => batch.most = batch.most.max(moving),
        }
    }

    /// All of this is known now, but for the certificate, which is told once each, whoever looks at
    /// the window.
    fn know(&mut self, seen: &Seen, now: Instant) {
        (self.attention, self.notices) = (seen.attention, seen.notices);
        self.stopped = seen.way == Way::Stopped;
        self.away |= self.holds_up_for_long(seen, now);
        self.ended = None;
    }

    /// The authority is out of reach for long, and reports wait for it.
    fn holds_up_for_long(&self, seen: &Seen, now: Instant) -> bool {
        let is_long = self.away_since.is_some_and(|since| !is_within(since, now, AWAY_SECONDS));
        is_long && seen.moving > 0
    }

    fn lines(&self, seen: &Seen, now: Instant) -> Vec<NotificationLine> {
        let mut lines = Vec::new();
        if seen.attention > self.attention {
            lines.push(line("attention", i64::from(seen.attention)));
        }
        if seen.way == Way::Stopped && !self.stopped {
            lines.push(NotificationLine { code: "stopped", number: None });
        }
        if self.holds_up_for_long(seen, now) && !self.away {
            lines.push(line("away", i64::from(seen.moving)));
        }
        if seen.notices > self.notices {
            lines.push(line("notices", i64::from(seen.notices)));
        }
        if let Some(completed) = self.ended {
            lines.push(line("batch", i64::from(completed)));
        }
        if let Some((fingerprint, days)) = seen.certificate.as_ref().and_then(told_of) {
            let before = self.certificate.as_ref().filter(|(known, _)| *known == fingerprint);
            if before.is_none_or(|(_, before)| days < *before) {
                lines.push(match &seen.certificate {
                    Some((_, left)) if *left >= 0 => line("certificate", i64::from(*left)),
                    _ => NotificationLine { code: "certificate-over", number: None },
                });
            }
        }
        lines
    }
}

/// The last of the days at which a certificate is told that it has come to; `None` while it is
/// valid for longer.
fn told_of(certificate: &(String, i32)) -> Option<(String, i32)> {
    let (fingerprint, left) = certificate;
    let reached = |days: &&i32| if **days == 0 { *left < 0 } else { *left <= **days };
    let days = CERTIFICATE_DAYS.iter().rev().find(reached)?;
    Some((fingerprint.clone(), *days))
}

/// A clock that was put back holds nothing up.
fn is_within(since: Instant, now: Instant, seconds: i64) -> bool {
    now >= since && now < since.plus_seconds(seconds)
}

impl Desk {
    /// The lines of a notification that is due now, and is then taken for shown; empty where there
    /// is none. It speaks of the laboratory, whichever room is in use, and of practice where there
    /// is no laboratory.
    pub async fn due_notification(&self, in_view: bool) -> Result<Vec<NotificationLine>, Problem> {
        // What is closed for a moment is told about by nobody; nor are its reports told anew then.
        if self.is_restoring() {
            return Ok(Vec::new());
        }
        let is_wanted = self.preferences().await?.notifications;
        let (seen, now) = (self.seen()?, self.engine().now());
        let (lines, certificate) = {
            let mut told = self.inner.told.lock().unwrap_or_else(PoisonError::into_inner);
            let before = told.certificate.clone();
            let lines = told.look(&seen, in_view, is_wanted, now);
            (lines, told.certificate.clone().filter(|told| Some(told) != before.as_ref()))
        };
        if let Some(certificate) = certificate {
            let kept = serde_json::json!(certificate);
            self.inner.practice_engine.change_settings(|settings| {
                settings.preferences.insert(TOLD.to_owned(), kept);
                Ok(())
            })?;
        }
        Ok(lines)
    }

    fn seen(&self) -> Result<Seen, Problem> {
        let engine = match &*self.laboratory() {
            Laboratory::Open(engine) => engine.clone(),
            Laboratory::Absent => self.inner.practice_engine.clone(),
            Laboratory::Closed(_) => return Ok(Seen { way: Way::Stopped, ..Seen::default() }),
        };
        let counts = engine.journal().counts(engine.now())?;
        let view = counts_view(&counts);
        let way = match engine.connection().borrow().state {
            ConnectionState::Locked(_) => Way::Stopped,
            ConnectionState::Unreachable(_) | ConnectionState::JournalUnavailable(_) => Way::Away,
            _ => Way::Open,
        };
        Ok(Seen {
            attention: view.needs_attention,
            notices: small(engine.journal().notices()?.len() as u64),
            moving: super::status::moving(&counts),
            completed: view.completed,
            way,
            certificate: self.certificate_seen(&engine),
        })
    }

    /// That of the laboratory, which waits while practice is in use; of practice none, for it is
    /// made anew by itself.
    fn certificate_seen(&self, laboratory: &Engine) -> Option<(String, i32)> {
        if laboratory.profile().is_practice() {
            return None;
        }
        let found = if self.place().is_practice {
            let known = self.inner.laboratory_certificate.read();
            known.unwrap_or_else(PoisonError::into_inner).as_ref().map(|(found, _)| found.clone())
        } else {
            self.inner.certificate.read().unwrap_or_else(PoisonError::into_inner).clone()
        };
        let found = found?;
        let left = i32::try_from(found.days_left(laboratory.now())).unwrap_or(i32::MAX);
        Some((found.fingerprint_sha256.clone(), left))
    }

    /// What was told before the last end of the program.
    pub(super) fn told_before(practice: &Engine) -> Told {
        let kept = practice.profile().settings.preferences.get(TOLD).cloned();
        let certificate = kept.and_then(|kept| serde_json::from_value(kept).ok());
        Told { certificate, ..Told::default() }
    }
}

#[cfg(test)]
#[path = "notifying_tests.rs"]
mod tests;
