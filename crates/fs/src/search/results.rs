//! The results of a search, and their encoding for JavaScript.

use filewright_core::pack::Packed;
use filewright_core::wire;
use filewright_core::wire::Wire;

use super::grep::{Freshness, GrepOutput, IncompleteReason};
use super::searcher::Search;

/// The maximum text of one batch of results for JavaScript, in bytes. A single file with more is a
/// batch of its own.
const MAX_BATCH_TEXT_BYTES: usize = 1 << 20;

/// The minimum text of the hits of one file, in bytes, from which they are moved instead of copied.
const MIN_MOVED_BYTES: usize = 64 << 10;
/// The number of numbers before the hits of a file: the length of the path, and the number of hits.
const NUMS_BEFORE_HITS: usize = 2;

wire! {
    /// The totals of a search of contents.
    #[derive(Clone, Debug)]
    pub struct SearchTotals {
        /// The number of matching lines. Exact when the search is complete, otherwise a lower
        /// bound.
        pub total_matches: u64,
        /// The number of files with hits.
        pub files_with_matches: u64,
        /// The number of files that were searched.
        pub files_searched: u64,
        /// The number of binary files.
        pub skipped_binary: u64,
        /// The number of files larger than `maxFileBytes`.
        pub skipped_large: u64,
        /// The number of entries that could not be read.
        pub unreadable: u64,
        /// The number of files and whole directories excluded by ignore files.
        pub ignored: u64,
        /// True when `maxResults` truncated the result.
        pub truncated: bool,
        /// How the search made sure that its view is current.
        pub fresh: Freshness,
    }
}

wire! {
    /// The head of the result of a search; the hits follow it.
    #[derive(Clone, Debug)]
    pub struct SearchHead {
        ..totals: SearchTotals,
        /// The reason why the search is incomplete; `None` when it is complete.
        pub incomplete_reason: Option<IncompleteReason>,
        /// The path to continue from; `None` when nothing follows.
        pub next_path: Option<String>,
        /// The line of that path to continue after.
        pub next_line: u64,
        /// True when hits come with the lines around them.
        pub context: bool,
    }
}

pub(super) struct FileMatches {
    pub path: Box<[u8]>,
    pub hits: u64,
    /// The packed form: the path, the number of hits and the hits.
    pub packed: Packed,
    /// The end of each hit in `packed`; empty if no limit can cut the hits. Fewer than `hits` if
    /// the limit of text was reached, because hits beyond it are only counted.
    pub ends: Vec<HitEnd>,
    /// True if the file has more hits than the limit per file.
    pub more: bool,
}

pub(super) struct HitEnd {
    /// The end of the hit in the packed numbers.
    pub nums: usize,
    /// The end of the hit in the packed text, in bytes.
    pub text: usize,
    /// The number of bytes of all rows of the file up to this hit that count towards
    /// `maxTextBytes`.
    pub text_bytes: u64,
}

/// Writes the path of a file, and 0 as the number of hits, which is set once it is known.
pub(super) fn begin_packed_file(packed: &mut Packed, path: &[u8]) {
    packed.str(path_as_text(path));
    packed.num(0);
}

/// Returns the hits collected in a reusable buffer: fewer than [`MIN_MOVED_BYTES`] are copied into
/// memory of exactly their size, more are moved out of the buffer.
pub(super) fn take_packed(packed: &mut Packed) -> Packed {
    if packed.text.len() < MIN_MOVED_BYTES { packed.clone() } else { std::mem::take(packed) }
}

