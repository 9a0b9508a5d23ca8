//! Scores the candidate paths, a part of them on each thread, and keeps the best.
//!
//! The bonus for a match in the file name is computed only for paths that could be among the best:
//! most matches score lower than the worst result so far even with the highest bonus.

use std::collections::BinaryHeap;

use filewright_matcher::{CaseMatching, Config, Matcher, SortStrategy};
use memchr::memmem::Finder;

use super::path_table::PathTable;
use super::quarter_masks::SubsequenceFilter;

/// The minimum score of a matching letter in `neo_frizbee`.
const MIN_MATCH_SCORE: u32 = 12;
/// The bonus that is added to the score if the query is the complete file name.
const WHOLE_NAME_BONUS: u32 = 64;
/// The bonus that is added to the score if the query is a part of the file name.
const PART_OF_NAME_BONUS: u32 = 24;
/// The length in bytes above which `neo_frizbee` uses another algorithm, without a minimum score.
const LONG_PATH_BYTES: usize = 1024;
/// The number of paths passed to `neo_frizbee` at once.
const PATHS_PER_BATCH: usize = if cfg!(test) { 8 } else { 256 };

/// The sort key of a result: inverted score, length in bytes, index. Smaller is better.
pub(super) type ResultOrder = (u32, u32, u32);

/// The best results of a part of the paths, at most `limit`, the worst on top of the heap, and the
/// number of all that match.
#[derive(Debug, Default)]
pub struct BestResults {
    limit: usize,
    kept: BinaryHeap<ResultOrder>,
    fitting: usize,
}

impl BestResults {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Returns the lowest score that can still be among the results; 0 until there are `limit`
    /// results.
    fn min_useful_score(&self) -> u32 {
        match self.kept.peek() {
            Some((worst, ..)) if self.kept.len() == self.limit => u32::MAX - worst,
            _ => 0,
        }
    }

    /// Adds a result if it is among the best.
    fn keep_if_best(&mut self, order: ResultOrder) {
        if self.kept.len() < self.limit {
            self.kept.push(order);
        } else if let Some(mut worst) = self.kept.peek_mut()
            && order < *worst
        {
            *worst = order;
        }
    }

    /// Adds the best results of another part of the paths.
    pub(super) fn merge_best(&mut self, other: Self) {
        self.fitting += other.fitting;
        other.kept.into_iter().for_each(|order| self.keep_if_best(order));
    }

    /// Returns the results, best first, and the number of all paths that match.
    pub(super) fn into_results(self) -> (Vec<ResultOrder>, usize) {
        (self.kept.into_sorted_vec(), self.fitting)
    }
}

/// Scores the paths at some indexes and returns the best `limit`.
pub(super) fn score_paths(
    paths: &PathTable,
    places: &[u32],
    query: &str,
    typos: u16,
    limit: usize,
) -> BestResults {
    let config = Config { max_typos: Some(typos), ..matcher_config() };
    let mut matcher = Matcher::new(query, &config);
    let mut naming = FileNameBonus::of(query);
    let mut best = BestResults::new(limit);
    let sequence = SubsequenceFilter::of(query, typos);
    let may_fit = |place: &u32| match (&sequence, paths.quarters.get(*place as usize)) {
        (Some(sequence), Some(quarters)) => sequence.may_fit(quarters),
        _ => true,
    };
    let mut places = places.iter().copied().filter(may_fit);
    let (mut batch, mut from) =
        (Vec::with_capacity(PATHS_PER_BATCH), Vec::with_capacity(PATHS_PER_BATCH));
    loop {
        from.clear();
        from.extend(places.by_ref().take(PATHS_PER_BATCH));
        if from.is_empty() {
            return best;
        }
        batch.clear();
        batch.extend(from.iter().map(|&place| paths.get(place as usize).unwrap_or_default()));
        let found = matcher.match_list(&batch);
        best.fitting += found.len();
        for found in found {
            let (path, score) = (batch[found.index as usize], u32::from(found.score));
            if score + WHOLE_NAME_BONUS < best.min_useful_score() {
                continue;
            }
            let score = score + naming.bonus(path, score);
            best.keep_if_best((u32::MAX - score, path.len() as u32, from[found.index as usize]));
        }
    }
}

/// Returns the configuration of `neo_frizbee`: ignores case and does not sort.
pub(super) fn matcher_config() -> Config {
    let (casing, sort) = (CaseMatching::Ignore, SortStrategy::Unsorted);
    Config { casing, sort, ..Config::default() }
}

/// Computes the bonus for a match in the file name, because a query usually means the name and not
/// the directories above it.
struct FileNameBonus<'q> {
    query: &'q str,
    letters: u32,
    has_slash: bool,
    /// The query in lower case, if it is ASCII.
    small: Option<Finder<'static>>,
    /// A buffer for a file name in lower case.
    name: Vec<u8>,
}

impl<'q> FileNameBonus<'q> {
    fn of(query: &'q str) -> Self {
        let small = query
            .is_ascii()
            .then(|| Finder::new(query.to_ascii_lowercase().as_bytes()).into_owned());
        let (letters, has_slash) = (query.len() as u32, query.contains('/'));
        Self { query, letters, has_slash, small, name: Vec::new() }
    }

    /// Returns the bonus for a path with this score.
    fn bonus(&mut self, path: &str, score: u32) -> u32 {
        if self.has_slash {
            return 0;
        }
        let Some(small) = self.small.as_ref().filter(|_| path.is_ascii()) else {
            return unicode_file_name_bonus(self.query, path);
        };
        // A path whose name contains the query has at least the score of all its letters.
        if score < MIN_MATCH_SCORE * self.letters && path.len() <= LONG_PATH_BYTES {
            return 0;
        }
        let path = path.as_bytes();
        let name = memchr::memrchr(b'/', path).map_or(path, |slash| &path[slash + 1..]);
        if name.len() < self.query.len() {
            return 0;
        }
        self.name.clear();
        self.name.extend(name.iter().map(u8::to_ascii_lowercase));
        match small.find(&self.name) {
            Some(_) if name.len() == self.query.len() => WHOLE_NAME_BONUS,
            Some(_) => PART_OF_NAME_BONUS,
            None => 0,
        }
    }
}

/// Returns the bonus for queries and paths that are not ASCII, which have to be converted to lower
/// case.
pub(super) fn unicode_file_name_bonus(query: &str, path: &str) -> u32 {
    let name = path.rsplit('/').next().unwrap_or(path);
    let holds = |text: &str| text.to_lowercase().contains(&query.to_lowercase());
    match () {
        () if name.eq_ignore_ascii_case(query) => WHOLE_NAME_BONUS,
        () if name.len() >= query.len() && holds(name) => PART_OF_NAME_BONUS,
        () => 0,
    }
}
