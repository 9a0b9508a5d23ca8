//! Finds the line of the file that is most similar to the old text, for the refusal.

use super::bigrams::Bigrams;
use super::lines::{FileLines, edit_lines, fold_ends, trim};

/// Only this many characters of a line are compared.
const MAX_COMPARED_CHARS: usize = 400;

/// The position in the file that was probably meant.
pub(super) struct Nearest {
    /// The line (0-based) of the file.
    pub line: usize,
    /// The similar line of the old text.
    pub old: usize,
    /// True if the two differ in white space only.
    pub whitespace_only: bool,
}

/// Finds the file line that shares most with one of the first significant lines of the old text.
/// Returns `None` if nothing is similar.
pub(super) fn nearest(file: &FileLines<'_>, old: &str) -> Option<Nearest> {
    let old = fold_ends(old.as_bytes());
    let old = edit_lines(&old);
    let (index, line) = old
        .iter()
        .enumerate()
        .map(|(index, line)| (index, &trim(line)[..trim(line).len().min(MAX_COMPARED_CHARS)]))
        .filter(|(_, line)| !line.is_empty())
        .take(8)
        .max_by_key(|(index, line)| (line.len().min(40), std::cmp::Reverse(*index)))?;
    let pairs = Bigrams::new(line);
    let mut best: Option<(f64, usize)> = None;
    for (at, candidate) in file.texts().enumerate() {
        let candidate = trim(candidate);
        let candidate = &candidate[..candidate.len().min(MAX_COMPARED_CHARS)];
        let total = pairs.len + candidate.len().saturating_sub(1);
        if candidate.is_empty() || total == 0 {
            continue;
        }
        // A candidate of a very different length cannot share enough.
        let most = 2 * pairs.len.min(candidate.len());
        if best.is_some_and(|(score, _)| most as f64 / total as f64 <= score) {
            continue;
        }
        let score = (2 * pairs.shared(candidate).min(pairs.len)) as f64 / total as f64;
        let score = if words(candidate).eq(words(line)) { 1.5 } else { score };
        if best.is_none_or(|(least, _)| score > least) {
            best = Some((score, at));
        }
    }
    let (score, line) = best.filter(|&(score, _)| score >= 0.4)?;
    Some(Nearest { line, old: index, whitespace_only: score > 1.0 })
}

fn words(line: &[u8]) -> impl Iterator<Item = u8> {
    line.iter().copied().filter(|byte| !byte.is_ascii_whitespace())
}
