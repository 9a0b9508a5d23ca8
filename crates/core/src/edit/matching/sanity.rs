//! Checks an exact match for mistakes that would corrupt the file.
//!
//! Three mistakes match exactly and still do damage: an edit that is sent twice, a new text that
//! ends in lines that the file has next and the old text forgot, and a dedented old text that
//! matches after its own indentation.

use memchr::memmem;

use super::normalize::has_word;
use crate::edit::lines::{indentation_of, is_blank_byte, trim, trim_end};
use crate::edit::{Edit, OldTextMatch, Splice, Strictness, Tier};
use crate::text::line_begin;

/// The minimum length in bytes, of the lines with a word, from which a text found again counts as
/// repeated; a shorter one may be equal by chance.
const MIN_REPEATED_BYTES: usize = 6;
/// The maximum number of lines at either end of the new text that are checked for being in the file
/// already.
const MAX_CHECKED_LINES: usize = 500;

/// A mistake suspected in an exact match.
pub(in crate::edit) enum Suspicion {
    /// Everything that the edit adds is in the file already.
    AlreadyApplied,
    /// The new text begins or ends with lines that the file has before or after the match. Contains
    /// the match without the duplicates.
    DuplicatesLines(OldTextMatch),
    /// The old text lacks the indentation of its line, or begins or ends within a line that it does
    /// not name. Contains the strictness from which on a correction is allowed.
    SplitsLine(Strictness),
}

/// Returns the mistake that an exact match at one position may be, or `None`.
pub(in crate::edit) fn suspected_mistake(
    text: &[u8],
    edit: &Edit,
    found: &OldTextMatch,
) -> Option<Suspicion> {
    let [splice] = found.splices.as_slice() else { return None };
    if edit.replace_all || edit.expected.is_some() {
        return None;
    }
    if has_added_text_around(text, splice) {
        return Some(Suspicion::AlreadyApplied);
    }
    if let Some(strictness) = strictness_for_indentation(text, splice) {
        return Some(Suspicion::SplitsLine(strictness));
    }
    let Some(splice) = extended_over_repeats(text, splice) else {
        if moves_trailing_blanks(text, splice) {
            return Some(Suspicion::SplitsLine(Strictness::Whitespace));
        }
        let doubtful = matches_partial_line(text, splice) || repeats_next_line(text, splice);
        return doubtful.then_some(Suspicion::SplitsLine(Strictness::Fuzzy));
    };
    let found = OldTextMatch {
        splices: vec![splice],
        places: 1,
        tier: Tier::Fuzzy,
        repairs: Vec::new(),
        score: 1.0,
    };
    Some(Suspicion::DuplicatesLines(found))
}

/// Returns true if the text that the edit adds before and after the old text is in the file there
/// already.
fn has_added_text_around(text: &[u8], splice: &Splice) -> bool {
    let (before, after) = (&text[..splice.range.start], &text[splice.range.end..]);
    let old = &text[splice.range.clone()];
    memmem::find_iter(&splice.with, old).take(8).any(|at| {
        let (head, tail) = (&splice.with[..at], &splice.with[at + old.len()..]);
        before.ends_with(head)
            && after.starts_with(tail)
            && count_significant_bytes(head) + count_significant_bytes(tail) >= MIN_REPEATED_BYTES
    })
}

/// Returns the strictness from which on a match is corrected whose old text begins after the
/// indentation of its line; `None` if it needs no correction.
fn strictness_for_indentation(text: &[u8], splice: &Splice) -> Option<Strictness> {
    let old = &text[splice.range.clone()];
    let before = &text[line_begin(text, splice.range.start)..splice.range.start];
    if before.is_empty() || !before.iter().all(|&byte| is_blank_byte(byte)) || is_blank_byte(old[0])
    {
        return None;
    }
    if splice.with.first().is_some_and(|&byte| is_blank_byte(byte)) {
        return Some(Strictness::Whitespace);
    }
    let single = memchr::memchr(b'\n', trim(old)).is_none();
    let shallow = |line: &[u8]| !trim(line).is_empty() && !indentation_of(line).starts_with(before);
    let mut further = splice.with.split(|&byte| byte == b'\n').skip(1);
    (single && further.any(shallow)).then_some(Strictness::Fuzzy)
}

/// Returns true if the first or last of several old lines has no word and matches only a part of a
/// file line.
fn matches_partial_line(text: &[u8], splice: &Splice) -> bool {
    let old = &text[splice.range.clone()];
    let (Some(first), Some(last)) = (memchr::memchr(b'\n', old), memchr::memrchr(b'\n', old))
    else {
        return false;
    };
    let start = line_begin(text, splice.range.start);
    let rest = &text[splice.range.end..];
    let after = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
    let head = start < splice.range.start && !has_word(&old[..first]);
    let tail = !trim(after).is_empty() && !old.ends_with(b"\n") && !has_word(&old[last..]);
    head || tail
}

/// Returns true if white space at the end of the last old line would move to another line: the line
/// stays, other lines follow it in the new text, and the old text does not have all of the white
/// space.
fn moves_trailing_blanks(text: &[u8], splice: &Splice) -> bool {
    let old = &text[splice.range.clone()];
    let rest = &text[splice.range.end..];
    let after = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
    let after = after.strip_suffix(b"\r").unwrap_or(after);
    let line = |text: &[u8]| text.rsplit(|&byte| byte == b'\n').next().unwrap_or_default().to_vec();
    let last = line(old);
    if after.is_empty() || !after.iter().all(|&byte| is_blank_byte(byte)) || trim(&last).is_empty()
    {
        return false;
    }
    if trim_end(&last) != last {
        return true;
    }
    let mut made = splice.with.split(|&byte| byte == b'\n').map(trim_end);
    made.next_back() != Some(trim_end(&last)) && made.any(|line| line == trim_end(&last))
}

