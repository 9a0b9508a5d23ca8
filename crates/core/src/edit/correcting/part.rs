//! The change of an edit that lies inside lines of the file.
//!
//! Models send a part of a line as if it were a whole one, and break lines otherwise than the file
//! does. [`change_of_part`] finds an old text whatever white space stands between its words, and
//! takes it only if it stands once in the file. [`change_beside_drift`] finds one of which only
//! the end or the beginning stands there, next to a text that is nearly the rest.
//! [`change_of_words`] finds the changed words with a neighbour; these say little, so it takes them
//! only in lines that the caller has found.

use std::ops::Range;

use memchr::memmem;

use crate::edit::Splice;
use crate::edit::applying::tokens::{merge_words_strictly, split_tokens};
use crate::edit::budget::WorkBudget;
use crate::edit::lines::trim;
use crate::edit::matching::levenshtein::similarity;
use crate::edit::matching::normalize::{
    is_ascii_space, is_inside_word, is_word_byte, without_whitespace,
};

/// The maximum size in bytes of a file that is searched for parts of lines.
const MAX_SEARCHED_FILE_BYTES: usize = 1 << 24;
/// The minimum number of letters and digits in a text that says its place by itself.
const MIN_PART_WORD_BYTES: usize = 12;
/// The minimum similarity, 0 to 1, of the text next to a part and the rest of the old text.
const MIN_REST_SIMILARITY: f64 = 0.8;
/// The maximum difference in bytes between the lengths of such a text and the rest.
const MAX_REST_DRIFT: usize = 2;
/// How many times longer a text may be with its white space than without.
const MAX_SPACING: usize = 8;

/// Returns the splice that makes the change from `old` to `new` where `old` stands once in the
/// file, whatever white space is between its words; `None` where it does not, where it says too
/// little, or where its lines are not those of the file.
pub(crate) fn change_of_part(
    text: &[u8],
    old: &[u8],
    new: &[u8],
    work: &WorkBudget,
) -> Option<Splice> {
    let (old, new) = (old.trim_ascii(), new.trim_ascii());
    let squeezed = squeezed_text(text, work).filter(|_| says_enough(old))?;
    let wanted = without_whitespace(old);
    let at = only_occurrence(&squeezed, &wanted)?;
    let range = range_in_text(text, at..at + wanted.len());
    let there = &text[range.clone()];
    let is_whole = is_apart(text, &range) && has_same_words(there, old);
    let is_meant = is_whole && wanted != without_whitespace(new);
    let with = merged_part(there, old, new).filter(|_| is_meant)?;
    Some(Splice { range, with })
}

/// Returns the splice that makes a change inside a line of which the file has the changed words and
/// all that follows, or all that precedes, once; `None` unless the text there is nearly the rest of
/// the old line.
pub(super) fn change_beside_drift(
    text: &[u8],
    old: &[u8],
    new: &[u8],
    work: &WorkBudget,
) -> Option<Splice> {
    let (before, after) = (split_tokens(trim(old)), split_tokens(trim(new)));
    let (head, tail) = common_ends(&before, &after);
    let squeezed = squeezed_text(text, work)?;
    let joined = |range: Range<usize>| without_whitespace(&before[range].concat()).into_owned();
    let has = |range: &Range<usize>| memmem::find(&squeezed, &joined(range.clone())).is_some();
    let count = before.len();
    // A longer part stands in the file only if each shorter one does.
    let starts: Vec<usize> = (0..head).collect();
    let ends: Vec<usize> = (count - tail + 1..=count).collect();
    let parts = [
        starts.get(starts.partition_point(|&from| !has(&(from..count)))).map(|&from| from..count),
        ends.partition_point(|&to| has(&(0..to))).checked_sub(1).map(|at| 0..ends[at]),
    ];
    let part = parts.into_iter().flatten().max_by_key(|part| joined(part.clone()).len())?;
    let sent = before[part.clone()].concat();
    let wanted = joined(part.clone());
    let at = only_occurrence(&squeezed, &wanted).filter(|_| says_enough(&sent))?;
    let range = range_in_text(text, at..at + wanted.len());
    let there = &text[range.clone()];
    // The text next to the part may be a little longer or shorter than the rest.
    let likeness = |rest: &[u8], beside: &dyn Fn(usize) -> Vec<u8>| {
        let lengths = rest.len().saturating_sub(MAX_REST_DRIFT)..=rest.len() + MAX_REST_DRIFT;
        let likenesses = lengths.map(|len| similarity(rest, &beside(len), MIN_REST_SIMILARITY));
        likenesses.fold(0.0, f64::max)
    };
    let rest = match part.start {
        0 => likeness(&joined(part.end..count), &|len| text_after(text, range.end, len)),
        from => likeness(&joined(0..from), &|len| text_before(text, range.start, len)),
    };
    let is_meant = rest >= MIN_REST_SIMILARITY && has_same_words(there, &sent);
    let made = after[part.start..after.len() - (count - part.end)].concat();
    let with = merged_part(there, &sent, &made).filter(|_| is_meant)?;
    Some(Splice { range, with })
}

