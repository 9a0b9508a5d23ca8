//! Finds the regions of the base that either side changed.

use std::ops::Range;

use crate::diff::Change;

/// The changes of one side, and the offset of its lines from those of the base.
pub(super) struct Track<'c> {
    pub changes: &'c [Change],
    pub at: usize,
    /// Line of the side minus line of the base, after the changes passed.
    pub shift: i64,
}

impl<'c> Track<'c> {
    pub(super) const fn new(changes: &'c [Change]) -> Self {
        Self { changes, at: 0, shift: 0 }
    }

    pub(super) fn next(&self) -> Option<&'c Change> {
        self.changes.get(self.at)
    }

    pub(super) fn pass(&mut self) {
        if let Some(change) = self.next() {
            self.shift = i64::from(change.after.end) - i64::from(change.before.end);
            self.at += 1;
        }
    }
}

/// A region of the base that one or both sides changed, and the replacement of each side.
pub(super) struct Region {
    pub base: Range<u32>,
    pub ours: Range<u32>,
    pub theirs: Range<u32>,
    pub by_us: bool,
    pub by_them: bool,
}

impl Region {
    /// Returns the empty region after the last change.
    pub(super) fn after(own: &Track<'_>, other: &Track<'_>, end: u32) -> Self {
        let at = |shift: i64| {
            let line = (i64::from(end) + shift) as u32;
            line..line
        };
        Self {
            base: end..end,
            ours: at(own.shift),
            theirs: at(other.shift),
            by_us: false,
            by_them: false,
        }
    }
}

/// Returns the next changed region, with all overlapping changes in it.
pub(super) fn region<'c>(
    own: &mut Track<'c>,
    other: &mut Track<'c>,
    adjacent: bool,
) -> Option<Region> {
    let first = [own.next(), other.next()].into_iter().flatten().map(|change| change.before.start);
    let start = first.min()?;
    let mut end = start;
    let before = (own.shift, other.shift);
    let (mut by_us, mut by_them) = (false, false);
    loop {
        let empty = !by_us && !by_them;
        let joins = |change: &&Change| {
            let at = change.before.start;
            let touch = !adjacent || (start == end && change.before.is_empty());
            if empty { at == start } else { at < end || (at == end && touch) }
        };
        let (track, by, change) = match (own.next().filter(joins), other.next().filter(joins)) {
            (Some(change), _) => (&mut *own, &mut by_us, change),
            (None, Some(change)) => (&mut *other, &mut by_them, change),
            (None, None) => break,
        };
        end = end.max(change.before.end);
        *by = true;
        track.pass();
    }
    let side = |before: i64, after: i64| {
        (i64::from(start) + before) as u32..(i64::from(end) + after) as u32
    };
    Some(Region {
        base: start..end,
        ours: side(before.0, own.shift),
        theirs: side(before.1, other.shift),
        by_us,
        by_them,
    })
}
