//! Files of the authority's operator: fault plans and spans of time.

use authority::FaultScript;

pub(crate) const WORDS: &[&str] = &[
    "[[faults]]\n",
    "[[random]]\n",
    "on = \"submit\"\n",
    "kind = ",
    "chance = 0.5\n",
    "seed = 1\n",
    "nth = 0\n",
    "times = 4294967296\n",
    "nan",
    "inf",
    "-1",
    "\"\"\"",
    "'",
    "[",
    "]",
    "=",
    "{ status = { code = 503 } }",
    "500ms",
    "\"\\u0000\"",
    "1979-05-27T07:32:00Z",
];

/// A plan is read, or refused with words; what is read is written so that it is read as the same.
pub(crate) fn settings(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = authority::parse_span(text);
    match FaultScript::parse(text) {
        Ok(script) => {
            let written = script.to_toml().expect("a plan can be written");
            let again = FaultScript::parse(&written).expect("what is written can be read");
            assert_eq!(again.to_toml().expect("again"), written);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
