//! The one window: opening it, files dropped on it, and telling it when something changed.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bridge::Opened;
use serde::Serialize;
use tauri::webview::PageLoadEvent;
use tauri::{
    AppHandle, DragDropEvent, Emitter as _, Manager as _, WebviewUrl, WebviewWindow,
    WebviewWindowBuilder, Window, WindowEvent,
};

use crate::house::House;
use crate::{closing, commands};

/// The window's label; capabilities are granted to it alone.
const MAIN: &str = "main";
/// Pause before a desk that did not open is tried again.
const TRY_AGAIN: Duration = Duration::from_secs(5);
/// Pause before a page whose process has ended is loaded again.
#[cfg(target_os = "linux")]
const DRAW_AGAIN: Duration = Duration::from_millis(500);
/// Files of one drop; more than that is a folder's business, and none of them is taken.
const DROPPED_MAX: usize = 10_000;

#[derive(Clone, Serialize)]
struct Changed {
    revision: u64,
}

#[derive(Clone, Serialize)]
struct Drag {
    phase: &'static str,
}

#[derive(Clone, Serialize)]
struct Dropped {
    paths: Vec<PathBuf>,
    /// So many files that none of them was taken.
    refused: usize,
}

/// Opens the window; in the background it waits until the tray is found, or is not.
pub(crate) fn open(app: &AppHandle, in_background: bool) -> tauri::Result<()> {
    let window = WebviewWindowBuilder::new(app, MAIN, WebviewUrl::App("index.html".into()))
        .title("Lab Courier")
        .inner_size(1280.0, 820.0)
        // The page reflows down to this width.
        .min_inner_size(320.0, 400.0)
        .visible(!in_background)
        .on_document_title_changed(|window, title| {
            // The page names the environment; a title that cannot be set stays as it was.
            let _ = window.set_title(&title);
        })
        .on_page_load(|window, load| {
            if load.event() == PageLoadEvent::Started {
                let house = window.state::<Arc<House>>().inner().clone();
                tauri::async_runtime::spawn(async move { house.page_begins().await });
            }
        })
        .on_navigation(|url| {
            // The window shows our own pages and nothing else, whatever a document contains.
            matches!(url.scheme(), "tauri") || url.host_str() == Some("tauri.localhost")
        })
        .build()?;
    draw_again_when_ended(&window)
}

/// The page is drawn by a process of its own, which may be killed or run out of memory: it is
/// loaded again. Sending goes on meanwhile; what stood in open fields is lost. Elsewhere the web
/// view's own page says so.
#[cfg(target_os = "linux")]
fn draw_again_when_ended(window: &WebviewWindow) -> tauri::Result<()> {
    use webkit2gtk::WebViewExt as _;

    let app = window.app_handle().clone();
    window.with_webview(move |view| {
        view.inner().connect_web_process_terminated(move |_, _| {
            let app = app.clone();
            tauri::async_runtime::spawn(async move {
                app.state::<Arc<House>>().page_begins().await;
                // A page that ends again and again must not keep the computer busy.
                tokio::time::sleep(DRAW_AGAIN).await;
                if let Some(window) = app.get_webview_window(MAIN) {
                    // A window that is closed needs no page.
                    let _ = window.reload();
                }
            });
        });
    })
}

#[cfg(not(target_os = "linux"))]
fn draw_again_when_ended(_: &WebviewWindow) -> tauri::Result<()> {
    Ok(())
}

/// Brings the window to the front (a second start of the program, the tray).
pub(crate) fn show(app: &AppHandle) {
    if let Some(window) = app.get_webview_window(MAIN) {
        // Failing to raise a window is no reason to disturb anybody.
        let _ = window.show();
        let _ = window.unminimize();
        let _ = window.set_focus();
    }
}

