//! Watching a folder: what is told of the authority, of what was open before, and of a watcher that
//! died.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Stdio};

use crate::place::{Place, report};

/// A program that watches `folder` of the place, with both of its outputs.
struct Watcher {
    child: Child,
    out: Box<dyn Iterator<Item = String>>,
    err: Box<dyn Iterator<Item = String>>,
}

fn lines(pipe: impl Read + 'static) -> Box<dyn Iterator<Item = String>> {
    Box::new(BufReader::new(pipe).lines().map_while(Result::ok))
}

impl Watcher {
    fn start(place: &Place) -> Self {
        Self::start_with(place, &[])
    }

    fn start_with(place: &Place, options: &[&str]) -> Self {
        std::fs::create_dir_all(place.path("folder")).unwrap();
        Self::of_any(place, options)
    }

    /// Whether or not the folder is there.
    fn of_any(place: &Place, options: &[&str]) -> Self {
        let mut command = place.command(&[&["watch", "folder"], options].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (out, err) = (lines(child.stdout.take().unwrap()), lines(child.stderr.take().unwrap()));
        Self { child, out, err }
    }

    /// Tells it to stop; gives what it still says.
    fn stop(mut self) -> (Vec<String>, Vec<String>) {
        let told = std::process::Command::new("kill").arg(self.child.id().to_string()).status();
        assert!(told.unwrap().success());
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "stops when told");
        (self.out.collect(), self.err.collect())
    }
}

/// Reads until a line has this text; gives what came before.
#[track_caller]
fn until(lines: &mut impl Iterator<Item = String>, text: &str) -> Vec<String> {
    let mut passed = Vec::new();
    for line in lines {
        if line.contains(text) {
            return passed;
        }
        passed.push(line);
    }
    panic!("never said {text:?}: {passed:?}");
}

#[test]
fn an_outage_is_told_when_it_begins_and_when_it_is_over() {
    let mut place = Place::ready();
    place.stop();
    let file = place.write("a.json", report(240).json());
    place.run(&["send", &file]).ends(3);
    let mut watcher = Watcher::start(&place);
    until(&mut watcher.err, "Watching");
    until(&mut watcher.err, "The authority cannot be reached");
    until(&mut watcher.err, "Next:");
    place.start();
    let passed = until(&mut watcher.err, "The authority can be reached again");
    assert_eq!(passed, Vec::<String>::new(), "told once");
    // It was open when the watching began, and its end is told.
    until(&mut watcher.out, "Completed");
    let (out, err) = watcher.stop();
    assert_eq!((out, err), (vec![], vec![]));
}

/// A share may come later than the computer, and nobody looks at a service: what is away is waited
/// for.
#[test]
fn a_folder_that_is_away_at_the_start_is_watched_once_it_is_there() {
    let place = Place::ready();
    let file = place.write("a.json", report(260).json());
    place.run(&["watch", &file]).ends(2);
    let mut watcher = Watcher::of_any(&place, &[]);
    until(&mut watcher.err, "cannot be looked at");
    place.write("folder/a.json", report(260).json());
    until(&mut watcher.out, "Completed");
    watcher.stop();
}

/// A known file in the folder: `watch` has no --again to advise.
#[test]
fn a_watched_file_that_is_known_is_not_advised_to_be_sent_again() {
    let place = Place::ready();
    let file = place.write("folder/a.json", report(250).json());
    place.run(&["send", &file, "--wait"]).ends(0);
    let mut watcher = Watcher::start(&place);
    until(&mut watcher.out, "Known");
    let text = watcher.out.next().unwrap();
    assert!(text.contains("known as 1: Completed") && !text.contains("--again"), "{text}");
    watcher.stop();
}

