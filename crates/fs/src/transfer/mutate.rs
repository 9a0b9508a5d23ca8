//! Creates, removes and changes single entries (mkdir, delete, chmod, symlink), and removes trees.
//!
//! All calls use the descriptor of the parent directory and one name. A root is never removed or
//! replaced, nor is a directory that contains a root, a denied entry or a protected path.

use std::os::fd::AsFd;

use filewright_core::pattern::policy::Intent;
use filewright_core::text::path::components;
use filewright_core::{Code, Error, Result};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::cancel::CancelToken;
use crate::dir::errno::{changing_path_error, mode_error, os_error, protected_error};
use crate::dir::open_entries;
use crate::dir::stat::{Kind, Stat};
use crate::dir::temp_name::is_aside_name;
use crate::dir::tree::{TreeCounts, count_tree, remove_temp_entry};
use crate::root::{
    CreatedDirs, FinalSymlink, Follow, MAX_PATH_ATTEMPTS, MissingPolicy, ResolvedEntry, Roots,
    absolute_path_of, outside_for_intent_error, parent_of,
};
use crate::write::aside::{
    AsideOutcome, Conditions, check_aside_name, check_dir_is_empty, delete_if_unchanged, set_aside,
};
use crate::write::record::ChangeRecord;
use crate::write::{Durability, sweep_stale_temp_files, sync_directory};

/// The options of creating a directory.
#[derive(Clone, Copy, Debug)]
pub struct MkdirOptions {
    /// Creates missing parent directories.
    pub parents: bool,
    /// Succeeds if the directory already exists.
    pub exist_ok: bool,
    /// With `Durable`, the call waits until the new directory and its new parents are on disk.
    pub durability: Durability,
}

impl Default for MkdirOptions {
    fn default() -> Self {
        Self { parents: true, exist_ok: true, durability: Durability::default() }
    }
}

impl Roots {
    /// Creates a directory. Returns whether it did not exist before.
    ///
    /// # Errors
    /// `ALREADY_EXISTS`, also for an entry that is not a directory; `NOT_FOUND` for a missing
    /// parent; `NOT_DIRECTORY`, `PROTECTED_PATH`, `OUTSIDE_ALLOWED` and the system's errors.
    pub fn mkdir(&self, path: &[u8], options: &MkdirOptions) -> Result<bool> {
        self.mkdir_step(path, options, None)
    }

    /// Does the same as [`Roots::mkdir`], and records the change before it is made.
    pub(crate) fn mkdir_step(
        &self,
        path: &[u8],
        options: &MkdirOptions,
        mut record: Option<&mut ChangeRecord<'_>>,
    ) -> Result<bool> {
        for _ in 0..MAX_PATH_ATTEMPTS {
            let mut made = CreatedDirs::new();
            let missing =
                if options.parents { MissingPolicy::Make(&mut made) } else { MissingPolicy::Fail };
            let place = self.locate(path, Intent::Write, FinalSymlink::Keep, missing);
            let place = match place {
                // A path that ends in a slash may name a link to a directory.
                Err(error) if error.code == Code::NotDirectory && ends_in_slash(path) => {
                    self.locate(path, Intent::Write, FinalSymlink::Follow, MissingPolicy::Fail)?
                }
                place => place?,
            };
            let name = match (&place.name, place.kind()) {
                (None, _) | (_, Some(Kind::Dir)) if options.exist_ok => return Ok(false),
                (Some(_), Some(Kind::Symlink)) if options.exist_ok && self.leads_to_dir(path) => {
                    return Ok(false);
                }
                (None, _) | (_, Some(_)) => return Err(os_error(Errno::EXIST)),
                (Some(name), None) => name,
            };
            if let Some(record) = record.as_deref_mut() {
                record.intend(&place)?;
            }
            match rustix::fs::mkdirat(&place.dir, name.as_slice(), Mode::from_raw_mode(0o777)) {
                Ok(()) => {
                    let made_some = made.count() > 0;
                    made.keep();
                    if let Some(record) = record {
                        record.made(Stat::at(&place.dir, name).ok().as_ref());
                    }
                    self.sweep_temp_files(&place);
                    if options.durability == Durability::Durable {
                        sync_directory(&place, made_some)?;
                    }
                    return Ok(true);
                }
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(os_error(errno)),
            }
        }
        Err(changing_path_error())
    }

