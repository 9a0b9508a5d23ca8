//! Replaces text in the content of a file, or refuses if it is not certain where.
//!
//! An edit names the text to replace and the new text. It is applied only where the old text is:
//! two positions that match equally well are refused, and a looser tier never overrides the result
//! of a stricter one. Only the bytes that the edit names change; line endings, a byte order mark,
//! indentation and trailing white space of all other lines stay.
//!
//! The tiers, strictest first ([`Tier`]):
//! - [`exact`]: the bytes, ignoring the kind of line endings;
//! - white space: lines that differ in indentation, trailing white space, line breaks or
//!   blank edges; existing lines are kept, new lines take the style of the file;
//! - fuzzy: also typos, other quotes, transport damage ([`repair`](matching::repair)), forgotten
//!   lines and elisions ([`elision`](matching::elision)).
//!
//! The two looser tiers share one engine ([`fuzzy`]): it finds the best position
//! ([`locate`](matching::locate)) and applies the edit there as a three-way merge
//! ([`merge`](applying::merge)). The differences that it had to accept determine the tier; if that
//! tier is not allowed, the refusal contains the text to send instead.
//!
//! The work of a call is bounded ([`budget`]).
//!
//! [`plan`] applies a list of edits in order, each to the result of the previous ones, all or none.
//! It does no I/O: the caller writes the bytes.

mod anchored_lines;
mod applying;
mod budget;
mod correcting;
mod explaining;
mod lines;
mod matching;
mod request;
mod types;

use std::ops::Range;

use crate::diff::unified::{self, DiffHeader, Format, LineEndings};
use crate::diff::{self, SharedMargins};
use crate::error::{Code, Error, Result};
use crate::text::{count_lf, line_number_at};
use applying::content::EditContent;
use applying::offsets::LineOffsets;
use correcting::retry::add_retry;
use explaining::outcomes::EditOutcomes;
use explaining::refusal::Refusal;
use matching::line_anchors::AnchoredFile;
use matching::repair::Repair;
use matching::sanity::Suspicion;
use matching::{exact, fuzzy, line_anchors, sanity};

pub use anchored_lines::{Anchor, AnchoredLines, InsertSide};
pub use types::{Applied, Edit, EditOptions, OnMultiple, Plan, PlanFacts, Strictness, Tier};

pub(crate) use applying::content::apply_splices;
pub(crate) use budget::WorkBudget;
pub(crate) use correcting::MAX_RETRIES;
pub(crate) use correcting::corrections::is_same_but_for_blanks;
pub(crate) use correcting::hunk::{hunk_corrections, similar_lines};
pub(crate) use correcting::part::{change_of_part, change_of_words};
pub(crate) use explaining::truncate::truncate_error;
pub(crate) use matching::fuzzy::find_hunk_positions;
pub(crate) use matching::repair::without_line_number;
pub use request::EditRequest;

/// A replacement of a range of bytes of the current text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Splice {
    pub range: Range<usize>,
    pub with: Vec<u8>,
}

/// Where an old text was found: the splices that apply the edit, in order and not overlapping.
#[derive(Clone, Debug, PartialEq)]
struct OldTextMatch {
    splices: Vec<Splice>,
    /// The number of positions where the old text was found, including those that are not replaced.
    places: usize,
    tier: Tier,
    /// The repairs that were needed to find the edit.
    repairs: Vec<Repair>,
    /// The fraction of the old text that was found, 0 to 1.
    score: f64,
}

/// Applies edits to the bytes of a file. Bytes that do not decode stay unchanged. A refusal whose
/// place is known has the edits to send instead in the detail `retry`, or in `retries` for each of
/// several places.
///
/// # Errors
/// `MATCH_NOT_FOUND`, `MATCH_NOT_UNIQUE`, `MATCH_COUNT_MISMATCH`, `NO_CHANGE`, `ENCODING_ERROR` or
/// `INVALID_ARGUMENT`, each with `edit_index` (0-based) in the details.
pub fn plan(bytes: &[u8], edits: &[Edit], options: &EditOptions) -> Result<Plan> {
    plan_within(bytes, edits, options, &WorkBudget::default())
        .map_err(|error| truncate_error(error, &options.label))
        .map_err(|error| add_retry(error, bytes, edits, options))
}

