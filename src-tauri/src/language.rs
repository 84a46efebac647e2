//! The language of what the shell says by itself.

use bridge::Desk;
use texts::Language;

/// The language that the person chose, or that of the system.
pub(crate) async fn of(desk: &Desk) -> Language {
    let chosen = desk.preferences().await.ok().and_then(|chosen| chosen.language);
    chosen.map_or_else(of_the_system, |language| Language::of_locale(&language))
}

/// Where nobody can say which one the person chose.
pub(crate) fn of_the_system() -> Language {
    Language::of_locale(&std::env::var("LANG").unwrap_or_default())
}
