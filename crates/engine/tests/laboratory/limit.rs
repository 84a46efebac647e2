//! An authority that limits how often it is asked.

use client::{Evidence, Fault, Why};
use engine::Clock as _;

use super::{MINUTE, Simulated, broken};

/// How many questions are answered.
#[derive(Debug, Default)]
pub(crate) struct Limit {
    /// So many in a minute; to all others it says that there are too many.
    pub(crate) per_minute: Option<u32>,
    /// The minute of the last question, and how many there were in it.
    minute: (i64, u32),
}

/// Too many requests: again in a minute.
fn too_many(status: u16) -> Fault {
    let (why, evidence) = (Why::Unavailable { status }, Evidence::default());
    let retry_after = Some(std::time::Duration::from_secs(60));
    Fault::Transient { why, retry_after, evidence: Some(Box::new(evidence)) }
}

impl Simulated {
    /// One more question, or too many.
    pub(super) fn count(&self) -> Result<(), Fault> {
        let minute = self.clock.now().0 / MINUTE;
        let limit = &mut self.service.lock().unwrap().limit;
        let (last, asked) = limit.minute;
        let asked = if last == minute { asked + 1 } else { 1 };
        limit.minute = (minute, asked);
        match limit.per_minute {
            Some(most) if asked > most => Err(too_many(429)),
            _ => Ok(()),
        }
    }

    /// What is answered where it chokes.
    pub(super) fn choked(&self) -> Fault {
        match self.service.lock().unwrap().chokes_with_patience {
            true => too_many(503),
            false => broken(),
        }
    }
}
