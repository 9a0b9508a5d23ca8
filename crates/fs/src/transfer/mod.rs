//! Moves and copies files and whole trees.
//!
//! A tree is copied to a temporary directory next to its destination and renamed into place when it
//! is complete, so that a copy that fails, is cancelled or is killed leaves nothing incomplete.
//! Links are copied as links, whatever their target; FIFOs, sockets and devices in a tree are
//! skipped.

mod copying;
mod merge;
pub mod mutate;
mod renaming;
mod whole_tree;

use std::os::fd::AsFd;

use filewright_core::pattern::policy::Intent;
use filewright_core::{Code, Error, Result};
use rustix::io::Errno;

use crate::cancel::CancelToken;
use crate::dir::errno::{changing_path_error, not_regular_error, os_error, protected_error};
use crate::dir::stat::{Kind, Stat, Version};
use crate::dir::tree::TreeCounts;
use crate::dir::{open_directory, open_entries};
use crate::root::{
    CreatedDirs, FinalSymlink, MAX_PATH_ATTEMPTS, MissingPolicy, ResolvedEntry, Roots, is_within,
    open_resolved_file,
};
use crate::write::aside::{
    AsideOutcome, Conditions, check_aside_name, check_dir_is_empty, conflict_error, no_aside_error,
    replace_if_version,
};
use crate::write::record::{ChangeRecord, no_record_error};
use crate::write::{
    Durability, OldFile, Preserve, TempEntry, WriteOptions, Written, check_writable,
    same_file_error, sync_directory,
};
use copying::{CopyPurpose, TreeCopy};
use renaming::{keep_target_aside, rename_unless_exists, restore_target, stat_after_move};

/// The options of moving or copying an entry.
#[derive(Clone, Copy, Debug, Default)]
pub struct TransferOptions {
    /// Replaces an existing file or empty directory; in a copied tree, merges directories and
    /// replaces files.
    pub overwrite: bool,
    /// Creates missing parent directories of the destination.
    pub create_dirs: bool,
    /// How far the change is flushed.
    pub durability: Durability,
    /// The action if owner, attributes or other hard links of the moved or replaced entry cannot be
    /// preserved.
    pub preserve: Preserve,
}

/// The paths of a move or copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransferEnds<'p> {
    pub from: &'p [u8],
    pub to: &'p [u8],
}

impl TransferOptions {
    /// Returns the options of the write that a move or copy of a file makes.
    fn write(&self, mode: Option<u32>) -> WriteOptions {
        WriteOptions {
            if_absent: !self.overwrite,
            create_dirs: self.create_dirs,
            mode,
            durability: self.durability,
            preserve: self.preserve,
            ..WriteOptions::default()
        }
    }
}

impl Roots {
    /// Moves an entry: a file, a link itself, or a directory with its contents. To another file
    /// system, copies it and then removes the original.
    ///
    /// # Errors
    /// `NOT_FOUND`, `ALREADY_EXISTS`, `SAME_FILE`, `INVALID_ARGUMENT` for a directory into itself,
    /// `IS_DIRECTORY`, `NOT_DIRECTORY`, `NOT_EMPTY` for a directory onto one that is not empty,
    /// `PROTECTED_PATH`, `OUTSIDE_ALLOWED`, `CANCELLED` and the system's errors.
    pub fn rename(
        &self,
        from: &[u8],
        to: &[u8],
        options: &TransferOptions,
        cancel: &CancelToken,
    ) -> Result<()> {
        self.rename_if(from, to, options, &Conditions::default(), cancel).map(|_| ())
    }

    /// Does the same as [`Roots::rename`], with conditions. With [`Conditions::aside`] the replaced
    /// entry is renamed to that name instead of being destroyed. Returns the version of the entry
    /// under its new name; `None` after a move to another file system, or if another program has
    /// replaced it already.
    ///
    /// # Errors
    /// Like [`Roots::rename`]; `CONFLICT`.
    pub fn rename_if(
        &self,
        from: &[u8],
        to: &[u8],
        options: &TransferOptions,
        conditions: &Conditions,
        cancel: &CancelToken,
    ) -> Result<Option<Version>> {
        let ends = TransferEnds { from, to };
        let moved = self.rename_step(&ends, options, conditions, None, cancel)?;
        Ok(moved.map(|now| now.version()))
    }

