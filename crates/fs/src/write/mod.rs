//! Writing files: whole or not at all.
//!
//! New content goes to a temporary file in the same directory ([`temp`]), its
//! length is verified, the successor gets what the old file had of owner, mode
//! and attributes ([`metadata`]), and one rename puts it in place. Whatever fails,
//! the old content is whole and nothing is left behind; directories made on the
//! way go too. Only where a rename is impossible is a file written in place
//! ([`in_place`]).
//!
//! A file with several names is replaced under the one name: the others keep
//! the old bytes, since they may lie outside the roots. A link as the last name
//! is followed inside the roots, and stays a link. A file nobody may write (no
//! write bit) is refused, for root as well.
//!
//! **Conditions** are checked when the file is looked at and again at the last
//! moment. A conditional replacement is a compare-and-swap where the system can
//! exchange two names in one step: what comes out of the exchange must be what
//! was expected, or it is put back.
//!
//! **Durability.** `None` and `Atomic` replace in one step for everybody who
//! looks, whatever happens to the process. They differ in a power cut: `Atomic`
//! starts writing the content out first, as the common file systems themselves
//! do on a replacing rename, and `None` does not even that (measured on ext4: 2
//! to 20 times cheaper). `Durable` waits for file and directory to be on the disk
//! (about 5 times the price of `Atomic`).

pub mod aside;
mod commit;
mod deferred_close;
mod flush;
mod in_place;
mod metadata;
mod replacement;
mod source;
mod temp;

use std::os::fd::OwnedFd;

use filewright_core::access::Intent;
use filewright_core::{Code, Error, Result};
use rustix::fs::{Access, AtFlags};
use rustix::io::Errno;

pub(crate) use commit::{place_new, sync_directory};
pub(crate) use flush::flush;
pub(crate) use metadata::{keep_moved, keep_times, set_mode};
pub(crate) use source::Source;
pub(crate) use temp::{Temp, sweep_now};

use crate::cancel::CancelToken;
use crate::dir::errno::{not_regular, os, protected, unsettled};
use crate::dir::stat::{Kind, Stat, Version};
use crate::read::hash_of;
use crate::root::{
    ATTEMPTS, CreatedDirs, FinalSymlink, MissingPolicy, ResolvedEntry, Roots, open_regular,
};
use crate::write::aside::{check_aside, conflict};
use replacement::{Attempt, Replacement};

/// How hard a write is pushed to the disk; see the module header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Nothing is promised for a power cut.
    None,
    /// Old or new after a power cut, as far as the file system orders its writes.
    #[default]
    Atomic,
    /// New after a power cut, once the call has returned.
    Durable,
}

/// What a write does where it cannot keep all that the old file has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preserve {
    /// Keeps what it can: other names keep the old bytes, a foreign owner is kept
    /// by writing in place.
    #[default]
    Possible,
    /// Refuses.
    Strict,
}

impl Preserve {
    /// Says whether to go on where something would not be kept.
    pub(crate) fn may_lose(self, what: &str) -> Result<()> {
        match self {
            Self::Possible => Ok(()),
            Self::Strict => Err(Error::new(Code::UnsupportedOperation, what)
                .detail("reason", "preserve")
                .hint("preserve: \"possible\" does it all the same")),
        }
    }

    /// The same where a file is replaced: its other names would keep what it was.
    pub(crate) fn may_replace(self, old: &Stat) -> Result<()> {
        if old.nlink <= 1 {
            return Ok(());
        }
        self.may_lose("it has other names, which would keep the old content")
    }
}

/// Conditions and manner of a write.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// `CONFLICT` unless the file is still this version.
    pub if_version: Option<Version>,
    /// `ALREADY_EXISTS` if anything is there, a dangling link included.
    pub if_absent: bool,
    /// Make missing parent directories.
    pub create_dirs: bool,
    /// Permission bits; `None` keeps those of the old file, or takes the
    /// umask's for a new one.
    pub mode: Option<u32>,
    /// How hard the write is pushed to the disk.
    pub durability: Durability,
    /// What happens where owner, attributes or other names cannot be kept.
    pub preserve: Preserve,
    /// The name, from [`crate::write::aside::aside_name`], under which a replaced file stays in its
    /// directory. `UNSUPPORTED_OPERATION` with the reason `aside` where that is impossible.
    pub aside: Option<Vec<u8>>,
}

/// What a write made.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// The facts about the file now.
    pub stat: Stat,
    /// Whether nothing was there before.
    pub created: bool,
    /// How many other names of the replaced file keep the old bytes.
    pub other_names: u64,
    /// Whether the file was written in place, for want of another way.
    pub in_place: bool,
}

