//! The commands of the window, one line each: all meaning is in `bridge`.

use std::sync::Arc;

use bridge::views::{
    CandidateView, CertificateView, DetailView, EndpointInput, EndpointView, IntakeView, ListQuery,
    PageView, PreferencesView, ProbeView, StatisticsView, StatusView,
};
use bridge::{KnownContent, Names, Problem};
use tauri::ipc::Invoke;
use tauri::{AppHandle, State, Wry};
use tauri_plugin_dialog::{DialogExt as _, FilePath};

use crate::house::House;

type Answer<T> = Result<T, Problem>;
type Room<'a> = State<'a, Arc<House>>;

/// All commands; `build.rs` grants them by name.
pub(crate) fn handler() -> impl Fn(Invoke<Wry>) -> bool + Send + Sync + 'static {
    tauri::generate_handler![
        status,
        list,
        detail,
        inspect_files,
        send_files,
        send_text,
        hold_back,
        release,
        withdraw,
        resubmit,
        correct_with_file,
        correct_with_text,
        choose_files,
        choose_folder,
        practice_samples,
        certificate_inspect,
        certificate_import,
        endpoints,
        add_endpoint,
        use_endpoint,
        test_endpoint,
        set_paused,
        set_watched_folder,
        preferences,
        set_preferences,
        statistics
    ]
}

#[tauri::command]
async fn status(house: Room<'_>) -> Answer<StatusView> {
    house.desk().await?.status().await
}

#[tauri::command]
async fn list(house: Room<'_>, query: ListQuery, reveal: bool) -> Answer<PageView> {
    let names = if reveal { Names::Shown } else { Names::Masked };
    house.desk().await?.list(query, names).await
}

#[tauri::command]
async fn detail(house: Room<'_>, id: i64) -> Answer<DetailView> {
    house.desk().await?.detail(id).await
}

#[tauri::command]
async fn inspect_files(house: Room<'_>, paths: Vec<String>) -> Answer<Vec<CandidateView>> {
    house.desk().await?.inspect_files(paths).await
}

#[tauri::command]
async fn send_files(house: Room<'_>, paths: Vec<String>, again: bool) -> Answer<IntakeView> {
    let known = if again { KnownContent::SendAgain } else { KnownContent::Show };
    house.desk().await?.send_files(paths, known).await
}

#[tauri::command]
async fn send_text(house: Room<'_>, text: String, name: String) -> Answer<IntakeView> {
    house.desk().await?.send_text(text, name).await
}

#[tauri::command]
async fn hold_back(house: Room<'_>, ids: Vec<i64>) -> Answer<()> {
    house.desk().await?.hold_back(ids).await
}

#[tauri::command]
async fn release(house: Room<'_>, id: i64, reason: String) -> Answer<()> {
    house.desk().await?.release(id, reason).await
}

#[tauri::command]
async fn withdraw(house: Room<'_>, id: i64, reason: String) -> Answer<()> {
    house.desk().await?.withdraw(id, reason).await
}

#[tauri::command]
async fn resubmit(house: Room<'_>, id: i64) -> Answer<i64> {
    house.desk().await?.resubmit(id).await
}

#[tauri::command]
async fn correct_with_file(house: Room<'_>, id: i64, path: String) -> Answer<IntakeView> {
    house.desk().await?.correct_with_file(id, path).await
}

#[tauri::command]
async fn correct_with_text(house: Room<'_>, id: i64, text: String) -> Answer<IntakeView> {
    house.desk().await?.correct_with_text(id, text).await
}

#[tauri::command]
async fn practice_samples(house: Room<'_>) -> Answer<Vec<String>> {
    house.desk().await?.practice_samples().await
}

#[tauri::command]
async fn certificate_inspect(
    house: Room<'_>,
    paths: Vec<String>,
    password: String,
) -> Answer<CertificateView> {
    house.desk().await?.certificate_inspect(paths, password).await
}

#[tauri::command]
async fn certificate_import(
    house: Room<'_>,
    paths: Vec<String>,
    password: String,
) -> Answer<CertificateView> {
    house.desk().await?.certificate_import(paths, password).await
}

#[tauri::command]
async fn endpoints(house: Room<'_>) -> Answer<Vec<EndpointView>> {
    house.desk().await?.endpoints().await
}

#[tauri::command]
async fn add_endpoint(house: Room<'_>, input: EndpointInput) -> Answer<()> {
    house.desk().await?.add_endpoint(input).await
}

#[tauri::command]
async fn use_endpoint(house: Room<'_>, name: String) -> Answer<()> {
    house.desk().await?.use_endpoint(name).await
}

#[tauri::command]
async fn test_endpoint(house: Room<'_>, name: String) -> Answer<Vec<ProbeView>> {
    house.desk().await?.test_endpoint(name).await
}

#[tauri::command]
async fn set_paused(house: Room<'_>, paused: bool) -> Answer<()> {
    house.desk().await?.set_paused(paused).await
}

#[tauri::command]
async fn set_watched_folder(house: Room<'_>, path: Option<String>) -> Answer<()> {
    house.desk().await?.set_watched_folder(path).await
}

#[tauri::command]
async fn preferences(house: Room<'_>) -> Answer<PreferencesView> {
    house.desk().await?.preferences().await
}

#[tauri::command]
async fn set_preferences(house: Room<'_>, preferences: PreferencesView) -> Answer<()> {
    house.desk().await?.set_preferences(preferences).await
}

#[tauri::command]
async fn statistics(house: Room<'_>, days: u32) -> Answer<StatisticsView> {
    house.desk().await?.statistics(days).await
}

/// What a file dialog is opened for.
#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum Purpose {
    Reports,
    Certificate,
    Ca,
}

#[tauri::command]
async fn choose_files(app: AppHandle, purpose: Purpose) -> Answer<Vec<String>> {
    let extensions: &[&str] = match purpose {
        Purpose::Reports => &["json", "xml", "zip", "ndjson"],
        Purpose::Certificate => &["p12", "pfx", "pem", "cer", "crt", "der", "key"],
        Purpose::Ca => &["pem", "cer", "crt"],
    };
    let (answer, chosen) = tokio::sync::oneshot::channel();
    let patterns: Vec<&str> = extensions.to_vec();
    app.dialog()
        .file()
        .add_filter(extensions.join(", "), &patterns)
        .add_filter("*", &["*"])
        .pick_files(move |files| {
            // The page may be gone by the time the dialog closes.
            let _ = answer.send(files);
        });
    let files = chosen.await.ok().flatten().unwrap_or_default();
    Ok(files.into_iter().filter_map(path_of).collect())
}

#[tauri::command]
async fn choose_folder(app: AppHandle) -> Answer<Option<String>> {
    let (answer, chosen) = tokio::sync::oneshot::channel();
    app.dialog().file().pick_folder(move |folder| {
        // As above.
        let _ = answer.send(folder);
    });
    Ok(chosen.await.ok().flatten().and_then(path_of))
}

/// A chosen path as the page hands it back; one that is no Unicode cannot travel through it.
fn path_of(chosen: FilePath) -> Option<String> {
    chosen.into_path().ok()?.into_os_string().into_string().ok()
}
