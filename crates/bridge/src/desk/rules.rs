//! The packages of rules of the room in use: imported, put to use, removed, and what another
//! version would change.

use std::path::PathBuf;

use super::{Desk, on_pool};
use crate::limits;
use crate::packages::{self, Plan, RulesEntry};
use crate::problem::Problem;
use crate::views::RulesPlanView;

impl Desk {
    /// The packages that are imported in this room.
    pub async fn rules(&self) -> Result<Vec<RulesEntry>, Problem> {
        let folder = self.rules_room();
        on_pool(move || packages::list_rules(&folder)).await?
    }

    /// Imports a package; nothing changes where it cannot be used.
    pub async fn import_rules(&self, path: String) -> Result<RulesEntry, Problem> {
        let (folder, file) = (self.rules_room(), limits::path(path)?);
        on_pool(move || packages::import_rules(&folder, &file)).await?
    }

    /// What another package (`NAME@VERSION`) would say of the last reports, beside what the rules
    /// in use say.
    pub async fn plan_rules(&self, package: String) -> Result<RulesPlanView, Problem> {
        let (engine, package) = (self.engine(), limits::name("package", &package)?);
        on_pool(move || Ok(Plan::of(&engine, package)?.view(&engine))).await?
    }

    /// Makes a package, with what it depends on, the rules in use.
    pub async fn use_rules(&self, package: String) -> Result<RulesEntry, Problem> {
        let (folder, package) = (self.rules_room(), limits::name("package", &package)?);
        on_pool(move || packages::use_rules(&folder, &package)).await?
    }

    /// Forgets a package. The one in use is in use no more.
    pub async fn remove_rules(&self, package: String) -> Result<(), Problem> {
        let (folder, package) = (self.rules_room(), limits::name("package", &package)?);
        on_pool(move || packages::remove_rules(&folder, &package)).await?
    }

    fn rules_room(&self) -> PathBuf {
        self.engine().profile().folder().to_owned()
    }
}
