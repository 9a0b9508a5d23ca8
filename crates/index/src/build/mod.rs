//! Files for an index and for a query: `indexer` reads all once, in the background;
//! `candidates` chooses those that can have a match, `verify` reads and searches them, and
//! `negative_cache` remembers the chunks that had none.

pub(crate) mod candidates;
pub(crate) mod indexer;
pub(crate) mod negative_cache;
pub(crate) mod verify;
