//! Converts the paths that callers write for a Windows disk to the form that everything inside uses,
//! or refuses them: `C:\repo\a.ts` becomes `/C:/repo/a.ts`.
//!
//! The conversion is lexical and precedes every rule, so that rules see one spelling of a path
//! apart from letter case, which they ignore. It runs on every system. Both `/` and `\` separate.
//! Refused are paths whose meaning depends on more than their text (`C:a`, `\a`), paths of the
//! network and of devices, and names that refer to another file ([`super::windows_names`]).

use super::windows_names::{check_name, check_not_short_name};
use crate::error::{Code, Error, Result};

/// The maximum length of a path in UTF-16 code units.
const MAX_PATH_UNITS: usize = 32_767;

/// The base of the relative paths of one policy, and the spelling of its roots.
#[derive(Clone, Debug)]
pub struct WindowsBase {
    /// The working directory, which is absolute.
    cwd: DrivePath,
    /// The roots. They may contain short names such as `RUNNER~1`, which Windows has resolved already.
    roots: Vec<DrivePath>,
}

/// An absolute path: its drive, and its names without `.` and `..`.
#[derive(Clone, Debug, PartialEq)]
struct DrivePath {
    drive: char,
    names: Vec<String>,
}

/// The beginning of a path.
enum PathStart {
    Drive(char),
    Relative,
}

impl WindowsBase {
    /// Parses the working directory and the roots, which are in the internal form. A root `/`
    /// stands for every drive.
    ///
    /// # Errors
    /// As [`windows_root`].
    pub fn new(cwd: &str, roots: &[String]) -> Result<Self> {
        let absolute = |path: &str| parse(path, None).map(|(path, _)| path);
        let roots = roots.iter().filter(|root| *root != "/").map(|root| absolute(root));
        Ok(Self { cwd: absolute(cwd)?, roots: roots.collect::<Result<_>>()? })
    }

    /// Returns a path as a caller wrote it in the internal form: absolute and without `.` and
    /// `..`. It ends in `/` if it can only name a directory. The part that is a root in another
    /// letter case becomes the root.
    ///
    /// # Errors
    /// `OUTSIDE_ALLOWED` for paths of the network and of devices, without a drive or above it;
    /// `INVALID_ARGUMENT` for names that refer to another file; `NAME_TOO_LONG`.
    pub fn resolve(&self, typed: &str) -> Result<String> {
        let (mut path, is_directory) = parse(typed, Some(&self.cwd))?;
        let root = self.roots.iter().filter(|root| path.is_within(root));
        let chosen = root.max_by_key(|root| root.names.len());
        let known = chosen.map_or(0, |root| root.names.len());
        path.names[known..].iter().try_for_each(|name| check_not_short_name(name))?;
        if let Some(root) = chosen {
            path.names[..known].clone_from_slice(&root.names);
        }
        let end = if is_directory && !path.names.is_empty() { "/" } else { "" };
        Ok(path.inner() + end)
    }
}

/// Returns a root as a host wrote it in the internal form. Relative ones start from `cwd`. Short
/// names are accepted, because the host resolves a root to its stored name before it is used.
///
/// # Errors
/// As [`WindowsBase::resolve`].
///
/// ```
/// use filewright_core::text::windows_paths::windows_root;
/// assert_eq!(windows_root(r"c:\repo\.", "/C:/").unwrap(), "/C:/repo");
/// assert!(windows_root(r"\\server\share", "/C:/").is_err());
/// ```
pub fn windows_root(given: &str, cwd: &str) -> Result<String> {
    let (cwd, _) = parse(cwd, None)?;
    parse(given, Some(&cwd)).map(|(path, _)| path.inner())
}

/// Checks an absolute path in any form: each of its names refers to the file of exactly that name.
///
/// # Errors
/// As [`WindowsBase::resolve`].
pub fn check_windows_path(path: &str) -> Result<()> {
    let (path, _) = parse(path, None)?;
    path.names.iter().try_for_each(|name| check_not_short_name(name))
}

