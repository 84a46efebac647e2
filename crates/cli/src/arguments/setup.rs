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

#[derive(Debug, Args)]
pub(crate) struct EndpointOptions {
    /// What the endpoint is for.
    #[arg(long, value_name = "E", value_parser = ["integration", "production"])]
    #[arg(default_value = "production")]
    pub(crate) environment: String,
    /// The authority's own CA certificate (PEM): it alone is trusted then.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Trust the CAs of this computer too, beside --ca.
    #[arg(long, requires = "ca")]
    pub(crate) also_system_roots: bool,
    /// The only public key that the server may have: SHA-256 as `endpoint test` shows it beside the certificate.
    #[arg(long, value_name = "SHA256")]
    pub(crate) server_key: Option<String>,
    /// Release of the interface.
    #[arg(long, value_name = "R", value_parser = ["1.13.1", "1.8.0", "1.0.0-trialuse"])]
    #[arg(default_value = "1.13.1")]
    pub(crate) release: String,
    /// Language where a document names none.
    #[arg(long, value_name = "L", default_value = "de-CH")]
    pub(crate) language: String,
    /// Identifier of the envelope: of the attempt (a lost answer can be told from an earlier delivery), or
    /// the document's own.
    #[arg(long, value_name = "I", value_parser = ["attempt", "document"])]
    #[arg(default_value = "attempt")]
    pub(crate) identifier: String,
    /// HTTP proxy, e.g. http://proxy:3128
    #[arg(long, value_name = "URL")]
    pub(crate) proxy: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum IdentityCommand {
    /// Import a certificate with its key: .p12/.pfx, or certificate and key files (PEM or DER).
    #[command(after_help = "\
Examples:
  labcourier identity import laboratory.p12 --password-file P
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
    },
    /// Show the certificate in use.
    #[command(after_help = "Example:\n  labcourier identity show --json")]
    Show,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EndpointCommand {
    /// List the endpoints.
    #[command(after_help = "Example:\n  labcourier endpoint list")]
    List,
    /// Add an endpoint.
    #[command(after_help = "\
Example:
  labcourier endpoint add integration https://HOST/v1/fhir --environment integration --ca ca.pem")]
    Add {
        /// A name for it.
        name: String,
        /// Base address, e.g. https://HOST/v1/fhir
        url: String,
        #[command(flatten)]
        terms: EndpointOptions,
    },
    /// Send to this endpoint from now on.
    #[command(after_help = "Example:\n  labcourier endpoint use integration")]
    Use {
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
