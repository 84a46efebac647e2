//! The question before reports may go to a new address: asked by the operating system's dialog, which no page can
//! answer or cover with other words.

use bridge::Desk;
use bridge::views::EndpointInput;
use tauri::{AppHandle, Runtime};
use tauri_plugin_dialog::{DialogExt as _, MessageDialogButtons, MessageDialogKind};

/// Characters of the address that are shown: more would push the buttons off the screen.
const SHOWN: usize = 200;

/// The words of one language.
struct Words {
    title: &'static str,
    /// `{address}`, `{environment}`.
    question: &'static str,
    /// Stands before the question where the address ends in another way than the authority's do.
    unusual: &'static str,
    yes: &'static str,
    no: &'static str,
}

const ENGLISH: Words = Words {
    title: "New endpoint",
    question: "Reports with patient data will be sent to this address:\n\n{address}\n({environment})\n\nIs it the address that the authority gave you?",
    unusual: "Check it: it does not end in /v1/fhir, as addresses of the authority do.",
    yes: "Yes, send there",
    no: "No",
};
const GERMAN: Words = Words {
    title: "Neuer Endpunkt",
    question: "Meldungen mit Patientendaten werden an diese Adresse gesendet:\n\n{address}\n({environment})\n\nIst es die Adresse, die Sie von der Behörde haben?",
    unusual: "Prüfen Sie sie: Sie endet nicht auf /v1/fhir wie die Adressen der Behörde.",
    yes: "Ja, dorthin senden",
    no: "Nein",
};
const FRENCH: Words = Words {
    title: "Nouveau point d’accès",
    question: "Des déclarations contenant des données de patients seront envoyées à cette adresse :\n\n{address}\n({environment})\n\nEst-ce l’adresse que l’autorité vous a donnée ?",
    unusual: "Vérifiez-la : elle ne se termine pas par /v1/fhir comme les adresses de l’autorité.",
    yes: "Oui, envoyer",
    no: "Non",
};
const ITALIAN: Words = Words {
    title: "Nuovo punto di accesso",
    question: "Le dichiarazioni con dati dei pazienti saranno inviate a questo indirizzo:\n\n{address}\n({environment})\n\nÈ l’indirizzo che l’autorità vi ha dato?",
    unusual: "Verificatelo: non termina con /v1/fhir come gli indirizzi dell’autorità.",
    yes: "Sì, inviare",
    no: "No",
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

    fn asked(&self, input: &EndpointInput) -> String {
        let plain = |text: &str| -> String {
            // Marks that change the direction of writing would show another address than the one that is used.
            let shown = text.chars().filter(|c| c.is_ascii_graphic()).take(SHOWN);
            shown.collect()
        };
        let environment = plain(&input.environment);
        let question = match (input.has_usual_path(), self.question.rsplit_once("\n\n")) {
            (false, Some((before, asked))) => format!("{before}\n\n{}\n\n{asked}", self.unusual),
            _ => self.question.to_owned(),
        };
        let question = question.replace("{environment}", &environment);
        question.replace("{address}", &plain(&input.base_url))
    }
}

/// Whether the person says yes to a new endpoint.
pub(crate) async fn allows<R: Runtime>(
    app: &AppHandle<R>,
    desk: &Desk,
    input: &EndpointInput,
) -> bool {
    let chosen = desk.preferences().await.ok().and_then(|chosen| chosen.language);
    let language = chosen.or_else(|| std::env::var("LANG").ok()).unwrap_or_default();
    let words = Words::of(&language);
    let (answer, said) = tokio::sync::oneshot::channel();
    app.dialog()
        .message(words.asked(input))
        .title(words.title)
        .kind(MessageDialogKind::Warning)
        .buttons(MessageDialogButtons::OkCancelCustom(words.yes.to_owned(), words.no.to_owned()))
        .show(move |yes| {
            // The page may be gone by the time the dialog closes.
            let _ = answer.send(yes);
        });
    // A dialog that cannot be shown is no yes.
    said.await.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An endpoint at this address, as the page hands it over.
    fn input(address: &str) -> EndpointInput {
        serde_json::from_value(serde_json::json!({
            "name": "real", "baseUrl": address, "environment": "production", "release": null,
            "language": null, "caPem": null, "proxy": null,
        }))
        .unwrap()
    }

    #[test]
    fn the_question_shows_the_very_address_in_the_language_of_the_window() {
        let input = input("https://host.example/v1/fhir\u{202e}\n");
        for (language, word) in [
            ("de-CH", "Behörde"),
            ("fr", "autorité"),
            ("it_CH.UTF-8", "autorità"),
            ("en", "authority"),
            ("", "authority"),
        ] {
            let asked = Words::of(language).asked(&input);
            assert!(asked.contains("\nhttps://host.example/v1/fhir\n"), "{asked:?}");
            assert!(asked.contains(word) && asked.contains("production"), "{asked:?}");
            assert!(!asked.contains('\u{202e}') && !asked.contains('{'), "{asked:?}");
        }
    }

    #[test]
    fn an_unusual_base_path_is_asked_about() {
        for language in ["en", "de", "fr", "it"] {
            let words = Words::of(language);
            for usual in ["https://a.example/v1/fhir", " https://a.example/elm/v1/fhir/ "] {
                assert!(!words.asked(&input(usual)).contains(words.unusual), "{language} {usual}");
            }
            for odd in ["https://a.example", "https://a.example/fhir", "https://a.example/v2/fhir"]
            {
                let asked = words.asked(&input(odd));
                let (before, question) = asked.split_once(words.unusual).expect(odd);
                assert!(before.contains(odd) && question.ends_with('?'), "{asked}");
            }
        }
    }
}
