//! Putting hunks where their lines stand.
//!
//! A hunk is looked for as it is, then with line ends and trailing blanks
//! folded, then by the edit matcher (other indentation, a slip of the pen, a
//! forgotten line), and at last without its outermost context lines. Line
//! numbers only choose: a place exactly where the header says wins, otherwise a
//! hunk that fits in two places is refused. All hunks are placed on the file as
//! it was; where that fails, each on the result of those before it.

use std::ops::Range;

use serde_json::{Value, json};

use super::{FilePatch, Hunk, Mark};
use crate::diff::split;
use crate::edit::{self, Splice};
use crate::error::{Code, Error, Result};
use crate::path::escape_controls;
use crate::text::{BOM_UTF8, cut_chars};

/// How hunks may be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Outermost context lines that may be ignored on each side, 0 to 3. With 0
    /// nothing but line ends and trailing blanks may differ.
    pub fuzz: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { fuzz: 2 }
    }
}

/// Where a hunk went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The first line (1-based) of the file it replaced.
    pub line: u64,
    /// Lines between where the header said and where it went; 0 without numbers.
    pub offset: i64,
    /// How it was found.
    pub how: How,
}

/// How a hunk was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// As it is.
    Exact,
    /// But for line ends and trailing blanks.
    Blanks,
    /// By the edit matcher.
    Loose,
    /// Without some of its context.
    Fuzz,
}

/// A patched file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patched {
    /// The new content.
    pub bytes: Vec<u8>,
    /// Where each hunk went.
    pub hunks: Vec<Placed>,
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
}

/// Applies the hunks of one file to its content.
///
/// # Errors
/// `PATCH_FAILED` with `hunk` (0-based), `reason` and, where lines differ,
/// `line`, `expected` and `found`; `hunks` tells of every hunk whether it fits.
pub fn apply(text: &[u8], file: &FilePatch, options: Options) -> Result<Patched> {
    let together = attempt_all(text, &file.hunks, options);
    if let Some((splices, hunks)) = all_placed(&together) {
        return Ok(patched(edit::spliced(text, &splices), hunks, file));
    }
    // Hunks may have been written one after the other, each on the last result.
    let mut running = text.to_vec();
    let mut placed = Vec::new();
    let mut from = 0;
    for hunk in &file.hunks {
        match place(&running, hunk, from, 0, options) {
            Ok((splice, at)) => {
                // The next one may begin with the lines that this one ends with.
                let shared = hunk.lines.iter().rev().take_while(|line| line.mark == Mark::Context);
                from = at.end_after(&splice).saturating_sub(shared.count());
                running = edit::spliced(&running, &[splice]);
                placed.push(at.placed);
            }
            Err(_) => return Err(report(file, &together)),
        }
    }
    Ok(patched(running, placed, file))
}

fn patched(bytes: Vec<u8>, hunks: Vec<Placed>, file: &FilePatch) -> Patched {
    let count = |mark| {
        file.hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.mark == mark).count()
            as u64
    };
    Patched { bytes, hunks, added: count(Mark::Added), removed: count(Mark::Removed) }
}

type Attempt = std::result::Result<(Splice, At), Unfit>;

/// A place in lines (0-based).
#[derive(Clone, Debug)]
struct At {
    end: usize,
    placed: Placed,
}

impl At {
    /// The line after the hunk, once it is made.
    fn end_after(&self, splice: &Splice) -> usize {
        self.placed.line as usize - 1 + memchr::memchr_iter(b'\n', &splice.with).count()
    }
}

/// Why a hunk does not fit.
#[derive(Clone, Debug, PartialEq)]
enum Unfit {
    /// It is there already, at this line (1-based).
    Already(u64),
    /// It fits at each of these lines (1-based).
    Several(Vec<u64>),
    /// A line that should stand before it does not.
    NoAnchor(String),
    /// There is nothing to find it by.
    NoContext,
    /// The file has other lines.
    Differs { line: u64, expected: String, found: Option<String> },
}

/// Places every hunk on the same text, in order.
fn attempt_all(text: &[u8], hunks: &[Hunk], options: Options) -> Vec<Attempt> {
    let (mut from, mut shift) = (0, 0);
    hunks
        .iter()
        .map(|hunk| {
            let made = place(text, hunk, from, shift, options);
            if let Ok((_, at)) = &made {
                from = at.end;
                shift = at.placed.offset;
            }
            made
        })
        .collect()
}

