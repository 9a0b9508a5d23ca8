//! Reads the ignore files that apply to a walk: those in its directories, and those in the
//! directories above its start.

use std::ffi::CStr;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::fd::BorrowedFd;

use filewright_core::pattern::ignore::{IgnoreKind, IgnoreRules, MAX_IGNORE_FILE_BYTES, Stack};

use super::git_exclude::RepoTop;
use super::open::{ReadOutcome, read_regular};
use super::{Listing, StopSignal};
use crate::cancel::{CancelToken, Deadline};
use crate::dir::stat::Kind;
use crate::root::{Roots, parent_of};

/// A directory whose ignore files are read.
pub struct RuledDir<'a> {
    /// The directory, which may contain `.git`.
    pub place: RepoTop<'a>,
    /// The entries of the directory.
    pub listing: &'a Listing,
    /// The number of bytes at the start of its path that are cut off for the rules
    /// ([`WalkRoot::top`](super::WalkRoot::top)).
    pub top: usize,
}

/// Returns the ignore rules for the entries of a directory, which are those of `stack` and its own,
/// and a hash of its own.
pub fn rules_inside(stack: &Stack, dir: &RuledDir<'_>, names: &[String]) -> (Stack, u64) {
    let RuledDir { place, listing, top } = dir;
    let mut lists = Vec::new();
    let mut is_repo_root = false;
    let mut content = DefaultHasher::new();
    for index in 0..listing.len() {
        let name = listing.name(index);
        if name.first() != Some(&b'.') {
            continue;
        }
        if name == b".git" {
            is_repo_root = true;
            name.hash(&mut content);
            if matches!(listing.kind(index), Kind::Dir | Kind::File) {
                let rules = place.read_exclude(&mut content);
                lists.extend(rules.map(|rules| (IgnoreKind::EXCLUDE, rules)));
            }
        } else if listing.kind(index) == Kind::File
            && let Some(rank) = names.iter().position(|wanted| wanted.as_bytes() == name)
        {
            let rules = read_ignore_file(place.fd, name, &mut content);
            lists.extend(rules.map(|rules| (IgnoreKind::file(rank), rules)));
        }
    }
    let directory = place.real.get(*top..).unwrap_or_default();
    let directory = directory.strip_suffix(b"/").unwrap_or(directory);
    (stack.enter(directory, lists, is_repo_root), content.finish())
}

/// Returns the ignore rules of the directories above the start of a walk, the number of bytes of
/// absolute paths before the part that they are matched with
/// ([`WalkRoot::top`](super::WalkRoot::top)), and a hash of them. `real` is the absolute path of
/// the start, with a final slash.
///
/// Ignore files are read up to the root that contains the start. If that root is `/`, they are read
/// only up to the directory that contains `.git`. If the start itself is ignored, the caller has
/// named it explicitly, and no rules from above apply.
pub(super) fn parent_rules(roots: &Roots, real: &[u8], names: &[String]) -> (Stack, usize, u64) {
    let start = real.strip_suffix(b"/").unwrap_or(real);
    let mut above = Vec::new();
    let mut at = start;
    while at.len() > 1 {
        at = parent_of(at);
        let Ok(opened) = roots.open_dir(at) else { break };
        // A link on the way would lead to the rules of another tree.
        if opened.real != at {
            break;
        }
        let mut listing = Listing::default();
        if listing.read(std::os::fd::AsFd::as_fd(&opened.fd)).is_err() {
            break;
        }
        above.push((opened, listing));
    }
    if above.last().is_some_and(|(opened, _)| opened.real == b"/") {
        let repository = above.iter().position(|(_, listing)| {
            (0..listing.len()).any(|index| listing.name(index) == b".git")
        });
        above.truncate(repository.map_or(0, |place| place + 1));
    }
    let top = match above.last() {
        Some((opened, _)) if opened.real.len() > 1 => opened.real.len() + 1,
        Some(_) => 1,
        None => real.len(),
    };
    let mut content = DefaultHasher::new();
    let (mut stack, excludes) = roots.excludes.clone();
    excludes.hash(&mut content);
    let (fresh, fresh_content) = (stack.clone(), content.finish());
    for (opened, listing) in above.iter().rev() {
        let directory = opened.real.get(top..).unwrap_or_default();
        if !directory.is_empty() && stack.ignored(directory, true) {
            return (fresh, top, fresh_content);
        }
        let fd = std::os::fd::AsFd::as_fd(&opened.fd);
        let place = RepoTop { roots, fd, real: &opened.real };
        let entered = rules_inside(&stack, &RuledDir { place, listing, top }, names);
        stack = entered.0;
        entered.1.hash(&mut content);
    }
    let itself = start.get(top..).unwrap_or_default();
    if !itself.is_empty() && stack.ignored(itself, true) {
        return (fresh, top, fresh_content);
    }
    (stack, top, content.finish())
}

/// Parses the ignore file `name` of a directory, and adds its name and content to the hash
/// `content`. Returns `None` if it cannot be read or is larger than [`MAX_IGNORE_FILE_BYTES`].
fn read_ignore_file(
    dir: BorrowedFd<'_>,
    name: &[u8],
    content: &mut DefaultHasher,
) -> Option<IgnoreRules> {
    let mut terminated = name.to_vec();
    terminated.push(0);
    let name = CStr::from_bytes_with_nul(&terminated).ok()?;
    let cancel = CancelToken::new();
    let stop = StopSignal { cancel: &cancel, deadline: Deadline::default() };
    let mut bytes = Vec::new();
    match read_regular(dir, name, MAX_IGNORE_FILE_BYTES as u64, &stop, &mut bytes) {
        Ok(ReadOutcome::Read) => {
            (name, &bytes).hash(content);
            Some(IgnoreRules::parse(&bytes))
        }
        _ => None,
    }
}
