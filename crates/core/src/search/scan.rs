//! The pass over one text.

use std::ops::{ControlFlow, Range};

use grep_matcher::LineMatchKind;

use super::engine::first_line;
use super::query::Way;
use super::show::{code_points, show};
use super::{BINARY_WINDOW, Hit, Limits, Line, Outcome, Query, Want};

/// How much is searched between two looks at the interrupt, in bytes.
const BLOCK: usize = 256 << 10;

/// A search under way.
pub(super) struct Scan<'a> {
    query: &'a Query,
    text: &'a [u8],
    limits: &'a Limits,
    interrupted: &'a dyn Fn() -> bool,
    receive: &'a mut dyn FnMut(&Hit<'_>) -> ControlFlow<()>,
    outcome: Outcome,
    /// Where the first NUL is, once a hit makes it matter.
    nul: Option<usize>,
    /// Whole matches are looked for, not lines that may match.
    direct: bool,
    /// Lines are counted from hit to hit: up to here there are `lines` of them.
    counted: usize,
    lines: u64,
    before: Vec<Line<'a>>,
    after: Vec<Line<'a>>,
    patterns: Vec<u32>,
}

/// What is known of a line that was found.
enum Found {
    /// Where it matches, from where the search began.
    Match(Range<usize>),
    /// It matches.
    Line,
    /// It may match.
    Candidate,
}

