//! The commands of the window: their arguments are read, and all meaning is, in `bridge`. Tauri
//! lets a call come here only where the capability grants its name to the window that asks.

use std::path::PathBuf;
use std::sync::Arc;

use bridge::{Call, Desk, FolderPurpose, Problem, Wording};
use serde_json::Value;
use tauri::ipc::{Invoke, InvokeBody, InvokeError, InvokeResponseBody};
use tauri::{AppHandle, Manager as _, Runtime};
use texts::Language;

use crate::choosing::What;
use crate::house::House;
use crate::{autostart, choosing, installing, question};

/// What stands on a statement and in a support bundle, in a language.
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
        let renames = desk.renames();
        // Not of the page, which could answer itself: reports of patients will go there.
        if !desk.is_locked()
            && let Some(question) = desk.question(&call).await?
            && question::allows(app, &desk, &question).await
            && desk.renames() == renames
        {
            desk.allow(&call);
        }
        desk.permits(&call)?;
    }
    match call {
        Call::ChooseFiles { purpose } => {
            let chosen = choosing::files(app, purpose).await;
            unlocked(app).await?;
            grant(app, chosen.iter().map(PathBuf::from)).await;
            Ok(text(chosen))
        }
        Call::ChooseFolder { purpose } => {
            let chosen = choosing::folder(app, purpose).await;
            unlocked(app).await?;
            grant(app, chosen.iter().map(PathBuf::from)).await;
            Ok(text(chosen))
        }
        Call::SupportPreview { language } => {
            let desk = app.state::<Arc<House>>().desk().await?;
            let files = desk.support_preview(Some(wording(&language))).await?;
            unlocked(app).await?;
            Ok(serde_json::json!(files).to_string())
        }
        Call::SaveSupport {} => save_support(app).await.map(text),
        Call::SaveTable { text: table } => save_table(app, table).await.map(text),
        Call::SaveStatement { date, language } => {
            save_statement(app, date, &language).await.map(text)
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

async fn save_support<R: Runtime>(app: &AppHandle<R>) -> Result<bool, Problem> {
    let target = choosing::target(app, What::Support, "labcourier-support.zip").await;
    let Some(target) = target else { return Ok(false) };
    app.state::<Arc<House>>().desk().await?.save_support(&target).await?;
    Ok(true)
}

async fn save_table<R: Runtime>(app: &AppHandle<R>, table: String) -> Result<bool, Problem> {
    let target = choosing::target(app, What::Table, "labcourier.csv").await;
    let Some(target) = target else { return Ok(false) };
    unlocked(app).await?;
    app.state::<Arc<House>>().desk().await?.save_table(&target, table).await?;
    Ok(true)
}

async fn save_statement<R: Runtime>(
    app: &AppHandle<R>,
    date: String,
    language: &str,
) -> Result<bool, Problem> {
    // The page says which day; what stands in the dialog is a name and never a place.
    let day: String = date.chars().filter(|c| c.is_ascii_digit() || *c == '-').collect();
    let name = format!("labcourier-{day}.pdf");
    let target = choosing::target(app, What::Statement, &name).await;
    let Some(target) = target else { return Ok(false) };
    unlocked(app).await?;
    let desk = app.state::<Arc<House>>().desk().await?;
    desk.save_statement(&target, date, wording(language)).await?;
    Ok(true)
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
        Ok(desk) => desk.permits(&Call::ChooseFolder { purpose: FolderPurpose::Reports }),
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
