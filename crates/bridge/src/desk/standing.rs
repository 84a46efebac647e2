//! How things stand in one word: the icon in the tray.

use super::Desk;
use crate::problem::Problem;
use crate::views::{Connection, StatusView};

/// How things stand, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// A person is needed: for reports, notices, or what keeps all from being sent.
    Attention,
    /// The authority cannot be reached; it is tried again.
    Unreachable,
    /// A person has paused sending.
    Paused,
    /// Nothing to be done.
    Fine,
}

impl Standing {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Attention, Self::Unreachable, Self::Paused, Self::Fine];

    /// The code of its text.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Attention => "attention",
            Self::Unreachable => "unreachable",
            Self::Paused => "paused",
            Self::Fine => "fine",
        }
    }

    /// Of what the frame of the window shows.
    fn of(status: &StatusView) -> Self {
        let waits = |laboratory: &crate::views::LaboratoryView| {
            laboratory.needs_attention > 0 || laboratory.notices > 0 || laboratory.closed
        };
        let is_stopped = status.connection == Connection::Locked;
        if status.counts.needs_attention > 0
            || is_stopped
            || !status.notices.is_empty()
            || status.laboratory.as_ref().is_some_and(waits)
        {
            return Self::Attention;
        }
        if status.connection == Connection::Unreachable {
            return Self::Unreachable;
        }
        if status.paused || status.laboratory.as_ref().is_some_and(|laboratory| laboratory.paused) {
            return Self::Paused;
        }
        Self::Fine
    }
}

/// What the tray shows: counts, and nothing of any report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandingView {
    /// In one word.
    pub standing: Standing,
    /// Reports that need a person, in the room in use.
    pub needs_attention: u32,
    /// Whether sending is paused in the room in use.
    pub paused: bool,
}

impl Desk {
    /// How things stand.
    pub async fn standing(&self) -> Result<StandingView, Problem> {
        let status = self.status().await?;
        Ok(StandingView {
            standing: Standing::of(&status),
            needs_attention: status.counts.needs_attention,
            paused: status.paused,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views::{LaboratoryView, NoticeView};

    async fn standing(change: impl FnOnce(&mut StatusView)) -> Standing {
        let root = tempfile::tempdir().unwrap();
        let desk = Desk::open(root.path()).await.unwrap();
        let mut status = desk.status().await.unwrap();
        status.connection = Connection::Connected;
        change(&mut status);
        Standing::of(&status)
    }

    #[tokio::test]
    async fn the_most_urgent_counts() {
        assert_eq!(standing(|_| {}).await, Standing::Fine);
        assert_eq!(standing(|status| status.paused = true).await, Standing::Paused);
        let away = |status: &mut StatusView| {
            status.paused = true;
            status.connection = Connection::Unreachable;
        };
        assert_eq!(standing(away).await, Standing::Unreachable);
        let urgent: [fn(&mut StatusView); 4] = [
            |status| status.counts.needs_attention = 1,
            |status| status.connection = Connection::Locked,
            |status| {
                let problem = Problem::new("backups-failing", &[], "test");
                status.notices.push(NoticeView { problem, at: String::new() });
            },
            // Nobody looks at the laboratory while practice is in use.
            |status| {
                let waiting = LaboratoryView { needs_attention: 1, ..LaboratoryView::default() };
                status.laboratory = Some(waiting);
            },
        ];
        for change in urgent {
            let all = |status: &mut StatusView| {
                away(status);
                if status.connection != Connection::Locked {
                    change(status);
                }
            };
            assert_eq!(standing(all).await, Standing::Attention);
        }
        let paused = LaboratoryView { paused: true, ..LaboratoryView::default() };
        assert_eq!(standing(|status| status.laboratory = Some(paused)).await, Standing::Paused);
    }
}
