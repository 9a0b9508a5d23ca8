//! Scans one text for the matches of a query.

use std::ops::{ControlFlow, Range};

use grep_matcher::LineMatchKind;

use super::engine::first_candidate_line;
use super::query::ScanStrategy;
use super::render_line::{count_shown_chars, render_line};
use super::{BINARY_CHECK_BYTES, Hit, Line, OutputMode, Query, SearchLimits, SearchOutcome};

/// The number of bytes that are searched between two checks of the interrupt.
const BYTES_PER_INTERRUPT_CHECK: usize = 256 << 10;

/// A running search in one text.
pub(super) struct TextScan<'a> {
    query: &'a Query,
    text: &'a [u8],
    limits: &'a SearchLimits,
    interrupted: &'a dyn Fn() -> bool,
    receive: &'a mut dyn FnMut(&Hit<'_>) -> ControlFlow<()>,
    outcome: SearchOutcome,
    /// The byte offset of the first NUL, searched for when the first hit is found.
    nul: Option<usize>,
    /// True if matches are searched for directly, and not lines that may match.
    direct: bool,
    /// The byte offset up to which lines are counted.
    counted: usize,
    /// The number of the line at `counted`.
    lines: u64,
    before: Vec<Line<'a>>,
    /// The lines of a match after its first.
    rest: Vec<Line<'a>>,
    after: Vec<Line<'a>>,
    patterns: Vec<u32>,
}

/// Consecutive matches that share lines and form one hit.
struct MatchGroup {
    /// The line in which the first match begins.
    line: Range<usize>,
    /// The bytes from the start of the first match to the end of the last.
    place: Range<usize>,
    /// The end of the last line that a match covers, without its line feed.
    lines_end: usize,
}

/// How much is known of a match in the next line that may have one.
enum LineMatch {
    /// The line matches at this byte range, relative to the start of the search.
    Match(Range<usize>),
    /// The line matches, at an unknown position.
    Line,
    /// The line may match.
    Candidate,
}

