//! The white-space tier: the old text's lines stand in the file, but for their
//! indentation, trailing blanks, and blank lines at the edges.

use super::lines::{FileLines, edit_lines, fold_ends, trim};
use super::merge::{Placed, merge};
use super::refusal::Refusal;
use super::{Edit, Found, OnMultiple, Tier, choose};

/// Finds the old text's lines. `None` where they do not stand in the file, or
/// where the old text is blank: that would match everywhere.
///
/// # Errors
/// Refuses where they stand in several places and nothing says which is meant.
pub(super) fn find(
    text: &[u8],
    edit: &Edit,
    on_multiple: OnMultiple,
) -> Result<Option<Found>, Refusal> {
    let (old, new) = (fold_ends(edit.old.as_bytes()), fold_ends(edit.new.as_bytes()));
    let (old, new) = (edit_lines(&old), edit_lines(&new));
    let Some(needle) = without_edges(&old, &new) else { return Ok(None) };
    let file = FileLines::new(text);
    let mut places = places(&file, needle.0);
    if edit.replace_all || edit.expected.is_some() {
        // Several can be replaced only where they do not overlap.
        let mut free = 0;
        places.retain(|&at| {
            at >= free && {
                free = at + needle.0.len();
                true
            }
        });
    }
    if places.is_empty() {
        return Ok(None);
    }
    let lines: Vec<u64> = places.iter().map(|&at| at as u64 + 1).collect();
    let chosen = choose(&lines, edit, on_multiple)?;
    let splices = places[chosen]
        .iter()
        .map(|&first| merge(&file, &Placed { old: needle.0, new: needle.1, first }))
        .collect();
    Ok(Some(Found { splices, tier: Tier::Whitespace }))
}

type Lines<'e> = &'e [&'e [u8]];

/// Both texts without the blank lines at the old text's edges (of the new
/// text's, at most as many). `None` where nothing is left.
fn without_edges<'e>(old: &'e [&'e [u8]], new: &'e [&'e [u8]]) -> Option<(Lines<'e>, Lines<'e>)> {
    let blank = |line: &&&[u8]| trim(line).is_empty();
    let lead = old.iter().take_while(blank).count();
    if lead == old.len() {
        return None;
    }
    let trail = old.iter().rev().take_while(blank).count();
    let new_lead = new.iter().take_while(blank).count().min(lead);
    let new = &new[new_lead..];
    let new_trail = new.iter().rev().take_while(blank).count().min(trail);
    Some((&old[lead..old.len() - trail], &new[..new.len() - new_trail]))
}

/// The lines (0-based) at which the old lines stand.
fn places(file: &FileLines<'_>, old: &[&[u8]]) -> Vec<usize> {
    let old: Vec<&[u8]> = old.iter().map(|line| trim(line)).collect();
    // The longest line is the rarest, so most places are rejected at once.
    let pivot = (0..old.len()).max_by_key(|&at| old[at].len()).unwrap_or(0);
    (0..(file.lines.len() + 1).saturating_sub(old.len()))
        .filter(|&at| trim(file.lines[at + pivot].text) == old[pivot])
        .filter(|&at| old.iter().zip(&file.lines[at..]).all(|(old, line)| *old == trim(line.text)))
        .collect()
}