    /// Does the same as [`Roots::rename_if`], and returns the metadata of the entry under its new
    /// name. With a record, the move is recorded before it is made, and one to another file system
    /// or over anything but a file is refused with the reason `record`.
    pub(crate) fn rename_step(
        &self,
        ends: &TransferEnds<'_>,
        options: &TransferOptions,
        conditions: &Conditions,
        mut record: Option<&mut ChangeRecord<'_>>,
        cancel: &CancelToken,
    ) -> Result<Option<Stat>> {
        check_aside_name(conditions.aside.as_deref())?;
        let TransferEnds { from, to } = *ends;
        for _ in 0..MAX_PATH_ATTEMPTS {
            cancel.check()?;
            let source =
                self.locate(from, Intent::Write, FinalSymlink::Keep, MissingPolicy::Fail)?;
            let (name, stat) = self.removable(&source)?;
            self.check_version(&source, &stat, conditions.if_version.as_ref(), cancel)?;
            let mut made = CreatedDirs::new();
            let missing = if options.create_dirs {
                MissingPolicy::Make(&mut made)
            } else {
                MissingPolicy::Fail
            };
            let target = self.locate(to, Intent::Write, FinalSymlink::Keep, missing)?;
            let made_some = made.count() > 0;
            self.check_replacement(&source, &stat, &target, options, conditions)?;
            if stat.kind == Kind::Symlink && self.rules().guards_link(name_of_target(&target)) {
                return Err(protected_error());
            }
            self.check_secret_copy(&source.real, &target.real)?;
            if stat.kind == Kind::Dir {
                let Some(top) = open_entries(&source.dir, name)? else { continue };
                self.check_whole_tree(top, &source.real, Some(&target.real), cancel)?;
            }
            let new_name = target.name.as_deref().unwrap_or_default();
            if let Some(wanted) = &conditions.if_target {
                replace_if_version(&source.dir, name, &target.dir, new_name, wanted)?;
                made.keep();
                return Ok(stat_after_move(&target, new_name, &stat));
            }
            if let Some(record) = record.as_deref_mut()
                && !record_move((&source, &stat), &target, record, cancel)?
            {
                continue;
            }
            let set_aside = match (&conditions.aside, &target.found) {
                (Some(aside), Some(old)) if !old.same_file(&stat) => {
                    match keep_target_aside(&target, new_name, old, aside)? {
                        AsideOutcome::Done => Some((aside, old)),
                        AsideOutcome::Again => continue,
                    }
                }
                _ => None,
            };
            let moved_into_place = match (target.found, set_aside) {
                (None, _) => rename_unless_exists(&source.dir, name, &target.dir, new_name),
                (Some(old), Some(_)) if old.kind == Kind::Dir => {
                    rename_unless_exists(&source.dir, name, &target.dir, new_name)
                }
                (Some(_), _) => rustix::fs::renameat(&source.dir, name, &target.dir, new_name),
            };
            if let (Some((aside, old)), Err(_)) = (set_aside, &moved_into_place) {
                restore_target(&target, new_name, old, aside)?;
            }
            match moved_into_place {
                Ok(()) => {
                    if options.durability == Durability::Durable {
                        sync_directory(&target, made_some)?;
                        sync_directory(&source, false)?;
                    }
                    self.sweep_temp_files(&source);
                    self.sweep_temp_files(&target);
                    made.keep();
                    return Ok(stat_after_move(&target, new_name, &stat));
                }
                // A caller that records the move, or wants the old entry kept, must copy and delete
                // entry by entry instead.
                Err(Errno::XDEV) if record.is_some() => {
                    return Err(no_record_error(os_error(Errno::XDEV)));
                }
                Err(Errno::XDEV) if conditions.aside.is_some() => return Err(no_aside_error()),
                Err(Errno::XDEV) => {
                    check_not_into_itself(&stat, &target, "moved")?;
                    // As a rename: a copy would merge the two directories.
                    if target.kind() == Some(Kind::Dir) {
                        check_dir_is_empty(&target.dir, new_name)?;
                    }
                    self.move_across(from, &source, &stat, to, options, cancel)?;
                    made.keep();
                    return Ok(None);
                }
                // Some file systems return this error if a directory is moved onto one that is not
                // empty.
                Err(Errno::EXIST) if target.kind() == Some(Kind::Dir) => {
                    return Err(os_error(Errno::NOTEMPTY));
                }
                Err(Errno::NOENT | Errno::EXIST) => {}
                Err(Errno::INVAL) => return Err(move_into_itself_error("moved")),
                Err(errno) => return Err(os_error(errno)),
            }
        }
        Err(changing_path_error())
    }

