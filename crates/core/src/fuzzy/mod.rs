//! Finds paths by some of their letters in order (fuzzy path search), and ranks them.
//!
//! Two filters select the paths to score: a 64-bit mask of the letters in the path, and masks of
//! the letters in each quarter, which test their rough order. The remaining paths are scored by
//! alignment (Smith-Waterman, by `neo_frizbee`). Queries of at least five letters may have a wrong
//! letter. Results are sorted by score (highest first), then by length (shortest first), then in
//! input order.

mod path_table;
mod quarter_masks;
mod rank;
mod score;

pub use path_table::PathTable;
pub use rank::RankedPath;
pub use score::BestResults;

use crate::Result;
use crate::options::{Options, invalid};
use crate::pack::Packed;

/// The maximum length of a query in bytes; a longer one is refused.
pub const MAX_QUERY_BYTES: usize = 256;
/// The minimum number of letters of a query in which one may be wrong, unless the caller says how
/// many may.
const MIN_TYPO_QUERY_CHARS: usize = 5;

/// The maximum of `limit`; a larger one counts as this many.
const MAX_RANK_LIMIT: u64 = 10_000;

/// The options of a fuzzy search.
#[derive(Clone, Debug)]
pub struct RankOptions {
    /// The letters to look for, in order; not blank, and at most [`MAX_QUERY_BYTES`].
    pub query: String,
    /// The maximum number of paths returned.
    pub limit: usize,
    /// The number of letters of the query that may be wrong, at most 8; `None` for one in a query
    /// of at least five letters, and none in a shorter one.
    pub typos: Option<u16>,
}

impl RankOptions {
    /// Parses `query`, `limit` (default 20) and `typos`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for a blank or too long query, or a value of the wrong type.
    pub fn read(options: &Options) -> Result<Self> {
        let query = options.text("query")?.unwrap_or_default().to_owned();
        if query.trim().is_empty() {
            return Err(invalid("query", "query is empty"));
        }
        if query.len() > MAX_QUERY_BYTES {
            return Err(invalid("query", "query is longer than 256 bytes"));
        }
        Ok(Self {
            query,
            limit: options.number("limit")?.map_or(20, |limit| limit.min(MAX_RANK_LIMIT) as usize),
            typos: options.number("typos")?.map(|typos| typos.min(8) as u16),
        })
    }
}

/// Ranks the paths of a text, each followed by a NUL. Returns the number of matching paths, the
/// number of results, and for each result the index of its path and its score, best first.
///
/// # Errors
/// Like [`RankOptions::read`].
pub fn rank_packed(paths: &str, options: &str) -> Result<Packed> {
    let RankOptions { query, limit, typos } = RankOptions::read(&Options::parse(options)?)?;
    let mut table = PathTable::default();
    paths.split_terminator('\0').for_each(|path| table.push(path));
    let (ranked, fitting) = table.rank(&query, 0..table.len(), typos, limit);
    let mut packed = Packed::new();
    packed.num(fitting as u64);
    packed.num(ranked.len() as u64);
    for RankedPath { index, score } in ranked {
        packed.num(u64::from(index));
        packed.num(u64::from(score));
    }
    Ok(packed)
}

#[cfg(test)]
mod tests {
    use filewright_matcher::{Config, Matcher};
    use proptest::prelude::*;

    use super::*;

