//! The question before reports may go to a new address: asked by the operating system's dialog,
//! which no page can answer or cover with other words.

use bridge::{Desk, EndpointQuestion};
use tauri::{AppHandle, Runtime};
use tauri_plugin_dialog::{DialogExt as _, MessageDialogButtons, MessageDialogKind};

use crate::language;

/// The words of one language.
struct Words {
    title: &'static str,
    /// `{address}`, `{environment}`.
    question: &'static str,
    /// Stands before the question where an endpoint gets another address: `{before}`.
    before: &'static str,
    /// The same where there is a proxy: `{proxy}`.
    proxy: &'static str,
    /// The same where a CA of the endpoint's own is trusted; its fingerprints follow.
    ca: &'static str,
    /// The same where those of the computer are trusted too.
    ca_too: &'static str,
    /// The same where a CA of its own is given up.
    no_ca: &'static str,
    /// The same where a proxy is given up: `{proxy}`.
    no_proxy: &'static str,
    /// The same where the address ends in another way than the authority's do.
    unusual: &'static str,
    yes: &'static str,
    no: &'static str,
}

const ENGLISH: Words = Words {
    title: "New address",
    question: "Reports with patient data will be sent to this \
               address:\n\n{address}\n({environment})\n\nIs it the address that the authority gave \
               you?",
    before: "Until now they were sent to {before}",
    proxy: "They go through the proxy {proxy}",
    ca: "Only servers of this certification authority are trusted there (SHA-256):",
    ca_too: "Servers of this certification authority (SHA-256) are trusted there, and those of \
             every one that this computer trusts:",
    no_ca: "Until now only servers of its own certification authority were trusted there. From \
             now on those of every one that this computer trusts are.",
    no_proxy: "They no longer go through the proxy {proxy}",
    unusual: "Check it: it does not end in /v1/fhir, as addresses of the authority do.",
    yes: "Yes, send there",
    no: "No",
};
const GERMAN: Words = Words {
    title: "Neue Adresse",
    question: "Meldungen mit Patientendaten werden an diese Adresse \
               gesendet:\n\n{address}\n({environment})\n\nIst es die Adresse, die Sie von der \
               Behörde haben?",
    before: "Bisher gingen sie an {before}",
    proxy: "Sie gehen über den Proxy {proxy}",
    ca: "Dort wird nur Servern dieser Zertifizierungsstelle vertraut (SHA-256):",
    ca_too: "Dort wird Servern dieser Zertifizierungsstelle (SHA-256) vertraut, und denen jeder \
             anderen, der dieser Computer vertraut:",
    no_ca: "Bisher wurde dort nur Servern der eigenen Zertifizierungsstelle vertraut. Von jetzt \
             an wird denen jeder vertraut, der dieser Computer vertraut.",
    no_proxy: "Sie gehen nicht mehr über den Proxy {proxy}",
    unusual: "Prüfen Sie sie: Sie endet nicht auf /v1/fhir wie die Adressen der Behörde.",
    yes: "Ja, dorthin senden",
    no: "Nein",
};
const FRENCH: Words = Words {
    title: "Nouvelle adresse",
    question: "Des déclarations contenant des données de patients seront envoyées à cette adresse \
               :\n\n{address}\n({environment})\n\nEst-ce l’adresse que l’autorité vous a donnée ?",
    before: "Jusqu’ici, elles étaient envoyées à {before}",
    proxy: "Elles passent par le proxy {proxy}",
    ca: "Seuls les serveurs de cette autorité de certification y sont acceptés (SHA-256) :",
    ca_too: "Y sont acceptés les serveurs de cette autorité de certification (SHA-256) et ceux \
             de toutes celles que cet ordinateur reconnaît :",
    no_ca: "Jusqu’ici, seuls les serveurs de sa propre autorité de certification y étaient \
             acceptés. Désormais, ceux de toutes celles que cet ordinateur reconnaît le sont.",
    no_proxy: "Elles ne passent plus par le proxy {proxy}",
    unusual: "Vérifiez-la : elle ne se termine pas par /v1/fhir comme les adresses de l’autorité.",
    yes: "Oui, envoyer",
    no: "Non",
};
const ITALIAN: Words = Words {
    title: "Nuovo indirizzo",
    question: "Le dichiarazioni con dati dei pazienti saranno inviate a questo \
               indirizzo:\n\n{address}\n({environment})\n\nÈ l’indirizzo che Lei ha ricevuto \
               dall’autorità?",
    before: "Finora sono state inviate a {before}",
    proxy: "Passano dal proxy {proxy}",
    ca: "Lì sono accettati soltanto i server di questa autorità di certificazione (SHA-256):",
    ca_too: "Lì sono accettati i server di questa autorità di certificazione (SHA-256) e quelli \
             di ogni altra che questo computer riconosce:",
    no_ca: "Finora lì erano accettati soltanto i server della propria autorità di \
             certificazione. D’ora in poi lo sono quelli di ogni altra che questo computer \
             riconosce.",
    no_proxy: "Non passano più dal proxy {proxy}",
    unusual: "Lo verifichi: non termina con /v1/fhir come gli indirizzi dell’autorità.",
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

    fn asked(&self, asked: &EndpointQuestion) -> String {
        let mut more = Vec::new();
        if let Some(before) = &asked.before {
            more.push(self.before.replace("{before}", before));
        }
        if let Some(proxy) = &asked.proxy {
            more.push(self.proxy.replace("{proxy}", proxy));
        }
        if let Some(proxy) = &asked.gives_up_proxy {
            more.push(self.no_proxy.replace("{proxy}", proxy));
        }
        if !asked.ca.is_empty() {
            let words = if asked.also_of_the_computer { self.ca_too } else { self.ca };
            more.push(format!("{words}\n{}", asked.ca.join("\n")));
        }
        if asked.gives_up_ca {
            more.push(self.no_ca.to_owned());
        }
        if !asked.has_usual_path {
            more.push(self.unusual.to_owned());
        }
        let question = match self.question.rsplit_once("\n\n") {
            Some((before, last)) if !more.is_empty() => {
                format!("{before}\n\n{}\n\n{last}", more.join("\n\n"))
            }
            _ => self.question.to_owned(),
        };
        // The address last: what stands in it is replaced by nothing any more.
        let question = question.replace("{environment}", &asked.environment);
        question.replace("{address}", &asked.address)
    }
}

