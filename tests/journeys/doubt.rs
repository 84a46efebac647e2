//! A report whose answer is lost was perhaps delivered: it is looked for by its identifier and
//! never sent blindly again. Real client, real authority, real deaths.

use std::time::{Duration, Instant};

use authority::{Fault, FaultKind, Interaction};
use journeys::{Authority, Laboratory, Misbehaving, column, objects, stored};
use testkit::DocumentBuilder;

fn write(laboratory: &Laboratory) -> String {
    let file = laboratory.folder().join("report.json");
    std::fs::write(&file, DocumentBuilder::new(5).json()).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn an_answer_cut_after_delivery_is_looked_for_and_not_sent_again() {
    let data = tempfile::tempdir().unwrap();
    Authority::init(data.path());
    let cut = Fault::once(Interaction::Create, 1, FaultKind::CutAfterCommit);
    let authority = Misbehaving::serve(data.path(), [cut]);
    let laboratory = Laboratory::at(&authority.base, data.path());
    let sent = laboratory.must(&["send", &write(&laboratory), "--wait", "--timeout", "120s"]);
    assert_eq!(column(&sent, "state"), ["completed"]);
    assert_eq!(sent[0]["attempts"], 1, "one request carried the report");
    assert_eq!(stored(data.path()).len(), 1, "the authority has it once");
    authority.stop();
    println!("answer cut after delivery: found by identifier, 1 request, 1 stored");
}

#[test]
fn a_process_killed_after_delivery_asks_before_it_sends() {
    let data = tempfile::tempdir().unwrap();
    Authority::init(data.path());
    let late = FaultKind::DelayAnswer(Duration::from_secs(600));
    let authority = Misbehaving::serve(data.path(), [Fault::once(Interaction::Create, 1, late)]);
    let laboratory = Laboratory::at(&authority.base, data.path());
    let file = write(&laboratory);
    let mut sending = laboratory.command(&["send", &file, "--wait"]).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while stored(data.path()).is_empty() {
        assert!(Instant::now() < deadline, "the report arrives");
        std::thread::yield_now();
    }
    sending.kill().unwrap();
    sending.wait().unwrap();

    let before = laboratory.must(&["list"]);
    assert_eq!(column(&before, "state"), ["sending"], "on disk before the first byte left");
    loop {
        let output = laboratory.run(&["follow", "--once"]);
        // 3 as long as the lease of the dead program lives: it may still deliver.
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 3)), "{}", String::from_utf8_lossy(&output.stderr));
        let now = objects(&laboratory.run(&["list"]));
        if column(&now, "state") == ["completed"] {
            assert_eq!(code, Some(0));
            assert_eq!(now[0]["attempts"], 1, "one request carried the report");
            break;
        }
        assert!(Instant::now() < deadline, "{now:?}");
    }
    assert_eq!(stored(data.path()).len(), 1, "the authority has it once");
    authority.stop();
    println!("killed after delivery: found by identifier, 1 request, 1 stored");
}