fn all_placed(attempts: &[Attempt]) -> Option<(Vec<Splice>, Vec<Placed>)> {
    attempts
        .iter()
        .map(|attempt| {
            attempt.as_ref().ok().map(|(splice, at)| (splice.clone(), at.placed.clone()))
        })
        .collect::<Option<Vec<_>>>()
        .map(|placed| placed.into_iter().unzip())
}

/// Finds the place of one hunk at or after the line `from`. `shift` is how far
/// off the numbers of the last hunk were.
fn place(text: &[u8], hunk: &Hunk, from: usize, shift: i64, options: Options) -> Attempt {
    let file = File::new(text);
    let from = after_anchors(&file, hunk, from)?;
    let old: Vec<&[u8]> = hunk.before().map(|line| line.text.as_bytes()).collect();
    let expected = hunk.old_start.map(|start| {
        let first = if old.is_empty() { start } else { start.saturating_sub(1) };
        (first as i64 + shift).max(0) as usize
    });
    if old.is_empty() {
        return insertion(&file, hunk, expected, from);
    }
    let whole = 0..hunk.lines.len();
    let ways: [(Same, How, bool); 3] = [
        (exactly, How::Exact, true),
        (but_for_line_ends, How::Exact, false),
        (but_for_blanks, How::Blanks, false),
    ];
    for (same, how, literal) in ways {
        let places = file.find(&old, from, hunk.at_end, same);
        if !places.is_empty() {
            let first = choose(&places, hunk, expected)?;
            let splice = file.splice(hunk, whole, first..first + old.len(), literal);
            return Ok((splice, located(first..first + old.len(), expected, how)));
        }
    }
    if let Some(line) = already(&file, hunk, expected) {
        return Err(Unfit::Already(line));
    }
    if options.fuzz > 0
        && let Some(attempt) = loosely(text, &file, hunk, expected, from)
    {
        return attempt;
    }
    with_fuzz(&file, hunk, expected, from, options.fuzz)
        .unwrap_or_else(|| Err(file.difference(&old, expected, from)))
}

/// The line after the last anchor.
fn after_anchors(
    file: &File<'_>,
    hunk: &Hunk,
    mut from: usize,
) -> std::result::Result<usize, Unfit> {
    for anchor in &hunk.anchors {
        let wanted = [anchor.as_bytes()];
        let found = [exactly as Same, but_for_blanks, but_for_indent]
            .into_iter()
            .find_map(|same| file.find(&wanted, from, false, same).first().copied());
        from = found.ok_or_else(|| Unfit::NoAnchor(anchor.clone()))? + 1;
    }
    Ok(from)
}

/// One of several places: the one the header names, or the first after an
/// anchor.
fn choose(
    places: &[usize],
    hunk: &Hunk,
    expected: Option<usize>,
) -> std::result::Result<usize, Unfit> {
    if let Some(at) = expected.filter(|at| places.contains(at)) {
        return Ok(at);
    }
    match places {
        [only] => Ok(*only),
        [first, ..] if !hunk.anchors.is_empty() => Ok(*first),
        _ => Err(Unfit::Several(places.iter().map(|at| *at as u64 + 1).collect())),
    }
}

/// A hunk with nothing but new lines goes where its number or anchor says.
fn insertion(file: &File<'_>, hunk: &Hunk, expected: Option<usize>, from: usize) -> Attempt {
    let at = match expected {
        _ if hunk.at_end || file.lines.is_empty() => file.lines.len(),
        _ if !hunk.anchors.is_empty() => from,
        Some(at) if at <= file.lines.len() => at,
        Some(at) => {
            let expected = format!("line {at}");
            return Err(Unfit::Differs { line: file.lines.len() as u64, expected, found: None });
        }
        None => return Err(Unfit::NoContext),
    };
    let crs = hunk.lines.iter().any(|line| line.text.ends_with('\r'));
    let literal = crs || file.lines.is_empty();
    let splice = file.splice(hunk, 0..hunk.lines.len(), at..at, literal);
    Ok((splice, located(at..at, Some(at), How::Exact)))
}

