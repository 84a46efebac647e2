//! The second place of backups, whoever asks for it.

use engine::Engine;

use crate::problem::Problem;

/// Copies to the second place what it lacks; gives how many backups that were.
///
/// # Errors
/// `backup-place-away` where it does not answer or refuses.
pub(crate) async fn copy_elsewhere(engine: &Engine) -> Result<usize, Problem> {
    match engine.back_up_elsewhere().await {
        None => Ok(0),
        Some(Ok(copied)) => Ok(copied),
        Some(Err(reason)) => {
            let place = engine.profile().settings.backup_place.unwrap_or_default();
            let place = place.display().to_string();
            let params = [("place", &*place), ("reason", &*reason)];
            Err(Problem::new("backup-place-away", &params, "backup place"))
        }
    }
}
