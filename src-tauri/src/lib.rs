//! The desktop shell: one window over `bridge`. It knows Tauri and no rule.

mod autostart;
mod choosing;
mod closing;
mod commands;
#[cfg(test)]
mod grants;
mod house;
mod installing;
mod language;
mod outside;
mod question;
mod tray;
mod window;

use std::process::ExitCode;
use std::sync::Arc;

use tauri::Manager as _;

use crate::house::House;

/// Opens the window and returns when it is closed and the workers have finished their step.
pub fn run() -> ExitCode {
    process::begin();
    // Before there are threads: see there.
    bridge::remember_zone();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            window::report_start_failure(&error);
            return ExitCode::FAILURE;
        }
    };
    tauri::async_runtime::set(runtime.handle().clone());
    let arguments = arguments(std::env::args_os());
    let asks = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let (practice, in_background) = (asks("--practice"), asks(autostart::IN_BACKGROUND));
    let folder = std::env::current_dir().unwrap_or_default();
    let opened = bridge::Opened::of(&arguments, &folder);
    let house = Arc::new(House::new(practice));
    let app = tauri::Builder::default()
        .plugin(tauri_plugin_single_instance::init(|app, arguments, folder| {
            let arguments = arguments.get(1..).unwrap_or_default();
            window::opened(app, bridge::Opened::of(arguments, folder.as_ref()));
            window::show(app);
        }))
        .plugin(tauri_plugin_dialog::init())
        .plugin(window_state())
        .manage(house)
        .manage(closing::Decided::default())
        .manage(tray::Tray::default())
        .manage(choosing::Folders::default())
        .manage(outside::Following::default())
        .invoke_handler(commands::handle)
        .on_window_event(window::on_event)
        .setup(move |app| {
            window::open(app.handle(), in_background)?;
            window::announce_changes(app.handle().clone());
            window::opened(app.handle(), opened);
            outside::follow(app.handle().clone());
            Ok(())
        })
        .build(tauri::generate_context!());
    let app = match app {
        Ok(app) => app,
        Err(error) => {
            window::report_start_failure(&error);
            return ExitCode::FAILURE;
        }
    };
    app.run(|app, event| {
        #[cfg(target_os = "macos")]
        if let tauri::RunEvent::Opened { urls } = &event {
            let links: Vec<String> = urls.iter().map(ToString::to_string).collect();
            window::opened(app, bridge::Opened::of(&links, std::path::Path::new("/")));
        }
        if let tauri::RunEvent::Exit = event {
            let house = app.state::<Arc<House>>().inner().clone();
            let app = app.clone();
            tauri::async_runtime::block_on(async move {
                app.state::<outside::Following>().end().await;
                house.close().await;
            });
        }
    });
    drop(runtime);
    ExitCode::SUCCESS
}

/// Without the name of the program. One that is no Unicode cannot travel through the page: it
/// stands on *Send* as a file that is not found, so that nobody waits for it.
fn arguments(all: impl Iterator<Item = std::ffi::OsString>) -> Vec<String> {
    all.skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect()
}

/// Size and place of the window. Not whether it is visible: one that was hidden in the tray is
/// shown at the next start.
fn window_state<R: tauri::Runtime>() -> tauri::plugin::TauriPlugin<R> {
    use tauri_plugin_window_state::{Builder, StateFlags};
    Builder::default().with_state_flags(StateFlags::all() & !StateFlags::VISIBLE).build()
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt as _;

    #[test]
    fn a_file_whose_name_is_no_unicode_is_not_lost_from_sight() {
        let all = [b"lab-courier".as_slice(), b"a.json", b"\xff.json"];
        let all = all.map(|argument| OsString::from_vec(argument.to_vec()));
        assert_eq!(super::arguments(all.into_iter()), ["a.json", "\u{fffd}.json"]);
    }
}
