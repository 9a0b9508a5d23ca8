//! Finds the position of one hunk: exactly first, then with looser and looser comparisons.

use std::ops::Range;

use super::anchors::AnchorPlaces;
use super::attempt::{AppliedHunk, HunkAttempt, HunkLocation, HunkMatchMethod, HunkOptions};
use super::file::{
    LineComparison, TargetFile, eq_exact, eq_ignore_eol, eq_ignore_indent, eq_ignore_trailing_space,
};
use super::mismatch::HunkMismatch;
use super::{Hunk, LineMark, PatchLine};
use crate::edit::{self, WorkBudget};

/// Finds the position of a hunk at or after line `from` (0-based) and builds its splice. `shift` is
/// the difference between the numbers of the previous hunk and its position.
pub(super) fn place_hunk(
    file: &TargetFile<'_>,
    hunk: &Hunk,
    from: usize,
    shift: i64,
    options: HunkOptions,
    work: &WorkBudget,
) -> HunkAttempt {
    // Each comparison below reads every line of the file, so their cost is charged first.
    if !work.try_spend(file.text.len() / 4 + 20 * file.lines.len()) {
        return Err(HunkMismatch::TooMuch);
    }
    let anchors = AnchorPlaces::of(file, hunk, work);
    let choice = Choice { expected: None, anchors: anchors.as_ref(), from };
    let old: Vec<&[u8]> = hunk.before().map(|line| line.text.as_bytes()).collect();
    let expected = hunk.old_start.map(|start| {
        let first = if old.is_empty() { start } else { start.saturating_sub(1) };
        (first as i64 + shift).max(0) as usize
    });
    let choice = Choice { expected, ..choice };
    if old.is_empty() {
        return place_insertion(file, hunk, &choice);
    }
    let whole = 0..hunk.lines.len();
    let ways: [(LineComparison, HunkMatchMethod, bool); 3] = [
        (eq_exact, HunkMatchMethod::Exact, true),
        (eq_ignore_eol, HunkMatchMethod::Exact, false),
        (eq_ignore_trailing_space, HunkMatchMethod::Blanks, false),
    ];
    for (same, how, literal) in ways {
        let places = file.find(&old, from, hunk.at_end, same);
        if !places.is_empty() {
            let first = choice.among(&places, old.len())?;
            let made = added_lines_already_at(file, hunk, first + old.len())
                .or_else(|| added_lines_already_before(file, hunk, first, expected));
            if let Some(line) = made {
                return Err(HunkMismatch::Already(line));
            }
            // If only the last line of the file matches and it has no line ending, it does not show
            // which line endings the patch means, unless the patch contains a CR.
            let mut replaced = first..first + old.len();
            let literal = literal
                && (hunk_has_cr(hunk) || replaced.any(|line| file.ends_in_crlf(line).is_some()));
            let splice = file.splice(hunk, whole, first..first + old.len(), literal);
            return Ok((splice, hunk_location(first..first + old.len(), expected, how)));
        }
    }
    // Lines that stand in the file but for their indentation are not replaced yet.
    let is_there = !file.find(&old, from, hunk.at_end, eq_ignore_indent).is_empty();
    if let Some(line) = result_already_at(file, hunk, expected).filter(|_| !is_there) {
        return Err(HunkMismatch::Already(line));
    }
    if options.fuzz > 0
        && let Some(attempt) = place_with_edit_matcher(file, hunk, &choice, work)
    {
        return attempt;
    }
    place_with_fuzz(file, hunk, &choice, options.fuzz)
        .unwrap_or_else(|| Err(mismatch_of(file, hunk, &choice, &old)))
}

/// Returns the reason why the old lines of a hunk have no position.
fn mismatch_of(
    file: &TargetFile<'_>,
    hunk: &Hunk,
    choice: &Choice<'_>,
    old: &[&[u8]],
) -> HunkMismatch {
    if hunk.after().map(|line| line.text.as_bytes()).eq(old.iter().copied()) {
        return HunkMismatch::NoChange;
    }
    let earlier = file.find(old, 0, hunk.at_end, eq_ignore_trailing_space);
    if let [only] = earlier.as_slice()
        && choice.from > 0
    {
        return HunkMismatch::OutOfOrder { line: *only as u64 + 1, from: choice.from as u64 + 1 };
    }
    match choice.anchors {
        Some(anchors) if anchors.missing.is_some() => {
            HunkMismatch::NoAnchor(last_anchor(hunk, anchors))
        }
        _ => HunkMismatch::first_difference(file, old, choice.expected, choice.from),
    }
}

/// The rule that decides between several positions of a hunk.
struct Choice<'c> {
    /// The line (0-based) that the header names.
    expected: Option<usize>,
    anchors: Option<&'c AnchorPlaces>,
    /// The line (0-based) before which the hunk cannot be.
    from: usize,
}

