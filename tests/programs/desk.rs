//! The core of the window without the window: the desk, driven by the same functions that the
//! window's commands call, in a process that tests may kill.
//!
//! Usage: `desk ROOT [FILE]…` opens the desk of a folder in practice, hands the files over and ends
//! when nothing moves by itself any more.

use std::path::Path;
use std::process::ExitCode;

use bridge::{Desk, KnownContent, Problem, StateCode};

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let Some(root) = words.next() else { return ExitCode::from(2) };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let Ok(runtime) = runtime else { return ExitCode::from(4) };
    match runtime.block_on(work(Path::new(&root), words.collect())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{}", problem.code);
            ExitCode::from(4)
        }
    }
}

async fn work(root: &Path, files: Vec<String>) -> Result<(), Problem> {
    let desk = Desk::open(root).await?;
    desk.start().await?;
    if !files.is_empty() {
        desk.send_files(files, KnownContent::Show).await?;
    }
    loop {
        let status = desk.status().await?;
        let moving =
            [StateCode::Queued, StateCode::Sending, StateCode::Unknown, StateCode::InProgress];
        if moving.iter().all(|state| status.counts.by_state.get(state).is_none_or(|n| *n == 0)) {
            break;
        }
        desk.changed(status.revision).await;
    }
    desk.stop().await;
    Ok(())
}
