//! More files than are taken in at once: they are sent meanwhile, and told in their order.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::place::{Place, report};

/// So many files in a folder, named in their order.
fn files(place: &Place, count: u64) -> Vec<String> {
    let names = (0..count).map(|seed| {
        let name = format!("{seed:05}.json");
        place.write(&format!("in/{name}"), report(seed).json());
        name
    });
    names.collect()
}

fn told(objects: &[Value], field: &str) -> Vec<String> {
    objects.iter().map(|object| object[field].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn what_is_taken_in_is_sent_while_the_rest_is_taken_in() {
    let mut place = Place::ready();
    place.stop();
    place.start_without_processing();
    let names = files(&place, 700);
    let objects = place.json(0, &["send", "in"]);
    assert_eq!(told(&objects, "file"), names, "each once, in their order");
    assert!(objects.iter().all(|object| object["state"] == "in-progress"));
    // The first was accepted before the last was taken in.
    let (accepted, taken_in) = (told(&objects, "updated"), told(&objects, "created"));
    assert!(accepted.first().unwrap() < taken_in.last().unwrap());
}

/// Interrupted in the middle it takes in no more, and says how many are left; the same call goes on
/// with them, and sends nothing twice.
#[test]
fn what_was_interrupted_goes_on_with_the_same_call() {
    let mut place = Place::ready();
    place.stop();
    place.start_without_processing();
    let names = files(&place, 1_200);
    let mut child = place
        .command(&["--file-names", "send", "in"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let child = child.as_mut().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    let told_to_stop = Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(told_to_stop.success());
    let shown = 1 + lines.map_while(Result::ok).filter(|line| line.contains(".json")).count();
    let said = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{said}");
    let left = names.len() - shown;
    assert!((1..names.len()).contains(&left), "{shown} of {} were told", names.len());
    assert!(said.contains(&format!("Files that were not taken in: {left}.")), "{said}");
    let objects = place.json(0, &["send", "in"]);
    assert_eq!(told(&objects, "file"), names);
    assert!(
        objects.iter().all(|object| object["attempts"] == 1 && object["state"] == "in-progress")
    );
    let mut identifiers = told(&objects, "identifier");
    identifiers.sort();
    identifiers.dedup();
    assert_eq!(identifiers.len(), names.len());
}

/// Where nothing can be sent everything is taken in all the same.
#[test]
fn what_cannot_be_sent_is_taken_in_to_the_last_file() {
    let mut place = Place::ready();
    place.stop();
    let names = files(&place, 1_000);
    let objects = place.json(3, &["send", "in"]);
    assert_eq!(told(&objects, "file"), names);
    assert!(objects.iter().all(|object| object["state"] == "queued"));
}
