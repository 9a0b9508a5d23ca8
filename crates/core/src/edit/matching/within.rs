//! Finds an old text of one line as a part of a line of the file, ignoring white space.

use memchr::memmem::Finder;

use super::alignment::{Alignment, AlignmentStep, Cut};
use super::candidates::{Candidate, Candidates};
use super::haystack::Haystack;
use super::levenshtein::MAX_SIMILAR_BYTES;
use super::normalize::{match_key, push_key};
use crate::edit::lines::trim;

/// The maximum number of positions; beyond it, the search gives up as too large.
const MAX_POSITIONS_WITHIN_LINES: usize = 10_000;

/// Returns the positions where a line with this match key is part of a file line, or `None` if the
/// work exceeds the budget.
pub(in crate::edit) fn positions_within_lines(
    hay: &Haystack<'_>,
    wanted: &[u8],
) -> Option<Candidates> {
    let finder = Finder::new(wanted);
    let mut places = Vec::new();
    let mut found = Vec::new();
    for line in 0..hay.len() {
        let len = hay.lens[line] as usize;
        if len <= wanted.len() || len > MAX_SIMILAR_BYTES {
            continue;
        }
        let text = hay.line(line);
        if !hay.work.try_spend(text.len() + text.len() / 2)
            || places.len() > MAX_POSITIONS_WITHIN_LINES
        {
            return None;
        }
        found.clear();
        push_key(text, &mut found);
        if finder.find(&found).is_none() || !hay.work.try_spend(40 * text.len()) {
            continue;
        }
        let map = KeyOffsets::new(text);
        for at in finder.find_iter(&map.key) {
            let tail = text.len() - map.ends[at + wanted.len() - 1];
            // If only indentation precedes the match, the old text begins with the line.
            let head = map.starts[at];
            let head = if trim(&text[..head]).is_empty() { 0 } else { head };
            let cut = Cut { head, tail };
            let pair = AlignmentStep::Pair { old: 0..1, file: line..line + 1, likeness: 1.0, cut };
            let alignment = Alignment { steps: vec![pair], file: line..line + 1, cost: 10 };
            places.push(Candidate { alignment, score: 1.0 });
        }
    }
    (!hay.work.is_spent()).then_some(Candidates::Aligned(places))
}

/// The match key of a line with, for each byte of the key, the byte offsets of start and end of the
/// character in the line that it comes from.
struct KeyOffsets {
    key: Vec<u8>,
    starts: Vec<usize>,
    ends: Vec<usize>,
}

impl KeyOffsets {
    fn new(line: &[u8]) -> Self {
        let mut map = Self { key: Vec::new(), starts: Vec::new(), ends: Vec::new() };
        let mut at = 0;
        while at < line.len() {
            let len = 1 + line[at + 1..].iter().take_while(|&&byte| byte & 0xc0 == 0x80).count();
            let part = match_key(&line[at..at + len]);
            map.starts.resize(map.starts.len() + part.len(), at);
            map.ends.resize(map.ends.len() + part.len(), at + len);
            map.key.extend(part);
            at += len;
        }
        map
    }
}
