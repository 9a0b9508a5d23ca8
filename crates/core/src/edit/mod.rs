//! Replacing text in a file: right, or refused.
//!
//! An edit names the text to replace and the text to put there. It is applied
//! where that text stands, and nowhere else: two places that fit equally well
//! are a refusal, and a looser way of matching never overrules what a stricter
//! one found. Only bytes that the edit names change; line ends, a byte order
//! mark, indentation and trailing blanks of everything else stay.
//!
//! Ways of matching, strictest first ([`Tier`]):
//! - [`exact`]: the bytes, with line ends folded;
//! - white space: lines that differ in indentation, trailing blanks, line breaks
//!   or blank edges; what the file has is kept, what is new takes its manner;
//! - fuzzy: also slips of the pen, other quotes, transport damage ([`repair`]),
//!   forgotten lines and elisions ([`elide`]).
//!
//! The looser two are one engine ([`loose`]): it finds the best place
//! ([`locate`]) and makes the edit there as a three-way merge ([`merge`]). What
//! it needed for that says which tier it was, and a tier that is not allowed is
//! a refusal that tells the text to send instead.
//!
//! [`plan`] runs a list of edits in order, each on the result of those before,
//! all or none. It is pure: the caller writes the bytes.

mod align;
mod content;
mod doubt;
mod elide;
mod exact;
mod indent;
mod key;
mod lines;
mod locate;
mod loose;
mod merge;
mod nearest;
mod needle;
mod pack;
mod quotes;
mod refusal;
mod repair;
mod similar;
mod tokens;
mod typo;

use std::ops::Range;

use crate::diff::unified::{Format, Header, Limits, LineEndings};
use crate::diff::{self, Unified};
use crate::encoding::Encoding;
use crate::error::{Code, Error, Result};
use crate::text::{count_lf, line_at};
use content::Content;
use doubt::Doubt;
use refusal::Refusal;
use repair::Repair;

pub(crate) use content::spliced;
pub(crate) use loose::place_lines;
pub use pack::{Planned, plan_packed};

/// One replacement. The texts are UTF-8 with any line ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edit {
    /// The text to replace; not empty.
    pub old: String,
    /// The text to put there.
    pub new: String,
    /// Replace every occurrence.
    pub replace_all: bool,
    /// Replace exactly this many occurrences, or refuse.
    pub expected: Option<u64>,
    /// Of several occurrences, take the one nearest to this line (1-based).
    pub near_line: Option<u64>,
}

/// How loosely text may match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strictness {
    /// The bytes, line ends folded.
    Exact,
    /// Also differences of white space.
    #[default]
    Whitespace,
    /// Also small differences of wording.
    Fuzzy,
}

/// What to do where an edit fits in several places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnMultiple {
    /// Refuse, naming the lines.
    #[default]
    Error,
    /// Take the first place.
    First,
}

/// How a list of edits is applied.
#[derive(Clone, Debug)]
pub struct Options {
    /// The loosest way of matching allowed.
    pub strictness: Strictness,
    /// What to do where an edit fits in several places.
    pub on_multiple: OnMultiple,
    /// The path as shown in messages and in the diff.
    pub label: String,
    /// The file's encoding. Edits are UTF-8 in any case.
    pub encoding: Encoding,
    /// Cuts of the diff for display.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            strictness: Strictness::default(),
            on_multiple: OnMultiple::default(),
            label: String::new(),
            encoding: Encoding::UTF_8,
            limits: Limits::default(),
        }
    }
}

/// How an edit was matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// The bytes, line ends folded.
    Exact,
    /// Differences of white space.
    Whitespace,
    /// Small differences of wording.
    Fuzzy,
}

impl Tier {
    /// `exact`, `whitespace` or `fuzzy`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Whitespace => "whitespace",
            Self::Fuzzy => "fuzzy",
        }
    }

    /// Whether this tier is allowed.
    const fn fits(self, strictness: Strictness) -> bool {
        self as u8 <= strictness as u8
    }
}

/// What became of one edit. Lines are those of the text it was applied to,
/// 1-based, from the first replaced line to the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// How many places were replaced.
    pub matches: u64,
    /// How they were found.
    pub tier: Tier,
    /// The first replaced line.
    pub start_line: u64,
    /// The last replaced line.
    pub end_line: u64,
    /// How much of the old text was found, 0 to 1.
    pub score: f64,
    /// What had to be undone in the edit, such as `line numbers`.
    pub repairs: Vec<&'static str>,
}

/// The result of [`plan`].
#[derive(Clone, Debug)]
pub struct Plan {
    /// The whole new text.
    pub bytes: Vec<u8>,
    /// Replaced places of all edits together.
    pub replacements: u64,
    /// What became of each edit, in order.
    pub edits: Vec<Applied>,
    /// What changed.
    pub diff: Unified,
}

