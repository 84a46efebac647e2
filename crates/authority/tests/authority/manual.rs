//! The examples of the manual are read by the program.

use std::path::Path;

use authority::{FaultScript, Rules};

/// The TOML examples of `docs/authority.md`.
fn examples() -> Vec<String> {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/authority.md");
    let manual = std::fs::read_to_string(manual).unwrap();
    let blocks = manual.split("```toml\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn rules_and_fault_plans_of_the_manual_can_be_copied() {
    let examples = examples();
    let one = |start: &str| {
        let mut found = examples.iter().filter(|example| example.starts_with(start));
        found.next().expect(start)
    };
    let rules = Rules::parse(one("[[rule]]")).unwrap();
    assert_eq!(rules.rules.len(), 2);
    assert_eq!(rules.rules[1].when.more_than, Some(1));
    let plan = FaultScript::parse(one("seed")).unwrap();
    assert_eq!((plan.faults.len(), plan.random.len()), (1, 1));
    assert_eq!(examples.len(), 3, "the third, of limits, is tried where limits are");
}

#[test]
fn the_manual_names_every_condition_of_a_rule() {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/authority.md");
    let manual = std::fs::read_to_string(manual).unwrap();
    let unknown =
        Rules::parse("[[rule]]\ncode='X'\nseverity='error'\neffect='fail'\ntext='t'\nwhen={x=1}");
    let told = unknown.unwrap_err().to_string();
    // The reader names what it knows: `expected one of `path`, `values`, …`.
    let (_, known) = told.split_once("expected one of ").expect(&told);
    let names: Vec<_> = known.split('`').skip(1).step_by(2).collect();
    assert!(names.len() > 9, "{told}");
    for name in names {
        assert!(manual.contains(&format!("`{name}")), "{name} is not in the manual");
    }
}