impl Choice<'_> {
    /// Returns one of several positions of `count` lines: the one at the header's line, the only
    /// one, or the one that the anchor proves.
    fn among(&self, places: &[usize], count: usize) -> std::result::Result<usize, HunkMismatch> {
        if let Some(at) = self.expected.filter(|at| places.contains(at)) {
            return Ok(at);
        }
        if let [only] = places {
            return Ok(*only);
        }
        self.anchors
            .map_or_else(|| Err(places.to_vec()), |anchors| anchors.choose(places, count))
            .map_err(|places| HunkMismatch::several(&places))
    }
}

/// Places a hunk that has new lines only, at the line that its number or anchor names.
fn place_insertion(file: &TargetFile<'_>, hunk: &Hunk, choice: &Choice<'_>) -> HunkAttempt {
    let at = match (choice.expected, choice.anchors) {
        _ if hunk.at_end || file.lines.is_empty() => file.lines.len(),
        (_, Some(anchors)) => match anchors.line_after(choice.from) {
            Ok(line) => line,
            Err(lines) if anchors.whole && lines.len() > 1 => {
                return Err(HunkMismatch::several(&lines));
            }
            Err(_) => return Err(HunkMismatch::NoAnchor(last_anchor(hunk, anchors))),
        },
        (Some(at), None) if at <= file.lines.len() => at,
        (Some(at), None) => {
            let expected = format!("line {at}");
            return Err(HunkMismatch::Differs {
                line: file.lines.len() as u64,
                expected,
                found: None,
            });
        }
        (None, None) => return Err(HunkMismatch::NoContext),
    };
    let made_at = if hunk.at_end { at.saturating_sub(hunk.lines.len()) } else { at };
    if let Some(line) = added_lines_already_at(file, hunk, made_at) {
        return Err(HunkMismatch::Already(line));
    }
    let literal = hunk_has_cr(hunk) || file.lines.is_empty();
    let splice = file.splice(hunk, 0..hunk.lines.len(), at..at, literal);
    Ok((splice, hunk_location(at..at, Some(at), HunkMatchMethod::Exact)))
}

/// Returns the anchor to name in a refusal: the missing one, otherwise the last.
fn last_anchor(hunk: &Hunk, anchors: &AnchorPlaces) -> String {
    anchors.missing.as_ref().or(hunk.anchors.last()).cloned().unwrap_or_default()
}

/// Returns true if a line of the hunk ends in CR, so that its line endings are meant literally.
fn hunk_has_cr(hunk: &Hunk) -> bool {
    hunk.lines.iter().any(|line| line.text.ends_with('\r'))
}

/// Returns the line (1-based) of the added lines at the end of a hunk if they are in the file at
/// `at` already and the hunk removes nothing: then it is already applied. A caller that repeats a
/// call sends such a hunk; to insert the lines twice, the context must include the line after them.
/// If a hunk with numbers has context only before the additions, it was made at the end of the
/// file, where nothing can follow. Without any context, only its number determines the position.
fn added_lines_already_at(file: &TargetFile<'_>, hunk: &Hunk, at: usize) -> Option<u64> {
    if hunk.lines.iter().any(|line| line.mark == LineMark::Removed) {
        return None;
    }
    let added = hunk.lines.iter().rev().take_while(|line| line.mark == LineMark::Added).count();
    let has_context = hunk.lines.iter().any(|line| line.mark != LineMark::Added);
    if added == 0 || hunk.old_start.is_some() && !has_context {
        return None;
    }
    let added = &hunk.lines[hunk.lines.len() - added..];
    has_lines_at(file, added, at).then_some(at as u64 + 1)
}

/// Returns the line (1-based) of the added lines at the beginning of a hunk if they are in the file
/// directly before `first`, where its context is: then it is already applied. If a hunk with
/// numbers matches at the beginning of the file as its context says, nothing precedes it.
fn added_lines_already_before(
    file: &TargetFile<'_>,
    hunk: &Hunk,
    first: usize,
    expected: Option<usize>,
) -> Option<u64> {
    let added = hunk.lines.iter().take_while(|line| line.mark == LineMark::Added).count();
    let is_insertion = hunk.lines[added..].iter().all(|line| line.mark == LineMark::Context);
    if added == 0 || !is_insertion || expected == Some(first) {
        return None;
    }
    let at = first.checked_sub(added)?;
    has_lines_at(file, &hunk.lines[..added], at).then_some(at as u64 + 1)
}

