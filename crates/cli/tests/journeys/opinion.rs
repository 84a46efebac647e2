//! A validator of the laboratory's choosing is asked as well, once a person has said so.

use serde_json::json;
use testkit::{Reaction, ScriptedServer};
use tokio::runtime::Runtime;

use crate::place::{Place, report};

const SAYS: &str = r#"{"resourceType":"OperationOutcome","issue":[{"severity":"error",
    "code":"invariant","diagnostics":"a word of its own","expression":["Bundle.identifier"]}]}"#;

fn server(runtime: &Runtime) -> ScriptedServer {
    let says = |_: &_| Reaction::answer(200, "application/fhir+json", SAYS);
    runtime.block_on(ScriptedServer::start_plain(says))
}

#[test]
fn a_validator_is_shown_a_report_only_after_a_person_has_said_so() {
    let runtime = Runtime::new().unwrap();
    let server = server(&runtime);
    let address = format!("http://{}/fhir", server.address());
    let place = Place::empty();
    let init = ["init", "--endpoint", "https://localhost:9/v1/fhir", "--vault", "passphrase"];
    place.run(&init).ends(0);
    let text = report(1).json();
    let file = place.write("report.json", &text);
    place.run(&["rules", "validator"]).ends(0).says("No other validator is asked.");
    // An address alone is no word about patients.
    place.run(&["rules", "validator", &address]).ends(2).says("--allow-patient-data");
    let check = || place.json(0, &["check", &file]).remove(0);
    assert_eq!(check().get("validator"), None);
    assert_eq!(server.connections(), 0);

    let chosen = ["rules", "validator", &address, "--allow-patient-data"];
    assert_eq!(place.json(0, &chosen)[0]["address"], json!(address));
    let opinion = check()["validator"].clone();
    assert_eq!((&opinion["address"], &opinion["fault"]), (&json!(address), &json!(null)));
    let told = &opinion["onlyThere"][0];
    assert_eq!(
        (&told["text"], &told["source"]),
        (&json!("a word of its own"), &json!("validator"))
    );
    assert!(told["line"].as_u64().is_some(), "{told}");
    assert_eq!(opinion["onlyHere"], json!([]));
    let seen = server.seen();
    assert_eq!((seen.len(), &*seen[0].body), (1, text.as_bytes()));
    assert_eq!(seen[0].target, "/fhir/Bundle/$validate");
    // It decides nothing: the report is ready.
    let shown = place.run(&["check", &file]).ends(0);
    shown.says(&format!("Found by {address} alone:")).says("a word of its own");

    drop(server);
    let silent = format!("No second opinion of {address}: it cannot be reached.");
    place.run(&["check", &file]).ends(0).says(&silent);
    place.run(&["rules", "validator", "--forget"]).ends(0).says("No other validator is asked.");
    assert_eq!(check().get("validator"), None);
}

#[test]
fn patients_are_shown_to_no_address_that_others_can_read_on_the_way() {
    let place = Place::empty();
    let choose =
        |address: &str| place.run(&["rules", "validator", address, "--allow-patient-data"]).ends(2);
    choose("http://validator.example/fhir").says("must begin with https://");
    choose("https://me:secret@validator.example/fhir")
        .says("a name or a password")
        .says_not("secret");
    place.run(&["rules", "validator"]).ends(0).says("No other validator is asked.");
}
