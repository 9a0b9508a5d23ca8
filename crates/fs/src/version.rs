//! Versions: which state of which file, as text that callers pass back.

use std::fmt::Write as _;

use filewright_core::{Code, Error, Result};

use crate::stat::{Kind, Stat};

/// Which state of which file: opaque text for callers.
///
/// The text is `dev.ino.size.mtime.ctime` in lower-case hexadecimal (times in
/// nanoseconds), followed by `:` and 64 digits of SHA-256 where the content
/// hash is known. Five equal fields are the same version. If they differ, a
/// known hash decides: a file that was only touched, or replaced by the same
/// bytes, is still the same version. Without a hash any difference counts.
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
    /// The version that facts stand for.
    pub(crate) fn of(stat: &Stat) -> Self {
        let Stat { dev, ino, size, mtime, ctime, .. } = *stat;
        Self { dev, ino, size, mtime, ctime, hash: None }
    }

    /// The same version with its content hash, `sha256:` and 64 digits.
    #[must_use]
    pub fn with_hash(mut self, sha256: &str) -> Self {
        self.hash = sha256.strip_prefix("sha256:").map(str::to_owned);
        self
    }

    /// The content hash, `sha256:` and 64 digits, where it is known.
    pub fn hash(&self) -> Option<String> {
        self.hash.as_ref().map(|hash| format!("sha256:{hash}"))
    }

    /// Reads the text form.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for anything that [`Version`] did not print.
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

    /// Whether the facts are those of this version. If not, its content may
    /// still be the same.
    pub fn same_facts(&self, stat: &Stat) -> bool {
        let now = stat.version();
        (self.dev, self.ino, self.size, self.mtime, self.ctime)
            == (now.dev, now.ino, now.size, now.mtime, now.ctime)
    }

    /// Whether the content may be that of this version although the facts
    /// differ: only then is it worth hashing.
    pub(crate) fn worth_hashing(&self, stat: &Stat) -> bool {
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
    use super::*;
    use proptest::prelude::*;

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
