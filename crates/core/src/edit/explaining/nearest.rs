//! Finds the line of the file that is most similar to the old text, for the refusal.

use memchr::memmem;

use crate::edit::lines::{FileLines, is_elision, split_edit_lines, to_lf_without_bom, trim};
use crate::edit::matching::bigrams::Bigrams;
use crate::edit::matching::normalize::{has_word, match_key, push_key};

/// The maximum length in bytes to which a line is compared; the rest is ignored.
const MAX_COMPARED_LINE_BYTES: usize = 400;
/// The maximum number of lines of the old text that are looked for, from its beginning.
const MAX_SEARCHED_OLD_LINES: usize = 8;
/// The minimum length of a line's match key in bytes to look for it inside the file's lines. A
/// shorter one is part of other lines by chance.
const MIN_SEARCHED_KEY_BYTES: usize = 12;
/// The maximum number of occurrences of one line of the old text that are compared; later ones are
/// ignored.
const MAX_COMPARED_OCCURRENCES: usize = 64;
/// The maximum number of lines of the old text that are looked for around an occurrence.
const MAX_NEIGHBOUR_LINES: usize = 24;
/// The maximum length of match keys in bytes that are compared around an occurrence.
const MAX_COMPARED_KEY_BYTES: usize = 1 << 14;
/// The maximum size in bytes of a file that is searched for parts of lines.
const MAX_SEARCHED_FILE_BYTES: usize = 1 << 24;
/// How many lines a line of the old text may be away from its expected place around an occurrence.
const MAX_DRIFT_LINES: usize = 8;

/// The line of the file that is most similar to a line of the old text.
pub(in crate::edit) struct NearestLine {
    /// The line (0-based) of the file.
    pub line: usize,
    /// The similar line (0-based) of the old text.
    pub old: usize,
    /// True if the two lines differ in white space only.
    pub whitespace_only: bool,
}

/// Finds a file line that contains one of the first lines of the old text or, if there is none, the
/// one most similar to the longest of them. Returns `None` if no line is similar enough.
pub(in crate::edit) fn nearest_line(file: &FileLines<'_>, old: &str) -> Option<NearestLine> {
    let old = to_lf_without_bom(old.as_bytes());
    let old = split_edit_lines(&old);
    if let Some(found) = nearest_line_containing(file, &old) {
        return Some(found);
    }
    let (index, line) = old
        .iter()
        .enumerate()
        .map(|(index, line)| (index, &trim(line)[..trim(line).len().min(MAX_COMPARED_LINE_BYTES)]))
        .filter(|(_, line)| !line.is_empty() && !is_elision(line))
        .take(MAX_SEARCHED_OLD_LINES)
        .max_by_key(|(index, line)| (line.len().min(40), std::cmp::Reverse(*index)))?;
    let pairs = Bigrams::new(line);
    let mut best: Option<(f64, usize)> = None;
    for (at, candidate) in file.texts().enumerate() {
        let candidate = trim(candidate);
        let candidate = &candidate[..candidate.len().min(MAX_COMPARED_LINE_BYTES)];
        let total = pairs.len + candidate.len().saturating_sub(1);
        if candidate.is_empty() || total == 0 {
            continue;
        }
        // A line of a very different length cannot share enough pairs to be better than the best so
        // far.
        let most = 2 * pairs.len.min(candidate.len());
        if best.is_some_and(|(score, _)| most as f64 / total as f64 <= score) {
            continue;
        }
        let score = (2 * pairs.shared(candidate).min(pairs.len)) as f64 / total as f64;
        let score = if nonblank_bytes(candidate).eq(nonblank_bytes(line)) { 1.5 } else { score };
        if best.is_none_or(|(least, _)| score > least) {
            best = Some((score, at));
        }
    }
    let (score, line) = best.filter(|&(score, _)| score >= 0.4)?;
    Some(NearestLine { line, old: index, whitespace_only: score > 1.0 })
}

/// Finds the file line that contains one of the first lines of the old text, which may break lines
/// differently than the file. Of several, the one with the most of the old text around it.
fn nearest_line_containing(file: &FileLines<'_>, old: &[&[u8]]) -> Option<NearestLine> {
    let sent: Vec<Vec<u8>> =
        old.iter().take(MAX_NEIGHBOUR_LINES).map(|line| match_key(line)).collect();
    let is_distinctive = |key: &[u8]| key.len() >= MIN_SEARCHED_KEY_BYTES && has_word(key);
    let wanted: Vec<usize> = (0..sent.len())
        .filter(|&at| is_distinctive(&sent[at]) && !is_elision(old[at]))
        .take(MAX_SEARCHED_OLD_LINES)
        .collect();
    if wanted.is_empty() || file.start(file.len()) > MAX_SEARCHED_FILE_BYTES {
        return None;
    }
    let (mut keys, mut ends) = (Vec::new(), Vec::new());
    for line in file.texts() {
        push_key(line, &mut keys);
        keys.push(b'\n');
        ends.push(keys.len());
    }
    let around = |line: usize, at: usize| {
        let first = line.saturating_sub(at + MAX_DRIFT_LINES);
        let last =
            (line + (old.len() - at).min(MAX_NEIGHBOUR_LINES) + MAX_DRIFT_LINES).min(ends.len());
        let from = first.checked_sub(1).map_or(0, |before| ends[before]);
        let window = keys[from..ends[last - 1]].iter().copied().take(MAX_COMPARED_KEY_BYTES);
        let window: Vec<u8> = window.filter(|&byte| byte != b'\n').collect();
        let found = sent.iter().filter(|key| memmem::find(&window, key).is_some());
        found.map(Vec::len).sum::<usize>()
    };
    let mut best: Option<(usize, usize, usize)> = None;
    for at in wanted {
        let finder = memmem::Finder::new(&sent[at]);
        for offset in finder.find_iter(&keys).take(MAX_COMPARED_OCCURRENCES) {
            let line = ends.partition_point(|&end| end <= offset);
            let found = around(line, at);
            if best.is_none_or(|(most, _, _)| found > most) {
                best = Some((found, line, at));
            }
        }
    }
    let (_, line, at) = best?;
    let whitespace_only = nonblank_bytes(file.text(line)).eq(nonblank_bytes(old[at]));
    Some(NearestLine { line, old: at, whitespace_only })
}

fn nonblank_bytes(line: &[u8]) -> impl Iterator<Item = u8> {
    line.iter().copied().filter(|byte| !byte.is_ascii_whitespace())
}
