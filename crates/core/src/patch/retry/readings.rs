//! Other readings of the hunks of a refused patch.

use crate::edit::{WorkBudget, without_line_number};
use crate::patch::file::{TargetFile, eq_ignore_trailing_space};
use crate::patch::{Hunk, LineMark, PatchLine};

/// Returns the hunks as they can be meant: without what a listing adds to the lines of the file,
/// and without those that repeat an earlier one. None if the listing of a hunk is not understood.
pub(super) fn readings(
    target: &TargetFile<'_>,
    hunks: &[Hunk],
    work: &WorkBudget,
) -> Vec<Vec<Hunk>> {
    let lines: usize = hunks.iter().map(|hunk| hunk.lines.len()).sum();
    if !work.try_spend_times(lines, target.lines.len()) {
        return Vec::new();
    }
    let hunks = hunks.iter().filter(|hunk| !is_file_header(hunk));
    let plain: Option<Vec<Hunk>> = hunks.map(|hunk| without_listing(target, hunk)).collect();
    let Some(plain) = plain.filter(|plain| !plain.is_empty()) else { return Vec::new() };
    let with_anchors = |hunk: &Hunk| Hunk { anchors: plain_anchors(hunk), ..hunk.clone() };
    let mut all = vec![plain.clone()];
    for reading in [without_repeats(&plain), plain.iter().map(with_anchors).collect()] {
        let reading = without_repeats(&reading);
        if !all.contains(&reading) {
            all.push(reading);
        }
    }
    all
}

/// Returns true for `--- a/name` and `+++ b/name` of a diff that was sent inside an envelope, where
/// they count as a removed and an added line.
fn is_file_header(hunk: &Hunk) -> bool {
    let [old, new] = hunk.lines.as_slice() else { return false };
    (old.mark, new.mark) == (LineMark::Removed, LineMark::Added)
        && old.text.starts_with("-- ")
        && new.text.starts_with("++ ")
}

/// Returns the hunks without those that have the same lines, anchors and numbers as an earlier one.
fn without_repeats(hunks: &[Hunk]) -> Vec<Hunk> {
    let is_repeat = |hunk: &Hunk, other: &Hunk| {
        let numbers = |hunk: &Hunk| (hunk.old_start, hunk.new_start, hunk.at_end);
        numbers(hunk) == numbers(other)
            && hunk.lines == other.lines
            && hunk.anchors == other.anchors
    };
    let mut kept: Vec<Hunk> = Vec::new();
    for hunk in hunks {
        if !kept.iter().any(|other| is_repeat(hunk, other)) {
            kept.push(hunk.clone());
        }
    }
    kept
}

/// Returns a hunk whose lines are those of a listing, such as `12\ttext` or `12:k3x| text`, without
/// what the listing adds: the numbers, the white space after them, and the blank before a mark.
/// Returns another hunk as it is, and `None` for a listing whose added lines are no new ones.
fn without_listing(target: &TargetFile<'_>, hunk: &Hunk) -> Option<Hunk> {
    let lines: Vec<PatchLine> = hunk.lines.iter().map(with_own_mark).collect();
    let is_numbered = |line: &&PatchLine| without_line_number(&line.text) != line.text;
    let context = || lines.iter().filter(|line| line.mark == LineMark::Context);
    let numbered = || context().filter(is_numbered);
    let words = context().filter(|line| !line.text.trim().is_empty()).count();
    if words == 0 || 2 * numbered().count() < words {
        return Some(hunk.clone());
    }
    // `9| a` stands for `a` in a listing with a blank after the bar; the file decides.
    let has = |text: &str| {
        target.lines.iter().any(|line| eq_ignore_trailing_space(line, text.as_bytes()))
    };
    let texts = || {
        numbered()
            .map(|line| without_line_number(&line.text))
            .filter(|text| !text.trim().is_empty())
    };
    let wide = texts().filter_map(|text| text.strip_prefix(' ')).filter(|text| has(text)).count();
    let is_wide = wide > texts().filter(|text| has(text)).count();
    // A changed line has no number, but the tab after it.
    let mut changed = lines.iter().filter(|line| line.mark != LineMark::Context);
    let is_tabbed = numbered().any(|line| line.text.contains('\t'))
        && changed.all(|line| line.text.starts_with('\t') || is_numbered(&line));
    let plain = |line: &PatchLine| {
        let text = without_line_number(&line.text);
        let text = match (text == line.text, line.mark) {
            (true, LineMark::Removed | LineMark::Added) if is_tabbed => {
                text.strip_prefix('\t').unwrap_or(text)
            }
            (false, _) if is_wide => text.strip_prefix(' ').unwrap_or(text),
            _ => text,
        };
        PatchLine { text: text.to_owned(), ..line.clone() }
    };
    let lines: Vec<PatchLine> = lines.iter().map(plain).collect();
    // A line that keeps its hash is one of the file.
    let unmarked = |line: &PatchLine| {
        let text = text_after_hash(&line.text).filter(|_| line.mark == LineMark::Added);
        match text
            .into_iter()
            .flat_map(|text| [text, text.strip_prefix(' ').unwrap_or(text)])
            .find(|text| has(text))
        {
            Some(text) => {
                PatchLine { mark: LineMark::Context, text: text.to_owned(), open: line.open }
            }
            None => line.clone(),
        }
    };
    let lines: Vec<PatchLine> = lines.iter().map(unmarked).collect();
    // Lines that the listing numbers anew are not added, nor is a rest of its hash.
    let added = || {
        let added = lines.iter().filter(|line| line.mark == LineMark::Added);
        added.filter(|line| !line.text.trim().is_empty())
    };
    let is_context = |line: &PatchLine| {
        lines.iter().any(|other| other.mark == LineMark::Context && other.text == line.text)
    };
    let is_renumbered = added().next().is_some() && added().all(is_context);
    let is_torn = added().any(|line| text_after_hash(&line.text).is_some());
    (!is_renumbered && !is_torn).then(|| Hunk { lines: lines.clone(), ..hunk.clone() })
}

