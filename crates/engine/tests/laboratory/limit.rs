//! An authority that limits how often it is asked.

use client::{Evidence, Fault, Why};
use engine::Clock as _;

use super::{MINUTE, Simulated};

/// How many questions are answered.
#[derive(Debug, Default)]
pub(crate) struct Limit {
    /// So many in a minute; to all others it says that there are too many.
    pub(crate) per_minute: Option<u32>,
    /// The minute of the last question, and how many there were in it.
    minute: (i64, u32),
}

/// Too many requests: again in a minute.
pub(crate) fn too_many(status: u16) -> Fault {
    let (why, evidence) = (Why::Unavailable { status }, Evidence::default());
    let retry_after = Some(std::time::Duration::from_secs(60));
    Fault::Transient { why, retry_after, evidence: Some(Box::new(evidence)) }
}

/// The authority refuses a question.
pub(crate) fn refused() -> Fault {
    Fault::Refused { answer: Box::default(), evidence: Box::default() }
}

/// An error of the server, whatever is asked.
pub(crate) fn broken() -> Fault {
    let (why, evidence) = (Why::Unavailable { status: 500 }, Evidence::default());
    Fault::Transient { why, retry_after: None, evidence: Some(Box::new(evidence)) }
}

impl Simulated {
    /// The number of nobody, or of another laboratory.
    pub(super) fn missing(&self) -> Fault {
        if self.service.lock().unwrap().forbids_others {
            let why = Why::Forbidden { status: 403 };
            return Fault::Locked { why, evidence: Some(Box::default()) };
        }
        let why = Why::NotFound { status: 404 };
        Fault::Transient { why, retry_after: None, evidence: None }
    }

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

    /// Whether the question for this delivery always ends with an error.
    pub(super) fn chokes_on_delivery(&self, identifier: &str) -> bool {
        let service = self.service.lock().unwrap();
        service.chokes_on_delivery.as_deref() == Some(identifier)
            || service.chokes_on_these.contains(identifier)
    }

    /// Never goes on once so many questions were asked as are to be answered.
    pub(super) async fn hang_at_last(&self) {
        let is_last = match &mut self.service.lock().unwrap().hangs_after {
            Some(0) => true,
            Some(left) => {
                *left -= 1;
                false
            }
            None => false,
        };
        if is_last {
            let hangs = self.service.lock().unwrap().hangs.clone();
            hangs.notify_one();
            std::future::pending::<()>().await;
        }
    }

    /// The question for this identifier may end in its own way.
    pub(super) fn ends_of(&self, identifier: &str) -> Result<(), Fault> {
        match &self.service.lock().unwrap().ends_for {
            Some((of, fault)) if of == identifier => Err(fault.clone()),
            _ => Ok(()),
        }
    }

    /// The question for this delivery may end in its own way, or as those for all do.
    pub(super) fn ends_for(&self, identifier: &str) -> Result<(), Fault> {
        self.ends_of(identifier)?;
        self.service.lock().unwrap().finds_end.clone().map_or(Ok(()), Err)
    }

    /// The list may end in its own way, or as the questions for deliveries.
    pub(super) fn list_ends(&self) -> Result<(), Fault> {
        self.all_end()?;
        self.service.lock().unwrap().list_ends.clone().map_or(Ok(()), Err)
    }

    /// The list and the questions for documents may end as those for deliveries.
    pub(super) fn all_end(&self) -> Result<(), Fault> {
        let service = self.service.lock().unwrap();
        service.finds_end.clone().filter(|_| service.all_end).map_or(Ok(()), Err)
    }
}
