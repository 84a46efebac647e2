//! Codes that can reach a person through the headless program, by the part of the catalogue that
//! has their texts.

use crate::rows::REFUSED_ON_THE_WAY;

/// Which part of the catalogue has a code's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// What was found in a report, or why a file is none.
    Message,
    /// What a file was recognised as.
    Kind,
    /// What went wrong with a command or on the way to the authority.
    Problem,
    /// State of a submission.
    State,
    /// Event in its life.
    Event,
    /// What a person may do with it.
    Action,
    /// What does not agree in a journal.
    Flaw,
    /// Layer of the connection test.
    Layer,
}

impl Family {
    /// Its name, the first part of an id in the catalogue.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Message => "finding",
            Self::Kind => "kind",
            Self::Problem => "problem",
            Self::State => "state",
            Self::Event => "event",
            Self::Action => "action",
            Self::Flaw => "flaw",
            Self::Layer => "layer",
        }
    }

    /// Its codes, where their texts have no parameters.
    pub const fn bare(self) -> &'static [&'static str] {
        match self {
            Self::Message | Self::Problem | Self::Event => &[],
            Self::Kind => &report::Kind::CODES,
            Self::State => &report::StateCode::CODES,
            Self::Action => &report::Action::CODES,
            Self::Flaw => FLAWS,
            Self::Layer => LAYERS,
        }
    }
}

/// Codes of [`Family::Event`] with the parameters that a timeline shows.
pub const EVENTS: &[(&str, &[&str])] = &[
    ("queued", &[]),
    ("held", &[]),
    ("released", &["reason"]),
    ("held-back", &[]),
    ("sending-started", &[]),
    ("deferred", &["why"]),
    (REFUSED_ON_THE_WAY, &["why"]),
    ("doubted", &["why"]),
    ("asked-in-vain", &[]),
    ("not-answered", &["why"]),
    ("not-received", &[]),
    ("accepted", &["receipt"]),
    ("still-in-progress", &[]),
    ("overdue", &[]),
    ("not-found", &[]),
    ("turned-away", &["why"]),
    ("held-after-refusals", &["why"]),
    ("said-received", &["reason"]),
    ("still-expected", &["reason"]),
    ("said-not-received", &["reason"]),
    ("completed", &["receipt"]),
    ("failed", &["receipt"]),
    ("rejected", &[]),
    ("withdrawn", &["reason"]),
    ("superseded", &["by"]),
];

const FLAWS: &[&str] = &[
    "pages", "replay", "event", "digest", "document", "evidence", "unproven", "chain", "counts",
    "anchor",
];

pub(crate) const LAYERS: &[&str] = &[
    "configuration",
    "name",
    "tcp",
    "tls",
    "server-certificate",
    "client-certificate",
    "capability",
];

/// Why a file of a watched folder is refused.
pub const REFUSAL_REASONS: &[&str] = engine::Reason::CODES;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::event_told;
    use report::{Event, SubmissionId};

    #[test]
    fn events_are_listed_by_their_codes() {
        let (at, text) = (fhir::Instant(0), String::new);
        let events = [
            Event::Queued { due: at },
            Event::Held,
            Event::Released { reason: text(), due: at },
            Event::HeldBack,
            Event::SendingStarted { since: at },
            Event::Deferred { due: at, why: "dns".to_owned() },
            Event::Deferred { due: at, why: "forbidden".to_owned() },
            Event::Doubted { since: at, due: at, why: text() },
            Event::AskedInVain { due: at, answered: None },
            Event::NotAnswered { due: at, why: text(), in_vain: false, late: false },
            Event::NotReceived { due: at },
            Event::Accepted { receipt: text(), since: at, due: at },
            Event::StillInProgress { due: at },
            Event::Overdue { due: at },
            Event::NotFound { at, due: at, late: false },
            Event::TurnedAway { due: at, why: text() },
            Event::HeldAfterRefusals { why: text() },
            Event::SaidReceived { reason: text() },
            Event::StillExpected { reason: text(), at },
            Event::SaidNotReceived { reason: text(), due: at },
            Event::Completed { receipt: text() },
            Event::Failed { receipt: text() },
            Event::Rejected,
            Event::Withdrawn { reason: text() },
            Event::Superseded { by: SubmissionId(1) },
        ];
        let codes: Vec<_> = events.iter().map(event_told).collect();
        let listed: Vec<_> = EVENTS.iter().map(|(code, _)| *code).collect();
        assert_eq!(codes, listed);
    }
}
