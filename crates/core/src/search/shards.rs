//! Stores which grams each of many blocks has, as bit matrices.
//!
//! Blocks with a similar number of grams share a shard: a bit matrix with a column for each block
//! and a row for each range of gram hashes. A query reads the rows of its grams and combines them
//! word by word, 64 blocks at a time.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::bit_set::{intersect_bit_set, unite_bit_set};
use super::block::Block;
use super::gram_query::GramQuery;
use super::grams::GRAM_HASH_BITS;

const MIN_SHARD_ROWS: usize = 64;
/// The maximum number of rows of a shard: one for each gram hash.
const MAX_SHARD_ROWS: usize = 1 << GRAM_HASH_BITS;
/// The number of different shard heights between one power of two and the next, as a power of two.
/// Fewer heights waste more rows by rounding up.
const SHARD_HEIGHT_STEP_BITS: u32 = 2;
/// The maximum number of bits in a shard (4 MiB), which makes rows long enough for sequential
/// reads.
const MAX_SHARD_BITS: usize = 1 << 25;
const INITIAL_SHARD_COLUMNS: usize = 64;
/// The number of words of a row in which the occurrences of a gram are counted as its frequency.
const FREQUENCY_SAMPLE_WORDS: usize = 8;
/// The number of shards that are sampled to estimate how many blocks a query selects.
const SAMPLE_SHARDS: usize = 4;
/// The number of grams whose complete rows are read; after them, most words have no candidate left.
const GRAMS_WITH_WHOLE_ROWS: usize = 3;
const WORDS_PER_CACHE_LINE: usize = 8;
/// If more than this many words come to one word with a candidate, words without candidates are
/// skipped.
const MIN_WORDS_PER_CANDIDATE_WORD: usize = 4;

/// The shards of an index. Clones share those that are full.
#[derive(Clone, Debug, Default)]
pub(super) struct Shards {
    full: Vec<Arc<Shard>>,
    /// Shards with free columns, keyed by their number of rows.
    open: BTreeMap<usize, Shard>,
    blocks: usize,
}

/// A bit matrix: which blocks, one column each, have grams with the hashes of each row.
#[derive(Clone)]
pub(super) struct Shard {
    /// The number of words in a row.
    pub(super) words: usize,
    /// The rows, one after the other, up to the last complete word of columns.
    pub(super) rows: Vec<u64>,
    /// The last, incomplete word of columns of each row. Bits are set here, in the cache, whereas
    /// each bit of a matrix of megabytes would be a cache miss.
    pub(super) last: Vec<u64>,
    pub(super) blocks: Vec<Block>,
}

/// The blocks of one word of columns that are still candidates.
struct RemainingBlocks<'s> {
    shard: &'s Shard,
    /// The index of the word in a row.
    at: usize,
    columns: u64,
}

impl std::fmt::Debug for Shard {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} blocks x {} rows", self.blocks.len(), self.last.len())
    }
}

impl Shards {
    /// Adds a block with its distinct grams. `rows_per_hundred` is the number of rows per hundred
    /// grams, before rounding up.
    pub fn push(&mut self, grams: &[u32], block: Block, rows_per_hundred: usize) {
        let rows = shard_height_for(grams.len() * rows_per_hundred / 100);
        let shard = self.open.entry(rows).or_insert_with(|| Shard::new(rows));
        shard.push(grams, block);
        if shard.blocks.len() >= shard.max_columns() {
            let full = self.open.remove(&rows).map(|mut shard| {
                shard.blocks.shrink_to_fit();
                Arc::new(shard)
            });
            self.full.extend(full);
        }
        self.blocks += 1;
    }

    /// Returns the number of blocks.
    pub fn len(&self) -> usize {
        self.blocks
    }

    /// Returns the memory use in bytes.
    pub fn bytes(&self) -> usize {
        let of = |shard: &Shard| {
            (shard.rows.len() + shard.last.len()) * 8 + shard.blocks.capacity() * size_of::<Block>()
        };
        self.shards().map(of).sum()
    }