impl<'a> TextScan<'a> {
    pub fn new(
        query: &'a Query,
        text: &'a [u8],
        limits: &'a SearchLimits,
        interrupted: &'a dyn Fn() -> bool,
        receive: &'a mut dyn FnMut(&Hit<'_>) -> ControlFlow<()>,
    ) -> Self {
        Self {
            query,
            text,
            limits,
            interrupted,
            receive,
            outcome: SearchOutcome::default(),
            nul: None,
            direct: false,
            counted: 0,
            lines: 1,
            before: Vec::new(),
            rest: Vec::new(),
            after: Vec::new(),
            patterns: Vec::new(),
        }
    }

    /// Sets the number of the first line of the text.
    pub fn beginning_at(self, line: u64) -> Self {
        Self { lines: line, ..self }
    }

    /// Runs the search and returns its outcome.
    pub fn run_search(mut self) -> SearchOutcome {
        // A break only says that the receiver, a limit or the interrupt ended the scan early.
        let _ = match self.query.way {
            ScanStrategy::Buffer => self.scan_within_lines(),
            ScanStrategy::EachLine => self.scan_each_line(),
            ScanStrategy::AcrossLines => self.scan_across_lines(),
        };
        self.outcome
    }

    /// Scans for [`ScanStrategy::Buffer`].
    fn scan_within_lines(&mut self) -> ControlFlow<()> {
        let text = self.text;
        let mut at = 0;
        while at < text.len() {
            let block = self.block_end(at)?;
            while at < block
                && let Some((offset, found)) = self.next_line(&text[at..block])
            {
                let line = self.line_at(at, at + offset);
                if line.start >= block {
                    // An empty match after the last line feed belongs to the next block, or at the
                    // end of the text to no line.
                    break;
                }
                let from = std::mem::replace(&mut at, line.end + 1);
                match found {
                    LineMatch::Match(place) => {
                        let place = from + place.start..from + place.end;
                        if place.end > self.content_end(&line) {
                            // The match includes the CR of the line ending, and without it the line
                            // may not match.
                            self.report_line_if_match(line)?;
                        } else {
                            self.report_hit(line, place)?;
                        }
                    }
                    LineMatch::Line if self.content_end(&line) == line.end => {
                        self.report_line(line)?
                    }
                    LineMatch::Line | LineMatch::Candidate => self.report_line_if_match(line)?,
                }
            }
            at = at.max(block);
        }
        ControlFlow::Continue(())
    }

    /// Returns a byte offset in the first line that matches, or may match.
    fn next_line(&mut self, text: &[u8]) -> Option<(usize, LineMatch)> {
        let matcher = &self.query.matcher;
        if let Some(folded) = self.query.folded.as_deref().filter(|_| !self.direct) {
            return Some((folded.find(text)?, LineMatch::Candidate));
        }
        let Some(lines) = matcher.line_matcher().filter(|_| !self.direct) else {
            let found = matcher.find(text)?;
            return Some((found.start, LineMatch::Match(found)));
        };
        match first_candidate_line(lines, text)? {
            LineMatchKind::Candidate(offset) => Some((offset, LineMatch::Candidate)),
            LineMatchKind::Confirmed(offset) => {
                // For this pattern, finding a line takes as long as finding the match. If the
                // position of matches is needed, the following searches return it directly.
                self.direct = !self.only_counts();
                Some((offset, LineMatch::Line))
            }
        }
    }

    /// Scans for [`ScanStrategy::EachLine`].
    fn scan_each_line(&mut self) -> ControlFlow<()> {
        let (text, matcher) = (self.text, &self.query.matcher);
        let mut at = 0;
        while at < text.len() {
            let block = self.block_end(at)?;
            while at < block {
                let line = self.line_at(at, at);
                at = line.end + 1;
                if matcher.is_match(&text[line.start..self.content_end(&line)]) {
                    self.report_line(line)?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Scans for [`ScanStrategy::AcrossLines`]. Matches that share a line form one hit with all
    /// their lines, as ripgrep prints them; a count counts every match.
    fn scan_across_lines(&mut self) -> ControlFlow<()> {
        let matcher = &self.query.matcher;
        let text = self.text;
        let mut at = 0;
        let mut group: Option<MatchGroup> = None;
        while at <= text.len() {
            if (self.interrupted)() {
                self.outcome.stopped = true;
                return ControlFlow::Break(());
            }
            let Some(found) = matcher.find_at(text, at) else { break };
            at = if found.is_empty() { found.end + 1 } else { found.end };
            let shares_a_line = group.as_ref().is_some_and(|group| found.start <= group.lines_end);
            if !shares_a_line {
                let line = self.line_at(0, found.start);
                if line.start >= text.len() {
                    break;
                }
                let lines_end = line.end;
                let next = MatchGroup { line, place: found.clone(), lines_end };
                let ended = group.replace(next);
                if let Some(ended) = ended.filter(|_| self.limits.want == OutputMode::Lines) {
                    self.report_hit(ended.line, ended.place)?;
                }
            }
            if let Some(group) = &mut group {
                if self.limits.want == OutputMode::Count {
                    self.report_hit(group.line.clone(), found.clone())?;
                }
                let last = found.end.max(found.start + 1) - 1;
                if last > group.lines_end {
                    group.lines_end = self.line_at(last, last).end;
                }
                group.place.end = group.place.end.max(found.end);
            }
        }
        match group.filter(|_| self.limits.want == OutputMode::Lines) {
            Some(group) => self.report_hit(group.line, group.place),
            None => ControlFlow::Continue(()),
        }
    }

    /// Returns the byte offset of the end of the block that begins at `at`: after a line ending, or
    /// at the end of the text. Breaks if the search is interrupted.
    fn block_end(&mut self, at: usize) -> ControlFlow<(), usize> {
        if at > 0 && (self.interrupted)() {
            self.outcome.stopped = true;
            return ControlFlow::Break(());
        }
        let end = at.saturating_add(BYTES_PER_INTERRUPT_CHECK);
        if end >= self.text.len() {
            return ControlFlow::Continue(self.text.len());
        }
        let line_end = memchr::memchr(b'\n', &self.text[end..]);
        ControlFlow::Continue(line_end.map_or(self.text.len(), |length| end + length + 1))
    }

    /// Returns the byte range of the line around `offset`, without its line feed. No line begins
    /// before `from`.
    fn line_at(&self, from: usize, offset: usize) -> Range<usize> {
        let start = memchr::memrchr(b'\n', &self.text[from..offset]);
        let end = memchr::memchr(b'\n', &self.text[offset..]);
        start.map_or(from, |length| from + length + 1)
            ..end.map_or(self.text.len(), |length| offset + length)
    }

    /// Returns the byte offset of the end of the part of a line that a pattern can match: the CR of
    /// a CRLF belongs to the line ending unless the pattern names it.
    fn content_end(&self, line: &Range<usize>) -> usize {
        let ends_in_cr = !self.query.names_cr && self.text[line.clone()].ends_with(b"\r");
        line.end - usize::from(ends_in_cr && line.end < self.text.len())
    }

    /// Reports a line as a hit if it matches without its line ending.
    fn report_line_if_match(&mut self, line: Range<usize>) -> ControlFlow<()> {
        let content = &self.text[line.start..self.content_end(&line)];
        if self.query.matcher.is_match(content) {
            self.report_line(line)?;
        }
        ControlFlow::Continue(())
    }

    /// Reports a matching line as a hit, with the position of the match if it is needed.
    fn report_line(&mut self, line: Range<usize>) -> ControlFlow<()> {
        let start = line.start;
        let place = if self.only_counts() {
            start..start
        } else {
            let text = &self.text[start..self.content_end(&line)];
            match self.query.matcher.find(text) {
                Some(found) => start + found.start..start + found.end,
                None => start..start,
            }
        };
        self.report_hit(line, place)
    }

    /// Returns true if a hit is only counted: its text is not requested, or `max_text_bytes` is
    /// reached.
    fn only_counts(&self) -> bool {
        self.limits.want == OutputMode::Count
            || self.outcome.text_bytes >= self.limits.max_text_bytes
    }

    /// Counts a hit and passes it to the receiver, unless it is skipped or only counted. Breaks at
    /// a limit.
    fn report_hit(&mut self, line: Range<usize>, place: Range<usize>) -> ControlFlow<()> {
        let text = self.text;
        let nul = *self.nul.get_or_insert_with(|| {
            let window = text.len().min(BINARY_CHECK_BYTES);
            memchr::memchr(0, &text[window..]).map_or(usize::MAX, |at| window + at)
        });
        if line.end.max(place.end) > nul {
            return ControlFlow::Break(());
        }
        let limits = self.limits;
        let counts = self.only_counts();
        let number =
            if !counts || limits.skip_lines > 0 { self.line_number_at(line.start) } else { 0 };
        if number <= limits.skip_lines && limits.skip_lines > 0 {
            return ControlFlow::Continue(());
        }
        if self.outcome.hits == limits.max_hits {
            self.outcome.more = true;
            return ControlFlow::Break(());
        }
        self.outcome.hits += 1;
        if counts {
            return ControlFlow::Continue(());
        }
        let place = place.start - line.start..place.end - line.start;
        let whole = &text[line.clone()];
        let lines_end = self.collect_rest_of_match(&line, line.start + place.end);
        self.collect_context(line.start, lines_end);
        self.find_matching_patterns(&line, &place);
        let hit = Hit {
            line: number,
            end_line: number + self.rest.len() as u64,
            column: count_shown_chars(&whole[..place.start.min(whole.len())]) as u64 + 1,
            text: render_line(whole, place, limits.max_line_chars),
            rest: &self.rest,
            before: &self.before,
            after: &self.after,
            patterns: &self.patterns,
        };
        self.outcome.text_bytes += limits.row_bytes + hit.text_bytes();
        let flow = (self.receive)(&hit);
        self.outcome.stopped = flow.is_break();
        flow
    }

    /// Sets `patterns` to the indexes of the patterns that match a line or, across lines, a match.
    fn find_matching_patterns(&mut self, line: &Range<usize>, place: &Range<usize>) {
        let text = match self.query.way {
            ScanStrategy::Buffer | ScanStrategy::EachLine => {
                &self.text[line.start..self.content_end(line)]
            }
            ScanStrategy::AcrossLines => {
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

    /// Returns the number of the line that begins at the byte offset `start`, which must not be
    /// lower than in the previous call.
    fn line_number_at(&mut self, start: usize) -> u64 {
        self.lines += memchr::memchr_iter(b'\n', &self.text[self.counted..start]).count() as u64;
        self.counted = start;
        self.lines
    }

    /// Collects the lines of a match after its first; a line ending at the end of the match begins
    /// no further line. Returns the end of the last line, without its line feed.
    fn collect_rest_of_match(&mut self, line: &Range<usize>, match_end: usize) -> usize {
        let text = self.text;
        self.rest.clear();
        let match_end = match_end - usize::from(text[..match_end].ends_with(b"\n"));
        let mut lines_end = line.end;
        while lines_end < match_end {
            let next = self.line_at(lines_end + 1, lines_end + 1);
            self.rest.push(render_line(&text[next.clone()], 0..0, self.limits.max_line_chars));
            lines_end = next.end;
        }
        lines_end
    }

    /// Collects the lines before and after a hit, which begins at `start` and whose last line ends
    /// at `lines_end`.
    fn collect_context(&mut self, start: usize, lines_end: usize) {
        let (text, limits) = (self.text, self.limits);
        self.before.clear();
        self.after.clear();
        let mut start = start;
        while self.before.len() < limits.before && start > 0 {
            let above = self.line_at(0, start - 1);
            self.before.push(render_line(&text[above.clone()], 0..0, limits.max_line_chars));
            start = above.start;
        }
        self.before.reverse();
        let mut next = lines_end + 1;
        while self.after.len() < limits.after && next < text.len() {
            let below = self.line_at(next, next);
            self.after.push(render_line(&text[below.clone()], 0..0, limits.max_line_chars));
            next = below.end + 1;
        }
    }
}
