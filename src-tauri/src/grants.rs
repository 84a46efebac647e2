//! Tests of what the window may do, on the configuration and the grants that are built into the
//! app.
#![allow(clippy::unwrap_used, reason = "a test says what is wrong by ending")]

use std::collections::BTreeSet;

use serde_json::Value;
use tauri::ipc::Origin;
use testkit::Figures;

/// Every command: `build.rs` makes a permission for each.
fn commands() -> impl Iterator<Item = &'static str> {
    bridge::Call::COMMANDS.iter().map(|(name, _)| *name)
}

fn context() -> tauri::Context<tauri::Wry> {
    tauri::generate_context!()
}

fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    names.into_iter().map(str::to_owned).collect()
}

#[test]
fn what_is_granted_is_what_the_bridge_answers() {
    let answered = names(commands());
    let capability: Value =
        serde_json::from_str(include_str!("../capabilities/main.json")).unwrap();
    let permissions: Vec<&str> =
        capability["permissions"].as_array().unwrap().iter().map(|p| p.as_str().unwrap()).collect();
    assert_eq!(permissions, ["core:event:allow-listen", "core:event:allow-unlisten", "commands"]);
    let set = include_str!("../../permissions/commands.toml");
    let (_, own) = set.split_once("permissions = ").unwrap();
    let own: Vec<String> = own
        .split('"')
        .skip(1)
        .step_by(2)
        .map(|name| name.strip_prefix("allow-").unwrap().replace('-', "_"))
        .collect();
    assert_eq!(names(own.iter().map(String::as_str)), answered, "the permission set");
    assert_eq!(capability["windows"], serde_json::json!(["main"]));
    for wider in ["remote", "webviews", "local", "platforms"] {
        assert!(capability.get(wider).is_none(), "{wider}");
    }
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src-tauri/capabilities"));
    assert_eq!(files.unwrap().count(), 1, "one capability file");
}

#[test]
fn a_command_is_granted_to_the_one_window_and_our_own_pages_only() {
    let mut figures = Figures::start("window-commands", "ungranted_windows");
    let mut context = context();
    let authority = context.runtime_authority_mut();
    let remote = |url: &str| Origin::Remote { url: url.parse().unwrap() };
    let plugins = [
        "plugin:event|listen",
        "plugin:event|unlisten",
        "plugin:event|emit",
        "plugin:event|emit_to",
        "plugin:window|create",
        "plugin:window|close",
        "plugin:webview|create_webview_window",
        "plugin:dialog|open",
        "plugin:dialog|save",
        "plugin:fs|read_file",
        "plugin:shell|execute",
        "plugin:http|fetch",
        "plugin:path|resolve_directory",
        "plugin:app|version",
        "plugin:menu|new",
        "plugin:resources|close",
        "plugin:window-state|save_window_state",
        "plugin:image|from_path",
        "no_such_command",
        "",
    ];
    let granted: BTreeSet<&str> = commands().chain(plugins[..2].iter().copied()).collect();
    let labels = ["main", "Main", "main2", "other", "", "*", "main ", "../main"];
    let origins = [
        Origin::Local,
        remote("https://a.example/"),
        remote("http://tauri.localhost/"),
        remote("http://ipc.localhost/"),
        remote("http://localhost:1420/"),
        remote("file:///etc/passwd"),
        remote("data:text/html,x"),
    ];
    for command in commands().chain(plugins) {
        for label in labels {
            for origin in &origins {
                let allowed = authority.resolve_access(command, label, label, origin).is_some();
                let wanted =
                    label == "main" && matches!(origin, Origin::Local) && granted.contains(command);
                assert_eq!(allowed, wanted, "{command:?} from {label:?}, {origin}");
                figures.cases(1);
            }
        }
    }
    figures.finish();
}

#[test]
fn the_content_security_policy_lets_nothing_in() {
    let mut figures = Figures::start("window-commands", "content_security_policy");
    let context = context();
    let config = context.config();
    let security = &config.app.security;
    let policy = security.csp.as_ref().unwrap().to_string();
    let directives: Vec<Vec<&str>> =
        policy.split(';').map(|directive| directive.split_whitespace().collect()).collect();
    for forbidden in ["unsafe-", "*", "https:", "blob:", "filesystem:", "nonce", "eval"] {
        assert!(!policy.contains(forbidden), "{forbidden} in {policy}");
        figures.cases(1);
    }
    let of = |name: &str| directives.iter().find(|d| d.first() == Some(&name)).map(|d| &d[1..]);
    assert_eq!(of("default-src").unwrap(), ["'none'"]);
    assert_eq!(of("script-src").unwrap(), ["'self'"]);
    assert_eq!(of("style-src").unwrap(), ["'self'"]);
    assert_eq!(of("connect-src").unwrap(), ["ipc:", "http://ipc.localhost"]);
    // What falls back to none because it is not there, and what does not fall back and is said.
    for absent in ["object-src", "frame-src", "worker-src", "media-src", "child-src"] {
        assert_eq!(of(absent), None, "{absent}");
        figures.cases(1);
    }
    for said in ["base-uri", "form-action", "frame-ancestors"] {
        assert_eq!(of(said).unwrap(), ["'none'"], "{said}");
        figures.cases(1);
    }
    assert!(security.dev_csp.is_none(), "no weaker policy while developing");
    assert!(security.freeze_prototype);
    assert!(!security.asset_protocol.enable);
    assert!(!config.app.with_global_tauri);
    assert!(config.app.windows.is_empty(), "windows are opened by the shell alone");
    assert!(config.plugins.0.is_empty(), "{:?}", config.plugins);
    figures.finish();
}
