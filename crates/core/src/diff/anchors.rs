//! Splits a large region at unique lines, which can pair up in only one way.
//!
//! The histogram algorithm pairs one run of lines and then searches before and after it, so a
//! thousand changes take a thousand passes over the text. If the lines that occur once on each side
//! are in the same order on both, histogram would pair all of them anyway. This module pairs them
//! in one pass and leaves the regions between them to histogram.

use imara_diff::Token;

use super::marks::ComparedRegion;

/// The minimum size of a region that is searched for unique lines, in lines of both sides together.
/// A smaller one is cheaper to leave to the histogram algorithm.
const MIN_LINES_FOR_ANCHORS: usize = 2048;

/// How often a line occurs in the region of one text.
#[derive(Clone, Copy)]
enum LineOccurrences {
    Never,
    /// The line occurs once, at this index.
    Once(u32),
    Often,
}

impl LineOccurrences {
    /// Counts one more occurrence, on the line with this index.
    fn count_occurrence_on(self, line: usize) -> Self {
        match self {
            Self::Never => Self::Once(line as u32),
            _ => Self::Often,
        }
    }
}

/// Returns the parts of a region between its anchors, which are the lines that occur once on each
/// side. The order is from the last part to the first. Returns the region itself if it is small or
/// its anchors are in different orders on both sides.
pub(super) fn split_at_unique_lines(
    before: &[Token],
    after: &[Token],
    tokens: usize,
    region: ComparedRegion,
) -> Vec<ComparedRegion> {
    if region.len() < MIN_LINES_FOR_ANCHORS {
        return vec![region];
    }
    let Some(anchors) = unique_line_pairs(before, after, tokens, &region) else {
        return vec![region];
    };
    let mut parts = Vec::new();
    let (mut x, mut y) = (region.before.start, region.after.start);
    let end = (region.before.end, region.after.end);
    for (to_x, to_y) in anchors.into_iter().chain([end]) {
        // Most unique lines are adjacent, so that no region is left between them.
        if (x, y) != (to_x, to_y) {
            let mut part = ComparedRegion { before: x..to_x, after: y..to_y };
            part.strip_common_ends(before, after);
            if part.len() > 0 {
                parts.push(part);
            }
        }
        (x, y) = (to_x + 1, to_y + 1);
    }
    parts.reverse();
    parts
}

/// Returns the lines that occur once on each side as pairs of their indexes in the old and the new
/// text, or `None` if their orders differ.
fn unique_line_pairs(
    before: &[Token],
    after: &[Token],
    tokens: usize,
    region: &ComparedRegion,
) -> Option<Vec<(usize, usize)>> {
    let mut old = vec![LineOccurrences::Never; tokens];
    let mut new = vec![LineOccurrences::Never; tokens];
    for x in region.before.clone() {
        let seen = &mut old[before[x].0 as usize];
        *seen = seen.count_occurrence_on(x);
    }
    for y in region.after.clone() {
        let seen = &mut new[after[y].0 as usize];
        *seen = seen.count_occurrence_on(y);
    }
    let mut pairs = Vec::new();
    let mut next = 0;
    for y in region.after.clone() {
        let token = after[y].0 as usize;
        if let (LineOccurrences::Once(x), LineOccurrences::Once(_)) = (old[token], new[token]) {
            if x < next {
                return None;
            }
            pairs.push((x as usize, y));
            next = x + 1;
        }
    }
    Some(pairs)
}

#[cfg(test)]
mod tests {
    use super::super::marks::ComparedRegion;
    use super::split_at_unique_lines;
    use imara_diff::Token;

    fn tokens(numbers: impl IntoIterator<Item = u32>) -> Vec<Token> {
        numbers.into_iter().map(Token).collect()
    }

    fn parts(before: &[Token], after: &[Token]) -> Vec<ComparedRegion> {
        let region = ComparedRegion { before: 0..before.len(), after: 0..after.len() };
        split_at_unique_lines(before, after, 5_000, region)
    }

    #[test]
    fn a_small_region_stays_whole() {
        let lines = tokens(0..100);
        assert_eq!(parts(&lines, &lines), [ComparedRegion { before: 0..100, after: 0..100 }]);
    }

    #[test]
    fn only_what_lies_between_anchors_is_left() {
        let before = tokens(0..2_000);
        let mut after = before.clone();
        after[500] = Token(4_000);
        after.insert(900, Token(4_001));
        let expected = [
            ComparedRegion { before: 900..900, after: 900..901 },
            ComparedRegion { before: 500..501, after: 500..501 },
        ];
        assert_eq!(parts(&before, &after), expected);
    }

    #[test]
    fn moved_lines_are_left_to_the_histogram() {
        let before = tokens(0..2_000);
        let after = tokens((1_000..2_000).chain(0..1_000));
        assert_eq!(parts(&before, &after).len(), 1);
    }

    #[test]
    fn repeated_lines_are_no_anchors() {
        let before = tokens((0..2_000).map(|line| line % 2));
        let mut after = before.clone();
        after[1] = Token(9);
        assert_eq!(parts(&before, &after).len(), 1);
    }
}
