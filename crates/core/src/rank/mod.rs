//! Ranked search: the blocks of files that fit a question in words best.
//!
//! A file is cut into blocks at its definitions ([`FileBlocks`]). A [`RankIndex`] has the counts of
//! the terms of many files and finds the best of them for a [`RankQuery`]; their blocks are then
//! put in order ([`rank_blocks`]), and the lines that matched are shown ([`pack_block`]).
//!
//! - `tokens` cuts texts into terms, `query` and `vocabulary` queries;
//! - `blocks` cuts files, `files`, `order`, `naming` and `seldom` rank, with the constants of `weights`;
//! - `code_search` does all of it for contents that a caller passes;
//! - `excerpt` selects lines, `numbers` computes what must be equal on every platform.
//!
//! The answer depends on the searched files alone: it is the same in every order, for any number
//! of threads, natively and in WebAssembly. It knows words, not meanings or types: two functions
//! with one name are the same name.

mod blocks;
mod code_search;
mod excerpt;
mod files;
mod naming;
mod numbers;
mod order;
mod query;
mod seldom;
mod tokens;
mod vocabulary;
pub mod weights;

pub use blocks::{FileBlocks, MAX_BLOCK_LINES, MAX_RANKED_BYTES, ranked_text};
pub use code_search::{CodeSearch, DEFAULT_LIMIT, MAX_LIMIT};
pub use excerpt::pack_block;
pub use files::{FileRanking, RankIndex};
pub use order::{RankedBlock, RankedFile, rank_blocks};
pub use query::{Kind, MAX_QUERY_BYTES, RankQuery};
pub use seldom::is_test;
pub use tokens::Tokenizer;

#[cfg(test)]
mod tests;
