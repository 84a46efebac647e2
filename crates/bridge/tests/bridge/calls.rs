//! Every command of the window with arguments that no page of ours sends: each is refused with a
//! problem of the list, whatever command it is for.

use bridge::{Call, Desk, Problem, ProblemRow};
use serde_json::{Map, Value, json};
use testkit::Figures;

/// A list of these things, all of them new.
fn list(items: &Value) -> Value {
    json!({
        "items": items, "again": [], "corrections": [], "left_out": [], "beside": [], "shown": null,
        "separate": false, "endpoint": "",
    })
}

/// Sound arguments of each command, as its row in the table of the commands gives them.
mod table {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    macro_rules! calls {
        ($desk:ident; $(
            $(#[doc = $words:literal])*
            $name:ident => $variant:ident { $($argument:ident: $type:ty),* } -> $answer:ty:
                $room:ident room $(if $when:expr)?,
                $(while $locked:ident,)? $(follows $followed:ident,)? $(changes [$($changed:ident),*],)?
                { $($sample:tt)* } $(= $how:expr)?;
        )*) => {
            pub(super) fn sound() -> BTreeMap<&'static str, Value> {
                BTreeMap::from([$( (stringify!($name), json!({ $($sample)* })) ),*])
            }
        };
    }

    include!("../../src/calls/table.rs");
}
use table::sound;

/// Values that stand where another type belongs, or are absurd.
fn values() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(-1),
        json!(1.5),
        json!(1e300),
        json!(u64::MAX),
        json!(""),
        json!("x".repeat(30 << 20)),
        json!("\u{202e}\u{0}<script>"),
        json!([]),
        json!(vec![1; 20_000]),
        json!(vec!["a"; 20_000]),
        json!([[[[[1]]]]]),
        json!({}),
        json!({ "__proto__": { "polluted": true } }),
        json!({ "constructor": 1, "toString": null }),
    ]
}

fn problem_of(command: &str, arguments: Value) -> Option<Problem> {
    Call::read(command, arguments).expect("a command of this name").err()
}

/// A problem of the list, short, and with the parameters that its text is made of.
#[track_caller]
fn assert_coded(problem: &Problem) {
    let known = ProblemRow::of(&problem.code).expect("listed");
    let mut names = known.params.to_vec();
    names.sort_unstable();
    assert_eq!(problem.params.keys().map(String::as_str).collect::<Vec<_>>(), names);
    let size: usize = problem.params.values().map(String::len).sum();
    assert!(size < 10_000, "{}: {size} bytes of parameters", problem.code);
}

/// What is refused by reading alone: no command needs a desk for it.
fn unreadable() -> Vec<(&'static str, String, Value)> {
    let mut cases = Vec::new();
    for (command, arguments) in sound() {
        for top in [Value::Null, json!([]), json!([arguments]), json!("x"), json!(7), json!(true)] {
            cases.push((command, format!("{:.20} for all", top.to_string()), top));
        }
        let mut more = arguments.clone();
        more["surplus"] = json!(1);
        cases.push((command, "a surplus argument".to_owned(), more));
        let mut proto = arguments.clone();
        proto["__proto__"] = json!({ "polluted": true });
        cases.push((command, "__proto__".to_owned(), proto));
        let Value::Object(members) = arguments else { panic!("an object") };
        for name in members.keys() {
            let mut less: Map<String, Value> = members.clone();
            less.remove(name);
            cases.push((command, format!("without {name}"), Value::Object(less)));
        }
    }
    cases
}

