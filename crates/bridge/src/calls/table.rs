// Every command of the window, in the one place where it is declared: its words, its name, its arguments and
// its answer. It is answered by the function of `Desk` that has its name and takes its arguments, unless
// something else stands behind a `=`. ARCHITECTURE.md says how one is added.
calls! {
    desk;
    /// The frame of the window.
    status => Status {} -> StatusView;
    /// A page of the list.
    list => List { query: ListQuery, reveal: bool } -> PageView =
        desk.list(query, Names::shown_if(reveal)).await;
    /// What each filter of a list would leave.
    list_counts => ListCounts { query: ListQuery } -> ListCountsView;
    /// The numbers of all reports that a filter leaves.
    matching => Matching { query: ListQuery } -> Vec<i64>;
    /// For how many of these reports each action is possible.
    chosen => Chosen { ids: Vec<i64> } -> ChosenView;
    /// One decision for many reports.
    decide => Decide { ids: Vec<i64>, decision: Decision, reason: String } -> DecidedView;
    /// Saves a table that the page made; where, a dialog of the shell asks.
    save_table => SaveTable { text: String } -> bool = Ok(false);
    /// The views that are kept.
    saved_views => SavedViews {} -> Vec<SavedView>;
    /// Keeps a view.
    keep_view => KeepView { view: SavedView } -> ();
    /// Forgets a view.
    forget_view => ForgetView { name: String } -> ();
    /// By when reports have to be with the authority.
    deadlines => Deadlines {} -> DeadlinesView;
    /// Keeps another table of deadlines.
    set_deadlines => SetDeadlines { deadlines: Vec<DeadlineView> } -> ();
    /// Everything about one submission.
    detail => Detail { id: i64 } -> DetailView;
    /// How far reports are that were sent together.
    batch => Batch { ids: Vec<i64> } -> BatchView;
    /// Looks at files.
    inspect_files => InspectFiles { paths: Vec<String>, reveal: bool } -> Vec<CandidateView> =
        desk.inspect_files_as(paths, Names::shown_if(reveal)).await;
    /// Looks at a pasted text.
    inspect_text => InspectText { text: String, name: String, reveal: bool } -> Vec<CandidateView> =
        desk.inspect_text_as(text, name, Names::shown_if(reveal)).await;
    /// Takes in a list and sends it: of what lies there, the contents that were shown, and of what is known, the
    /// contents that are to go again; what was left out stays there.
    hand_over => HandOver {
        items: Vec<HandedItem>, again: Vec<String>, corrections: Vec<NamedCorrection>,
        shown: Option<Vec<String>>, left_out: Vec<String>, separate: bool, endpoint: String
    } -> HandedView = {
        let list =
            HandedList { items, again, corrections, shown, left_out, separate, endpoint };
        desk.hand_over(list).await
    };
    /// Stops what waits to be sent.
    hold_back => HoldBack { ids: Vec<i64> } -> u32;
    /// Sends a held report.
    release => Release { id: i64, reason: String } -> bool;
    /// Decides that a report will not be sent.
    withdraw => Withdraw { id: i64, reason: String } -> ();
    /// Says that the authority has a report that has been open for too long.
    say_received => SayReceived { id: i64, reason: String } -> ();
    /// Says that it does not have it.
    say_not_received => SayNotReceived { id: i64, reason: String } -> ();
    /// Sends the same content again.
    resubmit => Resubmit { id: i64 } -> i64;
    /// Sends a corrected file: of what lies there, the content that was shown.
    correct_with_file => CorrectWithFile {
        id: i64, path: String, shown: Vec<String>
    } -> IntakeView;
    /// Sends a corrected text.
    correct_with_text => CorrectWithText { id: i64, text: String } -> IntakeView;
    /// Looks at an edited report.
    look_at_draft => LookAtDraft { id: i64, text: String } -> DraftView;
    /// Changes one value of an edited report.
    edit_draft => EditDraft { text: String, expression: String, value: String } -> String;
    /// Takes one value out of an edited report.
    remove_value => RemoveValue { text: String, expression: String } -> RemovedView;
    /// Puts suggestions into an edited report: those for one element and what is in it, or all.
    apply_suggestions => ApplySuggestions { text: String, only: Option<String> } -> SuggestedView;
    /// Keeps what was edited and not sent.
    keep_draft => KeepDraft { id: i64, text: String } -> ();
    /// What was edited before and not sent.
    draft => Draft { id: i64 } -> Option<String>;
    /// What stands where the messages of reports point to.
    cause_fields => CauseFields { ids: Vec<i64> } -> Vec<CauseFieldView>;
    /// What one change would do to many reports.
    fix_preview => FixPreview {
        ids: Vec<i64>, path: String, find: String, replace: String
    } -> FixView;
    /// Makes the change in one report and sends it.
    fix => Fix { id: i64, path: String, find: String, replace: String } -> IntakeView;
    /// Opens a file dialog; answered by the shell.
    choose_files => ChooseFiles { purpose: Purpose } -> Vec<String> = Ok(Vec::new());
    /// Opens a folder dialog; answered by the shell.
    choose_folder => ChooseFolder {} -> Option<String> = Ok(None);
    /// Paths of the sample reports.
    practice_samples => PracticeSamples {} -> Vec<String>;
    /// Looks at certificate files.
    certificate_inspect => CertificateInspect {
        paths: Vec<String>, password: String
    } -> CertificateView;
    /// Keeps a certificate, for one endpoint or for those that need it.
    certificate_import => CertificateImport {
        paths: Vec<String>, password: String, endpoint: Option<String>
    } -> CertificateView;
    /// Reads the authority's CA from a file.
    read_ca => ReadCa { path: String } -> CaView;
    /// Makes the laboratory's room where there is no keychain.
    protect_with_passphrase => ProtectWithPassphrase { passphrase: String } -> ();
    /// Opens it.
    open_vault => OpenVault { passphrase: String } -> ();
    /// All certificates, and what each is used for.
    certificates => Certificates {} -> Vec<StoredCertificateView>;
    /// Uses another certificate for an endpoint.
    use_certificate => UseCertificate { fingerprint: String, endpoint: String } -> ();
    /// Removes a certificate with its key.
    remove_certificate => RemoveCertificate { fingerprint: String, although_needed: bool } -> ();
    /// Exchanges the journal's key at the next start.
    rotate_journal_key => RotateJournalKey {} -> ();
    /// All endpoints.
    endpoints => Endpoints {} -> Vec<EndpointView>;
    /// Adds an endpoint.
    add_endpoint => AddEndpoint { input: EndpointInput } -> ();
    /// What using another endpoint would send and what not.
    plan_endpoint => PlanEndpoint { name: String } -> MoveView;
    /// Gives an endpoint another address.
    set_endpoint_address => SetEndpointAddress {
        name: String, base_url: String, same_authority: bool
    } -> ();
    /// Gives an endpoint another name.
    rename_endpoint => RenameEndpoint { name: String, new_name: String } -> ();
    /// Removes an endpoint that no report waits for.
    remove_endpoint => RemoveEndpoint { name: String } -> ();
    /// Uses another endpoint.
    use_endpoint => UseEndpoint { name: String } -> ();
    /// Tests the connection.
    test_endpoint => TestEndpoint { name: String } -> Vec<ProbeView>;
    /// Pauses or resumes sending.
    set_paused => SetPaused { paused: bool } -> ();
    /// Backups, their second place, and journals that were set aside.
    safekeeping => Safekeeping {} -> Option<SafekeepingView>;
    /// Keeps copies of all backups in another folder, or in none.
    set_backup_place => SetBackupPlace { path: Option<String> } -> u32;
    /// Deletes a journal that was set aside.
    remove_set_aside => RemoveSetAside { name: String } -> ();
    /// The packages of rules that are imported.
    rules => Rules {} -> Vec<RulesEntry>;
    /// Imports a package of rules.
    import_rules => ImportRules { path: String } -> RulesEntry;
    /// What another package of rules would say of the last reports.
    plan_rules => PlanRules { package: String } -> RulesPlanView;
    /// Puts a package of rules to use.
    use_rules => UseRules { package: String } -> RulesEntry;
    /// Forgets a package of rules.
    remove_rules => RemoveRules { package: String } -> ();
    /// Days in progress after which a report needs attention.
    set_attention_days => SetAttentionDays { days: u16 } -> ();
    /// What lies in a folder, before it is watched.
    look_at_folder => LookAtFolder { path: String } -> LyingView;
    /// Watches another folder with all that lies in it, or none.
    set_watched_folder => SetWatchedFolder { path: Option<String> } -> ();
    /// Watches another folder; what was shown of it stays unsent.
    watch_what_comes => WatchWhatComes { path: String } -> ();
    /// What stays unsent in the watched folder.
    left_lying => LeftLying {} -> LeftView;
    /// Reports that a restore has lost with their content.
    lost_reports => LostReports { reveal: bool } -> LostListView =
        desk.lost_reports(Names::shown_if(reveal)).await;
    /// What the person chose.
    preferences => Preferences {} -> PreferencesView;
    /// Keeps it.
    set_preferences => SetPreferences { preferences: PreferencesView } -> ();
    /// Numbers of the last days.
    statistics => Statistics { days: u32 } -> StatisticsView;
    /// What was taken in on one day and what became of it.
    statement => Statement { date: String } -> StatementView;
    /// Asks the authority what it has.
    ask_authority => AskAuthority { query: AskQuery, reveal: bool } -> AskedView =
        desk.ask_authority(query, Names::shown_if(reveal)).await;
    /// The next page of that.
    ask_further => AskFurther { number: u32 } -> AskedView;
    /// A person has read a notice.
    acknowledge_notice => AcknowledgeNotice { code: String, at: String } -> ();
    /// Locks the window.
    lock => Lock {} -> ();
    /// Unlocks it.
    unlock => Unlock { passphrase: String } -> ();
    /// Chooses the passphrase for unlocking.
    set_unlock_passphrase => SetUnlockPassphrase { current: String, passphrase: String } -> ();
    /// Makes the support bundle and shows it.
    support_preview => SupportPreview {} -> Vec<SupportFile>;
    /// Saves the bundle that was shown; where, a dialog of the shell asks.
    save_support => SaveSupport {} -> bool = Ok(false);
}