    /// Returns an error if `source` must not be moved to `target`, whether or not an entry exists
    /// there.
    fn check_replacement(
        &self,
        source: &ResolvedEntry<'_>,
        stat: &Stat,
        target: &ResolvedEntry<'_>,
        options: &TransferOptions,
        conditions: &Conditions,
    ) -> Result<()> {
        let respelled = is_respelling(source, stat, target)?;
        if target.found.is_some() && !options.overwrite && !respelled {
            return Err(os_error(Errno::EXIST));
        }
        if target.name.is_none() || self.contains_root(&target.real) {
            return Err(root_change_error());
        }
        if self.rules().is_or_contains_protected(&target.real) {
            return Err(protected_error());
        }
        if target.real == source.real {
            return Err(same_file_error());
        }
        if stat.kind == Kind::Dir && is_within(&target.real, &source.real) {
            return Err(move_into_itself_error("moved"));
        }
        let Some(found) = target.found else {
            if target.directory && stat.kind != Kind::Dir {
                return Err(os_error(Errno::NOTDIR));
            }
            return Ok(());
        };
        if found.same_file(stat) {
            return if respelled { Ok(()) } else { Err(same_file_error()) };
        }
        match (stat.kind == Kind::Dir, found.kind) {
            // A rename replaces only an empty directory.
            (true, Kind::Dir) => Ok(()),
            (true, _) => Err(os_error(Errno::NOTDIR)),
            (false, Kind::Dir) => Err(os_error(Errno::ISDIR)),
            // A move with this condition is a rollback and only replaces a file that the
            // rolled-back call wrote, so permissions are not checked.
            (false, Kind::File) if conditions.if_target.is_some() => Ok(()),
            (false, Kind::File) => {
                check_writable(target, target.name.as_deref().unwrap_or_default(), &found)?;
                options.preserve.check_hard_links(&found)
            }
            (false, _) => Ok(()),
        }
    }

    /// Moves an entry to another file system: copies it, and removes the original when the copy is
    /// complete. Fails with `CONFLICT` if a file has changed during the copy.
    fn move_across(
        &self,
        from: &[u8],
        source: &ResolvedEntry<'_>,
        stat: &Stat,
        to: &[u8],
        options: &TransferOptions,
        cancel: &CancelToken,
    ) -> Result<()> {
        match stat.kind {
            Kind::Other => return Err(not_regular_error()),
            Kind::File => {
                let Some((fd, facts)) = open_resolved_file(source)? else {
                    return Err(changing_path_error());
                };
                // The new file is no hard link of the old one any more.
                self.check_other_names(&facts, &source.real)?;
                let copy = OldFile { fd: &fd, facts: &facts, moved: true };
                let write = options.write(Some(facts.mode));
                let written = self.write_copy(to, copy, &write, None, cancel)?;
                let changed = !Stat::of(&fd).map_err(os_error)?.version().same_facts(&facts);
                if changed && written.created {
                    let _ = self.delete(to);
                }
                if changed {
                    return Err(changing_path_error());
                }
            }
            Kind::Dir | Kind::Symlink => {
                self.copy_any(from, to, options, CopyPurpose::Move, cancel)?;
            }
        }
        self.remove_tree(from, cancel).map(|_| ())
    }

    /// Copies one regular file with its permission bits; follows links in both paths.
    ///
    /// # Errors
    /// Errors of reading and writing, and `SAME_FILE`.
    pub fn copy_file(
        &self,
        from: &[u8],
        to: &[u8],
        options: &TransferOptions,
        cancel: &CancelToken,
    ) -> Result<TreeCounts> {
        let written = self.copy_file_if(from, to, options, &Conditions::default(), cancel)?;
        Ok(TreeCounts { files: 1, directories: 0, bytes: written.stat.size })
    }

    /// Does the same as [`Roots::copy_file`], if the source has the version
    /// [`Conditions::if_version`]. With [`Conditions::aside`] a replaced file is renamed to that
    /// name. Returns the result of the write.
    ///
    /// # Errors
    /// Like [`Roots::copy_file`]; `CONFLICT`.
    pub fn copy_file_if(
        &self,
        from: &[u8],
        to: &[u8],
        options: &TransferOptions,
        conditions: &Conditions,
        cancel: &CancelToken,
    ) -> Result<Written> {
        self.copy_file_step(&TransferEnds { from, to }, options, conditions, None, cancel)
    }

