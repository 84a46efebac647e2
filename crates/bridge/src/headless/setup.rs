//! What the command line shows and changes of endpoints.

use std::sync::Arc;

use engine::Move;
use engine::SameAuthority;
use exchange::{Endpoint, Environment, IdentifierChoice, Release};
use identity::Password;
use serde::Serialize;
use url::Url;

use super::Headless;
use crate::connection;
use crate::desk::setup::with_way;
use crate::problem::Problem;
use crate::views::{ProbeOutcome, ProbeView, ProductionNeeds, StayingView};

/// One endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EndpointFacts {
    /// Name of the endpoint.
    pub name: String,
    /// Base address.
    pub url: String,
    /// `practice`, `integration` or `production`.
    pub environment: Environment,
    /// Release of the interface.
    pub release: &'static str,
    /// Language where a document names none.
    pub language: String,
    /// `attempt` or `document`.
    pub identifier: &'static str,
    /// HTTP proxy, without the password.
    pub proxy: Option<String>,
    /// Fingerprint of the certificate that it uses.
    pub certificate: Option<String>,
    /// Whether it has a CA of its own.
    pub own_ca: bool,
    /// Whether the computer's CAs are trusted beside its own.
    pub also_system_roots: bool,
    /// SHA-256 of the only public key that the server may have.
    pub server_key: Option<String>,
    /// Whether the base address ends as those of the authority do, `/v1/fhir`.
    pub usual_path: bool,
    /// Endpoints of another environment that have its address: what went to the one is not known
    /// at the other, and would go there twice.
    pub same_address: Vec<Elsewhere>,
    /// Whether it is in force.
    pub in_use: bool,
}

/// An endpoint as it is named beside another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Elsewhere {
    /// Its name.
    pub name: String,
    /// Its environment.
    pub environment: Environment,
}

/// What using another endpoint means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MoveFacts {
    /// The endpoint in use, if there is one.
    pub from: Option<String>,
    /// Its environment.
    pub from_environment: Option<Environment>,
    /// The endpoint to be used.
    pub to: String,
    /// Its environment.
    pub to_environment: Environment,
    /// From a test system to production: a person confirms it.
    pub to_production: bool,
    /// From production to a test system: a person confirms that too.
    pub leaves_production: bool,
    /// Open reports of other endpoints: they stay there.
    pub stay: Vec<StayingView>,
    /// The watched folder: what was taken in from it before is not sent again by itself.
    pub watched: Option<String>,
}

impl MoveFacts {
    fn of(plan: &Move) -> Self {
        let stay = plan.stay.iter();
        let stay =
            stay.map(|(endpoint, count)| StayingView { endpoint: endpoint.clone(), count: *count });
        Self {
            from: plan.from.as_ref().map(|(name, _)| name.clone()),
            from_environment: plan.from.as_ref().map(|(_, environment)| *environment),
            to: plan.to.0.clone(),
            to_environment: plan.to.1,
            to_production: plan.is_to_production(),
            leaves_production: crate::rows::leaves_production(plan),
            stay: stay.collect(),
            watched: plan.watched.as_ref().map(|folder| folder.display().to_string()),
        }
    }
}

/// A new endpoint, as a person writes it. `Debug` leaves out the proxy, whose address may hold a
/// password.
#[derive(Clone)]
pub struct EndpointTerms {
    /// Name of the endpoint.
    pub name: String,
    /// Base address.
    pub url: String,
    /// `integration` or `production`.
    pub environment: String,
    /// Release of the interface.
    pub release: String,
    /// Language where a document names none.
    pub language: String,
    /// `attempt` or `document`.
    pub identifier: String,
    /// The authority's own CA, PEM.
    pub ca_pem: Option<String>,
    /// Whether the computer's CAs are trusted beside it.
    pub also_system_roots: bool,
    /// SHA-256 of the only public key that the server may have.
    pub server_key: Option<String>,
    /// HTTP proxy.
    pub proxy: Option<String>,
    /// The password that the proxy wants of the user in its address.
    pub proxy_password: Option<Arc<Password>>,
}

fhir::shows_only!(EndpointTerms { name, url, environment, release, language, identifier });

