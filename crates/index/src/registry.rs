//! Bounds the number and the memory of the indexes of a process: beyond a limit, the least recently
//! used ones are closed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::Index;

/// The maximum number of indexes in a process. Beyond it, the least recently used is closed.
pub(crate) const MAX_INDEXES: usize = 8;
/// The maximum memory of all indexes in a process, in bytes. Beyond it, the least recently used are
/// closed, except for the one in use.
const MAX_TOTAL_INDEX_BYTES: usize = 1 << 30;

/// The indexes of this process, the most recently used at the end.
pub(crate) static REGISTRY: IndexRegistry = IndexRegistry(Mutex::new(VecDeque::new()));

pub(crate) struct IndexRegistry(pub(crate) Mutex<VecDeque<Weak<Index>>>);

impl IndexRegistry {
    /// Marks an index as the most recently used. If there are too many indexes, or they use too
    /// much memory, closes the least recently used.
    pub(crate) fn mark_used(&self, index: &Arc<Index>) {
        self.mark_used_within(index, MAX_TOTAL_INDEX_BYTES);
    }

    pub(crate) fn mark_used_within(&self, index: &Arc<Index>, most_bytes: usize) {
        let surplus = {
            let mut live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let mut held: Vec<Arc<Index>> = live
                .iter()
                .filter_map(Weak::upgrade)
                .filter(|known| !known.is_closed() && !Arc::ptr_eq(known, index))
                .collect();
            held.push(Arc::clone(index));
            let update_memory_use = |held: &[Arc<Index>]| -> usize {
                held.iter().map(|index| index.measured_bytes()).sum()
            };
            let mut gone = 0;
            while held.len() - gone > 1
                && (held.len() - gone > MAX_INDEXES
                    || update_memory_use(&held[gone..]) > most_bytes)
            {
                gone += 1;
            }
            *live = held[gone..].iter().map(Arc::downgrade).collect();
            held.truncate(gone);
            held
        };
        surplus.iter().for_each(|index| index.close());
    }
}
