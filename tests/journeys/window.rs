//! What people do with the real window: drop, send, see what became of it, correct, import a certificate.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use journeys::window::Window;
use journeys::{Authority, program};
use testkit::DocumentBuilder;

/// Longest that one journey may take.
const LIMIT: Duration = Duration::from_secs(300);

fn journey(run: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::time::timeout(LIMIT, run).await.expect("the journey ends in time");
    });
}

fn file(window: &Window, name: &str, text: &str) -> PathBuf {
    let folder = window.home().join("files");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    file
}

#[test]
fn files_dragged_onto_the_window_are_sent_and_completed() {
    journey(async {
        let window = Window::open().await;
        window.shows("[data-testid=send-samples]", 1).await;
        let one = file(&window, "mumps.json", &DocumentBuilder::new(11).json());
        let two = file(&window, "cholera.xml", &DocumentBuilder::new(12).xml());
        window.drag(&[&one, &two]).await;
        window.shows("[data-testid=candidate-row]", 2).await;
        window.picture("dropped").await;
        window.click("[data-testid=send-button]").await;
        window.click("[data-testid=nav-reports]").await;
        window.shows("[data-testid=report-row][data-state=completed]", 2).await;
        window.picture("completed").await;
        window.close().await;
    });
}

#[test]
fn the_lesson_one_sample_fails_and_its_correction_is_completed() {
    journey(async {
        let window = Window::open().await;
        window.click("[data-testid=send-samples]").await;
        window.shows("[data-testid=candidate-row]", 5).await;
        window.picture("samples").await;
        window.click("[data-testid=send-button]").await;
        window.click("[data-testid=nav-reports]").await;
        window.shows("[data-testid=report-row][data-state=failed]", 1).await;
        window.shows("[data-testid=report-row][data-state=completed]", 3).await;
        window.click("[data-testid=report-row][data-state=failed]").await;
        window.shows("[data-testid=message]", 1).await;
        window.picture("failed").await;
        let message = window.text("[data-testid=message]").await;
        assert!(message.contains("FOPH-"), "the authority's code is shown: {message}");
        window.click("[data-testid=action-resubmit]").await;
        // Unchanged, it fails again: a new submission, the old one replaced.
        window.shows("[data-testid=report-row][data-state=superseded]", 1).await;
        window.shows("[data-testid=report-row][data-state=failed]", 1).await;
        // The corrected file dropped on the open report takes its place.
        window.click("[data-testid=report-row][data-state=failed]").await;
        window.shows("[data-testid=detail] [data-testid=action-correct]", 1).await;
        let corrections = window.home().join("practice/corrections");
        let corrected = std::fs::read_dir(corrections).unwrap().flatten().next().unwrap().path();
        window.drag(&[&corrected]).await;
        window.click("[data-testid=drop-correct]").await;
        window.shows("[data-testid=report-row][data-state=superseded]", 2).await;
        window.shows("[data-testid=report-row][data-state=completed]", 6).await;
        window.picture("corrected").await;
        window.close().await;
    });
}

#[test]
fn a_certificate_is_inspected_and_kept_in_the_keychain() {
    journey(async {
        let data = tempfile::tempdir().unwrap();
        Authority::init(data.path());
        let p12 = data.path().join("pilot/riverside.p12");
        let password = std::fs::read_to_string(p12.with_extension("password")).unwrap();
        let window = Window::open().await;
        window.click("[data-testid=welcome-skip]").await;
        window.click("[data-testid=nav-certificate]").await;
        window.shows("[data-testid=certificate-import]", 1).await;
        window.drag(&[&p12]).await;
        window.write("[data-testid=certificate-password]", "not the password").await;
        window.click("[data-testid=certificate-inspect]").await;
        window.shows("[role=alert], [data-testid=problem]", 1).await;
        window.write("[data-testid=certificate-password]", password.trim()).await;
        window.click("[data-testid=certificate-inspect]").await;
        window.shows("[data-testid=certificate-confirm]", 1).await;
        window.picture("certificate").await;
        window.click("[data-testid=certificate-confirm]").await;
        let kept = window.text("[data-testid=certificate-waiting]").await;
        assert!(kept.contains("riverside"), "{kept}");
        window.picture("certificate-kept").await;
        // The headless program finds the very certificate in the keychain.
        let mut shown = Command::new(program("labcourier"));
        shown.arg("--profile").arg(window.home().join("laboratory")).args(["identity", "show"]);
        let shown = shown.output().unwrap();
        let words = String::from_utf8_lossy(&shown.stdout);
        assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
        assert!(words.contains("riverside"), "{words}");
        window.close().await;
    });
}