/// Returns true if the file has the added lines at line `at` (0-based). Blank lines alone do not
/// count, because a second one is often intended.
fn has_lines_at(file: &TargetFile<'_>, added: &[PatchLine], at: usize) -> bool {
    let Some(there) = file.lines.get(at..at + added.len()) else { return false };
    added.iter().any(|line| !line.text.trim().is_empty())
        && added.iter().zip(there).all(|(a, b)| eq_ignore_eol(a.text.as_bytes(), b))
}

/// Returns the line (1-based) at which the file already has all lines that the hunk would leave
/// there.
fn result_already_at(file: &TargetFile<'_>, hunk: &Hunk, expected: Option<usize>) -> Option<u64> {
    let new: Vec<&[u8]> = hunk.after().map(|line| line.text.as_bytes()).collect();
    if !hunk.lines.iter().any(|line| line.mark == LineMark::Added) {
        return None;
    }
    let places = file.find(&new, 0, hunk.at_end, eq_ignore_eol);
    let at = expected.filter(|at| places.contains(at)).or(match places.as_slice() {
        [only] => Some(*only),
        _ => None,
    })?;
    Some(at as u64 + 1)
}

/// Places a hunk with the matcher of edits; returns `None` if that does not find its lines.
fn place_with_edit_matcher(
    file: &TargetFile<'_>,
    hunk: &Hunk,
    choice: &Choice<'_>,
    work: &WorkBudget,
) -> Option<HunkAttempt> {
    let plain = |line: &'_ str| line.strip_suffix('\r').unwrap_or(line).as_bytes().to_vec();
    let old: Vec<Vec<u8>> = hunk.before().map(|line| plain(&line.text)).collect();
    let new: Vec<Vec<u8>> = hunk.after().map(|line| plain(&line.text)).collect();
    let old: Vec<&[u8]> = old.iter().map(Vec::as_slice).collect();
    let new: Vec<&[u8]> = new.iter().map(Vec::as_slice).collect();
    let mut places = edit::find_hunk_positions(file.text, &old, &new, work)?;
    places.retain(|place| place.lines.start >= choice.from);
    let starts: Vec<usize> = places.iter().map(|place| place.lines.start).collect();
    if starts.is_empty() {
        return None;
    }
    let first = match choice.among(&starts, old.len()) {
        Ok(first) => first,
        Err(unfit) => return Some(Err(unfit)),
    };
    let place = places.into_iter().find(|place| place.lines.start == first)?;
    let mut splice = place.splice;
    if place.lines.end == file.lines.len() && hunk.after().last().is_some_and(|line| line.open) {
        let open = splice.with.strip_suffix(b"\n").map_or(splice.with.len(), <[u8]>::len);
        splice.with.truncate(open);
    }
    Some(Ok((splice, hunk_location(place.lines, choice.expected, HunkMatchMethod::Loose))))
}

/// Places a hunk without some of its outermost context lines, at most `fuzz` on each side; returns
/// `None` if its other lines do not occur.
fn place_with_fuzz(
    file: &TargetFile<'_>,
    hunk: &Hunk,
    choice: &Choice<'_>,
    fuzz: usize,
) -> Option<HunkAttempt> {
    let context = |line: &&super::PatchLine| line.mark == LineMark::Context;
    let lead = hunk.lines.iter().take_while(context).count();
    let trail = hunk.lines.iter().rev().take_while(context).count();
    for most in 1..=fuzz {
        for (head, tail) in [(most, 0), (0, most), (most, most)] {
            let (head, tail) = (head.min(lead), tail.min(trail));
            if head + tail >= hunk.lines.len() {
                continue;
            }
            let lines = head..hunk.lines.len() - tail;
            let old: Vec<&[u8]> = hunk.lines[lines.clone()]
                .iter()
                .filter(|line| line.mark != LineMark::Added)
                .map(|line| line.text.as_bytes())
                .collect();
            if head + tail == 0 || old.iter().all(|line| line.iter().all(u8::is_ascii_whitespace)) {
                continue;
            }
            let choice = Choice { expected: choice.expected.map(|at| at + head), ..*choice };
            let places = file.find(&old, choice.from, false, eq_ignore_trailing_space);
            if places.is_empty() {
                continue;
            }
            return Some(choice.among(&places, old.len()).map(|first| {
                let at = first..first + old.len();
                (
                    file.splice(hunk, lines, at.clone(), false),
                    hunk_location(at, choice.expected, HunkMatchMethod::Fuzz),
                )
            }));
        }
    }
    None
}

/// Returns the position of a hunk that replaces these lines (0-based).
fn hunk_location(
    lines: Range<usize>,
    expected: Option<usize>,
    how: HunkMatchMethod,
) -> HunkLocation {
    let line = lines.start as u64 + 1;
    let offset = expected.map_or(0, |expected| lines.start as i64 - expected as i64);
    HunkLocation { end: lines.end, placed: AppliedHunk { line, offset, how } }
}
