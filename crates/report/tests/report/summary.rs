use report::{Summary, digest};

use crate::text::{SOUND, read, with};

fn summary(text: &str) -> Summary {
    Summary::of(read(text).root())
}

#[test]
fn the_facts_of_a_report() {
    let found = summary(SOUND);
    assert_eq!(found.identifier.as_deref(), Some("urn:uuid:2f1c7a52-90c4-4c1e-8a3e-55d1c0f5a001"));
    assert_eq!(found.patient.as_deref(), Some("Muster, Mia Eva"));
    assert_eq!(found.birth_date.as_deref(), Some("1990-02-03"));
    assert_eq!(found.subject.as_deref(), Some("Neisseria gonorrhoeae [Presence]"));
    assert_eq!(found.code.as_deref(), Some("697-3"));
    assert_eq!(found.laboratory.as_deref(), Some("Labor Muster"));
    assert_eq!(found.date, fhir::Instant::parse("2025-07-09T08:00:00Z"));
    assert_eq!(found.language.as_deref(), Some("de-CH"));
    assert_eq!(summary(&read(SOUND).to_xml()), found);
}

#[test]
fn an_organism_leads() {
    let organism = [
        ("\"code\": \"10828004\"", "\"code\": \"72904005\""),
        ("Positive (qualifier value)", "Treponema pallidum (organism)"),
    ];
    let found = summary(&with(&organism));
    assert_eq!(found.subject.as_deref(), Some("Treponema pallidum"));
    assert_eq!(found.code.as_deref(), Some("72904005"));
}

/// A report may bring the code of an organism without words.
#[test]
fn an_organism_by_its_code_alone_has_its_name() {
    let words = ",\n         \"display\": \"Positive (qualifier value)\"";
    let organism = [("\"code\": \"10828004\"", "\"code\": \"700349009\""), (words, "")];
    let found = summary(&with(&organism));
    assert_eq!(found.subject.as_deref(), Some("Influenza A virus subtype H10"));
    assert_eq!(found.code.as_deref(), Some("700349009"));
    // A qualifier beside a code that names the disease says less than the code.
    let clade = [
        ("\"code\": \"697-3\"", "\"code\": \"101003-2\""),
        (",\n         \"display\": \"Neisseria gonorrhoeae [Presence]\"", ""),
        ("\"code\": \"10828004\"", "\"code\": \"258368005\""),
        ("Positive (qualifier value)", "Group 1B (qualifier value)"),
    ];
    assert_eq!(summary(&with(&clade)).code.as_deref(), Some("101003-2"));
}

#[test]
fn without_words_the_code_stands() {
    let bare = [(",\n         \"display\": \"Neisseria gonorrhoeae [Presence]\"", "")];
    let found = summary(&with(&bare));
    assert_eq!(found.subject.as_deref(), Some("697-3"));
    assert_eq!(found.code.as_deref(), Some("697-3"));
}

#[test]
fn a_masked_name_is_its_code() {
    let name = "{\"family\": \"Muster\", \"given\": [\"Mia\", \"Eva\"]}";
    let masked = "{\"extension\": [{\"url\": \"http://x/code\", \"valueString\": \"H5\"}], \
        \"_family\": {\"extension\": [{\"url\": \"http://x/reason\", \"valueCode\": \"masked\"}]}}";
    assert_eq!(summary(&with(&[(name, masked)])).patient.as_deref(), Some("H5"));
    assert_eq!(summary(&with(&[(name, "{\"text\": \"M.\"}")])).patient.as_deref(), Some("M."));
    assert_eq!(summary(&with(&[(name, "{\"use\": \"usual\"}")])).patient, None);
    let two = "{\"family\": \"Maid\"}, {\"use\": \"official\", \"family\": \"Wed\"}";
    assert_eq!(summary(&with(&[(name, two)])).patient.as_deref(), Some("Wed"));
}

#[test]
fn strange_text_stays_on_one_short_line() {
    let long = "A\\n\\t\\u0085 ".repeat(500);
    let found = summary(&with(&[("Labor Muster", &long)])).laboratory.unwrap();
    assert_eq!(found.chars().count(), 200);
    assert!(found.starts_with("A A A"));
}

#[test]
fn printing_shows_nothing() {
    let printed = format!("{:?}", summary(SOUND));
    assert_eq!(printed, "Summary { .. }");
}

#[test]
fn nothing_there() {
    assert_eq!(summary("{\"resourceType\":\"Bundle\"}"), Summary::default());
}

#[test]
fn digest_is_sha_256() {
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(digest(b""), empty);
}
