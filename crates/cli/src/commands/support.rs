//! The support bundle: shown, or saved as one file.

use std::path::Path;

use bridge::headless::{save_support, support_files};
use bridge::{Problem, SUPPORT_FILES, SUPPORT_TEXTS};

use super::Scene;
use super::statement::wording;
use crate::arguments::SupportBundle;
use crate::exit::Exit;
use crate::output::{Line, Look};
use texts::CATALOGUE;

/// Compiled only where each has its text.
const _: () = CATALOGUE.must_have_each("support-summary", SUPPORT_TEXTS);
const _: () = CATALOGUE.must_have("support-file", SUPPORT_FILES);

pub(super) async fn bundle(scene: &Scene<'_>, asked: SupportBundle) -> Result<Exit, Problem> {
    // A passphrase file that cannot be read is no reason to go without help: the bundle says what
    // is closed.
    let passphrase = scene.passphrase().ok().flatten();
    let files = support_files(&scene.folder(), passphrase, &wording(scene)).await;
    if let Some(target) = &asked.file {
        save_support(&files, target)?;
    }
    if scene.output.json {
        scene.output.object(&serde_json::json!({
            "file": asked.file.as_deref().map(shown),
            "contents": files,
        }));
        return Ok(Exit::Well);
    }
    for file in &files {
        let size = file.text.len().to_string();
        scene.output.line(&Line::new().add("  ").column(&file.name, 20, Look::Bold).add(size));
        if asked.show || asked.file.is_none() {
            file.text.lines().for_each(|line| scene.output.line(&Line::of(line)));
        }
    }
    match &asked.file {
        Some(file) => scene.line("say.support-saved", &[("file", &shown(file))]),
        None => scene.hint("say.support-next", &[]),
    }
    Ok(Exit::Well)
}

fn shown(file: &Path) -> String {
    file.display().to_string()
}
