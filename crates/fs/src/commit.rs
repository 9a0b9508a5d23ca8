//! A list of changes, made in its order together with its record, by one job.
//!
//! First every path is compared with what the list was planned on ([`Roots::commit`] does so for
//! more than one change). Then each change is made as its own call makes it, with the same
//! conditions, after the entry of its step is in the record; the end of the record follows the last
//! one. A change that fails ends the list: the caller takes back what was made, from the record or
//! from the facts that the job returns.
//!
//! What the job cannot do, or finds in another place than the caller, is refused with the reason
//! `record` while nothing has changed, so that the caller makes the list in another way.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::os::fd::AsFd;

use filewright_core::pattern::policy::Intent;
use filewright_core::text::path::{decode_name, encode_name};
use filewright_core::{Code, Error, Result};
use rustix::io::Errno;
use serde_json::Value;

use crate::cancel::CancelToken;
use crate::dir::errno::{changing_path_error, os_error};
use crate::dir::stat::{Stat, Version};
use crate::dir::tree::remove_temp_entry;
use crate::read::{MAX_RECORDED_BYTES, hash_of_content};
use crate::root::{
    FinalSymlink, MissingPolicy, ResolvedEntry, Roots, open_resolved_file, parent_of,
};
use crate::transfer::mutate::MkdirOptions;
use crate::transfer::{TransferEnds, TransferOptions};
use crate::write::aside::{Conditions, can_set_aside, no_aside_error};
use crate::write::record::{ChangeRecord, StepFacts, no_record_error};
use crate::write::{Durability, WriteOptions, Written};

/// One change of a list.
#[derive(Debug)]
pub struct ListedChange<'c> {
    /// The real path in the form for JavaScript.
    pub path: String,
    /// What is done at the path.
    pub change: Change<'c>,
}

/// What a change of a list does at its path.
#[derive(Debug)]
pub enum Change<'c> {
    /// Writes a file.
    Put {
        /// The new content.
        bytes: &'c [u8],
        /// The content of the file that is replaced, for the record.
        was: &'c [u8],
        /// The conditions. With `create_dirs`, missing directories are named to the caller, who adds
        /// them to the list.
        options: WriteOptions,
    },
    /// Makes a directory that is missing. With `parents`, missing ones above are named to the caller.
    MakeDir {
        /// True if missing directories above are made first.
        parents: bool,
    },
    /// Removes a file.
    Remove(Conditions),
    /// Moves a file, or a directory, which the caller gives only as the one change of its list. One over anything but a file, or
    /// to another file system, is not made here.
    Move(Transfer),
    /// Copies a file.
    Copy(Transfer),
}

/// A move or copy to the path of its change.
#[derive(Debug)]
pub struct Transfer {
    /// The real path of the source in the form for JavaScript.
    pub from: String,
    /// Whether a file is replaced, how far the change is flushed, and what it may lose. Missing
    /// directories are never made with it.
    pub options: TransferOptions,
    /// The conditions.
    pub conditions: Conditions,
    /// True if missing directories above the path are named to the caller, who adds them to the list.
    pub parents: bool,
}

/// The result of a list.
#[derive(Debug)]
pub struct Commit {
    /// The changes that were begun. After a failure at an index, the change there is among them only
    /// if its step is in the record, and may have been made.
    pub steps: Vec<MadeStep>,
    /// The way in which it ended.
    pub end: End,
}

/// A change that was begun.
#[derive(Debug)]
pub struct MadeStep {
    /// The version of what it has made; `None` for a removal, and where the result is not known.
    pub version: Option<String>,
    /// The result of a write.
    pub written: Option<Written>,
}

/// The way in which a list ended.
#[derive(Debug)]
pub enum End {
    /// All changes were made at this moment, in milliseconds since 1970.
    Made(f64),
    /// Nothing was changed, because these directories are missing, outermost first.
    Missing(Vec<String>),
    /// The change with this index failed, and those before it were made. The index of the end of
    /// the list is that of the end of the record.
    Failed(usize, Error),
}

