//! A PostgreSQL as it is delivered (fsync on), in a folder of its own, reached by a Unix socket
//! there.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Result;

/// Longest wait for the server's first answer.
const START_MAX: Duration = Duration::from_secs(60);

/// A running server; ends when dropped.
pub(crate) struct Cluster {
    child: Child,
    socket: PathBuf,
}

impl Cluster {
    /// `None`: PostgreSQL is not installed.
    pub(crate) fn start(folder: &Path) -> Result<Option<Self>> {
        let Some(programs) = programs() else { return Ok(None) };
        let home = folder.join("postgres");
        fs::create_dir(&home)?;
        let user = unprivileged(&home)?;
        if let Some(user) = &user {
            // The server must get through to its folder.
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(folder, fs::Permissions::from_mode(0o711))?;
            finished(Command::new("chown").arg(user).arg(&home))?;
        }
        let data = home.join("data");
        let mut init = command(user.as_deref(), &programs.join("initdb"));
        finished(
            init.args(["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "-D"])
                .arg(&data),
        )?;
        let mut server = command(user.as_deref(), &programs.join("postgres"));
        let child = server
            .arg("-D")
            .arg(&data)
            .args([
                "-c",
                "listen_addresses=",
                "-c",
                "shared_buffers=512MB",
                "-c",
                "max_wal_size=4GB",
            ])
            .arg("-c")
            .arg(format!("unix_socket_directories={}", home.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(folder.join("postgres.log"))?)
            .spawn()?;
        let cluster = Self { child, socket: home };
        let began = Instant::now();
        while !cluster.answers() {
            if began.elapsed() > START_MAX {
                return Err(fs::read_to_string(folder.join("postgres.log"))?.into());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(Some(cluster))
    }

    /// For `--store`.
    pub(crate) fn url(&self) -> String {
        format!("postgres:///postgres?host={}&user=postgres", self.socket.display())
    }

    fn answers(&self) -> bool {
        let mut psql = Command::new("psql");
        psql.args(["-X", "-q", "-U", "postgres", "-c", "SELECT 1", "-h"]).arg(&self.socket);
        finished(&mut psql).is_ok()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // SIGINT: a fast and orderly end; the signal goes to the server itself, `setpriv` becomes
        // it.
        let id = self.child.id().to_string();
        let _ = Command::new("kill").args(["-INT", &id]).status();
        let _ = self.child.wait();
    }
}

/// Where Debian keeps the server's programs; the newest.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let folders = versions.flatten().map(|version| version.path().join("bin"));
    folders.filter(|folder| folder.join("postgres").exists()).max()
}

/// `user:group` to run as where this is root, which PostgreSQL refuses.
fn unprivileged(own: &Path) -> Result<Option<String>> {
    if fs::metadata(own)?.uid() != 0 {
        return Ok(None);
    }
    let known = fs::read_to_string("/etc/passwd")?;
    let line = known.lines().find(|line| line.starts_with("postgres:"));
    let line = line.ok_or("there is no user postgres")?;
    let ids: Vec<_> = line.split(':').skip(2).take(2).collect();
    Ok(Some(ids.join(":")))
}

fn command(user: Option<&str>, program: &Path) -> Command {
    let Some((user, group)) = user.and_then(|user| user.split_once(':')) else {
        return Command::new(program);
    };
    let mut command = Command::new("setpriv");
    command.args([&format!("--reuid={user}"), &format!("--regid={group}"), "--clear-groups"]);
    command.arg(program);
    command
}

fn finished(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}
