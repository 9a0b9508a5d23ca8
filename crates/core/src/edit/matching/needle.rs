//! The old text as lines to search for, each with its match key ([`match_key`]) and its weight.

use std::collections::HashSet;

use super::normalize::{has_word, match_key};
use crate::edit::lines::trim;

/// The cost of leaving out an ordinary line. Costs and weights are in ten-thousandths of it.
pub(in crate::edit) const LINE_COST: i32 = 10_000;

/// The kind of a line, which determines how the matcher may treat it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::edit) enum LineKind {
    /// A line of white space only.
    Blank,
    /// A comment, which models tend to leave out.
    Comment,
    /// Any other line.
    Code,
}

impl LineKind {
    /// Returns the kind of a line.
    pub(in crate::edit) fn of(line: &[u8]) -> Self {
        let text = trim(line);
        let marks: [&[u8]; 4] = [b"//", b"/*", b"*/", b"<!--"];
        let spaced: [&[u8]; 3] = [b"#", b"*", b"--"];
        let comment = marks.iter().any(|mark| text.starts_with(mark))
            || spaced.iter().any(|mark| {
                text.strip_prefix(*mark).is_some_and(|rest| rest.is_empty() || rest[0] == b' ')
            });
        match text {
            [] => Self::Blank,
            _ if comment => Self::Comment,
            _ => Self::Code,
        }
    }
}

/// Returns the weight of a line with this match key: how much its presence says about a position.
/// Braces weigh little.
pub(in crate::edit) fn line_weight(key: &[u8]) -> i32 {
    match key {
        [] => LINE_COST / 10,
        key if !has_word(key) => LINE_COST * 35 / 100,
        key if key.len() < 4 => LINE_COST / 2,
        _ => LINE_COST,
    }
}

/// One line of the old text: its text, its match key and the key's hash, its weight and its kind.
pub(in crate::edit) struct NeedleLine<'e> {
    pub text: &'e [u8],
    pub key: Vec<u8>,
    pub hash: u64,
    pub weight: i32,
    pub kind: LineKind,
}

/// The old text of an edit as lines to search for.
pub(in crate::edit) struct Needle<'e> {
    pub lines: Vec<NeedleLine<'e>>,
    /// The sum of the weights of all lines.
    pub total: i32,
    /// The length in bytes of the match keys that contain a word; measures how distinctive the text
    /// is.
    pub word_bytes: usize,
    /// The hashes of the match keys of lines that only the new text has. If the file has such a
    /// line too, the old text forgot it.
    pub new_only_hashes: HashSet<u64>,
}

impl<'e> Needle<'e> {
    pub(in crate::edit) fn new(old: &[&'e [u8]], new: &[&[u8]]) -> Self {
        let lines: Vec<NeedleLine<'e>> = old
            .iter()
            .map(|&text| {
                let key = match_key(text);
                let (hash, weight) = (crate::diff::hash_line(&key), line_weight(&key));
                NeedleLine { text, key, hash, weight, kind: LineKind::of(text) }
            })
            .collect();
        let total = lines.iter().fold(0i32, |total, line| total.saturating_add(line.weight));
        let word_bytes =
            lines.iter().filter(|line| has_word(&line.key)).map(|line| line.key.len()).sum();
        let mut new_only_hashes: HashSet<u64> = new
            .iter()
            .map(|line| match_key(line))
            .filter(|key| key.len() >= 4 && has_word(key))
            .map(|key| crate::diff::hash_line(&key))
            .collect();
        for line in &lines {
            new_only_hashes.remove(&line.hash);
        }
        Self { lines, total, word_bytes, new_only_hashes }
    }

    pub(in crate::edit) fn len(&self) -> usize {
        self.lines.len()
    }
}

#[cfg(test)]
mod tests {
    use super::LineKind;

    #[test]
    fn kinds() {
        for (line, kind) in [
            ("  ", LineKind::Blank),
            (" // a", LineKind::Comment),
            (" * a", LineKind::Comment),
            ("#", LineKind::Comment),
            ("# a", LineKind::Comment),
            ("#include <a>", LineKind::Code),
            ("#[derive(A)]", LineKind::Code),
            ("*p = 1;", LineKind::Code),
            ("--x;", LineKind::Code),
            ("a // b", LineKind::Code),
        ] {
            assert_eq!(LineKind::of(line.as_bytes()), kind, "{line}");
        }
    }
}
