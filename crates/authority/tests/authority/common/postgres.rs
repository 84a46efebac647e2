//! A PostgreSQL of the tests' own: in a folder under the temporary one, on a Unix socket there,
//! gone when the last who uses it is gone, however that ends.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Folder of its programs.
const PROGRAMS: &str = env!("LABCOURIER_POSTGRES");
/// Who has no data to lose waits for no disk.
const CARELESS: &[&str] = &["fsync=off", "full_page_writes=off"];
const MODEST: &[&str] =
    &["listen_addresses=", "max_connections=200", "shared_buffers=32MB", "max_wal_size=256MB"];
/// Waits for its end or for that of the tests (they hold the other end of its input), whichever is
/// first.
const KEEPER: &str = "\"$@\" </dev/null >>\"$0\" 2>&1 & server=$!
    read -r order; parts=$(cat /proc/$server/task/$server/children 2>/dev/null)
    [ \"$order\" = kill ] && kill -KILL $server
    kill -QUIT $server 2>/dev/null; wait $server
    for part in $parts; do while kill -0 $part 2>/dev/null; do :; done; done";

/// A running server.
pub(crate) struct Cluster {
    folder: TempDir,
    port: u16,
    settings: Vec<String>,
    keeper: Mutex<Option<Child>>,
    /// How many databases were given out; the first is there anyway.
    databases: AtomicU32,
}

/// The one of this process, as long as somebody uses it.
static SHARED: Mutex<Weak<Cluster>> = Mutex::new(Weak::new());

impl Cluster {
    /// The server that the tests of this process share, without care for its data.
    pub(crate) fn shared() -> Arc<Self> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = shared.upgrade() {
            return running;
        }
        let fresh = Arc::new(Self::start(CARELESS));
        *shared = Arc::downgrade(&fresh);
        fresh
    }

    /// A server of its own, with these settings.
    pub(crate) fn start(settings: &[&str]) -> Self {
        let settings = settings.iter().map(|&one| one.to_owned()).collect();
        Self::prepared(settings, 5432, |_| ())
    }

    /// A server that is also reached over this port of loopback, by password and TLS; its
    /// certificate, which is for localhost, is `server.pem` in its folder.
    pub(crate) fn start_with_tls(port: u16) -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let mut settings: Vec<_> = CARELESS.iter().map(|&one| one.to_owned()).collect();
        settings.extend(["listen_addresses=localhost", "ssl=on"].map(str::to_owned));
        Self::prepared(settings, port, |folder| {
            let data = folder.join("data");
            fs::write(data.join("server.crt"), made.cert.pem()).unwrap();
            fs::write(folder.join("server.pem"), made.cert.pem()).unwrap();
            fs::write(data.join("server.key"), made.signing_key.serialize_pem()).unwrap();
            let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            fs::set_permissions(data.join("server.key"), private).unwrap();
            let hosts = ["127.0.0.1/32", "::1/128"];
            let rules =
                hosts.map(|host| format!("hostssl all all {host} scram-sha-256\n")).concat();
            fs::write(data.join("pg_hba.conf"), format!("local all all trust\n{rules}")).unwrap();
        })
    }

    fn prepared(settings: Vec<String>, port: u16, prepare: impl FnOnce(&Path)) -> Self {
        let folder = TempDir::with_prefix("pg").unwrap();
        let data = folder.path().join("data");
        assert!(Command::new("cp").arg("-a").arg(template()).arg(data).status().unwrap().success());
        prepare(folder.path());
        give_away(folder.path());
        let databases = AtomicU32::new(0);
        let cluster = Self { folder, port, settings, keeper: Mutex::new(None), databases };
        cluster.resume();
        cluster
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Starts it again after [`stop`](Self::stop).
    pub(crate) fn resume(&self) {
        let mut keeper = Command::new("sh");
        keeper.args(["-c", KEEPER]).arg(self.folder.path().join("log"));
        keeper.args(unprivileged()).arg(format!("{PROGRAMS}/postgres"));
        keeper.arg("-D").arg(self.folder.path().join("data"));
        let port = format!("port={}", self.port);
        // What comes later counts.
        let settings = MODEST.iter().copied().chain(self.settings.iter().map(String::as_str));
        for setting in settings.chain([port.as_str()]) {
            keeper.args(["-c", setting]);
        }
        keeper.arg("-c").arg(format!("unix_socket_directories={}", self.folder.path().display()));
        let child = keeper.stdin(Stdio::piped()).spawn().unwrap();
        *self.keeper.lock().unwrap() = Some(child);
        let end = Instant::now() + Duration::from_secs(60);
        while UnixStream::connect(self.socket()).is_err() && Instant::now() < end {
            std::thread::yield_now();
        }
        while let Err(error) = ask(self, "template1", "SELECT 1") {
            let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(Instant::now() < end, "PostgreSQL does not start: {error}\n{log}");
            std::thread::yield_now();
        }
    }

    /// Ends it at once, as `pg_ctl stop -m immediate`; its data are recovered at the next start.
    pub(crate) fn stop(&self) {
        self.end("");
    }

    /// Ends it by a signal that it cannot catch.
    pub(crate) fn kill(&self) {
        self.end("kill\n");
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join(format!(".s.PGSQL.{}", self.port))
    }

    fn end(&self, order: &str) {
        let Some(mut child) = self.keeper.lock().unwrap_or_else(PoisonError::into_inner).take()
        else {
            return;
        };
        if let Some(mut input) = child.stdin.take() {
            let _ = input.write_all(order.as_bytes());
        }
        let _ = child.wait();
        // A killed postmaster's children end a little later, and the next start refuses while their
        // shared memory is there: the keeper has waited for them.
        while UnixStream::connect(self.socket()).is_ok() {
            std::thread::yield_now();
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.end("");
        // Its last processes may still write for a moment, which disturbs whoever deletes.
        let gone = |_: &u32| fs::remove_dir_all(self.folder.path()).is_ok();
        let _ = (0..1000).find(gone);
    }
}

/// A database of a server.
pub(crate) struct Database {
    cluster: Arc<Cluster>,
    pub name: String,
}

impl Database {
    /// An empty one, on the server that the tests share.
    pub(crate) fn new() -> Self {
        Self::on(Cluster::shared())
    }

    pub(crate) fn on(cluster: Arc<Cluster>) -> Self {
        let number = cluster.databases.fetch_add(1, Ordering::SeqCst);
        if number == 0 {
            return Self { cluster, name: "postgres".to_owned() };
        }
        let name = format!("authority{number}");
        let sql = format!("CREATE DATABASE {name} TEMPLATE template0");
        ask(&cluster, "template1", &sql).unwrap();
        Self { cluster, name }
    }

    pub(crate) fn url(&self) -> String {
        let folder = self.cluster.path().display();
        let port = self.cluster.port;
        format!("postgres:///{}?host={folder}&port={port}&user=postgres", self.name)
    }

    /// What `psql` says.
    pub(crate) fn ask(&self, sql: &str) -> Result<String, String> {
        ask(&self.cluster, &self.name, sql)
    }
}

fn ask(cluster: &Cluster, database: &str, sql: &str) -> Result<String, String> {
    let output = Command::new(format!("{PROGRAMS}/psql"))
        .args(["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-d", database])
        .arg("-h")
        .arg(cluster.path())
        .args(["-p", &cluster.port.to_string(), "-c", sql])
        .env_remove("PGPASSWORD")
        .output()
        .unwrap();
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout).unwrap()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// PostgreSQL refuses to run as root: then it runs as this user.
fn unprivileged() -> Vec<String> {
    match somebody() {
        None => Vec::new(),
        Some((user, group)) => vec![
            "setpriv".to_owned(),
            format!("--reuid={user}"),
            format!("--regid={group}"),
            "--clear-groups".to_owned(),
        ],
    }
}

/// Where this is root: user and group of `postgres`, or of `nobody`.
fn somebody() -> Option<(u32, u32)> {
    let own = TempDir::new().unwrap();
    if fs::metadata(own.path()).unwrap().uid() != 0 {
        return None;
    }
    let known = fs::read_to_string("/etc/passwd").unwrap();
    let named = |wanted: &str| {
        let line = known.lines().find(|line| line.split(':').next() == Some(wanted))?;
        let mut numbers = line.split(':').skip(2).map(|number| number.parse::<u32>().unwrap());
        Some((numbers.next()?, numbers.next()?))
    };
    named("postgres").or_else(|| named("nobody"))
}

/// Gives a folder and all that is in it to the one that the server runs as.
fn give_away(folder: &Path) {
    if let Some((user, group)) = somebody() {
        let owner = format!("{user}:{group}");
        let given = Command::new("chown").args(["-R", &owner]).arg(folder).status();
        assert!(given.unwrap().success());
    }
}

/// An initialised data folder to copy, made once for all test processes.
fn template() -> PathBuf {
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let version = Command::new(format!("{PROGRAMS}/postgres")).arg("--version").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let version: String =
        version.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '.').collect();
    let template = kept.join(version);
    let lock = File::create(kept.join("postgres.lock")).unwrap();
    lock.lock().unwrap();
    if !template.exists() {
        let folder = TempDir::with_prefix("pg").unwrap();
        if let Some((user, group)) = somebody() {
            chown(folder.path(), Some(user), Some(group)).unwrap();
        }
        let data = folder.path().join("data");
        let mut words = unprivileged();
        words.push(format!("{PROGRAMS}/initdb"));
        let output = Command::new(&words[0])
            .args(&words[1..])
            .args([
                "-A",
                "trust",
                "-U",
                "postgres",
                "--no-sync",
                "-E",
                "UTF8",
                "--locale=C",
                "--wal-segsize=1",
                "-D",
            ])
            .arg(&data)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let half = kept.join("half");
        let _ = fs::remove_dir_all(&half);
        assert!(Command::new("cp").arg("-a").arg(&data).arg(&half).status().unwrap().success());
        fs::rename(half, &template).unwrap();
    }
    template
}
