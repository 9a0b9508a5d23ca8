//! One replacement of a file: fills the temporary file, copies the metadata of the old file, and
//! moves it into place.

use std::os::fd::{AsFd, OwnedFd};

use filewright_core::Result;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::flush::{check_close_errors, is_on_device, sync_content};
use super::in_place::write_in_place;
use super::metadata::{
    LOST_ATTRIBUTES_MESSAGE, OwnerCopy, copy_attributes, copy_moved_metadata, copy_owner,
    copy_times, set_mode,
};
use super::{
    ContentSource, Durability, OldFile, TempEntry, WriteOptions, Written, check_may_write,
    deferred_close,
};
use crate::after_job::close_after_job;
use crate::cancel::CancelToken;
use crate::dir::errno::os_error;
use crate::dir::stat::Stat;
use crate::root::{ResolvedEntry, Roots};
use crate::write::aside::no_aside_error;

/// The result of [`FileReplacement::run`].
pub(super) enum ReplacementOutcome {
    Done(Written),
    /// Nothing was changed, because another program has changed the entry: the caller resolves the
    /// path again.
    Again,
}

/// The result of [`FileReplacement::move_into_place`].
pub(super) enum CommitOutcome {
    Done,
    /// Nothing was changed, because another program has changed the entry: the caller resolves the
    /// path again.
    Again,
    /// A rename is not allowed for this file, so it must be written in place.
    InPlace,
}

/// Everything that is needed to create or replace one file.
pub(super) struct FileReplacement<'j> {
    pub roots: &'j Roots,
    pub place: &'j ResolvedEntry<'j>,
    pub name: &'j [u8],
    pub old: Option<&'j Stat>,
    pub source: ContentSource<'j>,
    /// True if the old file must still be `old` when it is replaced.
    pub compare: bool,
    /// The original on another file system, if the write is part of a move.
    pub moved: Option<OldFile<'j>>,
    pub options: &'j WriteOptions,
    pub cancel: &'j CancelToken,
}