/// Returns the splice that makes the change of an old line inside other lines: at the only place of
/// its words, otherwise of those without the marks that precede or follow the change.
pub(crate) fn change_of_words(lines: &[u8], old: &[u8], new: &[u8]) -> Option<Splice> {
    let (before, after) = (split_tokens(trim(old)), split_tokens(trim(new)));
    let (head, tail) = common_ends(&before, &after);
    let count = before.len();
    if head + tail == 0 || head + tail == count {
        return None;
    }
    // Only marks may be left out: a word would say another place.
    let is_marks = |tokens: &[&[u8]]| !tokens.concat().iter().any(|byte| is_word_byte(*byte));
    let to = if is_marks(&before[count - tail..]) { count - tail } else { count };
    let from = if is_marks(&before[..head]) { head } else { 0 };
    for part in [0..count, 0..to, from..count] {
        let wanted = before[part.clone()].concat();
        let is_there = |at: &usize| is_apart(lines, &(*at..*at + wanted.len()));
        let mut places = memmem::find_iter(lines, &wanted).filter(is_there);
        match (places.next(), places.next()) {
            (None, _) => {}
            (Some(at), None) if wanted.iter().any(|byte| is_word_byte(*byte)) => {
                let made = part.start..after.len() - (count - part.end);
                let with = after[made].concat();
                return Some(Splice { range: at..at + wanted.len(), with });
            }
            _ => return None,
        }
    }
    None
}

/// Returns a file without white space; `None` for one that is too large or for which the budget
/// does not suffice.
fn squeezed_text(text: &[u8], work: &WorkBudget) -> Option<Vec<u8>> {
    let is_searched = text.len() <= MAX_SEARCHED_FILE_BYTES && work.try_spend_times(4, text.len());
    is_searched.then(|| without_whitespace(text).into_owned())
}

/// Returns true if a text has enough letters and digits to say its place.
fn says_enough(text: &[u8]) -> bool {
    text.iter().filter(|byte| is_word_byte(**byte)).count() >= MIN_PART_WORD_BYTES
}

/// Returns the numbers of tokens at the beginning and at the end that two lines share.
fn common_ends(before: &[&[u8]], after: &[&[u8]]) -> (usize, usize) {
    let head = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let (before, after) = (&before[head..], &after[head..]);
    let tail = before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
    (head, tail)
}

/// Returns the offset of a part that occurs once in a text, also where occurrences overlap.
pub(super) fn only_occurrence(text: &[u8], part: &[u8]) -> Option<usize> {
    let finder = memmem::Finder::new(part);
    let at = finder.find(text).filter(|_| !part.is_empty())?;
    finder.find(&text[at + 1..]).is_none().then_some(at)
}

/// Returns the range in a text of a range of its bytes that are no white space.
fn range_in_text(text: &[u8], seen: Range<usize>) -> Range<usize> {
    let is_seen = |(_, byte): &(usize, &u8)| !is_ascii_space(**byte);
    let mut offsets = text.iter().enumerate().filter(is_seen).map(|(at, _)| at);
    let first = offsets.nth(seen.start).unwrap_or(text.len());
    let last = match seen.len() {
        0 | 1 => first,
        len => offsets.nth(len - 2).unwrap_or(text.len()),
    };
    first..(last + 1).min(text.len())
}

