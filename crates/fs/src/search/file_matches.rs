//! The hits of one file in packed form, and the batches in which the hits of many are packed.

use filewright_core::pack::Packed;

/// The maximum text of one batch of results for JavaScript, in bytes. A single file with more is a
/// batch of its own.
const MAX_BATCH_TEXT_BYTES: usize = 1 << 20;

/// The minimum text of the hits of one file, in bytes, from which they are moved instead of copied.
const MIN_MOVED_BYTES: usize = 64 << 10;
/// The number of numbers before the hits of a file: the length of the path, and the number of hits.
const NUMS_BEFORE_HITS: usize = 2;

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

impl FileMatches {
    /// Returns the line number, from 1, of the hit with the index `hit`; 0 if there is no such hit.
    pub(super) fn line_of(&self, hit: usize) -> u64 {
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
    pub(super) fn cut(&mut self, hits: usize) {
        self.cut_packed(hits);
        self.hits = hits as u64;
    }

    /// Keeps only the first `hits` hits in the packed form. The count stays.
    pub(super) fn cut_packed(&mut self, hits: usize) {
        if let Some(end) = hits.checked_sub(1).and_then(|last| self.ends.get(last)) {
            self.packed.nums.truncate(end.nums);
            self.packed.text.truncate(end.text);
            self.ends.truncate(hits);
        }
    }
}

/// Appends the files to `results`, in batches of at most [`MAX_BATCH_TEXT_BYTES`].
pub(super) fn pack_in_batches(found: Vec<FileMatches>, results: &mut Vec<Packed>) {
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
pub(super) fn path_as_text(path: &[u8]) -> &str {
    std::str::from_utf8(path).unwrap_or_default()
}