/// A service's output goes into a log that others read; files are named after patients.
#[test]
fn a_service_names_no_files() {
    let place = Place::ready();
    let canary = "Zwinglicanary";
    let sound = place.write(&format!("folder/{canary}-1.json"), report(270).json());
    place.write(&format!("folder/{canary}-2.json"), "no report at all");
    let mut watcher = Watcher::start(&place);
    until(&mut watcher.err, "Watching");
    let said = until(&mut watcher.out, "Completed");
    // Nor does another command whose output goes to a file or another program.
    place.run(&["send", &sound]).says_not(canary);
    let (out, err) = watcher.stop();
    // The file that is no report is still to be read of: exit code 1.
    let digest = place.json(1, &["list"])[0]["digest"].as_str().unwrap()[..16].to_owned();
    let all = [said, out, err].concat().join("\n");
    assert!(!all.contains(canary), "{all}");
    assert!(all.contains("Refused") && all.contains(&digest), "{all}");
    assert!(all.contains("file 1") || all.contains("file 2"), "the refused one: {all}");
    // A watch says that too, and ends well when it is told to.
    let mut watching = Watcher::start(&place);
    until(&mut watching.err, "Notice");
    until(&mut watching.err, "Watching");
    watching.stop();
    place.run(&["journal", "notices", "--read"]);
    let mut watching = Watcher::start_with(&place, &["--json"]);
    place.write(&format!("folder/{canary}-3.json"), report(271).json());
    let said = until(&mut watching.out, "\"completed\"");
    let (out, err) = watching.stop();
    let all = [said, out, err].concat().join("\n");
    assert!(!all.contains(canary), "{all}");
}

/// Cron runs `follow --once` beside a service: that somebody else works the queue is no alarm.
#[test]
fn one_pass_beside_a_watcher_ends_well_and_shows_how_things_stand() {
    let mut place = Place::ready();
    place.stop();
    let mut watcher = Watcher::start(&place);
    until(&mut watcher.err, "Watching");
    place.write("folder/a.json", report(280).json());
    until(&mut watcher.out, "Waiting");
    let pass = place.run(&["follow", "--once"]).ends(0);
    pass.says("Another Lab Courier program").says("Waiting");
    watcher.stop();
    // Alone, and nobody there: that is an alarm.
    let file = place.write("b.json", report(281).json());
    place.run(&["send", &file]).ends(3);
    place.run(&["follow", "--once"]).ends(3);
}

/// The lease of a watcher that was killed lives on for half a minute: what is sent meanwhile waits
/// for its end and is then delivered, and nobody is told that somebody else goes on with it.
#[test]
fn what_a_dead_watcher_leaves_is_taken_over() {
    let place = Place::ready();
    let mut watcher = Watcher::start(&place);
    place.write("folder/a.json", report(260).json());
    until(&mut watcher.out, "In progress");
    watcher.child.kill().unwrap();
    watcher.child.wait().unwrap();
    let file = place.write("b.json", report(261).json());
    // In progress, or completed by now.
    let sent =
        place.run(&["--file-names", "send", &file]).ends(0).says("b.json").says_not("Waiting");
    sent.says_not("Another Lab Courier program");
}

/// Another program brings another endpoint into use beside a watcher: nothing goes to the endpoint
/// of before any more, and where an address is changed, nothing goes to the address of before.
#[test]
fn a_watcher_never_sends_to_the_endpoint_or_address_of_before() {
    let place = Place::ready();
    let (url, ca) = (place.url(), place.ca());
    let other = url.replace("127.0.0.1", "localhost");
    place.run(&["endpoint", "add", "other", "https://127.0.0.1:1/v1/fhir", "--ca", &ca]).ends(0);
    let mut watcher = Watcher::start(&place);
    until(&mut watcher.err, "Watching");
    place.write("folder/a.json", report(290).json());
    until(&mut watcher.out, "Completed");
    // Nobody is there: what is told of it has its name.
    place.run(&["endpoint", "use", "other"]).ends(0);
    place.write("folder/b.json", report(291).json());
    until(&mut watcher.err, "Endpoint other: ");
    place.run(&["endpoint", "set-address", "other", &other, "--same-authority"]).ends(0);
    until(&mut watcher.out, "Completed");
    place.run(&["endpoint", "rename", "other", "renamed"]).ends(0);
    place.write("folder/c.json", report(292).json());
    until(&mut watcher.out, "Completed");
    watcher.stop();
    let list = place.json(0, &["list"]);
    let at: Vec<_> = list.iter().map(|it| it["endpoint"].as_str().unwrap()).collect();
    assert_eq!(at, ["renamed", "renamed", "authority"]);
}
