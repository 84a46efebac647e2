//! The desktop program `lab-courier`.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

fn main() -> std::process::ExitCode {
    labcourier_desktop::run()
}
