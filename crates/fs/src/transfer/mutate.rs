//! Making, removing and changing single entries: mkdir, delete, chmod, symlink.
//!
//! Everything goes by the descriptor of the parent directory and one name. A
//! root is never removed or replaced, nor is a directory that holds one, a
//! denied entry or a protected place.

use std::os::fd::AsFd;

use filewright_core::access::Intent;
use filewright_core::path::components;
use filewright_core::{Code, Error, Result};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::cancel::CancelToken;
use crate::dir::errno::{os, protected, unsettled};
use crate::dir::open_entries;
use crate::dir::stat::{Kind, Stat};
use crate::dir::temp_name::is_kept_name;
use crate::dir::tree::{Counts, count_tree, remove_own};
use crate::root::{
    ATTEMPTS, CreatedDirs, FinalSymlink, Follow, MissingPolicy, ResolvedEntry, Roots, absolute_of,
    outside_for, parent_of,
};
use crate::write::aside::{Conditions, Taken, check_aside, check_empty, delete_exact, set_aside};
use crate::write::sweep_now;

/// How a directory is made.
#[derive(Clone, Copy, Debug)]
pub struct MkdirOptions {
    /// Make missing parent directories.
    pub parents: bool,
    /// That the directory is there already is not an error.
    pub exist_ok: bool,
}

impl Default for MkdirOptions {
    fn default() -> Self {
        Self { parents: true, exist_ok: true }
    }
}

impl Roots {
    /// Makes a directory. Tells whether it was not there before.
    ///
    /// # Errors
    /// `ALREADY_EXISTS`, also for anything that is not a directory; `NOT_FOUND`
    /// for a missing parent; `NOT_DIRECTORY`, `PROTECTED_PATH`,
    /// `OUTSIDE_ALLOWED` and what the system refuses with.
    pub fn mkdir(&self, path: &[u8], options: &MkdirOptions) -> Result<bool> {
        for _ in 0..ATTEMPTS {
            let mut made = CreatedDirs::new();
            let missing =
                if options.parents { MissingPolicy::Make(&mut made) } else { MissingPolicy::Fail };
            let place = self.locate(path, Intent::Write, FinalSymlink::Keep, missing);
            let place = match place {
                // `link/` may be a link to a directory.
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
                (None, _) | (_, Some(_)) => return Err(os(Errno::EXIST)),
                (Some(name), None) => name,
            };
            match rustix::fs::mkdirat(&place.dir, name.as_slice(), Mode::from_raw_mode(0o777)) {
                Ok(()) => {
                    made.keep();
                    self.sweep_temp_files(&place.dir);
                    return Ok(true);
                }
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(os(errno)),
            }
        }
        Err(unsettled())
    }

    fn leads_to_dir(&self, path: &[u8]) -> bool {
        self.stat(path).is_ok_and(|facts| facts.stat.kind == Kind::Dir)
    }

    /// Removes a file, a link (never its target) or an empty directory.
    ///
    /// # Errors
    /// `NOT_FOUND`, `NOT_EMPTY`, `PROTECTED_PATH` for a root or a protected
    /// place, `OUTSIDE_ALLOWED` and what the system refuses with.
    pub fn delete(&self, path: &[u8]) -> Result<()> {
        self.delete_if(path, &Conditions::default())
    }

    /// [`Roots::delete`] under conditions; with [`Conditions::aside`] the entry is
    /// set aside instead.
    ///
    /// # Errors
    /// As [`Roots::delete`]; `CONFLICT`.
    pub fn delete_if(&self, path: &[u8], conditions: &Conditions) -> Result<()> {
        check_aside(conditions.aside.as_deref())?;
        for _ in 0..ATTEMPTS {
            let place =
                self.locate(path, Intent::Write, FinalSymlink::Keep, MissingPolicy::Fail)?;
            let (name, stat) = self.removable(&place)?;
            let version = conditions.if_version.as_ref();
            self.check_version(&place, &stat, version, &CancelToken::new())?;
            let taken = match &conditions.aside {
                Some(aside) => {
                    if stat.kind == Kind::Dir {
                        check_empty(&place.dir, name)?;
                    }
                    Some(set_aside(&place.dir, name, &stat, aside)?)
                }
                None if version.is_some() && stat.kind != Kind::Dir => {
                    Some(delete_exact(&place.dir, name, &stat)?)
                }
                None => None,
            };
            match taken {
                Some(Taken::Done) => {
                    self.sweep_temp_files(&place.dir);
                    return Ok(());
                }
                Some(Taken::Again) => continue,
                None => {}
            }
            let flags = if stat.kind == Kind::Dir { AtFlags::REMOVEDIR } else { AtFlags::empty() };
            match rustix::fs::unlinkat(&place.dir, name, flags) {
                Ok(()) => {
                    self.sweep_temp_files(&place.dir);
                    return Ok(());
                }
                // It is something else by now.
                Err(Errno::NOTDIR | Errno::ISDIR) => {}
                Err(Errno::PERM) if self.has_become_dir(&place, name, &stat)? => {}
                // Litter that no listing shows must not keep a directory.
                Err(Errno::NOTEMPTY | Errno::EXIST) if remove_litter(&place, name) => {}
                Err(Errno::NOTEMPTY | Errno::EXIST) => return Err(os(Errno::NOTEMPTY)),
                Err(errno) => return Err(os(errno)),
            }
        }
        Err(unsettled())
    }

