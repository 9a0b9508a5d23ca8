//! The record of a change in a journal, written by the job that makes the change.
//!
//! The entries `begin` and `steps` are in the file before the target changes, and `commit` follows
//! once the target's new version is known. So whoever finds a record without its end knows what may
//! have happened, as with a record whose entries the journal writes one by one.
//!
//! An entry is a head (lengths of JSON and content, hash of the content, 8 bytes of a MAC of these),
//! the JSON, the content, and a MAC that covers the entry before it and the id of the record.
//! `js/log/record-file.node.ts` writes the same bytes and reads them; its tests compare both.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use filewright_core::text::path::encode_name;
use filewright_core::{Code, Error, Result};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::flush::close_with_errors;
use super::temp::write_all_at;
use crate::cancel::CancelToken;
use crate::dir::errno::{os_error, sync_error};
use crate::dir::stat::Stat;

/// The size of the MAC after each entry.
const MAC_BYTES: usize = 32;
/// The size of the MAC in a head.
const HEAD_MAC_BYTES: usize = 8;
/// The block size of SHA-256.
const BLOCK_BYTES: usize = 64;
/// The largest content that is copied so that an entry is written by one call.
const MAX_COPIED_CONTENT: usize = 64 << 10;
/// The moments of one process differ by at least this part of a millisecond, as in
/// `js/log/call-id.ts`.
const MOMENTS_PER_MILLISECOND: u64 = 1024;

/// The placeholders in the entry `commit` for facts that are only known after the change. JSON has an
/// escaped NUL nowhere else, because no path contains one.
const VERSION_MARK: &str = r#""\u0000version""#;
const FILE_ID_MARK: &str = r#""\u0000fileId""#;
const MOMENT_MARK: &str = r#""\u0000moment""#;

/// The pads of HMAC for the key of a journal.
#[derive(Clone, Copy, Debug)]
pub struct RecordKey {
    inner: [u8; BLOCK_BYTES],
    outer: [u8; BLOCK_BYTES],
}

impl RecordKey {
    /// # Errors
    /// `INVALID_ARGUMENT` for a key that is longer than a block of the hash.
    pub fn new(bytes: &[u8]) -> Result<Self> {
        if bytes.len() > BLOCK_BYTES {
            return Err(Error::new(Code::InvalidArgument, "the key of the journal is too long"));
        }
        let pad = |mask: u8| {
            let mut block = [mask; BLOCK_BYTES];
            block.iter_mut().zip(bytes).for_each(|(at, byte)| *at ^= byte);
            block
        };
        Ok(Self { inner: pad(0x36), outer: pad(0x5c) })
    }
}

/// The content of a record, as the journal has prepared it.
#[derive(Debug)]
pub struct RecordTexts<'t> {
    /// The path of the changed file in the form for JavaScript, as the step has it.
    pub path: &'t str,
    /// The id of the record.
    pub id: &'t str,
    /// The JSON of the entry `begin`.
    pub begin: &'t str,
    /// The JSON of the entry `steps`.
    pub steps: &'t str,
    /// The JSON of the entry `commit`, with marks for what is not known yet.
    pub commit: &'t str,
    /// The content of the entry `steps`: that of the file before the change.
    pub content: &'t [u8],
}

impl<'t> RecordTexts<'t> {
    /// Returns the texts from four lines: id, `begin`, `steps` and `commit`. JSON contains no line
    /// break.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for another number of lines.
    pub fn from_lines(path: &'t str, lines: &'t str, content: &'t [u8]) -> Result<Self> {
        let mut each = lines.split('\n');
        match [each.next(), each.next(), each.next(), each.next(), each.next()] {
            [Some(id), Some(begin), Some(steps), Some(commit), None] => {
                Ok(Self { path, id, begin, steps, commit, content })
            }
            _ => Err(Error::new(Code::InvalidArgument, "a record has four lines")),
        }
    }
}

/// The open record of one change.
#[derive(Debug)]
pub struct ChangeRecord<'r> {
    file: OwnedFd,
    key: RecordKey,
    texts: RecordTexts<'r>,
    /// True if each entry is flushed to the disk.
    durable: bool,
    /// The MAC of the last entry.
    previous: [u8; MAC_BYTES],
    /// The size of the entries in the file; 0 before the change.
    size: u64,
}

/// Creates the file of a record at an absolute path. Must be called by a thread that Landlock does
/// not restrict: the file is in the state directory.
///
/// # Errors
/// An error of the system with the reason `record`, if it exists or cannot be created.
pub fn create_record_file(path: &[u8]) -> Result<OwnedFd> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::from_raw_mode(0o600))
        .map_err(|errno| no_record_error(os_error(errno)))
}

