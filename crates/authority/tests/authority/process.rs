//! The program itself: its commands, its one line of output, and what a kill leaves behind.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::common::{Folder, Lab, client, document, tls, urn};
use exchange::Processing;

on_every_store![
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
                            crate::common::sealed(&document(&urn(), "A", "1"), &urn());
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
    let text = "seed = 3\n[[random]]\non = \"read\"\nchance = 0.5\nkind = { bare-status = 502 }\n";
    std::fs::write(&plan, text).unwrap();
    let mut runs = Vec::new();
    for _ in 0..2 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_labcourier-authority"))
            .args(["serve", "--rules", "published", "--admin", "127.0.0.1:0", "--faults"])
            .arg(&plan)
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
        let told = lab.client.get(format!("{admin}/faults")).send().await.unwrap();
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
