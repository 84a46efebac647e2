//! The window's page in a browser, with the real core behind it: for journeys in a browser, never
//! shipped.
//!
//! Usage: `window-host ROOT PAGES` opens the desk of a folder, starts the practice authority, and
//! serves the built page of the window on loopback. It prints where it listens and ends when its
//! input ends.
//!
//! What the shell does beside answering calls, a test asks for: `POST /host/drop` drops files on
//! the window, `POST /host/choose` says what the next file dialog answers, `POST /host/rules` puts
//! a package of rules to use in the practice profile, as `labcourier rules import` and `rules use`
//! do. `POST /host/doubt` makes a waiting report one whose answer was lost long ago. The question
//! about a new address is answered with yes.

mod answers;
mod shell;

use std::io::Read as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use bridge::Desk;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use shell::Shell;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(root), Some(pages)) = (words.next(), words.next()) else { return ExitCode::from(2) };
    bridge::remember_zone();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let Ok(runtime) = runtime else { return ExitCode::from(4) };
    match runtime.block_on(serve(root, pages)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("{what}");
            ExitCode::from(4)
        }
    }
}

async fn serve(root: PathBuf, pages: PathBuf) -> Result<(), String> {
    let desk = Desk::open(&root).await.map_err(|problem| problem.code)?;
    // Whatever the administrators of this computer say: a journey says it itself.
    desk.read_updates_from(&root.join("updates.json"));
    desk.start().await.map_err(|problem| problem.code)?;
    let shell = Arc::new(Shell::new(desk.clone(), pages, root.join("practice")));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    println!("listening on http://{address}");
    let announcing = tokio::spawn(shell.clone().announce_changes());
    let accepting = tokio::spawn(accept(listener, shell));
    // The test holds our input open; when it ends, for whatever reason, so do we.
    let ended = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
    let _ = ended.await;
    accepting.abort();
    announcing.abort();
    desk.stop().await;
    Ok(())
}

async fn accept(listener: TcpListener, shell: Arc<Shell>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let shell = shell.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let shell = shell.clone();
                async move { Ok::<_, std::convert::Infallible>(answers::answer(&shell, request).await) }
            });
            // A browser that closes a connection early is no fault.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}
