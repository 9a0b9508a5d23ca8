//! Splits paths into components without looking at any file, and shows names that are not UTF-8.
//!
//! `/` separates, every other character is plain. `.` and doubled slashes are dropped; `..` removes
//! the previous component lexically, and never climbs above the start. Names are bytes: a name that
//! is not UTF-8 is shown, and accepted back, in a reversible form ([`encode_name`],
//! [`decode_name`]).

use std::borrow::Cow;

use crate::error::{Code, Error, Result};

/// The maximum length of a path in bytes; a longer one is refused. It may exceed the kernel's
/// `PATH_MAX`, because walks from descriptor to descriptor reach deeper trees.
pub const MAX_PATH_BYTES: usize = 64 * 1024;

/// Splits an absolute or relative path into its components, resolving `.`,
/// doubled slashes and `..` lexically. A trailing slash is reported, not kept.
///
/// # Errors
/// `INVALID_ARGUMENT` for an empty path, a NUL byte or more than
/// [`MAX_PATH_BYTES`]; `OUTSIDE_ALLOWED` when `..` climbs above the start.
pub fn components(path: &[u8]) -> Result<Components<'_>> {
    if path.is_empty() {
        return Err(Error::new(Code::InvalidArgument, "path is empty"));
    }
    if path.len() > MAX_PATH_BYTES {
        return Err(Error::new(Code::NameTooLong, "path is longer than 65536 bytes"));
    }
    if memchr::memchr(0, path).is_some() {
        return Err(Error::new(Code::InvalidArgument, "path contains a NUL byte"));
    }
    let mut names: Vec<&[u8]> = Vec::new();
    for name in path.split(|&byte| byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." => {
                if names.pop().is_none() {
                    return Err(Error::new(Code::OutsideAllowed, "path climbs above its start"));
                }
            }
            name => names.push(name),
        }
    }
    let last = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    Ok(Components {
        absolute: path[0] == b'/',
        directory: matches!(last, b"" | b"." | b".."),
        names,
    })
}

/// The result of [`components`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components<'a> {
    /// True if the path begins with `/`.
    pub absolute: bool,
    /// True if the path can only name a directory, because it ends in `/`, `.` or `..`.
    pub directory: bool,
    /// The names, outermost first, without `.` and `..`.
    pub names: Vec<&'a [u8]>,
}

/// Converts a name to UTF-8 so that [`decode_name`] restores the same bytes.
///
/// Bytes that are not valid UTF-8 become `\xHH` (upper-case). A backslash that begins the text of
/// such an escape becomes `\x5C`. Names without either are unchanged and borrowed.
pub fn encode_name(name: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(name)
        && !text.as_bytes().windows(4).any(is_name_escape)
    {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(name.len() + 8);
    let mut rest = name;
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c == '\\' && rest.get(..4).is_some_and(is_name_escape) {
                shown.push_str("\\x5C");
            } else {
                shown.push(c);
            }
            rest = &rest[c.len_utf8()..];
        }
        for byte in chunk.invalid() {
            shown.push_str(&format!("\\x{byte:02X}"));
            rest = &rest[1..];
        }
    }
    Cow::Owned(shown)
}

/// Restores the bytes that [`encode_name`] converted. Text without such escapes is unchanged.
pub fn decode_name(shown: &str) -> Cow<'_, [u8]> {
    let bytes = shown.as_bytes();
    if !bytes.windows(4).any(is_name_escape) {
        return Cow::Borrowed(bytes);
    }
    let mut name = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes.get(at..at + 4).is_some_and(is_name_escape) {
            name.push(hex_value(bytes[at + 2]) << 4 | hex_value(bytes[at + 3]));
            at += 4;
        } else {
            name.push(bytes[at]);
            at += 1;
        }
    }
    Cow::Owned(name)
}

/// Returns true for the only escapes: `\x5C`, and `\xHH` with HH from 80 to FF.
fn is_name_escape(window: &[u8]) -> bool {
    let upper_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'A'..=b'F');
    window[0] == b'\\'
        && window[1] == b'x'
        && (matches!(&window[2..], b"5C")
            || (matches!(window[2], b'8' | b'9' | b'A'..=b'F') && upper_hex(window[3])))
}