#[test]
fn every_command_has_its_arguments_and_no_others() {
    let sound = sound();
    let told: Vec<&str> = sound.keys().copied().collect();
    let mut commands: Vec<&str> = Call::COMMANDS.iter().map(|(name, _)| *name).collect();
    commands.sort_unstable();
    assert_eq!(told, commands);
    for (command, names) in Call::COMMANDS {
        let keys: Vec<&str> = sound[command].as_object().unwrap().keys().map(|k| &**k).collect();
        let mut names = names.to_vec();
        names.sort_unstable();
        assert_eq!(keys, names, "{command}");
        assert_eq!(problem_of(command, sound[command].clone()), None, "{command}");
    }
    assert!(Call::read("no_such_command", json!({})).is_none());
    assert!(Call::read("Status", json!({})).is_none());
    assert!(Call::read("", json!({})).is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_no_page_sends_are_refused_with_a_code() {
    let mut figures = Figures::start("window-commands", "arguments_that_no_page_sends");
    let mut denied = 0_u32;
    for (command, case, arguments) in unreadable() {
        let problem = problem_of(command, arguments);
        let problem = problem.unwrap_or_else(|| panic!("{command}: {case} was read"));
        assert_coded(&problem);
        assert_eq!(problem.code, "argument-invalid", "{command}: {case}");
        denied += 1;
        figures.cases(1);
    }
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open(folder.path()).await.unwrap();
    desk.grant(["/a.json", "/a.p12"].map(Into::into));
    let mut answered = 0_u32;
    let mut longest = std::time::Duration::ZERO;
    for (command, arguments) in sound() {
        for name in arguments.as_object().unwrap().keys() {
            for value in values() {
                let mut changed = arguments.clone();
                changed[name] = value.clone();
                let begun = std::time::Instant::now();
                let result = match Call::read(command, changed).unwrap() {
                    Err(problem) => Err(problem),
                    Ok(call) => desk.answer(call, Some(0)).await,
                };
                match result {
                    Err(problem) => {
                        assert_coded(&problem);
                        denied += 1;
                    }
                    // An empty list of files, or any password for a file that is not there.
                    Ok(text) => {
                        serde_json::from_str::<Value>(&text).unwrap();
                        answered += 1;
                    }
                }
                longest = longest.max(begun.elapsed());
                figures.cases(1);
            }
        }
    }
    // What was answered is what a page may ask: nothing more than these few.
    assert!(answered < 60, "{answered} were answered");
    assert!(longest < std::time::Duration::from_secs(10), "{longest:?}");
    figures.measure("denied", f64::from(denied));
    figures.measure("answered", f64::from(answered));
    figures.measure("longest seconds", longest.as_secs_f64());
    figures.finish();
}

/// A page that adds an endpoint of its own would lead reports away: the shell asks the person, and
/// only what was answered with yes is taken, whole and once.
#[tokio::test(flavor = "multi_thread")]
async fn no_endpoint_is_added_that_no_person_has_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open(folder.path()).await.unwrap();
    let sound = &sound()["add_endpoint"];
    let call = || Call::read("add_endpoint", sound.clone()).unwrap().unwrap();
    assert_eq!(desk.answer(call(), None).await.unwrap_err().code, "endpoint-not-allowed");
    // The same address in another environment, by a proxy, under a CA: another endpoint each time.
    for (field, value) in [
        ("baseUrl", json!("https://b.example/v1/fhir")),
        ("environment", json!("production")),
        ("proxy", json!("http://proxy.example:3128")),
        ("language", json!("fr-CH")),
    ] {
        let mut other = sound.clone();
        assert_ne!(other["input"][field], value, "{field}");
        other["input"][field] = value;
        desk.allow(&Call::read("add_endpoint", other).unwrap().unwrap());
        assert_eq!(
            desk.answer(call(), None).await.unwrap_err().code,
            "endpoint-not-allowed",
            "{field}"
        );
    }
    assert_eq!(desk.endpoints().await.unwrap().len(), 1, "practice alone");
    desk.allow(&call());
    desk.permits(&call()).unwrap();
    // Whatever becomes of it, it is used up.
    let _ = desk.answer(call(), None).await;
    assert_eq!(desk.answer(call(), None).await.unwrap_err().code, "endpoint-not-allowed");
    desk.stop().await;
}

/// What a person is asked is what will be used: the host as it is looked up, the proxy, the CA.
#[tokio::test]
async fn the_question_shows_the_endpoint_as_it_will_be_used() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open(folder.path()).await.unwrap();
    let call =
        |input: Value| Call::read("add_endpoint", json!({ "input": input })).unwrap().unwrap();
    let ca = testkit::TestCa::new("An authority's own");
    let question = |base: &str, ca_pem: Option<&str>, proxy: Option<&str>| {
        call(json!({
            "name": "real", "baseUrl": base, "environment": "production", "release": null,
            "language": null, "caPem": ca_pem, "proxy": proxy,
        }))
    };
    // A Cyrillic а looks like a Latin one.
    let base = format!("HTTPS://\u{430}uthority.example:443/v1/{}/fhir", "x".repeat(250));
    let proxy = "http://lab:proxycanary@PROXY.example:3128/";
    let pem = ca.pem();
    let shown = desk.question(&question(&base, Some(&pem), Some(proxy))).await.unwrap().unwrap();
    let whole = format!("https://xn--uthority-2fh.example/v1/{}/fhir", "x".repeat(250));
    assert!(shown.address.starts_with("https://xn--"), "{}", shown.address);
    assert_eq!(shown.address.len(), whole.len());
    assert!(shown.address.ends_with(&"x/fhir") && shown.address.is_ascii());
    assert_eq!(shown.proxy.as_deref(), Some("http://proxy.example:3128"));
    assert_eq!((shown.ca.len(), shown.ca[0].len()), (1, 95));
    assert_eq!((shown.environment.as_str(), shown.before), ("production", None));

    for (base, proxy) in [
        (&*format!("https://a.example/{}", "x".repeat(500)), None),
        ("https://user@a.example/v1/fhir", None),
        ("http://a.example/v1/fhir", None),
        ("https://a.example/v1/fhir", Some(&*format!("http://{}.example", "p.".repeat(400)))),
    ] {
        let asked = desk.question(&question(base, None, proxy)).await;
        assert_eq!(asked.unwrap_err().code, "argument-invalid", "nobody is asked");
    }
    assert_eq!(
        desk.question(&Call::read("status", json!({})).unwrap().unwrap()).await.unwrap(),
        None
    );
    desk.stop().await;
}

