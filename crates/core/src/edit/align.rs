//! Laying the old text's lines along the file's, near one diagonal.
//!
//! A semi-global alignment in a band: lines that say the same cost nothing,
//! lines alike cost what they differ in, and a line that only one side has
//! costs more the more it says. Lines broken differently on the two sides join
//! up. All costs are in ten-thousandths of a line.

use std::collections::HashMap;
use std::ops::Range;

use super::key::{Haystack, key};
use super::lines::{trim, trim_end};
use super::needle::{Kind, LINE, Needle};
use super::similar::{LONGEST, similarity};

/// Lines less alike than this are not the same line.
const ALIKE: f64 = 0.6;
/// Lines that are joined to equal one of the other side, at most.
const JOINED: usize = 4;

/// How lines of the two sides belong together.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// These lines of the old text stand at those of the file.
    Pair {
        old: Range<usize>,
        file: Range<usize>,
        /// 1 where they say the same.
        likeness: f64,
        /// What of the file's line the old text does not cover.
        cut: Cut,
    },
    /// The file has no such line.
    OldOnly(usize),
    /// The old text has no such line.
    FileOnly(usize),
}

/// The part of a file line that an old text which begins or ends in the middle
/// of it leaves out, in bytes of the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cut {
    /// Bytes before the old text.
    pub head: usize,
    /// Bytes after it.
    pub tail: usize,
}

/// The old text laid along a stretch of the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Alignment {
    /// In the order of both sides, beginning and ending with a pair or a line
    /// that only the old text has.
    pub steps: Vec<Step>,
    /// The lines of the file, from the first pair to the last.
    pub file: Range<usize>,
    /// What does not fit.
    pub cost: i32,
}

/// What alignments at several diagonals share: likenesses found so far, and
/// the work that may still be done.
pub(super) struct Scratch {
    keys: HashMap<usize, Vec<u8>>,
    likenesses: HashMap<(usize, usize), f64>,
    /// Cells of alignments, and bytes of lines compared.
    pub left: i64,
}

impl Scratch {
    pub(super) fn new() -> Self {
        Self { keys: HashMap::new(), likenesses: HashMap::new(), left: 20_000_000 }
    }

    fn key(&mut self, hay: &Haystack<'_>, line: usize) -> &[u8] {
        self.keys.entry(line).or_insert_with(|| key(hay.line(line)))
    }

    /// How alike a line of the old text and one of the file are.
    pub(super) fn likeness(
        &mut self,
        hay: &Haystack<'_>,
        needle: &Needle<'_>,
        old: usize,
        file: usize,
    ) -> f64 {
        let line = &needle.lines[old];
        if hay.hashes[file] == line.hash {
            return 1.0;
        }
        let (a, b) = (line.key.len(), hay.lens[file] as usize);
        if a.min(b) * 10 < a.max(b) * 6 || a.max(b) > LONGEST {
            return 0.0;
        }
        if let Some(&known) = self.likenesses.get(&(old, file)) {
            return known;
        }
        self.left -= (a * b.div_ceil(64)) as i64;
        let likeness = similarity(&line.key, self.key(hay, file), ALIKE);
        self.likenesses.insert((old, file), likeness);
        likeness
    }
}

const FAR: i32 = i32::MAX / 2;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Move {
    None,
    Pair,
    Edge,
    Join(u8),
    Split(u8),
    OldOnly,
    FileOnly,
}