/// Does the same as [`plan`] with a given budget, and does not shorten the error.
fn plan_within(
    bytes: &[u8],
    edits: &[Edit],
    options: &EditOptions,
    work: &WorkBudget,
) -> Result<Plan> {
    let mut content = EditContent::new(bytes, options.encoding);
    let original = content.text_snapshot();
    let mut applied = Vec::with_capacity(edits.len());
    let mut replacements = 0;
    let mut shifts = LineOffsets::for_edits(edits);
    let mut same = SharedMargins::default();
    let mut head = usize::MAX;
    for (index, edit) in edits.iter().enumerate() {
        match apply_edit(
            &mut content,
            &original,
            &mut shifts,
            edit,
            options,
            (index, edits.len()),
            work,
        ) {
            Ok(AppliedEdit { facts, replaced, around }) => {
                replacements += replaced;
                head = head.min(around.head);
                applied.push(facts);
                // The unchanged ends of the file are known only if there is a single edit; a later
                // edit may change them.
                same = if edits.len() == 1 { around } else { SharedMargins::default() };
            }
            Err(error) => {
                let verdicts = EditOutcomes { content, original, shifts, edits, options, work };
                return Err(verdicts.add_to_error(error, &applied));
            }
        }
    }
    let last = edits.len().checked_sub(1).ok_or_else(|| {
        Error::new(Code::InvalidArgument, "edits is empty").hint("give at least one edit")
    })?;
    let name = crate::text::path::decode_name(&options.label);
    let format = Format {
        header: DiffHeader { before: Some(&name), after: Some(&name) },
        context: 3,
        line_ends: LineEndings::Shown,
        limits: options.limits,
    };
    let how = diff::DiffOptions::default();
    let diff =
        unified::diff_with_margins(Some(&original), Some(content.text()), same, &how, &format);
    if diff.is_identical() {
        let refusal = Refusal::Unchanged;
        return Err(refusal.into_error(&original, &edits[last], options, last, edits.len()));
    }
    let head = content.unchanged_file_bytes(head);
    Ok(Plan { bytes: content.into_bytes(), head, replacements, edits: applied, diff })
}

/// The effect of one applied edit.
struct AppliedEdit {
    facts: Applied,
    replaced: u64,
    /// The lengths in bytes of the text before the first and after the last splice of the edit.
    around: SharedMargins,
}

/// Applies one of several edits to the current text.
fn apply_edit(
    content: &mut EditContent<'_>,
    original: &[u8],
    shifts: &mut LineOffsets,
    edit: &Edit,
    options: &EditOptions,
    (index, total): (usize, usize),
    work: &WorkBudget,
) -> Result<AppliedEdit> {
    let text = content.text();
    let paid = work.try_spend(content.work_units());
    let found = match &edit.anchors {
        _ if !paid => Err(Refusal::TooMuch.into_error(text, edit, options, index, total))?,
        Some(anchors) => {
            let file = AnchoredFile { original, text, label: &options.label, work };
            line_anchors::find_by_anchors(&file, anchors, &edit.new, shifts)
                .map_err(|error| error.detail("edit_index", index))?
        }
        None => find_old_text(text, edit, options, work)
            .map_err(|refusal| refusal.into_error(text, edit, options, index, total))?,
    };
    let facts = report_applied_edit(text, &found);
    shifts.record_edit(text, &found.splices);
    let around = match found.splices.as_slice() {
        [first, .., last] => (first.range.start, last.range.end),
        [only] => (only.range.start, only.range.end),
        [] => (text.len(), text.len()),
    };
    let around = SharedMargins { head: around.0, tail: text.len() - around.1 };
    content.splice(&found.splices).map_err(|error| error.detail("edit_index", index))?;
    Ok(AppliedEdit { facts, replaced: found.splices.len() as u64, around })
}

