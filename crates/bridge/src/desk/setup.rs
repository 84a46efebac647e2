//! Endpoints and preferences.

use std::time::Duration;

use engine::{Move, SameAuthority};
use exchange::{Endpoint, Environment, IdentifierChoice, Release};
use url::Url;

use super::{Desk, on_pool};
use crate::codes::{DENSITIES, ON_CLOSE, THEMES};
use crate::connection;
use crate::limits;
use crate::problem::Problem;
use crate::views::{
    EndpointInput, EndpointView, MoveView, PreferencesView, ProbeView, ProductionNeeds, StayingView,
};

/// Preference under which the window's choices stand.
const WINDOW: &str = "window";
/// How practice is called: by its own name, which is the English one as well, and in German, French
/// and Italian.
const PRACTICE_NAMES: [&str; 4] = ["practice", "übung", "exercice", "esercitazione"];
/// Longest address of an endpoint or a proxy: it has to be shown whole where a person is asked
/// about it.
const SHOWN_MAX: usize = 400;
/// Longest patience with a report in progress, days.
const ATTENTION_DAYS_MAX: u16 = 365;
/// Longest time in which sending can be undone.
const UNDO_SECONDS_MAX: u32 = 30;
/// So long is waited for what a try shows; a notice tells of what comes later.
const TRY_PATIENCE: Duration = Duration::from_secs(15);

impl Desk {
    /// All endpoints, practice first.
    pub async fn endpoints(&self) -> Result<Vec<EndpointView>, Problem> {
        let is_practice = self.place().is_practice && self.closed_in_use().is_none();
        let mut views = Vec::new();
        let mut add = |profile: &engine::Profile, here: bool| {
            for endpoint in &profile.settings.endpoints {
                let in_use = profile.settings.in_use.as_deref() == Some(endpoint.id());
                views.push(endpoint_view(endpoint, here && in_use));
            }
        };
        add(&self.inner.practice_engine.profile(), is_practice);
        // A closed laboratory has no endpoints to show; the status says why it is closed.
        if let Ok(Some(engine)) = self.laboratory_engine().await {
            add(&engine.profile(), !is_practice);
        }
        Ok(views)
    }

    /// Adds an endpoint of the laboratory.
    pub async fn add_endpoint(&self, input: EndpointInput) -> Result<(), Problem> {
        let endpoint = endpoint_of(input)?;
        unlike_practice(&endpoint.name)?;
        Ok(self.laboratory_or_new().await?.add_endpoint(endpoint).await?)
    }

    /// What using another endpoint would send and what not; nothing is changed.
    pub async fn plan_endpoint(&self, name: String) -> Result<MoveView, Problem> {
        let to = if self.is_practice_endpoint(&name) {
            self.inner.practice_engine.clone()
        } else {
            let unknown = || Problem::new("unknown-endpoint", &[("name", &name)], "endpoint");
            self.laboratory_engine().await?.ok_or_else(unknown)?
        };
        let in_use = self.engine().profile();
        let mut view = move_view(&to.plan_endpoint(&name)?, in_use.endpoint());
        view.needs = self.needs_of(&to, &name).await?;
        Ok(view)
    }

    /// What has to be there before a production system is used: a certificate, and a test of the
    /// connection as it is now. Where reports are with it already a person must get at them,
    /// whatever the network does at that moment.
    async fn needs_of(
        &self,
        engine: &engine::Engine,
        name: &str,
    ) -> Result<Option<ProductionNeeds>, Problem> {
        let (asked, named) = (engine.clone(), name.to_owned());
        let is_new = on_pool(move || connection::is_new_production(&asked, &named)).await??;
        let profile = engine.profile();
        let Some(endpoint) = profile.endpoint_named(name).filter(|_| is_new) else {
            return Ok(None);
        };
        if profile.settings.certificate_of(endpoint.id()).is_none() {
            return Ok(Some(ProductionNeeds::Certificate));
        }
        Ok((!self.has_passed(&profile, endpoint)).then_some(ProductionNeeds::Test))
    }

    /// Uses another endpoint, and the room that it belongs to, from now on.
    ///
    /// # Errors
    /// `production-without-certificate` and `production-untested`, where a production system has
    /// never been used.
    pub async fn use_endpoint(&self, name: String) -> Result<(), Problem> {
        if self.is_practice_endpoint(&name) {
            return self.move_to(true).await;
        }
        let Some(engine) = self.laboratory_engine().await? else {
            return Err(Problem::new("unknown-endpoint", &[("name", &name)], "endpoint"));
        };
        if let Some(needs) = self.needs_of(&engine, &name).await? {
            return Err(connection::not_ready(needs, &name));
        }
        engine.use_endpoint(&name).await?;
        self.work(&engine).await;
        self.move_to(false).await
    }

