//! The options of changes from the flags and texts that a binding passes, because an object of
//! options costs more.

use filewright_core::wire;
use filewright_core::{Code, Error, Result};

use crate::cancel::CancelToken;
use crate::dir::stat::Version;
use crate::root::Roots;
use crate::transfer::TransferOptions;
use crate::write::aside::Conditions;
use crate::write::{Durability, Preserve, WriteOptions, Written};

wire! {
    /// Bits of the flags of a write, a move or a copy.
    pub bits ChangeFlags {
        /// Fail if the entry exists.
        IF_ABSENT = 1,
        /// Create the directories above the entry.
        CREATE_DIRS = 2,
        /// Add to the end of the file.
        APPEND = 4,
        /// Fail rather than lose metadata of a replaced file.
        STRICT = 8,
        /// Replace the target of a move or copy.
        OVERWRITE = 16,
    }
}

impl WriteOptions {
    /// Returns the options for [`ChangeFlags`], and the index of a [`Durability`].
    ///
    /// # Errors
    /// `CONFLICT` for a text that is no version.
    pub fn from_flags(
        if_version: Option<&str>,
        flags: u32,
        mode: Option<u64>,
        durability: u32,
        aside: Option<&str>,
    ) -> Result<Self> {
        Ok(Self {
            if_version: version_of(if_version)?,
            if_absent: flags & ChangeFlags::IF_ABSENT != 0,
            create_dirs: flags & ChangeFlags::CREATE_DIRS != 0,
            mode: mode.map(|mode| mode as u32),
            durability: Durability::of_index(durability),
            preserve: preserve_of(flags),
            aside: aside.map(Vec::from),
        })
    }
}

impl TransferOptions {
    /// Returns the options for [`ChangeFlags`], and the index of a [`Durability`].
    pub fn from_flags(flags: u32, durability: u32) -> Self {
        Self {
            overwrite: flags & ChangeFlags::OVERWRITE != 0,
            create_dirs: flags & ChangeFlags::CREATE_DIRS != 0,
            durability: Durability::of_index(durability),
            preserve: preserve_of(flags),
        }
    }
}

impl Conditions {
    /// Parses the conditions of a change.
    ///
    /// # Errors
    /// `CONFLICT` for a text that is no version.
    pub fn from_text(
        if_version: Option<&str>,
        if_target: Option<&str>,
        aside: Option<&str>,
    ) -> Result<Self> {
        let (if_version, if_target) = (version_of(if_version)?, version_of(if_target)?);
        Ok(Self { if_version, if_target, aside: aside.map(Vec::from) })
    }
}

impl Roots {
    /// Writes a file, or appends to it if the flags have [`ChangeFlags::APPEND`].
    ///
    /// # Errors
    /// Like [`Roots::write`].
    pub fn write_or_append(
        &self,
        path: &[u8],
        bytes: &[u8],
        flags: u32,
        options: &WriteOptions,
        cancel: &CancelToken,
    ) -> Result<Written> {
        if flags & ChangeFlags::APPEND != 0 {
            return self.append(path, bytes, options, cancel);
        }
        self.write(path, bytes, options, cancel)
    }
}

impl Durability {
    /// Returns the durability with an index, and the default for an unknown one.
    pub fn of_index(index: u32) -> Self {
        Self::ALL.get(index as usize).copied().unwrap_or_default()
    }
}

fn preserve_of(flags: u32) -> Preserve {
    if flags & ChangeFlags::STRICT == 0 { Preserve::Possible } else { Preserve::Strict }
}

/// Parses a version. A text that is no version cannot equal that of the file, so it is a
/// `CONFLICT`.
fn version_of(text: Option<&str>) -> Result<Option<Version>> {
    text.map(Version::parse).transpose().map_err(|_| {
        Error::new(Code::Conflict, "the file has changed since it was read")
            .hint("read the file again")
    })
}
