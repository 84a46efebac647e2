//! Making a profile; endpoints.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bridge::headless::{
    EndpointFacts, EndpointTerms, Family, Headless, MoveFacts, Vault, laboratory_folder,
    practice_folder,
};
use bridge::views::{ProbeOutcome, ProbeView};
use bridge::{Environment, Problem};

use super::{Scene, practice};
use crate::arguments::{EndpointCommand, EndpointOptions, Init, VaultKind};
use crate::exit::Exit;
use crate::output::{Line, Look};
use crate::passphrase;

pub(super) async fn init(scene: &Scene<'_>, init: Init) -> Result<Exit, Problem> {
    let usual = if init.practice { practice_folder } else { laboratory_folder };
    let folder = scene.global.profile.clone().unwrap_or_else(usual);
    let profile = match init.endpoint {
        None if !init.practice => return Ok(which_profile(scene)),
        None => practice_profile(scene, folder).await?,
        Some(url) => {
            let vault = match init.vault {
                VaultKind::Keychain => Vault::Keychain,
                VaultKind::Passphrase => Vault::Passphrase,
            };
            let endpoint = endpoint_terms(scene, init.name, url, init.terms)?;
            Headless::create(&folder, vault, scene.passphrase()?, endpoint).await?
        }
    };
    made(scene, &profile);
    warn_of_path(scene, &profile, None);
    profile.close().await;
    Ok(Exit::Well)
}

/// Neither way was named: both are, as they can be typed.
fn which_profile(scene: &Scene<'_>) -> Exit {
    scene.output.error(Line::of(scene.texts.say("say.init-which")));
    for way in ["say.init-practice", "say.init-real"] {
        scene.output.error(Line::of("  ").add(scene.texts.say(way)));
    }
    Exit::Usage
}

/// A folder that holds a practice profile already is as good as a new one; any other is left alone.
async fn practice_profile(scene: &Scene<'_>, folder: PathBuf) -> Result<Headless, Problem> {
    let opened = Headless::practice(&folder).await;
    let profile = opened.map_err(|problem| match problem.code.as_str() {
        "not-practice" => {
            let folder = folder.display().to_string();
            Problem::new("profile-exists", &[("folder", &folder)], "init")
        }
        _ => problem,
    })?;
    practice::speak(scene, &profile).await?;
    Ok(profile)
}

fn made(scene: &Scene<'_>, profile: &Headless) {
    let folder = profile.folder().display().to_string();
    if scene.output.json {
        let endpoints = profile.endpoints();
        let vault = profile.vault_code();
        scene.output.object(&serde_json::json!({
            "profile": folder, "vault": vault, "endpoints": endpoints,
        }));
    } else if profile.as_practice().is_some() {
        scene.line("say.profile-practice", &[("folder", &folder)]);
        scene.hint("say.practice-next", &[]);
    } else {
        scene.line("say.profile-made", &[("folder", &folder)]);
        scene.hint("say.profile-next", &[]);
    }
}