fn hex_value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => digit - b'A' + 10,
    }
}

/// Escapes characters that could forge a line or hide text when a name is shown to a model or a
/// person: control characters, line and paragraph separators, and characters without a shape of
/// their own (bidirectional marks, zero-width, tags, fillers).
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_deceptive_char) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            c if is_deceptive_char(c) && (c as u32) < 0x100 => {
                shown.push_str(&format!("\\x{:02x}", c as u32));
            }
            c if is_deceptive_char(c) => shown.push_str(&format!("\\u{{{:04x}}}", c as u32)),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Returns true for a character that [`escape_controls`] escapes: those of Unicode 17's categories
/// Cc, Cf, Zl and Zp, and those with `Default_Ignorable_Code_Point`. `js/engine/escape.ts` has the
/// same class.
fn is_deceptive_char(c: char) -> bool {
    c.is_control() || c > '\u{ac}' && has_no_shape(c)
}

/// Returns true for a character that is not shown or that only changes the order of others.
fn has_no_shape(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
        | '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lexical_components() {
        let names = |path: &str| {
            components(path.as_bytes()).map(|c| {
                c.names
                    .iter()
                    .map(|n| String::from_utf8_lossy(n).into_owned())
                    .collect::<Vec<_>>()
                    .join("|")
            })
        };
        assert_eq!(names("a//b/./c"), Ok("a|b|c".into()));
        assert_eq!(names("a/../b"), Ok("b".into()));
        assert_eq!(names("/"), Ok(String::new()));
        assert_eq!(names("~/%2e%2e\\x"), Ok("~|%2e%2e\\x".into()));
        assert_eq!(names("../a").unwrap_err().code, Code::OutsideAllowed);
        assert_eq!(names("a/../../b").unwrap_err().code, Code::OutsideAllowed);
        assert_eq!(names("").unwrap_err().code, Code::InvalidArgument);
        assert_eq!(names("a\0b").unwrap_err().code, Code::InvalidArgument);
        assert!(components(b"f/").unwrap().directory);
        assert!(!components(b"f").unwrap().directory);
    }

    #[test]
    fn names_that_are_not_utf8_are_reversible() {
        assert_eq!(encode_name(b"caf\xe9.txt"), "caf\\xE9.txt");
        assert_eq!(&*decode_name("caf\\xE9.txt"), b"caf\xe9.txt");
        assert_eq!(encode_name(b"a\\b"), "a\\b");
        assert_eq!(encode_name(b"a\\xE9"), "a\\x5CxE9");
        assert_eq!(&*decode_name("a\\x5CxE9"), b"a\\xE9");
    }

    #[test]
    fn hostile_names_cannot_forge_lines() {
        assert_eq!(escape_controls("a\nb\x1b[31m\u{202e}"), "a\\nb\\x1b[31m\\u{202e}");
        assert_eq!(escape_controls("plain é"), "plain é");
        for hidden in
            "\u{61c}\u{200e}\u{200f}\u{200b}\u{200d}\u{feff}\u{e0041}\u{3164}\u{115f}".chars()
        {
            let escape = format!("a\\u{{{:04x}}}b", hidden as u32);
            assert_eq!(escape_controls(&format!("a{hidden}b")), escape);
        }
    }

    proptest! {
        #[test]
        fn every_name_round_trips(name in proptest::collection::vec(any::<u8>(), 0..40)) {
            prop_assert_eq!(decode_name(&encode_name(&name)).into_owned(), name);
        }

        #[test]
        fn backslash_names_round_trip(name in r"[\\x5C8AFé]{0,12}") {
            let name = name.into_bytes();
            prop_assert_eq!(decode_name(&encode_name(&name)).into_owned(), name);
        }

        #[test]
        fn components_never_panic(path in proptest::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(parsed) = components(&path) {
                for name in parsed.names {
                    prop_assert!(!name.is_empty() && name != b"." && name != b".." && !name.contains(&b'/'));
                }
            }
        }
    }
}
