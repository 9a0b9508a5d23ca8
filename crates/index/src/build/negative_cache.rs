//! A cache of the pieces of files in which a query had no match, so that they are not read again
//! for the same query.
//!
//! An index selects some files that do not match. Without this cache, they are read again for every
//! page, for a count before the content, and for the same search of another agent. An entry is
//! valid as long as its owner is current: a file that changes, or may have, is indexed again and
//! gets a new owner number. So an entry is never wrong unless the index is; the least recently used
//! entries are dropped.

use std::sync::Arc;

/// The maximum number of cached queries. Beyond it, the least recently used is dropped.
const MAX_CACHED_QUERIES: usize = 64;
/// The maximum number of pieces that are cached for one query. Beyond it, the earlier ones are
/// dropped.
pub(crate) const MAX_PIECES_PER_QUERY: usize = 16 << 10;
/// The maximum number of pieces of all queries. Beyond it, the least recently used queries are
/// dropped.
const MAX_CACHED_PIECES: usize = 32 << 10;
/// The maximum length in bytes of the text that identifies a query. A longer one is not cached.
const MAX_QUERY_KEY_BYTES: usize = 1 << 10;

/// A unit that is read and searched at once, identified by its owner and its offset: a block, a
/// chunk of one, or a whole file.
pub(crate) type FilePiece = u64;

/// Returns the piece at an offset, in bytes, of the file with this owner number.
pub(crate) fn piece_at(owner: u32, offset: u32) -> FilePiece {
    u64::from(owner) << 32 | u64::from(offset)
}

/// The cached queries, the most recently used first.
#[derive(Default)]
pub(crate) struct NegativeCache(Vec<QueryMisses>);

/// The pieces without a match for a query.
struct QueryMisses {
    query: Arc<str>,
    /// The pieces, sorted and without duplicates.
    pieces: Arc<[FilePiece]>,
}

impl NegativeCache {
    /// Returns the pieces in which a query is known to have no match, sorted.
    pub fn of(&mut self, query: &str) -> Arc<[FilePiece]> {
        let Some(place) = self.0.iter().position(|known| *known.query == *query) else {
            return Arc::default();
        };
        self.0[..=place].rotate_right(1);
        Arc::clone(&self.0[0].pieces)
    }

    /// Adds pieces in which a query had no match.
    pub fn add(&mut self, query: &Arc<str>, mut found: Vec<FilePiece>) {
        if found.is_empty() || query.len() > MAX_QUERY_KEY_BYTES {
            return;
        }
        let before = self.of(query);
        if found.len() + before.len() <= MAX_PIECES_PER_QUERY {
            found.extend_from_slice(&before);
        }
        // With too many, the earlier pieces are dropped: most of so many belong to files that were
        // indexed again.
        found.truncate(MAX_PIECES_PER_QUERY);
        found.sort_unstable();
        found.dedup();
        self.0.retain(|known| known.query != *query);
        self.0.insert(0, QueryMisses { query: Arc::clone(query), pieces: found.into() });
        self.0.truncate(MAX_CACHED_QUERIES);
        let mut sum = 0;
        self.0.retain(|known| {
            sum += known.pieces.len();
            sum <= MAX_CACHED_PIECES
        });
    }

    /// Returns the memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.0.iter().map(|known| known.query.len() + size_of_val(&*known.pieces)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> Arc<str> {
        number.to_string().into()
    }

    #[test]
    fn entries_are_sorted_and_unique() {
        let mut known = NegativeCache::default();
        known.add(&key(1), vec![piece_at(2, 0), piece_at(1, 7)]);
        known.add(&key(1), vec![piece_at(1, 7), piece_at(1, 3)]);
        known.add(&key(2), vec![]);
        assert_eq!(*known.of("1"), [piece_at(1, 3), piece_at(1, 7), piece_at(2, 0)]);
        assert!(known.of("2").is_empty() && known.bytes() == 1 + 3 * 8);
    }

    #[test]
    fn the_least_recently_used_query_is_dropped() {
        let mut known = NegativeCache::default();
        for number in 0..MAX_CACHED_QUERIES {
            known.add(&key(number), vec![0]);
        }
        assert!(!known.of("0").is_empty(), "asked for: it is the last now");
        known.add(&key(MAX_CACHED_QUERIES), vec![0]);
        assert!(!known.of("0").is_empty() && known.of("1").is_empty());
        let many = |from: usize| (from..from + MAX_PIECES_PER_QUERY).map(|at| at as u64).collect();
        for number in 1000..1010 {
            known.add(&key(number), many(0));
            known.add(&key(number), many(MAX_PIECES_PER_QUERY));
        }
        assert_eq!(known.of("1009").len(), MAX_PIECES_PER_QUERY, "it begins anew");
        assert!(known.of("0").is_empty());
        assert!(
            known.bytes()
                <= MAX_CACHED_PIECES * size_of::<FilePiece>()
                    + MAX_CACHED_QUERIES * MAX_QUERY_KEY_BYTES
        );
        known.add(&"x".repeat(MAX_QUERY_KEY_BYTES + 1).into(), vec![0]);
        assert_eq!(known.of("1009").len(), MAX_PIECES_PER_QUERY);
    }
}
