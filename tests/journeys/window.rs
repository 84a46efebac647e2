//! What people do with the real window: drop, send, see what became of it, correct, import a
//! certificate.

mod window {
    mod canaries;
    mod corrected;
    mod opened;
}

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use journeys::window::Window;
use journeys::{Authority, column, objects, program};
use serde_json::{Value, json};
use testkit::{DocumentBuilder, Figures};

/// Longest that one journey may take.
const LIMIT: Duration = Duration::from_secs(300);

fn journey(run: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::time::timeout(LIMIT, run).await.expect("the journey ends in time");
    });
}

/// What a page of ours never asks for.
const UNGRANTED: [&str; 16] = [
    "plugin:event|emit",
    "plugin:event|emit_to",
    "plugin:window|create",
    "plugin:window|close",
    "plugin:window|set_title",
    "plugin:webview|create_webview_window",
    "plugin:webview|internal_toggle_devtools",
    "plugin:dialog|open",
    "plugin:dialog|save",
    "plugin:dialog|message",
    "plugin:path|resolve_directory",
    "plugin:app|version",
    "plugin:resources|close",
    "plugin:window-state|save_window_state",
    "plugin:fs|read_text_file",
    "no_such_command",
];

/// Asks as a script in the page could: past our own door. The answer: `["given", …]` or
/// `["refused", …]`.
async fn invoke(window: &Window, command: &str, arguments: Value) -> Value {
    let script = "const done = arguments[arguments.length - 1]; const [command, takes] = \
        arguments; window.__TAURI_INTERNALS__.invoke(command, takes)\
        .then((given) => done(['given', given]), (why) => done(['refused', why]));";
    let asked = window.client.execute_async(script, vec![json!(command), arguments]).await;
    asked.unwrap_or_else(|error| panic!("{command}: {error}"))
}

#[test]
fn a_script_in_the_page_gets_nothing_that_is_not_granted() {
    let mut figures = Figures::start("window-commands", "a_script_in_the_page");
    journey(async {
        let window = Window::open().await;
        window.shows("[data-testid=send-samples]", 1).await;
        for command in UNGRANTED {
            let answer = invoke(&window, command, json!({})).await;
            assert_eq!(answer[0], "refused", "{command}: {answer}");
            figures.cases(1);
        }
        for (command, _) in bridge::Call::COMMANDS {
            let answer = invoke(&window, command, json!({ "surplus": 1 })).await;
            let code = &answer[1]["code"];
            assert!(answer[0] == "refused" && code == "argument-invalid", "{command}: {answer}");
            figures.cases(1);
        }
        // The way is open all the same: what the page does ask for is answered.
        assert_eq!(invoke(&window, "status", json!({})).await[0], "given");

        // Nothing comes here, whatever is tried: a server that counts.
        let server = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        server.set_nonblocking(true).unwrap();
        let address = format!("http://{}", server.local_addr().unwrap());
        let tried = window.client.execute_async(ATTEMPTS, vec![json!(address)]).await.unwrap();
        for (what, outcome) in tried.as_object().unwrap() {
            assert_eq!(outcome, "refused", "{what}");
            figures.cases(1);
        }
        assert!(tried.as_object().unwrap().len() >= 10, "{tried}");
        let come = server.accept().map(|(_, from)| from);
        assert!(come.is_err(), "a connection came: {come:?}");
        let here = window.client.current_url().await.unwrap();
        assert!(!here.as_str().starts_with("http://127"), "{here}");
        assert_eq!(window.client.windows().await.unwrap().len(), 1);
        window.close().await;
    });
    figures.finish();
}

