//! Calls of the window: the first line is the command, the rest its arguments as JSON.

use bridge::{Call, ProblemRow};
use serde_json::Value;

pub(crate) const WORDS: &[&str] = &[
    "list\n",
    "send_text\n",
    "add_endpoint\n",
    "set_preferences\n",
    "\"query\":",
    "\"paths\":[",
    "\"id\":",
    "\"ids\":[",
    "\"reveal\":true",
    "null",
    "1e309",
    "-9223372036854775809",
    "\"__proto__\":",
    "\"\"",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\"a\":1",
    "\\u0000",
    "\\ud800\\udc00",
    "\"purpose\":\"reports\"",
    "\"input\":{",
    "\"states\":[",
    "\"limit\":4294967296",
    "\"days\":7",
];

/// A call is read, or refused with a problem of the list that repeats little of what came.
pub(crate) fn call(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (command, arguments) = text.split_once('\n').unwrap_or((&text, "{}"));
    let Ok(arguments) = serde_json::from_str::<Value>(arguments) else { return };
    let known = Call::COMMANDS.iter().find(|(name, _)| *name == command);
    let named: Vec<String> =
        arguments.as_object().map(|all| all.keys().cloned().collect()).unwrap_or_default();
    match Call::read(command, arguments) {
        None => assert!(known.is_none(), "{command}"),
        Some(Ok(_)) => {
            let mut wanted = known.expect("a command that is read is known").1.to_vec();
            wanted.sort_unstable();
            assert_eq!(named, wanted, "exactly the arguments of {command}");
        }
        Some(Err(problem)) => {
            let listed = ProblemRow::of(&problem.code);
            let mut wanted = listed.expect("a problem of the list").params.to_vec();
            wanted.sort_unstable();
            assert!(problem.params.keys().eq(&wanted), "{problem:?}");
            assert!(problem.params.values().map(String::len).sum::<usize>() < 200);
        }
    }
}
