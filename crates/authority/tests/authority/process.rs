//! The program itself: its commands, its one line of output, and what a kill leaves behind.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::common::{self, Folder, Lab, client, document, tls, urn};
use exchange::Processing;

on_every_store![
    nobody_else_reads_what_it_keeps,
    the_store_is_the_same_for_every_command,
    what_was_accepted_survives_a_kill_and_is_processed_once,
    it_ends_when_told_to,
    rules_faults_and_the_admin_port_are_switched_on_by_options,
];

struct Running {
    child: Child,
    base: String,
}

impl Running {
    fn start(data: &Path, more: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_labcourier-authority"))
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let base = line.trim_end().strip_prefix("listening on ").unwrap().to_owned();
        assert!(base.starts_with("https://127.0.0.1:") && base.ends_with("/v1/fhir"), "{line}");
        Self { child, base }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn prepare(data: &Path) {
    let status = Command::new(env!("CARGO_BIN_EXE_labcourier-authority"))
        .args(["init", "--laboratory", "alpha", "--data"])
        .arg(data)
        .stdout(Stdio::null())
        .status();
    assert!(status.unwrap().success());
}

async fn what_was_accepted_survives_a_kill_and_is_processed_once() {
    let folder = Folder::new();
    prepare(folder.path());
    let mut accepted = Vec::new();
    for round in 0..4u64 {
        let mut running = Running::start(folder.path(), &["--processing-delay", "20ms"]);
        let lab =
            Lab { client: client(tls(folder.path(), Some("alpha"))), base: running.base.clone() };
        let senders: Vec<_> = (0..4)
            .map(|_| {
                let lab = lab.clone();
                tokio::spawn(async move {
                    let mut receipts = Vec::new();
                    loop {
                        let (body, format) =
                            crate::common::wrapped(&document(&urn(), "A", "1"), &urn());
                        let sent = lab
                            .client
                            .post(format!("{}/DocumentReference", lab.base))
                            .header("content-type", format.media_type())
                            .body(body)
                            .send()
                            .await;
                        // The kill may come between the head of an answer and its body: the head is
                        // enough, it says 201 and where.
                        let Ok(response) = sent else { return receipts };
                        let location = response.headers()["location"].to_str().unwrap();
                        receipts.push(location.rsplit('/').next().unwrap().to_owned());
                    }
                })
            })
            .collect();
        // Killed while work is under way, at another moment each round.
        while lab.search("_count=0").await.total < Some((round + 1) * 30) {
            tokio::task::yield_now().await;
        }
        running.child.kill().unwrap();
        for sender in senders {
            accepted.extend(sender.await.unwrap());
        }
    }
    let running = Running::start(folder.path(), &["--rules", "practice"]);
    let lab = Lab { client: client(tls(folder.path(), Some("alpha"))), base: running.base.clone() };
    for receipt in &accepted {
        assert_eq!(lab.processed(receipt).await.processing, Some(Processing::Completed));
    }
    while lab.search("elm-status=in-progress&_count=0").await.total != Some(0) {
        tokio::task::yield_now().await;
    }
    drop(running);
    let count = |sql: &str| folder.count(sql);
    let stored = count("SELECT count(*) FROM document");
    assert_eq!(count("SELECT count(*) FROM version"), 2 * stored, "each processed once");
    assert_eq!(count("SELECT count(*) FROM queue"), 0);
    assert!(stored >= i64::try_from(accepted.len()).unwrap());
    println!("{} accepted, {stored} stored, 4 kills", accepted.len());
}

#[cfg(unix)]
async fn it_ends_when_told_to() {
    let folder = Folder::new();
    prepare(folder.path());
    let mut running = Running::start(folder.path(), &["--release", "1.8.0"]);
    let lab = Lab { client: client(tls(folder.path(), Some("alpha"))), base: running.base.clone() };
    lab.deliver(&document(&urn(), "A", "1"), &urn()).await;
    let told = Command::new("kill").arg(running.child.id().to_string()).status().unwrap();
    assert!(told.success());
    // The client's connection must stay alive to hear the farewell: wait beside it.
    let ended = tokio::task::spawn_blocking(move || running.child.wait().unwrap());
    assert!(ended.await.unwrap().success());
}

async fn rules_faults_and_the_admin_port_are_switched_on_by_options() {
    let folder = Folder::new();
    prepare(folder.path());
    let plan = folder.path().join("plan.toml");
    let socket = folder.path().join("faults.socket");
    let text = "seed = 3\n[[random]]\non = \"read\"\nchance = 0.5\nkind = { bare-status = 502 }\n";
    std::fs::write(&plan, text).unwrap();
    let mut runs = Vec::new();
    for _ in 0..2 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_labcourier-authority"))
            .args(["serve", "--rules", "published", "--admin", "127.0.0.1:0", "--faults"])
            .arg(&plan)
            .arg("--faults-socket")
            .arg(&socket)
            .arg("--data")
            .arg(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let base = lines.next().unwrap().strip_prefix("listening on ").unwrap().to_owned();
        let admin = lines.next().unwrap().strip_prefix("admin on ").unwrap().to_owned();
        let running = Running { child, base: base.clone() };
        let lab = Lab { client: client(tls(folder.path(), Some("alpha"))), base };
        let healthy = lab.client.get(format!("{admin}/healthz")).send().await.unwrap();
        assert_eq!(healthy.status().as_u16(), 200);
        let plans = common::by_socket(folder.path(), &socket);
        let told = plans.get("http://localhost/faults").send().await.unwrap();
        assert!(told.text().await.unwrap().contains("seed = 3"));
        let mut met = Vec::new();
        for _ in 0..32 {
            met.push(lab.get("/DocumentReference/x").await.status().as_u16());
        }
        drop(running);
        runs.push(met);
    }
    assert_eq!(runs[0], runs[1], "the same seed meets the same requests");
    assert!(runs[0].contains(&502) && runs[0].contains(&404));
}

/// Every file and folder below this one, with its mode.
#[cfg(unix)]
fn modes(folder: &Path) -> Vec<(std::path::PathBuf, u32)> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let mut all = vec![(folder.to_owned(), mode(folder))];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { all.extend(modes(&path)) } else { all.push((path.clone(), mode(&path))) }
    }
    all
}

