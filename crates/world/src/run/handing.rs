//! What is handed over again, in other bytes or as a newer version; and a computer whose disk dies.

use fhir::Instant;
use journal::{Destination, Home, Imported, NewSubmission, Unless};
use report::{Event, SubmissionId, Summary};

use super::Run;
use super::people::person;
use crate::computer::MINUTE;
use crate::history::Broken;
use crate::papers::{Content, Form};
use crate::world::{ENDPOINTS, Plan, environment};

/// Longer than a delivery may be late and a search may lag together: what the dead computer has
/// sent is shown.
const REPAIR: (u64, u64) = (10, 40);

/// A report as it is taken in.
pub(super) struct Sheet {
    pub(super) content: Content,
    pub(super) form: Form,
    pub(super) endpoint: usize,
    pub(super) identifier: String,
    pub(super) first: Event,
    pub(super) corrects: Option<SubmissionId>,
    pub(super) at: Instant,
}

impl Sheet {
    pub(super) fn submission(self, plan: &Plan) -> NewSubmission {
        let (document, format) = self.content.written(self.form);
        NewSubmission {
            file: format!("{}.json", self.content.document),
            format,
            digest: report::digest(&document),
            document,
            summary: Summary { identifier: Some(self.content.identifier()), ..Summary::default() },
            identifier: self.identifier,
            endpoint: ENDPOINTS[self.endpoint].to_owned(),
            canonical: self.content.canonical(self.form),
            environment: Some(environment(plan, self.endpoint).code().to_owned()),
            first: self.first,
            findings: Vec::new(),
            corrects: self.corrects,
            by: person(),
            at: self.at,
        }
    }
}

impl Run {
    /// The same report once more: exported again, or copied into a watched folder.
    pub(super) async fn hand_over_again(&mut self) {
        let world = self.world.clone();
        let Some(handed) = world.paper(|dice| world.papers(|papers| papers.any(dice))) else {
            return;
        };
        let elsewhere = world.plan.endpoints > 1 && world.paper(|dice| dice.percent(50));
        let endpoint = if elsewhere { 1 - handed.endpoint } else { handed.endpoint };
        let watched = world.paper(|dice| dice.percent(20));
        let unless = if watched { Unless::KnownAnywhere } else { Unless::Known };
        let known = world.papers(|papers| papers.is_known(handed.content, endpoint, unless));
        let outcome = self.hand_over(handed.content, endpoint, unless, None).await;
        match outcome {
            Some(Imported::New(id)) if known => {
                let what = format!("#{}: known content was taken in again", id.0);
                world.broken(Broken::Duplicate, what);
            }
            Some(Imported::Known(_)) if !known => {
                let what = "content that was never taken in there is called known".to_owned();
                world.broken(Broken::Loss, what);
            }
            _ => {}
        }
    }

    /// Another content under a document identifier that was handed over before.
    pub(super) async fn hand_over_newer(&mut self) {
        let world = self.world.clone();
        let Some(handed) = world.paper(|dice| world.papers(|papers| papers.any(dice))) else {
            return;
        };
        let content = world.papers(|papers| papers.newer(handed.content));
        let code = environment(&world.plan, handed.endpoint).code();
        let endpoint = ENDPOINTS[handed.endpoint];
        let there = Destination { endpoint, environment: Some(code) };
        let relatives = world.observer.of_document(&content.identifier(), there);
        let newest = relatives.unwrap_or_default().into_iter().rfind(|it| !it.state.is_closed());
        let corrects = newest.filter(|it| it.state.may_be_corrected()).map(|it| it.id);
        let mut outcome = self.hand_over(content, handed.endpoint, Unless::Known, corrects).await;
        if matches!(outcome, Some(Imported::Overtaken)) {
            // Somebody was faster: it goes as a report of its own, with the warning.
            outcome = self.hand_over(content, handed.endpoint, Unless::Known, None).await;
        }
        if !matches!(outcome, Some(Imported::New(_))) {
            world.broken(Broken::Loss, "a newer version was not taken in".to_owned());
        }
    }

    async fn hand_over(
        &mut self,
        content: Content,
        endpoint: usize,
        unless: Unless,
        corrects: Option<SubmissionId>,
    ) -> Option<Imported> {
        let world = self.world.clone();
        self.again += 1;
        let identifier = format!("urn:uuid:00000000-0000-4000-9000-{:012}", self.again);
        let form = world.paper(Form::any);
        world.note("person", || {
            let Content { document, version } = content;
            format!("d{document}/{version} as {form:?} to {endpoint}, {unless:?}, {corrects:?}")
        });
        world.papers(|papers| {
            papers.is_attempt_of(&identifier, content);
            if corrects.is_some() {
                papers.link(&identifier);
            }
        });
        let at = world.computer.wall();
        let first = Event::Queued { due: at };
        let sheet = Sheet { content, form, endpoint, identifier, first, corrects, at };
        let outcome =
            world.observer.import_unless_async(sheet.submission(&world.plan), unless).await;
        match outcome {
            Ok(imported) => {
                if let Imported::New(_) = imported {
                    world.papers(|papers| papers.taken(content, endpoint));
                    world.count(|tally| tally.reports += 1);
                }
                world.nudge();
                Some(imported)
            }
            Err(error) => {
                world.broken(Broken::Other, format!("handed over: {error:?}"));
                None
            }
        }
    }

    /// The laboratory makes a backup.
    pub(super) fn back_up(&self) {
        let world = &self.world;
        let homed =
            world.observer.settle_on(&|_| computer("first"), &person(), world.computer.wall());
        if homed.is_err() || world.memory.back_up().is_err() {
            world.broken(Broken::Other, "no backup".to_owned());
        }
        world.papers(crate::papers::Papers::back_up);
        world.note("person", || "backs up".to_owned());
    }

    /// The disk dies with everything on it; after a while the backup goes on on another computer.
    pub(super) fn set_back(&mut self) {
        let world = self.world.clone();
        world.note("computer", || "its disk dies".to_owned());
        crate::lock(&world.processes).iter().for_each(|process| process.kill());
        let repaired = world.paper(|dice| dice.between(REPAIR.0, REPAIR.1));
        self.not_before = world.truth() + i64::try_from(repaired).unwrap_or(0) * MINUTE;
        world.papers(crate::papers::Papers::set_back);
        let restored = world.restoring(|| {
            world.memory.set_back().map_err(|error| format!("{error:?}"))?;
            let now = world.computer.wall();
            let settled = world.observer.settle_on(&|_| computer("second"), &person(), now);
            settled.map_err(|error| format!("{error:?}"))
        });
        match restored {
            Ok(Some(doubted)) => world.note("journal", || format!("restored, {doubted} doubted")),
            other => world.broken(Broken::Other, format!("restored: {other:?}")),
        }
        world.laws(|laws| laws.set_back(&world, self.not_before + 20 * MINUTE));
        for (endpoint, authority) in world.authorities.iter().enumerate() {
            // Only a laboratory that knows of a report there can know that it is shown none.
            if !world.laws(|laws| laws.was_accepted(endpoint)) {
                crate::lock(authority).blind_until = 0;
            }
        }
        world.disturb();
    }
}

fn computer(name: &str) -> Option<Home> {
    Some(Home { computer: Some(name.to_owned()), file: None })
}
