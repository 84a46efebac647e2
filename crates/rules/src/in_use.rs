//! The rules in use, loaded once for as long as the same package is in use.

use std::sync::{Arc, Mutex, PoisonError};

use crate::set::RuleSet;
use crate::store::{InUseMark, Store, StoreFault};

/// The rules that were loaded last, with what said that they are in use.
#[derive(Debug, Default)]
pub struct InUse(Mutex<Option<(InUseMark, Arc<RuleSet>)>>);

impl InUse {
    /// The rules in use by now; another program may have changed them. `None` where none are.
    pub fn current(&self, store: &Store) -> Result<Option<Arc<RuleSet>>, StoreFault> {
        let Some(mark) = store.mark()? else { return Ok(None) };
        let mut loaded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, set)) = loaded.as_ref().filter(|(known, _)| *known == mark) {
            return Ok(Some(Arc::clone(set)));
        }
        let Some(set) = store.load_used()?.map(Arc::new) else { return Ok(None) };
        *loaded = Some((mark, Arc::clone(&set)));
        Ok(Some(set))
    }
}
