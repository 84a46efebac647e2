//! The program is started once more, with a file or with a link: the open window takes what was
//! handed over, and the second start ends.

use journeys::window::Window;
use testkit::DocumentBuilder;

use crate::{file, journey};

#[test]
fn what_a_second_start_hands_over_comes_into_the_open_window() {
    journey(async {
        let window = Window::open().await;
        window.shows("[data-testid=send-samples]", 1).await;
        let report = file(&window, "mumps.json", &DocumentBuilder::new(31).json());
        window.start_again(&[report.to_str().expect("a Unicode path")]);
        window.shows("[data-testid=candidate-row]", 1).await;
        window.click("[data-testid=send-button]").await;
        window.click("[data-testid=nav-reports]").await;
        window.shows("[data-testid=report-row][data-state=completed]", 1).await;
        window.click("[data-testid=nav-send]").await;
        window.start_again(&["labcourier://report/1"]);
        window.shows("[data-testid=detail]", 1).await;
        drop(window.kill());
    });
}
