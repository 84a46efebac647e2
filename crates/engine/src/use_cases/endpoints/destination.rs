//! Moving from one endpoint to another: one deliberate step that says before what it will send and
//! what not.

use std::path::PathBuf;

use exchange::Environment;

use crate::{Engine, EngineError};

/// What using another endpoint means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// The endpoint in use, with its environment, if there is one.
    pub from: Option<(String, Environment)>,
    /// The endpoint to be used.
    pub to: (String, Environment),
    /// Reports of other endpoints that are open, by endpoint: they stay there, and nothing moves
    /// them while another endpoint is in use.
    pub stay: Vec<(String, u32)>,
    /// The watched folder: what it held and was taken in before is not sent again by itself.
    pub watched: Option<PathBuf>,
}

impl Move {
    /// From a test system to the real thing.
    pub fn is_to_production(&self) -> bool {
        let was = self.from.as_ref().map(|(_, environment)| *environment);
        self.to.1 == Environment::Production && was.is_some_and(|was| was != self.to.1)
    }
}

impl Engine {
    /// What using another endpoint would mean; nothing is changed.
    pub fn plan_endpoint(&self, name: &str) -> Result<Move, EngineError> {
        let profile = self.profile();
        let to = profile
            .endpoint_named(name)
            .ok_or_else(|| EngineError::UnknownEndpoint(name.to_owned()))?;
        let stay = self.journal().open_elsewhere(to.id())?.into_iter();
        let stay = stay.map(|(id, count)| (profile.name_of(&id), count)).collect();
        let from = profile.endpoint().map(|it| (it.name.clone(), it.environment));
        Ok(Move {
            from,
            to: (to.name.clone(), to.environment),
            stay,
            watched: profile.settings.watched_folder.clone(),
        })
    }
}