/// Returns the text after the hash of `k3x|text`, a line of a listing that lost its number.
fn text_after_hash(text: &str) -> Option<&str> {
    let hash = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    text[hash..].strip_prefix('|').filter(|_| (2..=4).contains(&hash))
}

/// Returns a context line ` -\ttext` or ` +\ttext` of a listing as the changed line that it is.
fn with_own_mark(line: &PatchLine) -> PatchLine {
    let mark = match line.text.as_bytes() {
        [b'-', b'\t', ..] => LineMark::Removed,
        [b'+', b'\t', ..] => LineMark::Added,
        _ => return line.clone(),
    };
    match line.mark {
        LineMark::Context => PatchLine { mark, text: line.text[1..].to_owned(), open: line.open },
        _ => line.clone(),
    }
}

/// Returns the anchors of a hunk without further marks `@@`, line numbers and headers that are not
/// well formed, and without those that repeat the one before.
fn plain_anchors(hunk: &Hunk) -> Vec<String> {
    let is_range = |text: &str| {
        text.bytes().any(|byte| byte.is_ascii_digit())
            && text.bytes().all(|byte| byte.is_ascii_hexdigit() || b",+- ".contains(&byte))
    };
    let plain = |anchor: &String| {
        let text = anchor.trim_start_matches(['@', ' ']);
        let text = match text.split_once("@@") {
            Some((range, text)) if is_range(range) => text.trim(),
            None if is_range(text) => "",
            _ => text,
        };
        without_line_number(text.strip_prefix("LINE:").unwrap_or(text)).to_owned()
    };
    let mut anchors: Vec<String> = hunk.anchors.iter().map(plain).collect();
    anchors.dedup_by(|next, before| next.trim() == before.trim());
    anchors.retain(|anchor| !anchor.trim().is_empty());
    anchors
}

/// Returns hunks in which an added line replaces the line above it, a context line or the last
/// anchor, of which it is nearly a copy; `None` if there is no such hunk.
pub(super) fn replacing_reading(hunks: &[Hunk]) -> Option<Vec<Hunk>> {
    let all: Vec<Hunk> =
        hunks.iter().map(|hunk| replacing(hunk).unwrap_or_else(|| hunk.clone())).collect();
    (all != hunks).then_some(all)
}

fn replacing(hunk: &Hunk) -> Option<Hunk> {
    let mut added =
        hunk.lines.iter().enumerate().filter(|(_, line)| line.mark != LineMark::Context);
    let (at, line) = added.next().filter(|(_, line)| line.mark == LineMark::Added)?;
    if added.next().is_some() {
        return None;
    }
    let mut made = hunk.clone();
    match at.checked_sub(1) {
        Some(above) if is_nearly(&hunk.lines[above].text, &line.text) => {
            made.lines[above].mark = LineMark::Removed;
        }
        None if hunk.anchors.last().is_some_and(|anchor| is_nearly(anchor, &line.text)) => {
            let text = made.anchors.pop()?;
            made.lines.insert(0, PatchLine { mark: LineMark::Removed, text, open: false });
        }
        _ => return None,
    }
    Some(made)
}

/// Returns true if two lines differ in one place by at most a quarter of their length.
fn is_nearly(a: &str, b: &str) -> bool {
    let (a, b) = (a.trim().as_bytes(), b.trim().as_bytes());
    let head = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[head..], &b[head..]);
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let differs = a.len().max(b.len()) - tail;
    differs > 0 && 3 * differs <= head + tail
}