/// What is to become of a file.
#[derive(Clone, Copy)]
enum Change<'c> {
    /// These bytes and nothing else.
    Whole(&'c [u8]),
    /// The old bytes and these.
    Append(&'c [u8]),
    /// The content of another file.
    Copy(OldFile<'c>),
}

/// An open file that is copied.
#[derive(Clone, Copy)]
pub(crate) struct OldFile<'c> {
    pub fd: &'c OwnedFd,
    pub facts: &'c Stat,
    /// Whether the copy is to take the place of the original: then it gets its
    /// owner, its attributes and its times.
    pub moved: bool,
}

impl Roots {
    /// Creates or replaces a file.
    ///
    /// # Errors
    /// `ALREADY_EXISTS`, `CONFLICT`, `IS_DIRECTORY`, `NOT_DIRECTORY` for a path
    /// that ends in a slash, `NOT_FOUND` for a missing parent,
    /// `NOT_REGULAR_FILE`, `PERMISSION_DENIED`, `PROTECTED_PATH`, `READ_ONLY`,
    /// `NO_SPACE`, `OUTSIDE_ALLOWED`, `CANCELLED`. After every one of them the
    /// old state stands.
    pub fn write(
        &self,
        path: &[u8],
        bytes: &[u8],
        options: &WriteOptions,
        cancel: &CancelToken,
    ) -> Result<Written> {
        self.change(path, Change::Whole(bytes), options, cancel)
    }

    /// Adds bytes to the end of a file, which is created if it is not there.
    /// Whole or not at all, like every write: the file is replaced.
    ///
    /// # Errors
    /// As [`Roots::write`].
    pub fn append(
        &self,
        path: &[u8],
        bytes: &[u8],
        options: &WriteOptions,
        cancel: &CancelToken,
    ) -> Result<Written> {
        self.change(path, Change::Append(bytes), options, cancel)
    }

    /// Writes the content of an open file to a path.
    pub(crate) fn write_copy(
        &self,
        path: &[u8],
        original: OldFile<'_>,
        options: &WriteOptions,
        cancel: &CancelToken,
    ) -> Result<Written> {
        self.change(path, Change::Copy(original), options, cancel)
    }

    fn change(
        &self,
        path: &[u8],
        change: Change<'_>,
        options: &WriteOptions,
        cancel: &CancelToken,
    ) -> Result<Written> {
        check_aside(options.aside.as_deref())?;
        for _ in 0..ATTEMPTS {
            cancel.check()?;
            let mut made = CreatedDirs::new();
            let last = if options.if_absent { FinalSymlink::Keep } else { FinalSymlink::Follow };
            let missing = if options.create_dirs {
                MissingPolicy::Make(&mut made)
            } else {
                MissingPolicy::Fail
            };
            let place = self.locate(path, Intent::Write, last, missing)?;
            let made_some = made.count() > 0;
            match self.attempt(&place, change, options, cancel) {
                Ok(Attempt::Again) => {}
                Err(error) if error.code == Code::NoSpace && deferred_close::wait_for_pending() => {
                }
                Err(error) => return Err(error),
                Ok(Attempt::Done(written)) => {
                    made.keep();
                    if options.durability == Durability::Durable {
                        sync_directory(&place, made_some)?;
                    }
                    self.sweep_temp_files(&place.dir);
                    return Ok(written);
                }
            }
        }
        Err(unsettled())
    }

    fn attempt(
        &self,
        place: &ResolvedEntry<'_>,
        change: Change<'_>,
        options: &WriteOptions,
        cancel: &CancelToken,
    ) -> Result<Attempt> {
        let Some(name) = &place.name else {
            return Err(os(if options.if_absent { Errno::EXIST } else { Errno::ISDIR }));
        };
        if self.rules().may_contain_protected(name) {
            return Err(protected());
        }
        let old = match place.kind() {
            None if place.directory => {
                return Err(Error::new(Code::NotDirectory, "a file's path cannot end in a slash"));
            }
            None if options.if_version.is_some() => return Err(conflict("the file is gone")),
            None => None,
            Some(_) if options.if_absent => return Err(os(Errno::EXIST)),
            Some(Kind::Dir) => return Err(os(Errno::ISDIR)),
            Some(Kind::Other) => return Err(not_regular()),
            Some(Kind::Symlink) => return Ok(Attempt::Again),
            Some(Kind::File) => place.found,
        };
        if let Some(old) = &old {
            if let Change::Copy(original) = change
                && old.same_file(original.facts)
            {
                return Err(same_file());
            }
            may_write(place, name, old)?;
            if let Some(version) = &options.if_version
                && !self.is_version(place, old, version, cancel)?
            {
                return Err(conflict("the file has changed since it was read"));
            }
        }
        let opened;
        let source = match (change, &old) {
            (Change::Whole(bytes), _) | (Change::Append(bytes), None) => Source::Bytes(bytes),
            (Change::Copy(original), _) => Source::Extended(original.fd, b""),
            (Change::Append(bytes), Some(old)) => {
                let Some((fd, stat)) = open_regular(place)? else { return Ok(Attempt::Again) };
                if !old.version().same_facts(&stat) {
                    return Ok(Attempt::Again);
                }
                opened = fd;
                Source::Extended(&opened, bytes)
            }
        };
        let compare = options.if_version.is_some() || matches!(change, Change::Append(_));
        let moved = match change {
            Change::Copy(original) if original.moved => Some(original),
            _ => None,
        };
        Replacement { place, name, old: old.as_ref(), source, compare, moved, options, cancel }
            .run()
    }

    /// Whether the file is still the version named; its content is only hashed
    /// where the facts differ and the hash is known.
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
        let Some((fd, _)) = open_regular(place)? else { return Ok(false) };
        Ok(version.hash() == Some(hash_of(&fd, cancel)?))
    }
}

/// Refuses a file that may not be written. A rename would not ask.
pub(crate) fn may_write(place: &ResolvedEntry<'_>, name: &[u8], old: &Stat) -> Result<()> {
    if old.mode & 0o222 == 0 {
        let error = Error::new(
            Code::PermissionDenied,
            "the file is write-protected: it has no write permission",
        );
        return Err(error.hint("change its mode first"));
    }
    match rustix::fs::accessat(&place.dir, name, Access::WRITE_OK, AtFlags::EACCESS) {
        Err(errno @ (Errno::ACCESS | Errno::PERM | Errno::ROFS)) => Err(os(errno)),
        // The write itself will tell.
        _ => Ok(()),
    }
}

/// Source and destination are one file.
pub(crate) fn same_file() -> Error {
    Error::new(Code::SameFile, "source and destination are the same file")
}
