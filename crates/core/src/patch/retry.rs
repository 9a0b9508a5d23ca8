//! The patch to send instead of a refused one.
//!
//! Each hunk that does not apply gets another place: anywhere in the file, at each of several places,
//! or where its lines are most similar. Hunks that change nothing, or that are applied already, are
//! left out. The result is written as a new patch of the same form with the lines of the file, and
//! is tried before it is reported. A file with a hunk that no place justifies has no retry.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::{Value, json};

use super::anchors::AnchorPlaces;
use super::apply::HunkOptions;
use super::file::TargetFile;
use super::locate::place_hunk;
use super::mismatch::HunkMismatch;
use super::set::PatchedFiles;
use super::{FilePatch, Hunk, LineMark, Patch, PatchLine, v4a};
use crate::diff::unified::{self, DiffHeader, DisplayLimits, Format, LineEndings};
use crate::edit::{self, MAX_RETRIES, Splice, WorkBudget};
use crate::error::{Code, Error};

/// The numbers of context lines with which a hunk is written, until it stands once.
const CONTEXT_LINES: [u32; 4] = [3, 6, 12, 24];
/// The maximum length in bytes of a retry.
const MAX_RETRY_BYTES: usize = 64 << 10;
/// The maximum number of hunks of one file that get another place.
const MAX_HUNKS: usize = 64;
/// The maximum number of combinations of places that are tried for one file.
const MAX_COMBINATIONS: usize = 2_000;

/// A refused patch.
pub(super) struct SentPatch<'p> {
    /// The patch as it was sent.
    pub text: &'p str,
    pub patch: &'p Patch,
    pub hunks: HunkOptions,
    /// True if the patch is undone. Its retry is a patch that is not.
    pub is_reversed: bool,
    /// Parses another text with the options of the call.
    pub parse: &'p dyn Fn(&str) -> Option<Patch>,
}

/// The part of a patch for one file, as it is sent again.
enum Section {
    /// The part as it was sent.
    AsSent,
    /// The part with other hunks, which make this content of the one before.
    Corrected { before: Vec<u8>, after: Vec<u8> },
    /// All hunks of the part have nothing to do, so it is left out.
    LeftOut,
}

/// Adds to the error of a refused patch the patch to send instead, as the detail `retry`, or one for
/// each of several places, as `retries`. Adds nothing if a place is unknown.
pub(super) fn add_retry(error: Error, sent: &SentPatch<'_>, files: &PatchedFiles<'_>) -> Error {
    if error.code != Code::PatchFailed {
        return error;
    }
    let found = retries(sent, files);
    match found.as_slice() {
        [] => error,
        [only] => error.detail("retry", json!({ "patch": only })),
        several => {
            let all = several.iter().map(|patch| json!({ "patch": patch }));
            error.detail("retries", all.collect::<Value>())
        }
    }
}

