//! Quotes file names in the headers of a diff as git does.

use std::borrow::Cow;

/// Returns `prefix/name`, quoted with C escapes if the name contains a control character, `"`, `\`,
/// a bidirectional control or bytes that are not UTF-8. Other non-ASCII characters stay readable,
/// as with git's `core.quotePath=false`.
pub(super) fn quoted_prefixed_name(prefix: &str, name: &[u8]) -> String {
    let slash = if name.first() == Some(&b'/') { "" } else { "/" };
    match escape_name(name) {
        // GNU patch strips a trailing blank of an unquoted name.
        Cow::Borrowed(name) if name.ends_with(' ') => format!("\"{prefix}{slash}{name}\""),
        Cow::Borrowed(name) => {
            // GNU patch ends a name at the first blank unless a tab follows the name.
            let tab = if name.contains(' ') { "\t" } else { "" };
            format!("{prefix}{slash}{name}{tab}")
        }
        Cow::Owned(name) => format!("\"{prefix}{slash}{name}\""),
    }
}

/// Returns the name with C escapes, without the quotes around; borrowed if nothing needs an escape.
fn escape_name(name: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(name)
        && !text.chars().any(needs_escape)
    {
        return Cow::Borrowed(text);
    }
    let mut quoted = String::with_capacity(name.len() + 8);
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\x07' => quoted.push_str("\\a"),
                '\x08' => quoted.push_str("\\b"),
                '\t' => quoted.push_str("\\t"),
                '\n' => quoted.push_str("\\n"),
                '\x0b' => quoted.push_str("\\v"),
                '\x0c' => quoted.push_str("\\f"),
                '\r' => quoted.push_str("\\r"),
                '"' => quoted.push_str("\\\""),
                '\\' => quoted.push_str("\\\\"),
                c if needs_escape(c) => {
                    push_octal(&mut quoted, c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                c => quoted.push(c),
            }
        }
        push_octal(&mut quoted, chunk.invalid());
    }
    Cow::Owned(quoted)
}

/// Appends each byte as a backslash and three octal digits.
fn push_octal(quoted: &mut String, bytes: &[u8]) {
    for byte in bytes {
        quoted.push_str(&format!("\\{byte:03o}"));
    }
}

/// Returns true for a character that is escaped in a quoted name.
fn needs_escape(c: char) -> bool {
    c.is_control()
        || matches!(c, '"' | '\\' | '\u{2028}' | '\u{2029}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::quoted_prefixed_name;

    #[test]
    fn names_are_quoted_as_git_does() {
        for (name, shown) in [
            (&b"src/a.ts"[..], "a/src/a.ts"),
            (b"/abs/a.ts", "a/abs/a.ts"),
            (b"two words.txt", "a/two words.txt\t"),
            (b"end ", "\"a/end \""),
            ("caf\u{e9}".as_bytes(), "a/caf\u{e9}"),
            (b"tab\there", "\"a/tab\\there\""),
            (b"q\"b\\", "\"a/q\\\"b\\\\\""),
            (b"caf\xe9", "\"a/caf\\351\""),
            (b"\x1b[31m", "\"a/\\033[31m\""),
            ("\u{202e}".as_bytes(), "\"a/\\342\\200\\256\""),
        ] {
            assert_eq!(quoted_prefixed_name("a", name), shown);
        }
    }
}
