//! File names in headers: git's quoting, prefixes and time stamps.

/// The name in a header line after `--- ` or `+++ `; `None` for `/dev/null`.
pub(super) fn name(text: &str) -> Option<String> {
    let text = text.trim_end_matches('\r');
    let name = match (text.strip_prefix('"'), text.split_once('\t')) {
        (Some(rest), _) => unquote(rest),
        // A time stamp follows after a tab. git puts a bare tab behind a name with blanks,
        // so that a blank at its end is seen.
        (None, Some((name, _))) => name.to_owned(),
        (None, None) => text.trim_end().to_owned(),
    };
    (name != "/dev/null" && !name.is_empty()).then_some(name)
}

/// The name in a line `rename from `, `copy to ` and the like, which has nothing behind it.
pub(super) fn whole_name(text: &str) -> Option<String> {
    let text = text.trim_end_matches('\r');
    let name = text.strip_prefix('"').map_or_else(|| text.to_owned(), unquote);
    (!name.is_empty()).then_some(name)
}

/// The two names of a `diff --git` line, where they can be told apart.
pub(super) fn git_names(text: &str) -> Option<(String, String)> {
    let text = text.trim_end_matches('\r');
    if let Some(rest) = text.strip_prefix('"') {
        let (_, after) = split_quoted(rest);
        let first = unquote(rest);
        return Some((first, name(after.trim_start())?));
    }
    if let Some(at) = text.find(" \"") {
        return Some((text[..at].to_owned(), unquote(&text[at + 2..])));
    }
    // `a/x b/x`: the same name twice, which may hold blanks itself.
    let same = text
        .match_indices(" b/")
        .find(|(at, _)| text[..*at].strip_prefix("a/").is_some_and(|old| old == &text[at + 3..]));
    let at = same.map(|(at, _)| at).or_else(|| text.find(" b/")).or_else(|| text.find(' '))?;
    Some((text[..at].to_owned(), text[at + 1..].to_owned()))
}

type Names = (Option<String>, Option<String>);

/// Takes leading directories away: as many as `strip` says, else `a/` and `b/`
/// where both names have them.
pub(super) fn strip_prefixes(
    old: Option<String>,
    new: Option<String>,
    strip: Option<usize>,
) -> Names {
    if let Some(count) = strip {
        let cut = |name: Option<String>| {
            name.map(|name| name.splitn(count + 1, '/').last().unwrap_or(&name).to_owned())
        };
        return (cut(old), cut(new));
    }
    let fits = |name: &Option<String>, prefixes: &[&str]| {
        name.as_deref().is_none_or(|name| prefixes.iter().any(|prefix| name.starts_with(prefix)))
    };
    // `i/` and `w/`, `c/`, `o/` are git's mnemonic prefixes.
    let prefixed = fits(&old, &["a/", "i/", "c/", "o/"]) && fits(&new, &["b/", "w/", "i/"]);
    if !prefixed {
        return (old, new);
    }
    let cut = |name: Option<String>| name.map(|name| name[2..].to_owned());
    (cut(old), cut(new))
}

/// Up to the closing quote, and what follows it.
fn split_quoted(text: &str) -> (&str, &str) {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' if !escaped => return (&text[..at], &text[at + 1..]),
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    (text, "")
}

/// The name inside C quotes, in the `encode_name` form.
fn unquote(text: &str) -> String {
    let (quoted, _) = split_quoted(text);
    let mut name = Vec::with_capacity(quoted.len());
    let mut bytes = quoted.bytes().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            name.push(byte);
            continue;
        }
        name.push(match bytes.next() {
            Some(b'a') => 7,
            Some(b'b') => 8,
            Some(b't') => b'\t',
            Some(b'n') => b'\n',
            Some(b'v') => 11,
            Some(b'f') => 12,
            Some(b'r') => b'\r',
            Some(digit @ b'0'..=b'3') => {
                let mut value = digit - b'0';
                for _ in 0..2 {
                    if let Some(next) = bytes.next_if(|next| matches!(next, b'0'..=b'7')) {
                        value = value << 3 | (next - b'0');
                    }
                }
                value
            }
            Some(other) => other,
            None => b'\\',
        });
    }
    crate::path::encode_name(&name).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{git_names, name, strip_prefixes};

    #[test]
    fn names_are_read_as_git_and_patch_write_them() {
        for (text, read) in [
            ("a/f.txt", Some("a/f.txt")),
            ("a/f.txt\t2024-01-01 00:00:00", Some("a/f.txt")),
            ("a/two words.txt\t", Some("a/two words.txt")),
            ("a/ends in a blank \t", Some("a/ends in a blank ")),
            ("a/typed by hand ", Some("a/typed by hand")),
            ("/dev/null", None),
            ("/dev/null\r", None),
            ("\"a/tab\\there\"", Some("a/tab\there")),
            ("\"a/caf\\303\\251\"", Some("a/caf\u{e9}")),
            ("\"a/caf\\351\"", Some("a/caf\\xE9")),
            ("\"a/q\\\"b\\\\\"", Some("a/q\"b\\")),
        ] {
            assert_eq!(name(text).as_deref(), read, "{text}");
        }
        for (text, old, new) in [
            ("a/f b/f", "a/f", "b/f"),
            ("a/x b/y b/x b/y", "a/x b/y", "b/x b/y"),
            ("\"a/t\\ta\" \"b/t\\ta\"", "a/t\ta", "b/t\ta"),
            ("a/f \"b/t\\ta\"", "a/f", "b/t\ta"),
        ] {
            assert_eq!(git_names(text), Some((old.to_owned(), new.to_owned())), "{text}");
        }
    }

    #[test]
    fn prefixes_go_in_pairs() {
        let strip = |old: &str, new: &str| {
            let (old, new) = strip_prefixes(Some(old.to_owned()), Some(new.to_owned()), None);
            (old.unwrap_or_default(), new.unwrap_or_default())
        };
        assert_eq!(strip("a/f", "b/f"), ("f".into(), "f".into()));
        assert_eq!(strip("a/f", "a/f"), ("a/f".into(), "a/f".into()));
        assert_eq!(strip("a/a/f", "b/a/f"), ("a/f".into(), "a/f".into()));
        assert_eq!(
            strip_prefixes(None, Some("b/f".to_owned()), None),
            (None, Some("f".to_owned()))
        );
        let two = strip_prefixes(None, Some("x/y/f".to_owned()), Some(2));
        assert_eq!(two, (None, Some("f".to_owned())));
    }
}