/// Returns the patches that can be meant, each tried on the files.
fn retries(sent: &SentPatch<'_>, files: &PatchedFiles<'_>) -> Vec<String> {
    let work = WorkBudget::default();
    let mut drafts: Vec<(PatchedFiles<'_>, Vec<Section>)> = vec![(files.clone(), Vec::new())];
    for file in &sent.patch.files {
        let mut next = Vec::new();
        for (state, sections) in drafts {
            next.extend(continued(&state, sections, file, sent.hunks, &work));
            next.truncate(MAX_RETRIES);
        }
        drafts = next;
    }
    let found: Vec<String> = drafts
        .iter()
        .filter(|(_, sections)| !sections.iter().all(|one| matches!(one, Section::LeftOut)))
        .filter(|(_, sections)| !sections.iter().all(|one| matches!(one, Section::AsSent)))
        .filter_map(|(state, sections)| written(sent, files, state, sections))
        .collect();
    // The only one left of several places would be a guess.
    if found.len() == 1 && drafts.len() > 1 { Vec::new() } else { found }
}

/// Returns the drafts that continue one with the part of the patch for the next file.
fn continued<'s>(
    state: &PatchedFiles<'s>,
    sections: Vec<Section>,
    file: &FilePatch,
    options: HunkOptions,
    work: &WorkBudget,
) -> Vec<(PatchedFiles<'s>, Vec<Section>)> {
    let mut applied = state.clone();
    if applied.apply_file(file).is_ok() {
        let mut sections = sections;
        sections.push(Section::AsSent);
        return vec![(applied, sections)];
    }
    let Some((path, before)) = state.content_to_update(file) else { return Vec::new() };
    let made = corrected_contents(before, file, options, work);
    let count = made.len();
    let mut sections = Some(sections);
    made.into_iter()
        .enumerate()
        .map(|(index, after)| {
            let mut sections = match index + 1 == count {
                true => sections.take().unwrap_or_default(),
                false => sections.iter().flatten().map(Section::again).collect(),
            };
            let mut state = state.clone();
            sections.push(match after == before {
                true => Section::LeftOut,
                false => Section::Corrected { before: before.to_vec(), after: after.clone() },
            });
            state.set_content(path.clone(), after);
            (state, sections)
        })
        .collect()
}

impl Section {
    fn again(&self) -> Self {
        match self {
            Self::AsSent => Self::AsSent,
            Self::Corrected { before, after } => {
                Self::Corrected { before: before.clone(), after: after.clone() }
            }
            Self::LeftOut => Self::LeftOut,
        }
    }
}

/// A place of a hunk, or `None` for a hunk that has nothing to do.
type HunkPlace = Option<Splice>;

/// Returns the contents that the hunks of a file can mean, at most [`MAX_RETRIES`].
fn corrected_contents(
    text: &[u8],
    file: &FilePatch,
    options: HunkOptions,
    work: &WorkBudget,
) -> Vec<Vec<u8>> {
    if file.hunks.len() > MAX_HUNKS {
        return Vec::new();
    }
    let target = TargetFile::new(text, &file.hunks);
    let means_blanks = file.hunks.iter().all(|hunk| words(hunk.before()) == words(hunk.after()));
    let places: Option<Vec<Vec<HunkPlace>>> = file
        .hunks
        .iter()
        .map(|hunk| Some(places_of(&target, hunk, options, work)).filter(|all| !all.is_empty()))
        .collect();
    let Some(places) = places.filter(|places| !moves_dropped_lines(&file.hunks, places)) else {
        return Vec::new();
    };
    let mut all = Combinations { places: &places, left: MAX_COMBINATIONS, found: Vec::new() };
    all.extend(&mut Vec::new());
    // The order of the hunks is that of the file if that is possible at all.
    let in_order = |chosen: &Vec<Splice>| {
        chosen.windows(2).all(|pair| pair[0].range.start <= pair[1].range.start)
    };
    let ordered = all.found.iter().any(in_order);
    let mut contents: Vec<Vec<u8>> = Vec::new();
    let mut known = BTreeSet::new();
    for mut chosen in all.found.into_iter().filter(|chosen| !ordered || in_order(chosen)) {
        chosen.sort_by_key(|splice| (splice.range.start, splice.range.end));
        let made = edit::apply_splices(text, &chosen);
        // A patch that changes words does not mean to change blanks alone.
        let is_meant =
            || means_blanks || made == text || !edit::is_same_but_for_blanks(text, &made);
        if known.insert(made.clone()) && is_meant() {
            contents.push(made);
        }
        if contents.len() == MAX_RETRIES {
            break;
        }
    }
    contents
}

