//! Codes that can reach a person through the headless program, by the part of the catalogue that
//! has their texts.

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
            Self::Layer => &client::LAYERS,
        }
    }
}

const FLAWS: &[&str] = &[
    "pages", "replay", "event", "digest", "document", "evidence", "unproven", "chain", "counts",
    "anchor",
];

/// Why a file of a watched folder is refused.
pub const REFUSAL_REASONS: &[&str] = engine::Reason::CODES;
