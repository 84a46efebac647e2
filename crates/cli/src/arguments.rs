//! What can be asked. Help, man page and shell completions come from here.

mod journal;
mod rules;
mod setup;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::terms::{Duration, parse_duration};
pub(crate) use journal::{JournalCommand, Retention};
pub(crate) use rules::{RulesCommand, Validate, ValidateMode, ValidatorChoice, told_apart};
pub(crate) use setup::{
    EndpointCommand, EndpointOptions, IdentityCommand, Init, VaultCommand, VaultKind,
};

const EXAMPLES: &str = "\
Try it out (nothing leaves this computer):
  labcourier init --practice
  labcourier send samples --wait

For real:
  labcourier init --endpoint https://HOST/v1/fhir --vault passphrase --passphrase-file F
  labcourier identity import laboratory.p12 --password-file P
  labcourier endpoint test
  labcourier send /var/reports --wait

Exit codes:
  0  all well
  1  something needs a person: a report is held, rejected, failed or refused, or a file cannot be read;
     or a notice is not read yet (labcourier journal notices), but for a watch that is told to stop
  2  wrong usage, an unknown report number, a step that the report's state does not allow
  3  the authority cannot be reached or refuses the certificate, another program is busy, or sending is
     paused; nothing is lost
  4  profile, journal, keychain or vault cannot be opened
  5  with --require-verified: a final status is not known when the command ends, and nothing needs a person

With --json, every report is one object on one line with the fields
id file digest identifier state receipt issues attempts corrects created updated;
each of the issues has severity code rule text expression line column source.
file is empty where standard output is no terminal, unless --file-names: it may name a patient.
States: held queued sending unknown in-progress completed rejected failed withdrawn
said-received superseded.";

/// Sends laboratory reports of notifiable diseases to the authority and shows what became of each.
#[derive(Parser)]
#[command(name = "labcourier", version, after_help = EXAMPLES, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Args)]
pub(crate) struct Global {
    /// Folder of the profile (settings, journal, vault). Default: the platform's place for data of
    /// programs; a practice profile there is used as long as there is no other, and sends its own
    /// samples alone.
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "LABCOURIER_PROFILE",
        hide_env_values = true
    )]
    pub(crate) profile: Option<PathBuf>,
    /// One JSON object a line on standard output.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// File whose first line opens the vault; fd:N or /dev/fd/N reads a descriptor.
    #[arg(
        long,
        global = true,
        value_name = "F",
        env = "LABCOURIER_PASSPHRASE_FILE",
        hide_env_values = true
    )]
    pub(crate) passphrase_file: Option<PathBuf>,
    /// Only results, no progress and no hints.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Show names of files also where the output goes to a file, a log or another program.
    #[arg(long, global = true)]
    pub(crate) file_names: bool,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Make a profile.
    #[command(after_help = "\
Examples:
  labcourier init --practice
  labcourier init --endpoint https://HOST/v1/fhir
  labcourier init --endpoint https://HOST/v1/fhir --environment production
  labcourier init --endpoint https://HOST/v1/fhir --ca ca.pem --vault passphrase --passphrase-file F")]
    Init(Init),
    /// The laboratory's certificates: one for each endpoint.
    #[command(subcommand)]
    Identity(IdentityCommand),
    /// The vault that holds keys and certificates where there is no keychain.
    #[command(subcommand)]
    Vault(VaultCommand),
    /// The authorities that this profile knows.
    #[command(subcommand)]
    Endpoint(EndpointCommand),
    /// Check files, send nothing.
    #[command(after_help = "\
Takes files, folders, .zip archives and NDJSON. Warnings are printed; errors would hold the report.
A file that does not exist or is no report gives exit code 1.

Examples:
  labcourier check report.json
  labcourier check /var/reports --json")]
    Check(Paths),
    /// Send reports.
    #[command(after_help = "\
Every report is in the journal before its first byte leaves. Errors found here hold a report; content
that is known already is shown and not sent again; the exit code is its report's. Without --wait each report is handed over once, and
nothing follows it unless `labcourier follow`, `labcourier watch` or the window runs. A file that does not exist or is no report gives exit code 1; the others
are sent all the same. So does a report that was withdrawn; one that was replaced counts as the report in its place.
A link to a file is read as the file. A link to a folder inside a folder is not followed and gives exit code 1.

Examples:
  labcourier send report.xml --wait
  labcourier send /var/reports reports.zip
  labcourier --json send report.json --wait --timeout 10m")]
    Send(Send),
    /// Follow open reports until each has its final status.
    #[command(after_help = "\
Sends what waits, asks what is in doubt, and reads what became of the rest. With --once one pass, for
schedulers. Every endpoint with open reports is followed, whichever is in use for new ones. Exit code 1 if one
of them needs a person. Where another
program works the queue already (watch, or the window), --once shows how the reports stand and ends with 0.

Examples:
  labcourier follow
  labcourier follow --once --json")]
    Follow(Follow),
    /// List reports, newest first.
    #[command(after_help = "\
