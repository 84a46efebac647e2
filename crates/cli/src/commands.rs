//! What each command does: ask `bridge::headless`, print, and say how it ended.

mod audit;
mod deliver;
mod export;
mod follow;
mod generate;
mod identity;
mod journal;
mod practice;
mod rules;
mod search;
mod send;
mod setup;
mod statement;
mod support;
mod view;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use bridge::headless::{Headless, default_folder, practice_folder};
use bridge::{Password, Problem};

use crate::arguments::{Arguments, Command, Global};
use crate::catalogue::Catalogue;
use crate::exit::Exit;
use crate::files::unreadable;
use crate::output::{Line, Look, Output};
use crate::passphrase;

/// What a command works with.
pub(crate) struct Scene<'a> {
    pub(crate) global: &'a Global,
    pub(crate) output: &'a Output,
    pub(crate) texts: &'a Catalogue,
    /// Something was said that a person has to read.
    told: AtomicBool,
}

/// Problems whose `file` is one of reports, and not of the program.
const OF_A_REPORT: [&str; 4] =
    ["not-a-report", "watched-files-gone", "watched-files-known", "watched-files-refused"];

/// Runs one command.
pub(crate) async fn run(arguments: Arguments, output: &Output, texts: &Catalogue) -> Exit {
    let Arguments { global, command } = arguments;
    let scene = Scene { global: &global, output, texts, told: AtomicBool::new(false) };
    if let Some(exit) = scene.unnamed(&command) {
        return exit;
    }
    let change = audit::change_of(&command);
    let done = match command {
        Command::Init(init) => setup::init(&scene, init).await,
        Command::Identity(command) => identity::identity(&scene, command).await,
        Command::Vault(command) => identity::vault(&scene, command).await,
        Command::Endpoint(command) => setup::endpoint(&scene, command).await,
        Command::Check(paths) => send::check(&scene, paths).await,
        Command::Send(send) => send::send(&scene, send).await,
        Command::Follow(follow) => follow::follow(&scene, follow).await,
        Command::List(list) => view::list(&scene, list).await,
        Command::Show { id } => view::show(&scene, id).await,
        Command::Resubmit(resubmit) => send::resubmit(&scene, resubmit).await,
        Command::Hold { id } => send::hold(&scene, id).await,
        Command::Pause => send::pause(&scene, true).await,
        Command::Resume => send::pause(&scene, false).await,
        Command::Settle(settle) => send::settle(&scene, settle).await,
        Command::Withdraw(withdraw) => send::withdraw(&scene, withdraw).await,
        Command::Release(release) => send::release(&scene, release).await,
        Command::Search(search) => search::search(&scene, search).await,
        Command::Watch { dir } => watch::watch(&scene, dir).await,
        Command::Export(export) => export::export(&scene, export).await,
        Command::Statement(asked) => statement::statement(&scene, asked).await,
        Command::Rules(command) => rules::rules(&scene, command).await,
        Command::Journal(command) => journal::journal(&scene, command).await,
        Command::SupportBundle(asked) => support::bundle(&scene, asked).await,
        Command::Practice => practice::practice(&scene).await,
        Command::Generate { what, dir } => generate::generate(&scene, what, &dir),
        Command::Audit => audit::audit(&scene),
    };
    match done.and_then(|exit| scene.noted(exit, change.as_ref())) {
        Ok(exit) if scene.told.load(Ordering::Relaxed) => exit.max(Exit::Person),
        Ok(exit) => exit,
        Err(problem) => scene.trouble(&problem),
    }
}

