//! Parses file names in headers: git's quoting, prefixes and time stamps.

/// Returns the file name in the text after `--- ` or `+++ `, which may be empty, or `None` for
/// `/dev/null`.
pub(super) fn header_name(text: &str) -> Option<String> {
    let text = text.trim_end_matches('\r');
    let name = match (text.strip_prefix('"'), text.split_once('\t')) {
        (Some(rest), _) => unquote_name(rest),
        // A time stamp follows a tab. Git writes a tab after a name with blanks, so that a trailing
        // blank is visible.
        (None, Some((name, _))) => name.to_owned(),
        (None, None) => text.trim_end().to_owned(),
    };
    (name != "/dev/null").then_some(name)
}

/// Returns the file name in the text after `rename from `, `copy to ` and the like. Nothing follows
/// the name, and it has no prefix such as `a/`, so `strip` removes one directory less.
pub(super) fn unprefixed_name(text: &str, strip: Option<usize>) -> String {
    let text = text.trim_end_matches('\r');
    let name = text.strip_prefix('"').map_or_else(|| text.to_owned(), unquote_name);
    without_directories(&name, strip.unwrap_or(0).saturating_sub(1))
}

/// Returns a name without its first `count` directories.
fn without_directories(name: &str, count: usize) -> String {
    name.splitn(count + 1, '/').last().unwrap_or(name).to_owned()
}

/// Returns true if the time stamp after a name is 1970-01-01 00:00 UTC, in any time zone.
pub(super) fn is_epoch_time(text: &str) -> bool {
    let after_name = match text.strip_prefix('"') {
        Some(rest) => split_at_closing_quote(rest).1,
        None => text,
    };
    let Some((_, stamp)) = after_name.split_once('\t') else { return false };
    let mut parts = stamp.split_whitespace();
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    let minutes = |hours: &str, minutes: &str| -> Option<i32> {
        Some(hours.parse::<i32>().ok()? * 60 + minutes.parse::<i32>().ok()?)
    };
    let day = match date {
        "1970-01-01" => 0,
        "1969-12-31" => -24 * 60,
        _ => return false,
    };
    let zone = match parts.next().map(|zone| (zone.as_bytes(), zone)) {
        None => Some(0),
        Some(([b'+', _, _, _, _], zone)) if zone.is_ascii() => minutes(&zone[1..3], &zone[3..]),
        Some(([b'-', _, _, _, _], zone)) if zone.is_ascii() => {
            minutes(&zone[1..3], &zone[3..]).map(|zone| -zone)
        }
        Some(_) => None,
    };
    let mut clock = time.splitn(3, ':');
    let (Some(hours), Some(minute), Some(seconds)) = (clock.next(), clock.next(), clock.next())
    else {
        return false;
    };
    let is_whole = seconds.starts_with("00") && seconds[2..].trim_matches(['.', '0']).is_empty();
    is_whole && zone.is_some() && minutes(hours, minute).map(|clock| day + clock) == zone
}

/// Returns the two names in the text after `diff --git `, or `None` if they cannot be separated.
pub(super) fn names_of_git_header(text: &str) -> Option<(String, String)> {
    let text = text.trim_end_matches('\r');
    if let Some(rest) = text.strip_prefix('"') {
        let (_, after) = split_at_closing_quote(rest);
        let first = unquote_name(rest);
        return Some((first, header_name(after.trim_start())?));
    }
    if let Some(at) = text.find(" \"") {
        return Some((text[..at].to_owned(), unquote_name(&text[at + 2..])));
    }
    // Looks for the same name twice, plain or with `a/` and `b/`, because the name may contain
    // blanks.
    let same = text.match_indices(' ').map(|(at, _)| at).find(|&at| {
        let (old, new) = (&text[..at], &text[at + 1..]);
        let below = |name: &'_ str, prefixes: &[&str]| {
            let prefix = prefixes.iter().find(|prefix| name.starts_with(**prefix))?;
            Some(name[prefix.len()..].to_owned())
        };
        let in_trees = below(old, &OLD_PREFIXES);
        old == new || in_trees.is_some() && in_trees == below(new, &NEW_PREFIXES)
    });
    let at = same.or_else(|| text.find(" b/")).or_else(|| text.find(' '))?;
    Some((text[..at].to_owned(), text[at + 1..].to_owned()))
}

