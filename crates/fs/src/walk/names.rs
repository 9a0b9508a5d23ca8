//! Walks the names of all files below the roots: denied, hidden and ignored ones too.
//!
//! Directories that cannot be opened are passed over. A root `/` is not walked, and neither is a
//! root that is a file or is missing.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use filewright_core::pattern::ignore::Stack;
use filewright_core::pattern::policy::PathCursor;

use super::{Listing, MAX_DEPTH, Opener, StopSignal, WalkRoot};
use crate::cancel::{CancelToken, Deadline};
use crate::dir::open_entries;
use crate::dir::stat::{Kind, Stat};
use crate::root::{AskedName, Roots};

/// The maximum number of entries of a walk.
const MAX_ENTRIES: usize = 2_000_000;

/// The name of a regular file.
pub(crate) struct FileName<'n> {
    /// The name with the state of the rules for it.
    pub at: &'n PathCursor<'n>,
    /// True if the rules deny it.
    pub denied: bool,
    name: &'n [u8],
    dir: BorrowedFd<'n>,
}

impl FileName<'_> {
    /// Reads the metadata; `None` if the file no longer exists or has been replaced.
    pub fn stat(&self) -> Option<Stat> {
        let stat = Stat::at(self.dir, self.name).ok()?;
        (stat.kind == Kind::File).then_some(stat)
    }
}

/// A directory that a walk of names enters.
struct WaitingDir {
    /// The path below the root, with a final slash.
    below: Arc<[u8]>,
    denied: bool,
    depth: usize,
}

impl Roots {
    /// Calls `visit` with each name of a regular file below the roots. Links are not followed.
    /// Returns false if there are more than [`MAX_ENTRIES`] entries, or a directory is too deep.
    pub(crate) fn walk_names(&self, mut visit: impl FnMut(&FileName<'_>)) -> bool {
        let cancel = CancelToken::new();
        let stop = StopSignal { cancel: &cancel, deadline: Deadline::default() };
        let mut left = MAX_ENTRIES;
        for (anchor, path) in self.outermost() {
            let Ok(Some(fd)) = open_entries(anchor, b".") else { continue };
            let real = [path, b"/"].concat();
            let walk_root = WalkRoot {
                roots: self,
                fd,
                top: real.len(),
                real,
                asked: AskedName::default(),
                resolver: self.resolver(),
                stack: Stack::new(),
                rules: 0,
            };
            if !visit_names_below(&walk_root, &stop, &mut left, &mut visit) {
                return false;
            }
        }
        true
    }
}

/// Visits the names below one root. `left` is the number of entries that the walk may still see.
fn visit_names_below(
    top: &WalkRoot<'_>,
    stop: &StopSignal<'_>,
    left: &mut usize,
    visit: &mut impl FnMut(&FileName<'_>),
) -> bool {
    let denied = top.roots.rules().denied(&top.real[..top.real.len() - 1]);
    let mut opener = Opener::new(top, stop);
    let mut listing = Listing::default();
    let mut waiting = vec![WaitingDir { below: Arc::from(&b""[..]), denied, depth: 0 }];
    while let Some(dir) = waiting.pop() {
        let Ok(fd) = opener.open(&dir.below) else { continue };
        if listing.read(fd).is_err() {
            continue;
        }
        if listing.len() > *left || dir.depth > MAX_DEPTH {
            return false;
        }
        *left -= listing.len();
        let mut at = PathCursor::new(top.roots.rules(), &[&top.real[..], &dir.below].concat());
        for index in 0..listing.len() {
            let (name, kind) = (listing.name(index), listing.kind(index));
            if !matches!(kind, Kind::File | Kind::Dir) {
                continue;
            }
            at.push(name);
            let denied = dir.denied || at.denied_entry();
            if kind == Kind::File {
                visit(&FileName { at: &at, denied, name, dir: fd });
            } else {
                let below = Arc::from([&dir.below[..], name, b"/"].concat());
                waiting.push(WaitingDir { below, denied, depth: dir.depth + 1 });
            }
            at.pop();
        }
    }
    true
}
