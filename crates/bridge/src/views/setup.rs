//! Certificate, endpoints, preferences.

use exchange::Environment;
use identity::SecretsKind;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::codes;

use super::Problem;

/// The certificate in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct CertificateView {
    /// Distinguished name of the subject.
    pub subject: String,
    /// Distinguished name of the issuer.
    pub issuer: String,
    /// Serial number, hex.
    pub serial: String,
    /// ISO instants.
    pub not_before: String,
    /// See above.
    pub not_after: String,
    /// Whole days left, negative when expired.
    pub days_left: i32,
    /// Days until it is valid, 0 from then on.
    pub days_ahead: i32,
    /// SHA-256 fingerprint, `AB:CD:…`.
    pub fingerprint: String,
    /// e.g. `RSA 4096`, `EC P-256`.
    pub key_type: String,
    /// What it may be used for; empty where it limits nothing. The window has the names of the
    /// standard, the command line our codes.
    #[ts(as = "Vec<codes::KeyUsage>")]
    pub purposes: Vec<String>,
    /// Whether it may be used by a client.
    pub client_auth: bool,
    /// Where its key rests.
    #[ts(as = "codes::Vault")]
    pub stored_in: SecretsKind,
}

/// The authority's own CA as a file holds it.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct CaView {
    /// All certificates of the file, as PEM: what a new endpoint takes.
    pub pem: String,
    /// Subject of the first.
    pub subject: String,
    /// ISO instant.
    pub not_after: String,
    /// Whole days left, negative when expired.
    pub days_left: i32,
    /// How many there are.
    pub count: u32,
}

/// A stored certificate, and what it is used for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct StoredCertificateView {
    /// SHA-256 fingerprint, `AB:CD:…`; names it in the other calls.
    pub fingerprint: String,
    /// What can be told of it; nothing where it is damaged: it is to be imported again or removed.
    pub certificate: Option<CertificateView>,
    /// Endpoints that use it now.
    pub endpoints: Vec<String>,
    /// Endpoints that used it before another one took its place.
    pub formerly: Vec<String>,
    /// Reports that were sent with it and whose end is not known yet.
    pub open: u32,
}

/// What using another endpoint would send and what not: shown before it is used.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct MoveView {
    /// The endpoint in use.
    pub from: Option<String>,
    /// Its environment.
    #[ts(as = "Option<codes::Environment>")]
    pub from_environment: Option<Environment>,
    /// The endpoint to be used.
    pub to: String,
    /// Its environment.
    #[ts(as = "codes::Environment")]
    pub to_environment: Environment,
    /// From practice or a test system to production: a person confirms it.
    pub to_production: bool,
    /// The laboratory goes from production to a test system, also where practice is in use now.
    pub leaves_production: bool,
    /// Open reports of other endpoints: they are sent and followed there.
    pub stay: Vec<StayingView>,
    /// The watched folder: what was taken in from it before is not sent again by itself.
    pub watched_folder: Option<String>,
    /// What has to be there before it is used.
    pub needs: Option<ProductionNeeds>,
}

/// What a production system needs before reports go there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "kebab-case")]
#[ts(export)]
pub enum ProductionNeeds {
    /// A certificate that is used for it.
    Certificate,
    /// A connection test in which every step passed.
    Test,
}

/// Open reports that stay with their endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct StayingView {
    /// Name of the endpoint.
    pub endpoint: String,
    /// How many.
    pub count: u32,
}

/// What lies in a folder that is to be watched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct LyingView {
    /// Files in it and below it.
    pub count: u32,
    /// When the newest was changed last, ISO instant.
    pub newest: Option<String>,
}

/// What was left lying in the watched folder when it was chosen, and lies there still.
#[derive(Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct LeftView {
    /// How many files.
    pub count: u32,
    /// When the newest was changed last, ISO instant.
    pub newest: Option<String>,
    /// Where they lie: to be looked at and handed over.
    pub paths: Vec<String>,
}

// A file may be named after a patient.
fhir::shows_only!(LeftView { count, newest });

/// A report that was taken in before the journal was restored, and whose content is gone: it is to
/// be handed over again.
#[derive(Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct LostView {
    /// Name of its file, masked unless asked for; empty where nobody knows it any more.
    pub file: String,
    /// When it was taken in, ISO instant.
    pub at: String,
    /// Name of the endpoint that it went or was to go to.
    pub endpoint: String,
}

// A file may be named after a patient.
fhir::shows_only!(LostView { at, endpoint });

/// Reports that were lost with their content when a journal was restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct LostListView {
    /// So many in all.
    pub total: u32,
    /// The newest of them, the newest first.
    pub newest: Vec<LostView>,
}

/// One configured endpoint.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct EndpointView {
    /// Name of the endpoint.
    pub name: String,
    /// Base address.
    pub base_url: String,
    /// What its authority is for.
    #[ts(as = "codes::Environment")]
    pub environment: Environment,
    /// Release of the interface that it speaks.
    #[ts(as = "codes::Release")]
    pub release: String,
    /// Language where a document names none.
    pub language: String,
    /// Has a CA of its own.
    pub own_ca: bool,
    /// Subject of that CA.
    pub ca: Option<String>,
    /// The proxy between, without user and password.
    pub proxy: Option<String>,
    /// In force.
    pub in_use: bool,
}

