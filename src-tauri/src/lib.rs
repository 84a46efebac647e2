//! The desktop shell: one window over `bridge`. It knows Tauri and no rule.

mod closing;
mod commands;
#[cfg(test)]
mod grants;
mod house;
mod question;
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
    let practice = std::env::args().skip(1).any(|argument| argument == "--practice");
    let house = Arc::new(House::new(practice));
    let app = tauri::Builder::default()
        .plugin(tauri_plugin_single_instance::init(|app, _, _| window::show(app)))
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_window_state::Builder::default().build())
        .manage(house)
        .manage(closing::Decided::default())
        .invoke_handler(commands::handle)
        .on_window_event(window::on_event)
        .setup(|app| {
            window::open(app.handle())?;
            window::announce_changes(app.handle().clone());
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
        if let tauri::RunEvent::Exit = event {
            let house = app.state::<Arc<House>>().inner().clone();
            tauri::async_runtime::block_on(async move { house.close().await });
        }
    });
    drop(runtime);
    ExitCode::SUCCESS
}
