//! The rules of every walk of a tree: which entries it sees, selects, enters or only counts, and its
//! limit.
//!
//! `filewright-fs` walks disks by them, in parallel for searches and one directory at a time for
//! listings, and `filewright-index` keeps its tree by them. `js/backends/walk` walks other storage
//! by the same rules; the limit and the names of ignore files there are generated from here.

use crate::pattern::glob::Globs;
use crate::pattern::ignore::Stack;

crate::wire! {
    /// The limits of walks of trees.
    pub constants WalkLimits {
        /// The maximum depth of a walk below its start, in directories.
        MAX_DEPTH = 2048,
        /// The maximum number of entries of ignored directories that a search for names counts. If
        /// there are more, it counts none.
        MAX_IGNORED_ENTRIES = 1000,
    }
}

/// The filters of a walk.
#[derive(Clone, Debug)]
pub struct WalkOptions {
    /// Includes names that begin with a dot.
    pub hidden: bool,
    /// Leaves out every `.git`.
    pub skip_git: bool,
    /// The names of ignore files, lowest precedence first; `None` reads none, so that nothing is
    /// ignored.
    pub ignore: Option<Vec<String>>,
    /// The globs that paths relative to the start must match or must not match.
    pub globs: Globs,
    /// The first path that is visited: paths that sort before it are left out. Empty visits all.
    pub from: Vec<u8>,
}

/// The kind of an entry, as far as a walk distinguishes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkedKind {
    /// A directory.
    Dir,
    /// A regular file or a link, which is not followed.
    Leaf,
    /// A FIFO, a socket or a device.
    Special,
}

/// The decision of a walk about an entry. An entry that it neither selects nor enters has no decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryDecision {
    /// True if the entry is one of those that are asked for.
    pub selected: bool,
    /// True if the entry is a directory that may contain some of those.
    pub enter: bool,
    /// True if ignore files exclude the entry, so that it is only counted.
    pub ignored: bool,
}

/// The rules for the entries of one directory.
pub struct DirRules<'a> {
    options: &'a WalkOptions,
    /// The ignore rules inside the directory.
    stack: &'a Stack,
}

impl<'a> DirRules<'a> {
    /// Returns the rules for a directory whose own ignore files are in `stack`.
    pub fn new(options: &'a WalkOptions, stack: &'a Stack) -> Self {
        Self { options, stack }
    }

    /// Reports whether the walk sees an entry of this name. The listing has left out temporary
    /// files ([`is_temp_name`]).
    pub fn sees(&self, name: &[u8]) -> bool {
        sees(self.options, name)
    }

    /// Returns what the walk does with an entry that it sees. `relative` is its path from the
    /// start, `from_top` the path to which ignore rules apply. `wants` reports by the relative path
    /// whether the entry is asked for.
    pub fn decide(
        &self,
        kind: WalkedKind,
        relative: &[u8],
        from_top: &[u8],
        wants: impl FnOnce(&[u8]) -> bool,
    ) -> Option<EntryDecision> {
        let globs = &self.options.globs;
        let may_enter = kind == WalkedKind::Dir
            && globs.may_contain(relative)
            && !globs.excluded(relative, true);
        let selected = wants(relative);
        if !may_enter && !selected {
            return None;
        }
        let ignored = is_ignored(self.stack, kind, from_top);
        Some(EntryDecision { selected, enter: may_enter, ignored })
    }
}

/// Reports whether a walk with these options sees an entry of this name.
pub fn sees(options: &WalkOptions, name: &[u8]) -> bool {
    !(options.skip_git && is_git(name)) && (options.hidden || !is_hidden(name))
}

/// Reports whether ignore files exclude an entry. They do not apply to special files.
pub fn is_ignored(stack: &Stack, kind: WalkedKind, from_top: &[u8]) -> bool {
    kind != WalkedKind::Special
        && !stack.is_empty()
        && stack.ignored(from_top, kind == WalkedKind::Dir)
}

/// Reports whether a name is the one of git's own directory, or of the file that leads to it.
pub fn is_git(name: &[u8]) -> bool {
    name == b".git"
}

/// Reports whether a name begins with a dot.
pub fn is_hidden(name: &[u8]) -> bool {
    name.first() == Some(&b'.')
}

/// The start of every name of a temporary file.
pub const TEMP_NAME_PREFIX: &[u8] = b".filewright-";

/// Reports whether a name has the form of Filewright's temporary files, including entries moved
/// aside: `.filewright-REALM-PID-STARTED-NONCE`, with the suffix `-kept` for these. The parts are
/// lowercase hexadecimal numbers of 8, 1 to 8, 1 to 16 and 16 digits.
///
/// ```
/// use filewright_core::walk::is_temp_name;
/// assert!(is_temp_name(b".filewright-0a1b2c3d-1f-9c-0123456789abcdef-kept"));
/// assert!(!is_temp_name(b".filewright.json"));
/// ```
pub fn is_temp_name(name: &[u8]) -> bool {
    let Some(rest) = name.strip_prefix(TEMP_NAME_PREFIX) else { return false };
    let mut parts = rest.strip_suffix(b"-kept").unwrap_or(rest).split(|&byte| byte == b'-');
    let digits = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let are_numbers = [8..=8, 1..=8, 1..=16, 16..=16].iter().all(|lengths| {
        parts.next().is_some_and(|part| lengths.contains(&part.len()) && part.iter().all(digits))
    });
    are_numbers && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_names_are_told_from_similar_ones() {
        let whole = ".filewright-0a1b2c3d-1f-9c-0123456789abcdef";
        for name in [whole.to_owned(), format!("{whole}-kept")] {
            assert!(is_temp_name(name.as_bytes()), "{name}");
        }
        for name in [
            ".filewright-",
            ".filewright-x",
            ".filewright-0A1b2c3d-1f-9c-0123456789abcdef",
            ".filewright-0a1b2c3d--9c-0123456789abcdef",
            ".filewright-0a1b2c3d-1f-9c-0123456789abcde",
            ".filewright-0a1b2c3d-1f-9c-0123456789abcdef-",
            ".filewright-0a1b2c3d-1f-9c-0123456789abcdef-kept-kept",
            ".filewright-0a1b2c3d-123456789-9c-0123456789abcdef",
            "filewright-0a1b2c3d-1f-9c-0123456789abcdef",
        ] {
            assert!(!is_temp_name(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn an_ignored_directory_is_only_counted() {
        use crate::pattern::glob::{Case, Globs};
        let rules = Stack::new().enter_files(b"", [(0, &b"out/\n"[..])], false);
        let options = WalkOptions {
            hidden: true,
            skip_git: true,
            ignore: None,
            globs: Globs::new::<&str, &str>(&[], &[], Case::Sensitive).unwrap(),
            from: Vec::new(),
        };
        let inside = DirRules::new(&options, &rules);
        let decision = inside.decide(WalkedKind::Dir, b"out", b"out", |_| true).unwrap();
        assert_eq!(decision, EntryDecision { selected: true, enter: true, ignored: true });
        assert!(inside.sees(b".a") && !inside.sees(b".git"));
        let device = inside.decide(WalkedKind::Special, b"out", b"out", |_| true).unwrap();
        assert!(!device.ignored);
    }
}
