//! The commands of the window: their arguments are read, and all meaning is, in `bridge`. Tauri
//! lets a call come here only where the capability grants its name to the window that asks.

use std::path::PathBuf;
use std::sync::Arc;

use bridge::{Call, Desk, Problem, Purpose, Wording};
use serde_json::Value;
use tauri::ipc::{Invoke, InvokeBody, InvokeError, InvokeResponseBody};
use tauri::{AppHandle, Manager as _, Runtime};
use tauri_plugin_dialog::{DialogExt as _, FilePath};
use texts::Language;

use crate::house::House;
use crate::{autostart, installing, question};

/// What stands on a statement, in a language.
fn wording(language: &str) -> Wording {
    let language = Language::of_locale(language);
    Wording::new(language.code(), move |id, params| language.shared(id, params))
}

/// Answers every command; `false` for a name that no command has.
pub(crate) fn handle<R: Runtime>(invoke: Invoke<R>) -> bool {
    let Invoke { message, resolver, .. } = invoke;
    let mut arguments = match message.payload() {
        InvokeBody::Json(arguments) => arguments.clone(),
        // Bytes are the arguments of no command, and are refused as such.
        InvokeBody::Raw(_) => Value::Null,
    };
    let room = Call::take_room(&mut arguments);
    let Some(call) = Call::read(message.command(), arguments) else { return false };
    let app = message.webview().app_handle().clone();
    resolver.respond_async_serialized(async move {
        let answered = match call {
            Ok(call) => answer(&app, room, call).await,
            Err(problem) => Err(problem),
        };
        answered.map(InvokeResponseBody::Json).map_err(InvokeError::from)
    });
    true
}

async fn answer<R: Runtime>(
    app: &AppHandle<R>,
    room: Result<Option<u32>, Problem>,
    call: Call,
) -> Result<String, Problem> {
    // A desk that does not open shows nobody's name; the dialogs work all the same.
    if let Ok(desk) = app.state::<Arc<House>>().desk().await {
        // Not of the page, which could answer itself: reports of patients will go there.
        if !desk.is_locked()
            && let Some(question) = desk.question(&call).await?
            && question::allows(app, &desk, &question).await
        {
            desk.allow(&call);
        }
        desk.permits(&call)?;
    }
    match call {
        Call::ChooseFiles { purpose } => {
            let chosen = choose_files(app, purpose).await;
            unlocked(app).await?;
            grant(app, chosen.iter().map(PathBuf::from)).await;
            Ok(text(chosen))
        }
        Call::ChooseFolder {} => {
            let chosen = choose_folder(app).await;
            unlocked(app).await?;
            grant(app, chosen.iter().map(PathBuf::from)).await;
            Ok(text(chosen))
        }
        Call::SaveSupport {} => match choose_target(app, "labcourier-support.zip").await {
            Some(target) => {
                app.state::<Arc<House>>().desk().await?.save_support(&target).await?;
                Ok(text(true))
            }
            None => Ok(text(false)),
        },
        Call::SaveTable { text: table } => match choose_target(app, "labcourier.csv").await {
            Some(target) => {
                unlocked(app).await?;
                app.state::<Arc<House>>().desk().await?.save_table(&target, table).await?;
                Ok(text(true))
            }
            None => Ok(text(false)),
        },
        Call::SaveStatement { date, language } => {
            // The page says which day; what stands in the dialog is a name and never a place.
            let day: String = date.chars().filter(|c| c.is_ascii_digit() || *c == '-').collect();
            let name = format!("labcourier-{day}.pdf");
            match choose_target(app, &name).await {
                Some(target) => {
                    unlocked(app).await?;
                    let desk = app.state::<Arc<House>>().desk().await?;
                    desk.save_statement(&target, date, wording(&language)).await?;
                    Ok(text(true))
                }
                None => Ok(text(false)),
            }
        }
        Call::InstallUpdate {} => install(app).await.map(text),
        Call::SetPreferences { preferences } => {
            let desk = app.state::<Arc<House>>().desk().await?;
            start_at_login(&desk, preferences.start_at_login).await?;
            desk.answer(Call::SetPreferences { preferences }, room?).await
        }
        call => app.state::<Arc<House>>().desk().await?.answer(call, room?).await,
    }
}

