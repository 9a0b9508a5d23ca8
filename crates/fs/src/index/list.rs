//! Taking in the listing of a directory: what is new, what stayed, what is gone.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use super::state::{Sight, State};
use super::tree::{Dir, Entry, NONE};
use crate::stat::{Kind, Stat};
use crate::walk::{Listing, MAX_DEPTH, rules};

/// Makes the entries of a directory those of its listing.
pub(super) fn take_in(
    state: &mut State,
    id: u32,
    fd: BorrowedFd<'_>,
    listing: &Listing,
    sight: &Sight<'_>,
) {
    let ground = sight.ground;
    let dir = &state.tree.dirs[id as usize];
    let above = match state.tree.dirs.get(dir.parent as usize) {
        Some(parent) => parent.stack.clone(),
        None => ground.stack.clone(),
    };
    let (raw, shown) = (Arc::clone(&dir.raw), Arc::clone(&dir.shown));
    let (depth, hidden) = (dir.depth, dir.hidden);
    let directory = [&ground.real[ground.top..], &raw].concat();
    let (stack, content) = match sight.names {
        Some(names) => rules::enter(&above, fd, listing, names, &directory),
        None => (above, 0),
    };
    let new_rules = dir.rules != Some(content) || dir.inherits_anew;
    let border = sight.names.is_some()
        && (0..listing.len())
            .any(|index| listing.name(index) == b".git" && listing.kind(index) == Kind::Dir);
    state.tree.dirs[id as usize].has_rules = sight.names.is_some_and(|names| {
        (0..listing.len())
            .any(|index| names.iter().any(|name| name.as_bytes() == listing.name(index)))
    });
    state.mark_border(id, border, if border { rules::exclude_content(fd) } else { 0 });

    let mut places: Vec<usize> = (0..listing.len()).collect();
    places.sort_unstable_by(|&a, &b| listing.name(a).cmp(listing.name(b)));
    let old_names = std::mem::take(&mut state.tree.dirs[id as usize].names);
    let old_entries = std::mem::take(&mut state.tree.dirs[id as usize].entries);
    let name_of = |entry: &Entry| &old_names[entry.at as usize..][..usize::from(entry.len)];
    let mut old = old_entries.iter().peekable();
    let (mut names, mut entries) = (Vec::with_capacity(old_names.len()), Vec::new());
    let (mut ignored_here, mut too_deep, mut changed) = (0, 0, false);
    let mut path = [&ground.real[..], &raw].concat();
    let base = path.len();
    let denies = ground.roots.rules().denies();
    for place in places {
        let (name, kind) = (listing.name(place), listing.kind(place));
        while let Some(gone) = old.next_if(|entry| name_of(entry) < name) {
            changed = true;
            drop_entry(state, gone);
        }
        let known = old.next_if(|entry| name_of(entry) == name);
        path.truncate(base);
        path.extend_from_slice(name);
        let seen = name != b".git"
            && kind != Kind::Other
            && !(denies && ground.roots.rules().denied_entry(&path));
        if !seen {
            if let Some(known) = known {
                changed = true;
                drop_entry(state, known);
            }
            continue;
        }
        let is_dir = kind == Kind::Dir;
        let ignored = !stack.is_empty() && stack.ignored(&path[ground.top..], is_dir);
        let deep = is_dir && !ignored && depth == MAX_DEPTH;
        ignored_here += usize::from(ignored);
        // Searches leave secrets out, granted or not, and count them as not read.
        let secret = kind == Kind::File && ground.roots.rules().secret(&path);
        too_deep += u64::from(deep || secret && !ignored);
        let stays = known.filter(|known| {
            known.kind == kind
                && known.ignored == ignored
                && !(is_dir && state.was_replaced(id, name))
        });
        let below = match stays {
            Some(known) => {
                if new_rules && is_dir && known.below != NONE {
                    state.inherit_anew(known.below);
                }
                known.below
            }
            None => {
                changed = true;
                if let Some(known) = known {
                    drop_entry(state, known);
                }
                match kind {
                    _ if ignored || deep => NONE,
                    Kind::File if secret => state.tree.add_kept(id),
                    Kind::File => {
                        state.links_came |=
                            state.begun && Stat::at(fd, name).is_ok_and(|stat| stat.nlink > 1);
                        state.tree.add_file(id)
                    }
                    Kind::Dir => {
                        let join = |prefix: &[u8], name: &[u8]| -> Arc<[u8]> {
                            Arc::from([prefix, name, b"/"].concat())
                        };
                        let below_shown = join(&shown, &listing.shown(place));
                        let same = listing.is_plain(place) && Arc::ptr_eq(&raw, &shown);
                        let below_raw =
                            if same { Arc::clone(&below_shown) } else { join(&raw, name) };
                        let hidden = hidden || name.first() == Some(&b'.');
                        state.add_dir(Dir::new(id, depth + 1, below_raw, below_shown, hidden))
                    }
                    _ => NONE,
                }
            }
        };
        if kind == Kind::File && below != NONE {
            state.tree.files[below as usize].entry = entries.len() as u32;
        }
        entries.push(Entry {
            at: names.len() as u32,
            len: name.len() as u16,
            kind,
            ignored,
            plain: listing.is_plain(place),
            below,
        });
        names.extend_from_slice(name);
    }
    for gone in old {
        changed = true;
        drop_entry(state, gone);
    }
    names.shrink_to_fit();
    let dir = &mut state.tree.dirs[id as usize];
    (dir.names, dir.entries) = (names, entries);
    (dir.stack, dir.rules, dir.inherits_anew) = (stack, Some(content), false);
    (dir.ignored, dir.too_deep) = (ignored_here, too_deep);
    if changed {
        state.tree.shape += 1;
    }
}

fn drop_entry(state: &mut State, entry: &Entry) {
    match entry.kind {
        _ if entry.below == NONE => {}
        Kind::Dir => state.remove_dir(entry.below),
        _ => state.tree.remove_file(entry.below),
    }
}
