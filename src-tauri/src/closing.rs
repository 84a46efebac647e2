//! Closing the window while reports are under way. Without the window nothing is sent and no answer is asked for, so it
//! is asked first, by the operating system's dialog: a page that hangs must not keep a window open.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bridge::Desk;
use tauri::{CloseRequestApi, Manager as _, Runtime, Window};
use tauri_plugin_dialog::{
    DialogExt as _, MessageDialogButtons, MessageDialogKind, MessageDialogResult,
};

use crate::house::House;

/// The person has decided: the next request is let through.
#[derive(Default)]
pub(crate) struct Decided(AtomicBool);

/// The words of one language.
struct Words {
    title: &'static str,
    /// `{n}`.
    question: &'static str,
    go_on: &'static str,
    quit: &'static str,
    cancel: &'static str,
}

const ENGLISH: Words = Words {
    title: "Reports are under way",
    question: "Reports whose end is not known yet: {n}\n\nLab Courier can go on as a minimised window. If you quit, nothing is lost: it goes on at the next start.",
    go_on: "Go on minimised",
    quit: "Quit",
    cancel: "Cancel",
};
const GERMAN: Words = Words {
    title: "Meldungen sind unterwegs",
    question: "Meldungen, deren Ergebnis noch aussteht: {n}\n\nLab Courier kann als minimiertes Fenster weiterarbeiten. Wenn Sie beenden, geht nichts verloren: Beim nächsten Start geht es weiter.",
    go_on: "Minimiert weiterarbeiten",
    quit: "Beenden",
    cancel: "Abbrechen",
};
const FRENCH: Words = Words {
    title: "Des déclarations sont en cours",
    question: "Déclarations dont le résultat n’est pas encore connu : {n}\n\nLab Courier peut continuer dans une fenêtre réduite. Si vous quittez, rien n’est perdu : l’envoi reprend au prochain démarrage.",
    go_on: "Continuer en arrière-plan",
    quit: "Quitter",
    cancel: "Annuler",
};
const ITALIAN: Words = Words {
    title: "Ci sono dichiarazioni in corso",
    question: "Dichiarazioni di cui non si conosce ancora l’esito: {n}\n\nLab Courier può continuare in una finestra ridotta a icona. Se esce, nulla va perso: si riprende al prossimo avvio.",
    go_on: "Continuare ridotto a icona",
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
        match choice(&window).await {
            Choice::Quit => {
                window.state::<Decided>().0.store(true, Ordering::SeqCst);
                // A window that is gone already needs no closing.
                let _ = window.close();
            }
            Choice::GoOn => {
                // Where there is nothing to minimise to, it stays as it is.
                let _ = window.minimize();
            }
            Choice::Stay => {}
        }
    });
}

async fn choice<R: Runtime>(window: &Window<R>) -> Choice {
    // A desk that does not open sends nothing.
    let Ok(desk) = window.state::<Arc<House>>().desk().await else { return Choice::Quit };
    let open = desk.under_way();
    if open == 0 {
        return Choice::Quit;
    }
    let preferences = desk.preferences().await.unwrap_or_default();
    match preferences.on_close.as_str() {
        "quit" => Choice::Quit,
        "background" => Choice::GoOn,
        _ => {
            let language = preferences.language.or_else(|| std::env::var("LANG").ok());
            let choice = ask(window, Words::of(&language.unwrap_or_default()), open).await;
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

async fn ask<R: Runtime>(window: &Window<R>, words: &'static Words, open: u32) -> Choice {
    let (answer, said) = tokio::sync::oneshot::channel();
    let buttons = MessageDialogButtons::YesNoCancelCustom(
        words.go_on.to_owned(),
        words.quit.to_owned(),
        words.cancel.to_owned(),
    );
    window
        .dialog()
        .message(words.question.replace("{n}", &open.to_string()))
        .title(words.title)
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
