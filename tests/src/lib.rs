//! What every journey needs: the real programs, an authority of its own, a laboratory with a
//! profile.

pub mod canaries;
pub mod faults;
pub mod ground;
pub mod lane;
pub mod outage;
pub mod patient;
pub mod window;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A built program of this workspace, beside the test's own executable.
pub fn program(name: &str) -> PathBuf {
    let here = std::env::current_exe().expect("a test has an executable");
    let folder = here.parent().expect("a folder");
    // target/debug/deps/test, or target/debug/program
    let folder = folder.parent().filter(|_| folder.ends_with("deps")).unwrap_or(folder);
    let program = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(
        program.exists(),
        "{} is missing: run `cargo build --workspace` first",
        program.display()
    );
    program
}

/// The published reports beside this checkout; a test of them is marked with `published::needs`.
pub fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus")
}

/// A running `labcourier-authority`, killed when dropped.
pub struct Authority {
    child: Child,
    /// The base address of the service, `https://…/v1/fhir`.
    pub base: String,
    data: PathBuf,
}

impl Authority {
    /// Makes an authority in a folder, with one laboratory.
    pub fn init(data: &Path) {
        let output = Command::new(program("labcourier-authority"))
            .args(["init", "--laboratory", "riverside", "--data"])
            .arg(data)
            .output()
            .expect("the authority starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Serves it.
    pub fn serve(data: &Path, arguments: &[&str]) -> Self {
        Self::serve_with(data, arguments, |_| {})
    }

    /// Serves it, its process set up by `prepare` before it starts.
    pub fn serve_with(data: &Path, arguments: &[&str], prepare: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new(program("labcourier-authority"));
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .args(arguments)
            .stdout(Stdio::piped());
        prepare(&mut command);
        let mut child = command.spawn().expect("the authority starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("stdout is piped");
        BufReader::new(stdout).read_line(&mut line).expect("the authority says where it listens");
        let base = line.trim().strip_prefix("listening on ").expect(&line).to_owned();
        Self { child, base, data: data.to_owned() }
    }

    /// Its CA certificate.
    pub fn ca(&self) -> PathBuf {
        self.data.join("ca.pem")
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An authority inside the test's own process, where it can be made to misbehave.
pub struct Misbehaving {
    runtime: tokio::runtime::Runtime,
    shutdown: CancellationToken,
    /// What it meets; may be changed while it runs.
    pub faults: authority::FaultPlan,
    /// The base address of the server, `https://…/v1/fhir`.
    pub base: String,
}

impl Misbehaving {
    /// Serves a folder that `init` prepared; documents are processed at once.
    pub fn serve(data: &Path, faults: impl IntoIterator<Item = authority::Fault>) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.expect("a runtime");
        let mut options = authority::ServeOptions::new(data);
        options.faults = authority::FaultPlan::new(faults);
        let (faults, shutdown) = (options.faults.clone(), CancellationToken::new());
        let serving = runtime.block_on(authority::serve(options, shutdown.clone()));
        let base = serving.expect("the authority serves").base_url;
        Self { runtime, shutdown, faults, base }
    }

    /// Ends it.
    pub fn stop(self) {
        self.shutdown.cancel();
        self.runtime.shutdown_background();
    }
}

/// What an authority has stored: identifier of the DocumentReference, encoding and body as
/// received.
pub fn stored(data: &Path) -> Vec<(String, String, Vec<u8>)> {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let file = data.join("authority.sqlite");
    let database = rusqlite::Connection::open_with_flags(file, flags).expect("a database");
    let mut statement = database
        .prepare(
            "SELECT d.identifier, c.format, c.body FROM document d JOIN content c ON \
                  c.document = d.id",
        )
        .expect("the schema");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    rows.expect("rows").map(|row| row.expect("a row")).collect()
}

/// A document that an authority has accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// Identifier of the DocumentReference: of the attempt.
    pub identifier: String,
    /// Identifier of the document in it.
    pub document: String,
    /// Id of the DocumentReference.
    pub receipt: String,
    /// What became of it so far: `in-progress`, `completed`, `failed`.
    pub status: String,
}

/// Everything that an authority has accepted, in order of arrival.
pub fn accepted(data: &Path) -> Vec<Accepted> {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let file = data.join("authority.sqlite");
    let database = rusqlite::Connection::open_with_flags(file, flags).expect("a database");
    let mut statement = database
        .prepare(
            "SELECT d.identifier, d.document_identifier, d.receipt, v.status FROM document d
             JOIN version v ON v.document = d.id
             WHERE v.until = (SELECT max(until) FROM version WHERE document = d.id) ORDER BY d.id",
        )
        .expect("the schema");
    let rows = statement.query_map([], |row| {
        Ok(Accepted {
            identifier: row.get(0)?,
            document: row.get(1)?,
            receipt: row.get(2)?,
            status: row.get(3)?,
        })
    });
    rows.expect("rows").map(|row| row.expect("a row")).collect()
}

/// A laboratory: a profile with a passphrase vault and the pilot certificate of an authority.
pub struct Laboratory {
    folder: TempDir,
    profile: &'static str,
}

impl Laboratory {
    /// Sets it up with the very commands that an administrator uses.
    pub fn at(base: &str, authority_data: &Path) -> Self {
        Self::speaking(base, authority_data, "1.13.1")
    }

    /// The same where the authority speaks this release of the interface.
    pub fn speaking(base: &str, authority_data: &Path, release: &str) -> Self {
        let laboratory = Self::trusting(base, &authority_data.join("ca.pem"), release);
        laboratory.import(authority_data, &[]);
        laboratory
    }

    /// One that has no certificate yet.
    pub fn trusting(base: &str, ca: &Path, release: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        testkit::write_private(&folder.path().join("passphrase"), "correct horse battery staple");
        let laboratory = Self { folder, profile: "profile" };
        let ca = ca.to_str().expect("UTF-8");
        let init = ["init", "--endpoint", base, "--ca", ca, "--vault", "passphrase"];
        laboratory.must(&[&init[..], &["--release", release]].concat());
        laboratory
    }

    /// One more endpoint, with the certificate that its own authority gave this laboratory.
    pub fn add_endpoint(&self, name: &str, base: &str, authority_data: &Path, release: &str) {
        let ca = authority_data.join("ca.pem");
        let add = ["endpoint", "add", name, base, "--ca", ca.to_str().expect("UTF-8")];
        self.must(&[&add[..], &["--release", release]].concat());
        self.import(authority_data, &["--endpoint", name]);
    }

    fn import(&self, authority_data: &Path, rest: &[&str]) {
        let p12 = authority_data.join("pilot/riverside.p12");
        let password = authority_data.join("pilot/riverside.password");
        let (p12, password) = (p12.to_str().expect("UTF-8"), password.to_str().expect("UTF-8"));
        let import = ["identity", "import", p12, "--password-file", password];
        self.must(&[&import[..], rest].concat());
    }

    /// The room for practice of a desk that is kept in this folder.
    pub fn practice(folder: TempDir) -> Self {
        testkit::write_private(&folder.path().join("passphrase"), "not needed");
        Self { folder, profile: "practice" }
    }

    /// Forgets on which computer its journal is at home. A copy of it is then at home where it is
    /// first used, and is not taken for the copy that it is.
    pub fn forget_computer(&self) {
        let read = |path: &Path| std::fs::read_to_string(path).expect("read").trim().to_owned();
        let (profile, passphrase) = (self.profile(), read(&self.folder.path().join("passphrase")));
        let settings: Value =
            serde_json::from_str(&read(&profile.join("profile.json"))).expect("JSON");
        let opens = Some(identity::Password::from(passphrase));
        let id = settings["id"].as_str().expect("a profile has an id");
        let kind = identity::SecretsKind::Passphrase;
        let secrets = identity::Secrets::open(kind, &profile, id, opens.as_ref()).expect("opened");
        let key = secrets.journal_key().expect("a journal has a key");
        let key: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        let journal = rusqlite::Connection::open(profile.join("journal.db")).expect("opened");
        let forget = "DELETE FROM setting WHERE name = 'computer'";
        journal.execute_batch(&format!("PRAGMA key = \"x'{key}'\"; {forget}")).expect("written");
    }

    /// Another one in the same state: a copy of everything that it has on disk.
    pub fn copy(&self) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        copy(self.folder.path(), folder.path());
        Self { folder, profile: self.profile }
    }

    /// Leaves the folder on disk, for whoever looks for the cause of a failure.
    pub fn keep(self) -> PathBuf {
        self.folder.keep()
    }

    /// A command of this laboratory.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program("labcourier"));
        command
            .arg("--profile")
            .arg(self.profile())
            .arg("--passphrase-file")
            .arg(self.folder.path().join("passphrase"))
            .args(["--json", "--file-names"])
            .args(arguments)
            .stdin(Stdio::null());
        command
    }

    /// Runs a command.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("labcourier starts")
    }

    /// Runs a command that must succeed, and gives its objects.
    pub fn must(&self, arguments: &[&str]) -> Vec<Value> {
        let output = self.run(arguments);
        assert!(
            output.status.success(),
            "{arguments:?}: {}\n{}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        objects(&output)
    }

    /// The folder of the profile.
    pub fn profile(&self) -> PathBuf {
        self.folder.path().join(self.profile)
    }

    /// A place for files of this laboratory.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).expect("read") {
        let path = entry.expect("read").path();
        let copied = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            std::fs::create_dir(&copied).expect("made");
            copy(&path, &copied);
        } else {
            std::fs::copy(&path, &copied).expect("copied");
        }
    }
}

/// The objects that a command printed, one a line.
pub fn objects(output: &Output) -> Vec<Value> {
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// Fields of objects, as texts.
pub fn column(objects: &[Value], field: &str) -> Vec<String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    objects.iter().map(|object| text(&object[field])).collect()
}