    /// Removes the temporary files that dead processes left in a directory. One
    /// that is missing is fine.
    ///
    /// # Errors
    /// `OUTSIDE_ALLOWED` and what the system refuses with.
    pub fn sweep(&self, directory: &[u8]) -> Result<()> {
        // A name in the directory, so that the directory is on the way to it.
        let inside = [directory, b"/.filewright-sweep"].concat();
        match self.locate(&inside, Intent::Write, FinalSymlink::Keep, MissingPolicy::Fail) {
            Ok(place) => sweep_now(&place.dir),
            Err(error) if error.code == Code::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        Ok(())
    }

    /// Removes a directory and everything below it, or a file or link. Links
    /// are not followed. What was removed before a failure stays removed.
    ///
    /// # Errors
    /// As [`Roots::delete`], without `NOT_EMPTY`; `CANCELLED`. A tree that
    /// holds a root, or a denied or protected entry, is refused as a whole.
    pub fn remove_tree(&self, path: &[u8], cancel: &CancelToken) -> Result<Counts> {
        self.remove_tree_if(path, &Conditions::default(), cancel)
    }

    /// [`Roots::remove_tree`] under conditions on its top; with [`Conditions::aside`]
    /// the tree is set aside in one step instead.
    ///
    /// # Errors
    /// As [`Roots::remove_tree`]; `CONFLICT`.
    pub fn remove_tree_if(
        &self,
        path: &[u8],
        conditions: &Conditions,
        cancel: &CancelToken,
    ) -> Result<Counts> {
        check_aside(conditions.aside.as_deref())?;
        for _ in 0..ATTEMPTS {
            let place =
                self.locate(path, Intent::Write, FinalSymlink::Keep, MissingPolicy::Fail)?;
            let (name, stat) = self.removable(&place)?;
            self.check_version(&place, &stat, conditions.if_version.as_ref(), cancel)?;
            // What was set aside goes whatever its permission bits: the change that did it stands.
            if conditions.aside.is_none() && is_kept_name(name) {
                remove_own(place.dir.as_fd(), name)?;
                return Ok(Counts::default());
            }
            let mut counts = Counts::default();
            if stat.kind == Kind::Dir {
                let Some(top) = open_entries(&place.dir, name)? else { continue };
                let again = rustix::io::fcntl_dupfd_cloexec(&top, 0).map_err(os)?;
                self.check_whole_tree(again, &place.real, None, cancel)?;
                counts = match conditions.aside {
                    Some(_) => count_tree(top, cancel)?,
                    None => self.empty_tree(top, &place.real, cancel)?,
                };
            }
            if let Some(aside) = &conditions.aside {
                match set_aside(&place.dir, name, &stat, aside)? {
                    Taken::Done => {
                        counts.add(&stat);
                        self.sweep_temp_files(&place.dir);
                        return Ok(counts);
                    }
                    Taken::Again => continue,
                }
            }
            let flags = if stat.kind == Kind::Dir { AtFlags::REMOVEDIR } else { AtFlags::empty() };
            match rustix::fs::unlinkat(&place.dir, name, flags) {
                Ok(()) => {
                    counts.add(&stat);
                    self.sweep_temp_files(&place.dir);
                    return Ok(counts);
                }
                Err(Errno::NOTDIR | Errno::ISDIR | Errno::NOTEMPTY | Errno::EXIST) => {}
                Err(Errno::PERM) if self.has_become_dir(&place, name, &stat)? => {}
                Err(errno) => return Err(os(errno)),
            }
        }
        Err(unsettled())
    }

    /// What the place names, if it may be taken away as a whole by its name and
    /// path. What it holds is looked at elsewhere.
    pub(crate) fn removable<'p>(&self, place: &'p ResolvedEntry<'_>) -> Result<(&'p [u8], Stat)> {
        if place.name.is_none() || self.contains_root(&place.real) {
            return Err(Error::new(
                Code::ProtectedPath,
                "a root cannot be moved, replaced or deleted",
            ));
        }
        let stat = place.found.ok_or_else(|| os(Errno::NOENT))?;
        if self.rules().is_or_contains_protected(&place.real) {
            return Err(protected());
        }
        Ok((place.name.as_deref().unwrap_or_default(), stat))
    }

