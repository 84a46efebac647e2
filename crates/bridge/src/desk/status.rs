//! The frame of the window: connection, certificate, counts and notices of the room in use.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use engine::{ConnectionState, Engine, Profile};
use exchange::Environment;
use journal::{Counts, Notice};

use super::{Desk, Laboratory, certificates, on_pool};
use crate::connection::connection_view;
use crate::mask::masked_file;
use crate::problem::Problem;
use crate::rows::{counts_view, small};
use crate::views::{
    CertificateView, Connection, CountsView, ElsewhereView, LaboratoryView, NoticeView, StatusView,
};

impl Desk {
    /// The frame of the window, all of it of one room.
    pub async fn status(&self) -> Result<StatusView, Problem> {
        loop {
            let place = self.place();
            let view = self.status_now().await?;
            if self.place() == place {
                return Ok(view);
            }
        }
    }

    async fn status_now(&self) -> Result<StatusView, Problem> {
        if self.inner.certificates_of.load(Ordering::SeqCst) != self.settings_generation() {
            // A keychain that is locked now shows elsewhere.
            let _ = self.read_certificate().await;
        }
        let engine = self.engine();
        let profile = engine.profile();
        let endpoint = profile.endpoint();
        let connection = engine.connection().borrow().clone();
        let (mut connected, mut problem) = connection_view(&connection.state);
        let tested = self.last_test(&profile);
        // Nothing was sent yet, and a test has shown the way.
        if connection.state == ConnectionState::Unchecked && tested.is_some() {
            connected = Connection::Connected;
        }
        if let Laboratory::Closed(why) = &*self.laboratory() {
            problem.get_or_insert_with(|| why.clone());
        }
        let environment = match endpoint {
            Some(endpoint) => endpoint.environment,
            None if profile.is_practice() => Environment::Practice,
            None => Environment::Integration,
        };
        let counts = engine.journal().counts(engine.now())?;
        let view = StatusView {
            environment,
            endpoint: endpoint.map(|e| e.name.clone()).unwrap_or_default(),
            endpoint_id: endpoint.map(|e| e.id().to_owned()).unwrap_or_default(),
            base_url: endpoint.map(|e| e.base.to_string()).unwrap_or_default(),
            release: endpoint.map(|e| e.release.facts().name.to_owned()).unwrap_or_default(),
            connection: connected,
            problem,
            last_contact: connection.last_contact.max(tested).map(fhir::Instant::to_fhir),
            tested: tested.map(fhir::Instant::to_fhir),
            certificate: self.certificate_view(&engine),
            waiting_certificate: self.waiting_certificate_view(&engine),
            counts: counts_view(&counts),
            revision: self.revision()?,
            room: self.place().moves,
            elsewhere: elsewhere(&engine, &profile)?,
            laboratory: self.laboratory_view()?,
            worked_elsewhere: connection.state == ConnectionState::Elsewhere,
            tries_again: tries_again(&connection),
            paused: engine.is_paused()?,
            attention_days: u16::try_from(engine.attention_days()).unwrap_or(u16::MAX),
            watched_folder: profile
                .settings
                .watched_folder
                .as_ref()
                .map(|folder| folder.display().to_string()),
            locked: self.is_locked(),
            has_unlock_passphrase: self.has_unlock_passphrase(),
            has_administration_passphrase: self.has_administration_passphrase(),
            administration_closed: self.is_administration_closed(),
            notices: notices(&engine, self.is_locked())?,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        Ok(match self.closed_in_use() {
            Some(why) => closed(view, why),
            None => view,
        })
    }

    /// Grows with every change of the connection in use: what waits because of it is no event of
    /// the journal.
    pub(super) fn connection_changes(&self) -> u64 {
        let in_use = Self { inner: self.inner.clone(), stays_in: None }.engine();
        let now = in_use.connection().borrow().state.clone();
        let mut seen = self.inner.connections.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.0 != now {
            *seen = (now, seen.1.saturating_add(1));
        }
        seen.1
    }

    /// Nobody looks at the laboratory while practice is in use, perhaps for days.
    fn laboratory_view(&self) -> Result<Option<LaboratoryView>, Problem> {
        let Some(engine) = self.laboratory_unseen() else { return Ok(None) };
        let counts = counts_view(&engine.journal().counts(engine.now())?);
        Ok(Some(LaboratoryView {
            needs_attention: counts.needs_attention,
            notices: small(engine.journal().notices()?.len() as u64),
            paused: engine.is_paused()?,
            closed: false,
        }))
    }

    /// Reports of both rooms that are not finished: they go on as long as the program runs, also
    /// those that a person has to look at because it takes long, and those that are being taken in.
    pub fn under_way(&self) -> u32 {
        let rooms = [Some(self.inner.practice_engine.clone()), self.opened_laboratory()];
        let open = |engine: Engine| engine.journal().counts(engine.now()).ok();
        let open = rooms.into_iter().flatten().filter_map(open);
        let moving: u32 = open.map(|counts| moving(&counts)).sum();
        moving.saturating_add(self.taken_in_now())
    }

    /// A person has read a notice as it stood at that time (`NoticeView::at`). What has taken its
    /// place since is something else, and stays.
    pub async fn acknowledge_notice(&self, code: String, at: String) -> Result<(), Problem> {
        let code = crate::limits::name("code", &code)?;
        let at = crate::limits::name("at", &at)?;
        let engine = self.engine();
        let journal = engine.journal();
        let is_meant = |notice: &&Notice| notice.code == code && notice.at.to_fhir() == at;
        for notice in journal.notices()?.iter().filter(is_meant) {
            match &notice.about {
                Some(about) => journal.remove_notice_about(&code, about)?,
                None => journal.remove_notice(&code)?,
            }
        }
        Ok(())
    }

    fn certificate_view(&self, engine: &Engine) -> Option<CertificateView> {
        let known = self.inner.certificate.read().unwrap_or_else(PoisonError::into_inner);
        let kind = engine.profile().settings.secrets;
        known
            .as_ref()
            .map(|inspection| certificates::certificate_view(inspection, kind, engine.now()))
    }

    /// Reads the certificate of the room in use.
    pub(super) async fn read_certificate(&self) -> Result<(), Problem> {
        self.inner.certificates_of.store(self.settings_generation(), Ordering::SeqCst);
        let engine = self.engine();
        let found = on_pool(move || engine.certificate()).await??;
        *self.inner.certificate.write().unwrap_or_else(PoisonError::into_inner) = found;
        let laboratory = match &*self.laboratory() {
            Laboratory::Open(engine) => Some(engine.clone()),
            _ => None,
        };
        let waiting = match laboratory {
            Some(engine) => {
                let kind = engine.profile().settings.secrets;
                on_pool(move || engine.certificate()).await??.map(|found| (found, kind))
            }
            None => None,
        };
        let mut slot =
            self.inner.laboratory_certificate.write().unwrap_or_else(PoisonError::into_inner);
        *slot = waiting;
        Ok(())
    }

    /// The laboratory's certificate while practice is in use.
    fn waiting_certificate_view(&self, engine: &Engine) -> Option<CertificateView> {
        let known =
            self.inner.laboratory_certificate.read().unwrap_or_else(PoisonError::into_inner);
        let (inspection, kind) = known.as_ref().filter(|_| self.place().is_practice)?;
        Some(certificates::certificate_view(inspection, *kind, engine.now()))
    }
}

/// The frame while the laboratory in use is closed: that alone, and nothing of practice, which only
/// stands in for it.
fn closed(view: StatusView, why: Problem) -> StatusView {
    StatusView {
        endpoint: String::new(),
        endpoint_id: String::new(),
        base_url: String::new(),
        release: String::new(),
        connection: Connection::Unchecked,
        problem: Some(why),
        last_contact: None,
        tested: None,
        certificate: None,
        counts: CountsView::default(),
        elsewhere: Vec::new(),
        laboratory: Some(LaboratoryView { closed: true, ..LaboratoryView::default() }),
        worked_elsewhere: false,
        tries_again: false,
        paused: false,
        watched_folder: None,
        notices: Vec::new(),
        ..view
    }
}

/// A fault of the way holds what is owed until its time.
fn tries_again(connection: &engine::Connection) -> bool {
    let is_held =
        matches!(connection.state, ConnectionState::Unreachable(_) | ConnectionState::Locked(_));
    is_held && connection.next_try.is_some()
}

/// Reports whose end is not known.
pub(super) fn moving(counts: &Counts) -> u32 {
    let of = |state| counts.by_state.get(state).copied().unwrap_or(0);
    small(["queued", "sending", "unknown", "in-progress"].map(of).iter().sum())
}

/// Only where there is or was more than one endpoint: a long queue costs milliseconds to count.
fn elsewhere(engine: &Engine, profile: &Profile) -> Result<Vec<ElsewhereView>, Problem> {
    let in_use = profile.settings.in_use.as_deref().unwrap_or_default();
    if profile.has_only(in_use) {
        return Ok(Vec::new());
    }
    let found = engine.journal().open_elsewhere(in_use)?;
    let view = |(id, count): (String, u32)| {
        let known = engine.connection_to(&id);
        let (connection, problem) = match profile.endpoint_of(&id) {
            Some(_) => connection_view(&known.state),
            None => (Connection::Locked, Some(Problem::of_gone(&profile.gone(&id)))),
        };
        let tries_again = profile.endpoint_of(&id).is_some() && tries_again(&known);
        let (endpoint, environment) = (profile.name_of(&id), profile.environment_of(&id));
        ElsewhereView { connection, endpoint, count, environment, problem, tries_again }
    };
    Ok(found.into_iter().map(view).collect())
}

/// A file may be named after a patient: a notice stands above every screen, also where names are
/// masked, so it is told there by its beginning. To whoever passes a locked window, a notice says
/// what and how many.
fn notices(engine: &Engine, is_locked: bool) -> Result<Vec<NoticeView>, Problem> {
    let view = |notice: &Notice| {
        let mut problem = Problem::from(notice);
        if let Some(file) = problem.params.get_mut("file") {
            *file = masked_file(file);
        }
        if is_locked {
            let is_count =
                |value: &str| !value.is_empty() && value.bytes().all(|it| it.is_ascii_digit());
            problem.params.retain(|_, value| is_count(value));
        }
        NoticeView { problem, at: notice.at.to_fhir() }
    };
    Ok(engine.journal().notices()?.iter().map(view).collect())
}
