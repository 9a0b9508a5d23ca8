//! Writing files: whole or not at all.
//!
//! New content goes to a temporary file in the same directory ([`temp`]), its
//! length is verified, the successor gets what the old file had of owner, mode
//! and attributes ([`keep`]), and one rename puts it in place. Whatever fails,
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

mod in_place;
mod keep;
mod source;
mod temp;

use std::os::fd::{AsFd, OwnedFd};

use filewright_core::access::Intent;
use filewright_core::{Code, Error, Result};
use rustix::fs::{Access, AtFlags, FlockOperation, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

pub(crate) use keep::{keep_times, set_mode};
pub(crate) use source::Source;
pub use temp::is_temp_name;
pub(crate) use temp::{Swept, Temp, sweep_now, unlink};

use crate::cancel::Cancel;
use crate::errno::{not_regular, os, protected, unsettled};
use crate::read::hash_of;
use crate::root::{ATTEMPTS, Last, Made, Missing, Place, Roots, open_entries, open_regular};
use crate::stat::{Kind, Stat, Version};
use in_place::write_in_place;
use keep::{Owner, keep_attributes, keep_owner};

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
    Copy(Original<'c>),
}

/// An open file that is copied.
#[derive(Clone, Copy)]
pub(crate) struct Original<'c> {
    pub fd: &'c OwnedFd,
    pub facts: &'c Stat,
    /// Whether the copy gets the times of the original.
    pub keep_times: bool,
}

/// How one attempt ended.
enum Attempt<T> {
    Done(T),
    /// The path changed meanwhile: look again.
    Again,
}

