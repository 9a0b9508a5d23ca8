//! Converts the new text between tabs and spaces if only the old text is shifted.

use super::EditMerge;
use crate::edit::lines::{indentation_of, trim};
use crate::edit::matching::alignment::Alignment;
use crate::edit::matching::haystack::Haystack;

/// Returns the new text converted between tabs and spaces if that gives it the indentation of the
/// file and, apart from that, only the old text was shifted.
pub(super) fn reindent_new_text(
    hay: &Haystack<'_>,
    alignment: &Alignment,
    old: &[&[u8]],
    new: &[&[u8]],
) -> Option<Vec<Vec<u8>>> {
    let file: Vec<&[u8]> = alignment.file.clone().map(|at| hay.line(at)).collect();
    let sent: Vec<&[u8]> = old.iter().chain(new).copied().collect();
    let has =
        |lines: &[&[u8]], mark: u8| lines.iter().any(|line| indentation_of(line).contains(&mark));
    let (tabs, spaces) = (has(&file, b'\t'), has(&file, b' '));
    let (sent_tabs, sent_spaces) = (has(&sent, b'\t'), has(&sent, b' '));
    let to_tabs = tabs && !spaces && !sent_tabs;
    let to_spaces = spaces && !tabs && sent_tabs && !sent_spaces;
    if !to_tabs && !to_spaces {
        return None;
    }
    // If a fixed number of spaces per tab fits all old lines, the old text is not shifted and the
    // new text needs no correction.
    let groups = EditMerge::new(hay, alignment, old, new).units;
    let fits = |unit: usize| {
        groups.iter().all(|group| {
            let line = convert_indentation(old[group.old.start], unit, to_tabs);
            let there = hay.line(group.file.start);
            let has_depth = group.cut.head == 0 && !trim(there).is_empty();
            !has_depth || line.is_some_and(|line| indentation_of(&line) == indentation_of(there))
        })
    };
    if [2, 4, 8].into_iter().any(fits) {
        return None;
    }
    let by_unit = [2, 4, 8].into_iter().filter_map(|unit| {
        let lines = |lines: &[&[u8]]| -> Option<Vec<Vec<u8>>> {
            lines.iter().map(|line| convert_indentation(line, unit, to_tabs)).collect()
        };
        let (old, new) = (lines(old)?, lines(new)?);
        let old: Vec<&[u8]> = old.iter().map(Vec::as_slice).collect();
        let lines: Vec<&[u8]> = new.iter().map(Vec::as_slice).collect();
        let right = EditMerge::new(hay, alignment, &old, &lines).new_indentation_score();
        (right > 0).then_some((right, new))
    });
    by_unit.max_by_key(|(right, _)| *right).map(|(_, new)| new)
}

/// Returns a line with `unit` spaces of its indentation as one tab each (`to_tabs`), or each tab as
/// `unit` spaces; `None` if the spaces are no multiple of `unit`.
fn convert_indentation(line: &[u8], unit: usize, to_tabs: bool) -> Option<Vec<u8>> {
    let blanks = indentation_of(line).len();
    let (mark, count) = if to_tabs { (b'\t', blanks / unit) } else { (b' ', blanks * unit) };
    let whole = !to_tabs || blanks.is_multiple_of(unit);
    whole.then(|| [&vec![mark; count], &line[blanks..]].concat())
}