    /// Gives an endpoint of the laboratory another address; `same_authority`: a person says that it
    /// leads to the same authority.
    pub async fn set_endpoint_address(
        &self,
        name: String,
        base_url: String,
        same_authority: bool,
    ) -> Result<(), Problem> {
        let base = address_of(&base_url)?;
        let same = if same_authority { SameAuthority::Yes } else { SameAuthority::Unknown };
        Ok(self.laboratory_of(&name).await?.set_endpoint_address(&name, base, same).await?)
    }

    /// Says whom an endpoint of the laboratory trusts and by which proxy it is reached. What is not
    /// given stays; what is empty is done without.
    pub async fn set_endpoint_way(
        &self,
        name: String,
        ca_pem: Option<String>,
        proxy: Option<String>,
    ) -> Result<(), Problem> {
        let Endpoint { ca_pem, proxy, .. } =
            with_way(self.endpoint_to_change(&name).await?, ca_pem, proxy)?;
        Ok(self.laboratory_of(&name).await?.set_endpoint_way(&name, ca_pem, proxy).await?)
    }

    /// Says which release of the interface an endpoint of the laboratory speaks, and the language
    /// of reports that name none.
    pub async fn set_endpoint_terms(
        &self,
        name: String,
        release: String,
        language: String,
    ) -> Result<(), Problem> {
        let known = self.endpoint_to_change(&name).await?;
        let release = Release::named(&release).ok_or_else(|| limits::invalid("release"))?;
        let language = limits::language(&language)?;
        let changed = Endpoint { release, language, ..known };
        Ok(self.laboratory_of(&name).await?.replace_endpoint(changed).await?)
    }

    /// Gives an endpoint of the laboratory another name; its reports and certificates go with it.
    pub async fn rename_endpoint(&self, name: String, new_name: String) -> Result<(), Problem> {
        let new_name = limits::name("newName", &new_name)?;
        unlike_practice(&new_name)?;
        // Before, so that no yes that waits is used for the other one; after, so that none is that
        // was given meanwhile.
        self.inner.allowed.forget();
        let renamed = self.laboratory_of(&name).await?.rename_endpoint(&name, &new_name).await;
        self.inner.allowed.forget();
        Ok(renamed?)
    }

    /// Removes an endpoint of the laboratory that no report waits for.
    pub async fn remove_endpoint(&self, name: String) -> Result<(), Problem> {
        Ok(self.laboratory_of(&name).await?.remove_endpoint(&name).await?)
    }

    /// An endpoint of the laboratory, as it is now.
    pub(super) async fn endpoint_to_change(&self, name: &str) -> Result<Endpoint, Problem> {
        let known = self.laboratory_of(name).await?.profile().endpoint_named(name).cloned();
        known.ok_or_else(|| Problem::new("unknown-endpoint", &[("name", name)], "endpoint"))
    }

    /// The laboratory, for a change of one of its endpoints.
    async fn laboratory_of(&self, name: &str) -> Result<engine::Engine, Problem> {
        if self.is_practice_endpoint(name) {
            return Err(Problem::new("practice-endpoint-fixed", &[], "endpoint"));
        }
        let unknown = || Problem::new("unknown-endpoint", &[("name", name)], "endpoint");
        self.laboratory_engine().await?.ok_or_else(unknown)
    }

    /// Tests the connection, layer by layer. Where all of them pass, the status says so until
    /// something of it changes.
    pub async fn test_endpoint(&self, name: String) -> Result<Vec<ProbeView>, Problem> {
        let engine = if self.is_practice_endpoint(&name) {
            self.inner.practice_engine.clone()
        } else {
            let unknown = || Problem::new("unknown-endpoint", &[("name", &name)], "endpoint");
            self.laboratory_engine().await?.ok_or_else(unknown)?
        };
        let tested = engine.profile().endpoint_named(&name).cloned();
        let steps = engine.probe(&name).await?;
        if let Some(tested) = tested {
            let passed = |step: &client::ProbeStep| {
                matches!(step.outcome, client::ProbeOutcome::Passed { .. })
            };
            self.note_test(&engine, &tested, !steps.is_empty() && steps.iter().all(passed));
        }
        Ok(steps.into_iter().map(connection::probe_view).collect())
    }