impl Scene<'_> {
    /// The profile's folder: the one that was named; else the laboratory's, or as long as there is
    /// none the practice profile.
    fn folder(&self) -> PathBuf {
        self.global.profile.clone().unwrap_or_else(default_folder)
    }

    /// Where nobody has named a profile and only practice is found: what looks at reports says
    /// where it looks; what decides about them, keeps them or answers for them is refused, for it
    /// is meant for the laboratory.
    fn unnamed(&self, command: &Command) -> Option<Exit> {
        let folder = self.folder();
        if self.global.profile.is_some() || folder != practice_folder() {
            return None;
        }
        let shown = folder.display().to_string();
        match command {
            Command::Check(_) | Command::List(_) | Command::Show { .. } => {
                let text = self.texts.text("say.practice-shown", &[("folder", &shown)]);
                self.output.error(Line::of(text));
                None
            }
            // Each of these looks by itself whether it is about the samples of practice alone.
            Command::Send(_)
            | Command::Resubmit(_)
            | Command::Release(_)
            | Command::Watch { .. }
            | Command::Follow(_)
            // These do nothing to a report.
            | Command::Init(_)
            | Command::Practice
            | Command::Generate { .. }
            | Command::Identity(_)
            | Command::Vault(_)
            | Command::Endpoint(_)
            | Command::SupportBundle(_) => None,
            Command::Hold { .. }
            | Command::Pause
            | Command::Resume
            | Command::Settle(_)
            | Command::Withdraw(_)
            | Command::Search(_)
            | Command::Export(_)
            | Command::Statement(_)
            | Command::Audit
            | Command::Rules(_)
            | Command::Journal(_) => {
                self.error("say.practice-not-named", &[("folder", &shown)]);
                Some(Exit::Usage)
            }
        }
    }

    /// Says that a practice profile which nobody has named sends its own samples and nothing else.
    fn refuses_unnamed(&self, profile: &Headless, is_its_own: bool) -> bool {
        if self.global.profile.is_some() || is_its_own {
            return false;
        }
        let folder = profile.folder().display().to_string();
        self.error("say.practice-not-named", &[("folder", &folder)]);
        true
    }

    async fn open(&self) -> Result<Headless, Problem> {
        let profile = self.open_untold().await?;
        self.tell(&profile)?;
        Ok(profile)
    }

    /// Opens the profile for a command that tells what happened to the journal when it is done.
    async fn open_untold(&self) -> Result<Headless, Problem> {
        Headless::open(&self.folder(), self.passphrase()?).await
    }

    /// What happened to the journal is said with every command until a person has read it; then
    /// the command's exit code says so too.
    fn tell(&self, profile: &Headless) -> Result<(), Problem> {
        let is_any = self.say_notices(profile)?;
        self.told.fetch_or(is_any, Ordering::Relaxed);
        Ok(())
    }

    /// Says what nobody has read yet. Whether there is anything.
    fn say_notices(&self, profile: &Headless) -> Result<bool, Problem> {
        let notices = profile.notices()?;
        for notice in &notices {
            let line = Line::new()
                .look(format!("{}: ", self.texts.say("say.notice")), Look::Bad)
                .add(self.texts.problem(&self.concealed(&notice.problem)));
            self.output.error(line);
        }
        if !notices.is_empty() {
            self.hint("say.notices-more", &[]);
        }
        Ok(!notices.is_empty())
    }

    fn passphrase(&self) -> Result<Option<Password>, Problem> {
        let Some(file) = &self.global.passphrase_file else { return Ok(None) };
        let read = passphrase::read(file);
        read.map(Some).map_err(|problem| Problem { trace: "passphrase".to_owned(), ..problem })
    }

    fn read(&self, file: &Path) -> Result<Vec<u8>, Problem> {
        std::fs::read(file).map_err(|error| unreadable(file, &error))
    }

    /// Says what went wrong and what to do next.
    fn trouble(&self, problem: &Problem) -> Exit {
        self.trouble_saying(self.texts.problem(&self.concealed(problem)), problem)
    }

    /// The same of an endpoint, by its name: there may be several.
    fn trouble_at(&self, endpoint: &str, problem: &Problem) -> Exit {
        let text = self.texts.problem(&self.concealed(problem));
        let params = [("endpoint", endpoint), ("text", &*text)];
        self.trouble_saying(self.texts.text("say.at-endpoint", &params), problem)
    }

    fn trouble_saying(&self, text: String, problem: &Problem) -> Exit {
        self.error_line(text);
        let next = Line::new()
            .add("  ")
            .look(self.texts.say("say.next"), Look::Bold)
            .add(" ")
            .add(self.texts.next(problem));
        self.output.hint(&next);
        Exit::of(problem)
    }

    /// An error that is no problem of the list.
    fn error(&self, key: &str, params: &[(&str, &str)]) {
        self.error_line(self.texts.text(key, params));
    }

    fn error_line(&self, text: String) {
        let prefix = format!("{}: ", self.texts.say("say.error"));
        self.output.error(Line::new().look(prefix, Look::Bad).add(text));
    }

    /// For standard error: without the name of a report's file, where names are not shown.
    fn concealed(&self, problem: &Problem) -> Problem {
        self.as_shown(problem, self.output.names.messages)
    }

    /// A problem, with the name of a report's file where those are shown.
    fn as_shown(&self, problem: &Problem, names: bool) -> Problem {
        let mut problem = problem.clone();
        if !names
            && OF_A_REPORT.contains(&problem.code.as_str())
            && let Some(file) = problem.params.get_mut("file")
        {
            *file = self.texts.say("say.some-file");
        }
        problem
    }

    /// A hint from the catalogue.
    fn hint(&self, key: &str, params: &[(&str, &str)]) {
        self.output.hint(&Line::of(self.texts.text(key, params)));
    }

    /// A result for people from the catalogue.
    fn line(&self, key: &str, params: &[(&str, &str)]) {
        self.output.line(&Line::of(self.texts.text(key, params)));
    }

    /// A fact with its label.
    fn fact(&self, label: &str, value: &str) {
        let line = Line::new()
            .add("  ")
            .column(&self.texts.say(&format!("label.{label}")), 14, Look::Faint)
            .add(value);
        self.output.line(&line);
    }
}