/// Returns the error of a change that was not made because it could not be recorded. The journal
/// decides whether it is made without.
fn no_record_error(error: Error) -> Error {
    error.detail("reason", "record")
}

impl<'r> ChangeRecord<'r> {
    /// Returns a record whose entries go to a new, empty file.
    pub fn new(file: OwnedFd, key: RecordKey, texts: RecordTexts<'r>, durable: bool) -> Self {
        Self { file, key, texts, durable, previous: [0; MAC_BYTES], size: 0 }
    }

    /// Writes what is known before the change of the file at the path `real`, unless that was done.
    pub(super) fn begin(&mut self, real: &[u8]) -> Result<()> {
        if encode_name(real) != self.texts.path {
            let other = Error::new(Code::Conflict, "the recorded path leads through a link");
            return Err(no_record_error(other));
        }
        if self.size > 0 {
            return Ok(());
        }
        let (begin, first) = self.entry(self.texts.begin, b"", &[0; MAC_BYTES]);
        let (steps, last) = self.entry(self.texts.steps, self.texts.content, &first);
        let parts = [&begin[..], &first, &steps, self.texts.content, &last];
        self.size = self.append(&parts).map_err(no_record_error)?;
        self.previous = last;
        Ok(())
    }

    /// Writes the end of the record, after the change has made a file with the metadata `now`, and
    /// closes the file. Returns the moment of the commit, which is after `last`, in milliseconds
    /// since 1970; `None` if the record has no end, so that it must be removed.
    pub(super) fn commit(mut self, now: &Stat, last: f64) -> Option<f64> {
        let version = now.version().to_string();
        let moment = next_moment(last);
        let file_id = version.splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
        let json = self
            .texts
            .commit
            .replace(VERSION_MARK, &format!("\"{version}\""))
            .replace(FILE_ID_MARK, &format!("\"{file_id}\""))
            .replace(MOMENT_MARK, &moment.to_string());
        let (commit, mac) = self.entry(&json, b"", &self.previous);
        self.size = self.append(&[&commit, &mac]).ok()?;
        // A file system may report only now that it has not stored the record.
        close_with_errors(self.file).ok()?;
        Some(moment)
    }

    /// Returns head and JSON of an entry, and its MAC. The content stands between them.
    fn entry(&self, json: &str, content: &[u8], previous: &[u8]) -> (Vec<u8>, [u8; MAC_BYTES]) {
        let mut head = Vec::with_capacity(48 + json.len());
        head.extend((json.len() as u32).to_le_bytes());
        head.extend((content.len() as u32).to_le_bytes());
        head.extend(sha256(&[content]));
        let id = self.texts.id.as_bytes();
        let facts = sha256(&[&self.key.inner, previous, id, b"\nhead\n", &head]);
        head.extend(&facts[..HEAD_MAC_BYTES]);
        head.extend(json.as_bytes());
        // HMAC by its definition (RFC 2104).
        let inner = sha256(&[&self.key.inner, previous, id, b"\n", &head]);
        (head, sha256(&[&self.key.outer, &inner]))
    }

    /// Writes at the end of the file, and returns its new size. A later attempt overwrites what an
    /// earlier one has written in part.
    fn append(&self, parts: &[&[u8]]) -> Result<u64> {
        let mut end = self.size;
        let mut joined: Vec<u8> = Vec::new();
        let mut put = |bytes: &[u8]| {
            write_all_at(&self.file, bytes, end, &CancelToken::new())?;
            end += bytes.len() as u64;
            Ok::<_, Error>(())
        };
        for part in parts {
            if part.len() <= MAX_COPIED_CONTENT {
                joined.extend_from_slice(part);
                continue;
            }
            put(&joined)?;
            joined.clear();
            put(part)?;
        }
        put(&joined)?;
        if self.durable {
            flush(&self.file)?;
        }
        Ok(end)
    }
}

fn flush(file: impl AsFd) -> Result<()> {
    loop {
        match rustix::fs::fsync(&file) {
            Err(Errno::INTR) => {}
            result => return result.map_err(sync_error),
        }
    }
}

fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().into()
}

/// Returns the present time in milliseconds since 1970. Each result is later than the one before
/// and than `last`, so that two changes within one millisecond have an order.
fn next_moment(last: f64) -> f64 {
    /// The last moment of this process, in parts of a millisecond.
    static LAST_MOMENT: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = since.as_millis() as u64 * MOMENTS_PER_MILLISECOND;
    let least = now.max((last * MOMENTS_PER_MILLISECOND as f64) as u64 + 1);
    let next = |known: u64| least.max(known + 1);
    let known = LAST_MOMENT
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |known| Some(next(known)))
        .unwrap_or_default();
    next(known) as f64 / MOMENTS_PER_MILLISECOND as f64
}
