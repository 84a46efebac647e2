//! A journal that was restored on another computer, or copied: what was sent since is not sent
//! again.

use serde_json::Value;

use crate::place::{Place, report};

/// Of the profile only what a laboratory keeps apart from it is left: settings and vault. Journal,
/// register and automatic backups went with the disk.
fn lose_disk(place: &Place) {
    for entry in std::fs::read_dir(place.path("profile")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name == "backups" {
            std::fs::remove_dir_all(&path).unwrap();
        } else if name.starts_with("journal.db") {
            std::fs::remove_file(&path).unwrap();
        }
    }
}

/// What a command prints, whatever its exit: a notice that nobody has read yet makes it 1.
fn printed(place: &Place, command: &[&str]) -> Vec<Value> {
    place.run(&[&["--json"], command].concat()).objects()
}

fn stored(place: &Place) -> Value {
    printed(place, &["search", "--count", "0"])[0]["total"].clone()
}

/// A folder that is not there is no broken journal.
#[test]
fn a_backup_that_cannot_be_written_is_named_by_its_file() {
    let place = Place::ready();
    let nowhere = place.shown("nowhere/kept.db");
    let refused = place.run(&["journal", "backup", &nowhere]).ends(1);
    refused.says("nowhere/kept.db").says_not("journal");
    place.run(&["journal", "verify"]).ends(0);
}

#[test]
fn a_backup_on_another_computer_sends_nothing_again_that_was_sent_since() {
    let place = Place::ready();
    let before = place.write("a.json", report(300).json());
    place.run(&["send", &before, "--wait"]).ends(0);
    let backup = place.shown("kept.db");
    place.run(&["journal", "backup", &backup]).ends(0);
    let since = place.write("b.json", report(301).json());
    place.run(&["send", &since, "--wait"]).ends(0).says("Completed");
    assert_eq!(stored(&place), 2);

    lose_disk(&place);
    place.run(&["journal", "restore", &backup]).ends(0);
    // The same report again, as the laboratory's system exports it now: other bytes.
    let again = place.write("b2.json", format!("{}\n", report(301).json()));
    let new = place.write("c.json", report(302).json());
    let held = place.json(1, &["send", &again, "--wait"]);
    assert_eq!(held[0]["state"], "held");
    assert_eq!(held[0]["issues"][0]["code"], "authority-may-have-it");
    assert_eq!(held[0]["issues"].as_array().unwrap().len(), 1);
    assert_eq!(stored(&place), 2, "nothing went out twice");
    place.run(&["send", &before]).says("known as 1");
    // Nor for whoever asks for it without having been told that the authority may have it.
    place.run(&["send", &again, "--again"]).says("On hold");
    assert_eq!(stored(&place), 2, "it waits for a person");
    // Who asks the authority hears that it has it; nobody is told to send it once more after that.
    let number = held[0]["id"].to_string();
    place
        .run(&["show", &number])
        .says("The authority has a report with this document identifier")
        .says(&format!("settle {number} --received"));
    place.run(&["settle", &number, "--received", "--reason", "hotline"]).says("is settled");
    place.run(&["send", &again]).says("Settled: the authority has it").says_not("--again");
    assert_eq!(stored(&place), 2);
    // What is new is asked for too, and waits: what was sent just before the disk died may be shown
    // late.
    let waits = place.json(1, &["send", &new, "--wait"]);
    assert_eq!(waits[0]["issues"][0]["code"], "journal-not-compared");
    assert_eq!(stored(&place), 2);
}