impl Search<'_> {
    /// Encodes the results for JavaScript; see [`super::grep::grep`].
    pub fn results(
        self,
        unreadable: u64,
        ignored: u64,
        stopped_at: Option<&[u8]>,
        fresh: Freshness,
    ) -> Vec<Packed> {
        let options = self.options;
        let mut found = std::mem::take(&mut *self.found());
        found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let mut reason = None;
        let mut next: Option<(Box<[u8]>, u64)> = None;
        if found.iter().any(|file| file.more) && options.max_per_file {
            reason = Some(IncompleteReason::MaxPerFile);
        }
        if let Some(stopped_at) = stopped_at {
            reason = Some(IncompleteReason::Timeout);
            // Files that sort before `stopped_at` are complete; that file itself may be incomplete.
            found.retain(|file| *file.path <= *stopped_at);
            let line = match found.last() {
                Some(file) if *file.path == *stopped_at => file.line_of(file.ends.len()),
                _ => 0,
            };
            next = Some((stopped_at.into(), line));
        }
        let total: u64 = found.iter().map(|file| file.hits).sum();
        let mut left = options.max_results;
        let mut truncated = false;
        for index in 0..found.len() {
            let units = self.units_of(found[index].hits);
            if units <= left {
                left -= units;
                continue;
            }
            truncated = true;
            reason = Some(IncompleteReason::MaxResults);
            let keep = left as usize;
            next = if keep > 0 {
                let file = &mut found[index];
                file.cut(keep);
                Some((file.path.clone(), file.line_of(keep)))
            } else {
                // The limit falls between two files: continues after the last line of the previous
                // one.
                index.checked_sub(1).map(|before| {
                    let file = &found[before];
                    let whole = options.output != GrepOutput::Content;
                    let line = if whole { u64::MAX >> 11 } else { file.line_of(file.ends.len()) };
                    (file.path.clone(), line)
                })
            };
            found.truncate(index + usize::from(keep > 0));
            break;
        }
        let files = found.len() as u64;
        if let Some(place) = self.cut_text(&mut found) {
            truncated = true;
            next = Some(place);
        }
        let totals = SearchTotals {
            total_matches: total,
            files_with_matches: files,
            files_searched: self.searched.into_inner(),
            skipped_binary: self.binary.into_inner(),
            skipped_large: self.large.into_inner(),
            unreadable: unreadable + self.unreadable.into_inner(),
            ignored,
            truncated,
            fresh,
        };
        let head = SearchHead {
            totals,
            incomplete_reason: reason,
            next_path: next.as_ref().map(|(path, _)| path_as_text(path).to_owned()),
            next_line: next.as_ref().map_or(0, |(_, line)| *line),
            context: options.limits.has_context(),
        };
        let mut results = vec![head.packed()];
        pack_in_batches(found, &mut results);
        results
    }

    /// Removes the results after the one that reaches `maxTextBytes`. Returns the path and the line
    /// from which to continue; `None` if nothing was removed.
    fn cut_text(&self, found: &mut Vec<FileMatches>) -> Option<(Box<[u8]>, u64)> {
        let mut left = self.options.limits.max_text_bytes;
        if left == u64::MAX {
            return None;
        }
        let files = found.len();
        for index in 0..files {
            let file = &mut found[index];
            let (bytes, line) = if self.options.output == GrepOutput::Content {
                let enough = file.ends.iter().position(|end| end.text_bytes >= left);
                let given = enough.map_or(file.ends.len(), |last| last + 1);
                let bytes = file.ends.last().map_or(0, |end| end.text_bytes);
                if (given as u64) < file.hits {
                    let line = file.line_of(given);
                    file.cut_packed(given);
                    let path = file.path.clone();
                    found.truncate(index + 1);
                    return Some((path, line));
                }
                (bytes, file.line_of(given))
            } else {
                // The path and a line end.
                (file.path.len() as u64 + 1, u64::MAX >> 11)
            };
            left = left.saturating_sub(bytes);
            if left == 0 && index + 1 < files {
                let path = file.path.clone();
                found.truncate(index + 1);
                return Some((path, line));
            }
        }
        None
    }
}

impl FileMatches {
    /// Returns the line number, from 1, of the hit with the index `hit`; 0 if there is no such hit.
    fn line_of(&self, hit: usize) -> u64 {
        let begin = match hit {
            0 => return 0,
            1 => NUMS_BEFORE_HITS,
            hit => match self.ends.get(hit - 2) {
                Some(end) => end.nums,
                None => return 0,
            },
        };
        self.packed.nums.get(begin).map_or(0, |line| *line as u64)
    }

    /// Keeps only the first `hits` hits, also in the count.
    fn cut(&mut self, hits: usize) {
        self.cut_packed(hits);
        self.hits = hits as u64;
    }

    /// Keeps only the first `hits` hits in the packed form. The count stays.
    fn cut_packed(&mut self, hits: usize) {
        if let Some(end) = hits.checked_sub(1).and_then(|last| self.ends.get(last)) {
            self.packed.nums.truncate(end.nums);
            self.packed.text.truncate(end.text);
            self.ends.truncate(hits);
        }
    }
}

/// Appends the files to `results`, in batches of at most [`MAX_BATCH_TEXT_BYTES`].
fn pack_in_batches(found: Vec<FileMatches>, results: &mut Vec<Packed>) {
    let mut batch = Vec::new();
    let mut size = 0;
    for mut file in found {
        if let Some(hits) = file.packed.nums.get_mut(NUMS_BEFORE_HITS - 1) {
            *hits = file.hits as f64;
        }
        let more = file.packed.text.len();
        // A file with many hits forms its own batch, so that it is not copied.
        if (size + more > MAX_BATCH_TEXT_BYTES || more >= MIN_MOVED_BYTES) && !batch.is_empty() {
            results.push(join_batch(std::mem::take(&mut batch)));
            size = 0;
        }
        size += more;
        batch.push(file.packed);
        if more >= MIN_MOVED_BYTES {
            results.push(join_batch(std::mem::take(&mut batch)));
            size = 0;
        }
    }
    if !batch.is_empty() {
        results.push(join_batch(batch));
    }
}

/// Combines several files into one batch. A single file is not copied.
fn join_batch(mut files: Vec<Packed>) -> Packed {
    let count = files.len() as f64;
    if let [_] = files[..]
        && let Some(mut file) = files.pop()
    {
        file.nums.insert(0, count);
        return file;
    }
    let mut packed = Packed::new();
    packed.nums.reserve(files.iter().map(|file| file.nums.len()).sum::<usize>() + 1);
    packed.text.reserve(files.iter().map(|file| file.text.len()).sum());
    packed.nums.push(count);
    for file in files {
        packed.nums.extend_from_slice(&file.nums);
        packed.text.push_str(&file.text);
    }
    packed
}

/// Returns a path in the form for display as text. It is always valid UTF-8.
fn path_as_text(path: &[u8]) -> &str {
    std::str::from_utf8(path).unwrap_or_default()
}
