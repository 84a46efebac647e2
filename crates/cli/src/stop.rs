//! Stopping: the first signal finishes the current step, a second one ends at once.

use tokio_util::sync::CancellationToken;

use crate::exit::Exit;

/// Cancelled by Ctrl+C or SIGTERM, from the moment this returns: a service manager may stop a
/// program as soon as it says that it is there.
pub(crate) fn on_signal() -> CancellationToken {
    let token = CancellationToken::new();
    let told = token.clone();
    let mut signals = Signals::heard();
    tokio::spawn(async move {
        signals.next().await;
        told.cancel();
        signals.next().await;
        // What is under way is in the journal as such; the next start asks before it sends again.
        std::process::exit(i32::from(Exit::Person.code()));
    });
    token
}

/// The signals that ask a program to stop. One that cannot be listened to keeps what the system
/// does by itself, which ends the program.
#[cfg(unix)]
struct Signals([Option<tokio::signal::unix::Signal>; 2]);

#[cfg(unix)]
impl Signals {
    /// Heard from here on, also before anybody waits for the next one.
    fn heard() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        Self([SignalKind::interrupt(), SignalKind::terminate()].map(|kind| signal(kind).ok()))
    }

    async fn next(&mut self) {
        async fn of(signal: &mut Option<tokio::signal::unix::Signal>) {
            match signal {
                Some(signal) => _ = signal.recv().await,
                None => std::future::pending().await,
            }
        }
        let [interrupt, terminate] = &mut self.0;
        tokio::select! {
            () = of(interrupt) => {}
            () = of(terminate) => {}
        }
    }
}

#[cfg(windows)]
struct Signals(Option<tokio::signal::windows::CtrlC>);

#[cfg(windows)]
impl Signals {
    fn heard() -> Self {
        Self(tokio::signal::windows::ctrl_c().ok())
    }

    async fn next(&mut self) {
        match &mut self.0 {
            Some(signal) => _ = signal.recv().await,
            None => std::future::pending().await,
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// The program that says "watching" and is told to stop in the same moment ends as one that
    /// was told, and is not killed. Nothing else runs here between the two.
    #[tokio::test]
    async fn a_signal_is_heard_as_soon_as_the_program_says_that_it_is_there() {
        let token = on_signal();
        let own = std::process::id().to_string();
        let told = std::process::Command::new("kill").arg(own).status();
        assert!(told.is_ok_and(|told| told.success()));
        token.cancelled().await;
    }
}