impl FileReplacement<'_> {
    /// Makes the replacement. Before it returns an error or [`ReplacementOutcome::Again`], it
    /// removes the temporary file.
    pub fn run(&self) -> Result<ReplacementOutcome> {
        if let Some(old) = self.old {
            self.options.preserve.check_hard_links(old)?;
        }
        // A new file gets the permission bits that the umask, or the directory's default access
        // list, allows. The kernel applies them to 0666.
        let wanted = self.options.mode.or(self.old.map(|old| old.mode));
        let mode = wanted.map_or(0o666, mode_from_the_start);
        let dir = self.place.dir.as_fd();
        let made = match self.aside() {
            // The names are exchanged at the end, which leaves the old file under the name of the
            // temporary one.
            Some(name) => TempEntry::named_file(dir, name, mode),
            None => TempEntry::file(dir, mode),
        };
        let (temp, fd) = match made {
            Ok(made) => made,
            Err(Errno::NOENT) => return Ok(ReplacementOutcome::Again),
            Err(Errno::ACCESS | Errno::PERM) if self.old.is_some() => return self.in_place(),
            Err(errno) => return Err(os_error(errno)),
        };
        let made = self.source.write_whole(&fd, self.cancel)?;
        if let Some(old) = self.old {
            check_may_write(self.place, self.name, old, &made)?;
        }
        let mut going = None;
        let mut has_list = self.moved.is_some();
        if let Some(moved) = self.moved {
            copy_moved_metadata(&fd, moved.fd, moved.facts, self.options.preserve)?;
        } else if let Some(old) = self.old {
            if copy_owner(&fd, &made, old)? == OwnerCopy::Foreign {
                drop(temp);
                return self.in_place();
            }
            let opened = self.open_old();
            let copied = opened.as_ref().map(|opened| copy_attributes(&fd, opened));
            has_list = copied.is_some_and(|copied| copied.has_list);
            if !copied.is_some_and(|copied| copied.all) {
                self.options.preserve.check_loss(LOST_ATTRIBUTES_MESSAGE)?;
            }
            let is_large = deferred_close::should_defer_close(&fd, old);
            going = opened.filter(|_| is_large || is_on_device(&made)).map(|open| (open, is_large));
        }
        if let Some(mode) = wanted.filter(|&mode| has_list || mode & 0o1777 != made.mode) {
            set_mode(&fd, mode)?;
        }
        if let Some(moved) = self.moved {
            copy_times(&fd, moved.facts);
        }
        if self.options.durability == Durability::Durable {
            sync_content(&fd)?;
        } else if reports_errors_on_close(&fd, &made) {
            // For the errors of the writes, where the file system tells them.
            match rustix::fs::fsync(&fd) {
                Ok(()) | Err(Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS) => {}
                Err(errno) => return Err(os_error(errno)),
            }
        }
        check_close_errors(&fd, &made)?;
        self.cancel.check()?;
        match self.move_into_place(temp, &fd)? {
            CommitOutcome::Again => Ok(ReplacementOutcome::Again),
            CommitOutcome::InPlace => self.in_place(),
            CommitOutcome::Done => {
                match going {
                    Some((old, true)) => deferred_close::close_in_background(old),
                    Some((old, false)) => close_after_job(old),
                    None => {}
                }
                Ok(ReplacementOutcome::Done(self.done(&fd, made, false)))
            }
        }
    }

    /// Returns the name under which the old file stays, if one was requested.
    pub fn aside(&self) -> Option<&[u8]> {
        self.options.aside.as_deref().filter(|_| self.old.is_some())
    }

    /// Returns the result of a write of the file `fd`, which had the metadata `made` when it was filled.
    fn done(&self, fd: &OwnedFd, made: Stat, in_place: bool) -> Written {
        let other_names =
            self.old.filter(|_| !in_place).map_or(0, |old| old.nlink.saturating_sub(1));
        // The file is in place: an error would tell otherwise. Without the times of the rename, the
        // next comparison looks at the content.
        let stat = Stat::of(fd).unwrap_or(made);
        Written { stat, created: self.old.is_none(), other_names, in_place }
    }

    /// Writes the file in place, unless the options forbid it.
    fn in_place(&self) -> Result<ReplacementOutcome> {
        let Some(old) = self.old else { return Err(os_error(Errno::ACCESS)) };
        if self.aside().is_some() {
            return Err(no_aside_error());
        }
        // The bytes would change under the other names, too.
        self.roots.check_other_names(old, &self.place.real)?;
        let preserve = self.options.preserve;
        preserve.check_loss("it could only be written in place, which is not atomic")?;
        let then = (self.options.mode, self.options.durability == Durability::Durable);
        let fd = write_in_place(&self.place.dir, self.name, old, &self.source, then, self.cancel)?;
        Ok(ReplacementOutcome::Done(self.done(&fd, *old, true)))
    }

    /// Opens the old file for reading its extended attributes; `None` if that fails.
    fn open_old(&self) -> Option<OwnedFd> {
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        rustix::fs::openat(&self.place.dir, self.name, flags, Mode::empty()).ok()
    }
}

/// Returns the permission bits with which a file is created that gets the bits `mode` at the end. Its
/// group is not known yet, so one with bits of its own gets them once the group is right.
fn mode_from_the_start(mode: u32) -> u32 {
    if (mode >> 3) & 0o7 == mode & 0o7 { 0o600 | (mode & 0o777) } else { 0o600 }
}

/// Reports whether the file system may accept bytes now and fail on close, as network file systems
/// do on a full disk.
fn reports_errors_on_close(fd: &OwnedFd, stat: &Stat) -> bool {
    #[cfg(target_os = "linux")]
    {
        if is_on_device(stat) {
            return false;
        }
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
        let _ = (fd, stat);
        false
    }
}
