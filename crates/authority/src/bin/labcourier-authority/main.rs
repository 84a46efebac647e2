//! `labcourier-authority`: sets up, runs and administers the receiving service.

mod arguments;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use arguments::{
    Arguments, AuditCommand, CertificateCommand, Command, LaboratoryCommand, Place, Role,
    RulesCommand, Serve,
};
use authority::{
    AuditFilter, AuthorityError, FaultScript, Limits, Rules, ServeOptions, TrustFiles, init, serve,
};
use clap::Parser as _;
use exchange::Strictness;
use tokio_util::sync::CancellationToken;

fn main() -> ExitCode {
    process::begin();
    process::keep_files_private();
    process::allow_many_files();
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_default_env()
                .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn")),
        )
        .init();
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let mut text = error.to_string();
            let mut source = std::error::Error::source(&error);
            while let Some(cause) = source {
                text.push_str(&format!(": {cause}"));
                source = cause.source();
            }
            say(&mut std::io::stderr(), &text);
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<(), AuthorityError> {
    match command {
        Command::Init { place: Place { data, store }, laboratories, hosts } => {
            if let Some(store) = store {
                authority::record_store(&data, &store)?;
            }
            let made = init(&data, &laboratories)?;
            if !hosts.is_empty() {
                authority::add_hosts(&data, &hosts)?;
            }
            let mut out = std::io::stdout();
            say(&mut out, &format!("certificate authority {}", made.ca.display()));
            for pilot in made.pilots {
                say(&mut out, &format!("{} {}", pilot.laboratory, pilot.p12.display()));
            }
            Ok(())
        }
        Command::Serve(asked) => {
            let address = asked.listen;
            asked.place.chosen()?;
            let role = asked.role;
            let options = options_of(*asked)?;
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .enable_all()
                .build()
                .map_err(|source| AuthorityError::Listen { address, source })?;
            match role {
                Role::Worker => runtime.block_on(work_until_told(options)),
                Role::Node | Role::Both => runtime.block_on(serve_until_told(options)),
            }
        }
        Command::Laboratory(command) => laboratory(command),
        Command::Certificate(command) => certificate(command),
        Command::Rules(command) => rules(command),
        Command::Audit(AuditCommand::Delete { place, before }) => {
            let count = authority::forget_audit(place.chosen()?, before)?;
            say(&mut std::io::stdout(), &format!("{count} deleted"));
            Ok(())
        }
        Command::Audit(AuditCommand::List { place, laboratory, receipt, last }) => {
            audit(place.chosen()?, &AuditFilter { laboratory, receipt, last })
        }
    }
}

impl Place {
    /// The data folder, whose store is the one that was asked for, where one was.
    fn chosen(&self) -> Result<&Path, AuthorityError> {
        if let Some(store) = &self.store {
            authority::use_store(&self.data, store)?;
        }
        Ok(&self.data)
    }
}

fn options_of(asked: Serve) -> Result<ServeOptions, AuthorityError> {
    let named = asked.rules.as_deref().and_then(Path::to_str);
    let rules = match (named, &asked.rules) {
        (Some("practice"), _) => Rules::parse(authority::PRACTICE_RULES)?,
        (Some("published"), _) => Rules::published(false)?,
        (Some("published-production"), _) => Rules::published(true)?,
        (_, Some(path)) => Rules::read(path)?,
        (_, None) => Rules::default(),
    };
    let options = ServeOptions {
        listen: asked.listen,
        processing_delay: asked.processing_delay,
        rules,
        release: asked.release,
        strictness: if asked.lenient { Strictness::Deployed } else { Strictness::Specified },
        limits: Limits {
            requests_per_second: asked.requests_per_second,
            open_requests: asked.open_requests,
            body_max: asked.body_max,
        },
        own_limits: asked.laboratory_limits,
        foreign_document: asked.foreign_document.into(),
        trust: TrustFiles { client_cas: asked.client_ca, revocations: asked.crl },
        conditional_create: asked.if_none_exist,
        admin: asked.admin,
        leave_queue: asked.role == Role::Node,
        faults_socket: asked.faults_socket,
        ..ServeOptions::new(asked.place.data)
    };
    if let Some(path) = asked.faults {
        options.faults.replace(FaultScript::read(&path)?);
    }
    Ok(options)
}

async fn work_until_told(options: ServeOptions) -> Result<(), AuthorityError> {
    let shutdown = CancellationToken::new();
    let ServeOptions { data, rules, admin, .. } = options;
    let working = authority::work(&data, rules, admin, shutdown.clone()).await?;
    let mut out = std::io::stdout();
    say(&mut out, "working the queue");
    if let Some(address) = working.admin {
        say(&mut out, &format!("admin on http://{address}"));
    }
    told_to_stop().await;
    shutdown.cancel();
    working.finished().await;
    Ok(())
}

