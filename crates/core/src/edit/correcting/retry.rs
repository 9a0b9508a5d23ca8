//! The list of edits to send instead of one in which an edit was refused.

use serde_json::{Value, json};

use super::MAX_RETRIES;
use super::corrections::corrections;
use super::part::only_occurrence;
use super::readings::readings;
use crate::edit::applying::content::EditContent;
use crate::edit::budget::WorkBudget;
use crate::edit::explaining::refusal::Refusal;
use crate::edit::lines::{has_countable_lines, split_edit_lines, to_lf_without_bom, trim};
use crate::edit::matching::haystack::{Haystack, LineKeys};
use crate::edit::{
    Edit, EditOptions, OldTextMatch, Splice, Strictness, Tier, apply_splices, find_old_text,
    plan_within,
};
use crate::error::{Code, Error};
use crate::text::BOM_UTF8;

/// The maximum length in bytes of the old text of a retry.
const MAX_RETRY_OLD_BYTES: usize = 16 << 10;
/// The maximum number of lines that are added on either side of an old text to make it unique.
const MAX_ADDED_LINES: usize = 24;

/// One edit of a retry.
#[derive(Clone, Debug)]
enum RetryEdit {
    /// The edit as it was sent.
    AsSent(usize),
    /// The edit with another old and new text.
    Corrected { index: usize, old: String, new: String },
}

/// A list of edits and the text after them.
#[derive(Clone)]
struct Draft {
    text: Vec<u8>,
    edits: Vec<RetryEdit>,
}

/// Adds to the error of a refused call the call to send instead, as the detail `retry`, or one for
/// each place that can be meant, as `retries`. Adds nothing if the place is unknown.
pub(in crate::edit) fn add_retry(
    error: Error,
    bytes: &[u8],
    edits: &[Edit],
    options: &EditOptions,
) -> Error {
    let can_be_corrected = matches!(
        error.code,
        Code::MatchNotFound | Code::MatchNotUnique | Code::MatchCountMismatch | Code::NoChange
    );
    if !can_be_corrected || edits.iter().any(|edit| edit.anchors.is_some()) {
        return error;
    }
    let found = retries(bytes, edits, options);
    match found.as_slice() {
        [] => error,
        [only] => error.detail("retry", retry_json(only)),
        several => {
            error.detail("retries", several.iter().map(|one| retry_json(one)).collect::<Value>())
        }
    }
}

/// Returns the edits as `{edits: [{index} | {index, old, new}]}`; `index` is that of the sent edit.
fn retry_json(edits: &[RetryEdit]) -> Value {
    let edits = edits.iter().map(|edit| match edit {
        RetryEdit::AsSent(index) => json!({ "index": index }),
        RetryEdit::Corrected { index, old, new } => {
            json!({ "index": index, "old": old, "new": new })
        }
    });
    json!({ "edits": edits.collect::<Vec<_>>() })
}

/// Returns the lists of edits that can be meant, each tried on the file.
fn retries(bytes: &[u8], edits: &[Edit], options: &EditOptions) -> Vec<Vec<RetryEdit>> {
    let work = WorkBudget::default();
    let content = EditContent::new(bytes, options.encoding);
    let mut drafts = vec![Draft { text: content.text().to_vec(), edits: Vec::new() }];
    for (index, edit) in edits.iter().enumerate() {
        drafts = drafts
            .iter()
            .flat_map(|draft| drafts_with(draft, index, edit, options, &work))
            .take(MAX_RETRIES)
            .collect();
    }
    let places = drafts.len();
    drafts.retain(|draft| works(bytes, edits, draft, options, &work));
    // The only one left of several places would be a guess.
    if drafts.len() == 1 && places > 1 {
        drafts.clear();
    }
    drafts.into_iter().map(|draft| draft.edits).collect()
}

/// Returns true if the edits of a draft, sent as they stand, give its text.
fn works(
    bytes: &[u8],
    edits: &[Edit],
    draft: &Draft,
    options: &EditOptions,
    work: &WorkBudget,
) -> bool {
    let is_corrected = draft.edits.len() < edits.len()
        || draft.edits.iter().any(|edit| matches!(edit, RetryEdit::Corrected { .. }));
    let sent: Vec<Edit> = draft
        .edits
        .iter()
        .map(|edit| match edit {
            RetryEdit::AsSent(index) => edits[*index].clone(),
            RetryEdit::Corrected { index, old, new } => {
                Edit { old: old.clone(), new: new.clone(), ..edits[*index].clone() }
            }
        })
        .collect();
    is_corrected
        && !sent.is_empty()
        && plan_within(bytes, &sent, options, work)
            .is_ok_and(|plan| EditContent::new(&plan.bytes, options.encoding).text() == draft.text)
}