    /// Pauses or resumes sending in the room in use, also for the next start and for other
    /// programs.
    ///
    /// # Errors
    /// Why the laboratory does not open, while practice stands in for it: it is the laboratory that
    /// is meant.
    pub async fn set_paused(&self, paused: bool) -> Result<(), Problem> {
        let desk = self.here();
        desk.refuse_standing_in(&[]).await?;
        let engine = desk.engine();
        Ok(on_pool(move || engine.set_paused(paused)).await??)
    }

    /// Lets the next try begin now where a fault holds the reports of the room in use; whether the
    /// authority with this name was reached.
    ///
    /// # Errors
    /// There is none with this name.
    pub async fn try_now(&self, endpoint: String) -> Result<bool, Problem> {
        let engine = self.engine();
        let profile = engine.profile();
        let unknown = || Problem::new("unknown-endpoint", &[("name", &endpoint)], "endpoint");
        let id = profile.endpoint_named(&endpoint).ok_or_else(unknown)?.id();
        Ok(engine.try_now(id, TRY_PATIENCE).await)
    }

    /// After so many days in progress a report of the room in use needs attention.
    pub async fn set_attention_days(&self, days: u16) -> Result<(), Problem> {
        if !(1..=ATTENTION_DAYS_MAX).contains(&days) {
            return Err(limits::invalid("days"));
        }
        let desk = self.here();
        desk.refuse_standing_in(&[]).await?;
        Ok(desk.engine().set_attention_days(Some(days)).await?)
    }

    /// What the person chose for the window; what cannot be read counts as not chosen.
    pub async fn preferences(&self) -> Result<PreferencesView, Problem> {
        let kept = self.inner.practice_engine.profile().settings.preferences.get(WINDOW).cloned();
        Ok(kept.and_then(|kept| serde_json::from_value(kept).ok()).unwrap_or_default())
    }

    /// Keeps it.
    pub async fn set_preferences(&self, preferences: PreferencesView) -> Result<(), Problem> {
        if !THEMES.contains(&preferences.theme.as_str()) {
            return Err(limits::invalid("theme"));
        }
        // Never off: names would stay on a screen that everybody has left.
        if !(1..=60).contains(&preferences.lock_after_minutes) {
            return Err(limits::invalid("lockAfterMinutes"));
        }
        if preferences.undo_seconds > UNDO_SECONDS_MAX {
            return Err(limits::invalid("undoSeconds"));
        }
        if !(80..=200).contains(&preferences.text_percent) {
            return Err(limits::invalid("textPercent"));
        }
        if !DENSITIES.contains(&preferences.density.as_str()) {
            return Err(limits::invalid("density"));
        }
        if !ON_CLOSE.contains(&preferences.on_close.as_str()) {
            return Err(limits::invalid("onClose"));
        }
        if let Some(language) = &preferences.language {
            limits::name("language", language)?;
        }
        let kept =
            serde_json::to_value(&preferences).map_err(|_| limits::invalid("preferences"))?;
        self.inner.practice_engine.change_settings(|settings| {
            settings.preferences.insert(WINDOW.to_owned(), kept);
            Ok(())
        })?;
        self.practise_in_own_language().await
    }

    /// The practice authority answers in the language of the window: the one chosen, else that of
    /// the system.
    pub(super) async fn practise_in_own_language(&self) -> Result<(), Problem> {
        let system = || std::env::var("LANG").unwrap_or_default();
        let language = self.preferences().await?.language.unwrap_or_else(system);
        crate::practice::speak(&self.inner.practice_engine, &language).await
    }

    /// Time in which sending can be undone.
    pub(super) async fn undo_micros(&self) -> Result<i64, Problem> {
        Ok(i64::from(self.preferences().await?.undo_seconds) * 1_000_000)
    }

    pub(super) fn is_practice_endpoint(&self, name: &str) -> bool {
        self.inner.practice_engine.profile().endpoint_named(name).is_some()
    }
}

/// Refuses a name that practice has in one of the languages of the window: nobody could tell them
/// apart, and one of them sends to an authority.
fn unlike_practice(name: &str) -> Result<(), Problem> {
    if PRACTICE_NAMES.contains(&name.trim().to_lowercase().as_str()) {
        return Err(Problem::new("practice-name-taken", &[], "endpoint"));
    }
    Ok(())
}

