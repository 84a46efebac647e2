//! What can be asked of the program.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use authority::{ForeignDocument, Limits, StoreUrl};
use clap::{Args, Parser, Subcommand, ValueEnum};
use exchange::Release;

/// The receiving service for laboratory reports: practice partner, test counterpart, reference.
#[derive(Parser)]
#[command(name = "labcourier-authority", version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Prepares a data folder: certificate authority, server certificate, pilot certificates.
    Init {
        #[command(flatten)]
        place: Place,
        /// A laboratory that gets pilot/NAME.p12 and pilot/NAME.password; may be repeated.
        #[arg(long = "laboratory", value_name = "NAME")]
        laboratories: Vec<String>,
        /// A name or address by which clients reach this computer, beside localhost; may be
        /// repeated.
        #[arg(long = "host", value_name = "HOST")]
        hosts: Vec<String>,
    },
    /// Runs the service; prints one line with its address when it is ready.
    Serve(Box<Serve>),
    /// Laboratories that may send.
    #[command(subcommand)]
    Laboratory(LaboratoryCommand),
    /// Client certificates of laboratories; a laboratory may have several.
    #[command(subcommand)]
    Certificate(CertificateCommand),
    /// Packages of FHIR definitions by which documents are validated before they are accepted.
    #[command(subcommand)]
    Rules(RulesCommand),
    /// Who sent and read what.
    #[command(subcommand)]
    Audit(AuditCommand),
}

/// Where everything is that a command is about.
#[derive(Args)]
pub(crate) struct Place {
    /// The data folder; `init` makes it if it is not there.
    #[arg(long)]
    pub(crate) data: PathBuf,
    /// Where documents are kept: `sqlite` (a file in the data folder) or
    /// postgres://user@host:port/db. Recorded in the data folder once it could be opened, for every
    /// later command. Best from the environment if it holds a password.
    #[arg(long, value_name = "URL", env = "LABCOURIER_AUTHORITY_STORE", hide_env_values = true)]
    pub(crate) store: Option<StoreUrl>,
}

#[derive(Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) place: Place,
    /// What this process does; others than `both` need a shared store.
    #[arg(long, value_enum, default_value_t = Role::Both)]
    pub(crate) role: Role,
    /// Address and port; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Time between acceptance and processing: 500ms, 2s, 1m, 4h.
    #[arg(long, default_value = "0s", value_name = "D", value_parser = parse_duration)]
    pub(crate) processing_delay: Duration,
    /// Business rules (TOML); none without. `practice` takes those of the practice profile,
    /// `published` some that are modelled on the authority's published codes,
    /// `published-production` the same with duplicates failing.
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// Release of the interface: 1.13.1, 1.8.0 or 1.0.0-trialuse.
    #[arg(long, default_value = "1.13.1", value_name = "R", value_parser = parse_release)]
    pub(crate) release: Release,
    /// Takes what the deployed service takes, with a warning: documents that declare no profiles,
    /// identifiers that are no urn:uuid:, a language of another form or none.
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Requests per second of each laboratory; twice as many may come at once.
    #[arg(long, value_name = "N", default_value_t = Limits::default().requests_per_second)]
    pub(crate) requests_per_second: u32,
    /// Requests under way at once of each laboratory.
    #[arg(long, value_name = "N", default_value_t = Limits::default().open_requests)]
    pub(crate) open_requests: u32,
    /// Most bytes of a request body.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().body_max)]
    pub(crate) body_max: usize,
    /// Limits of single laboratories (TOML); read again when the file changes.
    #[arg(long, value_name = "FILE")]
    pub(crate) laboratory_limits: Option<PathBuf>,
    /// What is answered about another laboratory's document.
    #[arg(long, value_enum, default_value_t = Foreign::NotFound)]
    pub(crate) foreign_document: Foreign,
    /// Certificates (PEM) of further CAs whose clients are let in.
    #[arg(long, value_name = "FILE")]
    pub(crate) client_ca: Option<PathBuf>,
    /// Revocation lists (PEM) of these CAs; read again when the file changes.
    #[arg(long, value_name = "FILE")]
    pub(crate) crl: Option<PathBuf>,
    /// Honours If-None-Exist; the deployed service ignores it.
    #[arg(long)]
    pub(crate) if_none_exist: bool,
    /// Misbehaves as this plan (TOML) says.
    #[arg(long, value_name = "FILE")]
    pub(crate) faults: Option<PathBuf>,
    /// Takes fault plans by plain HTTP (/faults) on a Unix socket that is made here, for its owner
    /// only.
    #[arg(long, value_name = "FILE")]
    pub(crate) faults_socket: Option<PathBuf>,
    /// Serves /healthz, /readyz and /metrics by plain HTTP on a loopback address.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) admin: Option<SocketAddr>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    /// Answers requests, and leaves the queue to workers
    Node,
    /// Works the queue, and answers nobody
    Worker,
    /// Answers requests and works the queue
    Both,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Foreign {
    /// 404, as of a document that does not exist
    NotFound,
    /// 403: tells that it exists
    Forbidden,
    /// 200 with an empty search result, as of a document that does not exist
    Empty,
}

