//! Commands about the journal: backups, what is kept and for how long.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(Subcommand)]
pub(crate) enum JournalCommand {
    /// Check the whole journal.
    #[command(after_help = "Example:\n  labcourier journal verify")]
    Verify,
    /// Write a backup to one file (encrypted with the same key); without a file, into the profile's
    /// folder.
    #[command(
        after_help = "Examples:\n  labcourier journal backup\n  labcourier journal backup /backup/labcourier-2026-01-31.db"
    )]
    Backup {
        /// The file; it must not exist.
        file: Option<PathBuf>,
    },
    /// Show or set a second place, in which copies of all backups are kept: another disk, or a
    /// folder of the network.
    #[command(after_help = "\
A place that is away is told by `labcourier journal notices`; nothing waits for it, and it gets what it lacks
when it is back. `labcourier journal restore` takes a backup from there, too.

Examples:
  labcourier journal backup-place
  labcourier journal backup-place /mnt/backup
  labcourier journal backup-place off")]
    BackupPlace {
        /// The folder, or off.
        #[arg(value_name = "FOLDER|off")]
        place: Option<PathBuf>,
    },
    /// List the backups that were made by themselves.
    #[command(after_help = "Example:\n  labcourier journal list-backups")]
    ListBackups,
    /// List the journals that were set aside by a recovery or a restore. Retention does not reach
    /// them.
    #[command(after_help = "Example:\n  labcourier journal list-set-aside")]
    ListSetAside,
    /// Delete journals that were set aside, for good.
    #[command(after_help = "\
Examples:
  labcourier journal remove-set-aside journal.db.set-aside-1767225600000000
  labcourier journal remove-set-aside --all")]
    RemoveSetAside {
        /// The file, as it is listed.
        #[arg(required_unless_present = "all")]
        file: Option<PathBuf>,
        /// All of them.
        #[arg(long, conflicts_with = "file")]
        all: bool,
    },
    /// Put a backup in the journal's place; the present journal is set aside.
    #[command(
        after_help = "Example:\n  labcourier journal restore /backup/labcourier-2026-01-31.db"
    )]
    Restore {
        /// The backup.
        file: PathBuf,
    },
    /// Seal the journal and its backups with a new key. No program may have the profile open.
    #[command(after_help = "\
Ended in between, the next command finishes it. Copies of backups elsewhere stay under the old key, which is
forgotten: make new ones.

Example:
  labcourier journal rotate-key")]
    RotateKey,
    /// Show what happened to the journal and is to be read; --read says that it was.
    #[command(after_help = "Example:\n  labcourier journal notices --read")]
    Notices {
        /// I have read them: do not show them again.
        #[arg(long)]
        read: bool,
    },
    /// Show or set after how many days the content of settled reports leaves the journal.
    #[command(
        after_help = "Examples:\n  labcourier journal retention\n  labcourier journal retention 90\n  labcourier journal retention off"
    )]
    Retention {
        /// Number of days, or off.
        #[arg(value_name = "DAYS|off", value_parser = parse_retention)]
        days: Option<Retention>,
    },
    /// After how many days in progress a report needs attention.
    #[command(
        after_help = "Three where nothing is set.\n\nExamples:\n  labcourier journal attention\n  labcourier journal attention 5"
    )]
    Attention {
        /// Number of days, from 1 to 365.
        #[arg(value_name = "DAYS", value_parser = clap::value_parser!(u16).range(1..=365))]
        days: Option<u16>,
    },
}

/// What retention is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retention {
    Days(u32),
    Off,
}

/// A number from 1 on, or `off`: 0 would remove what was sent a moment ago.
fn parse_retention(text: &str) -> Result<Retention, String> {
    match text.parse() {
        _ if text == "off" => Ok(Retention::Off),
        Ok(days @ 1..=36_500) => Ok(Retention::Days(days)),
        _ => Err("1 to 36500 days, or off".to_owned()),
    }
}