/// Aligns the old text along the file around a diagonal (file line minus old
/// line). `None` where nothing fits.
pub(super) fn align(
    hay: &Haystack<'_>,
    needle: &Needle<'_>,
    diagonal: isize,
    scratch: &mut Scratch,
) -> Option<Alignment> {
    let n = needle.len();
    let pad = (n / 4).max(3) as isize;
    let low = (diagonal - pad).max(0) as usize;
    let high = (diagonal + n as isize + pad).clamp(0, hay.len() as isize) as usize;
    if low >= high {
        return None;
    }
    let wide = high - low + 1;
    let band = |i: usize| {
        let middle = diagonal + i as isize - low as isize;
        (middle - pad).max(0) as usize..=(middle + pad).clamp(-1, wide as isize - 1).max(0) as usize
    };
    scratch.left -= (n + 1) as i64 * (2 * pad + 1) as i64;
    let mut costs = vec![FAR; (n + 1) * wide];
    let mut moves = vec![Move::None; (n + 1) * wide];
    for j in band(0) {
        costs[j] = 0;
    }
    for i in 0..=n {
        for j in band(i) {
            let at = i * wide + j;
            let cost = costs[at];
            if cost >= FAR {
                continue;
            }
            let mut go = |i: usize, j: usize, step: i32, by: Move| {
                let to = i * wide + j;
                if j < wide && cost + step < costs[to] {
                    costs[to] = cost + step;
                    moves[to] = by;
                }
            };
            if i == n {
                continue;
            }
            let file = low + j;
            if file < high {
                pairs(hay, needle, scratch, i, file, |old, lines, step, by| {
                    go(i + old, j + lines, step, by)
                });
                if i > 0 {
                    go(i, j + 1, file_only(hay, needle, file), Move::FileOnly);
                }
            }
            go(i + 1, j, old_only(needle, i), Move::OldOnly);
        }
    }
    let last = n * wide;
    let (cost, end) = band(n).map(|j| (costs[last + j], j)).min()?;
    if cost >= FAR {
        return None;
    }
    let steps = back(hay, needle, scratch, &moves, (n, end), wide, low);
    let mut lines = steps.iter().filter_map(|step| match step {
        Step::Pair { file, .. } => Some(file.clone()),
        _ => None,
    });
    let first = lines.next()?;
    let file = first.start..lines.next_back().unwrap_or(first).end;
    Some(Alignment { steps, file, cost })
}

/// The ways in which the old line `old` and what follows can pair up with the
/// file's line `file` and what follows: how many lines of each, at what cost.
fn pairs(
    hay: &Haystack<'_>,
    needle: &Needle<'_>,
    scratch: &mut Scratch,
    old: usize,
    file: usize,
    mut way: impl FnMut(usize, usize, i32, Move),
) {
    let line = &needle.lines[old];
    let likeness = scratch.likeness(hay, needle, old, file);
    if likeness == 1.0 {
        way(1, 1, dressing(line.text, hay.line(file)), Move::Pair);
        return;
    }
    if likeness >= ALIKE {
        let apart = f64::from(line.weight.max(LINE * 3 / 10)) * (1.0 - likeness) * 1.5;
        way(1, 1, apart as i32 + LINE * 3 / 100, Move::Pair);
    }
    let n = needle.len();
    let (own, other) = (line.key.len(), hay.lens[file] as usize);
    if own.max(other) > LONGEST {
        return;
    }
    if n > 1 && own >= 4 && own < other {
        let key = scratch.key(hay, file);
        if (old == 0 && key.ends_with(&line.key)) || (old == n - 1 && key.starts_with(&line.key)) {
            way(1, 1, LINE * 12 / 100, Move::Edge);
        }
    }
    if own > other && other > 0 {
        if let Some(count) = joined(own, |at| hay.lens.get(file + at).map(|&len| len as usize)) {
            let mut rest = line.key.as_slice();
            let fits = (0..count).all(|at| {
                let key = scratch.key(hay, file + at);
                rest.strip_prefix(key).map(|left| rest = left).is_some()
            });
            if fits {
                way(1, count, LINE / 20, Move::Join(count as u8));
            }
        }
    } else if own < other && own > 0 {
        let lens = |at: usize| needle.lines.get(old + at).map(|line| line.key.len());
        if let Some(count) = joined(other, lens) {
            let mut rest = scratch.key(hay, file);
            let fits = (0..count).all(|at| {
                let key = needle.lines[old + at].key.as_slice();
                rest.strip_prefix(key).map(|left| rest = left).is_some()
            });
            if fits {
                way(count, 1, LINE / 20, Move::Split(count as u8));
            }
        }
    }
}

