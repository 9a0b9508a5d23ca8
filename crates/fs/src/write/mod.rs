//! Writes files atomically: completely or not at all.
//!
//! New content is written to a temporary file in the same directory ([`temp`]), its length is
//! verified, the file gets owner, mode and attributes of the old one ([`metadata`]), and one rename
//! moves it into place. After any failure the old content is intact and nothing is left behind;
//! directories created on the way are removed too. Only if a rename is impossible is a file written
//! in place ([`in_place`]).
//!
//! If a file has several hard links, only the given one is replaced: the others keep the old bytes,
//! because they may lie outside the roots. A link as the last name is followed inside the roots,
//! and stays a link. A file without any write bit is refused, for root as well.
//!
//! **Conditions** are checked when the file is resolved and again at the last moment. A conditional
//! replacement is a compare-and-swap if the system can exchange two names in one step: the removed
//! file must be the expected one, otherwise the exchange is reverted.
//!
//! **Durability.** `None` and `Atomic` replace in one step for all observers, whatever happens to
//! the process. They differ after a power failure: `Atomic` starts writing the content to disk
//! first, as common file systems do on a replacing rename, and `None` does not (measured on ext4: 2
//! to 20 times cheaper). `Durable` waits until file and directory are on disk (about 5 times the
//! cost of `Atomic`).

pub mod aside;
mod commit;
mod deferred_close;
mod flush;
mod in_place;
mod keep;
mod metadata;
pub mod record;
pub mod record_files;
mod replacement;
mod source;
mod temp;

use std::os::fd::OwnedFd;
use std::thread;
use std::time::Duration;

use filewright_core::pattern::policy::Intent;
use filewright_core::{Code, Error, Result};
use rustix::fs::{Access, AtFlags};
use rustix::io::Errno;

pub(crate) use commit::sync_directory;
pub(crate) use flush::check_close_errors;
pub(crate) use metadata::{copy_moved_metadata, copy_times, set_mode};
pub(crate) use source::ContentSource;
pub(crate) use temp::{TempEntry, sweep_stale_temp_files};

use crate::after_job::wait_for_closes;
use crate::cancel::CancelToken;
use crate::dir::errno::{changing_path_error, not_regular_error, os_error, protected_error};
use crate::dir::stat::{Kind, Stat, Version};
use crate::read::hash_of_content;
use crate::root::{
    CreatedDirs, FinalSymlink, MAX_PATH_ATTEMPTS, MissingPolicy, ResolvedEntry, Roots,
    open_resolved_file,
};
use crate::write::aside::{check_aside_name, conflict_error};
use record::ChangeRecord;
use replacement::{FileReplacement, ReplacementOutcome};

filewright_core::wire! {
    /// How far a write is flushed.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Durability {
        /// No guarantee after a power failure.
        None = "none",
        /// Old or new content after a power failure, as far as the file system orders its writes.
        #[default]
        Atomic = "atomic",
        /// New content after a power failure, once the call has returned.
        Durable = "durable",
    }
}

/// The handling of metadata of the old file that a write cannot preserve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preserve {
    /// The write preserves as much as possible: other hard links keep the old bytes, and a file of
    /// another owner is written in place.
    #[default]
    Possible,
    /// The write is refused with `UNSUPPORTED_OPERATION`.
    Strict,
}

impl Preserve {
    /// Returns an error with the message `what` for [`Preserve::Strict`]. Called where metadata
    /// would be lost.
    pub(crate) fn check_loss(self, what: &str) -> Result<()> {
        match self {
            Self::Possible => Ok(()),
            Self::Strict => Err(Error::new(Code::UnsupportedOperation, what)
                .detail("reason", "preserve")
                .hint("preserve: \"possible\" does it all the same")),
        }
    }

    /// Does the same as [`Preserve::check_loss`], if the replaced file has other hard links, which
    /// would keep the old content.
    pub(crate) fn check_hard_links(self, old: &Stat) -> Result<()> {
        if old.nlink <= 1 {
            return Ok(());
        }
        self.check_loss("it has other names, which would keep the old content")
    }
}

