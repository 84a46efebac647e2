//! What the window may ask: every command by name, with its arguments read strictly. The window's side is not
//! trusted: an argument that is missing, unknown, of another type or too large is a [`Problem`], never more.

mod scope;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::desk::{Decision, Desk, HandedList};
use crate::limits;
use crate::problem::Problem;
use crate::rows::Names;
use crate::views::{
    AskQuery, DeadlineView, EndpointInput, HandedItem, ListQuery, NamedCorrection, PreferencesView,
    SavedView,
};

/// What a file dialog is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Purpose {
    Reports,
    Certificate,
    Ca,
    Rules,
}

/// Declares the commands once: their names, their arguments and how these are read.
macro_rules! calls {
    ($( $(#[$words:meta])* $name:ident => $variant:ident { $($argument:ident: $type:ty),* } )*) => {
        /// A command of the window with its arguments, all of the right type and within bounds.
        #[derive(Clone)]
        #[allow(missing_docs, reason = "the arguments are those of the functions of `Desk`")]
        pub enum Call {
            $( $(#[$words])* $variant { $($argument: $type),* }, )*
        }

        impl Call {
            /// Every command with the names of its arguments.
            pub const COMMANDS: &[(&str, &[&str])] =
                &[$( (stringify!($name), &[$(stringify!($argument)),*]) ),*];

            /// Reads a call. `None` for a name that no command has.
            ///
            /// # Errors
            /// `argument-invalid`: missing, unknown (then called `arguments`) or of another type;
            /// `argument-too-large`.
            pub fn read(command: &str, arguments: Value) -> Option<Result<Self, Problem>> {
                match command {
                    $( stringify!($name) => Some((|| {
                        let arguments = Arguments::of(arguments)?;
                        $( let (arguments, $argument) = arguments.take(stringify!($argument))?; )*
                        arguments.end()?;
                        Ok(Self::$variant { $($argument),* })
                    })()), )*
                    _ => None,
                }
            }
        }
    };
}

calls! {
    /// The frame of the window.
    status => Status {}
    /// A page of the list.
    list => List { query: ListQuery, reveal: bool }
    /// What each filter of a list would leave.
    list_counts => ListCounts { query: ListQuery }
    /// The numbers of all reports that a filter leaves.
    matching => Matching { query: ListQuery }
    /// For how many of these reports each action is possible.
    chosen => Chosen { ids: Vec<i64> }
    /// One decision for many reports.
    decide => Decide { ids: Vec<i64>, decision: Decision, reason: String }
    /// Saves a table that the page made; where, a dialog of the shell asks.
    save_table => SaveTable { text: String }
    /// The views that are kept.
    saved_views => SavedViews {}
    /// Keeps a view.
    keep_view => KeepView { view: SavedView }
    /// Forgets a view.
    forget_view => ForgetView { name: String }
    /// By when reports have to be with the authority.
    deadlines => Deadlines {}
    /// Keeps another table of deadlines.
    set_deadlines => SetDeadlines { deadlines: Vec<DeadlineView> }
    /// Everything about one submission.
    detail => Detail { id: i64 }
    /// How far reports are that were sent together.
    batch => Batch { ids: Vec<i64> }
    /// Looks at files.
    inspect_files => InspectFiles { paths: Vec<String> }
    /// Looks at a pasted text.
    inspect_text => InspectText { text: String, name: String }
    /// Takes in a list and sends it: of what lies there, the contents that were shown, and of what is known, the
    /// contents that are to go again.
    hand_over => HandOver {
        items: Vec<HandedItem>, again: Vec<String>, corrections: Vec<NamedCorrection>,
        shown: Option<Vec<String>>, separate: bool, endpoint: String
    }
    /// Stops what waits to be sent.
    hold_back => HoldBack { ids: Vec<i64> }
    /// Sends a held report.
    release => Release { id: i64, reason: String }
    /// Decides that a report will not be sent.
    withdraw => Withdraw { id: i64, reason: String }
    /// Says that the authority has a report that has been open for too long.
    say_received => SayReceived { id: i64, reason: String }
    /// Says that it does not have it.
    say_not_received => SayNotReceived { id: i64, reason: String }
    /// Sends the same content again.
    resubmit => Resubmit { id: i64 }
    /// Sends a corrected file: of what lies there, the content that was shown.
    correct_with_file => CorrectWithFile { id: i64, path: String, shown: Vec<String> }
    /// Sends a corrected text.
    correct_with_text => CorrectWithText { id: i64, text: String }
    /// Looks at an edited report.
    look_at_draft => LookAtDraft { id: i64, text: String }
    /// Changes one value of an edited report.
    edit_draft => EditDraft { text: String, expression: String, value: String }
    /// Takes one value out of an edited report.
    remove_value => RemoveValue { text: String, expression: String }
    /// Puts suggestions into an edited report: those for one element and what is in it, or all.
    apply_suggestions => ApplySuggestions { text: String, only: Option<String> }
    /// Keeps what was edited and not sent.
    keep_draft => KeepDraft { id: i64, text: String }
    /// What was edited before and not sent.
    draft => Draft { id: i64 }
    /// What stands where the messages of reports point to.
    cause_fields => CauseFields { ids: Vec<i64> }
    /// What one change would do to many reports.
    fix_preview => FixPreview { ids: Vec<i64>, path: String, find: String, replace: String }
    /// Makes the change in one report and sends it.
    fix => Fix { id: i64, path: String, find: String, replace: String }
    /// Opens a file dialog; answered by the shell.
    choose_files => ChooseFiles { purpose: Purpose }
    /// Opens a folder dialog; answered by the shell.
    choose_folder => ChooseFolder {}
    /// Paths of the sample reports.
    practice_samples => PracticeSamples {}
    /// Looks at certificate files.
    certificate_inspect => CertificateInspect { paths: Vec<String>, password: String }
    /// Keeps a certificate, for one endpoint or for those that need it.
    certificate_import => CertificateImport {
        paths: Vec<String>, password: String, endpoint: Option<String>
    }
    /// Reads the authority's CA from a file.
    read_ca => ReadCa { path: String }
    /// Makes the laboratory's room where there is no keychain.
    protect_with_passphrase => ProtectWithPassphrase { passphrase: String }
    /// Opens it.
    open_vault => OpenVault { passphrase: String }
    /// All certificates, and what each is used for.
    certificates => Certificates {}
    /// Uses another certificate for an endpoint.
    use_certificate => UseCertificate { fingerprint: String, endpoint: String }
    /// Removes a certificate with its key.
    remove_certificate => RemoveCertificate { fingerprint: String, although_needed: bool }
    /// Exchanges the journal's key at the next start.
    rotate_journal_key => RotateJournalKey {}
    /// All endpoints.
    endpoints => Endpoints {}
    /// Adds an endpoint.
    add_endpoint => AddEndpoint { input: EndpointInput }
    /// What using another endpoint would send and what not.
    plan_endpoint => PlanEndpoint { name: String }
    /// Gives an endpoint another address.
    set_endpoint_address => SetEndpointAddress {
        name: String, base_url: String, same_authority: bool
    }
    /// Gives an endpoint another name.
    rename_endpoint => RenameEndpoint { name: String, new_name: String }
    /// Removes an endpoint that no report waits for.
    remove_endpoint => RemoveEndpoint { name: String }
    /// Uses another endpoint.
    use_endpoint => UseEndpoint { name: String }
    /// Tests the connection.
    test_endpoint => TestEndpoint { name: String }
    /// Pauses or resumes sending.
    set_paused => SetPaused { paused: bool }
    /// Backups, their second place, and journals that were set aside.
    safekeeping => Safekeeping {}
    /// Keeps copies of all backups in another folder, or in none.
    set_backup_place => SetBackupPlace { path: Option<String> }
    /// Deletes a journal that was set aside.
    remove_set_aside => RemoveSetAside { name: String }
    /// The packages of rules that are imported.
    rules => Rules {}
    /// Imports a package of rules.
    import_rules => ImportRules { path: String }
    /// What another package of rules would say of the last reports.
    plan_rules => PlanRules { package: String }
    /// Puts a package of rules to use.
    use_rules => UseRules { package: String }
    /// Forgets a package of rules.
    remove_rules => RemoveRules { package: String }
    /// Days in progress after which a report needs attention.
    set_attention_days => SetAttentionDays { days: u16 }
    /// What lies in a folder, before it is watched.
    look_at_folder => LookAtFolder { path: String }
    /// Watches another folder with all that lies in it, or none.
    set_watched_folder => SetWatchedFolder { path: Option<String> }
    /// Watches another folder; what was shown of it stays unsent.
    watch_what_comes => WatchWhatComes { path: String }
    /// What stays unsent in the watched folder.
    left_lying => LeftLying {}
    /// Reports that a restore has lost with their content.
    lost_reports => LostReports {}
    /// What the person chose.
    preferences => Preferences {}
    /// Keeps it.
    set_preferences => SetPreferences { preferences: PreferencesView }
    /// Numbers of the last days.
    statistics => Statistics { days: u32 }
    /// What was taken in on one day and what became of it.
    statement => Statement { date: String }
    /// Asks the authority what it has.
    ask_authority => AskAuthority { query: AskQuery, reveal: bool }
    /// The next page of that.
    ask_further => AskFurther { number: u32 }
    /// A person has read a notice.
    acknowledge_notice => AcknowledgeNotice { code: String, at: String }
    /// Locks the window.
    lock => Lock {}
    /// Unlocks it.
    unlock => Unlock { passphrase: String }
    /// Chooses the passphrase for unlocking.
    set_unlock_passphrase => SetUnlockPassphrase { current: String, passphrase: String }
    /// Makes the support bundle and shows it.
    support_preview => SupportPreview {}
    /// Saves the bundle that was shown; where, a dialog of the shell asks.
    save_support => SaveSupport {}
}

impl Call {
    /// Takes out of the arguments which room's reports a call names by number (`StatusView::room`), if it says so.
    ///
    /// # Errors
    /// `argument-invalid` where it is no number of a room.
    pub fn take_room(arguments: &mut Value) -> Result<Option<u32>, Problem> {
        let said = arguments.as_object_mut().and_then(|arguments| arguments.remove("room"));
        let read = |room| serde_json::from_value(room).map_err(|_| limits::invalid("room"));
        said.map(read).transpose()
    }
}

/// The arguments of a call that are not read yet.
struct Arguments(Map<String, Value>);

impl Arguments {
    fn of(arguments: Value) -> Result<Self, Problem> {
        match arguments {
            Value::Object(arguments) => Ok(Self(arguments)),
            _ => Err(limits::invalid("arguments")),
        }
    }

    fn take<T: DeserializeOwned>(mut self, name: &str) -> Result<(Self, T), Problem> {
        let value = self.0.remove(name).ok_or_else(|| limits::invalid(name))?;
        limits::json(name, &value)?;
        let read = serde_json::from_value(value).map_err(|_| limits::invalid(name))?;
        Ok((self, read))
    }

    fn end(self) -> Result<(), Problem> {
        if self.0.is_empty() { Ok(()) } else { Err(limits::invalid("arguments")) }
    }
}

impl Desk {
    /// Answers a call, as JSON text. The dialogs are the shell's: here they choose nothing. What takes in or names
    /// reports is answered in the room that the page believes to be in, from its beginning to its end.
    ///
    /// # Errors
    /// What the function of the same name says; `room-changed`.
    pub async fn answer(&self, call: Call, room: Option<u32>) -> Result<String, Problem> {
        self.permits(&call)?;
        let desk = if call.is_of_one_room() { self.in_room(room)? } else { self.clone() };
        self.spend_yes(&call)?;
        let is_for_the_locked = call.is_for_the_locked();
        let answer = desk.answer_open(call).await?;
        // Locked meanwhile: what was read then is not for whoever sits there now, whatever it is.
        if !is_for_the_locked && self.is_locked() {
            return Err(Problem::new("window-locked", &[], "lock"));
        }
        Ok(answer)
    }

    async fn answer_open(&self, call: Call) -> Result<String, Problem> {
        match call {
            Call::Status {} => text(self.status().await),
            Call::List { query, reveal } => {
                let names = if reveal { Names::Shown } else { Names::Masked };
                text(self.list(query, names).await)
            }
            Call::ListCounts { query } => text(self.list_counts(query).await),
            Call::Matching { query } => text(self.matching(query).await),
            Call::Chosen { ids } => text(self.chosen(ids).await),
            Call::Decide { ids, decision, reason } => {
                text(self.decide(ids, decision, reason).await)
            }
            Call::SaveTable { .. } | Call::SaveSupport {} => text(Ok(false)),
            Call::SavedViews {} => text(self.saved_views().await),
            Call::KeepView { view } => text(self.keep_view(view).await),
            Call::ForgetView { name } => text(self.forget_view(name).await),
            Call::Deadlines {} => text(self.deadlines().await),
            Call::SetDeadlines { deadlines } => text(self.set_deadlines(deadlines).await),
            Call::Detail { id } => text(self.detail(id).await),
            Call::Batch { ids } => text(self.batch(ids).await),
            Call::InspectFiles { paths } => text(self.inspect_files(paths).await),
            Call::InspectText { text: report, name } => text(self.inspect_text(report, name).await),
            Call::HandOver { items, again, corrections, shown, separate, endpoint } => {
                let list = HandedList { items, again, corrections, shown, separate, endpoint };
                text(self.hand_over(list).await)
            }
            Call::HoldBack { ids } => text(self.hold_back(ids).await),
            Call::Release { id, reason } => text(self.release(id, reason).await),
            Call::Withdraw { id, reason } => text(self.withdraw(id, reason).await),
            Call::SayReceived { id, reason } => text(self.say_received(id, reason).await),
            Call::SayNotReceived { id, reason } => text(self.say_not_received(id, reason).await),
            Call::Resubmit { id } => text(self.resubmit(id).await),
            Call::CorrectWithFile { id, path, shown } => {
                text(self.correct_with_file(id, path, shown).await)
            }
            Call::CorrectWithText { id, text: report } => {
                text(self.correct_with_text(id, report).await)
            }
            Call::LookAtDraft { id, text: draft } => text(self.look_at_draft(id, draft).await),
            Call::EditDraft { text: draft, expression, value } => {
                text(self.edit_draft(draft, expression, value).await)
            }
            Call::RemoveValue { text: draft, expression } => {
                text(self.remove_value(draft, expression).await)
            }
            Call::ApplySuggestions { text: draft, only } => {
                text(self.apply_suggestions(draft, only).await)
            }
            Call::KeepDraft { id, text: draft } => text(self.keep_draft(id, draft).await),
            Call::Draft { id } => text(self.draft(id).await),
            Call::CauseFields { ids } => text(self.cause_fields(ids).await),
            Call::FixPreview { ids, path, find, replace } => {
                text(self.fix_preview(ids, path, find, replace).await)
            }
            Call::Fix { id, path, find, replace } => text(self.fix(id, path, find, replace).await),
            Call::ChooseFiles { .. } => text(Ok(Vec::<String>::new())),
            Call::ChooseFolder {} => text(Ok(None::<String>)),
            Call::PracticeSamples {} => text(self.practice_samples().await),
            Call::CertificateInspect { paths, password } => {
                text(self.certificate_inspect(paths, password).await)
            }
            Call::CertificateImport { paths, password, endpoint } => {
                text(self.certificate_import(paths, password, endpoint).await)
            }
            Call::ReadCa { path } => text(self.read_ca(path).await),
            Call::ProtectWithPassphrase { passphrase } => {
                text(self.protect_with_passphrase(passphrase).await)
            }
            Call::OpenVault { passphrase } => text(self.open_vault(passphrase).await),
            Call::Certificates {} => text(self.certificates().await),
            Call::UseCertificate { fingerprint, endpoint } => {
                text(self.use_certificate(fingerprint, endpoint).await)
            }
            Call::RemoveCertificate { fingerprint, although_needed } => {
                text(self.remove_certificate(fingerprint, although_needed).await)
            }
            Call::RotateJournalKey {} => text(self.rotate_journal_key().await),
            Call::Endpoints {} => text(self.endpoints().await),
            Call::AddEndpoint { input } => text(self.add_endpoint(input).await),
            Call::PlanEndpoint { name } => text(self.plan_endpoint(name).await),
            Call::SetEndpointAddress { name, base_url, same_authority } => {
                text(self.set_endpoint_address(name, base_url, same_authority).await)
            }
            Call::RenameEndpoint { name, new_name } => {
                text(self.rename_endpoint(name, new_name).await)
            }
            Call::RemoveEndpoint { name } => text(self.remove_endpoint(name).await),
            Call::UseEndpoint { name } => text(self.use_endpoint(name).await),
            Call::TestEndpoint { name } => text(self.test_endpoint(name).await),
            Call::SetPaused { paused } => text(self.set_paused(paused).await),
            Call::Safekeeping {} => text(self.safekeeping().await),
            Call::SetBackupPlace { path } => text(self.set_backup_place(path).await),
            Call::RemoveSetAside { name } => text(self.remove_set_aside(name).await),
            Call::Rules {} => text(self.rules().await),
            Call::ImportRules { path } => text(self.import_rules(path).await),
            Call::PlanRules { package } => text(self.plan_rules(package).await),
            Call::UseRules { package } => text(self.use_rules(package).await),
            Call::RemoveRules { package } => text(self.remove_rules(package).await),
            Call::SetAttentionDays { days } => text(self.set_attention_days(days).await),
            Call::LookAtFolder { path } => text(self.look_at_folder(path).await),
            Call::SetWatchedFolder { path } => text(self.set_watched_folder(path).await),
            Call::WatchWhatComes { path } => text(self.watch_what_comes(path).await),
            Call::LeftLying {} => text(self.left_lying().await),
            Call::LostReports {} => text(self.lost_reports().await),
            Call::Preferences {} => text(self.preferences().await),
            Call::SetPreferences { preferences } => text(self.set_preferences(preferences).await),
            Call::Statistics { days } => text(self.statistics(days).await),
            Call::Statement { date } => text(self.statement(date).await),
            Call::AskAuthority { query, reveal } => {
                let names = if reveal { Names::Shown } else { Names::Masked };
                text(self.ask_authority(query, names).await)
            }
            Call::AskFurther { number } => text(self.ask_further(number).await),
            Call::AcknowledgeNotice { code, at } => text(self.acknowledge_notice(code, at).await),
            Call::Lock {} => text(self.lock().await),
            Call::Unlock { passphrase } => text(self.unlock(passphrase).await),
            Call::SetUnlockPassphrase { current, passphrase } => {
                text(self.set_unlock_passphrase(current, passphrase).await)
            }
            Call::SupportPreview {} => text(self.support_preview().await),
        }
    }
}

/// A view as JSON. Views are plain data with names as keys: writing them does not fail.
fn text<T: serde::Serialize>(view: Result<T, Problem>) -> Result<String, Problem> {
    serde_json::to_string(&view?).map_err(|_| Problem::new("process-ended", &[], "view"))
}