/// Returns the drafts that continue one with the next edit of the call: with the edit as it was
/// sent, with each correction of it, or without an edit that has nothing to do.
fn drafts_with(
    draft: &Draft,
    index: usize,
    edit: &Edit,
    options: &EditOptions,
    work: &WorkBudget,
) -> Vec<Draft> {
    let refusal = match find_old_text(&draft.text, edit, options, work) {
        Ok(found) => {
            let mut edits = draft.edits.clone();
            edits.push(RetryEdit::AsSent(index));
            return vec![Draft { text: apply_splices(&draft.text, &found.splices), edits }];
        }
        Err(refusal) => refusal,
    };
    let text = &draft.text;
    let places = match refusal {
        Refusal::SameText | Refusal::AlreadyApplied => return vec![draft.clone()],
        Refusal::TooLoose(found) => vec![found.splices],
        Refusal::NotUnique { lines, alike: false } => places_at(text, edit, &lines, work),
        Refusal::WrongCount { expected: 1, lines } => places_at(text, edit, &lines, work),
        Refusal::NotUnique { alike: true, .. }
        | Refusal::NotFound
        | Refusal::Different { .. }
        | Refusal::Elided => corrected_places(text, edit, work),
        Refusal::EmptyOld
        | Refusal::Unchanged
        | Refusal::Unmentioned { .. }
        | Refusal::TooLarge
        | Refusal::TooMuch
        | Refusal::WrongCount { .. } => Vec::new(),
    };
    let count = places.len();
    let continued = places.into_iter().filter_map(|splices| {
        let made = apply_splices(text, &splices);
        if made == *text {
            return Some(draft.clone());
        }
        let (old, new) = exact_edit(text, &splices, work)?;
        let mut edits = draft.edits.clone();
        edits.push(RetryEdit::Corrected { index, old, new });
        Some(Draft { text: made, edits })
    });
    let all: Vec<Draft> = continued.take(MAX_RETRIES).collect();
    if all.len() == 1 && count > 1 { Vec::new() } else { all }
}

/// Returns the splices of an edit at each of several lines (1-based) at which its old text stands.
fn places_at(text: &[u8], edit: &Edit, lines: &[u64], work: &WorkBudget) -> Vec<Vec<Splice>> {
    let options = EditOptions { strictness: Strictness::Fuzzy, ..EditOptions::default() };
    let mut lines = lines.to_vec();
    lines.dedup();
    if lines.len() > MAX_RETRIES || trim(edit.old.as_bytes()).is_empty() {
        return Vec::new();
    }
    let at = |line: u64| {
        let one =
            Edit { near_line: Some(line), expected: None, replace_all: false, ..edit.clone() };
        let OldTextMatch { splices, tier, .. } = find_old_text(text, &one, &options, work).ok()?;
        (splices.len() == 1 && tier < Tier::Fuzzy).then_some(splices)
    };
    // A place that cannot be named alone leaves the others without a sense.
    lines.into_iter().map(at).collect::<Option<_>>().unwrap_or_default()
}

/// Returns the splices of an edit at the places whose lines it can mean, in the first reading of its
/// text that gives any.
fn corrected_places(text: &[u8], edit: &Edit, work: &WorkBudget) -> Vec<Vec<Splice>> {
    if !has_countable_lines(text) {
        return Vec::new();
    }
    let Some(index) = LineKeys::new(text, work) else { return Vec::new() };
    let hay = Haystack::new(text, &index, work);
    let found = readings(&edit.old, &edit.new).into_iter().find_map(|(old, new)| {
        let old = to_lf_without_bom(old.as_bytes());
        let new = to_lf_without_bom(new.as_bytes());
        let (old, new) = (split_edit_lines(&old), split_edit_lines(&new));
        let blank = |line: &&&[u8]| trim(line).is_empty();
        // Blank edges that both texts have say nothing about the place.
        let lead = old.iter().take_while(blank).count().min(new.iter().take_while(blank).count());
        let (old, new) = (&old[lead..], &new[lead..]);
        let trail = old.iter().rev().take_while(blank).count();
        let trail = trail.min(new.iter().rev().take_while(blank).count());
        let (old, new) = (&old[..old.len() - trail], &new[..new.len() - trail]);
        if old.is_empty() || old == new {
            return None;
        }
        let found = corrections(&hay, old, new);
        (!found.is_empty()).then_some(found)
    });
    found.unwrap_or_default().into_iter().map(|splice| vec![splice]).collect()
}

