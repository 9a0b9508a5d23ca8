//! Resolves an absolute path to the descriptor of a directory and one name in it.

use std::os::fd::AsFd;

use filewright_core::pattern::policy::Intent;
use filewright_core::text::path::{components, encode_name};
use filewright_core::text::windows_paths;
use filewright_core::{Code, Error, Result};
use rustix::io::Errno;

use super::components::ComponentWalk;
use super::entry::{DirFd, FinalSymlink, MissingPolicy, ResolvedEntry};
use super::renew::root_gone_error;
use super::resolver::open_far_beneath;
use super::{Follow, Resolver, Roots, absolute_path_of, outside_for_intent_error};
use crate::dir::errno::{os_error, outside_error};
use crate::dir::stat::{Kind, Stat};

const MAX_NAME_BYTES: usize = 255;

impl Roots {
    /// Resolves an absolute path and checks rights and rules on its real path. The caller checks
    /// whether the entry exists and which type it has.
    pub(crate) fn locate(
        &self,
        path: &[u8],
        intent: Intent,
        last: FinalSymlink,
        missing: MissingPolicy<'_>,
    ) -> Result<ResolvedEntry<'_>> {
        if intent == Intent::Write && self.read_only {
            return Err(Error::new(Code::ReadOnly, "the workspace is read-only"));
        }
        // This check is only needed on Windows, where one file has several names, but it is
        // compiled everywhere, so that it stays correct.
        if cfg!(windows) {
            windows_paths::check_windows_path(&encode_name(path))?;
        }
        let parsed = components(path)?;
        if !parsed.absolute {
            return Err(Error::new(Code::InvalidArgument, "path is not absolute"));
        }
        let (index, real) = self
            .root_for(&absolute_path_of(&parsed.names))
            .ok_or_else(|| outside_for_intent_error(intent))?;
        if self.rules.denied(&real) {
            return Err(outside_for_intent_error(intent));
        }
        // Without rights on the path as written, the call can only be allowed if a link leads to a
        // path with rights. Until then, errors must not show what exists on the way.
        let allowed = self.has_right(&real, intent);
        if allowed && intent == Intent::Write {
            self.check(&real, intent)?;
        }
        let is_gone = || allowed && self.roots[index].is_gone();
        let conceal = |error: Error| match allowed {
            true if error.code == Code::NotFound && is_gone() => root_gone_error(),
            true => error,
            false => outside_for_intent_error(intent),
        };
        if parsed.names.iter().any(|name| name.len() > MAX_NAME_BYTES) {
            return Err(conceal(os_error(Errno::NAMETOOLONG)));
        }
        let mut place = match self.by_kernel(index, &real, last, &missing) {
            Some(result) => result.map_err(conceal)?,
            None => ComponentWalk::new(self, index, &real, last, missing).run().map_err(conceal)?,
        };
        // In a deleted directory nothing can be found or created.
        if place.found.is_none_or(|stat| stat.kind == Kind::Dir && stat.nlink == 0) && is_gone() {
            return Err(root_gone_error());
        }
        place.directory |= parsed.directory;
        let final_path = place.real_with_missing();
        if self.follow == Follow::Any && allowed {
            if self.rules.denied(&final_path) {
                return Err(outside_error());
            }
            if intent == Intent::Write && self.rules.protected(&final_path) {
                return Err(crate::dir::errno::protected_error());
            }
        } else {
            self.check(&final_path, intent)?;
        }
        if intent == Intent::Write {
            self.check_repository(&final_path)?;
        }
        if place.directory && place.kind().is_some_and(|kind| kind != Kind::Dir) {
            return Err(os_error(Errno::NOTDIR));
        }
        Ok(place)
    }

    /// Opens the parent directory with one system call that refuses links. Returns `None` if that
    /// cannot decide, for example because there is a link, and [`ComponentWalk`] is needed.
    fn by_kernel(
        &self,
        index: usize,
        real: &[u8],
        last: FinalSymlink,
        missing: &MissingPolicy<'_>,
    ) -> Option<Result<ResolvedEntry<'_>>> {
        let root = &self.roots[index];
        if self.resolver != Resolver::Kernel {
            return None;
        }
        let rest = real[root.anchor_path.len()..].strip_prefix(b"/");
        let rest = if root.anchor_path == b"/" { real.strip_prefix(b"/") } else { rest };
        let rest = rest.unwrap_or_default();
        let mut place = ResolvedEntry {
            dir: DirFd::Root(root.anchor.as_fd()),
            name: None,
            real: real.to_vec(),
            found: None,
            missing: Vec::new(),
            directory: false,
        };
        if rest.is_empty() {
            place.found = match Stat::of(&place.dir) {
                Ok(stat) => Some(stat),
                Err(errno) => return Some(Err(os_error(errno))),
            };
            return Some(Ok(place));
        }
        let name = match memchr::memrchr(b'/', rest) {
            None => rest,
            Some(cut) => {
                match open_far_beneath(root.anchor.as_fd(), &rest[..cut]) {
                    Ok(fd) => place.dir = DirFd::Opened(fd),
                    Err(Errno::NOENT) if matches!(missing, MissingPolicy::Fail) => {
                        return Some(Err(os_error(Errno::NOENT)));
                    }
                    Err(Errno::ACCESS) => return Some(Err(os_error(Errno::ACCESS))),
                    // There is a link, a directory is missing, or the error has several possible
                    // causes: the walk finds out.
                    Err(_) => return None,
                }
                &rest[cut + 1..]
            }
        };
        place.found = match Stat::find(&place.dir, name) {
            Ok(found) => found,
            Err(error) => return Some(Err(error)),
        };
        if place.kind() == Some(Kind::Symlink) && last == FinalSymlink::Follow {
            return None;
        }
        place.name = Some(name.to_vec());
        Some(Ok(place))
    }
}
