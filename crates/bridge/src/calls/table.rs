// Every command of the window, in the one place where it is declared: its words, its name, its
// arguments and its answer, and behind the colon
//
// - `one room` where it takes in reports, names them by number, or says what becomes of all of one
//   room: it is refused once the room has changed. Every other one is of `any room`. A row that
//   does not say which does not compile;
// - `while locked` where a locked window may ask it too (decision 0005);
// - `follows journal` where its answer may be another one after each change of the journal;
// - `changes` and the commands that the window then asks again; `journal` stands for all those
//   that follow it;
// - sound arguments, from which the tests make those that must be refused.
//
// It is answered by the function of `Desk` that has its name and takes its arguments, unless
// something else stands behind a `=`. ARCHITECTURE.md says how one is added.
calls! {
    desk;
    /// The frame of the window.
    status => Status {} -> StatusView:
        any room, while locked, follows journal, {};
    /// A page of the list.
    list => List { query: ListQuery, reveal: bool } -> PageView:
        one room if query.ids.is_some(), follows journal,
        {
            "query": { "group": null, "states": ["failed"], "search": "a", "limit": 5 },
            "reveal": false
        }
        = desk.list(query, Names::shown_if(reveal)).await;
    /// What each filter of a list would leave.
    list_counts => ListCounts { query: ListQuery } -> ListCountsView:
        one room if query.ids.is_some(), follows journal,
        { "query": { "group": null, "states": ["failed"], "search": "a", "limit": 5 } };
    /// The numbers of all reports that a filter leaves.
    matching => Matching { query: ListQuery } -> Vec<i64>:
        one room, { "query": { "group": null, "states": ["failed"], "search": "a", "limit": 5 } };
    /// For how many of these reports each action is possible.
    chosen => Chosen { ids: Vec<i64> } -> ChosenView:
        one room, follows journal, { "ids": [1, 2] };
    /// One decision for many reports.
    decide => Decide { ids: Vec<i64>, decision: Decision, reason: String } -> DecidedView:
        one room, changes [journal], { "ids": [1, 2], "decision": "hold-back", "reason": "" };
    /// Saves a table that the page made; where, a dialog of the shell asks.
    save_table => SaveTable { text: String } -> bool:
        any room, { "text": "a,b" }
        = Ok(false);
    /// Saves the statement of a day as a PDF; where, a dialog of the shell asks.
    save_statement => SaveStatement { date: String, language: String } -> bool:
        one room, { "date": "2026-11-22", "language": "fr" }
        = unsaved_statement(&date, &language);
    /// The views that are kept.
    saved_views => SavedViews {} -> Vec<SavedView>:
        one room, {};
    /// Keeps a view.
    keep_view => KeepView { view: SavedView } -> ():
        one room, changes [saved_views], { "view": {
            "name": "mine", "group": null, "states": ["failed"], "search": "", "period": "week",
            "laboratory": null, "sort": "disease", "ascending": true
        } };
    /// Forgets a view.
    forget_view => ForgetView { name: String } -> ():
        one room, changes [saved_views], { "name": "mine" };
    /// By when reports have to be with the authority.
    deadlines => Deadlines {} -> DeadlinesView:
        one room, {};
    /// Keeps another table of deadlines.
    set_deadlines => SetDeadlines { deadlines: Vec<DeadlineView> } -> ():
        one room, changes [deadlines, list, detail],
        { "deadlines": [{ "disease": "malaria", "hours": 24 }] };
    /// Everything about one submission.
    detail => Detail { id: i64 } -> DetailView:
        one room, follows journal, { "id": 1 };
    /// How far reports are that were sent together.
    batch => Batch { ids: Vec<i64> } -> BatchView:
        one room, follows journal, { "ids": [] };
    /// Looks at files.
    inspect_files => InspectFiles { paths: Vec<String>, reveal: bool } -> Vec<CandidateView>:
        one room, { "paths": ["/a.json"], "reveal": false }
        = desk.inspect_files_as(paths, Names::shown_if(reveal)).await;
    /// Looks at a pasted text.
    inspect_text => InspectText { text: String, name: String, reveal: bool } -> Vec<CandidateView>:
        one room, { "text": "{}", "name": "pasted", "reveal": false }
        = desk.inspect_text_as(text, name, Names::shown_if(reveal)).await;
    /// Takes in a list and sends it: of what lies there, the contents that were shown, and of what
    /// is known, the contents that are to go again; what was left out stays there. What is found to
    /// differ from a report with its identifier goes beside that where a person has said so.
    hand_over => HandOver {
        items: Vec<HandedItem>, again: Vec<String>, corrections: Vec<NamedCorrection>,
        shown: Option<Vec<String>>, left_out: Vec<String>, beside: Vec<String>, separate: bool,
        endpoint: String
    } -> HandedView:
        one room, changes [journal], {
            "items": [{ "path": "/a.json" }], "again": [], "corrections": [], "shown": null,
            "left_out": [], "beside": [], "separate": false, "endpoint": ""
        }
        = {
            let list = HandedList {
                items, again, corrections, shown, left_out, beside, separate, endpoint,
            };
            desk.hand_over(list).await
        };
    /// How far the list is that was handed over last.
    taking => Taking {} -> TakingView:
        any room, {};
    /// Takes back the list that was handed over last, while it is being taken in.
    stop_taking => StopTaking {} -> bool:
        any room, changes [journal], {};
    /// Stops what waits to be sent.
    hold_back => HoldBack { ids: Vec<i64> } -> u32:
        one room, changes [journal], { "ids": [1, 2] };
    /// Sends a held report.
    release => Release { id: i64, reason: String } -> bool:
        one room, changes [journal], { "id": 1, "reason": "looked at" };
    /// Decides that a report will not be sent.
    withdraw => Withdraw { id: i64, reason: String } -> ():
        one room, changes [journal], { "id": 1, "reason": "looked at" };
    /// Says that the authority has a report that has been open for too long.
    say_received => SayReceived { id: i64, reason: String } -> ():
        one room, changes [journal], { "id": 1, "reason": "looked at" };
    /// Says that it does not have it.
    say_not_received => SayNotReceived { id: i64, reason: String } -> ():
        one room, changes [journal], { "id": 1, "reason": "looked at" };
    /// Sends the same content again.
    resubmit => Resubmit { id: i64 } -> i64:
        one room, changes [journal], { "id": 1 };
    /// Sends a corrected file: of what lies there, the content that was shown.
    correct_with_file => CorrectWithFile {
        id: i64, path: String, shown: Vec<String>
    } -> IntakeView:
        one room, changes [journal], { "id": 1, "path": "/a.json", "shown": [] };
    /// Sends a corrected text.
    correct_with_text => CorrectWithText { id: i64, text: String } -> IntakeView:
        one room, changes [journal], { "id": 1, "text": "{}" };
    /// Looks at an edited report.
    look_at_draft => LookAtDraft { id: i64, text: String } -> DraftView:
        one room, { "id": 1, "text": "{}" };
    /// Changes one value of an edited report.
    edit_draft => EditDraft { text: String, expression: String, value: String } -> String:
        any room, { "text": "{}", "expression": "Bundle.id", "value": "x" };
    /// Takes one value out of an edited report.
    remove_value => RemoveValue { text: String, expression: String } -> RemovedView:
        any room, { "text": "{}", "expression": "Bundle.id" };
    /// Puts suggestions into an edited report: those for one element and what is in it, or all.
    apply_suggestions => ApplySuggestions { text: String, only: Option<String> } -> SuggestedView:
        any room, { "text": "{}", "only": null };
    /// Keeps what was edited and not sent.
    keep_draft => KeepDraft { id: i64, text: String } -> ():
        one room, { "id": 1, "text": "{}" };
    /// What was edited before and not sent.
    draft => Draft { id: i64 } -> Option<String>:
        one room, { "id": 1 };
    /// What stands where the messages of reports point to.
    cause_fields => CauseFields { ids: Vec<i64> } -> Vec<CauseFieldView>:
        one room, { "ids": [1] };
    /// Which of these reports have a cause that was corrected before they came in, and when.
    came_back => CameBack { ids: Vec<i64> } -> Vec<CameBackView>:
        one room, follows journal, { "ids": [1] };
    /// What one change would do to many reports.
    fix_preview => FixPreview {
        ids: Vec<i64>, path: String, find: String, replace: String
    } -> FixView:
        one room, { "ids": [1], "path": "Patient.id", "find": "a", "replace": "b" };
    /// Makes the change in one report and sends it.
    fix => Fix { id: i64, path: String, find: String, replace: String } -> IntakeView:
        one room, changes [journal], { "id": 1, "path": "Patient.id", "find": "a", "replace": "b" };
    /// The changes of many reports that were broken off.
    unfinished_fixes => UnfinishedFixes {} -> Vec<UnfinishedFix>:
        one room, follows journal, {};
    /// Keeps one that is not made in all of them yet, or forgets it.
    keep_fix => KeepFix { fix: UnfinishedFix } -> ():
        one room, changes [unfinished_fixes], { "fix": {
            "path": "Patient.id", "find": "a", "replace": "b", "sent": 1, "rest": [2, 3]
        } };
    /// Opens a file dialog; answered by the shell.
    choose_files => ChooseFiles { purpose: Purpose } -> Vec<String>:
        any room, { "purpose": "reports" }
        = Ok(Vec::new());
    /// Opens a folder dialog; answered by the shell.
    choose_folder => ChooseFolder { purpose: FolderPurpose } -> Option<String>:
        any room, { "purpose": "watched" }
        = Ok(None);
    /// Paths of the sample reports.
    practice_samples => PracticeSamples {} -> Vec<String>:
        any room, {};
    /// Looks at certificate files.
    certificate_inspect => CertificateInspect {
        paths: Vec<String>, password: String
    } -> CertificateView:
        any room, { "paths": ["/a.p12"], "password": "x" };
    /// Tests the connection with a certificate that would take the place of another.
    certificate_try => CertificateTry {
        paths: Vec<String>, password: String, endpoint: Option<String>
    } -> Vec<ProbeView>:
        any room, { "paths": ["/a.p12"], "password": "x", "endpoint": null };
    /// Keeps a certificate, for one endpoint or for those that need it.
    certificate_import => CertificateImport {
        paths: Vec<String>, password: String, endpoint: Option<String>
    } -> CertificateView:
        any room, changes [status, endpoints, certificates],
        { "paths": ["/a.p12"], "password": "x", "endpoint": null };
    /// Reads the authority's CA from a file.
    read_ca => ReadCa { path: String } -> CaView:
        any room, { "path": "/ca.pem" };
    /// Makes the laboratory's room where there is no keychain.
    protect_with_passphrase => ProtectWithPassphrase { passphrase: String } -> ():
        any room, changes [status, endpoints, certificates, list, statistics],
        { "passphrase": "x" };
    /// Opens it.
    open_vault => OpenVault { passphrase: String } -> ():
        any room, changes [status, endpoints, certificates, list, statistics],
        { "passphrase": "x" };
    /// Seals it with another passphrase.
    change_vault_passphrase => ChangeVaultPassphrase { current: String, passphrase: String } -> ():
        any room, { "current": "x", "passphrase": "longer" };
    /// All certificates, and what each is used for.
    certificates => Certificates {} -> Vec<StoredCertificateView>:
        any room, {};
    /// Uses another certificate for an endpoint.
    use_certificate => UseCertificate { fingerprint: String, endpoint: String } -> ():
        any room, changes [certificates, status], { "fingerprint": "AB:CD", "endpoint": "real" };
    /// Removes a certificate with its key.
    remove_certificate => RemoveCertificate { fingerprint: String, although_needed: bool } -> ():
        any room, changes [certificates, status, endpoints],
        { "fingerprint": "AB:CD", "although_needed": false };
    /// Exchanges the journal's key at the next start.
    rotate_journal_key => RotateJournalKey {} -> ():
        any room, {};
    /// All endpoints.
    endpoints => Endpoints {} -> Vec<EndpointView>:
        any room, {};
    /// Adds an endpoint.
    add_endpoint => AddEndpoint { input: EndpointInput } -> ():
        any room, changes [endpoints], { "input": {
            "name": "real", "baseUrl": "https://a.example/v1/fhir", "environment": "integration",
            "release": null, "language": null, "caPem": null, "proxy": null
        } };
    /// What using another endpoint would send and what not.
    plan_endpoint => PlanEndpoint { name: String } -> MoveView:
        any room, { "name": "real" };
    /// Gives an endpoint another address.
    set_endpoint_address => SetEndpointAddress {
        name: String, base_url: String, same_authority: bool
    } -> ():
        any room, changes [endpoints, status, list, certificates], {
            "name": "real", "base_url": "https://b.example/v1/fhir", "same_authority": false
        };
    /// Says whom an endpoint trusts and by which proxy it is reached; `null` leaves it as it is.
    set_endpoint_way => SetEndpointWay {
        name: String, ca_pem: Option<String>, proxy: Option<String>
    } -> ():
        any room, changes [endpoints, status, list, certificates],
        { "name": "real", "ca_pem": "", "proxy": "http://proxy.example:3128" };
    /// Says which release of the interface an endpoint speaks, and the language of reports that
    /// name none.
    set_endpoint_terms => SetEndpointTerms {
        name: String, release: String, language: String
    } -> ():
        any room, changes [endpoints, status],
        { "name": "real", "release": "1.13.1", "language": "fr-CH" };
    /// Gives an endpoint another name.
    rename_endpoint => RenameEndpoint { name: String, new_name: String } -> ():
        any room, changes [endpoints, status, list, certificates],
        { "name": "real", "new_name": "new" };
    /// Removes an endpoint that no report waits for.
    remove_endpoint => RemoveEndpoint { name: String } -> ():
        any room, changes [endpoints, status, list, certificates], { "name": "real" };
    /// Uses another endpoint.
    use_endpoint => UseEndpoint { name: String } -> ():
        any room, changes [status, endpoints, list, statistics], { "name": "real" };
    /// Tests the connection.
    test_endpoint => TestEndpoint { name: String } -> Vec<ProbeView>:
        any room, changes [status, plan_endpoint], { "name": "real" };
    /// Pauses or resumes sending.
    set_paused => SetPaused { paused: bool } -> ():
        one room, changes [journal], { "paused": true };
    /// Tries to reach an authority now where a fault holds its reports; whether it was reached.
    try_now => TryNow { endpoint: String } -> bool:
        any room, changes [status], { "endpoint": "real" };
    /// Backups, their second place, and journals that were set aside.
    safekeeping => Safekeeping {} -> Option<SafekeepingView>:
        any room, {};
    /// Makes a backup now, and copies it to the second place where there is one.
    back_up => BackUp {} -> ():
        any room, changes [safekeeping, status], {};
    /// Checks the whole journal; how many entries it has.
    check_journal => CheckJournal {} -> u32:
        any room, changes [status], {};
    /// Keeps copies of all backups in another folder, or in none.
    set_backup_place => SetBackupPlace { path: Option<String> } -> u32:
        any room, changes [safekeeping, status], { "path": null };
    /// Deletes a journal that was set aside.
    remove_set_aside => RemoveSetAside { name: String } -> ():
        any room, changes [safekeeping], { "name": "journal.db.set-aside-1" };
    /// What the restore of a backup would mean now.
    plan_restore => PlanRestore { name: String, elsewhere: bool } -> RestorePlanView:
        any room, { "name": "journal-20261121T063211Z-1234.db", "elsewhere": false };
    /// Puts a backup in the journal's place.
    restore_backup => RestoreBackup {
        name: String, elsewhere: bool, passphrase: String
    } -> RestoredView:
        any room, changes [safekeeping, journal, endpoints, certificates, deadlines], {
            "name": "journal-20261121T063211Z-1234.db", "elsewhere": false, "passphrase": "x"
        };
    /// How many reports would lose their content now, were it kept for so many days.
    plan_retention => PlanRetention { days: u32 } -> RetentionPlanView:
        any room, { "days": 365 };
    /// Keeps the content of settled reports for so many days, or for good; how many have lost it.
    set_retention => SetRetention { days: Option<u32> } -> u32:
        any room, changes [safekeeping, journal], { "days": 365 };
    /// The packages of rules that are imported.
    rules => Rules {} -> Vec<RulesEntry>:
        one room, {};
    /// Imports a package of rules.
    import_rules => ImportRules { path: String } -> RulesEntry:
        one room, changes [rules], { "path": "/a.tgz" };
    /// What another package of rules would say of the last reports.
    plan_rules => PlanRules { package: String } -> RulesPlanView:
        one room, { "package": "a@1" };
    /// Puts a package of rules to use.
    use_rules => UseRules { package: String } -> RulesEntry:
        one room, changes [rules], { "package": "a@1" };
    /// Forgets a package of rules.
    remove_rules => RemoveRules { package: String } -> ():
        one room, changes [rules], { "package": "a@1" };
    /// Days in progress after which a report needs attention.
    set_attention_days => SetAttentionDays { days: u16 } -> ():
        one room, changes [status, list], { "days": 5 };
    /// What lies in a folder, before it is watched.
    look_at_folder => LookAtFolder { path: String } -> LyingView:
        any room, { "path": "/out" };
    /// Watches another folder with all that lies in it, or none.
    set_watched_folder => SetWatchedFolder { path: Option<String> } -> ():
        one room, changes [status, left_lying, watched_files], { "path": null };
    /// Watches another folder; what was shown of it stays unsent.
    watch_what_comes => WatchWhatComes { path: String } -> ():
        one room, changes [status, left_lying, watched_files], { "path": "/out" };
    /// What stays unsent in the watched folder.
    left_lying => LeftLying {} -> LeftView:
        one room, {};
    /// What is known of the files in the watched folder.
    watched_files => WatchedFiles { reveal: bool } -> WatchedFilesView:
        one room, follows journal, { "reveal": false }
        = desk.watched_files(Names::shown_if(reveal)).await;
    /// Reports that a restore has lost with their content.
    lost_reports => LostReports { reveal: bool } -> LostListView:
        one room, follows journal, { "reveal": false }
        = desk.lost_reports(Names::shown_if(reveal)).await;
    /// What starts of the program have handed over since it was asked last.
    opened => Opened {} -> OpenedView:
        any room, {};
    /// What the person chose.
    preferences => Preferences {} -> PreferencesView:
        any room, while locked, {};
    /// Keeps it.
    set_preferences => SetPreferences { preferences: PreferencesView } -> ():
        any room, changes [preferences],
        { "preferences": { "language": "de", "theme": "dark", "firstRunDone": true } };
    /// Numbers of the last days.
    statistics => Statistics { days: u32 } -> StatisticsView:
        any room, follows journal, { "days": 7 };
    /// What was taken in on one day and what became of it.
    statement => Statement { date: String } -> StatementView:
        any room, follows journal, { "date": "2026-11-22" };
    /// Asks the authority what it has.
    ask_authority => AskAuthority { query: AskQuery, reveal: bool } -> AskedView:
        one room, {
            "query": {
                "identifier": null, "status": null, "from": null, "until": null, "report": null
            },
            "reveal": false
        }
        = desk.ask_authority(query, Names::shown_if(reveal)).await;
    /// The next page of that.
    ask_further => AskFurther { number: u32 } -> AskedView:
        one room, { "number": 1 };
    /// A person has read a notice.
    acknowledge_notice => AcknowledgeNotice { code: NoticeCode, at: String } -> ():
        one room, changes [status], { "code": "backups-failing", "at": "2026-11-22" }
        = desk.acknowledge_notice(code.0, at).await;
    /// Locks the window.
    lock => Lock {} -> ():
        any room, while locked, changes [status], {};
    /// Unlocks it.
    unlock => Unlock { passphrase: String } -> ():
        any room, while locked, changes [status], { "passphrase": "x" };
    /// Chooses the passphrase for unlocking.
    set_unlock_passphrase => SetUnlockPassphrase { current: String, passphrase: String } -> ():
        any room, changes [status], { "current": "", "passphrase": "longer" };
    /// Opens what only administrators change.
    open_administration => OpenAdministration { passphrase: String } -> ():
        any room, changes [status], { "passphrase": "x" };
    /// Closes it again.
    close_administration => CloseAdministration {} -> ():
        any room, changes [status], {};
    /// Chooses the passphrase of administrators.
    set_administration_passphrase => SetAdministrationPassphrase {
        current: String, passphrase: String
    } -> (): any room, changes [status], { "current": "", "passphrase": "longer" };
    /// Who has changed what of the settings, the newest change first.
    audit_log => AuditLog {} -> Vec<AuditEntry>:
        any room, {};
    /// Whether there is a newer version of the program, and who is asked.
    updates => Updates {} -> UpdatesView:
        any room, {};
    /// Asks now.
    look_for_updates => LookForUpdates {} -> UpdatesView:
        any room, changes [updates], {};
    /// Whether is asked at all.
    set_updates => SetUpdates { on: bool } -> ():
        any room, changes [updates], { "on": false };
    /// Opens the installer of a newer version whose signature is right; the shell does. Whether
    /// there still is one.
    install_update => InstallUpdate {} -> bool:
        any room, changes [updates], {}
        = desk.update_to_install().await.map(|file| file.is_some());
    /// Makes the support bundle and shows it; the words of its summary are the shell's.
    support_preview => SupportPreview { language: String } -> Vec<SupportFile>:
        any room, { "language": "fr" }
        = desk.support_preview(None).await;
    /// Saves the bundle that was shown; where, a dialog of the shell asks.
    save_support => SaveSupport {} -> bool:
        any room, {}
        = Ok(false);
}
