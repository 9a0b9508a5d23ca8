//! Rejects most paths that no glob of a list can match, by comparing two 64-bit words: the last
//! bytes and the letters of a path. Matching a glob costs ten times as much.

use super::pattern::TrimmedGlob;
use crate::text::char_mask::char_mask;

/// The number of bytes at the end of a path that are compared.
const COMPARED_SUFFIX_BYTES: usize = size_of::<u64>();

/// The literal suffixes of which every matching path has one, each with the letters that the path
/// must contain.
#[derive(Clone, Debug)]
pub struct SuffixFilter(Vec<LiteralSuffix>);

/// The last bytes of a suffix, a mask of those that are compared, and a mask of required letters.
#[derive(Clone, Copy, Debug)]
struct LiteralSuffix {
    bytes: u64,
    mask: u64,
    letters: u64,
}

impl SuffixFilter {
    /// Returns the filter for some patterns, or `None` if one of them does not end in literal text.
    pub(super) fn of(patterns: &[TrimmedGlob<'_>]) -> Option<Self> {
        let mut ends = Vec::new();
        for pattern in patterns {
            if pattern.directory {
                return None;
            }
            let letters = char_mask(literal_chars(pattern.body).as_bytes());
            match split_final_braces(pattern.body) {
                Some((before, alternatives)) => {
                    let literal = literal_suffix(before);
                    for alternative in alternatives.split(',') {
                        ends.push(LiteralSuffix::of(&[literal, alternative].concat(), letters)?);
                    }
                }
                None => ends.push(LiteralSuffix::of(literal_suffix(pattern.body), letters)?),
            }
        }
        Some(Self(ends))
    }

    /// Returns true if a path may match, given its last eight bytes, the last one in the highest
    /// byte, and its letters ([`char_mask`]). For a shorter path the lower bytes do not matter.
    #[inline]
    pub fn fit(&self, last: u64, letters: u64) -> bool {
        let fits =
            |end: &LiteralSuffix| ((last ^ end.bytes) & end.mask) | (end.letters & !letters) == 0;
        self.0.iter().any(fits)
    }
}

impl LiteralSuffix {
    fn of(text: &str, letters: u64) -> Option<Self> {
        let (mut bytes, mut mask) = ([0; COMPARED_SUFFIX_BYTES], [0; COMPARED_SUFFIX_BYTES]);
        for (place, byte) in text.bytes().rev().take(COMPARED_SUFFIX_BYTES).enumerate() {
            (bytes[COMPARED_SUFFIX_BYTES - 1 - place], mask[COMPARED_SUFFIX_BYTES - 1 - place]) =
                (byte, 0xff);
        }
        let (bytes, mask) = (u64::from_le_bytes(bytes), u64::from_le_bytes(mask));
        let letters = letters | char_mask(text.as_bytes());
        (letters != 0).then_some(Self { bytes, mask, letters })
    }
}

/// Returns the characters that every match contains literally. A slash is left out, because it may
/// belong to `**/`.
fn literal_chars(body: &str) -> String {
    let sure = body.find(['[', '{', '\\']).map_or(body, |at| &body[..at]);
    sure.replace(['*', '?', '/'], "")
}

/// Returns the text after the last special character of a glob.
fn literal_suffix(body: &str) -> &str {
    body.rfind(GLOB_SPECIAL_CHARS).map_or(body, |at| &body[at + 1..])
}

/// Splits a body that ends in braces of literal alternatives into the part before them and the
/// alternatives.
fn split_final_braces(body: &str) -> Option<(&str, &str)> {
    let (before, alternatives) = body.strip_suffix('}')?.rsplit_once('{')?;
    let plain = !alternatives.contains(|c| c != ',' && GLOB_SPECIAL_CHARS.contains(&c));
    // Braces without a comma may be literal, and so is a brace after a backslash.
    (plain && alternatives.contains(',') && !before.ends_with('\\'))
        .then_some((before, alternatives))
}

/// The characters with a special meaning in globs; each is one byte.
const GLOB_SPECIAL_CHARS: [char; 8] = ['*', '?', '[', ']', '{', '}', ',', '\\'];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Case, Globs};

    /// Returns whether the filter accepts a path, or `None` without a filter.
    fn lets_through(patterns: &[&str], path: &str) -> Option<bool> {
        let globs = Globs::new(patterns, &[] as &[&str], Case::Sensitive).unwrap();
        let mut paths = crate::fuzzy::PathTable::default();
        ["another/path", path].into_iter().for_each(|path| paths.push(path));
        globs.ends().map(|ends| paths.fits(1, ends))
    }

    #[test]
    fn ends_of_patterns() {
        let cases: [(&[&str], &str, Option<bool>); 19] = [
            (&["**/*.h"], "a/b.h", Some(true)),
            (&["**/*.h"], "a/b.hpp", Some(false)),
            (&["*.{ts,tsx}"], "a.tsx", Some(true)),
            (&["*.{ts,tsx}"], "a.rs", Some(false)),
            (&["*{,.min}.js"], "a.min.js", Some(true)),
            (&["a{b,}"], "a", Some(true)),
            (&["*.h", "Makefile"], "drivers/Makefile", Some(true)),
            (&["*.h", "Makefile"], "drivers/makefile", Some(false)),
            (&["[ab].c"], "a.c", Some(true)),
            (&["x/*"], "x/y", Some(true)),
            (&["x/*"], "z/y", Some(false)),
            (&["a/**/b*.c"], "a/b.c", Some(true)),
            (&["**/ext4*.c"], "fs/ext2/inode.c", Some(false)),
            (&["*{a,b}c*"], "bc", None),
            (&["*.[ch]"], "a.c", Some(true)),
            (&["*.[ch]"], "Makefile", Some(false)),
            (&["dir/"], "dir/a", None),
            (&["*{,}"], "a", None),
            (&[], "a", None),
        ];
        for (patterns, path, expected) in cases {
            assert_eq!(lets_through(patterns, path), expected, "{patterns:?} {path}");
        }
    }

    proptest! {
        /// The filter never rejects a path that matches.
        #[test]
        fn suffix_filter_accepts_every_match(
            pattern in r"(\*\*/|[ab]/|/)?[ab.*?]{0,3}([.]|\{a,b\}|\{a,\}|\[ab\]|\\\{|\\,|b\}|,)?[ab.]{0,2}(\{a,b\.\}|\*|/)?",
            path in "([ab]/){0,2}[ab.{},]{1,4}",
        ) {
            if let Ok(globs) = Globs::new(&[&pattern], &[] as &[&str], Case::Sensitive)
                && globs.matches(path.as_bytes(), false)
            {
                prop_assert_ne!(lets_through(&[&pattern], &path), Some(false), "{} {}", pattern, path);
            }
        }
    }
}