    /// Releases memory that is reserved but not used.
    pub fn shrink(&mut self) {
        for shard in self.open.values_mut() {
            shard.resize(shard.blocks.len() / 64);
            shard.blocks.shrink_to_fit();
        }
    }

    /// Calls `found` for each block that may contain what a query requires.
    pub fn blocks(&self, plan: &GramQuery, found: &mut dyn FnMut(&Block)) {
        let plan = &self.rarest_first(plan);
        if let GramQuery::Grams(grams) = plan
            && !grams.is_empty()
        {
            return self.intersect(grams, found);
        }
        for shard in self.shards() {
            let Some(columns) = shard.matching_columns(plan) else {
                shard.blocks.iter().for_each(&mut *found);
                continue;
            };
            for (index, mut word) in columns.into_iter().enumerate() {
                while word != 0 {
                    let column = index * 64 + word.trailing_zeros() as usize;
                    word &= word - 1;
                    if let Some(block) = shard.blocks.get(column) {
                        found(block);
                    }
                }
            }
        }
    }

    /// Calls `found` for each block that contains all the grams.
    ///
    /// Memory latency dominates, so accesses are batched: first the complete rows of a few grams in
    /// all shards, then for each further gram only the words that have candidates left.
    fn intersect(&self, grams: &[u32], found: &mut dyn FnMut(&Block)) {
        let (first, rest) = grams.split_at(grams.len().min(GRAMS_WITH_WHOLE_ROWS));
        let mut sum = 0;
        for (shard, &gram) in
            self.shards().flat_map(|shard| first.iter().map(move |gram| (shard, gram)))
        {
            let (row, last) = shard.row(gram);
            sum = row.iter().step_by(WORDS_PER_CACHE_LINE).fold(sum ^ last, |sum, word| sum ^ word);
        }
        std::hint::black_box(sum);
        let mut left: Vec<RemainingBlocks<'_>> = Vec::new();
        for shard in self.shards() {
            shard.words_with_all(first, &mut left);
        }
        for &gram in rest {
            // All words are read in one loop that does nothing else, so that no memory access waits
            // for the result of another.
            for left in &mut left {
                left.columns &= left.shard.word(gram, left.at);
            }
            left.retain(|left| left.columns != 0);
        }
        for RemainingBlocks { shard, at, mut columns } in left {
            while columns != 0 {
                let column = at * 64 + columns.trailing_zeros() as usize;
                columns &= columns - 1;
                shard.blocks.get(column).into_iter().for_each(&mut *found);
            }
        }
    }

    /// Returns the number of blocks in a sample that may contain what a query requires, and the
    /// size of the sample.
    pub fn sample(&self, plan: &GramQuery) -> (usize, usize) {
        let plan = &self.rarest_first(plan);
        let step = self.shards().count().div_ceil(SAMPLE_SHARDS).max(1);
        self.shards().step_by(step).fold((0, 0), |(fitting, all), shard| {
            let ones = |columns: Vec<u64>| -> usize {
                columns.iter().map(|word| word.count_ones() as usize).sum()
            };
            let blocks = shard.blocks.len();
            (fitting + shard.matching_columns(plan).map_or(blocks, ones), all + blocks)
        })
    }

    /// Returns the query with its grams sorted by frequency, rarest first: after two or three of
    /// them, most columns are excluded.
    fn rarest_first(&self, plan: &GramQuery) -> GramQuery {
        let sorted =
            |plans: &[GramQuery]| plans.iter().map(|plan| self.rarest_first(plan)).collect();
        match (plan, self.shards().max_by_key(|shard| shard.blocks.len())) {
            (GramQuery::Grams(grams), Some(shard)) if grams.len() > 2 => {
                let mut grams = grams.clone();
                grams.sort_by_cached_key(|&gram| shard.gram_frequency(gram));
                GramQuery::Grams(grams)
            }
            (GramQuery::All(plans), _) => GramQuery::All(sorted(plans)),
            (GramQuery::One(plans), _) => GramQuery::One(sorted(plans)),
            (plan, _) => plan.clone(),
        }
    }

