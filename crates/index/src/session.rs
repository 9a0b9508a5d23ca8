//! A set of roots with the indexes of its trees.

use std::sync::{Arc, OnceLock};

use filewright_core::Result;
use filewright_fs::root::{RenewedRoots, Roots};
use filewright_fs::search::shared_walk::SharedWalks;

use crate::Indexes;
use crate::store::IndexStore;

/// The roots, the indexes of the trees below them, and the walks running there.
#[derive(Debug)]
pub struct Session {
    /// The opened roots. The path of every search is resolved against them.
    pub roots: Arc<Roots>,
    /// The running walks, which searches of one tree share.
    pub(crate) walks: Arc<SharedWalks>,
    pub(crate) indexes: Indexes,
    /// The store in which indexes are saved for later processes.
    pub(crate) index_store: Arc<OnceLock<Arc<IndexStore>>>,
}

impl Session {
    /// Creates a session without an index.
    pub fn new(roots: Roots) -> Self {
        Self {
            roots: Arc::new(roots),
            walks: Arc::default(),
            indexes: Indexes::default(),
            index_store: Arc::default(),
        }
    }

    /// Returns a session without indexes for the roots after some of them were deleted and created
    /// again, or `None` if none were. It saves indexes in the same store.
    ///
    /// # Errors
    /// Like [`Roots::renewed`].
    pub fn renewed(&self) -> Result<Option<Self>> {
        let RenewedRoots::Anew(roots) = self.roots.renewed()? else { return Ok(None) };
        let session = Self::new(*roots);
        if let Some(index_store) = self.index_store.get() {
            let _ = session.index_store.set(Arc::clone(index_store));
        }
        Ok(Some(session))
    }
}