/// Opens what the desk has found to be right at this moment.
async fn install<R: Runtime>(app: &AppHandle<R>) -> Result<bool, Problem> {
    let desk = app.state::<Arc<House>>().desk().await?;
    let Some(file) = desk.update_to_install().await? else { return Ok(false) };
    installing::open(&file).map_err(|error| {
        let (file, reason) = (file.display().to_string(), error.kind().to_string());
        Problem::new("file-unreadable", &[("file", &file), ("reason", &reason)], "update")
    })?;
    Ok(true)
}

/// Whoever removes the entry with a tool of their system is not given it back by another setting.
async fn start_at_login(desk: &Desk, on: bool) -> Result<(), Problem> {
    if desk.preferences().await?.start_at_login == on {
        return Ok(());
    }
    autostart::set(on).map_err(|error| {
        let params = [("file", "lab-courier.desktop"), ("reason", &error.kind().to_string())];
        Problem::new("file-unreadable", &params, "startAtLogin")
    })
}

/// The window may have locked itself while a dialog was open: names of files are not for whoever
/// sits there now.
async fn unlocked<R: Runtime>(app: &AppHandle<R>) -> Result<(), Problem> {
    match app.state::<Arc<House>>().desk().await {
        Ok(desk) => desk.permits(&Call::ChooseFolder {}),
        Err(_) => Ok(()),
    }
}

/// The page may name what a person has just handed over. Where the desk does not open it can do
/// nothing with it.
pub(crate) async fn grant<R: Runtime>(
    app: &AppHandle<R>,
    paths: impl IntoIterator<Item = PathBuf>,
) {
    if let Ok(desk) = app.state::<Arc<House>>().desk().await {
        desk.grant(paths);
    }
}

fn text(chosen: impl Into<Value>) -> String {
    chosen.into().to_string()
}

async fn choose_files<R: Runtime>(app: &AppHandle<R>, purpose: Purpose) -> Vec<String> {
    let extensions: &[&str] = match purpose {
        Purpose::Reports => &["json", "xml", "zip", "ndjson"],
        Purpose::Certificate => &["p12", "pfx", "pem", "cer", "crt", "der", "key"],
        Purpose::Ca => &["pem", "cer", "crt"],
        Purpose::Rules => &["tgz", "json"],
    };
    let (answer, chosen) = tokio::sync::oneshot::channel();
    app.dialog()
        .file()
        .add_filter(extensions.join(", "), extensions)
        .add_filter("*", &["*"])
        .pick_files(move |files| {
            // The page may be gone by the time the dialog closes.
            let _ = answer.send(files);
        });
    let files = chosen.await.ok().flatten().unwrap_or_default();
    files.into_iter().filter_map(path_of).collect()
}

async fn choose_folder<R: Runtime>(app: &AppHandle<R>) -> Option<String> {
    let (answer, chosen) = tokio::sync::oneshot::channel();
    app.dialog().file().pick_folder(move |folder| {
        // As above.
        let _ = answer.send(folder);
    });
    chosen.await.ok().flatten().and_then(path_of)
}

/// Where to save; the dialog asks before a file is replaced.
async fn choose_target<R: Runtime>(app: &AppHandle<R>, name: &str) -> Option<PathBuf> {
    let (answer, chosen) = tokio::sync::oneshot::channel();
    let extension = name.rsplit_once('.').map_or("*", |(_, extension)| extension);
    let dialog = app.dialog().file().set_file_name(name).add_filter(extension, &[extension]);
    dialog.save_file(move |file| {
        // As above.
        let _ = answer.send(file);
    });
    chosen.await.ok().flatten()?.into_path().ok()
}

/// A chosen path as the page hands it back; one that is no Unicode cannot travel through it.
fn path_of(chosen: FilePath) -> Option<String> {
    chosen.into_path().ok()?.into_os_string().into_string().ok()
}