/// Copies on another disk are made by themselves, and a restore takes one of them.
#[test]
fn a_second_place_keeps_copies_and_a_restore_takes_them() {
    let place = Place::ready();
    let first = place.write("a.json", report(305).json());
    place.run(&["send", &first, "--wait"]).ends(0);
    std::fs::create_dir(place.path("disk")).unwrap();
    let disk = place.shown("disk");
    place.run(&["journal", "backup-place"]).ends(0).says("in the profile's folder only");
    place.run(&["journal", "backup-place", &place.shown("profile")]).ends(1);
    place.run(&["journal", "backup"]).ends(0);
    place.run(&["journal", "backup-place", &disk]).ends(0).says("copied");
    let kept = printed(&place, &["journal", "backup-place"])[0]["place"].clone();
    lose_disk(&place);
    let kept = std::fs::read_dir(kept.as_str().unwrap()).unwrap();
    // The newest one: their names begin with the time.
    let backup = kept.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).max();
    place.run(&["journal", "restore", &backup.unwrap().display().to_string()]).ends(0);
    place.run(&["send", &first]).says("known as 1");
    place.run(&["resume"]).ends(0);
    place.run(&["journal", "backup-place", "off"]).ends(0).says("in the profile's folder only");
}

/// While the authority is away nothing new leaves; whoever follows later asks it.
#[test]
fn what_cannot_be_asked_for_waits_and_follow_asks() {
    let mut place = Place::ready();
    let backup = place.shown("kept.db");
    place.run(&["journal", "backup", &backup]).ends(0);
    let since = place.write("b.json", report(310).json());
    place.run(&["send", &since, "--wait"]).ends(0);
    lose_disk(&place);
    place.run(&["journal", "restore", &backup]).ends(0);
    place.stop();
    let new = place.write("c.json", report(311).json());
    for file in [&since, &new] {
        let held = place.json(1, &["send", file]);
        assert_eq!(held[0]["issues"][0]["code"], "journal-not-compared");
    }
    place.start();
    place.run(&["follow"]);
    let states: Vec<_> = printed(&place, &["list"]).iter().map(|it| it["state"].clone()).collect();
    assert_eq!(states, ["completed", "held", "held"], "the one of before was found");
    assert_eq!(stored(&place), 1);
    // Nothing that was taken in before the backup shows that the authority can be asked for a
    // document: a person decides.
    let list = printed(&place, &["list"]);
    let waits = list.iter().find(|it| it["issues"][0]["code"] == "journal-not-compared").unwrap();
    let number = waits["id"].to_string();
    place.run(&["release", &number, "--reason", "looked at both"]);
    assert_eq!(stored(&place), 2);
}

/// The journal is damaged and comes back from a backup. The first command after that brings a newer
/// version of what the backup does not know: the authority is asked before it is taken in, and it
/// is seen to be a newer version.
#[test]
fn a_newer_version_of_what_a_restore_forgot_is_seen_to_be_one() {
    let place = Place::ready();
    place.run(&["journal", "backup"]).ends(0);
    let first = report(350).family("Muster").json();
    let file = place.write("a.json", first.clone());
    place.run(&["send", &file, "--wait"]).ends(0).says("Completed");
    place.write("profile/journal.db", [7; 4096]);
    let newer = place.write("b.json", first.replace("Muster", "Andere"));
    let sent = printed(&place, &["send", &newer, "--wait"]);
    let codes: Vec<_> =
        sent[0]["issues"].as_array().unwrap().iter().map(|it| it["code"].clone()).collect();
    assert_eq!(codes, ["same-identifier-other-content"]);
    assert_eq!(sent[0]["state"], "completed");
    // The same as before, in other bytes, is known.
    let again = place.write("c.json", format!("{first}\n"));
    place.run(&["send", &again]).says("known as");
    assert_eq!(stored(&place), 2);
}

/// Which endpoint is in use says where new reports go; what waits for another one is asked for
/// there all the same.
#[test]
fn what_waits_for_another_endpoint_is_asked_for_there() {
    let mut place = Place::ready();
    let backup = place.shown("kept.db");
    let (url, ca) = (place.url(), place.ca());
    place.run(&["endpoint", "add", "other", &url, "--ca", &ca]).ends(0);
    place.run(&["journal", "backup", &backup]).ends(0);
    let since = place.write("b.json", report(330).json());
    place.run(&["send", &since, "--wait"]).ends(0);
    lose_disk(&place);
    place.run(&["journal", "restore", &backup]).ends(0);
    place.stop();
    let new = place.write("c.json", report(331).json());
    for file in [&since, &new] {
        assert_eq!(place.json(1, &["send", file])[0]["state"], "held");
    }
    place.run(&["endpoint", "use", "other"]).ends(0);
    place.start();
    place.run(&["follow"]);
    let list = printed(&place, &["list"]);
    let states: Vec<_> = list.iter().map(|it| it["state"].clone()).collect();
    assert_eq!(states, ["completed", "held", "held"]);
    assert!(list.iter().all(|it| it["endpoint"] == "authority"), "all at the first one");
    assert_eq!(stored(&place), 1, "and nothing twice");
}

