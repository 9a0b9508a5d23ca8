//! The place of a hunk without context below a hunk that is nothing but context.
//!
//! Models write the context of a change as a hunk of its own, often without its indentation, and
//! the change as the next one. The change then means the only lines like its own that touch the
//! context or, if none do, the only ones in the rest of the block in which the context ends.

use std::ops::Range;

use crate::edit::{self, Splice, WorkBudget};
use crate::patch::anchors::AnchorPlaces;
use crate::patch::attempt::HunkOptions;
use crate::patch::file::{TargetFile, eq_ignore_indent};
use crate::patch::locate::place_hunk;
use crate::patch::{Hunk, LineMark, PatchLine};

/// The lines of the file (0-based) at which a hunk of context stands.
pub(super) struct ContextAbove(Range<usize>);

impl ContextAbove {
    /// Finds the lines of a hunk that is context alone; `None` if its place is not clear.
    pub(super) fn find(target: &TargetFile<'_>, above: &Hunk, work: &WorkBudget) -> Option<Self> {
        if let Ok((_, at)) = place_hunk(target, above, 0, 0, HunkOptions { fuzz: 0 }, work) {
            return Some(Self(at.placed.line as usize - 1..at.end));
        }
        let old: Vec<&[u8]> = above.lines.iter().map(|line| line.text.as_bytes()).collect();
        let places = target.find(&old, 0, above.at_end, eq_ignore_indent);
        let proved = AnchorPlaces::of(target, above, work)
            .and_then(|anchors| anchors.choose(&places, old.len()).ok());
        match (proved, places.as_slice()) {
            (Some(first), _) => return Some(Self(first..first + old.len())),
            (None, [first]) => return Some(Self(*first..first + old.len())),
            (None, _) => {}
        }
        let lines: Vec<&str> = above.lines.iter().map(|line| line.text.as_str()).collect();
        edit::similar_lines(target.text, &lines, work).map(Self)
    }

    /// Returns the first line (0-based) of the context.
    pub(super) const fn start(&self) -> usize {
        self.0.start
    }

    /// Returns the splice of a hunk at the place that the context proves; `None` if it proves none.
    pub(super) fn place_of(
        &self,
        target: &TargetFile<'_>,
        hunk: &Hunk,
        work: &WorkBudget,
    ) -> Option<Splice> {
        let old: Vec<&[u8]> = hunk.before().map(|line| line.text.as_bytes()).collect();
        if !work.try_spend(target.text.len()) {
            return None;
        }
        let places = target.find(&old, self.0.start, false, eq_ignore_indent);
        let (touching, below): (Vec<usize>, Vec<usize>) =
            places.into_iter().partition(|&place| place <= self.0.end);
        let end = self.block_end(target);
        let below: Vec<usize> = below.into_iter().filter(|&place| place < end).collect();
        let first = match (touching.as_slice(), below.as_slice()) {
            ([only], _) | ([], [only]) => *only,
            _ => return None,
        };
        splice_at(target, hunk, first, work)
    }

    /// Returns the line (0-based) after the block in which the context ends: the next one that is
    /// less deep than the last line of the context.
    fn block_end(&self, target: &TargetFile<'_>) -> usize {
        let depth = |line: &[u8]| line.len() - line.trim_ascii_start().len();
        let is_blank = |line: &[u8]| line.trim_ascii().is_empty();
        let context = target.lines[self.0.clone()].iter().rev();
        let own = context.copied().find(|line| !is_blank(line)).map_or(0, depth);
        let mut after = target.lines.iter().enumerate().skip(self.0.end);
        let ends = |line: &[u8]| !is_blank(line) && depth(line) < own;
        after.find(|(_, line)| ends(line)).map_or(target.lines.len(), |(at, _)| at)
    }
}

/// Returns true if a hunk has nothing that says its place but the hunk `above`, which is context
/// alone.
pub(super) fn is_below_context(above: &Hunk, hunk: &Hunk) -> bool {
    let is_context = |line: &PatchLine| line.mark == LineMark::Context;
    above.lines.iter().all(is_context)
        && hunk.anchors.is_empty()
        && hunk.before().next().is_some()
        && !hunk.lines.iter().any(is_context)
}

/// Returns the splice of a hunk whose lines stand, but for their indentation, at line `first`
/// (0-based).
pub(super) fn splice_at(
    target: &TargetFile<'_>,
    hunk: &Hunk,
    first: usize,
    work: &WorkBudget,
) -> Option<Splice> {
    let start = target.start(first);
    let part = target.text.get(start..target.start(first + hunk.before().count()))?;
    let part = TargetFile::new(part, &[]);
    let there = Hunk { old_start: None, anchors: Vec::new(), at_end: false, ..hunk.clone() };
    let (Splice { range, with }, _) =
        place_hunk(&part, &there, 0, 0, HunkOptions { fuzz: 1 }, work).ok()?;
    Some(Splice { range: start + range.start..start + range.end, with })
}