impl EndpointTerms {
    pub(super) fn into_endpoint(self) -> Result<Endpoint, Problem> {
        let wrong =
            |text: &str| Problem::new("argument-invalid", &[("argument", text)], "endpoint");
        let address = |text: &str| Url::parse(text).map_err(|_| wrong(text));
        // What cannot be understood may hold a password: it is not repeated.
        let unreadable = |_| wrong("--proxy");
        let mut proxy = self.proxy.as_deref().map(Url::parse).transpose().map_err(unreadable)?;
        if let Some(password) = &self.proxy_password {
            let proxy = proxy.as_mut().ok_or_else(|| wrong("--proxy-password-file"))?;
            proxy
                .set_password(Some(password.expose()))
                .map_err(|()| wrong("--proxy-password-file"))?;
        }
        Ok(Endpoint {
            id: None,
            base: address(&self.url)?,
            environment: match self.environment.as_str() {
                "integration" => Environment::Integration,
                "production" => Environment::Production,
                other => return Err(wrong(other)),
            },
            release: Release::named(&self.release).ok_or_else(|| wrong(&self.release))?,
            identifier: match self.identifier.as_str() {
                "attempt" => IdentifierChoice::Attempt,
                "document" => IdentifierChoice::Document,
                other => return Err(wrong(other)),
            },
            proxy,
            name: self.name,
            ca_pem: self.ca_pem,
            also_system_roots: self.also_system_roots,
            server_key: self.server_key,
            language: match fhir::is_language_region(&self.language) {
                true => self.language,
                false => return Err(wrong(&self.language)),
            },
        })
    }
}

/// Whether an endpoint can work at all, before anything is made for it.
pub(super) fn check_endpoint(endpoint: &Endpoint) -> Result<(), Problem> {
    let unusable = |reason| Problem::new("endpoint-unusable", &[("reason", reason)], "endpoint");
    if endpoint.base.scheme() != "https" {
        return Err(unusable("not-https"));
    }
    client::HttpAuthority::new(endpoint, None).map(|_| ()).map_err(|why| unusable(why.code()))
}

impl Headless {
    /// All endpoints.
    pub fn endpoints(&self) -> Vec<EndpointFacts> {
        let settings = self.engine.profile().settings;
        let facts = |endpoint: &Endpoint| EndpointFacts {
            name: endpoint.name.clone(),
            url: endpoint.base.to_string(),
            environment: endpoint.environment,
            release: endpoint.release.facts().name,
            language: endpoint.language.clone(),
            identifier: match endpoint.identifier {
                IdentifierChoice::Attempt => "attempt",
                IdentifierChoice::Document => "document",
            },
            proxy: endpoint.proxy.as_ref().map(without_password),
            certificate: settings.certificate_of(endpoint.id()).map(str::to_owned),
            own_ca: endpoint.ca_pem.is_some(),
            also_system_roots: endpoint.also_system_roots,
            server_key: endpoint.server_key.clone(),
            usual_path: endpoint.has_usual_path(),
            same_address: elsewhere(endpoint, &settings.endpoints),
            in_use: settings.in_use.as_deref() == Some(endpoint.id()),
        };
        settings.endpoints.iter().map(facts).collect()
    }

    /// Adds an endpoint; the first one is used at once.
    pub async fn add_endpoint(&self, terms: EndpointTerms) -> Result<(), Problem> {
        self.endpoints_may_change()?;
        let endpoint = terms.into_endpoint()?;
        check_endpoint(&endpoint)?;
        Ok(self.engine.add_endpoint(endpoint).await?)
    }

    /// What using another endpoint would send and what not; nothing is changed.
    pub fn plan_endpoint(&self, name: &str) -> Result<MoveFacts, Problem> {
        Ok(MoveFacts::of(&self.engine.plan_endpoint(name)?))
    }

    /// Uses another endpoint for what is taken in from now on.
    ///
    /// # Errors
    /// `production-without-certificate` where a production system has neither been used before nor
    /// has a certificate: every report would only wait there.
    pub async fn use_endpoint(&self, name: &str) -> Result<(), Problem> {
        let profile = self.engine.profile();
        let certificate = profile
            .endpoint_named(name)
            .and_then(|endpoint| profile.settings.certificate_of(endpoint.id()));
        if certificate.is_none() && connection::is_new_production(&self.engine, name)? {
            return Err(connection::not_ready(ProductionNeeds::Certificate, name));
        }
        Ok(self.engine.use_endpoint(name).await?)
    }

