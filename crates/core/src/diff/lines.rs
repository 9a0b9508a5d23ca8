//! Splits two texts into lines, without the lines that they share at both ends.

use memchr::{memchr, memchr_iter, memrchr};

use super::newlines::{SIMD_BLOCK_BYTES, newline_mask};

/// The lines of one text that take part in a comparison. Lines that both texts share at the
/// beginning and end are left out, except for a margin next to the difference.
#[derive(Clone, Debug)]
pub struct ComparedLines<'a> {
    /// Each line with its line ending.
    pub lines: Vec<&'a [u8]>,
    /// The number of lines of the text before `lines`.
    pub skipped: u32,
    /// True if the text continues after `lines`.
    pub cut: bool,
}

/// For each line of the new text, the line of the old text that is known to be equal, or
/// [`NO_EQUAL_OLD_LINE`]. Only a hint: other equal lines are found by their hashes.
pub(super) type EqualOldLines = Vec<u32>;

/// The entry of [`EqualOldLines`] for a line of the new text without a known equal line.
pub(super) const NO_EQUAL_OLD_LINE: u32 = u32::MAX;

impl<'a> ComparedLines<'a> {
    /// Returns the line with this number, counted from 0 in the whole text, or `None` outside the
    /// kept lines.
    pub fn line(&self, number: u32) -> Option<&'a [u8]> {
        let at = number.checked_sub(self.skipped)?;
        self.lines.get(at as usize).copied()
    }

    /// Returns the number, from 0, of the line after the last kept one.
    pub fn end(&self) -> u32 {
        self.skipped + self.lines.len() as u32
    }
}

/// The lengths in bytes of the prefix (`head`) and the suffix (`tail`) that two texts are known to
/// share, so that they are not compared again. Their sum is at most the length of either text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SharedMargins {
    pub head: usize,
    pub tail: usize,
}

impl SharedMargins {
    /// Returns the part of a text between the shared ends.
    pub(super) fn middle<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.head..text.len() - self.tail]
    }
}

/// The numbers of common lines that the kept lines of both sides begin (`lead`) and end (`trail`)
/// with. There may be more common lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommonLineCounts {
    pub lead: usize,
    pub trail: usize,
}

/// Splits both texts into lines and leaves out the common lines at both ends, except for `margin`
/// lines next to the difference.
pub(super) fn split_compared_lines<'a>(
    before: &'a [u8],
    after: &'a [u8],
    same: SharedMargins,
    margin: u32,
) -> (ComparedLines<'a>, ComparedLines<'a>, EqualOldLines, CommonLineCounts) {
    let shared = same.head + common_prefix_len(&before[same.head..], &after[same.head..]);
    let start = memrchr(b'\n', &before[..shared]).map_or(0, |at| at + 1);
    // The prefix may reach into the known common suffix; bytes that belong to prefix and suffix
    // count once.
    let known = same.tail.min(before.len() - start).min(after.len() - start);
    let ends = |text: &'a [u8]| &text[start..text.len() - known];
    let tail = known + common_suffix_len(ends(before), ends(after));
    // Shortens the common suffix to whole lines.
    let tail = memchr(b'\n', &before[before.len() - tail..]).map_or(0, |at| tail - at - 1);

    let (from, lead) = back_by_lines(before, start, margin);
    let skipped = memchr_iter(b'\n', &before[..from]).count() as u32;
    let (to, trail) = forward_by_lines(before, before.len() - tail, margin);
    let keep_tail = to - (before.len() - tail);
    let end = |text: &[u8]| text.len() - tail + keep_tail;
    let (old, new) = (&before[from..end(before)], &after[from..end(after)]);
    let lines = split_lines(old);
    let (twin_lines, equal_old_lines) = split_new_lines_by_old(new, old, &lines);
    let old = ComparedLines { lines, skipped, cut: end(before) < before.len() };
    let new = ComparedLines { lines: twin_lines, skipped, cut: end(after) < after.len() };
    (old, new, equal_old_lines, CommonLineCounts { lead, trail })
}

/// Splits a text into lines, each with its LF; the last line may lack it.
pub(crate) fn split_lines(text: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::with_capacity(text.len() / 24 + 4);
    let mut from = 0;
    let (blocks, rest) = text.as_chunks::<SIMD_BLOCK_BYTES>();
    for (number, block) in blocks.iter().enumerate() {
        let mut found = newline_mask(block);
        while found != 0 {
            let end = number * SIMD_BLOCK_BYTES + found.trailing_zeros() as usize + 1;
            lines.push(&text[from..end]);
            from = end;
            found &= found - 1;
        }
    }
    for offset in memchr_iter(b'\n', rest) {
        let end = blocks.len() * SIMD_BLOCK_BYTES + offset + 1;
        lines.push(&text[from..end]);
        from = end;
    }
    if from < text.len() {
        lines.push(&text[from..]);
    }
    lines
}