/// What a script that got into the page would try; each ends as `refused` or `done`.
const ATTEMPTS: &str = r"
    const done = arguments[arguments.length - 1];
    const [address] = arguments;
    const outcome = {};
    const tried = (name, works) => { outcome[name] = works ? 'done' : 'refused'; };
    const attempt = (name, act) => { try { tried(name, act()); } catch { tried(name, false); } };
    attempt('global Tauri', () => window.__TAURI__ !== undefined);
    attempt('prototype', () => { Object.prototype.polluted = 1; return ({}).polluted === 1; });
    attempt('eval', () => (0, eval)('1') === 1);
    attempt('Function', () => new Function('return 1')() === 1);
    attempt('inline script', () => {
        const script = document.createElement('script');
        script.textContent = 'window.inlined = true';
        document.body.append(script);
        return window.inlined === true;
    });
    attempt('inline handler', () => {
        const box = document.createElement('div');
        box.setAttribute('onclick', 'window.handled = true');
        document.body.append(box);
        box.click();
        return window.handled === true;
    });
    attempt('window', () => Boolean(window.open(address)));
    const make = (tag, attributes) => {
        const element = Object.assign(document.createElement(tag), attributes);
        document.body.append(element);
        return element;
    };
    const loaded = (name, element) => new Promise((next) => {
        element.onload = () => { tried(name, element.tagName !== 'IFRAME'); next(); };
        element.onerror = () => { tried(name, false); next(); };
        setTimeout(() => { if (!(name in outcome)) tried(name, false); next(); }, 2000);
    });
    const worker = () => new Promise((next) => {
        try {
            const worker = new Worker(address + '/w.js');
            worker.onerror = () => { tried('worker', false); next(); };
            worker.onmessage = () => { tried('worker', true); next(); };
        } catch { tried('worker', false); next(); }
        setTimeout(() => { if (!('worker' in outcome)) tried('worker', false); next(); }, 2000);
    });
    const socket = () => new Promise((next) => {
        try {
            const socket = new WebSocket(address.replace('http', 'ws'));
            socket.onopen = () => { tried('socket', true); next(); };
            socket.onerror = () => { tried('socket', false); next(); };
        } catch { tried('socket', false); next(); }
    });
    Promise.all([
        fetch(address).then(() => tried('fetch', true), () => tried('fetch', false)),
        loaded('image', make('img', { src: address + '/i.png' })),
        loaded('script', make('script', { src: address + '/s.js' })),
        loaded('frame', make('iframe', { src: address })),
        loaded('style', make('link', { rel: 'stylesheet', href: address + '/s.css' })),
        worker(),
        socket(),
    ]).then(() => {
        const form = make('form', { action: address, method: 'post' });
        form.submit();
        location.href = address;
        // The window stays where it is: a page that goes away could not say this.
        setTimeout(() => { tried('navigation', location.href.startsWith(address)); done(outcome); }, 1000);
    });
";

fn file(window: &Window, name: &str, text: &str) -> PathBuf {
    let folder = window.home().join("files");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    file
}

#[test]
fn files_dragged_onto_the_window_are_sent_and_completed() {
    journey(async {
        let window = Window::open().await;
        window.shows("[data-testid=send-samples]", 1).await;
        let one = file(&window, "mumps.json", &DocumentBuilder::new(11).json());
        let two = file(&window, "cholera.xml", &DocumentBuilder::new(12).xml());
        window.drag(&[&one, &two]).await;
        window.shows("[data-testid=candidate-row]", 2).await;
        window.picture("dropped").await;
        window.click("[data-testid=send-button]").await;
        window.click("[data-testid=nav-reports]").await;
        window.shows("[data-testid=report-row][data-state=completed]", 2).await;
        window.picture("completed").await;
        window.close().await;
    });
}

/// The process that draws the page is killed in the middle of a batch: the core goes on, and the
/// page comes back.
#[test]
fn a_page_whose_process_is_killed_comes_back() {
    let mut figures = Figures::start("kill", "a_page_whose_process_is_killed_comes_back");
    journey(async {
        let window = Window::open().await;
        window.click("[data-testid=send-samples]").await;
        window.shows("[data-testid=candidate-row]", 5).await;
        window.click("[data-testid=send-button]").await;
        let drawing = window.drawing_processes();
        assert!(!drawing.is_empty());
        let killed = window.kill_processes(&drawing);
        assert_eq!(killed, drawing.len());
        // The WebDriver session ended with its page: what can still be asked are processes and
        // journal.
        window.until("the page is drawn by another process", || {
            window.drawing_processes().iter().any(|number| !drawing.contains(number))
        });
        let profile = window.home().join("practice");
        window.until("the batch is through", || {
            let mut list = Command::new(program("labcourier"));
            list.args(["--json", "--profile"]).arg(&profile).arg("list");
            let rows = objects(&list.output().unwrap());
            let of = |code: &str| column(&rows, "state").iter().filter(|s| *s == code).count();
            of("failed") == 1 && of("completed") >= 3
        });
        figures.cases(killed as u64);
        drop(window.kill());
    });
    figures.finish();
}

#[test]
fn the_lesson_one_sample_fails_and_its_correction_is_completed() {
    journey(async {
        let window = Window::open().await;
        window.click("[data-testid=send-samples]").await;
        window.shows("[data-testid=candidate-row]", 5).await;
        window.picture("samples").await;
        window.click("[data-testid=send-button]").await;
        window.click("[data-testid=nav-reports]").await;
        window.shows("[data-testid=report-row][data-state=failed]", 1).await;
        window.shows("[data-testid=report-row][data-state=completed]", 3).await;
        window.click("[data-testid=report-row][data-state=failed]").await;
        window.shows("[data-testid=message]", 1).await;
        window.picture("failed").await;
        let message = window.text("[data-testid=message]").await;
        assert!(message.contains("FOPH-"), "the authority's code is shown: {message}");
        window.click("[data-testid=action-resubmit]").await;
        // Unchanged, it fails again: a new submission, the old one replaced.
        window.shows("[data-testid=report-row][data-state=superseded]", 1).await;
        window.shows("[data-testid=report-row][data-state=failed]", 1).await;
        // The corrected file dropped on the open report takes its place.
        window.click("[data-testid=report-row][data-state=failed]").await;
        window.shows("[data-testid=detail] [data-testid=action-correct]", 1).await;
        let corrections = window.home().join("practice/corrections");
        let corrected = std::fs::read_dir(corrections).unwrap().flatten().next().unwrap().path();
        window.drag(&[&corrected]).await;
        window.click("[data-testid=drop-as-correction]").await;
        // Once the file has been looked at.
        window.click("[data-testid=drop-correct]:not([disabled])").await;
        window.shows("[data-testid=report-row][data-state=superseded]", 2).await;
        window.shows("[data-testid=report-row][data-state=completed]", 6).await;
        window.picture("corrected").await;
        window.close().await;
    });
}

