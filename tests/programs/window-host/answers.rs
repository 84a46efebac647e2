//! Requests of the browser: the page's files, the page's calls, and what a test asks of the shell.

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};

use crate::shell::Shell;

/// Stands where the desktop shell puts its own script: calls and events of Tauri, over HTTP.
const SCRIPT: &str = include_str!("shell.js");

/// The policy of the product, but for the connection to this host instead of Tauri's own.
fn policy() -> String {
    let product = include_str!("../../../tauri.conf.json");
    let product: Value = serde_json::from_str(product).unwrap_or_default();
    let policy = product["app"]["security"]["csp"].as_str().unwrap_or("default-src 'none'");
    policy.replace("connect-src ipc: http://ipc.localhost", "connect-src 'self'")
}

/// Answers one request.
pub(crate) async fn answer(shell: &Shell, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let path = request.uri().path().to_owned();
    let query = request.uri().query().unwrap_or_default().to_owned();
    if request.method() == Method::GET {
        return match path.as_str() {
            "/host/events" => {
                let events = shell.events_from(query.parse().unwrap_or(0)).await;
                respond(StatusCode::OK, "application/json", json!(events).to_string())
            }
            "/host/shell.js" => respond(StatusCode::OK, "text/javascript", SCRIPT),
            _ => file(shell, &path),
        };
    }
    let Ok(body) = request.into_body().collect().await else { return not_found() };
    let body: Value = serde_json::from_slice(&body.to_bytes()).unwrap_or_default();
    match path.as_str() {
        "/host/grant" => shell.grant(&body),
        "/host/drop" => shell.drop_files(&body),
        "/host/rules" => {
            if let Err(problem) = shell.use_rules(&body) {
                let text = serde_json::to_string(&problem).unwrap_or_default();
                return respond(StatusCode::BAD_REQUEST, "application/json", text);
            }
        }
        "/host/doubt" => {
            if let Err(why) = shell.doubt(&body) {
                return respond(StatusCode::BAD_REQUEST, "text/plain", why);
            }
        }
        "/host/choose" => {
            shell.grant(&body);
            shell.choose(serde_json::from_value(body).unwrap_or_default());
        }
        _ => {
            let Some(command) = path.strip_prefix("/call/") else { return not_found() };
            return match shell.call(command, body).await {
                Some(Ok(text)) => respond(StatusCode::OK, "application/json", text),
                Some(Err(problem)) => {
                    let text = serde_json::to_string(&problem).unwrap_or_default();
                    respond(StatusCode::BAD_REQUEST, "application/json", text)
                }
                None => not_found(),
            };
        }
    }
    respond(StatusCode::OK, "application/json", "null")
}

/// A file of the built page; into its first page goes the script of the shell.
fn file(shell: &Shell, path: &str) -> Response<Full<Bytes>> {
    let name = if path == "/" { "index.html" } else { path.trim_start_matches('/') };
    if name.split('/').any(|part| part == "..") {
        return not_found();
    }
    let Ok(bytes) = std::fs::read(shell.pages.join(name)) else { return not_found() };
    let kind = match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        Some("woff2") => "font/woff2",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    if name != "index.html" {
        return respond(StatusCode::OK, kind, bytes);
    }
    shell.page_begins();
    let page = String::from_utf8_lossy(&bytes);
    let script = "<head><script src=\"/host/shell.js\"></script>";
    respond(StatusCode::OK, kind, page.replacen("<head>", script, 1))
}

fn not_found() -> Response<Full<Bytes>> {
    respond(StatusCode::NOT_FOUND, "text/plain", "not found")
}

fn respond(status: StatusCode, kind: &str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let mut set = |name: &'static str, value: &str| {
        if let Ok(value) = value.parse() {
            headers.insert(name, value);
        }
    };
    set("content-type", kind);
    set("content-security-policy", &policy());
    response
}