/// Returns true if a hunk that would be left out, because the file has its new lines, adds a line
/// that another hunk removes: then the patch moves lines, and without the hunk they would be gone.
fn moves_dropped_lines(hunks: &[Hunk], places: &[Vec<HunkPlace>]) -> bool {
    let lines_with = |hunk: &Hunk, mark: LineMark| -> BTreeSet<String> {
        let lines = hunk.lines.iter().filter(|line| line.mark == mark);
        let texts = lines.map(|line| line.text.trim().to_owned());
        texts.filter(|text| text.chars().any(char::is_alphanumeric)).collect()
    };
    let is_dropped = |index: usize| places[index].iter().any(Option::is_none);
    (0..hunks.len()).filter(|&index| is_dropped(index)).any(|index| {
        let added = lines_with(&hunks[index], LineMark::Added);
        let own = lines_with(&hunks[index], LineMark::Removed);
        hunks.iter().enumerate().filter(|(other, _)| *other != index).any(|(_, other)| {
            let removed = lines_with(other, LineMark::Removed);
            added.difference(&own).any(|line| removed.contains(line))
        })
    })
}

/// The choices of one place for each hunk that do not overlap.
struct Combinations<'p> {
    places: &'p [Vec<HunkPlace>],
    left: usize,
    found: Vec<Vec<Splice>>,
}

impl Combinations<'_> {
    fn extend(&mut self, chosen: &mut Vec<Option<Splice>>) {
        let Some(places) = self.places.get(chosen.len()) else {
            self.found.push(chosen.iter().flatten().cloned().collect());
            return;
        };
        for place in places {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            let is_free = |splice: &Splice| {
                chosen.iter().flatten().all(|other| are_apart(&splice.range, &other.range))
            };
            if place.as_ref().is_none_or(is_free) {
                chosen.push(place.clone());
                self.extend(chosen);
                chosen.pop();
            }
        }
    }
}

/// Returns true if two ranges do not overlap; two insertions at one place do.
fn are_apart(a: &Range<usize>, b: &Range<usize>) -> bool {
    a != b && (a.end <= b.start || b.end <= a.start)
}

/// Returns the places of a hunk, reduced to the lines that it changes; none if no place is justified.
fn places_of(
    target: &TargetFile<'_>,
    hunk: &Hunk,
    options: HunkOptions,
    work: &WorkBudget,
) -> Vec<HunkPlace> {
    let text = |line: &'_ super::PatchLine| line.text.trim_end().to_owned();
    if hunk.before().map(text).eq(hunk.after().map(text)) {
        return vec![None];
    }
    // A hunk that changes more than white space does not mean to change the indentation of others.
    let means_blanks = words(hunk.before()) == words(hunk.after());
    let is_meant = |splice: &Splice| {
        let there = &target.text[splice.range.clone()];
        means_blanks || there == splice.with || !edit::is_same_but_for_blanks(there, &splice.with)
    };
    let narrowed = |splices: Vec<Splice>| -> Vec<HunkPlace> {
        let meant = splices.into_iter().filter(is_meant);
        meant.map(|splice| narrowed_splice(target.text, splice)).collect()
    };
    match place_hunk(target, hunk, 0, 0, options, work) {
        Ok((splice, _)) => narrowed(vec![splice]),
        Err(HunkMismatch::Already(_)) => vec![None],
        Err(HunkMismatch::Several(lines)) if lines.len() <= MAX_RETRIES => {
            let at = |line: &u64| {
                let hunk = Hunk { old_start: Some(*line), anchors: Vec::new(), ..hunk.clone() };
                place_hunk(target, &hunk, 0, 0, options, work).ok().map(|(splice, _)| splice)
            };
            let all = lines.iter().map(at).collect::<Option<Vec<_>>>().unwrap_or_default();
            let meant = narrowed(all);
            if meant.len() == lines.len() { meant } else { Vec::new() }
        }
        Err(HunkMismatch::Several(_) | HunkMismatch::NoContext | HunkMismatch::TooMuch) => {
            Vec::new()
        }
        Err(_) => narrowed(corrected_places(target, hunk, work)),
    }
}

/// Returns the text of lines without white space.
fn words<'l>(lines: impl Iterator<Item = &'l PatchLine>) -> String {
    lines.flat_map(|line| line.text.split_whitespace()).collect()
}

