//! What the desktop shell is for the page: events, dialogs, and the desk behind the calls.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use bridge::{Call, Desk, Problem, Wording};
use report::Event;
use serde_json::{Value, json};
use texts::Language;
use tokio::sync::watch;

/// The shell of one page.
pub(crate) struct Shell {
    desk: Desk,
    /// The built page.
    pub(crate) pages: PathBuf,
    /// Folder of the practice profile.
    practice: PathBuf,
    events: watch::Sender<Vec<Value>>,
    chosen: Mutex<VecDeque<Vec<String>>>,
}

impl Shell {
    pub(crate) fn new(desk: Desk, pages: PathBuf, practice: PathBuf) -> Self {
        let (events, chosen) = (watch::Sender::new(Vec::new()), Mutex::default());
        Self { desk, pages, practice, events, chosen }
    }

    /// Imports a package of rules into the practice profile and puts it to use.
    pub(crate) fn use_rules(&self, file: &Value) -> Result<(), Problem> {
        let file = PathBuf::from(file.as_str().unwrap_or_default());
        let imported = bridge::headless::import_rules(&self.practice, &file)?;
        let label = format!("{}@{}", imported.name, imported.version);
        bridge::headless::use_rules(&self.practice, &label).map(drop)
    }

    /// Records that the answer to a waiting report was lost so many seconds ago, and that nobody is
    /// asked before tomorrow. Sending has to be paused, or the worker is quicker.
    pub(crate) fn doubt(&self, body: &Value) -> Result<(), String> {
        let number = |name: &str| body[name].as_i64().ok_or_else(|| format!("no {name}"));
        let (id, engine) = (report::SubmissionId(number("id")?), self.desk.engine());
        let (now, since) = (engine.now(), engine.now().plus_seconds(-number("seconds")?));
        let (due, why) = (now.plus_seconds(86_400), "timed-out".to_owned());
        for event in [Event::SendingStarted { since }, Event::Doubted { since, due, why }] {
            let step = journal::Step::new(id, event, engine.person().clone(), now);
            engine.journal().record(step).map_err(|error| format!("{error:?}"))?;
        }
        Ok(())
    }

    /// A page is shown from its beginning.
    pub(crate) fn page_begins(&self) {
        self.desk.page_begins();
    }

    /// Tells the page when the journal moved, as the desktop shell does.
    pub(crate) async fn announce_changes(self: std::sync::Arc<Self>) {
        let mut seen = u64::MAX;
        loop {
            seen = self.desk.changed(seen).await;
            self.emit("changed", &json!({ "revision": seen }));
        }
    }

    fn emit(&self, event: &str, payload: &Value) {
        self.events.send_modify(|all| all.push(json!({ "event": event, "payload": payload })));
    }

    /// Events from a place on; waits until there is one.
    pub(crate) async fn events_from(&self, place: usize) -> Vec<Value> {
        let mut events = self.events.subscribe();
        // The sender lives as long as the shell does.
        let Ok(all) = events.wait_for(|all| all.len() > place).await else { return Vec::new() };
        all.get(place..).unwrap_or_default().to_vec()
    }

    /// What a person has handed over.
    pub(crate) fn grant(&self, paths: &Value) {
        let paths = paths.as_array().into_iter().flatten().filter_map(Value::as_str);
        self.desk.grant(paths.map(PathBuf::from));
    }

    /// Drops files on the window.
    pub(crate) fn drop_files(&self, paths: &Value) {
        self.grant(paths);
        self.emit("drag", &json!({ "phase": "enter" }));
        self.emit("drag", &json!({ "phase": "leave" }));
        self.emit("dropped", &json!({ "paths": paths, "refused": 0 }));
    }

    /// What the next dialog answers.
    pub(crate) fn choose(&self, paths: Vec<String>) {
        self.chosen.lock().unwrap_or_else(PoisonError::into_inner).push_back(paths);
    }

    fn next_choice(&self) -> Vec<String> {
        let mut chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner);
        chosen.pop_front().unwrap_or_default()
    }

    /// Answers a call of the page: the dialogs here, all else at the desk. `None` for no command.
    pub(crate) async fn call(
        &self,
        command: &str,
        mut arguments: Value,
    ) -> Option<Result<String, Problem>> {
        let room = Call::take_room(&mut arguments);
        let call = match Call::read(command, arguments)? {
            Ok(call) => call,
            Err(problem) => return Some(Err(problem)),
        };
        // The question of the shell about a new address: whoever runs a journey says yes.
        self.desk.allow(&call);
        let room = match self.desk.permits(&call).and(room) {
            Ok(room) => room,
            Err(problem) => return Some(Err(problem)),
        };
        Some(match call {
            Call::ChooseFiles { .. } => Ok(json!(self.next_choice()).to_string()),
            Call::ChooseFolder { .. } => Ok(json!(self.next_choice().pop()).to_string()),
            Call::SaveTable { text } => match self.next_choice().pop() {
                Some(target) => {
                    self.desk.save_table(target.as_ref(), text).await.map(|()| "true".to_owned())
                }
                None => Ok("false".to_owned()),
            },
            Call::SaveStatement { date, language } => match self.next_choice().pop() {
                Some(target) => {
                    let words = wording(&language);
                    let saved = self.desk.save_statement(target.as_ref(), date, words).await;
                    saved.map(|()| "true".to_owned())
                }
                None => Ok("false".to_owned()),
            },
            Call::SupportPreview { language } => {
                let files = self.desk.support_preview(Some(wording(&language))).await;
                files.map(|files| json!(files).to_string())
            }
            call => self.desk.answer(call, room).await,
        })
    }
}

/// What stands on a statement and in a support bundle, as the shell has it.
fn wording(language: &str) -> Wording {
    let language = Language::of_locale(language);
    Wording::new(language.code(), move |id, params| language.shared(id, params))
}