/// What comes into a watched folder is sent while the program runs: closing the window is asked
/// first.
#[test]
fn closing_the_window_while_a_folder_is_watched_is_asked() {
    journey(async {
        let folder = tempfile::tempdir().unwrap();
        let window = Window::open().await;
        window.click("[data-testid=welcome-skip]").await;
        let status = invoke(&window, "status", json!({})).await;
        // Dropped by a person, so that the page may name it.
        window.drag(&[folder.path()]).await;
        let watched = json!({ "path": folder.path(), "room": status[1]["room"] });
        let set = invoke(&window, "set_watched_folder", watched).await;
        assert_eq!(set[0], "given", "{set}");
        let asked = || window.titles().contains("The watched folder");
        window.ask_to_close();
        window.until("the question is there", asked);
        window.press("Escape");
        window.until("the question is gone", || !asked());
        window.shows("[data-testid=nav-reports]", 1).await;
        drop(window.kill());
    });
}

/// Without the window nothing is sent: closing it while reports wait is asked first, and nothing is
/// lost meanwhile.
#[test]
fn closing_the_window_while_reports_are_under_way_is_asked() {
    journey(async {
        let window = Window::open().await;
        window.click("[data-testid=send-samples]").await;
        window.shows("[data-testid=candidate-row]", 5).await;
        window.click("[data-testid=send-button]").await;
        window.shows("[data-testid=undo]", 1).await;
        let asked = || window.titles().contains("Reports are under way");
        window.ask_to_close();
        window.until("the question is there", asked);
        // Whoever does not answer has decided nothing.
        window.press("Escape");
        window.until("the question is gone", || !asked());
        window.click("[data-testid=nav-reports]").await;
        window.shows("[data-testid=report-row][data-state=completed]", 3).await;
        window.shows("[data-testid=report-row][data-state=failed]", 1).await;
        // Each of them has its end: the last one may take longer than those above.
        for state in ["queued", "sending", "unknown", "in-progress"] {
            window.shows_no(&format!("[data-testid=report-row][data-state={state}]")).await;
        }
        // What needs a person does not go on by itself: the window closes without a question.
        let drawing = window.drawing_processes();
        window.ask_to_close();
        window.until("the program ends", || {
            window.drawing_processes().iter().all(|number| !drawing.contains(number))
        });
        drop(window.kill());
    });
}

#[test]
fn a_certificate_is_inspected_and_kept_in_the_keychain() {
    journey(async {
        let data = tempfile::tempdir().unwrap();
        Authority::init(data.path());
        let p12 = data.path().join("pilot/riverside.p12");
        let password = std::fs::read_to_string(p12.with_extension("password")).unwrap();
        let window = Window::open().await;
        window.click("[data-testid=welcome-skip]").await;
        window.click("[data-testid=nav-certificate]").await;
        window.shows("[data-testid=certificate-import]", 1).await;
        window.drag(&[&p12]).await;
        window.write("[data-testid=certificate-password]", "not the password").await;
        window.click("[data-testid=certificate-inspect]").await;
        window.shows("[role=alert], [data-testid=problem]", 1).await;
        window.write("[data-testid=certificate-password]", password.trim()).await;
        window.click("[data-testid=certificate-inspect]").await;
        window.shows("[data-testid=certificate-confirm]", 1).await;
        window.picture("certificate").await;
        window.click("[data-testid=certificate-confirm]").await;
        let kept = window.text("[data-testid=certificate-stored]").await;
        assert!(kept.contains("riverside"), "{kept}");
        window.picture("certificate-kept").await;
        // The headless program finds the very certificate in the keychain.
        let mut shown = Command::new(program("labcourier"));
        shown.arg("--profile").arg(window.home().join("laboratory")).args(["identity", "show"]);
        let shown = shown.output().unwrap();
        let words = String::from_utf8_lossy(&shown.stdout);
        assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
        assert!(words.contains("riverside"), "{words}");
        window.close().await;
    });
}
