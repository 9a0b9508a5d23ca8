//! The old text as lines to be found: what each says, and what it weighs.

use std::collections::HashSet;

use super::lines::trim;
use super::normalize::{has_word, match_key};

/// Costs and weights are counted in ten-thousandths of an ordinary line.
pub(super) const LINE: i32 = 10_000;

/// What a line is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing but white space.
    Blank,
    /// A comment, which models like to leave out.
    Comment,
    /// Anything else.
    Code,
}

impl Kind {
    pub(super) fn of(line: &[u8]) -> Self {
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

/// What it means that a line with this key is found: braces say little.
pub(super) fn weight(key: &[u8]) -> i32 {
    match key {
        [] => LINE / 10,
        key if !has_word(key) => LINE * 35 / 100,
        key if key.len() < 4 => LINE / 2,
        _ => LINE,
    }
}

/// One line of the old text.
pub(super) struct NeedleLine<'e> {
    pub text: &'e [u8],
    pub key: Vec<u8>,
    pub hash: u64,
    pub weight: i32,
    pub kind: Kind,
}

/// The old text.
pub(super) struct Needle<'e> {
    pub lines: Vec<NeedleLine<'e>>,
    /// The weight of all lines.
    pub total: i32,
    /// Bytes of all keys that hold a word: how much there is to recognise.
    pub words: usize,
    /// Hashes of lines that only the new text has: where the file has them too,
    /// the old text has merely forgotten them.
    pub offered: HashSet<u64>,
}

impl<'e> Needle<'e> {
    pub(super) fn new(old: &[&'e [u8]], new: &[&[u8]]) -> Self {
        let lines: Vec<NeedleLine<'e>> = old
            .iter()
            .map(|&text| {
                let key = match_key(text);
                let (hash, weight) = (crate::diff::hash(&key), weight(&key));
                NeedleLine { text, key, hash, weight, kind: Kind::of(text) }
            })
            .collect();
        let total = lines.iter().fold(0i32, |total, line| total.saturating_add(line.weight));
        let words =
            lines.iter().filter(|line| has_word(&line.key)).map(|line| line.key.len()).sum();
        let mut offered: HashSet<u64> = new
            .iter()
            .map(|line| match_key(line))
            .filter(|key| key.len() >= 4 && has_word(key))
            .map(|key| crate::diff::hash(&key))
            .collect();
        for line in &lines {
            offered.remove(&line.hash);
        }
        Self { lines, total, words, offered }
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn kinds() {
        for (line, kind) in [
            ("  ", Kind::Blank),
            (" // a", Kind::Comment),
            (" * a", Kind::Comment),
            ("#", Kind::Comment),
            ("# a", Kind::Comment),
            ("#include <a>", Kind::Code),
            ("#[derive(A)]", Kind::Code),
            ("*p = 1;", Kind::Code),
            ("--x;", Kind::Code),
            ("a // b", Kind::Code),
        ] {
            assert_eq!(Kind::of(line.as_bytes()), kind, "{line}");
        }
    }
}