/// The prefixes of old names; `i/`, `c/` and `o/` are those of git's `diff.mnemonicPrefix`.
const OLD_PREFIXES: [&str; 4] = ["a/", "i/", "c/", "o/"];
const NEW_PREFIXES: [&str; 3] = ["b/", "w/", "i/"];

type OldAndNewNames = (Option<String>, Option<String>);

/// Returns both names without leading directories: without `strip` of them, or if that is `None`
/// without `a/` and `b/` if both names have them.
pub(super) fn strip_prefixes(
    old: Option<String>,
    new: Option<String>,
    strip: Option<usize>,
) -> OldAndNewNames {
    if let Some(count) = strip {
        let cut = |name: Option<String>| name.map(|name| without_directories(&name, count));
        return (cut(old), cut(new));
    }
    let fits = |name: &Option<String>, prefixes: &[&str]| {
        name.as_deref().is_none_or(|name| prefixes.iter().any(|prefix| name.starts_with(prefix)))
    };
    let prefixed = fits(&old, &OLD_PREFIXES) && fits(&new, &NEW_PREFIXES);
    if !prefixed {
        return (old, new);
    }
    let cut = |name: Option<String>| name.map(|name| name[2..].to_owned());
    (cut(old), cut(new))
}

/// Splits a text at the closing quote, which belongs to neither part.
fn split_at_closing_quote(text: &str) -> (&str, &str) {
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

/// Decodes a name with C escapes, up to the closing quote, to the `encode_name` form.
fn unquote_name(text: &str) -> String {
    let (quoted, _) = split_at_closing_quote(text);
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
    crate::text::path::encode_name(&name).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{header_name, is_epoch_time, names_of_git_header, strip_prefixes, unprefixed_name};

    #[test]
    fn the_time_0_is_known_in_every_zone() {
        for (text, expected) in [
            ("a/f\t1970-01-01 00:00:00.000000000 +0000", true),
            ("a/f\t1970-01-01 00:00:00", true),
            ("\"a/t\\tf\"\t1969-12-31 19:00:00.000000000 -0500", true),
            ("a/f\t1970-01-01 05:30:00 +0530", true),
            ("a/f\t1970-01-01 00:00:01.000000000 +0000", false),
            ("a/f\t1970-01-01 00:00:00.5 +0000", false),
            ("a/f\t1970-01-01 01:00:00 +0000", false),
            ("a/f\t2024-01-01 00:00:00 +0000", false),
            ("a/1970-01-01 00:00:00", false),
            ("a/f\t", false),
        ] {
            assert_eq!(is_epoch_time(text), expected, "{text}");
        }
    }

    #[test]
    fn names_of_a_rename_have_no_prefix_to_take_away() {
        assert_eq!(unprefixed_name("x/y/f", None), "x/y/f");
        assert_eq!(unprefixed_name("x/y/f", Some(1)), "x/y/f");
        assert_eq!(unprefixed_name("x/y/f", Some(2)), "y/f");
    }

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
            assert_eq!(header_name(text).as_deref(), read, "{text}");
        }
        for (text, old, new) in [
            ("a/f b/f", "a/f", "b/f"),
            ("a/x b/y b/x b/y", "a/x b/y", "b/x b/y"),
            ("i/x b/y w/x b/y", "i/x b/y", "w/x b/y"),
            ("src/x b src/x b", "src/x b", "src/x b"),
            ("x b/y x b/y", "x b/y", "x b/y"),
            ("\"a/t\\ta\" \"b/t\\ta\"", "a/t\ta", "b/t\ta"),
            ("a/f \"b/t\\ta\"", "a/f", "b/t\ta"),
        ] {
            assert_eq!(names_of_git_header(text), Some((old.to_owned(), new.to_owned())), "{text}");
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