    fn best(query: &str, typos: Option<u16>) -> Vec<&'static str> {
        const PATHS: &[&str] = &[
            "crates/core/src/search/query.rs",
            "crates/fs/src/grep/mod.rs",
            "drivers/usb/core/hub.c",
            "drivers/usb/core/hub.h",
            "fs/ext4/inode.c",
            "fs/ext4/inode-test.c",
            "README.md",
            "docs/readme/index.md",
        ];
        let mut paths = PathTable::default();
        PATHS.iter().for_each(|path| paths.push(path));
        let (ranked, _) = paths.rank(query, 0..paths.len(), typos, 2);
        ranked.iter().map(|ranked| PATHS[ranked.index as usize]).collect()
    }

    #[test]
    fn the_intended_path_ranks_first() {
        // The columns: query, typos, best match.
        let cases = [
            ("ext4ino", None, "fs/ext4/inode.c"),
            ("usb/core/hub", None, "drivers/usb/core/hub.c"),
            ("hub.h", None, "drivers/usb/core/hub.h"),
            ("readme.md", None, "README.md"),
            ("grepmod", None, "crates/fs/src/grep/mod.rs"),
            ("qeury.rs", Some(2), "crates/core/src/search/query.rs"),
        ];
        for (query, typos, expected) in cases {
            assert_eq!(best(query, typos).first(), Some(&expected), "{query}");
        }
        assert!(best("zzzzqq", None).is_empty() && best("", None).is_empty());
    }

    /// Computes the result of [`PathTable::rank`] by scoring and sorting all paths.
    fn plainly(
        paths: &[String],
        query: &str,
        typos: u16,
        limit: usize,
    ) -> (Vec<RankedPath>, usize) {
        let texts: Vec<&str> = paths.iter().map(String::as_str).collect();
        let config = Config { max_typos: Some(typos), ..score::matcher_config() };
        let found = Matcher::new(query, &config).match_list(&texts);
        let mut all: Vec<_> = found
            .iter()
            .map(|found| {
                let path = &paths[found.index as usize];
                let score = u32::from(found.score) + score::unicode_file_name_bonus(query, path);
                (u32::MAX - score, path.len(), found.index)
            })
            .collect();
        all.sort_unstable();
        let given = all.iter().take(limit);
        let given = given.map(|&(score, _, index)| RankedPath { index, score: u32::MAX - score });
        (given.collect(), found.len())
    }

    proptest! {
        /// Filters, parallel shares and early rejection do not change the result.
        #[test]
        fn ranks_as_if_all_were_scored(
            paths in proptest::collection::vec("([aAbB_-]{1,3}/){0,2}[abAB.\u{212a}kÉé]{1,12}", 0..40),
            query in "[abAB/.kKé_]{1,7}",
            typos in 0u16..4,
            limit in 0usize..9,
            parts in 1usize..4,
        ) {
            let mut table = PathTable::default();
            paths.iter().for_each(|path| table.push(path));
            let exact = plainly(&paths, &query, 0, limit);
            let expected = if exact.1 > 0 { exact } else { plainly(&paths, &query, typos, limit) };
            let shares = |places: &[u32], score: &(dyn Fn(&[u32]) -> BestResults + Sync)| {
                places.chunks(places.len().div_ceil(parts).max(1)).map(score).collect()
            };
            let ranked = table.rank_shared(&query, 0..paths.len(), Some(typos), limit, shares);
            prop_assert_eq!(ranked, expected);
        }

        #[test]
        fn hostile_input_never_panics(query in "\\PC{0,40}", path in "\\PC{0,60}", typos in 0u16..12) {
            let mut paths = PathTable::default();
            paths.push(&path);
            let (ranked, fitting) = paths.rank(&query, 0..9, Some(typos), 1);
            prop_assert!(ranked.len() <= 1 && fitting <= 1);
        }

        /// The filters never reject a path that the scorer accepts.
        #[test]
        fn subsequences_fit(path in "[a-zA-Z/_.]{1,40}", every in 1usize..4) {
            let query: String = path.chars().step_by(every).collect();
            let mut paths = PathTable::default();
            paths.push(&path);
            prop_assert_eq!(paths.rank(&query, 0..1, Some(0), 1).1, 1, "{} in {}", query, path);
        }
    }

    #[test]
    fn crosses_packed_best_first() {
        let paths = "src/main.rs\0docs/maintain.md\0README\0";
        let packed = rank_packed(paths, r#"{"query": "main"}"#).unwrap();
        assert_eq!(packed.nums[..3], [2., 2., 0.], "two fit, two are given, the first is best");
        assert_eq!((packed.nums[4], packed.nums.len()), (1., 6));
        let packed = rank_packed(paths, r#"{"query": "main", "limit": 1}"#).unwrap();
        assert_eq!((&packed.nums[..3], packed.nums.len()), (&[2., 1., 0.][..], 4));
        let packed = rank_packed(paths, r#"{"query": "mzin", "typos": 1, "limit": 9}"#).unwrap();
        assert_eq!(packed.nums[0], 2.0);
    }

    #[test]
    fn errors_name_the_invalid_option() {
        let long = format!(r#"{{"query": "{}"}}"#, "x".repeat(MAX_QUERY_BYTES + 1));
        for (options, argument) in [
            ("{}", "query"),
            (r#"{"query": "  "}"#, "query"),
            (long.as_str(), "query"),
            (r#"{"query": "a", "limit": -1}"#, "limit"),
            (r#"{"query": "a", "typos": "1"}"#, "typos"),
        ] {
            let error = rank_packed("a\0", options).unwrap_err();
            assert_eq!(error.details.get("argument").and_then(|v| v.as_str()), Some(argument));
        }
    }

    #[test]
    fn reports_its_size() {
        let mut paths = PathTable::default();
        assert!(paths.is_empty());
        paths.push("src/main.rs");
        assert!(!paths.is_empty() && paths.bytes() >= "src/main.rs".len() + 12);
    }
}