    /// Does the same as [`Roots::copy_file_if`]. With a record, the copy is recorded before it is
    /// made.
    pub(crate) fn copy_file_step(
        &self,
        ends: &TransferEnds<'_>,
        options: &TransferOptions,
        conditions: &Conditions,
        mut record: Option<&mut ChangeRecord<'_>>,
        cancel: &CancelToken,
    ) -> Result<Written> {
        let file = self.open_file(ends.from, Intent::Read)?;
        if conditions.if_version.as_ref().is_some_and(|wanted| !wanted.same_facts(&file.stat)) {
            return Err(conflict_error("it has changed since it was looked at"));
        }
        if let Some(record) = record.as_deref_mut() {
            record.takes(&file.real, &file.stat)?;
        }
        let copy = OldFile { fd: &file.fd, facts: &file.stat, moved: false };
        let mut write = options.write(Some(file.stat.mode));
        write.aside.clone_from(&conditions.aside);
        self.write_copy(ends.to, copy, &write, record, cancel)
    }

    /// Copies an entry: a file, a link itself, or a directory with its contents. Denied entries are
    /// left out.
    ///
    /// # Errors
    /// Like [`Roots::rename`], and errors of reading and writing. Leaves nothing incomplete.
    pub fn copy_tree(
        &self,
        from: &[u8],
        to: &[u8],
        options: &TransferOptions,
        cancel: &CancelToken,
    ) -> Result<TreeCounts> {
        self.copy_any(from, to, options, CopyPurpose::Copy, cancel)
    }

    /// Copies an entry of any type except special files; `purpose` says whether the copy is part of
    /// a move.
    fn copy_any(
        &self,
        from: &[u8],
        to: &[u8],
        options: &TransferOptions,
        purpose: CopyPurpose,
        cancel: &CancelToken,
    ) -> Result<TreeCounts> {
        for _ in 0..MAX_PATH_ATTEMPTS {
            cancel.check()?;
            let source =
                self.locate(from, Intent::Read, FinalSymlink::Keep, MissingPolicy::Fail)?;
            let stat = source.found.ok_or_else(|| os_error(Errno::NOENT))?;
            let name = source.name.as_deref().unwrap_or(b".");
            match stat.kind {
                Kind::File => return self.copy_file(from, to, options, cancel),
                Kind::Other => return Err(not_regular_error()),
                Kind::Dir | Kind::Symlink => {}
            }
            let mut made = CreatedDirs::new();
            let missing = if options.create_dirs {
                MissingPolicy::Make(&mut made)
            } else {
                MissingPolicy::Fail
            };
            let target = self.locate(to, Intent::Write, FinalSymlink::Keep, missing)?;
            if target.real == source.real {
                return Err(same_file_error());
            }
            if target.found.is_some() && !options.overwrite {
                return Err(os_error(Errno::EXIST));
            }
            if self.rules().is_or_contains_protected(&target.real) {
                return Err(protected_error());
            }
            let copied = if stat.kind == Kind::Symlink {
                if self.rules().guards_link(name_of_target(&target)) {
                    return Err(protected_error());
                }
                self.copy_link(&source, name, &target, options.preserve)?
            } else {
                if target.found.is_some_and(|found| found.same_file(&stat)) {
                    return Err(same_file_error());
                }
                if is_within(&target.real, &source.real) {
                    return Err(move_into_itself_error("copied"));
                }
                check_not_into_itself(&stat, &target, "copied")?;
                let Some(top) = open_entries(&source.dir, name)? else { continue };
                let from = source.real.clone();
                let (to, preserve) = (target.real.clone(), options.preserve);
                let job = TreeCopy { roots: self, from, to, purpose, preserve, cancel };
                job.run(top, &stat, &target)?
            };
            let Some(counts) = copied else { continue };
            if options.durability == Durability::Durable
                && let Err(error) = sync_directory(&target, true)
            {
                // The call fails, so nothing may stay at the new path.
                if target.found.is_none() {
                    let _ = self.remove_tree(to, &CancelToken::new());
                }
                return Err(error);
            }
            made.keep();
            self.sweep_temp_files(&target);
            return Ok(counts);
        }
        Err(changing_path_error())
    }