/// The line (1-based) at which all that a hunk makes stands already.
fn already(file: &File<'_>, hunk: &Hunk, expected: Option<usize>) -> Option<u64> {
    let new: Vec<&[u8]> = hunk.after().map(|line| line.text.as_bytes()).collect();
    if !hunk.lines.iter().any(|line| line.mark == Mark::Added) {
        return None;
    }
    let places = file.find(&new, 0, hunk.at_end, but_for_line_ends);
    let at = expected.filter(|at| places.contains(at)).or(match places.as_slice() {
        [only] => Some(*only),
        _ => None,
    })?;
    Some(at as u64 + 1)
}

/// By the edit matcher; `None` where it does not find the hunk.
fn loosely(
    text: &[u8],
    file: &File<'_>,
    hunk: &Hunk,
    expected: Option<usize>,
    from: usize,
) -> Option<Attempt> {
    let plain = |line: &'_ str| line.strip_suffix('\r').unwrap_or(line).as_bytes().to_vec();
    let old: Vec<Vec<u8>> = hunk.before().map(|line| plain(&line.text)).collect();
    let new: Vec<Vec<u8>> = hunk.after().map(|line| plain(&line.text)).collect();
    let old: Vec<&[u8]> = old.iter().map(Vec::as_slice).collect();
    let new: Vec<&[u8]> = new.iter().map(Vec::as_slice).collect();
    let mut places = edit::place_lines(text, &old, &new)?;
    places.retain(|place| place.lines.start >= from);
    let starts: Vec<usize> = places.iter().map(|place| place.lines.start).collect();
    if starts.is_empty() {
        return None;
    }
    let first = match choose(&starts, hunk, expected) {
        Ok(first) => first,
        Err(unfit) => return Some(Err(unfit)),
    };
    let place = places.into_iter().find(|place| place.lines.start == first)?;
    let mut splice = place.splice;
    if place.lines.end == file.lines.len() && hunk.after().last().is_some_and(|line| line.open) {
        let open = splice.with.strip_suffix(b"\n").map_or(splice.with.len(), <[u8]>::len);
        splice.with.truncate(open);
    }
    Some(Ok((splice, located(place.lines, expected, How::Loose))))
}

/// Without outermost context lines; `None` where that does not help.
fn with_fuzz(
    file: &File<'_>,
    hunk: &Hunk,
    expected: Option<usize>,
    from: usize,
    fuzz: usize,
) -> Option<Attempt> {
    let context = |line: &&super::PatchLine| line.mark == Mark::Context;
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
                .filter(|line| line.mark != Mark::Added)
                .map(|line| line.text.as_bytes())
                .collect();
            if head + tail == 0 || old.iter().all(|line| line.iter().all(u8::is_ascii_whitespace)) {
                continue;
            }
            let expected = expected.map(|at| at + head);
            let places = file.find(&old, from, false, but_for_blanks);
            if places.is_empty() {
                continue;
            }
            return Some(choose(&places, hunk, expected).map(|first| {
                let at = first..first + old.len();
                (file.splice(hunk, lines, at.clone(), false), located(at, expected, How::Fuzz))
            }));
        }
    }
    None
}

fn located(lines: Range<usize>, expected: Option<usize>, how: How) -> At {
    let line = lines.start as u64 + 1;
    let offset = expected.map_or(0, |expected| lines.start as i64 - expected as i64);
    At { end: lines.end, placed: Placed { line, offset, how } }
}

type Same = fn(&[u8], &[u8]) -> bool;

fn exactly(a: &[u8], b: &[u8]) -> bool {
    a == b
}

fn but_for_line_ends(a: &[u8], b: &[u8]) -> bool {
    without_cr(a) == without_cr(b)
}

fn but_for_blanks(a: &[u8], b: &[u8]) -> bool {
    a.trim_ascii_end() == b.trim_ascii_end()
}

fn but_for_indent(a: &[u8], b: &[u8]) -> bool {
    a.trim_ascii() == b.trim_ascii()
}

fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// A file as lines without LF, a CR kept; a byte order mark left out.
struct File<'a> {
    lines: Vec<&'a [u8]>,
    starts: Vec<usize>,
    /// Whether the last line has no line end.
    open: bool,
    len: usize,
}

