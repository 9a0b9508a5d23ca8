//! What a search found, and how it crosses to JavaScript.

use filewright_core::pack::Packed;

use super::search::Search;
use super::{Fresh, Output, Reason};

/// How much text crosses to JavaScript in one piece (bytes).
const BATCH: usize = 1 << 20;

/// The hits of one file.
pub(super) struct Found {
    pub path: Box<[u8]>,
    pub hits: u64,
    pub packed: Packed,
    /// Where each hit ends in `packed`, if it may have to be cut.
    pub ends: Vec<(usize, usize)>,
    /// There are more hits than were wanted of a file.
    pub more: bool,
}

impl Search<'_> {
    pub fn results(
        self,
        unreadable: u64,
        ignored: u64,
        stopped_at: Option<&[u8]>,
        fresh: Fresh,
    ) -> Vec<Packed> {
        let options = self.options;
        let mut found = std::mem::take(&mut *self.found());
        found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let mut reason = Reason::None;
        let mut next: Option<(Box<[u8]>, u64)> = None;
        if found.iter().any(|file| file.more) && options.max_per_file {
            reason = Reason::MaxPerFile;
        }
        if let Some(stopped_at) = stopped_at {
            reason = Reason::Timeout;
            // What sorts before is whole; the file itself may be half done.
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
            reason = Reason::MaxResults;
            let keep = left as usize;
            next = if keep > 0 {
                let file = &mut found[index];
                file.cut(keep);
                Some((file.path.clone(), file.line_of(keep)))
            } else {
                // No file but the first can begin without room.
                index.checked_sub(1).map(|before| {
                    let file = &found[before];
                    let whole = options.output != Output::Content;
                    let line = if whole { u64::MAX >> 11 } else { file.line_of(file.ends.len()) };
                    (file.path.clone(), line)
                })
            };
            found.truncate(index + usize::from(keep > 0));
            break;
        }
        let mut head = Packed::new();
        head.num(total);
        head.num(found.len() as u64);
        head.num(self.searched.into_inner());
        head.num(self.binary.into_inner());
        head.num(self.large.into_inner());
        head.num(unreadable + self.unreadable.into_inner());
        head.num(ignored);
        head.flag(truncated);
        head.num(reason as u64);
        head.opt_str(next.as_ref().map(|(path, _)| text(path)));
        head.num(next.as_ref().map_or(0, |(_, line)| *line));
        head.flag(options.limits.has_context());
        head.num(fresh as u64);
        let mut results = vec![head];
        pack(&found, options.output, &mut results);
        results
    }
}

impl Found {
    /// The line of the hit with this number, from 1; 0 for none.
    fn line_of(&self, hit: usize) -> u64 {
        let begin = match hit {
            0 => return 0,
            1 => 0,
            hit => self.ends[hit - 2].0,
        };
        self.packed.nums.get(begin).map_or(0, |line| *line as u64)
    }

    /// Keeps only the first hits.
    fn cut(&mut self, hits: usize) {
        if let Some(&(nums, text)) = self.ends.get(hits - 1) {
            self.packed.nums.truncate(nums);
            self.packed.text.truncate(text);
        }
        self.hits = hits as u64;
    }
}

/// Packs files into pieces of moderate size.
fn pack(found: &[Found], output: Output, results: &mut Vec<Packed>) {
    let mut rest = found;
    while !rest.is_empty() {
        let mut size = 0;
        let fit = rest.iter().take_while(|file| {
            let before = size;
            size += file.packed.text.len() + file.path.len();
            before == 0 || size <= BATCH
        });
        let (batch, after) = rest.split_at(fit.count());
        rest = after;
        let mut packed = Packed::new();
        packed.nums.reserve(batch.iter().map(|file| file.packed.nums.len() + 2).sum::<usize>() + 1);
        packed.text.reserve(size);
        packed.num(batch.len() as u64);
        for file in batch {
            packed.str(text(&file.path));
            packed.num(file.hits);
            if output == Output::Content {
                packed.nums.extend_from_slice(&file.packed.nums);
                packed.text.push_str(&file.packed.text);
            }
        }
        results.push(packed);
    }
}

/// A shown path is UTF-8 by construction.
fn text(path: &[u8]) -> &str {
    std::str::from_utf8(path).unwrap_or_default()
}
