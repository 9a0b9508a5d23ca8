//! Metadata of one entry, read by descriptor, or by directory descriptor and one name; never by
//! path.

use std::fmt::Write as _;

use filewright_core::{Code, Error, Result};
use rustix::fd::AsFd;
use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;

use crate::dir::errno::os_error;

filewright_core::wire! {
    /// The type of an entry.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Kind {
        /// A regular file.
        File = "file",
        /// A directory.
        Dir = "dir",
        /// A symbolic link.
        Symlink = "symlink",
        /// A FIFO, socket or device.
        Other = "other",
    }
}

impl From<FileType> for Kind {
    fn from(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Dir,
            FileType::Symlink => Kind::Symlink,
            _ => Kind::Other,
        }
    }
}

/// The metadata of an entry. Times are nanoseconds since 1970, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The type of the entry.
    pub kind: Kind,
    /// The device number.
    pub dev: u64,
    /// The inode number.
    pub ino: u64,
    /// The size in bytes.
    pub size: u64,
    /// Permission bits with set-user-id, set-group-id and sticky: `0o7777`.
    pub mode: u32,
    /// The number of hard links.
    pub nlink: u64,
    /// The user id of the owner.
    pub uid: u32,
    /// The group id.
    pub gid: u32,
    /// The time of the last change of the content.
    pub mtime: i64,
    /// The time of the last change of content or metadata.
    pub ctime: i64,
    /// The time of the last read.
    pub atime: i64,
    /// The creation time, if the file system records it.
    pub birth: Option<i64>,
}

/// Returns a time in nanoseconds; one that is out of range becomes the nearest.
fn timestamp_nanos(seconds: i64, nanoseconds: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
}

/// Returns a time in milliseconds with a fraction, as JavaScript has it.
pub fn nanos_to_millis(nanos: i64) -> f64 {
    nanos.div_euclid(1_000_000) as f64 + nanos.rem_euclid(1_000_000) as f64 / 1e6
}

impl Stat {
    /// Reads the metadata of an open descriptor.
    pub fn of(fd: impl AsFd) -> rustix::io::Result<Self> {
        #[cfg(target_os = "linux")]
        match statx(&fd, c"", AtFlags::EMPTY_PATH) {
            Err(Errno::NOSYS) => {}
            result => return result,
        }
        rustix::fs::fstat(fd).map(|stat| Self::from_raw(&stat))
    }