/// Bytes that take the place of a range of the running text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Splice {
    pub range: Range<usize>,
    pub with: Vec<u8>,
}

/// Where an edit goes: splices in order, not overlapping.
#[derive(Clone, Debug, PartialEq)]
struct Found {
    splices: Vec<Splice>,
    tier: Tier,
    /// What had to be undone in the edit.
    repairs: Vec<Repair>,
    /// How much of the old text was found, 0 to 1.
    score: f64,
}

/// Applies edits to the bytes of a file (bytes that do not decode are left
/// alone).
///
/// # Errors
/// `MATCH_NOT_FOUND`, `MATCH_NOT_UNIQUE`, `MATCH_COUNT_MISMATCH`, `NO_CHANGE`,
/// `ENCODING_ERROR` or `INVALID_ARGUMENT`, each with `edit_index` (0-based)
/// among the details.
pub fn plan(bytes: &[u8], edits: &[Edit], options: &Options) -> Result<Plan> {
    let mut content = Content::new(bytes, options.encoding);
    let original = content.snapshot();
    let mut applied = Vec::with_capacity(edits.len());
    let mut replacements = 0;
    for (index, edit) in edits.iter().enumerate() {
        let text = content.text();
        let found = find(text, edit, options)
            .map_err(|refusal| refusal.into_error(text, edit, options, index, edits.len()))?;
        let facts = facts(text, &found);
        replacements += facts.matches;
        applied.push(facts);
        content.splice(&found.splices).map_err(|error| error.detail("edit_index", index))?;
    }
    let last = edits.len().checked_sub(1).ok_or_else(|| {
        Error::new(Code::InvalidArgument, "edits is empty").hint("give at least one edit")
    })?;
    if *content.text() == *original {
        let refusal = Refusal::Unchanged;
        return Err(refusal.into_error(&original, &edits[last], options, last, edits.len()));
    }
    let name = crate::path::decode_name(&options.label);
    let format = Format {
        header: Header { before: Some(&name), after: Some(&name) },
        context: 3,
        line_ends: LineEndings::Shown,
        limits: options.limits,
    };
    let options = diff::Options::default();
    let diff = diff::unified::diff(Some(&original), Some(content.text()), &options, &format);
    Ok(Plan { bytes: content.into_bytes(), replacements, edits: applied, diff })
}

fn find(text: &[u8], edit: &Edit, options: &Options) -> Result<Found, Refusal> {
    if edit.old.is_empty() {
        return Err(Refusal::EmptyOld);
    }
    if edit.old == edit.new {
        return Err(Refusal::SameText);
    }
    let strictness = options.strictness;
    let exact = exact::find(text, edit, options.on_multiple)?;
    if let Some(found) = &exact
        && strictness > Strictness::Exact
        && let Some(doubt) = doubt::about(text, edit, found)
    {
        match doubt {
            Doubt::Already => return Err(Refusal::Already),
            Doubt::Forgotten(found) if strictness == Strictness::Fuzzy => return Ok(found),
            Doubt::Torn(needs) if strictness >= needs => {
                if let Ok(loose) = loose::find(text, edit, options.on_multiple)
                    && loose.tier.fits(strictness)
                {
                    return Ok(loose);
                }
            }
            Doubt::Forgotten(_) | Doubt::Torn(_) => {}
        }
    }
    if let Some(found) = exact {
        return Ok(found);
    }
    let loose = loose::find(text, edit, options.on_multiple)
        .map_err(|refusal| refusal.under(strictness))?;
    if loose.tier.fits(strictness) {
        return Ok(loose);
    }
    Err(Refusal::TooLoose(loose))
}

/// Chooses among places (1-based lines, ascending) where a text was found.
///
/// # Errors
/// Refuses where there are several and nothing says which, or not as many as
/// expected.
fn choose(lines: &[u64], edit: &Edit, on_multiple: OnMultiple) -> Result<Range<usize>, Refusal> {
    let found = lines.len();
    if let Some(expected) = edit.expected {
        if expected != found as u64 {
            return Err(Refusal::Count { expected, lines: lines.to_vec() });
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

fn facts(text: &[u8], found: &Found) -> Applied {
    let start = found.splices.first().map_or(0, |splice| splice.range.start);
    let end = found.splices.last().map_or(0, |splice| splice.range.end);
    let last = end.saturating_sub(1).max(start);
    let start_line = line_at(text, start);
    Applied {
        matches: found.splices.len() as u64,
        tier: found.tier,
        start_line,
        end_line: start_line + count_lf(&text[start..last]),
        score: found.score,
        repairs: found.repairs.iter().map(|repair| repair.as_str()).collect(),
    }
}

#[cfg(test)]
mod tests;
