//! The laboratory's certificates, and the vault that holds them.

use std::path::PathBuf;

use bridge::Problem;
use bridge::headless::Headless;
use bridge::views::{CertificateView, StoredCertificateView};

use super::Scene;
use crate::arguments::{IdentityCommand, VaultCommand};
use crate::exit::Exit;
use crate::output::{Line, Look};
use crate::passphrase;

/// Digits of a fingerprint that are shown where the whole one stands elsewhere: enough to name it
/// by.
const SHORT: usize = 23;

pub(super) async fn identity(scene: &Scene<'_>, command: IdentityCommand) -> Result<Exit, Problem> {
    let profile = scene.open().await?;
    let done = match command {
        IdentityCommand::Import { file, key, password_file, endpoints } => {
            let files: Vec<PathBuf> = [Some(file), key].into_iter().flatten().collect();
            import(scene, &profile, &files, password_file, &endpoints).await
        }
        IdentityCommand::List => list(scene, &profile),
        IdentityCommand::Show { name } => show(scene, &profile, name.as_deref()),
        IdentityCommand::Use { name, endpoint } => {
            let used = profile.use_certificate(&name, &endpoint).await;
            used.map(|()| {
                scene.line("say.certificate-used", &[("endpoint", &endpoint)]);
                Exit::Well
            })
        }
        IdentityCommand::Remove { name, although_needed } => {
            let removed = profile.remove_certificate(&name, although_needed).await;
            removed.map(|removed| {
                let short = short(&removed.fingerprint);
                scene.line("say.certificate-removed", &[("fingerprint", &short)]);
                for endpoint in &removed.endpoints {
                    scene.hint("say.certificate-none", &[("endpoint", endpoint)]);
                }
                Exit::Well
            })
        }
    };
    profile.close().await;
    done
}

async fn import(
    scene: &Scene<'_>,
    profile: &Headless,
    files: &[PathBuf],
    password_file: Option<PathBuf>,
    endpoints: &[String],
) -> Result<Exit, Problem> {
    let password = match &password_file {
        Some(file) => Some(passphrase::read(file)?),
        None => None,
    };
    let facts = profile.import_certificate(files, password, endpoints).await?;
    scene.line("say.imported", &[]);
    certificate(scene, &facts);
    let all = profile.certificates()?;
    if let Some(stored) = all.iter().find(|it| it.fingerprint == facts.fingerprint) {
        used_for(scene, stored);
    }
    Ok(Exit::Well)
}

fn list(scene: &Scene<'_>, profile: &Headless) -> Result<Exit, Problem> {
    let all = profile.certificates()?;
    if all.is_empty() {
        scene.hint("say.no-certificate", &[]);
    }
    for stored in &all {
        if scene.output.json {
            scene.output.object(stored);
            continue;
        }
        let subject = stored.certificate.as_ref().map(|it| it.subject.clone());
        let subject = subject.unwrap_or_else(|| scene.texts.say("say.certificate-damaged"));
        scene.output.line(&Line::new().look(subject, Look::Bold));
        if let Some(facts) = &stored.certificate {
            scene.fact("issuer", &facts.issuer);
            scene.fact("valid", &validity(scene, facts));
        }
        scene.fact("fingerprint", &short(&stored.fingerprint));
        used_for(scene, stored);
    }
    let damaged = all.iter().any(|stored| stored.certificate.is_none());
    Ok(if damaged || all.is_empty() { Exit::Person } else { Exit::Well })
}

fn show(scene: &Scene<'_>, profile: &Headless, name: Option<&str>) -> Result<Exit, Problem> {
    let found = match profile.certificate_named(name) {
        Err(problem) if problem.code == "client-certificate-missing" => None,
        found => Some(found?),
    };
    match found {
        Some(stored) => match &stored.certificate {
            Some(facts) => {
                certificate(scene, facts);
                used_for(scene, &stored);
                Ok(Exit::Well)
            }
            None => Err(Problem::new("secret-damaged", &[("name", "identity")], "certificate")),
        },
        None => {
            scene.hint("say.no-certificate", &[]);
            Ok(Exit::Person)
        }
    }
}

fn certificate(scene: &Scene<'_>, facts: &CertificateView) {
    if scene.output.json {
        scene.output.object(facts);
        return;
    }
    scene.fact("subject", &facts.subject);
    scene.fact("issuer", &facts.issuer);
    scene.fact("serial", &facts.serial);
    scene.fact("valid", &validity(scene, facts));
    scene.fact("fingerprint", &facts.fingerprint);
    scene.fact("key", &facts.key_type);
    if !facts.purposes.is_empty() {
        scene.fact("purposes", &facts.purposes.join(", "));
    }
    scene.fact("stored", &scene.texts.say(&format!("vault.{}", facts.stored_in.code())));
    if !facts.client_auth {
        scene.hint("say.not-for-clients", &[]);
    }
}

fn validity(scene: &Scene<'_>, facts: &CertificateView) -> String {
    let (left, days) = match (facts.days_ahead, facts.days_left) {
        (1.., _) => ("say.not-valid-yet", facts.days_ahead),
        (_, ..0) => ("say.expired", facts.days_left),
        (_, _) => ("say.days-left", facts.days_left),
    };
    let days = days.unsigned_abs().to_string();
    let from = super::view::to_the_second(&facts.not_before);
    let until = super::view::to_the_second(&facts.not_after);
    let validity = scene.texts.text("label.validity", &[("from", &from), ("until", &until)]);
    format!("{validity}  ({})", scene.texts.text(left, &[("days", &days)]))
}

/// Which endpoints use it, and what is open under it. Not among the facts of JSON, which has fields
/// for it.
fn used_for(scene: &Scene<'_>, stored: &StoredCertificateView) {
    if scene.output.json {
        return;
    }
    let nothing = scene.texts.say("say.no-endpoint-uses-it");
    let some = Some(stored.endpoints.join(", ")).filter(|names| !names.is_empty());
    scene.fact("used-for", &some.unwrap_or(nothing));
    if !stored.formerly.is_empty() {
        scene.fact("formerly-for", &stored.formerly.join(", "));
    }
    if stored.open > 0 {
        scene.fact("open", &stored.open.to_string());
    }
}

/// The beginning of a fingerprint.
pub(super) fn short(fingerprint: &str) -> String {
    fingerprint.chars().take(SHORT).collect()
}

pub(super) async fn vault(scene: &Scene<'_>, command: VaultCommand) -> Result<Exit, Problem> {
    let VaultCommand::ChangePassphrase { new_passphrase_file } = command;
    let fresh = passphrase::read(&new_passphrase_file)?;
    let profile = scene.open().await?;
    let changed = profile.change_passphrase(&fresh);
    profile.close().await;
    changed?;
    scene.line("say.passphrase-changed", &[]);
    Ok(Exit::Well)
}
