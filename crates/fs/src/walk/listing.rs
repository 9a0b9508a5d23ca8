//! Reads the entries of one directory into reusable memory.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ffi::CStr;
use std::os::fd::BorrowedFd;

use filewright_core::text::path::encode_name;
use rustix::fs::{AtFlags, FileType};

use crate::dir::stat::Kind;
use crate::dir::temp_name::is_temp_name;

/// The entries of a directory, without `.` and `..`.
#[derive(Default)]
pub struct Listing {
    /// The names, concatenated.
    names: Vec<u8>,
    entries: Vec<ListingEntry>,
    #[cfg(target_os = "linux")]
    buffer: Vec<u8>,
}

#[derive(Clone, Copy)]
struct ListingEntry {
    at: u32,
    len: u16,
    kind: Kind,
    /// True if the name in the form for display has other bytes.
    encoded: bool,
}

/// The size of the buffer for one `getdents64` call: room for some hundred entries, so that one
/// call suffices for most directories.
#[cfg(target_os = "linux")]
const LISTING_BUFFER_BYTES: usize = 32 * 1024;

impl Listing {
    /// Replaces the entries by those of an open directory, without our temporary files.
    pub fn read(&mut self, fd: BorrowedFd<'_>) -> rustix::io::Result<()> {
        self.names.clear();
        self.entries.clear();
        self.read_all(fd)
    }

    #[cfg(target_os = "linux")]
    fn read_all(&mut self, fd: BorrowedFd<'_>) -> rustix::io::Result<()> {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.reserve(LISTING_BUFFER_BYTES);
        let mut raw = rustix::fs::RawDir::new(fd, buffer.spare_capacity_mut());
        let mut result = Ok(());
        while let Some(entry) = raw.next() {
            match entry {
                Ok(entry) => self.push(fd, entry.file_name(), entry.file_type()),
                Err(errno) => {
                    result = Err(errno);
                    break;
                }
            }
        }
        self.buffer = buffer;
        result
    }

    #[cfg(not(target_os = "linux"))]
    fn read_all(&mut self, fd: BorrowedFd<'_>) -> rustix::io::Result<()> {
        for entry in rustix::fs::Dir::read_from(fd)? {
            let entry = entry?;
            self.push(fd, entry.file_name(), entry.file_type());
        }
        Ok(())
    }

    fn push(&mut self, fd: BorrowedFd<'_>, name: &CStr, kind: FileType) {
        let bytes = name.to_bytes();
        if matches!(bytes, b"." | b"..") || is_temp_name(bytes) {
            return;
        }
        let kind = match kind {
            // Some file systems do not return the type.
            FileType::Unknown => match rustix::fs::statat(fd, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => FileType::from_raw_mode(stat.st_mode).into(),
                Err(_) => return,
            },
            kind => Kind::from(kind),
        };
        // Both conversions succeed: a name has at most 255 bytes, and the names of one directory
        // less than 4 GiB. Otherwise the entry is left out and not truncated.
        let (Ok(at), Ok(len)) = (u32::try_from(self.names.len()), u16::try_from(bytes.len()))
        else {
            return;
        };
        let suspect = bytes.iter().any(|&byte| byte >= 0x80 || byte == b'\\');
        let encoded = suspect && matches!(encode_name(bytes), Cow::Owned(_));
        self.entries.push(ListingEntry { at, len, kind, encoded });
        self.names.extend_from_slice(bytes);
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Reports whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the type of an entry.
    pub fn kind(&self, index: usize) -> Kind {
        self.entries[index].kind
    }

    /// Returns the bytes of an entry's name.
    pub fn name(&self, index: usize) -> &[u8] {
        let entry = self.entries[index];
        &self.names[entry.at as usize..][..usize::from(entry.len)]
    }

    /// Returns the name of an entry in the form for display, in which bytes that are not UTF-8 are
    /// escaped ([`encode_name`]).
    pub fn shown(&self, index: usize) -> Cow<'_, [u8]> {
        let name = self.name(index);
        if !self.entries[index].encoded {
            return Cow::Borrowed(name);
        }
        match encode_name(name) {
            Cow::Borrowed(_) => Cow::Borrowed(name),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        }
    }

    /// Reports whether the name of an entry in the form for display has the same bytes.
    pub fn is_plain(&self, index: usize) -> bool {
        !self.entries[index].encoded
    }

    /// Compares two entries by their names in the form for display.
    pub fn compare(&self, a: usize, b: usize) -> Ordering {
        if !self.entries[a].encoded && !self.entries[b].encoded {
            return self.name(a).cmp(self.name(b));
        }
        self.shown(a).cmp(&self.shown(b))
    }
}