Examples:
  labcourier list --state failed --state rejected
  labcourier list --search malaria --since 2026-01-01
  labcourier --json list --state completed")]
    List(List),
    /// Show one report: messages, timeline, what can be done.
    #[command(after_help = "Example:\n  labcourier show 12")]
    Show {
        /// Number of the report.
        id: i64,
    },
    /// Send a rejected or failed report again, unchanged or with a corrected file; also a held one,
    /// corrected.
    #[command(after_help = "\
The new report is linked to the one it replaces.

Examples:
  labcourier resubmit 12
  labcourier resubmit 12 --with corrected.json --wait
  labcourier resubmit 12 --with corrected.json --digest \"$DIGEST\"")]
    Resubmit(Resubmit),
    /// Stop a report that waits to be sent; it stays on hold until it is released or withdrawn.
    #[command(after_help = "Example:\n  labcourier hold 12")]
    Hold {
        /// Number of the report.
        id: i64,
    },
    /// Pause sending, for every program that works with this profile; what was sent is followed on.
    #[command(after_help = "\
The window, `send`, `follow` and `watch` keep reports in the journal until `labcourier resume`, also after a restart.

Example:
  labcourier pause")]
    Pause,
    /// Resume sending.
    #[command(after_help = "Example:\n  labcourier resume")]
    Resume,
    /// Record what the authority said about a report that has been open for too long.
    #[command(after_help = "\
Only for a report that has been in doubt for an hour or in progress for days: `labcourier show` proposes it.
Received: one in doubt is settled, one in progress is waited for on. Not received: it is sent again.

Examples:
  labcourier settle 12 --received --reason \"hotline, 3 May: processed\"
  labcourier settle 12 --not-received --reason \"hotline, 3 May: never arrived\"")]
    Settle(Settle),
    /// Decide that a waiting, held, rejected or failed report will not be sent (again).
    #[command(after_help = "Example:\n  labcourier withdraw 12 --reason \"not notifiable\"")]
    Withdraw(WithReason),
    /// Send a held report although something was found.
    #[command(
        after_help = "Example:\n  labcourier release 12 --reason \"checked with the physician\""
    )]
    Release(WithReason),
    /// Search at the authority.
    #[command(after_help = "\
Times are UTC; prefixes eq ne gt ge lt le.

Examples:
  labcourier search --status failed --last-updated ge2026-01-01
  labcourier search --identifier urn:uuid:7c1f7a10-4f0e-4b57-9d3a-5a1d6f0c0001
  labcourier search --sort=-_lastUpdated --count 50 --all
  labcourier search --count 0")]
    Search(Search),
    /// Watch a folder: send what is put there, and follow it.
    #[command(after_help = "\
Files stay where they are. What lies there already is sent too: it may have come while nobody watched. A file is
taken once nobody writes to it any more. Stop with Ctrl+C or SIGTERM.

Example:
  labcourier watch /var/reports --json")]
    Watch {
        /// The folder.
        dir: PathBuf,
    },
    /// Write out what the journal knows.
    #[command(after_help = "\
Examples:
  labcourier export --format csv > reports.csv
  labcourier export --format json --state failed")]
    Export(Export),
    /// What was taken in on a day and what became of it, for the file.
    #[command(after_help = "\
Times, identifiers, digests, the authority's answers and the end of the journal's chain;
no patient. Without --pdf it is a table.

Examples:
  labcourier statement 2026-11-24 --pdf 2026-11-24.pdf
  labcourier statement 2026-11-24 > 2026-11-24.csv")]
    Statement(Statement),
    /// The authority's rules: packages, and any resource against them.
    #[command(subcommand)]
    Rules(RulesCommand),
    /// The journal itself.
    #[command(subcommand)]
    Journal(JournalCommand),
    /// Who has changed what of the settings, here or in the window, newest first.
    #[command(after_help = "Example:\n  labcourier audit")]
    Audit,
    /// What a helper needs to know of this installation, without anything about patients.
    #[command(after_help = "\
Versions, settings without secrets, counts, codes and times; no names, files, identifiers or documents.
Works also where the journal or the keychain does not open. Without FILE it is only shown.

Examples:
  labcourier support-bundle
  labcourier support-bundle support.zip")]
    SupportBundle(SupportBundle),
    /// The lesson: send made-up reports to an authority on this computer, see one fail, correct it.
    #[command(after_help = "\
Without --profile it runs in a folder that is removed afterwards.

Examples:
  labcourier practice
  labcourier --profile ~/practice practice")]
    Practice,
    /// Write man pages or shell completions.
    #[command(hide = true)]
    Generate {
        /// What is to be written.
        what: Generated,
        /// Folder to write to; made if missing.
        dir: PathBuf,
    },
}

#[derive(Args)]
pub(crate) struct Paths {
    /// Files, folders, .zip archives, NDJSON.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
}

#[derive(Args)]
pub(crate) struct Send {
    #[command(flatten)]
    pub(crate) paths: Paths,
    #[command(flatten)]
    pub(crate) waiting: Waiting,
    #[command(flatten)]
    pub(crate) verified: Verified,
    /// Send content again that was sent before, unless its report is still on its way.
    #[arg(long)]
    pub(crate) again: bool,
}

