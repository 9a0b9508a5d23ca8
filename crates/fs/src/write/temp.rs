//! Temporary files: made beside their target, gone whatever happens.
//!
//! A name is `.filewright-REALM-PID-STARTED-NONCE`: whoever finds one can tell
//! whether its maker still lives ([`crate::process`]), and nobody can guess the
//! next one. With `-kept` behind it the name is that of an entry that was set
//! aside ([`crate::aside`]). They are made exclusively, so a planted file or link is never
//! opened. One that is not renamed into place is removed when dropped; those of
//! processes that were killed are swept by the next change in the directory.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

use filewright_core::{Code, Error, Result};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::cancel::Cancel;
use crate::errno::os;
use crate::list::for_each_name;
use crate::process::ProcessName;
use crate::root::open_entries;
use crate::stat::Stat;
use crate::tree::remove_own;

const PREFIX: &[u8] = b".filewright-";

/// How long a temporary file of a process that cannot be asked about must have
/// been untouched before it is swept.
const FOREIGN_AGE: Duration = Duration::from_secs(3600);

/// How long an entry that was set aside outlives its process: a journal may name it,
/// and rolls back with it at the next opening.
const KEPT_AGE: Duration = Duration::from_secs(7 * 24 * 3600);

/// How long a directory that was swept is left alone.
const SWEEP_AGAIN: Duration = Duration::from_secs(60);

/// Whether a name is one that a temporary file of ours has.
pub fn is_temp_name(name: &[u8]) -> bool {
    name.starts_with(PREFIX) && maker(name).is_some()
}

/// Whether a name is one that this process gave to an entry that is set aside.
pub(crate) fn is_own_aside_name(name: &[u8]) -> bool {
    is_kept_name(name) && maker(name).as_ref() == Some(ProcessName::own())
}

/// Whether a name is that of an entry that is set aside, rather than of a temporary file.
pub(crate) fn is_kept_name(name: &[u8]) -> bool {
    name.ends_with(b"-kept") && is_temp_name(name)
}

/// Who made the temporary file of this name.
fn maker(name: &[u8]) -> Option<ProcessName> {
    let rest = std::str::from_utf8(name.strip_prefix(PREFIX)?).ok()?;
    let mut parts = rest.split('-');
    let realm = parts.next().filter(|realm| realm.len() == 8)?.to_owned();
    let pid = u32::from_str_radix(parts.next()?, 16).ok()?;
    let started = u64::from_str_radix(parts.next()?, 16).ok()?;
    let nonce = parts.next().filter(|nonce| nonce.len() == 16)?;
    let hex = |text: &str| text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let whole = match parts.next() {
        None => true,
        Some(last) => last == "kept" && parts.next().is_none(),
    };
    (whole && hex(&realm) && hex(nonce)).then_some(ProcessName { realm, pid, started })
}

/// A name for a temporary file that nobody has and that tells its maker.
pub fn fresh_name() -> Vec<u8> {
    let ProcessName { realm, pid, started } = ProcessName::own();
    // Keyed by the system's randomness, and differently for every state made.
    let nonce = RandomState::new().build_hasher().finish();
    format!(".filewright-{realm}-{pid:x}-{started:x}-{nonce:016x}").into_bytes()
}

/// A temporary file or directory. Removed when dropped, unless it was renamed
/// into place.
#[derive(Debug)]
pub(crate) struct Temp<'d> {
    dir: BorrowedFd<'d>,
    pub name: Vec<u8>,
    placed: bool,
}

impl<'d> Temp<'d> {
    /// Makes an empty file in a directory. The umask applies to `mode`.
    pub(crate) fn file(dir: BorrowedFd<'d>, mode: u32) -> rustix::io::Result<(Self, OwnedFd)> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Self::make(dir, |name| rustix::fs::openat(dir, name, flags, Mode::from_raw_mode(mode as _)))
    }

    /// [`Temp::file`] under a name that the caller chose, which nothing may have yet.
    pub(crate) fn named_file(
        dir: BorrowedFd<'d>,
        name: &[u8],
        mode: u32,
    ) -> rustix::io::Result<(Self, OwnedFd)> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(dir, name, flags, Mode::from_raw_mode(mode as _))?;
        Ok((Self { dir, name: name.to_vec(), placed: false }, fd))
    }

    /// Makes an empty directory that nobody else may enter.
    pub(crate) fn directory(dir: BorrowedFd<'d>) -> rustix::io::Result<Self> {
        Self::make(dir, |name| rustix::fs::mkdirat(dir, name, Mode::from_raw_mode(0o700)))
            .map(|(temp, ())| temp)
    }

    fn make<T>(
        dir: BorrowedFd<'d>,
        make: impl Fn(&[u8]) -> rustix::io::Result<T>,
    ) -> rustix::io::Result<(Self, T)> {
        let mut tries = 0;
        loop {
            let name = fresh_name();
            match make(&name) {
                Ok(made) => return Ok((Self { dir, name, placed: false }, made)),
                // Somebody guessed sixty-four random bits, or plants names.
                Err(Errno::EXIST) if tries < 8 => tries += 1,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
    }

    /// It is no longer under its name: renamed, or removed.
    pub(crate) fn placed(mut self) {
        self.placed = true;
    }
}

impl Drop for Temp<'_> {
    fn drop(&mut self) {
        if !self.placed {
            // Nothing is left to tell: the failure that led here is reported.
            let _ = remove_own(self.dir, &self.name);
        }
    }
}

/// Which directories were swept when.
#[derive(Debug, Default)]
pub(crate) struct Swept(Mutex<HashMap<(u64, u64), Instant>>);

