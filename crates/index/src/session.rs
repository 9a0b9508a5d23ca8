//! A set of roots with the indexes of its trees.

use std::sync::{Arc, OnceLock};

use filewright_core::Result;
use filewright_fs::root::{Renewed, Roots};
use filewright_fs::search::shared_walk::SharedWalks;

use crate::Indexes;
use crate::store::IndexStore;

/// Roots, the indexes of what lies below them, and the walks that are under way there.
#[derive(Debug)]
pub struct Session {
    /// Where every operation starts.
    pub roots: Arc<Roots>,
    /// The walks under way, which searches of one tree share.
    pub(crate) walks: Arc<SharedWalks>,
    pub(crate) indexes: Indexes,
    /// Where indexes are kept for the processes that follow.
    pub(crate) shelf: Arc<OnceLock<Arc<IndexStore>>>,
}

impl Session {
    /// A session without an index.
    pub fn new(roots: Roots) -> Self {
        Self {
            roots: Arc::new(roots),
            walks: Arc::default(),
            indexes: Indexes::default(),
            shelf: Arc::default(),
        }
    }

    /// A session over roots that were deleted and made again; `None` where none were. It keeps
    /// its indexes where this one does.
    ///
    /// # Errors
    /// As [`Roots::renewed`].
    pub fn renewed(&self) -> Result<Option<Self>> {
        let Renewed::Anew(roots) = self.roots.renewed()? else { return Ok(None) };
        let session = Self::new(*roots);
        if let Some(shelf) = self.shelf.get() {
            let _ = session.shelf.set(Arc::clone(shelf));
        }
        Ok(Some(session))
    }
}
