use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sayso_domain::SourceId;

/// How many connections of one source may wait at once, so that no source takes all there are.
const OF_ONE: usize = 256;

/// Who waits, counted per source.
#[derive(Clone, Default)]
pub(crate) struct Waits(Arc<Mutex<HashMap<SourceId, usize>>>);

/// A place to wait at, given back when it is dropped.
pub(crate) struct Place {
    source: SourceId,
    waits: Waits,
}

impl Waits {
    /// A place for a source; none where it has all that it may have.
    pub(crate) fn take(&self, source: SourceId) -> Option<Place> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(source).or_default();
        if *count >= OF_ONE {
            return None;
        }
        *count += 1;
        Some(Place { source, waits: self.clone() })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.waits.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.source) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.source);
            }
        }
    }
}