    pub(super) fn add_shard(&mut self, shard: Shard) {
        self.blocks += shard.blocks.len();
        let grows = shard.blocks.len() < shard.max_columns();
        if grows && !self.open.contains_key(&shard.height()) {
            self.open.insert(shard.height(), shard);
        } else {
            self.full.push(Arc::new(shard));
        }
    }

    pub(super) fn shards(&self) -> impl Iterator<Item = &Shard> {
        self.full.iter().map(Arc::as_ref).chain(self.open.values())
    }
}

impl Shard {
    pub(super) fn new(rows: usize) -> Self {
        let words = INITIAL_SHARD_COLUMNS / 64;
        let (rows, last) = (vec![0; rows * words], vec![0; rows]);
        Self { words, rows, last, blocks: Vec::new() }
    }

    /// Returns the number of rows of the matrix.
    pub(super) fn height(&self) -> usize {
        self.last.len()
    }

    /// Returns true if a shard can have this number of rows.
    pub(super) fn is_possible_height(rows: usize) -> bool {
        (MIN_SHARD_ROWS..=MAX_SHARD_ROWS).contains(&rows) && shard_height_for(rows) == rows
    }

    /// Passes the complete words of each row to `give`, row by row.
    pub(super) fn for_each_row(&self, give: &mut dyn FnMut(&[u64])) {
        let full = self.blocks.len() / 64;
        if full > 0 {
            self.rows.chunks_exact(self.words).for_each(|row| give(&row[..full]));
        }
    }

    /// Returns the maximum number of columns, one for each block.
    pub(super) fn max_columns(&self) -> usize {
        (MAX_SHARD_BITS / self.height() / 64 * 64).max(INITIAL_SHARD_COLUMNS)
    }

    fn push(&mut self, grams: &[u32], block: Block) {
        let bit = 1 << (self.blocks.len() & 63);
        for &gram in grams {
            let row = self.row_index(gram);
            self.last[row] |= bit;
        }
        self.blocks.push(block);
        if self.blocks.len().is_multiple_of(64) {
            let word = self.blocks.len() / 64 - 1;
            if word == self.words {
                self.resize((self.words * 2).clamp(1, self.max_columns() / 64));
            }
            for (row, last) in self.rows.chunks_exact_mut(self.words).zip(&mut self.last) {
                row[word] = std::mem::take(last);
            }
        }
    }

    /// Changes the number of words in each row.
    fn resize(&mut self, words: usize) {
        if words == self.words {
            return;
        }
        let keep = words.min(self.words);
        let mut rows = vec![0; self.last.len() * words];
        if keep > 0 {
            let old = self.rows.chunks_exact(self.words);
            for (new, old) in rows.chunks_exact_mut(words).zip(old) {
                new[..keep].copy_from_slice(&old[..keep]);
            }
        }
        (self.rows, self.words) = (rows, words);
    }

    /// Returns the index of the row of a gram: its hash, scaled to the number of rows.
    fn row_index(&self, gram: u32) -> usize {
        (gram as usize * self.height()) >> GRAM_HASH_BITS
    }

    /// Returns the row of a gram: the complete words, and the last one.
    fn row(&self, gram: u32) -> (&[u64], u64) {
        let row = self.row_index(gram);
        (&self.rows[row * self.words..][..self.blocks.len() / 64], self.last[row])
    }