async fn serve_until_told(options: ServeOptions) -> Result<(), AuthorityError> {
    let shutdown = CancellationToken::new();
    let serving = serve(options, shutdown.clone()).await?;
    let mut out = std::io::stdout();
    say(&mut out, &format!("listening on {}", serving.base_url));
    if let Some(address) = serving.admin {
        say(&mut out, &format!("admin on http://{address}"));
    }
    told_to_stop().await;
    shutdown.cancel();
    serving.finished().await;
    Ok(())
}

fn rules(command: RulesCommand) -> Result<(), AuthorityError> {
    let mut out = std::io::stdout();
    let mut show = |package: &authority::RulesPackage| {
        let mark = if package.in_use { "\tin use" } else { "" };
        say(&mut out, &format!("{}\t{}{mark}", package.label, package.definitions));
    };
    match command {
        RulesCommand::Import { place, files } => {
            for file in files {
                show(&authority::import_rules(place.chosen()?, &file)?);
            }
        }
        RulesCommand::List { place } => {
            authority::rules_packages(place.chosen()?)?.iter().for_each(show);
        }
        RulesCommand::Use { place, package } => {
            show(&authority::use_rules(place.chosen()?, &package)?);
        }
        RulesCommand::Remove { place, package } => {
            let data = place.chosen()?;
            let is_used = |of: &authority::RulesPackage| of.in_use && of.label == package;
            let was_used = authority::rules_packages(data)?.iter().any(is_used);
            authority::remove_rules(data, &package)?;
            if was_used {
                let told = "no rules are in use any more: documents are accepted without them";
                say(&mut std::io::stdout(), told);
            }
        }
    }
    Ok(())
}

fn laboratory(command: LaboratoryCommand) -> Result<(), AuthorityError> {
    let mut out = std::io::stdout();
    match command {
        LaboratoryCommand::Add { place, name } => {
            let new = authority::add_laboratory(place.chosen()?, &name)?;
            say(&mut out, &format!("{name} {}", if new { "added" } else { "was there" }));
        }
        LaboratoryCommand::List { place } => {
            for laboratory in authority::laboratories(place.chosen()?)? {
                say(&mut out, &format!("{}\t{}", laboratory.name, laboratory.certificates));
            }
        }
    }
    Ok(())
}

fn certificate(command: CertificateCommand) -> Result<(), AuthorityError> {
    let mut out = std::io::stdout();
    match command {
        CertificateCommand::Issue { place, laboratory } => {
            let issued = authority::issue_certificate(place.chosen()?, &laboratory)?;
            say(&mut out, &format!("{} {}", issued.fingerprint, issued.p12.display()));
        }
        CertificateCommand::Register { place, laboratory, file } => {
            let data = place.chosen()?;
            let (fingerprint, new) = authority::register_certificate(data, &laboratory, &file)?;
            say(&mut out, &format!("{fingerprint} {}", if new { "added" } else { "was there" }));
        }
        CertificateCommand::Revoke { place, fingerprint } => {
            let revoked = authority::revoke_certificate(place.chosen()?, &fingerprint)?;
            say(&mut out, &format!("{} {} revoked", revoked.fingerprint, revoked.laboratory));
        }
        CertificateCommand::List { place, laboratory } => {
            for one in authority::certificates(place.chosen()?, laboratory.as_deref())? {
                let state = match one.revoked {
                    Some(_) => "revoked",
                    None if authority::is_expired(&one) => "expired",
                    None => "valid",
                };
                let end = one.not_after.map_or_else(|| "-".to_owned(), fhir::Instant::to_fhir);
                say(&mut out, &format!("{}\t{}\t{end}\t{state}", one.fingerprint, one.laboratory));
            }
        }
    }
    Ok(())
}

fn audit(data: &Path, filter: &AuditFilter) -> Result<(), AuthorityError> {
    let mut out = std::io::stdout();
    for line in authority::audit(data, filter)? {
        let entries = line.entries.map_or_else(|| "-".to_owned(), |entries| entries.to_string());
        let fields = [
            line.at.to_fhir(),
            line.laboratory.unwrap_or_else(|| "-".to_owned()),
            line.certificate,
            line.interaction,
            line.status.to_string(),
            line.receipt.unwrap_or_else(|| "-".to_owned()),
            entries,
            if line.shown.is_empty() { "-".to_owned() } else { line.shown.join(" ") },
        ];
        say(&mut out, &fields.join("\t"));
    }
    Ok(())
}

async fn told_to_stop() {
    #[cfg(unix)]
    if let Ok(mut terminate) =
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
    {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        }
        return;
    }
    let _ = tokio::signal::ctrl_c().await;
}

/// One line; whoever closed the other end does not read it.
fn say(out: &mut impl Write, line: &str) {
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
