//! Reads files for an index and for a query: `indexer` reads all files once, in the background;
//! `candidates` selects those that can have a match, `verify` reads and searches them, and
//! `negative_cache` records the pieces without a match.

pub(crate) mod candidates;
pub(crate) mod indexer;
pub(crate) mod negative_cache;
pub(crate) mod verify;
