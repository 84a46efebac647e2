//! Closing the window while reports are under way, or while a folder is watched. Without the
//! program nothing is sent and no answer is asked for, so it is asked first, by the operating
//! system's dialog: a page that hangs must not keep a window open.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bridge::Desk;
use tauri::{AppHandle, CloseRequestApi, Manager as _, Runtime, Window};
use tauri_plugin_dialog::{
    DialogExt as _, MessageDialogButtons, MessageDialogKind, MessageDialogResult,
};

use crate::house::House;
use crate::tray::Tray;

/// The person has decided: the next request is let through.
#[derive(Default)]
pub(crate) struct Decided(AtomicBool);

/// What closing the window would stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stops {
    /// So many reports whose end is not known.
    Reports(u32),
    /// Nothing is under way, but what comes into a folder is to be sent.
    Watching,
}

impl Stops {
    fn of(open: u32, watches: bool) -> Option<Self> {
        match open {
            0 => watches.then_some(Self::Watching),
            open => Some(Self::Reports(open)),
        }
    }
}

/// The words of one language.
struct Words {
    title: &'static str,
    /// The question, in which `{n}` stands for the number of reports.
    question: &'static str,
    watching_title: &'static str,
    watching: &'static str,
    go_on: &'static str,
    quit: &'static str,
    cancel: &'static str,
}

const ENGLISH: Words = Words {
    title: "Reports are under way",
    question: "Reports whose end is not known yet: {n}\n\nLab Courier can go on in the background. \
               If you quit, nothing is lost: it goes on at the next start.",
    watching_title: "The watched folder",
    watching: "A folder is being watched: reports that come into it are sent while Lab Courier \
               runs.\n\nLab Courier can go on watching in the background. If you quit, what comes \
               into the folder waits there until the next start.",
    go_on: "Go on in the background",
    quit: "Quit",
    cancel: "Cancel",
};
const GERMAN: Words = Words {
    title: "Meldungen sind unterwegs",
    question: "Meldungen, deren Ergebnis noch aussteht: {n}\n\nLab Courier kann im Hintergrund \
               weiterarbeiten. Wenn Sie beenden, geht nichts verloren: Beim nächsten Start geht es \
               weiter.",
    watching_title: "Überwachter Ordner",
    watching: "Ein Ordner wird überwacht: Meldungen, die dort ankommen, werden gesendet, solange \
               Lab Courier läuft.\n\nLab Courier kann den Ordner im Hintergrund weiter überwachen. \
               Wenn Sie beenden, wartet dort bis zum nächsten Start, was ankommt.",
    go_on: "Im Hintergrund weiterarbeiten",
    quit: "Beenden",
    cancel: "Abbrechen",
};
const FRENCH: Words = Words {
    title: "Des déclarations sont en cours",
    question: "Déclarations dont le résultat n’est pas encore connu : {n}\n\nLab Courier peut \
               continuer en arrière-plan. Si vous quittez, rien n’est perdu : l’envoi reprend au \
               prochain démarrage.",
    watching_title: "Dossier surveillé",
    watching: "Un dossier est surveillé : les déclarations qui y arrivent sont envoyées tant que \
               Lab Courier fonctionne.\n\nLab Courier peut continuer à le surveiller en \
               arrière-plan. Si vous quittez, ce qui arrive dans le dossier y attend le prochain \
               démarrage.",
    go_on: "Continuer en arrière-plan",
    quit: "Quitter",
    cancel: "Annuler",
};
const ITALIAN: Words = Words {
    title: "Ci sono dichiarazioni in corso",
    question: "Dichiarazioni di cui non si conosce ancora l’esito: {n}\n\nLab Courier può \
               continuare in secondo piano. Se esce, nulla va perso: si riprende al prossimo \
               avvio.",
    watching_title: "Cartella sorvegliata",
    watching: "Una cartella è sorvegliata: le dichiarazioni che vi arrivano sono inviate finché \
               Lab Courier è in funzione.\n\nLab Courier può continuare a sorvegliarla in secondo \
               piano. Se esce, ciò che arriva nella cartella vi attende il prossimo avvio.",
    go_on: "Continuare in secondo piano",
    quit: "Uscire",
    cancel: "Annullare",
};