/// The page names files of its own choice: nothing of them is read, and nothing is sent.
#[tokio::test(flavor = "multi_thread")]
async fn only_paths_that_a_person_handed_over_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open(&folder.path().join("desk")).await.unwrap();
    let file = folder.path().join("report.json");
    std::fs::write(&file, testkit::DocumentBuilder::new(1).json()).unwrap();
    let path = file.to_str().unwrap();
    let ask = async |command: &str, arguments: Value| {
        let call = Call::read(command, arguments).unwrap().unwrap();
        desk.answer(call, Some(0)).await.map_err(|problem| problem.code)
    };
    let calls = [
        ("inspect_files", json!({ "paths": [path], "reveal": false })),
        ("hand_over", list(&json!([{ "name": "pasted", "text": "{}" }, { "path": path }]))),
        ("correct_with_file", json!({ "id": 1, "path": path, "shown": [] })),
        ("certificate_inspect", json!({ "paths": [path], "password": "" })),
        ("certificate_import", json!({ "paths": [path], "password": "", "endpoint": null })),
        ("certificate_try", json!({ "paths": [path], "password": "", "endpoint": null })),
        ("set_watched_folder", json!({ "path": folder.path().to_str().unwrap() })),
        ("look_at_folder", json!({ "path": folder.path().to_str().unwrap() })),
        ("watch_what_comes", json!({ "path": folder.path().to_str().unwrap() })),
    ];
    for (command, arguments) in &calls {
        let answer = ask(command, arguments.clone()).await;
        assert_eq!(answer.unwrap_err(), "path-not-granted", "{command}");
    }
    // One that was handed over does not bring another with it.
    desk.grant([file.clone()]);
    let both = json!({ "paths": [path, "/etc/passwd"], "reveal": false });
    assert_eq!(ask("inspect_files", both).await.unwrap_err(), "path-not-granted");
    for (command, arguments) in &calls[..5] {
        let answer = ask(command, arguments.clone()).await;
        assert_ne!(answer.err().as_deref(), Some("path-not-granted"), "{command}");
    }
    // What is in a folder was handed over with it.
    desk.grant([folder.path().to_owned()]);
    ask(calls[5].0, calls[5].1.clone()).await.unwrap();
    // The samples are our own.
    let samples: Value =
        serde_json::from_str(&ask("practice_samples", json!({})).await.unwrap()).unwrap();
    ask("inspect_files", json!({ "paths": samples, "reveal": false })).await.unwrap();
    desk.stop().await;
}

/// A number of a report means another one in another room: no call is answered that does not say
/// which is meant.
#[tokio::test]
async fn what_takes_in_or_names_reports_says_in_which_room() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::open(folder.path()).await.unwrap();
    desk.grant(["/a.json", "/a.p12"].map(Into::into));
    let names = |arguments: &Value| {
        ["id", "ids"].iter().any(|name| !arguments[*name].is_null())
            || !arguments["query"]["ids"].is_null()
    };
    let others = ["inspect_files", "hand_over", "set_paused", "acknowledge_notice"];
    for (command, arguments) in sound() {
        if !names(&arguments) && !others.contains(&command) {
            continue;
        }
        let call = || Call::read(command, arguments.clone()).unwrap().unwrap();
        let unsaid = desk.answer(call(), None).await.unwrap_err();
        assert_eq!((&*unsaid.code, &*unsaid.params["argument"]), ("argument-invalid", "room"));
        assert_eq!(desk.answer(call(), Some(7)).await.unwrap_err().code, "room-changed");
        let said = desk.answer(call(), Some(0)).await;
        assert_ne!(said.err().map(|problem| problem.code).as_deref(), Some("room-changed"));
    }
    desk.stop().await;
}

#[test]
fn the_room_of_a_call_is_taken_out_of_its_arguments() {
    let mut arguments = json!({ "ids": [1], "room": 3 });
    assert_eq!(Call::take_room(&mut arguments).unwrap(), Some(3));
    assert_eq!(arguments, json!({ "ids": [1] }));
    assert_eq!(Call::take_room(&mut arguments).unwrap(), None);
    for wrong in [json!(-1), json!("3"), json!(null)] {
        let problem = Call::take_room(&mut json!({ "room": wrong })).unwrap_err();
        assert_eq!(problem.params["argument"], "room");
    }
}