/// Returns the places at which the lines of a hunk are most similar to those of the file; one if
/// the anchor proves it.
fn corrected_places(target: &TargetFile<'_>, hunk: &Hunk, work: &WorkBudget) -> Vec<Splice> {
    fn plain(line: &super::PatchLine) -> &str {
        line.text.strip_suffix('\r').unwrap_or(&line.text)
    }
    let old: Vec<&str> = hunk.before().map(plain).collect();
    let new: Vec<&str> = hunk.after().map(plain).collect();
    let mut found = edit::hunk_corrections(target.text, &old, &new, work);
    if let Some(anchors) = AnchorPlaces::of(target, hunk, work)
        && found.len() > 1
    {
        let line = |splice: &Splice| target.line_at(splice.range.start);
        let lines: Vec<usize> = found.iter().map(line).collect();
        if let Ok(chosen) = anchors.choose(&lines, old.len()) {
            found.retain(|splice| line(splice) == chosen);
        }
    }
    found
}

/// Returns a splice reduced to the lines that it changes, so that hunks whose context overlaps can
/// be applied together; `None` if it changes nothing.
fn narrowed_splice(text: &[u8], splice: Splice) -> HunkPlace {
    let old = &text[splice.range.clone()];
    let line_ends = |text: &[u8]| memchr::memchr_iter(b'\n', text).map(|at| at + 1).collect();
    let (a, b): (Vec<usize>, Vec<usize>) = (line_ends(old), line_ends(&splice.with));
    let mut head = 0;
    for (x, y) in a.iter().zip(&b) {
        if x != y || old[..*x] != splice.with[..*y] {
            break;
        }
        head = *x;
    }
    let (rest, with) = (&old[head..], &splice.with[head..]);
    let mut tail = 0;
    let tails = |text: &[u8]| -> Vec<usize> {
        let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', text).map(|at| at + 1));
        starts.map(|at| text.len() - at).collect()
    };
    for (x, y) in tails(rest).into_iter().rev().zip(tails(with).into_iter().rev()) {
        if x != y || rest[rest.len() - x..] != with[with.len() - y..] {
            break;
        }
        tail = x;
    }
    let range = splice.range.start + head..splice.range.end - tail;
    let with = with[..with.len() - tail].to_vec();
    (text[range.clone()] != with[..]).then_some(Splice { range, with })
}

/// Writes a draft as a patch of the form that was sent, with as much context as it needs to work.
/// Returns `None` if it never does.
fn written(
    sent: &SentPatch<'_>,
    files: &PatchedFiles<'_>,
    goal: &PatchedFiles<'_>,
    sections: &[Section],
) -> Option<String> {
    CONTEXT_LINES.into_iter().find_map(|context| {
        let text = write_sections(sent, sections, context)?;
        if text.len() > MAX_RETRY_BYTES {
            return None;
        }
        let again = (sent.parse)(&text)?;
        let mut state = files.clone();
        again.files.iter().try_for_each(|file| state.apply_file(file).map(|_| ())).ok()?;
        state.has_same_contents(goal).then_some(text)
    })
}

fn write_sections(sent: &SentPatch<'_>, sections: &[Section], context: u32) -> Option<String> {
    let whole = sent.text.strip_suffix('\n').unwrap_or(sent.text);
    let lines: Vec<&str> = whole.split('\n').collect();
    let parts = &sent.patch.files;
    let is_envelope = lines.iter().any(|line| v4a::begins_envelope(line))
        && parts.first().is_some_and(|file| {
            lines.get(file.line - 1).is_some_and(|line| line.trim().starts_with("*** "))
        });
    // The parts of a reversed patch are not written as they were sent.
    if sent.is_reversed && (is_envelope || parts.len() > 1) {
        return None;
    }
    let mut text = String::from(if is_envelope { "*** Begin Patch\n" } else { "" });
    for (index, (file, section)) in parts.iter().zip(sections).enumerate() {
        let end = parts.get(index + 1).map_or(lines.len(), |next| next.line - 1);
        let body = file.hunks.first().map_or(end, |hunk| hunk.line - 1);
        let push = |text: &mut String, lines: &[&str]| {
            for line in lines.iter().filter(|line| line.trim() != "*** End Patch") {
                text.push_str(line);
                text.push('\n');
            }
        };
        match section {
            Section::AsSent => push(&mut text, lines.get(file.line - 1..end)?),
            Section::LeftOut => {}
            Section::Corrected { before, after } => {
                push(&mut text, lines.get(file.line - 1..body)?);
                text.push_str(&hunks_text(before, after, context, is_envelope)?);
            }
        }
    }
    if is_envelope {
        text.push_str("*** End Patch\n");
    }
    Some(text)
}

