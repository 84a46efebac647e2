//! Who has changed what of the settings: what of the commands is noted, and the list of it.

use bridge::Problem;
use bridge::headless::{CHANGES, Change, audit_log, note_change};
use texts::CATALOGUE;

use super::Scene;
use crate::arguments::{
    Command, EndpointCommand, IdentityCommand, Init, JournalCommand, Retention, RulesCommand,
    VaultCommand,
};
use crate::exit::Exit;
use crate::output::{Line, Look};

/// Compiled only where every change has its text.
const _: () = CATALOGUE.must_have_each("change", CHANGES);

/// Columns of a name like `somebody@computer`.
const WHO: usize = 24;

/// Shows the audit log.
pub(super) fn audit(scene: &Scene<'_>) -> Result<Exit, Problem> {
    let all = audit_log(&scene.folder())?;
    if scene.output.json {
        all.iter().for_each(|entry| scene.output.object(entry));
        return Ok(Exit::Well);
    }
    if all.is_empty() {
        scene.hint("say.nothing-changed", &[]);
    }
    for entry in &all {
        let params: Vec<(&str, &str)> =
            entry.params.iter().map(|(name, value)| (&**name, &**value)).collect();
        let line = Line::new()
            .look(super::view::to_the_second(&entry.at), Look::Faint)
            .add("  ")
            .column(&entry.by, WHO, Look::Plain)
            .add(scene.texts.text(&format!("change.{}", entry.change), &params));
        scene.output.line(&line);
    }
    Ok(Exit::Well)
}

/// What a command changes of the settings where it ends well, if it does. What is done several
/// times in one command is noted there, each time.
pub(super) fn change_of(command: &Command) -> Option<Change> {
    match command {
        Command::Init(Init { name, endpoint: Some(url), practice: false, .. }) => {
            Some(added(name, url))
        }
        Command::Endpoint(command) => of_endpoint(command),
        Command::Identity(command) => of_identity(command),
        Command::Vault(VaultCommand::ChangePassphrase { .. }) => {
            Some(Change::new("vault-passphrase-set", &[]))
        }
        Command::Rules(RulesCommand::Use { package, .. }) => {
            Some(Change::new("rules-used", &[("package", package)]))
        }
        Command::Rules(RulesCommand::Remove { package }) => {
            Some(Change::new("rules-removed", &[("package", package)]))
        }
        Command::Journal(command) => of_journal(command),
        _ => None,
    }
}

fn of_endpoint(command: &EndpointCommand) -> Option<Change> {
    let named = |code, name: &str| Some(Change::new(code, &[("endpoint", name)]));
    match command {
        EndpointCommand::Add { name, url, .. } => Some(added(name, url)),
        EndpointCommand::SetAddress { name, url, .. } => Some(Change::new(
            "endpoint-address-set",
            &[("endpoint", name), ("address", &Change::address(url))],
        )),
        EndpointCommand::SetWay { name, .. } => named("endpoint-way-set", name),
        EndpointCommand::Rename { name, new_name } => {
            Some(Change::new("endpoint-renamed", &[("endpoint", name), ("name", new_name)]))
        }
        EndpointCommand::Remove { name } => named("endpoint-removed", name),
        EndpointCommand::Use { name, .. } => named("endpoint-used", name),
        EndpointCommand::List | EndpointCommand::Test { .. } => None,
    }
}

fn of_identity(command: &IdentityCommand) -> Option<Change> {
    match command {
        IdentityCommand::Import { .. } => Some(Change::new("certificate-imported", &[])),
        IdentityCommand::Use { name, endpoint } => {
            let params = [("fingerprint", &*Change::fingerprint(name)), ("endpoint", endpoint)];
            Some(Change::new("certificate-used", &params))
        }
        IdentityCommand::Remove { name, .. } => {
            let params = [("fingerprint", &*Change::fingerprint(name))];
            Some(Change::new("certificate-removed", &params))
        }
        IdentityCommand::List | IdentityCommand::Show { .. } => None,
    }
}

fn of_journal(command: &JournalCommand) -> Option<Change> {
    match command {
        JournalCommand::BackupPlace { place: Some(place) } => {
            let place = place.display().to_string();
            let kept = Some(&*place).filter(|place| *place != "off");
            Some(Change::of_folder("backup-place-set", "backup-place-unset", kept))
        }
        JournalCommand::Restore { file } => {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            Some(Change::new("backup-restored", &[("name", &name)]))
        }
        JournalCommand::RotateKey => Some(Change::new("journal-key-rotated", &[])),
        JournalCommand::Retention { days: Some(Retention::Days(days)) } => {
            Some(Change::new("retention-set", &[("days", &days.to_string())]))
        }
        JournalCommand::Retention { days: Some(Retention::Off) } => {
            Some(Change::new("retention-unset", &[]))
        }
        JournalCommand::Attention { days: Some(days) } => {
            Some(Change::new("attention-days-set", &[("days", &days.to_string())]))
        }
        _ => None,
    }
}

fn added(name: &str, url: &str) -> Change {
    Change::new("endpoint-added", &[("endpoint", name), ("address", &Change::address(url))])
}

impl Scene<'_> {
    /// Notes what a command has changed; one that only said what it would change has changed
    /// nothing.
    pub(super) fn noted(&self, exit: Exit, change: Option<&Change>) -> Result<Exit, Problem> {
        match change {
            Some(change) if exit == Exit::Well => self.note(change).map(|()| exit),
            _ => Ok(exit),
        }
    }

    /// Writes to the audit log what was changed.
    pub(super) fn note(&self, change: &Change) -> Result<(), Problem> {
        note_change(&self.folder(), change)
    }
}
