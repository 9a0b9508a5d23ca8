//! Normalises file names the way case-insensitive and Unicode-folding volumes compare them.

use std::borrow::Cow;

use crate::text::unicode_normalize::{Form, to_normal_form};

/// Returns the form of a name that is equal for all names under which such a volume finds the same
/// file: ignores letter case, Unicode composition, the code points that HFS+ ignores, trailing dots
/// and spaces, and a Windows stream name (everything after a colon). Empty for a name that is not
/// UTF-8.
pub(super) fn fold_name(name: &[u8]) -> Cow<'_, str> {
    let Ok(text) = std::str::from_utf8(name) else { return Cow::Borrowed("") };
    if text.is_ascii() {
        let cut = text.find(':').filter(|cut| *cut > 0).map_or(text, |cut| &text[..cut]);
        let cut = cut.trim_end_matches(['.', ' ']);
        return if cut.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(cut.to_ascii_lowercase())
        } else {
            Cow::Borrowed(cut)
        };
    }
    let seen: String = text.chars().filter(|c| !is_ignored_by_hfs(*c)).collect();
    let text: String = to_normal_form(&seen, Form::Nfc)
        .chars()
        .flat_map(char::to_lowercase)
        .map(|c| match c {
            // Upper case turns these into ASCII letters on some servers of files; lower case keeps them.
            '\u{017f}' => 's',
            '\u{0131}' => 'i',
            c => c,
        })
        .collect();
    let cut = text.find(':').filter(|cut| *cut > 0).map_or(&text[..], |cut| &text[..cut]);
    Cow::Owned(cut.trim_end_matches(['.', ' ']).to_owned())
}

/// Returns true for a code point that HFS+ ignores in names.
fn is_ignored_by_hfs(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_name_fold_to_the_same_name() {
        for (name, twin) in [
            (".GIT", ".git"),
            ("hoo\u{212a}\u{017f}", "hooks"),
            (".g\u{131}t", ".git"),
            (".g\u{200c}it", ".git"),
            ("caf\u{e9}", "cafe\u{301}"),
            ("CAFE\u{301}", "caf\u{e9}"),
            (".git. .", ".git"),
            (".git ", ".git"),
            (".git::$INDEX_ALLOCATION", ".git"),
            ("config:stream", "config"),
        ] {
            assert_eq!(fold_name(name.as_bytes()), fold_name(twin.as_bytes()), "{name}");
        }
        for (name, other) in [("git", ".git"), ("cafe", "caf\u{e9}"), (".gi", ".git"), ("...", "x")]
        {
            assert_ne!(fold_name(name.as_bytes()), fold_name(other.as_bytes()), "{name}");
        }
        assert_eq!(fold_name(b"\xff"), "");
    }
}
