//! The record of a change in a journal, written by the job that makes the change.
//!
//! The entry of a step is in the file before the step changes anything, the first one after the
//! entry `begin`; `commit` follows once all steps are made. So whoever finds a record without its
//! end knows what may have happened, as with a record whose entries the journal writes one by one.
//!
//! An entry is a head (lengths of JSON and content, hash of the content, 8 bytes of a MAC of these),
//! the JSON, the content, and a MAC that covers the entry before it and the id of the record.
//! `js/log/record-file.node.ts` writes the same bytes and reads them; its tests compare both.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use filewright_core::text::path::encode_name;
use filewright_core::{Code, Error, Result};
use rustix::fs::{Mode, OFlags};
use sha2::{Digest, Sha256};

use super::flush::{close_with_errors, sync_content};
use super::temp::write_all_at;
use crate::cancel::CancelToken;
use crate::dir::errno::os_error;
use crate::dir::stat::{Kind, Stat, nanos_to_millis};
use crate::read::read_for_record;
use crate::root::{ResolvedEntry, open_resolved_file};

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

/// Begins a mark: a text in the place of what is only known once a step is made, as `"\u0000parent:3"`.
/// JSON has an escaped NUL nowhere else, because no path contains one.
const MARK: &str = "\"\\u0000";

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
    /// The id of the record.
    pub id: &'t str,
    /// The JSON of the entry `begin`.
    pub begin: &'t str,
    /// The JSON of the entry `steps` of each step, with marks for what is not known yet.
    pub steps: Vec<&'t str>,
    /// The JSON of the entry `commit`, with marks for what is not known yet.
    pub commit: &'t str,
}

impl<'t> RecordTexts<'t> {
    /// Returns the texts from lines: id, `begin`, `steps` of each step, and `commit`. JSON contains
    /// no line break.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for another number of steps.
    pub fn from_lines(lines: &'t str, count: usize) -> Result<Self> {
        let all: Vec<_> = lines.split('\n').collect();
        match &all[..] {
            [id, begin, steps @ .., commit] if steps.len() == count => {
                Ok(Self { id, begin, steps: steps.to_vec(), commit })
            }
            _ => Err(Error::new(Code::InvalidArgument, "a record has a line for each step")),
        }
    }
}

/// What became known of a step while it was made. The marks of the texts name the fields.
#[derive(Clone, Debug, Default)]
pub struct StepFacts {
    /// `parent`: the id of the directory of its path.
    parent: Option<String>,
    /// `parentFrom`: the id of the directory from which an entry is moved.
    parent_from: Option<String>,
    /// `before`: the JSON of the file that is removed, or replaced by another one, with the range of
    /// its content.
    before: Option<String>,
    /// `moved`, and `size`, `mode` and `sourceVersion`: the entry that is moved or copied.
    source: Option<Stat>,
    /// `version`, `fileId`, `given` and `left`: the entry that it has made.
    now: Option<Stat>,
}

