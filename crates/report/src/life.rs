//! The life cycle: one function says what may follow what.

use fhir::Instant;

use crate::{Event, Illegal, State};

impl State {
    /// The state after the first event of a submission.
    pub fn first(event: &Event) -> Result<Self, Illegal> {
        match event {
            Event::Queued { due } => Ok(Self::queued(0, *due)),
            Event::Held => Ok(Self::Held { attempt: 0 }),
            other => Err(Illegal { state: "none", event: other.code() }),
        }
    }

    const fn queued(attempt: u32, due: Instant) -> Self {
        Self::Queued { attempt, due, refusals: 0 }
    }

    /// What may follow what. Repeated answers of the authority leave the state as it is; answers never
    /// move a status backwards (R4).
    pub fn apply(&self, event: &Event) -> Result<Self, Illegal> {
        self.after_our_step(event)
            .or_else(|| self.after_doubt(event))
            .or_else(|| self.after_answer(event))
            .or_else(|| self.after_a_word(event))
            .ok_or(Illegal { state: self.code(), event: event.code() })
    }

    /// After what we did: queueing, sending, and what provably did not arrive.
    fn after_our_step(&self, event: &Event) -> Option<Self> {
        Some(match (self, event) {
            (Self::Queued { attempt, refusals, .. }, Event::SendingStarted { since }) => {
                let attempt = attempt.saturating_add(1);
                Self::Sending { attempt, since: *since, refusals: *refusals }
            }
            (Self::Sending { attempt, refusals, .. }, Event::Deferred { due, .. }) => {
                Self::Queued { attempt: *attempt, due: *due, refusals: *refusals }
            }
            (Self::Sending { attempt, refusals, .. }, Event::TurnedAway { due, .. }) => {
                let refusals = refusals.saturating_add(1);
                Self::Queued { attempt: *attempt, due: *due, refusals }
            }
            (Self::Sending { attempt, .. }, Event::HeldAfterRefusals { .. }) => {
                Self::Held { attempt: *attempt }
            }
            _ => return None,
        })
    }

    /// Into doubt, within it, and out of it where the authority shows nothing.
    fn after_doubt(&self, event: &Event) -> Option<Self> {
        // Not only from `Sending`: after a restore the journal may have forgotten a request, and begins to
        // ask anew whatever it believed.
        if let (
            Self::Queued { attempt, .. }
            | Self::Sending { attempt, .. }
            | Self::Unknown { attempt, .. },
            Event::Doubted { since, due, why },
        ) = (self, event)
        {
            let before = matches!(self, Self::Unknown { refused: true, .. });
            return Some(Self::Unknown {
                attempt: *attempt,
                since: *since,
                asked: 0,
                due: *due,
                empty_since: None,
                refused: before || why == Event::WHY_REFUSED,
            });
        }
        let &Self::Unknown { attempt, since, asked, empty_since, refused, .. } = self else {
            return None;
        };
        Some(match event {
            Event::AskedInVain { due, answered } => Self::Unknown {
                attempt,
                since,
                asked: asked.saturating_add(1),
                due: *due,
                // Where that clock is set back, time counts from there.
                empty_since: match (empty_since, *answered) {
                    (Some(first), Some(answered)) => Some(first.min(answered)),
                    (first, answered) => first.or(answered),
                },
                refused,
            },
            Event::NotAnswered { due, in_vain, .. } => {
                let asked = asked.saturating_add(u32::from(*in_vain));
                Self::Unknown { attempt, since, asked, due: *due, empty_since, refused }
            }
            Event::NotReceived { due } => Self::queued(attempt, *due),
            _ => return None,
        })
    }

    /// After the authority's answers.
    fn after_answer(&self, event: &Event) -> Option<Self> {
        Some(match (self, event) {
            (Self::Sending { .. } | Self::Unknown { refused: true, .. }, Event::Rejected) => {
                Self::Rejected
            }
            (state, Event::Accepted { receipt, since, due }) if state.may_be_delivered() => {
                Self::InProgress {
                    receipt: receipt.clone(),
                    since: *since,
                    due: *due,
                    not_found_since: None,
                    overdue: false,
                }
            }
            (state, Event::Completed { receipt })
                if state.may_be_delivered() || state.is(receipt) =>
            {
                Self::Completed { receipt: receipt.clone() }
            }
            (state, Event::Failed { receipt }) if state.may_be_delivered() || state.is(receipt) => {
                Self::Failed { receipt: receipt.clone() }
            }
            (Self::InProgress { receipt, since, not_found_since, overdue, .. }, event) => {
                let (due, not_found_since, overdue) = match event {
                    Event::StillInProgress { due } => (*due, None, false),
                    Event::Overdue { due } => (*due, None, true),
                    Event::NotAnswered { due, .. } => (*due, *not_found_since, *overdue),
                    Event::NotFound { at, due, late } => {
                        let first = not_found_since.map_or(*at, |since| since.min(*at));
                        (*due, Some(first), *late || *overdue)
                    }
                    _ => return None,
                };
                let (receipt, since) = (receipt.clone(), *since);
                Self::InProgress { receipt, since, due, not_found_since, overdue }
            }
            _ => return None,
        })
    }

    /// After what a person decided or said.
    fn after_a_word(&self, event: &Event) -> Option<Self> {
        Some(match (self, event) {
            (Self::Held { attempt }, Event::Released { due, .. }) => Self::queued(*attempt, *due),
            (Self::Queued { attempt, .. }, Event::HeldBack) => Self::Held { attempt: *attempt },
            (
                Self::Held { .. } | Self::Queued { .. } | Self::Rejected | Self::Failed { .. },
                Event::Withdrawn { .. },
            )
            | (Self::Unknown { .. } | Self::InProgress { .. }, Event::SaidReceived { .. }) => {
                Self::Withdrawn
            }
            (Self::Unknown { attempt, .. }, Event::SaidNotReceived { due, .. }) => {
                Self::queued(*attempt, *due)
            }
            // It was sent at least once: what the authority shows of it later still counts.
            (Self::InProgress { .. }, Event::SaidNotReceived { due, .. }) => Self::queued(1, *due),
            (
                Self::Held { .. } | Self::Rejected | Self::Failed { .. },
                Event::Superseded { by },
            ) => Self::Superseded { by: *by },
            _ => return None,
        })
    }

    /// A request has left and no final answer is known: the authority may have it.
    fn may_be_delivered(&self) -> bool {
        match self {
            Self::Sending { .. } | Self::Unknown { .. } => true,
            // Believed not received, and found after all.
            Self::Queued { attempt, .. } | Self::Held { attempt } => *attempt > 0,
            _ => false,
        }
    }

    /// In progress under this very receipt.
    fn is(&self, receipt: &str) -> bool {
        matches!(self, Self::InProgress { receipt: known, .. } if known == receipt)
    }
}
