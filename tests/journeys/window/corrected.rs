//! What goes wrong is put right in the real window: a send is taken back, a report is corrected in
//! the form, and several of one cause by one change. What arrived is asked of the authority.

use std::path::{Path, PathBuf};

use journeys::window::Window;
use journeys::{Accepted, accepted};
use serde_json::json;
use testkit::DocumentBuilder;

use crate::{file, invoke, journey};

/// What the practice authority of this window has taken.
fn arrived(window: &Window) -> Vec<Accepted> {
    accepted(&window.home().join("practice/authority"))
}

/// Copies of the sample that fails, each a document of its own.
fn failing(window: &Window, count: usize) -> Vec<PathBuf> {
    let samples = std::fs::read_dir(window.home().join("practice/samples")).unwrap();
    let fails = |path: &PathBuf| path.to_string_lossy().contains("muster-fehler");
    let sample = samples.flatten().map(|entry| entry.path()).find(fails).unwrap();
    let text = std::fs::read_to_string(sample).unwrap();
    let begin = text.find("urn:uuid:").expect("a document has an identifier");
    let identifier = &text[begin..begin + "urn:uuid:".len() + 36];
    let kept = &identifier[..identifier.len() - 6];
    let copy = |number: usize| {
        let own = text.replace(identifier, &format!("{kept}{:06}", 100_000 + number));
        file(window, &format!("fails-{number}.json"), &own)
    };
    (0..count).map(copy).collect()
}

/// What goes out now can be taken back for so many seconds; the welcome is behind us.
async fn undo_seconds(window: &Window, seconds: u64) {
    window.click("[data-testid=welcome-skip]").await;
    // The page writes its own preferences as it leaves the welcome: only then are these the last.
    let mut changed = json!({});
    while changed["firstRunDone"] != true {
        changed = invoke(window, "preferences", json!({})).await[1].clone();
    }
    changed["undoSeconds"] = json!(seconds);
    let set = invoke(window, "set_preferences", json!({ "preferences": changed })).await;
    assert_eq!(set[0], "given", "{set}");
}

#[test]
fn a_send_is_taken_back_and_none_of_it_has_left() {
    journey(async {
        let window = Window::open().await;
        window.click("[data-testid=send-samples]").await;
        window.shows("[data-testid=candidate-row]", 5).await;
        window.click("[data-testid=send-button]:not([disabled])").await;
        window.click("[data-testid=undo]").await;
        window.shows("[data-testid=batch][data-phase=undone]", 1).await;
        window.picture("taken-back").await;
        // One that is sent afterwards arrives: by then the seconds of the others are over too.
        let later = file(&window, "later.json", &DocumentBuilder::new(41).json());
        window.drag(&[&later]).await;
        window.shows("[data-testid=candidate-row]", 1).await;
        window.click("[data-testid=send-button]:not([disabled])").await;
        window.click("[data-testid=nav-reports]").await;
        window.shows("[data-testid=report-row][data-state=completed]", 1).await;
        window.shows("[data-testid=report-row][data-state=held]", 5).await;
        let arrived = arrived(&window);
        assert_eq!(arrived.len(), 1, "only what was not taken back: {arrived:?}");
        assert_eq!(arrived[0].status, "completed");
        window.close().await;
    });
}

#[test]
fn one_report_is_corrected_in_the_form_and_the_others_of_its_cause_by_one_change() {
    journey(async {
        let window = Window::open().await;
        undo_seconds(&window, 1).await;
        let files = failing(&window, 4);
        window.drag(&files.iter().map(PathBuf::as_path).collect::<Vec<&Path>>()).await;
        window.shows("[data-testid=candidate-row]", 4).await;
        window.click("[data-testid=send-button]:not([disabled])").await;
        window.shows("[data-testid=batch][data-phase=settled]", 1).await;
        window.click("[data-testid=nav-correct]").await;
        window.shows("[data-testid=report-row][data-state=failed]", 4).await;

        window.click("[data-testid=report-row]").await;
        window.click("[data-testid=action-correct]").await;
        window.click("[role=dialog] [data-testid=unveil]").await;
        window.write("[data-testid='form-Patient.name.family']", "Muster").await;
        window.shows("[data-testid=correct-summary] [data-testid=difference]", 1).await;
        window.picture("form").await;
        window.click("[data-testid=correct-send]:not([disabled])").await;
        window.shows("[data-testid=batch][data-phase=settled]", 1).await;
        let is_completed = |one: &Accepted| one.status == "completed";
        window.until("the correction is completed", || {
            arrived(&window).iter().filter(|one| is_completed(one)).count() == 1
        });

        window.click("[data-testid=nav-correct]").await;
        window.click("[data-testid=fix-once]").await;
        window.write("[data-testid=fix-replace]", "Muster").await;
        window.click("[data-testid=fix-first]:not([disabled])").await;
        window.click("[data-testid=fix-rest]").await;
        window.shows("[data-testid=fix-progress][data-phase=done]", 1).await;
        window.picture("fixed").await;
        let arrived = arrived(&window);
        let (completed, failed): (Vec<_>, Vec<_>) =
            arrived.iter().partition(|one| is_completed(one));
        assert_eq!((completed.len(), failed.len()), (4, 4), "{arrived:?}");
        for one in &failed {
            let corrections = completed.iter().filter(|other| other.document == one.document);
            assert_eq!(corrections.count(), 1, "each went once more and was completed: {one:?}");
        }
        window.close().await;
    });
}