impl From<Foreign> for ForeignDocument {
    fn from(foreign: Foreign) -> Self {
        match foreign {
            Foreign::NotFound => Self::NotFound,
            Foreign::Forbidden => Self::Forbidden,
            Foreign::Empty => Self::Empty,
        }
    }
}

#[derive(Subcommand)]
pub(crate) enum LaboratoryCommand {
    /// Adds a laboratory; it can do nothing before it has a certificate.
    Add {
        #[command(flatten)]
        place: Place,
        /// Its name: letters, digits, `.`, `_` and `-`.
        name: String,
    },
    /// Lists laboratories and how many certificates each may use.
    List {
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Subcommand)]
pub(crate) enum CertificateCommand {
    /// Makes one more certificate for a laboratory, as pilot/NAME-FINGERPRINT.p12 and .password.
    Issue {
        #[command(flatten)]
        place: Place,
        /// The laboratory.
        laboratory: String,
    },
    /// Registers a certificate of a CA that `serve --client-ca` names.
    Register {
        #[command(flatten)]
        place: Place,
        /// The laboratory.
        laboratory: String,
        /// The certificate, PEM or DER.
        file: PathBuf,
    },
    /// Refuses a certificate from the next request on; a running service needs no restart.
    Revoke {
        #[command(flatten)]
        place: Place,
        /// Its fingerprint, or the first 8 digits or more.
        fingerprint: String,
    },
    /// Lists certificates: fingerprint, laboratory, end of validity, valid | expired | revoked.
    List {
        #[command(flatten)]
        place: Place,
        /// Those of this laboratory only.
        #[arg(long, value_name = "NAME")]
        laboratory: Option<String>,
    },
}

#[derive(Subcommand)]
pub(crate) enum RulesCommand {
    /// Imports packages (package.tgz); nothing changes where one cannot be read.
    Import {
        #[command(flatten)]
        place: Place,
        /// The packages.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Lists packages: NAME@VERSION, number of definitions, whether documents are validated by it.
    List {
        #[command(flatten)]
        place: Place,
    },
    /// Validates by a package and what it depends on; a running service needs no restart.
    Use {
        #[command(flatten)]
        place: Place,
        /// The package, as NAME@VERSION.
        package: String,
    },
    /// Removes a package.
    Remove {
        #[command(flatten)]
        place: Place,
        /// The package, as NAME@VERSION.
        package: String,
    },
}

#[derive(Subcommand)]
pub(crate) enum AuditCommand {
    /// Lists answered requests, oldest first: time, laboratory, certificate, interaction, status,
    /// document, how many documents were shown, which.
    List {
        #[command(flatten)]
        place: Place,
        /// Those of this laboratory only.
        #[arg(long, value_name = "NAME")]
        laboratory: Option<String>,
        /// Those about this document, or showing it, only.
        #[arg(long, value_name = "ID")]
        receipt: Option<String>,
        /// The newest so many.
        #[arg(long, value_name = "N")]
        last: Option<u32>,
    },
    /// Deletes lines from before a time; that it was done stays on record.
    Delete {
        #[command(flatten)]
        place: Place,
        /// 2025-01-01, or a point in time as FHIR writes it.
        #[arg(long, value_name = "TIME", value_parser = parse_time)]
        before: fhir::Instant,
    },
}

fn parse_release(text: &str) -> Result<Release, String> {
    Release::named(text).ok_or_else(|| {
        let names: Vec<_> = Release::ALL.iter().map(|release| release.facts().name).collect();
        format!("one of {}", names.join(", "))
    })
}

fn parse_time(text: &str) -> Result<fhir::Instant, String> {
    let period = fhir::Period::parse(text);
    period.map(|period| period.start).ok_or_else(|| "a date or time as 2025-01-01".to_owned())
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    authority::parse_span(text).ok_or_else(|| "a number with ms, s, m or h".to_owned())
}
