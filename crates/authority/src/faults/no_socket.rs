//! The socket by which the fault plan is changed, on a system that has no Unix sockets: there is
//! none.

use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use super::FaultPlan;
use crate::AuthorityError;

/// None can be made.
pub(crate) enum Listener {}

/// Refuses to make one, where one is asked for.
pub(crate) fn listen(asked: Option<PathBuf>) -> Result<Option<Listener>, AuthorityError> {
    asked.map_or(Ok(None), |_| Err(AuthorityError::NoSocket))
}

/// Is never called.
pub(crate) async fn serve(listener: Listener, _: FaultPlan, _: CancellationToken) {
    match listener {}
}