    /// Reports whether a path, with links followed, is a directory inside the roots.
    fn leads_to_dir(&self, path: &[u8]) -> bool {
        self.stat(path).is_ok_and(|facts| facts.stat.kind == Kind::Dir)
    }

    /// Removes a file, a link (never its target) or an empty directory.
    ///
    /// # Errors
    /// `NOT_FOUND`, `NOT_EMPTY`, `PROTECTED_PATH` for a root or a protected path, `OUTSIDE_ALLOWED`
    /// and the system's errors.
    pub fn delete(&self, path: &[u8]) -> Result<()> {
        self.delete_if(path, &Conditions::default(), Durability::default())
    }

    /// Does the same as [`Roots::delete`], with conditions. With [`Conditions::aside`] the entry is
    /// renamed to that name instead. With `Durable` the call waits until that is on disk.
    ///
    /// # Errors
    /// Like [`Roots::delete`]; `CONFLICT`.
    pub fn delete_if(
        &self,
        path: &[u8],
        conditions: &Conditions,
        durability: Durability,
    ) -> Result<()> {
        self.delete_step(path, conditions, durability, None)
    }

    /// Does the same as [`Roots::delete_if`]. With a record it removes only a file, whose content is
    /// in the record before.
    pub(crate) fn delete_step(
        &self,
        path: &[u8],
        conditions: &Conditions,
        durability: Durability,
        mut record: Option<(&mut ChangeRecord<'_>, &CancelToken)>,
    ) -> Result<()> {
        check_aside_name(conditions.aside.as_deref())?;
        for _ in 0..MAX_PATH_ATTEMPTS {
            let place =
                self.locate(path, Intent::Write, FinalSymlink::Keep, MissingPolicy::Fail)?;
            let (name, stat) = self.removable(&place)?;
            let version = conditions.if_version.as_ref();
            self.check_version(&place, &stat, version, &CancelToken::new())?;
            if let Some((record, cancel)) = &mut record
                && !record.intend_over(&place, &stat, cancel)?
            {
                continue;
            }
            let taken = match &conditions.aside {
                Some(aside) => {
                    if stat.kind == Kind::Dir {
                        check_dir_is_empty(&place.dir, name)?;
                    }
                    Some(set_aside(&place.dir, name, &stat, aside)?)
                }
                None if version.is_some() && stat.kind != Kind::Dir => {
                    Some(delete_if_unchanged(&place.dir, name, &stat)?)
                }
                None => None,
            };
            match taken {
                Some(AsideOutcome::Done) => return self.after_removal(&place, durability),
                Some(AsideOutcome::Again) => continue,
                None => {}
            }
            let flags = if stat.kind == Kind::Dir { AtFlags::REMOVEDIR } else { AtFlags::empty() };
            match rustix::fs::unlinkat(&place.dir, name, flags) {
                Ok(()) => return self.after_removal(&place, durability),
                // The entry has become, or is no longer, a directory: try again.
                Err(Errno::NOTDIR | Errno::ISDIR) => {}
                Err(Errno::PERM) if self.has_become_dir(&place, name, &stat)? => {}
                // Stale temporary files, which listings hide, must not keep a directory from being
                // deleted.
                Err(Errno::NOTEMPTY | Errno::EXIST) if remove_stale_temp_files(&place, name) => {}
                Err(Errno::NOTEMPTY | Errno::EXIST) => return Err(os_error(Errno::NOTEMPTY)),
                Err(errno) => return Err(os_error(errno)),
            }
        }
        Err(changing_path_error())
    }

    /// Removes the temporary files of ended processes from a directory. Succeeds if the directory
    /// is missing.
    ///
    /// # Errors
    /// `OUTSIDE_ALLOWED` and the system's errors.
    pub fn sweep(&self, directory: &[u8]) -> Result<()> {
        // Resolves a name in the directory, which need not exist, because resolving returns the
        // descriptor of the parent.
        let inside = [directory, b"/.filewright-sweep"].concat();
        match self.locate(&inside, Intent::Write, FinalSymlink::Keep, MissingPolicy::Fail) {
            Ok(place) => sweep_stale_temp_files(&place.dir),
            Err(error) if error.code == Code::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        Ok(())
    }

    /// Removes a directory and everything below it, or a file or link. Does not follow links. After
    /// a failure, removed entries stay removed.
    ///
    /// # Errors
    /// Like [`Roots::delete`], without `NOT_EMPTY`; `CANCELLED`. A tree that contains a root, or a
    /// denied or protected entry, is refused as a whole.
    pub fn remove_tree(&self, path: &[u8], cancel: &CancelToken) -> Result<TreeCounts> {
        self.remove_tree_if(path, &Conditions::default(), Durability::default(), cancel)
    }

    /// Does the same as [`Roots::remove_tree`], with conditions on the top entry. With
    /// [`Conditions::aside`] the tree is renamed to that name in one step instead. With `Durable` the
    /// call waits until the top entry is gone from the disk: what was below it is unreachable then.
    ///
    /// # Errors
    /// Like [`Roots::remove_tree`]; `CONFLICT`.
    pub fn remove_tree_if(
        &self,
        path: &[u8],
        conditions: &Conditions,
        durability: Durability,
        cancel: &CancelToken,
    ) -> Result<TreeCounts> {
        check_aside_name(conditions.aside.as_deref())?;
        for _ in 0..MAX_PATH_ATTEMPTS {
            let place =
                self.locate(path, Intent::Write, FinalSymlink::Keep, MissingPolicy::Fail)?;
            let (name, stat) = self.removable(&place)?;
            self.check_version(&place, &stat, conditions.if_version.as_ref(), cancel)?;
            // An entry that was moved aside is removed whatever its permission bits, because the
            // change that moved it is final.
            if conditions.aside.is_none() && is_aside_name(name) {
                remove_temp_entry(place.dir.as_fd(), name)?;
                return Ok(TreeCounts::default());
            }
            let mut counts = TreeCounts::default();
            if stat.kind == Kind::Dir {
                let Some(top) = open_entries(&place.dir, name)? else { continue };
                let again = rustix::io::fcntl_dupfd_cloexec(&top, 0).map_err(os_error)?;
                self.check_whole_tree(again, &place.real, None, cancel)?;
                counts = match conditions.aside {
                    Some(_) => count_tree(top, cancel)?,
                    None => self.empty_tree(top, &place.real, cancel)?,
                };
            }
            if let Some(aside) = &conditions.aside {
                match set_aside(&place.dir, name, &stat, aside)? {
                    AsideOutcome::Done => {
                        counts.add(&stat);
                        self.after_removal(&place, durability)?;
                        return Ok(counts);
                    }
                    AsideOutcome::Again => continue,
                }
            }
            let flags = if stat.kind == Kind::Dir { AtFlags::REMOVEDIR } else { AtFlags::empty() };
            match rustix::fs::unlinkat(&place.dir, name, flags) {
                Ok(()) => {
                    counts.add(&stat);
                    self.after_removal(&place, durability)?;
                    return Ok(counts);
                }
                Err(Errno::NOTDIR | Errno::ISDIR | Errno::NOTEMPTY | Errno::EXIST) => {}
                Err(Errno::PERM) if self.has_become_dir(&place, name, &stat)? => {}
                Err(errno) => return Err(os_error(errno)),
            }
        }
        Err(changing_path_error())
    }

    /// Removes stale temporary files beside a removed entry, and flushes its directory if asked.
    fn after_removal(&self, place: &ResolvedEntry<'_>, durability: Durability) -> Result<()> {
        self.sweep_temp_files(place);
        if durability == Durability::Durable {
            sync_directory(place, false)?;
        }
        Ok(())
    }

    /// Returns the name and the metadata of an entry that is to be moved or removed. Returns an
    /// error if it does not exist, is or contains a root, or is or contains a protected path by its
    /// name. The entries below it are not checked.
    pub(crate) fn removable<'p>(&self, place: &'p ResolvedEntry<'_>) -> Result<(&'p [u8], Stat)> {
        if place.name.is_none() || self.contains_root(&place.real) {
            return Err(Error::new(
                Code::ProtectedPath,
                "a root cannot be moved, replaced or deleted",
            ));
        }
        let stat = place.found.ok_or_else(|| os_error(Errno::NOENT))?;
        if self.rules().is_or_contains_protected(&place.real) {
            return Err(protected_error());
        }
        Ok((place.name.as_deref().unwrap_or_default(), stat))
    }

    /// Reports whether a directory has replaced the entry. Called after unlinking failed with
    /// `PERM`, which some systems return for a directory.
    fn has_become_dir(&self, place: &ResolvedEntry<'_>, name: &[u8], stat: &Stat) -> Result<bool> {
        Ok(stat.kind != Kind::Dir
            && Stat::find(&place.dir, name)?.is_some_and(|now| now.kind == Kind::Dir))
    }

    /// Sets the permission bits of a path; follows links.
    ///
    /// # Errors
    /// `NOT_FOUND`, `PROTECTED_PATH`, `OUTSIDE_ALLOWED` and the system's errors.
    pub fn chmod(&self, path: &[u8], mode: u32) -> Result<()> {
        for _ in 0..MAX_PATH_ATTEMPTS {
            let place =
                self.locate(path, Intent::Write, FinalSymlink::Follow, MissingPolicy::Fail)?;
            let found = place.found.ok_or_else(|| os_error(Errno::NOENT))?;
            if let Some(name) = &place.name
                && self.rules().may_contain_protected(name)
            {
                return Err(protected_error());
            }
            let name = place.name.as_deref().unwrap_or(b".");
            let mode = Mode::from_raw_mode((mode & 0o777) as _);
            if change_mode(&place.dir, name, &found, mode)? {
                return Ok(());
            }
        }
        Err(changing_path_error())
    }

    /// Creates a symbolic link at `path` to `target`. Refuses a target outside the roots, unless
    /// the policy lets links lead anywhere; the same holds for following such a link.
    ///
    /// # Errors
    /// `ALREADY_EXISTS`, `NOT_FOUND` for a missing parent, `INVALID_ARGUMENT`, `PROTECTED_PATH`,
    /// `OUTSIDE_ALLOWED` and the system's errors.
    pub fn symlink(&self, target: &[u8], path: &[u8]) -> Result<()> {
        let place = self.locate(path, Intent::Write, FinalSymlink::Keep, MissingPolicy::Fail)?;
        let name = match (&place.name, place.kind()) {
            (Some(name), None) => name,
            _ => return Err(os_error(Errno::EXIST)),
        };
        if place.directory {
            return Err(Error::new(Code::NotDirectory, "a link's path cannot end in a slash"));
        }
        if self.rules().guards_link(name) {
            return Err(protected_error());
        }
        if target.is_empty() {
            return Err(Error::new(Code::InvalidArgument, "link target is empty"));
        }
        let absolute = target.first() == Some(&b'/');
        let whole = if absolute {
            target.to_vec()
        } else {
            [parent_of(&place.real), b"/", target].concat()
        };
        let leads = absolute_path_of(&components(&whole)?.names);
        if self.follow() != Follow::Any && !self.link_target_allowed(&leads) {
            return Err(outside_for_intent_error(Intent::Write));
        }
        rustix::fs::symlinkat(target, &place.dir, name.as_slice()).map_err(os_error)
    }
}

fn ends_in_slash(path: &[u8]) -> bool {
    path.ends_with(b"/")
}

/// Removes the temporary files of ended processes from the directory `name`. Returns whether there
/// were any.
fn remove_stale_temp_files(place: &ResolvedEntry<'_>, name: &[u8]) -> bool {
    let Ok(Some(dir)) = open_entries(&place.dir, name) else { return false };
    sweep_stale_temp_files(&dir) > 0
}

/// Sets the mode of an entry without following a link. Returns false if it is no longer the same
/// entry as `found`.
fn change_mode(dir: impl AsFd, name: &[u8], found: &Stat, mode: Mode) -> Result<bool> {
    #[cfg(target_os = "linux")]
    {
        // An `O_PATH` descriptor needs no read permission; the kernel changes the mode of its file
        // through its link in procfs.
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = match rustix::fs::openat(&dir, name, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(false),
            Err(errno) => return Err(os_error(errno)),
        };
        let now = Stat::of(&fd).map_err(os_error)?;
        if !now.same_file(found) || now.kind == Kind::Symlink {
            return Ok(false);
        }
        let own = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&fd));
        match rustix::fs::chmod(own, mode) {
            Ok(()) => return Ok(true),
            // Procfs is not mounted: the mode is set by a descriptor, which needs read permission.
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(mode_error(errno)),
        }
    }
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    if found.kind != Kind::File && found.kind != Kind::Dir {
        return Err(crate::dir::errno::not_regular_error());
    }
    let fd = match rustix::fs::openat(dir, name, flags, Mode::empty()) {
        Ok(fd) => fd,
        Err(Errno::LOOP | Errno::NOENT | Errno::MLINK) => return Ok(false),
        Err(errno) => return Err(os_error(errno)),
    };
    if !Stat::of(&fd).map_err(os_error)?.same_file(found) {
        return Ok(false);
    }
    rustix::fs::fchmod(fd, mode).map_err(mode_error)?;
    Ok(true)
}