impl Swept {
    /// Removes the temporary files that dead processes left in a directory,
    /// unless that was done a moment ago. What cannot be removed is left.
    pub(crate) fn sweep(&self, dir: impl AsFd) {
        let Ok(stat) = Stat::of(&dir) else { return };
        {
            let mut swept = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            if swept.get(&(stat.dev, stat.ino)).is_some_and(|at| at.elapsed() < SWEEP_AGAIN) {
                return;
            }
            // Bounded; forgetting only costs another look.
            if swept.len() >= 4096 {
                swept.clear();
            }
            swept.insert((stat.dev, stat.ino), Instant::now());
        }
        sweep_now(dir);
    }
}

/// Removes the temporary files that dead processes left in a directory, and
/// tells how many.
pub(crate) fn sweep_now(dir: impl AsFd) -> usize {
    let Ok(Some(entries)) = open_entries(&dir, b".") else { return 0 };
    let mut stale: Vec<Vec<u8>> = Vec::new();
    let _ = for_each_name(&entries, |name, _| {
        if let Some(maker) = name.starts_with(PREFIX).then(|| maker(name)).flatten()
            && is_stale(&entries, name, &maker)
        {
            stale.push(name.to_vec());
        }
        Ok(())
    });
    stale.iter().filter(|name| remove_own(entries.as_fd(), name).is_ok()).count()
}

fn is_stale(dir: &OwnedFd, name: &[u8], maker: &ProcessName) -> bool {
    let ended = maker.ended();
    let age = if is_kept_name(name) { KEPT_AGE } else { FOREIGN_AGE };
    match ended {
        Some(ended) if !ended || !is_kept_name(name) => return ended,
        _ => {}
    }
    let Ok(stat) = Stat::at(dir, name) else { return false };
    let Ok(changed) = u64::try_from(stat.ctime) else { return true };
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .is_ok_and(|now| now.saturating_sub(Duration::from_nanos(changed)) > age)
}

/// Writes all bytes at a place of a file, in blocks between which the caller may
/// cancel. By position: no descriptor's own place in the file is trusted.
pub(crate) fn write_all(
    fd: impl AsFd,
    mut bytes: &[u8],
    mut at: u64,
    cancel: &Cancel,
) -> Result<()> {
    while !bytes.is_empty() {
        cancel.check()?;
        let block = &bytes[..bytes.len().min(crate::read::BLOCK)];
        match rustix::io::pwrite(&fd, block, at) {
            // No system call may write nothing of something and succeed, but a
            // loop that trusts this could spin for ever.
            Ok(0) => return Err(Error::new(Code::NoSpace, "nothing more could be written")),
            Ok(count) => {
                bytes = &bytes[count..];
                at += count as u64;
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(os(errno)),
        }
    }
    Ok(())
}

/// Removes one name of a file. That it is gone already is not an error.
pub(crate) fn unlink(dir: impl AsFd, name: &[u8]) -> rustix::io::Result<()> {
    match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
        Err(Errno::NOENT) => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_their_maker() {
        let name = fresh_name();
        assert!(is_temp_name(&name));
        assert_eq!(maker(&name).as_ref(), Some(ProcessName::own()));
        assert_ne!(name, fresh_name());
        for other in
            [".filewright-", ".filewright-x", ".filewright-00000000-1-2-3", ".filewright.json"]
        {
            assert!(!is_temp_name(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn a_planted_name_is_not_used() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = rustix::fs::open(tmp.path(), OFlags::PATH, Mode::empty()).unwrap();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let target = tmp.path().join("target");
        for (planted, works) in [(1, true), (8, true), (9, false)] {
            let tried = std::cell::Cell::new(0);
            let made = Temp::make(dir.as_fd(), |name| {
                tried.set(tried.get() + 1);
                if tried.get() <= planted {
                    rustix::fs::symlinkat(&target, &dir, name).unwrap();
                }
                rustix::fs::openat(&dir, name, flags, Mode::from_raw_mode(0o600))
            });
            assert_eq!(made.is_ok(), works, "{planted}");
            assert!(!target.exists());
        }
    }

    #[test]
    fn only_the_litter_of_the_dead_is_swept() {
        let tmp = tempfile::tempdir().unwrap();
        let own = ProcessName::own();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let dead = child.id();
        child.wait().unwrap();
        let name = |realm: &str, pid: u32, started: u64| {
            format!(".filewright-{realm}-{pid:x}-{started:x}-0123456789abcdef")
        };
        let keep = [
            name(&own.realm, own.pid, own.started),
            // Set aside: the journal of its process may still need it.
            format!("{}-kept", name(&own.realm, dead, 5)),
            // Of another container or boot, and young.
            name("00000000", dead, 5),
            ".filewright-notes".to_owned(),
            "file".to_owned(),
        ];
        for name in &keep {
            std::fs::write(tmp.path().join(name), "x").unwrap();
        }
        std::fs::write(tmp.path().join(name(&own.realm, dead, 5)), "x").unwrap();
        let tree = tmp.path().join(name(&own.realm, dead, 6));
        std::fs::create_dir_all(tree.join("a/b")).unwrap();
        std::fs::write(tree.join("a/f"), "x").unwrap();
        let dir = std::fs::File::open(tmp.path()).unwrap();
        Swept::default().sweep(&dir);
        let mut left: Vec<String> = std::fs::read_dir(tmp.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let mut keep = keep.to_vec();
        keep.sort();
        assert_eq!(left, keep);
    }
}