impl Words {
    /// In the language of a code like `de` or `fr-CH`; English where there is no other.
    fn of(language: &str) -> &'static Self {
        match language.split(['-', '_', '.']).next().unwrap_or_default() {
            "de" => &GERMAN,
            "fr" => &FRENCH,
            "it" => &ITALIAN,
            _ => &ENGLISH,
        }
    }

    /// Title and question.
    fn asked(&self, stops: Stops) -> (&'static str, String) {
        match stops {
            Stops::Reports(open) => (self.title, self.question.replace("{n}", &open.to_string())),
            Stops::Watching => (self.watching_title, self.watching.to_owned()),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Quit,
    GoOn,
    Stay,
}

/// Somebody wants the window closed.
pub(crate) fn requested<R: Runtime>(window: &Window<R>, api: &CloseRequestApi) {
    if window.state::<Decided>().0.load(Ordering::SeqCst) {
        return;
    }
    api.prevent_close();
    let window = window.clone();
    tauri::async_runtime::spawn(async move {
        match choice(&window, false).await {
            Choice::Quit => {
                window.state::<Decided>().0.store(true, Ordering::SeqCst);
                // A window that is gone already needs no closing.
                let _ = window.close();
            }
            Choice::GoOn => go_on(&window),
            Choice::Stay => {}
        }
    });
}

/// Into the tray, from where it can be called back; without one into the bar of windows.
fn go_on<R: Runtime>(window: &Window<R>) {
    // Where there is nothing to minimise to, it stays as it is.
    let _ = if window.state::<Tray>().is_there() { window.hide() } else { window.minimize() };
}

/// Somebody has chosen to quit, in the menu of the tray: asked about what that would stop, whatever
/// closing does.
pub(crate) fn quit(app: &AppHandle) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let Some(window) = app.get_webview_window("main") else { return app.exit(0) };
        let window = window.as_ref().window();
        if choice(&window, true).await == Choice::Quit {
            window.state::<Decided>().0.store(true, Ordering::SeqCst);
            // As above.
            let _ = window.close();
        }
    });
}

/// `is_asked`: whatever was chosen for closing the window.
async fn choice<R: Runtime>(window: &Window<R>, is_asked: bool) -> Choice {
    // A desk that does not open sends nothing.
    let Ok(desk) = window.state::<Arc<House>>().desk().await else { return Choice::Quit };
    let Some(stops) = Stops::of(desk.under_way(), desk.watches_a_folder().await) else {
        return Choice::Quit;
    };
    let preferences = desk.preferences().await.unwrap_or_default();
    match preferences.on_close.as_str() {
        "quit" if !is_asked => Choice::Quit,
        "background" if !is_asked => Choice::GoOn,
        _ => {
            let language = preferences.language.or_else(|| std::env::var("LANG").ok());
            let choice = ask(window, Words::of(&language.unwrap_or_default()), stops).await;
            remember(&desk, choice).await;
            choice
        }
    }
}

/// Going on is asked once. Quitting is not remembered: it stops what others wait for.
async fn remember(desk: &Desk, choice: Choice) {
    if choice != Choice::GoOn {
        return;
    }
    // Where it is not kept, it is asked again.
    if let Ok(preferences) = desk.preferences().await {
        let on_close = "background".to_owned();
        let _ =
            desk.set_preferences(bridge::views::PreferencesView { on_close, ..preferences }).await;
    }
}

async fn ask<R: Runtime>(window: &Window<R>, words: &'static Words, stops: Stops) -> Choice {
    let (title, question) = words.asked(stops);
    let (answer, said) = tokio::sync::oneshot::channel();
    let buttons = MessageDialogButtons::YesNoCancelCustom(
        words.go_on.to_owned(),
        words.quit.to_owned(),
        words.cancel.to_owned(),
    );
    window
        .dialog()
        .message(question)
        .title(title)
        .kind(MessageDialogKind::Warning)
        .buttons(buttons)
        .show_with_result(move |result| {
            // The window may be gone by the time the dialog closes.
            let _ = answer.send(result);
        });
    // A dialog that cannot be shown closes nothing.
    match said.await {
        Ok(MessageDialogResult::Yes) => Choice::GoOn,
        Ok(MessageDialogResult::No) => Choice::Quit,
        Ok(MessageDialogResult::Custom(label)) if label == words.go_on => Choice::GoOn,
        Ok(MessageDialogResult::Custom(label)) if label == words.quit => Choice::Quit,
        _ => Choice::Stay,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_asked_about_what_would_stop() {
        assert_eq!(Stops::of(0, false), None);
        assert_eq!(Stops::of(0, true), Some(Stops::Watching));
        assert_eq!(Stops::of(3, false), Some(Stops::Reports(3)));
        // What is under way counts for more: a person waits for it.
        assert_eq!(Stops::of(3, true), Some(Stops::Reports(3)));
    }

    #[test]
    fn each_language_asks_about_the_folder_and_about_the_reports() {
        for (language, folder) in
            [("en", "folder"), ("de-CH", "Ordner"), ("fr", "dossier"), ("it_CH.UTF-8", "cartella")]
        {
            let words = Words::of(language);
            let (title, question) = words.asked(Stops::Watching);
            assert!(question.contains(folder) && !question.contains('{'), "{question}");
            let (reports_title, reports) = words.asked(Stops::Reports(12));
            assert!(reports.contains("12") && !reports.contains('{'), "{reports}");
            assert_ne!(title, reports_title);
        }
    }
}