/// Preconditions and options of a write.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// `CONFLICT` unless the file still has this version.
    pub if_version: Option<Version>,
    /// `ALREADY_EXISTS` if the path exists, including a dangling link.
    pub if_absent: bool,
    /// Creates missing parent directories.
    pub create_dirs: bool,
    /// The permission bits; `None` preserves those of the old file, or applies the umask for a new
    /// one.
    pub mode: Option<u32>,
    /// How far the write is flushed.
    pub durability: Durability,
    /// The action if owner, attributes or other hard links cannot be preserved.
    pub preserve: Preserve,
    /// The name from [`crate::write::aside::aside_name`] under which a replaced file stays in its
    /// directory. `UNSUPPORTED_OPERATION` with the reason `aside` if that is impossible.
    pub aside: Option<Vec<u8>>,
}

/// The result of a write.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// The metadata of the file after the write.
    pub stat: Stat,
    /// True if the file did not exist before.
    pub created: bool,
    /// The number of other hard links of the replaced file, which keep the old bytes.
    pub other_names: u64,
    /// True if the file was written in place, because there was no other way.
    pub in_place: bool,
}

/// The new content of a file.
#[derive(Clone, Copy)]
enum ContentChange<'c> {
    /// Exactly these bytes.
    Whole(&'c [u8]),
    /// The bytes of the old file, followed by the given ones.
    Append(&'c [u8]),
    /// The content of another file.
    Copy(OldFile<'c>),
}

/// An open file whose content is copied to another path.
#[derive(Clone, Copy)]
pub(crate) struct OldFile<'c> {
    pub fd: &'c OwnedFd,
    pub facts: &'c Stat,
    /// True if the copy replaces the original, so that it gets the owner, attributes and times.
    pub moved: bool,
}

impl Roots {
    /// Creates or replaces a file.
    ///
    /// # Errors
    /// `ALREADY_EXISTS`, `CONFLICT`, `IS_DIRECTORY`, `NOT_DIRECTORY` for a path that ends in a
    /// slash, `NOT_FOUND` for a missing parent, `NOT_REGULAR_FILE`, `PERMISSION_DENIED`,
    /// `PROTECTED_PATH`, `READ_ONLY`, `NO_SPACE`, `OUTSIDE_ALLOWED`, `CANCELLED`. After any of them
    /// the old state is unchanged.
    pub fn write(
        &self,
        path: &[u8],
        bytes: &[u8],
        options: &WriteOptions,
        cancel: &CancelToken,
    ) -> Result<Written> {
        self.change(path, ContentChange::Whole(bytes), options, None, cancel)
    }

    /// Does the same as [`Roots::write`], and records the change before it is made.
    pub(crate) fn write_step(
        &self,
        path: &[u8],
        bytes: &[u8],
        options: &WriteOptions,
        record: &mut ChangeRecord<'_>,
        cancel: &CancelToken,
    ) -> Result<Written> {
        self.change(path, ContentChange::Whole(bytes), options, Some(record), cancel)
    }

    /// Appends bytes to a file, which is created if it does not exist. Atomic like every write: the
    /// file is replaced.
    ///
    /// # Errors
    /// Like [`Roots::write`].
    pub fn append(
        &self,
        path: &[u8],
        bytes: &[u8],
        options: &WriteOptions,
        cancel: &CancelToken,
    ) -> Result<Written> {
        self.change(path, ContentChange::Append(bytes), options, None, cancel)
    }

    /// Creates or replaces the file at `path` with the content of an open file, and records the
    /// change before it is made where it has a record.
    pub(crate) fn write_copy(
        &self,
        path: &[u8],
        original: OldFile<'_>,
        options: &WriteOptions,
        record: Option<&mut ChangeRecord<'_>>,
        cancel: &CancelToken,
    ) -> Result<Written> {
        self.change(path, ContentChange::Copy(original), options, record, cancel)
    }

    /// Resolves the path and makes the change, again if the entry changes meanwhile.
    fn change(
        &self,
        path: &[u8],
        change: ContentChange<'_>,
        options: &WriteOptions,
        mut record: Option<&mut ChangeRecord<'_>>,
        cancel: &CancelToken,
    ) -> Result<Written> {
        check_aside_name(options.aside.as_deref())?;
        for attempt in 0..MAX_PATH_ATTEMPTS {
            cancel.check()?;
            give_way(attempt);
            let mut made = CreatedDirs::new();
            let last = if options.if_absent { FinalSymlink::Keep } else { FinalSymlink::Follow };
            let missing = if options.create_dirs {
                MissingPolicy::Make(&mut made)
            } else {
                MissingPolicy::Fail
            };
            let place = self.locate(path, Intent::Write, last, missing)?;
            let made_some = made.count() > 0;
            match self.attempt(&place, change, options, record.as_deref_mut(), cancel) {
                Ok(ReplacementOutcome::Again) => {}
                Err(error)
                    if error.code == Code::NoSpace
                        && (deferred_close::wait_for_pending_close() || wait_for_closes()) => {}
                Err(error) => return Err(error),
                Ok(ReplacementOutcome::Done(written)) => {
                    made.keep();
                    if options.durability == Durability::Durable {
                        sync_directory(&place, made_some)?;
                    }
                    self.sweep_temp_files(&place);
                    return Ok(written);
                }
            }
        }
        Err(changing_path_error())
    }

    /// Makes the change once for a resolved path. Returns [`ReplacementOutcome::Again`] if the
    /// entry has changed since it was resolved.
    fn attempt(
        &self,
        place: &ResolvedEntry<'_>,
        change: ContentChange<'_>,
        options: &WriteOptions,
        record: Option<&mut ChangeRecord<'_>>,
        cancel: &CancelToken,
    ) -> Result<ReplacementOutcome> {
        let Some(name) = &place.name else {
            return Err(os_error(if options.if_absent { Errno::EXIST } else { Errno::ISDIR }));
        };
        if self.rules().may_contain_protected(name) {
            return Err(protected_error());
        }
        let old = match place.kind() {
            None if place.directory => {
                return Err(Error::new(Code::NotDirectory, "a file's path cannot end in a slash"));
            }
            None if options.if_version.is_some() => return Err(conflict_error("the file is gone")),
            None => None,
            Some(_) if options.if_absent => return Err(os_error(Errno::EXIST)),
            Some(Kind::Dir) => return Err(os_error(Errno::ISDIR)),
            Some(Kind::Other) => return Err(not_regular_error()),
            Some(Kind::Symlink) => return Ok(ReplacementOutcome::Again),
            Some(Kind::File) => place.found,
        };
        if let Some(old) = &old {
            if let ContentChange::Copy(original) = change
                && old.same_file(original.facts)
            {
                return Err(same_file_error());
            }
            check_not_protected(old)?;
            if let Some(version) = &options.if_version
                && !self.is_version(place, old, version, cancel)?
            {
                return Err(conflict_error("the file has changed since it was read"));
            }
        }
        let opened;
        let source = match (change, &old) {
            (ContentChange::Whole(bytes), _) | (ContentChange::Append(bytes), None) => {
                ContentSource::Bytes(bytes)
            }
            (ContentChange::Copy(original), _) => ContentSource::Extended(original.fd, b""),
            (ContentChange::Append(bytes), Some(old)) => {
                let Some((fd, stat)) = open_resolved_file(place)? else {
                    return Ok(ReplacementOutcome::Again);
                };
                if !old.version().same_facts(&stat) {
                    return Ok(ReplacementOutcome::Again);
                }
                opened = fd;
                ContentSource::Extended(&opened, bytes)
            }
        };
        let compare = options.if_version.is_some() || matches!(change, ContentChange::Append(_));
        let moved = match change {
            ContentChange::Copy(original) if original.moved => Some(original),
            _ => None,
        };
        // A copy has no condition on the file that it replaces: what is recorded of it is one.
        let compare = compare || (record.is_some() && matches!(change, ContentChange::Copy(_)));
        if let Some(record) = record
            && !intend(change, place, old.as_ref(), record, cancel)?
        {
            return Ok(ReplacementOutcome::Again);
        }
        FileReplacement {
            roots: self,
            place,
            name,
            old: old.as_ref(),
            source,
            compare,
            moved,
            options,
            cancel,
        }
        .run()
    }

    /// Reports whether the file has the expected version. Its content is only hashed if the
    /// metadata differs, the size is equal and the version has a hash.
    pub(crate) fn is_version(
        &self,
        place: &ResolvedEntry<'_>,
        stat: &Stat,
        version: &Version,
        cancel: &CancelToken,
    ) -> Result<bool> {
        if version.same_facts(stat) {
            return Ok(true);
        }
        if !version.worth_hashing(stat) {
            return Ok(false);
        }
        let Some((fd, _)) = open_resolved_file(place)? else { return Ok(false) };
        Ok(version.hash() == Some(hash_of_content(&fd, cancel)?))
    }
}

/// Records a change before it is made; one of given bytes has the replaced content already. Returns
/// false if the file that a copy replaces has changed since it was resolved.
fn intend(
    change: ContentChange<'_>,
    place: &ResolvedEntry<'_>,
    old: Option<&Stat>,
    record: &mut ChangeRecord<'_>,
    cancel: &CancelToken,
) -> Result<bool> {
    match (change, old) {
        (ContentChange::Copy(_), Some(old)) => record.intend_over(place, old, cancel),
        (ContentChange::Copy(_), None) => record.intend_new(place).map(|()| true),
        _ => record.intend(place).map(|()| true),
    }
}

/// Returns an error if this process may not write the file, because replacing it by a rename would
/// not check that.
pub(crate) fn check_writable(place: &ResolvedEntry<'_>, name: &[u8], old: &Stat) -> Result<()> {
    check_not_protected(old)?;
    check_access(place, name)
}

/// Does what [`check_writable`] does after [`check_not_protected`]. `made` is the metadata of a file
/// that this process has made in the same directory: one of the same owner needs no call, because
/// only its bits for the owner count.
pub(crate) fn check_may_write(
    place: &ResolvedEntry<'_>,
    name: &[u8],
    old: &Stat,
    made: &Stat,
) -> Result<()> {
    let is_own = (old.dev, old.uid) == (made.dev, made.uid) && old.mode & 0o200 != 0;
    if is_own { Ok(()) } else { check_access(place, name) }
}

/// Returns an error if nobody may write the file, by its permission bits.
fn check_not_protected(old: &Stat) -> Result<()> {
    if old.mode & 0o222 == 0 {
        let error = Error::new(
            Code::PermissionDenied,
            "the file is write-protected: it has no write permission",
        );
        return Err(error.hint("change its mode first"));
    }
    Ok(())
}

fn check_access(place: &ResolvedEntry<'_>, name: &[u8]) -> Result<()> {
    match rustix::fs::accessat(&place.dir, name, Access::WRITE_OK, AtFlags::EACCESS) {
        Err(errno @ (Errno::ACCESS | Errno::PERM | Errno::ROFS)) => Err(os_error(errno)),
        // The write itself reports the error.
        _ => Ok(()),
    }
}

/// Returns the error for a copy or move whose source and destination are the same file.
pub(crate) fn same_file_error() -> Error {
    Error::new(Code::SameFile, "source and destination are the same file")
}

/// Waits before another attempt at a path that others change as well, each time longer, up to 10 ms.
/// Without it, one of some twenty writers of a file loses every attempt on a busy machine.
fn give_way(attempt: u32) {
    const IMMEDIATE_ATTEMPTS: u32 = 4;
    const LONGEST_WAIT: Duration = Duration::from_millis(10);
    let Some(late) = attempt.checked_sub(IMMEDIATE_ATTEMPTS) else { return };
    thread::sleep(LONGEST_WAIT.min(Duration::from_micros(100) * 2_u32.saturating_pow(late)));
}