impl StepFacts {
    /// Returns the version of what the step has made.
    pub(crate) fn version(&self) -> Option<String> {
        self.now.as_ref().map(|now| now.version().to_string())
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
    /// The facts of the steps that were begun.
    facts: Vec<StepFacts>,
    /// The path of the last step that was begun, in the form for JavaScript.
    path: &'r str,
    /// The path from which it moves or copies, in the same form; empty for any other step.
    from: &'r str,
    /// The content of the file at that path before the change.
    content: &'r [u8],
    /// True if the entry of that step is in the file.
    is_intended: bool,
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
pub(crate) fn no_record_error(error: Error) -> Error {
    error.detail("reason", "record")
}

impl<'r> ChangeRecord<'r> {
    /// Returns a record whose entries go to a new, empty file.
    pub fn new(file: OwnedFd, key: RecordKey, texts: RecordTexts<'r>, durable: bool) -> Self {
        let (previous, facts) = ([0; MAC_BYTES], Vec::with_capacity(texts.steps.len()));
        let (path, from, content) = ("", "", &b""[..]);
        let (size, is_intended) = (0, false);
        Self { file, key, texts, durable, previous, size, facts, path, from, content, is_intended }
    }

    /// Goes on to the next step, which changes `path` and replaces `content`.
    pub(crate) fn next(&mut self, path: &'r str, content: &'r [u8]) {
        (self.path, self.from, self.content) = (path, "", content);
        self.is_intended = false;
        self.facts.push(StepFacts::default());
    }

    /// Goes on to the next step, which moves or copies an entry to `path`.
    pub(crate) fn next_transfer(&mut self, from: &'r str, path: &'r str) {
        self.next(path, b"");
        self.from = from;
    }

    /// Writes what is known before the step changes the entry at `place`, unless that was done.
    pub(crate) fn intend(&mut self, place: &ResolvedEntry<'_>) -> Result<()> {
        self.intend_with(place, self.content)
    }

    /// Does the same for a step that removes or replaces the file at `place` with the metadata
    /// `stat`, whose content is in the record from then on. Returns false if it has changed since it
    /// was resolved. An error that has the reason `record` is not one of the step.
    pub(crate) fn intend_over(
        &mut self,
        place: &ResolvedEntry<'_>,
        stat: &Stat,
        cancel: &CancelToken,
    ) -> Result<bool> {
        let Some((file, now)) = open_resolved_file(place).map_err(no_record_error)? else {
            return Ok(false);
        };
        if !now.version().same_facts(stat) {
            return Ok(false);
        }
        let content = read_for_record(&file, &now, cancel).map_err(no_record_error)?;
        let before = image_of_file(&now, Some(content.len()));
        if self.last_facts().before.as_ref() != Some(&before) {
            self.check_not_intended()?;
            self.last_facts().before = Some(before);
        }
        self.intend_with(place, &content)?;
        Ok(true)
    }

    /// Does the same for a step that moves or copies an entry to a path where none is.
    pub(crate) fn intend_new(&mut self, place: &ResolvedEntry<'_>) -> Result<()> {
        if self.last_facts().before.take().is_some() {
            self.check_not_intended()?;
        }
        self.intend_with(place, b"")
    }

    /// Notes the entry at `source` that the step moves, before it is intended.
    pub(crate) fn moves(&mut self, source: &ResolvedEntry<'_>, stat: &Stat) -> Result<()> {
        self.takes(&source.real, stat)?;
        if self.has_mark("parentFrom") {
            self.last_facts().parent_from = Some(id_of_directory(source)?);
        }
        Ok(())
    }

    /// Notes the entry with the real path `real` that the step takes to its path, before
    /// it is intended.
    pub(crate) fn takes(&mut self, real: &[u8], stat: &Stat) -> Result<()> {
        if encode_name(real) != self.from {
            return Err(link_error());
        }
        let facts = self.last_facts();
        if facts.source.replace(*stat).is_some_and(|noted| noted.version() != stat.version()) {
            self.check_not_intended()?;
        }
        Ok(())
    }

    /// Returns an error if the entry of the step is in the file, so that it cannot tell other facts.
    fn check_not_intended(&self) -> Result<()> {
        if self.is_intended {
            let other = Error::new(Code::Conflict, "changed after it was recorded");
            return Err(no_record_error(other));
        }
        Ok(())
    }

    fn last_facts(&mut self) -> &mut StepFacts {
        if self.facts.is_empty() {
            self.facts.push(StepFacts::default());
        }
        let last = self.facts.len() - 1;
        &mut self.facts[last]
    }

    /// Returns the text of the entry of the step.
    fn step_text(&self) -> &'r str {
        let step = self.facts.len().checked_sub(1);
        step.and_then(|step| self.texts.steps.get(step)).copied().unwrap_or_default()
    }

    fn has_mark(&self, name: &str) -> bool {
        self.step_text().contains(&format!("\\u0000{name}:"))
    }

    fn intend_with(&mut self, place: &ResolvedEntry<'_>, content: &[u8]) -> Result<()> {
        if encode_name(&place.real) != self.path {
            return Err(link_error());
        }
        if self.is_intended {
            return Ok(());
        }
        if self.has_mark("before") != self.last_facts().before.is_some() {
            let other = Error::new(Code::Conflict, "another entry is there than was planned");
            return Err(no_record_error(other));
        }
        if self.has_mark("parent") {
            self.last_facts().parent = Some(id_of_directory(place)?);
        }
        let steps = self.filled(self.step_text(), 0.0);
        let mut parts = Vec::new();
        let begin;
        let mut before = self.previous;
        if self.facts.len() == 1 {
            let (head, mac) = self.entry(self.texts.begin, b"", &before);
            (begin, before) = (head, mac);
            parts.extend([&begin[..], &before[..]]);
        }
        let (head, last) = self.entry(&steps, content, &before);
        parts.extend([&head[..], content, &last[..]]);
        self.size = self.append(&parts).map_err(no_record_error)?;
        (self.previous, self.is_intended) = (last, true);
        Ok(())
    }

    /// Notes that the step is made, and has left an entry with the metadata `now`.
    pub(crate) fn made(&mut self, now: Option<&Stat>) {
        self.last_facts().now = now.copied();
    }

    /// Writes the end of the record, after all steps are made, and closes the file. Returns the
    /// facts of the steps, and the moment of the commit, which is after `last`, in milliseconds
    /// since 1970; an error if the record has no end.
    pub(crate) fn commit(self, last: f64) -> (Vec<StepFacts>, Result<f64>) {
        let moment = next_moment(last);
        let json = self.filled(self.texts.commit, moment);
        let (commit, mac) = self.entry(&json, b"", &self.previous);
        let file = rustix::io::fcntl_dupfd_cloexec(&self.file, 0).map_err(os_error);
        let written = file.and_then(|file| {
            self.append(&[&commit, &mac])?;
            // A file system may report only now that it has not stored the record.
            close_with_errors(file)
        });
        if written.is_err() {
            // The change may be rolled back now, and a crash must not leave its record whole.
            let _ = rustix::fs::ftruncate(&self.file, self.size);
        }
        (self.facts, written.map(|()| moment))
    }

    /// Closes a record without an end. Returns the facts of the steps: none of a last one that has
    /// no entry, because it has changed nothing.
    pub(crate) fn leave(mut self) -> Vec<StepFacts> {
        if !self.is_intended {
            self.facts.pop();
        }
        self.facts
    }

    /// Returns a text with the facts in the places of their marks.
    fn filled(&self, text: &str, moment: f64) -> String {
        let mut filled = String::with_capacity(text.len() + 64);
        let mut rest = text;
        while let Some(at) = rest.find(MARK) {
            filled.push_str(&rest[..at]);
            let mark = &rest[at + MARK.len()..];
            let end = mark.find('"').unwrap_or(mark.len());
            filled.push_str(&self.fact(&mark[..end], moment));
            rest = mark.get(end + 1..).unwrap_or_default();
        }
        filled.push_str(rest);
        filled
    }

    /// Returns the JSON of the fact that a mark names: `moment`, or the name of a field and the
    /// index of a step.
    fn fact(&self, mark: &str, moment: f64) -> String {
        if mark == "moment" {
            return moment.to_string();
        }
        let (name, index) = mark.split_once(':').unwrap_or_default();
        let facts = index.parse().ok().and_then(|index: usize| self.facts.get(index));
        let Some(facts) = facts else { return "null".into() };
        let text = |known: Option<&str>| known.map(|text| format!("\"{text}\""));
        let version = facts.version();
        let version = version.as_deref();
        let source = facts.source.as_ref();
        let known = match name {
            "parent" => text(facts.parent.as_deref()),
            "parentFrom" => text(facts.parent_from.as_deref()),
            "before" => facts.before.clone(),
            "moved" => source.map(image_of_entry),
            "size" => source.map(|source| source.size.to_string()),
            "mode" => source.map(|source| source.mode.to_string()),
            "sourceVersion" => source.map(|source| format!("\"{}\"", source.version())),
            "version" => text(version),
            "fileId" => text(version.map(file_id_of)),
            "left" => facts.now.as_ref().map(final_image_of),
            "given" => Some(version.map_or("{}".into(), |version| {
                format!("{{\"version\":\"{version}\",\"fileId\":\"{}\"}}", file_id_of(version))
            })),
            _ => None,
        };
        known.unwrap_or_else(|| "null".into())
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
            sync_content(&self.file)?;
        }
        Ok(end)
    }
}

fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().into()
}

/// Returns the JSON of a file, as `imageOfFile` in `js/backends/transaction/pre-image.ts` has it; with
/// the size of its content, where the record has that, or else as `preImageOf` there has it.
fn image_of_file(stat: &Stat, content: Option<usize>) -> String {
    let version = stat.version().to_string();
    let (file_id, mtime) = (file_id_of(&version), nanos_to_millis(stat.mtime));
    let size = content.map_or(stat.size, |size| size as u64);
    let bytes = content.map(|size| format!(",\"bytes\":[0,{size}]")).unwrap_or_default();
    format!(
        "{{\"type\":\"file\",\"mode\":{},\"fileId\":\"{file_id}\",\"size\":{size},\
         \"mtime\":{mtime},\"version\":\"{version}\"{bytes}}}",
        stat.mode
    )
}

/// Returns the JSON of a file or directory, as `preImageOf` has it.
fn image_of_entry(stat: &Stat) -> String {
    if stat.kind != Kind::Dir {
        return image_of_file(stat, None);
    }
    let version = stat.version().to_string();
    format!("{{\"type\":\"dir\",\"mode\":{},\"fileId\":\"{}\"}}", stat.mode, file_id_of(&version))
}

/// Returns the JSON of a file or directory that a step has left, as `js/log/final-states.ts` reads it.
fn final_image_of(stat: &Stat) -> String {
    let mode = format!("\"mode\":{},", stat.mode);
    image_of_entry(stat).replacen(&mode, "", 1)
}

/// Returns the id of the directory of an entry.
fn id_of_directory(place: &ResolvedEntry<'_>) -> Result<String> {
    let dir = Stat::of(&place.dir).map_err(|errno| no_record_error(os_error(errno)))?;
    Ok(file_id_of(&dir.version().to_string()).to_owned())
}

fn link_error() -> Error {
    no_record_error(Error::new(Code::Conflict, "the recorded path leads through a link"))
}

/// Returns device and inode of a file, which are the first two fields of its version.
fn file_id_of(version: &str) -> &str {
    let end = version.match_indices('.').nth(1).map_or(version.len(), |(at, _)| at);
    &version[..end]
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
