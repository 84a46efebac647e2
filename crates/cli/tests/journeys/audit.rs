//! Who has changed what of the settings.

use crate::place::Place;

#[test]
fn what_is_changed_of_the_settings_is_listed_and_what_is_refused_is_not() {
    let place = Place::ready();
    let (url, ca) = (place.url(), place.ca());
    let before = place.json(0, &["audit"]).len();
    place.run(&["endpoint", "add", "other", &url, "--ca", &ca]).ends(0);
    place.run(&["endpoint", "add", "other", &url, "--ca", &ca]).ends(2);
    place.run(&["endpoint", "use", "other"]).ends(0);
    place.run(&["endpoint", "list"]).ends(0);
    place.run(&["journal", "attention", "5"]).ends(0);
    place.run(&["journal", "attention"]).ends(0);
    place.run(&["journal", "retention", "90"]).ends(0);
    place.run(&["journal", "retention", "off"]).ends(0);
    place.run(&["journal", "rotate-key"]).ends(0);
    let all = place.json(0, &["audit"]);
    let changes: Vec<&str> = all.iter().map(|entry| entry["change"].as_str().unwrap()).collect();
    let expected = [
        "journal-key-rotated",
        "retention-unset",
        "retention-set",
        "attention-days-set",
        "endpoint-used",
        "endpoint-added",
    ];
    assert_eq!(changes[..expected.len()], expected);
    assert_eq!(changes.len(), before + expected.len());
    assert_eq!(all[5]["params"]["endpoint"], "other");
    assert!(all.iter().all(|entry| entry["by"].as_str().unwrap().contains('@')));
    // As a person reads it: the profile was made and got its certificate first.
    place
        .run(&["audit"])
        .ends(0)
        .says("New reports go to other")
        .says("A certificate was imported");
}