/// How many pieces from the first on have this length together.
fn joined(total: usize, len: impl Fn(usize) -> Option<usize>) -> Option<usize> {
    let mut sum = 0;
    for at in 0..JOINED {
        let piece = len(at).filter(|&piece| piece > 0)?;
        sum += piece;
        if sum >= total {
            return (sum == total && at > 0).then_some(at + 1);
        }
    }
    None
}

/// What it costs that lines that say the same are not the same: next to
/// nothing, but it tells two such places apart.
fn dressing(old: &[u8], file: &[u8]) -> i32 {
    if old == file {
        0
    } else if trim_end(old) == trim_end(file) {
        1
    } else if trim(old) == trim(file) {
        5
    } else {
        10
    }
}

/// What it costs that the old text does not have a line.
fn file_only(hay: &Haystack<'_>, needle: &Needle<'_>, file: usize) -> i32 {
    if needle.offered.contains(&hay.hashes[file]) {
        return LINE / 20;
    }
    hay.skips[file]
}

/// What it costs that the file does not have a line.
fn old_only(needle: &Needle<'_>, old: usize) -> i32 {
    let line = &needle.lines[old];
    match line.kind {
        Kind::Blank => LINE / 20,
        Kind::Comment | Kind::Code => line.weight,
    }
}

/// The steps that led to a cell.
fn back(
    hay: &Haystack<'_>,
    needle: &Needle<'_>,
    scratch: &mut Scratch,
    moves: &[Move],
    (mut i, mut j): (usize, usize),
    wide: usize,
    low: usize,
) -> Vec<Step> {
    let mut steps = Vec::new();
    loop {
        let (old, lines) = match moves[i * wide + j] {
            Move::None => break,
            Move::Pair | Move::Edge => (1, 1),
            Move::Join(count) => (1, usize::from(count)),
            Move::Split(count) => (usize::from(count), 1),
            Move::OldOnly => (1, 0),
            Move::FileOnly => (0, 1),
        };
        let by = moves[i * wide + j];
        (i, j) = (i - old, j - lines);
        let file = low + j;
        steps.push(match by {
            Move::OldOnly => Step::OldOnly(i),
            Move::FileOnly => Step::FileOnly(file),
            by => {
                let cut = match by {
                    Move::Edge if i == 0 => Cut { head: cut_before(hay, needle, i, file), tail: 0 },
                    Move::Edge => Cut { head: 0, tail: cut_after(hay, needle, i, file) },
                    _ => Cut::default(),
                };
                let likeness = match by {
                    Move::Pair => scratch.likeness(hay, needle, i, file),
                    _ => 1.0,
                };
                Step::Pair { old: i..i + old, file: file..file + lines, likeness, cut }
            }
        });
    }
    steps.reverse();
    steps
}

/// How many bytes of a file line come before the old line that it ends with.
fn cut_before(hay: &Haystack<'_>, needle: &Needle<'_>, old: usize, file: usize) -> usize {
    let (line, goal) = (hay.line(file), needle.lines[old].key.len());
    (0..line.len())
        .rev()
        .find(|&at| line.is_char_at(at) && key(&line[at..]).len() >= goal)
        .unwrap_or(0)
}

/// How many bytes of a file line come after the old line that it begins with.
fn cut_after(hay: &Haystack<'_>, needle: &Needle<'_>, old: usize, file: usize) -> usize {
    let (line, goal) = (hay.line(file), needle.lines[old].key.len());
    let end = (0..=line.len()).find(|&at| line.is_char_at(at) && key(&line[..at]).len() >= goal);
    line.len() - end.unwrap_or(line.len())
}

trait Boundary {
    /// Whether a character begins at an offset, or the text ends there.
    fn is_char_at(&self, at: usize) -> bool;
}

impl Boundary for [u8] {
    fn is_char_at(&self, at: usize) -> bool {
        self.get(at).is_none_or(|&byte| byte & 0xc0 != 0x80)
    }
}