/// A hidden window that nothing can call back stands in the bar of windows.
pub(crate) fn come_out_of_hiding(app: &AppHandle) {
    let handle = app.clone();
    // Where the program ends there is nothing to show.
    let _ = app.run_on_main_thread(move || {
        if let Some(window) = handle.get_webview_window(MAIN)
            && !window.is_visible().unwrap_or(true)
        {
            // As above.
            let _ = window.minimize();
            let _ = window.show();
        }
    });
}

/// Whether a person has it in front of them. No thread waits for the thread of the windows: once
/// the program ends that answers nobody, and what else the waiting one had to do is never done.
pub(crate) async fn is_in_view(app: &AppHandle) -> bool {
    let (answer, said) = tokio::sync::oneshot::channel();
    let handle = app.clone();
    let asked = app.run_on_main_thread(move || {
        let in_view = handle.get_webview_window(MAIN).is_some_and(|window| {
            window.is_visible().unwrap_or(false)
                && !window.is_minimized().unwrap_or(false)
                && window.is_focused().unwrap_or(false)
        });
        // Nobody waits any more once the program ends.
        let _ = answer.send(in_view);
    });
    asked.is_ok() && said.await.unwrap_or(false)
}

/// A start of the program hands something over: the page is told, and asks for it.
pub(crate) fn opened(app: &AppHandle, opened: Opened) {
    if opened.is_empty() {
        return;
    }
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        // Where the desk does not open the page could do nothing with it.
        if let Ok(desk) = app.state::<Arc<House>>().desk().await {
            desk.hand_in(opened);
            // A page that does not listen yet asks once it is there.
            let _ = app.emit("opened", ());
        }
    });
}

/// Files dragged over the window and dropped on it.
pub(crate) fn on_event(window: &Window, event: &WindowEvent) {
    let drag = match event {
        WindowEvent::DragDrop(drag) => drag,
        WindowEvent::CloseRequested { api, .. } => return closing::requested(window, api),
        _ => return,
    };
    // An event that nobody listens to (page still loading) is lost; the files are not touched.
    let _ = match drag {
        DragDropEvent::Enter { .. } => window.emit("drag", Drag { phase: "enter" }),
        DragDropEvent::Leave => window.emit("drag", Drag { phase: "leave" }),
        DragDropEvent::Drop { paths, .. } => {
            let _ = window.emit("drag", Drag { phase: "leave" });
            // All or none: who drops 12,000 files must not believe that 12,000 were sent.
            let (paths, refused) = match paths.len() {
                0..=DROPPED_MAX => (paths.clone(), 0),
                too_many => (Vec::new(), too_many),
            };
            let window = window.clone();
            tauri::async_runtime::spawn(async move {
                // Before the page knows of them: it names them at once.
                commands::grant(window.app_handle(), paths.iter().cloned()).await;
                let _ = window.emit("dropped", Dropped { paths, refused });
            });
            Ok(())
        }
        _ => Ok(()),
    };
}

/// Tells the page when the journal or the connection changed, whichever process changed it.
pub(crate) fn announce_changes(app: AppHandle) {
    let house = app.state::<Arc<House>>().inner().clone();
    tauri::async_runtime::spawn(async move {
        let mut seen = None;
        loop {
            let revision = match house.desk().await {
                Ok(desk) => match seen {
                    Some(seen) => desk.changed(seen).await,
                    None => desk.changed(u64::MAX).await,
                },
                // The page shows why; perhaps it opens later.
                Err(_) => {
                    tokio::time::sleep(TRY_AGAIN).await;
                    continue;
                }
            };
            seen = Some(revision);
            if app.emit("changed", Changed { revision }).is_err() {
                return;
            }
        }
    });
}

/// The window cannot be opened at all (no display, no web view): say so where it can be seen.
#[allow(clippy::print_stderr, reason = "there is no window to say it in")]
pub(crate) fn report_start_failure(error: &dyn std::error::Error) {
    eprintln!("Lab Courier cannot open its window: {error}");
}