#[derive(Args, Default)]
pub(crate) struct Verified {
    /// Exit with 0 only where the authority has completed every report; practice never counts. Exit
    /// with 5 where a final status is not known when the command ends, also after --timeout, and
    /// nothing needs a person.
    #[arg(long)]
    pub(crate) require_verified: bool,
}

#[derive(Args)]
pub(crate) struct Waiting {
    /// Wait until every report has its final status.
    #[arg(long)]
    pub(crate) wait: bool,
    /// Wait at most so long: 30s, 10m, 2h. What is still open then gives exit code 1, with
    /// --require-verified 5.
    #[arg(long, value_name = "D", requires = "wait", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
}

#[derive(Args)]
pub(crate) struct Follow {
    /// One pass only.
    #[arg(long)]
    pub(crate) once: bool,
}

#[derive(Args)]
pub(crate) struct List {
    /// Only reports in this state; may be repeated.
    #[arg(long = "state", value_name = "S", value_parser = bridge::StateCode::CODES)]
    pub(crate) states: Vec<String>,
    /// Words in identifier, name, file, disease or message.
    #[arg(long, value_name = "TEXT")]
    pub(crate) search: Option<String>,
    /// Only reports taken in from then on: 2026-01-31, 2026-01-31T08:00 (UTC),
    /// 2026-01-31T08:00:00+01:00
    #[arg(long, value_name = "T")]
    pub(crate) since: Option<String>,
}

#[derive(Args)]
pub(crate) struct Resubmit {
    /// Number of the report.
    pub(crate) id: i64,
    /// The corrected file.
    #[arg(long, value_name = "FILE")]
    pub(crate) with: Option<PathBuf>,
    /// SHA-256 of the file as somebody has looked at it: what lies there by now and is something
    /// else is not sent.
    #[arg(long, value_name = "SHA256", requires = "with")]
    pub(crate) digest: Option<String>,
    /// The file takes the report's place, though it is about another patient or case.
    #[arg(long, requires = "with")]
    pub(crate) other_report: bool,
    #[command(flatten)]
    pub(crate) waiting: Waiting,
    #[command(flatten)]
    pub(crate) verified: Verified,
}

#[derive(Args)]
pub(crate) struct WithReason {
    /// Number of the report.
    pub(crate) id: i64,
    /// Why; kept in the journal.
    #[arg(long, value_name = "T", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) reason: String,
}

#[derive(Args)]
#[group(required = true, multiple = false, id = "word", args = ["received", "not_received"])]
pub(crate) struct Settle {
    /// The authority has it.
    #[arg(long)]
    pub(crate) received: bool,
    /// The authority does not have it.
    #[arg(long)]
    pub(crate) not_received: bool,
    #[command(flatten)]
    pub(crate) whose: WithReason,
}

#[derive(Args)]
pub(crate) struct Search {
    /// Created at, with prefix: ge2026-01-01
    #[arg(long, value_name = "P")]
    pub(crate) date: Vec<String>,
    /// Last changed at, with prefix: gt2026-01-31T08:00:00
    #[arg(long, value_name = "P")]
    pub(crate) last_updated: Vec<String>,
    /// Identifier, e.g. urn:uuid:…
    #[arg(long, value_name = "V")]
    pub(crate) identifier: Vec<String>,
    /// Processing status.
    #[arg(long, value_name = "S", value_parser = ["in-progress", "completed", "failed"])]
    pub(crate) status: Option<String>,
    /// Order: identifier, date, elm-status, _lastUpdated; a leading - descends; several with
    /// commas.
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub(crate) sort: Option<String>,
    /// Size of a page; 0 only counts.
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<u32>,
    /// Number of the page, from 1 on.
    #[arg(long, value_name = "N", value_parser = parse_page)]
    pub(crate) page: Option<u32>,
    /// All pages.
    #[arg(long, conflicts_with = "page")]
    pub(crate) all: bool,
}

fn parse_page(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|page| *page > 0).ok_or_else(|| "pages count from 1".to_owned())
}

#[derive(Args)]
pub(crate) struct Export {
    /// Form of the output.
    #[arg(long, value_enum)]
    pub(crate) format: ExportForm,
    /// With patients' names and birth dates, and names of files.
    #[arg(long)]
    pub(crate) names: bool,
    #[command(flatten)]
    pub(crate) list: List,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportForm {
    /// A table for spreadsheets.
    Csv,
    /// One object a line.
    Json,
}

#[derive(Args)]
pub(crate) struct Statement {
    /// The day: YYYY-MM-DD.
    pub(crate) day: String,
    /// PDF file to write; it must not exist.
    #[arg(long, value_name = "FILE")]
    pub(crate) pdf: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct SupportBundle {
    /// ZIP file to write; it must not exist.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Show what is in it, too.
    #[arg(long)]
    pub(crate) show: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Generated {
    /// Manual pages (man).
    Man,
    /// Completions for bash, zsh, fish and PowerShell.
    Completions,
}
