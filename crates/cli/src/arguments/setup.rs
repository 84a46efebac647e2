//! What can be asked about profile, certificate and endpoints.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// A practice profile with an authority of its own on this computer.
    #[arg(long, conflicts_with_all = ["endpoint", "ca", "proxy", "vault", "name"])]
    pub(crate) practice: bool,
    /// Base address of the authority, e.g. https://HOST/v1/fhir
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint: Option<String>,
    /// Name of the endpoint.
    #[arg(long, value_name = "N", default_value = "authority")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) terms: EndpointOptions,
    /// Where key and certificate rest.
    #[arg(long, value_enum, default_value = "keychain")]
    pub(crate) vault: VaultKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum VaultKind {
    /// The operating system's keychain.
    Keychain,
    /// A file sealed by the passphrase of --passphrase-file (servers).
    Passphrase,
}

/// A language and a region: de-CH, es-419.
fn parse_language(text: &str) -> Result<String, String> {
    match bridge::headless::is_language_region(text) {
        true => Ok(text.to_owned()),
        false => Err("a language with its region, e.g. de-CH or es-419".to_owned()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct EndpointOptions {
    /// What the endpoint is for.
    #[arg(long, value_name = "E", value_parser = ["integration", "production"])]
    #[arg(default_value = "integration")]
    pub(crate) environment: String,
    /// The authority's own CA certificate (PEM): it alone is trusted then.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Trust the CAs of this computer too, beside --ca.
    #[arg(long, requires = "ca")]
    pub(crate) also_system_roots: bool,
    /// The only public key that the server may have: SHA-256 as `endpoint test` shows it beside the
    /// certificate.
    #[arg(long, value_name = "SHA256")]
    pub(crate) server_key: Option<String>,
    /// Release of the interface.
    #[arg(long, value_name = "R", value_parser = ["1.13.1", "1.8.0", "1.0.0-trialuse"])]
    #[arg(default_value = "1.13.1")]
    pub(crate) release: String,
    /// Language where a document names none.
    #[arg(long, value_name = "L", default_value = "de-CH", value_parser = parse_language)]
    pub(crate) language: String,
    /// Identifier of the envelope: of the attempt (a lost answer can be told from an earlier
    /// delivery), or the document's own.
    #[arg(long, value_name = "I", value_parser = ["attempt", "document"])]
    #[arg(default_value = "attempt")]
    pub(crate) identifier: String,
    /// HTTP proxy, e.g. http://proxy:3128 or http://USER@proxy:3128
    #[arg(long, value_name = "URL")]
    pub(crate) proxy: Option<String>,
    /// File whose first line is the password that the proxy wants; fd:N reads a descriptor. It is
    /// kept in the keychain or vault.
    #[arg(long, value_name = "F", requires = "proxy")]
    pub(crate) proxy_password_file: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum IdentityCommand {
    /// Import a certificate with its key: .p12/.pfx, or certificate and key files (PEM or DER).
    #[command(after_help = "\
Without --endpoint it is used for the endpoint in use and for those that have no certificate yet. The
certificate that was used before stays stored until it is removed.

Examples:
  labcourier identity import laboratory.p12 --password-file P
  labcourier identity import test.p12 --password-file P --endpoint integration
  labcourier identity import laboratory.cer --key laboratory.key")]
    Import {
        /// .p12/.pfx, or the certificate.
        file: PathBuf,
        /// The key, if it is a file of its own.
        #[arg(long, value_name = "FILE")]
        key: Option<PathBuf>,
        /// File whose first line is the password; fd:N reads a descriptor.
        #[arg(long, value_name = "F")]
        password_file: Option<PathBuf>,
        /// Endpoint that uses it from now on; may be repeated.
        #[arg(long = "endpoint", value_name = "NAME")]
        endpoints: Vec<String>,
    },
    /// List the certificates, what each is used for, and how many reports are open under it.
    #[command(after_help = "Example:\n  labcourier identity list")]
    List,
    /// Show a certificate.
    #[command(
        after_help = "Examples:\n  labcourier identity show\n  labcourier identity show production --json"
    )]
    Show {
        /// Its endpoint, or its fingerprint or the beginning of it; without it the one in use.
        name: Option<String>,
    },
    /// Use a certificate that is stored already for an endpoint.
    #[command(after_help = "Example:\n  labcourier identity use 4F:2A:91 --endpoint production")]
    Use {
        /// Its fingerprint or the beginning of it, or an endpoint that uses it.
        name: String,
        /// The endpoint.
        #[arg(long, value_name = "NAME")]
        endpoint: String,
    },
    /// Remove a certificate with its key.
    #[command(after_help = "\
Nobody can bring the key back. One that an endpoint uses, or that reports were sent with whose end is not
known yet, is removed only with --although-needed.

Example:
  labcourier identity remove 4F:2A:91")]
    Remove {
        /// Its fingerprint or the beginning of it, or an endpoint that uses it.
        name: String,
        /// I know that it is needed still.
        #[arg(long)]
        although_needed: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum VaultCommand {
    /// Seal the vault with another passphrase from now on.
    #[command(after_help = "\
Programs that have the profile open end and start again with the new passphrase.

Example:
  labcourier --passphrase-file OLD vault change-passphrase --new-passphrase-file NEW")]
    ChangePassphrase {
        /// File whose first line is the new passphrase; fd:N reads a descriptor.
        #[arg(long, value_name = "F")]
        new_passphrase_file: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum EndpointCommand {
    /// List the endpoints.
    #[command(after_help = "Example:\n  labcourier endpoint list")]
    List,
    /// Add an endpoint.
    #[command(after_help = "\
Example:
  labcourier endpoint add integration https://HOST/v1/fhir --ca ca.pem
  labcourier endpoint add production https://HOST/v1/fhir --ca ca.pem --environment production")]
    Add {
        /// A name for it.
        name: String,
        /// Base address, e.g. https://HOST/v1/fhir
        url: String,
        #[command(flatten)]
        terms: Box<EndpointOptions>,
    },
    /// Send to this endpoint from now on.
    ///
    /// Says what will be sent and what not. From a test system to production nothing is changed
    /// until that was confirmed.
    #[command(after_help = "\
Examples:
  labcourier endpoint use integration
  labcourier endpoint use production --confirm")]
    Use {
        /// Its name.
        name: String,
        /// Move from a test system to production.
        #[arg(long)]
        confirm: bool,
    },
    /// Give an endpoint another address.
    #[command(after_help = "\
An endpoint stands for one authority. Once reports were taken in for it, the address is changed only where you
say that it leads to the same authority: what is open is asked for and read there from then on.

Example:
  labcourier endpoint set-address production https://NEWHOST/v1/fhir --same-authority")]
    SetAddress {
        /// Its name.
        name: String,
        /// New base address.
        url: String,
        /// It is the same authority under another address.
        #[arg(long)]
        same_authority: bool,
    },
    /// Say whom an endpoint trusts, and by which proxy it is reached.
    #[command(after_help = "\
What is not named stays as it is. The address stays, and everything that was sent there.

Examples:
  labcourier endpoint set-way production --ca ca.pem
  labcourier endpoint set-way production --proxy http://proxy:3128
  labcourier endpoint set-way production --no-ca --no-proxy")]
    #[command(group(clap::ArgGroup::new("way").required(true).multiple(true)))]
    SetWay {
        /// Its name.
        name: String,
        /// The authority's own CA certificate (PEM): it alone is trusted then.
        #[arg(long, value_name = "FILE", group = "way")]
        ca: Option<PathBuf>,
        /// Trust the CAs of this computer instead of one of the authority's own.
        #[arg(long, conflicts_with = "ca", group = "way")]
        no_ca: bool,
        /// HTTP proxy, e.g. http://proxy:3128 or http://USER@proxy:3128
        #[arg(long, value_name = "URL", group = "way")]
        proxy: Option<String>,
        /// Reach it without a proxy.
        #[arg(long, conflicts_with = "proxy", group = "way")]
        no_proxy: bool,
        /// File whose first line is the password that the proxy wants; fd:N reads a descriptor.
        #[arg(long, value_name = "F", requires = "proxy")]
        proxy_password_file: Option<PathBuf>,
    },
    /// Give an endpoint another name; its reports and certificates go with it.
    #[command(after_help = "\
Close the window and stop other programs of this profile first.

Example:
  labcourier endpoint rename authority production")]
    Rename {
        /// Its name.
        name: String,
        /// The new one.
        new_name: String,
    },
    /// Remove an endpoint that no report waits for.
    #[command(after_help = "Example:\n  labcourier endpoint remove pilot")]
    Remove {
        /// Its name.
        name: String,
    },
    /// Test the way to an endpoint, layer by layer. Sends nothing of any report.
    #[command(after_help = "Example:\n  labcourier endpoint test")]
    Test {
        /// Its name; without it the one in use.
        name: Option<String>,
    },
}
