//! Views that a laboratory keeps. They stand in the journal of the room in use: a search may be the
//! name of a patient.

use super::{Desk, on_pool};
use crate::codes::PERIODS;
use crate::desk::reports::filter_of;
use crate::limits;
use crate::problem::Problem;
use crate::views::{ListQuery, SavedView};

/// Setting of the journal under which they stand.
const VIEWS: &str = "views";
/// Views kept at most: as many as a person still finds one among.
const VIEWS_MAX: usize = 50;
/// Longest name, characters: it stands in one line of a menu.
const NAME_MAX: usize = 60;

impl Desk {
    /// The views that were kept, by name. What cannot be read counts as not kept.
    pub async fn saved_views(&self) -> Result<Vec<SavedView>, Problem> {
        let engine = self.engine();
        on_pool(move || {
            let kept = engine.journal().setting(VIEWS)?;
            Ok(kept.and_then(|kept| serde_json::from_value(kept).ok()).unwrap_or_default())
        })
        .await?
    }

    /// Keeps a view; one of the same name is replaced.
    pub async fn keep_view(&self, view: SavedView) -> Result<(), Problem> {
        let name = limits::name("name", &view.name)?;
        if name.chars().count() > NAME_MAX {
            return Err(limits::invalid("name"));
        }
        if !PERIODS.contains(&view.period.as_str()) {
            return Err(limits::invalid("period"));
        }
        let query = ListQuery {
            group: view.group.clone(),
            states: view.states.clone(),
            search: Some(view.search.clone()),
            laboratory: view.laboratory.clone(),
            about: view.about.clone(),
            timeliness: view.timeliness.clone(),
            sort: view.sort.clone(),
            ..ListQuery::default()
        };
        filter_of(&query, self.engine().now())?;
        super::lists::Arrangement::of(&query)?;
        let desk = self.here();
        let mut views = desk.saved_views().await?;
        views.retain(|known| known.name != name);
        if views.len() >= VIEWS_MAX {
            return Err(limits::invalid("views"));
        }
        views.push(SavedView { name, ..view });
        views.sort_by_key(|view| view.name.to_lowercase());
        desk.store_views(views).await
    }

    /// Forgets a view.
    pub async fn forget_view(&self, name: String) -> Result<(), Problem> {
        let desk = self.here();
        let mut views = desk.saved_views().await?;
        views.retain(|known| known.name != name);
        desk.store_views(views).await
    }

    async fn store_views(&self, views: Vec<SavedView>) -> Result<(), Problem> {
        let engine = self.engine();
        let kept = serde_json::to_value(&views).map_err(|_| limits::invalid("views"))?;
        Ok(on_pool(move || engine.journal().set_setting(VIEWS, kept)).await??)
    }
}