/// Returns true if the new text ends with the file's line that follows the old text, except for
/// white space at its end.
fn repeats_next_line(text: &[u8], splice: &Splice) -> bool {
    let old = &text[splice.range.clone()];
    let mut rest = text[splice.range.end..].split(|&byte| byte == b'\n');
    let next = if old.ends_with(b"\n") { rest.next() } else { rest.nth(1) };
    let last = |text: &[u8]| {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        trim_end(text.rsplit(|&byte| byte == b'\n').next().unwrap_or_default()).to_vec()
    };
    let (made, next) = (last(&splice.with), trim_end(next.unwrap_or_default()));
    made == next && made != last(old) && count_significant_bytes(next) >= MIN_REPEATED_BYTES
}

/// Returns the splice extended over the lines of the file, after or before the old text, that the
/// new text repeats; `None` if there are none.
fn extended_over_repeats(text: &[u8], splice: &Splice) -> Option<Splice> {
    let old = &text[splice.range.clone()];
    let (before, after) = (&text[..splice.range.start], &text[splice.range.end..]);
    let new = splice.with.as_slice();
    let cuts: Vec<usize> = memchr::memchr_iter(b'\n', new).collect();
    let last = &cuts[cuts.len().saturating_sub(MAX_CHECKED_LINES)..];
    let first = &cuts[..cuts.len().min(MAX_CHECKED_LINES)];

    // The repeated lines begin with a line if the old text ends with a line ending; otherwise with
    // the line ending of the last old line.
    let tail = last.iter().map(|&at| at + usize::from(old.ends_with(b"\n"))).find(|&at| {
        let tail = &new[at..];
        let closed =
            tail.ends_with(b"\n") || matches!(after.get(tail.len()), None | Some(b'\n' | b'\r'));
        after.starts_with(tail)
            && closed
            && !old.ends_with(tail)
            && count_significant_bytes(tail) >= MIN_REPEATED_BYTES
    });
    if let Some(at) = tail {
        let range = splice.range.start..splice.range.end + (new.len() - at);
        return Some(Splice { range, with: new.to_vec() });
    }
    let head =
        first.iter().rev().map(|&at| at + usize::from(!old.starts_with(b"\n"))).find(|&at| {
            let head = &new[..at];
            let open = before.len() == at
                || head.starts_with(b"\n")
                || before.get(before.len().wrapping_sub(at + 1)) == Some(&b'\n');
            before.ends_with(head)
                && open
                && !old.starts_with(head)
                && count_significant_bytes(head) >= MIN_REPEATED_BYTES
        });
    let at = head?;
    Some(Splice { range: splice.range.start - at..splice.range.end, with: new.to_vec() })
}

/// Returns the number of bytes of the lines that contain a letter, digit or underscore. Lines such
/// as a lone brace prove nothing and do not count.
fn count_significant_bytes(text: &[u8]) -> usize {
    text.split(|&byte| byte == b'\n').map(trim).filter(|line| has_word(line)).map(<[u8]>::len).sum()
}

#[cfg(test)]
mod tests {
    use crate::edit::{Edit, EditOptions, Strictness, plan};

    fn run(strictness: Strictness, text: &str, old: &str, new: &str) -> String {
        let edit = Edit { old: old.into(), new: new.into(), ..Edit::default() };
        let options = EditOptions { strictness, label: "f".into(), ..EditOptions::default() };
        match plan(text.as_bytes(), &[edit], &options) {
            Ok(plan) => String::from_utf8(plan.bytes).unwrap(),
            Err(error) => format!("refused: {}", error.details["reason"]),
        }
    }

    #[test]
    fn exact_matches_that_would_corrupt_the_file_are_suspected() {
        use Strictness::{Exact, Fuzzy, Whitespace};
        let (file, old, new) = ("open();\nclose_all();\n", "open();\n", "open();\nclose_all();\n");
        assert_eq!(run(Whitespace, file, old, new), "refused: \"already_applied\"");
        assert_eq!(run(Exact, file, old, new), "open();\nclose_all();\nclose_all();\n");

        let new = "begin();\nclose_all();\n";
        assert_eq!(run(Fuzzy, file, old, new), "begin();\nclose_all();\n");
        assert_eq!(run(Whitespace, file, old, new), "begin();\nclose_all();\nclose_all();\n");
        let (old, new) = ("close_all();\n", "open_all();\nclose_all();\n");
        assert_eq!(
            run(Fuzzy, "open_all();\nclose_all();\n", old, new),
            "refused: \"already_applied\""
        );

        let file = "if x {\n    first_call(a);\n}\n";
        let (old, new) = ("first_call(a);", "    first_call(a);\n    second_call(b);");
        let both = "if x {\n    first_call(a);\n    second_call(b);\n}\n";
        assert_eq!(run(Whitespace, file, old, new), both);
        assert_eq!(run(Fuzzy, file, old, "first_call(a);\nsecond_call(b);"), both);
        let literal = "if x {\n    first_call(a);\nsecond_call(b);\n}\n";
        assert_eq!(run(Whitespace, file, old, "first_call(a);\nsecond_call(b);"), literal);
    }
}
