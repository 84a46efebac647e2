//! What is handed over together: of two versions of one document the newer one is stored last.

use crate::place::{Place, report};

/// Two versions of each document are handed over; gives the documents of which the older version
/// was stored last.
fn stored_in_the_other_order(place: &mut Place, is_away: bool) -> Vec<u64> {
    let documents = 702..=740_u64;
    for seed in documents.clone() {
        for (version, family) in [("1", "Muster"), ("2", "Mustermann")] {
            let time = format!("2026-01-1{version}T10:00:00Z");
            let json = report(seed).timestamp(&time).family(family).json();
            place.write(&format!("all/{seed}-{version}.json"), json);
        }
    }
    let all = place.shown("all");
    if is_away {
        place.stop();
        place.run(&["send", &all]).ends(3);
        place.start();
    } else {
        place.run(&["send", &all]);
    }
    place.run(&["follow"]);
    let (found, listed) = (place.json(0, &["search"]), place.json(0, &["list"]));
    let stored = |file: String| {
        let one = listed.iter().find(|it| it["file"] == file.as_str()).unwrap();
        let one = found.iter().find(|it| it["id"] == one["receipt"]);
        one.map(|it| it["date"].as_str().unwrap().to_owned())
    };
    let both = |seed: u64| [1, 2].map(|version| stored(format!("{seed}-{version}.json")));
    let is_reversed = |seed: &u64| match both(*seed) {
        [Some(older), Some(newer)] => older > newer,
        _ => false,
    };
    documents.filter(is_reversed).collect()
}

/// Both are in one folder, and nothing goes wrong.
#[test]
fn of_two_versions_in_a_folder_the_newer_one_is_stored_last() {
    let reversed = stored_in_the_other_order(&mut Place::ready(), false);
    assert_eq!(reversed, Vec::<u64>::new(), "the older version is stored last");
}

/// The authority is away while they are handed over; when it is back, both fall due at once.
#[test]
fn of_two_versions_that_waited_for_the_authority_the_newer_one_is_stored_last() {
    let reversed = stored_in_the_other_order(&mut Place::ready(), true);
    assert_eq!(reversed, Vec::<u64>::new(), "the older version is stored last");
}