/// Whether the person says yes.
pub(crate) async fn allows<R: Runtime>(
    app: &AppHandle<R>,
    desk: &Desk,
    asked: &EndpointQuestion,
) -> bool {
    let words = Words::of(language::of(desk).await.code());
    let (answer, said) = tokio::sync::oneshot::channel();
    app.dialog()
        .message(words.asked(asked))
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

    /// As `bridge` gives it, whose tests say that the host is the one that is looked up.
    fn asked(address: &str) -> EndpointQuestion {
        EndpointQuestion {
            address: address.to_owned(),
            before: None,
            environment: "production".to_owned(),
            proxy: None,
            ca: Vec::new(),
            also_of_the_computer: false,
            gives_up_ca: false,
            gives_up_proxy: None,
            has_usual_path: address.ends_with("/v1/fhir"),
        }
    }

    #[test]
    fn the_question_shows_the_very_address_in_the_language_of_the_window() {
        let long = format!("https://xn--uthority-2fh.example/{}/v1/fhir", "x".repeat(300));
        for (language, word) in [
            ("de-CH", "die Sie von der Behörde haben?"),
            ("fr", "que l’autorité vous a donnée ?"),
            ("it_CH.UTF-8", "che Lei ha ricevuto dall’autorità?"),
            ("en", "that the authority gave you?"),
            ("", "that the authority gave you?"),
        ] {
            let text = Words::of(language).asked(&asked(&long));
            assert!(text.contains(&format!("\n{long}\n(production)\n")), "whole: {text:?}");
            assert!(text.ends_with(word) && !text.contains('{'), "{text:?}");
            assert_eq!(text.matches("\n\n").count(), 2, "nothing beside it: {text}");
        }
    }

    #[test]
    fn the_question_shows_the_way_there_and_what_is_trusted() {
        let prints = [["AB"; 32].join(":"), ["CD"; 32].join(":")];
        let all = EndpointQuestion {
            before: Some("https://before.example/v1/fhir".to_owned()),
            proxy: Some("http://proxy.example:3128".to_owned()),
            ca: prints.to_vec(),
            ..asked("https://a.example/{before}/v1/fhir")
        };
        for language in ["en", "de", "fr", "it"] {
            let text = Words::of(language).asked(&all);
            let first = prints[0].as_str();
            for part in ["https://before.example/v1/fhir", "http://proxy.example:3128", first] {
                assert_eq!(text.matches(part).count(), 1, "{language}: {text}");
            }
            assert!(text.contains(&format!("{}\n{}", prints[0], prints[1])), "{text}");
            assert!(text.contains("\nhttps://a.example/{before}/v1/fhir\n"), "{text}");
            assert!(text.ends_with('?'), "{text}");
        }
        // Nobody is addressed as several people: the window says Lei.
        let all = [ITALIAN.question, ITALIAN.unusual, ITALIAN.before, ITALIAN.proxy, ITALIAN.ca];
        for word in ["vi ha", "verificate", "vostr"] {
            assert!(!all.concat().to_lowercase().contains(word), "{word}");
        }
    }

    #[test]
    fn what_is_given_up_is_said() {
        let less = EndpointQuestion {
            gives_up_ca: true,
            gives_up_proxy: Some("http://proxy.example:3128".to_owned()),
            ..asked("https://a.example/v1/fhir")
        };
        let too = EndpointQuestion {
            ca: vec!["AB".to_owned()],
            also_of_the_computer: true,
            ..asked("https://a.example/v1/fhir")
        };
        for language in ["en", "de", "fr", "it"] {
            let words = Words::of(language);
            let text = words.asked(&less);
            assert!(text.contains(words.no_ca) && text.contains("proxy.example:3128"), "{text}");
            let text = words.asked(&too);
            assert!(text.contains(words.ca_too) && !text.contains(words.ca), "{text}");
        }
    }

    #[test]
    fn an_unusual_base_path_is_asked_about() {
        for language in ["en", "de", "fr", "it"] {
            let words = Words::of(language);
            assert!(!words.asked(&asked("https://a.example/v1/fhir")).contains(words.unusual));
            let odd = "https://a.example/v2/fhir";
            let text = words.asked(&asked(odd));
            let (before, question) = text.split_once(words.unusual).expect(odd);
            assert!(before.contains(odd) && question.ends_with('?'), "{text}");
        }
    }
}