impl<'c> ListedChange<'c> {
    /// Parses a list: JSON of objects `{do: "put" | "mkdir" | "remove" | "move" | "copy", path, from?,
    /// ifVersion?, ifAbsent?, overwrite?, parents?, mode?, aside?}`. `contents` has the new and the
    /// old content of each put.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for anything else; `CONFLICT` for a text that is no version.
    pub fn parse_list(
        text: &str,
        contents: &'c [impl AsRef<[u8]>],
        (flags, durability): (u32, u32),
    ) -> Result<Vec<Self>> {
        let parsed: Value = serde_json::from_str(text).map_err(|_| malformed_error())?;
        let mut contents = contents.iter();
        let mut list = Vec::new();
        for each in parsed.as_array().ok_or_else(malformed_error)? {
            let path = each["path"].as_str().ok_or_else(malformed_error)?.to_owned();
            let (version, aside) = (each["ifVersion"].as_str(), each["aside"].as_str());
            let wants_parents = || each["parents"].as_bool() == Some(true);
            let change = match each["do"].as_str() {
                Some("put") => {
                    let mut content = || Ok(contents.next().ok_or_else(malformed_error)?.as_ref());
                    let (bytes, was) = (content()?, content()?);
                    let mode = each["mode"].as_u64();
                    let mut options =
                        WriteOptions::from_flags(version, flags, mode, durability, aside)?;
                    options.if_absent = each["ifAbsent"].as_bool() == Some(true);
                    options.create_dirs = wants_parents();
                    Change::Put { bytes, was, options }
                }
                Some("mkdir") => Change::MakeDir { parents: wants_parents() },
                Some("remove") => Change::Remove(Conditions::from_text(version, None, aside)?),
                Some(kind @ ("move" | "copy")) => {
                    let mut options = TransferOptions::from_flags(flags, durability);
                    options.overwrite = each["overwrite"].as_bool() == Some(true);
                    let transfer = Transfer {
                        from: each["from"].as_str().ok_or_else(malformed_error)?.to_owned(),
                        options,
                        conditions: Conditions::from_text(version, None, aside)?,
                        parents: wants_parents(),
                    };
                    if kind == "move" { Change::Move(transfer) } else { Change::Copy(transfer) }
                }
                _ => return Err(malformed_error()),
            };
            list.push(Self { path, change });
        }
        Ok(list)
    }

    /// The name under which the entry that the change replaces is kept until the list is made.
    fn aside(&self) -> Option<&[u8]> {
        match &self.change {
            Change::Put { options, .. } => options.aside.as_deref(),
            Change::Remove(conditions) => conditions.aside.as_deref(),
            Change::Move(transfer) | Change::Copy(transfer) => transfer.conditions.aside.as_deref(),
            Change::MakeDir { .. } => None,
        }
    }

    /// Reports whether directories above the path are made if they are missing.
    fn wants_parents(&self) -> bool {
        match &self.change {
            Change::Put { options, .. } => options.create_dirs,
            Change::MakeDir { parents } => *parents,
            Change::Move(transfer) | Change::Copy(transfer) => transfer.parents,
            Change::Remove(_) => false,
        }
    }

    /// Returns the paths that the change reads or writes, with their access.
    fn asked<'p>(&self, from: &'p [u8], path: &'p [u8]) -> Vec<(&'p [u8], Intent)> {
        let source = match self.change {
            Change::Move(_) => Some((from, Intent::Write)),
            Change::Copy(_) => Some((from, Intent::Read)),
            _ => None,
        };
        source.into_iter().chain([(path, Intent::Write)]).collect()
    }

    /// Returns the move or copy, unless the change is another one.
    fn transfer(&self) -> Option<&Transfer> {
        match &self.change {
            Change::Move(transfer) | Change::Copy(transfer) => Some(transfer),
            _ => None,
        }
    }
}