/// What a recovery has set aside is listed and counted, and goes when a person says so.
#[test]
fn journals_set_aside_are_listed_counted_and_removed() {
    let place = Place::ready();
    let file = place.write("a.json", report(340).json());
    place.run(&["send", &file, "--wait"]).ends(0);
    place.run(&["journal", "list-set-aside"]).ends(0).says("No journal is set aside");
    place.run(&["journal", "backup"]).ends(0);
    for round in 0..2 {
        place.write("profile/journal.db", [round; 4096]);
        place.run(&["list"]).ends(1).says("set-aside");
        place.run(&["journal", "notices", "--read"]).ends(0);
    }
    let all = place.json(0, &["journal", "list-set-aside"]);
    assert_eq!(all.len(), 2);
    assert!(all.iter().all(|one| one["bytes"].as_u64() >= Some(4096)));
    place.run(&["journal", "list-set-aside"]).ends(0).says("2 journals set aside");
    // Retention reaches what is in the journal; that these keep it is said.
    place.run(&["journal", "retention", "30"]).ends(0).says("2 journals set aside");
    let [newer, older] = [0, 1].map(|n| all[n]["file"].as_str().unwrap().to_owned());
    assert!(all[0]["at"].as_str() > all[1]["at"].as_str());

    // Only what was set aside, also where another file of the profile is named.
    for wrong in ["journal.db", "profile.json", "journal.db.set-aside-1"] {
        place.run(&["journal", "remove-set-aside", wrong]).ends(2);
    }
    place.run(&["journal", "remove-set-aside"]).ends(2);
    assert_eq!(place.json(0, &["journal", "list-set-aside"]).len(), 2);
    let name = older.rsplit('/').next().unwrap();
    place.run(&["journal", "remove-set-aside", name]).ends(0).says(name);
    assert_eq!(place.json(0, &["journal", "list-set-aside"])[0]["file"], newer);
    place.run(&["journal", "remove-set-aside", "--all"]).ends(0);
    let left = std::fs::read_dir(place.path("profile")).unwrap();
    let left = left
        .filter(|one| one.as_ref().unwrap().file_name().to_string_lossy().contains("set-aside"));
    assert_eq!(left.count(), 0);
    // The journal itself is as it was.
    assert_eq!(place.json(0, &["list"])[0]["state"], "completed");
}

#[cfg(unix)]
#[test]
fn a_copy_of_a_profile_is_noticed_and_asks_first() {
    let mut place = Place::ready();
    place.stop();
    let file = place.write("a.json", report(320).json());
    place.run(&["send", &file]).ends(3);
    let copy = place.path("copy");
    let mut copying = std::process::Command::new("cp");
    assert!(copying.arg("-r").arg(place.path("profile")).arg(&copy).status().unwrap().success());
    // The copy takes the place of the profile; the other computer goes on with the first one.
    let first = place.path("first");
    std::fs::rename(place.path("profile"), &first).unwrap();
    std::fs::rename(&copy, place.path("profile")).unwrap();
    place.run(&["journal", "notices"]).says("copy");
    assert_eq!(printed(&place, &["list"])[0]["state"], "unknown", "asked for before it is sent");
    std::fs::rename(place.path("profile"), &copy).unwrap();
    std::fs::rename(&first, place.path("profile")).unwrap();
    place.start();
    place.run(&["follow"]).ends(0).says("Completed");
    std::fs::rename(place.path("profile"), &first).unwrap();
    std::fs::rename(&copy, place.path("profile")).unwrap();
    place.run(&["follow"]).says("Completed");
    assert_eq!(stored(&place), 1, "found by its identifier, and sent once");
}