    /// Copies a symbolic link itself. Returns `None` if another program creates the destination
    /// meanwhile, so that the caller resolves it again.
    fn copy_link(
        &self,
        source: &ResolvedEntry<'_>,
        name: &[u8],
        target: &ResolvedEntry<'_>,
        preserve: Preserve,
    ) -> Result<Option<TreeCounts>> {
        let Some(new_name) = &target.name else { return Err(os_error(Errno::ISDIR)) };
        if let Some(found) = target.found.filter(|found| found.kind == Kind::File) {
            check_writable(target, new_name, &found)?;
            preserve.check_hard_links(&found)?;
        }
        let text = rustix::fs::readlinkat(&source.dir, name, Vec::new()).map_err(os_error)?;
        let temp = TempEntry::directory(target.dir.as_fd()).map_err(os_error)?;
        let Some(stage) = open_entries(&target.dir, &temp.name)? else {
            return Err(changing_path_error());
        };
        rustix::fs::symlinkat(text, &stage, c"link").map_err(os_error)?;
        let moved_into_place = match target.kind() {
            None => rename_unless_exists(&stage, b"link", &target.dir, new_name),
            Some(Kind::Dir) => return Err(os_error(Errno::ISDIR)),
            Some(_) => rustix::fs::renameat(&stage, c"link", &target.dir, new_name.as_slice()),
        };
        match moved_into_place {
            Ok(()) => Ok(Some(TreeCounts { files: 1, ..TreeCounts::default() })),
            Err(Errno::EXIST | Errno::ISDIR) => Ok(None),
            Err(errno) => Err(os_error(errno)),
        }
    }
}

/// Records a move, with the file that it replaces. Returns false if that has changed since it was
/// resolved. An error that has the reason `record` is not one of the move.
fn record_move(
    (source, stat): (&ResolvedEntry<'_>, &Stat),
    target: &ResolvedEntry<'_>,
    record: &mut ChangeRecord<'_>,
    cancel: &CancelToken,
) -> Result<bool> {
    record.moves(source, stat)?;
    match &target.found {
        None => record.intend_new(target).map(|()| true),
        Some(old) if old.same_file(stat) => Err(no_record_error(same_file_error())),
        Some(old) => record.intend_over(target, old, cancel),
    }
}

/// Reports whether source and target are the same entry under two spellings of its name, as a
/// case-insensitive file system allows. Such a move changes only the spelling of the name. Under
/// equal names the entry has two paths, because a directory above it is mounted twice.
fn is_respelling(
    source: &ResolvedEntry<'_>,
    stat: &Stat,
    target: &ResolvedEntry<'_>,
) -> Result<bool> {
    let one_entry = target.found.is_some_and(|found| found.same_file(stat))
        && (stat.kind == Kind::Dir || stat.nlink == 1);
    if !one_entry || target.name == source.name {
        return Ok(false);
    }
    let parents = (Stat::of(&source.dir), Stat::of(&target.dir));
    Ok(parents.0.map_err(os_error)?.same_file(&parents.1.map_err(os_error)?))
}

/// Returns an error if the target lies in the directory with the metadata `stat`. Paths do not
/// show that where the directory is mounted twice, so the directories above the target are looked
/// at themselves.
fn check_not_into_itself(stat: &Stat, target: &ResolvedEntry<'_>, what: &str) -> Result<()> {
    if stat.kind != Kind::Dir {
        return Ok(());
    }
    let mut dir = open_directory(target.dir.as_fd(), b".").map_err(os_error)?;
    let mut facts = Stat::of(&dir).map_err(os_error)?;
    loop {
        if facts.same_file(stat) {
            return Err(move_into_itself_error(what));
        }
        dir = open_directory(dir.as_fd(), b"..").map_err(os_error)?;
        let parent = Stat::of(&dir).map_err(os_error)?;
        // Only the root of the file system is its own parent.
        if parent.same_file(&facts) {
            return Ok(());
        }
        facts = parent;
    }
}

/// Returns the name of the target in its directory; empty if the target is a root.
fn name_of_target<'p>(target: &'p ResolvedEntry<'_>) -> &'p [u8] {
    target.name.as_deref().unwrap_or_default()
}

fn move_into_itself_error(what: &str) -> Error {
    Error::new(Code::InvalidArgument, format!("a directory cannot be {what} into itself"))
}

fn root_change_error() -> Error {
    Error::new(Code::ProtectedPath, "a root cannot be moved, replaced or deleted")
}