impl DrivePath {
    fn inner(&self) -> String {
        let mut path = format!("/{}:", self.drive);
        for name in &self.names {
            path.push('/');
            path.push_str(name);
        }
        path
    }

    /// Returns true if the path is `root` or lies below it, in any letter case.
    fn is_within(&self, root: &DrivePath) -> bool {
        self.drive == root.drive
            && self.names.len() >= root.names.len()
            && self.names.iter().zip(&root.names).all(|(a, b)| a.to_lowercase() == b.to_lowercase())
    }
}

const fn is_separator(c: char) -> bool {
    matches!(c, '/' | '\\')
}

/// Parses a path; the flag is true if it can only name a directory.
fn parse(typed: &str, cwd: Option<&DrivePath>) -> Result<(DrivePath, bool)> {
    if typed.is_empty() {
        return Err(Error::new(Code::InvalidArgument, "path is empty"));
    }
    if typed.len() > MAX_PATH_UNITS && typed.encode_utf16().count() > MAX_PATH_UNITS {
        return Err(Error::new(Code::NameTooLong, "path is longer than 32767 characters"));
    }
    if typed.contains('\0') {
        return Err(Error::new(Code::InvalidArgument, "path contains a NUL byte"));
    }
    let (start, below) = split_start(typed)?;
    let mut path = match (start, cwd) {
        (PathStart::Drive(drive), _) => DrivePath { drive, names: Vec::new() },
        (PathStart::Relative, Some(cwd)) => cwd.clone(),
        (PathStart::Relative, None) => {
            return Err(Error::new(Code::InvalidArgument, "path is not absolute"));
        }
    };
    let mut last = "";
    for name in below.split(is_separator) {
        last = name;
        match name {
            "" | "." => {}
            ".." => {
                if path.names.pop().is_none() {
                    return Err(outside("the path climbs above its drive"));
                }
            }
            _ => {
                check_name(name)?;
                path.names.push(name.to_owned());
            }
        }
    }
    Ok((path, matches!(last, "" | "." | "..")))
}

/// Splits a path into what it begins with and the names below.
fn split_start(typed: &str) -> Result<(PathStart, &str)> {
    let mut chars = typed.chars();
    let [first, second, third] = [chars.next(), chars.next(), chars.next()];
    let separates = |c: Option<char>| c.is_some_and(is_separator);
    if separates(first) && separates(second) {
        let is_device = matches!(third, Some('?' | '.')) && chars.next().is_none_or(is_separator);
        return Err(if is_device { device() } else { network() });
    }
    if separates(first) && second == Some('?') && third == Some('?') {
        return Err(device());
    }
    if starts_with_ignoring_case(typed, "file:") {
        return Err(Error::new(Code::InvalidArgument, "it is a URL; send the path"));
    }
    // The internal form begins with a separator, which is then followed by the drive.
    let given = if separates(first) { &typed[1..] } else { typed };
    let mut chars = given.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some(letter), Some(':'), after) if letter.is_ascii_alphabetic() => {
            let is_absolute = after.map_or(separates(first), is_separator);
            if !is_absolute {
                let message = "a path of a drive without a directory depends on more than its text";
                let hint =
                    format!("send an absolute path, such as {letter}:\\repo, or a relative one");
                return Err(Error::new(Code::InvalidArgument, message).hint(hint));
            }
            Ok((PathStart::Drive(letter.to_ascii_uppercase()), &given[2..]))
        }
        _ if separates(first) => Err(outside(
            "the path begins with a separator and names no drive",
        )
        .hint("send a path relative to the working directory, or one that begins with the drive")),
        _ => Ok((PathStart::Relative, given)),
    }
}

fn starts_with_ignoring_case(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

fn outside(message: &str) -> Error {
    Error::new(Code::OutsideAllowed, message)
}

fn network() -> Error {
    outside("a path of the network is not supported on Windows")
        .hint("use a directory on a drive of this machine, such as C:\\repo")
}

fn device() -> Error {
    outside("a path of devices is not supported on Windows")
        .hint("send the path without the prefix, beginning with the drive")
}

#[cfg(test)]
mod tests;