/// A new endpoint. `Debug` leaves out the proxy, whose address may hold a password.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(export)]
pub struct EndpointInput {
    /// Name of the endpoint.
    pub name: String,
    /// Base address, https.
    pub base_url: String,
    /// `integration` or `production`.
    #[ts(as = "codes::Environment")]
    pub environment: String,
    /// Release; default 1.13.1.
    #[ts(as = "Option<codes::Release>")]
    pub release: Option<String>,
    /// Language where a document names none; default `de-CH`.
    pub language: Option<String>,
    /// CA certificate (PEM), if the authority has its own.
    pub ca_pem: Option<String>,
    /// HTTP proxy.
    pub proxy: Option<String>,
}

fhir::shows_only!(EndpointInput { name, base_url, environment, release, language });

/// How far a layer of the connection test went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "kebab-case")]
#[ts(export)]
pub enum ProbeOutcome {
    /// It works.
    Passed,
    /// It does not; the layers behind it are not tried.
    Failed,
    /// A layer before it does not work.
    NotReached,
}

impl ProbeOutcome {
    /// Its code.
    pub fn code(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotReached => "not-reached",
        }
    }
}

/// One layer of the connection test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct ProbeView {
    /// Which layer.
    #[ts(as = "codes::Layer")]
    pub layer: &'static str,
    /// How far it went.
    pub outcome: ProbeOutcome,
    /// What was found, e.g. `TLSv1.3`, `1.13.1`.
    pub detail: Option<String>,
    /// Why it failed.
    pub problem: Option<Problem>,
}

/// What a person chose for the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(export)]
pub struct PreferencesView {
    /// Language code, e.g. `de`; `None` follows the system.
    pub language: Option<String>,
    /// Look of the window.
    #[ts(as = "codes::Theme")]
    pub theme: String,
    /// The welcome was completed or skipped.
    pub first_run_done: bool,
    /// Minutes without key or pointer after which the window locks itself, 1 to 60.
    #[serde(default = "lock_after_minutes_default")]
    pub lock_after_minutes: u32,
    /// Seconds in which sending can be undone, 0 to 30.
    #[serde(default = "undo_seconds_default")]
    pub undo_seconds: u32,
    /// Size of text, percent: 80 to 200.
    #[serde(default = "text_percent_default")]
    pub text_percent: u32,
    /// How close rows stand.
    #[serde(default = "density_default")]
    #[ts(as = "codes::Density")]
    pub density: String,
    /// Single keys act (`J`, `K`, `E`, …).
    #[serde(default = "single_keys_default")]
    pub single_keys: bool,
    /// What closing the window does while reports are open.
    #[serde(default = "on_close_default")]
    #[ts(as = "codes::OnClose")]
    pub on_close: String,
    /// The list of first steps was put away.
    #[serde(default)]
    pub checklist_hidden: bool,
    /// The system shows a notification where something needs a person who does not look at the
    /// window.
    #[serde(default = "notifications_default")]
    pub notifications: bool,
    /// The program starts in the background when the person logs in.
    #[serde(default)]
    pub start_at_login: bool,
}

const fn notifications_default() -> bool {
    true
}

const fn undo_seconds_default() -> u32 {
    10
}

const fn text_percent_default() -> u32 {
    100
}

fn density_default() -> String {
    "comfortable".to_owned()
}

const fn single_keys_default() -> bool {
    true
}

fn on_close_default() -> String {
    "ask".to_owned()
}

const fn lock_after_minutes_default() -> u32 {
    10
}

impl Default for PreferencesView {
    fn default() -> Self {
        Self {
            language: None,
            theme: "system".to_owned(),
            first_run_done: false,
            lock_after_minutes: lock_after_minutes_default(),
            undo_seconds: undo_seconds_default(),
            text_percent: text_percent_default(),
            density: density_default(),
            single_keys: single_keys_default(),
            on_close: on_close_default(),
            checklist_hidden: false,
            notifications: notifications_default(),
            start_at_login: false,
        }
    }
}

/// One file of the bundle, as it will be saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct SupportFile {
    /// Its name.
    pub name: String,
    /// All of its text.
    pub text: String,
}

/// What happened to the journal, and what is to be done; shown until a person has read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct NoticeView {
    /// What, in the form of a problem; its code names the notice.
    pub problem: Problem,
    /// ISO instant.
    pub at: String,
}

/// A newer version of the program: what is known of it, and who is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct UpdatesView {
    /// What is known of a newer version, as a code.
    #[ts(as = "codes::UpdateState")]
    pub state: &'static str,
    /// Why nothing is offered, where the state is `unusable` or `failed`.
    #[ts(as = "Option<codes::UpdateReason>")]
    pub reason: Option<&'static str>,
    /// The version that is ready to be installed.
    pub version: Option<String>,
    /// When the server was asked last, ISO instant.
    pub asked: Option<String>,
    /// Whom the program asks, where it may ask.
    pub address: Option<String>,
    /// The file in which administrators of the computer say whom, or that nobody is asked.
    pub file: String,
}