/// What is in use may be in the other room: its reports never leave that.
fn move_view(plan: &Move, in_use: Option<&Endpoint>) -> MoveView {
    let stay = plan
        .stay
        .iter()
        .map(|(endpoint, count)| StayingView { endpoint: endpoint.clone(), count: *count });
    let is_test = in_use.is_some_and(|it| it.environment != Environment::Production);
    MoveView {
        from: in_use.map(|it| it.name.clone()),
        from_environment: in_use.map(|it| it.environment),
        to: plan.to.0.clone(),
        to_environment: plan.to.1,
        to_production: is_test && plan.to.1 == Environment::Production,
        leaves_production: crate::rows::leaves_production(plan),
        stay: stay.collect(),
        watched_folder: plan.watched.as_ref().map(|folder| folder.display().to_string()),
        needs: None,
    }
}

fn endpoint_view(endpoint: &Endpoint, in_use: bool) -> EndpointView {
    EndpointView {
        name: endpoint.name.clone(),
        base_url: endpoint.base.to_string(),
        environment: endpoint.environment,
        release: endpoint.release.facts().name.to_owned(),
        language: endpoint.language.clone(),
        own_ca: endpoint.ca_pem.is_some(),
        ca: endpoint.ca_pem.as_deref().and_then(subject_of),
        proxy: endpoint.proxy.as_ref().map(shown_proxy),
        in_use,
    }
}

/// Subject of a CA; what cannot be read has none, and the connection says why.
fn subject_of(pem: &str) -> Option<String> {
    let read = identity::AuthorityCa::read(pem.as_bytes());
    read.ok().map(|ca| ca.first.subject)
}

/// The endpoint with another CA or proxy. What is not given stays; what is empty is done without.
pub(crate) fn with_way(
    known: Endpoint,
    ca_pem: Option<String>,
    proxy: Option<String>,
) -> Result<Endpoint, Problem> {
    let ca_pem = if ca_pem.is_some() { ca_of(ca_pem)? } else { known.ca_pem };
    let proxy = if proxy.is_some() { proxy_of(proxy.as_deref())? } else { known.proxy };
    Ok(Endpoint { ca_pem, proxy, ..known })
}

fn ca_of(pem: Option<String>) -> Result<Option<String>, Problem> {
    let pem = pem.filter(|pem| !pem.trim().is_empty());
    if let Some(pem) = &pem {
        limits::ca(pem)?;
    }
    Ok(pem)
}

fn proxy_of(proxy: Option<&str>) -> Result<Option<Url>, Problem> {
    let Some(proxy) = proxy.map(str::trim).filter(|proxy| !proxy.is_empty()) else {
        return Ok(None);
    };
    limits::line("proxy", proxy)?;
    let proxy = Url::parse(proxy).map_err(|_| limits::invalid("proxy"))?;
    if shown_proxy(&proxy).len() > SHOWN_MAX {
        return Err(limits::invalid("proxy"));
    }
    Ok(Some(proxy))
}

/// An endpoint as a person describes it. Only an https address is taken, without user name or
/// password.
pub(crate) fn endpoint_of(input: EndpointInput) -> Result<Endpoint, Problem> {
    let name = limits::name("name", &input.name)?;
    let base = address_of(&input.base_url)?;
    let environment = match input.environment.as_str() {
        "integration" => Environment::Integration,
        "production" => Environment::Production,
        _ => return Err(limits::invalid("environment")),
    };
    let release = match input.release.as_deref() {
        None => Release::default(),
        Some(name) => Release::named(name).ok_or_else(|| limits::invalid("release"))?,
    };
    let ca_pem = ca_of(input.ca_pem)?;
    let language = input.language.unwrap_or_else(|| "de-CH".to_owned());
    let proxy = proxy_of(input.proxy.as_deref())?;
    Ok(Endpoint {
        id: None,
        name,
        base,
        environment,
        release,
        ca_pem,
        also_system_roots: false,
        server_key: None,
        language: limits::language(&language)?,
        identifier: IdentifierChoice::default(),
        proxy,
    })
}

/// A base address as a person writes it, in the form in which it is used.
pub(super) fn address_of(text: &str) -> Result<Url, Problem> {
    limits::line("baseUrl", text)?;
    let base = Url::parse(text.trim()).map_err(|_| limits::invalid("baseUrl"))?;
    let is_plain = base.username().is_empty() && base.password().is_none();
    if base.scheme() != "https" || !is_plain || base.as_str().len() > SHOWN_MAX {
        return Err(limits::invalid("baseUrl"));
    }
    Ok(base)
}

/// A proxy as it may be shown: without user name and password.
pub(super) fn shown_proxy(proxy: &Url) -> String {
    let port = proxy.port_or_known_default().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}", proxy.scheme(), proxy.host_str().unwrap_or_default())
}