impl<'a> Scan<'a> {
    pub fn new(
        query: &'a Query,
        text: &'a [u8],
        limits: &'a Limits,
        interrupted: &'a dyn Fn() -> bool,
        receive: &'a mut dyn FnMut(&Hit<'_>) -> ControlFlow<()>,
    ) -> Self {
        Self {
            query,
            text,
            limits,
            interrupted,
            receive,
            outcome: Outcome::default(),
            nul: None,
            direct: false,
            counted: 0,
            lines: 1,
            before: Vec::new(),
            after: Vec::new(),
            patterns: Vec::new(),
        }
    }

    /// The number of the first line is this one.
    pub fn beginning_at(self, line: u64) -> Self {
        Self { lines: line, ..self }
    }

    pub fn run(mut self) -> Outcome {
        // The receiver and the limits end the passes early.
        let _ = match self.query.way {
            Way::Buffer => self.buffer(),
            Way::EachLine => self.each_line(),
            Way::AcrossLines => self.across_lines(),
        };
        self.outcome
    }

    fn buffer(&mut self) -> ControlFlow<()> {
        let text = self.text;
        let mut at = 0;
        while at < text.len() {
            let block = self.block(at)?;
            while at < block
                && let Some((offset, found)) = self.next_line(&text[at..block])
            {
                let line = self.line_at(at, at + offset);
                if line.start >= text.len() {
                    // The empty line after the last line end is none.
                    return ControlFlow::Break(());
                }
                let from = std::mem::replace(&mut at, line.end + 1);
                match found {
                    Found::Match(place) => self.hit(line, from + place.start..from + place.end)?,
                    Found::Line => self.line_hit(line)?,
                    Found::Candidate => {
                        if self.query.matcher.is_match(&text[line.clone()]) {
                            self.line_hit(line)?;
                        }
                    }
                }
            }
            at = at.max(block);
        }
        ControlFlow::Continue(())
    }

    /// An offset in the first line that matches, or may.
    fn next_line(&mut self, text: &[u8]) -> Option<(usize, Found)> {
        let matcher = &self.query.matcher;
        let Some(lines) = matcher.candidate_line().filter(|_| !self.direct) else {
            let found = matcher.find(text)?;
            return Some((found.start, Found::Match(found)));
        };
        match first_line(lines, text)? {
            LineMatchKind::Candidate(offset) => Some((offset, Found::Candidate)),
            LineMatchKind::Confirmed(offset) => {
                // There is no cheaper test than the match itself. Where its
                // place is wanted, look for it at once from now on.
                self.direct = self.limits.want == Want::Lines;
                Some((offset, Found::Line))
            }
        }
    }

    fn each_line(&mut self) -> ControlFlow<()> {
        let (text, matcher) = (self.text, &self.query.matcher);
        let mut at = 0;
        while at < text.len() {
            let block = self.block(at)?;
            while at < block {
                let line = self.line_at(at, at);
                at = line.end + 1;
                if matcher.is_match(trim_cr(&text[line.clone()])) {
                    self.line_hit(line)?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn across_lines(&mut self) -> ControlFlow<()> {
        let matcher = &self.query.matcher;
        let text = self.text;
        let mut at = 0;
        let mut last_line = None;
        while at <= text.len() {
            if (self.interrupted)() {
                self.outcome.stopped = true;
                return ControlFlow::Break(());
            }
            let Some(found) = matcher.find_at(text, at) else { break };
            let line = self.line_at(0, found.start);
            if line.start >= text.len() {
                break;
            }
            at = if found.is_empty() { found.end + 1 } else { found.end };
            if last_line != Some(line.start) {
                last_line = Some(line.start);
                self.hit(line, found)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// The end of the block that begins at `at`: after a line end, or the end.
    fn block(&mut self, at: usize) -> ControlFlow<(), usize> {
        if at > 0 && (self.interrupted)() {
            self.outcome.stopped = true;
            return ControlFlow::Break(());
        }
        let end = at.saturating_add(BLOCK);
        if end >= self.text.len() {
            return ControlFlow::Continue(self.text.len());
        }
        let line_end = memchr::memchr(b'\n', &self.text[end..]);
        ControlFlow::Continue(line_end.map_or(self.text.len(), |length| end + length + 1))
    }

    /// The line around `offset`, without its line feed; no line begins before `from`.
    fn line_at(&self, from: usize, offset: usize) -> Range<usize> {
        let start = memchr::memrchr(b'\n', &self.text[from..offset]);
        let end = memchr::memchr(b'\n', &self.text[offset..]);
        start.map_or(from, |length| from + length + 1)
            ..end.map_or(self.text.len(), |length| offset + length)
    }

    /// A line matches: finds where, if that is wanted.
    fn line_hit(&mut self, line: Range<usize>) -> ControlFlow<()> {
        let start = line.start;
        let place = match self.limits.want {
            Want::Count => start..start,
            Want::Lines => {
                let mut text = &self.text[line.clone()];
                if self.query.way == Way::EachLine {
                    text = trim_cr(text);
                }
                match self.query.matcher.find(text) {
                    Some(found) => start + found.start..start + found.end,
                    None => start..start,
                }
            }
        };
        self.hit(line, place)
    }

    fn hit(&mut self, line: Range<usize>, place: Range<usize>) -> ControlFlow<()> {
        let text = self.text;
        let nul = *self.nul.get_or_insert_with(|| {
            let window = text.len().min(BINARY_WINDOW);
            memchr::memchr(0, &text[window..]).map_or(usize::MAX, |at| window + at)
        });
        if line.end.max(place.end) > nul {
            return ControlFlow::Break(());
        }
        let limits = self.limits;
        let number = if limits.want == Want::Lines || limits.skip_lines > 0 {
            self.number_of(line.start)
        } else {
            0
        };
        if number <= limits.skip_lines && limits.skip_lines > 0 {
            return ControlFlow::Continue(());
        }
        if self.outcome.hits == limits.max_hits {
            self.outcome.more = true;
            return ControlFlow::Break(());
        }
        self.outcome.hits += 1;
        if limits.want == Want::Count {
            return ControlFlow::Continue(());
        }
        let place = place.start - line.start..place.end - line.start;
        let whole = &text[line.clone()];
        self.context(&line);
        self.attribute(&line, &place);
        let hit = Hit {
            line: number,
            end_line: number + self.lines_within(line.start, line.start + place.end),
            column: code_points(&whole[..place.start.min(whole.len())]) as u64 + 1,
            text: show(whole, place, limits.max_line_chars),
            before: &self.before,
            after: &self.after,
            patterns: &self.patterns,
        };
        let flow = (self.receive)(&hit);
        self.outcome.stopped = flow.is_break();
        flow
    }

    /// Which of several patterns match a line or, across lines, a match.
    fn attribute(&mut self, line: &Range<usize>, place: &Range<usize>) {
        let text = match self.query.way {
            Way::Buffer => &self.text[line.clone()],
            Way::EachLine => trim_cr(&self.text[line.clone()]),
            Way::AcrossLines => {
                let end = line.start + place.end;
                &self.text[line.start..end.max(line.end).min(self.text.len())]
            }
        };
        self.patterns.clear();
        for (index, part) in self.query.parts.iter().enumerate() {
            if part.is_match(text) {
                self.patterns.push(index as u32);
            }
        }
    }

    /// The number of the line that begins at `start`; starts only grow.
    fn number_of(&mut self, start: usize) -> u64 {
        self.lines += memchr::memchr_iter(b'\n', &self.text[self.counted..start]).count() as u64;
        self.counted = start;
        self.lines
    }

    /// How many line ends a match has inside, not counting one at its end.
    fn lines_within(&self, start: usize, end: usize) -> u64 {
        let inside = &self.text[start..end.max(start)];
        let inside = inside.strip_suffix(b"\n").unwrap_or(inside);
        memchr::memchr_iter(b'\n', inside).count() as u64
    }

    /// Collects the lines around a line.
    fn context(&mut self, line: &Range<usize>) {
        let (text, limits) = (self.text, self.limits);
        self.before.clear();
        self.after.clear();
        let mut start = line.start;
        while self.before.len() < limits.before && start > 0 {
            let above = self.line_at(0, start - 1);
            self.before.push(show(&text[above.clone()], 0..0, limits.max_line_chars));
            start = above.start;
        }
        self.before.reverse();
        let mut next = line.end + 1;
        while self.after.len() < limits.after && next < text.len() {
            let below = self.line_at(next, next);
            self.after.push(show(&text[below.clone()], 0..0, limits.max_line_chars));
            next = below.end + 1;
        }
    }
}

fn trim_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
