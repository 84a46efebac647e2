//! Life outside the window: the icon in the tray and the notifications follow what the desk says;
//! neither has a rule here.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bridge::{Call, NOTIFICATIONS, NotificationLine};
use tauri::async_runtime::JoinHandle;
use tauri::{AppHandle, Manager as _};
use texts::{CATALOGUE, Language};

use crate::house::House;
use crate::{closing, language, tray, window};

/// A connection comes and goes without a change of the journal, and a tray appears when its desktop
/// has started.
const LOOK_AGAIN: Duration = Duration::from_secs(10);
/// A batch changes the journal many times a second.
const CALM: Duration = Duration::from_secs(1);

const _: () = CATALOGUE.must_have_each("notification", NOTIFICATIONS);

/// What follows the desk, until the program ends.
#[derive(Default)]
pub(crate) struct Following(Mutex<Option<JoinHandle<()>>>);

impl Following {
    fn replace(&self, task: Option<JoinHandle<()>>) -> Option<JoinHandle<()>> {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), task)
    }

    /// Ends it, before the desk is closed.
    pub(crate) async fn end(&self) {
        if let Some(task) = self.replace(None) {
            task.abort();
            // That it was ended is what was wanted.
            let _ = task.await;
        }
    }
}

/// Follows the desk as long as the program runs.
pub(crate) fn follow(app: AppHandle) {
    let house = app.state::<Arc<House>>().inner().clone();
    let following = app.clone();
    let task = tauri::async_runtime::spawn(async move {
        loop {
            if tray::look_for_a_place(&app, chosen).await {
                // It comes to the bar of windows.
                window::come_out_of_hiding(&app);
            }
            if let Ok(desk) = house.desk().await {
                let seen = desk.revision().unwrap_or(u64::MAX);
                let language = language::of(&desk).await;
                tray::show(&app, &desk, language).await;
                // What cannot be counted now is counted the next time.
                let due = desk.due_notification(window::is_in_view(&app).await).await;
                notify(language, &due.unwrap_or_default());
                // Whether it has changed or not: it is looked at again.
                let _ = tokio::time::timeout(LOOK_AGAIN, desk.changed(seen)).await;
                tokio::time::sleep(CALM).await;
            } else {
                // The page shows why; perhaps it opens later.
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        }
    });
    following.state::<Following>().replace(Some(task));
}

/// What somebody has chosen in the menu of the tray.
fn chosen(app: &AppHandle, item: &str) {
    match item {
        tray::OPEN => window::show(app),
        tray::QUIT => closing::quit(app),
        tray::PAUSE => {
            let app = app.clone();
            tauri::async_runtime::spawn(async move { pause_or_resume(&app).await });
        }
        _ => {}
    }
}

/// A locked window, or one that has something to say about it, is shown instead.
async fn pause_or_resume(app: &AppHandle) {
    let Ok(desk) = app.state::<Arc<House>>().desk().await else { return window::show(app) };
    let Ok(view) = desk.standing().await else { return window::show(app) };
    let paused = !view.paused;
    if desk.permits(&Call::SetPaused { paused }).is_err() || desk.set_paused(paused).await.is_err()
    {
        return window::show(app);
    }
    tray::show(app, &desk, language::of(&desk).await).await;
}

/// The words of a notification, one line each.
fn words(language: Language, lines: &[NotificationLine]) -> String {
    let mut words = Vec::new();
    for line in lines {
        let known = NOTIFICATIONS.iter().find(|(code, _)| *code == line.code);
        let name = known.and_then(|(_, params)| params.first().copied()).unwrap_or_default();
        let number = line.number.map(|number| number.to_string()).unwrap_or_default();
        let text = CATALOGUE.text(language, &format!("notification.{}", line.code));
        words.push(language.filled(text.unwrap_or_default(), &[(name, &number)]));
    }
    words.join("\n")
}

/// Where the system shows no notifications, the window says the same.
fn notify(language: Language, lines: &[NotificationLine]) {
    if lines.is_empty() {
        return;
    }
    let body = words(language, lines);
    // A thread of its own: a desktop that does not answer must not keep the program from ending.
    std::thread::spawn(move || {
        let mut notification = notify_rust::Notification::new();
        notification.summary("Lab Courier").body(&body).icon("lab-courier");
        #[cfg(target_os = "windows")]
        notification.app_id("org.labcourier.desktop");
        // A desktop without notifications is no fault.
        let _ = notification.show();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_has_words_with_the_number_in_place() {
        let lines = [
            NotificationLine { code: "attention", number: Some(17) },
            NotificationLine { code: "stopped", number: None },
            NotificationLine { code: "certificate", number: Some(14) },
        ];
        for language in Language::ALL {
            let said = words(language, &lines);
            assert_eq!(said.lines().count(), 3, "{said}");
            assert!(said.contains("17") && said.contains("14") && !said.contains('{'), "{said}");
        }
        let one = [NotificationLine { code: "attention", number: Some(1) }];
        assert!(words(Language::English, &one).contains("1 report needs"));
    }
}