/// Returns true if a part of a text neither begins nor ends inside a word.
fn is_apart(text: &[u8], part: &Range<usize>) -> bool {
    !is_inside_word(text, part.start) && !is_inside_word(text, part.end)
}

/// Returns true if two texts that are equal without their white space have the same words.
fn has_same_words(a: &[u8], b: &[u8]) -> bool {
    fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
        text.split(|byte| !is_word_byte(*byte)).filter(|word| !word.is_empty())
    }
    words(a).eq(words(b))
}

/// Returns the text before an offset without white space, at most `len` bytes.
fn text_before(text: &[u8], at: usize, len: usize) -> Vec<u8> {
    let seen = without_whitespace(&text[at.saturating_sub(MAX_SPACING * len)..at]);
    seen[seen.len().saturating_sub(len)..].to_vec()
}

/// Returns the text after an offset without white space, at most `len` bytes.
fn text_after(text: &[u8], at: usize, len: usize) -> Vec<u8> {
    let seen = without_whitespace(&text[at..text.len().min(at + MAX_SPACING * len)]);
    seen[..seen.len().min(len)].to_vec()
}

/// Returns a part of the file with the change from `old` to `new`. Lines that the file has on one
/// line are joined, unless one of them can be a comment that ends with its line.
fn merged_part(there: &[u8], old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
    let is_line = |text: &[u8]| !text.contains(&b'\n');
    if is_line(old) && is_line(new) {
        return with_middle(there, old, new).or_else(|| merge_words_strictly(old, there, new));
    }
    let may_be_comment = |text: &[u8]| {
        ["//", "#", "--"].iter().any(|mark| memmem::find(text, mark.as_bytes()).is_some())
    };
    if !is_line(there) || may_be_comment(old) || may_be_comment(new) {
        return None;
    }
    let joined = |text: &[u8]| -> Vec<u8> {
        let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').map(trim).collect();
        lines.join(&b' ')
    };
    merge_words_strictly(&joined(old), there, &joined(new))
}

/// Returns a text that has the words of `old` with all of them replaced that `new` changes, from the
/// first to the last. The white space around them stays, unless the change makes or removes it.
fn with_middle(there: &[u8], old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
    fn tokens(line: &[u8]) -> Vec<&[u8]> {
        split_tokens(line).into_iter().filter(|token| !trim(token).is_empty()).collect()
    }
    let (before, after) = (tokens(old), tokens(new));
    let (head, tail) = common_ends(&before, &after);
    if head + tail == before.len() || head + tail == after.len() {
        return None;
    }
    let lengths = |tokens: &[&[u8]]| tokens.iter().map(|token| token.len()).sum::<usize>();
    let middle = |text: &[u8], tokens: &[&[u8]]| {
        let start = lengths(&tokens[..head]);
        range_in_text(text, start..start + lengths(&tokens[head..tokens.len() - tail]))
    };
    let (range, sent, made) = (middle(there, &before), middle(old, &before), middle(new, &after));
    fn spaces(text: &[u8], from_end: bool) -> &[u8] {
        let is_space = |byte: &u8| is_ascii_space(*byte);
        match from_end {
            true => &text[text.iter().rposition(|byte| !is_space(byte)).map_or(0, |at| at + 1)..],
            false => &text[..text.iter().position(|byte| !is_space(byte)).unwrap_or(text.len())],
        }
    }
    let (lead, trail) = (&there[..range.start], &there[range.end..]);
    let gap = |[there, old, new]: [&[u8]; 3], from_end: bool| {
        let [there, old, new] = [there, old, new].map(|text| spaces(text, from_end));
        let kept = old.is_empty() == new.is_empty();
        if kept { there.to_vec() } else { new.to_vec() }
    };
    let above = gap([lead, &old[..sent.start], &new[..made.start]], true);
    let below = gap([trail, &old[sent.end..], &new[made.end..]], false);
    let lead = &lead[..lead.len() - spaces(lead, true).len()];
    let trail = &trail[spaces(trail, false).len()..];
    Some([lead, &above, &new[made], &below, trail].concat())
}