fn find_old_text(
    text: &[u8],
    edit: &Edit,
    options: &EditOptions,
    work: &WorkBudget,
) -> Result<OldTextMatch, Refusal> {
    if edit.old.is_empty() {
        return Err(Refusal::EmptyOld);
    }
    if edit.old == edit.new {
        return Err(Refusal::SameText);
    }
    let strictness = options.strictness;
    let exact = exact::find_exact(text, edit, options.on_multiple, work)?;
    if let Some(found) = &exact
        && strictness > Strictness::Exact
        && let Some(doubt) = sanity::suspected_mistake(text, edit, found)
    {
        match doubt {
            Suspicion::AlreadyApplied => return Err(Refusal::AlreadyApplied),
            Suspicion::DuplicatesLines(found) if strictness == Strictness::Fuzzy => {
                return Ok(found);
            }
            Suspicion::SplitsLine(needs) if strictness >= needs => {
                if let Ok(loose) = fuzzy::find_fuzzy(text, edit, options.on_multiple, work)
                    && loose.tier.is_allowed_by(strictness)
                {
                    return Ok(loose);
                }
            }
            Suspicion::DuplicatesLines(_) | Suspicion::SplitsLine(_) => {}
        }
    }
    if let Some(found) = exact {
        return Ok(found);
    }
    let loose = fuzzy::find_fuzzy(text, edit, options.on_multiple, work)
        .map_err(|refusal| refusal.limited_to(strictness))?;
    if !loose.tier.is_allowed_by(strictness) {
        return Err(Refusal::TooLoose(loose));
    }
    if loose.tier == Tier::Fuzzy && loose.score < options.threshold {
        return Err(Refusal::TooLoose(loose));
    }
    Ok(loose)
}

/// Returns the indexes of the positions to replace, given the line (1-based) of each position where
/// the text was found, ascending.
///
/// # Errors
/// Refuses if there are several and the edit does not choose, or if their number is not the
/// expected one.
fn choose_positions(
    lines: &[u64],
    edit: &Edit,
    on_multiple: OnMultiple,
) -> Result<Range<usize>, Refusal> {
    let found = lines.len();
    if let Some(expected) = edit.expected {
        if expected != found as u64 {
            return Err(Refusal::WrongCount { expected, lines: lines.to_vec() });
        }
        return Ok(0..found);
    }
    if edit.replace_all || found <= 1 {
        return Ok(0..found);
    }
    if let Some(near) = edit.near_line {
        let distance = |line: &u64| line.abs_diff(near);
        let least = lines.iter().map(distance).min();
        let mut nearest = (0..found).filter(|&at| Some(distance(&lines[at])) == least);
        if let (Some(at), None) = (nearest.next(), nearest.next()) {
            return Ok(at..at + 1);
        }
    }
    match on_multiple {
        OnMultiple::First => Ok(0..1),
        OnMultiple::Error => Err(Refusal::NotUnique { lines: lines.to_vec(), alike: false }),
    }
}

/// Returns what is reported of an edit that was found and is about to be applied to `text`.
fn report_applied_edit(text: &[u8], found: &OldTextMatch) -> Applied {
    let start = found.splices.first().map_or(0, |splice| splice.range.start);
    let end = found.splices.last().map_or(0, |splice| splice.range.end);
    let last = end.saturating_sub(1).max(start);
    let start_line = line_number_at(text, start);
    Applied {
        matches: found.places as u64,
        tier: found.tier,
        start_line,
        end_line: start_line + count_lf(&text[start..last]),
        score: found.score,
        repairs: found.repairs.iter().map(|repair| repair.as_str()).collect(),
    }
}

#[cfg(test)]
mod bounds;
#[cfg(test)]
mod fuzzy_tests;
#[cfg(test)]
mod tests;
