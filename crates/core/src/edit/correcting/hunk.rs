//! Corrects the lines of a hunk that stand nowhere in the file as they were sent.

use std::ops::Range;

use super::corrections::{corrections, justified_place};
use crate::edit::Splice;
use crate::edit::budget::WorkBudget;
use crate::edit::lines::has_countable_lines;
use crate::edit::matching::haystack::{Haystack, LineKeys};
use crate::edit::matching::repair::{hypotheses, without_line_number};

/// Returns the splices that replace the old lines of a hunk by its new ones at the places that it
/// can mean, in the first reading of the lines that gives any: as they were sent, without the
/// numbers of a listing, or with another repair.
pub(crate) fn hunk_corrections(
    text: &[u8],
    old: &[&str],
    new: &[&str],
    work: &WorkBudget,
) -> Vec<Splice> {
    let is_blank = old.iter().all(|line| line.trim().is_empty());
    if is_blank || !has_countable_lines(text) {
        return Vec::new();
    }
    let Some(index) = LineKeys::new(text, work) else { return Vec::new() };
    let hay = Haystack::new(text, &index, work);
    let plain = |lines: &[&str]| -> Vec<String> {
        lines.iter().map(|line| without_line_number(line).to_owned()).collect()
    };
    let joined = (old.join("\n"), new.join("\n"));
    let split = |text: &str, lines: &[&str]| -> Vec<String> {
        if lines.is_empty() { Vec::new() } else { text.split('\n').map(str::to_owned).collect() }
    };
    let readings = std::iter::once((plain(old), plain(new))).chain(
        hypotheses(&joined.0, &joined.1)
            .into_iter()
            .map(|reading| (split(&reading.old, old), split(&reading.new, new))),
    );
    let as_sent = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
    let readings = std::iter::once((as_sent(old), as_sent(new))).chain(readings);
    let corrected = readings.map(|(old, new): (Vec<String>, Vec<String>)| {
        let bytes = |lines: &'_ [String]| -> Vec<Vec<u8>> {
            lines.iter().map(|line| line.as_bytes().to_vec()).collect()
        };
        let (old, new) = (bytes(&old), bytes(&new));
        let old: Vec<&[u8]> = old.iter().map(Vec::as_slice).collect();
        let new: Vec<&[u8]> = new.iter().map(Vec::as_slice).collect();
        if old == new { Vec::new() } else { corrections(&hay, &old, &new) }
    });
    corrected.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
}

/// Returns the lines of the file (0-based) that are most similar to the given ones; `None` if there
/// are none, or several places of equal similarity.
pub(crate) fn similar_lines(
    text: &[u8],
    lines: &[&str],
    work: &WorkBudget,
) -> Option<Range<usize>> {
    if lines.iter().all(|line| line.trim().is_empty()) || !has_countable_lines(text) {
        return None;
    }
    let index = LineKeys::new(text, work)?;
    let hay = Haystack::new(text, &index, work);
    let lines: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
    justified_place(&hay, &lines)
}