/// Returns an old text that stands once in the file, and its new text, which together do what the
/// splices do: whole lines, with as many lines around as make them unique. Returns `None` for lines
/// that are not UTF-8, too long, or never unique.
fn exact_edit(text: &[u8], splices: &[Splice], work: &WorkBudget) -> Option<(String, String)> {
    let first = splices.first()?.range.start;
    let last = splices.last()?.range.end;
    let mark = if text.starts_with(BOM_UTF8) { BOM_UTF8.len() } else { 0 };
    let mut start = line_start(text, first).max(mark);
    let mut end = line_end(text, last.max(first), splices.last()?.range.is_empty()).max(last);
    for _ in 0..=MAX_ADDED_LINES {
        if end - start > MAX_RETRY_OLD_BYTES || !work.try_spend(text.len() / 4 + end - start) {
            return None;
        }
        let region = &text[start..end];
        if !trim(region).is_empty() && only_occurrence(text, region).is_some() {
            let moved: Vec<Splice> = splices
                .iter()
                .map(|splice| Splice {
                    range: splice.range.start - start..splice.range.end - start,
                    with: splice.with.clone(),
                })
                .collect();
            let plain = |text: &[u8]| String::from_utf8(to_lf_without_bom(text).into_owned()).ok();
            let (old, new) = (plain(region)?, plain(&apply_splices(region, &moved))?);
            // The line ending after the last line is sent only if it makes the text unique.
            let open = (old.strip_suffix('\n'), new.strip_suffix('\n'));
            let ending = if region.ends_with(b"\r\n") { 2 } else { 1 };
            return Some(match open {
                (Some(old), Some(new))
                    if only_occurrence(text, &region[..region.len() - ending]).is_some() =>
                {
                    (old.to_owned(), new.to_owned())
                }
                _ => (old, new),
            });
        }
        let (before, after) = (start, end);
        start = line_start(text, start.saturating_sub(1)).max(mark);
        end = next_line_end(text, end);
        if (start, end) == (before, after) {
            return None;
        }
    }
    None
}

/// Returns the offset at which the line with the byte at `at` begins.
fn line_start(text: &[u8], at: usize) -> usize {
    memchr::memrchr(b'\n', &text[..at.min(text.len())]).map_or(0, |lf| lf + 1)
}

/// Returns the offset of the line ending of the last line before `at`; with `inside`, of the line
/// that contains `at`.
fn line_end(text: &[u8], at: usize, inside: bool) -> usize {
    let from = if inside { at } else { at.saturating_sub(1) };
    let end = memchr::memchr(b'\n', &text[from..]).map_or(text.len(), |lf| from + lf);
    if text[..end].ends_with(b"\r") && end < text.len() && end > from { end - 1 } else { end }
}

