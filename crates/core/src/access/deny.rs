//! Deny globs: where each is anchored, and what they match.

use globset::{Candidate, Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use super::RulesConfig;
use crate::error::{Code, Error, Result};

/// The longest deny glob, in bytes.
pub const MAX_GLOB_BYTES: usize = 4096;

/// The most deny globs in one policy.
pub const MAX_GLOBS: usize = 4096;

#[derive(Clone, Debug)]
pub(super) struct Deny {
    cwd: Vec<u8>,
    bases: Vec<Vec<u8>>,
    /// Relative to `cwd`.
    anchored: GlobSet,
    /// Relative to each base, at any depth.
    floating: GlobSet,
    /// Relative to `/`.
    absolute: GlobSet,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Ancestors {
    Above,
    Itself,
}

impl Deny {
    pub(super) fn new(config: &RulesConfig<'_>) -> Result<Self> {
        if config.deny.len() > MAX_GLOBS {
            return Err(Error::new(Code::LimitExceeded, "more than 4096 deny globs"));
        }
        let mut sets = [GlobSet::builder(), GlobSet::builder(), GlobSet::builder()];
        for pattern in config.deny {
            let (place, pattern) = parse_base(pattern, config.cwd)?;
            sets[place as usize].add(compile(&pattern, config.fold_case)?);
        }
        let [anchored, floating, absolute] = sets;
        let mut bases: Vec<Vec<u8>> = config.roots.iter().map(|root| root.to_vec()).collect();
        if !bases.iter().any(|base| base == config.cwd) {
            bases.push(config.cwd.to_vec());
        }
        Ok(Self {
            cwd: config.cwd.to_vec(),
            bases,
            anchored: build(&anchored)?,
            floating: build(&floating)?,
            absolute: build(&absolute)?,
        })
    }

    pub(super) fn matches(&self, path: &[u8], reach: Ancestors) -> bool {
        if !self.absolute.is_empty()
            && let Some(rest) = path.strip_prefix(b"/")
            && any_prefix(rest, reach, |candidate| self.absolute.is_match_candidate(candidate))
        {
            return true;
        }
        self.bases.iter().any(|base| {
            let Some(rest) = below(path, base) else { return false };
            let anchored = !self.anchored.is_empty() && *base == self.cwd;
            any_prefix(rest, reach, |candidate| {
                self.floating.is_match_candidate(candidate)
                    || (anchored && self.anchored.is_match_candidate(candidate))
            })
        })
    }
}

/// `path` relative to `base`; `None` when it is not strictly below.
fn below<'a>(path: &'a [u8], base: &[u8]) -> Option<&'a [u8]> {
    let rest = if base == b"/" { path } else { path.strip_prefix(base)? };
    rest.strip_prefix(b"/").filter(|rest| !rest.is_empty())
}

/// Whether `f` holds for the path or, with [`Ancestors::Above`], a directory above.
fn any_prefix(path: &[u8], reach: Ancestors, f: impl Fn(&Candidate<'_>) -> bool) -> bool {
    if f(&Candidate::from_bytes(path)) {
        return true;
    }
    reach == Ancestors::Above
        && memchr::memchr_iter(b'/', path).any(|end| f(&Candidate::from_bytes(&path[..end])))
}

#[derive(Clone, Copy)]
enum GlobBase {
    Anchored = 0,
    Floating = 1,
    Absolute = 2,
}

/// Decides where a glob is anchored and takes `.` and leading `..` out of it.
fn parse_base(pattern: &str, cwd: &[u8]) -> Result<(GlobBase, String)> {
    let refuse = |why: &str| Err(Error::new(Code::InvalidGlob, format!("deny glob {why}")));
    if pattern.len() > MAX_GLOB_BYTES {
        return Err(Error::new(Code::LimitExceeded, "deny glob is longer than 4096 bytes"));
    }
    if pattern.starts_with('!') {
        return refuse("cannot be negated; write \\! for a name that begins with !");
    }
    let names: Vec<&str> =
        pattern.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    if names.is_empty() {
        return refuse("is empty");
    }
    let up = names.iter().take_while(|name| **name == "..").count();
    let names = &names[up..];
    if names.contains(&"..") || names.is_empty() {
        return refuse("has .. after its first names");
    }
    let rest = names.join("/");
    if pattern.starts_with('/') {
        return Ok((GlobBase::Absolute, rest));
    }
    if up > 0 {
        let mut base: Vec<&[u8]> =
            cwd.split(|&byte| byte == b'/').filter(|name| !name.is_empty()).collect();
        base.truncate(base.len().saturating_sub(up));
        let Ok(base) = std::str::from_utf8(&base.join(&b'/')).map(globset::escape) else {
            return refuse("climbs into a directory whose name is not UTF-8");
        };
        let absolute = if base.is_empty() { rest } else { format!("{base}/{rest}") };
        return Ok((GlobBase::Absolute, absolute));
    }
    // `./name` is how to say "here only"; a bare name holds at any depth.
    if names.len() == 1 && !pattern.starts_with("./") {
        return Ok((GlobBase::Floating, format!("**/{rest}")));
    }
    let place = if names[0] == "**" { GlobBase::Floating } else { GlobBase::Anchored };
    Ok((place, rest))
}

fn compile(pattern: &str, fold_case: bool) -> Result<Glob> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .backslash_escape(true)
        .empty_alternates(true)
        .case_insensitive(fold_case)
        .build()
        .map_err(|error| {
            Error::new(Code::InvalidGlob, format!("deny glob {pattern:?}: {}", error.kind()))
        })
}

fn build(builder: &GlobSetBuilder) -> Result<GlobSet> {
    builder
        .build()
        .map_err(|error| Error::new(Code::InvalidGlob, format!("deny globs: {}", error.kind())))
}
