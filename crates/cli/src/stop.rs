//! Stopping: the first signal finishes the current step, a second one ends at once.

use tokio_util::sync::CancellationToken;

use crate::exit::Exit;

/// Cancelled by Ctrl+C or SIGTERM.
pub(crate) fn on_signal() -> CancellationToken {
    let token = CancellationToken::new();
    let told = token.clone();
    tokio::spawn(async move {
        signal().await;
        told.cancel();
        signal().await;
        // What is under way is in the journal as such; the next start asks before it sends again.
        std::process::exit(i32::from(Exit::Person.code()));
    });
    token
}

#[cfg(unix)]
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        },
        Err(_) => _ = tokio::signal::ctrl_c().await,
    }
}

#[cfg(not(unix))]
async fn signal() {
    let _ = tokio::signal::ctrl_c().await;
}
