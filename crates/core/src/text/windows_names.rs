//! Tells which names on a Windows disk refer to the file of exactly that name.
//!
//! Windows gives one file many names: it leaves out dots and spaces at the end, takes the part after
//! a colon as a stream, and generates short names. Some names are devices in every directory. Rules
//! judge a path by its names, so a name that refers to another file is refused before any rule sees
//! it. Letter case is no objection: the rules ignore it.
//!
//! Characters that look like separators (U+2215, U+FF0F, U+FF3C) are ordinary characters of names:
//! only the functions for the code page of a system convert them, and no file is opened by those.

use crate::error::{Code, Error, Result};

/// The maximum length of a name in UTF-16 code units.
const MAX_NAME_UNITS: usize = 255;

/// Checks one name of a path.
///
/// # Errors
/// `INVALID_ARGUMENT` for a name that refers to another file, to a device or to none;
/// `NAME_TOO_LONG`.
pub(super) fn check_name(name: &str) -> Result<()> {
    if name.len() > MAX_NAME_UNITS && name.encode_utf16().count() > MAX_NAME_UNITS {
        return Err(Error::new(Code::NameTooLong, "a name is longer than 255 characters"));
    }
    name_objection(name).map_or(Ok(()), |why| Err(refusal(name, why)))
}

/// Checks that a name has not the form of a short name that Windows generates.
///
/// # Errors
/// `INVALID_ARGUMENT` for a name such as `PROGRA~1`.
pub(super) fn check_not_short_name(name: &str) -> Result<()> {
    if !is_generated_short_name(name) {
        return Ok(());
    }
    Err(refusal(name, "it has the form of a short name, which belongs to a file of another name"))
}

fn refusal(name: &str, why: &str) -> Error {
    Error::new(Code::InvalidArgument, format!("'{}' is no name on Windows: {why}", shown(name)))
        .detail("name", name)
        .hint("send the name that a listing shows")
}

/// Returns a name for a message: its beginning, with control characters escaped.
fn shown(name: &str) -> String {
    let start: String = name.chars().take(40).collect();
    super::path::escape_controls(&start).into_owned()
}

/// Returns the reason why a name does not refer to the file of exactly that name, or `None` if it
/// does.
fn name_objection(name: &str) -> Option<&'static str> {
    if name.contains(':') {
        return Some("a colon separates a stream or a drive");
    }
    if name.chars().any(|c| matches!(c, '<' | '>' | '"' | '|' | '?' | '*') || c < ' ') {
        return Some("it has a character that no name may have");
    }
    if name.ends_with(['.', ' ']) {
        return Some("dots and spaces at the end are left out");
    }
    is_device_name(name).then_some("it is the name of a device")
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
        && stem.chars().count() <= 8
        && extension.chars().count() <= 3
        && !extension.contains('.')
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str) -> Result<()> {
        check_name(name).and_then(|()| check_not_short_name(name))
    }

    #[test]
    fn names_with_a_special_meaning_are_refused() {
        for name in [
            "CON",
            "con",
            "Prn",
            "AUX",
            "NUL",
            "nul",
            "CLOCK$",
            "conin$",
            "CONOUT$",
            "com0",
            "COM1",
            "com1.txt",
            "COM9",
            "LPT0",
            "lpt9.tar.gz",
            "COM\u{b9}",
            "com\u{b2}.c",
            "LPT\u{b3}",
            "NUL .txt",
            "CON . .x",
            "aux.h",
            "f.txt::$DATA",
            "f:stream",
            ":stream",
            "C:",
            "C:f",
            ".env::$DATA",
            ".git::$INDEX_ALLOCATION",
            "f.",
            "f..",
            "f ",
            "f .",
            "f. ",
            "...",
            ".. ",
            ". ",
            " ",
            "PROGRA~1",
            "ENV~1",
            "git~1",
            "GI7EBA~1",
            "GITCO~12.TXT",
            "\u{e4}\u{f6}\u{fc}\u{df}\u{e4}\u{f6}~1",
            "A~1.B",
            "a*",
            "a?",
            "a<b",
            "a>b",
            "a|b",
            "a\"b",
            "a\u{1f}b",
            "a\nb",
            "a\0b",
            "\u{1}",
        ] {
            assert_eq!(
                check(name).map_err(|error| error.code),
                Err(Code::InvalidArgument),
                "{name:?}"
            );
        }
        let too_long = check(&"\u{e9}".repeat(256)).map_err(|error| error.code);
        assert_eq!(too_long, Err(Code::NameTooLong));
    }

    #[test]
    fn ordinary_names_are_accepted() {
        for name in [
            ".gitignore",
            ".env",
            "icon.h",
            "console.ts",
            "con_",
            "com.txt",
            "COM10",
            "COM\u{b4}",
            "nul_test",
            "a~b",
            "~1",
            "~$draft.docx",
            "backup~1.json.old",
            "averylongname~1",
            "a~1.html",
            "file~1~",
            "a b.txt",
            " leading",
            ".a.b",
            "caf\u{e9}",
            "a\u{2215}b",
            "a\u{ff0f}b",
            "a\u{ff1a}b",
            "100%",
            "a\u{7f}",
            "\u{1f600}",
            "aux-old",
            "auxiliary",
            "xcon",
        ] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
        assert_eq!(check(&"\u{e9}".repeat(255)), Ok(()));
    }
}