impl<'a> File<'a> {
    fn new(text: &'a [u8]) -> Self {
        let body = text.strip_prefix(BOM_UTF8).unwrap_or(text);
        let mut start = text.len() - body.len();
        let whole = split(body);
        let mut starts = Vec::with_capacity(whole.len());
        for line in &whole {
            starts.push(start);
            start += line.len();
        }
        let open = whole.last().is_some_and(|line| !line.ends_with(b"\n"));
        let lines = whole.iter().map(|line| line.strip_suffix(b"\n").unwrap_or(line)).collect();
        Self { lines, starts, open, len: text.len() }
    }

    fn start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.len)
    }

    /// The lines at which a stretch of lines stands, from `from` on.
    fn find(&self, wanted: &[&[u8]], from: usize, at_end: bool, same: Same) -> Vec<usize> {
        let Some(last) = self.lines.len().checked_sub(wanted.len()) else { return Vec::new() };
        let pivot = (0..wanted.len()).max_by_key(|&at| wanted[at].len()).unwrap_or(0);
        let from = if at_end { from.max(last) } else { from };
        (from..=last)
            .filter(|&at| wanted.is_empty() || same(self.lines[at + pivot], wanted[pivot]))
            .filter(|&at| wanted.iter().zip(&self.lines[at..]).all(|(a, b)| same(b, a)))
            .collect()
    }

    /// The splice that makes the part `part` of a hunk where its old lines are.
    /// New lines are written as the patch has them where the patch is `literal`,
    /// else with the line ends of what they replace or stand beside.
    fn splice(
        &self,
        hunk: &Hunk,
        part: Range<usize>,
        lines: Range<usize>,
        literal: bool,
    ) -> Splice {
        let cr = |line: usize| self.lines.get(line).map(|line| line.ends_with(b"\r"));
        let before = lines.start.checked_sub(1).and_then(cr);
        let mut beside = cr(lines.start).or(before).unwrap_or(false);
        let (mut with, mut at) = (Vec::new(), lines.start);
        for line in &hunk.lines[part.clone()] {
            match line.mark {
                Mark::Removed => {
                    beside = cr(at).unwrap_or(beside);
                    at += 1;
                    continue;
                }
                Mark::Context => {
                    with.extend_from_slice(self.lines[at]);
                    beside = cr(at).unwrap_or(beside);
                    at += 1;
                }
                Mark::Added if literal => with.extend_from_slice(line.text.as_bytes()),
                Mark::Added => {
                    with.extend_from_slice(without_cr(line.text.as_bytes()));
                    with.extend_from_slice(if beside { b"\r" } else { b"" });
                }
            }
            with.push(b'\n');
        }
        if lines.end == self.lines.len() {
            self.close(hunk, &part, &mut with);
        }
        if lines.start == self.lines.len() && self.open && !with.is_empty() {
            // The former last line needs an end now.
            let end: &[u8] = if before == Some(true) { b"\r\n" } else { b"\n" };
            with.splice(0..0, end.iter().copied());
        }
        Splice { range: self.start(lines.start)..self.start(lines.end), with }
    }

    /// Ends the last line as the patch says, else as the file does.
    fn close(&self, hunk: &Hunk, part: &Range<usize>, with: &mut Vec<u8>) {
        let lines = &hunk.lines[part.clone()];
        let last = |mark: Mark| lines.iter().rev().find(|line| line.mark != mark);
        let was_open = last(Mark::Added).is_some_and(|line| line.open);
        let open = match last(Mark::Removed) {
            Some(line) if line.open => true,
            _ if was_open => false,
            _ => self.open && !lines.iter().all(|line| line.mark == Mark::Added),
        };
        if open && with.ends_with(b"\n") {
            with.pop();
        }
    }

    /// The first line that differs where the hunk fits best.
    fn difference(&self, old: &[&[u8]], expected: Option<usize>, from: usize) -> Unfit {
        let agreeing = |first: usize| {
            old.iter().zip(&self.lines[first..]).filter(|(a, b)| but_for_blanks(a, b)).count()
        };
        let named = expected.filter(|&at| at < self.lines.len() && agreeing(at) > 0);
        let likest = || {
            // Only where some telling line stands: not every line is worth a look.
            let telling: Vec<(usize, &[u8])> = old
                .iter()
                .enumerate()
                .map(|(at, line)| (at, *line))
                .filter(|(_, line)| line.trim_ascii().len() > 3)
                .collect();
            (from..self.lines.len())
                .filter_map(|at| {
                    let (index, _) =
                        telling.iter().find(|(_, line)| but_for_blanks(line, self.lines[at]))?;
                    at.checked_sub(*index)
                })
                .take(1_000)
                .max_by_key(|&first| (agreeing(first), std::cmp::Reverse(first)))
        };
        let first = named.or_else(likest).or(expected).unwrap_or(from).min(self.lines.len());
        let differs = old.iter().enumerate().find(|(index, line)| {
            self.lines.get(first + index).is_none_or(|there| !but_for_blanks(line, there))
        });
        let (index, line) = differs.map_or((0, &b""[..]), |(index, line)| (index, *line));
        let show = |line: &[u8]| String::from_utf8_lossy(without_cr(line)).into_owned();
        Unfit::Differs {
            line: (first + index) as u64 + 1,
            expected: show(line),
            found: self.lines.get(first + index).map(|line| show(line)),
        }
    }
}

