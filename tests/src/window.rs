//! The real window under a display of its own, driven through WebDriver.

use std::io::{BufRead as _, BufReader};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use fantoccini::wd::Capabilities;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program;

/// Longest wait for anything that the window should show.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program that ends with the test.
struct Running(Child);

impl Running {
    /// Starts a program as the leader of its own process group, so that its children end with it.
    fn start(command: &mut Command) -> std::io::Result<Self> {
        command.process_group(0).spawn().map(Self)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let group = format!("-{}", self.0.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = self.0.wait();
    }
}

/// Lab Courier, opened in a home of its own.
pub struct Window {
    /// The WebDriver session.
    pub client: Client,
    display: String,
    home: TempDir,
    driver: Running,
    _screen: Running,
}

impl Window {
    /// Opens the window in practice mode.
    pub async fn open() -> Self {
        Self::open_with(&[]).await
    }

    /// As [`Window::open`], started with these arguments.
    pub async fn open_with(arguments: &[&str]) -> Self {
        Self::open_program(&program("lab-courier"), arguments).await
    }

    /// As [`Window::open`], with a program that lies elsewhere.
    pub async fn open_installed(application: &Path) -> Self {
        Self::open_program(application, &[]).await
    }

    async fn open_program(application: &Path, arguments: &[&str]) -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let (screen, display) = screen();
        let (port, native) = (free_port(), free_port());
        let mut driver = Command::new(tauri_driver());
        driver
            .args(["--port", &port.to_string(), "--native-port", &native.to_string()])
            .env("DISPLAY", &display)
            .env("HOME", home.path())
            .env("LABCOURIER_HOME", home.path().join("labcourier"))
            .env("XDG_DATA_HOME", home.path().join("data"))
            .env("XDG_CACHE_HOME", home.path().join("cache"))
            .env("XDG_CONFIG_HOME", home.path().join("config"))
            .env("LANG", "C.UTF-8")
            // A virtual screen has no graphics card.
            .env("GDK_BACKEND", "x11")
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .env("NO_AT_BRIDGE", "1")
            .env_remove("WAYLAND_DISPLAY")
            .stdin(Stdio::null());
        let driver = Running::start(&mut driver);
        let driver = driver.expect("tauri-driver starts: `cargo xtask setup` installs it");
        until("both ports of the driver", || {
            [port, native].iter().all(|port| TcpStream::connect(("127.0.0.1", *port)).is_ok())
        });
        let options = json!({ "application": application, "args": arguments });
        let client = session(port, options).await;
        Self { client, display, home, driver, _screen: screen }
    }

    /// Starts the program once more, as a file manager or a link does; it ends by itself.
    pub fn start_again(&self, arguments: &[&str]) {
        let mut again = Command::new(program("lab-courier"));
        again.args(arguments).env("DISPLAY", &self.display).env("HOME", self.home.path());
        again.env("LABCOURIER_HOME", self.home()).env("GDK_BACKEND", "x11");
        again.env_remove("WAYLAND_DISPLAY").stdin(Stdio::null());
        let mut again = Running::start(&mut again).expect("the program starts");
        until("the second start hands over and ends", || {
            again.0.try_wait().is_ok_and(|ended| ended.is_some())
        });
    }

    /// The folder in which the program keeps its profiles.
    pub fn home(&self) -> PathBuf {
        self.home.path().join("labcourier")
    }

    /// Waits for an element and gives its text.
    pub async fn text(&self, selector: &str) -> String {
        let element =
            self.client.wait().at_most(PATIENCE).for_element(Locator::Css(selector)).await;
        element.unwrap_or_else(|error| panic!("{selector}: {error}")).text().await.expect("a text")
    }

    /// Waits for an element and clicks it.
    pub async fn click(&self, selector: &str) {
        let element =
            self.client.wait().at_most(PATIENCE).for_element(Locator::Css(selector)).await;
        element
            .unwrap_or_else(|error| panic!("{selector}: {error}"))
            .click()
            .await
            .expect(selector);
    }