#[cfg(test)]
mod tests {
    use super::{change_beside_drift, change_of_part, change_of_words};
    use crate::edit::budget::WorkBudget;
    use crate::edit::{Splice, apply_splices};

    const FILE: &str = "import {area, circumference, diameter} from 'shapes';\nconst wide =\n    width != null && isWide(width) || isHuge(width);\nshow(ready ? settings.showsNothing === false : false);\nfor (let at = 0; at < widths.length; at--) {\n  area(width, height);\n  area(height, width);\n}\n";

    fn made(splice: Option<Splice>) -> Option<String> {
        let text = apply_splices(FILE.as_bytes(), &[splice?]);
        Some(String::from_utf8(text).unwrap())
    }

    #[test]
    fn a_part_is_changed_where_it_stands_once() {
        let work = WorkBudget::default();
        for (name, old, new, change) in [
            (
                "lines that the file has on one line",
                "circumference,\n  diameter}",
                "diameter,\n  circumference}",
                Some(("circumference, diameter}", "diameter, circumference}")),
            ),
            (
                "a line that the file has on two",
                "wide = width != null && isWide(width)",
                "wide = width != null || isWide(width)",
                Some(("!= null &&", "!= null ||")),
            ),
            (
                "a word beside the line end of the file",
                "const wide = width != null",
                "const wide = height != null",
                Some(("width != null", "height != null")),
            ),
            ("white space alone", "isWide(width) || isHuge", "isWide(width)||isHuge", None),
            ("a part of a word", "ircumference, diameter", "ircumference", None),
            ("words that the file has apart", "constwide = width", "constwide = height", None),
            ("a part that stands twice", "area(", "volume(", None),
            ("a part that says little", "width) ||", "width) &&", None),
            ("a comment of more lines", "circumference, //\n diameter", "circumference", None),
        ] {
            let splice = change_of_part(FILE.as_bytes(), old.as_bytes(), new.as_bytes(), &work);
            let result = change.map(|(from, to)| FILE.replacen(from, to, 1));
            assert_eq!(made(splice), result, "{name}");
        }
        assert!(
            change_of_part(FILE.as_bytes(), b"circumference", b"x", &WorkBudget::of(9)).is_none()
        );
    }

    #[test]
    fn a_part_beside_a_text_that_differs_a_little_is_changed() {
        let work = WorkBudget::default();
        for (name, old, new, change) in [
            (
                "before it",
                "show(ready && settings.showsNothing === false",
                "show(ready && settings.showsNothing !== true",
                Some(("=== false :", "!== true :")),
            ),
            (
                "after it, on two lines",
                "const wide = width != null && isWide(width) | isHuge(width)",
                "const wide = width == null && isWide(width) | isHuge(width)",
                Some(("width != null", "width == null")),
            ),
            (
                "another text before it",
                "hide(never, settings.showsNothing === false",
                "hide(never, settings.showsNothing !== true",
                None,
            ),
            ("no neighbour", "=== false", "!== true", None),
        ] {
            let splice =
                change_beside_drift(FILE.as_bytes(), old.as_bytes(), new.as_bytes(), &work);
            let result = change.map(|(from, to)| FILE.replacen(from, to, 1));
            assert_eq!(made(splice), result, "{name}");
        }
    }

    #[test]
    fn changed_words_are_found_with_a_neighbour() {
        for (name, old, new, change) in [
            ("what follows differs", "at--;", "at++;", Some(("at--", "at++"))),
            ("what precedes differs", "x = settings.showsNothing", "settings.showsNothing", None),
            ("they stand twice", "area[", "volume[", None),
            ("a word beside them is not there", "(width: u8", "(height: u8", None),
            ("nothing is beside them", "area", "volume", None),
            ("nothing changes", "at--;", "at--;", None),
        ] {
            let splice = change_of_words(FILE.as_bytes(), old.as_bytes(), new.as_bytes());
            let result = change.map(|(from, to)| FILE.replacen(from, to, 1));
            assert_eq!(made(splice), result, "{name}");
        }
    }
}