/// The error for a file of which not every hunk fits: the first that does not,
/// and a line for each.
fn report(file: &FilePatch, attempts: &[Attempt]) -> Error {
    let total = attempts.len();
    let name = file.name().unwrap_or("the file");
    let path = escape_controls(name);
    let mut told = Vec::new();
    let mut first = None;
    for (index, attempt) in attempts.iter().enumerate() {
        match attempt {
            Ok((_, at)) => told.push(json!({ "hunk": index, "ok": true, "line": at.placed.line })),
            Err(unfit) => {
                told.push(json!({ "hunk": index, "ok": false, "reason": unfit.reason(), "message": unfit.message() }));
                first.get_or_insert((index, unfit));
            }
        }
    }
    let Some((index, unfit)) = first else {
        return Error::new(Code::PatchFailed, format!("the hunks of {path} overlap"))
            .detail("path", name);
    };
    let error = Error::new(
        Code::PatchFailed,
        format!("hunk {} of {total} does not apply to {path}: {}", index + 1, unfit.message()),
    )
    .hint(unfit.hint())
    .detail("file", name)
    .detail("path", name)
    .detail("hunk", index)
    .detail("patch_line", file.hunks[index].line)
    .detail("reason", unfit.reason())
    .detail("hunks", told.into_iter().take(20).collect::<Vec<Value>>());
    unfit.details(error)
}

impl Unfit {
    const fn reason(&self) -> &'static str {
        match self {
            Self::Already(_) => "already_applied",
            Self::Several(_) => "ambiguous",
            Self::NoAnchor(_) => "anchor_missing",
            Self::NoContext => "no_context",
            Self::Differs { .. } => "lines_differ",
        }
    }

    fn message(&self) -> String {
        let show = |line: &str| escape_controls(cut_chars(line, 80)).into_owned();
        match self {
            Self::Already(line) => format!("it is already applied, at line {line}"),
            Self::Several(lines) => {
                let listed: Vec<String> = lines.iter().take(20).map(u64::to_string).collect();
                format!("it fits at lines {} equally well", listed.join(", "))
            }
            Self::NoAnchor(anchor) => format!("there is no line \"{}\"", show(anchor)),
            Self::NoContext => "it has neither context nor a line number".to_owned(),
            Self::Differs { line, expected, found: Some(found) } => {
                format!("line {line} is \"{}\", the patch has \"{}\"", show(found), show(expected))
            }
            Self::Differs { line, expected, found: None } => {
                format!("the file ends before line {line}, the patch has \"{}\"", show(expected))
            }
        }
    }

    const fn hint(&self) -> &'static str {
        match self {
            Self::Already(_) => "leave this hunk out",
            Self::Several(_) => "give more context lines, or the right line numbers",
            Self::NoAnchor(_) => "give a line of the file after @@, or none",
            Self::NoContext => "give the lines before and after the change",
            Self::Differs { .. } => "read the file again and make the hunk from its lines",
        }
    }

    fn details(&self, error: Error) -> Error {
        match self {
            Self::Already(line) => error.detail("line", *line),
            Self::Several(lines) => error.detail("lines", lines[..lines.len().min(100)].to_vec()),
            Self::NoAnchor(anchor) => error.detail("anchor", anchor.as_str()),
            Self::NoContext => error,
            Self::Differs { line, expected, found } => error
                .detail("line", *line)
                .detail("expected", cut_chars(expected, 200))
                .detail("found", found.as_deref().map(|found| cut_chars(found, 200).to_owned())),
        }
    }
}
