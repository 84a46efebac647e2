//! The rules in use, loaded once for as long as the same package is in use.

use std::sync::{Arc, Mutex, PoisonError};

use crate::set::RuleSet;
use crate::store::{Store, StoreFault};

/// The rules that were loaded last, with the name of their package.
#[derive(Debug, Default)]
pub struct InUse(Mutex<Option<(String, Arc<RuleSet>)>>);

impl InUse {
    /// The rules in use by now; another program may have changed them. `None` where none are.
    pub fn current(&self, store: &Store) -> Result<Option<Arc<RuleSet>>, StoreFault> {
        let Some(label) = store.in_use()? else { return Ok(None) };
        let mut loaded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, set)) = loaded.as_ref().filter(|(known, _)| *known == label) {
            return Ok(Some(Arc::clone(set)));
        }
        let set = Arc::new(store.load(Some(&label))?);
        *loaded = Some((label, Arc::clone(&set)));
        Ok(Some(set))
    }
}