    /// Returns the columns, as bits, of the blocks that may contain what a query requires; `None`
    /// means all.
    fn matching_columns(&self, plan: &GramQuery) -> Option<Vec<u64>> {
        match plan {
            GramQuery::Any => None,
            GramQuery::Grams(grams) => self.intersect(grams),
            GramQuery::All(plans) => {
                let mut columns: Option<Vec<u64>> = None;
                for plan in plans {
                    let Some(fitting) = self.matching_columns(plan) else { continue };
                    let any = match &mut columns {
                        None => fitting.iter().any(|word| *word != 0),
                        Some(columns) => intersect_bit_set(columns, &fitting),
                    };
                    columns.get_or_insert(fitting);
                    if !any {
                        break;
                    }
                }
                columns
            }
            GramQuery::One(plans) => {
                let mut columns = vec![0; self.blocks.len() / 64 + 1];
                for plan in plans {
                    unite_bit_set(&mut columns, &self.matching_columns(plan)?);
                }
                Some(columns)
            }
        }
    }
}

impl Shard {
    /// Returns the columns, as bits, of the blocks that contain all the grams; `None`, which means
    /// all, if there are no grams.
    fn intersect(&self, grams: &[u32]) -> Option<Vec<u64>> {
        let (first, rest) = grams.split_first()?;
        let (row, last) = self.row(*first);
        let mut columns = Vec::with_capacity(row.len() + 1);
        columns.extend_from_slice(row);
        columns.push(last);
        let mut rest = rest.iter();
        // Reads complete rows until few words have candidates, then only those words of the other
        // rows.
        for &gram in rest.by_ref() {
            let (row, last) = self.row(gram);
            let mut left = 0;
            for (word, other) in columns.iter_mut().zip(row.iter().chain(Some(&last))) {
                *word &= other;
                left += usize::from(*word != 0);
            }
            if left * MIN_WORDS_PER_CANDIDATE_WORD < columns.len() {
                break;
            }
        }
        let mut left: Vec<usize> = (0..columns.len()).filter(|&at| columns[at] != 0).collect();
        for &gram in rest {
            if left.is_empty() {
                break;
            }
            let (row, last) = self.row(gram);
            left.retain(|&at| {
                columns[at] &= row.get(at).copied().unwrap_or(last);
                columns[at] != 0
            });
        }
        Some(columns)
    }

    /// Collects the words with blocks that contain all the grams, which are at most
    /// [`GRAMS_WITH_WHOLE_ROWS`].
    fn words_with_all<'s>(&'s self, grams: &[u32], left: &mut Vec<RemainingBlocks<'s>>) {
        let rows =
            [0, 1, 2].map(|at| grams.get(at.min(grams.len() - 1)).map(|gram| self.row(*gram)));
        let [Some((a, last_a)), Some((b, last_b)), Some((c, last_c))] = rows else { return };
        let mut put = |at, columns| {
            if columns != 0 {
                left.push(RemainingBlocks { shard: self, at, columns });
            }
        };
        for (at, ((a, b), c)) in a.iter().zip(b).zip(c).enumerate() {
            put(at, a & b & c);
        }
        put(a.len(), last_a & last_b & last_c);
    }

    /// Returns one word of a gram's row, which may be the last, incomplete one.
    fn word(&self, gram: u32, at: usize) -> u64 {
        let (row, last) = self.row(gram);
        row.get(at).copied().unwrap_or(last)
    }

    /// Returns the number of blocks with a gram in the first [`FREQUENCY_SAMPLE_WORDS`] words of
    /// columns.
    fn gram_frequency(&self, gram: u32) -> u32 {
        let (row, last) = self.row(gram);
        row.iter()
            .chain(Some(&last))
            .take(FREQUENCY_SAMPLE_WORDS)
            .map(|word| word.count_ones())
            .sum()
    }
}

/// Returns the number of rows of the shard for blocks that need `rows`: rounded up, within the
/// limits.
fn shard_height_for(rows: usize) -> usize {
    let rows = rows.clamp(MIN_SHARD_ROWS, MAX_SHARD_ROWS);
    let step = 1 << (rows.ilog2() - SHARD_HEIGHT_STEP_BITS);
    rows.next_multiple_of(step)
}
