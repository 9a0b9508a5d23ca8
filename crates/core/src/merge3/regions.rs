//! Finds the regions of the base that either side changed.

use std::ops::Range;

use crate::diff::Change;

/// The changes of one side in order, with the position of the next one.
pub(super) struct ChangeTrack<'c> {
    pub changes: &'c [Change],
    /// The index of the next change.
    pub at: usize,
    /// The number of a line of the side minus that of the same line of the base, after the last
    /// change passed.
    pub shift: i64,
}

impl<'c> ChangeTrack<'c> {
    pub(super) const fn new(changes: &'c [Change]) -> Self {
        Self { changes, at: 0, shift: 0 }
    }

    pub(super) fn next(&self) -> Option<&'c Change> {
        self.changes.get(self.at)
    }

    /// Goes on to the next change.
    pub(super) fn advance(&mut self) {
        if let Some(change) = self.next() {
            self.shift = i64::from(change.after.end) - i64::from(change.before.end);
            self.at += 1;
        }
    }
}

/// Lines of the base that one or both sides changed, and the lines of each side in their place.
/// Ranges are lines, counted from 0.
pub(super) struct ChangedRegion {
    pub base: Range<u32>,
    pub ours: Range<u32>,
    pub theirs: Range<u32>,
    /// True if ours changed the region.
    pub by_us: bool,
    /// True if theirs changed the region.
    pub by_them: bool,
}

impl ChangedRegion {
    /// Returns an empty region at the end of the base, `end`, after the last change.
    pub(super) fn after(own: &ChangeTrack<'_>, other: &ChangeTrack<'_>, end: u32) -> Self {
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

/// Returns the next changed region, which contains all changes that overlap each other. Unless
/// `adjacent`, changes that touch each other are in one region too.
pub(super) fn next_region<'c>(
    own: &mut ChangeTrack<'c>,
    other: &mut ChangeTrack<'c>,
    adjacent: bool,
) -> Option<ChangedRegion> {
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
        track.advance();
    }
    let side = |before: i64, after: i64| {
        (i64::from(start) + before) as u32..(i64::from(end) + after) as u32
    };
    Some(ChangedRegion {
        base: start..end,
        ours: side(before.0, own.shift),
        theirs: side(before.1, other.shift),
        by_us,
        by_them,
    })
}