    /// `PERM` is what some systems say to unlinking a directory.
    fn has_become_dir(&self, place: &ResolvedEntry<'_>, name: &[u8], stat: &Stat) -> Result<bool> {
        Ok(stat.kind != Kind::Dir
            && Stat::find(&place.dir, name)?.is_some_and(|now| now.kind == Kind::Dir))
    }

    /// Sets the permission bits of what a path leads to, links followed.
    ///
    /// # Errors
    /// `NOT_FOUND`, `PROTECTED_PATH`, `OUTSIDE_ALLOWED` and what the system
    /// refuses with.
    pub fn chmod(&self, path: &[u8], mode: u32) -> Result<()> {
        for _ in 0..ATTEMPTS {
            let place =
                self.locate(path, Intent::Write, FinalSymlink::Follow, MissingPolicy::Fail)?;
            let found = place.found.ok_or_else(|| os(Errno::NOENT))?;
            if let Some(name) = &place.name
                && self.rules().may_contain_protected(name)
            {
                return Err(protected());
            }
            let name = place.name.as_deref().unwrap_or(b".");
            let mode = Mode::from_raw_mode((mode & 0o777) as _);
            if change_mode(&place.dir, name, &found, mode)? {
                return Ok(());
            }
        }
        Err(unsettled())
    }

    /// Makes a symbolic link. A link that would lead out of the roots is
    /// refused when it is made, not when it is met.
    ///
    /// # Errors
    /// `ALREADY_EXISTS`, `NOT_FOUND` for a missing parent, `INVALID_ARGUMENT`,
    /// `PROTECTED_PATH`, `OUTSIDE_ALLOWED` and what the system refuses with.
    pub fn symlink(&self, target: &[u8], path: &[u8]) -> Result<()> {
        let place = self.locate(path, Intent::Write, FinalSymlink::Keep, MissingPolicy::Fail)?;
        let name = match (&place.name, place.kind()) {
            (Some(name), None) => name,
            _ => return Err(os(Errno::EXIST)),
        };
        if place.directory {
            return Err(Error::new(Code::NotDirectory, "a link's path cannot end in a slash"));
        }
        if self.rules().guards_link(name) {
            return Err(protected());
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
        let leads = absolute_of(&components(&whole)?.names);
        if self.follow() != Follow::Any && !self.link_target_allowed(&leads) {
            return Err(outside_for(Intent::Write));
        }
        rustix::fs::symlinkat(target, &place.dir, name.as_slice()).map_err(os)
    }
}

fn ends_in_slash(path: &[u8]) -> bool {
    path.ends_with(b"/")
}

/// Sweeps a directory that would be empty without litter of dead processes.
fn remove_litter(place: &ResolvedEntry<'_>, name: &[u8]) -> bool {
    let Ok(Some(dir)) = open_entries(&place.dir, name) else { return false };
    sweep_now(&dir) > 0
}

/// Sets the mode of an entry without following a link. False where it is no
/// longer what it was.
fn change_mode(dir: impl AsFd, name: &[u8], found: &Stat, mode: Mode) -> Result<bool> {
    #[cfg(target_os = "linux")]
    {
        // A descriptor that needs no right to read; the kernel changes the mode
        // of what it stands for through its own link to it.
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = match rustix::fs::openat(&dir, name, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(false),
            Err(errno) => return Err(os(errno)),
        };
        let now = Stat::of(&fd).map_err(os)?;
        if !now.same_file(found) || now.kind == Kind::Symlink {
            return Ok(false);
        }
        let own = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&fd));
        match rustix::fs::chmod(own, mode) {
            Ok(()) => return Ok(true),
            // Without procfs, below.
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(os(errno)),
        }
    }
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    if found.kind != Kind::File && found.kind != Kind::Dir {
        return Err(crate::dir::errno::not_regular());
    }
    let fd = match rustix::fs::openat(dir, name, flags, Mode::empty()) {
        Ok(fd) => fd,
        Err(Errno::LOOP | Errno::NOENT | Errno::MLINK) => return Ok(false),
        Err(errno) => return Err(os(errno)),
    };
    if !Stat::of(&fd).map_err(os)?.same_file(found) {
        return Ok(false);
    }
    rustix::fs::fchmod(fd, mode).map_err(os)?;
    Ok(true)
}