    /// Reads the metadata of a directory entry; does not follow links.
    pub fn at(dir: impl AsFd, name: &[u8]) -> rustix::io::Result<Self> {
        Self::with(dir, name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Reads the metadata of the entry to which a path leads; follows links.
    pub(crate) fn behind(dir: impl AsFd, path: &[u8]) -> rustix::io::Result<Self> {
        Self::with(dir, path, AtFlags::empty())
    }

    fn with(dir: impl AsFd, name: &[u8], flags: AtFlags) -> rustix::io::Result<Self> {
        #[cfg(target_os = "linux")]
        match statx(&dir, name, flags) {
            Err(Errno::NOSYS) => {}
            result => return result,
        }
        rustix::fs::statat(dir, name, flags).map(|stat| Self::from_raw(&stat))
    }

    /// Does the same as [`Stat::at`], but returns `None` if the entry does not exist.
    pub fn find(dir: impl AsFd, name: &[u8]) -> Result<Option<Self>> {
        match Self::at(dir, name) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(os_error(errno)),
        }
    }

    /// Returns the metadata that `fstat` has read.
    // The field types differ between platforms, so on some of them a cast changes nothing.
    #[allow(clippy::unnecessary_cast)]
    pub(crate) fn from_raw(stat: &rustix::fs::Stat) -> Self {
        #[cfg(any(target_os = "macos", target_os = "ios"))]
        let birth = Some(timestamp_nanos(stat.st_birthtime as i64, stat.st_birthtime_nsec as i64));
        #[cfg(not(any(target_os = "macos", target_os = "ios")))]
        let birth = None;
        Self {
            kind: FileType::from_raw_mode(stat.st_mode as _).into(),
            dev: stat.st_dev as u64,
            ino: stat.st_ino as u64,
            size: stat.st_size as u64,
            mode: stat.st_mode as u32 & 0o7777,
            nlink: stat.st_nlink as u64,
            uid: stat.st_uid as u32,
            gid: stat.st_gid as u32,
            mtime: timestamp_nanos(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            ctime: timestamp_nanos(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            atime: timestamp_nanos(stat.st_atime as i64, stat.st_atime_nsec as i64),
            birth,
        }
    }

    /// Reports whether two results describe the same file: equal device and inode.
    pub fn same_file(&self, other: &Self) -> bool {
        self.dev == other.dev && self.ino == other.ino
    }

    /// Returns the version of the file that this metadata describes, without a content hash.
    pub fn version(&self) -> Version {
        Version::of(self)
    }
}

/// Reads metadata by `statx`, which also returns the creation time. Does not trigger automounts.
#[cfg(target_os = "linux")]
fn statx(fd: &impl AsFd, name: impl rustix::path::Arg, flags: AtFlags) -> rustix::io::Result<Stat> {
    use rustix::fs::StatxFlags;
    let mask = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
    let raw = rustix::fs::statx(fd, name, flags | AtFlags::NO_AUTOMOUNT, mask)?;
    let time =
        |time: rustix::fs::StatxTimestamp| timestamp_nanos(time.tv_sec, i64::from(time.tv_nsec));
    let knows_birth = raw.stx_mask & StatxFlags::BTIME.bits() != 0;
    Ok(Stat {
        kind: FileType::from_raw_mode(raw.stx_mode.into()).into(),
        dev: rustix::fs::makedev(raw.stx_dev_major, raw.stx_dev_minor),
        ino: raw.stx_ino,
        size: raw.stx_size,
        mode: u32::from(raw.stx_mode) & 0o7777,
        nlink: raw.stx_nlink.into(),
        uid: raw.stx_uid,
        gid: raw.stx_gid,
        mtime: time(raw.stx_mtime),
        ctime: time(raw.stx_ctime),
        atime: time(raw.stx_atime),
        birth: knows_birth.then(|| time(raw.stx_btime)),
    })
}

/// Reports whether an entry is mounted at its name, as far as the system tells.
#[cfg(target_os = "linux")]
pub(crate) fn is_mount_point(dir: impl AsFd, name: &[u8]) -> bool {
    use rustix::fs::{StatxAttributes, StatxFlags};
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    let found = rustix::fs::statx(dir, name, flags, StatxFlags::empty());
    found.is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

/// Reports whether an entry is mounted at its name. Here only a directory can be.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_mount_point(_dir: impl AsFd, _name: &[u8]) -> bool {
    false
}

/// Identifies a directory as one mount shows it: two descriptors with equal values resolve every
/// name alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MountedInode {
    dev: u64,
    ino: u64,
    mount: u64,
}

impl MountedInode {
    /// Returns the identity of an open directory; `None` if the system does not report the mount.
    #[cfg(target_os = "linux")]
    pub(crate) fn of(fd: impl AsFd) -> Option<Self> {
        use rustix::fs::StatxFlags;
        let mask = StatxFlags::INO | StatxFlags::MNT_ID;
        let flags = AtFlags::EMPTY_PATH | AtFlags::NO_AUTOMOUNT;
        let raw = rustix::fs::statx(fd, c"", flags, mask).ok()?;
        let knows_mount = raw.stx_mask & StatxFlags::MNT_ID.bits() != 0;
        let dev = rustix::fs::makedev(raw.stx_dev_major, raw.stx_dev_minor);
        knows_mount.then_some(Self { dev, ino: raw.stx_ino, mount: raw.stx_mnt_id })
    }

    /// Returns the identity of an open directory. A file system is mounted once here, or its mounts
    /// have devices of their own.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn of(fd: impl AsFd) -> Option<Self> {
        let stat = Stat::of(fd).ok()?;
        Some(Self { dev: stat.dev, ino: stat.ino, mount: 0 })
    }
}

/// Identifies a state of a file: opaque text for callers.
///
/// The text is `dev.ino.size.mtime.ctime` in lower-case hexadecimal (times in nanoseconds),
/// followed by `:` and 64 digits of SHA-256 if the content hash is known. Five equal fields are the
/// same version. If they differ, a known hash decides: a file that was only touched, or replaced by
/// the same bytes, is still the same version. Without a hash any difference counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    dev: u64,
    ino: u64,
    size: u64,
    mtime: i64,
    ctime: i64,
    hash: Option<String>,
}

impl Version {
    /// Returns the version of the file that `stat` describes, without a content hash.
    pub fn of(stat: &Stat) -> Self {
        let Stat { dev, ino, size, mtime, ctime, .. } = *stat;
        Self { dev, ino, size, mtime, ctime, hash: None }
    }

