//! `labcourier-authority`: sets up and runs the receiving service.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use authority::{AuthorityError, Rules, ServeOptions, init, serve};
use clap::{Parser, Subcommand};
use exchange::Release;
use tokio_util::sync::CancellationToken;

/// The receiving service for laboratory reports: practice partner, test counterpart, reference.
#[derive(Parser)]
#[command(name = "labcourier-authority", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Prepares a data folder: certificate authority, server certificate, pilot certificates.
    Init {
        /// The data folder; made if it is not there.
        #[arg(long)]
        data: PathBuf,
        /// A laboratory that gets pilot/NAME.p12 and pilot/NAME.password; may be repeated.
        #[arg(long = "laboratory", value_name = "NAME")]
        laboratories: Vec<String>,
    },
    /// Runs the service; prints one line with its address when it is ready.
    Serve {
        /// The data folder.
        #[arg(long)]
        data: PathBuf,
        /// Address and port; port 0 takes a free one.
        #[arg(long, default_value = "127.0.0.1:0")]
        listen: SocketAddr,
        /// Time between acceptance and processing: 500ms, 2s, 1m, 4h.
        #[arg(long, default_value = "0s", value_name = "D", value_parser = parse_duration)]
        processing_delay: Duration,
        /// Business rules (TOML); none without. `practice` takes those of the practice profile.
        #[arg(long, value_name = "FILE")]
        rules: Option<PathBuf>,
        /// Release of the interface: 1.13.1, 1.8.0 or 1.0.0-trialuse.
        #[arg(long, default_value = "1.13.1", value_name = "R", value_parser = parse_release)]
        release: Release,
    },
}

fn main() -> ExitCode {
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
        Command::Init { data, laboratories } => {
            let made = init(&data, &laboratories)?;
            let mut out = std::io::stdout();
            say(&mut out, &format!("certificate authority {}", made.ca.display()));
            for pilot in made.pilots {
                say(&mut out, &format!("{} {}", pilot.laboratory, pilot.p12.display()));
            }
            Ok(())
        }
        Command::Serve { data, listen, processing_delay, rules, release } => {
            let rules = match rules {
                None => Rules::default(),
                Some(path) if path.as_os_str() == "practice" => {
                    Rules::parse(authority::PRACTICE_RULES)?
                }
                Some(path) => Rules::read(&path)?,
            };
            let options = ServeOptions {
                listen,
                processing_delay,
                rules,
                release,
                ..ServeOptions::new(data)
            };
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .enable_all()
                .build()
                .map_err(|source| AuthorityError::Listen { address: listen, source })?;
            runtime.block_on(serve_until_told(options))
        }
    }
}

async fn serve_until_told(options: ServeOptions) -> Result<(), AuthorityError> {
    let shutdown = CancellationToken::new();
    let serving = serve(options, shutdown.clone()).await?;
    say(&mut std::io::stdout(), &format!("listening on {}", serving.base_url));
    told_to_stop().await;
    shutdown.cancel();
    serving.finished().await;
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

fn parse_release(text: &str) -> Result<Release, String> {
    Release::named(text).ok_or_else(|| {
        let names: Vec<_> = Release::ALL.iter().map(|release| release.facts().name).collect();
        format!("one of {}", names.join(", "))
    })
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| "a number with ms, s, m or h".to_owned())?;
    let seconds = |factor: u64| number.checked_mul(factor).map(Duration::from_secs);
    match unit {
        "ms" => Some(Duration::from_millis(number)),
        "s" | "" => seconds(1),
        "m" => seconds(60),
        "h" => seconds(3600),
        _ => None,
    }
    .ok_or_else(|| "a number with ms, s, m or h".to_owned())
}