fn malformed_error() -> Error {
    Error::new(Code::InvalidArgument, "the list of changes is malformed")
}

impl Roots {
    /// Makes a list of changes and its record. The moment of the commit is after `last`.
    ///
    /// # Errors
    /// With the reason `record`: nothing has changed, because the list cannot be made or recorded
    /// here. The error of a change is in the result, with the changes that were made before it.
    pub fn commit<'c>(
        &self,
        list: &'c [ListedChange<'c>],
        mut record: ChangeRecord<'c>,
        last: f64,
        cancel: &CancelToken,
    ) -> Result<Commit> {
        let mut linked = LinkedVersions::new();
        if list.len() > 1 {
            match self.compare(list, cancel)? {
                Ok(versions) => linked = versions,
                Err(end) => return Ok(Commit { steps: Vec::new(), end }),
            }
        }
        let mut written = Vec::with_capacity(list.len());
        for (at, change) in list.iter().enumerate() {
            match self.make(change, linked.remove(&at), &mut record, cancel) {
                Ok(made) => written.push(made),
                Err(error) => {
                    let end = self.end_of_failure(at, change, error)?;
                    let steps = with_facts(record.leave(), written);
                    return Ok(Commit { steps, end });
                }
            }
        }
        let (facts, moment) = record.commit(last);
        if moment.is_ok() {
            list.iter().for_each(|change| self.discard_aside(change));
        }
        let end = match moment {
            Ok(moment) => End::Made(moment),
            Err(error) => End::Failed(list.len(), error),
        };
        Ok(Commit { steps: with_facts(facts, written), end })
    }

    /// Compares each path with what the list was planned on. Returns the end of a list that is not
    /// made: another program has changed a path, or directories are missing.
    fn compare(
        &self,
        list: &[ListedChange<'_>],
        cancel: &CancelToken,
    ) -> Result<std::result::Result<LinkedVersions, End>> {
        let mut missing = BTreeSet::new();
        let mut made = BTreeSet::new();
        let mut inodes = BTreeSet::new();
        let mut linked = LinkedVersions::new();
        let mut kept = 0;
        for (at, listed) in list.iter().enumerate() {
            let ListedChange { path, change } = listed;
            if let Err(cancelled) = cancel.check() {
                return Ok(Err(End::Failed(at, cancelled)));
            }
            let real = decode_name(path);
            let place = self
                .locate(&real, Intent::Write, FinalSymlink::Keep, MissingPolicy::Stop)
                .map_err(no_record_error)?;
            if encode_name(&place.real_with_missing()) != path.as_str() {
                let other = Error::new(Code::Conflict, "the path leads through a link");
                return Err(no_record_error(other));
            }
            let found = if place.missing.is_empty() { place.found } else { None };
            let above = missing_dirs(&place, &real);
            if listed.wants_parents() {
                missing.extend(above);
            } else if listed.transfer().is_some() && !above.is_empty() {
                // By steps, the error names the directory.
                return Err(no_record_error(os_error(Errno::NOENT)));
            }
            let is_as_found = match change {
                Change::MakeDir { .. } if found.is_some() => {
                    return Err(no_record_error(os_error(Errno::EXIST)));
                }
                Change::MakeDir { .. } => {
                    made.insert(real.to_vec());
                    true
                }
                Change::Put { options, .. } => is_same(found, options.if_version.as_ref()),
                Change::Remove(conditions) => is_same(found, conditions.if_version.as_ref()),
                // Made, a transfer compares its source, and the record refuses a target that it does
                // not expect.
                Change::Move(transfer) => {
                    self.check_same_disk(transfer, &place).map_err(no_record_error)?;
                    true
                }
                Change::Copy(_) => true,
            };
            if !is_as_found {
                let changed = Error::new(Code::Conflict, "changed since it was read");
                return Ok(Err(End::Failed(at, changed)));
            }
            let Some(found) = found else { continue };
            check_replaced(change, &place, &found, &mut kept).map_err(no_record_error)?;
            let is_again = !inodes.insert((found.dev, found.ino));
            if is_again && matches!(change, Change::Put { .. } | Change::Remove(_)) {
                let version = version_with_content(&place, &found, cancel);
                linked.insert(at, version.map_err(no_record_error)?);
            }
        }
        let left: Vec<_> = missing.difference(&made).collect();
        let names = || left.iter().map(|dir| encode_name(dir).into_owned()).collect();
        Ok(if left.is_empty() { Ok(linked) } else { Err(End::Missing(names())) })
    }

    /// Returns an error for a move to another file system, which copies and deletes by steps.
    fn check_same_disk(&self, transfer: &Transfer, target: &ResolvedEntry<'_>) -> Result<()> {
        let from = decode_name(&transfer.from);
        let source = self.locate(&from, Intent::Write, FinalSymlink::Keep, MissingPolicy::Stop)?;
        let dir = Stat::of(&target.dir).map_err(os_error)?;
        match source.found {
            Some(found) if found.dev != dir.dev => Err(os_error(Errno::XDEV)),
            _ => Ok(()),
        }
    }

    /// Makes one change. Returns the result of a write. `linked` is the version of a file that an
    /// earlier change has met under another name.
    fn make<'c>(
        &self,
        ListedChange { path, change }: &'c ListedChange<'c>,
        linked: Option<Version>,
        record: &mut ChangeRecord<'c>,
        cancel: &CancelToken,
    ) -> Result<Option<Written>> {
        let real = decode_name(path);
        match change {
            Change::Put { bytes, was, options } => {
                record.next(path, was);
                let mut options = WriteOptions { create_dirs: false, ..options.clone() };
                options.if_version = linked.or(options.if_version);
                let written = self.write_step(&real, bytes, &options, record, cancel)?;
                record.made(Some(&written.stat));
                Ok(Some(written))
            }
            Change::MakeDir { .. } => {
                cancel.check()?;
                record.next(path, b"");
                // The flush of the record, after it, is that of the directory too.
                let options = MkdirOptions {
                    parents: false,
                    exist_ok: false,
                    durability: Durability::Atomic,
                };
                self.mkdir_step(&real, &options, Some(record))?;
                Ok(None)
            }
            Change::Remove(conditions) => {
                cancel.check()?;
                record.next(path, b"");
                let mut conditions = conditions.clone();
                conditions.if_version = linked.or(conditions.if_version);
                self.delete_step(&real, &conditions, Durability::Atomic, Some((record, cancel)))?;
                Ok(None)
            }
            Change::Move(Transfer { from, options, conditions, .. }) => {
                record.next_transfer(from, path);
                let ends = TransferEnds { from: &decode_name(from), to: &real };
                let now = self.rename_step(&ends, options, conditions, Some(record), cancel)?;
                record.made(now.as_ref());
                Ok(None)
            }
            Change::Copy(Transfer { from, options, conditions, .. }) => {
                record.next_transfer(from, path);
                let ends = TransferEnds { from: &decode_name(from), to: &real };
                let copied =
                    self.copy_file_step(&ends, options, conditions, Some(record), cancel)?;
                record.made(Some(&copied.stat));
                Ok(Some(copied))
            }
        }
    }

    /// Returns the end of a list whose change failed. If the first change lacks directories above its
    /// path, returns them for the caller to add.
    fn end_of_failure(&self, at: usize, change: &ListedChange<'_>, error: Error) -> Result<End> {
        let path = &change.path;
        let real = decode_name(path);
        if at == 0 && error.details.get("reason").and_then(Value::as_str) == Some("record") {
            return Err(error);
        }
        // By steps, a move or copy looks for the directories first.
        let is_transfer = change.transfer().is_some();
        if at == 0 && (is_transfer || change.wants_parents() && error.code == Code::NotFound) {
            let place = self
                .locate(&real, Intent::Write, FinalSymlink::Keep, MissingPolicy::Stop)
                .map_err(no_record_error)?;
            let missing = missing_dirs(&place, &real);
            if !missing.is_empty() && !change.wants_parents() {
                return Err(no_record_error(error));
            }
            if !missing.is_empty() && encode_name(&place.real_with_missing()) == path.as_str() {
                let names = missing.iter().map(|dir| encode_name(dir).into_owned());
                return Ok(End::Missing(names.collect()));
            }
        }
        let from = change.transfer().map(|transfer| decode_name(&transfer.from));
        let asked = change.asked(from.as_deref().unwrap_or_default(), &real);
        match self.tell_layer::<Infallible>(&asked, Err(error)) {
            Err(told) => Ok(End::Failed(at, told)),
            Ok(never) => match never {},
        }
    }

    /// Removes the entry that a change has set aside. One that stays is removed by a later sweep.
    fn discard_aside(&self, change: &ListedChange<'_>) {
        let Some(aside) = change.aside() else { return };
        let path = decode_name(&change.path);
        let place = self.locate(&path, Intent::Write, FinalSymlink::Keep, MissingPolicy::Fail);
        if let Ok(place) = place {
            let _ = remove_temp_entry(place.dir.as_fd(), aside);
        }
    }
}