/// How many old lines before and after the current one are compared with the next new line after a
/// difference.
const NEARBY_OLD_LINES: usize = 8;

/// Splits the new text into lines, and returns for each the index of the equal old line where one
/// is found.
///
/// Most of the new text is long runs of the old one. A run is compared as bytes, and its lines end
/// where they end in the old text, which is already split.
fn split_new_lines_by_old<'a>(
    new: &'a [u8],
    old: &'a [u8],
    old_lines: &[&'a [u8]],
) -> (Vec<&'a [u8]>, EqualOldLines) {
    let mut lines = Vec::with_capacity(old_lines.len() + 16);
    let mut equal_old_lines = Vec::with_capacity(old_lines.len() + 16);
    // The index of the next old line, and the byte offsets of the next line in both texts.
    let (mut line, mut from_old, mut from) = (0, 0, 0);
    while from < new.len() {
        let mut run = common_prefix_len(&old[from_old..], &new[from..]);
        while let Some(&twin) = old_lines.get(line)
            && twin.len() <= run
            // The last line of either text may lack its line ending.
            && (twin.ends_with(b"\n") || from + twin.len() == new.len())
        {
            lines.push(&new[from..from + twin.len()]);
            equal_old_lines.push(line as u32);
            run -= twin.len();
            (line, from_old, from) = (line + 1, from_old + twin.len(), from + twin.len());
        }
        if from == new.len() {
            break;
        }
        let end = memchr(b'\n', &new[from..]).map_or(new.len(), |at| from + at + 1);
        lines.push(&new[from..end]);
        equal_old_lines.push(NO_EQUAL_OLD_LINE);
        from = end;
        // Finds the nearest old line that equals the next new one; lines after the current one
        // first.
        let next = memchr(b'\n', &new[from..]).map_or(new.len(), |at| from + at + 1);
        let later = (line..old_lines.len()).take(NEARBY_OLD_LINES);
        let earlier = (0..line).rev().take(NEARBY_OLD_LINES);
        if let Some(place) = later.chain(earlier).find(|&at| old_lines[at] == &new[from..next]) {
            let between = |lines: &[&[u8]]| lines.iter().map(|line| line.len()).sum::<usize>();
            from_old = match place < line {
                true => from_old - between(&old_lines[place..line]),
                false => from_old + between(&old_lines[line..place]),
            };
            line = place;
        }
    }
    (lines, equal_old_lines)
}

/// Goes back from the start of a line by up to `lines` lines, as far as the start of the text.
/// Returns the offset reached and the number of lines.
fn back_by_lines(text: &[u8], mut at: usize, lines: u32) -> (usize, usize) {
    let mut stepped = 0;
    while at > 0 && stepped < lines as usize {
        at = memrchr(b'\n', &text[..at - 1]).map_or(0, |newline| newline + 1);
        stepped += 1;
    }
    (at, stepped)
}

/// Goes forward from the start of a line by up to `lines` lines, as far as the end of the text.
/// Returns the offset reached and the number of lines.
fn forward_by_lines(text: &[u8], mut at: usize, lines: u32) -> (usize, usize) {
    let mut stepped = 0;
    while at < text.len() && stepped < lines as usize {
        at = memchr(b'\n', &text[at..]).map_or(text.len(), |newline| at + newline + 1);
        stepped += 1;
    }
    (at, stepped)
}

pub(crate) fn common_prefix_len(a: &[u8], b: &[u8]) -> usize {
    let blocks =
        a.as_chunks::<SIMD_BLOCK_BYTES>().0.iter().zip(b.as_chunks::<SIMD_BLOCK_BYTES>().0);
    let whole = blocks.take_while(|(x, y)| x == y).count() * SIMD_BLOCK_BYTES;
    whole + a[whole..].iter().zip(&b[whole..]).take_while(|(x, y)| x == y).count()
}

pub(crate) fn common_suffix_len(a: &[u8], b: &[u8]) -> usize {
    let blocks = a.rchunks_exact(SIMD_BLOCK_BYTES).zip(b.rchunks_exact(SIMD_BLOCK_BYTES));
    let whole = blocks.take_while(|(x, y)| x == y).count() * SIMD_BLOCK_BYTES;
    let (a, b) = (&a[..a.len() - whole], &b[..b.len() - whole]);
    whole + a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count()
}

#[cfg(test)]
mod tests {
    use super::split_lines;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lines_end_with_lf_and_nowhere_else(text in "[a\n\u{8a}\u{10a}]{0,200}") {
            let expected: Vec<&[u8]> = text.as_bytes().split_inclusive(|&byte| byte == b'\n').collect();
            prop_assert_eq!(split_lines(text.as_bytes()), expected);
        }
    }
}