    /// Waits until so many elements are shown.
    pub async fn shows(&self, selector: &str, count: usize) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let found = self.client.find_all(Locator::Css(selector)).await.expect("a page").len();
            if found >= count {
                return;
            }
            if Instant::now() > deadline {
                let page = self.text("body").await;
                panic!("{selector}: {found} of {count} after {PATIENCE:?}\n{page}");
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Waits until no such element is shown.
    pub async fn shows_no(&self, selector: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.client.find_all(Locator::Css(selector)).await.expect("a page").is_empty() {
            assert!(Instant::now() < deadline, "{selector}: still shown after {PATIENCE:?}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Waits for a field and writes into it, in place of what it holds.
    pub async fn write(&self, selector: &str, text: &str) {
        let field = self.client.wait().at_most(PATIENCE).for_element(Locator::Css(selector)).await;
        let field = field.unwrap_or_else(|error| panic!("{selector}: {error}"));
        // Control+A, as a person does: clearing through WebDriver passes by what the page listens
        // to.
        field.send_keys("\u{E009}a\u{E000}").await.expect(selector);
        field.send_keys(text).await.expect(selector);
    }

    /// Keeps a picture of the window.
    pub async fn picture(&self, name: &str) {
        let folder = std::env::var_os("LABCOURIER_PICTURES");
        let Some(folder) = folder.map(PathBuf::from) else { return };
        let png = self.client.screenshot().await.expect("a screenshot");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join(format!("{name}.png")), png).expect("written");
    }

    /// Drags files onto the window with the mouse, as a person does.
    pub async fn drag(&self, files: &[&Path]) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("journeys/drag_source.py");
        let mut source = Command::new("/usr/bin/python3");
        source.arg(script).args(["1140", "700"]).args(files);
        source.env("DISPLAY", &self.display).stdout(Stdio::piped());
        let mut source = Running::start(&mut source).expect("python3-gi is installed");
        let stdout = source.0.stdout.take().expect("stdout is piped");
        let mut said = BufReader::new(stdout);
        assert_eq!(line(&mut said), "ready");
        self.xdotool(&["mousemove", "1170", "730", "mousedown", "1"]);
        // A drag begins only after the pointer has travelled a little, step by step.
        for step in 1..=20_i32 {
            let (x, y) = ((1170 - step * 28).to_string(), (730 - step * 18).to_string());
            self.xdotool(&["mousemove", "--sync", &x, &y]);
        }
        self.xdotool(&["mousemove", "--sync", "608", "372"]);
        // The window has seen the files come.
        self.shows("[data-testid=drop-veil]", 1).await;
        self.xdotool(&["mouseup", "1"]);
        assert_eq!(line(&mut said), "dropped");
    }

    fn xdotool(&self, arguments: &[&str]) {
        let status = Command::new("xdotool").args(arguments).env("DISPLAY", &self.display).status();
        assert!(status.expect("xdotool is installed").success(), "xdotool {arguments:?}");
    }

    /// Titles of all windows on the screen, one a line.
    pub fn titles(&self) -> String {
        let mut search = Command::new("xdotool");
        search.args(["search", "--name", ".*", "getwindowname", "%@"]);
        let output = search.env("DISPLAY", &self.display).output().expect("xdotool is installed");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Asks for it to be closed, as a click on its cross does.
    pub fn ask_to_close(&self) {
        let mut search = Command::new("xdotool");
        search.args(["search", "--onlyvisible", "--name", "^Lab Courier"]);
        let found = search.env("DISPLAY", &self.display).output().expect("xdotool is installed");
        let numbers = String::from_utf8_lossy(&found.stdout).into_owned();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("journeys/close_request.py");
        let mut request = Command::new("/usr/bin/python3");
        request.arg(script).args(numbers.split_whitespace()).env("DISPLAY", &self.display);
        assert!(request.status().expect("python3 is installed").success());
    }

    /// Presses a key, wherever the keyboard is.
    pub fn press(&self, key: &str) {
        self.xdotool(&["key", key]);
    }

    /// The processes that were started for it: driver, program, web view.
    pub fn processes(&self) -> Vec<PathBuf> {
        let group = self.driver.0.id().to_string();
        let in_group = |process: &PathBuf| {
            let stat = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
            // The name may hold spaces; behind it follow state, parent and group (proc(5)).
            let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
            rest.split_whitespace().nth(2) == Some(&group)
        };
        let all = std::fs::read_dir("/proc").expect("on Linux").flatten();
        all.map(|entry| entry.path()).filter(in_group).collect()
    }

    /// Those of them that draw the page, by their numbers.
    pub fn drawing_processes(&self) -> Vec<u32> {
        let draws = |process: &PathBuf| {
            let name = std::fs::read_to_string(process.join("comm")).unwrap_or_default();
            name.starts_with("WebKitWebProc")
        };
        let number = |process: PathBuf| process.file_name()?.to_str()?.parse().ok();
        self.processes().into_iter().filter(draws).filter_map(number).collect()
    }

    /// Kills them; how many.
    pub fn kill_processes(&self, numbers: &[u32]) -> usize {
        let kill = |number: &&u32| {
            let status = Command::new("kill").args(["-KILL", &number.to_string()]).status();
            status.is_ok_and(|status| status.success())
        };
        numbers.iter().filter(kill).count()
    }

    /// Waits until something holds.
    ///
    /// # Panics
    /// Where it does not within a minute.
    pub fn until(&self, what: &str, holds: impl FnMut() -> bool) {
        until(what, holds);
    }

    /// Kills driver, program and web view at once; what they left behind is in this folder.
    pub fn kill(self) -> TempDir {
        let Self { driver, home, .. } = self;
        drop(driver);
        home
    }

    /// Closes the window.
    pub async fn close(self) {
        self.client.clone().close().await.expect("the session ends");
    }
}

fn line(said: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    said.read_line(&mut line).expect("a line");
    line.trim().to_owned()
}

/// A virtual screen on a free display number.
fn screen() -> (Running, String) {
    let mut server = Command::new("Xvfb");
    server
        .args(["-displayfd", "1", "-screen", "0", "1280x820x24", "-nolisten", "tcp"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut server = Running::start(&mut server).expect("Xvfb is installed");
    let stdout = server.0.stdout.take().expect("stdout is piped");
    let number = line(&mut BufReader::new(stdout));
    (server, format!(":{number}"))
}

fn tauri_driver() -> PathBuf {
    let own = program("labcourier")
        .ancestors()
        .nth(2)
        .map(|target| target.join("tools/bin/tauri-driver"));
    own.filter(|driver| driver.exists()).unwrap_or_else(|| PathBuf::from("tauri-driver"))
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    listener.local_addr().expect("an address").port()
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A session; only its creation is tried again, because the web view's driver is slow to wake.
async fn session(port: u16, options: Value) -> Client {
    let mut capabilities = Capabilities::new();
    capabilities.insert("tauri:options".to_owned(), options);
    capabilities.insert("browserName".to_owned(), json!("wry"));
    let address = format!("http://127.0.0.1:{port}");
    let mut last = None;
    for _ in 0..3 {
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(capabilities.clone());
        let connecting = builder.connect(&address);
        match tokio::time::timeout(PATIENCE, connecting).await {
            Ok(Ok(client)) => return client,
            Ok(Err(error)) => last = Some(error.to_string()),
            Err(_) => last = Some("no answer".to_owned()),
        }
    }
    panic!("no WebDriver session: {last:?}");
}