/// The versions, with hashes of the contents, of files that a list changes under another hard link too,
/// by the index of the put or removal. The change before gives another time to the file, which is no
/// reason to refuse this one.
type LinkedVersions = BTreeMap<usize, Version>;

/// Returns the version of a file with the hash of its content.
fn version_with_content(
    place: &ResolvedEntry<'_>,
    found: &Stat,
    cancel: &CancelToken,
) -> Result<Version> {
    match open_resolved_file(place)? {
        Some((file, now)) if found.version().same_facts(&now) => {
            Ok(found.version().with_hash(&hash_of_content(&file, cancel)?))
        }
        _ => Err(changing_path_error()),
    }
}

/// Returns an error for a file that the list cannot replace or remove. `kept` is the size of the files
/// whose contents the job reads for the record, to which this one is added.
fn check_replaced(
    change: &Change<'_>,
    place: &ResolvedEntry<'_>,
    found: &Stat,
    kept: &mut u64,
) -> Result<()> {
    if !matches!(change, Change::Put { .. }) {
        *kept += found.size;
    }
    if *kept > MAX_RECORDED_BYTES {
        return Err(Error::new(Code::TooLarge, "the removed files are too large"));
    }
    if can_set_aside(place, found) { Ok(()) } else { Err(no_aside_error()) }
}

fn with_facts(facts: Vec<StepFacts>, written: Vec<Option<Written>>) -> Vec<MadeStep> {
    // A step that failed has facts, and no result.
    let mut written = written.into_iter();
    let each = facts.into_iter();
    each.map(|facts| MadeStep { version: facts.version(), written: written.next().flatten() })
        .collect()
}

/// Reports whether an entry has the metadata that it had when the list was planned; `None` for no
/// entry. Equal content with other times is another entry, and the list is planned again.
fn is_same(found: Option<Stat>, expected: Option<&Version>) -> bool {
    match (found, expected) {
        (None, None) => true,
        (Some(found), Some(expected)) => expected.same_facts(&found),
        _ => false,
    }
}

/// Returns the directories above a path that are missing, outermost first.
fn missing_dirs(place: &ResolvedEntry<'_>, path: &[u8]) -> Vec<Vec<u8>> {
    let mut dirs = Vec::new();
    let mut at = path;
    for _ in 0..place.missing.len() {
        at = parent_of(at);
        dirs.push(at.to_vec());
    }
    dirs.reverse();
    dirs
}