    /// Returns the version with a content hash: `sha256:` and 64 digits. With a text of another form it
    /// has no hash.
    #[must_use]
    pub fn with_hash(mut self, sha256: &str) -> Self {
        self.hash = sha256.strip_prefix("sha256:").map(str::to_owned);
        self
    }

    /// Returns the content hash, `sha256:` and 64 digits, if it is known.
    pub fn hash(&self) -> Option<String> {
        self.hash.as_ref().map(|hash| format!("sha256:{hash}"))
    }

    /// Parses the text form.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for text that [`Version`] did not print.
    pub fn parse(text: &str) -> Result<Self> {
        Self::try_parse(text).ok_or_else(|| {
            Error::new(Code::InvalidArgument, "version is not one that was given out")
        })
    }

    fn try_parse(text: &str) -> Option<Self> {
        let (fields, hash) = match text.split_once(':') {
            Some((fields, hash)) => (fields, Some(hash)),
            None => (text, None),
        };
        if let Some(hash) = hash
            && (hash.len() != 64 || !hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
        {
            return None;
        }
        let mut fields = fields.split('.').map(|field| u64::from_str_radix(field, 16).ok());
        let mut next = || fields.next().flatten();
        let version = Self {
            dev: next()?,
            ino: next()?,
            size: next()?,
            mtime: next()? as i64,
            ctime: next()? as i64,
            hash: hash.map(str::to_owned),
        };
        fields.next().is_none().then_some(version)
    }

    /// Reports whether device, inode, size and times equal those of this version. If not, the
    /// content may still be equal.
    pub fn same_facts(&self, stat: &Stat) -> bool {
        let now = stat.version();
        (self.dev, self.ino, self.size, self.mtime, self.ctime)
            == (now.dev, now.ino, now.size, now.mtime, now.ctime)
    }

    /// Reports whether size and time of the last change of the content equal those of this version,
    /// which a rename leaves alone.
    pub fn same_content_facts(&self, stat: &Stat) -> bool {
        (self.size, self.mtime) == (stat.size, stat.mtime)
    }

    /// Reports whether the content may equal that of this version although the metadata differs, so
    /// that hashing it is worthwhile.
    pub fn worth_hashing(&self, stat: &Stat) -> bool {
        self.hash.is_some() && self.size == stat.size && stat.kind == Kind::File
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { dev, ino, size, mtime, ctime, hash } = self;
        write!(f, "{dev:x}.{ino:x}.{size:x}.{mtime:x}.{ctime:x}")?;
        if let Some(hash) = hash {
            f.write_char(':')?;
            f.write_str(hash)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn facts_agree_with_the_standard_library() {
        use std::os::unix::fs::MetadataExt;
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("f"), b"abc").unwrap();
        let std = std::fs::metadata(dir.path().join("f")).unwrap();
        let fd = std::fs::File::open(dir.path()).unwrap();
        let ours = Stat::at(&fd, b"f").unwrap();
        assert_eq!((ours.dev, ours.ino, ours.size), (std.dev(), std.ino(), 3));
        assert_eq!((ours.mode, ours.nlink), (std.mode() & 0o7777, 1));
        assert_eq!(ours.mtime, std.mtime() * 1_000_000_000 + std.mtime_nsec());
        assert_eq!(ours.kind, Kind::File);
        assert_eq!(Stat::find(&fd, b"absent").unwrap(), None);
        let raw = rustix::fs::fstat(std::fs::File::open(dir.path().join("f")).unwrap()).unwrap();
        assert_eq!(Stat { birth: ours.birth, ..Stat::from_raw(&raw) }, ours);
    }

    #[test]
    fn malformed_versions() {
        for text in ["", "1.2.3.4", "1.2.3.4.5.6", "g.2.3.4.5", "1.2.3.4.5:abc", "1.2.3.4.5:"] {
            assert_eq!(Version::parse(text).unwrap_err().code, Code::InvalidArgument, "{text}");
        }
    }

    proptest! {
        #[test]
        fn versions_round_trip(dev: u64, ino: u64, size: u64, mtime: i64, ctime: i64, hashed: bool) {
            let version = Version { dev, ino, size, mtime, ctime, hash: hashed.then(|| "a".repeat(64)) };
            prop_assert_eq!(Version::parse(&version.to_string()).unwrap(), version);
        }

        #[test]
        fn parsing_never_panics(text in "[0-9a-f.:]{0,60}") {
            let _ = Version::parse(&text);
        }
    }
}