    /// Gives an endpoint another address; `same_authority`: a person says that it leads to the same
    /// authority.
    pub async fn set_endpoint_address(
        &self,
        name: &str,
        url: &str,
        same_authority: bool,
    ) -> Result<(), Problem> {
        self.endpoints_may_change()?;
        let base = Url::parse(url)
            .map_err(|_| Problem::new("argument-invalid", &[("argument", url)], "endpoint"))?;
        let same = if same_authority { SameAuthority::Yes } else { SameAuthority::Unknown };
        Ok(self.engine.set_endpoint_address(name, base, same).await?)
    }

    /// Says whom an endpoint trusts and by which proxy it is reached. What is not given stays; what
    /// is empty is done without.
    pub async fn set_endpoint_way(
        &self,
        name: &str,
        ca_pem: Option<String>,
        proxy: Option<String>,
        proxy_password: Option<&Password>,
    ) -> Result<(), Problem> {
        self.endpoints_may_change()?;
        let known = self.engine.profile().endpoint_named(name).cloned();
        let known =
            known.ok_or_else(|| Problem::new("unknown-endpoint", &[("name", name)], "endpoint"))?;
        let Endpoint { ca_pem, mut proxy, .. } = with_way(known, ca_pem, proxy)?;
        if let Some((proxy, password)) = proxy.as_mut().zip(proxy_password) {
            proxy
                .set_password(Some(password.expose()))
                .map_err(|()| crate::limits::invalid("--proxy-password-file"))?;
        }
        Ok(self.engine.set_endpoint_way(name, ca_pem, proxy).await?)
    }

    /// Gives an endpoint another name.
    pub async fn rename_endpoint(&self, name: &str, new_name: &str) -> Result<(), Problem> {
        self.endpoints_may_change()?;
        let new_name = crate::limits::name("name", new_name)?;
        Ok(self.engine.rename_endpoint(name, &new_name).await?)
    }

    /// Removes an endpoint that no report waits for.
    pub async fn remove_endpoint(&self, name: &str) -> Result<(), Problem> {
        self.endpoints_may_change()?;
        Ok(self.engine.remove_endpoint(name).await?)
    }

    fn endpoints_may_change(&self) -> Result<(), Problem> {
        match &self.practice {
            Some(_) => Err(Problem::new("practice-endpoint-fixed", &[], "endpoint")),
            None => Ok(()),
        }
    }

    /// Tests the way to an endpoint (or the one in force), layer by layer.
    pub async fn test_endpoint(&self, name: Option<&str>) -> Result<Vec<ProbeView>, Problem> {
        let name = match name {
            Some(name) => name.to_owned(),
            None => self.engine.endpoint()?.name,
        };
        let steps = self.engine.probe(&name).await?;
        let mut layers: Vec<_> = steps.into_iter().map(connection::probe_view).collect();
        let profile = self.engine.profile();
        let id = profile.endpoint_named(&name).map_or(name.as_str(), Endpoint::id);
        if self.engine.client_identity(id)?.is_none() {
            say_missing_certificate(&mut layers);
        }
        Ok(layers)
    }
}

/// Those of another environment at the same address.
fn elsewhere(endpoint: &Endpoint, all: &[Endpoint]) -> Vec<Elsewhere> {
    let same = all.iter().filter(|one| {
        one.environment != endpoint.environment
            && one.leads_to(endpoint.base.as_str(), one.environment.code())
    });
    same.map(|one| Elsewhere { name: one.name.clone(), environment: one.environment }).collect()
}

/// An address as it may be shown.
fn without_password(address: &Url) -> String {
    let mut shown = address.clone();
    // Fails only where an address can hold no password.
    let _ = shown.set_password(None);
    shown.to_string()
}

/// With TLS 1.3 a server that misses our certificate ends the connection after the handshake, so
/// the probe meets it one layer late.
fn say_missing_certificate(layers: &mut [ProbeView]) {
    let ours = layers.iter_mut().skip_while(|facts| facts.layer != "client-certificate");
    for facts in ours.filter(|facts| facts.outcome != ProbeOutcome::NotReached) {
        let missing = facts.layer == "client-certificate";
        facts.outcome = if missing { ProbeOutcome::Failed } else { ProbeOutcome::NotReached };
        facts.detail = None;
        facts.problem = missing.then(|| Problem::new("client-certificate-missing", &[], "probe"));
    }
}