#[cfg(unix)]
fn private(folder: &Path) {
    for (path, mode) in modes(folder) {
        let wanted = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode, wanted, "{} {mode:o}", path.display());
    }
}

#[cfg(unix)]
async fn nobody_else_reads_what_it_keeps() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    // A folder that was made by hand, and a shell that lets everybody read.
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let by_hand = |arguments: &[&str]| {
        let mut command = Command::new("sh");
        command.args(["-c", "umask 000; exec \"$@\"", "sh"]);
        command.arg(env!("CARGO_BIN_EXE_labcourier-authority")).args(arguments);
        command.arg("--data").arg(folder.path()).stdout(Stdio::piped());
        command
    };
    assert!(by_hand(&["init", "--laboratory", "alpha"]).status().unwrap().success());
    private(folder.path());
    // What an earlier release left open is closed by the next start.
    for (path, mode) in modes(folder.path()) {
        let open = PermissionsExt::from_mode(mode | 0o055);
        std::fs::set_permissions(path, open).unwrap();
    }
    let mut child = by_hand(&["serve", "--listen", "127.0.0.1:0"]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let base = line.trim_end().strip_prefix("listening on ").unwrap().to_owned();
    let running = Running { child, base };
    let lab = Lab { client: client(tls(folder.path(), Some("alpha"))), base: running.base.clone() };
    lab.deliver(&document(&urn(), "A", "1"), &urn()).await;
    private(folder.path());
}

async fn the_store_is_the_same_for_every_command() {
    let folder = Folder::new();
    let store = match folder.url() {
        // Known from the environment only.
        Some(url) => {
            std::fs::remove_file(folder.path().join("store.url")).unwrap();
            url
        }
        None => "sqlite".to_owned(),
    };
    let told = |arguments: &[&str], store: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_labcourier-authority"));
        command.args(arguments).arg("--data").arg(folder.path());
        command.env_remove("LABCOURIER_AUTHORITY_STORE");
        command.envs(store.map(|store| ("LABCOURIER_AUTHORITY_STORE", store)));
        let output = command.output().unwrap();
        let said = if output.status.success() { output.stdout } else { output.stderr };
        (output.status.success(), String::from_utf8(said).unwrap())
    };
    assert!(told(&["init", "--laboratory", "alpha"], Some(&store)).0);
    let listed = (true, "alpha\t1\n".to_owned());
    assert_eq!(told(&["laboratory", "list"], Some(&store)), listed);
    // One that cannot be opened is told, and not remembered, by whatever command.
    let nowhere = "postgres://nobody@127.0.0.1:1/nothing";
    for command in [&["serve"][..], &["init"], &["laboratory", "list"]] {
        let (done, said) = told(&[command, &["--store", nowhere]].concat(), None);
        assert!(!done && said.contains("127.0.0.1"), "{command:?}: {said}");
        let (done, _) = told(command, Some(nowhere));
        assert!(!done, "{command:?}");
    }
    let recorded = folder.url().is_none() || folder.path().join("store.url").exists();
    assert!(recorded, "one that could be opened is remembered");
    assert_eq!(told(&["laboratory", "list"], None), listed);
    let running = Running::start(folder.path(), &[]);
    let lab = Lab { client: client(tls(folder.path(), Some("alpha"))), base: running.base.clone() };
    assert_eq!(lab.get("/metadata").await.status().as_u16(), 200);
}

#[test]
fn a_file_that_cannot_be_used_is_named() {
    let folder = Folder::new();
    prepare(folder.path());
    let missing = folder.path().join("nowhere.pem");
    let broken = folder.path().join("broken.pem");
    std::fs::write(&broken, "no certificate").unwrap();
    for option in ["--client-ca", "--crl", "--rules", "--faults", "--laboratory-limits"] {
        for file in [&missing, &broken] {
            let output = Command::new(env!("CARGO_BIN_EXE_labcourier-authority"))
                .args(["serve", "--data"])
                .arg(folder.path())
                .arg(option)
                .arg(file)
                .output()
                .unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(!output.status.success(), "{option}");
            assert!(said.contains(file.to_str().unwrap()), "{option}: {said}");
        }
    }
}

#[test]
fn wrong_use_says_why() {
    let folder = Folder::new();
    for arguments in [
        &["serve", "--data", folder.path().to_str().unwrap()][..],
        &["serve", "--data", folder.path().to_str().unwrap(), "--release", "2"],
        &["serve", "--data", folder.path().to_str().unwrap(), "--processing-delay", "soon"],
        &["init", "--data", folder.path().to_str().unwrap(), "--laboratory", "a/b"],
        &["init", "--data", folder.path().to_str().unwrap(), "--host", "a b"],
        &["laboratory", "list", "--data", "/nowhere"],
        &["init"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_labcourier-authority"))
            .args(arguments)
            .output()
            .unwrap();
        assert!(!output.status.success(), "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
}