/// How putting into place ended.
enum Placed {
    Done,
    Again,
    /// A rename is not allowed here.
    InPlace,
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
        cancel: &Cancel,
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
        cancel: &Cancel,
    ) -> Result<Written> {
        self.change(path, Change::Append(bytes), options, cancel)
    }

    /// Writes the content of an open file to a path.
    pub(crate) fn write_copy(
        &self,
        path: &[u8],
        original: Original<'_>,
        options: &WriteOptions,
        cancel: &Cancel,
    ) -> Result<Written> {
        self.change(path, Change::Copy(original), options, cancel)
    }

    fn change(
        &self,
        path: &[u8],
        change: Change<'_>,
        options: &WriteOptions,
        cancel: &Cancel,
    ) -> Result<Written> {
        for _ in 0..ATTEMPTS {
            cancel.check()?;
            let mut made = Made::new();
            let last = if options.if_absent { Last::Keep } else { Last::Follow };
            let missing =
                if options.create_dirs { Missing::Make(&mut made) } else { Missing::Fail };
            let place = self.locate(path, Intent::Write, last, missing)?;
            let made_some = made.count() > 0;
            match self.attempt(&place, change, options, cancel)? {
                Attempt::Again => {}
                Attempt::Done(written) => {
                    made.keep();
                    if options.durability == Durability::Durable {
                        sync_directory(&place, made_some)?;
                    }
                    self.swept.sweep(&place.dir);
                    return Ok(written);
                }
            }
        }
        Err(unsettled())
    }

    fn attempt(
        &self,
        place: &Place<'_>,
        change: Change<'_>,
        options: &WriteOptions,
        cancel: &Cancel,
    ) -> Result<Attempt<Written>> {
        let Some(name) = &place.name else {
            return Err(os(if options.if_absent { Errno::EXIST } else { Errno::ISDIR }));
        };
        if self.rules().guards_name(name) {
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
        let times = match change {
            Change::Copy(original) if original.keep_times => Some(original.facts),
            _ => None,
        };
        Job { place, name, old: old.as_ref(), source, compare, times, options, cancel }.run()
    }

    /// Whether the file is still the version named; its content is only hashed
    /// where the facts differ and the hash is known.
    fn is_version(
        &self,
        place: &Place<'_>,
        stat: &Stat,
        version: &Version,
        cancel: &Cancel,
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

/// The replacement of one file.
struct Job<'j> {
    place: &'j Place<'j>,
    name: &'j [u8],
    old: Option<&'j Stat>,
    source: Source<'j>,
    /// Whether the old file must still be `old` when it goes.
    compare: bool,
    /// Whose times the new file gets.
    times: Option<&'j Stat>,
    options: &'j WriteOptions,
    cancel: &'j Cancel,
}

impl Job<'_> {
    fn run(&self) -> Result<Attempt<Written>> {
        // New files get the bits that the umask (or the directory's access
        // list) leaves: the kernel applies it, nothing has to be read or set.
        let mode = if self.old.is_some() || self.options.mode.is_some() { 0o600 } else { 0o666 };
        let (temp, fd) = match Temp::file(self.place.dir.as_fd(), mode) {
            Ok(made) => made,
            Err(Errno::NOENT) => return Ok(Attempt::Again),
            Err(Errno::ACCESS | Errno::PERM) if self.old.is_some() => return self.in_place(),
            Err(errno) => return Err(os(errno)),
        };
        let length = self.source.write_to(&fd, self.cancel)?;
        if Stat::of(&fd).map_err(os)?.size != length {
            return Err(Error::new(
                Code::IoError,
                "the file system stored another number of bytes",
            ));
        }
        if let Some(old) = self.old {
            if keep_owner(&fd, old)? == Owner::Foreign {
                drop(temp);
                return self.in_place();
            }
            if let Some(opened) = self.open_old() {
                keep_attributes(&fd, &opened);
            }
        }
        if let Some(mode) = self.options.mode.or(self.old.map(|old| old.mode)) {
            set_mode(&fd, mode)?;
        }
        if let Some(stat) = self.times {
            keep_times(&fd, stat);
        }
        if self.options.durability == Durability::Durable || tells_late(&fd) {
            rustix::fs::fsync(&fd).map_err(os)?;
        }
        self.cancel.check()?;
        match self.put(temp, &fd)? {
            Placed::Again => Ok(Attempt::Again),
            Placed::InPlace => self.in_place(),
            Placed::Done => self.done(&fd, false).map(Attempt::Done),
        }
    }

    fn done(&self, fd: &OwnedFd, in_place: bool) -> Result<Written> {
        let other_names =
            self.old.filter(|_| !in_place).map_or(0, |old| old.nlink.saturating_sub(1));
        let stat = Stat::of(fd).map_err(os)?;
        Ok(Written { stat, created: self.old.is_none(), other_names, in_place })
    }

    fn in_place(&self) -> Result<Attempt<Written>> {
        let Some(old) = self.old else { return Err(os(Errno::ACCESS)) };
        let fd = write_in_place(&self.place.dir, self.name, old, &self.source, self.cancel)?;
        if let Some(mode) = self.options.mode {
            set_mode(&fd, mode)?;
        }
        if self.options.durability == Durability::Durable {
            rustix::fs::fsync(&fd).map_err(os)?;
        }
        self.done(&fd, true).map(Attempt::Done)
    }

    fn open_old(&self) -> Option<OwnedFd> {
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        rustix::fs::openat(&self.place.dir, self.name, flags, Mode::empty()).ok()
    }

    /// Puts the temporary file in place.
    fn put(&self, temp: Temp<'_>, fd: &OwnedFd) -> Result<Placed> {
        let Some(old) = self.old else {
            return match place_new(&self.place.dir, &temp.name, self.name) {
                Ok(()) => {
                    temp.placed();
                    Ok(Placed::Done)
                }
                Err(Errno::EXIST) if self.options.if_absent => Err(os(Errno::EXIST)),
                Err(Errno::EXIST) => Ok(Placed::Again),
                Err(errno) => Err(os(errno)),
            };
        };
        // Among ourselves one conditional writer at a time: exchanges that are
        // put back must not meet each other.
        let _turn = if self.compare { take_turn(&self.place.dir) } else { None };
        let now = Stat::find(&self.place.dir, self.name)?;
        if !now.is_some_and(|now| now.kind == Kind::File && self.still(old, &now)) {
            return Ok(Placed::Again);
        }
        if (self.compare || self.options.durability == Durability::None)
            && let Some(placed) = self.exchange(old, &temp, fd)?
        {
            if matches!(placed, Placed::Done) {
                temp.placed();
            }
            return Ok(placed);
        }
        match rustix::fs::renameat(&self.place.dir, &temp.name[..], &self.place.dir, self.name) {
            Ok(()) => {
                temp.placed();
                Ok(Placed::Done)
            }
            // A sticky directory, a file that something is mounted on.
            Err(Errno::PERM | Errno::ACCESS | Errno::BUSY) => Ok(Placed::InPlace),
            Err(Errno::ISDIR) => Ok(Placed::Again),
            Err(errno) => Err(os(errno)),
        }
    }

    fn still(&self, old: &Stat, now: &Stat) -> bool {
        !self.compare || old.version().same_facts(now)
    }

    /// Exchanges the two names and looks at what came out. `None` where the
    /// file system cannot exchange.
    fn exchange(&self, old: &Stat, temp: &Temp<'_>, fd: &OwnedFd) -> Result<Option<Placed>> {
        if self.options.durability == Durability::Atomic {
            start_writing(fd);
        }
        match swap(&self.place.dir, &temp.name, self.name) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(Some(Placed::Again)),
            Err(_) => return Ok(None),
        }
        let out = Stat::at(&self.place.dir, &temp.name);
        // The exchange itself touches the time of change, nothing else.
        let expected = out.is_ok_and(|out| {
            out.kind == Kind::File
                && (!self.compare
                    || (out.same_file(old) && out.size == old.size && out.mtime == old.mtime))
        });
        if expected {
            // Already out of sight: what cannot be removed now is swept later.
            let _ = unlink(&self.place.dir, &temp.name);
            return Ok(Some(Placed::Done));
        }
        self.put_back(temp, fd)?;
        Ok(Some(Placed::Again))
    }

    /// Undoes an exchange that brought out something unexpected. If somebody
    /// replaced our file in that very moment, theirs is the newest and stays.
    fn put_back(&self, temp: &Temp<'_>, fd: &OwnedFd) -> Result<()> {
        swap(&self.place.dir, &temp.name, self.name).map_err(os)?;
        let own = Stat::of(fd).map_err(os)?;
        let out = Stat::at(&self.place.dir, &temp.name).map_err(os)?;
        if !out.same_file(&own) {
            swap(&self.place.dir, &temp.name, self.name).map_err(os)?;
        }
        Ok(())
    }
}

