//! On which terms reports are taken in.

/// How reports are taken in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// What to do with content that was taken in before.
    pub known: KnownContent,
    /// Who decides about another content under a document identifier that is on its way or was
    /// completed.
    pub differing: Differing,
    /// Microseconds before the first request may go out (undo).
    pub delay_micros: i64,
}

/// Who decides about another content under a document identifier that is on its way or was
/// completed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Differing {
    /// Nobody can be asked: the profile's rule.
    #[default]
    ByRule,
    /// A person who was shown it.
    ByPerson,
    /// A person who was shown it and says that each is a report of its own: it corrects nothing
    /// either.
    Apart,
}

/// What to do with content that was taken in before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KnownContent {
    /// Show the known submission of the endpoint in use: what went to another endpoint, perhaps a
    /// test system, went nowhere else.
    #[default]
    Show,
    /// Show the known submission of whatever endpoint. For a watched folder: nobody has said that
    /// what it held before another endpoint came into use is to be sent there too.
    ShowAnywhere,
    /// Send it again, as a person asked for; but not while a submission of it is still on its way,
    /// or on hold: that one will reach the authority or waits for a person, and nobody means the
    /// same report twice at once.
    SendAgain,
}

impl ImportOptions {
    /// The same for what nobody was shown beside the other content: it was found while it was taken
    /// in.
    pub(super) fn unseen(self) -> Self {
        let differing = match self.differing {
            Differing::ByPerson => Differing::ByRule,
            other => other,
        };
        Self { differing, ..self }
    }
}
