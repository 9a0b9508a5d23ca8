//! Refuses paths with names that have a special meaning on Windows: devices, streams, short names,
//! and trailing dots and spaces, by which one file has many names.
//!
//! The check is lexical and precedes resolution: on Windows, `filewright-fs` calls it for every
//! path. On other systems these are ordinary names, and such files can be read and written.

use crate::error::{Code, Error, Result};

/// Checks a path as an agent wrote it; `/` and `\` both separate. A drive root (`C:\`) may come
/// first.
///
/// # Errors
/// `OUTSIDE_ALLOWED` for paths outside every root (`\\server\share`, `\\?\`, `\\.\`);
/// `INVALID_ARGUMENT` for names that refer to another file.
///
/// ```
/// use filewright_core::text::windows_names;
/// assert!(windows_names::check_windows_path(r"src\con.h").is_err());
/// assert!(windows_names::check_windows_path(r"C:\repo\src\icon.h").is_ok());
/// ```
pub fn check_windows_path(path: &str) -> Result<()> {
    let is_separator = |c: char| matches!(c, '/' | '\\');
    if path.chars().take(2).filter(|&c| is_separator(c)).count() == 2 {
        let what = "a path of the network or of devices leads outside";
        return Err(Error::new(Code::OutsideAllowed, what));
    }
    let mut chars = path.chars();
    let (letter, colon, root) = (chars.next(), chars.next(), chars.next());
    let has_drive = letter.is_some_and(|c| c.is_ascii_alphabetic())
        && colon == Some(':')
        && root.is_some_and(is_separator);
    let below = if has_drive { &path[3..] } else { path };
    for name in below.split(is_separator) {
        if let Some(why) = name_objection(name) {
            return Err(Error::new(Code::InvalidArgument, why)
                .detail("name", name.to_owned())
                .hint("use the name that a listing shows"));
        }
    }
    Ok(())
}

/// Returns the reason why a name does not refer to the file of exactly that name, or `None` if it
/// does.
fn name_objection(name: &str) -> Option<&'static str> {
    if matches!(name, "" | "." | "..") {
        return None;
    }
    if name.contains(':') {
        return Some("a colon names a stream of a file, or a place on a drive");
    }
    if name.chars().any(|c| matches!(c, '<' | '>' | '"' | '|' | '?' | '*') || c < ' ') {
        return Some("the name has characters that Windows does not allow");
    }
    if name.ends_with(['.', ' ']) {
        return Some("dots and spaces at the end of a name are left out by Windows");
    }
    if is_device_name(name) {
        return Some("the name is that of a device");
    }
    is_generated_short_name(name).then_some("the name is a short one, of another file")
}

/// Returns true if a name is that of a device, in any letter case and with any extension.
fn is_device_name(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end_matches(' ');
    let stem = stem.to_ascii_uppercase();
    if matches!(&stem[..], "CON" | "PRN" | "AUX" | "NUL" | "CLOCK$" | "CONIN$" | "CONOUT$") {
        return true;
    }
    let Some(port) = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT")) else {
        return false;
    };
    let mut digits = port.chars();
    // Windows accepts superscript digits in the names of ports.
    matches!(digits.next(), Some('0'..='9' | '\u{b9}' | '\u{b2}' | '\u{b3}'))
        && digits.next().is_none()
}

/// Returns true if a name has the form of a short name that Windows generates, such as `PROGRA~1`.
fn is_generated_short_name(name: &str) -> bool {
    let (stem, extension) = name.split_once('.').unwrap_or((name, ""));
    let Some((head, number)) = stem.rsplit_once('~') else { return false };
    !head.is_empty()
        && stem.len() <= 8
        && extension.len() <= 3
        && !extension.contains('.')
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_with_a_special_meaning_are_refused() {
        use Code::{InvalidArgument, OutsideAllowed};
        for (path, code) in [
            ("CON", InvalidArgument),
            ("com1.txt", InvalidArgument),
            ("COM\u{b9}", InvalidArgument),
            ("NUL .txt", InvalidArgument),
            ("lpt9.tar.gz", InvalidArgument),
            ("a/aux/b", InvalidArgument),
            (r"a\conout$", InvalidArgument),
            ("f.txt::$DATA", InvalidArgument),
            ("f:stream", InvalidArgument),
            ("C:f", InvalidArgument),
            ("f.", InvalidArgument),
            ("f ", InvalidArgument),
            ("d. /f", InvalidArgument),
            ("PROGRA~1", InvalidArgument),
            ("a/GITCO~12.TXT", InvalidArgument),
            ("a*", InvalidArgument),
            ("a\u{1f}b", InvalidArgument),
            (r"\\?\C:\x", OutsideAllowed),
            (r"\\.\pipe\x", OutsideAllowed),
            (r"\\server\share\x", OutsideAllowed),
            ("//server/share/x", OutsideAllowed),
            (r"\/server\share", OutsideAllowed),
        ] {
            assert_eq!(check_windows_path(path).map_err(|error| error.code), Err(code), "{path}");
        }
    }

    #[test]
    fn ordinary_names_are_accepted() {
        for path in [
            "",
            ".",
            "a/../b",
            r"C:\repo\src\a.ts",
            "c:/repo",
            ".gitignore",
            "icon.h",
            "console.ts",
            "com.txt",
            "COM10",
            "nul_test",
            "a~b",
            "~1",
            "backup~1.json.old",
            "averylongname~1",
            "a b.txt",
            "caf\u{e9}",
        ] {
            assert_eq!(check_windows_path(path), Ok(()), "{path}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_answered_and_separators_are_alike(path in ".{0,40}") {
            let turned = path.replace('/', "\\");
            prop_assert_eq!(check_windows_path(&path).is_ok(), check_windows_path(&turned).is_ok());
        }
    }
}