fn ca_of(scene: &Scene<'_>, file: Option<&Path>) -> Result<Option<String>, Problem> {
    let read = file.map(|file| scene.read(file)).transpose()?;
    Ok(read.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

fn endpoint_terms(
    scene: &Scene<'_>,
    name: String,
    url: String,
    options: EndpointOptions,
) -> Result<EndpointTerms, Problem> {
    let ca_pem = ca_of(scene, options.ca.as_deref())?;
    let proxy_password = match &options.proxy_password_file {
        Some(file) => Some(Arc::new(passphrase::read(file)?)),
        None => None,
    };
    Ok(EndpointTerms {
        name,
        url,
        environment: options.environment,
        release: options.release,
        language: options.language,
        identifier: options.identifier,
        ca_pem,
        also_system_roots: options.also_system_roots,
        server_key: options.server_key,
        proxy: options.proxy,
        proxy_password,
    })
}

pub(super) async fn endpoint(scene: &Scene<'_>, command: EndpointCommand) -> Result<Exit, Problem> {
    let mut profile = scene.open().await?;
    let mut exit = Exit::Well;
    match command {
        EndpointCommand::List => {
            profile.endpoints().iter().for_each(|facts| endpoint_lines(scene, facts));
        }
        EndpointCommand::Add { name, url, terms } => {
            let terms = endpoint_terms(scene, name.clone(), url, *terms)?;
            profile.add_endpoint(terms).await?;
            changed(scene, &profile, &name, "say.endpoint-added");
            warn_of_path(scene, &profile, Some(&name));
            warn_of_same_address(scene, &profile, &name);
        }
        EndpointCommand::SetAddress { name, url, same_authority } => {
            profile.set_endpoint_address(&name, &url, same_authority).await?;
            changed(scene, &profile, &name, "say.endpoint-address-set");
            warn_of_path(scene, &profile, Some(&name));
            warn_of_same_address(scene, &profile, &name);
        }
        EndpointCommand::SetWay { name, ca, no_ca, proxy, no_proxy, proxy_password_file } => {
            let ca = ca_of(scene, ca.as_deref())?.or_else(|| no_ca.then(String::new));
            let proxy = proxy.or_else(|| no_proxy.then(String::new));
            let password = proxy_password_file.as_deref().map(passphrase::read).transpose()?;
            profile.set_endpoint_way(&name, ca, proxy, password.as_ref()).await?;
            changed(scene, &profile, &name, "say.endpoint-way-set");
        }
        EndpointCommand::Rename { name, new_name } => {
            profile.rename_endpoint(&name, &new_name).await?;
            changed(scene, &profile, &new_name, "say.endpoint-renamed");
        }
        EndpointCommand::Remove { name } => {
            profile.remove_endpoint(&name).await?;
            if !scene.output.json {
                scene.line("say.endpoint-removed", &[("name", &name)]);
            }
        }
        EndpointCommand::Use { name, confirm } => {
            let plan = profile.plan_endpoint(&name)?;
            if (plan.to_production || plan.leaves_production) && !confirm {
                say_move(scene, &plan, "say.endpoint-would-be-used");
                let (into, out) = ("say.endpoint-confirm", "say.endpoint-confirm-leaving");
                scene.hint(if plan.to_production { into } else { out }, &[("name", &name)]);
                exit = Exit::Person;
            } else {
                profile.use_endpoint(&name).await?;
                say_move(scene, &plan, "say.endpoint-used");
            }
        }
        EndpointCommand::Test { name } => {
            profile.reach().await?;
            let layers = profile.test_endpoint(name.as_deref()).await?;
            layers.iter().for_each(|facts| layer(scene, facts));
            if let Some(failed) = layers.iter().find(|facts| facts.problem.is_some()) {
                let next = failed.problem.as_ref().map(|problem| scene.texts.next(problem));
                scene.output.hint(&Line::of(next.unwrap_or_default()));
                exit = Exit::Authority;
            }
        }
    }
    profile.close().await;
    Ok(exit)
}

/// An address that ends in another way than the authority's do may work, but is more often a
/// mistake.
fn warn_of_path(scene: &Scene<'_>, profile: &Headless, name: Option<&str>) {
    let endpoints = profile.endpoints();
    let added = endpoints.iter().filter(|facts| name.is_none_or(|name| facts.name == name));
    for facts in
        added.filter(|facts| !facts.usual_path && facts.environment != Environment::Practice)
    {
        scene.hint("say.unusual-path", &[("name", &facts.name), ("url", &facts.url)]);
    }
}

/// One authority in two environments would get reports twice. That is said with `--quiet` and
/// `--json` too, whose objects name the other one.
fn warn_of_same_address(scene: &Scene<'_>, profile: &Headless, name: &str) {
    let endpoints = profile.endpoints();
    for other in endpoints.iter().filter(|facts| facts.name == name).flat_map(|f| &f.same_address) {
        let environment = scene.texts.say(&format!("environment.{}", other.environment.code()));
        let params = [("name", &*other.name), ("environment", &*environment)];
        scene.output.error(Line::of(scene.texts.text("say.same-address", &params)));
    }
}

/// What a move to another endpoint will send and what not.
fn say_move(scene: &Scene<'_>, plan: &MoveFacts, key: &str) {
    if scene.output.json {
        return scene.output.object(plan);
    }
    let environment = scene.texts.say(&format!("environment.{}", plan.to_environment.code()));
    scene.line(key, &[("name", &plan.to), ("environment", &environment)]);
    for waiting in &plan.stay {
        let count = waiting.count.to_string();
        scene.hint("say.move-stays", &[("count", &count), ("endpoint", &waiting.endpoint)]);
    }
    if plan.from.as_ref().is_some_and(|from| *from != plan.to) {
        scene.hint("say.move-again", &[("name", &plan.to)]);
    }
    if plan.watched.is_some() {
        scene.hint("say.move-watched", &[("name", &plan.to)]);
    }
}

fn changed(scene: &Scene<'_>, profile: &Headless, name: &str, key: &str) {
    if scene.output.json {
        profile.endpoints().iter().filter(|facts| facts.name == name).for_each(|facts| {
            scene.output.object(facts);
        });
    } else {
        scene.line(key, &[("name", name)]);
    }
}

fn endpoint_lines(scene: &Scene<'_>, facts: &EndpointFacts) {
    if scene.output.json {
        scene.output.object(facts);
        return;
    }
    let mut title = Line::new().look(&*facts.name, Look::Bold);
    if facts.in_use {
        title = title.look(format!("  ·  {}", scene.texts.say("say.in-use")), Look::Good);
    }
    scene.output.line(&title);
    scene.fact("url", &facts.url);
    scene.fact(
        "environment",
        &scene.texts.say(&format!("environment.{}", facts.environment.code())),
    );
    scene.fact("release", facts.release);
    scene.fact("language", &facts.language);
    if let Some(proxy) = &facts.proxy {
        scene.fact("proxy", proxy);
    }
    let trusts = match (facts.own_ca, facts.also_system_roots) {
        (true, true) => "say.trusts-both",
        (true, false) => "say.trusts-own",
        (false, _) => "say.trusts-system",
    };
    scene.fact("trusts", &scene.texts.say(trusts));
    if let Some(key) = &facts.server_key {
        scene.fact("server-key", key);
    }
    let certificate = match &facts.certificate {
        Some(fingerprint) => super::identity::short(fingerprint),
        None => scene.texts.say("say.no-certificate"),
    };
    scene.fact("certificate", &certificate);
}

fn layer(scene: &Scene<'_>, facts: &ProbeView) {
    if scene.output.json {
        scene.output.object(facts);
        return;
    }
    let look = match facts.outcome {
        ProbeOutcome::Passed => Look::Good,
        ProbeOutcome::Failed => Look::Bad,
        ProbeOutcome::NotReached => Look::Faint,
    };
    let mut line = Line::new()
        .add("  ")
        .column(&scene.texts.word(Family::Layer, facts.layer), 30, Look::Plain)
        .column(&scene.texts.say(&format!("say.{}", facts.outcome.code())), 16, look);
    if let Some(detail) = &facts.detail {
        line = line.look(&**detail, Look::Faint);
    }
    if let Some(problem) = &facts.problem {
        line = line.add(scene.texts.problem(problem));
    }
    scene.output.line(&line);
}
