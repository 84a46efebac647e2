//! The icon in the tray: how things stand, and a menu to open the window, to pause and to quit.
//!
//! Not every desktop has a tray, and on Linux a library of the system shows the icon. Where either
//! is missing the window is minimised instead of hidden; the program goes on in every case.

use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, PoisonError};

use bridge::{Desk, Standing, StandingView};
use tauri::image::Image;
use tauri::menu::{Menu, MenuItem};
use tauri::tray::{TrayIcon, TrayIconBuilder};
use tauri::{AppHandle, Manager as _, Wry};
use texts::{CATALOGUE, Language};

/// The window is shown.
pub(crate) const OPEN: &str = "open";
/// Sending is paused or resumed.
pub(crate) const PAUSE: &str = "pause";
/// The program ends.
pub(crate) const QUIT: &str = "quit";

/// What is done about what somebody has chosen in the menu: one of the above.
pub(crate) type Chosen = fn(&AppHandle, &str);

/// The tray, as far as it is there.
#[derive(Default)]
pub(crate) struct Tray(Mutex<State>);

#[derive(Default)]
struct State {
    /// The desktop has a place for icons now.
    has_place: bool,
    /// It was looked for once.
    looked: bool,
    icon: Option<Icon>,
    /// The icon could not be made: it is not tried again.
    failed: bool,
}

#[derive(Clone)]
struct Icon {
    icon: TrayIcon,
    items: [MenuItem<Wry>; 3],
    shown: Option<(StandingView, Language)>,
}

impl Tray {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a hidden window can be called back from there.
    pub(crate) fn is_there(&self) -> bool {
        let state = self.state();
        state.has_place && state.icon.is_some()
    }
}

/// Looks whether the desktop has a tray, and makes the icon once it has. Whether a window may wait
/// in one that is not there, or not any more.
pub(crate) async fn look_for_a_place(app: &AppHandle, chosen: Chosen) -> bool {
    let has_place = has_place().await;
    let (tray, is_new) = {
        let tray = app.state::<Tray>();
        let mut state = tray.state();
        state.has_place = has_place;
        (state.icon.is_some(), has_place && state.icon.is_none() && !state.failed)
    };
    if is_new {
        make(app, chosen).await;
    }
    let is_there = app.state::<Tray>().is_there();
    let was_looked = std::mem::replace(&mut app.state::<Tray>().state().looked, true);
    !is_there && (tray || !was_looked)
}

/// Makes the icon on the thread of the windows. The library behind it ends in a panic where it is
/// not installed.
async fn make(app: &AppHandle, chosen: Chosen) {
    let (answer, made) = tokio::sync::oneshot::channel();
    let handle = app.clone();
    let asked = app.run_on_main_thread(move || {
        let built = std::panic::catch_unwind(AssertUnwindSafe(|| build(&handle, chosen)));
        // Nobody waits any more once the program ends.
        let _ = answer.send(built.ok().and_then(Result::ok));
    });
    let icon = if asked.is_ok() { made.await.ok().flatten() } else { None };
    let tray = app.state::<Tray>();
    let mut state = tray.state();
    state.failed = icon.is_none();
    state.icon = icon;
}

fn build(app: &AppHandle, chosen: Chosen) -> tauri::Result<Icon> {
    let item = |id: &str| MenuItem::with_id(app, id, id, true, None::<&str>);
    let items = [item(OPEN)?, item(PAUSE)?, item(QUIT)?];
    let menu = Menu::with_items(app, &[&items[0], &items[1], &items[2]])?;
    let icon = TrayIconBuilder::with_id("main")
        .icon(image(Standing::Fine))
        .menu(&menu)
        .on_menu_event(move |app, event| chosen(app, event.id().as_ref()))
        .build(app)?;
    Ok(Icon { icon, items, shown: None })
}

fn image(standing: Standing) -> Image<'static> {
    match standing {
        Standing::Attention => tauri::include_image!("icons/tray-attention.png"),
        Standing::Unreachable => tauri::include_image!("icons/tray-unreachable.png"),
        Standing::Paused => tauri::include_image!("icons/tray-paused.png"),
        Standing::Fine => tauri::include_image!("icons/tray-fine.png"),
    }
}

/// Shows how things stand, where that is something else than what it shows.
pub(crate) async fn show(app: &AppHandle, desk: &Desk, language: Language) {
    let Some(icon) = app.state::<Tray>().state().icon.clone() else { return };
    // What cannot be read now leaves the icon as it was.
    let Ok(view) = desk.standing().await else { return };
    if icon.shown == Some((view, language)) {
        return;
    }
    let [title, open, pause, quit] = words(language, view);
    // On the thread of the windows, for which no other must wait. An icon that is gone shows
    // nothing, and is no reason to disturb anybody.
    let _ = app.run_on_main_thread(move || {
        let _ = icon.icon.set_icon(Some(image(view.standing)));
        let _ = icon.icon.set_tooltip(Some(&title));
        for (item, text) in icon.items.iter().zip([open, pause, quit]) {
            let _ = item.set_text(text);
        }
    });
    if let Some(icon) = &mut app.state::<Tray>().state().icon {
        icon.shown = Some((view, language));
    }
}

/// Title and the three items of the menu.
fn words(language: Language, view: StandingView) -> [String; 4] {
    let text = |id: &str| CATALOGUE.text(language, &format!("tray.{id}")).unwrap_or_default();
    let count = view.needs_attention.to_string();
    let standing = match view.standing {
        Standing::Attention if view.needs_attention > 0 => "attention-count",
        standing => standing.code(),
    };
    let title = language.filled(text(standing), &[("count", &count)]);
    let pause = text(if view.paused { "resume" } else { "pause" });
    [format!("Lab Courier: {title}"), text(OPEN).into(), pause.into(), text(QUIT).into()]
}

/// Whether the desktop shows icons of programs.
#[cfg(target_os = "linux")]
async fn has_place() -> bool {
    let asked = async {
        let connection = zbus::Connection::session().await.ok()?;
        let bus = zbus::fdo::DBusProxy::new(&connection).await.ok()?;
        let watcher = zbus::names::BusName::try_from("org.kde.StatusNotifierWatcher").ok()?;
        bus.name_has_owner(watcher).await.ok()
    };
    asked.await.unwrap_or(false)
}

#[cfg(not(target_os = "linux"))]
async fn has_place() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_has_words_for_every_standing() {
        for language in Language::ALL {
            for standing in Standing::ALL {
                for (needs_attention, paused) in [(0, false), (3, true)] {
                    let view = StandingView { standing, needs_attention, paused };
                    let words = words(language, view);
                    assert!(words[0].len() > "Lab Courier: ".len(), "{words:?}");
                    assert!(
                        words.iter().all(|it| !it.is_empty() && !it.contains('{')),
                        "{words:?}"
                    );
                }
            }
            let of = |paused| {
                words(
                    language,
                    StandingView { standing: Standing::Fine, needs_attention: 0, paused },
                )
            };
            assert_ne!(of(true)[2], of(false)[2]);
        }
    }
}
