//! Ranked search: the blocks of files that fit a question in words best.
//!
//! A file is cut into blocks at its definitions ([`Cut`]). A [`RankIndex`] has the counts of the terms
//! of many files and finds the best of them for a [`RankQuery`]. The words of the query are counted in
//! their blocks ([`FileBlocks`]), which are then put in order ([`rank_blocks`]), and the lines that
//! matched are shown ([`shown_block`]).
//!
//! - `tokens` cuts texts into terms, `query` and `vocabulary` queries;
//! - `cut` cuts files into blocks;
//! - `sums` counts the terms of a file, `segments` and `files` keep and rank those of many, as `runs` of small
//!   numbers;
//! - `blocks` counts the terms of blocks; `order`, `naming` and `seldom` rank these, with the constants of
//!   `weights`;
//! - `code_search` does all of it for contents that a caller passes;
//! - `excerpt` selects lines for the result (`found`), `numbers` computes what must be equal on every platform.
//!
//! The answer depends on the searched files alone: it is the same in every order, for any number
//! of threads, natively and in WebAssembly. It knows words, not meanings or types: two functions
//! with one name are the same name.

mod blocks;
mod code_search;
mod cut;
mod excerpt;
mod files;
mod found;
mod naming;
mod numbers;
mod order;
mod query;
mod runs;
mod segments;
mod seldom;
mod sums;
mod tokens;
mod vocabulary;
pub mod weights;

pub use blocks::{FileBlocks, ranked_text};
pub use code_search::{CodeSearch, CountedContents, DEFAULT_LIMIT, MAX_LIMIT};
pub use cut::{Cut, MAX_BLOCK_LINES, PackedCut};
pub use excerpt::shown_block;
pub use files::{RankIndex, RankStats};
pub use found::{CodeBlock, CodeFound, CodeLine, RankLimits};
pub use order::{RankedBlock, RankedFile, cut_to_pool, rank_blocks};
pub use query::{Kind, MAX_QUERY_BYTES, RankQuery};
pub use segments::{RankBatch, Segment};
pub use seldom::is_test;
pub use tokens::Tokenizer;

#[cfg(test)]
mod tests;
