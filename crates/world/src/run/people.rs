//! What people do with reports: they take them in, and decide about them.

use journal::{RecordError, Step};
use report::{Action, Event, Person, State, SubmissionId};

use super::Run;
use super::handing::Sheet;
use crate::authority::Nature;
use crate::computer::SECOND;
use crate::history::Broken;
use crate::papers::{Content, Form};

/// What a person looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Offered {
    /// What has come to rest, or was never sent.
    Finished,
    /// Every report there is.
    All,
}

impl Offered {
    fn fits(self, state: &State, action: Action) -> bool {
        self == Self::All
            || match state {
                State::Queued { attempt, .. } => *attempt == 0 && action == Action::HoldBack,
                // Added later: the other dice throw for it.
                State::Held { .. } if action == Action::SayReceived => false,
                state => state.is_settled(),
            }
    }
}

impl Run {
    /// A report is taken in, perhaps in the place of another.
    pub(super) async fn import(
        &mut self,
        corrects: Option<SubmissionId>,
        what: &str,
    ) -> Result<(), RecordError> {
        let world = self.world.clone();
        self.reports += 1;
        let number = self.reports;
        let identifier = format!("urn:uuid:00000000-0000-4000-8000-{number:012}");
        let nature = world.dice(|dice| match dice.below(100) {
            _ if world.plan.choking && number == 1 && dice.percent(50) => Nature::Barred,
            _ if world.plan.choking && number == 1 => Nature::Choking,
            0..8 => Nature::Refused,
            _ => Nature::Fine,
        });
        let endpoint = match corrects {
            Some(id) => world.laws(|laws| laws.lives.get(&id).map_or(0, |life| life.endpoint)),
            None if world.plan.endpoints > 1 => usize::from(world.dice(|dice| dice.percent(50))),
            None => 0,
        };
        if nature != Nature::Fine {
            let mut authority = crate::lock(&world.authorities[endpoint]);
            authority.natures.insert(identifier.clone(), nature);
        }
        let held = world.dice(|dice| dice.percent(8));
        let delay = if world.dice(|dice| dice.percent(30)) { 10 * SECOND } else { 0 };
        let now = world.computer.wall();
        let first = if held { Event::Held } else { Event::Queued { due: now.plus_micros(delay) } };
        let (content, form) = (Content { document: number, version: 1 }, Form::Compact);
        world.papers(|papers| papers.is_attempt_of(&identifier, content));
        let sheet = Sheet { content, form, endpoint, identifier, first, corrects, at: now };
        world.note("person", || format!("{what} {number}, {nature:?}"));
        world.observer.import_async(sheet.submission(&world.plan)).await?;
        world.papers(|papers| papers.taken(content, endpoint));
        world.count(|tally| tally.reports += 1);
        world.nudge();
        Ok(())
    }

    /// Does one of the things that may be done with one of the reports.
    pub(super) async fn person(&mut self, offer: Offered) {
        let world = self.world.clone();
        let now = world.computer.wall();
        let offered: Vec<(SubmissionId, Action)> = world.laws(|laws| {
            let lives = laws.lives.iter();
            let actions = lives.map(|(id, life)| (*id, life.state.actions(now)));
            let all = actions.flat_map(|(id, actions)| actions.iter().map(move |a| (id, *a)));
            let fits = |id: SubmissionId, action| {
                laws.lives.get(&id).is_some_and(|life| offer.fits(&life.state, action))
            };
            all.filter(|(id, action)| fits(*id, *action) && laws.is_true(&world, *id, *action))
                .collect()
        });
        let below = |dice: &mut crate::dice::Dice| dice.below(offered.len() as u64);
        let which = match offer {
            Offered::Finished => world.dice(below),
            Offered::All => world.more(below),
        };
        let Some((id, action)) = offered.get(usize::try_from(which).unwrap_or(0)).copied() else {
            return;
        };
        world.note("person", || format!("{action:?} #{}", id.0));
        world.count(|tally| tally.deeds += 1);
        let reason = "as the world wants it".to_owned();
        let in_progress = world.laws(|laws| {
            laws.lives.get(&id).is_some_and(|life| life.state.code() == "in-progress")
        });
        let event = match action {
            Action::Release => Event::Released { reason, due: now },
            Action::HoldBack => Event::HeldBack,
            Action::Withdraw => Event::Withdrawn { reason },
            Action::SayReceived if in_progress => Event::StillExpected { reason, at: now },
            Action::SayReceived => Event::SaidReceived { reason },
            Action::SayNotReceived => Event::SaidNotReceived { reason, due: now },
            Action::Resubmit | Action::Correct => {
                let imported = self.import(Some(id), "instead").await;
                return self.offered(id, action, imported.err());
            }
        };
        let step = Step::new(id, event, person(), now);
        let recorded = world.observer.record_async(step).await;
        self.offered(id, action, recorded.err());
        world.nudge();
    }

    /// Corrects at once what a gateway has just refused.
    pub(super) async fn overtake(&mut self) {
        let world = self.world.clone();
        let refused = |state: &State| matches!(state, State::Queued { attempt: 1.., .. });
        let found = world.laws(|laws| {
            let waits = |identifier: &str| {
                let mut lives = laws.lives.values();
                lives.any(|life| life.identifier == identifier && refused(&life.state))
            };
            let identifier = world.overtaken(waits)?;
            let mut lives = laws.lives.iter();
            lives.find(|(_, life)| life.identifier == identifier).map(|(id, _)| *id)
        });
        let Some(id) = found else { return };
        let step = Step::new(id, Event::HeldBack, person(), world.computer.wall());
        let held = world.observer.record_async(step).await;
        self.offered(id, Action::HoldBack, held.err());
        let imported = self.import(Some(id), "at once, instead").await;
        self.offered(id, Action::Correct, imported.err());
    }

    /// What is offered can be done, unless another report waits to be sent in its place.
    fn offered(&self, id: SubmissionId, action: Action, refused: Option<RecordError>) {
        let replaced = matches!(refused, Some(RecordError::BeingReplaced { .. }));
        if refused.is_some() && (!replaced || action == Action::Withdraw) {
            self.world.broken(Broken::Other, format!("#{} offered {action:?}", id.0));
        }
    }
}

pub(super) fn person() -> Person {
    Person("person".to_owned())
}
