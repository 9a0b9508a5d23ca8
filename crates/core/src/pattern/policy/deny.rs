//! Matches paths against the deny globs of a policy, each from the directory that it starts from.

use super::RulesConfig;
use crate::error::{Code, Error, Result};
use crate::pattern::glob::{Case, PatternSet};

/// The maximum length of a deny glob in bytes; a longer one is refused.
pub const MAX_DENY_GLOB_BYTES: usize = 4096;

/// The maximum number of deny globs in one policy; more are refused.
pub const MAX_DENY_GLOBS: usize = 4096;

#[derive(Clone, Debug)]
pub(super) struct DenyGlobs {
    cwd: Vec<u8>,
    bases: Vec<Vec<u8>>,
    /// The globs that match paths relative to `cwd`.
    anchored: PatternSet,
    /// The globs that match at any depth below each of `bases`.
    floating: PatternSet,
    /// The globs that match paths from `/`.
    absolute: PatternSet,
}

/// The paths above an entry that are tested as well as the entry.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum TestedAncestors {
    AllAbove,
    EntryOnly,
}

impl DenyGlobs {
    /// Compiles the deny globs of a policy.
    pub(super) fn new(config: &RulesConfig<'_>) -> Result<Self> {
        if config.deny.len() > MAX_DENY_GLOBS {
            return Err(Error::new(Code::LimitExceeded, "more than 4096 deny globs"));
        }
        let mut lists = [Vec::new(), Vec::new(), Vec::new()];
        for pattern in config.deny {
            let (base, pattern) = parse_glob_base(pattern, config.cwd)?;
            lists[base as usize].push(pattern);
        }
        let case = if config.fold_case { Case::Insensitive } else { Case::Sensitive };
        let [anchored, floating, absolute] = lists.map(|list| PatternSet::new(&list, case));
        let mut bases: Vec<Vec<u8>> = config.roots.iter().map(|root| root.to_vec()).collect();
        if !bases.iter().any(|base| base == config.cwd) {
            bases.push(config.cwd.to_vec());
        }
        Ok(Self {
            cwd: config.cwd.to_vec(),
            bases,
            anchored: anchored?,
            floating: floating?,
            absolute: absolute?,
        })
    }

    /// Returns true if a deny glob matches the path or, as `reach` says, a directory above it.
    pub(super) fn matches(&self, path: &[u8], reach: TestedAncestors) -> bool {
        if !self.absolute.is_empty()
            && let Some(rest) = path.strip_prefix(b"/")
            && any_tested_path(rest, reach, |entry| self.absolute.matches(entry))
        {
            return true;
        }
        self.bases.iter().any(|base| {
            let Some(rest) = relative_path_below(path, base) else { return false };
            let anchored = !self.anchored.is_empty() && *base == self.cwd;
            any_tested_path(rest, reach, |entry| {
                self.floating.matches(entry) || (anchored && self.anchored.matches(entry))
            })
        })
    }
}

/// Returns `path` relative to `base`, or `None` unless it is strictly below `base`.
fn relative_path_below<'a>(path: &'a [u8], base: &[u8]) -> Option<&'a [u8]> {
    let rest = if base == b"/" { path } else { path.strip_prefix(base)? };
    rest.strip_prefix(b"/").filter(|rest| !rest.is_empty())
}

/// Returns true if `f` returns true for the path or, with [`TestedAncestors::AllAbove`], for a
/// directory above it.
fn any_tested_path(path: &[u8], reach: TestedAncestors, f: impl Fn(&[u8]) -> bool) -> bool {
    if f(path) {
        return true;
    }
    reach == TestedAncestors::AllAbove && memchr::memchr_iter(b'/', path).any(|end| f(&path[..end]))
}

/// The directory from which a deny glob matches; the index of its list.
#[derive(Clone, Copy)]
enum GlobBase {
    Anchored = 0,
    Floating = 1,
    Absolute = 2,
}

/// Returns the base of a glob, and the glob without `.` and leading `..` components.
fn parse_glob_base(pattern: &str, cwd: &[u8]) -> Result<(GlobBase, String)> {
    let refuse = |why: &str| Err(Error::new(Code::InvalidGlob, format!("deny glob {why}")));
    if pattern.len() > MAX_DENY_GLOB_BYTES {
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
        return Ok((GlobBase::Absolute, format!("/{rest}")));
    }
    if up > 0 {
        let mut base: Vec<&[u8]> =
            cwd.split(|&byte| byte == b'/').filter(|name| !name.is_empty()).collect();
        base.truncate(base.len().saturating_sub(up));
        let Ok(base) = std::str::from_utf8(&base.join(&b'/')).map(escape_glob) else {
            return refuse("climbs into a directory whose name is not UTF-8");
        };
        let absolute = if base.is_empty() { format!("/{rest}") } else { format!("/{base}/{rest}") };
        return Ok((GlobBase::Absolute, absolute));
    }
    // `./name` matches only in the working directory; a bare name matches at any depth.
    if names.len() == 1 && !pattern.starts_with("./") {
        return Ok((GlobBase::Floating, format!("**/{rest}")));
    }
    if names[0] == "**" {
        return Ok((GlobBase::Floating, rest));
    }
    Ok((GlobBase::Anchored, format!("/{rest}")))
}

fn escape_glob(name: &str) -> String {
    let mut glob = String::with_capacity(name.len());
    for c in name.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '(' | ')' | '|' | ',' | '!' | '\\') {
            glob.push('\\');
        }
        glob.push(c);
    }
    glob
}