/// Waits for its turn in a directory: a lock on the directory itself, held for
/// the few system calls of a comparison. `None` where the directory cannot be
/// locked, or somebody sits on the lock: then the exchange alone must do.
fn take_turn(dir: impl AsFd) -> Option<OwnedFd> {
    let dir = open_entries(dir, b".").ok().flatten()?;
    for turn in 0..400 {
        match rustix::fs::flock(&dir, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Some(dir),
            Err(Errno::WOULDBLOCK | Errno::INTR) if turn < 100 => std::thread::yield_now(),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {
                std::thread::sleep(std::time::Duration::from_micros(500));
            }
            Err(_) => return None,
        }
    }
    None
}

fn swap(dir: impl AsFd, a: &[u8], b: &[u8]) -> rustix::io::Result<()> {
    rustix::fs::renameat_with(&dir, a, &dir, b, RenameFlags::EXCHANGE)
}

/// Gives an entry its name, unless that is taken: `EXIST`.
pub(crate) fn place_new(dir: impl AsFd, from: &[u8], to: &[u8]) -> rustix::io::Result<()> {
    match rustix::fs::renameat_with(&dir, from, &dir, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        result => return result,
    }
    // Old file systems: a second name is exclusive as well, for files.
    match rustix::fs::linkat(&dir, from, &dir, to, AtFlags::empty()) {
        Ok(()) => return unlink(&dir, from),
        Err(errno @ (Errno::EXIST | Errno::NOENT | Errno::NOSPC | Errno::DQUOT)) => {
            return Err(errno);
        }
        Err(_) => {}
    }
    // No file system with neither has users who race; directories end here too.
    match Stat::at(&dir, to) {
        Ok(_) => Err(Errno::EXIST),
        Err(Errno::NOENT) => rustix::fs::renameat(&dir, from, &dir, to),
        Err(errno) => Err(errno),
    }
}

/// Refuses a file that may not be written. A rename would not ask.
pub(crate) fn may_write(place: &Place<'_>, name: &[u8], old: &Stat) -> Result<()> {
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

fn conflict(message: &str) -> Error {
    Error::new(Code::Conflict, message).hint("read the file again")
}

/// Whether the file system may accept bytes now and refuse them when the file is
/// closed, as network file systems do on a full disk.
fn tells_late(fd: &OwnedFd) -> bool {
    #[cfg(target_os = "linux")]
    {
        const NFS: i64 = 0x6969;
        const SMB: [i64; 3] = [0x517b, 0xff53_4d42, 0xfe53_4d42];
        rustix::fs::fstatfs(fd).is_ok_and(|stat| {
            #[allow(clippy::useless_conversion)] // its type depends on the architecture
            let kind = i64::from(stat.f_type) & 0xffff_ffff;
            kind == NFS || SMB.contains(&kind)
        })
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = fd;
        false
    }
}

/// Has the kernel start to write a file out, without waiting: what ext4 does by
/// itself on a replacing rename, and not on an exchange.
fn start_writing(fd: &OwnedFd) {
    #[cfg(target_os = "linux")]
    let _ = rustix::fs::fadvise(fd, 0, None, rustix::fs::Advice::DontNeed);
    #[cfg(not(target_os = "linux"))]
    let _ = fd;
}

/// Waits for the names in a directory to be on the disk.
pub(crate) fn sync_directory(place: &Place<'_>, with_parents: bool) -> Result<()> {
    // A directory that may be written and not read cannot be opened for this.
    let dir = match open_entries(&place.dir, b".") {
        Ok(Some(dir)) => dir,
        Ok(None) => return Ok(()),
        Err(error) if error.code == Code::PermissionDenied => return Ok(()),
        Err(error) => return Err(error),
    };
    #[cfg(target_os = "linux")]
    if with_parents {
        return rustix::fs::syncfs(&dir).map_err(os);
    }
    let _ = with_parents;
    rustix::fs::fsync(&dir).map_err(os)
}