/// Returns the hunks between two contents; `None` if they are not UTF-8.
fn hunks_text(before: &[u8], after: &[u8], context: u32, is_envelope: bool) -> Option<String> {
    std::str::from_utf8(before).ok()?;
    std::str::from_utf8(after).ok()?;
    let format = Format {
        header: DiffHeader { before: Some(b"f"), after: Some(b"f") },
        context,
        line_ends: LineEndings::Shown,
        limits: DisplayLimits::default(),
    };
    let diff = unified::diff(Some(before), Some(after), &Default::default(), &format).text;
    let hunks = diff.split_inclusive('\n').skip_while(|line| !line.starts_with("@@"));
    let written = hunks.filter_map(|line| match line.as_bytes().first() {
        Some(b'@') if is_envelope => Some("@@\n"),
        Some(b'\\') if is_envelope => None,
        _ => Some(line),
    });
    Some(written.collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::patch::PatchRequest;

    /// Applies a patch to the file `f`; returns the content, or the retries of the refusal.
    fn send(text: &str, patch: &str) -> Result<String, Vec<String>> {
        let request = PatchRequest::parse(patch, "{}").unwrap();
        match request.apply(&["f".to_owned()], vec![Some(text.as_bytes().into())]) {
            Ok(files) => Ok(String::from_utf8_lossy(&files.contents[0]).into_owned()),
            Err(error) => {
                let patch = |retry: &serde_json::Value| retry["patch"].as_str().unwrap().to_owned();
                let one = error.details.get("retry").map(patch);
                let several = error.details.get("retries").and_then(|all| all.as_array());
                Err(one.into_iter().chain(several.into_iter().flatten().map(patch)).collect())
            }
        }
    }

    fn envelope(body: &str) -> String {
        format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n")
    }

    const FILE: &str = "fn first() {\n    one();\n    two();\n    three();\n}\n\nfn second(a: u8, b: u8) {\n    four(a);\n    two();\n    five(b);\n}\n";

    #[test]
    fn a_refused_patch_has_the_patch_to_send_instead() {
        let made = |pairs: &[(&str, &str)]| {
            pairs.iter().fold(FILE.to_owned(), |text, (from, to)| text.replacen(from, to, 1))
        };
        for (name, body, result) in [
            (
                "hunks out of order",
                "@@\n-    five(b);\n+    six(b);\n@@\n-    one();\n+    zero();\n",
                made(&[("five(b)", "six(b)"), ("one()", "zero()")]),
            ),
            (
                "a hunk that is there already",
                "@@\n-    zero();\n+    one();\n@@\n-    three();\n+    tree();\n",
                made(&[("three()", "tree()")]),
            ),
            (
                "a hunk without a change",
                "@@\n-    nowhere();\n+    nowhere();\n@@\n-    three();\n+    tree();\n",
                made(&[("three()", "tree()")]),
            ),
            (
                "line numbers of a listing",
                "@@\n 7|fn second(a: u8, b: u8) {\n-8|    four(a);\n+8|    for(a);\n 9|    two();\n",
                made(&[("four(a)", "for(a)")]),
            ),
            (
                "a context line that is not there",
                "@@\n fn first() {\n     one();\n     absolutely_other();\n-    two();\n+    2;\n     three();\n }\n",
                made(&[("two()", "2")]),
            ),
            (
                "a changed line with another argument",
                "@@\n-fn second(a: u8) {\n+pub fn second(a: u8) {\n     four(a);\n     two();\n     five(b);\n",
                made(&[("fn second", "pub fn second")]),
            ),
        ] {
            let retries = send(FILE, &envelope(body)).unwrap_err();
            let [retry] = retries.as_slice() else { panic!("{name}: {retries:?}") };
            assert_eq!(send(FILE, retry), Ok(result), "{name}: {retry}");
        }
    }

    #[test]
    fn an_ambiguous_patch_has_a_retry_for_each_place() {
        let retries = send(FILE, &envelope("@@\n-    two();\n+    2;\n")).unwrap_err();
        let made: Vec<String> = retries.iter().map(|retry| send(FILE, retry).unwrap()).collect();
        let first = FILE.replacen("two()", "2", 1);
        let both = FILE.replace("two()", "2");
        let second = both.replacen("    2;", "    two();", 1);
        assert_eq!(made, [first, second]);
    }

    #[test]
    fn nothing_is_guessed() {
        for body in [
            "@@\n-    nine();\n+    ten();\n",
            "@@\n-    four(c);\n+    four(d);\n",
            "@@\n one_line\n another_line\n-    two();\n+    2;\n yet_another\n",
            "@@ fn third() {\n+    two();\n",
            // The lines move: without the first hunk they would be gone.
            "@@\n fn first() {\n+    one();\n     one();\n     two();\n@@\n     four(a);\n-    one();\n     two();\n",
        ] {
            assert_eq!(send(FILE, &envelope(body)), Err(Vec::new()), "{body}");
        }
    }

    #[test]
    fn the_other_files_of_a_patch_stay_as_they_were_sent() {
        let diff = "--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\n--- a/f\n+++ b/f\n@@ -8 +8 @@\n-    five(b);\n+    six(b);\n@@ -2 +2 @@\n-    one();\n+    zero();\n";
        let request = PatchRequest::parse(diff, "{}").unwrap();
        let names = ["g".to_owned(), "f".to_owned()];
        let contents = || vec![Some(b"x\n"[..].into()), Some(FILE.as_bytes().into())];
        let error = request.apply(&names, contents()).unwrap_err();
        let retry = error.details["retry"]["patch"].as_str().unwrap();
        assert!(retry.starts_with("--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\n--- a/f\n"), "{retry}");
        let again = PatchRequest::parse(retry, "{}").unwrap().apply(&names, contents()).unwrap();
        let made = FILE.replace("five", "six").replace("one", "zero");
        assert_eq!(again.contents, [b"y\n".to_vec(), made.into_bytes()]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// A retry works when it is sent as it stands, and changes only the line that the patch
        /// changes.
        #[test]
        fn a_retry_works_and_changes_only_the_meant_line(
            lines in proptest::collection::vec("[ab]{1,2}( [cd]{1,4}){0,3}", 3..14),
            from: prop::sample::Index,
            count in 1..5usize,
            mistake in prop_oneof!["[a-d ]{0,6}", "\\PC{0,12}"],
            at: prop::sample::Index,
            indent in " {0,2}",
        ) {
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let from = from.index(lines.len());
            let part = &lines[from..(from + count).min(lines.len())];
            let wrong = at.index(part.len());
            let context = part.iter().enumerate().map(|(index, line)| {
                let extra = if index == wrong { &mistake } else { "" };
                format!(" {indent}{line}{extra}\n")
            });
            let body = format!("@@\n{}+{indent}zzzz\n", context.collect::<String>());
            if let Err(retries) = send(&text, &envelope(&body)) {
                for retry in retries {
                    let made = send(&text, &retry).unwrap();
                    let kept: String =
                        made.lines().filter(|line| line.trim() != "zzzz").map(|line| format!("{line}\n")).collect();
                    prop_assert_eq!(&kept, &text);
                }
            }
        }
    }
}
