//! What people do with the real window: drop, send, see what became of it, correct, import a certificate.

use std::path::PathBuf;
use std::time::Duration;

use journeys::window::Window;
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
        window.drag(&[&one, &two]);
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
        window.close().await;
    });
}

#[test]
fn a_certificate_is_inspected_imported_and_used() {
    journey(async {
        let window = Window::open().await;
        window.click("[data-testid=nav-certificate]").await;
        window.shows("[data-testid=certificate-import]", 1).await;
        let pilot = window.home().join("practice/authority/pilot");
        let p12 = std::fs::read_dir(&pilot).unwrap().flatten().map(|entry| entry.path());
        let p12 = p12.filter(|path| path.extension().is_some_and(|e| e == "p12")).min().unwrap();
        let password = std::fs::read_to_string(p12.with_extension("password")).unwrap();
        window.drag(&[&p12]);
        let field = "[data-testid=certificate-password]";
        window.shows(field, 1).await;
        let field = window.client.find(fantoccini::Locator::Css(field)).await.unwrap();
        field.send_keys(password.trim()).await.unwrap();
        window.picture("certificate").await;
        window.click("[data-testid=certificate-import]").await;
        window.click("[data-testid=certificate-confirm]").await;
        window.shows("[data-testid=probe-row][data-outcome=passed]", 5).await;
        window.picture("certificate-imported").await;
        window.close().await;
    });
}
