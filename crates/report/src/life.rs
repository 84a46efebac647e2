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
        Self::Queued { attempt, due, refusals: 0, doubts: 0 }
    }

    /// What may follow what. Repeated answers of the authority leave the state as it is; answers
    /// never move a status backwards (R4).
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
            (&Self::Queued { attempt, refusals, doubts, .. }, &Event::SendingStarted { since }) => {
                Self::Sending { attempt: attempt.saturating_add(1), since, refusals, doubts }
            }
            (&Self::Sending { attempt, refusals, doubts, .. }, &Event::Deferred { due, .. }) => {
                Self::Queued { attempt, due, refusals, doubts }
            }
            (
                &Self::Queued { attempt, refusals, doubts, .. },
                &Event::OtherNotShown { due, .. },
            ) => Self::Queued { attempt, due, refusals, doubts },
            (&Self::Sending { attempt, refusals, doubts, .. }, &Event::TurnedAway { due, .. }) => {
                let refusals = refusals.saturating_add(1);
                Self::Queued { attempt, due, refusals, doubts }
            }
            (Self::Sending { attempt, .. }, Event::HeldAfterRefusals { .. }) => {
                Self::Held { attempt: *attempt }
            }
            _ => return None,
        })
    }

    /// Into doubt, within it, and out of it where the authority shows nothing.
    fn after_doubt(&self, event: &Event) -> Option<Self> {
        // Not only from `Sending`: after a restore the journal may have forgotten a request, and
        // begins to ask anew whatever it believed.
        if let (
            Self::Queued { attempt, doubts, .. }
            | Self::Sending { attempt, doubts, .. }
            | Self::Unknown { attempt, doubts, .. },
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
                doubts: *doubts,
            });
        }
        let &Self::Unknown { attempt, since, asked, empty_since, refused, doubts, .. } = self
        else {
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
                doubts,
            },
            Event::NotAnswered { due, in_vain, .. } => {
                let asked = asked.saturating_add(u32::from(*in_vain));
                Self::Unknown { attempt, since, asked, due: *due, empty_since, refused, doubts }
            }
            &Event::NotReceived { due } => {
                let doubts = doubts.saturating_add(1);
                Self::Queued { attempt, due, refusals: 0, doubts }
            }
            _ => return None,
        })
    }

    /// After the authority's answers.
    fn after_answer(&self, event: &Event) -> Option<Self> {
        Some(match (self, event) {
            (Self::Sending { .. } | Self::Unknown { refused: true, .. }, Event::Rejected) => {
                Self::Rejected
            }
            (state, Event::Accepted { receipt, since, due }) if state.may_be_shown() => {
                Self::InProgress {
                    receipt: receipt.clone(),
                    since: *since,
                    due: *due,
                    not_found_since: None,
                    overdue: false,
                    said: None,
                }
            }
            // Also of another delivery of the same report (two receipts, one identifier): of the
            // two that one counts.
            (
                state @ (Self::InProgress { .. } | Self::Failed { .. }),
                Event::Completed { receipt },
            ) if !matches!(state, Self::Failed { receipt: known } if known == receipt) => {
                Self::Completed { receipt: receipt.clone() }
            }
            (state, Event::Completed { receipt }) if state.may_be_shown() => {
                Self::Completed { receipt: receipt.clone() }
            }
            (state, Event::Failed { receipt }) if state.may_be_shown() || state.is(receipt) => {
                Self::Failed { receipt: receipt.clone() }
            }
            (Self::InProgress { receipt, since, not_found_since, overdue, said, .. }, event) => {
                let (due, not_found_since, overdue) = match event {
                    Event::StillInProgress { due } => (*due, None, false),
                    Event::Overdue { due } => (*due, None, true),
                    Event::NotAnswered { due, late, .. } => {
                        (*due, *not_found_since, *late || *overdue)
                    }
                    Event::NotFound { at, due, late } => {
                        let first = not_found_since.map_or(*at, |since| since.min(*at));
                        (*due, Some(first), *late || *overdue)
                    }
                    _ => return None,
                };
                let (receipt, since, said) = (receipt.clone(), *since, *said);
                Self::InProgress { receipt, since, due, not_found_since, overdue, said }
            }
            _ => return None,
        })
    }

    /// After what a person decided or said.
    fn after_a_word(&self, event: &Event) -> Option<Self> {
        Some(match (self, event) {
            (Self::Held { attempt }, Event::Released { due, .. }) => Self::queued(*attempt, *due),
            (Self::Queued { attempt, .. }, Event::HeldBack) => Self::Held { attempt: *attempt },
            // What was to take its place was withdrawn. It may have been sent itself.
            (Self::Superseded { .. }, Event::HeldBack) => Self::Held { attempt: 1 },
            // In a restored journal, where people had decided otherwise since: it may have been
            // sent at least once.
            (Self::Unknown { attempt, .. }, Event::HeldBack) => {
                Self::Held { attempt: (*attempt).max(1) }
            }
            (
                Self::Held { .. } | Self::Queued { .. } | Self::Rejected | Self::Failed { .. },
                Event::Withdrawn { .. },
            ) => Self::Withdrawn { received: false },
            // On hold also where nothing here knows of a request: it may have been sent before a
            // restore.
            (
                Self::Held { .. } | Self::Unknown { .. } | Self::InProgress { .. },
                Event::SaidReceived { .. },
            ) => Self::Withdrawn { received: true },
            (Self::InProgress { receipt, since, due, .. }, Event::StillExpected { at, .. }) => {
                Self::InProgress {
                    receipt: receipt.clone(),
                    since: *since,
                    due: *due,
                    not_found_since: None,
                    overdue: false,
                    said: Some(*at),
                }
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

    /// What the authority shows of it counts: it may be delivered; or its request was refused, and
    /// another delivery of it (a gateway may repeat a request) was not.
    fn may_be_shown(&self) -> bool {
        self.may_be_delivered() || matches!(self, Self::Rejected)
    }

    /// In progress under this very receipt.
    fn is(&self, receipt: &str) -> bool {
        matches!(self, Self::InProgress { receipt: known, .. } if known == receipt)
    }
}
