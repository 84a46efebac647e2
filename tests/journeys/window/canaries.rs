//! A patient passes through the window, and the window is killed: nothing of the patient stays
//! behind.

use journeys::canaries::{Canaries, Place, places_below};
use journeys::patient::{BORN, FAMILY, GIVEN, INSURANCE, PATIENT, STREET, report};
use journeys::window::Window;
use testkit::Figures;

use crate::{file, journey};

/// What a page may keep beyond its life.
const KEPT: &str = r"
    const done = arguments[arguments.length - 1];
    const of = (storage) => { try { return JSON.stringify({ ...storage }); } catch { return ''; } };
    const names = async () => {
        const databases = indexedDB.databases ? await indexedDB.databases() : [];
        const caches_ = 'caches' in window ? await caches.keys() : [];
        return JSON.stringify([databases, caches_]);
    };
    names().catch(() => '').then((kept) => done(
        [of(localStorage), of(sessionStorage), document.cookie, document.title, location.href,
            JSON.stringify(history.state), kept].join('\n')));
";

#[test]
fn the_window_leaves_nothing_of_a_patient_behind() {
    let mut figures = Figures::start("canaries", "the_window_leaves_nothing_of_a_patient_behind");
    journey(async {
        let canaries = Canaries::new(
            &[
                ("the family name", FAMILY),
                ("the given name", GIVEN),
                ("the birth date", BORN),
                ("the street", STREET),
                ("the insurance number", INSURANCE),
                ("the patient's number", PATIENT),
            ],
            &[],
        );
        let window = Window::open().await;
        window.shows("[data-testid=send-samples]", 1).await;
        let sound = file(&window, "sound.json", &report(21, FAMILY));
        let held =
            file(&window, "held.json", &report(22, FAMILY).replace("\"gender\"", "\"gendr\""));
        let own = window.home().join("files");
        window.drag(&[&sound, &held]).await;
        window.shows("[data-testid=candidate-row]", 2).await;
        window.click("[data-testid=send-button]").await;
        window.click("[data-testid=nav-reports]").await;
        window.shows("[data-testid=report-row][data-state=completed]", 1).await;
        // Looked for, opened, and on the screen.
        window.write("input[type=search]", FAMILY).await;
        window.shows("[data-testid=report-row]", 1).await;
        window.click("[data-testid=report-row][data-state=completed]").await;
        window.shows("[data-testid=detail]", 1).await;
        window.click("[data-testid=show-name]").await;
        window.picture("canary").await;

        let mut places = Vec::new();
        let kept = window.client.execute_async(KEPT, Vec::new()).await.unwrap();
        let kept = kept.as_str().expect("a text").to_owned();
        assert!(
            kept.contains("http") || kept.contains("tauri"),
            "the page tells where it is: {kept}"
        );
        places.push(Place::new("what the page keeps", kept));
        let titles = window.titles();
        assert!(titles.contains("Lab Courier"), "{titles}");
        places.push(Place::new("titles of windows", titles));
        let processes = window.processes();
        assert!(processes.len() >= 4, "driver, its own driver, program, web view: {processes:?}");
        for process in processes {
            for name in ["cmdline", "environ", "comm"] {
                let path = process.join(name);
                let bytes = std::fs::read(&path).unwrap_or_default();
                places.push(Place::new(path.display().to_string(), bytes));
            }
        }
        // The search itself finds them where they belong.
        assert!(canaries.find(&std::fs::read(&sound).unwrap()).is_some());
        let home = window.kill();
        // The person's own files, and what the practice authority was sent.
        let left = [own, home.path().join("labcourier/practice/authority")];
        assert!(left[1].is_dir(), "the practice authority keeps its documents there");
        let below = places_below(home.path(), &left);
        let web =
            below.iter().filter(|place| !place.name.contains("/labcourier/practice/")).count();
        assert!(web > 0, "the web view has written something");
        places.extend(below);
        canaries.none_in(&places, &mut figures);
    });
    figures.finish();
}
