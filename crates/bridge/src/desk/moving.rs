//! Between the two rooms: which is in use, and how one comes into the other.

use std::sync::PoisonError;

use super::{Desk, Laboratory, PLACE, Place};
use crate::audit::Change;
use crate::problem::Problem;

impl Desk {
    /// Why practice stands in for a laboratory that does not open, or is closed for a restore:
    /// nobody has chosen it, and what a person hands over is meant for the laboratory.
    pub(super) fn stands_in(&self, place: Place) -> Option<Problem> {
        if !place.is_practice || place.is_chosen || !self.wants_laboratory() {
            return None;
        }
        match &*self.laboratory() {
            Laboratory::Closed(problem) => Some(problem.clone()),
            // It has opened this moment, and is about to be in use.
            Laboratory::Open(_) => Some(Problem::new("room-changed", &[], "room")),
            Laboratory::Absent => None,
        }
    }

    /// Why the laboratory that people are in is closed: nothing of practice, which stands in for
    /// it, is theirs.
    pub(super) fn closed_in_use(&self) -> Option<Problem> {
        self.stands_in(self.place())
    }

    /// Whoever worked in the laboratory goes on there once it opens, unless they have gone
    /// elsewhere meanwhile.
    pub(super) fn go_on_there(&self) {
        let place = self.place();
        if place.is_practice && !place.is_chosen && self.wants_laboratory() {
            self.enter(false);
        }
    }

    /// Uses practice, this time: the next start is in the room that was in use before.
    ///
    /// Where it takes the laboratory's place that is noted, as it is where it is chosen in the
    /// window. That it cannot be noted keeps nobody out: nothing of the laboratory is changed.
    pub async fn practise(&self) -> Result<(), Problem> {
        let is_instead = self.wants_laboratory();
        self.enter(true);
        self.watch_practice().await;
        if is_instead {
            let _ = self.note_change(Change::new("practice-used", &[])).await;
        }
        self.read_certificate().await
    }

    pub(super) fn enter(&self, is_practice: bool) {
        self.place_at(is_practice, true);
    }

    /// Leaves the laboratory, which is about to be closed, if it is in use: what the page names by
    /// number is refused from now on, and practice stands in until it opens again.
    pub(super) fn step_out(&self) {
        if !self.place().is_practice {
            self.place_at(true, false);
        }
    }

    fn place_at(&self, is_practice: bool, is_chosen: bool) {
        let mut place = self.inner.place.write().unwrap_or_else(PoisonError::into_inner);
        *place = Place { is_practice, is_chosen, moves: place.moves.wrapping_add(1) };
    }

    /// Uses the other room from now on.
    pub(super) async fn move_to(&self, is_practice: bool) -> Result<(), Problem> {
        // Who chooses practice while it stands in means it.
        if self.place().is_practice != is_practice || self.room_here().stands_in.is_some() {
            let name = if is_practice { "practice" } else { "laboratory" };
            self.inner.practice_engine.change_settings(|settings| {
                settings.preferences.insert(PLACE.to_owned(), name.into());
                Ok(())
            })?;
            self.enter(is_practice);
            if is_practice {
                self.watch_practice().await;
            } else {
                self.leave_practice_folder().await?;
            }
        }
        self.read_certificate().await
    }
}