/// Returns the offset of the ending of the line after the one that ends at `end`.
fn next_line_end(text: &[u8], end: usize) -> usize {
    let rest = &text[end..];
    let ending = if rest.starts_with(b"\r\n") { 2 } else { usize::from(rest.starts_with(b"\n")) };
    if ending == rest.len() { text.len() } else { line_end(text, end + ending, true) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::edit::{Edit, EditOptions, Strictness, plan};

    /// Sends an edit and returns the results of its retries, each sent as it stands.
    fn retried(text: &str, old: &str, new: &str, strictness: Strictness) -> Vec<String> {
        let edit = Edit { old: old.into(), new: new.into(), ..Edit::default() };
        let options = EditOptions { strictness, label: "f".into(), ..EditOptions::default() };
        let Err(error) = plan(text.as_bytes(), std::slice::from_ref(&edit), &options) else {
            return Vec::new();
        };
        let (one, several) = (error.details.get("retry"), error.details.get("retries"));
        let all = several.and_then(|all| all.as_array()).cloned();
        let all = all.unwrap_or_else(|| one.cloned().into_iter().collect());
        let resent = all.iter().map(|retry| {
            let text_of =
                |key: &str| retry["edits"][0][key].as_str().unwrap_or_default().to_owned();
            let again = Edit { old: text_of("old"), new: text_of("new"), ..edit.clone() };
            String::from_utf8(plan(text.as_bytes(), &[again], &options).unwrap().bytes).unwrap()
        });
        resent.collect()
    }

    const FILE: &str = "fn area(width: u32, height: u32) -> u32 {\n    let product = width * height;\n    log(product);\n    product\n}\n\nfn volume(width: u32, height: u32, depth: u32) -> u32 {\n    log(0);\n    area(width, height) * depth\n}\n";

    #[test]
    fn a_refusal_has_the_edit_to_send_instead() {
        use Strictness::{Exact, Fuzzy, Whitespace};
        let changed = |from: &str, to: &str| vec![FILE.replacen(from, to, 1)];
        for (name, strictness, old, new, result) in [
            (
                "other indentation",
                Exact,
                "\tlet product = width * height;",
                "\tlet product = width + height;",
                changed("width * height", "width + height"),
            ),
            (
                "a typo",
                Whitespace,
                "    let prodcut = width * height;",
                "    let product = width + height;",
                changed("width * height", "width + height"),
            ),
            (
                "a kept line that reads otherwise",
                Fuzzy,
                "    let product = width * height;\n    print(product);\n    product\n}",
                "    let product = width + height;\n    print(product);\n    product\n}",
                changed("width * height", "width + height"),
            ),
            (
                "a line that is not there",
                Fuzzy,
                "    let product = width * height;\n    check(product)?;\n    log(product);\n    product\n",
                "    let product = width * height;\n    check(product)?;\n    log(product);\n    product + 1\n",
                changed("    product\n", "    product + 1\n"),
            ),
            (
                "a changed line with another argument",
                Fuzzy,
                "fn volume(width: u32, height: u32) -> u32 {\n    log(0);\n    area(width, height) * depth\n",
                "fn volume(width: u32, height: u32) -> u64 {\n    log(0);\n    area(width, height) * depth\n",
                changed("depth: u32) -> u32", "depth: u32) -> u64"),
            ),
            (
                "the changed words themselves differ",
                Fuzzy,
                "    let product = width - height;\n    log(product);\n    product\n}",
                "    let product = width + height;\n    log(product);\n    product\n}",
                Vec::new(),
            ),
            (
                "a part of a line beside another word",
                Fuzzy,
                "area[width, height) * depth",
                "area[width, height) + depth",
                changed("height) * depth", "height) + depth"),
            ),
            ("nothing like it", Fuzzy, "struct Point {\n    x: f32,\n}", "struct P;", Vec::new()),
            ("nothing to do", Fuzzy, "log(0);", "log(0);", Vec::new()),
        ] {
            assert_eq!(retried(FILE, old, new, strictness), result, "{name}");
        }
    }

    #[test]
    fn an_ambiguous_edit_has_a_retry_for_each_place() {
        let text = "a {\n  one();\n  end();\n}\nb {\n  one();\n  end();\n}\n";
        let at = |place: usize| {
            let mut parts = text.splitn(place + 1, "one").collect::<Vec<_>>();
            let last = parts.pop().unwrap();
            format!("{}two{last}", parts.join("one"))
        };
        for strictness in [Strictness::Exact, Strictness::Whitespace, Strictness::Fuzzy] {
            assert_eq!(retried(text, "  one();", "  two();", strictness), [at(1), at(2)]);
            // A line that is not there does not choose between those that are.
            let old = "  invented(here);\n  one();\n  end();";
            let new = old.replace("one", "two");
            assert_eq!(retried(text, old, &new, strictness), [at(1), at(2)]);
        }
        assert!(retried(&"x();\n".repeat(9), "x();", "y();", Strictness::Fuzzy).is_empty());
    }

    #[test]
    fn every_edit_of_a_call_is_in_its_retry() {
        let edit =
            |old: &str, new: &str| Edit { old: old.into(), new: new.into(), ..Edit::default() };
        let edits = [
            edit("log(product);", "trace(product);"),
            edit("log(0);", "log(0);"),
            edit("   area(width,  height) * depth", "   area(width,  height) + depth"),
        ];
        let options = EditOptions { strictness: Strictness::Exact, ..EditOptions::default() };
        let error = plan(FILE.as_bytes(), &edits, &options).unwrap_err();
        let retry = error.details["retry"]["edits"].as_array().unwrap();
        assert_eq!(retry[0], serde_json::json!({ "index": 0 }));
        assert_eq!(retry[1]["index"], 2);
        assert!(retry[1]["new"].as_str().unwrap().contains("height) + depth"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        /// A retry works when it is sent as it stands, and keeps the lines that the edit does not
        /// name.
        #[test]
        fn a_retry_works_and_keeps_other_lines(
            lines in proptest::collection::vec("[ab]{1,2}( [cd]{1,4}){0,3}", 3..14),
            from: prop::sample::Index,
            count in 1..5usize,
            mistake in prop_oneof!["[a-d ]{0,6}", "\\PC{0,12}"],
            at: prop::sample::Index,
            strictness in 0..3usize,
        ) {
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let from = from.index(lines.len());
            let part = &lines[from..(from + count).min(lines.len())];
            let mut old = part.to_vec();
            let wrong = at.index(old.len());
            old[wrong].push_str(&mistake);
            let new = format!("{}\nzzzz", old.join("\n"));
            let strictness = [Strictness::Exact, Strictness::Whitespace, Strictness::Fuzzy][strictness];
            for made in retried(&text, &old.join("\n"), &new, strictness) {
                prop_assert_eq!(made.replacen("\nzzzz", "", 1), text.as_str());
            }
        }
    }

    #[test]
    fn places_at_both_ends_of_a_file_are_named_by_what_is_beside_them() {
        for ending in ["\n", "\r\n"] {
            let text = ["same", "other", "same", ""].join(ending);
            let made = retried(&text, "same", "changed", Strictness::default());
            let expected = [["changed", "other", "same", ""], ["same", "other", "changed", ""]];
            assert_eq!(made, expected.map(|lines| lines.join(ending)));
        }
    }
}
